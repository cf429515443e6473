/* Launches of which it is observed what they would ask of a GPU (PT_TEST_time): backend/timed.h. */
#ifndef PTERA_RUNTIME_TIMED_H
#define PTERA_RUNTIME_TIMED_H

#include "backend/counts.h"
#include "backend/timed.h"

struct pt_job;

/* The launch is about to run: counts->first is there. False: there is no memory. */
bool pt_timed_begin(struct pt_job *job, const struct pt_counts *counts);
/* It is over: adds what it asked of caches, and its timed CTAs. */
void pt_timed_add(struct pt_timed_sums *sums, const struct pt_job *job);
/* Frees what begin made, if it did. */
void pt_timed_end(struct pt_job *job);
/* Adds what an instruction cost the warps that came to it. */
void pt_timed_add_cost(struct pt_timed_sums *sums, const struct pt_form *form, uint64_t warps);

#endif
