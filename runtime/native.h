/* Native code of kernels: versions by block shape, and the threads that make them while the
 * interpreter runs: what the cache has at once, what it has not when it is hot enough, the hottest
 * first. */
#ifndef PTERA_RUNTIME_NATIVE_H
#define PTERA_RUNTIME_NATIVE_H

#include "backend/native.h"
#include "runtime/engine.h"

/* What a version is made for. */
struct pt_variant {
    ptera_kernel *kernel;
    uint32_t block[3]; /* 0, 0, 0: any */
    bool math_fast, has_cluster;
};

/* A kernel compiled for a block shape, or the reason why it cannot be. */
struct pt_version {
    struct pt_version *next;   /* of the kernel */
    struct pt_version *all;    /* of the engine */
    struct pt_version *queued; /* next that waits for a thread of the background */
    bool is_queued;
    bool is_profiled;        /* it was hot in an earlier run, */
    uint64_t last_run_ns;    /* which interpreted a launch of it so long */
    atomic_flag is_recorded; /* in the profile */
    atomic_flag is_waited_for;
    atomic_bool is_missing;            /* it is not in the cache: */
    struct pt_native_request *request; /* from which it will be compiled */
    struct pt_variant made_for;
    unsigned users;
    uint64_t last_use;
    atomic_bool is_unwanted; /* its module goes: whoever compiles it stops */
    /* it was not made, and is in no list any more: its last user frees it */
    bool is_dropped;
    atomic_bool is_ready; /* what follows is known */
    struct pt_native *native;
    char *why; /* it is not native */
};

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

/* The background's threads, which requests start. */
void pt_native_init(ptera_engine *engine);
void pt_native_close(ptera_engine *engine);

#endif
