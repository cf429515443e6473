/* What a worker does. */
#ifndef PTERA_RUNTIME_SCHED_H
#define PTERA_RUNTIME_SCHED_H

#include "runtime/job.h"

/* What one worker does for a job (struct pt_work). */
void pt_sched_work(void *job, unsigned worker);

#endif
