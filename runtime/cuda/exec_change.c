/* Executable graphs are changed in place, whether launches are under way or not: their commands
 * have their operations already. (Of conditional nodes they have not: then a clone is changed.) */
#include <string.h>

#include "runtime/cuda/condition.h"
#include "runtime/cuda/copy.h"
#include "runtime/cuda/entry.h"
#include "runtime/cuda/exec.h"
#include "runtime/cuda/graph.h"
#include "runtime/cuda/handle.h"
#include "runtime/cuda/node.h"
#include "runtime/cuda/op.h"
#include "runtime/cuda/range.h"
#include "runtime/cuda/stream_memory.h"
#include "runtime/cuda/updatable.h"

/* ---- one node -------------------------------------------------------------------------------- */

/* The executable's node that was made from a node of the graph, or of one inside. */
static CUgraphNode find(CUgraph graph, CUgraphNode original)
{
    for (size_t i = 0; i < graph->n_nodes; i++) {
        CUgraphNode node = graph->nodes[i], found = node->original == original ? node : NULL;
        for (unsigned k = 0; !found && k < node->n_inner; k++)
            found = find(node->inner[k], original);
        if (found)
            return found;
    }
    return NULL;
}

/* Nodes are still found by those of the graph that the executable was made from. */
static void take_originals(CUgraph from, CUgraph to)
{
    for (size_t i = 0; i < to->n_nodes; i++) {
        to->nodes[i]->original = from->nodes[i]->original;
        for (unsigned k = 0; k < to->nodes[i]->n_inner; k++)
            take_originals(from->nodes[i]->inner[k], to->nodes[i]->inner[k]);
    }
}

/* `clone`, sorted, is what will be launched from now on. */
static void replace(CUgraphExec exec, CUgraph clone)
{
    take_originals(exec->graph, clone);
    pt_cu_exec_drop_graph(exec);
    pt_cu_exec_give_graph(exec, clone);
}

/* Launches under way that still take nodes from it keep the graph as it is. */
static CUresult own_graph(CUgraphExec exec)
{
    CUgraph clone;
    if (!exec->graph->launches)
        return CUDA_SUCCESS;
    CUresult r = pt_cu_graph_clone(exec->graph, &clone);
    if (r != CUDA_SUCCESS)
        return r;
    pt_cu_exec_sort(clone);
    replace(exec, clone);
    return CUDA_SUCCESS;
}

static CUresult find_node(CUgraphExec exec, CUgraphNode original, const void *params,
                          CUgraphNode *node)
{
    CUresult r = pt_cu_exec_check(exec);
    if (r == CUDA_SUCCESS && !params)
        r = CUDA_ERROR_INVALID_VALUE;
    if (r == CUDA_SUCCESS)
        r = own_graph(exec);
    *node = r == CUDA_SUCCESS ? find(exec->graph, original) : NULL;
    return r == CUDA_SUCCESS && !*node ? CUDA_ERROR_INVALID_VALUE : r;
}

static bool is_flat(const struct pt_cu_copy *c)
{
    return c->height <= 1 && c->depth <= 1;
}

/* Whether a copy in an executable can become another one: between memory of the same kinds; boxes
 * stay as large as they are. */
static bool can_become_copy(const struct pt_cu_copy *a, const struct pt_cu_copy *b)
{
    bool is_alike = pt_cu_range_is_device(a->to) == pt_cu_range_is_device(b->to) &&
                    pt_cu_range_is_device(a->from) == pt_cu_range_is_device(b->from);
    bool is_same_box = a->width == b->width && a->height == b->height && a->depth == b->depth;
    return is_alike && (is_same_box || (is_flat(a) && is_flat(b)));
}

/* Rows of one pitch change place and value alone. */
static bool can_become_set(const struct pt_cu_set *a, const struct pt_cu_set *b)
{
    bool is_same_box = a->width == b->width && a->height == b->height && a->pitch == b->pitch &&
                       a->element_bytes == b->element_bytes;
    return is_same_box || (a->height <= 1 && b->height <= 1);
}

