/* Room for resident clusters. */
#define _GNU_SOURCE
#include "runtime/slot.h"

#include <string.h>
#include <sys/mman.h>

#include "ir/bits.h"
#include "runtime/barrier.h"
#include "runtime/dependents.h"
#include "runtime/engine.h"
#include "runtime/job.h"
#include "runtime/observe.h"

enum {
    FRAME_ALIGN = 64,
    SLOTS_KEPT = 16,
    CLEARED_MAX =
        256 << 10 /* larger frames are mapped anew: most of a stack for calls is never touched */
};
/* of generic addresses that are shared memory's */
static const size_t shared_span = (size_t)1 << 32;

/* What a cluster that failed had put off, and what was watched. */
static void drop_operations(ptera_engine *engine, struct pt_slot *slot)
{
    struct pt_async *q = &slot->async;
    while (q->n)
        pt_engine_free(engine, q->ops[--q->n]);
    while (q->race.n)
        pt_engine_free(engine, q->race.watches[--q->race.n]);
}

/* What observers kept for its CTAs. */
static void drop_kept(ptera_engine *engine, struct pt_slot *slot)
{
    for (void *block; (block = slot->kept);) {
        memcpy(&slot->kept, block, sizeof block);
        pt_engine_free(engine, block);
    }
}

/* What lies there afterwards is not the kernels': init's checker forgets what it knew of it. */
static void unreserve(ptera_engine *engine, void *base, size_t bytes)
{
    pt_mem_set_written(&engine->mem, (uintptr_t)base, base ? bytes : 0, true);
    pt_mem_unreserve(base, bytes);
}

static void drop_local(ptera_engine *engine, struct pt_slot *slot)
{
    unreserve(engine, slot->local, slot->local_bytes);
    pt_mem_refund(&engine->mem, slot->local_charge);
    slot->local = NULL;
    slot->local_bytes = slot->local_charge = 0;
}

static void slot_free(ptera_engine *engine, struct pt_slot *slot)
{
    unreserve(engine, slot->range, slot->range_bytes);
    drop_local(engine, slot);
    pt_mem_unreserve(slot->frames, slot->frames_bytes);
    pt_mem_unreserve((uint8_t *)slot->turns, slot->turns_bytes);
    drop_operations(engine, slot);
    drop_kept(engine, slot);
    pt_engine_free(engine, slot->async.ops);
    pt_engine_free(engine, slot->async.mbarriers);
    pt_engine_free(engine, slot->async.race.watches);
    pt_engine_free(engine, slot->async.race.nodes);
    pt_engine_free(engine, slot->async.race.lines);
    pt_engine_free(engine, slot->async.race.keys);
    pt_engine_free(engine, slot);
}

/* Workers' own slots become slots for all. With the lock. */
static void gather_own(ptera_engine *engine)
{
    for (unsigned i = 0; i < PT_OWN * PT_OWN_KERNELS; i++) {
        struct pt_own *own = &engine->own[i / PT_OWN_KERNELS];
        struct pt_slot *slot = atomic_exchange(&own->slots[i % PT_OWN_KERNELS], NULL);
        if (!slot)
            continue;
        slot->next = engine->slots;
        engine->slots = slot;
        engine->n_slots++;
    }
}

bool pt_slot_reclaim(void *ud)
{
    ptera_engine *engine = ud;
    pthread_mutex_lock(&engine->lock);
    gather_own(engine);
    struct pt_slot *slots = engine->slots;
    bool has_any = slots != NULL;
    engine->slots = NULL;
    engine->n_slots = 0;
    pthread_mutex_unlock(&engine->lock);
    while (slots) {
        struct pt_slot *next = slots->next;
        slot_free(engine, slots);
        slots = next;
    }
    return has_any;
}

void pt_slot_forget(ptera_engine *engine, const ptera_module *module)
{
    pthread_mutex_lock(&engine->lock);
    gather_own(engine);
    for (struct pt_slot *slot = engine->slots; slot; slot = slot->next)
        if (slot->kernel >= module->kernels && slot->kernel < module->kernels + module->n_kernels)
            slot->kernel = NULL;
    pthread_mutex_unlock(&engine->lock);
}

static void put_for_all(ptera_engine *engine, struct pt_slot *slot)
{
    pthread_mutex_lock(&engine->lock);
    bool keep = engine->n_slots < engine->threads * PT_TOGETHER_MAX + SLOTS_KEPT;
    if (keep) {
        slot->next = engine->slots;
        engine->slots = slot;
        engine->n_slots++;
    }
    pthread_mutex_unlock(&engine->lock);
    if (!keep)
        slot_free(engine, slot);
}

