/* Loops that may wait for other threads. */
#ifndef PTERA_IR_SPIN_LOOP_H
#define PTERA_IR_SPIN_LOOP_H

#include "ir/ir.h"

/* Finds the loops that may wait for other threads (`communicates`); after pt_web_split. */
void pt_spin_loop_find(struct pt_module *m, struct pt_func *f, struct pt_arena *scratch);
/* What it reads is another value each time, whatever other threads do. */
bool pt_spin_loop_reads_clock(const struct pt_func *f, const struct pt_insn *insn);

#endif
