/* Blocks of many independent dependence chains, which run in parts that fit the registers. */
#ifndef PTERA_BACKEND_JIT_CONTROL_CHAIN_SPLIT_H
#define PTERA_BACKEND_JIT_CONTROL_CHAIN_SPLIT_H

#include "backend/jit/jit.h"

/* True if the instructions had better run in parts than as they come; runs them so, in all
 * lanes. */
bool jit_chain_split_pays(const struct jit *j, const uint32_t *insns, uint32_t n);
bool jit_chain_split_emit(const struct jit *j, const uint32_t *insns, uint32_t n);

#endif
