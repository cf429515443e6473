/* Nodes of graphs that the runtime describes in its own way. */
#include <string.h>

#include "runtime/cudart/memory.h"
#include "runtime/cudart/program.h"
#include "runtime/cudart/rt.h"

struct node_place {
    cudaGraphNode_t *node;
    cudaGraph_t graph;
    const cudaGraphNode_t *after;
    size_t n;
};

/* ---- kernels --------------------------------------------------------------------------------- */

static cudaError_t describe_kernel(const cudaKernelNodeParams *from, CUDA_KERNEL_NODE_PARAMS *to)
{
    CUkernel kernel;
    cudaError_t error = from ? pt_rt_program_kernel(from->func, &kernel) : cudaErrorInvalidValue;
    if (!error)
        *to = (CUDA_KERNEL_NODE_PARAMS){.func = (CUfunction)kernel,
                                        .gridDimX = from->gridDim.x,
                                        .gridDimY = from->gridDim.y,
                                        .gridDimZ = from->gridDim.z,
                                        .blockDimX = from->blockDim.x,
                                        .blockDimY = from->blockDim.y,
                                        .blockDimZ = from->blockDim.z,
                                        .sharedMemBytes = from->sharedMemBytes,
                                        .kernelParams = from->kernelParams,
                                        .extra = from->extra};
    return error;
}

/* `call` with the description `k` of a kernel. */
#define WITH_KERNEL(call)                                                \
    pt_rt_calls_enter(__func__, NULL);                                   \
    CUDA_KERNEL_NODE_PARAMS k;                                           \
    cudaError_t error = pt_rt_context_ready() ?: describe_kernel(p, &k); \
    return RT_END(error ?: (cudaError_t)(call))

cudaError_t cudaGraphAddKernelNode(cudaGraphNode_t *node, cudaGraph_t graph,
                                   const cudaGraphNode_t *after, size_t n,
                                   const cudaKernelNodeParams *p)
{
    WITH_KERNEL(cuGraphAddKernelNode_v2(node, graph, after, n, &k));
}

cudaError_t cudaGraphKernelNodeSetParams(cudaGraphNode_t node, const cudaKernelNodeParams *p)
{
    WITH_KERNEL(cuGraphKernelNodeSetParams_v2(node, &k));
}

cudaError_t cudaGraphExecKernelNodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t node,
                                             const cudaKernelNodeParams *p)
{
    WITH_KERNEL(cuGraphExecKernelNodeSetParams_v2(exec, node, &k));
}

static cudaError_t get_kernel(cudaGraphNode_t node, cudaKernelNodeParams *p)
{
    CUDA_KERNEL_NODE_PARAMS k;
    CUresult r = p ? cuGraphKernelNodeGetParams_v2(node, &k) : CUDA_ERROR_INVALID_VALUE;
    if (r == CUDA_SUCCESS)
        *p = (cudaKernelNodeParams){k.kern ? pt_rt_program_kernel_name(k.kern) : k.func,
                                    {k.gridDimX, k.gridDimY, k.gridDimZ},
                                    {k.blockDimX, k.blockDimY, k.blockDimZ},
                                    k.sharedMemBytes,
                                    k.kernelParams,
                                    k.extra};
    return (cudaError_t)r;
}

cudaError_t cudaGraphKernelNodeGetParams(cudaGraphNode_t node, cudaKernelNodeParams *p)
{
    return RT_API(get_kernel(node, p));
}

/* ---- copies and sets ------------------------------------------------------------------------- */

static cudaError_t add_copy(const struct node_place *place, const CUDA_MEMCPY3D *copy)
{
    CUcontext context;
    CUresult r = cuCtxGetCurrent(&context);
    return (cudaError_t)(r
                             ?: cuGraphAddMemcpyNode(place->node, place->graph, place->after,
                                                     place->n, copy, context));
}

