/* Programs: a kernel with all that it may call, and how much memory its warps take. */
#include "backend/interp/program.h"
#include "backend/interp/call.h"
#include "backend/interp/decode.h"
#include "backend/interp/observers.h"
#include "backend/observer.h"
#include "frontend/lower.h"
#include "ir/bits.h"
#include "ir/call_graph.h"
#include "ir/coverage.h"

/* The call graph below a kernel: how deep activations nest and how much local memory they take. */
struct reach {
    struct pt_interp_program *program;
    struct pt_module *m;
    const uint32_t *funcs; /* reachable functions, the kernel first */
    uint32_t n;
    uint8_t *state;  /* by function: 0 not seen, 1 on the path, 2 done */
    uint32_t *depth; /* activations below, its own included */
    uint64_t *local; /* local bytes, callees included */
    bool is_bounded; /* no recursion, no indirect calls */
};

static uint32_t real_func(const struct pt_module *m, uint32_t func)
{
    while (m->funcs.v[func].alias_of)
        func = m->funcs.v[func].alias_of;
    return func;
}

static bool takes_variadic(const struct pt_module *m, uint32_t func)
{
    const struct pt_func *f = &m->funcs.v[func];
    return f->params.n && m->symbols.v[f->params.v[f->params.n - 1]].is_unsized;
}

/* The function that an instruction calls and that has a body, or PT_NONE. */
static uint32_t callee_of(struct reach *r, const struct pt_func *f, const struct pt_insn *insn)
{
    if (!(pt_insn_form(r->m, insn)->effects & PT_FX_CALL))
        return PT_NONE;
    uint32_t callee = pt_call_callee(f, insn);
    if (callee == PT_NONE) {
        r->is_bounded = false;
        return PT_NONE;
    }
    callee = real_func(r->m, callee);
    return r->m->funcs.v[callee].is_declared_only ? PT_NONE : callee;
}

static uint64_t own_local(const struct reach *r, uint32_t func)
{
    return (uint32_t)pt_round_up(r->m->funcs.v[func].local_size, 16);
}

static void add_call(struct reach *r, uint32_t func, uint32_t callee)
{
    uint64_t own = own_local(r, func);
    if (r->state[callee] == 1)
        r->is_bounded = false;
    if (r->depth[func] < r->depth[callee] + 1)
        r->depth[func] = r->depth[callee] + 1;
    /* What a variadic function takes besides lies in its caller's variables too. */
    uint64_t below = r->local[callee] + (takes_variadic(r->m, callee) ? own : 0);
    if (r->local[func] < below + own)
        r->local[func] = below + own;
}

/* A function that is being measured, and the instruction that it has come to. */
struct step {
    uint32_t func, insn;
};

static struct step begin_measuring(struct reach *r, uint32_t func)
{
    r->state[func] = 1;
    r->depth[func] = 1;
    r->local[func] = own_local(r, func);
    return (struct step){func, 0};
}

/* Chains of calls may be as long as a module has functions: they are not followed by recursion. */
static void measure(struct reach *r, uint32_t kernel, struct pt_arena *scratch)
{
    struct step *path = pt_arena_alloc(scratch, r->m->funcs.n * sizeof *path);
    size_t n = 0;
    path[n++] = begin_measuring(r, kernel);
    while (n) {
        struct step *step = &path[n - 1];
        const struct pt_func *f = &r->m->funcs.v[step->func];
        if (step->insn == f->insns.n) {
            r->state[step->func] = 2;
            n--;
            continue;
        }
        uint32_t callee = callee_of(r, f, &f->insns.v[step->insn]);
        if (callee != PT_NONE &&
            r->state[callee] == 0) { /* it is come back to when that is known */
            path[n++] = begin_measuring(r, callee);
            continue;
        }
        if (callee != PT_NONE)
            add_call(r, step->func, callee);
        step->insn++;
    }
}

enum { CALLEE_ROOM = 8 << 20 }; /* bytes for the activations of a warp whose depth is not known */

