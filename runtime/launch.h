/* One launch under way: the job, its workers, and the room that resident clusters take. */
#ifndef PTERA_RUNTIME_LAUNCH_H
#define PTERA_RUNTIME_LAUNCH_H

#include "runtime/engine.h"
#include "runtime/fault.h"
#include "runtime/native.h"
#include "runtime/shape.h"

enum { PT_TOGETHER_MAX = 32 }; /* CTAs of a worker that take turns */

/* A CTA and what the scheduler keeps about it. */
struct pt_resident {
    struct pt_cta cta;
    struct pt_slot *slot;
    uint32_t live_mask;    /* warps with a lane that has not exited */
    uint32_t used_bars;    /* barriers that must be reset for the next CTA */
};

/* Room for one resident cluster: shared ranges, local windows, warp states. Kept by the engine between launches. */
struct pt_slot {
    struct pt_slot *next;
    /* what it is made for */
    const ptera_kernel *kernel;
    bool is_native, has_warps;
    uint32_t tests;
    uint32_t scratch_bytes; /* native code's, of a CTA */
    const struct pt_native *apart; /* for this launch: native code that resumes its warps; NULL: there is none */
    uint32_t block[3], n_ctas;
    uint64_t local_stride;
    /* what it has */
    uint8_t *range;        /* the cluster's shared range: 4 GiB of address space that nobody else has */
    size_t range_bytes;    /* of which so much is reserved */
    size_t committed[PT_DEVICE_CLUSTER_MOST]; /* bytes of each window */
    uint8_t *local;
    size_t local_bytes, local_charge; /* local_charge: what counts against the limit of memory */
    uint8_t *frames;       /* residents, warps, their states */
    size_t frames_bytes;
    struct pt_resident *ctas;
    struct pt_warp *warps;  /* if it has_warps */
    struct pt_async async; /* operations that are put off or watched */
    /* the cluster it runs */
    uint32_t live_ctas;
    uint64_t events;       /* arrivals at barriers and exits: signs of progress, as are mbarriers' phases */
};

enum { PT_PARTS_MOST = 16 };

struct pt_job {
    struct pt_launch launch;
    ptera_kernel *kernel;
    ptera_engine *engine;
    uint32_t cluster_ctas;
    uint32_t clusters[3];
    uint64_t n_clusters;
    uint32_t capacity;     /* clusters that may be resident at once */
    bool is_cooperative;
    bool is_late;  /* asynchronous operations are put off */
    uint8_t unwritten; /* as ptera_launch has it */
    uint32_t tests; /* enum pt_test */
    struct pt_findings *findings; /* NULL: the launch is not checked */
    ptera_backend backend; /* that was asked for */
    bool may_be_native, math_fast;
    _Atomic(struct pt_version *) version; /* whose native code runs it, once it is ready; NULL: the interpreter does */
    atomic_bool was_native, was_interpreted; /* some of it, at least */
    unsigned n_workers;
    atomic_uint_fast64_t next_cluster;
    unsigned n_parts; /* of the grid, each for a worker to begin with, where native code runs all of it; 0: there are none */
    atomic_uint_fast64_t taken[PT_PARTS_MOST]; /* of each part; next_cluster is their sum then */
    atomic_uint residents;
    atomic_uint holders;   /* workers that have a slot, or are about to get one */
    atomic_bool is_reported;
    char *report;          /* PT_ERROR_BYTES, while it runs */
    ptera_result result;
    double timeout_seconds; /* 0: none */
    uint8_t parameters[];  /* the block */
};

/* Accesses of a worker's kernels outside their allocations that went on (PTERA_OOB=warn), until they are told: those behind the last that there
 * is room for are not. */
enum { PT_STRAYS = 32 };
struct pt_stray {
    uintptr_t pc; /* of native code; 0: the place is known */
    struct pt_fault fault;
    uint32_t cta[3], warp;
    bool has_warp;
};
struct pt_strays {
    unsigned n;
    struct pt_stray v[PT_STRAYS];
};

struct pt_worker {
    struct pt_fault_scope scope;
    struct pt_job *job;
    unsigned index;
    uint64_t next, end;      /* clusters that it has taken but not started */
    struct pt_slot *slots;   /* resident, in the order they run */
    struct pt_slot *spare;   /* prepared for this launch but empty */
    struct pt_warp *running;
    struct pt_cta *native;   /* run by native code */
    const struct pt_native *apart; /* native code that resumes warps; NULL: the interpreter does */
    uint64_t interpreted;    /* the time up to which interpreting has been counted, ns */
    uint32_t n_slots;
    struct pt_strays *strays; /* NULL: no access outside goes on */
};

/* launch.c: a launch in two steps, for those who run it later. The first checks and copies all that
 * was given; the job is freed by running or dropping it. `given` is complete and its options are
 * valid. What the caller demands beyond device and kernel may be NULL, and so may `misfit`: why
 * PTERA_ERROR_INVALID_LAUNCH comes back, if that is for the launch's shape. */
ptera_result pt_launch_prepare(ptera_kernel *kernel, const ptera_launch *given,
                               const struct pt_shape_bounds *bounds, struct pt_job **job,
                               enum pt_misfit *misfit);
