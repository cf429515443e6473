/* Native code of kernels, for launches: made while they wait for it, or in the background. */
#ifndef PTERA_RUNTIME_NATIVE_H
#define PTERA_RUNTIME_NATIVE_H

#include "runtime/job.h"
#include "runtime/version.h"

/* Of native code for a launch. */
struct pt_variant pt_native_variant(const struct pt_job *job);

/* What a version that is ready has; NULL if it has none or is not ready. */
static inline const struct pt_native *pt_native_of(const struct pt_version *version)
{
    bool is_ready = version && atomic_load_explicit(&version->is_ready, memory_order_acquire);
    return is_ready ? version->native : NULL;
}

/* The windows of local memory are large enough. */
static inline bool pt_native_fits(const struct pt_native *native, const struct pt_launch *launch)
{
    return native->local_bytes <= launch->local_stride;
}

/* The version for a launch, compiled if it is not there yet, in so many seconds at most (0: no
 * limit), or the reason why there is no native code: PT_NATIVE_MADE, and the caller gives it
 * back. Otherwise *version is NULL: PT_NATIVE_NO_MEMORY; PT_NATIVE_STOPPED, the time was over.
 * The kernel's program has been made. */
enum pt_native_end pt_native_get(const struct pt_variant *variant, double seconds,
                                 struct pt_version **version);
/* Likewise, but does not wait: what is not there is made in the background, once it is hot. */
struct pt_version *pt_native_request(const struct pt_variant *variant);
/* Likewise, but only what is there or under way; NULL otherwise. */
struct pt_version *pt_native_find(const struct pt_variant *variant);
/* Waits until the version is ready, so many seconds at most, and no longer than it is looked for in
 * the cache. */
void pt_native_wait_found(struct pt_version *version, double seconds);
void pt_native_wait_made(struct pt_version *version, double seconds);
void pt_native_put(ptera_engine *engine, struct pt_version *version);
/* Of a module that has just been loaded: what was hot in earlier runs is made in the background. */
void pt_native_expect(ptera_module *module);
/* A launch with this version has ended, which was interpreted for so long: later runs are told. */
void pt_native_record(struct pt_version *version, uint64_t interpreted_ns);
/* Releases the versions of a module's kernels; no launch uses them any more. */
void pt_native_forget(ptera_module *module);

/* The job's native code, once there is some that suits it; else NULL. */
static inline const struct pt_native *pt_native_of_job(struct pt_job *job)
{
    const struct pt_native *native =
        pt_native_of(atomic_load_explicit(&job->version, memory_order_acquire));
    return native && pt_native_fits(native, &job->launch) ? native : NULL;
}

#endif