/* Where the worker's own slot for the kernel may be; NULL: it has none. */
static _Atomic(struct pt_slot *) *own_place(struct pt_job *job, unsigned worker)
{
    struct pt_own *own = job->engine->own;
    return worker < PT_OWN ? &own[worker].slots[job->kernel->func % PT_OWN_KERNELS] : NULL;
}

void pt_slot_put(struct pt_job *job, unsigned worker, struct pt_slot *slot)
{
    _Atomic(struct pt_slot *) *place = own_place(job, worker);
    struct pt_slot *none = NULL;
    if (!place || !atomic_compare_exchange_strong(place, &none, slot))
        put_for_all(job->engine, slot);
}

/* The worker's own slot, if it was made for the same kernel. */
static struct pt_slot *take_own(struct pt_job *job, unsigned worker)
{
    _Atomic(struct pt_slot *) *place = own_place(job, worker);
    struct pt_slot *slot = place ? atomic_exchange(place, NULL) : NULL;
    if (!slot || slot->kernel == job->kernel)
        return slot;
    put_for_all(job->engine, slot);
    return NULL;
}

/* An idle slot, one made for the same kernel if there is one, or a new one. */
static struct pt_slot *take(struct pt_job *job, unsigned worker)
{
    ptera_engine *engine = job->engine;
    struct pt_slot *own = take_own(job, worker);
    if (own)
        return own;
    pthread_mutex_lock(&engine->lock);
    struct pt_slot **best = &engine->slots;
    for (struct pt_slot **p = &engine->slots; *p; p = &(*p)->next) {
        if ((*p)->kernel == job->kernel) {
            best = p;
            break;
        }
    }
    struct pt_slot *slot = *best;
    if (slot) {
        *best = slot->next;
        engine->n_slots--;
    }
    pthread_mutex_unlock(&engine->lock);
    return slot ? slot : pt_engine_alloc(engine, sizeof *slot);
}

/* ---- making a slot ready --------------------------------------------------------------------- */

/* The last window, and a page behind it, end within the range. */
static bool reserve_shared(struct pt_slot *slot, const struct pt_job *job)
{
    size_t want = ((size_t)(job->cluster_ctas - 1) << PT_SHARED_RANK_SHIFT) +
                  pt_mem_round(job->launch.shared_bytes) + pt_mem_page();
    if (slot->range && want <= slot->range_bytes)
        return true;
    unreserve(job->engine, slot->range, slot->range_bytes);
    memset(slot->committed, 0, sizeof slot->committed);
    slot->range = pt_mem_reserve_lone(want, shared_span, &slot->range_bytes);
    return slot->range != NULL;
}

/* Commits exactly the pages a CTA of this launch has: an access behind them is a fault. */
static bool prepare_shared(struct pt_slot *slot, const struct pt_job *job)
{
    if (!reserve_shared(slot, job))
        return false;
    for (uint32_t r = 0; r < PT_DEVICE_CLUSTER_MOST; r++) {
        size_t want = r < job->cluster_ctas ? pt_mem_round(job->launch.shared_bytes) : 0;
        size_t have = slot->committed[r];
        uint8_t *window = slot->range + ((size_t)r << PT_SHARED_RANK_SHIFT);
        if (want > have && !pt_mem_commit(window + have, want - have))
            return false;
        if (want < have)
            pt_mem_decommit(window + want, have - want);
        slot->committed[r] = want;
    }
    return true;
}

/* The local windows of a CTA lie one behind the other, with a guard page before and after. */
static bool prepare_local(struct pt_slot *slot, const struct pt_job *job)
{
    size_t page = pt_mem_page();
    size_t cta = pt_mem_round(job->launch.local_stride * job->launch.threads);
    size_t bytes = (cta + page) * job->cluster_ctas + page;
    if (slot->local_bytes != bytes || slot->n_ctas != job->cluster_ctas) {
        drop_local(job->engine, slot);
        if (!pt_mem_charge(&job->engine->mem, cta * job->cluster_ctas))
            return false;
        slot->local_charge = cta * job->cluster_ctas;
        slot->local_bytes = bytes;
        slot->local = pt_mem_reserve(bytes, page);
        for (uint32_t i = 0; slot->local && cta && i < job->cluster_ctas; i++)
            if (!pt_mem_commit(slot->local + page + i * (cta + page), cta))
                return false;
    }
    for (uint32_t i = 0; slot->local && i < job->cluster_ctas; i++)
        slot->ctas[i].cta.local = slot->local + page + i * (cta + page);
    return slot->local != NULL;
}

