/* Attributes of memory pools, and which devices may use them. */
#include <string.h>

#include "runtime/cuda/device.h"
#include "runtime/cuda/entry.h"
#include "runtime/cuda/pool.h"

/* The counter behind an attribute, or NULL. */
static uint64_t *counter_of(CUmemoryPool pool, CUmemPool_attribute attribute)
{
    switch (attribute) {
    case CU_MEMPOOL_ATTR_RELEASE_THRESHOLD:
        return &pool->release_threshold;
    case CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT:
        return &pool->reserved;
    case CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH:
        return &pool->reserved_high;
    case CU_MEMPOOL_ATTR_USED_MEM_CURRENT:
        return &pool->used;
    case CU_MEMPOOL_ATTR_USED_MEM_HIGH:
        return &pool->used_high;
    default:
        return NULL;
    }
}

static CUresult attribute(CUmemoryPool pool, CUmemPool_attribute attribute, void *value, bool set)
{
    CUresult r = pt_cu_pool_check_own(pool);
    if (r != CUDA_SUCCESS)
        return r;
    if (!value)
        return CUDA_ERROR_INVALID_VALUE;
    if (attribute >= CU_MEMPOOL_ATTR_REUSE_FOLLOW_EVENT_DEPENDENCIES &&
        attribute <= CU_MEMPOOL_ATTR_REUSE_ALLOW_INTERNAL_DEPENDENCIES) {
        int *kept = &pool->reuse[attribute - CU_MEMPOOL_ATTR_REUSE_FOLLOW_EVENT_DEPENDENCIES];
        memcpy(set ? (void *)kept : value, set ? value : (const void *)kept, sizeof *kept);
        return CUDA_SUCCESS;
    }
    uint64_t *counter = counter_of(pool, attribute), given;
    if (!counter)
        return CUDA_ERROR_INVALID_VALUE;
    if (!set) {
        memcpy(value, counter, sizeof *counter);
        return CUDA_SUCCESS;
    }
    memcpy(&given, value, sizeof given);
    if (counter == &pool->release_threshold)
        pool->release_threshold = given;
    else if (counter == &pool->used_high && given == 0) /* high-water marks can be set back */
        pool->used_high = pool->used;
    else if (counter == &pool->reserved_high && given == 0)
        pool->reserved_high = pool->reserved;
    else
        return CUDA_ERROR_INVALID_VALUE;
    return CUDA_SUCCESS;
}

CUresult cuMemPoolSetAttribute(CUmemoryPool pool, CUmemPool_attribute id, void *value)
{
    return API(attribute(pool, id, value, true));
}

CUresult cuMemPoolGetAttribute(CUmemoryPool pool, CUmemPool_attribute id, void *value)
{
    return API(attribute(pool, id, value, false));
}

static CUresult set_access(CUmemoryPool pool, const CUmemAccessDesc *descs, size_t n)
{
    CUresult r = pt_cu_pool_check(pool);
    if (r == CUDA_SUCCESS && n && !descs)
        r = CUDA_ERROR_INVALID_VALUE;
    for (size_t i = 0; r == CUDA_SUCCESS && i < n; i++) {
        CUmemLocation l = descs[i].location;
        if (descs[i].flags != CU_MEM_ACCESS_FLAGS_PROT_NONE &&
            descs[i].flags != CU_MEM_ACCESS_FLAGS_PROT_READ &&
            descs[i].flags != CU_MEM_ACCESS_FLAGS_PROT_READWRITE)
            return CUDA_ERROR_INVALID_VALUE;
        if (descs[i].flags == CU_MEM_ACCESS_FLAGS_PROT_READ ||
            l.type != CU_MEM_LOCATION_TYPE_DEVICE)
            return CUDA_ERROR_NOT_SUPPORTED;
        if (!pt_cu_device_is_valid(l.id) ||
            (l.id == pool->device && descs[i].flags == CU_MEM_ACCESS_FLAGS_PROT_NONE))
            return CUDA_ERROR_INVALID_DEVICE;
        pool->access[l.id] = descs[i].flags;
    }
    return r;
}

CUresult cuMemPoolSetAccess(CUmemoryPool pool, const CUmemAccessDesc *descs, size_t n)
{
    return API(set_access(pool, descs, n));
}

static CUresult get_access(CUmemAccess_flags *flags, CUmemoryPool pool,
                           const CUmemLocation *location)
{
    CUresult r = pt_cu_pool_check(pool);
    if (r == CUDA_SUCCESS && (!flags || !location || location->type != CU_MEM_LOCATION_TYPE_DEVICE))
        r = CUDA_ERROR_INVALID_VALUE;
    if (r == CUDA_SUCCESS && !pt_cu_device_is_valid(location->id))
        r = CUDA_ERROR_INVALID_VALUE;
    if (r == CUDA_SUCCESS)
        *flags = pool->access[location->id];
    return r;
}

CUresult cuMemPoolGetAccess(CUmemAccess_flags *flags, CUmemoryPool pool, CUmemLocation *location)
{
    return API(get_access(flags, pool, location));
}
