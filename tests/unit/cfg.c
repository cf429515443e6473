/* Block numbering, loops and dominators: warps of 32 lanes walk graphs under the scheduling rule
 * (the lowest-numbered block with waiting lanes runs), and count how often each block runs. */
#include "tests/unit/load.h"

enum { LANES = 32, MAX_NODES = 40, MAX_STEPS = 200000, END = -1 };

/* A graph: node i goes to succ[i][0] for the first trips of a lane and then once to succ[i][1]; END
 * leaves. */
struct graph {
    int n;
    int succ[MAX_NODES][2];
};

struct walk {
    const struct graph *g;
    uint32_t trips[LANES][MAX_NODES], count[LANES][MAX_NODES];
    uint32_t runs[MAX_NODES]; /* by node */
    uint32_t reached[MAX_NODES];
    bool is_complete;
};

/* Each node is a block of its own: it begins with an instruction at warp scope. `swapped` turns
 * every branch round. */
static void graph_text(const struct graph *g, bool swapped, struct text *t)
{
    append(t, LOAD_HEADER
           ".entry k()\n{\n.reg .pred %%p;\n.reg .b32 %%r;\n.reg .b32 %%s;\nmov.u32 %%s, "
           "%%laneid;\nsetp.ne.u32 %%p, %%s, 0;\n");
    for (int i = 0; i < g->n; i++) {
        int a = g->succ[i][0], b = g->succ[i][1];
        append(t, "N%d: activemask.b32 %%r;\n", i);
        if (a != b && a != END)
            append(t, "@%s%%p bra N%d;\n", swapped ? "!" : "", swapped && b != END ? b : a);
        else if (a != b)
            append(t, "@%s%%p exit;\n", swapped ? "!" : "");
        int rest = a != b && swapped && b != END && a != END ? a : b;
        if (rest == END)
            append(t, "exit;\n");
        else
            append(t, "bra N%d;\n", rest);
    }
    append(t, "}\n");
}

static int decide(struct walk *w, int lane, int node)
{
    if (w->count[lane][node]++ < w->trips[lane][node])
        return w->g->succ[node][0];
    w->count[lane][node] = 0;
    return w->g->succ[node][1];
}

static uint32_t node_block(const struct pt_func *f, int node)
{
    char name[16];
    snprintf(name, sizeof name, "N%d", node);
    for (uint32_t i = 1; i < f->labels.n; i++)
        if (f->labels.v[i].name && !strcmp(f->labels.v[i].name, name))
            return f->labels.v[i].block;
    return UINT32_MAX;
}

/* Runs the warp; nodes are picked by the numbers of their blocks. */
static void run_warp(struct walk *w, const struct pt_func *f)
{
    uint32_t waiting[MAX_NODES] = {0}, number[MAX_NODES];
    for (int i = 0; i < w->g->n; i++)
        number[i] = node_block(f, i);
    waiting[0] = UINT32_MAX;
    for (uint32_t step = 0; step < MAX_STEPS; step++) {
        int node = END;
        for (int i = 0; i < w->g->n; i++)
            if (waiting[i] && (node == END || number[i] < number[node]))
                node = i;
        if (node == END) {
            w->is_complete = true;
            return;
        }
        uint32_t lanes = waiting[node];
        waiting[node] = 0;
        w->runs[node]++;
        w->reached[node] |= lanes;
        for (int lane = 0; lane < LANES; lane++) {
            if (!(lanes >> lane & 1))
                continue;
            int to = decide(w, lane, node);
            if (to != END)
                waiting[to] |= UINT32_C(1) << lane;
        }
    }
}

/* Lowers the graph, walks it, and checks that what lies in no loop runs once. */
static bool walk_graph(const struct graph *g, bool swapped, struct walk *w, struct pt_module *m)
{
    struct text t = {0};
    graph_text(g, swapped, &t);
    bool ok = load(m, t.text) && lower_all(m);
    CHECK(ok);
    if (!ok)
        fprintf(stderr, "%s", t.text);
    free(t.text);
    if (!ok)
        return false;
    w->g = g;
    const struct pt_func *f = &m->funcs.v[1];
    run_warp(w, f);
    for (int i = 0; i < g->n; i++) {
        uint32_t b = node_block(f, i);
        if (b != UINT32_MAX && f->blocks.v[b].loop == PT_NONE)
            CHECK(w->runs[i] <= 1);
    }
    return true;
}

/* ---- graphs drawn by hand -------------------------------------------------------------------- */

