/* Memory pools, and memory that is allocated and freed in the order of a stream. */
#include "runtime/cuda/driver.h"

#include <string.h>

/* Blocks come from the context's memory; a pool counts what is its own. */
struct CUmemPoolHandle_st {
    struct pt_cu_object object;
    CUdevice device;
    bool is_default, is_destroyed; /* destroyed: goes with its last block */
    size_t blocks, most_bytes;
    int reuse[3];
    uint64_t release_threshold, used, used_high;
    CUmemAccess_flags access[PT_CU_DEVICES_MAX]; /* of each device */
};

static CUmemoryPool new_pool(CUdevice device)
{
    CUmemoryPool pool = pt_cu_new(PT_CU_POOL, sizeof *pool);
    if (!pool)
        return NULL;
    pool->device = device;
    for (int i = 0; i < 3; i++)
        pool->reuse[i] = 1;
    pool->access[device] = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
    return pool;
}

static CUresult check_pool(CUmemoryPool pool)
{
    CUresult r = pt_cu_check_init();
    bool is_one = pt_cu_is(pool, PT_CU_POOL) && !pool->is_destroyed;
    return r == CUDA_SUCCESS && !is_one ? CUDA_ERROR_INVALID_VALUE : r;
}

/* ---- pools of devices ---------------------------------------------------------------------------------- */

