/* Counts of programs that use the driver: PTERA_PROFILE. */
#ifndef PTERA_CUDA_COUNTED_H
#define PTERA_CUDA_COUNTED_H

#include "runtime/cuda/abi.h"
#include "ptera.h"

/* What the environment asks of a context's engine; `names`: of `size` bytes, in which it may name
 * observers. */
void pt_cu_counted_set(ptera_options *options, char *names, size_t size);
/* The context's engine is about to end. */
void pt_cu_counted_end(CUcontext ctx);

#endif