/* Likewise, of a launch as callers of ptera.h fill it in, whatever version of it they have. */
ptera_result pt_launch_take(ptera_kernel *kernel, const ptera_launch *given, struct pt_job **job);
/* What is told of a launch that has run. */
struct pt_launched {
    bool was_native, was_interpreted; /* some of it, at least */
    char why[256];                    /* it was interpreted */
    uint64_t run_ns;
    uint64_t compile_ns; /* that native code of the kernel has taken since it was last told */
};
/* `launched` may be NULL. */
ptera_result pt_launch_run(struct pt_job *job, struct pt_launched *launched);
void pt_launch_drop(struct pt_job *job);
/* Ends soon, whatever others do: it waits for nobody and has no loops. */
bool pt_launch_is_short(const struct pt_job *job);

/* slot.c: a slot made ready for the job, for native code unless that is NULL; or NULL if there is no memory. */
struct pt_slot *pt_slot_get(struct pt_job *job, unsigned worker, const struct pt_native *native);
/* Puts CTA `index` of the grid into the slot of a native version. */
void pt_slot_start_native(struct pt_slot *slot, struct pt_job *job, uint64_t index);
/* Puts every warp of the slot at the kernel's entry. */
void pt_slot_start_warps(struct pt_slot *slot, const struct pt_job *job);
/* Puts cluster `index` of the grid into the slot, every warp at the kernel's entry. */
void pt_slot_start(struct pt_slot *slot, struct pt_job *job, uint64_t index);
void pt_slot_put(ptera_engine *engine, struct pt_slot *slot);
/* Forgets that slots were made for kernels of a module that goes. */
void pt_slot_forget(ptera_engine *engine, const ptera_module *module);

/* sched.c: what one worker does for a job (struct pt_work). */
void pt_sched_work(void *job, unsigned worker);
/* Before workers run the job: finds job->n_parts. */
void pt_sched_part(struct pt_job *job);

/* barrier.c */
bool pt_barrier_arrive(struct pt_warp *warp, uint32_t id, uint32_t mask, bool aligned,
                       uint32_t expected, uint32_t preds);
void pt_barrier_exited(struct pt_warp *warp);
void pt_barrier_reset(struct pt_resident *resident);

/* services.c */
extern const struct pt_services pt_launch_services;

/* isolate.c: the memory of an isolated launch that holds the address and is the lane's to touch. */
bool pt_isolate_find(const struct pt_warp *warp, uint32_t lane, uint64_t address, struct pt_extent *extent);

/* report.c: the first failure of a launch stops it and is described in job->report. */
void pt_report_fault(struct pt_job *job, const struct pt_warp *warp);
/* Likewise, of native code that ran the CTA. */
void pt_report_native(struct pt_job *job, const struct pt_cta *cta, const struct pt_fault *fault);
void pt_report_deadlock(struct pt_job *job, const struct pt_slot *slot);
/* Says where the cluster's warps were when the time was over. */
void pt_report_timeout(struct pt_job *job, const struct pt_slot *slot);
/* Likewise: native code was at `place`. */
void pt_report_native_timeout(struct pt_job *job, const struct pt_cta *cta,
                              const struct pt_fault *place);
/* A failure without a place. */
void pt_report_failure(struct pt_job *job, enum pt_fault_kind kind, const char *text);
ptera_result pt_report_result(enum pt_fault_kind kind);

/* Text of PT_ERROR_BYTES that is being written. */
struct pt_words {
    struct pt_job *job;
    char *text;
    size_t n;
};
__attribute__((format(printf, 2, 3))) void pt_words_put(struct pt_words *w, const char *format, ...);
/* The line of the source, where that is known: " (k.cu:12)". */
void pt_words_source(struct pt_words *w, const struct pt_insn *insn);
/* "FILE:LINE", with ":COL" if it is asked for, and the line of the source. */
void pt_words_place(struct pt_words *w, uint32_t func, uint32_t insn, bool has_column);
/* ", CTA (X,Y,Z)" */
void pt_words_cta(struct pt_words *w, const struct pt_cta *cta);
const struct pt_insn *pt_find_insn(const ptera_module *module, uint32_t func, uint32_t insn);

/* finding.c: what the checkers of a launch find. */
struct pt_findings *pt_findings_new(ptera_engine *engine, const ptera_launch *given);
void pt_findings_free(ptera_engine *engine, struct pt_findings *findings);
void pt_finding_add(const struct pt_warp *warp, const struct pt_finding *finding);
/* How many different ones there were. */
uint32_t pt_findings_count(const struct pt_findings *findings);

/* stray.c: for pt_fault_scope.tolerate, of a worker with strays. */
bool pt_stray_take(void *worker, uintptr_t pc, uint64_t address);
/* Tells the engine's log of the worker's strays: once for each kernel and line. */
void pt_stray_tell(struct pt_worker *worker);
/* report.c: what it says of one. */
void pt_report_stray(struct pt_job *job, const struct pt_stray *stray, char text[PT_ERROR_BYTES]);

/* timer.c: sets launch->stop when the time is over. */
struct pt_timer {
    struct pt_launch *launch;
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t change;
    struct timespec deadline;
    bool is_done;
};
bool pt_timer_start(struct pt_timer *timer, struct pt_launch *launch, double seconds);
void pt_timer_stop(struct pt_timer *timer);

/* params.c: memory for a kernel parameter block, which kernels may only read. */
struct pt_params {
    struct pt_params *next;
    struct pt_twin twin;
};
struct pt_params *pt_params_get(ptera_engine *engine, size_t bytes);
void pt_params_put(ptera_engine *engine, struct pt_params *params);

#endif
