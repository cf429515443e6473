/* Occupancy: how many blocks an SM has room for, by the formulas of CUDA's occupancy calculator
 * (cuda_occupancy.h). */
#ifndef PTERA_CUDA_OCCUPANCY_H
#define PTERA_CUDA_OCCUPANCY_H

#include "runtime/cuda/abi.h"

/* Blocks that an SM has room for. */
CUresult pt_cu_occupancy_blocks(CUfunction function, int threads, size_t dynamic_shared,
                                int *blocks);

#endif
