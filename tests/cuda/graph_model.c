/* Random sequences of graph calls against a model, which does in C what the graphs' nodes do, in
 * the order in which they were added: nodes that touch the same word depend on each other.
 *
 *     cuda_graph_model [COUNT [SEED]]
 *
 * Each sequence makes a graph, perhaps a clone and a child node of it, changes it, launches
 * executables of it, changes those, and destroys all of it in any order. */
#include <stdbool.h>
#include <string.h>

#include "tests/cuda/support.h"

enum { WORDS = 8, NODES_MOST = 12, COUNT_DEFAULT = 400 };

enum kind { SET, COPY, ADD, EMPTY, CHILD, KINDS };

struct node {
    enum kind kind;
    unsigned to, from, value;
    CUgraphNode handle;
};

struct model {
    struct node nodes[NODES_MOST];
    unsigned n;
};

static uint64_t state;
static CUmodule module;
static CUcontext ctx;
static CUdeviceptr memory;
static unsigned words[WORDS]; /* what is to be in memory when all is done */

static unsigned pick(unsigned n)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (unsigned)(state >> 33) % n;
}

static CUdeviceptr at(unsigned word)
{
    return memory + 4 * word;
}

/* ---- the model ------------------------------------------------------------------------------- */

static bool touches(const struct node *node, unsigned word)
{
    return node->kind == CHILD || (node->kind != EMPTY && node->to == word) ||
           (node->kind == COPY && node->from == word);
}

static bool conflict(const struct node *a, const struct node *b)
{
    for (unsigned w = 0; w < WORDS; w++)
        if (touches(a, w) && touches(b, w))
            return true;
    return false;
}

/* A child's nodes are those of `child`. */
static void run(const struct model *m, const struct model *child)
{
    for (unsigned i = 0; i < m->n; i++) {
        const struct node *n = &m->nodes[i];
        if (n->kind == SET)
            words[n->to] = n->value;
        else if (n->kind == COPY)
            words[n->to] = words[n->from];
        else if (n->kind == ADD)
            words[n->to] += n->value;
        else if (n->kind == CHILD)
            run(child, NULL);
    }
}

/* ---- the driver ------------------------------------------------------------------------------ */

static void describe(const struct node *n, CUgraph child, CUgraphNodeParams *p)
{
    *p = (CUgraphNodeParams){.type = n->kind == SET     ? CU_GRAPH_NODE_TYPE_MEMSET
                                     : n->kind == COPY  ? CU_GRAPH_NODE_TYPE_MEMCPY
                                     : n->kind == ADD   ? CU_GRAPH_NODE_TYPE_KERNEL
                                     : n->kind == CHILD ? CU_GRAPH_NODE_TYPE_GRAPH
                                                        : CU_GRAPH_NODE_TYPE_EMPTY};
    if (n->kind == SET)
        p->memset = (CUDA_MEMSET_NODE_PARAMS_v2){at(n->to), 0, n->value, 4, 1, 1, ctx};
    if (n->kind == COPY)
        p->memcpy.copyParams = (CUDA_MEMCPY3D){.srcMemoryType = CU_MEMORYTYPE_DEVICE,
                                               .srcDevice = at(n->from),
                                               .dstMemoryType = CU_MEMORYTYPE_DEVICE,
                                               .dstDevice = at(n->to),
                                               .WidthInBytes = 4,
                                               .Height = 1,
                                               .Depth = 1};
    if (n->kind == ADD)
        p->kernel = (CUDA_KERNEL_NODE_PARAMS){.func = function_of(module, "add"),
                                              .gridDimX = 1,
                                              .gridDimY = 1,
                                              .gridDimZ = 1,
                                              .blockDimX = 1,
                                              .blockDimY = 1,
                                              .blockDimZ = 1};
    if (n->kind == CHILD)
        p->graph.graph = child;
}

/* The parameters of a kernel lie with the caller. */
#define WITH_PARAMETERS(n, p)                          \
    CUdeviceptr address_ = at((n)->to);                \
    unsigned one_ = 1, value_ = (n)->value;            \
    void *parameters_[] = {&address_, &one_, &value_}; \
    if ((n)->kind == ADD)                              \
    (p)->kernel.kernelParams = parameters_

