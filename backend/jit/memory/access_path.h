/* ld and st: which way an access goes. */
#ifndef PTERA_BACKEND_JIT_MEMORY_ACCESS_PATH_H
#define PTERA_BACKEND_JIT_MEMORY_ACCESS_PATH_H

#include "backend/jit/analysis/block_order.h"
#include "backend/jit/jit.h"

/* Tests all accesses that can be tested at once: `trusted` are they. NULL if there are none. */
LLVMValueRef jit_access_path_test_all(const struct jit *j, const struct jit_order *o,
                                      uint64_t **trusted);

/* Ld, st and their kind: false with unit->why set. */
bool jit_access_path_emit(const struct jit *j);

/* The same if j->insn is one of interleaved accesses that have guards, whose lanes are among the
 * block's (by copy; NULL: all): false if it is not. */
bool jit_access_path_emit_guarded(const struct jit *j, LLVMValueRef *block_mask);

/* j->insn is a store that may write what is there in lanes that are off. */
bool jit_access_path_is_rewriting(const struct jit *j);

/* What j->insn's accesses of all copies rest on (aligned, affine forms hold), tested before the
 * instruction; NULL: nothing. False if it cannot be tested now: `written` holds registers that will
 * be written before. */
bool jit_access_path_test(const struct jit *j, const uint64_t *written, LLVMValueRef *test);

/* The same for an access by a base that lanes share and indexes: all are aligned where the base
 * is. */
bool jit_access_path_test_base(const struct jit *j, unsigned copy, const uint64_t *written,
                               LLVMValueRef *test);

#endif
