/* Local variables whose address does not escape: those of which every use is the base of a load or
 * store. */
#ifndef PTERA_IR_ESCAPE_H
#define PTERA_IR_ESCAPE_H

#include "ir/ir.h"

/* A local variable as its accesses see it. */
struct pt_local_use {
    bool escapes;        /* its address is more than the base of an access that names it */
    bool is_scalar;      /* does not escape, and all accesses move whole elements of one size
                            between registers of that size, at multiples of it inside the
                            variable */
    uint8_t bytes;       /* is_scalar: of an element; 0: nothing accesses it */
    uint8_t type;        /* enum pt_type that all registers of its accesses have; of untyped bits if
                            they differ */
};

/* By symbol, for those of symbols `first` and up of the module that `f` uses. */
struct pt_local_use *pt_escape_find(const struct pt_module *m, const struct pt_func *f,
                                    uint32_t first, struct pt_arena *arena);

/* Elements of scalar variables become registers, accesses moves. Before the function's blocks are
 * built. `form` finds the form of a mov of a type, of 1, 2 or 4 elements; 0: there is none. */
void pt_escape_promote(struct pt_module *m, struct pt_func *f, uint32_t first,
                       const struct pt_local_use *uses,
                       uint32_t (*form)(struct pt_module *m, enum pt_type type, unsigned n),
                       struct pt_arena *scratch);

#endif
