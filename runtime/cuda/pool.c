/* Memory pools: those of devices, those of the program, and what they keep. */
#include "runtime/cuda/pool.h"

#include <string.h>

#include "runtime/cuda/block.h"
#include "runtime/cuda/capture.h"
#include "runtime/cuda/context_list.h"
#include "runtime/cuda/device.h"
#include "runtime/cuda/driver.h"
#include "runtime/cuda/entry.h"
#include "runtime/cuda/graph_memory.h"
#include "runtime/cuda/handle.h"
#include "runtime/cuda/op.h"
#include "runtime/cuda/overlap.h"
#include "runtime/cuda/range.h"
#include "runtime/cuda/stream.h"
#include "runtime/cuda/submit.h"
#include "runtime/cuda/trap.h"

static CUmemoryPool pools;

CUmemoryPool pt_cu_pool_new(CUdevice device)
{
    CUmemoryPool pool = pt_cu_handle_new(PT_CU_POOL, sizeof *pool);
    if (!pool)
        return NULL;
    pool->device = device;
    for (int i = 0; i < 3; i++)
        pool->reuse[i] = 1;
    pool->access[device] = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
    pool->next = pools;
    pools = pool;
    return pool;
}

void pt_cu_pool_delete(CUmemoryPool pool)
{
    CUmemoryPool *p = &pools;
    while (*p != pool)
        p = &(*p)->next;
    *p = pool->next;
    pt_cu_handle_delete(pool);
}

CUresult pt_cu_pool_check(CUmemoryPool pool)
{
    CUresult r = pt_cu_driver_check();
    bool is_one = pt_cu_handle_is(pool, PT_CU_POOL) && !pool->is_destroyed;
    return r == CUDA_SUCCESS && !is_one ? CUDA_ERROR_INVALID_VALUE : r;
}

CUresult pt_cu_pool_check_own(CUmemoryPool pool)
{
    CUresult r = pt_cu_pool_check(pool);
    return r == CUDA_SUCCESS && pool->process ? CUDA_ERROR_INVALID_VALUE : r;
}

CUmemoryPool pt_cu_pool_next(CUmemoryPool pool)
{
    return pool ? pool->next : pools;
}

/* ---- what is kept ---------------------------------------------------------------------------- */

static void give_back(CUmemoryPool pool, struct pt_cu_range **place)
{
    struct pt_cu_range *range = *place;
    *place = range->next;
    pool->reserved -= range->room;
    pt_cu_block_release(range);
}

/* Until no more than so many bytes are reserved: what was freed first goes first. */
void pt_cu_pool_trim(CUmemoryPool pool, uint64_t most)
{
    while (!pool->process && pool->kept && pool->reserved > most) {
        struct pt_cu_range **last = &pool->kept;
        while ((*last)->next)
            last = &(*last)->next;
        give_back(pool, last);
    }
}

void pt_cu_pool_trim_all(CUdevice device)
{
    for (CUmemoryPool pool = pools; pool; pool = pool->next)
        if (pool->device == device)
            pt_cu_pool_trim(pool, pool->release_threshold);
}

void pt_cu_pool_empty(void)
{
    for (CUmemoryPool pool = pools; pool; pool = pool->next)
        pt_cu_pool_trim(pool, 0);
}

void pt_cu_pool_forget(CUcontext ctx)
{
    for (CUmemoryPool pool = pools; pool; pool = pool->next) {
        struct pt_cu_range **p = &pool->kept;
        while (*p && !pool->process) {
            if ((*p)->ctx == ctx)
                give_back(pool, p);
            else
                p = &(*p)->next;
        }
    }
}

/* ---- pools of devices ------------------------------------------------------------------------ */