/* Zeroed memory, or NULL. */
static uint8_t *map(size_t bytes)
{
    uint8_t *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return p == MAP_FAILED ? NULL : p;
}

static bool map_frames(struct pt_slot *slot, size_t bytes)
{
    bytes = pt_mem_round(bytes);
    if (bytes == slot->frames_bytes && bytes <= CLEARED_MAX) {
        memset(slot->frames, 0, bytes);
        return true;
    }
    pt_mem_unreserve(slot->frames, slot->frames_bytes);
    slot->frames_bytes = bytes;
    slot->frames = map(bytes);
    return slot->frames != NULL;
}

static bool needs_warps(const struct pt_native *native)
{
    return !native || native->needs_warps;
}

/* Residents, warps and zeroed states, for a kernel and block shape that the slot was not made
 * for. */
static bool make_frames(struct pt_slot *slot, const struct pt_job *job,
                        const struct pt_native *native)
{
    const struct pt_launch *launch = &job->launch;
    uint32_t n = job->cluster_ctas, n_warps = needs_warps(native) ? n * launch->n_warps : 0;
    size_t scratch = native ? pt_round_up(native->scratch_bytes, FRAME_ALIGN) : 0;
    size_t state = pt_round_up(launch->program->warp_bytes, FRAME_ALIGN);
    size_t ctas = pt_round_up(n * sizeof(struct pt_resident), FRAME_ALIGN);
    size_t warps = pt_round_up(n_warps * sizeof(struct pt_warp), FRAME_ALIGN);
    slot->kernel = NULL;
    drop_kept(job->engine, slot); /* it is of the frames, and of functions that may be gone */
    if (!map_frames(slot, ctas + warps + n_warps * state + n * scratch))
        return false;
    slot->scratch_bytes = (uint32_t)scratch;
    slot->is_native = native != NULL;
    slot->ctas = (struct pt_resident *)(void *)slot->frames;
    slot->warps = (struct pt_warp *)(void *)(slot->frames + ctas);
    for (uint32_t i = 0; i < n; i++)
        slot->ctas[i].cta.scratch = slot->frames + ctas + warps + n_warps * state + i * scratch;
    for (uint32_t i = 0; i < n_warps; i++) {
        struct pt_warp *warp = &slot->warps[i];
        pt_warp_place(warp, &slot->ctas[i / launch->n_warps].cta, launch, i % launch->n_warps);
        warp->state = slot->frames + ctas + warps + i * state;
    }
    return true;
}

static bool is_made_for(const struct pt_slot *slot, const struct pt_job *job,
                        const struct pt_native *native)
{
    bool has_its_warps = slot->kernel == job->kernel && slot->has_warps &&
                         slot->tests == job->tests && slot->n_ctas == job->cluster_ctas &&
                         memcmp(slot->block, job->launch.block, sizeof slot->block) == 0;
    if (native)
        return slot->kernel && slot->is_native && slot->scratch_bytes >= native->scratch_bytes &&
               (has_its_warps || !native->needs_warps);
    return has_its_warps && !slot->is_native;
}

static bool prepare(struct pt_slot *slot, struct pt_job *job, unsigned worker,
                    const struct pt_native *native)
{
    struct pt_launch *launch = &job->launch;
    if (!prepare_shared(slot, job))
        return false;
    if (!is_made_for(slot, job, native) && !make_frames(slot, job, native))
        return false;
    if (!prepare_local(slot, job))
        return false;
    slot->has_warps = needs_warps(native); /* others that it has may be of another block shape */
    slot->kernel = job->kernel;
    slot->tests = job->tests;
    slot->async.is_late = job->is_late;
    slot->apart = native && native->resume ? native : NULL;
    slot->n_ctas = job->cluster_ctas;
    memcpy(slot->block, launch->block, sizeof slot->block);
    for (uint32_t i = 0; i < job->cluster_ctas; i++) {
        struct pt_resident *r = &slot->ctas[i];
        r->slot = slot;
        r->cta.launch = launch;
        r->cta.worker = worker;
        r->cta.async = job->tests & PT_TEST_ASYNC ? &slot->async : NULL;
        r->cta.cluster_rank = i;
        r->cta.shared = slot->range;
        r->cta.window = i << PT_SHARED_RANK_SHIFT;
        r->cta.warps = slot->has_warps ? &slot->warps[i * launch->n_warps] : NULL;
        r->cta.stepping = NULL;
        r->cta.sampling = 0;
        r->cta.kept = &slot->kept;
    }
    for (uint32_t i = 0; slot->has_warps && i < job->cluster_ctas * launch->n_warps; i++)
        launch->program->engine->prepare(launch, &slot->warps[i]);
    return true;
}

