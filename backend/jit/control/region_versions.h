/* Regions in versions, as loops are versioned. */
#ifndef PTERA_BACKEND_JIT_CONTROL_REGION_VERSIONS_H
#define PTERA_BACKEND_JIT_CONTROL_REGION_VERSIONS_H

#include "backend/jit/control/gen.h"

/* A region whose loop over groups is there for several values of the lowest bits of a register. */
struct jit_versions {
    uint32_t reg;
    uint32_t n, values[32];
    uint32_t *insns, n_insns; /* that make it, the last first */
    const uint64_t *needs;    /* registers that they read */
};

/* False: one version is enough. */
bool jit_region_versions_find(const struct jit_gen *g, struct jit_versions *v);

/* The bits (i32) when the region begins; NULL with unit->why set. */
LLVMValueRef jit_region_versions_value(struct jit_gen *g, const struct jit_versions *v);

#endif
