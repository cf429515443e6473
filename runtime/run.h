/* The run of a launch. */
#ifndef PTERA_RUNTIME_RUN_H
#define PTERA_RUNTIME_RUN_H

#include "runtime/job.h"

/* Runs it on this thread, whose stack is large enough, and on workers: job->result. A failure is
 * the engine's error. */
void pt_run_job(struct pt_job *job);
/* Ends soon, whatever others do: it waits for nobody and has no loops. */
bool pt_run_is_short(const struct pt_job *job);

#endif
