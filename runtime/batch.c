/* CTAs in native code that runs each to its end: workers take them in batches, and run them in
 * rows, or several that take turns. */
#include "runtime/batch.h"

#include <string.h>

#include "backend/counts.h"
#include "runtime/dependents.h"
#include "runtime/job.h"
#include "runtime/native.h"
#include "runtime/report.h"
#include "runtime/slot.h"

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
    bool is_over = pt_job_is_stopped(job);
    enum pt_run end = is_over ? PT_RUN_YIELDED : native->run(cta, &fault, pt_counts_covered(cta));
    if (end == PT_RUN_EXITED || (end == PT_RUN_YIELDED && cta->turn && !is_over))
        return true;
    if (end == PT_RUN_FAULT && cta->stepping)
        pt_report_fault(job, cta->stepping);
    else if (end == PT_RUN_FAULT)
        pt_report_native(job, cta, &fault);
    else
        pt_report_native_stop(job, cta, &fault);
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
    struct pt_slot *slot = pt_worker_slot(w, native);
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

bool pt_batch_has_taken_all(struct pt_job *job)
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

void pt_batch_run(struct pt_worker *w, const struct pt_native *native)
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
        pt_worker_count_steps(job, w->native);
        if (!goes_on)
            return;
    }
}

/* A launch of one worker, as small ones are, has room for its part; without memory for more there
 * are none. */
void pt_batch_part(struct pt_job *job)
{
    const struct pt_native *native = pt_native_of_job(job);
    if (!native || native->resume)
        return;
    unsigned n = job->n_workers < PT_PARTS_MOST ? job->n_workers : PT_PARTS_MOST;
    atomic_store(&job->only_part.taken, 0);
    job->parts = n == 1 ? &job->only_part : pt_engine_alloc(job->engine, n * sizeof *job->parts);
    job->n_parts = job->parts ? n : 0;
}

void pt_batch_drop_parts(struct pt_job *job)
{
    if (job->parts != &job->only_part)
        pt_engine_free(job->engine, job->parts);
    job->parts = NULL;
    job->n_parts = 0;
}
