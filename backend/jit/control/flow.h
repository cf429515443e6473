/* Where control goes in a region. */
#ifndef PTERA_BACKEND_JIT_CONTROL_FLOW_H
#define PTERA_BACKEND_JIT_CONTROL_FLOW_H

#include "backend/jit/control/gen.h"

/* Goes on, after block `from` has sent lanes to a and b (UINT32_MAX: to none), at the first place
 * where lanes may wait. */
void jit_flow_go_on(struct jit_gen *g, uint32_t from, uint32_t a, uint32_t b);

/* The same inside loop `loop` (index + 1, or PT_NONE), where lanes may wait at the blocks of
 * `waits`. */
void jit_flow_go_on_among(struct jit_gen *g, uint32_t from, uint32_t loop, const uint64_t *waits);

/* Lanes of `mask` (NULL: all) will run `to`. */
void jit_flow_send(struct jit_gen *g, uint32_t from, uint32_t to, LLVMValueRef *mask);

/* All lanes that run block `from` go to `to`. */
void jit_flow_go_to(struct jit_gen *g, uint32_t from, uint32_t to);

#endif
