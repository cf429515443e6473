/* Operations that are calls of lane functions (backend/lanes.h) share calls. */
#ifndef PTERA_BACKEND_JIT_ANALYSIS_CALL_BATCH_H
#define PTERA_BACKEND_JIT_ANALYSIS_CALL_BATCH_H

#include "backend/jit/jit.h"

/* Brings instructions together that share calls of lane functions; then how many from insns[0] on
 * share one. */
void jit_call_batch_gather(const struct jit_facts *a, uint32_t *insns, uint32_t n);
uint32_t jit_call_batch_length(const struct jit_facts *a, const uint32_t *insns, uint32_t n);

#endif
