/* Graphs: nodes and the edges between them.
 *
 * Whose a graph is stays so until it is destroyed. The program's: nodes and edges can be added,
 * changed and removed. A child node's (is_owned): a clone that goes with its node; a conditional
 * node's likewise, which the program fills. An executable's
 * (is_owned): a clone whose nodes exec.c has sorted. A graph of the program's in which a capture
 * goes on is spoken of in capture.c; what the nodes that allocate memory may be in, in
 * graph_memory.c. */
#include "runtime/cuda/graph.h"

#include <stdlib.h>
#include <string.h>

#include "runtime/cuda/condition.h"
#include "runtime/cuda/driver.h"
#include "runtime/cuda/entry.h"
#include "runtime/cuda/function.h"
#include "runtime/cuda/graph_memory.h"
#include "runtime/cuda/handle.h"
#include "runtime/cuda/listener.h"
#include "runtime/cuda/op.h"
#include "runtime/cuda/updatable.h"

/* ---- making and unmaking --------------------------------------------------------------------- */

CUgraph pt_cu_graph_new(void)
{
    CUgraph graph = pt_cu_handle_new(PT_CU_GRAPH, sizeof(struct CUgraph_st));
    if (graph)
        PT_CU_LISTENER_TELL(PT_CU_MADE_GRAPH, .graph = graph);
    return graph;
}

static CUgraphNode make_node(CUgraph graph, CUgraphNodeType type, CUcontext ctx)
{
    if (graph->n_nodes == graph->cap_nodes) {
        size_t cap = graph->cap_nodes ? graph->cap_nodes * 2 : 8;
        void *more = realloc(graph->nodes, cap * sizeof *graph->nodes);
        if (!more)
            return NULL;
        graph->nodes = more;
        graph->cap_nodes = cap;
    }
    CUgraphNode node = pt_cu_handle_new(PT_CU_NODE, sizeof *node);
    if (!node)
        return NULL;
    node->graph = graph;
    node->type = type;
    node->ctx = ctx;
    graph->nodes[graph->n_nodes++] = node;
    return node;
}

static void tell_node(enum pt_cu_resource_what what, CUgraphNode node)
{
    PT_CU_LISTENER_TELL(what, .graph = node->graph, .node = node, .type = node->type,
                        .original = node->original ? node->original->graph : NULL,
                        .original_node = node->original);
}

CUgraphNode pt_cu_graph_node_new(CUgraph graph, CUgraphNodeType type, CUcontext ctx)
{
    CUgraphNode node = make_node(graph, type, ctx);
    if (node)
        tell_node(PT_CU_MADE_NODE, node);
    return node;
}

static void drop_inner(CUgraphNode node)
{
    for (unsigned i = 0; i < node->n_inner; i++)
        pt_cu_graph_delete(node->inner[i]);
    free(node->inner);
    node->inner = NULL;
    node->n_inner = 0;
}

static void drop_content(CUgraphNode node)
{
    pt_cu_op_drop(&node->op);
    free(node->pointers);
    node->pointers = NULL;
    free(node->values);
    node->values = NULL;
    pt_cu_updatable_put(node->updatable);
    node->updatable = NULL;
    drop_inner(node);
    pt_cu_condition_put(node->condition, node);
    node->condition = NULL;
    pt_cu_graph_memory_block_put(node->block);
    node->block = NULL;
}

static void free_node(CUgraphNode node)
{
    PT_CU_LISTENER_TELL(PT_CU_ENDS_NODE, .graph = node->graph, .node = node, .type = node->type);
    drop_content(node);
    free(node->before);
    free(node->ports);
    pt_cu_handle_delete(node);
}

void pt_cu_graph_node_forget(CUgraphNode node, CUgraphNode earlier)
{
    size_t n = 0;
    for (size_t i = 0; i < node->n_before; i++) {
        node->ports[n] = node->ports[i];
        if (node->before[i] != earlier)
            node->before[n++] = node->before[i];
    }
    node->n_before = n;
}

void pt_cu_graph_node_delete(CUgraphNode node)
{
    CUgraph graph = node->graph;
    size_t n = 0;
    for (size_t i = 0; i < graph->n_nodes; i++) {
        pt_cu_graph_node_forget(graph->nodes[i], node);
        if (graph->nodes[i] != node)
            graph->nodes[n++] = graph->nodes[i];
    }
    graph->n_nodes = n;
    free_node(node);
}

void pt_cu_graph_delete(CUgraph graph)
{
    PT_CU_LISTENER_TELL(PT_CU_ENDS_GRAPH, .graph = graph);
    for (size_t i = 0; i < graph->n_nodes; i++)
        free_node(graph->nodes[i]);
    free(graph->nodes);
    pt_cu_user_object_drop_refs(&graph->user);
    pt_cu_condition_drop_all(graph);
    pt_cu_handle_delete(graph);
}

