/* Graphs as text in the DOT language of Graphviz. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "runtime/cuda/driver.h"
#include "runtime/cuda/entry.h"
#include "runtime/cuda/graph.h"
#include "runtime/cuda/handle.h"
#include "runtime/cuda/module.h"
#include "runtime/cuda/op.h"

enum {
    VERBOSE = 1,
    KERNEL_PARAMS = 1 << 2,
    MEMCPY_PARAMS = 1 << 3,
    MEMSET_PARAMS = 1 << 4,
    HOST_PARAMS = 1 << 5,
    EVENT_PARAMS = 1 << 6,
    KERNEL_ATTRIBUTES = 1 << 9,
    HANDLES = 1 << 10,
    FLAGS_MOST = 1 << 16
};

struct dot {
    FILE *out;
    unsigned flags;
    unsigned graphs; /* printed so far */
};

static bool shows(const struct dot *d, unsigned what)
{
    return (d->flags & (what | VERBOSE)) != 0;
}

static const char *const type_names[] = {
    [CU_GRAPH_NODE_TYPE_KERNEL] = "KERNEL",
    [CU_GRAPH_NODE_TYPE_MEMCPY] = "MEMCPY",
    [CU_GRAPH_NODE_TYPE_MEMSET] = "MEMSET",
    [CU_GRAPH_NODE_TYPE_HOST] = "HOST",
    [CU_GRAPH_NODE_TYPE_GRAPH] = "GRAPH",
    [CU_GRAPH_NODE_TYPE_EMPTY] = "EMPTY",
    [CU_GRAPH_NODE_TYPE_WAIT_EVENT] = "EVENT_WAIT",
    [CU_GRAPH_NODE_TYPE_EVENT_RECORD] = "EVENT_RECORD",
    [CU_GRAPH_NODE_TYPE_MEM_ALLOC] = "MEM_ALLOC",
    [CU_GRAPH_NODE_TYPE_MEM_FREE] = "MEM_FREE",
    [CU_GRAPH_NODE_TYPE_BATCH_MEM_OP] = "BATCH_MEM_OP",
    [CU_GRAPH_NODE_TYPE_CONDITIONAL] = "CONDITIONAL",
};

/* ---- what a node says ------------------------------------------------------------------------ */

static void put_kernel(const struct dot *d, CUgraphNode node)
{
    const struct pt_cu_launch *l = &node->op.launch;
    const unsigned *g = l->launch.grid, *b = l->launch.block;
    fprintf(d->out, "\\n%s", ptera_kernel_name(l->function->kernel));
    if (shows(d, KERNEL_PARAMS))
        fprintf(d->out, "\\ngrid (%u,%u,%u) block (%u,%u,%u) shared %u", g[0], g[1], g[2], b[0],
                b[1], b[2], l->launch.shared_bytes);
    if (shows(d, KERNEL_ATTRIBUTES))
        fprintf(d->out, "\\ncooperative %d priority %d cluster (%u,%u,%u)", l->launch.cooperative,
                l->priority, l->launch.cluster[0], l->launch.cluster[1], l->launch.cluster[2]);
    if (shows(d, HANDLES))
        fprintf(d->out, "\\nfunction 0x%" PRIxPTR, (uintptr_t)l->function);
}

