/* Edges of graphs: their kinds; looking at them, changing them. */
#include "runtime/cuda/edge.h"

#include <string.h>

#include "runtime/cuda/entry.h"
#include "runtime/cuda/handle.h"

bool pt_cu_edge_is_legal(CUgraphNode from, CUgraphNodeType to, const CUgraphEdgeData *data)
{
    static const CUgraphEdgeData plain;
    if (!data || !memcmp(data, &plain, sizeof plain))
        return true;
    const CUgraphEdgeData programmatic[] = {
        {.from_port = CU_GRAPH_KERNEL_NODE_PORT_PROGRAMMATIC,
         .type = CU_GRAPH_DEPENDENCY_TYPE_PROGRAMMATIC},
        {.from_port = CU_GRAPH_KERNEL_NODE_PORT_LAUNCH_ORDER,
         .type = CU_GRAPH_DEPENDENCY_TYPE_PROGRAMMATIC},
    };
    return from->type == CU_GRAPH_NODE_TYPE_KERNEL && to == CU_GRAPH_NODE_TYPE_KERNEL &&
           (!memcmp(data, &programmatic[0], sizeof *data) ||
            !memcmp(data, &programmatic[1], sizeof *data));
}

/* ---- entries: looking at edges --------------------------------------------------------------- */

/* Kinds of edges that are told of go there, as far as there is room; without a place for them, to
 * list edges that are not plain is an error. */
struct kinds {
    CUgraphEdgeData *data;
    size_t room, n;
    bool is_lossy;
};

static void list_kind(struct kinds *kinds, unsigned char port)
{
    if (kinds->n < kinds->room) {
        kinds->is_lossy |= port && !kinds->data;
        if (kinds->data)
            kinds->data[kinds->n] = (CUgraphEdgeData){
                .from_port = port, .type = port ? CU_GRAPH_DEPENDENCY_TYPE_PROGRAMMATIC : 0};
    }
    kinds->n++;
}

static CUresult get_edges(CUgraph graph, CUgraphNode *from, CUgraphNode *to, CUgraphEdgeData *data,
                          size_t *count)
{
    CUresult r = pt_cu_graph_check(graph);
    if (r == CUDA_SUCCESS && (!count || !from != !to))
        r = CUDA_ERROR_INVALID_VALUE;
    if (r != CUDA_SUCCESS)
        return r;
    struct pt_cu_graph_listing f = {from, *count, 0}, t = {to, *count, 0};
    struct kinds kinds = {data, from ? *count : 0, 0, false};
    for (size_t i = 0; i < graph->n_nodes; i++) {
        for (size_t k = 0; k < graph->nodes[i]->n_before; k++) {
            pt_cu_graph_list_node(&f, graph->nodes[i]->before[k]);
            pt_cu_graph_list_node(&t, graph->nodes[i]);
            list_kind(&kinds, graph->nodes[i]->ports[k]);
        }
    }
    pt_cu_graph_end_listing(&t, count);
    *count = f.room;
    pt_cu_graph_end_listing(&f, count);
    return kinds.is_lossy ? CUDA_ERROR_LOSSY_QUERY : CUDA_SUCCESS;
}

CUresult cuGraphGetEdges(CUgraph graph, CUgraphNode *from, CUgraphNode *to, size_t *count)
{
    return API(get_edges(graph, from, to, NULL, count));
}

CUresult cuGraphGetEdges_v2(CUgraph graph, CUgraphNode *from, CUgraphNode *to,
                            CUgraphEdgeData *data, size_t *count)
{
    return API(get_edges(graph, from, to, data, count));
}

static CUresult get_neighbours(CUgraphNode node, CUgraphNode *nodes, CUgraphEdgeData *data,
                               size_t *count, bool behind)
{
    CUresult r = pt_cu_graph_check_node(node);
    if (r == CUDA_SUCCESS && !count)
        r = CUDA_ERROR_INVALID_VALUE;
    if (r != CUDA_SUCCESS)
        return r;
    struct pt_cu_graph_listing l = {nodes, *count, 0};
    struct kinds kinds = {data, nodes ? *count : 0, 0, false};
    for (size_t i = 0; !behind && i < node->n_before; i++) {
        pt_cu_graph_list_node(&l, node->before[i]);
        list_kind(&kinds, node->ports[i]);
    }
    for (size_t i = 0; behind && i < node->graph->n_nodes; i++) {
        const struct CUgraphNode_st *later = node->graph->nodes[i];
        size_t edge = pt_cu_graph_node_find_edge(later, node);
        if (edge == SIZE_MAX)
            continue;
        pt_cu_graph_list_node(&l, node->graph->nodes[i]);
        list_kind(&kinds, later->ports[edge]);
    }
    pt_cu_graph_end_listing(&l, count);
    return kinds.is_lossy ? CUDA_ERROR_LOSSY_QUERY : CUDA_SUCCESS;
}

