/* What the nodes of graphs do: adding them, their parameters. */
#include "runtime/cuda/node.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/cuda/condition.h"
#include "runtime/cuda/context_list.h"
#include "runtime/cuda/copy.h"
#include "runtime/cuda/current.h"
#include "runtime/cuda/driver.h"
#include "runtime/cuda/edge.h"
#include "runtime/cuda/entry.h"
#include "runtime/cuda/event.h"
#include "runtime/cuda/graph.h"
#include "runtime/cuda/graph_memory.h"
#include "runtime/cuda/handle.h"
#include "runtime/cuda/hint.h"
#include "runtime/cuda/launch.h"
#include "runtime/cuda/log.h"
#include "runtime/cuda/library.h"
#include "runtime/cuda/op.h"
#include "runtime/cuda/stream_memory.h"

/* ---- operations from parameters -------------------------------------------------------------- */

/* The operation's parameter block is what a launch of the same would have been given. */
CUresult pt_cu_node_set_kernel(CUgraphNode node, const CUDA_KERNEL_NODE_PARAMS *p)
{
    struct pt_cu_op op = {.work = PT_CU_KERNEL_LAUNCH};
    struct pt_cu_launch *l = &op.launch;
    CUresult r = pt_cu_library_function(p->func ? (const void *)p->func : (const void *)p->kern,
                                        &l->function);
    if (r != CUDA_SUCCESS)
        return r;
    ptera_launch_init(&l->launch);
    memcpy(l->launch.grid, (unsigned[]){p->gridDimX, p->gridDimY, p->gridDimZ},
           sizeof l->launch.grid);
    memcpy(l->launch.block, (unsigned[]){p->blockDimX, p->blockDimY, p->blockDimZ},
           sizeof l->launch.block);
    l->launch.shared_bytes = p->sharedMemBytes;
    if (node->op.work == PT_CU_KERNEL_LAUNCH) { /* attributes stay */
        memcpy(l->launch.cluster, node->op.launch.launch.cluster, sizeof l->launch.cluster);
        l->launch.cooperative = node->op.launch.launch.cooperative;
        l->priority = node->op.launch.priority;
    }
    r = pt_cu_launch_ready(l, p->kernelParams, p->extra);
    if (r != CUDA_SUCCESS)
        return r;
    pt_cu_op_drop(&node->op);
    free(node->pointers);
    node->pointers = NULL;
    node->ctx = l->function->module->ctx;
    return pt_cu_graph_node_take(node, &op);
}

CUresult pt_cu_node_set_copy(CUgraphNode node, const CUDA_MEMCPY3D *p)
{
    struct pt_cu_op op;
    bool is_pageable;
    CUresult r = pt_cu_copy_op(p, &op, &is_pageable);
    if (r == CUDA_SUCCESS && !pt_cu_copy_is_granted(&op, node->ctx, node->ctx))
        r = CUDA_ERROR_INVALID_VALUE;
    if (r != CUDA_SUCCESS)
        return r;
    node->op = op;
    node->copy = *p;
    return CUDA_SUCCESS;
}

CUresult pt_cu_node_set_set(CUgraphNode node, const CUDA_MEMSET_NODE_PARAMS *p)
{
    struct pt_cu_op op;
    CUresult r = pt_cu_copy_set_op(p, &op);
    if (r != CUDA_SUCCESS)
        return r;
    node->op = op;
    node->set = *p;
    return CUDA_SUCCESS;
}

CUresult pt_cu_node_set_host(CUgraphNode node, const CUDA_HOST_NODE_PARAMS *p)
{
    if (!p->fn)
        return CUDA_ERROR_INVALID_VALUE;
    node->op = (struct pt_cu_op){.work = PT_CU_HOST_CALL, .host = {p->fn, p->userData}};
    return CUDA_SUCCESS;
}

CUresult pt_cu_node_set_event(CUgraphNode node, CUevent event)
{
    if (!pt_cu_handle_is(event, PT_CU_EVENT))
        return CUDA_ERROR_INVALID_HANDLE;
    if (event->shared) {
        pt_cu_log_print("events of several processes in graphs are not supported");
        return CUDA_ERROR_NOT_SUPPORTED;
    }
    bool records = node->type == CU_GRAPH_NODE_TYPE_EVENT_RECORD;
    node->op = (struct pt_cu_op){.work = records ? PT_CU_RECORD : PT_CU_WAIT_EVENT};
    node->event = event;
    return CUDA_SUCCESS;
}