static CUresult default_pool(CUmemoryPool *pool, CUdevice device)
{
    CUresult r = pt_cu_check_init();
    if (r != CUDA_SUCCESS)
        return r;
    if (!pool)
        return CUDA_ERROR_INVALID_VALUE;
    if (!pt_cu_is_device(device))
        return CUDA_ERROR_INVALID_DEVICE;
    struct pt_cu_device *d = &pt_cu_driver.devices[device];
    if (!d->default_pool && (d->default_pool = new_pool(device)) != NULL)
        d->default_pool->is_default = true;
    *pool = d->default_pool;
    return *pool ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

CUresult cuDeviceGetDefaultMemPool(CUmemoryPool *pool, CUdevice device)
{
    return API(default_pool(pool, device));
}

static CUresult current_pool(CUmemoryPool *pool, CUdevice device)
{
    CUresult r = default_pool(pool, device);
    if (r == CUDA_SUCCESS && pt_cu_driver.devices[device].pool)
        *pool = pt_cu_driver.devices[device].pool;
    return r;
}

CUresult cuDeviceGetMemPool(CUmemoryPool *pool, CUdevice device)
{
    return API(current_pool(pool, device));
}

static CUresult set_pool(CUdevice device, CUmemoryPool pool)
{
    CUresult r = check_pool(pool);
    if (r == CUDA_SUCCESS && !pt_cu_is_device(device))
        r = CUDA_ERROR_INVALID_DEVICE;
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

/* ---- pools of the program ------------------------------------------------------------------------------ */

static CUresult create(CUmemoryPool *pool, const CUmemPoolProps *props)
{
    CUresult r = pt_cu_check_init();
    if (r != CUDA_SUCCESS)
        return r;
    if (!pool || !props || props->allocType != CU_MEM_ALLOCATION_TYPE_PINNED ||
        props->location.type != CU_MEM_LOCATION_TYPE_DEVICE)
        return CUDA_ERROR_INVALID_VALUE;
    if (!pt_cu_is_device(props->location.id))
        return CUDA_ERROR_INVALID_DEVICE;
    if (props->handleTypes != CU_MEM_HANDLE_TYPE_NONE)
        return CUDA_ERROR_NOT_SUPPORTED;
    *pool = new_pool(props->location.id);
    if (!*pool)
        return CUDA_ERROR_OUT_OF_MEMORY;
    (*pool)->most_bytes = props->maxSize;
    return CUDA_SUCCESS;
}

CUresult cuMemPoolCreate(CUmemoryPool *pool, const CUmemPoolProps *props)
{
    return API(create(pool, props));
}

static CUresult destroy(CUmemoryPool pool)
{
    CUresult r = check_pool(pool);
    if (r == CUDA_SUCCESS && pool->is_default)
        r = CUDA_ERROR_INVALID_VALUE;
    if (r != CUDA_SUCCESS)
        return r;
    struct pt_cu_device *d = &pt_cu_driver.devices[pool->device];
    if (d->pool == pool)
        d->pool = NULL;
    pool->is_destroyed = true;
    if (!pool->blocks)
        pt_cu_delete(pool);
    return CUDA_SUCCESS;
}

CUresult cuMemPoolDestroy(CUmemoryPool pool)
{
    return API(destroy(pool));
}

/* Freed blocks are the context's already. */
CUresult cuMemPoolTrimTo(CUmemoryPool pool, size_t bytes_to_keep)
{
    (void)bytes_to_keep;
    return API(check_pool(pool));
}

/* The counter behind an attribute, or NULL. */
static uint64_t *counter_of(CUmemoryPool pool, CUmemPool_attribute attribute)
{
    switch (attribute) {
    case CU_MEMPOOL_ATTR_RELEASE_THRESHOLD:
        return &pool->release_threshold;
    case CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT: /* nothing is reserved that is not used */
    case CU_MEMPOOL_ATTR_USED_MEM_CURRENT:
        return &pool->used;
    case CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH:
    case CU_MEMPOOL_ATTR_USED_MEM_HIGH:
        return &pool->used_high;
    default:
        return NULL;
    }
}

static CUresult attribute(CUmemoryPool pool, CUmemPool_attribute attribute, void *value, bool set)
{
    CUresult r = check_pool(pool);
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
    CUresult r = check_pool(pool);
    if (r == CUDA_SUCCESS && n && !descs)
        r = CUDA_ERROR_INVALID_VALUE;
    for (size_t i = 0; r == CUDA_SUCCESS && i < n; i++) {
        CUmemLocation l = descs[i].location;
        if (l.type != CU_MEM_LOCATION_TYPE_DEVICE ||
            (descs[i].flags != CU_MEM_ACCESS_FLAGS_PROT_NONE && descs[i].flags != CU_MEM_ACCESS_FLAGS_PROT_READWRITE))
            return CUDA_ERROR_INVALID_VALUE;
        if (!pt_cu_is_device(l.id) || (l.id == pool->device && descs[i].flags == CU_MEM_ACCESS_FLAGS_PROT_NONE))
            return CUDA_ERROR_INVALID_DEVICE;
        pool->access[l.id] = descs[i].flags;
    }
    return r;
}

CUresult cuMemPoolSetAccess(CUmemoryPool pool, const CUmemAccessDesc *descs, size_t n)
{
    return API(set_access(pool, descs, n));
}

static CUresult get_access(CUmemAccess_flags *flags, CUmemoryPool pool, const CUmemLocation *location)
{
    CUresult r = check_pool(pool);
    if (r == CUDA_SUCCESS && (!flags || !location || location->type != CU_MEM_LOCATION_TYPE_DEVICE))
        r = CUDA_ERROR_INVALID_VALUE;
    if (r == CUDA_SUCCESS && !pt_cu_is_device(location->id))
        r = CUDA_ERROR_INVALID_DEVICE;
    if (r == CUDA_SUCCESS)
        *flags = pool->access[location->id];
    return r;
}

CUresult cuMemPoolGetAccess(CUmemAccess_flags *flags, CUmemoryPool pool, CUmemLocation *location)
{
    return API(get_access(flags, pool, location));
}

/* ---- allocating in order ------------------------------------------------------------------------------- */

void pt_cu_pool_freed(struct pt_cu_range *range)
{
    CUmemoryPool pool = range->owner;
    pool->used -= range->bytes;
    if (--pool->blocks == 0 && pool->is_destroyed)
        pt_cu_delete(pool);
}

/* The block is there at once, which is earlier than promised. */
static CUresult alloc_from(CUdeviceptr *out, size_t bytes, CUmemoryPool pool, CUstream stream)
{
    struct pt_cu_range *range;
    if (!out || !bytes)
        return CUDA_ERROR_INVALID_VALUE;
    if (stream->capture)
        return pt_cu_capture_spoil(stream, CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
    if (pool->most_bytes && bytes > pool->most_bytes - pool->used)
        return CUDA_ERROR_OUT_OF_MEMORY;
    CUresult r = pt_cu_alloc(stream->ctx, bytes, PT_CU_POOLED, &range);
    if (r != CUDA_SUCCESS)
        return r;
    range->owner = pool;
    pool->blocks++;
    pool->used += bytes;
    if (pool->used > pool->used_high)
        pool->used_high = pool->used;
    *out = range->first;
    return CUDA_SUCCESS;
}

static CUresult alloc_async(CUstream null, CUdeviceptr *out, size_t bytes, CUstream given)
{
    CUstream stream;
    CUmemoryPool pool;
    CUresult r = pt_cu_stream(null, given, &stream);
    if (r == CUDA_SUCCESS)
        r = current_pool(&pool, stream->ctx->device);
    return r == CUDA_SUCCESS ? alloc_from(out, bytes, pool, stream) : r;
}

PER_THREAD_API(cuMemAllocAsync, _ptsz, alloc_async, (CUdeviceptr *address, size_t bytes, CUstream stream), address,
               bytes, stream)

static CUresult alloc_from_async(CUstream null, CUdeviceptr *out, size_t bytes, CUmemoryPool pool, CUstream given)
{
    CUstream stream;
    CUresult r = pt_cu_stream(null, given, &stream);
    if (r == CUDA_SUCCESS)
        r = check_pool(pool);
    return r == CUDA_SUCCESS ? alloc_from(out, bytes, pool, stream) : r;
}

PER_THREAD_API(cuMemAllocFromPoolAsync, _ptsz, alloc_from_async,
               (CUdeviceptr *address, size_t bytes, CUmemoryPool pool, CUstream stream), address, bytes, pool, stream)

static CUresult free_async(CUstream null, CUdeviceptr address, CUstream given)
{
    CUstream stream;
    CUresult r = pt_cu_stream(null, given, &stream);
    if (r != CUDA_SUCCESS)
        return r;
    struct pt_cu_range *range = pt_cu_find(address);
    bool is_block = range && range->first == address && !range->is_going &&
                    (range->memory == PT_CU_POOLED || range->memory == PT_CU_DEVICE);
    if (!is_block)
        return CUDA_ERROR_INVALID_VALUE;
    if (stream->capture)
        return pt_cu_capture_spoil(stream, CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
    struct pt_cu_op op = {.work = PT_CU_FREE_POOLED, .free = {range}};
    range->is_going = true;
    r = pt_cu_submit(stream, &op);
    if (r == CUDA_ERROR_OUT_OF_MEMORY)
        range->is_going = false;
    return r;
}

PER_THREAD_API(cuMemFreeAsync, _ptsz, free_async, (CUdeviceptr address, CUstream stream), address, stream)
