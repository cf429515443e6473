/* Limits of a context, with the values, steps and bounds that an H100 has (driver 580). */
#include "runtime/cuda/limit.h"

#include "ir/bits.h"
#include "runtime/cuda/capture.h"
#include "runtime/cuda/context_list.h"
#include "runtime/cuda/current.h"
#include "runtime/cuda/device.h"
#include "runtime/cuda/entry.h"
#include "runtime/engine.h"

enum {
    STACK_DEFAULT = 1024,
    STACK_ROOM =
        64
        << 10, /* what threads have at least: kernels here take other amounts for the same calls */
    STACK_STEP = 16,
    STACK_MOST = 511 << 10,
    FIFO_DEFAULT = 8650752,
    FIFO_STEP = 256,
    FIFO_LEAST = 512 << 10,
    HEAP_DEFAULT = 8 << 20,
    HEAP_STEP = 64 << 10,
    HEAP_LEAST = 4 << 20,
    LAUNCHES_DEFAULT = 2048,
    LAUNCHES_LEAST = 32,
    LAUNCHES_MOST = 599186,
    FETCH_DEFAULT = 64,
    FETCH_MOST = 128,
    L2_PARTS = 16, /* of the L2 cache, in which memory that persists is set aside */
    L2_PARTS_DEFAULT = 3
};
static const size_t fifo_most = (size_t)2 << 30, heap_most = ((size_t)16 << 30) - HEAP_STEP;

/* ---- values ---------------------------------------------------------------------------------- */

static size_t between(size_t least, size_t value, size_t most)
{
    return value < least ? least : value < most ? value : most;
}

static size_t attribute(CUcontext ctx, CUdevice_attribute which)
{
    return (size_t)pt_cu_device_attribute(which, ctx->device);
}

static size_t persisting_most(CUcontext ctx)
{
    return attribute(ctx, CU_DEVICE_ATTRIBUTE_MAX_PERSISTING_L2_CACHE_SIZE);
}

static size_t persisting_step(CUcontext ctx)
{
    return attribute(ctx, CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE) / L2_PARTS;
}

void pt_cu_limit_reset(CUcontext ctx)
{
    size_t *limits = ctx->limits;
    limits[CU_LIMIT_STACK_SIZE] = STACK_DEFAULT;
    limits[CU_LIMIT_PRINTF_FIFO_SIZE] = FIFO_DEFAULT;
    limits[CU_LIMIT_MALLOC_HEAP_SIZE] = HEAP_DEFAULT;
    limits[CU_LIMIT_DEV_RUNTIME_PENDING_LAUNCH_COUNT] = LAUNCHES_DEFAULT;
    limits[CU_LIMIT_MAX_L2_FETCH_GRANULARITY] = FETCH_DEFAULT;
    limits[CU_LIMIT_PERSISTING_L2_CACHE_SIZE] =
        persisting_most(ctx) ? L2_PARTS_DEFAULT * persisting_step(ctx) : 0;
    limits[CU_LIMIT_SHMEM_SIZE] =
        attribute(ctx, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN);
    limits[CU_LIMIT_CIG_ENABLED] = 0;
    ctx->engine->stack_bytes = STACK_ROOM;
    ctx->engine->heap.limit = HEAP_DEFAULT;
}

/* ---- stack and heap -------------------------------------------------------------------------- */

static CUresult set_stack(CUcontext ctx, size_t *value)
{
    if (*value > STACK_MOST)
        return CUDA_ERROR_INVALID_VALUE;
    *value = pt_round_up(*value, STACK_STEP);
    ctx->engine->stack_bytes = *value > STACK_ROOM ? *value : STACK_ROOM;
    return CUDA_SUCCESS;
}

static CUresult set_heap(CUcontext ctx, size_t *value)
{
    if (ctx->engine->heap.base) /* a kernel has used it */
        return CUDA_ERROR_INVALID_VALUE;
    *value = pt_round_up(between(HEAP_LEAST, *value, heap_most), HEAP_STEP);
    ctx->engine->heap.limit = *value;
    return CUDA_SUCCESS;
}

/* ---- calls ----------------------------------------------------------------------------------- */

static CUresult check_limit(CUlimit limit)
{
    if ((int)limit < 0 || limit >= CU_LIMIT_MAX)
        return CUDA_ERROR_INVALID_VALUE;
    bool has_none =
        limit == CU_LIMIT_DEV_RUNTIME_SYNC_DEPTH || limit == CU_LIMIT_CIG_SHMEM_FALLBACK_ENABLED;
    return has_none ? CUDA_ERROR_UNSUPPORTED_LIMIT : CUDA_SUCCESS;
}

/* What is set becomes what the device can do. */
static CUresult apply(CUcontext ctx, CUlimit limit, size_t *value)
{
    switch (limit) {
    case CU_LIMIT_STACK_SIZE:
        return set_stack(ctx, value);
    case CU_LIMIT_MALLOC_HEAP_SIZE:
        return set_heap(ctx, value);
    case CU_LIMIT_PRINTF_FIFO_SIZE:
        *value = pt_round_up(between(FIFO_LEAST, *value, fifo_most), FIFO_STEP);
        return CUDA_SUCCESS;
    case CU_LIMIT_DEV_RUNTIME_PENDING_LAUNCH_COUNT:
        *value = between(LAUNCHES_LEAST, *value, LAUNCHES_MOST);
        return CUDA_SUCCESS;
    case CU_LIMIT_MAX_L2_FETCH_GRANULARITY:
        return *value > FETCH_MOST ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
    case CU_LIMIT_PERSISTING_L2_CACHE_SIZE:
        if (*value > persisting_most(ctx))
            return CUDA_ERROR_INVALID_VALUE;
        *value = pt_round_up(*value, persisting_step(ctx));
        return CUDA_SUCCESS;
    default: /* what kernels may have is the device's */
        return CUDA_ERROR_NOT_PERMITTED;
    }
}

static CUresult set_limit(CUlimit limit, size_t value)
{
    CUcontext ctx;
    CUresult r = pt_cu_current_get(&ctx);
    if (r == CUDA_SUCCESS)
        r = pt_cu_capture_forbid_unsafe();
    if (r == CUDA_SUCCESS)
        r = check_limit(limit);
    if (r == CUDA_SUCCESS)
        r = apply(ctx, limit, &value);
    if (r == CUDA_SUCCESS)
        ctx->limits[limit] = value;
    return r;
}

CUresult cuCtxSetLimit(CUlimit limit, size_t value)
{
    return API(set_limit(limit, value));
}

static CUresult get_limit(size_t *value, CUlimit limit)
{
    CUcontext ctx;
    CUresult r = pt_cu_current_get(&ctx);
    if (r == CUDA_SUCCESS && !value)
        r = CUDA_ERROR_INVALID_VALUE;
    if (r == CUDA_SUCCESS)
        r = check_limit(limit);
    if (r == CUDA_SUCCESS)
        *value = ctx->limits[limit];
    return r;
}

CUresult cuCtxGetLimit(size_t *value, CUlimit limit)
{
    return API(get_limit(value, limit));
}