static bool can_become(const struct pt_cu_op *a, const struct pt_cu_op *b)
{
    if (a->work == PT_CU_COPY && b->work == PT_CU_COPY)
        return can_become_copy(&a->copy, &b->copy);
    if (a->work == PT_CU_SET && b->work == PT_CU_SET)
        return can_become_set(&a->set, &b->set);
    if (b->work == PT_CU_BATCH)
        return pt_cu_stream_memory_is_like(a, b);
    return true;
}

static bool has_same_edges(CUgraphNode a, CUgraphNode b)
{
    if (a->n_before != b->n_before)
        return false;
    for (size_t i = 0; i < a->n_before; i++)
        if (a->before[i]->index != b->before[i]->index || a->ports[i] != b->ports[i])
            return false;
    return true;
}

/* Whether `b` is `a` with other parameters; both are sorted. */
static CUgraphExecUpdateResult compare(CUgraph a, CUgraph b, CUgraphNode *error)
{
    if (a->n_nodes != b->n_nodes)
        return CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED;
    for (size_t i = 0; i < a->n_nodes; i++) {
        CUgraphNode x = a->nodes[i], y = b->nodes[i];
        *error = y->original;
        if (x->type != y->type)
            return CU_GRAPH_EXEC_UPDATE_ERROR_NODE_TYPE_CHANGED;
        if (!has_same_edges(x, y))
            return CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED;
        if (x->type == CU_GRAPH_NODE_TYPE_KERNEL && x->ctx != y->ctx)
            return CU_GRAPH_EXEC_UPDATE_ERROR_UNSUPPORTED_FUNCTION_CHANGE;
        if (!can_become(&x->op, &y->op) || x->block != y->block)
            return CU_GRAPH_EXEC_UPDATE_ERROR_PARAMETERS_CHANGED;
        if (x->branches != y->branches || x->n_inner != y->n_inner)
            return CU_GRAPH_EXEC_UPDATE_ERROR_PARAMETERS_CHANGED;
        CUgraphExecUpdateResult r = CU_GRAPH_EXEC_UPDATE_SUCCESS;
        for (unsigned k = 0; r == CU_GRAPH_EXEC_UPDATE_SUCCESS && k < x->n_inner; k++)
            r = compare(x->inner[k], y->inner[k], error);
        if (r != CU_GRAPH_EXEC_UPDATE_SUCCESS)
            return r;
    }
    *error = NULL;
    return CU_GRAPH_EXEC_UPDATE_SUCCESS;
}

