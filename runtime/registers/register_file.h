/* Where the assembler keeps each register of PTX: in a thread's own registers, in uniform ones,
 * which a warp has once, in a predicate, or not at all, since the constant bank has it. */
#ifndef PTERA_RUNTIME_REGISTERS_REGISTER_FILE_H
#define PTERA_RUNTIME_REGISTERS_REGISTER_FILE_H

#include "runtime/registers/code.h"

/* By register. Sizes are in halves of 32 bits, since 16 bits that come or go in pairs share a
 * register. */
struct pt_register_file {
    int32_t *size;     /* predicates: 0 */
    int32_t *vector;   /* what it takes of a thread's own registers */
    int32_t *spread;   /* the same where registers are plentiful: an aligned pair, unless it is a
                          member of a vector */
    bool *varies;      /* not in a uniform register */
    bool *is_constant; /* in the constant bank, or an immediate */
};

/* Everything is in code->arena. */
struct pt_register_file *pt_register_file_find(const struct pt_code *code);

#endif
