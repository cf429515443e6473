/* What a worker does: takes clusters in ascending order and resumes their warps in ascending
 * order; in descending order where the launch is reversed. */
#include "runtime/sched.h"

#include "backend/counts.h"
#include "runtime/batch.h"
#include "runtime/dependents.h"
#include "runtime/fault.h"
#include "runtime/fpenv.h"
#include "runtime/hot.h"
#include "runtime/jit.h"
#include "runtime/job.h"
#include "runtime/native.h"
#include "runtime/observe.h"
#include "runtime/report.h"
#include "runtime/schedule.h"
#include "runtime/slot.h"
#include "runtime/stray.h"
#include "runtime/stuck.h"
#include "runtime/worker.h"

/* A cluster's turn ends after this many passes over its warps, or this many in which they only
 * spun. A round over all resident clusters in which none came to its end costs patience, more if
 * all only spun; when it is used up the worker starts one more cluster, since what they wait for
 * may not have started. Counted, not timed, so that one worker always does the same. */
enum { TURN_PASSES = 1024, SPIN_PASSES = 16, PATIENCE = 64, COST_SPUN = 16, COST_MOVED = 1 };

enum turn { TURN_DONE, TURN_MOVED, TURN_SPUN, TURN_STOPPED };

/* ---- one cluster ----------------------------------------------------------------------------- */

struct pass {
    bool has_yielded;
    bool is_over; /* a warp failed, or the launch was stopped */
};

/* Goes on with a warp, and reports its failure. */
static enum pt_run resume_interpreted(struct pt_worker *w, struct pt_warp *warp)
{
    w->running = warp;
    enum pt_run run = w->job->launch.program->engine->resume(warp);
    w->running = NULL;
    if (run == PT_RUN_FAULT)
        pt_report_fault(w->job, warp);
    return run;
}

static enum pt_run resume_native(struct pt_worker *w, struct pt_warp *warp)
{
    struct pt_fault fault = {.insn = UINT32_MAX};
    struct pt_cta *cta = w->native = warp->cta;
    enum pt_run run = w->apart->resume(warp, &fault, pt_counts_covered(cta));
    w->native = NULL;
    if (run == PT_RUN_FAULT && cta->stepping)
        pt_report_fault(w->job, warp);
    else if (run == PT_RUN_FAULT)
        pt_report_native(w->job, cta, &fault);
    else if (fault.insn != UINT32_MAX)
        pt_report_native_stop(w->job, cta, &fault);
    return run;
}

static void resume_all(struct pt_worker *w, struct pt_slot *slot, struct pass *pass)
{
    struct pt_job *job = w->job;
    const struct pt_launch *launch = &job->launch;
    uint32_t n = slot->n_ctas * launch->n_warps;
    for (uint32_t i = 0; i < n; i++) {
        struct pt_warp *warp = &slot->warps[launch->is_reversed ? n - 1 - i : i];
        if (!pt_slot_is_runnable(warp))
            continue;
        warp->wait_bar = PT_NO_BARRIER;
        enum pt_run run = w->apart ? resume_native(w, warp) : resume_interpreted(w, warp);
        pass->has_yielded |= run == PT_RUN_YIELDED;
        pass->is_over = pt_job_is_stopped(job);
        if (pass->is_over)
            return;
    }
}

/* Grows when a cluster gets on. */
static uint64_t progress_of(const struct pt_slot *slot)
{
    uint64_t events = slot->events;
    for (uint32_t i = 0; i < slot->n_ctas; i++)
        events += slot->ctas[i].cta.phases;
    return events;
}

/* Runs a cluster until it is through or only spins, or for long enough. */
static enum turn take_turn(struct pt_worker *w, struct pt_slot *slot)
{
    uint64_t before = progress_of(slot);
    for (unsigned passes = 0, spun = 0; passes < TURN_PASSES && spun < SPIN_PASSES; passes++) {
        uint64_t progress = progress_of(slot);
        struct pass pass = {0};
        resume_all(w, slot, &pass);
        if (pass.is_over)
            return TURN_STOPPED;
        if (slot->live_ctas == 0)
            return TURN_DONE;
        if (progress_of(slot) != progress) {
            spun = 0;
        } else if (pass.has_yielded) {
            spun++;
        } else {
            pt_report_deadlock(w->job, slot);
            return TURN_STOPPED;
        }
    }
    bool has_moved = progress_of(slot) != before;
    if (w->job->tests & PT_TEST_sync && pt_stuck_is(w->job, slot, has_moved)) {
        pt_report_deadlock(w->job, slot);
        return TURN_STOPPED;
    }
    return has_moved ? TURN_MOVED : TURN_SPUN;
}

/* ---- residents ------------------------------------------------------------------------------- */

/* Takes `n` clusters that no worker has yet. Returns false if there are none left. */
static bool claim(struct pt_worker *w, uint64_t n)
{
    struct pt_job *job = w->job;
    if (atomic_load_explicit(&job->next_cluster, memory_order_relaxed) >= job->n_clusters)
        return false;
    w->next = atomic_fetch_add_explicit(&job->next_cluster, n, memory_order_relaxed);
    w->end = w->next + n < job->n_clusters ? w->next + n : job->n_clusters;
    return w->next < w->end;
}

