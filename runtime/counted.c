/* What launches were counted. */
#include "runtime/counted.h"

#include <string.h>

#include "backend/observer.h"
#include "ir/bits.h"
#include "ir/coverage.h"
#include "ir/insn.h"
#include "runtime/deadline.h"
#include "runtime/job.h"
#include "runtime/registers.h"
#include "runtime/timed.h"

void pt_counted_init(ptera_engine *engine)
{
    pthread_mutex_init(&engine->counted_lock, NULL);
}

void pt_counted_close(ptera_engine *engine)
{
    struct pt_counted *next;
    for (struct pt_counted *c = engine->counted; c; c = next) {
        struct pt_arena arena = c->arena;
        next = c->next;
        pt_arena_free(&arena);
    }
    pthread_mutex_destroy(&engine->counted_lock);
}

/* ---- before ---------------------------------------------------------------------------------- */

/* Functions that are not lowered are in no program. */
static uint32_t count_insns(const struct pt_module *m, uint32_t func)
{
    return m->funcs.v[func].is_lowered ? m->funcs.v[func].insns.n : 0;
}

/* Workers' counters, each in cache lines of its own. */
static bool begin_coverage(struct pt_job *job)
{
    enum { LINE = 64 };
    size_t heads = sizeof(struct pt_counts) + LINE;
    size_t bytes = pt_round_up(job->launch.program->coverage->n * sizeof(uint64_t), LINE);
    char *room = pt_engine_alloc(job->engine, heads + bytes * job->engine->threads);
    if (!room)
        return false;
    uintptr_t covered = pt_round_up((uintptr_t)room + sizeof(struct pt_counts), LINE);
    struct pt_counts *counts = (struct pt_counts *)(void *)room;
    counts->covered = (uint64_t *)covered;
    counts->stride = bytes / sizeof(uint64_t);
    job->launch.counts = counts;
    return true;
}

bool pt_counted_begin(struct pt_job *job)
{
    if (job->tests & PT_TEST_coverage)
        return begin_coverage(job);
    const struct pt_module *m = &job->kernel->module->ir;
    size_t n_funcs = m->funcs.n, n = 0;
    for (uint32_t i = 1; i < n_funcs; i++)
        n += count_insns(m, i);
    size_t workers = job->engine->threads;
    size_t firsts = sizeof(struct pt_counts);
    size_t rows = pt_round_up(firsts + n_funcs * sizeof(uint32_t), _Alignof(struct pt_count));
    size_t lasts = rows + n * workers * sizeof(struct pt_count);
    size_t worst = lasts + workers * PT_COUNTED_LASTS * sizeof(struct pt_counted_last);
    worst = pt_round_up(worst, _Alignof(struct pt_counted_worst));
    size_t bytes = worst + n * sizeof(struct pt_counted_worst);
    char *room = n <= UINT32_MAX ? pt_engine_alloc(job->engine, bytes) : NULL;
    if (!room)
        return false;
    uint32_t *first = (uint32_t *)(void *)(room + firsts), at = 0;
    for (uint32_t i = 1; i < n_funcs; i++) {
        first[i] = at;
        at += count_insns(m, i);
    }
    struct pt_counts *counts = (struct pt_counts *)(void *)room;
    *counts = (struct pt_counts){.n = (uint32_t)n,
                                 .first = first,
                                 .v = (struct pt_count *)(void *)(room + rows),
                                 .last = (struct pt_counted_last *)(void *)(room + lasts),
                                 .worst = (struct pt_counted_worst *)(void *)(room + worst)};
    job->launch.counts = counts;
    if (!(job->tests & PT_TEST_time) || pt_timed_begin(job, counts))
        return true;
    pt_engine_free(job->engine, counts);
    job->launch.counts = NULL;
    return false;
}

/* ---- afterwards ------------------------------------------------------------------------------ */

