/* What the estimate is made from. */
#include "runtime/registers/features.h"

#include <string.h>

#include "runtime/registers/allocation.h"
#include "runtime/registers/pressure.h"

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

/* So many halves, in per cent of the registers that allocation.c tells. */
static int32_t percent(const struct finder *s, int32_t halves)
{
    return 50 * halves / s->n[PT_FEATURE_registers];
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

static void count_loops(struct finder *s)
{
    const struct pt_func *f = s->code->f;
    s->n[PT_FEATURE_loops] = (int32_t)f->loops.n;
    for (uint32_t k = 0; k < f->loops.n; k++) {
        int32_t depth = 0;
        for (uint32_t l = k + 1; l; l = f->loops.v[l - 1].parent)
            depth++;
        raise(s, PT_FEATURE_depth, depth);
    }
}

static void count_function(struct finder *s)
{
    const struct pt_func *f = s->code->f;
    s->n[PT_FEATURE_insns] = (int32_t)f->insns.n;
    s->n[PT_FEATURE_blocks] = (int32_t)f->blocks.n;
    s->n[PT_FEATURE_n_params] = (int32_t)f->params.n;
    s->n[PT_FEATURE_local] = (int32_t)f->local_size;
    s->n[PT_FEATURE_minnctapersm] = f->minnctapersm != 0;
    for (uint32_t p = 0; p < f->params.n; p++)
        s->n[PT_FEATURE_n_pointers] += s->code->m->symbols.v[f->params.v[p]].size == 8;
    for (uint32_t i = 0; i < f->insns.n; i++)
        count_insn(s->n, &s->code->insns[i].cost);
    count_loops(s);
}

/* What one region loads. */
static void count_region_loads(struct finder *s, const struct pt_region *r)
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
    raise(s, PT_FEATURE_loads, percent(s, loads));
    raise(s, PT_FEATURE_shared_loads, percent(s, shared));
    if (first->loop)
        raise(s, PT_FEATURE_loop_loads, percent(s, loads));
}

static void count_loads(struct finder *s)
{
    for (uint32_t b = 0; b < s->code->f->blocks.n;) {
        struct pt_region r = pt_region_find(s->code, b);
        count_region_loads(s, &r);
        b = r.end;
    }
}

/* ---- pressure -------------------------------------------------------------------------------- */

static void take_allocation(struct finder *s, const struct pt_allocation *a)
{
    const struct pt_allocation_orders *o = &a->orders;
    s->n[PT_FEATURE_registers] = a->registers;
    s->n[PT_FEATURE_target] = a->target;
    s->n[PT_FEATURE_regions] = (int32_t)a->regions;
    s->n[PT_FEATURE_short_loops] = (int32_t)a->short_loops;
    s->n[PT_FEATURE_region] = (int32_t)a->longest;
    s->n[PT_FEATURE_tight] = percent(s, a->need.tight);
    s->n[PT_FEATURE_spread] = percent(s, a->need.spread);
    s->n[PT_FEATURE_least] = percent(s, o->least);
    s->n[PT_FEATURE_order] = percent(s, o->text);
    s->n[PT_FEATURE_late] = percent(s, o->late);
    s->n[PT_FEATURE_lazy] = percent(s, o->lazy);
    s->n[PT_FEATURE_frugal] = percent(s, o->frugal);
    s->n[PT_FEATURE_backward] = percent(s, o->backward);
    s->n[PT_FEATURE_fast] = percent(s, o->fast.tight);
    s->n[PT_FEATURE_unrolled] = percent(s, o->unrolled.tight);
}

static void take_pressure(struct finder *s, const struct pt_pressure *p)
{
    s->n[PT_FEATURE_text] = percent(s, p->all);
    s->n[PT_FEATURE_vector] = percent(s, p->vector);
    s->n[PT_FEATURE_vector_spread] = percent(s, p->spread);
    s->n[PT_FEATURE_loop] = percent(s, p->loop);
    s->n[PT_FEATURE_uniform] = percent(s, p->uniform);
    s->n[PT_FEATURE_wide] = percent(s, p->wide);
    s->n[PT_FEATURE_kept] = percent(s, p->kept);
}

static void take_expansions(struct finder *s, const struct pt_expansion_pressure *e)
{
    s->n[PT_FEATURE_at_divide_32] = percent(s, e->live[PT_EXPANSION_DIVIDE_32]);
    s->n[PT_FEATURE_at_divide_f64] = percent(s, e->live[PT_EXPANSION_DIVIDE_F64]);
    s->n[PT_FEATURE_at_divide_64] = percent(s, e->live[PT_EXPANSION_DIVIDE_64]);
    s->n[PT_FEATURE_at_collective] = percent(s, e->live[PT_EXPANSION_COLLECTIVE]);
    s->n[PT_FEATURE_at_call] = percent(s, e->live[PT_EXPANSION_CALL]);
}

void pt_features_find(const struct pt_module *m, const struct pt_func *f, uint32_t bound,
                      int32_t features[PT_FEATURES], struct pt_arena *arena)
{
    struct finder s = {.n = features, .code = pt_code_read(m, f, arena)};
    s.file = pt_register_file_find(s.code);
    memset(features, 0, PT_FEATURES * sizeof *features);
    s.n[PT_FEATURE_bound] = (int32_t)bound;
    struct pt_pressure pressure = pt_pressure_find(s.code, s.file);
    struct pt_expansion_pressure expansions = pt_expansion_find(s.code, s.file);
    struct pt_allocation allocation = pt_allocation_find(s.code, s.file, &expansions, bound);
    take_allocation(&s, &allocation);
    take_pressure(&s, &pressure);
    take_expansions(&s, &expansions);
    count_loads(&s);
    count_function(&s);
}
