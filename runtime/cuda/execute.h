/* The executor: does what an operation says, without the lock. */
#ifndef PTERA_CUDA_EXECUTE_H
#define PTERA_CUDA_EXECUTE_H

#include "runtime/cuda/abi.h"

struct pt_cu_op;
struct pt_observer;

/* Does it, after nothing (CUDA_SUCCESS) or a context's error: then callbacks alone. */
CUresult pt_cu_execute_op(struct pt_cu_op *op, CUresult error);
/* Tells observers what a copy, or a fill, moves: row by row. */
void pt_cu_execute_observe(const struct pt_cu_op *op, const struct pt_observer *const *observers);

#endif
