/* atom and red: what is done in one lane. */
#ifndef PTERA_BACKEND_JIT_MEMORY_ATOMIC_OP_H
#define PTERA_BACKEND_JIT_MEMORY_ATOMIC_OP_H

#include "backend/jit/jit.h"
#include "backend/order.h"

enum { JIT_ATOMIC_ELEMENTS = 8 };

struct jit_atomic {
    const struct pt_operand *d[JIT_ATOMIC_ELEMENTS]; /* NULL if nobody reads what was there */
    const struct pt_operand *base, *b, *c;
    enum pt_type type;
    unsigned bytes, n; /* of an element, elements: each is atomic for itself */
    LLVMTypeRef element;
    bool is_shared, is_global, is_float;
    const char *half;      /* f16 and its kind: the operation's name (backend/lanes.h) */
    LLVMAtomicRMWBinOp op; /* unless it is cas */
    bool is_cas;
    LLVMAtomicOrdering order;
};

/* False if native code has no such operation; the kernel is then refused. */
bool jit_atomic_op_describe(const struct jit *j, struct jit_atomic *a);

/* One element of one lane, at `p`; gives what was there. */
LLVMValueRef jit_atomic_op_emit(const struct jit *j, const struct jit_atomic *a, LLVMValueRef p,
                                LLVMValueRef b, LLVMValueRef c);

/* An order as LLVM has it. */
LLVMAtomicOrdering jit_atomic_op_order(enum pt_order order);

#endif
