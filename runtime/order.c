/* Launches whose result may depend on the order of threads: run under several schedules
 * (backend/schedule.h), each from the memory that the launch found, and compared. Number 0 has all
 * in ascending order and tells how many steps there are; the others are seeds. The first that
 * differs is traced against number 0, and told. */
#include "runtime/order.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "backend/observer.h"
#include "backend/schedule.h"
#include "backend/traced.h"
#include "runtime/compile.h"
#include "runtime/finding.h"
#include "runtime/observe.h"
#include "runtime/order_pages.h"
#include "runtime/run.h"
#include "runtime/schedule.h"

/* Of a trace: events whose hashes are kept, and threads. */
enum { TRACED_MOST = 16 << 20, THREADS_MOST = 4 << 20 };
/* Where shared memory is for the words of a finding: no address of anybody's. */
static const uint64_t shared_place = UINT64_C(1) << 62;

struct text {
    char *v;
    size_t n, room;
    bool is_cut; /* there was no memory for more */
};

/* One launch and its runs. */
struct order {
    struct pt_job *job;
    ptera_engine *engine;
    struct pt_written written;
    struct pt_schedule schedule;
    uint64_t steps, lane_steps; /* of schedule 0 */
    struct pt_order_excuse excuse;
    bool has_strong_reads;
    struct pt_heap_state heap, heap_behind;
    bool has_heap;
    /* what kernels print, and who is told in other launches */
    struct text first, now, *text;
    void (*print)(void *ud, const char *text, size_t bytes);
    void *print_ud;
};

bool pt_order_may_be(const ptera_options *o)
{
    return o->order_depth >= 1 && o->order_depth <= PT_SCHEDULE_DEPTH_MAX &&
           o->order_tolerance >= 0 && o->order_tolerance < 1;
}

void pt_order_init(ptera_engine *engine, const ptera_options *o)
{
    pthread_mutex_init(&engine->order.lock, NULL);
    engine->order.schedules = o->order_schedules;
    engine->order.depth = o->order_depth;
    engine->order.seed = o->order_seed;
    engine->order.tolerance = o->order_tolerance;
    engine->order.compares_text = o->order_text != 0;
}

/* ---- what kernels print ---------------------------------------------------------------------- */

static void hear(void *ud, const char *bytes, size_t n)
{
    struct order *o = ud;
    struct text *text = o->text;
    if (text == &o->first && o->print)
        o->print(o->print_ud, bytes, n);
    if (n > text->room - text->n) {
        size_t room = 2 * (text->n + n);
        const struct pt_allocator *a = &o->engine->allocator;
        char *v = a->resize(a->ud, text->v, room);
        text->is_cut |= !v;
        if (!v)
            return;
        text->v = v;
        text->room = room;
    }
    memcpy(text->v + text->n, bytes, n);
    text->n += n;
}

static void take_printer(struct order *o)
{
    struct pt_printer *printer = &o->engine->printer;
    o->print = printer->print;
    o->print_ud = printer->ud;
    o->text = &o->first;
    printer->print = hear;
    printer->ud = o;
}

static void give_printer(struct order *o)
{
    o->engine->printer.print = o->print;
    o->engine->printer.ud = o->print_ud;
    pt_engine_free(o->engine, o->first.v);
    pt_engine_free(o->engine, o->now.v);
}

static bool prints_differ(const struct order *o)
{
    const struct text *a = &o->first, *b = &o->now;
    return o->engine->order.compares_text && !a->is_cut && !b->is_cut &&
           (a->n != b->n || (a->n && memcmp(a->v, b->v, a->n) != 0));
}

/* ---- runs ------------------------------------------------------------------------------------ */

/* The job is as it was before it ran. */
static void rewind_job(struct pt_job *job)
{
    atomic_store(&job->launch.stop, 0);
    atomic_store(&job->next_cluster, 0);
    atomic_store(&job->residents, 0);
    atomic_store(&job->holders, 0);
    atomic_store(&job->is_reported, false);
    memset(&job->failed, 0, sizeof job->failed);
}

/* Under a schedule whose reads may see old values what is known of causality is kept; races are
 * not told. */
static void run_weak(struct pt_job *job)
{
    struct pt_causality *outer = job->launch.causality;
    job->launch.causality = NULL;
    job->is_mute = true;
    pt_observe_launch(&job->launch, false);
    pt_run_job(job);
    pt_observe_launch(&job->launch, true);
    job->is_mute = false;
    job->launch.causality = outer;
}