static void size_state(struct reach *r, uint32_t kernel)
{
    struct pt_interp_program *p = r->program;
    p->entry_bytes = p->bodies[kernel]->frame_bytes;
    for (uint32_t i = 0; i < r->n; i++) {
        const struct pt_body *body = p->bodies[r->funcs[i]];
        if (body && r->funcs[i] != kernel && body->frame_bytes > p->callee_bytes)
            p->callee_bytes = body->frame_bytes;
    }
    if (p->callee_bytes) {
        uint64_t room = CALLEE_ROOM / p->callee_bytes;
        uint64_t chains = (uint64_t)(r->depth[kernel] - 1) * PT_WARP_SIZE;
        p->n_callees = (uint32_t)(r->is_bounded && chains < room ? chains : room);
    }
    size_t state = pt_round_up(sizeof(struct pt_state), 64);
    p->base.warp_bytes = 64 + state + p->entry_bytes + (size_t)p->n_callees * p->callee_bytes;
    uint64_t local = r->local[kernel];
    p->base.local_bytes = !r->is_bounded || p->is_unbounded ? 0 : local ? local : 16;
}

/* Those that the program is compiled for. */
static void choose_observers(struct pt_interp_program *p)
{
    if (!(p->base.tests & PT_TEST_OBSERVERS))
        return;
    const struct pt_observer **chosen =
        pt_arena_alloc(&p->arena, (PT_OBSERVERS + 1) * sizeof *chosen);
    p->observers = chosen;
    for (uint32_t i = 0; i < PT_OBSERVERS; i++)
        if (p->base.tests & PT_TEST_OBSERVER << i)
            *chosen++ = pt_observers[i];
}

static bool build(struct pt_interp_program *p, struct pt_arena *scratch)
{
    struct pt_module *m = p->base.image->module;
    uint32_t errors = m->diags.errors, kernel = real_func(m, p->base.kernel);
    struct reach r = {.program = p, .m = m, .is_bounded = true};
    r.funcs = pt_call_graph_reachable(m, kernel, scratch, &r.n);
    p->bodies = pt_arena_alloc(&p->arena, m->funcs.n * sizeof(struct pt_body *));
    choose_observers(p);
    for (uint32_t i = 0; i < r.n; i++)
        if (!m->funcs.v[r.funcs[i]].is_declared_only && !pt_lower(m, r.funcs[i]))
            return false;
    for (uint32_t i = 0; i < r.n && !pt_diags_full(&m->diags); i++)
        if (!m->funcs.v[r.funcs[i]].is_declared_only)
            pt_decode_func(p, r.funcs[i], scratch);
    if (m->diags.errors > errors)
        return false;
    if (p->base.tests & PT_TEST_coverage)
        p->base.coverage = pt_coverage_find(m, kernel, &p->arena);
    r.state = pt_arena_alloc(scratch, m->funcs.n);
    r.depth = pt_arena_alloc(scratch, m->funcs.n * sizeof *r.depth);
    r.local = pt_arena_alloc(scratch, m->funcs.n * sizeof *r.local);
    measure(&r, kernel, scratch);
    size_state(&r, kernel);
    return true;
}

struct pt_program *pt_program_compile(const struct pt_image *image, uint32_t kernel, uint32_t tests,
                                      const struct pt_allocator *allocator)
{
    struct pt_interp_program *volatile p = allocator->resize(allocator->ud, NULL, sizeof *p);
    if (!p)
        return NULL;
    memset(p, 0, sizeof *p);
    p->base.image = image;
    p->base.kernel = kernel;
    p->base.tests = tests;
    pt_arena_init(&p->arena, allocator);
    struct pt_arena scratch;
    pt_arena_init(&scratch, allocator);
    jmp_buf oom, *outer = image->module->arena.oom;
    volatile bool is_built = false;
    if (!setjmp(oom)) {
        p->arena.oom = scratch.oom = image->module->arena.oom = &oom;
        is_built = build(p, &scratch);
    }
    image->module->arena.oom = outer;
    pt_arena_free(&scratch);
    if (is_built)
        return &p->base;
    pt_program_release(&p->base);
    return NULL;
}

void pt_program_release(struct pt_program *program)
{
    struct pt_interp_program *p = (struct pt_interp_program *)program;
    const struct pt_allocator *allocator = p->arena.allocator;
    pt_arena_free(&p->arena);
    allocator->resize(allocator->ud, p, 0);
}
