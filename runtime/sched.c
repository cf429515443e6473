/* What a worker does: takes clusters in ascending order and resumes their warps in ascending
 * order; in descending order where the launch is reversed. */
#include "runtime/sched.h"

#include <string.h>

#include "backend/counts.h"
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

static bool is_stopped(struct pt_job *job)
{
    return atomic_load_explicit(&job->launch.stop, memory_order_relaxed) != 0;
}

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
        pt_report_native_timeout(w->job, cta, &fault);
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
        pass->is_over = is_stopped(job);
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

/* NULL: there is no memory. That is a failure only where nobody else has a slot to run all CTAs
 * in. */
static struct pt_slot *get_slot(struct pt_worker *w, const struct pt_native *native)
{
    struct pt_job *job = w->job;
    bool is_first = !w->slots;
    if (is_first)
        atomic_fetch_add(&job->holders, 1);
    struct pt_slot *slot = pt_slot_get(job, w->index, native);
    if (slot)
        return slot;
    bool is_alone = is_first && atomic_fetch_sub(&job->holders, 1) == 1;
    if (is_alone || job->is_cooperative)
        pt_report_failure(job, PT_FAULT_OUT_OF_MEMORY, "no memory for a CTA");
    return NULL;
}

static struct pt_slot *empty_slot(struct pt_worker *w)
{
    struct pt_slot *slot = w->spare;
    if (slot)
        w->spare = slot->next;
    return slot ? slot : get_slot(w, w->apart);
}