static bool is_weak(const struct order *o, uint64_t seed)
{
    return seed & 2 && o->has_strong_reads;
}

/* Runs the launch from the memory that it found. False: it cannot be compiled so. */
static bool run_under(struct order *o, uint64_t seed, struct pt_traced *traced)
{
    struct pt_job *job = o->job;
    bool is_apart = seed % 2;
    uint32_t tests = PT_TEST_order | PT_TEST_TURNS | PT_TEST_ASYNC;
    tests |= (is_apart ? PT_TEST_ORDER : 0) | (traced ? (uint32_t)PT_TEST_order_trace : 0);
    tests |= is_weak(o, seed) ? (uint32_t)(PT_TEST_order_weak | PT_TEST_conflict) : 0;
    pt_order_pages_restore(&o->written, false);
    if (o->has_heap)
        pt_heap_restore(&o->engine->heap, &o->heap);
    rewind_job(job);
    if (pt_compile_kernel(job->kernel, tests, &job->launch.program) != PTERA_OK)
        return false;
    job->tests = tests;
    job->is_late = true;
    pt_schedule_begin(&o->schedule, seed, o->engine->order.depth,
                      is_apart ? o->lane_steps : o->steps, seed != 0);
    job->launch.schedule = &o->schedule;
    job->launch.traced = traced;
    o->text = &o->now;
    o->now.n = 0;
    if (is_weak(o, seed))
        run_weak(job);
    else
        pt_run_job(job);
    return true;
}

/* Why a launch cannot be run again; NULL: it can. */
static const char *why_not(const struct pt_job *job)
{
    const struct pt_module *ir = &job->kernel->module->ir;
    for (uint32_t i = 1; i < ir->funcs.n; i++)
        if (ir->funcs.v[i].is_host)
            return "its module calls functions of the host";
    return NULL;
}

static bool is_load(const struct pt_form *form)
{
    return form->op == PT_OP_ld || form->op == PT_OP_ld_volatile || form->op == PT_OP_ld_acquire;
}

/* Loads that may see old values. */
static bool has_strong_reads(const struct pt_job *job)
{
    const struct pt_module *ir = &job->kernel->module->ir;
    for (uint32_t i = 0; i < ir->funcs.n; i++)
        for (uint32_t k = 0; k < ir->funcs.v[i].insns.n; k++) {
            const struct pt_form *form = pt_insn_form(ir, &ir->funcs.v[i].insns.v[k]);
            if (is_load(form) && pt_order_of(form) == PT_ORDER_RELAXED)
                return true;
        }
    return false;
}

static bool allocates(const struct pt_job *job)
{
    const struct pt_module *ir = &job->kernel->module->ir;
    for (uint32_t i = 1; i < ir->funcs.n; i++) {
        enum pt_device_function f = pt_device_find(ir->funcs.v[i].name);
        if (f == PT_DEVICE_malloc || f == PT_DEVICE_free)
            return true;
    }
    return false;
}

/* ---- where two runs part --------------------------------------------------------------------- */

static bool start_trace(const struct order *o, struct pt_traced *t, uint64_t watched)
{
    const struct pt_launch *launch = &o->job->launch;
    memset(t, 0, sizeof *t);
    t->allocator = &o->engine->allocator;
    t->watched = watched;
    t->most = TRACED_MOST;
    t->n_threads = o->job->n_clusters * o->job->cluster_ctas * launch->threads;
    if (t->n_threads > THREADS_MOST)
        t->n_threads = 0;
    size_t bytes = (t->n_threads + 1) * sizeof *t->threads;
    t->threads = pt_engine_alloc(o->engine, bytes);
    return t->threads;
}

static void end_trace(struct pt_traced *t)
{
    for (uint64_t i = 0; i < t->n_threads; i++)
        if (t->threads[i].hashes)
            t->allocator->resize(t->allocator->ud, t->threads[i].hashes, 0);
    t->allocator->resize(t->allocator->ud, t->threads, 0);
}

/* For the next run of it. */
static void rewind_trace(struct pt_traced *t)
{
    for (uint64_t i = 0; i < t->n_threads; i++) {
        if (t->mode == PT_TRACED_RECORD)
            t->threads[i].room = t->threads[i].n;
        t->threads[i].n = 0;
    }
    t->now.lanes = 0;
    memset(&t->event, 0, sizeof t->event);
    memset(&t->writer, 0, sizeof t->writer);
}

