/* The ends of a cluster's CTAs, and accesses of their shared memory by others. */
#ifndef PTERA_BACKEND_INTERP_ENDING_H
#define PTERA_BACKEND_INTERP_ENDING_H

#include "backend/interp/conflict.h"

#define pt_ending_access PT_LEVEL_NAME(pt_ending_access)
/* Of a cluster of several CTAs. */
void pt_ending_access(const struct pt_conflict *a);
#define pt_ending_exit PT_LEVEL_NAME(pt_ending_exit)
/* The access's lanes exit. */
void pt_ending_exit(const struct pt_conflict *a);

#endif
