/* Memory pools, and memory that is allocated and freed in the order of a stream. */
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

/* Blocks come from the context's memory. What is freed stays in the pool, for later blocks of about
 * its size, until a synchronisation finds more than the release threshold. */
struct CUmemPoolHandle_st {
    struct pt_cu_object object;
    CUmemoryPool next; /* of all */
    CUdevice device;
    struct pt_cu_range *kept;      /* freed blocks, the last freed first */
    struct pt_cu_range *going;     /* blocks that commands are to free */
    bool is_default, is_destroyed; /* destroyed: goes with its last block */
    size_t blocks, most_bytes;
    int reuse[3];
    uint64_t release_threshold, used, used_high, reserved, reserved_high;
    CUmemAccess_flags access[PT_CU_DEVICES_MAX]; /* of each device */
};

static CUmemoryPool pools;

static CUmemoryPool new_pool(CUdevice device)
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

static void delete_pool(CUmemoryPool pool)
{
    CUmemoryPool *p = &pools;
    while (*p != pool)
        p = &(*p)->next;
    *p = pool->next;
    pt_cu_handle_delete(pool);
}

static CUresult check_pool(CUmemoryPool pool)
{
    CUresult r = pt_cu_driver_check();
    bool is_one = pt_cu_handle_is(pool, PT_CU_POOL) && !pool->is_destroyed;
    return r == CUDA_SUCCESS && !is_one ? CUDA_ERROR_INVALID_VALUE : r;
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
static void trim(CUmemoryPool pool, uint64_t most)
{
    while (pool->kept && pool->reserved > most) {
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
            trim(pool, pool->release_threshold);
}

void pt_cu_pool_forget(CUcontext ctx)
{
    for (CUmemoryPool pool = pools; pool; pool = pool->next) {
        struct pt_cu_range **p = &pool->kept;
        while (*p) {
            if ((*p)->ctx == ctx)
                give_back(pool, p);
            else
                p = &(*p)->next;
        }
    }
}

/* The block of a list that fits best, an eighth too large at most; of a stream's, if that is not
 * 0. */
static struct pt_cu_range **find_block(struct pt_cu_range **list, CUcontext ctx, size_t bytes,
                                       uint64_t stream)
{
    struct pt_cu_range **best = NULL;
    size_t least = pt_mem_round(bytes), most = least + least / 8;
    for (struct pt_cu_range **p = list; *p; p = &(*p)->next) {
        const struct pt_cu_range *r = *p;
        bool fits = r->ctx == ctx && r->room >= least && r->room <= most &&
                    (!stream || r->freed_in == stream);
        if (fits && (!best || r->room < (*best)->room))
            best = p;
    }
    return best;
}

static struct pt_cu_range *take_from(struct pt_cu_range **place)
{
    struct pt_cu_range *range = *place;
    *place = range->next;
    range->next = NULL;
    return range;
}

static void resize(struct pt_cu_range *range, size_t bytes)
{
    range->first = pt_mem_reuse(&range->ctx->engine->mem, range->first, bytes);
    range->bytes = bytes;
}

/* A block that will have been freed by what the stream has to do before. It is known as a range
 * still, in its own pages, so that it stays in its place among others. */
static struct pt_cu_range *take_going(CUmemoryPool pool, size_t bytes, CUstream stream)
{
    struct pt_cu_range **place = find_block(&pool->going, stream->ctx, bytes, stream->object.id);
    if (!place)
        return NULL;
    struct pt_cu_range *range = take_from(place);
    range->void_frees++;
    range->is_going = false;
    range->id = pt_cu_handle_new_id();
    pool->used -= range->bytes;
    resize(range, bytes);
    return range;
}

static struct pt_cu_range *take_kept(CUmemoryPool pool, size_t bytes, CUcontext ctx)
{
    struct pt_cu_range **place = find_block(&pool->kept, ctx, bytes, 0);
    if (!place)
        return NULL;
    struct pt_cu_range *range = take_from(place);
    resize(range, bytes);
    if (pt_cu_range_enter(range)) {
        pool->blocks++;
        return range;
    }
    pool->reserved -= range->room;
    pt_cu_block_release(range);
    return NULL;
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
    return API(pool_at(pool, place, type, current_pool));
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
    if (props->handleTypes != CU_MEM_HANDLE_TYPE_NONE)
        return CUDA_ERROR_NOT_SUPPORTED;
    *pool = new_pool(props->location.id);
    if (!*pool)
        return CUDA_ERROR_OUT_OF_MEMORY;
    (*pool)->most_bytes = props->maxSize;
    pt_cu_handle_give(*pool);
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
    trim(pool, 0);
    if (!pool->blocks)
        delete_pool(pool);
    return CUDA_SUCCESS;
}

CUresult cuMemPoolDestroy(CUmemoryPool pool)
{
    return API(destroy(pool));
}

static CUresult trim_to(CUmemoryPool pool, size_t bytes_to_keep)
{
    CUresult r = check_pool(pool);
    if (r == CUDA_SUCCESS)
        trim(pool, bytes_to_keep);
    return r;
}

CUresult cuMemPoolTrimTo(CUmemoryPool pool, size_t bytes_to_keep)
{
    return API(trim_to(pool, bytes_to_keep));
}

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
    CUresult r = check_pool(pool);
    if (r == CUDA_SUCCESS && n && !descs)
        r = CUDA_ERROR_INVALID_VALUE;
    for (size_t i = 0; r == CUDA_SUCCESS && i < n; i++) {
        CUmemLocation l = descs[i].location;
        if (l.type != CU_MEM_LOCATION_TYPE_DEVICE ||
            (descs[i].flags != CU_MEM_ACCESS_FLAGS_PROT_NONE &&
             descs[i].flags != CU_MEM_ACCESS_FLAGS_PROT_READWRITE))
            return CUDA_ERROR_INVALID_VALUE;
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
    CUresult r = check_pool(pool);
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

/* ---- allocating in order --------------------------------------------------------------------- */

/* A block is being freed. True: the pool keeps it. */
static bool keep_block(struct pt_cu_range *range)
{
    CUmemoryPool pool = range->owner;
    bool keeps = !pool->is_destroyed && range->fd < 0;
    pool->used -= range->bytes;
    pool->blocks--;
    range->is_going = false;
    if (keeps) {
        range->next = pool->kept;
        pool->kept = range;
        return true;
    }
    pool->reserved -= range->room;
    if (!pool->blocks && pool->is_destroyed)
        delete_pool(pool);
    return false;
}

static void leave_going(struct pt_cu_range *range)
{
    CUmemoryPool pool = range->owner;
    if (range->memory != PT_CU_POOLED)
        return;
    struct pt_cu_range **p = &pool->going;
    while (*p && *p != range)
        p = &(*p)->next;
    if (*p)
        *p = range->next;
    range->next = NULL;
}

static void enter_going(struct pt_cu_range *range)
{
    CUmemoryPool pool = range->owner;
    if (range->memory != PT_CU_POOLED)
        return;
    range->next = pool->going;
    pool->going = range;
}

/* The turn of a command that is to free it has come. Of several the last one does. */
static void free_block(struct pt_cu_range *range)
{
    range->frees--;
    if (range->void_frees) {
        range->void_frees--;
        return;
    }
    leave_going(range);
    pt_cu_block_free(range);
}

static CUresult new_block(CUmemoryPool pool, size_t bytes, CUcontext ctx,
                          struct pt_cu_range **range)
{
    CUresult r = pt_cu_block_alloc(ctx, bytes, PT_CU_POOLED, range);
    if (r == CUDA_ERROR_OUT_OF_MEMORY) {
        for (CUmemoryPool p = pools; p; p = p->next)
            trim(p, 0);
        r = pt_cu_block_alloc(ctx, bytes, PT_CU_POOLED, range);
    }
    if (r != CUDA_SUCCESS)
        return r;
    (*range)->owner = pool;
    (*range)->access = pool->access;
    (*range)->keep = keep_block;
    (*range)->room = pt_mem_round(bytes);
    pool->blocks++;
    pool->reserved += (*range)->room;
    if (pool->reserved > pool->reserved_high)
        pool->reserved_high = pool->reserved;
    return CUDA_SUCCESS;
}

/* The block is there at once, which is earlier than promised. */
static CUresult alloc_from(CUdeviceptr *out, size_t bytes, CUmemoryPool pool, CUstream stream)
{
    struct pt_cu_range *range;
    if (!out)
        return CUDA_ERROR_INVALID_VALUE;
    *out = 0;
    if (!bytes)
        return CUDA_SUCCESS;
    if (stream->capture)
        return pt_cu_capture_alloc(stream, bytes, out);
    if (pool->most_bytes &&
        (pool->used > pool->most_bytes || bytes > pool->most_bytes - pool->used))
        return CUDA_ERROR_OUT_OF_MEMORY;
    range = take_going(pool, bytes, stream);
    if (!range)
        range = take_kept(pool, bytes, stream->ctx);
    CUresult r = range ? CUDA_SUCCESS : new_block(pool, bytes, stream->ctx, &range);
    if (r != CUDA_SUCCESS)
        return r;
    pool->used += bytes;
    if (pool->used > pool->used_high)
        pool->used_high = pool->used;
    *out = range->first;
    pt_cu_overlap_allocated(range->first, bytes);
    pt_cu_trap_new(range);
    return CUDA_SUCCESS;
}

static CUresult alloc_async(CUstream null, CUdeviceptr *out, size_t bytes, CUstream given)
{
    CUstream stream;
    CUmemoryPool pool;
    CUresult r = pt_cu_stream_find(null, given, &stream);
    if (r == CUDA_SUCCESS)
        r = current_pool(&pool, stream->ctx->device);
    return r == CUDA_SUCCESS ? alloc_from(out, bytes, pool, stream) : r;
}

PER_THREAD_API(cuMemAllocAsync, _ptsz, alloc_async,
               (CUdeviceptr * address, size_t bytes, CUstream stream), address, bytes, stream)

static CUresult alloc_from_async(CUstream null, CUdeviceptr *out, size_t bytes, CUmemoryPool pool,
                                 CUstream given)
{
    CUstream stream;
    CUresult r = pt_cu_stream_find(null, given, &stream);
    if (r == CUDA_SUCCESS)
        r = check_pool(pool);
    return r == CUDA_SUCCESS ? alloc_from(out, bytes, pool, stream) : r;
}

PER_THREAD_API(cuMemAllocFromPoolAsync, _ptsz, alloc_from_async,
               (CUdeviceptr * address, size_t bytes, CUmemoryPool pool, CUstream stream), address,
               bytes, pool, stream)

static CUresult free_async(CUstream null, CUdeviceptr address, CUstream given)
{
    CUstream stream;
    CUresult r = pt_cu_stream_find(null, given, &stream);
    if (r != CUDA_SUCCESS || !address)
        return r;
    struct pt_cu_graph_block *block = pt_cu_graph_memory_block_at(address);
    if (stream->capture)
        return pt_cu_capture_free(stream, address);
    if (block)
        return pt_cu_graph_memory_block_release(block) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
    struct pt_cu_range *range = pt_cu_range_find(address);
    bool is_block = range && range->first == address && !range->is_going &&
                    (range->memory == PT_CU_POOLED || range->memory == PT_CU_DEVICE);
    if (!is_block)
        return CUDA_ERROR_INVALID_VALUE;
    struct pt_cu_op op = {.work = PT_CU_FREE_POOLED, .free = {range, free_block}};
    range->is_going = true;
    range->frees++;
    range->freed_in = stream->object.id;
    enter_going(range);
    r = pt_cu_submit_op(stream, &op);
    if (r != CUDA_SUCCESS) { /* no memory for the command, or a capture forbids it */
        leave_going(range);
        range->frees--;
        range->is_going = false;
    }
    return r;
}

PER_THREAD_API(cuMemFreeAsync, _ptsz, free_async, (CUdeviceptr address, CUstream stream), address,
               stream)
