/* Grids that begin before those that they depend on have ended: when all CTAs of these have let
 * them, or have ended. (griddepcontrol, PTX ISA 9.7.13.13) */
#include "runtime/dependents.h"

static void count(struct pt_job *job, uint32_t n)
{
    uint64_t all = job->n_clusters * job->cluster_ctas;
    if (n && atomic_fetch_add(&job->n_through, n) + n == all && atomic_load(&job->has_triggered))
        job->triggered(job->owner);
}

static void launch_dependents(struct pt_cta *cta)
{
    struct pt_job *job = pt_job_of(cta->launch);
    struct pt_resident *r = pt_resident_of(cta);
    uint64_t triggered = pt_cta_number(cta) + 1;
    if (!job->triggered || r->triggered == triggered)
        return;
    r->triggered = triggered;
    r->n_triggered++;
    atomic_store(&job->has_triggered, true);
    count(job, 1);
}

static void wait_for_grids(struct pt_cta *cta)
{
    struct pt_job *job = pt_job_of(cta->launch);
    if (job->await)
        job->await(job->owner);
}

void pt_dependents_prepare(struct pt_job *job)
{
    job->environment.launch_dependents = launch_dependents;
    job->environment.wait = wait_for_grids;
}

void pt_dependents_begin(struct pt_resident *resident)
{
    resident->triggered = 0;
    resident->n_triggered = 0;
}

void pt_dependents_end(struct pt_job *job, struct pt_resident *resident, uint32_t n)
{
    if (job->triggered)
        count(job, n - resident->n_triggered);
    resident->n_triggered = 0;
}