size_t pt_cu_graph_node_find_edge(const struct CUgraphNode_st *node, CUgraphNode earlier)
{
    for (size_t i = 0; i < node->n_before; i++)
        if (node->before[i] == earlier)
            return i;
    return SIZE_MAX;
}

bool pt_cu_graph_node_after(CUgraphNode node, CUgraphNode earlier, unsigned char port)
{
    if (pt_cu_graph_node_find_edge(node, earlier) != SIZE_MAX)
        return true;
    void *before = realloc(node->before, (node->n_before + 1) * sizeof *node->before);
    node->before = before ? before : node->before;
    unsigned char *ports = realloc(node->ports, node->n_before + 1);
    node->ports = ports ? ports : node->ports;
    if (!before || !ports)
        return false;
    node->ports[node->n_before] = port;
    node->before[node->n_before++] = earlier;
    return true;
}

/* ---- copies ---------------------------------------------------------------------------------- */

static CUresult copy_parameters(CUgraphNode node, const struct pt_cu_launch *from)
{
    struct pt_cu_launch *to = &node->op.launch;
    to->parameters = malloc(from->bytes ? from->bytes : 1);
    if (!to->parameters)
        return CUDA_ERROR_OUT_OF_MEMORY;
    memcpy(to->parameters, from->parameters, from->bytes);
    return CUDA_SUCCESS;
}

/* Clones of the graphs inside of `from`, for `node`. */
static CUresult clone_inner(CUgraphNode from, CUgraphNode node, CUgraph **out)
{
    CUgraph *inner = from->n_inner ? calloc(from->n_inner, sizeof *inner) : NULL;
    CUresult r = from->n_inner && !inner ? CUDA_ERROR_OUT_OF_MEMORY : CUDA_SUCCESS;
    unsigned n = 0;
    while (r == CUDA_SUCCESS && n < from->n_inner) {
        r = pt_cu_graph_clone(from->inner[n], &inner[n]);
        if (r != CUDA_SUCCESS)
            break;
        inner[n]->is_owned = true;
        inner[n]->holder = node;
        n++;
    }
    while (r != CUDA_SUCCESS && n)
        pt_cu_graph_delete(inner[--n]);
    if (r != CUDA_SUCCESS)
        free(inner);
    else
        *out = inner;
    return r;
}

CUresult pt_cu_graph_node_assign(CUgraphNode node, CUgraphNode from)
{
    CUgraph *inner = NULL;
    CUresult r = clone_inner(from, node, &inner);
    if (r != CUDA_SUCCESS)
        return r;
    drop_content(node);
    node->op = from->op;
    if (node->op.work == PT_CU_BATCH)
        node->op.batch->refs++;
    node->copy = from->copy;
    node->set = from->set;
    node->hints = from->hints;
    node->block = pt_cu_graph_memory_block_ref(from->block);
    node->event = from->event;
    node->updatable = pt_cu_updatable_ref(from->updatable);
    node->ctx = from->ctx;
    node->inner = inner;
    node->n_inner = from->n_inner;
    node->branches = from->branches;
    node->condition = pt_cu_condition_ref(from->condition);
    return from->op.work == PT_CU_KERNEL_LAUNCH ? copy_parameters(node, &from->op.launch)
                                                : CUDA_SUCCESS;
}

CUresult pt_cu_graph_node_take(CUgraphNode node, struct pt_cu_op *op)
{
    node->op = *op;
    if (op->work != PT_CU_KERNEL_LAUNCH)
        return CUDA_SUCCESS;
    struct pt_job *job = op->launch.job;
    struct pt_cu_launch *l = &node->op.launch;
    l->job = NULL;
    l->bytes = pt_cu_function_parameter_bytes(l->function);
    const struct pt_cu_launch ready = {.bytes = l->bytes, .parameters = job->parameters};
    CUresult r = copy_parameters(node, &ready);
    pt_launch_drop(job);
    return r;
}

static CUresult clone_content(CUgraph graph, CUgraph clone)
{
    for (size_t i = 0; i < graph->n_nodes; i++) {
        CUgraphNode from = graph->nodes[i], node = make_node(clone, from->type, from->ctx);
        CUresult r = node ? pt_cu_graph_node_assign(node, from) : CUDA_ERROR_OUT_OF_MEMORY;
        if (r != CUDA_SUCCESS)
            return r;
        node->original = from;
        tell_node(PT_CU_CLONED_NODE, node);
        node->is_disabled = from->is_disabled;
        from->index = i;
    }
    for (size_t i = 0; i < graph->n_nodes; i++)
        for (size_t k = 0; k < graph->nodes[i]->n_before; k++)
            if (!pt_cu_graph_node_after(clone->nodes[i],
                                        clone->nodes[graph->nodes[i]->before[k]->index],
                                        graph->nodes[i]->ports[k]))
                return CUDA_ERROR_OUT_OF_MEMORY;
    return pt_cu_user_object_clone_refs(&clone->user, &graph->user) ? CUDA_SUCCESS
                                                                    : CUDA_ERROR_OUT_OF_MEMORY;
}

