/* atom and red. */
#ifndef PTERA_BACKEND_JIT_MEMORY_ATOMIC_H
#define PTERA_BACKEND_JIT_MEMORY_ATOMIC_H

#include "backend/jit/jit.h"
#include "backend/order.h"

/* Atomic operations: false with unit->why set. */
bool jit_atomic_emit(const struct jit *j);

/* An order as LLVM has it. */
LLVMAtomicOrdering jit_atomic_order(enum pt_order order);

#endif