static void test_uneven_loop(bool swapped)
{
    /* 0 -> 1 loop {1, 2} -> 3 */
    struct graph g = {4, {{1, 1}, {2, 3}, {1, 1}, {END, END}}};
    static struct walk w;
    struct pt_module m;
    memset(&w, 0, sizeof w);
    for (int lane = 0; lane < LANES; lane++)
        w.trips[lane][1] = (uint32_t)lane;
    if (walk_graph(&g, swapped, &w, &m)) {
        CHECK(w.is_complete);
        CHECK_INT(w.runs[0], 1);
        CHECK_INT(w.runs[1], 32); /* the longest lane: 31 trips and the test that ends them */
        CHECK_INT(w.runs[2], 31);
        CHECK_INT(w.runs[3], 1);
        CHECK_INT(m.funcs.v[1].loops.n, 1);
        CHECK(m.funcs.v[1].loops.v[0].is_reducible);
    }
    pt_arena_free(&m.arena);
}

static void test_nested_breaks(bool swapped)
{
    /* outer {1 2 3 4 5}, inner {2 3}; 3 may leave both at once (to 6), 2 leaves the inner one (to
     * 4); 7 follows all */
    struct graph g = {8, {{1, 1}, {2, 7}, {3, 4}, {2, 6}, {5, 5}, {1, 1}, {7, 7}, {END, END}}};
    static struct walk w;
    struct pt_module m;
    memset(&w, 0, sizeof w);
    for (int lane = 0; lane < LANES; lane++) {
        w.trips[lane][1] = 5;
        w.trips[lane][2] = (uint32_t)lane % 7;
        w.trips[lane][3] = lane % 3 ? 1000 : (uint32_t)lane / 2;
    }
    if (walk_graph(&g, swapped, &w, &m)) {
        CHECK(w.is_complete);
        CHECK_INT(w.runs[6], 1);
        CHECK_INT(w.runs[7], 1);
        CHECK_INT(w.runs[1], 6);
        CHECK_INT(
            w.runs[4],
            5); /* once for each round of the outer loop: lanes leave the inner one together */
        CHECK_INT(w.runs[5], 5);
        CHECK_INT(m.funcs.v[1].loops.n, 2);
    }
    pt_arena_free(&m.arena);
}

static void test_irreducible(bool swapped)
{
    /* two ways into the cycle {1, 2} */
    struct graph g = {5, {{1, 2}, {2, 3}, {1, 3}, {4, 4}, {END, END}}};
    static struct walk w;
    struct pt_module m;
    memset(&w, 0, sizeof w);
    for (int lane = 0; lane < LANES; lane++) {
        w.trips[lane][0] = (uint32_t)lane & 1;
        w.trips[lane][1] = (uint32_t)lane % 5;
        w.trips[lane][2] = (uint32_t)lane % 3;
    }
    if (walk_graph(&g, swapped, &w, &m)) {
        CHECK(w.is_complete);
        CHECK_INT(w.runs[3], 1);
        CHECK_INT(w.runs[4], 1);
        CHECK_INT(m.funcs.v[1].loops.n, 1);
        CHECK(!m.funcs.v[1].loops.v[0].is_reducible);
    }
    pt_arena_free(&m.arena);
}

/* ---- random graphs --------------------------------------------------------------------------- */

/* Blocks that `from` reaches without passing `without`. */
static void reach(const struct pt_func *f, uint32_t from, uint32_t without, uint8_t *seen)
{
    uint32_t stack[2 * MAX_NODES + 4], n = 0;
    memset(seen, 0, f->blocks.n);
    if (from == without)
        return;
    seen[from] = 1;
    stack[n++] = from;
    while (n) {
        const struct pt_block *b = &f->blocks.v[stack[--n]];
        for (uint32_t e = 0; e < b->n_succ; e++) {
            uint32_t to = f->edges.v[b->succ + e];
            if (to == without || seen[to])
                continue;
            seen[to] = 1;
            stack[n++] = to;
        }
    }
}

static bool dominates(const struct pt_func *f, uint32_t a, uint32_t b)
{
    uint8_t seen[2 * MAX_NODES];
    reach(f, 0, a, seen);
    return !seen[b];
}

static bool can_exit(const struct pt_module *m, const struct pt_func *f, uint32_t b,
                     uint32_t without)
{
    uint8_t seen[2 * MAX_NODES];
    reach(f, b, without, seen);
    for (uint32_t i = 0; i < f->blocks.n; i++) {
        const struct pt_block *x = &f->blocks.v[i];
        const struct pt_insn *last = &f->insns.v[x->first + x->count - 1];
        if (seen[i] && pt_insn_form(m, last)->op == PT_OP_exit)
            return true;
    }
    return false;
}

/* Against the definitions: the immediate dominator is the closest, all others dominate it; likewise
 * behind. */
