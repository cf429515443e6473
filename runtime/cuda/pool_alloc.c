/* Memory that is allocated and freed in the order of a stream. */
#include <string.h>

#include "runtime/cuda/block.h"
#include "runtime/cuda/capture.h"
#include "runtime/cuda/context_list.h"
#include "runtime/cuda/driver.h"
#include "runtime/cuda/entry.h"
#include "runtime/cuda/graph_memory.h"
#include "runtime/cuda/handle.h"
#include "runtime/cuda/ipc.h"
#include "runtime/cuda/op.h"
#include "runtime/cuda/overlap.h"
#include "runtime/cuda/pool.h"
#include "runtime/cuda/range.h"
#include "runtime/cuda/stream.h"
#include "runtime/cuda/submit.h"
#include "runtime/cuda/trap.h"

/* ---- blocks that are had already ------------------------------------------------------------- */

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
        pt_cu_pool_delete(pool);
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
    if (range->memory == PT_CU_IMPORTED)
        pt_cu_ipc_close(range);
    else
        pt_cu_block_free(range);
}

static CUresult new_block(CUmemoryPool pool, size_t bytes, CUcontext ctx,
                          struct pt_cu_range **range)
{
    CUresult r = pt_cu_block_alloc(ctx, bytes, PT_CU_POOLED, range);
    if (r == CUDA_ERROR_OUT_OF_MEMORY) {
        pt_cu_pool_empty();
        r = pt_cu_block_alloc(ctx, bytes, PT_CU_POOLED, range);
    }
    if (r != CUDA_SUCCESS)
        return r;
    pt_cu_block_give(*range, pool->device);
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
        r = pt_cu_pool_current(&pool, stream->ctx->device);
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
        r = pt_cu_pool_check_own(pool);
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
                    (range->memory == PT_CU_POOLED || range->memory == PT_CU_DEVICE ||
                     (range->memory == PT_CU_IMPORTED && range->owner));
    if (!is_block)
        return CUDA_ERROR_INVALID_VALUE;
    if (range->imports > 1) {
        range->imports--;
        return CUDA_SUCCESS;
    }
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
