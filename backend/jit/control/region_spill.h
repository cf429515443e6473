/* What is live from one region into the next: spilled, and loaded again. */
#ifndef PTERA_BACKEND_JIT_CONTROL_REGION_SPILL_H
#define PTERA_BACKEND_JIT_CONTROL_REGION_SPILL_H

#include "backend/jit/control/gen.h"
#include "backend/jit/jit.h"

/* Makes the variables of what the CTA agrees on: jit_reg.kept. */
void jit_region_spill_make_variables(const struct jit *j);

/* The region begins, and ends, for the CTA: what all groups agree on. */
void jit_region_spill_begin(const struct jit *j);
void jit_region_spill_end(struct jit_gen *g);

/* The group begins: registers that live into the region, and values made once more. */
bool jit_region_spill_load_registers(struct jit_gen *g);

/* Lanes that had not left the kernel when the last region ended. */
LLVMValueRef jit_region_spill_load_alive(struct jit_gen *g, unsigned copy);

/* The group goes to region entry `to`: its registers, live lanes, what it brings to a reduction. */
void jit_region_spill_save_group(struct jit_gen *g, uint32_t to);

/* All lanes of the group have left the kernel. */
void jit_region_spill_save_ended(struct jit_gen *g);

/* One copy of it between its variable and its place in memory; how many copies there are. Other
 * lanes than those of `mask` keep what is in memory; NULL: there are none. */
void jit_region_spill_load(const struct jit *j, const struct jit_reg *r, unsigned u);
void jit_region_spill_store(const struct jit *j, const struct jit_reg *r, unsigned u,
                            LLVMValueRef mask);
unsigned jit_region_spill_copies(const struct jit *j, const struct jit_reg *r);

/* The register crosses regions, in memory or a variable of the CTA. */
static inline bool jit_region_spill_is_placed(const struct jit_reg *r)
{
    return r->is_cta_uniform || r->scratch_bytes;
}

#endif
