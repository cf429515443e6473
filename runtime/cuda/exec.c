/* Executable graphs: made from a graph once, launched often (exec_launch.c). */
#include "runtime/cuda/exec.h"

#include <stdlib.h>
#include <string.h>

#include "runtime/cuda/capture.h"
#include "runtime/cuda/command.h"
#include "runtime/cuda/condition.h"
#include "runtime/cuda/device_graph.h"
#include "runtime/cuda/driver.h"
#include "runtime/cuda/entry.h"
#include "runtime/cuda/exec_launch.h"
#include "runtime/cuda/graph.h"
#include "runtime/cuda/graph_memory.h"
#include "runtime/cuda/handle.h"
#include "runtime/cuda/listener.h"
#include "runtime/cuda/stream.h"
#include "runtime/cuda/updatable.h"

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
    if (r == CUDA_SUCCESS && (r = pt_cu_updatable_take(graph, true)) != CUDA_SUCCESS) {
        pt_cu_graph_memory_take(graph, false);
        pt_cu_condition_take(graph, false);
    }
    return r;
}

static void leave(CUgraph graph)
{
    pt_cu_graph_memory_take(graph, false);
    pt_cu_condition_take(graph, false);
    pt_cu_updatable_take(graph, false);
}

void pt_cu_exec_give_graph(CUgraphExec exec, CUgraph clone)
{
    clone->is_owned = true;
    clone->is_read_late = pt_cu_condition_is_in(clone) || pt_cu_updatable_is_in(clone);
    pt_cu_updatable_replace(clone);
    exec->graph = clone;
}

/* What an executable tells of its flags. */
enum {
    KEPT_FLAGS =
        CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH | CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH
};

static CUresult check_flags(cuuint64_t flags)
{
    const cuuint64_t known = KEPT_FLAGS | CUDA_GRAPH_INSTANTIATE_FLAG_UPLOAD |
                             CUDA_GRAPH_INSTANTIATE_FLAG_USE_NODE_PRIORITY;
    return flags & ~known || (flags & KEPT_FLAGS) == KEPT_FLAGS ? CUDA_ERROR_INVALID_VALUE
                                                                : CUDA_SUCCESS;
}

/* What kernels are to launch must be possible there. */
static CUresult check_content(CUgraph graph, CUDA_GRAPH_INSTANTIATE_PARAMS *p)
{
    if (!(p->flags & CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH))
        return CUDA_SUCCESS;
    p->result_out = pt_cu_device_graph_check(graph, &p->hErrNode_out);
    return p->result_out == CUDA_GRAPH_INSTANTIATE_SUCCESS ? CUDA_SUCCESS
                                                           : CUDA_ERROR_INVALID_VALUE;
}

/* What a GPU is told of the graph before it runs first. */
static void reach(CUgraph graph)
{
    pt_cu_graph_memory_reach(graph);
    if (graph->is_read_late)
        pt_cu_updatable_upload(graph);
}

static CUresult instantiate(CUgraphExec *out, CUgraph graph, CUDA_GRAPH_INSTANTIATE_PARAMS *p)
{
    CUgraph clone;
    CUresult r = pt_cu_driver_check();
    if (r == CUDA_SUCCESS && (!out || !pt_cu_handle_is(graph, PT_CU_GRAPH)))
        r = CUDA_ERROR_INVALID_VALUE;
    if (r == CUDA_SUCCESS)
        r = check_flags(p->flags);
    if (r == CUDA_SUCCESS)
        r = check_content(graph, p);
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
    exec->flags = p->flags & KEPT_FLAGS;
    if (p->flags & CUDA_GRAPH_INSTANTIATE_FLAG_UPLOAD) {
        pt_cu_exec_launch_upload(exec);
        reach(clone);
    }
    *out = exec;
    pt_cu_handle_give(exec);
    PT_CU_LISTENER_TELL(PT_CU_MADE_EXEC, .graph = graph, .exec = exec);
    return CUDA_SUCCESS;
}

/* An upload has a stream, which is among parameters. */
static CUresult instantiate_with_flags(CUgraphExec *exec, CUgraph graph, cuuint64_t flags)
{
    CUDA_GRAPH_INSTANTIATE_PARAMS p = {.flags = flags};
    return flags & CUDA_GRAPH_INSTANTIATE_FLAG_UPLOAD ? CUDA_ERROR_INVALID_VALUE
                                                      : instantiate(exec, graph, &p);
}

static CUresult instantiate_with_log(CUgraphExec *exec, CUgraph graph, CUgraphNode *error_node,
                                     char *log, size_t bytes)
{
    if (error_node)
        *error_node = NULL;
    if (log && bytes)
        *log = 0;
    return instantiate_with_flags(exec, graph, 0);
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
    return API(instantiate_with_flags(exec, graph, flags));
}

static CUresult instantiate_with_params(CUgraphExec *exec, CUgraph graph,
                                        CUDA_GRAPH_INSTANTIATE_PARAMS *p)
{
    if (!p)
        return CUDA_ERROR_INVALID_VALUE;
    p->hErrNode_out = NULL;
    p->result_out = CUDA_GRAPH_INSTANTIATE_SUCCESS;
    CUresult r = instantiate(exec, graph, p);
    if (r != CUDA_SUCCESS && p->result_out == CUDA_GRAPH_INSTANTIATE_SUCCESS)
        p->result_out = CUDA_GRAPH_INSTANTIATE_ERROR;
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
    PT_CU_LISTENER_TELL(PT_CU_ENDS_EXEC, .graph = exec->graph, .exec = exec);
    pt_cu_exec_launch_finish(exec);
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

/* ---- launching and uploading ----------------------------------------------------------------- */

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
    if (r != CUDA_SUCCESS)
        return r;
    reach(exec->graph);
    return pt_cu_exec_launch_in(exec, stream);
}

PER_THREAD_API_GIVEN(cuGraphLaunch, _ptsz, ((struct pt_cu_graph_launch_arguments){exec, stream}),
                     launch, (CUgraphExec exec, CUstream stream), exec, stream)

static CUresult upload(CUstream null, CUgraphExec exec, CUstream given)
{
    CUstream stream;
    CUresult r = pt_cu_stream_find(null, given, &stream);
    if (r == CUDA_SUCCESS && (r = pt_cu_exec_check(exec)) == CUDA_SUCCESS)
        pt_cu_exec_launch_upload(exec);
    if (r == CUDA_SUCCESS)
        reach(exec->graph);
    return r;
}

PER_THREAD_API(cuGraphUpload, _ptsz, upload, (CUgraphExec exec, CUstream stream), exec, stream)