static bool is_same(const struct pt_counted *c, const struct pt_job *job)
{
    const struct pt_launch *l = &job->launch;
    const ptera_module *m = job->kernel->module;
    return !strcmp(c->kernel, m->ir.funcs.v[job->kernel->func].name) &&
           !strcmp(c->module, m->name) && !memcmp(c->grid, l->grid, sizeof c->grid) &&
           !memcmp(c->block, l->block, sizeof c->block) &&
           !memcmp(c->cluster, l->cluster, sizeof c->cluster) &&
           c->shared_dynamic == l->shared_dynamic;
}

static void mark_read(void *ud, uint32_t reg, bool is_def)
{
    uint8_t *is_read = ud;
    is_read[reg] |= !is_def;
}

/* By register, whether an instruction of the function reads it. */
static uint8_t *find_read(const struct pt_module *m, const struct pt_func *f,
                          struct pt_arena *arena)
{
    uint8_t *is_read = pt_arena_alloc(arena, f->regs.n + 1);
    for (uint32_t i = 0; i < f->insns.n; i++)
        pt_insn_regs(m, f, &f->insns.v[i], mark_read, is_read);
    return is_read;
}

/* NULL: it is no copy that an H100 counts by itself. */
static const char *copy_of(enum pt_op op)
{
    switch (op) {
    case PT_OP_cp_async:
        return "ldgsts";
    case PT_OP_cp_bulk_load:
    case PT_OP_tma_load:
    case PT_OP_tma_load_im2col:
        return "bulk_load";
    case PT_OP_cp_bulk_store:
    case PT_OP_tma_store:
    case PT_OP_tma_store_im2col:
        return "bulk_store";
    case PT_OP_cp_reduce:
    case PT_OP_tma_reduce:
    case PT_OP_tma_reduce_im2col:
        return "bulk_red";
    default:
        return NULL;
    }
}

/* GPUs have no reduction that exchanges, or compares and swaps. */
static bool returns_always(const struct pt_form *form)
{
    return pt_form_has(form, PT_M_exch) || pt_form_has(form, PT_M_cas);
}

/* Accesses and branches by what they do, others by their chapter. An atomic whose result nobody
 * reads is a reduction, as NVIDIA's assembler has it. */
static const char *kind_of(const struct pt_form *form, const struct pt_operand *first,
                           const uint8_t *is_read)
{
    bool has_result = first && first->kind == PT_OPND_REG && is_read[first->index];
    if (copy_of((enum pt_op)form->op))
        return copy_of((enum pt_op)form->op);
    if (form->op == PT_OP_bra || form->op == PT_OP_brx_idx)
        return "branch";
    if (pt_insn_is_mbarrier(form) || form->op == PT_OP_cp_async_mbarrier) /* no accesses there */
        return pt_op_chapter((enum pt_op)form->op);
    if (form->effects & PT_FX_ATOMIC)
        return has_result || returns_always(form) ? "atom" : "red";
    if (form->effects & PT_FX_READ)
        return form->effects & PT_FX_WRITE ? "copy" : "load";
    return form->effects & PT_FX_WRITE ? "store" : pt_op_chapter((enum pt_op)form->op);
}

static void put_insn(struct pt_counted *c, const struct pt_module *m, uint32_t func,
                     uint32_t number, const uint8_t *is_read, struct pt_arena *arena)
{
    const struct pt_func *f = &m->funcs.v[func];
    const struct pt_insn *insn = &f->insns.v[number];
    const struct pt_form *form = pt_insn_form(m, insn);
    const struct pt_loc *loc = insn->loc ? &m->locs.v[insn->loc] : NULL;
    struct pt_counted_insn *x = &c->insns[c->n];
    *x = (struct pt_counted_insn){.func = pt_arena_text(arena, f->name, strlen(f->name)),
                                  .line = insn->line,
                                  .col = insn->col,
                                  .has_guard = insn->guard != 0};
    x->kind = kind_of(form, insn->n_operands ? &f->operands.v[insn->operands] : NULL, is_read);
    x->row = pt_op_id((enum pt_op)form->op);
    x->spelling = pt_arena_text(arena, form->spelling, strlen(form->spelling));
    if (loc) {
        const char *file = m->files.v[loc->file].name;
        x->file = pt_arena_text(arena, file, strlen(file));
        x->file_line = loc->line;
    }
}

