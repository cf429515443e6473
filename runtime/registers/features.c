/* What the estimate is made from. */
#include "runtime/registers/features.h"

#include <string.h>

#include "runtime/registers/pressure.h"
#include "runtime/registers/region.h"
#include "runtime/registers/schedule.h"

enum { UNROLLED = 4, OVERHEAD = 4 };

struct finder {
    const struct pt_code *code;
    const struct pt_register_file *file;
    int32_t *n; /* by enum pt_feature */
};

static void raise(struct finder *s, enum pt_feature feature, int32_t n)
{
    if (s->n[feature] < n)
        s->n[feature] = n;
}

/* ---- counts ---------------------------------------------------------------------------------- */

static void count_insn(int32_t *n, const struct pt_insn_cost *c)
{
    bool divides = c->op == PT_OP_div_int || c->op == PT_OP_rem_int;
    n[PT_FEATURE_n_loads] += c->is_load;
    n[PT_FEATURE_n_stores] += c->effects & PT_FX_WRITE && !(c->effects & PT_FX_READ);
    n[PT_FEATURE_n_barriers] += (c->effects & PT_FX_CTA) != 0;
    n[PT_FEATURE_n_shuffles] += c->unit == PT_UNIT_SHUFFLE;
    n[PT_FEATURE_n_atomics] += (c->effects & PT_FX_ATOMIC) != 0;
    n[PT_FEATURE_n_copies] += c->unit == PT_UNIT_ASYNC;
    n[PT_FEATURE_n_slow_f32] += c->is_slow && !c->is_wide;
    n[PT_FEATURE_n_slow_f64] += c->is_slow && c->is_f64;
    n[PT_FEATURE_n_f64] += c->is_f64;
    n[PT_FEATURE_n_div_32] += divides && !c->is_wide;
    n[PT_FEATURE_n_div_64] += divides && c->is_wide;
    n[PT_FEATURE_n_approx] += c->unit == PT_UNIT_MUFU;
    n[PT_FEATURE_n_matrix] += c->unit == PT_UNIT_TENSOR;
    n[PT_FEATURE_n_wgmma] += c->unit == PT_UNIT_WGMMA;
    n[PT_FEATURE_n_calls] += (c->effects & PT_FX_CALL) != 0;
}

static int32_t defined_size(const struct finder *s, const struct pt_code_insn *insn)
{
    int32_t n = 0;
    for (uint32_t d = 0; d < insn->n_defs; d++)
        n += s->file->size[pt_code_defs(s->code, insn)[d]];
    return n;
}

/* What loads of a loop that writes nothing read from places that it does not change. */
static int32_t loop_invariant_loads(const struct finder *s, const struct pt_loop *loop)
{
    const struct pt_code *code = s->code;
    const struct pt_block *blocks = code->f->blocks.v;
    uint32_t from = blocks[loop->header].first,
             to = blocks[loop->end - 1].first + blocks[loop->end - 1].count;
    int32_t n = 0;
    for (uint32_t i = from; i < to; i++) {
        const struct pt_code_insn *insn = &code->insns[i];
        bool is_invariant = insn->cost.is_load;
        if (insn->cost.is_fence || insn->cost.effects & (PT_FX_WRITE | PT_FX_ATOMIC))
            return 0;
        for (uint32_t u = 0; u < insn->n_uses; u++) {
            uint32_t at = code->made_at[pt_code_uses(code, insn)[u]];
            is_invariant &= at && (at - 1 < from || at - 1 >= to);
        }
        n += is_invariant ? defined_size(s, insn) : 0;
    }
    return n;
}

static void count_loops(struct finder *s)
{
    const struct pt_func *f = s->code->f;
    s->n[PT_FEATURE_loops] = (int32_t)f->loops.n;
    for (uint32_t k = 0; k < f->loops.n; k++) {
        int32_t depth = 0;
        for (uint32_t l = k + 1; l; l = f->loops.v[l - 1].parent)
            depth++;
        raise(s, PT_FEATURE_depth, depth);
        raise(s, PT_FEATURE_hoisted, loop_invariant_loads(s, &f->loops.v[k]));
    }
}

static void count_function(struct finder *s)
{
    const struct pt_func *f = s->code->f;
    s->n[PT_FEATURE_insns] = (int32_t)f->insns.n;
    s->n[PT_FEATURE_blocks] = (int32_t)f->blocks.n;
    s->n[PT_FEATURE_n_params] = (int32_t)f->params.n;
    s->n[PT_FEATURE_local] = (int32_t)f->local_size;
    for (uint32_t p = 0; p < f->params.n; p++)
        s->n[PT_FEATURE_n_pointers] += s->code->m->symbols.v[f->params.v[p]].size == 8;
    for (uint32_t i = 0; i < f->insns.n; i++)
        count_insn(s->n, &s->code->insns[i].cost);
    count_loops(s);
}

/* ---- pressure -------------------------------------------------------------------------------- */

