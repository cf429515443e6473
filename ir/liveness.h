/* Which registers are live where. */
#ifndef PTERA_IR_LIVENESS_H
#define PTERA_IR_LIVENESS_H

#include "ir/ir.h"

/* Bit sets of registers live into each block: those that may be read there or behind before they
 * are written. What a block reads under the guard under which it has written it is not. words =
 * (regs.n + 63) / 64 per block, in `arena`. */
uint64_t *pt_liveness_in(const struct pt_module *m, const struct pt_func *f,
                         struct pt_arena *arena);

#endif
