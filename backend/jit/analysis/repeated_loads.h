/* Loads that groups of a CTA repeat: rows of its threads read the same. */
#ifndef PTERA_BACKEND_JIT_ANALYSIS_REPEATED_LOADS_H
#define PTERA_BACKEND_JIT_ANALYSIS_REPEATED_LOADS_H

#include "backend/jit/analysis/plan.h"
#include "backend/jit/jit.h"

/* Instructions of the region: loads in no loop, before which no thread of the region writes
 * anything, from addresses that tell threads of a row apart, but no rows. */
uint64_t *jit_repeated_loads_find(const struct jit_facts *a, const struct jit_region *r);

/* Chunks of a row: so many chunks on, the addresses are the same. */
unsigned jit_repeated_loads_period(const struct jit_facts *a);

#endif