/* In the schedule that differs, and in number 0. */
struct parting {
    struct pt_traced_event event[2], writer[2];
};

static void trace(struct order *o, uint64_t seed, uint64_t watched, struct parting *p)
{
    struct pt_traced t;
    memset(p, 0, sizeof *p);
    if (!start_trace(o, &t, watched))
        return;
    t.mode = PT_TRACED_RECORD;
    run_under(o, 0, &t);
    p->writer[1] = t.writer;
    rewind_trace(&t);
    t.mode = PT_TRACED_COMPARE;
    if (seed && run_under(o, seed, &t)) {
        p->event[0] = t.event;
        p->writer[0] = t.writer;
    }
    if (p->event[0].is_there) {
        rewind_trace(&t);
        t.mode = PT_TRACED_FETCH;
        run_under(o, 0, &t);
        p->event[1] = t.event;
    }
    end_trace(&t);
}

/* ---- findings -------------------------------------------------------------------------------- */

static struct pt_party party_of(const struct pt_traced_event *e, const uint64_t *value)
{
    struct pt_party p = {.who = e->is_there ? PT_PARTY_THREAD : PT_PARTY_NONE,
                         .func = e->func,
                         .insn = e->insn,
                         .use = e->use,
                         .has_address = true,
                         .has_value = true,
                         .address = e->address,
                         .bytes = e->bytes,
                         .value = *value};
    memcpy(p.cta, e->cta, sizeof p.cta);
    memcpy(p.thread, e->thread, sizeof p.thread);
    uint64_t offset = e->address & ((UINT64_C(1) << PT_TRACED_SHIFT) - 1);
    if (e->address >> PT_TRACED_SHIFT == PT_TRACED_SHARED)
        p.address = shared_place + offset;
    else if (e->address >> PT_TRACED_SHIFT == PT_TRACED_LOCAL)
        p.has_address = false;
    return p;
}

/* Of a place without a thread: nobody of them is known to have been there. */
static void add(struct order *o, enum pt_finding_kind kind, struct pt_party by,
                struct pt_party other, const char *detail)
{
    struct pt_cta cta = {.launch = &o->job->launch, .shared = (uint8_t *)(uintptr_t)shared_place};
    struct pt_warp warp = {.cta = &cta};
    if (by.who == PT_PARTY_NONE)
        by = other;
    if (by.who == PT_PARTY_NONE)
        by = (struct pt_party){.who = PT_PARTY_HOST, .place = "the launch", .insn = UINT32_MAX};
    pt_finding_add(&warp, &(struct pt_finding){kind, by, other, detail});
}

static void tell_difference(struct order *o, uint64_t seed, const struct pt_order_difference *d)
{
    char detail[256];
    struct parting p;
    trace(o, seed, d->address, &p);
    bool parts = p.event[0].is_there && p.event[1].is_there;
    int digits = (int)d->bytes * 2;
    snprintf(detail, sizeof detail,
             "%s under schedule %" PRIu64 "%s, which leaves 0x%0*" PRIx64 " at 0x%" PRIx64
             ", and under %s, which leaves 0x%0*" PRIx64,
             parts ? "they part here" : "the last writes", seed,
             is_weak(o, seed) ? " (reads may see old values)" : "", digits, d->now, d->address,
             seed ? "schedule 0" : "the default one", digits, d->first);
    const struct pt_traced_event *events = parts ? p.event : p.writer;
    add(o, PT_FINDING_ORDER_RESULT, party_of(&events[0], parts ? &events[0].value : &d->now),
        party_of(&events[1], parts ? &events[1].value : &d->first), detail);
}

static void tell_failure(struct order *o, uint64_t seed)
{
    char detail[PT_ERROR_BYTES + 128];
    const char *error = o->job->error.text;
    snprintf(detail, sizeof detail,
             "under schedule %" PRIu64 " the launch fails, and not under the default one: %.*s",
             seed, (int)strcspn(error, "\n"), error);
    add(o, PT_FINDING_ORDER_FAILURE, o->job->failed, (struct pt_party){0}, detail);
}

