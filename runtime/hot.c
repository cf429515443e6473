/* When a launch that may be native asks for native code: at once, or when its kernel proves hot. */
#include "runtime/hot.h"

#include <string.h>
#include <time.h>

#include "runtime/job.h"
#include "runtime/native.h"

enum { HOT_NS = 2000000 /* so long a kernel is interpreted before it is compiled */ };

/* Where all CTAs start at once there is nothing to switch between: what may run long waits for
 * the compiler. */
enum { WAIT_MS = 100 };

static bool starts_at_once(const struct pt_job *job)
{
    return job->n_clusters <= job->engine->threads &&
           job->kernel->module->ir.funcs.v[job->kernel->func].loops.n;
}

void pt_hot_begin(struct pt_job *job, const struct pt_variant *variant)
{
    bool waits = starts_at_once(job);
    struct pt_version *version = waits ? pt_native_request(variant) : pt_native_find(variant);
    if (version && waits)
        pt_native_wait(version, WAIT_MS);
    atomic_store(&job->version, version);
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
    uint64_t all = atomic_fetch_add(&job->kernel->interpreted_ns, ns) + ns;
    if (all < HOT_NS || atomic_load(&job->version))
        return;
    struct pt_variant variant = {
        .kernel = job->kernel, .math_fast = job->math_fast, .has_cluster = job->cluster_ctas > 1};
    memcpy(variant.block, job->launch.block, sizeof variant.block);
    /* Only one worker's request stays. */
    struct pt_version *none = NULL, *version = pt_native_request(&variant);
    if (version && !atomic_compare_exchange_strong(&job->version, &none, version))
        pt_native_put(job->engine, version);
}