/* After a failure the warps' states are whatever they were: such slots are made anew. */
static void give_back(struct pt_job *job, unsigned worker, struct pt_slot *slots)
{
    while (slots) {
        struct pt_slot *next = slots->next;
        if (is_stopped(job))
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

/* Of a CTA that native code ran: how many instructions the interpreter did. */
static void count_steps(struct pt_job *job, struct pt_cta *cta)
{
    if (cta->steps)
        atomic_fetch_add_explicit(&job->kernel->stepped, cta->steps, memory_order_relaxed);
    cta->steps = 0;
}

static void retire(struct pt_worker *w, struct pt_slot **place)
{
    struct pt_slot *slot = *place;
    for (uint32_t i = 0; w->apart && i < slot->n_ctas; i++)
        count_steps(w->job, &slot->ctas[i].cta);
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
            pt_report_timeout(w->job, *place);
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
    if (is_stopped(w->job))
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
    while (!is_stopped(job)) {
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
        pt_report_timeout(job, w->slots);
}

/* ---- becoming native ------------------------------------------------------------------------- */

static const struct pt_native *native_of(struct pt_job *job)
{
    const struct pt_native *native =
        pt_native_of(atomic_load_explicit(&job->version, memory_order_acquire));
    return native && pt_native_fits(native, &job->launch) ? native : NULL;
}

/* Runs clusters until there are none, or native code can go on. */
static void run_clusters(struct pt_worker *w)
{
    struct pt_job *job = w->job;
    unsigned spent = 0;
    while (!is_stopped(job)) {
        if (!w->slots && job->may_be_native && !w->apart) {
            pt_hot_count(job, &w->interpreted);
            if (native_of(job))
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
        pt_report_timeout(w->job, w->slots);
}

/* ---- native code ----------------------------------------------------------------------------- */

/* CTAs are taken in batches, small enough that workers end together; larger where they take turns,
 * as more of them read memory in longer runs. */
enum { BATCHES = 16 /* a worker */, BATCHES_TOGETHER = 4 /* likewise */, BATCH_MAX = 256 };

/* CTAs take turns where one has had at least so many, more where few can: the last of them asks
 * in vain for what the next would read. What all those of a worker have of their own stays in a
 * cache, and those of all workers take no more mappings than the system allows (a slot takes about
 * six). */
enum {
    FEW = 3,
    LEAST_TURNS_OF_FEW = 6,
    LEAST_TURNS = 2,
    TOGETHER_BYTES = 512 << 10,
    TOGETHER_ALL = 1024
};

static uint64_t batch_size(const struct pt_job *job, uint32_t batches)
{
    uint64_t batch = job->n_clusters / ((uint64_t)job->n_workers * batches);
    return batch < 1 ? 1 : batch < BATCH_MAX ? batch : BATCH_MAX;
}

/* From the last CTA of a row that has run to the one behind it. */
static void next_row(struct pt_cta *cta)
{
    const uint32_t *grid = cta->launch->grid;
    for (int d = 0; d < 3; d++) {
        if (++cta->id[d] < grid[d])
            return;
        cta->id[d] = 0;
    }
}

/* Runs the rest of a row, or a CTA's turn. Returns false if the launch is over. */
static bool run_row(struct pt_job *job, const struct pt_native *native, struct pt_cta *cta)
{
    struct pt_fault fault = {.insn = UINT32_MAX};
    bool is_over = is_stopped(job);
    enum pt_run end = is_over ? PT_RUN_YIELDED : native->run(cta, &fault, pt_counts_covered(cta));
    if (end == PT_RUN_EXITED || (end == PT_RUN_YIELDED && cta->turn && !is_over))
        return true;
    if (end == PT_RUN_FAULT && cta->stepping)
        pt_report_fault(job, cta->stepping);
    else if (end == PT_RUN_FAULT)
        pt_report_native(job, cta, &fault);
    else
        pt_report_native_timeout(job, cta, &fault);
    return false;
}

/* Of `n` CTAs those that native code runs at once. */
static uint32_t row_of(const struct pt_native *native, const struct pt_cta *cta, uint64_t n)
{
    uint32_t rest = cta->launch->grid[0] - cta->id[0];
    return native->needs_warps ? 1 : n < rest ? (uint32_t)n : rest;
}

/* Runs `n` CTAs from number `first` on, one after the other; *turns: how many the last ones
 * took. Returns false if the launch is over. */
static bool run_batch(struct pt_worker *w, const struct pt_native *native, uint64_t first,
                      uint64_t n, uint32_t *turns)
{
    struct pt_cta *cta = w->native = &w->slots->ctas->cta;
    pt_slot_start_native(w->slots, w->job, first);
    for (uint32_t row; n; n -= row, next_row(cta)) {
        row = row_of(native, cta, n);
        cta->row_end = cta->id[0] + row;
        if (native->needs_warps)
            pt_slot_start_warps(w->slots, w->job);
        *turns = 0;
        do {
            if (!run_row(w->job, native, cta))
                return false;
            ++*turns;
        } while (cta->turn);
        pt_dependents_end(w->job, w->slots->ctas, row);
    }
    return true;
}

static void start_turns(struct pt_worker *w, uint64_t first, uint32_t n)
{
    struct pt_turn *turn = w->slots->turns;
    struct pt_slot *slot = w->slots;
    for (uint32_t i = 0; i < n; i++, slot = slot->next, turn++) {
        const struct pt_cta *cta = &slot->ctas->cta;
        pt_slot_start_native(slot, w->job, first + i);
        memcpy(turn->id, cta->id, sizeof turn->id);
        turn->shared = cta->shared;
        turn->local = cta->local;
        turn->turn = 0;
        turn->triggered = 0;
        turn->is_live = true;
    }
}

/* Runs the CTA until it asks for the others to, or ends. */
static bool run_turn(struct pt_worker *w, const struct pt_native *native, struct pt_turn *turn)
{
    struct pt_cta *cta = w->native;
    memcpy(cta->id, turn->id, sizeof cta->id);
    cta->row_end = cta->id[0] + 1;
    cta->shared = turn->shared;
    cta->local = turn->local;
    cta->scratch = turn->scratch;
    cta->turn = turn->turn;
    w->slots->ctas->triggered = turn->triggered;
    bool goes_on = run_row(w->job, native, cta);
    turn->turn = cta->turn;
    turn->is_live = cta->turn != 0;
    turn->triggered = w->slots->ctas->triggered;
    w->slots->ctas->n_triggered = turn->triggered != 0;
    if (!turn->is_live)
        pt_dependents_end(w->job, w->slots->ctas, 1);
    return goes_on;
}

/* The same for CTAs that take turns. All run in the frame of the first slot: what each turn touches
 * besides the CTA's own data lies close together, as pages that are touched in between keep the
 * machine's prefetcher from following those of the data (Zen 4, 2026-11-25: reduce takes 10.3 ms,
 * 11.1 with frames of their own). */
static bool run_together(struct pt_worker *w, const struct pt_native *native, uint64_t first,
                         uint32_t n)
{
    struct pt_cta *cta = w->native = &w->slots->ctas->cta;
    struct pt_turn *turns = w->slots->turns;
    uint8_t *scratch = cta->scratch;
    bool goes_on = true;
    start_turns(w, first, n);
    for (uint32_t live = n; live && goes_on;)
        for (uint32_t i = 0; i < n && goes_on; i++) {
            if (!turns[i].is_live)
                continue;
            goes_on = run_turn(w, native, &turns[i]);
            live -= !turns[i].is_live;
        }
    cta->shared = turns->shared;
    cta->local = turns->local;
    cta->scratch = scratch;
    return goes_on;
}

static bool add_slot(struct pt_worker *w, const struct pt_native *native)
{
    struct pt_slot *slot = get_slot(w, native);
    if (!slot)
        return false;
    slot->ctas->cta.turn = slot->ctas->cta.is_alone = 0;
    slot->next = w->slots;
    w->slots = slot;
    return true;
}

/* Slots for CTAs that take turns, where one that ran alone has had some of them. */
static uint32_t add_slots(struct pt_worker *w, const struct pt_native *native, uint32_t turns)
{
    const struct pt_launch *launch = &w->job->launch;
    uint64_t local = native->local_bytes ? launch->local_stride * launch->threads : 0;
    uint64_t most = TOGETHER_BYTES / (native->scratch_bytes + launch->shared_bytes + local + 1);
    uint32_t n = 1;
    uint64_t share = TOGETHER_ALL / w->job->n_workers;
    uint64_t batch = batch_size(w->job, BATCHES_TOGETHER);
    most = share < most ? share : most;
    most = native->together < most ? native->together : most;
    most = batch < most ? batch : most;
    uint32_t least = most <= FEW ? LEAST_TURNS_OF_FEW : LEAST_TURNS;
    while (turns >= least && n < most && add_slot(w, native))
        n++;
    return n > 1 && pt_slot_make_turns(w->slots, n, native->scratch_bytes) ? n : 1;
}

/* CTAs from number `first` up to `end`. `together` is how many take turns; 0: that is still to
 * be found out. Returns false if the launch is over. */
static bool run_ctas(struct pt_worker *w, const struct pt_native *native, uint64_t first,
                     uint64_t end, uint32_t *together)
{
    if (!*together) {
        uint32_t turns = 0;
        if (!run_batch(w, native, first++, 1, &turns))
            return false;
        *together = add_slots(w, native, turns);
        w->slots->ctas->cta.is_alone = *together == 1;
    }
    while (*together > 1 && first < end) {
        uint64_t n = *together < end - first ? *together : end - first;
        if (!run_together(w, native, first, (uint32_t)n))
            return false;
        first += n;
    }
    uint32_t turns;
    return first == end || run_batch(w, native, first, end - first, &turns);
}

/* A part's first cluster, and the one behind its last. */
static void part_of(const struct pt_job *job, unsigned part, uint64_t *from, uint64_t *stop)
{
    uint64_t each = (job->n_clusters + job->n_parts - 1) / job->n_parts;
    *from = part * each < job->n_clusters ? part * each : job->n_clusters;
    *stop = job->n_clusters - *from < each ? job->n_clusters : *from + each;
}

bool pt_sched_has_taken_all(struct pt_job *job)
{
    uint64_t from, stop;
    for (unsigned k = 0; k < job->n_parts; k++) {
        part_of(job, k, &from, &stop);
        if (atomic_load(&job->parts[k].taken) < stop - from)
            return false;
    }
    return job->n_parts || atomic_load(&job->next_cluster) >= job->n_clusters;
}

/* Of a part, `size` CTAs that no worker has yet. */
static bool take_of_part(struct pt_job *job, unsigned part, uint64_t size, uint64_t *first,
                         uint64_t *end)
{
    uint64_t from, stop, taken;
    part_of(job, part, &from, &stop);
    taken = atomic_load_explicit(&job->parts[part].taken, memory_order_relaxed);
    if (taken >= stop - from)
        return false;
    taken = atomic_fetch_add_explicit(&job->parts[part].taken, size, memory_order_relaxed);
    *first = from + taken;
    *end = *first + size < stop ? *first + size : stop;
    return taken < stop - from;
}

/* A worker begins with its own part of the grid, the same in each launch, and then helps others:
 * launches often follow one another on the same memory, which is in the caches of the core that
 * touched it. */
static bool take_batch(struct pt_worker *w, uint64_t size, uint64_t *first, uint64_t *end)
{
    struct pt_job *job = w->job;
    for (unsigned k = 0; k < job->n_parts; k++)
        if (take_of_part(job, (w->index + k) % job->n_parts, size, first, end))
            return true;
    if (job->n_parts)
        return false;
    *first = atomic_fetch_add_explicit(&job->next_cluster, size, memory_order_relaxed);
    *end = *first + size < job->n_clusters ? *first + size : job->n_clusters;
    return *first < *end;
}

static void run_native(struct pt_worker *w, const struct pt_native *native)
{
    struct pt_job *job = w->job;
    uint64_t size = batch_size(job, BATCHES), first, end;
    uint32_t together = native->together ? 0 : 1;
    if (!add_slot(w, native))
        return;
    w->native = &w->slots->ctas->cta;
    atomic_store_explicit(&job->was_native, true, memory_order_relaxed);
    while (take_batch(w, size, &first, &end)) {
        bool goes_on = run_ctas(w, native, first, end, &together);
        if (together > 1)
            size = batch_size(job, BATCHES_TOGETHER);
        count_steps(job, w->native);
        if (!goes_on)
            return;
    }
}

/* Warps are resumed as the interpreter's are. */
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
    if (!native_of(w->job)) {
        atomic_store_explicit(&w->job->was_interpreted, true, memory_order_relaxed);
        if (w->job->launch.schedule)
            run_scheduled(w);
        else
            run_clusters(w);
    }
    const struct pt_native *native = is_stopped(w->job) ? NULL : native_of(w->job);
    if (native)
        give_back_all(w); /* made for the interpreter */
    if (native && native->resume)
        run_apart(w, native);
    else if (native)
        run_native(w, native);
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

void pt_sched_part(struct pt_job *job)
{
    const struct pt_native *native = native_of(job);
    if (native && !native->resume)
        job->n_parts = job->n_workers < PT_PARTS_MOST ? job->n_workers : PT_PARTS_MOST;
}

void pt_sched_work(void *ud, unsigned worker)
{
    struct pt_job *job = ud;
    struct pt_worker w = {.job = job, .index = worker};
    if (!pt_fault_enter(&w.scope)) {
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