CUresult pt_cu_node_set_values(CUgraphNode node, const CUDA_BATCH_MEM_OP_NODE_PARAMS *p)
{
    CUcontext ctx;
    struct pt_cu_op op;
    CUresult r = p->ctx ? pt_cu_context_list_check(p->ctx, &ctx) : CUDA_ERROR_INVALID_VALUE;
    if (r == CUDA_SUCCESS)
        r = pt_cu_stream_memory_op(p->paramArray, p->count, p->flags, &op);
    if (r != CUDA_SUCCESS)
        return r;
    pt_cu_op_drop(&node->op);
    free(node->values);
    node->values = NULL;
    node->op = op;
    node->ctx = ctx;
    return CUDA_SUCCESS;
}

/* Once, when the node is made. Its graphs are the program's to fill. */
static CUresult set_condition(CUgraphNode node, CUDA_CONDITIONAL_NODE_PARAMS *p)
{
    unsigned most = p->type == CU_GRAPH_COND_TYPE_IF      ? 2
                    : p->type == CU_GRAPH_COND_TYPE_WHILE ? 1
                                                          : UINT_MAX;
    if (node->condition)
        return CUDA_ERROR_NOT_SUPPORTED; /* CUDA's, too */
    CUresult r = pt_cu_context_list_check(p->ctx, &p->ctx);
    if (r != CUDA_SUCCESS)
        return r;
    struct pt_cu_condition *condition = pt_cu_condition_find(p->handle, node->graph);
    if (!condition || p->type > CU_GRAPH_COND_TYPE_SWITCH || !p->size || p->size > most ||
        p->ctx != condition->ctx)
        return CUDA_ERROR_INVALID_VALUE;
    r = pt_cu_graph_node_make_branches(node, p->size);
    if (r != CUDA_SUCCESS)
        return r;
    node->ctx = p->ctx;
    node->branches = p->type;
    node->condition = pt_cu_condition_ref(condition);
    condition->node = node;
    p->phGraph_out = node->inner;
    return CUDA_SUCCESS;
}

CUresult pt_cu_node_set(CUgraphNode node, CUgraphNodeParams *p)
{
    switch (node->type) {
    case CU_GRAPH_NODE_TYPE_KERNEL:
        return pt_cu_node_set_kernel(node, &p->kernel);
    case CU_GRAPH_NODE_TYPE_MEMCPY:
        return pt_cu_node_set_copy(node, &p->memcpy.copyParams);
    case CU_GRAPH_NODE_TYPE_MEMSET: {
        const CUDA_MEMSET_NODE_PARAMS_v2 *m = &p->memset;
        return pt_cu_node_set_set(node,
                                  &(CUDA_MEMSET_NODE_PARAMS){m->dst, m->pitch, m->value,
                                                             m->elementSize, m->width, m->height});
    }
    case CU_GRAPH_NODE_TYPE_HOST:
        return pt_cu_node_set_host(node, &p->host);
    case CU_GRAPH_NODE_TYPE_GRAPH:
        return pt_cu_graph_node_set_child(node, p->graph.graph);
    case CU_GRAPH_NODE_TYPE_EMPTY:
        return CUDA_SUCCESS;
    case CU_GRAPH_NODE_TYPE_BATCH_MEM_OP:
        return pt_cu_node_set_values(node, &p->memOp);
    case CU_GRAPH_NODE_TYPE_EXT_SEMAS_SIGNAL:
    case CU_GRAPH_NODE_TYPE_EXT_SEMAS_WAIT: /* external_semaphore.c: there is no semaphore */
        return p->extSemSignal.numExtSems ? CUDA_ERROR_INVALID_HANDLE : CUDA_SUCCESS;
    case CU_GRAPH_NODE_TYPE_CONDITIONAL:
        return set_condition(node, &p->conditional);
    case CU_GRAPH_NODE_TYPE_WAIT_EVENT:
    case CU_GRAPH_NODE_TYPE_EVENT_RECORD:
        return pt_cu_node_set_event(node, p->eventWait.event);
    case CU_GRAPH_NODE_TYPE_MEM_ALLOC:
        return pt_cu_graph_memory_set_alloc(node, &p->alloc);
    case CU_GRAPH_NODE_TYPE_MEM_FREE:
        return pt_cu_graph_memory_set_free(node, p->free.dptr);
    default:
        return CUDA_ERROR_NOT_SUPPORTED;
    }
}

