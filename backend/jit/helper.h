/* Functions of C that native code calls for what is rare: found by name when code is loaded. */
#ifndef PTERA_BACKEND_JIT_HELPER_H
#define PTERA_BACKEND_JIT_HELPER_H

#include "backend/exec.h"

#define JIT_HELPERS(X) X(jit_help_sreg) X(jit_help_atom_add_f64) X(jit_help_step)

/* A special register that the CTA's threads share, or a clock. */
uint64_t jit_help_sreg(const struct pt_cta *cta, uint32_t sreg);
/* What atom.add.f64 leaves in memory. */
uint64_t jit_help_atom_add_f64(uint64_t old, uint64_t b, uint32_t in_shared);
/* pt_engine.step for warp `warp` of the CTA. 0 on a fault, which cta->stepping then knows. */
uint32_t jit_help_step(struct pt_cta *cta, uint32_t warp, uint32_t func, uint32_t insn, uint32_t lanes,
                       uint8_t *regs);

#endif
