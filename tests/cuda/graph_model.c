/* Random sequences of graph calls against a model, which does in C what the graphs' nodes do, in
 * the order in which they were added: nodes that touch the same word depend on each other.
 *
 *     cuda_graph_model [COUNT [SEED]]
 *
 * Each sequence makes a graph, perhaps a clone and a child node of it, changes it, launches
 * executables of it, changes those, and destroys all of it in any order. Branches of conditional
 * nodes touch every word. A second stream and the graphs take turns at one word, by events. */
#include <string.h>

#include "tests/cuda/graph_model.h"
#include "tests/cuda/support.h"

enum { BRANCH_MOST = 4, COUNT_DEFAULT = 400 };

/* What a node of the host does. */
struct addition {
    unsigned *word, value;
    struct addition *next;
};

/* Where nodes are added. */
struct place {
    CUgraph graph, root;
    struct model *model;
    CUgraph child; /* NULL where none may be */
    const struct model *child_model;
    unsigned words; /* that nodes may touch: bits */
    unsigned depth; /* of branches */
    bool has_memory, has_conditions;
};

static uint64_t state;
static CUcontext ctx;
static CUfunction add_kernel, turn_kernel;
static CUdeviceptr memory, pinned_memory;
static unsigned *pinned;
static CUstream stream, other;
static CUevent arrival, departure; /* of the shared word in graphs */

/* Of the sequence. */
static CUdeviceptr heap[WORDS - HEAP];
static unsigned n_heap, n_conditions;
static CUgraphConditionalHandle conditions[CONDITIONS_MOST];
static struct addition *additions;

static unsigned pick(unsigned n)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (unsigned)(state >> 33) % n;
}

static CUdeviceptr at(unsigned word)
{
    return word >= HEAP                        ? heap[word - HEAP]
           : word >= PINNED && word < COUNTERS ? pinned_memory + 4 * (word - PINNED)
                                               : memory + 4 * word;
}

/* ---- the driver: nodes ----------------------------------------------------------------------- */

static void add_on_host(void *ud)
{
    const struct addition *a = ud;
    *a->word += a->value;
}

static struct addition *new_addition(const struct node *n)
{
    struct addition *a = malloc(sizeof *a);
    if (!a)
        exit(1);
    *a = (struct addition){&pinned[n->to - PINNED], n->value, additions};
    return additions = a;
}

/* Parameters of a node; those of a kernel lie with the caller. */
struct parameters {
    CUgraphNodeParams all;
    CUdeviceptr address;
    unsigned one;
    void *pointers[4];
};

static void describe_kernel(struct node *n, struct parameters *p)
{
    p->all.type = CU_GRAPH_NODE_TYPE_KERNEL;
    p->all.kernel = (CUDA_KERNEL_NODE_PARAMS){.func = n->kind == ADD ? add_kernel : turn_kernel,
                                              .gridDimX = 1,
                                              .gridDimY = 1,
                                              .gridDimZ = 1,
                                              .blockDimX = 1,
                                              .blockDimY = 1,
                                              .blockDimZ = 1,
                                              .kernelParams = p->pointers};
    p->address = at(n->to);
    p->one = n->kind != DECIDE;
    p->pointers[0] = &p->address;
    p->pointers[1] = n->kind == ADD ? (void *)&p->one : &conditions[n->condition];
    p->pointers[2] = n->kind == ADD ? &n->value : &p->one;
    p->pointers[3] = &n->value;
}