static void put_func(struct pt_counted *c, const struct pt_module *m, uint32_t func,
                     struct pt_arena *arena)
{
    const struct pt_func *f = &m->funcs.v[func];
    const uint8_t *is_read = find_read(m, f, arena);
    struct pt_counted_func *x = pt_vec_push(arena, &c->funcs);
    *x = (struct pt_counted_func){func, c->n, pt_arena_alloc(arena, f->insns.n * sizeof(bool))};
    pt_counts_find_leaders(m, f, x->leads);
    for (uint32_t i = 0; i < f->insns.n; i++, c->n++)
        put_insn(c, m, func, i, is_read, arena);
}

static bool is_run_by(const struct pt_job *job, uint32_t func)
{
    const struct pt_module *m = &job->kernel->module->ir;
    return count_insns(m, func) && (!m->funcs.v[func].is_entry || func == job->kernel->func);
}

/* Those of the kernel, and of the functions that are in its program. */
static void put_insns(struct pt_counted *c, const struct pt_job *job, struct pt_arena *arena)
{
    const struct pt_module *m = &job->kernel->module->ir;
    uint32_t n = 0;
    for (uint32_t func = 1; func < m->funcs.n; func++)
        n += is_run_by(job, func) ? count_insns(m, func) : 0;
    c->insns = pt_arena_alloc(arena, n * sizeof *c->insns);
    c->counts = pt_arena_alloc(arena, n * sizeof *c->counts);
    if (job->tests & PT_TEST_coverage) {
        c->coverage = pt_coverage_find(m, job->kernel->func, arena);
        c->covered = pt_arena_alloc(arena, c->coverage->n * sizeof *c->covered);
    } else {
        c->worst = pt_arena_alloc(arena, n * sizeof *c->worst);
        c->waits = c->is_timed ? pt_arena_alloc(arena, n * sizeof *c->waits) : NULL;
    }
    for (uint32_t func = 1; func < m->funcs.n; func++)
        if (is_run_by(job, func))
            put_func(c, m, func, arena);
}

static struct pt_counted *make(const struct pt_job *job)
{
    ptera_engine *engine = job->engine;
    const struct pt_launch *l = &job->launch;
    struct pt_arena arena;
    jmp_buf oom;
    pt_arena_init(&arena, &engine->allocator);
    arena.oom = &oom;
    if (setjmp(oom)) {
        pt_arena_free(&arena);
        return NULL;
    }
    struct pt_counted *c = pt_arena_alloc(&arena, sizeof *c);
    const char *kernel = job->kernel->module->ir.funcs.v[job->kernel->func].name;
    const char *module = job->kernel->module->name;
    c->kernel = pt_arena_text(&arena, kernel, strlen(kernel));
    c->module = pt_arena_text(&arena, module, strlen(module));
    memcpy(c->grid, l->grid, sizeof c->grid);
    memcpy(c->block, l->block, sizeof c->block);
    memcpy(c->cluster, l->cluster, sizeof c->cluster);
    c->shared_static = l->program->shared_static;
    c->shared_dynamic = l->shared_dynamic;
    c->registers = pt_registers_count(job->kernel);
    c->device = engine->device->id;
    c->sms = (uint32_t)engine->device->sms;
    c->sm_warps = l->sm_warps;
    c->ctas = (uint32_t)pt_device_blocks(engine->device, (int)l->threads, (int)c->registers,
                                         (int)(l->shared_bytes - PT_SHARED_BASE));
    c->is_timed = l->timed;
    c->runs = pt_arena_alloc(&arena, PT_COUNTED_RUNS * sizeof *c->runs);
    put_insns(c, job, &arena);
    arena.oom = NULL;
    c->arena = arena;
    return c;
}

