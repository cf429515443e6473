/* Kernel nodes that kernels may change. */
#include "runtime/cuda/updatable.h"

#include "runtime/cuda/graph.h"

CUresult pt_cu_updatable_set(CUgraphNode node, CUlaunchAttributeValue *value)
{
    if (value->deviceUpdatableKernelNode.deviceUpdatable == 0)
        return node->updatable ? CUDA_ERROR_NOT_SUPPORTED : CUDA_SUCCESS; /* CUDA's, too */
    if (value->deviceUpdatableKernelNode.deviceUpdatable != 1 || node->updatable)
        return CUDA_ERROR_INVALID_VALUE;
    node->updatable = pt_cu_handle_new(PT_CU_DEVICE_NODE, sizeof *node->updatable);
    if (!node->updatable)
        return CUDA_ERROR_OUT_OF_MEMORY;
    node->updatable->refs = 1;
    value->deviceUpdatableKernelNode.devNode = node->updatable;
    return CUDA_SUCCESS;
}

CUgraphDeviceNode pt_cu_updatable_ref(CUgraphDeviceNode updatable)
{
    if (updatable)
        updatable->refs++;
    return updatable;
}

void pt_cu_updatable_put(CUgraphDeviceNode updatable)
{
    if (updatable && --updatable->refs == 0)
        pt_cu_handle_delete(updatable);
}

/* Calls visit for each such node until it returns false. */
static bool for_each(const struct CUgraph_st *graph, bool (*visit)(CUgraphNode node))
{
    bool goes_on = true;
    for (size_t i = 0; goes_on && i < graph->n_nodes; i++) {
        CUgraphNode node = graph->nodes[i];
        goes_on = !node->updatable || visit(node);
        for (unsigned k = 0; goes_on && k < node->n_inner; k++)
            goes_on = for_each(node->inner[k], visit);
    }
    return goes_on;
}

static bool is_none(CUgraphNode node)
{
    (void)node;
    return false;
}

bool pt_cu_updatable_is_in(const struct CUgraph_st *graph)
{
    return !for_each(graph, is_none);
}

static bool is_free(CUgraphNode node)
{
    return !node->updatable->has_exec;
}

static bool take_one(CUgraphNode node)
{
    node->updatable->has_exec = true;
    return true;
}

static bool leave_one(CUgraphNode node)
{
    node->updatable->has_exec = false;
    node->updatable->node = NULL;
    return true;
}

CUresult pt_cu_updatable_take(CUgraph graph, bool take)
{
    if (take && !for_each(graph, is_free))
        return CUDA_ERROR_NOT_SUPPORTED; /* CUDA's, too */
    for_each(graph, take ? take_one : leave_one);
    return CUDA_SUCCESS;
}

static bool upload_one(CUgraphNode node)
{
    node->updatable->node = node;
    return true;
}

void pt_cu_updatable_upload(CUgraph graph)
{
    for_each(graph, upload_one);
}

static bool replace_one(CUgraphNode node)
{
    return !node->updatable->node || upload_one(node);
}

void pt_cu_updatable_replace(CUgraph graph)
{
    for_each(graph, replace_one);
}

static bool drop_one(CUgraphNode node)
{
    pt_cu_updatable_put(node->updatable);
    node->updatable = NULL;
    return true;
}

void pt_cu_updatable_drop(CUgraph graph)
{
    for_each(graph, drop_one);
}