static void put_content(const struct dot *d, CUgraphNode node)
{
    const CUDA_MEMSET_NODE_PARAMS *s = &node->set;
    const struct pt_cu_copy *c = &node->op.copy;
    if (node->type == CU_GRAPH_NODE_TYPE_KERNEL)
        put_kernel(d, node);
    if (node->type == CU_GRAPH_NODE_TYPE_MEMCPY && shows(d, MEMCPY_PARAMS))
        fprintf(d->out, "\\nfrom 0x%" PRIxPTR " to 0x%" PRIxPTR "\\nwidth %zu height %zu depth %zu",
                (uintptr_t)c->from, (uintptr_t)c->to, c->width, c->height, c->depth);
    if (node->type == CU_GRAPH_NODE_TYPE_MEMSET && shows(d, MEMSET_PARAMS))
        fprintf(d->out, "\\nto 0x%llx pitch %zu value %u\\nelement %u width %zu height %zu", s->dst,
                s->pitch, s->value, s->elementSize, s->width, s->height);
    if (node->type == CU_GRAPH_NODE_TYPE_HOST && shows(d, HOST_PARAMS))
        fprintf(d->out, "\\nfunction 0x%" PRIxPTR " data 0x%" PRIxPTR,
                (uintptr_t)node->op.host.call, (uintptr_t)node->op.host.ud);
    if (node->condition) {
        static const char *const kinds[] = {"IF", "WHILE", "SWITCH"};
        fprintf(d->out, "\\n%s", kinds[node->branches]);
    }
    if (node->event && shows(d, EVENT_PARAMS))
        fprintf(d->out, "\\nevent 0x%" PRIxPTR, (uintptr_t)node->event);
    if (shows(d, HANDLES))
        fprintf(d->out, "\\nnode 0x%" PRIxPTR, (uintptr_t)node);
}

/* ---- graphs ---------------------------------------------------------------------------------- */

static void put_graph(struct dot *d, CUgraph graph);

/* It, and those inside. */
static unsigned count_graphs(CUgraph graph)
{
    unsigned n = 1;
    for (size_t i = 0; i < graph->n_nodes; i++)
        for (unsigned k = 0; k < graph->nodes[i]->n_inner; k++)
            n += count_graphs(graph->nodes[i]->inner[k]);
    return n;
}

static void put_node(struct dot *d, CUgraphNode node, unsigned graph)
{
    fprintf(d->out, "\"graph_%u_node_%zu\"[style=\"%s\" shape=\"%s\" label=\"%zu\\n%s", graph,
            node->index, node->type == CU_GRAPH_NODE_TYPE_KERNEL ? "bold" : "solid",
            node->type == CU_GRAPH_NODE_TYPE_KERNEL ? "octagon" : "rectangle", node->index,
            type_names[node->type]);
    put_content(d, node);
    unsigned first = d->graphs + 1;
    for (unsigned i = 0; i < node->n_inner; i++) {
        fprintf(d->out, "\\ngraph_%u", first);
        first += count_graphs(node->inner[i]);
    }
    fputs("\"];\n", d->out);
    for (unsigned i = 0; i < node->n_inner; i++)
        put_graph(d, node->inner[i]);
}

static void put_graph(struct dot *d, CUgraph graph)
{
    unsigned number = ++d->graphs;
    fprintf(d->out, "subgraph cluster_%u {\nlabel=\"graph_%u\" graph[style=\"dashed\"];\n", number,
            number);
    for (size_t i = 0; i < graph->n_nodes; i++)
        graph->nodes[i]->index = i;
    for (size_t i = 0; i < graph->n_nodes; i++)
        put_node(d, graph->nodes[i], number);
    for (size_t i = 0; i < graph->n_nodes; i++)
        for (size_t k = 0; k < graph->nodes[i]->n_before; k++)
            fprintf(d->out, "\"graph_%u_node_%zu\" -> \"graph_%u_node_%zu\";\n", number,
                    graph->nodes[i]->before[k]->index, number, i);
    fputs("}\n", d->out);
}

static CUresult print(CUgraph graph, const char *path, unsigned flags)
{
    CUresult r = pt_cu_driver_check();
    if (r == CUDA_SUCCESS && (!pt_cu_handle_is(graph, PT_CU_GRAPH) || !path || flags >= FLAGS_MOST))
        r = CUDA_ERROR_INVALID_VALUE;
    if (r != CUDA_SUCCESS)
        return r;
    struct dot d = {fopen(path, "we"), flags, 0};
    if (!d.out)
        return CUDA_ERROR_OPERATING_SYSTEM;
    fputs("digraph dot {\n", d.out);
    put_graph(&d, graph);
    fputs("}\n", d.out);
    return fclose(d.out) == 0 ? CUDA_SUCCESS : CUDA_ERROR_OPERATING_SYSTEM;
}

CUresult cuGraphDebugDotPrint(CUgraph graph, const char *path, unsigned flags)
{
    return API(print(graph, path, flags));
}