static void check_dominators(const struct pt_module *m, const struct pt_func *f)
{
    for (uint32_t b = 1; b < f->blocks.n; b++) {
        uint32_t idom = f->blocks.v[b].idom;
        bool good = idom < b && dominates(f, idom, b);
        for (uint32_t a = 0; a < f->blocks.n; a++)
            good &= a == b || !dominates(f, a, b) || a == idom || dominates(f, a, idom);
        CHECK(good);
    }
    for (uint32_t b = 0; b < f->blocks.n; b++) {
        uint32_t ipdom = f->blocks.v[b].ipdom;
        bool good = true, has_way = can_exit(m, f, b, UINT32_MAX);
        for (uint32_t a = 0; a < f->blocks.n; a++) {
            bool behind = a != b && has_way && !can_exit(m, f, b, a);
            good &= !behind || ipdom != UINT32_MAX;
            good &= !behind || a == ipdom || !can_exit(m, f, ipdom, a);
            good &= behind || a != ipdom;
        }
        CHECK(good);
    }
}

static void test_random(uint32_t seed)
{
    uint32_t state = seed * 77777 + 1;
    struct graph g = {.n = 3 + (int)(next_random(&state) % (MAX_NODES - 3))};
    static struct walk w;
    struct pt_module m;
    memset(&w, 0, sizeof w);
    for (int i = 0; i < g.n; i++) {
        for (int k = 0; k < 2; k++) {
            int near = i - 3 + (int)(next_random(&state) % 8);
            int any = (int)(next_random(&state) % (uint32_t)g.n);
            g.succ[i][k] = next_random(&state) % 4 ? near : any;
            if (g.succ[i][k] < 0)
                g.succ[i][k] = 0;
            if (g.succ[i][k] >= g.n)
                g.succ[i][k] = END;
        }
        for (int lane = 0; lane < LANES; lane++)
            w.trips[lane][i] = next_random(&state) % 4;
    }
    if (walk_graph(&g, seed & 1, &w, &m))
        check_dominators(&m, &m.funcs.v[1]);
    pt_arena_free(&m.arena);
}

/* ---- what lowering makes of a body ----------------------------------------------------------- */

static uint32_t blocks_of(const char *body, struct pt_module *m)
{
    struct text t = {0};
    append(
        &t,
        LOAD_HEADER
        ".extern .func f();\n.entry k(.param .u64 p)\n{\n.reg .pred %%p, %%q;\n.reg .b32 %%r<9>;\n"
        ".reg .b64 %%d<4>;\nld.param.u64 %%d1, [p];\n%s}\n",
        body);
    bool ok = load(m, t.text) && lower_all(m);
    CHECK(ok);
    free(t.text);
    return ok ? m->funcs.v[m->funcs.n - 1].blocks.n : 0;
}

static void check_blocks(const char *body, uint32_t blocks, int communicating)
{
    struct pt_module m;
    CHECK_INT(blocks_of(body, &m), blocks);
    const struct pt_func *f = &m.funcs.v[m.funcs.n - 1];
    if (communicating >= 0) {
        CHECK_INT(f->loops.n, 1);
        CHECK_INT(f->loops.n ? f->loops.v[0].communicates : 2, communicating);
    }
    pt_arena_free(&m.arena);
}

static void test_bodies(void)
{
    check_blocks("", 1, -1); /* falls off its end: ret */
    check_blocks("ret; add.s32 %r1, %r1, 1; ret;", 1, -1);
    check_blocks("bra A; B: exit; A: bra B;", 1, -1);
    check_blocks("setp.eq.s64 %p, %d1, 0; @%p bra A; A: ret;", 2, -1);
    check_blocks("setp.eq.s64 %p, %d1, 0; @%p bar.sync 0; ret;", 3, -1);
    check_blocks("bar.sync 0; bar.sync 1; add.s32 %r1, %r2, 3; ret;", 3, -1);
    check_blocks("setp.eq.s64 %p, %d1, 0; @%p call f; ret;", 3, -1);
    check_blocks("call f; call f;", 4, -1);
    check_blocks("setp.eq.s64 %p, %d1, 0; @%p exit; @!%p trap;", 3, -1);
    check_blocks("L: bra L;", 2, 0);
    check_blocks("L: bra M; M: bra L;", 2, 0);
}