/* Of a cooperative launch a worker takes a share at once. Another share becomes its own when it
 * has nothing else to do: the worker it was meant for may come late, or never. */
static bool next_cluster(struct pt_worker *w, uint64_t *index)
{
    const struct pt_job *job = w->job;
    uint64_t share =
        job->is_cooperative ? (job->n_clusters + job->n_workers - 1) / job->n_workers : 1;
    if (w->next >= w->end && !claim(w, share))
        return false;
    *index = job->launch.schedule      ? pt_schedule_cluster(job, w->next)
             : job->launch.is_reversed ? job->n_clusters - 1 - w->next
                                       : w->next;
    w->next++;
    return true;
}

static struct pt_slot *empty_slot(struct pt_worker *w)
{
    struct pt_slot *slot = w->spare;
    if (slot)
        w->spare = slot->next;
    return slot ? slot : pt_worker_slot(w, w->apart);
}

/* After a failure the warps' states are whatever they were: such slots are made anew. */
static void give_back(struct pt_job *job, unsigned worker, struct pt_slot *slots)
{
    while (slots) {
        struct pt_slot *next = slots->next;
        if (pt_job_is_stopped(job))
            slots->kernel = NULL;
        pt_slot_put(job, worker, slots);
        slots = next;
    }
}

static void give_back_all(struct pt_worker *w)
{
    if (w->slots || w->spare)
        atomic_fetch_sub(&w->job->holders, 1);
    give_back(w->job, w->index, w->slots);
    give_back(w->job, w->index, w->spare);
    w->slots = w->spare = NULL;
}

static bool may_admit(struct pt_job *job)
{
    if (atomic_fetch_add(&job->residents, 1) < job->capacity)
        return true;
    atomic_fetch_sub(&job->residents, 1);
    return false;
}

/* Starts one more cluster, behind the others. Returns false if there is none left or no room. */
static bool admit(struct pt_worker *w)
{
    struct pt_job *job = w->job;
    uint64_t index;
    if (w->slots && !may_admit(job))
        return false;
    if (!w->slots)
        atomic_fetch_add(&job->residents, 1);
    struct pt_slot *slot = empty_slot(w);
    bool found = slot && next_cluster(w, &index);
    if (!found) {
        atomic_fetch_sub(&job->residents, 1);
        if (slot) {
            slot->next = w->spare;
            w->spare = slot;
        }
        return false;
    }
    pt_slot_start(slot, job, index);
    if (job->launch.schedule)
        pt_schedule_rank(job->launch.schedule, slot);
    struct pt_slot **end = &w->slots;
    while (*end)
        end = &(*end)->next;
    slot->next = NULL;
    *end = slot;
    return true;
}

static void retire(struct pt_worker *w, struct pt_slot **place)
{
    struct pt_slot *slot = *place;
    for (uint32_t i = 0; w->apart && i < slot->n_ctas; i++)
        pt_worker_count_steps(w->job, &slot->ctas[i].cta);
    for (uint32_t i = 0; i < slot->n_ctas; i++)
        pt_dependents_end(w->job, &slot->ctas[i], 1);
    if (w->job->tests & PT_TEST_OBSERVERS)
        pt_observe_ended(&slot->ctas->cta);
    *place = slot->next;
    slot->next = w->spare;
    w->spare = slot;
    atomic_fetch_sub(&w->job->residents, 1);
}

/* One turn for each resident cluster. Returns what it cost of the patience; 0 if a cluster came
 * to its end. */
static unsigned go_round(struct pt_worker *w)
{
    bool ended = false, moved = false;
    for (struct pt_slot **place = &w->slots; *place;) {
        enum turn turn = take_turn(w, *place);
        if (turn == TURN_STOPPED) {
            pt_report_stop(w->job, *place);
            return 0;
        }
        ended |= turn == TURN_DONE;
        moved |= turn == TURN_MOVED;
        if (turn == TURN_DONE)
            retire(w, place);
        else
            place = &(*place)->next;
    }
    return ended ? 0 : moved ? COST_MOVED : COST_SPUN;
}

/* ---- by a schedule --------------------------------------------------------------------------- */

/* Who runs, runs until it waits or ends, spins, or falls behind. */
static void run_warp(struct pt_worker *w, struct pt_warp *warp)
{
    struct pt_schedule *schedule = w->job->launch.schedule;
    struct pt_slot *slot = pt_resident_of(warp->cta)->slot, **place = &w->slots;
    warp->wait_bar = PT_NO_BARRIER;
    schedule->has_stopped = false;
    uint64_t events = slot->events;
    enum pt_run run = resume_interpreted(w, warp);
    if (pt_job_is_stopped(w->job))
        return;
    if (schedule->steps >= schedule->end)
        pt_report_endless(w->job, slot);
    else if (schedule->has_stopped)
        pt_schedule_fall_behind(schedule, w->slots, warp);
    else
        warp->has_let = run == PT_RUN_YIELDED;
    if (run == PT_RUN_WAITING)
        pt_schedule_wait(slot, warp, events);
    while (*place != slot)
        place = &(*place)->next;
    if (slot->live_ctas == 0)
        retire(w, place);
}

