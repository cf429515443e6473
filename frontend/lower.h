/* From the parsed to the lowered state (ir/ir.h). */
#ifndef PTERA_FRONTEND_LOWER_H
#define PTERA_FRONTEND_LOWER_H

#include "ir/ir.h"

/* Brings a function into the lowered state, and lays out its frame: symbol offsets of its .local
 * variables and of its .param variables (kernel parameters keep theirs), and local_size. Touches no
 * other function, so a module with many kernels pays only for those that run. Nothing to do for a
 * function that is only declared. Returns false if there are errors (in m->diags). Idempotent. When
 * memory runs out the function is as it was before. */
bool pt_lower(struct pt_module *m, uint32_t func);

#endif
