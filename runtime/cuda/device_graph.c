/* Graphs that kernels may launch: what may be in them, as an H200's driver has it (580). */
#include "runtime/cuda/device_graph.h"

#include "runtime/cuda/function.h"
#include "runtime/cuda/graph.h"
#include "runtime/cuda/range.h"

static bool is_between_memory(const struct CUgraphNode_st *node)
{
    return node->copy.srcMemoryType != CU_MEMORYTYPE_ARRAY &&
           node->copy.dstMemoryType != CU_MEMORYTYPE_ARRAY &&
           pt_cu_range_find((uintptr_t)node->op.copy.from) &&
           pt_cu_range_find((uintptr_t)node->op.copy.to);
}

static bool is_possible(const struct CUgraphNode_st *node)
{
    switch (node->type) {
    case CU_GRAPH_NODE_TYPE_KERNEL:
        return !pt_cu_function_calls_runtime(node->op.launch.function);
    case CU_GRAPH_NODE_TYPE_MEMCPY:
        return is_between_memory(node);
    case CU_GRAPH_NODE_TYPE_MEMSET:
    case CU_GRAPH_NODE_TYPE_GRAPH:
        return true;
    default:
        return false;
    }
}

static CUgraphInstantiateResult check_nodes(CUgraph graph, CUcontext *ctx, CUgraphNode *bad)
{
    CUgraphInstantiateResult r = CUDA_GRAPH_INSTANTIATE_SUCCESS;
    for (size_t i = 0; r == CUDA_GRAPH_INSTANTIATE_SUCCESS && i < graph->n_nodes; i++) {
        CUgraphNode node = graph->nodes[i];
        bool is_child = node->type == CU_GRAPH_NODE_TYPE_GRAPH;
        *bad = node;
        if (!is_possible(node))
            return CUDA_GRAPH_INSTANTIATE_NODE_OPERATION_NOT_SUPPORTED;
        if (is_child)
            r = check_nodes(*node->inner, ctx, bad);
        else if (*ctx && node->ctx != *ctx)
            return CUDA_GRAPH_INSTANTIATE_MULTIPLE_CTXS_NOT_SUPPORTED;
        else
            *ctx = node->ctx;
    }
    return r;
}

CUgraphInstantiateResult pt_cu_device_graph_check(CUgraph graph, CUgraphNode *node)
{
    CUcontext ctx = NULL;
    CUgraphInstantiateResult r =
        graph->n_nodes ? check_nodes(graph, &ctx, node) : CUDA_GRAPH_INSTANTIATE_ERROR;
    if (r == CUDA_GRAPH_INSTANTIATE_SUCCESS || !graph->n_nodes)
        *node = NULL;
    return r;
}
