/* Launches of executable graphs, by the host and by kernels.
 *
 * An executable is idle or has launches under way; each launch of the host waits for the one before
 * (`last`). Kernels launch what does not run. */
#include "runtime/cuda/exec_launch.h"

#include "runtime/cuda/command.h"
#include "runtime/cuda/condition.h"
#include "runtime/cuda/context_list.h"
#include "runtime/cuda/driver.h"
#include "runtime/cuda/event.h"
#include "runtime/cuda/graph.h"
#include "runtime/cuda/handle.h"
#include "runtime/cuda/launch.h"
#include "runtime/cuda/op.h"
#include "runtime/cuda/stream.h"
#include "runtime/cuda/track.h"

/* ---- nodes ----------------------------------------------------------------------------------- */

/* The node's operation, ready to run. */
static CUresult make_op(CUgraphNode node, struct pt_cu_op *op)
{
    *op = node->is_disabled ? (struct pt_cu_op){.work = PT_CU_EMPTY} : node->op;
    if (op->work == PT_CU_BATCH)
        op->batch->refs++;
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
        ok = ok && (node->ports[i] == CU_GRAPH_KERNEL_NODE_PORT_PROGRAMMATIC
                        ? pt_cu_command_after_trigger(first, node->before[i]->command)
                        : pt_cu_command_after(first, node->before[i]->command));
    return ok && (node->op.work != PT_CU_WAIT_EVENT || node->is_disabled ||
                  !pt_cu_handle_is(node->event, PT_CU_EVENT) ||
                  pt_cu_command_after(node->command, node->event->recorded));
}

