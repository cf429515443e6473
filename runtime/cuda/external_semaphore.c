/* Semaphores of something else than CUDA. Graphics drivers make them, of which there is none on a
 * CPU that shares any: each file is refused as a GPU's driver refuses one that is no semaphore, no
 * handle is valid, and nodes of graphs have none to signal or to wait for. */
#include <stddef.h>

#include "runtime/cuda/current.h"
#include "runtime/cuda/driver.h"
#include "runtime/cuda/entry.h"
#include "runtime/cuda/graph.h"
#include "runtime/cuda/stream.h"

static CUresult import(const CUexternalSemaphore *out, const CUDA_EXTERNAL_SEMAPHORE_HANDLE_DESC *d)
{
    CUcontext ctx;
    CUresult r = pt_cu_current_get(&ctx);
    if (r != CUDA_SUCCESS)
        return r;
    if (!out || !d)
        return CUDA_ERROR_INVALID_VALUE;
    switch (d->type) {
    case CU_EXTERNAL_SEMAPHORE_HANDLE_TYPE_OPAQUE_FD:
        return d->flags ? CUDA_ERROR_INVALID_VALUE : CUDA_ERROR_UNKNOWN;
    case CU_EXTERNAL_SEMAPHORE_HANDLE_TYPE_TIMELINE_SEMAPHORE_FD:
        return d->flags || d->handle.fd < 0 ? CUDA_ERROR_INVALID_VALUE : CUDA_ERROR_UNKNOWN;
    default: /* Windows, NvSciSync */
        return d->type >= CU_EXTERNAL_SEMAPHORE_HANDLE_TYPE_OPAQUE_WIN32 &&
                       d->type <= CU_EXTERNAL_SEMAPHORE_HANDLE_TYPE_TIMELINE_SEMAPHORE_WIN32
                   ? CUDA_ERROR_NOT_SUPPORTED
                   : CUDA_ERROR_INVALID_VALUE;
    }
}

CUresult cuImportExternalSemaphore(CUexternalSemaphore *semaphore,
                                   const CUDA_EXTERNAL_SEMAPHORE_HANDLE_DESC *desc)
{
    return API(import(semaphore, desc));
}

static CUresult destroy(void)
{
    CUresult r = pt_cu_driver_check();
    return r == CUDA_SUCCESS ? CUDA_ERROR_INVALID_VALUE : r;
}

CUresult cuDestroyExternalSemaphore(CUexternalSemaphore semaphore)
{
    (void)semaphore;
    return API(destroy());
}

static CUresult signal_or_wait(CUstream null, CUstream given, const CUexternalSemaphore *semaphores,
                               const void *params, unsigned n)
{
    CUstream stream;
    CUresult r = pt_cu_stream_find(null, given, &stream);
    if (r == CUDA_SUCCESS)
        r = semaphores && params && n ? CUDA_ERROR_INVALID_HANDLE : CUDA_ERROR_INVALID_VALUE;
    return r;
}

PER_THREAD_API(cuSignalExternalSemaphoresAsync, _ptsz, signal_or_wait,
               (const CUexternalSemaphore *semaphores, const void *params, unsigned n,
                CUstream stream),
               stream, semaphores, params, n)
PER_THREAD_API(cuWaitExternalSemaphoresAsync, _ptsz, signal_or_wait,
               (const CUexternalSemaphore *semaphores, const void *params, unsigned n,
                CUstream stream),
               stream, semaphores, params, n)

/* ---- nodes ----------------------------------------------------------------------------------- */

static CUresult get_params(CUgraphNode node, CUgraphNodeType type, CUDA_EXT_SEM_NODE_PARAMS *p)
{
    CUresult r = pt_cu_graph_check_node(node);
    if (r == CUDA_SUCCESS && (!p || node->type != type))
        r = CUDA_ERROR_INVALID_VALUE;
    if (r == CUDA_SUCCESS)
        *p = (CUDA_EXT_SEM_NODE_PARAMS){NULL, NULL, 0};
    return r;
}

CUresult cuGraphExternalSemaphoresSignalNodeGetParams(CUgraphNode node, CUDA_EXT_SEM_NODE_PARAMS *p)
{
    return API(get_params(node, CU_GRAPH_NODE_TYPE_EXT_SEMAS_SIGNAL, p));
}

CUresult cuGraphExternalSemaphoresWaitNodeGetParams(CUgraphNode node, CUDA_EXT_SEM_NODE_PARAMS *p)
{
    return API(get_params(node, CU_GRAPH_NODE_TYPE_EXT_SEMAS_WAIT, p));
}
