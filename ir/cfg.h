/* The control-flow graph of a function. */
#ifndef PTERA_IR_CFG_H
#define PTERA_IR_CFG_H

#include "ir/ir.h"

/* Fills blocks, edges, loops and dominators from `insns` and `labels`; `bra` is the form of a plain
 * bra. `scratch` holds what is needed only meanwhile. */
void pt_cfg_build(struct pt_module *m, struct pt_func *f, uint32_t bra, struct pt_arena *scratch);

#endif
