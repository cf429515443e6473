/* ld and st: which way an access goes. */
#ifndef PTERA_BACKEND_JIT_MEMORY_ACCESS_PATH_H
#define PTERA_BACKEND_JIT_MEMORY_ACCESS_PATH_H

#include "backend/jit/analysis/block_order.h"
#include "backend/jit/jit.h"

/* What all accesses of a list that can be tested at once rest on. */
struct jit_access_tests {
    LLVMValueRef good; /* i1: it holds; NULL: nothing is tested */
    uint64_t *trusted; /* the accesses */
    /* Where it does not hold and all lanes run, one of so many first of the late instructions is
     * misaligned, at the latest the last of them; 0: not known. */
    uint32_t n_to_fault;
};

struct jit_access_tests jit_access_path_test_all(const struct jit *j, const struct jit_order *o);

/* The launch fails at j->insn, the last of those: leaves the function. */
void jit_access_path_fail(const struct jit *j);

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
