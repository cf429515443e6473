/* Masks of lanes that wait at blocks, and the outlets of loops. */
#ifndef PTERA_BACKEND_JIT_CONTROL_WAIT_MASKS_H
#define PTERA_BACKEND_JIT_CONTROL_WAIT_MASKS_H

#include "backend/jit/control/gen.h"
#include "backend/jit/jit.h"

/* Finds loops that all lanes leave for one block behind them, which runs when none is left inside:
 * where a lane leaves need not be noted, as it has gone in. Clears what is noted of lanes. */
void jit_wait_masks_find_outlets(struct jit_gen *g);
void jit_wait_masks_clear_outlets(struct jit_gen *g);

/* The lanes that wait at a block. */
LLVMValueRef jit_wait_masks_waiting(struct jit_gen *g, uint32_t block, unsigned copy);

/* They run it now. */
void jit_wait_masks_clear(struct jit_gen *g, uint32_t block, unsigned copy);

/* i1: lanes of some copy wait at the block. */
LLVMValueRef jit_wait_masks_has_waiting(struct jit_gen *g, uint32_t block);

/* i1: all lanes of the group do. */
LLVMValueRef jit_wait_masks_all_wait(struct jit_gen *g, uint32_t block);

#endif
