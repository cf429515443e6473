/* What a context prefers, and whose memory its kernels may access. */
#include "runtime/cuda/context.h"
#include "runtime/cuda/context_list.h"
#include "runtime/cuda/current.h"
#include "runtime/cuda/driver.h"
#include "runtime/cuda/entry.h"
#include "runtime/cuda/stream.h"

/* ---- preferences ----------------------------------------------------------------------------- */

static CUresult cache_config(CUfunc_cache *get, CUfunc_cache set)
{
    CUcontext ctx;
    CUresult r = pt_cu_current_get(&ctx);
    if (r == CUDA_SUCCESS && ((unsigned)set > CU_FUNC_CACHE_PREFER_EQUAL))
        r = CUDA_ERROR_INVALID_VALUE;
    if (r == CUDA_SUCCESS && get)
        *get = ctx->cache_config;
    else if (r == CUDA_SUCCESS)
        ctx->cache_config = set;
    return r;
}

CUresult cuCtxGetCacheConfig(CUfunc_cache *config)
{
    return API(config ? cache_config(config, CU_FUNC_CACHE_PREFER_NONE) : CUDA_ERROR_INVALID_VALUE);
}

CUresult cuCtxSetCacheConfig(CUfunc_cache config)
{
    return API(cache_config(NULL, config));
}

/* Banks have 4 bytes, whatever is asked for, as on all devices since compute capability 5.0. */
static CUresult shared_config(CUsharedconfig *get, CUsharedconfig set)
{
    CUcontext ctx;
    CUresult r = pt_cu_current_get(&ctx);
    if (r == CUDA_SUCCESS && ((unsigned)set > CU_SHARED_MEM_CONFIG_EIGHT_BYTE_BANK_SIZE))
        r = CUDA_ERROR_INVALID_VALUE;
    if (r == CUDA_SUCCESS && get)
        *get = CU_SHARED_MEM_CONFIG_FOUR_BYTE_BANK_SIZE;
    return r;
}

CUresult cuCtxGetSharedMemConfig(CUsharedconfig *config)
{
    return API(config ? shared_config(config, CU_SHARED_MEM_CONFIG_DEFAULT_BANK_SIZE)
                      : CUDA_ERROR_INVALID_VALUE);
}

CUresult cuCtxSetSharedMemConfig(CUsharedconfig config)
{
    return API(shared_config(NULL, config));
}

static CUresult priority_range(int *least, int *greatest)
{
    CUcontext ctx;
    CUresult r = pt_cu_current_get(&ctx);
    if (r == CUDA_SUCCESS && least)
        *least = 0;
    if (r == CUDA_SUCCESS && greatest)
        *greatest = PT_CU_PRIORITY_GREATEST;
    return r;
}

CUresult cuCtxGetStreamPriorityRange(int *least, int *greatest)
{
    return API(priority_range(least, greatest));
}

static CUresult succeed_if_current(void)
{
    CUcontext ctx;
    return pt_cu_current_get(&ctx);
}

CUresult cuCtxResetPersistingL2Cache(void)
{
    return API(succeed_if_current());
}

/* ---- memory of other devices ----------------------------------------------------------------- */

static CUresult set_peer(CUcontext peer, unsigned flags, bool enable)
{
    CUcontext ctx;
    CUresult r = pt_cu_current_get(&ctx);
    if (r == CUDA_SUCCESS)
        r = pt_cu_context_list_check(peer, &peer);
    if (r != CUDA_SUCCESS)
        return r;
    if (flags)
        return CUDA_ERROR_INVALID_VALUE;
    if (peer->device == ctx->device)
        return enable ? CUDA_ERROR_PEER_ACCESS_UNSUPPORTED : CUDA_ERROR_PEER_ACCESS_NOT_ENABLED;
    uint64_t bit = UINT64_C(1) << peer->device;
    bool is_enabled = (ctx->peers & bit) != 0;
    if (enable && is_enabled)
        return CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED;
    if (!enable && !is_enabled)
        return CUDA_ERROR_PEER_ACCESS_NOT_ENABLED;
    ctx->peers ^= bit;
    return CUDA_SUCCESS;
}

CUresult cuCtxEnablePeerAccess(CUcontext peer, unsigned flags)
{
    return API(set_peer(peer, flags, true));
}

CUresult cuCtxDisablePeerAccess(CUcontext peer)
{
    return API(set_peer(peer, 0, false));
}