/* Makes a node's command, which is seen in the stream of the launch. */
static struct pt_cu_command *new_command(CUgraphNode node, const struct pt_cu_op *op,
                                         const struct pt_cu_command *begin)
{
    struct pt_cu_command *c = pt_cu_command_new(node->ctx, op);
    if (!c)
        return NULL;
    c->stream = begin->stream;
    c->launch = begin->launch;
    c->graph = begin->graph;
    c->correlation = begin->correlation;
    c->exec = begin->exec;
    c->exec_node = node->object.id;
    if (begin->track) {
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

/* Of a node that kernels may change the kernel is read now. */
static bool run_updatable(struct pt_cu_command *command)
{
    CUgraphNode node = command->more_ud;
    struct pt_cu_op op;
    if (command->ctx->error != CUDA_SUCCESS)
        return false;
    command->failed = make_op(node, &op);
    struct pt_cu_command *c =
        command->failed == CUDA_SUCCESS ? new_command(node, &op, command) : NULL;
    if (command->failed == CUDA_SUCCESS && !c) {
        pt_cu_op_drop(&op);
        command->failed = CUDA_ERROR_OUT_OF_MEMORY;
    }
    if (!c)
        return false;
    pt_cu_overlap_after(c, command);
    if (!pt_cu_command_after(command, c)) {
        pt_cu_command_cancel(c);
        command->failed = CUDA_ERROR_OUT_OF_MEMORY;
    }
    pt_cu_command_start(c);
    pt_cu_command_put(c);
    return false;
}

static CUresult launch_node(CUgraphNode node, struct pt_cu_command *begin,
                            struct pt_cu_command *end)
{
    struct pt_cu_op op = {.work = PT_CU_EMPTY};
    bool is_child = node->n_inner && !node->condition, is_late = node->condition || node->updatable;
    CUresult r = node->n_inner || is_late ? CUDA_SUCCESS : make_op(node, &op);
    struct pt_cu_command *first = NULL,
                         *c = r == CUDA_SUCCESS ? new_command(node, &op, begin) : NULL;
    if (r == CUDA_SUCCESS && !c) {
        pt_cu_op_drop(&op);
        r = CUDA_ERROR_OUT_OF_MEMORY;
    }
    if (r != CUDA_SUCCESS)
        return r;
    node->command = c;
    if (is_late) {
        c->more = node->condition ? run_branch : run_updatable;
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

/* ---- launches -------------------------------------------------------------------------------- */

static void make_one(struct pt_cu_command *begin, struct pt_cu_command *end)
{
    static uint64_t runs;
    begin->launch = end->launch = end;
    end->run = ++runs;
}

static bool assign_conditions(struct pt_cu_command *begin)
{
    pt_cu_condition_assign_all(begin->more_ud);
    return false;
}

static bool enter(struct pt_cu_command *begin)
{
    pt_cu_environment_enter(begin->launch->more_ud, begin->more_ud);
    return false;
}

static void let_go(CUgraph graph)
{
    if (graph && --graph->launches == 0 && graph->is_dropped)
        pt_cu_graph_delete(graph);
}

/* A tail, in the place of the graph that is done. */
static void go_on_with(struct pt_cu_command *end, CUgraphExec exec)
{
    pt_cu_environment_enter(end->more_ud, exec);
    end->graph = (uintptr_t)exec;
    end->exec = exec->object.id;
    CUresult r = launch_nodes(exec->uploaded, end, end);
    if (end->failed == CUDA_SUCCESS)
        end->failed = r;
}

/* After a failure tails are let go one by one. */
static bool end_launch(struct pt_cu_command *end)
{
    struct pt_cu_environment *e = end->more_ud;
    CUgraphExec next = pt_cu_environment_next(e);
    while (next && (end->ctx->error != CUDA_SUCCESS || end->failed != CUDA_SUCCESS))
        next = pt_cu_environment_next(e);
    if (next)
        go_on_with(end, next);
    if (next || pt_cu_environment_await_siblings(end))
        return true;
    let_go(e->kept);
    pt_cu_environment_delete(end);
    return false;
}

void pt_cu_exec_launch_upload(CUgraphExec exec)
{
    if (!pt_cu_graph_exec_is_for_kernels(exec) || exec->uploaded == exec->graph)
        return;
    let_go(exec->uploaded);
    exec->uploaded = exec->graph;
    exec->uploaded->launches++;
}

/* Branches are chosen, and their nodes' commands made, in the course of the launch; and kernels
 * launch what does not run. */
static bool prepare(CUgraphExec exec, struct pt_cu_command *begin, struct pt_cu_command *end)
{
    bool is_for_kernels = pt_cu_graph_exec_is_for_kernels(exec);
    make_one(begin, end);
    if (!exec->graph->is_read_late && !is_for_kernels)
        return true;
    struct pt_cu_environment *e = pt_cu_environment_of(end, end_launch);
    if (!e)
        return false;
    begin->more = is_for_kernels ? enter : assign_conditions;
    begin->more_ud = is_for_kernels ? (void *)exec : exec->graph;
    if (is_for_kernels) {
        begin->graph = (uintptr_t)exec;
        pt_cu_exec_launch_upload(exec);
        return true;
    }
    e->kept = exec->graph;
    exec->graph->launches++;
    return true;
}

/* The ends of a launch that has no nodes; NULL: there is none. `end` is behind `begin`, and is made
 * ready by it unless something else holds it. */
static void give_up(struct pt_cu_command *begin, struct pt_cu_command *end)
{
    if (end)
        end->unmet++;
    if (begin)
        pt_cu_command_start(begin);
    if (end) {
        end->unmet--;
        pt_cu_command_start(end);
    }
    pt_cu_command_put(begin);
    pt_cu_command_put(end);
}

CUresult pt_cu_exec_launch_in(CUgraphExec exec, CUstream stream)
{
    struct pt_cu_op empty = {.work = PT_CU_EMPTY};
    struct pt_cu_command *begin = pt_cu_stream_append(stream, &empty, false);
    struct pt_cu_command *end = begin ? pt_cu_stream_append(stream, &empty, false) : NULL;
    if (!end || !pt_cu_command_after(begin, exec->last) || !prepare(exec, begin, end)) {
        give_up(begin, end);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    pt_cu_command_put(exec->last);
    exec->last = pt_cu_command_ref(end);
    end->unmet++; /* until its dependencies are complete */
    begin->exec = end->exec = exec->object.id;
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

/* ---- by kernels ------------------------------------------------------------------------------ */

/* A command at an end of what a kernel launches, that is seen where the kernel is. */
static struct pt_cu_command *new_end(const struct pt_cu_command *from, CUgraphExec exec)
{
    struct pt_cu_command *c = pt_cu_command_new(from->ctx, &(struct pt_cu_op){.work = PT_CU_EMPTY});
    if (!c)
        return NULL;
    c->stream = from->stream;
    c->graph = (uintptr_t)exec;
    c->exec = exec->object.id;
    c->correlation = from->correlation;
    c->track = from->track ? pt_cu_track_ref(from->track) : NULL;
    return c;
}

/* Behind `end` is what the launch is part of. */
static bool join(struct pt_cu_environment *around, bool is_later, struct pt_cu_command *end)
{
    if (!is_later)
        return pt_cu_command_after(around->end, end);
    if (!pt_cu_command_add(&around->siblings, end))
        return false;
    pt_cu_command_ref(end);
    return true;
}

/* Beside what runs; `is_later`: the end alone waits for it, tails do not. */
static CUresult launch_beside(struct pt_cu_command *from, struct pt_cu_environment *around,
                              bool is_later, CUgraphExec exec)
{
    struct pt_cu_command *begin = new_end(from, exec), *end = begin ? new_end(from, exec) : NULL;
    struct pt_cu_environment *e = end ? pt_cu_environment_of(end, end_launch) : NULL;
    CUresult r = e && join(around, is_later, end) ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
    if (r == CUDA_SUCCESS) {
        e->around = around;
        make_one(begin, end);
        pt_cu_environment_enter(e, exec);
        pt_cu_overlap_after(begin, from);
        begin->unmet++; /* until all nodes are there */
        end->unmet++;
        r = launch_nodes(exec->uploaded, begin, end);
        begin->unmet--;
        end->unmet--;
    }
    if (begin)
        pt_cu_command_start_apart(begin);
    if (end)
        pt_cu_command_start_apart(end);
    pt_cu_command_put(begin);
    pt_cu_command_put(end);
    return r;
}

CUresult pt_cu_exec_launch_from(struct pt_cu_command *from, CUgraphExec exec,
                                enum pt_cu_graph_mode mode)
{
    struct pt_cu_environment *e =
        from->launch ? pt_cu_environment_of(from->launch, end_launch) : NULL;
    if (!e)
        return from->launch ? CUDA_ERROR_OUT_OF_MEMORY : CUDA_ERROR_INVALID_VALUE;
    if (!pt_cu_environment_admits(e, exec, mode))
        return CUDA_ERROR_INVALID_VALUE;
    if (mode == PT_CU_GRAPH_TAIL) {
        pt_cu_environment_add_tail(e, exec);
        return CUDA_SUCCESS;
    }
    bool is_sibling = mode == PT_CU_GRAPH_SIBLING;
    CUresult r = launch_beside(from, is_sibling && e->around ? e->around : e,
                               is_sibling && !e->around, exec);
    if (r == CUDA_SUCCESS)
        e->n_beside++;
    return r;
}

void pt_cu_exec_launch_finish(CUgraphExec exec)
{
    if (!pt_cu_graph_exec_is_for_kernels(exec))
        return;
    if (exec->last)
        pt_cu_command_finish(exec->last);
    if (exec->environment)
        pt_cu_command_finish(exec->environment->end);
    let_go(exec->uploaded);
    exec->uploaded = NULL;
}
