/* Failures of kernels in words: what, in which kernel, where in the text, which threads, what
 * lies near. */
#include "runtime/report.h"

#include <inttypes.h>
#include <string.h>

#include "backend/observer.h"
#include "runtime/engine.h"
#include "runtime/finding.h"
#include "runtime/jit.h"
#include "runtime/job.h"
#include "runtime/near.h"
#include "runtime/slot.h"
#include "runtime/stuck.h"
#include "runtime/words.h"
#include "runtime/worker.h"

enum { LINES_MAX = 32 /* waiting groups that are listed */ };

static const char *const kind_text[] = {
    [PT_FAULT_ILLEGAL_ADDRESS] = "illegal address",
    [PT_FAULT_BEYOND_LOCAL] = "illegal address",
    [PT_FAULT_INVALID_FREE] = "illegal address",
    [PT_FAULT_MISALIGNED] = "misaligned address",
    [PT_FAULT_TRAP] = "trap",
    [PT_FAULT_ASSERT] = "failed assertion",
    [PT_FAULT_STACK_OVERFLOW] = "stack overflow",
    [PT_FAULT_ILLEGAL_INSTRUCTION] = "illegal instruction",
    [PT_FAULT_MASK] = "illegal instruction",
    [PT_FAULT_BARRIER] = "illegal instruction",
    [PT_FAULT_MBARRIER] = "illegal instruction",
    [PT_FAULT_DEADLOCK] = "deadlock",
    [PT_FAULT_TIMEOUT] = "timeout",
    [PT_FAULT_CANCELLED] = "cancelled",
    [PT_FAULT_OUT_OF_MEMORY] = "out of memory",
    [PT_FAULT_HOST_FUNCTION] = "failure of a host function",
};
_Static_assert(sizeof kind_text / sizeof *kind_text == PT_FAULT_HOST_FUNCTION + 1,
               "the last of enum pt_fault_kind");

static const char *text_of(enum pt_fault_kind kind)
{
    bool is_known = kind > PT_FAULT_NONE && kind < sizeof kind_text / sizeof *kind_text;
    return is_known ? kind_text[kind] : "failure";
}

/* The first to fail stops the launch and reports; others leave silently. Of those whom the time
 * limit cut short, one reports. */
static bool stop(struct pt_job *job, enum pt_fault_kind kind)
{
    int now = PT_FAULT_NONE;
    if (!atomic_compare_exchange_strong(&job->launch.stop, &now, (int)kind) &&
        (kind != PT_FAULT_TIMEOUT || now != PT_FAULT_TIMEOUT))
        return false;
    return !atomic_exchange(&job->is_reported, true);
}

/* ---- places ---------------------------------------------------------------------------------- */

static void put_function(struct pt_words *w, uint32_t func)
{
    const struct pt_module *ir = &w->job->kernel->module->ir;
    if (func != PT_NONE && func < ir->funcs.n && func != w->job->kernel->func)
        pt_words_put(w, "\n  in function '%s'", ir->funcs.v[func].name);
}

/* The line of PTX text. */
static void put_line(struct pt_words *w, uint32_t func, uint32_t index)
{
    const ptera_module *module = w->job->kernel->module;
    const struct pt_insn *insn = pt_words_insn(module, func, index);
    size_t n;
    const char *line = insn ? pt_words_line(module, insn->line, &n) : NULL;
    if (line && n)
        pt_words_put(w, "\n  %.*s", (int)(n < 160 ? n : 160), line);
}

static void put_threads(struct pt_words *w, uint32_t warp, uint32_t lanes)
{
    if (!lanes) {
        pt_words_put(w, ", warp %" PRIu32, warp);
        return;
    }
    const uint32_t *block = w->job->launch.block;
    uint32_t thread = warp * PT_WARP_SIZE + (uint32_t)__builtin_ctz(lanes);
    int more = __builtin_popcount(lanes) - 1;
    pt_words_put(w, ", thread (%" PRIu32 ",%" PRIu32 ",%" PRIu32 ")", thread % block[0],
                 thread / block[0] % block[1], thread / block[0] / block[1]);
    if (more)
        pt_words_put(w, " and %d more of warp %" PRIu32, more, warp);
}