/* ---- adding ---------------------------------------------------------------------------------- */

static CUresult check_before(CUgraph graph, const CUgraphNode *before, const CUgraphEdgeData *data,
                             size_t n, CUgraphNodeType type)
{
    if (n && !before)
        return CUDA_ERROR_INVALID_VALUE;
    for (size_t i = 0; i < n; i++)
        if (!pt_cu_handle_is(before[i], PT_CU_NODE) || before[i]->graph != graph ||
            !pt_cu_edge_is_legal(before[i], type, data ? &data[i] : NULL))
            return CUDA_ERROR_INVALID_VALUE;
    return CUDA_SUCCESS;
}

/* `ctx` is where the node runs; NULL: the current context. */
static CUresult add(CUgraphNode *out, CUgraph graph, const CUgraphNode *before,
                    const CUgraphEdgeData *data, size_t n, CUgraphNodeParams *params, CUcontext ctx)
{
    CUresult r = pt_cu_current_or(ctx, &ctx);
    if (r == CUDA_SUCCESS && (!out || !params || !pt_cu_handle_is(graph, PT_CU_GRAPH)))
        r = CUDA_ERROR_INVALID_VALUE;
    if (r == CUDA_SUCCESS)
        r = check_before(graph, before, data, n, params->type);
    if (r != CUDA_SUCCESS)
        return r;
    CUgraphNode node = pt_cu_graph_node_new(graph, params->type, ctx);
    if (!node)
        return CUDA_ERROR_OUT_OF_MEMORY;
    r = pt_cu_node_set(node, params);
    for (size_t i = 0; r == CUDA_SUCCESS && i < n; i++)
        r = pt_cu_graph_node_after(node, before[i], data ? data[i].from_port : 0)
                ? CUDA_SUCCESS
                : CUDA_ERROR_OUT_OF_MEMORY;
    if (r == CUDA_SUCCESS)
        *out = node;
    else
        pt_cu_graph_node_delete(node);
    return r;
}

CUresult cuGraphAddNode(CUgraphNode *node, CUgraph graph, const CUgraphNode *before, size_t n,
                        CUgraphNodeParams *params)
{
    return API(add(node, graph, before, NULL, n, params, NULL));
}

CUresult cuGraphAddNode_v2(CUgraphNode *node, CUgraph graph, const CUgraphNode *before,
                           const CUgraphEdgeData *data, size_t n, CUgraphNodeParams *params)
{
    return API(add(node, graph, before, data, n, params, NULL));
}

CUDA_KERNEL_NODE_PARAMS pt_cu_node_of_v1(const CUDA_KERNEL_NODE_PARAMS_v1 *p)
{
    return (CUDA_KERNEL_NODE_PARAMS){.func = p->func,
                                     .gridDimX = p->gridDimX,
                                     .gridDimY = p->gridDimY,
                                     .gridDimZ = p->gridDimZ,
                                     .blockDimX = p->blockDimX,
                                     .blockDimY = p->blockDimY,
                                     .blockDimZ = p->blockDimZ,
                                     .sharedMemBytes = p->sharedMemBytes,
                                     .kernelParams = p->kernelParams,
                                     .extra = p->extra};
}

