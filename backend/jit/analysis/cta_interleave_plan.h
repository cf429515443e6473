/* The loop in which CTAs interleave (control/cta_interleave.c), and what its groups keep
 * meanwhile. */
#ifndef PTERA_BACKEND_JIT_ANALYSIS_CTA_INTERLEAVE_PLAN_H
#define PTERA_BACKEND_JIT_ANALYSIS_CTA_INTERLEAVE_PLAN_H

#include "backend/jit/analysis/plan.h"
#include "backend/jit/jit.h"

/* Finds the loop in which CTAs interleave. */
void jit_cta_interleave_plan_find(struct jit_facts *a, struct jit_plan *plan);

/* What groups keep from one turn to the next, once all that crosses regions has its place. */
void jit_cta_interleave_plan_place_kept(struct jit_facts *a, struct jit_plan *plan);

#endif
