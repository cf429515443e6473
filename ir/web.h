/* Registers split into webs: independent sets of definitions and uses. */
#ifndef PTERA_IR_WEB_H
#define PTERA_IR_WEB_H

#include "ir/ir.h"

/* Splits registers into webs. */
void pt_web_split(struct pt_module *m, struct pt_func *f, struct pt_arena *scratch);

/* A new register of the type of `reg` and named after it; `mark` is pt_web_mark(f), which keeps its
 * name new. */
uint32_t pt_web_reg(struct pt_module *m, struct pt_func *f, uint32_t reg, unsigned mark);
unsigned pt_web_mark(const struct pt_func *f);

#endif
