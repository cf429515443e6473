/* Asking nodes of graphs for their parameters and attributes, and giving them others. */
#include <stdlib.h>
#include <string.h>

#include "runtime/cuda/context_list.h"
#include "runtime/cuda/driver.h"
#include "runtime/cuda/entry.h"
#include "runtime/cuda/event.h"
#include "runtime/cuda/graph.h"
#include "runtime/cuda/handle.h"
#include "runtime/cuda/hint.h"
#include "runtime/cuda/launch.h"
#include "runtime/cuda/library.h"
#include "runtime/cuda/node.h"
#include "runtime/cuda/op.h"
#include "runtime/cuda/stream_memory.h"
#include "runtime/cuda/updatable.h"

static CUresult check(CUgraphNode node, CUgraphNodeType type, const void *params)
{
    CUresult r = pt_cu_driver_check();
    if (r == CUDA_SUCCESS && (!params || !pt_cu_handle_is(node, PT_CU_NODE) || node->type != type))
        r = CUDA_ERROR_INVALID_VALUE;
    return r;
}

#define SET(type_name, setter, params)                                     \
    (check(node, CU_GRAPH_NODE_TYPE_##type_name, (params)) == CUDA_SUCCESS \
         ? setter(node, (params))                                          \
         : check(node, CU_GRAPH_NODE_TYPE_##type_name, (params)))

CUresult cuGraphKernelNodeSetParams(CUgraphNode node, const CUDA_KERNEL_NODE_PARAMS_v1 *p)
{
    CUDA_KERNEL_NODE_PARAMS whole = {0};
    if (p)
        whole = pt_cu_node_of_v1(p);
    return API(p ? SET(KERNEL, pt_cu_node_set_kernel, &whole) : CUDA_ERROR_INVALID_VALUE);
}

CUresult cuGraphKernelNodeSetParams_v2(CUgraphNode node, const CUDA_KERNEL_NODE_PARAMS *p)
{
    return API(SET(KERNEL, pt_cu_node_set_kernel, p));
}

CUresult cuGraphMemcpyNodeSetParams(CUgraphNode node, const CUDA_MEMCPY3D *p)
{
    return API(SET(MEMCPY, pt_cu_node_set_copy, p));
}

CUresult cuGraphMemsetNodeSetParams(CUgraphNode node, const CUDA_MEMSET_NODE_PARAMS *p)
{
    return API(SET(MEMSET, pt_cu_node_set_set, p));
}

CUresult cuGraphHostNodeSetParams(CUgraphNode node, const CUDA_HOST_NODE_PARAMS *p)
{
    return API(SET(HOST, pt_cu_node_set_host, p));
}

CUresult cuGraphEventRecordNodeSetEvent(CUgraphNode node, CUevent event)
{
    return API(SET(EVENT_RECORD, pt_cu_node_set_event, event));
}

CUresult cuGraphEventWaitNodeSetEvent(CUgraphNode node, CUevent event)
{
    return API(SET(WAIT_EVENT, pt_cu_node_set_event, event));
}

CUresult cuGraphBatchMemOpNodeSetParams(CUgraphNode node, const CUDA_BATCH_MEM_OP_NODE_PARAMS *p)
{
    return API(SET(BATCH_MEM_OP, pt_cu_node_set_values, p));
}

static CUresult set_any(CUgraphNode node, CUgraphNodeParams *p)
{
    CUresult r = p ? check(node, p->type, p) : CUDA_ERROR_INVALID_VALUE;
    return r == CUDA_SUCCESS ? pt_cu_node_set(node, p) : r;
}

CUresult cuGraphNodeSetParams(CUgraphNode node, CUgraphNodeParams *p)
{
    return API(set_any(node, p));
}

#define SET_SEMAPHORES(type_name, params)                                                       \
    ((params)                                                                                   \
         ? set_any(node, &(CUgraphNodeParams){.type = CU_GRAPH_NODE_TYPE_EXT_SEMAS_##type_name, \
                                              .extSemSignal = *(params)})                       \
         : CUDA_ERROR_INVALID_VALUE)

CUresult cuGraphExternalSemaphoresSignalNodeSetParams(CUgraphNode node,
                                                      const CUDA_EXT_SEM_NODE_PARAMS *p)
{
    return API(SET_SEMAPHORES(SIGNAL, p));
}

CUresult cuGraphExternalSemaphoresWaitNodeSetParams(CUgraphNode node,
                                                    const CUDA_EXT_SEM_NODE_PARAMS *p)
{
    return API(SET_SEMAPHORES(WAIT, p));
}

/* Pointers into the block, one for each parameter, as they would be given. */
static CUresult make_pointers(CUgraphNode node)
{
    const struct pt_cu_launch *l = &node->op.launch;
    const struct pt_module *ir = &l->function->module->ptera->ir;
    const struct pt_func *f = &ir->funcs.v[l->function->kernel->func];
    if (!node->pointers)
        node->pointers = malloc((f->params.n + 1) * sizeof *node->pointers);
    if (!node->pointers)
        return CUDA_ERROR_OUT_OF_MEMORY;
    for (uint32_t i = 0; i < f->params.n; i++)
        node->pointers[i] = l->parameters + ir->symbols.v[f->params.v[i]].offset;
    return CUDA_SUCCESS;
}

static CUresult get_kernel(CUgraphNode node, CUDA_KERNEL_NODE_PARAMS *p)
{
    CUresult r = check(node, CU_GRAPH_NODE_TYPE_KERNEL, p);
    if (r == CUDA_SUCCESS)
        r = make_pointers(node);
    if (r != CUDA_SUCCESS)
        return r;
    const struct pt_cu_launch *l = &node->op.launch;
    const unsigned *g = l->launch.grid, *b = l->launch.block;
    *p = (CUDA_KERNEL_NODE_PARAMS){l->function,
                                   g[0],
                                   g[1],
                                   g[2],
                                   b[0],
                                   b[1],
                                   b[2],
                                   l->launch.shared_bytes,
                                   node->pointers,
                                   NULL,
                                   l->function->of,
                                   node->ctx};
    return CUDA_SUCCESS;
}

CUresult cuGraphKernelNodeGetParams_v2(CUgraphNode node, CUDA_KERNEL_NODE_PARAMS *p)
{
    return API(get_kernel(node, p));
}

static CUresult get_kernel_v1(CUgraphNode node, CUDA_KERNEL_NODE_PARAMS_v1 *p)
{
    CUDA_KERNEL_NODE_PARAMS whole;
    CUresult r = p ? get_kernel(node, &whole) : CUDA_ERROR_INVALID_VALUE;
    if (r == CUDA_SUCCESS)
        memcpy(p, &whole, sizeof *p); /* which begins alike */
    return r;
}

CUresult cuGraphKernelNodeGetParams(CUgraphNode node, CUDA_KERNEL_NODE_PARAMS_v1 *p)
{
    return API(get_kernel_v1(node, p));
}

/* The entry that tells what a node of a type has. */
#define GET(type_name, params, value)                                      \
    (check(node, CU_GRAPH_NODE_TYPE_##type_name, (params)) == CUDA_SUCCESS \
         ? (*(params) = (value), CUDA_SUCCESS)                             \
         : check(node, CU_GRAPH_NODE_TYPE_##type_name, (params)))

CUresult cuGraphMemcpyNodeGetParams(CUgraphNode node, CUDA_MEMCPY3D *p)
{
    return API(GET(MEMCPY, p, node->copy));
}

CUresult cuGraphMemsetNodeGetParams(CUgraphNode node, CUDA_MEMSET_NODE_PARAMS *p)
{
    return API(GET(MEMSET, p, node->set));
}

CUresult cuGraphHostNodeGetParams(CUgraphNode node, CUDA_HOST_NODE_PARAMS *p)
{
    return API(GET(HOST, p, ((CUDA_HOST_NODE_PARAMS){node->op.host.call, node->op.host.ud})));
}

CUresult cuGraphChildGraphNodeGetGraph(CUgraphNode node, CUgraph *graph)
{
    return API(GET(GRAPH, graph, *node->inner));
}

CUresult cuGraphEventRecordNodeGetEvent(CUgraphNode node, CUevent *event)
{
    return API(GET(EVENT_RECORD, event, node->event));
}

CUresult cuGraphEventWaitNodeGetEvent(CUgraphNode node, CUevent *event)
{
    return API(GET(WAIT_EVENT, event, node->event));
}

static CUresult get_values(CUgraphNode node, CUDA_BATCH_MEM_OP_NODE_PARAMS *p)
{
    unsigned n;
    CUresult r = check(node, CU_GRAPH_NODE_TYPE_BATCH_MEM_OP, p);
    if (r != CUDA_SUCCESS)
        return r;
    const struct pt_cu_op *parts = pt_cu_op_parts(&node->op, &n);
    if (!node->values)
        node->values = malloc((n + 1) * sizeof *node->values);
    if (!node->values)
        return CUDA_ERROR_OUT_OF_MEMORY;
    for (unsigned i = 0; i < n; i++)
        pt_cu_stream_memory_describe(&parts[i], &node->values[i]);
    *p = (CUDA_BATCH_MEM_OP_NODE_PARAMS){node->ctx, n, node->values, 0};
    return CUDA_SUCCESS;
}

CUresult cuGraphBatchMemOpNodeGetParams(CUgraphNode node, CUDA_BATCH_MEM_OP_NODE_PARAMS *p)
{
    return API(get_values(node, p));
}

/* ---- attributes of kernel nodes -------------------------------------------------------------- */

static CUresult attribute(CUgraphNode node, CUkernelNodeAttrID id, CUkernelNodeAttrValue *v,
                          bool set)
{
    CUresult r = check(node, CU_GRAPH_NODE_TYPE_KERNEL, v);
    if (r != CUDA_SUCCESS)
        return r;
    struct pt_cu_launch *l = &node->op.launch;
    unsigned *c = l->launch.cluster;
    switch (id) {
    case CU_LAUNCH_ATTRIBUTE_COOPERATIVE:
        *(set ? &l->launch.cooperative : &v->cooperative) =
            set ? v->cooperative : l->launch.cooperative;
        return CUDA_SUCCESS;
    case CU_LAUNCH_ATTRIBUTE_PRIORITY:
        *(set ? &l->priority : &v->priority) = set ? v->priority : l->priority;
        return CUDA_SUCCESS;
    case CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION:
        memcpy(set ? (void *)c : &v->clusterDim, set ? (const void *)&v->clusterDim : c,
               sizeof v->clusterDim);
        return CUDA_SUCCESS;
    case CU_LAUNCH_ATTRIBUTE_DEVICE_UPDATABLE_KERNEL_NODE:
        if (set)
            return pt_cu_updatable_set(node, v);
        v->deviceUpdatableKernelNode.deviceUpdatable = node->updatable != NULL;
        v->deviceUpdatableKernelNode.devNode = node->updatable;
        return CUDA_SUCCESS;
    case CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY: /* a stream's */
        return CUDA_ERROR_INVALID_VALUE;
    default:
        return set ? pt_cu_hint_set(&node->hints, id, v, node->ctx->device)
                   : pt_cu_hint_get(&node->hints, id, v);
    }
}

CUresult cuGraphKernelNodeGetAttribute(CUgraphNode node, CUkernelNodeAttrID id,
                                       CUkernelNodeAttrValue *value)
{
    return API(attribute(node, id, value, false));
}

CUresult cuGraphKernelNodeSetAttribute(CUgraphNode node, CUkernelNodeAttrID id,
                                       const CUkernelNodeAttrValue *value)
{
    /* Of a node that kernels may change it tells the handle. */
    return API(attribute(node, id, (CUkernelNodeAttrValue *)(uintptr_t)value, true));
}

static CUresult copy_attributes(CUgraphNode to, CUgraphNode from)
{
    CUresult r = check(to, CU_GRAPH_NODE_TYPE_KERNEL, to);
    if (r == CUDA_SUCCESS)
        r = check(from, CU_GRAPH_NODE_TYPE_KERNEL, from);
    if (r != CUDA_SUCCESS)
        return r;
    if (to->updatable || from->updatable)
        return CUDA_ERROR_NOT_SUPPORTED; /* CUDA's, too */
    to->hints = from->hints;
    to->op.launch.priority = from->op.launch.priority;
    to->op.launch.launch.cooperative = from->op.launch.launch.cooperative;
    memcpy(to->op.launch.launch.cluster, from->op.launch.launch.cluster,
           sizeof to->op.launch.launch.cluster);
    return CUDA_SUCCESS;
}

CUresult cuGraphKernelNodeCopyAttributes(CUgraphNode to, CUgraphNode from)
{
    return API(copy_attributes(to, from));
}