static void add_node(CUgraph graph, struct model *m, CUgraph child)
{
    struct node *n = &m->nodes[m->n];
    CUgraphNode before[NODES_MOST];
    CUgraphNodeParams p;
    size_t n_before = 0;
    *n = (struct node){(enum kind)pick(child ? KINDS : CHILD), pick(WORDS), pick(WORDS), pick(1000),
                       NULL};
    for (unsigned i = 0; i < m->n; i++)
        if (conflict(&m->nodes[i], n) || pick(4) == 0)
            before[n_before++] = m->nodes[i].handle;
    describe(n, child, &p);
    WITH_PARAMETERS(n, &p);
    OK(cuGraphAddNode_v2(&n->handle, graph, before, NULL, n_before, &p));
    m->n++;
}

static CUgraph build(struct model *m, CUgraph child)
{
    CUgraph graph;
    unsigned n = 1 + pick(NODES_MOST);
    m->n = 0;
    OK(cuGraphCreate(&graph, 0));
    while (m->n < n)
        add_node(graph, m, child);
    if (pick(3) == 0) /* nothing depends on the last one */
        OK(cuGraphDestroyNode(m->nodes[--m->n].handle));
    return graph;
}

/* Another value for a node, of the graph or of an executable of it. */
static void change(struct model *m, CUgraphExec exec)
{
    struct node *n = m->n ? &m->nodes[pick(m->n)] : NULL;
    CUgraphNodeParams p;
    if (!n || n->kind == CHILD || n->kind == EMPTY)
        return;
    n->value = pick(1000);
    describe(n, NULL, &p);
    WITH_PARAMETERS(n, &p);
    OK(exec ? cuGraphExecNodeSetParams(exec, n->handle, &p) : cuGraphNodeSetParams(n->handle, &p));
}

static void launch(CUgraphExec exec, const struct model *m, const struct model *child,
                   CUstream stream)
{
    OK(cuGraphLaunch(exec, stream));
    run(m, child);
}

/* The clone has the same nodes; its own handles are asked for. */
static CUgraph clone_of(CUgraph graph, struct model *m)
{
    CUgraph clone;
    OK(cuGraphClone(&clone, graph));
    for (unsigned i = 0; i < m->n; i++)
        OK(cuGraphNodeFindInClone(&m->nodes[i].handle, m->nodes[i].handle, clone));
    return clone;
}

static void compare(uint64_t seed)
{
    unsigned have[WORDS];
    OK(cuMemcpyDtoH_v2(have, memory, sizeof have));
    bool is_same = !memcmp(have, words, sizeof have);
    CHECK(is_same);
    if (!is_same)
        fprintf(stderr, "seed %llu differs\n", (unsigned long long)seed);
    memcpy(words, have, sizeof have);
}

static void try_one(uint64_t seed, CUstream stream)
{
    struct model child_model, model, of_exec;
    CUgraphExec exec;
    CUgraphExecUpdateResultInfo info;
    state = seed * 0x9e3779b97f4a7c15u + 1;
    CUgraph child = build(&child_model, NULL), graph = build(&model, child);
    if (pick(2)) {
        CUgraph clone = clone_of(graph, &model);
        OK(cuGraphDestroy(graph));
        graph = clone;
    }
    OK(cuGraphDestroy(child));
    OK(cuGraphInstantiateWithFlags(&exec, graph, 0));
    of_exec = model;
    for (unsigned i = pick(6); i; i--) {
        unsigned what = pick(4);
        if (what == 0)
            change(&of_exec, exec);
        if (what == 1)
            change(&model, NULL);
        if (what == 2) {
            OK(cuGraphExecUpdate_v2(exec, graph, &info));
            of_exec = model;
        }
        launch(exec, &of_exec, &child_model, stream);
    }
    bool graph_first = pick(2);
    if (graph_first)
        OK(cuGraphDestroy(graph));
    if (pick(2))
        compare(seed);
    OK(cuGraphExecDestroy(exec)); /* perhaps while it runs */
    if (!graph_first)
        OK(cuGraphDestroy(graph));
    compare(seed);
}

int main(int argc, char **argv)
{
    CUstream stream;
    uint64_t n = argc > 1 ? strtoull(argv[1], NULL, 0) : COUNT_DEFAULT,
             seed = argc > 2 ? strtoull(argv[2], NULL, 0) : 1;
    ctx = begin();
    module = load_kernels();
    memory = new_memory(sizeof words);
    OK(cuStreamCreate(&stream, CU_STREAM_DEFAULT));
    for (uint64_t i = 0; i < n && !check_failed; i++)
        try_one(seed + i, stream);
    OK(cuCtxDestroy_v2(ctx));
    return CHECK_DONE("cuda_graph_model");
}
