/* Loops that may wait for other threads. */
#ifndef PTERA_IR_SPIN_LOOP_H
#define PTERA_IR_SPIN_LOOP_H

#include "ir/ir.h"

/* Finds the loops that may wait for other threads (`communicates`); after pt_web_split. */
void pt_spin_loop_find(struct pt_module *m, struct pt_func *f, struct pt_arena *scratch);

#endif
