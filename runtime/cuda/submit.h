/* Giving an operation to a stream: behind what is in it, or to the graph that it is captured
 * into. */
#ifndef PTERA_CUDA_SUBMIT_H
#define PTERA_CUDA_SUBMIT_H

#include "runtime/cuda/abi.h"

struct pt_cu_op;

/* Adds the operation behind all that is in the stream (or to its graph, if it is captured) and
 * takes it over, also if it fails. */
CUresult pt_cu_submit_op(CUstream stream, struct pt_cu_op *op);
/* As pt_cu_submit_op, and waits for it: for calls that are synchronous. */
CUresult pt_cu_submit_and_wait(CUstream stream, struct pt_cu_op *op);
CUresult pt_cu_submit_finish(CUstream stream);

#endif