/* The entry of one type: `is_given` is false where a pointer to parameters is null. */
#define ADD(is_given, type_name, member, value, ctx)                                               \
    ((is_given)                                                                                    \
         ? add(node, graph, before, NULL, n,                                                       \
               &(CUgraphNodeParams){.type = CU_GRAPH_NODE_TYPE_##type_name, .member = value}, ctx) \
         : CUDA_ERROR_INVALID_VALUE)

CUresult cuGraphAddKernelNode(CUgraphNode *node, CUgraph graph, const CUgraphNode *before, size_t n,
                              const CUDA_KERNEL_NODE_PARAMS_v1 *p)
{
    return API(ADD(p, KERNEL, kernel, pt_cu_node_of_v1(p), NULL));
}

CUresult cuGraphAddKernelNode_v2(CUgraphNode *node, CUgraph graph, const CUgraphNode *before,
                                 size_t n, const CUDA_KERNEL_NODE_PARAMS *p)
{
    return API(ADD(p, KERNEL, kernel, *p, p->ctx));
}

CUresult cuGraphAddMemcpyNode(CUgraphNode *node, CUgraph graph, const CUgraphNode *before, size_t n,
                              const CUDA_MEMCPY3D *p, CUcontext ctx)
{
    return API(ADD(p, MEMCPY, memcpy.copyParams, *p, ctx));
}

static CUDA_MEMSET_NODE_PARAMS_v2 to_v2(const CUDA_MEMSET_NODE_PARAMS *p)
{
    return (CUDA_MEMSET_NODE_PARAMS_v2){p->dst,   p->pitch,  p->value, p->elementSize,
                                        p->width, p->height, NULL};
}

CUresult cuGraphAddMemsetNode(CUgraphNode *node, CUgraph graph, const CUgraphNode *before, size_t n,
                              const CUDA_MEMSET_NODE_PARAMS *p, CUcontext ctx)
{
    return API(ADD(p, MEMSET, memset, to_v2(p), ctx));
}

CUresult cuGraphAddHostNode(CUgraphNode *node, CUgraph graph, const CUgraphNode *before, size_t n,
                            const CUDA_HOST_NODE_PARAMS *p)
{
    return API(ADD(p, HOST, host, *p, NULL));
}

CUresult cuGraphAddChildGraphNode(CUgraphNode *node, CUgraph graph, const CUgraphNode *before,
                                  size_t n, CUgraph child)
{
    return API(ADD(child, GRAPH, graph.graph, child, NULL));
}

CUresult cuGraphAddEmptyNode(CUgraphNode *node, CUgraph graph, const CUgraphNode *before, size_t n)
{
    return API(ADD(true, EMPTY, graph.graph, NULL, NULL));
}

CUresult cuGraphAddBatchMemOpNode(CUgraphNode *node, CUgraph graph, const CUgraphNode *before,
                                  size_t n, const CUDA_BATCH_MEM_OP_NODE_PARAMS *p)
{
    return API(ADD(p, BATCH_MEM_OP, memOp, *p, NULL));
}

CUresult cuGraphAddExternalSemaphoresSignalNode(CUgraphNode *node, CUgraph graph,
                                                const CUgraphNode *before, size_t n,
                                                const CUDA_EXT_SEM_NODE_PARAMS *p)
{
    return API(ADD(p, EXT_SEMAS_SIGNAL, extSemSignal, *p, NULL));
}

CUresult cuGraphAddExternalSemaphoresWaitNode(CUgraphNode *node, CUgraph graph,
                                              const CUgraphNode *before, size_t n,
                                              const CUDA_EXT_SEM_NODE_PARAMS *p)
{
    return API(ADD(p, EXT_SEMAS_WAIT, extSemWait, *p, NULL));
}

CUresult cuGraphAddEventRecordNode(CUgraphNode *node, CUgraph graph, const CUgraphNode *before,
                                   size_t n, CUevent event)
{
    return API(ADD(true, EVENT_RECORD, eventRecord.event, event, NULL));
}

CUresult cuGraphAddEventWaitNode(CUgraphNode *node, CUgraph graph, const CUgraphNode *before,
                                 size_t n, CUevent event)
{
    return API(ADD(true, WAIT_EVENT, eventWait.event, event, NULL));
}

static CUresult add_alloc(CUgraphNode *node, CUgraph graph, const CUgraphNode *before, size_t n,
                          CUDA_MEM_ALLOC_NODE_PARAMS *p)
{
    if (!p)
        return CUDA_ERROR_INVALID_VALUE;
    CUgraphNodeParams all = {.type = CU_GRAPH_NODE_TYPE_MEM_ALLOC, .alloc = *p};
    CUresult r = add(node, graph, before, NULL, n, &all, NULL);
    p->dptr = all.alloc.dptr;
    return r;
}

CUresult cuGraphAddMemAllocNode(CUgraphNode *node, CUgraph graph, const CUgraphNode *before,
                                size_t n, CUDA_MEM_ALLOC_NODE_PARAMS *params)
{
    return API(add_alloc(node, graph, before, n, params));
}

CUresult cuGraphAddMemFreeNode(CUgraphNode *node, CUgraph graph, const CUgraphNode *before,
                               size_t n, CUdeviceptr address)
{
    return API(ADD(true, MEM_FREE, free.dptr, address, NULL));
}
