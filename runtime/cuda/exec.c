/* Executable graphs: made from a graph once, launched often, changed in place.
 *
 * An executable is idle or has launches under way; each launch waits for the one before (`last`).
 * Changing it is possible in both: commands have their operations already. */
#include <stdlib.h>
#include <string.h>

#include "runtime/cuda/capture.h"
#include "runtime/cuda/command.h"
#include "runtime/cuda/copy.h"
#include "runtime/cuda/driver.h"
#include "runtime/cuda/entry.h"
#include "runtime/cuda/event.h"
#include "runtime/cuda/graph.h"
#include "runtime/cuda/graph_memory.h"
#include "runtime/cuda/handle.h"
#include "runtime/cuda/launch.h"
#include "runtime/cuda/node.h"
#include "runtime/cuda/op.h"
#include "runtime/cuda/range.h"
#include "runtime/cuda/stream.h"
#include "runtime/cuda/track.h"

/* ---- making ---------------------------------------------------------------------------------- */

/* Brings the nodes into an order in which each comes behind those that it depends on. False: there
 * is a circle. */
static bool sort_nodes(CUgraph graph)
{
    size_t n = graph->n_nodes, done = 0;
    for (size_t i = 0; i < n; i++)
        graph->nodes[i]->index = SIZE_MAX;
    while (done < n) {
        size_t before = done;
        for (size_t i = done; i < n; i++) {
            CUgraphNode node = graph->nodes[i];
            bool is_ready = true;
            for (size_t k = 0; k < node->n_before; k++)
                is_ready &= node->before[k]->index != SIZE_MAX;
            if (!is_ready)
                continue;
            graph->nodes[i] = graph->nodes[done];
            graph->nodes[done] = node;
            node->index = done++;
        }
        if (done == before)
            return false;
    }
    for (size_t i = 0; i < n; i++)
        if (graph->nodes[i]->child && !sort_nodes(graph->nodes[i]->child))
            return false;
    return true;
}

static CUresult instantiate(CUgraphExec *out, CUgraph graph, cuuint64_t flags)
{
    const cuuint64_t known = CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH |
                             CUDA_GRAPH_INSTANTIATE_FLAG_UPLOAD |
                             CUDA_GRAPH_INSTANTIATE_FLAG_USE_NODE_PRIORITY;
    CUgraph clone;
    CUresult r = pt_cu_driver_check();
    if (r == CUDA_SUCCESS && (!out || !pt_cu_handle_is(graph, PT_CU_GRAPH)))
        r = CUDA_ERROR_INVALID_VALUE;
    if (r == CUDA_SUCCESS && flags & ~known)
        r = flags & CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH ? CUDA_ERROR_NOT_SUPPORTED
                                                              : CUDA_ERROR_INVALID_VALUE;
    if (r == CUDA_SUCCESS)
        r = pt_cu_graph_memory_take(graph, true);
    if (r == CUDA_SUCCESS && (r = pt_cu_graph_clone(graph, &clone)) != CUDA_SUCCESS)
        pt_cu_graph_memory_take(graph, false);
    if (r != CUDA_SUCCESS)
        return r;
    bool is_sorted = sort_nodes(clone);
    CUgraphExec exec = is_sorted ? pt_cu_handle_new(PT_CU_EXEC, sizeof *exec) : NULL;
    if (!exec) {
        pt_cu_graph_memory_take(graph, false);
        pt_cu_graph_delete(clone);
        return is_sorted ? CUDA_ERROR_OUT_OF_MEMORY : CUDA_ERROR_INVALID_VALUE;
    }
    clone->is_owned = true;
    exec->graph = clone;
    exec->flags = flags;
    *out = exec;
    pt_cu_handle_give(exec);
    return CUDA_SUCCESS;
}

static CUresult instantiate_with_log(CUgraphExec *exec, CUgraph graph, CUgraphNode *error_node,
                                     char *log, size_t bytes)
{
    if (error_node)
        *error_node = NULL;
    if (log && bytes)
        *log = 0;
    return instantiate(exec, graph, 0);
}

CUresult cuGraphInstantiate(CUgraphExec *exec, CUgraph graph, CUgraphNode *error_node, char *log,
                            size_t bytes)
{
    return API(instantiate_with_log(exec, graph, error_node, log, bytes));
}

CUresult cuGraphInstantiate_v2(CUgraphExec *exec, CUgraph graph, CUgraphNode *error_node, char *log,
                               size_t bytes)
{
    return API(instantiate_with_log(exec, graph, error_node, log, bytes));
}

