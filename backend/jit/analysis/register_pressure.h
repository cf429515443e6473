/* Register pressure: vector registers that the values of a chunk take. */
#ifndef PTERA_BACKEND_JIT_ANALYSIS_REGISTER_PRESSURE_H
#define PTERA_BACKEND_JIT_ANALYSIS_REGISTER_PRESSURE_H

#include "backend/jit/jit.h"

/* Vector registers that a chunk's values take where most are live; with or without those that
 * operations may take from memory. */
uint32_t jit_register_pressure_find(const struct jit_facts *a, bool loads_operands);

#endif
