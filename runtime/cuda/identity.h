/* The numbers that the listener gives to what programs have handles of; 0: there is none. */
#ifndef PTERA_CUDA_IDENTITY_H
#define PTERA_CUDA_IDENTITY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "runtime/cuda/abi.h"

/* NULL: the current one. */
uint64_t pt_cu_identity_context(CUcontext given, CUcontext *context, int *device);
/* Of a context; `is_per_thread`: NULL is the thread's default stream. */
uint64_t pt_cu_identity_stream(CUcontext context, CUstream stream, bool is_per_thread);
uint64_t pt_cu_identity_event(CUevent event);
uint64_t pt_cu_identity_graph(CUgraph graph);
uint64_t pt_cu_identity_exec(CUgraphExec exec);
uint64_t pt_cu_identity_node(CUgraphNode node);
/* The name of a function's kernel, or of a kernel's. False: it is neither. */
bool pt_cu_identity_symbol(CUfunction function, char *name, size_t bytes);

#endif