static void describe(struct node *n, CUgraph child, struct parameters *p)
{
    static const CUgraphNodeType types[] = {
        [SET] = CU_GRAPH_NODE_TYPE_MEMSET,          [COPY] = CU_GRAPH_NODE_TYPE_MEMCPY,
        [EMPTY] = CU_GRAPH_NODE_TYPE_EMPTY,         [HOST] = CU_GRAPH_NODE_TYPE_HOST,
        [RECORD] = CU_GRAPH_NODE_TYPE_EVENT_RECORD, [WAIT] = CU_GRAPH_NODE_TYPE_WAIT_EVENT,
        [ALLOC] = CU_GRAPH_NODE_TYPE_MEM_ALLOC,     [FREE] = CU_GRAPH_NODE_TYPE_MEM_FREE,
        [CHILD] = CU_GRAPH_NODE_TYPE_GRAPH,         [IF] = CU_GRAPH_NODE_TYPE_CONDITIONAL,
        [WHILE] = CU_GRAPH_NODE_TYPE_CONDITIONAL,   [SWITCH] = CU_GRAPH_NODE_TYPE_CONDITIONAL};
    *p = (struct parameters){0};
    if (n->kind == ADD || n->kind == DECIDE || n->kind == TURN) {
        describe_kernel(n, p);
        return;
    }
    p->all.type = types[n->kind];
    if (n->kind == SET)
        p->all.memset = (CUDA_MEMSET_NODE_PARAMS_v2){at(n->to), 0, n->value, 4, 1, 1, ctx};
    if (n->kind == COPY)
        p->all.memcpy.copyParams = (CUDA_MEMCPY3D){.srcMemoryType = CU_MEMORYTYPE_UNIFIED,
                                                   .srcDevice = at(n->from),
                                                   .dstMemoryType = CU_MEMORYTYPE_UNIFIED,
                                                   .dstDevice = at(n->to),
                                                   .WidthInBytes = 4,
                                                   .Height = 1,
                                                   .Depth = 1};
    if (n->kind == HOST)
        p->all.host = (CUDA_HOST_NODE_PARAMS){add_on_host, new_addition(n)};
    if (n->kind == RECORD || n->kind == WAIT)
        p->all.eventRecord.event = n->kind == RECORD ? departure : arrival;
    if (n->kind == ALLOC) {
        p->all.alloc.bytesize = 4;
        p->all.alloc.poolProps.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
        p->all.alloc.poolProps.location = (CUmemLocation){CU_MEM_LOCATION_TYPE_DEVICE, 0};
    }
    if (n->kind == FREE)
        p->all.free.dptr = at(n->to);
    if (n->kind == CHILD)
        p->all.graph.graph = child;
    if (has_branches(n))
        p->all.conditional = (CUDA_CONDITIONAL_NODE_PARAMS){
            conditions[n->condition], (CUgraphConditionalNodeType)(n->kind - IF), n->n_branches,
            NULL, ctx};
}

static struct node *add(struct place *place, struct node n, struct parameters *p)
{
    struct model *m = place->model;
    CUgraphNode before[sizeof m->nodes / sizeof *m->nodes];
    size_t n_before = 0;
    for (unsigned i = 0; i < m->n; i++)
        if (conflict(&m->nodes[i], &n) || pick(4) == 0)
            before[n_before++] = m->nodes[i].handle;
    describe(&n, place->child, p);
    OK(cuGraphAddNode_v2(&n.handle, place->graph, before, NULL, n_before, &p->all));
    m->nodes[m->n] = n;
    return &m->nodes[m->n++];
}

/* ---- the driver: graphs ---------------------------------------------------------------------- */

static unsigned pick_word(unsigned of)
{
    unsigned word = pick(WORDS);
    while (!(of >> word & 1))
        word = pick(WORDS);
    return word;
}

static bool can_have(const struct place *p, enum kind kind)
{
    if (kind == HOST || kind == RECORD || kind == WAIT)
        return !p->depth;
    if (kind == ALLOC)
        return !p->depth && p->has_memory && n_heap < WORDS - HEAP;
    if (kind == FREE)
        return !p->depth && p->words >> HEAP;
    if (kind == CHILD)
        return p->child && (!p->depth || !has_kind(p->child_model, HOST, WAIT));
    return kind < IF || (p->has_conditions && p->depth < DEPTH && n_conditions < CONDITIONS_MOST);
}

static void fill(struct place *place, unsigned n);

