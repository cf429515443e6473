/* Instructions that the assembler makes long sequences or calls of, which want registers beside
 * what is live across them. */
#ifndef PTERA_RUNTIME_REGISTERS_EXPANSION_H
#define PTERA_RUNTIME_REGISTERS_EXPANSION_H

#include "runtime/registers/register_file.h"

enum pt_expansion {
    PT_EXPANSION_DIVIDE_32, /* divisions and roots of f32, divisions of integers of 32 bits */
    PT_EXPANSION_DIVIDE_F64,
    PT_EXPANSION_DIVIDE_64,  /* of integers */
    PT_EXPANSION_COLLECTIVE, /* of a warp of which part may be elsewhere */
    PT_EXPANSION_CALL,
    PT_EXPANSION_ATOMIC, /* that is tried until it is done */
    PT_EXPANSIONS
};

struct pt_expansion_pressure {
    int32_t live[PT_EXPANSIONS]; /* of a thread's own registers where most are; halves; 0: none */
    int32_t needs;               /* halves that the worst of them makes necessary */
};

struct pt_expansion_pressure pt_expansion_find(const struct pt_code *code,
                                               const struct pt_register_file *file);

#endif