static cudaError_t set_copy(cudaGraphExec_t exec, cudaGraphNode_t node, const CUDA_MEMCPY3D *copy)
{
    CUcontext context;
    CUresult r = cuCtxGetCurrent(&context);
    return (cudaError_t)(r ?: cuGraphExecMemcpyNodeSetParams(exec, node, copy, context));
}

static cudaError_t describe_1d(void *to, const void *from, size_t bytes, cudaMemcpyKind kind,
                               CUDA_MEMCPY3D *copy)
{
    cudaMemcpy3DParms p = {.srcPtr = {(void *)from, bytes, bytes, 1},
                           .dstPtr = {to, bytes, bytes, 1},
                           .extent = {bytes, 1, 1},
                           .kind = kind};
    return pt_rt_memory_copy_3d(&p, copy);
}

cudaError_t cudaGraphAddMemcpyNode(cudaGraphNode_t *node, cudaGraph_t graph,
                                   const cudaGraphNode_t *after, size_t n,
                                   const cudaMemcpy3DParms *p)
{
    CUDA_MEMCPY3D copy;
    return RT_API(pt_rt_memory_copy_3d(p, &copy)
                      ?: add_copy(&(struct node_place){node, graph, after, n}, &copy));
}

cudaError_t cudaGraphAddMemcpyNode1D(cudaGraphNode_t *node, cudaGraph_t graph,
                                     const cudaGraphNode_t *after, size_t n, void *to,
                                     const void *from, size_t bytes, cudaMemcpyKind kind)
{
    CUDA_MEMCPY3D copy;
    return RT_API(describe_1d(to, from, bytes, kind, &copy)
                      ?: add_copy(&(struct node_place){node, graph, after, n}, &copy));
}

cudaError_t cudaGraphMemcpyNodeSetParams(cudaGraphNode_t node, const cudaMemcpy3DParms *p)
{
    CUDA_MEMCPY3D copy;
    return RT_API(pt_rt_memory_copy_3d(p, &copy)
                      ?: (cudaError_t)cuGraphMemcpyNodeSetParams(node, &copy));
}

cudaError_t cudaGraphMemcpyNodeSetParams1D(cudaGraphNode_t node, void *to, const void *from,
                                           size_t bytes, cudaMemcpyKind kind)
{
    CUDA_MEMCPY3D copy;
    return RT_API(describe_1d(to, from, bytes, kind, &copy)
                      ?: (cudaError_t)cuGraphMemcpyNodeSetParams(node, &copy));
}

static cudaError_t get_copy(cudaGraphNode_t node, cudaMemcpy3DParms *p)
{
    CUDA_MEMCPY3D copy;
    CUresult r = p ? cuGraphMemcpyNodeGetParams(node, &copy) : CUDA_ERROR_INVALID_VALUE;
    if (r == CUDA_SUCCESS)
        pt_rt_memory_copy_3d_back(&copy, p);
    return (cudaError_t)r;
}

cudaError_t cudaGraphMemcpyNodeGetParams(cudaGraphNode_t node, cudaMemcpy3DParms *p)
{
    return RT_API(get_copy(node, p));
}

cudaError_t cudaGraphExecMemcpyNodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t node,
                                             const cudaMemcpy3DParms *p)
{
    CUDA_MEMCPY3D copy;
    return RT_API(pt_rt_memory_copy_3d(p, &copy) ?: set_copy(exec, node, &copy));
}

cudaError_t cudaGraphExecMemcpyNodeSetParams1D(cudaGraphExec_t exec, cudaGraphNode_t node, void *to,
                                               const void *from, size_t bytes, cudaMemcpyKind kind)
{
    CUDA_MEMCPY3D copy;
    return RT_API(describe_1d(to, from, bytes, kind, &copy) ?: set_copy(exec, node, &copy));
}