/* A conditional node, whose condition may be decided upon by a kernel in front of it. */
static void add_conditional(struct place *place, enum kind kind)
{
    struct parameters p;
    unsigned c = n_conditions++;
    initial[c] = pick(3);
    OK(cuGraphConditionalHandleCreate(&conditions[c], pick(2) ? place->graph : place->root, ctx,
                                      initial[c], CU_GRAPH_COND_ASSIGN_DEFAULT));
    struct node decide = {
        .kind = DECIDE, .to = pick_word(place->words), .value = 1 + pick(4), .condition = c};
    if (pick(2))
        add(place, decide, &p);
    unsigned n = kind == WHILE ? 1 : 1 + pick(kind == IF ? 2 : 3);
    struct node *node =
        add(place, (struct node){.kind = kind, .condition = c, .n_branches = n}, &p);
    for (unsigned i = 0; i < n; i++) {
        struct place branch = *place;
        branch.graph = p.all.conditional.phGraph_out[i];
        branch.model = node->branches[i] = new_model();
        branch.depth++;
        fill(&branch, 1 + pick(BRANCH_MOST));
        struct node turn = {.kind = TURN,
                            .to = COUNTERS + place->depth,
                            .value = 1 + pick(4),
                            .condition = c,
                            .is_fixed = true};
        if (kind == WHILE)
            add(&branch, turn, &(struct parameters){0});
    }
}

/* What is allocated is set. */
static void add_alloc(struct place *place)
{
    struct parameters p;
    unsigned word = HEAP + n_heap++;
    add(place, (struct node){.kind = ALLOC, .to = word}, &p);
    heap[word - HEAP] = p.all.alloc.dptr;
    place->words |= 1u << word;
    add(place, (struct node){.kind = SET, .to = word, .value = pick(1000), .is_fixed = true}, &p);
}

static void add_any(struct place *place)
{
    struct parameters p;
    enum kind kind = (enum kind)pick(KINDS);
    while (!can_have(place, kind))
        kind = (enum kind)pick(KINDS);
    if (kind == ALLOC) {
        add_alloc(place);
        return;
    }
    if (kind >= IF) {
        add_conditional(place, kind);
        return;
    }
    struct node n = {.kind = kind,
                     .to = pick_word(place->words),
                     .from = pick_word(place->words),
                     .value = pick(1000)};
    if (kind == HOST)
        n.to = PINNED + pick(COUNTERS - PINNED);
    if (kind == FREE)
        n.to = pick_word(place->words & ~((1u << HEAP) - 1));
    if (kind == CHILD) {
        *n.branches = copy_of(place->child_model);
        n.n_branches = 1;
    }
    add(place, n, &p);
    if (kind == WAIT)
        place->words |= 1u << SHARED;
    else if (kind == FREE)
        place->words ^= 1u << n.to;
}

static void fill(struct place *place, unsigned n)
{
    while (place->model->n < n)
        add_any(place);
}

/* The other stream is told when the shared word may be changed again. */
static CUgraph build(struct place *place)
{
    struct parameters p;
    OK(cuGraphCreate(&place->graph, 0));
    place->root = place->graph;
    place->model = new_model();
    place->words = ANY_WORD;
    fill(place, 1 + pick(NODES_MOST));
    struct model *m = place->model;
    struct node *last = &m->nodes[m->n - 1];
    if (has_kind(m, WAIT, WAIT))
        add(place, (struct node){.kind = RECORD, .is_fixed = true}, &p);
    else if (has_kind(m, ALLOC, ALLOC))
        CHECK_CU(cuGraphDestroyNode(last->handle), CUDA_ERROR_NOT_SUPPORTED);
    else if (pick(3) == 0 && !has_branches(last)) { /* nothing depends on the last one */
        OK(cuGraphDestroyNode(last->handle));
        m->n--;
    }
    return place->graph;
}

