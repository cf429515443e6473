/* When a launch that may be native asks for native code: at once, or when its kernel proves hot. */
#include "runtime/hot.h"

#include <time.h>

#include "runtime/job.h"
#include "runtime/native.h"

enum { HOT_NS = 2000000 /* so long a kernel is interpreted before native code is asked for */ };

/* Where all CTAs start at once there is nothing to switch between: what the cache should have is
 * waited for, LOOK_SECONDS at most; what an earlier run left to be compiled, once, for a part of
 * the time for which that run interpreted a launch of it, if that was long. Nothing else is known
 * of a kernel before its first launch: it may be over long before a compile. */
static const double LOOK_SECONDS = 0.1, MADE_SECONDS = 2, MADE_PART = 0.25, LONG_SECONDS = 0.2;

static bool starts_at_once(const struct pt_job *job)
{
    return job->n_clusters <= job->engine->threads &&
           job->kernel->module->ir.funcs.v[job->kernel->func].loops.n;
}

static void wait_for(struct pt_version *version)
{
    double last = (double)version->last_run_ns * 1e-9, part = last * MADE_PART;
    pt_native_wait_found(version, LOOK_SECONDS);
    if (last >= LONG_SECONDS && !atomic_flag_test_and_set(&version->is_waited_for))
        pt_native_wait_made(version, part < MADE_SECONDS ? part : MADE_SECONDS);
}

void pt_hot_begin(struct pt_job *job)
{
    const struct pt_variant variant = pt_native_variant(job);
    bool is_whole = starts_at_once(job);
    job->begun = pt_hot_now();
    atomic_store(&job->kernel->running_since, job->begun);
    struct pt_version *version = is_whole ? pt_native_request(&variant) : pt_native_find(&variant);
    if (version && is_whole && version->is_profiled)
        wait_for(version);
    if (pt_native_of(version))
        atomic_store(&job->kernel->running_since, 0);
    atomic_store(&job->version, version);
}

void pt_hot_end(struct pt_job *job)
{
    struct pt_version *version = atomic_load(&job->version);
    uint64_t ns = atomic_load(&job->was_interpreted) ? pt_hot_now() - job->begun : 0;
    atomic_store(&job->kernel->running_since, 0);
    if (version)
        pt_native_record(version, ns);
}

uint64_t pt_hot_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC_COARSE, &t);
    return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

void pt_hot_count(struct pt_job *job, uint64_t *since)
{
    uint64_t now = pt_hot_now(), ns = now - *since;
    *since = now;
    if (!ns)
        return;
    atomic_fetch_add(&job->engine->interpreted_ns, ns);
    uint64_t all = atomic_fetch_add(&job->kernel->interpreted_ns, ns) + ns;
    if (all < HOT_NS || atomic_load(&job->version))
        return;
    const struct pt_variant variant = pt_native_variant(job);
    /* Only one worker's request stays. */
    struct pt_version *none = NULL, *version = pt_native_request(&variant);
    if (version && !atomic_compare_exchange_strong(&job->version, &none, version))
        pt_native_put(job->engine, version);
}