/* Behind the others: in the order of their first launches. NULL: there is no memory. */
static struct pt_counted *find_or_make(const struct pt_job *job)
{
    struct pt_counted **at = &job->engine->counted;
    while (*at && !is_same(*at, job))
        at = &(*at)->next;
    if (!*at)
        *at = make(job);
    return *at;
}

static void add(struct pt_count *to, const struct pt_count *from)
{
    uint64_t *sum = (uint64_t *)(void *)to;
    const uint64_t *more = (const uint64_t *)(const void *)from;
    for (size_t i = 0; i < sizeof *to / sizeof *sum; i++)
        sum[i] += more[i];
}

/* What all workers counted of a function in this launch. */
static void add_func(struct pt_counted *c, const struct pt_counted_func *x,
                     const struct pt_job *job)
{
    const struct pt_counts *counts = job->launch.counts;
    const struct pt_module *m = &job->kernel->module->ir;
    const struct pt_func *f = &m->funcs.v[x->func];
    struct pt_count *sum = &counts->v[counts->first[x->func]];
    for (uint32_t i = 0; i < f->insns.n; i++)
        for (uint32_t w = 1; w < job->n_workers; w++)
            add(&sum[i], &sum[(size_t)w * counts->n + i]);
    pt_counts_spread(f, x->leads, sum);
    for (uint32_t i = 0; i < f->insns.n; i++) {
        add(&c->counts[x->first + i], &sum[i]);
        if (!c->is_timed)
            continue;
        pt_timed_add_cost(&c->time, pt_insn_form(m, &f->insns.v[i]), sum[i].warps);
        c->waits[x->first + i] += job->launch.timed->waits[counts->first[x->func] + i];
    }
    const struct pt_counted_worst *worst = &counts->worst[counts->first[x->func]];
    for (uint32_t i = 0; i < f->insns.n; i++)
        if (worst[i].rank > c->worst[x->first + i].rank)
            c->worst[x->first + i] = worst[i];
}

static void add_covered(struct pt_counted *c, const struct pt_job *job)
{
    const struct pt_counts *counts = job->launch.counts;
    for (uint32_t w = 0; w < job->n_workers; w++)
        for (uint32_t i = 0; i < c->coverage->n; i++)
            c->covered[i] += counts->covered[w * counts->stride + i];
}

void pt_counted_tell(struct pt_counted *c)
{
    for (uint32_t k = 0; c->covered && k < c->funcs.n; k++) {
        const struct pt_counted_func *x = &c->funcs.v[k];
        uint32_t end = k + 1 < c->funcs.n ? x[1].first : c->n;
        if (!c->coverage->funcs[x->func].n)
            continue;
        for (uint32_t i = x->first; i < end; i++)
            pt_coverage_read(c->coverage, c->covered, x->func, i - x->first, &c->counts[i].lanes,
                             &c->counts[i].on);
    }
}

void pt_counted_end(struct pt_job *job, uint64_t begun)
{
    ptera_engine *engine = job->engine;
    uint64_t ns = pt_now_ns() - begun;
    pthread_mutex_lock(&engine->counted_lock);
    struct pt_counted *c = find_or_make(job);
    if (c) {
        for (uint32_t i = 0; i < c->funcs.n && !c->covered; i++)
            add_func(c, &c->funcs.v[i], job);
        if (c->covered)
            add_covered(c, job);
        if (c->launches < PT_COUNTED_RUNS)
            c->runs[c->launches] = (struct pt_counted_run){begun, ns, job->stream};
        c->launches++;
        c->ns += ns;
    }
    if (c && c->is_timed)
        pt_timed_add(&c->time, job);
    pthread_mutex_unlock(&engine->counted_lock);
    pt_timed_end(job);
    pt_engine_free(engine, (void *)(uintptr_t)job->launch.counts);
    job->launch.counts = NULL;
}
