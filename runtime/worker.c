/* A worker of a launch. */
#include "runtime/worker.h"

#include "runtime/job.h"
#include "runtime/report.h"

struct pt_slot *pt_worker_slot(struct pt_worker *w, const struct pt_native *native)
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

void pt_worker_count_steps(struct pt_job *job, struct pt_cta *cta)
{
    if (cta->steps)
        atomic_fetch_add_explicit(&job->kernel->stepped, cta->steps, memory_order_relaxed);
    cta->steps = 0;
}
