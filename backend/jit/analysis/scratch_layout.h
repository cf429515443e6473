/* What lies where in a CTA's scratch memory. */
#ifndef PTERA_BACKEND_JIT_ANALYSIS_SCRATCH_LAYOUT_H
#define PTERA_BACKEND_JIT_ANALYSIS_SCRATCH_LAYOUT_H

#include "backend/jit/analysis/plan.h"
#include "backend/jit/jit.h"

/* So many bytes of the CTA's scratch memory, aligned to 64; where they are. */
uint32_t jit_scratch_layout_take(struct jit_facts *a, uint32_t bytes);

/* Finds jit_region_generate.members. */
void jit_scratch_layout_place_members(struct jit_facts *a, struct jit_plan *plan);

/* Bytes of a group's part of a register that goes through memory. */
uint32_t jit_scratch_layout_crossing_bytes(const struct jit_facts *a, uint32_t reg);

/* The memory that alloca, stacksave, stackrestore need: a->stack. */
void jit_scratch_layout_place_stack(struct jit_facts *a, const struct jit_plan *plan);

/* A register that instructions of the interpreter read or write may cross regions in its frame, as
 * it lies there: from one such instruction to the next it need not move then. Where, in *slot. */
bool jit_scratch_layout_frame_slot(struct jit_facts *a, uint32_t reg, uint32_t *slot);

#endif
