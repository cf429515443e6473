/* Grids that begin before those that they depend on have ended (griddepcontrol). */
#ifndef PTERA_RUNTIME_DEPENDENTS_H
#define PTERA_RUNTIME_DEPENDENTS_H

#include "runtime/job.h"
#include "runtime/slot.h"

/* Gives the launch what its instructions call. */
void pt_dependents_prepare(struct pt_job *job);
/* The CTA is about to begin, the first of a row. */
void pt_dependents_begin(struct pt_resident *resident);
/* `n` CTAs that it was in turn have ended. */
void pt_dependents_end(struct pt_job *job, struct pt_resident *resident, uint32_t n);

#endif