CUresult cuGraphInstantiateWithFlags(CUgraphExec *exec, CUgraph graph, unsigned long long flags)
{
    return API(instantiate(exec, graph, flags));
}

static CUresult instantiate_with_params(CUgraphExec *exec, CUgraph graph,
                                        CUDA_GRAPH_INSTANTIATE_PARAMS *p)
{
    if (!p)
        return CUDA_ERROR_INVALID_VALUE;
    CUresult r = instantiate(exec, graph, p->flags);
    p->hErrNode_out = NULL;
    p->result_out =
        r == CUDA_SUCCESS ? CUDA_GRAPH_INSTANTIATE_SUCCESS : CUDA_GRAPH_INSTANTIATE_ERROR;
    return r;
}

CUresult cuGraphInstantiateWithParams(CUgraphExec *exec, CUgraph graph,
                                      CUDA_GRAPH_INSTANTIATE_PARAMS *params)
{
    return API(instantiate_with_params(exec, graph, params));
}

CUresult cuGraphInstantiateWithParams_ptsz(CUgraphExec *exec, CUgraph graph,
                                           CUDA_GRAPH_INSTANTIATE_PARAMS *params)
{
    return API(instantiate_with_params(exec, graph, params));
}

static CUresult check_exec(CUgraphExec exec)
{
    CUresult r = pt_cu_driver_check();
    return r == CUDA_SUCCESS && !pt_cu_handle_is(exec, PT_CU_EXEC) ? CUDA_ERROR_INVALID_VALUE : r;
}

/* Launches that are under way have all they need, but for user objects, which are there until they
 * are done. */
static void give_up_graph(CUgraphExec exec)
{
    if (pt_cu_user_object_is_in(exec->graph))
        pt_cu_command_finish(exec->last);
    pt_cu_graph_delete(exec->graph);
}

static CUresult destroy(CUgraphExec exec)
{
    CUresult r = check_exec(exec);
    if (r != CUDA_SUCCESS)
        return r;
    pt_cu_graph_memory_take(exec->graph, false);
    give_up_graph(exec);
    pt_cu_command_put(exec->last);
    pt_cu_handle_delete(exec);
    return CUDA_SUCCESS;
}

CUresult cuGraphExecDestroy(CUgraphExec exec)
{
    return API(destroy(exec));
}

static CUresult get_flags(CUgraphExec exec, cuuint64_t *flags)
{
    CUresult r = check_exec(exec);
    if (r == CUDA_SUCCESS && !flags)
        r = CUDA_ERROR_INVALID_VALUE;
    if (r == CUDA_SUCCESS)
        *flags = exec->flags;
    return r;
}

CUresult cuGraphExecGetFlags(CUgraphExec exec, cuuint64_t *flags)
{
    return API(get_flags(exec, flags));
}

/* ---- launching ------------------------------------------------------------------------------- */

/* The node's operation, ready to run. */
static CUresult make_op(CUgraphNode node, struct pt_cu_op *op)
{
    *op = node->is_disabled ? (struct pt_cu_op){.work = PT_CU_EMPTY} : node->op;
    if (op->work != PT_CU_KERNEL_LAUNCH)
        return CUDA_SUCCESS;
    void *extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, node->op.launch.parameters,
                     CU_LAUNCH_PARAM_BUFFER_SIZE, &node->op.launch.bytes, CU_LAUNCH_PARAM_END};
    op->launch.parameters = NULL;
    return pt_cu_launch_ready(&op->launch, NULL, extra);
}

static CUresult launch_nodes(CUgraph graph, struct pt_cu_command *begin, struct pt_cu_command *end);

/* The node's command, or the first of two, behind `begin` and what the node depends on; `end`
 * behind the node. */
static bool put_in_order(CUgraphNode node, struct pt_cu_command *first, struct pt_cu_command *begin,
                         struct pt_cu_command *end)
{
    bool ok = pt_cu_command_after(first, begin) && pt_cu_command_after(end, node->command);
    for (size_t i = 0; i < node->n_before; i++)
        ok = ok && pt_cu_command_after(first, node->before[i]->command);
    return ok && (node->op.work != PT_CU_WAIT_EVENT || node->is_disabled ||
                  !pt_cu_handle_is(node->event, PT_CU_EVENT) ||
                  pt_cu_command_after(node->command, node->event->recorded));
}