/* A child graph becomes another one with other parameters, as a whole graph does. */
static CUresult check_child(CUgraphNode node, CUgraph child)
{
    CUgraph clone;
    CUgraphNode error;
    if (!pt_cu_handle_is(child, PT_CU_GRAPH))
        return CUDA_ERROR_INVALID_VALUE;
    CUresult r = pt_cu_graph_clone(child, &clone);
    if (r != CUDA_SUCCESS)
        return r;
    bool is_like = pt_cu_exec_sort(clone) &&
                   compare(*node->inner, clone, &error) == CU_GRAPH_EXEC_UPDATE_SUCCESS;
    pt_cu_graph_delete(clone);
    return is_like ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

/* Whether parameters of a copy, a set, a batch or a child graph, if they are valid, can be those of
 * the node. */
static CUresult check_change(CUgraphNode node, const CUgraphNodeParams *p)
{
    struct pt_cu_op op;
    bool is_pageable;
    CUresult r = CUDA_SUCCESS;
    if (p->type == CU_GRAPH_NODE_TYPE_GRAPH)
        return check_child(node, p->graph.graph);
    if (p->type == CU_GRAPH_NODE_TYPE_MEMCPY)
        r = pt_cu_copy_op(&p->memcpy.copyParams, &op, &is_pageable);
    else if (p->type == CU_GRAPH_NODE_TYPE_MEMSET)
        r = pt_cu_copy_set_op(&(CUDA_MEMSET_NODE_PARAMS){p->memset.dst, p->memset.pitch,
                                                         p->memset.value, p->memset.elementSize,
                                                         p->memset.width, p->memset.height},
                              &op);
    else if (p->type == CU_GRAPH_NODE_TYPE_BATCH_MEM_OP)
        r = pt_cu_stream_memory_op(p->memOp.paramArray, p->memOp.count, p->memOp.flags, &op);
    else
        return CUDA_SUCCESS;
    if (r != CUDA_SUCCESS)
        return r;
    bool can = can_become(&node->op, &op);
    pt_cu_op_drop(&op);
    return can ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

static CUresult set_node(CUgraphExec exec, CUgraphNode original, CUgraphNodeParams *params)
{
    CUgraphNode node;
    CUresult r = find_node(exec, original, params, &node);
    if (r == CUDA_SUCCESS && node->type != params->type)
        r = CUDA_ERROR_INVALID_VALUE;
    if (r == CUDA_SUCCESS)
        r = check_change(node, params);
    if (r == CUDA_SUCCESS)
        r = pt_cu_node_set(node, params);
    if (r == CUDA_SUCCESS && node->n_inner && !pt_cu_exec_sort(*node->inner))
        r = CUDA_ERROR_INVALID_VALUE;
    return r;
}

CUresult cuGraphExecNodeSetParams(CUgraphExec exec, CUgraphNode node, CUgraphNodeParams *params)
{
    return API(set_node(exec, node, params));
}

#define SET(is_given, type_name, member, value)                                                    \
    ((is_given)                                                                                    \
         ? set_node(exec, node,                                                                    \
                    &(CUgraphNodeParams){.type = CU_GRAPH_NODE_TYPE_##type_name, .member = value}) \
         : CUDA_ERROR_INVALID_VALUE)

CUresult cuGraphExecKernelNodeSetParams(CUgraphExec exec, CUgraphNode node,
                                        const CUDA_KERNEL_NODE_PARAMS_v1 *p)
{
    CUDA_KERNEL_NODE_PARAMS whole = {0};
    if (p)
        memcpy(&whole, p, sizeof *p); /* which begins alike */
    return API(SET(p, KERNEL, kernel, whole));
}

CUresult cuGraphExecKernelNodeSetParams_v2(CUgraphExec exec, CUgraphNode node,
                                           const CUDA_KERNEL_NODE_PARAMS *p)
{
    return API(SET(p, KERNEL, kernel, *p));
}

/* The context of a copy, or of a set, stays what it was. */
CUresult cuGraphExecMemcpyNodeSetParams(CUgraphExec exec, CUgraphNode node, const CUDA_MEMCPY3D *p,
                                        CUcontext ctx)
{
    (void)ctx;
    return API(SET(p, MEMCPY, memcpy.copyParams, *p));
}

CUresult cuGraphExecMemsetNodeSetParams(CUgraphExec exec, CUgraphNode node,
                                        const CUDA_MEMSET_NODE_PARAMS *p, CUcontext ctx)
{
    CUDA_MEMSET_NODE_PARAMS_v2 whole = {0};
    (void)ctx;
    if (p)
        memcpy(&whole, p, sizeof *p);
    return API(SET(p, MEMSET, memset, whole));
}

CUresult cuGraphExecHostNodeSetParams(CUgraphExec exec, CUgraphNode node,
                                      const CUDA_HOST_NODE_PARAMS *p)
{
    return API(SET(p, HOST, host, *p));
}

CUresult cuGraphExecChildGraphNodeSetParams(CUgraphExec exec, CUgraphNode node, CUgraph child)
{
    return API(SET(child, GRAPH, graph.graph, child));
}

CUresult cuGraphExecBatchMemOpNodeSetParams(CUgraphExec exec, CUgraphNode node,
                                            const CUDA_BATCH_MEM_OP_NODE_PARAMS *p)
{
    return API(SET(p, BATCH_MEM_OP, memOp, *p));
}

CUresult cuGraphExecExternalSemaphoresSignalNodeSetParams(CUgraphExec exec, CUgraphNode node,
                                                          const CUDA_EXT_SEM_NODE_PARAMS *p)
{
    return API(SET(p, EXT_SEMAS_SIGNAL, extSemSignal, *p));
}

CUresult cuGraphExecExternalSemaphoresWaitNodeSetParams(CUgraphExec exec, CUgraphNode node,
                                                        const CUDA_EXT_SEM_NODE_PARAMS *p)
{
    return API(SET(p, EXT_SEMAS_WAIT, extSemWait, *p));
}

CUresult cuGraphExecEventRecordNodeSetEvent(CUgraphExec exec, CUgraphNode node, CUevent event)
{
    return API(SET(event, EVENT_RECORD, eventRecord.event, event));
}

CUresult cuGraphExecEventWaitNodeSetEvent(CUgraphExec exec, CUgraphNode node, CUevent event)
{
    return API(SET(event, WAIT_EVENT, eventWait.event, event));
}

static CUresult enabled(CUgraphExec exec, CUgraphNode original, unsigned *get, unsigned set)
{
    CUgraphNode node;
    CUresult r = find_node(exec, original, original, &node);
    if (r == CUDA_SUCCESS && node->type != CU_GRAPH_NODE_TYPE_KERNEL &&
        node->type != CU_GRAPH_NODE_TYPE_MEMCPY && node->type != CU_GRAPH_NODE_TYPE_MEMSET)
        r = CUDA_ERROR_INVALID_VALUE;
    if (r == CUDA_SUCCESS && get)
        *get = !node->is_disabled;
    else if (r == CUDA_SUCCESS)
        node->is_disabled = !set;
    return r;
}

CUresult cuGraphNodeSetEnabled(CUgraphExec exec, CUgraphNode node, unsigned is_enabled)
{
    return API(enabled(exec, node, NULL, is_enabled));
}

CUresult cuGraphNodeGetEnabled(CUgraphExec exec, CUgraphNode node, unsigned *is_enabled)
{
    return API(is_enabled ? enabled(exec, node, is_enabled, 0) : CUDA_ERROR_INVALID_VALUE);
}

/* ---- changing all of it ---------------------------------------------------------------------- */

/* Nodes keep whether they are enabled. */
static void take_disabled(CUgraph from, CUgraph to)
{
    for (size_t i = 0; i < to->n_nodes; i++) {
        to->nodes[i]->is_disabled = from->nodes[i]->is_disabled;
        for (unsigned k = 0; k < to->nodes[i]->n_inner; k++)
            take_disabled(from->nodes[i]->inner[k], to->nodes[i]->inner[k]);
    }
}

static CUresult update(CUgraphExec exec, CUgraph graph, CUgraphExecUpdateResultInfo *info)
{
    CUgraph clone;
    CUresult r = pt_cu_exec_check(exec);
    if (r == CUDA_SUCCESS && (!info || !pt_cu_handle_is(graph, PT_CU_GRAPH)))
        r = CUDA_ERROR_INVALID_VALUE;
    if (r == CUDA_SUCCESS && (pt_cu_updatable_is_in(exec->graph) || pt_cu_updatable_is_in(graph)))
        r = CUDA_ERROR_NOT_SUPPORTED; /* CUDA's, too */
    if (r == CUDA_SUCCESS)
        r = pt_cu_graph_clone(graph, &clone);
    if (r != CUDA_SUCCESS)
        return r;
    *info = (CUgraphExecUpdateResultInfo){0};
    info->result = pt_cu_exec_sort(clone) ? compare(exec->graph, clone, &info->errorNode)
                                          : CU_GRAPH_EXEC_UPDATE_ERROR;
    if (info->result != CU_GRAPH_EXEC_UPDATE_SUCCESS) {
        pt_cu_graph_delete(clone);
        return CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE;
    }
    pt_cu_condition_take(exec->graph, false);
    pt_cu_condition_take(clone, true);
    take_disabled(exec->graph, clone);
    replace(exec, clone);
    return CUDA_SUCCESS;
}

CUresult cuGraphExecUpdate_v2(CUgraphExec exec, CUgraph graph, CUgraphExecUpdateResultInfo *info)
{
    return API(update(exec, graph, info));
}

static CUresult update_v1(CUgraphExec exec, CUgraph graph, CUgraphNode *error_node,
                          CUgraphExecUpdateResult *result)
{
    CUgraphExecUpdateResultInfo info;
    if (!error_node || !result)
        return CUDA_ERROR_INVALID_VALUE;
    CUresult r = update(exec, graph, &info);
    if (r == CUDA_SUCCESS || r == CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE) {
        *error_node = info.errorNode;
        *result = info.result;
    }
    return r;
}

CUresult cuGraphExecUpdate(CUgraphExec exec, CUgraph graph, CUgraphNode *error_node,
                           CUgraphExecUpdateResult *result)
{
    return API(update_v1(exec, graph, error_node, result));
}