/* `call` with the description `copy` of one to, or from, a place in a variable. */
#define WITH_VARIABLE(to, from, call)                                               \
    pt_rt_calls_enter(__func__, NULL);                                              \
    CUDA_MEMCPY3D copy;                                                             \
    void *place;                                                                    \
    cudaError_t error =                                                             \
        pt_rt_context_ready() ?: pt_rt_memory_place(symbol, offset, bytes, &place); \
    error = error ?: describe_1d(to, from, bytes, kind, &copy);                     \
    return RT_END(error ?: (cudaError_t)(call))

cudaError_t cudaGraphAddMemcpyNodeToSymbol(cudaGraphNode_t *node, cudaGraph_t graph,
                                           const cudaGraphNode_t *after, size_t n,
                                           const void *symbol, const void *from, size_t bytes,
                                           size_t offset, cudaMemcpyKind kind)
{
    WITH_VARIABLE(place, from, add_copy(&(struct node_place){node, graph, after, n}, &copy));
}

cudaError_t cudaGraphAddMemcpyNodeFromSymbol(cudaGraphNode_t *node, cudaGraph_t graph,
                                             const cudaGraphNode_t *after, size_t n, void *to,
                                             const void *symbol, size_t bytes, size_t offset,
                                             cudaMemcpyKind kind)
{
    WITH_VARIABLE(to, place, add_copy(&(struct node_place){node, graph, after, n}, &copy));
}

cudaError_t cudaGraphMemcpyNodeSetParamsToSymbol(cudaGraphNode_t node, const void *symbol,
                                                 const void *from, size_t bytes, size_t offset,
                                                 cudaMemcpyKind kind)
{
    WITH_VARIABLE(place, from, cuGraphMemcpyNodeSetParams(node, &copy));
}

cudaError_t cudaGraphMemcpyNodeSetParamsFromSymbol(cudaGraphNode_t node, void *to,
                                                   const void *symbol, size_t bytes, size_t offset,
                                                   cudaMemcpyKind kind)
{
    WITH_VARIABLE(to, place, cuGraphMemcpyNodeSetParams(node, &copy));
}

cudaError_t cudaGraphExecMemcpyNodeSetParamsToSymbol(cudaGraphExec_t exec, cudaGraphNode_t node,
                                                     const void *symbol, const void *from,
                                                     size_t bytes, size_t offset,
                                                     cudaMemcpyKind kind)
{
    WITH_VARIABLE(place, from, set_copy(exec, node, &copy));
}

cudaError_t cudaGraphExecMemcpyNodeSetParamsFromSymbol(cudaGraphExec_t exec, cudaGraphNode_t node,
                                                       void *to, const void *symbol, size_t bytes,
                                                       size_t offset, cudaMemcpyKind kind)
{
    WITH_VARIABLE(to, place, set_copy(exec, node, &copy));
}

/* What is set is described alike by both libraries. */
static cudaError_t add_set(const struct node_place *place, const CUDA_MEMSET_NODE_PARAMS *p)
{
    CUcontext context;
    CUresult r = cuCtxGetCurrent(&context);
    return (cudaError_t)(r
                             ?: cuGraphAddMemsetNode(place->node, place->graph, place->after,
                                                     place->n, p, context));
}

cudaError_t cudaGraphAddMemsetNode(cudaGraphNode_t *node, cudaGraph_t graph,
                                   const cudaGraphNode_t *after, size_t n,
                                   const CUDA_MEMSET_NODE_PARAMS *p)
{
    return RT_API(add_set(&(struct node_place){node, graph, after, n}, p));
}

static cudaError_t set_set(cudaGraphExec_t exec, cudaGraphNode_t node,
                           const CUDA_MEMSET_NODE_PARAMS *p)
{
    CUcontext context;
    CUresult r = cuCtxGetCurrent(&context);
    return (cudaError_t)(r ?: cuGraphExecMemsetNodeSetParams(exec, node, p, context));
}

cudaError_t cudaGraphExecMemsetNodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t node,
                                             const CUDA_MEMSET_NODE_PARAMS *p)
{
    return RT_API(set_set(exec, node, p));
}

