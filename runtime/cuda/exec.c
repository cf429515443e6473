/* Executable graphs: made from a graph once, launched often.
 *
 * An executable is idle or has launches under way; each launch waits for the one before (`last`).
 */
#include "runtime/cuda/exec.h"

#include <stdlib.h>
#include <string.h>

#include "runtime/cuda/capture.h"
#include "runtime/cuda/command.h"
#include "runtime/cuda/condition.h"
#include "runtime/cuda/context_list.h"
#include "runtime/cuda/driver.h"
#include "runtime/cuda/entry.h"
#include "runtime/cuda/event.h"
#include "runtime/cuda/graph.h"
#include "runtime/cuda/graph_memory.h"
#include "runtime/cuda/handle.h"
#include "runtime/cuda/launch.h"
#include "runtime/cuda/op.h"
#include "runtime/cuda/stream.h"
#include "runtime/cuda/track.h"

/* ---- making ---------------------------------------------------------------------------------- */

bool pt_cu_exec_sort(CUgraph graph)
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
        for (unsigned k = 0; k < graph->nodes[i]->n_inner; k++)
            if (!pt_cu_exec_sort(graph->nodes[i]->inner[k]))
                return false;
    return true;
}

/* Some graphs have one executable at a time. */
static CUresult take(CUgraph graph)
{
    CUresult r = pt_cu_graph_memory_take(graph, true);
    if (r == CUDA_SUCCESS && (r = pt_cu_condition_take(graph, true)) != CUDA_SUCCESS)
        pt_cu_graph_memory_take(graph, false);
    return r;
}

static void leave(CUgraph graph)
{
    pt_cu_graph_memory_take(graph, false);
    pt_cu_condition_take(graph, false);
}

void pt_cu_exec_give_graph(CUgraphExec exec, CUgraph clone)
{
    clone->is_owned = true;
    clone->has_conditions = pt_cu_condition_is_in(clone);
    exec->graph = clone;
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
        r = take(graph);
    if (r == CUDA_SUCCESS && (r = pt_cu_graph_clone(graph, &clone)) != CUDA_SUCCESS)
        leave(graph);
    if (r != CUDA_SUCCESS)
        return r;
    bool is_sorted = pt_cu_exec_sort(clone);
    CUgraphExec exec = is_sorted ? pt_cu_handle_new(PT_CU_EXEC, sizeof *exec) : NULL;
    if (!exec) {
        leave(graph);
        pt_cu_graph_delete(clone);
        return is_sorted ? CUDA_ERROR_OUT_OF_MEMORY : CUDA_ERROR_INVALID_VALUE;
    }
    pt_cu_exec_give_graph(exec, clone);
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

CUresult pt_cu_exec_check(CUgraphExec exec)
{
    CUresult r = pt_cu_driver_check();
    return r == CUDA_SUCCESS && !pt_cu_handle_is(exec, PT_CU_EXEC) ? CUDA_ERROR_INVALID_VALUE : r;
}

void pt_cu_exec_drop_graph(CUgraphExec exec)
{
    if (pt_cu_user_object_is_in(exec->graph))
        pt_cu_command_finish(exec->last);
    if (exec->graph->launches)
        exec->graph->is_dropped = true;
    else
        pt_cu_graph_delete(exec->graph);
}

static CUresult destroy(CUgraphExec exec)
{
    CUresult r = pt_cu_exec_check(exec);
    if (r != CUDA_SUCCESS)
        return r;
    leave(exec->graph);
    pt_cu_exec_drop_graph(exec);
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
    CUresult r = pt_cu_exec_check(exec);
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
 * behind the node. They are one and the same where it has more to do. */
static bool put_in_order(CUgraphNode node, struct pt_cu_command *first, struct pt_cu_command *begin,
                         struct pt_cu_command *end)
{
    bool ok = (begin == end || pt_cu_command_after(first, begin)) &&
              pt_cu_command_after(end, node->command);
    if (begin == end) /* which has run */
        pt_cu_overlap_after(first, begin);
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
    if (c)
        c->stream = begin->stream;
    if (c && begin->track) {
        c->track = pt_cu_track_ref(begin->track);
        c->node = node->original->object.id;
    }
    return c;
}

/* A conditional node's command has all that its branches do to do, too. */
static bool run_branch(struct pt_cu_command *command)
{
    CUgraphNode node = command->more_ud;
    CUgraph branch = command->ctx->error == CUDA_SUCCESS ? pt_cu_condition_branch(node) : NULL;
    if (branch)
        command->failed = launch_nodes(branch, command, command);
    return branch && command->failed == CUDA_SUCCESS && node->branches == CU_GRAPH_COND_TYPE_WHILE;
}

static CUresult launch_node(CUgraphNode node, struct pt_cu_command *begin,
                            struct pt_cu_command *end)
{
    struct pt_cu_op op = {.work = PT_CU_EMPTY};
    bool is_child = node->n_inner && !node->condition;
    CUresult r = node->n_inner ? CUDA_SUCCESS : make_op(node, &op);
    struct pt_cu_command *first = NULL,
                         *c = r == CUDA_SUCCESS ? new_command(node, &op, begin) : NULL;
    if (r == CUDA_SUCCESS && !c) {
        pt_cu_op_drop(&op);
        r = CUDA_ERROR_OUT_OF_MEMORY;
    }
    if (r != CUDA_SUCCESS)
        return r;
    node->command = c;
    if (node->condition) {
        c->more = run_branch;
        c->more_ud = node;
    }
    first = is_child ? new_command(node, &op, begin) : c;
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
        r = launch_nodes(*node->inner, first, c);
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

static bool assign_conditions(struct pt_cu_command *begin)
{
    pt_cu_condition_assign_all(begin->more_ud);
    return false;
}

static bool let_go(struct pt_cu_command *end)
{
    CUgraph graph = end->more_ud;
    if (--graph->launches == 0 && graph->is_dropped)
        pt_cu_graph_delete(graph);
    return false;
}

/* Branches are chosen, and their nodes' commands made, in the course of the launch. */
static void keep_graph(CUgraph graph, struct pt_cu_command *begin, struct pt_cu_command *end)
{
    begin->more_ud = end->more_ud = graph;
    begin->more = assign_conditions;
    end->more = let_go;
    graph->launches++;
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
    if (exec->graph->has_conditions)
        keep_graph(exec->graph, begin, end);
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
        r = pt_cu_exec_check(exec);
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
    return r == CUDA_SUCCESS ? pt_cu_exec_check(exec) : r;
}

PER_THREAD_API(cuGraphUpload, _ptsz, upload, (CUgraphExec exec, CUstream stream), exec, stream)
