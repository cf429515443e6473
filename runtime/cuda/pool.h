/* Memory pools: those of devices, those of the program, and what they keep. */
#ifndef PTERA_CUDA_POOL_H
#define PTERA_CUDA_POOL_H

#include <stdbool.h>

#include "runtime/cuda/abi.h"
#include "runtime/cuda/driver.h"
#include "runtime/cuda/handle.h"

struct pt_cu_range;

/* Blocks come from the context's memory. What is freed stays in the pool, for later blocks of about
 * its size, until a synchronisation finds more than the release threshold. */
struct CUmemPoolHandle_st {
    struct pt_cu_object object;
    CUmemoryPool next; /* of all */
    CUdevice device;
    struct pt_cu_range *kept;        /* freed blocks, the last freed first */
    struct pt_cu_range *going;       /* blocks that commands are to free */
    bool is_default, is_destroyed;   /* destroyed: goes with its last block */
    bool is_for_others, is_exported; /* it may be given to other processes, and was */
    /* of another process's pool: its process and its number there; 0: it is this process's own */
    uint32_t process;
    uint64_t number;
    unsigned imports; /* so often; what was imported of it is in the list of what it keeps */
    size_t blocks, most_bytes;
    int reuse[3];
    uint64_t release_threshold, used, used_high, reserved, reserved_high;
    CUmemAccess_flags access[PT_CU_DEVICES_MAX]; /* of each device */
};

/* A pool of the device. NULL: no memory. */
CUmemoryPool pt_cu_pool_new(CUdevice device);
void pt_cu_pool_delete(CUmemoryPool pool);
/* The pool behind one, first behind NULL. */
CUmemoryPool pt_cu_pool_next(CUmemoryPool pool);
CUresult pt_cu_pool_check(CUmemoryPool pool);
/* Likewise, and that it is not another process's. */
CUresult pt_cu_pool_check_own(CUmemoryPool pool);
/* That which streams of the device allocate from. */
CUresult pt_cu_pool_current(CUmemoryPool *pool, CUdevice device);
/* Until no more than so many bytes are reserved: what was freed first goes first. */
void pt_cu_pool_trim(CUmemoryPool pool, uint64_t most);
/* All that any pool keeps. */
void pt_cu_pool_empty(void);
/* What is a device's synchronisation: its pools give back what is above their thresholds. */
void pt_cu_pool_trim_all(CUdevice device);
/* Pools give back what they keep of a context that goes. */
void pt_cu_pool_forget(CUcontext ctx);

#endif
