/* One launch under way. */
#ifndef PTERA_RUNTIME_JOB_H
#define PTERA_RUNTIME_JOB_H

#include <stddef.h>

#include "backend/environment.h"
#include "runtime/engine.h"

enum { PT_PARTS_MOST = 16 };

/* Of the grid, for a worker to begin with: clusters of it that were taken. A cache line each. */
struct pt_part {
    atomic_uint_fast64_t taken;
    char apart[56];
};

struct pt_job {
    struct pt_launch launch;
    struct pt_environment environment; /* directly behind it */
    ptera_kernel *kernel;
    ptera_engine *engine;
    uint32_t cluster_ctas;
    uint32_t clusters[3];
    uint64_t n_clusters;
    uint32_t capacity; /* clusters that may be resident at once */
    bool is_cooperative;
    bool is_late;      /* asynchronous operations are put off */
    uint8_t unwritten; /* as ptera_launch has it */
    uint32_t tests;    /* enum pt_test */
    bool is_mute;      /* what is found in it is not told */
    bool is_checked;   /* findings are its result, and told to: */
    void (*finding)(void *ud, const char *text);
    void *finding_ud;
    atomic_uint n_findings; /* different ones, so far */
    ptera_backend backend;  /* that was asked for */
    bool may_be_native, math_fast;
    _Atomic(struct pt_version *)
        version; /* whose native code runs it, once it is ready; NULL: the interpreter does */
    atomic_bool was_native, was_interpreted; /* some of it, at least */
    uint64_t begun;                          /* pt_hot_now, of a launch that may be native */
    unsigned n_workers;
    /* where native code runs all of the grid; 0: there are none */
    unsigned n_parts;
    struct pt_part *parts; /* the only one, or the engine's memory */
    struct pt_part only_part;
    atomic_bool is_reported;
    char *report;                   /* PT_ERROR_BYTES, while it runs */
    struct pt_footprint *footprint; /* to be told what it touches; NULL: nobody wants to know */
    struct pt_party failed;         /* where it did; PT_PARTY_NONE: that is not known */
    ptera_result result;
    struct pt_own_error error;
    struct pt_job *next, **link; /* in engine->running; NULL: it does not run */
    double timeout_seconds;      /* 0: none */
    /* Grids that depend on it, as its owner has them: its CTAs have let them begin or have ended;
     * waits until those are done that it depends on. NULL: there are none. */
    void (*triggered)(void *owner);
    void (*await)(void *owner);
    atomic_bool has_triggered;      /* a CTA has let them */
    atomic_uint_fast64_t n_through; /* CTAs that have, or have ended */
    uint64_t stream;                /* of a program's streams; 0: the default one */
    uint64_t run; /* of launches with none of the host's code between them; 0: it is alone */
    void *owner;  /* who runs it, for functions of the host that the kernel calls */
    /* What all workers write lies apart from what they read. */
    char apart[64];
    atomic_uint_fast64_t next_cluster; /* where there are no parts */
    atomic_uint residents;
    atomic_uint holders; /* workers that have a slot, or are about to get one */
    char apart_too[64];
    uint8_t parameters[]; /* the block */
};

/* The job of a launch that an engine has. */
static inline struct pt_job *pt_job_of(const struct pt_launch *launch)
{
    _Static_assert(offsetof(struct pt_job, launch) == 0, "a launch is found in its job");
    _Static_assert(offsetof(struct pt_job, environment) ==
                       offsetof(struct pt_placed_launch, environment),
                   "engines find it there");
    return (struct pt_job *)(uintptr_t)launch;
}

/* Why it fails: the text of ptera_engine_error, and its own. */
#define PT_JOB_FAIL(job, ...) pt_engine_fail_launch((job)->engine, &(job)->error, __VA_ARGS__)

static inline bool pt_job_is_stopped(struct pt_job *job)
{
    return atomic_load_explicit(&job->launch.stop, memory_order_relaxed) != 0;
}

#endif
