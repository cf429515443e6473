/* What launches would ask of a GPU: before and after them. */
#include "runtime/timed.h"

#include <string.h>

#include "ir/bits.h"
#include "ir/insn.h"
#include "runtime/job.h"
#include "runtime/registers.h"

/* ---- costs ----------------------------------------------------------------------------------- */

enum kind { KIND_ANY, KIND_F16, KIND_F32, KIND_F64, KIND_I32, KIND_I64 };

enum unit { UNIT_NONE, UNIT_ALU, UNIT_FMA, UNIT_FP64, UNIT_XU, UNIT_LSU, UNIT_TENSOR };

struct cost {
    const char *opcode, *modifier;
    enum kind kind;
    enum unit unit;
    double slots, cycles;
    uint16_t latency;
};

static const struct cost costs[] = {
#define COST(opcode, modifier, kind, unit, slots, cycles, latency) \
    {opcode, modifier, KIND_##kind, UNIT_##unit, slots, cycles, latency},
#include "runtime/timing.def"
};

static enum kind kind_of(const struct pt_form *form)
{
    if (!form->n_types)
        return KIND_ANY;
    enum pt_type type = (enum pt_type)form->type[form->n_types - 1];
    bool is_wide = pt_type_bits(type) == 64;
    if (pt_type_is_int(type))
        return is_wide ? KIND_I64 : KIND_I32;
    return type == PT_f32 ? KIND_F32 : type == PT_f64 ? KIND_F64 : KIND_F16;
}

static bool is_opcode(const char *spelling, const char *opcode)
{
    size_t n = strlen(opcode);
    return !n || (!strncmp(spelling, opcode, n) && (spelling[n] == '.' || !spelling[n]));
}

static const struct cost *cost_of(const struct pt_form *form)
{
    const struct cost *c = costs;
    enum kind kind = kind_of(form);
    while (!is_opcode(form->spelling, c->opcode) || !strstr(form->spelling, c->modifier) ||
           (c->kind != KIND_ANY && c->kind != kind))
        c++;
    return c;
}

void pt_timed_add_cost(struct pt_timed_sums *sums, const struct pt_form *form, uint64_t warps)
{
    const struct cost *c = cost_of(form);
    uint64_t none = 0;
    uint64_t *const units[] = {
        [UNIT_NONE] = &none,          [UNIT_ALU] = &sums->alu, [UNIT_FMA] = &sums->fma,
        [UNIT_FP64] = &sums->fp64,    [UNIT_XU] = &sums->xu,   [UNIT_LSU] = &sums->lsu,
        [UNIT_TENSOR] = &sums->tensor};
    *units[c->unit] += (uint64_t)((double)warps * c->cycles);
    sums->slots += (uint64_t)((double)warps * c->slots);
}

/* ---- before ---------------------------------------------------------------------------------- */

/* What a launch's part of memory is laid out of. */
struct layout {
    char *room; /* NULL: only the size is wanted */
    size_t size;
};

static void *take(struct layout *l, size_t n, size_t size)
{
    size_t at = pt_round_up(l->size, 64);
    l->size = at + n * size;
    return l->room ? l->room + at : NULL;
}

/* Functions that are in no program, or other kernels', have no registers here. */
static uint32_t count_regs(const struct pt_job *job, uint32_t func)
{
    const struct pt_func *f = &job->kernel->module->ir.funcs.v[func];
    bool is_there = f->is_lowered && (!f->is_entry || func == job->kernel->func);
    return is_there ? f->regs.n + 1 : 0;
}

struct uses {
    uint32_t *regs; /* NULL: they are only counted */
    uint32_t n[2];
    bool takes_defs;
};

static void add_use(void *ud, uint32_t reg, bool is_def)
{
    struct uses *u = ud;
    if (u->regs && is_def == u->takes_defs)
        u->regs[u->n[0] + u->n[1]] = reg;
    u->n[is_def] += !u->regs || is_def == u->takes_defs;
}

static uint32_t count_uses(const struct pt_job *job)
{
    const struct pt_module *m = &job->kernel->module->ir;
    struct uses u = {0};
    for (uint32_t func = 1; func < m->funcs.n; func++)
        for (uint32_t i = 0; count_regs(job, func) && i < m->funcs.v[func].insns.n; i++)
            pt_insn_regs(m, &m->funcs.v[func], &m->funcs.v[func].insns.v[i], add_use, &u);
    return u.n[0] + u.n[1];
}

/* Generic addresses are taken for global ones. What is read only is behind no store. */
static unsigned memory_of(const struct pt_form *form)
{
    enum pt_space space = pt_form_space(form);
    if (!(form->effects & (PT_FX_READ | PT_FX_WRITE)) || pt_form_has(form, PT_M_nc))
        return PT_TIMED_NONE;
    return space == PT_SPACE_GLOBAL || space == PT_SPACE_GENERIC          ? PT_TIMED_GLOBAL
           : space == PT_SPACE_SHARED || space == PT_SPACE_SHARED_CLUSTER ? PT_TIMED_SHARED
           : space == PT_SPACE_LOCAL                                      ? PT_TIMED_LOCAL
                                                                          : PT_TIMED_NONE;
}

static void fill_insn(struct pt_timed_insn *x, const struct pt_module *m, const struct pt_func *f,
                      const struct pt_insn *insn, uint32_t *regs, uint32_t *at)
{
    const struct pt_form *form = pt_insn_form(m, insn);
    const struct cost *c = cost_of(form);
    struct uses u = {.regs = regs + *at};
    pt_insn_regs(m, f, insn, add_use, &u);
    u.takes_defs = true;
    pt_insn_regs(m, f, insn, add_use, &u);
    bool goes_on = u.n[1] || form->effects & (PT_FX_READ | PT_FX_WRITE);
    /* The units of which a sub-partition has few lanes take a warp's next one only then. */
    bool is_slow = c->unit == UNIT_FP64 || c->unit == UNIT_XU || c->unit == UNIT_TENSOR;
    uint16_t slots = (uint16_t)((is_slow && c->cycles > c->slots ? c->cycles : c->slots) + 0.5);
    *x = (struct pt_timed_insn){.regs = *at,
                                .n_uses = (uint16_t)u.n[0],
                                .n_defs = (uint16_t)u.n[1],
                                .memory = (uint8_t)memory_of(form),
                                .is_load = u.n[1] && form->effects & PT_FX_READ &&
                                           pt_form_space(form) != PT_SPACE_PARAM,
                                .is_store = memory_of(form) && form->effects & PT_FX_WRITE,
                                .is_barrier = (form->effects & PT_FX_CTA) != 0,
                                .slots = goes_on || c->latency < slots ? slots : c->latency,
                                .latency = c->latency};
    *at += u.n[0] + u.n[1];
}

static void mark_blocks(struct pt_timed_insn *insns, const struct pt_func *f)
{
    for (uint32_t b = 0; b < f->blocks.n; b++)
        insns[f->blocks.v[b].first].is_first = true;
}

static void fill_insns(struct pt_timed_insn *insns, uint32_t *regs, const struct pt_job *job,
                       const struct pt_counts *counts)
{
    const struct pt_module *m = &job->kernel->module->ir;
    uint32_t at = 0;
    for (uint32_t func = 1; func < m->funcs.n; func++) {
        const struct pt_func *f = &m->funcs.v[func];
        for (uint32_t i = 0; count_regs(job, func) && i < f->insns.n; i++)
            fill_insn(&insns[counts->first[func] + i], m, f, &f->insns.v[i], regs, &at);
        if (count_regs(job, func))
            mark_blocks(&insns[counts->first[func]], f);
    }
}

/* What an SM has of L1 beside all its shared memory; of L2, of which each half of a large device
 * keeps sectors of its own, what serves as if there were one. The latencies are an H100's. */
enum { L1_BESIDE_SHARED = 28 << 10, L1_LEAST = 16 << 10, L2_PERCENT = 60 };
static const struct pt_timed_latency latencies = {
    .shared = 29, .constant = 14, .l1 = 37, .l2 = 276, .dram = 600, .atomic = 382};

/* Lines of L1 for each CTA that is there at once. */
static uint32_t l1_lines(const struct pt_job *job)
{
    const struct pt_launch *l = &job->launch;
    const struct pt_device *device = job->engine->device;
    uint32_t registers = pt_registers_count(job->kernel);
    int ctas = pt_device_blocks(device, (int)l->threads, (int)registers,
                                (int)(l->shared_bytes - PT_SHARED_BASE));
    uint64_t n_ctas = job->n_clusters * job->cluster_ctas;
    uint64_t here = (n_ctas + (uint64_t)device->sms - 1) / (uint64_t)device->sms;
    if ((uint64_t)ctas > here)
        ctas = (int)here;
    if (ctas < 1)
        ctas = 1;
    int bytes = device->limits->sm_shared + L1_BESIDE_SHARED - ctas * (int)l->shared_bytes;
    return (uint32_t)((bytes > L1_LEAST ? bytes : L1_LEAST) / (ctas > 1 ? 2 : 1) / PT_CACHE_LINE);
}

static void lay_cache(struct layout *l, struct pt_cache *cache, uint64_t lines)
{
    uint32_t n = (uint32_t)(lines / PT_CACHE_WAYS);
    *cache = (struct pt_cache){.n_sets = n ? n : 1};
    cache->sets = take(l, cache->n_sets, sizeof *cache->sets);
}

static struct pt_timed *lay_out(struct layout *l, const struct pt_job *job,
                                const struct pt_counts *counts)
{
    const struct pt_module *m = &job->kernel->module->ir;
    const struct pt_device *device = job->engine->device;
    uint64_t n_warps = (uint64_t)PT_TIMED_PATHS * job->launch.n_warps;
    uint64_t n_ctas = job->n_clusters * job->cluster_ctas, n_l1 = (uint64_t)device->sms;
    struct pt_timed fixed = {.first = counts->first,
                             .stride = (n_ctas + PT_TIMED_PATHS - 1) / PT_TIMED_PATHS,
                             .latency = latencies};
    struct pt_timed *t = take(l, 1, sizeof *t);
    uint32_t *first_reg = take(l, m->funcs.n, sizeof *first_reg);
    struct pt_timed_insn *insns = take(l, counts->n, sizeof *insns);
    uint32_t *regs = take(l, count_uses(job), sizeof *regs);
    for (uint32_t func = 1; func < m->funcs.n; func++) {
        if (l->room)
            first_reg[func] = fixed.n_regs;
        fixed.n_regs += count_regs(job, func);
    }
    fixed.first_reg = first_reg;
    fixed.insns = insns;
    fixed.regs = regs;
    fixed.warps = take(l, n_warps, sizeof *fixed.warps);
    fixed.ready = take(l, n_warps * fixed.n_regs, sizeof *fixed.ready);
    fixed.phases = take(l, PT_TIMED_PATHS, sizeof *fixed.phases);
    fixed.waits = take(l, counts->n, sizeof *fixed.waits);
    fixed.l1 = take(l, n_l1, sizeof *fixed.l1);
    for (uint64_t i = 0; i < n_l1; i++) {
        struct pt_cache cache;
        lay_cache(l, &cache, l1_lines(job));
        if (l->room)
            fixed.l1[i] = cache;
    }
    lay_cache(l, &fixed.l2, (uint64_t)device->l2_kib * 1024 * L2_PERCENT / 100 / PT_CACHE_LINE);
    if (l->room) {
        fill_insns(insns, regs, job, counts);
        *t = fixed;
    }
    return t;
}

bool pt_timed_begin(struct pt_job *job, const struct pt_counts *counts)
{
    struct layout l = {0};
    lay_out(&l, job, counts);
    l = (struct layout){.room = pt_engine_alloc(job->engine, l.size)};
    if (!l.room)
        return false;
    job->launch.timed = lay_out(&l, job, counts);
    return true;
}

/* ---- afterwards ------------------------------------------------------------------------------ */

static uint64_t end_of(const struct pt_timed_warp *warps, uint32_t n, uint64_t *sum)
{
    uint64_t longest = 0;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t end = warps[i].next > warps[i].latest ? warps[i].next : warps[i].latest;
        longest = end > longest ? end : longest;
        *sum += end;
    }
    return longest;
}

void pt_timed_add(struct pt_timed_sums *sums, const struct pt_job *job)
{
    struct pt_timed *t = job->launch.timed;
    uint64_t n_ctas = job->n_clusters * job->cluster_ctas, longest = 0;
    for (uint64_t cta = 0, path = 0; cta < n_ctas; cta += t->stride, path++) {
        const struct pt_timed_warp *warps = &t->warps[path * job->launch.n_warps];
        uint64_t end = end_of(warps, job->launch.n_warps, &t->sums.path_warp_cycles);
        t->sums.paths++;
        t->sums.path_cycles += end;
        longest = end > longest ? end : longest;
    }
    t->sums.path_longest = longest;
    for (int i = 0; i < PT_TIMED_HOT; i++)
        t->sums.hottest = t->hot[i] > t->sums.hottest ? t->hot[i] : t->sums.hottest;
    uint64_t *to = (uint64_t *)(void *)sums;
    const uint64_t *from = (const uint64_t *)(const void *)&t->sums;
    for (size_t i = 0; i < sizeof *sums / sizeof *to; i++)
        to[i] += from[i];
}

void pt_timed_end(struct pt_job *job)
{
    pt_engine_free(job->engine, job->launch.timed);
    job->launch.timed = NULL;
}
