/* Checkers of programs that use the driver: PTERA_CHECK. */
#ifndef PTERA_CUDA_CHECK_H
#define PTERA_CUDA_CHECK_H

#include "runtime/cuda/abi.h"
#include "ptera.h"

struct pt_cu_op;

/* What the environment asks of a context's engine. */
void pt_cu_check_set(ptera_options *options, CUcontext ctx);
/* The context's engine is about to end: what was found, with how often. */
void pt_cu_check_end(CUcontext ctx);
/* The operation is about to run: what it copies, sets or writes, the memory holds. */
void pt_cu_check_op(CUcontext ctx, const struct pt_cu_op *op);

#endif
