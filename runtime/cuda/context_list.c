/* The live contexts. */
#include "runtime/cuda/context_list.h"

#include "runtime/cuda/driver.h"
#include "runtime/cuda/handle.h"

static CUcontext alive;

CUcontext pt_cu_context_list_next(CUcontext ctx)
{
    return ctx ? ctx->next : alive;
}

void pt_cu_context_list_enter(CUcontext ctx)
{
    ctx->next = alive;
    ctx->previous = NULL;
    if (alive)
        alive->previous = ctx;
    alive = ctx;
}

void pt_cu_context_list_leave(CUcontext ctx)
{
    if (ctx->next)
        ctx->next->previous = ctx->previous;
    if (ctx->previous)
        ctx->previous->next = ctx->next;
    else
        alive = ctx->next;
}

CUresult pt_cu_context_list_check(CUcontext given, CUcontext *whole)
{
    CUresult r = pt_cu_driver_check();
    if (r != CUDA_SUCCESS)
        return r;
    if (!pt_cu_handle_is(given, PT_CU_CONTEXT) && !pt_cu_handle_is(given, PT_CU_GREEN_CONTEXT))
        return CUDA_ERROR_INVALID_CONTEXT;
    *whole = given->whole;
    return given->is_alive && given->whole->is_alive ? CUDA_SUCCESS
                                                     : CUDA_ERROR_CONTEXT_IS_DESTROYED;
}

CUresult pt_cu_context_list_check_green(CUgreenCtx green)
{
    CUresult r = pt_cu_driver_check();
    if (r == CUDA_SUCCESS && !pt_cu_handle_is(green, PT_CU_GREEN_CONTEXT))
        r = CUDA_ERROR_INVALID_CONTEXT;
    if (r == CUDA_SUCCESS && !((CUcontext)green)->is_alive)
        r = CUDA_ERROR_CONTEXT_IS_DESTROYED;
    return r;
}
