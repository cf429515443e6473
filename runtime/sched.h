/* What a worker does. */
#ifndef PTERA_RUNTIME_SCHED_H
#define PTERA_RUNTIME_SCHED_H

#include "runtime/job.h"

/* What one worker does for a job (struct pt_work). */
void pt_sched_work(void *job, unsigned worker);
/* Before workers run the job: finds job->n_parts. */
void pt_sched_part(struct pt_job *job);
/* Behind the run: every cluster was some worker's. */
bool pt_sched_has_taken_all(struct pt_job *job);

#endif
