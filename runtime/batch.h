/* CTAs in native code that runs each to its end. */
#ifndef PTERA_RUNTIME_BATCH_H
#define PTERA_RUNTIME_BATCH_H

#include "runtime/worker.h"

/* Before workers run the job: makes its parts, and lets them go behind it. */
void pt_batch_part(struct pt_job *job);
void pt_batch_drop_parts(struct pt_job *job);
/* Takes CTAs until there are none, or the launch is over. */
void pt_batch_run(struct pt_worker *worker, const struct pt_native *native);
/* Behind the run: every cluster was some worker's. */
bool pt_batch_has_taken_all(struct pt_job *job);

#endif