static void find_pressure(struct finder *s)
{
    struct pt_pressure p = pt_pressure_find(s->code, s->file);
    s->n[PT_FEATURE_text] = p.all;
    s->n[PT_FEATURE_vector] = p.vector;
    s->n[PT_FEATURE_loop] = p.loop;
    s->n[PT_FEATURE_uniform] = p.uniform;
    s->n[PT_FEATURE_wide] = p.wide;
    s->n[PT_FEATURE_remade] = p.kept;
}

static void find_loads(struct finder *s, const struct pt_region *r)
{
    int32_t loads = 0, shared = 0;
    const struct pt_block *first = &s->code->f->blocks.v[r->first];
    const struct pt_block *last = &s->code->f->blocks.v[r->end - 1];
    for (uint32_t i = first->first; i < last->first + last->count; i++) {
        const struct pt_code_insn *insn = &s->code->insns[i];
        if (!insn->cost.is_load)
            continue;
        int32_t n = defined_size(s, insn);
        *(insn->cost.memory == PT_MEMORY_SHARED ? &shared : &loads) += n;
        raise(s, PT_FEATURE_widest, n);
    }
    raise(s, PT_FEATURE_loads, loads);
    raise(s, PT_FEATURE_shared_loads, shared);
    if (first->loop)
        raise(s, PT_FEATURE_loop_loads, loads);
}

/* ---- schedules ------------------------------------------------------------------------------- */

/* Registers of a thread with which an SM holds fewer warps than with one less. */
static int32_t step_above(int32_t registers)
{
    static const int32_t steps[] = {32, 40, 48, 56, 64, 72, 80, 96, 128, 168, 255};
    unsigned k = 0;
    while (steps[k] < registers && steps[k] < 255)
        k++;
    return steps[k];
}

static int32_t cap_of(int32_t registers)
{
    return 2 * (registers - OVERHEAD);
}

static int32_t least_of(int32_t a, int32_t b)
{
    return a < b ? a : b;
}

static void try_schedules(struct finder *s, struct pt_schedule_graph *g)
{
    int32_t late = pt_schedule_late(g, false), lazy = pt_schedule_late(g, true),
            greedy = pt_schedule_list(g, 0), text = pt_schedule_text(g);
    raise(s, PT_FEATURE_late, late);
    raise(s, PT_FEATURE_greedy, greedy);
    raise(s, PT_FEATURE_least, least_of(least_of(late, lazy), least_of(greedy, text)));
    raise(s, PT_FEATURE_most, pt_schedule_list(g, PT_SCHEDULE_NO_CAP));
    raise(s, PT_FEATURE_within_32, pt_schedule_list(g, cap_of(32)));
    raise(s, PT_FEATURE_within_64, pt_schedule_list(g, cap_of(64)));
    raise(s, PT_FEATURE_within_128, pt_schedule_list(g, cap_of(128)));
}

/* A region as it is, and unrolled where it is a short loop. */
struct graphs {
    struct pt_schedule_graph *once, *unrolled;
};

static void find_schedules(struct finder *s)
{
    const struct pt_func *f = s->code->f;
    PT_VEC(struct graphs) regions = {0};
    for (uint32_t b = 0; b < f->blocks.n;) {
        struct pt_region r = pt_region_find(s->code, b);
        struct graphs *g = pt_vec_push(s->code->arena, &regions);
        g->once = pt_schedule_graph_make(s->code, s->file, &r, 1);
        g->unrolled =
            r.is_short_loop ? pt_schedule_graph_make(s->code, s->file, &r, UNROLLED) : g->once;
        try_schedules(s, g->once);
        find_loads(s, &r);
        raise(s, PT_FEATURE_region, (int32_t)r.insns);
        s->n[PT_FEATURE_short_loops] += r.is_short_loop;
        b = r.end;
    }
    s->n[PT_FEATURE_regions] = (int32_t)regions.n;
    s->n[PT_FEATURE_step] = f->minnctapersm ? s->n[PT_FEATURE_bound]
                                            : step_above(s->n[PT_FEATURE_least] / 2 + OVERHEAD);
    int32_t cap = cap_of(s->n[PT_FEATURE_step]);
    for (uint32_t k = 0; k < regions.n; k++) {
        struct graphs *g = &regions.v[k];
        raise(s, PT_FEATURE_capped, pt_schedule_list(g->once, cap));
        raise(s, PT_FEATURE_capped_unrolled, pt_schedule_list(g->unrolled, cap));
        raise(s, PT_FEATURE_unrolled, pt_schedule_list(g->unrolled, PT_SCHEDULE_NO_CAP));
    }
}

void pt_features_find(const struct pt_module *m, const struct pt_func *f, uint32_t bound,
                      int32_t features[PT_FEATURES], struct pt_arena *arena)
{
    struct finder s = {.n = features};
    memset(features, 0, PT_FEATURES * sizeof *features);
    s.n[PT_FEATURE_bound] = (int32_t)bound;
    s.code = pt_code_read(m, f, arena);
    s.file = pt_register_file_find(s.code);
    find_pressure(&s);
    find_schedules(&s);
    count_function(&s);
}