CUresult pt_cu_graph_clone(CUgraph graph, CUgraph *out)
{
    CUgraph clone = pt_cu_handle_new(PT_CU_GRAPH, sizeof *clone);
    if (clone)
        PT_CU_LISTENER_TELL(PT_CU_CLONED_GRAPH, .graph = clone, .original = graph);
    CUresult r = clone ? clone_content(graph, clone) : CUDA_ERROR_OUT_OF_MEMORY;
    if (r == CUDA_SUCCESS)
        *out = clone;
    else if (clone)
        pt_cu_graph_delete(clone);
    return r;
}

CUresult pt_cu_graph_node_set_child(CUgraphNode node, CUgraph child)
{
    CUgraph clone;
    if (!pt_cu_handle_is(child, PT_CU_GRAPH) || child == node->graph)
        return CUDA_ERROR_INVALID_VALUE;
    if (pt_cu_graph_memory_is_in(child) || pt_cu_condition_is_in(child))
        return CUDA_ERROR_NOT_SUPPORTED; /* CUDA's, too */
    CUgraph *inner = malloc(sizeof *inner);
    CUresult r = inner ? pt_cu_graph_clone(child, &clone) : CUDA_ERROR_OUT_OF_MEMORY;
    if (r != CUDA_SUCCESS) {
        free(inner);
        return r;
    }
    pt_cu_updatable_drop(clone);
    drop_inner(node);
    node->inner = inner;
    node->n_inner = 1;
    *inner = clone;
    clone->is_owned = true;
    clone->holder = node;
    return CUDA_SUCCESS;
}

