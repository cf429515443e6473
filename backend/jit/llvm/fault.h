/* Where launches end early: who is at fault, and where the code was. */
#ifndef PTERA_BACKEND_JIT_LLVM_FAULT_H
#define PTERA_BACKEND_JIT_LLVM_FAULT_H

#include "backend/jit/jit.h"

/* Who is at fault: lanes of n copies (vectors of i1; NULL: all of the chunk), some of them. */
struct jit_blame {
    unsigned first, n;              /* copies */
    LLVMValueRef lanes[JIT_COPIES]; /* of copy first + i */
    /* what they access: one pointer, or a vector of those of the only copy; NULL: nothing */
    LLVMValueRef pointer;
};

/* Where j->insn is in the module, func << 32 | insn, for helpers that report it. */
uint64_t jit_fault_place(const struct jit *j);

/* The number in its CTA of the copy's first thread (i64). */
LLVMValueRef jit_fault_first_thread(const struct jit *j, unsigned copy);

/* The lanes in memory, an i32 each, of all ones or zeros. */
LLVMValueRef jit_fault_store_lanes(const struct jit *j, const struct jit_blame *who);

/* The launch fails at j->insn: leaves the function. */
void jit_fault_raise(const struct jit *j, enum pt_fault_kind kind, const struct jit_blame *who);

/* The launch fails where `test` (i1) holds; goes on behind it. */
void jit_fault_raise_if(const struct jit *j, LLVMValueRef test, enum pt_fault_kind kind,
                        const struct jit_blame *who);

/* Likewise where any lane is to blame. */
void jit_fault_raise_if_any(const struct jit *j, enum pt_fault_kind kind,
                            const struct jit_blame *who);

/* Likewise where some lanes of a copy are bad; `pointers` is NULL or what they access. */
void jit_fault_raise_if_lanes(const struct jit *j, enum pt_fault_kind kind, unsigned copy,
                              LLVMValueRef bad, LLVMValueRef pointers);

/* Leaves the function at j->insn, which has seen that the kernel ends here. */
void jit_fault_leave(const struct jit *j, enum pt_run run);

#endif
