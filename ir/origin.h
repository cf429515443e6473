/* What an address is made of, as far as the code says so: a variable's address or a pointer that
 * the kernel is launched with, and offsets. An access through it that lies anywhere else is beyond
 * that variable or buffer, even where there is other memory. */
#ifndef PTERA_IR_ORIGIN_H
#define PTERA_IR_ORIGIN_H

#include "ir/ir.h"

/* An origin is the index of a .shared, .global or .local variable whose size is known, or of the
 * instruction of the kernel that loads a parameter of 64 bits, with this: */
enum { PT_ORIGIN_PARAMETER = 1 << 30 };

struct pt_origins;

/* What is known of a lowered function, in memory of the arena. */
const struct pt_origins *pt_origin_analyse(const struct pt_module *m, const struct pt_func *func,
                                           struct pt_arena *arena);

/* The origin of the address of the instruction's access; PT_NONE: none, or it is not known, as that
 * of several accesses is not. */
uint32_t pt_origin_of(const struct pt_origins *x, const struct pt_insn *insn);

/* Such a variable; NULL: the origin is none. */
const struct pt_symbol *pt_origin_variable(const struct pt_module *m, uint32_t origin);

/* The parameter that such an origin loads, and the byte of it in *at. */
const struct pt_symbol *pt_origin_parameter(const struct pt_module *m, const struct pt_func *kernel,
                                            uint32_t origin, uint64_t *at);

#endif
