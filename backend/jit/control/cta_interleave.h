/* CTAs that interleave in a loop: they take turns of some rounds. */
#ifndef PTERA_BACKEND_JIT_CONTROL_CTA_INTERLEAVE_H
#define PTERA_BACKEND_JIT_CONTROL_CTA_INTERLEAVE_H

#include "backend/jit/analysis/plan.h"
#include "backend/jit/control/gen.h"
#include "backend/jit/jit.h"

/* CTAs interleave in a loop of the region. */
bool jit_cta_interleave_applies(const struct jit_gen *g);

/* The region begins, or another turn of it. */
void jit_cta_interleave_open(struct jit_gen *g);

/* A group, which has its registers of the region's start: goes on where it waits, if it does;
 * building goes on where the region begins. False with unit->why set. */
bool jit_cta_interleave_resume_group(struct jit_gen *g);

/* Lanes go on in a loop's header again, unless a turn ends there. */
void jit_cta_interleave_go_again(struct jit_gen *g, uint32_t header);

/* The end of a group's turn in the middle of the loop. */
void jit_cta_interleave_end_turn(struct jit_gen *g);

/* Behind the loop over groups: if some wait, so does the CTA. */
void jit_cta_interleave_close(struct jit_gen *g);

/* The start of the function: the CTA's start, or where it goes on. */
void jit_cta_interleave_start(const struct jit *j);

#endif
