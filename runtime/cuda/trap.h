/* PTERA_HOST_ACCESS=trap: the host's own accesses of device memory are faults, as they are where
 * there is a GPU, and so are kernels' accesses of the memory of devices that they have no peer
 * access to.
 *
 * A device address is a host address, so the pages are inaccessible while nothing of the driver's
 * touches them, and accessible meanwhile. So that this is for nothing but the driver, launches,
 * copies and settings are waited for (pt_cu_submit_op). Kernels themselves run as ever. */
#ifndef PTERA_CUDA_TRAP_H
#define PTERA_CUDA_TRAP_H

#include "runtime/cuda/abi.h"

struct pt_cu_range;

/* Where the host may not access device memory: a kernel of the context, or (NULL) something that
 * reaches all devices, is about to, or through with it. */
void pt_cu_trap_reach(CUcontext ctx);
void pt_cu_trap_unreach(CUcontext ctx);
/* A range has got its memory. */
void pt_cu_trap_new(struct pt_cu_range *range);
void pt_cu_trap_init(void);

#endif