static CUresult default_pool(CUmemoryPool *pool, CUdevice device)
{
    CUresult r = pt_cu_driver_check();
    if (r != CUDA_SUCCESS)
        return r;
    if (!pool)
        return CUDA_ERROR_INVALID_VALUE;
    if (!pt_cu_device_is_valid(device))
        return CUDA_ERROR_INVALID_DEVICE;
    struct pt_cu_device *d = &pt_cu_driver.devices[device];
    if (!d->default_pool && (d->default_pool = pt_cu_pool_new(device)) != NULL)
        d->default_pool->is_default = true;
    *pool = d->default_pool;
    return *pool ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

CUresult cuDeviceGetDefaultMemPool(CUmemoryPool *pool, CUdevice device)
{
    return API(default_pool(pool, device));
}

CUresult pt_cu_pool_current(CUmemoryPool *pool, CUdevice device)
{
    CUresult r = default_pool(pool, device);
    if (r == CUDA_SUCCESS && pt_cu_driver.devices[device].pool)
        *pool = pt_cu_driver.devices[device].pool;
    return r;
}

CUresult cuDeviceGetMemPool(CUmemoryPool *pool, CUdevice device)
{
    return API(pt_cu_pool_current(pool, device));
}

static CUresult set_pool(CUdevice device, CUmemoryPool pool)
{
    CUresult r = pt_cu_pool_check_own(pool);
    if (r == CUDA_SUCCESS && pool->device != device)
        r = CUDA_ERROR_INVALID_VALUE;
    if (r == CUDA_SUCCESS)
        pt_cu_driver.devices[device].pool = pool;
    return r;
}

CUresult cuDeviceSetMemPool(CUdevice device, CUmemoryPool pool)
{
    return API(set_pool(device, pool));
}

/* Of memory at a place: a device's, of which only the pinned kind is in pools. */
static CUresult check_place(const CUmemLocation *place, CUmemAllocationType type)
{
    CUresult r = pt_cu_driver_check();
    if (r == CUDA_SUCCESS &&
        (!place || type == CU_MEM_ALLOCATION_TYPE_INVALID || type > CU_MEM_ALLOCATION_TYPE_MANAGED))
        r = CUDA_ERROR_INVALID_VALUE;
    if (r == CUDA_SUCCESS &&
        (place->type != CU_MEM_LOCATION_TYPE_DEVICE || type != CU_MEM_ALLOCATION_TYPE_PINNED))
        r = CUDA_ERROR_NOT_SUPPORTED;
    return r;
}

static CUresult pool_at(CUmemoryPool *pool, const CUmemLocation *place, CUmemAllocationType type,
                        CUresult (*find)(CUmemoryPool *pool, CUdevice device))
{
    CUresult r = check_place(place, type);
    return r == CUDA_SUCCESS ? find(pool, place->id) : r;
}

CUresult cuMemGetDefaultMemPool(CUmemoryPool *pool, CUmemLocation *place, CUmemAllocationType type)
{
    return API(pool_at(pool, place, type, default_pool));
}

CUresult cuMemGetMemPool(CUmemoryPool *pool, CUmemLocation *place, CUmemAllocationType type)
{
    return API(pool_at(pool, place, type, pt_cu_pool_current));
}

static CUresult set_pool_at(const CUmemLocation *place, CUmemAllocationType type, CUmemoryPool pool)
{
    CUresult r = check_place(place, type);
    return r == CUDA_SUCCESS ? set_pool(place->id, pool) : r;
}

CUresult cuMemSetMemPool(CUmemLocation *place, CUmemAllocationType type, CUmemoryPool pool)
{
    return API(set_pool_at(place, type, pool));
}

/* ---- pools of the program -------------------------------------------------------------------- */

/* What CUDA keeps for later must be zero. */
static bool has_no_more(const CUmemPoolProps *props)
{
    bool all = true;
    for (size_t i = 0; i < sizeof props->reserved; i++)
        all &= props->reserved[i] == 0;
    return all;
}

static CUresult create(CUmemoryPool *pool, const CUmemPoolProps *props)
{
    CUresult r = pt_cu_driver_check();
    if (r != CUDA_SUCCESS)
        return r;
    if (!pool || !props || props->allocType != CU_MEM_ALLOCATION_TYPE_PINNED ||
        props->location.type != CU_MEM_LOCATION_TYPE_DEVICE)
        return CUDA_ERROR_INVALID_VALUE;
    if (!pt_cu_device_is_valid(props->location.id) || !has_no_more(props))
        return CUDA_ERROR_INVALID_VALUE;
    if (props->handleTypes != CU_MEM_HANDLE_TYPE_NONE &&
        props->handleTypes != CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR)
        return CUDA_ERROR_NOT_SUPPORTED;
    *pool = pt_cu_pool_new(props->location.id);
    if (!*pool)
        return CUDA_ERROR_OUT_OF_MEMORY;
    (*pool)->most_bytes = props->maxSize;
    (*pool)->is_for_others = props->handleTypes == CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
    pt_cu_handle_give(*pool);
    return CUDA_SUCCESS;
}

CUresult cuMemPoolCreate(CUmemoryPool *pool, const CUmemPoolProps *props)
{
    return API(create(pool, props));
}

static CUresult destroy(CUmemoryPool pool)
{
    CUresult r = pt_cu_pool_check(pool);
    if (r == CUDA_SUCCESS && pool->is_default)
        r = CUDA_ERROR_INVALID_VALUE;
    if (r != CUDA_SUCCESS)
        return r;
    if (pool->imports > 1) {
        pool->imports--;
        return CUDA_SUCCESS;
    }
    struct pt_cu_device *d = &pt_cu_driver.devices[pool->device];
    if (d->pool == pool)
        d->pool = NULL;
    pool->is_destroyed = true;
    pt_cu_pool_trim(pool, 0);
    if (!pool->blocks)
        pt_cu_pool_delete(pool);
    return CUDA_SUCCESS;
}

CUresult cuMemPoolDestroy(CUmemoryPool pool)
{
    return API(destroy(pool));
}

static CUresult trim_to(CUmemoryPool pool, size_t bytes_to_keep)
{
    CUresult r = pt_cu_pool_check_own(pool);
    if (r == CUDA_SUCCESS)
        pt_cu_pool_trim(pool, bytes_to_keep);
    return r;
}

CUresult cuMemPoolTrimTo(CUmemoryPool pool, size_t bytes_to_keep)
{
    return API(trim_to(pool, bytes_to_keep));
}