/* ---- what lies near an address --------------------------------------------------------------- */

/* Ordinary accesses of multicast memory are undefined in the ISA; its pages allow none. */
static bool put_multicast(struct pt_words *w, const struct pt_fault *fault)
{
    const ptera_engine *engine = w->job->engine;
    struct pt_replicas replicas;
    bool is_ordinary = fault->kind == PT_FAULT_ILLEGAL_ADDRESS && !fault->detail;
    if (!is_ordinary || !engine->replicas ||
        engine->replicas(fault->address, false, &replicas) == pt_no_multicast)
        return false;
    pt_words_put(w, "\n  a multimem address in an ordinary access");
    return true;
}

static void put_nearest(struct pt_words *w, const struct pt_cta *cta, uint64_t address)
{
    pt_near_put(w, cta, address, "\n  the address is ");
}

/* ---- reports --------------------------------------------------------------------------------- */

static void put_head(struct pt_words *w, const struct pt_cta *cta, const struct pt_fault *fault)
{
    const ptera_kernel *kernel = w->job->kernel;
    pt_words_put(w, "%s", text_of(fault->kind));
    if (fault->has_address && fault->address != PT_ADDRESS_UNKNOWN)
        pt_words_put(w, " 0x%" PRIx64, fault->address);
    pt_words_put(w, " in kernel '%s' at ", kernel->module->ir.funcs.v[kernel->func].name);
    pt_words_place(w, fault->func, fault->insn, false);
    pt_words_cta(w, cta);
}

/* A line of places: a waiting group, or the same of several warps in a row. */
struct place_line {
    const struct pt_warp *first, *last;
    uint32_t func, insn, lanes, bar;
};

struct places {
    struct pt_words w;
    const struct pt_warp *warp;
    struct place_line line; /* not written yet; `first` is NULL if there is none */
    unsigned count;
};

static void put_line_of_places(struct places *p)
{
    const struct place_line *l = &p->line;
    if (!l->first || ++p->count > LINES_MAX)
        return;
    const struct pt_cta *cta = l->first->cta;
    pt_words_put(&p->w, "\n  CTA (%" PRIu32 ",%" PRIu32 ",%" PRIu32 ") ", cta->id[0], cta->id[1],
                 cta->id[2]);
    if (l->first == l->last)
        pt_words_put(&p->w, "warp %" PRIu32, l->first->index);
    else
        pt_words_put(&p->w, "warps %" PRIu32 " to %" PRIu32, l->first->index, l->last->index);
    pt_words_put(&p->w, " lanes 0x%08" PRIx32, l->lanes);
    if (l->bar == PT_CLUSTER_BARRIER)
        pt_words_put(&p->w, " at the cluster's barrier");
    else if (l->bar < PT_BARRIERS)
        pt_words_put(&p->w, " at barrier %" PRIu32, l->bar);
    pt_words_put(&p->w, ", ");
    pt_words_place(&p->w, l->func, l->insn, false);
}

static void put_group(void *ud, uint32_t func, uint32_t insn, uint32_t lanes, uint32_t bar)
{
    struct places *p = ud;
    struct place_line *l = &p->line;
    bool is_next =
        l->first && l->first->cta == p->warp->cta && p->warp->index == l->last->index + 1;
    if (is_next && l->func == func && l->insn == insn && l->lanes == lanes && l->bar == bar) {
        l->last = p->warp;
        return;
    }
    put_line_of_places(p);
    *l = (struct place_line){p->warp, p->warp, func, insn, lanes, bar};
}