/* A node of the graph or of a branch in it; NULL: one that is left alone. */
static struct node *find(struct model *m)
{
    struct node *n = m->n ? &m->nodes[pick(m->n)] : NULL;
    if (n && has_branches(n))
        return find(n->branches[pick(n->n_branches)]);
    return n && (n->kind <= ADD || n->kind == HOST || n->kind >= DECIDE) ? n : NULL;
}

/* Another value for a node, of the graph or of an executable of it. */
static void change(struct model *m, CUgraphExec exec)
{
    struct node *n = find(m);
    struct parameters p;
    if (!n)
        return;
    n->value = n->kind >= DECIDE ? 1 + pick(4) : pick(1000);
    describe(n, NULL, &p);
    OK(exec ? cuGraphExecNodeSetParams(exec, n->handle, &p.all)
            : cuGraphNodeSetParams(n->handle, &p.all));
}

static void switch_on_or_off(struct model *m, CUgraphExec exec)
{
    struct node *n = find(m);
    if (!n || n->is_fixed || n->kind == HOST)
        return;
    n->is_disabled = pick(2);
    OK(cuGraphNodeSetEnabled(exec, n->handle, !n->is_disabled));
}

/* ---- sequences ------------------------------------------------------------------------------- */

struct sequence {
    uint64_t seed;
    CUgraph graph;
    CUgraphExec exec;
    struct model *model, *of_exec;
    bool frees_first; /* the executable, what its last launch has not freed */
    unsigned held;    /* words that the last launch has not freed: bits */
};

/* The clone has the same nodes; its own handles are asked for. */
static void become_clone(struct sequence *s)
{
    CUgraph clone;
    struct model *m = s->model;
    if (has_kind(m, ALLOC, ALLOC) || has_kind(m, IF, SWITCH)) {
        CHECK_CU(cuGraphClone(&clone, s->graph), CUDA_ERROR_NOT_SUPPORTED);
        return;
    }
    OK(cuGraphClone(&clone, s->graph));
    for (unsigned i = 0; i < m->n; i++)
        OK(cuGraphNodeFindInClone(&m->nodes[i].handle, m->nodes[i].handle, clone));
    OK(cuGraphDestroy(s->graph));
    s->graph = clone;
}

static void instantiate(struct sequence *s)
{
    CUgraphExec second;
    s->frees_first = pick(3) == 0;
    OK(cuGraphInstantiateWithFlags(
        &s->exec, s->graph, s->frees_first ? CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH : 0));
    s->of_exec = copy_of(s->model);
    if (has_kind(s->model, ALLOC, ALLOC) || has_kind(s->model, IF, SWITCH))
        CHECK_CU(cuGraphInstantiateWithFlags(&second, s->graph, 0), CUDA_ERROR_NOT_SUPPORTED);
}

static void compare(struct sequence *s)
{
    unsigned have[WORDS];
    OK(cuMemcpyDtoH_v2(have, memory, sizeof have));
    memcpy(&have[PINNED], pinned, (COUNTERS - PINNED) * sizeof *pinned);
    for (unsigned w = HEAP; w < WORDS; w++) {
        have[w] = words[w];
        if (s->held >> w & 1)
            OK(cuMemcpyDtoH_v2(&have[w], at(w), sizeof *have));
    }
    bool is_same = !memcmp(have, words, sizeof have);
    CHECK(is_same);
    if (!is_same)
        fprintf(stderr, "seed %llu differs\n", (unsigned long long)s->seed);
    memcpy(words, have, sizeof have);
}

static void free_held(struct sequence *s)
{
    for (unsigned w = HEAP; w < WORDS; w++)
        if (s->held >> w & 1)
            OK(pick(2) ? cuMemFree_v2(at(w)) : cuMemFreeAsync(at(w), stream));
    s->held = 0;
}

