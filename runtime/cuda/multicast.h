/* Multicast objects: memory of several devices under one address, which multimem instructions
 * access.
 *
 * An object has, for each device that was added, memory that is bound to it at offsets. A mapping
 * of it has no pages: ordinary accesses fault. What is bound is mapped here for kernels, wherever
 * the program has it. */
#ifndef PTERA_CUDA_MULTICAST_H
#define PTERA_CUDA_MULTICAST_H

#include <stdbool.h>

#include "runtime/cuda/abi.h"

struct pt_cu_range;
struct pt_replicas;

/* Waits until all devices have been added. An error if it is released meanwhile. */
CUresult pt_cu_multicast_wait(CUmemGenericAllocationHandle handle);
/* Kernels find the range, of PT_CU_MULTICAST memory, from now on, or no longer. */
void pt_cu_multicast_enter(struct pt_cu_range *range);
void pt_cu_multicast_leave(struct pt_cu_range *range);
void pt_cu_multicast_protect(struct pt_cu_range *range, unsigned flags);

/* ptera_engine.replicas of every context. */
const char *pt_cu_multicast_replicas(uint64_t address, bool is_write, struct pt_replicas *found);
/* What is bound to a mapped object, where kernels find it. */
bool pt_cu_multicast_find_bound(uint64_t address, uint64_t *first, uint64_t *bytes);

#endif