/* Where a warp of the slot stands: as pt_engine.places. */
static void find_places(const struct pt_slot *slot, const struct pt_warp *warp,
                        void (*found)(void *ud, uint32_t func, uint32_t insn, uint32_t lanes,
                                      uint32_t bar),
                        void *ud)
{
    if (slot->apart)
        pt_jit()->places(slot->apart, warp, found, ud);
    else
        warp->cta->launch->program->engine->places(warp, found, ud);
}

static void put_places(struct pt_job *job, struct pt_words *w, const struct pt_slot *slot)
{
    struct places p = {.w = *w};
    for (uint32_t i = 0; i < slot->n_ctas * job->launch.n_warps; i++) {
        p.warp = &slot->warps[i];
        if (p.warp->live)
            find_places(slot, p.warp, put_group, &p);
    }
    put_line_of_places(&p);
    if (p.count > LINES_MAX)
        pt_words_put(&p.w, "\n  and %u more", p.count - LINES_MAX);
    *w = p.w;
}

/* Where it failed, for those who ask afterwards. */
static void keep_place(struct pt_job *job, const struct pt_warp *warp, const struct pt_fault *fault)
{
    uint32_t lane = fault->lanes ? (uint32_t)__builtin_ctz(fault->lanes) : 0;
    job->failed = pt_party_of(warp, lane, fault->func, fault->insn);
}

/* `warp` is NULL where it is not known. */
static void report(struct pt_job *job, const struct pt_cta *cta, const struct pt_warp *warp,
                   const struct pt_fault *fault)
{
    if (!stop(job, fault->kind == PT_FAULT_NONE ? PT_FAULT_ILLEGAL_INSTRUCTION : fault->kind))
        return;
    struct pt_words w = {job, job->report, 0};
    if (warp)
        keep_place(job, warp, fault);
    pthread_mutex_lock(&job->kernel->module->lock);
    put_head(&w, cta, fault);
    if (warp || fault->lanes)
        put_threads(&w, warp ? warp->index : fault->warp, fault->lanes);
    put_function(&w, fault->func);
    put_line(&w, fault->func, fault->insn);
    if (fault->detail)
        pt_words_put(&w, "\n  %s", fault->detail);
    bool is_known = fault->has_address && fault->address != PT_ADDRESS_UNKNOWN;
    if (is_known && !put_multicast(&w, fault))
        put_nearest(&w, cta, fault->address);
    if (warp && fault->kind == PT_FAULT_DEADLOCK)
        put_places(job, &w, pt_resident_of(cta)->slot);
    pthread_mutex_unlock(&job->kernel->module->lock);
}

void pt_report_fault(struct pt_job *job, const struct pt_warp *warp)
{
    pt_finding_add_fault(warp, &warp->fault);
    report(job, warp->cta, warp, &warp->fault);
}

void pt_report_native(struct pt_job *job, struct pt_cta *cta, const struct pt_fault *fault)
{
    struct pt_warp warp = {0};
    if (job->tests & PT_TEST_OBSERVERS) {
        pt_warp_place(&warp, cta, &job->launch, fault->warp);
        pt_finding_add_fault(&warp, fault);
    }
    report(job, cta, NULL, fault);
}

void pt_report_stray(struct pt_job *job, const struct pt_stray *stray, char text[PT_ERROR_BYTES])
{
    struct pt_words w = {job, text, 0};
    struct pt_cta cta = {.id = {stray->cta[0], stray->cta[1], stray->cta[2]},
                         .launch = &job->launch};
    put_head(&w, &cta, &stray->fault);
    if (stray->has_warp)
        put_threads(&w, stray->warp, stray->fault.lanes);
    put_function(&w, stray->fault.func);
    put_line(&w, stray->fault.func, stray->fault.insn);
    put_nearest(&w, NULL, stray->fault.address);
    pt_words_put(
        &w,
        "\n  the kernel goes on, as it would on a GPU, whose pages have 2 MiB (PTERA_OOB=warn)");
}

/* The place of the first group of the first warp: what the head of the message names. */
static void take_place(void *ud, uint32_t func, uint32_t insn, uint32_t lanes, uint32_t bar)
{
    struct pt_fault *fault = ud;
    (void)bar;
    if (fault->lanes)
        return;
    fault->func = func;
    fault->insn = insn;
    fault->lanes = lanes;
}