/* All clusters that may be resident are, as warps of any of them may go on first. What they wait
 * for may be in one that is not. */
static void run_scheduled(struct pt_worker *w)
{
    struct pt_job *job = w->job;
    uint64_t wanted = pt_schedule_residents(job);
    unsigned spent = 0;
    while (!pt_job_is_stopped(job)) {
        while (atomic_load(&job->residents) < wanted && admit(w))
            continue;
        if (!w->slots)
            return;
        bool is_round = false;
        struct pt_warp *warp = pt_schedule_pick(w->slots, &is_round);
        if (warp)
            run_warp(w, warp);
        spent = is_round ? spent + COST_SPUN : spent;
        if (warp && spent < PATIENCE)
            continue;
        spent = 0;
        if (admit(w))
            wanted++;
        else if (!warp)
            pt_report_deadlock(job, w->slots);
    }
    if (w->slots)
        pt_report_stop(job, w->slots);
}

/* ---- becoming native ------------------------------------------------------------------------- */

/* Runs clusters until there are none, or native code can go on. */
static void run_clusters(struct pt_worker *w)
{
    struct pt_job *job = w->job;
    unsigned spent = 0;
    while (!pt_job_is_stopped(job)) {
        if (!w->slots && job->may_be_native && !w->apart) {
            pt_hot_count(job, &w->interpreted);
            if (pt_native_of_job(job))
                return;
        }
        if ((!w->slots || spent >= PATIENCE) && admit(w))
            spent = 0;
        while (w->next < w->end && admit(w)) /* cooperative: all of the share */
            continue;
        if (!w->slots)
            return;
        unsigned cost = go_round(w);
        spent = cost ? spent + cost : 0;
    }
    if (w->slots) /* the time may have been over before they had a turn */
        pt_report_stop(w->job, w->slots);
}

/* Native code of which warps are resumed as the interpreter's are. */
static void run_apart(struct pt_worker *w, const struct pt_native *native)
{
    w->apart = native;
    atomic_store_explicit(&w->job->was_native, true, memory_order_relaxed);
    run_clusters(w);
}

/* ---- the worker ------------------------------------------------------------------------------ */

static void native_fault(struct pt_worker *w)
{
    struct pt_fault fault = {
        .kind = PT_FAULT_ILLEGAL_ADDRESS, .insn = UINT32_MAX, .has_address = true};
    fault.address = w->scope.address;
    if (w->native && w->native->sampling) {
        fault.func = (uint32_t)((w->native->sampling - 1) >> 32);
        fault.insn = (uint32_t)(w->native->sampling - 1);
        w->native->sampling = 0;
    } else {
        pt_jit()->locate(w->scope.pc, &fault.func, &fault.insn);
    }
    pt_report_native(w->job, w->native, &fault);
}

static void memory_fault(struct pt_worker *w)
{
    struct pt_warp *warp = w->native ? w->native->stepping : w->running;
    pt_fpenv_reset();
    if (!warp) {
        native_fault(w);
        return;
    }
    warp->fault = (struct pt_fault){.kind = PT_FAULT_ILLEGAL_ADDRESS, .insn = UINT32_MAX};
    warp->cta->launch->program->engine->locate(warp, w->scope.address);
    pt_report_fault(w->job, warp);
}

/* Faults come back here; nothing but *w is looked at afterwards. */
static void run_guarded(struct pt_worker *w)
{
    if (sigsetjmp(w->scope.recover, 0)) {
        memory_fault(w);
        return;
    }
    w->interpreted = pt_hot_now();
    if (!pt_native_of_job(w->job)) {
        atomic_store_explicit(&w->job->was_interpreted, true, memory_order_relaxed);
        if (w->job->launch.schedule)
            run_scheduled(w);
        else
            run_clusters(w);
    }
    const struct pt_native *native = pt_job_is_stopped(w->job) ? NULL : pt_native_of_job(w->job);
    if (native)
        give_back_all(w); /* made for the interpreter */
    if (native && native->resume)
        run_apart(w, native);
    else if (native)
        pt_batch_run(w, native);
}

/* Where accesses outside may go on. */
static void run_tolerant(struct pt_worker *w)
{
    struct pt_strays strays = {0};
    w->strays = &strays;
    w->scope.tolerate_ud = w;
    w->scope.tolerate = pt_stray_take;
    run_guarded(w);
    pt_stray_tell(w);
}

void pt_sched_work(void *ud, unsigned worker)
{
    struct pt_job *job = ud;
    struct pt_worker w = {.job = job, .index = worker};
    if (!pt_fault_enter(&w.scope, job->run)) {
        pt_report_failure(job, PT_FAULT_OUT_OF_MEMORY, "no memory for a worker's signal stack");
        return;
    }
    if (job->engine->mem.is_tolerant)
        run_tolerant(&w);
    else
        run_guarded(&w);
    pt_fault_leave(&w.scope);
    give_back_all(&w);
}
