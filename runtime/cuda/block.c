/* Blocks of device memory: made, kept when they are freed, freed as soon as nothing is under
 * way. */
#include "runtime/cuda/block.h"

#include <stdlib.h>
#include <unistd.h>

#include "ir/bits.h"
#include "runtime/cuda/context_list.h"
#include "runtime/cuda/driver.h"
#include "runtime/cuda/overlap.h"
#include "runtime/cuda/range.h"
#include "runtime/cuda/trap.h"
#include "runtime/engine.h"

/* Freed blocks wait here to be used again for the same size: mapping anew takes several system
 * calls, and the system clears pages. Large ones do if they are a pool's; kernels that use others
 * after they were freed are to be found out; all others do, too, while the checker of memory
 * watches. */
enum { KEPT_BYTES = 1 << 20, KEPT_SUM = 256 << 20 };

static size_t rounded_bytes(size_t bytes)
{
    return pt_round_up(bytes, PT_MEM_ALIGN);
}

static struct pt_cu_range **kept_list(CUcontext ctx, size_t bytes)
{
    size_t units = rounded_bytes(bytes) / PT_MEM_ALIGN;
    return &ctx->kept[(units * UINT64_C(0x9e3779b97f4a7c15) >> 32) % PT_CU_KEPT_LISTS];
}

/* A kept block of as many bytes, rounded up alike. */
static struct pt_cu_range *take_kept(CUcontext ctx, size_t bytes)
{
    size_t rounded = rounded_bytes(bytes);
    for (struct pt_cu_range **p = kept_list(ctx, bytes); *p; p = &(*p)->next) {
        struct pt_cu_range *range = *p;
        if (rounded_bytes(range->bytes) != rounded)
            continue;
        *p = range->next;
        ctx->kept_bytes -= rounded;
        range->first = pt_mem_reuse(&ctx->engine->mem, range->first, bytes);
        range->bytes = bytes;
        return range;
    }
    return NULL;
}

static bool keep(struct pt_cu_range *range)
{
    CUcontext ctx = range->ctx;
    size_t rounded = rounded_bytes(range->bytes);
    bool is_large = rounded > KEPT_BYTES && range->memory != PT_CU_POOLED;
    if (is_large || ctx->engine->mem.history || ctx->kept_bytes + rounded > KEPT_SUM ||
        range->fd >= 0)
        return false;
    struct pt_cu_range **list = kept_list(ctx, range->bytes);
    range->next = *list;
    *list = range;
    ctx->kept_bytes += rounded;
    return true;
}

void pt_cu_block_drop_kept(CUcontext ctx)
{
    for (size_t i = 0; i < PT_CU_KEPT_LISTS; i++) {
        while (ctx->kept[i]) {
            struct pt_cu_range *range = ctx->kept[i];
            ctx->kept[i] = range->next;
            pt_mem_free(&ctx->engine->mem, (void *)(uintptr_t)range->first, PT_MEM_BUFFER);
            free(range);
        }
    }
    ctx->kept_bytes = 0;
}

static struct pt_cu_range *new_block(CUcontext ctx, size_t bytes)
{
    void *p = pt_mem_alloc(&ctx->engine->mem, bytes, PT_MEM_BUFFER);
    if (!p && ctx->kept_bytes) {
        pt_cu_block_drop_kept(ctx);
        p = pt_mem_alloc(&ctx->engine->mem, bytes, PT_MEM_BUFFER);
    }
    struct pt_cu_range *range = p ? calloc(1, sizeof *range) : NULL;
    if (p && !range)
        pt_mem_free(&ctx->engine->mem, p, PT_MEM_BUFFER);
    if (!range)
        return NULL;
    range->first = (uintptr_t)p;
    range->bytes = bytes;
    range->fd = -1;
    return range;
}

/* What there is room for. Pinned memory is the host's; managed memory may be more than devices
 * have, and the host: pages come as they are used. */
static bool has_room(CUcontext ctx, size_t bytes, enum pt_cu_memory memory)
{
    size_t all = pt_cu_driver.device_bytes, used = pt_cu_driver.devices[ctx->device].used_bytes;
    return memory == PT_CU_MANAGED ||
           (bytes <= all && (memory == PT_CU_HOST || used <= all - bytes));
}

CUresult pt_cu_block_alloc(CUcontext ctx, size_t bytes, enum pt_cu_memory memory,
                           struct pt_cu_range **out)
{
    size_t charged = memory == PT_CU_MANAGED || memory == PT_CU_HOST ? 0 : bytes;
    if (!has_room(ctx, bytes, memory))
        return CUDA_ERROR_OUT_OF_MEMORY;
    struct pt_cu_range *range = take_kept(ctx, bytes);
    if (!range)
        range = new_block(ctx, bytes);
    if (!range)
        return CUDA_ERROR_OUT_OF_MEMORY;
    *range = (struct pt_cu_range){.first = range->first,
                                  .bytes = bytes,
                                  .memory = memory,
                                  .ctx = ctx,
                                  .device = ctx->device,
                                  .charged = charged,
                                  .fd = -1};
    if (!pt_cu_range_enter(range)) {
        pt_mem_free(&ctx->engine->mem, (void *)(uintptr_t)range->first, PT_MEM_BUFFER);
        free(range);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    pt_cu_driver.devices[ctx->device].used_bytes += charged;
    pt_cu_driver.managed_bytes += memory == PT_CU_MANAGED ? bytes : 0;
    *out = range;
    pt_cu_overlap_allocated(range->first, bytes);
    if (memory == PT_CU_DEVICE || memory == PT_CU_POOLED)
        pt_mem_set_written(&ctx->engine->mem, range->first, bytes, false);
    pt_cu_trap_new(range);
    return CUDA_SUCCESS;
}

void pt_cu_block_give(struct pt_cu_range *range, CUdevice device)
{
    pt_cu_driver.devices[range->device].used_bytes -= range->charged;
    pt_cu_driver.devices[device].used_bytes += range->charged;
    range->device = device;
}

void pt_cu_block_free(struct pt_cu_range *range)
{
    pt_cu_range_leave(range);
    pt_mem_keep(&range->ctx->engine->mem, range->first);
    if (!range->keep || !range->keep(range))
        pt_cu_block_release(range);
}

void pt_cu_block_release(struct pt_cu_range *range)
{
    CUcontext ctx = range->ctx;
    pt_cu_driver.devices[range->device].used_bytes -= range->charged;
    pt_cu_driver.managed_bytes -= range->memory == PT_CU_MANAGED ? range->bytes : 0;
    if (keep(range))
        return;
    pt_mem_free(&ctx->engine->mem, (void *)(uintptr_t)range->first, PT_MEM_BUFFER);
    if (range->fd >= 0)
        close(range->fd);
    free(range);
}

void pt_cu_block_free_later(struct pt_cu_range *range)
{
    CUcontext ctx = range->ctx;
    range->is_going = true;
    range->doomed = ctx->doomed;
    ctx->doomed = range;
    pt_cu_block_free_doomed(ctx);
}

void pt_cu_block_free_doomed(CUcontext ctx)
{
    while (!ctx->pending && ctx->doomed) {
        struct pt_cu_range *range = ctx->doomed;
        ctx->doomed = range->doomed;
        pt_cu_block_free(range);
    }
}