/* ---- nodes of any type ----------------------------------------------------------------------- */

/* Only kernels and copies are described in the runtime's own way. */
static cudaError_t describe(const cudaGraphNodeParams *from, CUgraphNodeParams *to)
{
    CUDA_KERNEL_NODE_PARAMS kernel;
    CUDA_MEMCPY3D copy;
    cudaError_t error = from ? cudaSuccess : cudaErrorInvalidValue;
    if (error)
        return error;
    memcpy(to, from, sizeof *to);
    if (from->type == CU_GRAPH_NODE_TYPE_KERNEL &&
        !(error = describe_kernel(&from->kernel, &kernel)))
        to->kernel = kernel;
    if (from->type == CU_GRAPH_NODE_TYPE_MEMCPY &&
        !(error = pt_rt_memory_copy_3d(&from->memcpy.copyParams, &copy)))
        to->memcpy = (CUDA_MEMCPY_NODE_PARAMS){.flags = from->memcpy.flags, .copyParams = copy};
    if (from->type == CU_GRAPH_NODE_TYPE_CONDITIONAL)
        error = (cudaError_t)cuCtxGetCurrent(&to->conditional.ctx);
    return error;
}

/* What a new node gives the program. */
static cudaError_t hand_back(cudaError_t error, const CUgraphNodeParams *from,
                             cudaGraphNodeParams *to)
{
    if (error)
        return error;
    if (from->type == CU_GRAPH_NODE_TYPE_MEM_ALLOC)
        to->alloc.dptr = from->alloc.dptr;
    if (from->type == CU_GRAPH_NODE_TYPE_CONDITIONAL)
        to->conditional.phGraph_out = from->conditional.phGraph_out;
    return error;
}

/* `call` with the description `all` of a node. */
#define WITH_NODE(call)                                             \
    pt_rt_calls_enter(__func__, NULL);                              \
    CUgraphNodeParams all;                                          \
    cudaError_t error = pt_rt_context_ready() ?: describe(p, &all); \
    return RT_END(error ?: hand_back((cudaError_t)(call), &all, p))

#if PT_RT_MAJOR >= 13
cudaError_t cudaGraphAddNode(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *after,
                             const CUgraphEdgeData *data, size_t n, cudaGraphNodeParams *p)
{
    WITH_NODE(cuGraphAddNode_v2(node, graph, after, data, n, &all));
}
#else
cudaError_t cudaGraphAddNode(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *after,
                             size_t n, cudaGraphNodeParams *p)
{
    WITH_NODE(cuGraphAddNode(node, graph, after, n, &all));
}

cudaError_t cudaGraphAddNode_v2(cudaGraphNode_t *node, cudaGraph_t graph,
                                const cudaGraphNode_t *after, const CUgraphEdgeData *data, size_t n,
                                cudaGraphNodeParams *p)
{
    WITH_NODE(cuGraphAddNode_v2(node, graph, after, data, n, &all));
}
#endif

cudaError_t cudaGraphNodeSetParams(cudaGraphNode_t node, cudaGraphNodeParams *p)
{
    WITH_NODE(cuGraphNodeSetParams(node, &all));
}

cudaError_t cudaGraphExecNodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t node,
                                       cudaGraphNodeParams *p)
{
    WITH_NODE(cuGraphExecNodeSetParams(exec, node, &all));
}

static cudaError_t create_condition(CUgraphConditionalHandle *handle, cudaGraph_t graph,
                                    unsigned initial, unsigned flags)
{
    CUcontext context;
    CUresult r = cuCtxGetCurrent(&context);
    return (
        cudaError_t)(r ?: cuGraphConditionalHandleCreate(handle, graph, context, initial, flags));
}

cudaError_t cudaGraphConditionalHandleCreate(CUgraphConditionalHandle *handle, cudaGraph_t graph,
                                             unsigned initial, unsigned flags)
{
    return RT_API(create_condition(handle, graph, initial, flags));
}