CUresult pt_cu_graph_node_make_branches(CUgraphNode node, unsigned n)
{
    node->inner = calloc(n, sizeof *node->inner);
    for (; node->inner && node->n_inner < n; node->n_inner++) {
        CUgraph graph = pt_cu_graph_new();
        if (!graph)
            return CUDA_ERROR_OUT_OF_MEMORY;
        graph->is_owned = true;
        graph->holder = node;
        node->inner[node->n_inner] = graph;
    }
    return node->inner ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

/* ---- entries: graphs ------------------------------------------------------------------------- */

CUresult pt_cu_graph_check(CUgraph graph)
{
    CUresult r = pt_cu_driver_check();
    return r == CUDA_SUCCESS && !pt_cu_handle_is(graph, PT_CU_GRAPH) ? CUDA_ERROR_INVALID_VALUE : r;
}

CUresult pt_cu_graph_check_node(CUgraphNode node)
{
    CUresult r = pt_cu_driver_check();
    return r == CUDA_SUCCESS && !pt_cu_handle_is(node, PT_CU_NODE) ? CUDA_ERROR_INVALID_VALUE : r;
}

CUresult pt_cu_graph_check_nodes(CUgraph graph, const CUgraphNode *nodes, size_t n)
{
    if (n && !nodes)
        return CUDA_ERROR_INVALID_VALUE;
    for (size_t i = 0; i < n; i++)
        if (!pt_cu_handle_is(nodes[i], PT_CU_NODE) || nodes[i]->graph != graph)
            return CUDA_ERROR_INVALID_VALUE;
    return CUDA_SUCCESS;
}

static CUresult create(CUgraph *graph, unsigned flags)
{
    CUresult r = pt_cu_driver_check();
    if (r == CUDA_SUCCESS && (!graph || flags))
        r = CUDA_ERROR_INVALID_VALUE;
    if (r == CUDA_SUCCESS && !(*graph = pt_cu_graph_new()))
        r = CUDA_ERROR_OUT_OF_MEMORY;
    if (r == CUDA_SUCCESS)
        pt_cu_handle_give(*graph);
    return r;
}

CUresult cuGraphCreate(CUgraph *graph, unsigned flags)
{
    return API(create(graph, flags));
}

static CUresult destroy(CUgraph graph)
{
    CUresult r = pt_cu_graph_check(graph);
    if (r == CUDA_SUCCESS && graph->is_owned)
        r = CUDA_ERROR_INVALID_VALUE;
    if (r == CUDA_SUCCESS && graph->is_captured)
        r = CUDA_ERROR_ILLEGAL_STATE;
    if (r == CUDA_SUCCESS)
        pt_cu_graph_delete(graph);
    return r;
}

CUresult cuGraphDestroy(CUgraph graph)
{
    return API(destroy(graph));
}

static CUresult clone(CUgraph *out, CUgraph graph)
{
    CUresult r = pt_cu_graph_check(graph);
    if (r == CUDA_SUCCESS && !out)
        r = CUDA_ERROR_INVALID_VALUE;
    if (r == CUDA_SUCCESS && (pt_cu_graph_memory_is_in(graph) || pt_cu_condition_is_in(graph) ||
                              pt_cu_updatable_is_in(graph)))
        r = CUDA_ERROR_NOT_SUPPORTED; /* CUDA's, too */
    if (r == CUDA_SUCCESS)
        r = pt_cu_graph_clone(graph, out);
    if (r == CUDA_SUCCESS)
        pt_cu_handle_give(*out);
    return r;
}

CUresult cuGraphClone(CUgraph *clone_out, CUgraph graph)
{
    return API(clone(clone_out, graph));
}

static CUresult find_in_clone(CUgraphNode *out, CUgraphNode original, CUgraph graph)
{
    CUresult r = pt_cu_graph_check(graph);
    if (r == CUDA_SUCCESS)
        r = out ? pt_cu_graph_check_node(original) : CUDA_ERROR_INVALID_VALUE;
    for (size_t i = 0; r == CUDA_SUCCESS && i < graph->n_nodes; i++) {
        if (graph->nodes[i]->original != original)
            continue;
        *out = graph->nodes[i];
        return CUDA_SUCCESS;
    }
    return r == CUDA_SUCCESS ? CUDA_ERROR_INVALID_VALUE : r;
}

CUresult cuGraphNodeFindInClone(CUgraphNode *node, CUgraphNode original, CUgraph graph)
{
    return API(find_in_clone(node, original, graph));
}

/* ---- entries: looking at nodes --------------------------------------------------------------- */

void pt_cu_graph_list_node(struct pt_cu_graph_listing *l, CUgraphNode node)
{
    if (l->nodes && l->n < l->room)
        l->nodes[l->n] = node;
    l->n++;
}

void pt_cu_graph_end_listing(const struct pt_cu_graph_listing *l, size_t *count)
{
    for (size_t i = l->n; l->nodes && i < l->room; i++)
        l->nodes[i] = NULL;
    *count = l->nodes && l->room < l->n ? l->room : l->n;
}

static CUresult get_nodes(CUgraph graph, CUgraphNode *nodes, size_t *count, bool roots)
{
    CUresult r = pt_cu_graph_check(graph);
    if (r == CUDA_SUCCESS && !count)
        r = CUDA_ERROR_INVALID_VALUE;
    if (r != CUDA_SUCCESS)
        return r;
    struct pt_cu_graph_listing l = {nodes, *count, 0};
    for (size_t i = 0; i < graph->n_nodes; i++)
        if (!roots || !graph->nodes[i]->n_before)
            pt_cu_graph_list_node(&l, graph->nodes[i]);
    pt_cu_graph_end_listing(&l, count);
    return CUDA_SUCCESS;
}

CUresult cuGraphGetNodes(CUgraph graph, CUgraphNode *nodes, size_t *count)
{
    return API(get_nodes(graph, nodes, count, false));
}

CUresult cuGraphGetRootNodes(CUgraph graph, CUgraphNode *nodes, size_t *count)
{
    return API(get_nodes(graph, nodes, count, true));
}

static CUresult get_type(CUgraphNode node, CUgraphNodeType *type)
{
    CUresult r = pt_cu_graph_check_node(node);
    if (r == CUDA_SUCCESS && !type)
        r = CUDA_ERROR_INVALID_VALUE;
    if (r == CUDA_SUCCESS)
        *type = node->type;
    return r;
}

CUresult cuGraphNodeGetType(CUgraphNode node, CUgraphNodeType *type)
{
    return API(get_type(node, type));
}

static CUresult destroy_node(CUgraphNode node)
{
    CUresult r = pt_cu_graph_check_node(node);
    if (r == CUDA_SUCCESS && node->graph->is_captured)
        r = CUDA_ERROR_ILLEGAL_STATE;
    if (r == CUDA_SUCCESS && (pt_cu_graph_memory_is_in(node->graph) || node->updatable))
        r = CUDA_ERROR_NOT_SUPPORTED; /* CUDA's, too */
    if (r == CUDA_SUCCESS)
        pt_cu_graph_node_delete(node);
    return r;
}

CUresult cuGraphDestroyNode(CUgraphNode node)
{
    return API(destroy_node(node));
}