static void tell_prints(struct order *o, uint64_t seed)
{
    char detail[160];
    size_t at = 0, most = o->first.n < o->now.n ? o->first.n : o->now.n;
    while (at < most && o->first.v[at] == o->now.v[at])
        at++;
    snprintf(detail, sizeof detail,
             "under schedule %" PRIu64 " and under the default one it prints texts that part at "
             "byte %zu",
             seed, at);
    add(o, PT_FINDING_ORDER_TEXT, (struct pt_party){0}, (struct pt_party){0}, detail);
}

/* ---- the launch ------------------------------------------------------------------------------ */

/* False: it makes no difference. */
static bool try_schedule(struct order *o, uint64_t seed)
{
    struct pt_order_difference d;
    if (!run_under(o, seed, NULL))
        return true; /* no memory: nothing more can be said */
    if (!seed) {
        o->steps = o->schedule.steps;
        o->lane_steps = o->schedule.lane_steps;
    }
    if (o->job->result == PTERA_ERROR_OUT_OF_MEMORY || o->job->result == PTERA_ERROR_CANCELLED ||
        o->written.is_out_of_memory)
        return true;
    if (o->job->result != PTERA_OK)
        tell_failure(o, seed);
    else if (pt_order_pages_compare(&o->written, &o->excuse, &d))
        tell_difference(o, seed, &d);
    else if (prints_differ(o))
        tell_prints(o, seed);
    else
        return false;
    return true;
}

static void try_schedules(struct order *o)
{
    uint64_t first = o->engine->order.seed ? o->engine->order.seed : 1;
    uint64_t n = o->engine->order.seed ? 1 : o->engine->order.schedules;
    bool is_told = try_schedule(o, 0);
    for (uint64_t i = 0; i < n && !is_told; i++)
        is_told = try_schedule(o, first + i);
    if (o->excuse.tolerated)
        pt_engine_log(o->engine, PTERA_NOTE,
                      "order: %" PRIu64 " floating-point elements of kernel '%s' differed, within "
                      "the tolerance of %g",
                      o->excuse.tolerated, ptera_kernel_name(o->job->kernel),
                      o->engine->order.tolerance);
}

static void compare_schedules(struct order *o)
{
    char error[PT_ERROR_BYTES] = "";
    struct pt_job *job = o->job;
    struct pt_own_error own = job->error;
    uint32_t tests = job->tests;
    const struct pt_program *program = job->launch.program;
    bool is_late = job->is_late;
    job->error = (struct pt_own_error){error, sizeof error};
    o->excuse =
        (struct pt_order_excuse){.tolerance = o->engine->order.tolerance,
                                 .heap = (uintptr_t)o->engine->heap.base,
                                 .heap_bytes = o->engine->heap.base ? o->engine->heap.limit : 0};
    pt_order_pages_keep(&o->written);
    try_schedules(o);
    pt_order_pages_restore(&o->written, true);
    if (o->has_heap)
        pt_heap_restore(&o->engine->heap, &o->heap_behind);
    rewind_job(job);
    job->launch.schedule = NULL;
    job->launch.traced = NULL;
    job->launch.program = program;
    job->tests = tests;
    job->is_late = is_late;
    job->error = own;
    job->result = PTERA_OK;
}

void pt_order_run(struct pt_job *job)
{
    ptera_engine *engine = job->engine;
    struct order o = {.job = job, .engine = engine};
    const char *why = why_not(job);
    if (why)
        pt_engine_log(engine, PTERA_NOTE, "order: kernel '%s' runs under one schedule alone: %s",
                      ptera_kernel_name(job->kernel), why);
    o.written.allocator = &engine->allocator;
    pthread_mutex_lock(&engine->order.lock);
    job->launch.written = &o.written;
    o.has_heap = allocates(job);
    o.has_strong_reads = has_strong_reads(job);
    bool is_again = !why && !job->is_mute && (!o.has_heap || pt_heap_save(&engine->heap, &o.heap));
    take_printer(&o);
    pt_run_job(job);
    if (is_again && job->result == PTERA_OK &&
        (!o.has_heap || pt_heap_save(&engine->heap, &o.heap_behind)))
        compare_schedules(&o);
    give_printer(&o);
    pt_heap_drop(&engine->heap, &o.heap);
    pt_heap_drop(&engine->heap, &o.heap_behind);
    pt_written_free(&o.written);
    pthread_mutex_unlock(&engine->order.lock);
}