struct pt_slot *pt_slot_get(struct pt_job *job, unsigned worker, const struct pt_native *native)
{
    do {
        struct pt_slot *slot = take(job, worker);
        if (!slot || prepare(slot, job, worker, native))
            return slot;
        slot_free(job->engine, slot);
    } while (pt_slot_reclaim(job->engine));
    return NULL;
}

bool pt_slot_make_turns(struct pt_slot *slot, uint32_t n, uint32_t scratch_bytes)
{
    size_t turns = pt_round_up(n * sizeof *slot->turns, FRAME_ALIGN);
    size_t each = pt_round_up(scratch_bytes, FRAME_ALIGN);
    size_t bytes = pt_mem_round(turns + n * each);
    if (bytes > slot->turns_bytes) {
        pt_mem_unreserve((uint8_t *)slot->turns, slot->turns_bytes);
        slot->turns = (struct pt_turn *)(void *)map(bytes);
        slot->turns_bytes = slot->turns ? bytes : 0;
    }
    for (uint32_t i = 0; slot->turns && i < n; i++)
        slot->turns[i].scratch = (uint8_t *)slot->turns + turns + i * each;
    return slot->turns != NULL;
}

/* ---- starting a cluster ---------------------------------------------------------------------- */

static void place_cta(struct pt_resident *r, const struct pt_job *job, uint64_t index)
{
    uint64_t rest = index;
    uint32_t rank = r->cta.cluster_rank;
    for (int d = 0; d < 3; d++) {
        uint32_t size = job->launch.cluster[d];
        r->cta.id[d] = (uint32_t)(rest % job->clusters[d]) * size + rank % size;
        rest /= job->clusters[d];
        rank /= size;
    }
}

void pt_slot_start_native(struct pt_slot *slot, struct pt_job *job, uint64_t index)
{
    place_cta(slot->ctas, job, index);
    pt_dependents_begin(slot->ctas);
}

void pt_slot_start_warps(struct pt_slot *slot, const struct pt_job *job)
{
    const struct pt_launch *launch = &job->launch;
    uint32_t rest = launch->threads % PT_WARP_SIZE;
    for (uint32_t i = 0; i < slot->n_ctas * launch->n_warps; i++) {
        struct pt_warp *warp = &slot->warps[i];
        bool is_partial = rest && warp->index == launch->n_warps - 1;
        warp->live = is_partial ? UINT32_MAX >> (PT_WARP_SIZE - rest) : UINT32_MAX;
        warp->wait_bar = PT_NO_BARRIER;
        warp->fault.kind = PT_FAULT_NONE;
        launch->program->engine->start(warp);
    }
    for (uint32_t i = 0; job->tests & PT_TEST_OBSERVERS && i < slot->n_ctas; i++)
        pt_observe_begun(&slot->ctas[i].cta);
}

static void fill_unwritten(struct pt_slot *slot, const struct pt_job *job)
{
    const struct pt_launch *launch = &job->launch;
    for (uint32_t i = 0; i < slot->n_ctas; i++) {
        struct pt_cta *cta = &slot->ctas[i].cta;
        memset(cta->shared + cta->window + PT_SHARED_BASE, job->unwritten,
               launch->shared_bytes - PT_SHARED_BASE);
        if (job->unwritten || launch->program->local_bytes)
            memset(cta->local, job->unwritten, launch->local_stride * launch->threads);
    }
}

void pt_slot_start(struct pt_slot *slot, struct pt_job *job, uint64_t index)
{
    const struct pt_launch *launch = &job->launch;
    slot->live_ctas = slot->n_ctas;
    slot->events = 0;
    slot->are_waiting = false;
    slot->async.starts++;
    drop_operations(job->engine, slot);
    if (job->unwritten || job->tests & PT_TEST_order) /* the same under each schedule */
        fill_unwritten(slot, job);
    for (uint32_t i = 0; i < slot->n_ctas; i++) {
        struct pt_resident *r = &slot->ctas[i];
        place_cta(r, job, index);
        pt_barrier_reset(r);
        if (slot->apart)
            memset(r->cta.scratch, 0, (size_t)slot->apart->front_bytes * launch->n_warps);
        pt_dependents_begin(r);
        r->cta.live_warps = launch->n_warps;
        r->live_mask = UINT32_MAX >> (PT_MAX_WARPS - launch->n_warps);
    }
    pt_slot_start_warps(slot, job);
}
