/* bar.red and barrier.red: what threads bring to the barrier, and their result. */
#ifndef PTERA_BACKEND_JIT_CONTROL_BARRIER_REDUCE_H
#define PTERA_BACKEND_JIT_CONTROL_BARRIER_REDUCE_H

#include "backend/jit/control/gen.h"
#include "backend/jit/jit.h"

/* The CTA begins: nobody has arrived. */
void jit_barrier_reduce_begin(const struct jit *j);

/* Lanes go to the region that begins with the barrier: they arrive, with their predicates. */
void jit_barrier_reduce_arrive(struct jit_gen *g, uint32_t to);

/* A region begins for the CTA: everybody has arrived, nobody at the next barrier. */
void jit_barrier_reduce_complete(const struct jit *j);

/* The same where warps are resumed one by one: what the runtime has counted. */
void jit_barrier_reduce_load_votes(struct jit_gen *g);

/* j->insn, bar.red or barrier.red: the result, in the lanes of `mask`. */
void jit_barrier_reduce_emit(struct jit *j, LLVMValueRef *mask);

#endif