static void test_waiting(void)
{
    static const char *const waits[] = {
        "ld.volatile.global.u32 %r1, [%d1]; setp.eq.s32 %p, %r1, 0;",
        "ld.acquire.gpu.global.u32 %r1, [%d1]; setp.eq.s32 %p, %r1, 0;",
        "ld.relaxed.gpu.global.u32 %r1, [%d1]; setp.eq.s32 %p, %r1, 0;",
        "atom.global.cas.b32 %r1, [%d1], 0, 1; setp.ne.s32 %p, %r1, 0;",
        "membar.gl; ld.global.u32 %r1, [%d1]; setp.eq.s32 %p, %r1, 0;",
        "bar.warp.sync -1; ld.global.u32 %r1, [%d1]; setp.eq.s32 %p, %r1, 0;",
        "nanosleep.u32 20; ld.global.u32 %r1, [%d1]; setp.eq.s32 %p, %r1, 0;",
        "mov.u32 %r1, %clock; setp.lt.s32 %p, %r1, 1000;",
        "call f; ld.global.u32 %r1, [%d1]; setp.eq.s32 %p, %r1, 0;",
        ("atom.global.add.u32 %r2, [%d1], 1; ld.global.u32 %r1, [%d1+4]; add.s32 %r1, %r1, %r2; "
         "setp.eq.s32 %p, %r1, 0;"),
        /* what others write decides how the rounds are counted */
        ("ld.volatile.global.u32 %r2, [%d1]; setp.eq.s32 %q, %r2, 0; @%q add.s32 %r1, %r1, 1; "
         "setp.lt.s32 %p, %r1, 9;"),
        ("ld.volatile.global.u32 %r2, [%d1]; setp.eq.s32 %q, %r2, 0; @%q bra M; "
         "add.s32 %r1, %r1, 1; M: setp.lt.s32 %p, %r1, 9;"),
        ("ld.volatile.global.u32 %r2, [%d1]; setp.eq.s32 %q, %r2, 0; @%q exit; "
         "add.s32 %r1, %r1, 1; setp.lt.s32 %p, %r1, 9;"),
        ("ld.volatile.global.u32 %r2, [%d1]; setp.eq.s32 %q, %r2, 0; @%q bra L; "
         "add.s32 %r1, %r1, 1; setp.lt.s32 %p, %r1, 9;"),
        ("ld.volatile.global.u32 %r2, [%d1]; st.local.u32 [%d2], %r2; ld.local.u32 %r1, [%d2]; "
         "setp.lt.s32 %p, %r1, 9;")};
    static const char *const others[] = {
        "ld.global.u32 %r1, [%d1]; setp.eq.s32 %p, %r1, 0;",
        "atom.global.add.u32 %r2, [%d1], 1; add.s32 %r1, %r1, 1; setp.lt.s32 %p, %r1, 9;",
        ("atom.global.cas.b32 %r2, [%d1], 0, 1; setp.eq.s32 %q, %r2, 0; "
         "@%q st.global.u32 [%d1], %r2; add.s32 %r1, %r1, 1; setp.lt.s32 %p, %r1, 9;"),
        ("atom.global.cas.b32 %r2, [%d1], 0, 1; setp.eq.s32 %q, %r2, 0; @%q bra M; "
         "st.global.u32 [%d1], %r2; M: add.s32 %r1, %r1, 1; setp.lt.s32 %p, %r1, 9;"),
        "red.global.add.u32 [%d1], 1; add.s32 %r1, %r1, 1; setp.lt.s32 %p, %r1, 9;",
        "bar.sync 0; st.volatile.u32 [%d1], 1; add.s32 %r1, %r1, 1; setp.lt.s32 %p, %r1, 9;",
        ("cp.async.commit_group; cp.async.wait_group 1; add.s32 %r1, %r1, 1; "
         "setp.lt.s32 %p, %r1, 9;"),
        "fence.proxy.async; add.s32 %r1, %r1, 1; setp.lt.s32 %p, %r1, 9;"};
    char body[256];
    for (int k = 0; k < 2; k++) {
        size_t n = k ? sizeof others / sizeof *others : sizeof waits / sizeof *waits;
        for (size_t i = 0; i < n; i++) {
            struct pt_module m;
            snprintf(body, sizeof body, "L: %s @%%p bra L; ret;", k ? others[i] : waits[i]);
            if (blocks_of(body, &m))
                CHECK_INT(m.funcs.v[m.funcs.n - 1].loops.v[0].communicates, !k);
            pt_arena_free(&m.arena);
        }
    }
}

int main(void)
{
    for (int swapped = 0; swapped < 2; swapped++) {
        test_uneven_loop(swapped);
        test_nested_breaks(swapped);
        test_irreducible(swapped);
    }
    for (uint32_t seed = 0; seed < 300; seed++)
        test_random(seed);
    test_bodies();
    test_waiting();
    return CHECK_DONE("cfg");
}
