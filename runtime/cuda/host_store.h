/* What the host stores while a kernel is under way. Its stores are no calls, and kernels run in its
 * address space, so that no protection of pages tells them apart: but memory that is both's, and
 * which the kernel only reads, is the same when the host waits as it was when it launched, unless
 * the host stored there. Under the driver's lock; one kernel at a time. */
#ifndef PTERA_CUDA_HOST_STORE_H
#define PTERA_CUDA_HOST_STORE_H

#include <stdbool.h>
#include <stdint.h>

#include "runtime/footprint.h"

/* Bytes that are compared at most. */
enum { PT_CU_HOST_STORE_MOST = 4 << 20 };

/* A kernel is launched, and nothing else is under way: from now on. */
void pt_cu_host_store_watch(void);
/* It is over, and accessed this, which stays until the last look, or is dropped before. */
void pt_cu_host_store_over(const struct pt_footprint *footprint);
/* The host does what may tell it that the kernel is over, or has something else run: what it stores
 * from now on is not looked at. */
void pt_cu_host_store_end(void);
/* What was found, once both of these have come, in the order in which they come: calls `found` for
 * the first byte of each run that is another, and watches nothing any more. */
void pt_cu_host_store_tell(void (*found)(void *ud, const struct pt_footprint_run *run,
                                         uint64_t address),
                           void *ud);
/* Nothing is watched any more. */
void pt_cu_host_store_drop(void);

#endif
