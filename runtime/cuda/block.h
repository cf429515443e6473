/* Blocks of device memory: made, kept when they are freed, freed as soon as nothing is under
 * way. */
#ifndef PTERA_CUDA_BLOCK_H
#define PTERA_CUDA_BLOCK_H

#include "runtime/cuda/abi.h"
#include "runtime/cuda/range.h"

/* Allocates device memory for the context. */
CUresult pt_cu_block_alloc(CUcontext ctx, size_t bytes, enum pt_cu_memory memory,
                           struct pt_cu_range **range);
/* Memory that is for another device, which it is charged to, than its context. */
void pt_cu_block_give(struct pt_cu_range *range, CUdevice device);
void pt_cu_block_free(struct pt_cu_range *range);
/* Gives the memory of a range that is none any more back to the context. */
void pt_cu_block_release(struct pt_cu_range *range);
/* As soon as nothing of its context is under way. */
void pt_cu_block_free_later(struct pt_cu_range *range);
void pt_cu_block_free_doomed(CUcontext ctx);
/* Frees what the context keeps. */
void pt_cu_block_drop_kept(CUcontext ctx);

#endif