CUresult cuGraphNodeGetDependencies(CUgraphNode node, CUgraphNode *nodes, size_t *count)
{
    return API(get_neighbours(node, nodes, NULL, count, false));
}

CUresult cuGraphNodeGetDependencies_v2(CUgraphNode node, CUgraphNode *nodes, CUgraphEdgeData *data,
                                       size_t *count)
{
    return API(get_neighbours(node, nodes, data, count, false));
}

CUresult cuGraphNodeGetDependentNodes(CUgraphNode node, CUgraphNode *nodes, size_t *count)
{
    return API(get_neighbours(node, nodes, NULL, count, true));
}

CUresult cuGraphNodeGetDependentNodes_v2(CUgraphNode node, CUgraphNode *nodes,
                                         CUgraphEdgeData *data, size_t *count)
{
    return API(get_neighbours(node, nodes, data, count, true));
}

/* ---- entries: changing edges ----------------------------------------------------------------- */

static bool are_edges(CUgraph graph, const CUgraphNode *from, const CUgraphNode *to,
                      const CUgraphEdgeData *data, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (!pt_cu_handle_is(from[i], PT_CU_NODE) || !pt_cu_handle_is(to[i], PT_CU_NODE) ||
            from[i]->graph != graph || to[i]->graph != graph || from[i] == to[i] ||
            !pt_cu_edge_is_legal(from[i], to[i]->type, data ? &data[i] : NULL))
            return false;
    return true;
}

/* What is removed is told by its kind, too. */
static bool is_there(CUgraphNode from, CUgraphNode to, unsigned char port, bool add)
{
    size_t edge = pt_cu_graph_node_find_edge(to, from);
    return edge != SIZE_MAX && (add || to->ports[edge] == port);
}

static CUresult change_edges(CUgraph graph, const CUgraphNode *from, const CUgraphNode *to,
                             const CUgraphEdgeData *data, size_t n, bool add)
{
    CUresult r = pt_cu_graph_check(graph);
    if (r == CUDA_SUCCESS && n && (!from || !to || !are_edges(graph, from, to, data, n)))
        r = CUDA_ERROR_INVALID_VALUE;
    for (size_t i = 0; r == CUDA_SUCCESS && i < n; i++)
        if (is_there(from[i], to[i], data ? data[i].from_port : 0, add) == add)
            r = CUDA_ERROR_INVALID_VALUE;
    for (size_t i = 0; r == CUDA_SUCCESS && i < n; i++) {
        if (!add)
            pt_cu_graph_node_forget(to[i], from[i]);
        else if (!pt_cu_graph_node_after(to[i], from[i], data ? data[i].from_port : 0))
            r = CUDA_ERROR_OUT_OF_MEMORY;
    }
    return r;
}

CUresult cuGraphAddDependencies(CUgraph graph, const CUgraphNode *from, const CUgraphNode *to,
                                size_t n)
{
    return API(change_edges(graph, from, to, NULL, n, true));
}

CUresult cuGraphAddDependencies_v2(CUgraph graph, const CUgraphNode *from, const CUgraphNode *to,
                                   const CUgraphEdgeData *data, size_t n)
{
    return API(change_edges(graph, from, to, data, n, true));
}

CUresult cuGraphRemoveDependencies(CUgraph graph, const CUgraphNode *from, const CUgraphNode *to,
                                   size_t n)
{
    return API(change_edges(graph, from, to, NULL, n, false));
}

CUresult cuGraphRemoveDependencies_v2(CUgraph graph, const CUgraphNode *from, const CUgraphNode *to,
                                      const CUgraphEdgeData *data, size_t n)
{
    return API(change_edges(graph, from, to, data, n, false));
}
