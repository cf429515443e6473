/* The contexts of each thread: a stack, of which the last one is current. */
#include "runtime/cuda/current.h"

#include <stdlib.h>

#include "runtime/cuda/context_list.h"
#include "runtime/cuda/driver.h"
#include "runtime/cuda/entry.h"
#include "runtime/cuda/handle.h"
#include "runtime/cuda/thread.h"

void pt_cu_current_unref(CUcontext ctx)
{
    if (--ctx->refs || ctx->is_alive || ctx->is_primary)
        return;
    pt_cu_context_list_bury(ctx);
    pt_cu_handle_delete(ctx);
}

CUcontext pt_cu_current_handle(void)
{
    const struct pt_cu_thread *mine = pt_cu_thread_get();
    return mine && mine->depth ? mine->stack[mine->depth - 1] : NULL;
}

CUresult pt_cu_current_push(CUcontext ctx)
{
    struct pt_cu_thread *thread = pt_cu_thread_get();
    if (thread && thread->depth == thread->cap) {
        size_t cap = thread->cap ? thread->cap * 2 : 8;
        CUcontext *stack = realloc(thread->stack, cap * sizeof *stack);
        if (!stack)
            return CUDA_ERROR_OUT_OF_MEMORY;
        thread->stack = stack;
        thread->cap = cap;
    }
    if (!thread)
        return CUDA_ERROR_OUT_OF_MEMORY;
    thread->stack[thread->depth++] = ctx;
    ctx->refs++;
    return CUDA_SUCCESS;
}

void pt_cu_current_leave(CUcontext ctx)
{
    if (pt_cu_current_handle() != ctx)
        return;
    pt_cu_thread_get()->depth--;
    ctx->refs--;
}

void pt_cu_current_leave_all(struct pt_cu_thread *thread)
{
    while (thread->depth)
        pt_cu_current_unref(thread->stack[--thread->depth]);
}

CUresult pt_cu_current_get_any(CUcontext *ctx)
{
    CUresult r = pt_cu_driver_check();
    CUcontext handle = r == CUDA_SUCCESS ? pt_cu_current_handle() : NULL;
    *ctx = handle ? handle->whole : NULL;
    if (r == CUDA_SUCCESS && !handle)
        r = CUDA_ERROR_INVALID_CONTEXT;
    if (r == CUDA_SUCCESS && (!handle->is_alive || !(*ctx)->is_alive))
        r = CUDA_ERROR_CONTEXT_IS_DESTROYED;
    return r;
}

CUresult pt_cu_current_get(CUcontext *ctx)
{
    CUresult r = pt_cu_current_get_any(ctx);
    return r == CUDA_SUCCESS ? (*ctx)->error : r;
}

CUresult pt_cu_current_or(CUcontext given, CUcontext *ctx)
{
    if (!given)
        return pt_cu_current_get(ctx);
    CUresult r = pt_cu_context_list_check(given, ctx);
    return r == CUDA_SUCCESS ? (*ctx)->error : r;
}

/* ---- entries --------------------------------------------------------------------------------- */

static CUresult set_current(CUcontext ctx)
{
    CUcontext whole;
    CUresult r = ctx ? pt_cu_context_list_check(ctx, &whole) : pt_cu_driver_check();
    if (r != CUDA_SUCCESS)
        return r;
    if (!pt_cu_current_handle())
        return ctx ? pt_cu_current_push(ctx) : CUDA_SUCCESS;
    struct pt_cu_thread *thread = pt_cu_thread_get();
    CUcontext before = pt_cu_current_handle();
    if (ctx) {
        thread->stack[thread->depth - 1] = ctx;
        ctx->refs++;
    } else {
        thread->depth--;
    }
    pt_cu_current_unref(before);
    return CUDA_SUCCESS;
}

CUresult cuCtxSetCurrent(CUcontext ctx)
{
    return API(set_current(ctx));
}

static CUresult get_current(CUcontext *ctx)
{
    CUresult r = pt_cu_driver_check();
    if (r == CUDA_SUCCESS && !ctx)
        r = CUDA_ERROR_INVALID_VALUE;
    if (r == CUDA_SUCCESS)
        *ctx = pt_cu_current_handle();
    return r;
}

CUresult cuCtxGetCurrent(CUcontext *ctx)
{
    return API(get_current(ctx));
}

static CUresult push_current(CUcontext ctx)
{
    CUcontext whole;
    CUresult r = ctx ? pt_cu_context_list_check(ctx, &whole) : CUDA_ERROR_INVALID_VALUE;
    return r == CUDA_SUCCESS ? pt_cu_current_push(ctx) : r;
}

CUresult cuCtxPushCurrent(CUcontext ctx)
{
    return API(push_current(ctx));
}

CUresult cuCtxPushCurrent_v2(CUcontext ctx)
{
    return API(push_current(ctx));
}

static CUresult pop_current(CUcontext *ctx)
{
    CUresult r = pt_cu_driver_check();
    if (r != CUDA_SUCCESS)
        return r;
    CUcontext before = pt_cu_current_handle();
    if (!before)
        return CUDA_ERROR_INVALID_CONTEXT;
    if (ctx)
        *ctx = before;
    pt_cu_thread_get()->depth--;
    pt_cu_current_unref(before);
    return CUDA_SUCCESS;
}

CUresult cuCtxPopCurrent(CUcontext *ctx)
{
    return API(pop_current(ctx));
}

CUresult cuCtxPopCurrent_v2(CUcontext *ctx)
{
    return API(pop_current(ctx));
}
