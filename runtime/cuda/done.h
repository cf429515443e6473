/* What the listener is told of an operation (vendor.h). */
#ifndef PTERA_CUDA_DONE_H
#define PTERA_CUDA_DONE_H

#include "runtime/cuda/vendor.h"

struct pt_cu_op;

/* It begins: says what it is, under the lock; PT_CU_DONE_NOTHING: nobody is told. */
void pt_cu_done_begin(const struct pt_cu_op *op, struct pt_cu_done *done);
/* It is done: without the lock. */
void pt_cu_done_end(struct pt_cu_done *done);

#endif