static void put_all(struct pt_job *job, const struct pt_slot *slot, enum pt_fault_kind kind,
                    const char *text)
{
    struct pt_words w = {job, job->report, 0};
    struct pt_fault fault = {.kind = kind, .insn = UINT32_MAX};
    const struct pt_warp *warp = slot->warps;
    while (!warp->live && warp < slot->warps + slot->n_ctas * job->launch.n_warps - 1)
        warp++;
    if (warp->live)
        find_places(slot, warp, take_place, &fault);
    char detail[PT_ERROR_BYTES] = "every thread that has not exited waits for another one";
    if (kind == PT_FAULT_DEADLOCK) {
        struct pt_words graph = {job, detail, strlen(detail)};
        pt_stuck_put(&graph, slot, "; ");
        fault.detail = detail;
        pt_finding_add_fault(warp, &fault);
    }
    keep_place(job, warp, &fault);
    pthread_mutex_lock(&job->kernel->module->lock);
    put_head(&w, warp->cta, &fault);
    put_threads(&w, warp->index, fault.lanes);
    pt_words_put(&w, "\n  %s", text);
    put_places(job, &w, slot);
    if (kind == PT_FAULT_DEADLOCK)
        pt_stuck_put(&w, slot, "\n  ");
    pthread_mutex_unlock(&job->kernel->module->lock);
}

void pt_report_deadlock(struct pt_job *job, const struct pt_slot *slot)
{
    if (stop(job, PT_FAULT_DEADLOCK))
        put_all(job, slot, PT_FAULT_DEADLOCK,
                "every thread that has not exited waits for another one:");
}

/* It was stopped from outside, and nobody has reported that yet. */
static bool is_to_report(struct pt_job *job, enum pt_fault_kind *kind)
{
    *kind = (enum pt_fault_kind)atomic_load(&job->launch.stop);
    return (*kind == PT_FAULT_TIMEOUT || *kind == PT_FAULT_CANCELLED) &&
           !atomic_exchange(&job->is_reported, true);
}

void pt_report_stop(struct pt_job *job, const struct pt_slot *slot)
{
    enum pt_fault_kind kind;
    if (is_to_report(job, &kind))
        put_all(job, slot, kind,
                kind == PT_FAULT_TIMEOUT ? "the time limit is over; the threads were here:"
                                         : "the threads were here:");
}

void pt_report_endless(struct pt_job *job, const struct pt_slot *slot)
{
    if (stop(job, PT_FAULT_TIMEOUT))
        put_all(job, slot, PT_FAULT_TIMEOUT, "it does not come to its end; the threads were here:");
}

void pt_report_native_stop(struct pt_job *job, const struct pt_cta *cta,
                           const struct pt_fault *place)
{
    enum pt_fault_kind kind;
    if (!is_to_report(job, &kind))
        return;
    struct pt_words w = {job, job->report, 0};
    struct pt_fault fault = {.kind = kind, .func = place->func, .insn = place->insn};
    pthread_mutex_lock(&job->kernel->module->lock);
    put_head(&w, cta, &fault);
    put_line(&w, fault.func, fault.insn);
    pt_words_put(&w, "\n  %snative code does not tell which threads were here",
                 kind == PT_FAULT_TIMEOUT ? "the time limit is over; " : "");
    pthread_mutex_unlock(&job->kernel->module->lock);
}

void pt_report_failure(struct pt_job *job, enum pt_fault_kind kind, const char *text)
{
    if (!stop(job, kind))
        return;
    struct pt_words w = {job, job->report, 0};
    const ptera_kernel *kernel = job->kernel;
    pt_words_put(&w, "%s in kernel '%s' at %s: %s", text_of(kind),
                 kernel->module->ir.funcs.v[kernel->func].name, kernel->module->name, text);
}
