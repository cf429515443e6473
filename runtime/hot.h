/* When a launch that may be native asks for native code. */
#ifndef PTERA_RUNTIME_HOT_H
#define PTERA_RUNTIME_HOT_H

#include "runtime/job.h"
#include "runtime/native.h"

/* When the run begins, which may be long after it was asked for: takes what is there, or is worth
 * waiting for. */
void pt_hot_begin(struct pt_job *job);
/* After the run. */
void pt_hot_end(struct pt_job *job);
/* The clock of pt_hot_count, read in a few nanoseconds. */
uint64_t pt_hot_now(void);
/* Between clusters of a worker that has interpreted since *since, which becomes now: asks for
 * native code when the kernel is hot. */
void pt_hot_count(struct pt_job *job, uint64_t *since);

#endif
