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

/* ---- those that are gone --------------------------------------------------------------------- */

/* Addresses only: what lies there now is somebody else's. One before these is as a wild one. */
enum { GONE_KEPT = 256 };
static const struct CUctx_st *gone[GONE_KEPT];
static unsigned n_gone;

void pt_cu_context_list_bury(CUcontext ctx)
{
    gone[n_gone++ % GONE_KEPT] = ctx;
}

static CUresult check_gone(const struct CUctx_st *given)
{
    for (unsigned i = 0; given && i < GONE_KEPT; i++)
        if (gone[i] == given)
            return CUDA_ERROR_CONTEXT_IS_DESTROYED;
    return CUDA_ERROR_INVALID_CONTEXT;
}

/* ---- what is given --------------------------------------------------------------------------- */

CUresult pt_cu_context_list_check(CUcontext given, CUcontext *whole)
{
    CUresult r = pt_cu_driver_check();
    if (r != CUDA_SUCCESS)
        return r;
    if (!pt_cu_handle_is(given, PT_CU_CONTEXT) && !pt_cu_handle_is(given, PT_CU_GREEN_CONTEXT))
        return check_gone(given);
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
