/* The run of a launch: workers, the time limit, the parameter block. */
#include "runtime/run.h"

#include <string.h>

#include "backend/observer.h"
#include "runtime/batch.h"
#include "runtime/hot.h"
#include "runtime/params.h"
#include "runtime/result.h"
#include "runtime/sched.h"
#include "runtime/timer.h"

static const struct pt_func *func_of(const ptera_kernel *kernel)
{
    return &kernel->module->ir.funcs.v[kernel->func];
}

/* What cooperative kernels read through %envreg1 and %envreg2: its size and the barrier word. */
struct grid_barrier {
    uint32_t bytes, barrier;
};

/* Waking threads takes longer than running a few thousand instructions: kernels without loops
 * and calls, whose length is known, run on the caller's thread alone then. */
enum { ALONE_MAX = 16384 /* instructions of warps */ };

bool pt_run_is_short(const struct pt_job *job)
{
    const struct pt_func *f = func_of(job->kernel);
    uint64_t warps = job->n_clusters * job->cluster_ctas * job->launch.n_warps;
    return !f->loops.n && !f->calls && warps <= ALONE_MAX && warps * f->insns.n <= ALONE_MAX;
}

static unsigned count_workers(const struct pt_job *job)
{
    unsigned threads = job->engine->threads;
    if (job->tests & (PT_TEST_conflict | PT_TEST_order | PT_TEST_time))
        threads = 1; /* one order of all that happens */
    if (job->n_clusters < threads)
        threads = (unsigned)job->n_clusters;
    return pt_run_is_short(job) ? 1 : threads;
}

static ptera_result run(struct pt_job *job)
{
    ptera_engine *engine = job->engine;
    double seconds = job->timeout_seconds;
    struct pt_timer timer;
    job->n_workers = count_workers(job);
    pt_batch_part(job);
    struct pt_work work = {.run = pt_sched_work, .ud = job, .workers = job->n_workers};
    if (seconds > 0 && !pt_timer_start(&timer, &job->launch, seconds))
        return PTERA_ERROR_OUT_OF_MEMORY;
    atomic_fetch_add(&engine->busy, job->n_workers);
    pt_pool_run(&engine->pool, &work);
    atomic_fetch_sub(&engine->busy, job->n_workers);
    if (seconds > 0)
        pt_timer_stop(&timer);
    pt_mem_shut(&engine->mem);
    pt_print_flush(&engine->printer);
    enum pt_fault_kind kind = (enum pt_fault_kind)atomic_load(&job->launch.stop);
    if (kind == PT_FAULT_NONE)
        return PTERA_OK;
    if (!atomic_load(&job->is_reported)) {
        /* It was stopped when no cluster was resident any more: everything has run. */
        if (pt_batch_has_taken_all(job))
            return PTERA_OK;
        PT_JOB_FAIL(job, "%s in kernel '%s' at %s",
                    kind == PT_FAULT_TIMEOUT ? "timeout" : "cancelled", func_of(job->kernel)->name,
                    job->kernel->module->name);
    } else {
        PT_JOB_FAIL(job, "%s", job->report);
    }
    return pt_result_of_fault(kind);
}

static ptera_result run_cooperative(struct pt_job *job)
{
    ptera_engine *engine = job->engine;
    struct grid_barrier *barrier = pt_mem_alloc(&engine->mem, sizeof *barrier, PT_MEM_HEAP);
    if (!barrier)
        return PTERA_ERROR_OUT_OF_MEMORY;
    barrier->bytes = sizeof *barrier;
    job->launch.grid_barrier = (uintptr_t)barrier;
    ptera_result r = run(job);
    pt_mem_free(&engine->mem, barrier, PT_MEM_HEAP);
    return r;
}

static ptera_result run_with_parameters(struct pt_job *job)
{
    ptera_engine *engine = job->engine;
    uint32_t bytes = func_of(job->kernel)->param_size;
    struct pt_params *params = pt_params_get(engine, bytes);
    if (!params)
        return PTERA_ERROR_OUT_OF_MEMORY;
    memcpy(params->twin.write, job->parameters, bytes);
    job->launch.params = params->twin.read;
    ptera_result r = job->is_cooperative ? run_cooperative(job) : run(job);
    pt_batch_drop_parts(job);
    pt_params_put(engine, params);
    return r;
}

void pt_run_job(struct pt_job *job)
{
    char report[PT_ERROR_BYTES];
    report[0] = 0; /* the rest need not be cleared for each launch */
    job->report = report;
    if (job->may_be_native)
        pt_hot_begin(job);
    job->result = run_with_parameters(job);
    if (job->may_be_native)
        pt_hot_end(job);
}