static void launch(struct sequence *s)
{
    const struct model *m = s->of_exec;
    if (s->held && !s->frees_first) {
        CHECK_CU(cuGraphLaunch(s->exec, stream), CUDA_ERROR_INVALID_VALUE);
        free_held(s);
    }
    if (waits(m)) {
        words[SHARED] = pick(1000);
        OK(cuStreamWaitEvent(other, departure, 0));
        OK(cuMemsetD32Async(at(SHARED), words[SHARED], 1, other));
        OK(cuEventRecord(arrival, other));
    }
    OK(cuGraphLaunch(s->exec, stream));
    memcpy(values, initial, sizeof values);
    run(m);
    s->held = words_held(m);
}

static void update(struct sequence *s)
{
    CUgraphExecUpdateResultInfo info;
    struct model *before = s->of_exec;
    OK(cuGraphExecUpdate_v2(s->exec, s->graph, &info));
    s->of_exec = copy_of(s->model);
    take_disabled(before, s->of_exec);
}

static void change_and_launch(struct sequence *s)
{
    unsigned what = pick(6);
    if (what == 0)
        change(s->of_exec, s->exec);
    if (what == 1)
        change(s->model, NULL);
    if (what == 2)
        update(s);
    if (what == 3)
        switch_on_or_off(s->of_exec, s->exec);
    if (what == 4) {
        OK(cuGraphExecDestroy(s->exec)); /* perhaps while it runs */
        instantiate(s);
    }
    launch(s);
}

static void forget(void)
{
    free_models();
    while (additions) {
        struct addition *a = additions;
        additions = a->next;
        free(a);
    }
    n_heap = n_conditions = 0;
}

static void try_one(uint64_t seed)
{
    struct place inner = {0}, place = {0};
    struct sequence s = {.seed = seed};
    state = seed * 0x9e3779b97f4a7c15u + 1;
    place.child = build(&inner);
    place.child_model = inner.model;
    place.has_memory = pick(3) == 0;
    place.has_conditions = pick(2);
    s.graph = build(&place);
    s.model = place.model;
    if (pick(2))
        become_clone(&s);
    OK(cuGraphDestroy(place.child));
    instantiate(&s);
    for (unsigned i = pick(6); i; i--)
        change_and_launch(&s);
    bool graph_first = pick(2);
    if (graph_first)
        OK(cuGraphDestroy(s.graph));
    if (pick(2))
        compare(&s);
    OK(cuGraphExecDestroy(s.exec));
    if (!graph_first)
        OK(cuGraphDestroy(s.graph));
    compare(&s);
    free_held(&s);
    forget();
}

static void set_up(void)
{
    CUmodule module = load_kernels(), conditional;
    add_kernel = function_of(module, "add");
    OK(cuModuleLoadData(&conditional, ".version 8.0\n.target sm_90\n.address_size 64\n" PTX_TURN));
    turn_kernel = function_of(conditional, "turn");
    memory = new_memory(sizeof words);
    OK(cuMemHostAlloc((void **)&pinned, (COUNTERS - PINNED) * sizeof *pinned, 0));
    memset(pinned, 0, (COUNTERS - PINNED) * sizeof *pinned);
    OK(cuMemHostGetDevicePointer_v2(&pinned_memory, pinned, 0));
    OK(cuStreamCreate(&stream, CU_STREAM_DEFAULT));
    OK(cuStreamCreate(&other, CU_STREAM_NON_BLOCKING));
    OK(cuEventCreate(&arrival, CU_EVENT_DISABLE_TIMING));
    OK(cuEventCreate(&departure, CU_EVENT_DISABLE_TIMING));
}

int main(int argc, char **argv)
{
    uint64_t n = argc > 1 ? strtoull(argv[1], NULL, 0) : COUNT_DEFAULT,
             seed = argc > 2 ? strtoull(argv[2], NULL, 0) : 1;
    ctx = begin();
    set_up();
    for (uint64_t i = 0; i < n && !check_failed; i++)
        try_one(seed + i);
    OK(cuMemFreeHost(pinned));
    OK(cuCtxDestroy_v2(ctx));
    return CHECK_DONE("cuda_graph_model");
}