/* Makes a node's command, which is seen in the stream of the launch. */
static struct pt_cu_command *new_command(CUgraphNode node, const struct pt_cu_op *op,
                                         const struct pt_cu_command *begin)
{
    struct pt_cu_command *c = pt_cu_command_new(node->ctx, op);
    if (c && begin->track) {
        c->track = pt_cu_track_ref(begin->track);
        c->node = node->original->object.id;
    }
    return c;
}

static CUresult launch_node(CUgraphNode node, struct pt_cu_command *begin,
                            struct pt_cu_command *end)
{
    struct pt_cu_op op = {.work = PT_CU_EMPTY};
    CUresult r = node->child ? CUDA_SUCCESS : make_op(node, &op);
    struct pt_cu_command *first = NULL,
                         *c = r == CUDA_SUCCESS ? new_command(node, &op, begin) : NULL;
    if (r == CUDA_SUCCESS && !c) {
        pt_cu_op_drop(&op);
        r = CUDA_ERROR_OUT_OF_MEMORY;
    }
    if (r != CUDA_SUCCESS)
        return r;
    node->command = c;
    first = node->child ? new_command(node, &op, begin) : c;
    if (!first) {
        pt_cu_command_start(c);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    if (!put_in_order(node, first, begin, end)) {
        pt_cu_command_cancel(c);
        if (first != c) {
            pt_cu_command_start(first);
            pt_cu_command_put(first);
        }
        pt_cu_command_start(c);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    if (op.work == PT_CU_RECORD && pt_cu_handle_is(node->event, PT_CU_EVENT)) {
        pt_cu_command_put(node->event->recorded);
        node->event->recorded = pt_cu_command_ref(c);
    }
    if (first != c) { /* between the two runs the child */
        c->unmet++;
        pt_cu_command_start(first);
        r = launch_nodes(node->child, first, c);
        c->unmet--;
        pt_cu_command_put(first);
    }
    pt_cu_command_start(c);
    return r;
}

/* All nodes behind `begin`, `end` behind all of them. */
static CUresult launch_nodes(CUgraph graph, struct pt_cu_command *begin, struct pt_cu_command *end)
{
    CUresult r = CUDA_SUCCESS;
    size_t n = 0;
    for (; r == CUDA_SUCCESS && n < graph->n_nodes; n++)
        r = launch_node(graph->nodes[n], begin, end);
    for (size_t i = 0; i < n; i++) {
        pt_cu_command_put(graph->nodes[i]->command);
        graph->nodes[i]->command = NULL;
    }
    return r;
}

/* The stream goes on when all is done; a graph's launches never overlap. */
static CUresult launch_in(CUgraphExec exec, CUstream stream)
{
    struct pt_cu_op empty = {.work = PT_CU_EMPTY};
    struct pt_cu_command *begin = pt_cu_stream_append(stream, &empty, false);
    struct pt_cu_command *end = begin ? pt_cu_stream_append(stream, &empty, false) : NULL;
    if (!end || !pt_cu_command_after(begin, exec->last)) {
        if (begin)
            pt_cu_command_start(begin);
        if (end)
            pt_cu_command_start(end);
        pt_cu_command_put(begin);
        pt_cu_command_put(end);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    pt_cu_command_put(exec->last);
    exec->last = pt_cu_command_ref(end);
    end->unmet++; /* until its dependencies are complete */
    pt_cu_command_start(begin);
    CUresult r = launch_nodes(exec->graph, begin, end);
    end->unmet--;
    pt_cu_command_start(end);
    if (pt_cu_driver.traps_host)
        pt_cu_command_finish(end);
    pt_cu_command_put(begin);
    pt_cu_command_put(end);
    return r;
}

/* A launch that is captured becomes a child of the graph. */
static CUresult launch(CUstream null, CUgraphExec exec, CUstream given)
{
    CUstream stream;
    CUresult r = pt_cu_stream_find(null, given, &stream);
    if (r == CUDA_SUCCESS)
        r = check_exec(exec);
    if (r == CUDA_SUCCESS)
        r = pt_cu_capture_check(stream);
    if (r == CUDA_SUCCESS && stream->capture)
        return pt_cu_capture_child(stream, exec->graph);
    if (r == CUDA_SUCCESS)
        r = pt_cu_graph_memory_launch(
            exec->graph, exec->flags & CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH);
    return r == CUDA_SUCCESS ? launch_in(exec, stream) : r;
}

PER_THREAD_API(cuGraphLaunch, _ptsz, launch, (CUgraphExec exec, CUstream stream), exec, stream)

static CUresult upload(CUstream null, CUgraphExec exec, CUstream given)
{
    CUstream stream;
    CUresult r = pt_cu_stream_find(null, given, &stream);
    return r == CUDA_SUCCESS ? check_exec(exec) : r;
}

PER_THREAD_API(cuGraphUpload, _ptsz, upload, (CUgraphExec exec, CUstream stream), exec, stream)

/* ---- changing -------------------------------------------------------------------------------- */

/* The executable's node that was made from a node of the graph, or of a child of it. */
static CUgraphNode find(CUgraph graph, CUgraphNode original)
{
    for (size_t i = 0; i < graph->n_nodes; i++) {
        CUgraphNode node = graph->nodes[i];
        if (node->original == original ||
            (node->child && (node = find(node->child, original)) != NULL))
            return node;
    }
    return NULL;
}

static CUresult find_node(CUgraphExec exec, CUgraphNode original, const void *params,
                          CUgraphNode *node)
{
    CUresult r = check_exec(exec);
    if (r == CUDA_SUCCESS && !params)
        r = CUDA_ERROR_INVALID_VALUE;
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
    return true;
}

/* Whether parameters of a copy or a set, if they are valid, can be those of the node. */
static CUresult check_change(CUgraphNode node, const CUgraphNodeParams *p)
{
    struct pt_cu_op op;
    bool is_pageable;
    CUresult r = CUDA_SUCCESS;
    if (p->type == CU_GRAPH_NODE_TYPE_MEMCPY)
        r = pt_cu_copy_op(&p->memcpy.copyParams, &op, &is_pageable);
    else if (p->type == CU_GRAPH_NODE_TYPE_MEMSET)
        r = pt_cu_copy_set_op(&(CUDA_MEMSET_NODE_PARAMS){p->memset.dst, p->memset.pitch,
                                                         p->memset.value, p->memset.elementSize,
                                                         p->memset.width, p->memset.height},
                              &op);
    else
        return CUDA_SUCCESS;
    return r == CUDA_SUCCESS && !can_become(&node->op, &op) ? CUDA_ERROR_INVALID_VALUE : r;
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
    if (r == CUDA_SUCCESS && node->child && !sort_nodes(node->child))
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

static bool has_same_edges(CUgraphNode a, CUgraphNode b)
{
    if (a->n_before != b->n_before)
        return false;
    for (size_t i = 0; i < a->n_before; i++)
        if (a->before[i]->index != b->before[i]->index)
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
        CUgraphExecUpdateResult r =
            x->child ? compare(x->child, y->child, error) : CU_GRAPH_EXEC_UPDATE_SUCCESS;
        if (r != CU_GRAPH_EXEC_UPDATE_SUCCESS)
            return r;
    }
    *error = NULL;
    return CU_GRAPH_EXEC_UPDATE_SUCCESS;
}

/* Nodes keep whether they are enabled. */
static void take_disabled(CUgraph from, CUgraph to)
{
    for (size_t i = 0; i < to->n_nodes; i++) {
        to->nodes[i]->is_disabled = from->nodes[i]->is_disabled;
        if (to->nodes[i]->child)
            take_disabled(from->nodes[i]->child, to->nodes[i]->child);
    }
}

/* Nodes are still found by those of the graph that the executable was made from. */
static void take_originals(CUgraph from, CUgraph to)
{
    for (size_t i = 0; i < to->n_nodes; i++) {
        to->nodes[i]->original = from->nodes[i]->original;
        if (to->nodes[i]->child)
            take_originals(from->nodes[i]->child, to->nodes[i]->child);
    }
}

static CUresult update(CUgraphExec exec, CUgraph graph, CUgraphExecUpdateResultInfo *info)
{
    CUgraph clone;
    CUresult r = check_exec(exec);
    if (r == CUDA_SUCCESS && (!info || !pt_cu_handle_is(graph, PT_CU_GRAPH)))
        r = CUDA_ERROR_INVALID_VALUE;
    if (r == CUDA_SUCCESS)
        r = pt_cu_graph_clone(graph, &clone);
    if (r != CUDA_SUCCESS)
        return r;
    *info = (CUgraphExecUpdateResultInfo){0};
    info->result = sort_nodes(clone) ? compare(exec->graph, clone, &info->errorNode)
                                     : CU_GRAPH_EXEC_UPDATE_ERROR;
    if (info->result != CU_GRAPH_EXEC_UPDATE_SUCCESS) {
        pt_cu_graph_delete(clone);
        return CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE;
    }
    take_disabled(exec->graph, clone);
    take_originals(exec->graph, clone);
    give_up_graph(exec);
    exec->graph = clone;
    clone->is_owned = true;
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
