/* Operations of streams on values in memory: waiting for one, writing one. */
#ifndef PTERA_CUDA_STREAM_MEMORY_H
#define PTERA_CUDA_STREAM_MEMORY_H

#include <stdbool.h>

#include "runtime/cuda/abi.h"

struct pt_cu_op;

/* A batch as an operation. */
CUresult pt_cu_stream_memory_op(const CUstreamBatchMemOpParams *params, unsigned n, unsigned flags,
                                struct pt_cu_op *op);
/* A part of one as it would have been given. */
void pt_cu_stream_memory_describe(const struct pt_cu_op *op, CUstreamBatchMemOpParams *params);
/* They do the same kinds of things in turn. */
bool pt_cu_stream_memory_is_like(const struct pt_cu_op *a, const struct pt_cu_op *b);

#endif
