/* What emitters share. An emitter builds one pure operation (struct jit_op). */
#ifndef PTERA_BACKEND_JIT_EMIT_EMIT_H
#define PTERA_BACKEND_JIT_EMIT_EMIT_H

#include "backend/jit/jit.h"
#include "backend/jit/llvm/build.h"

/* One pure operation over scalars (lanes == 1) or over vectors of `lanes`. Sources have the types
 * of the form's slots: iN (8, 16, 32, 64, 128 bits), float, double; .f16, .bf16 and packed types
 * are iN; predicates i1; all of them vectors if lanes > 1, constants included. A source in a wider
 * register has been narrowed. */
struct jit_op {
    const struct jit *j;
    LLVMBuilderRef b;
    unsigned lanes;
    const struct pt_form *form;
    const struct pt_insn *insn;
    unsigned n; /* sources, flattened in the order written (vectors, pairs) */
    LLVMValueRef a[JIT_SOURCES];
    bool negated[JIT_SOURCES]; /* a predicate source written !p: already applied to a[] */
    bool quiet[JIT_SOURCES];   /* a source has no signalling NaN of f32 */
    LLVMValueRef d[JIT_DESTS]; /* to be set: of the destination slots' types; d|q is two */
    /* to be set where d[0] is the result of f32 arithmetic: its NaNs are not canonical yet
     * (0x7fffffff), which is done where bits become visible. NaNs of f64 have payloads: emitters
     * give all their bits */
    bool is_number;
    /* to be set where d[0] holds only if this i1 is true; if not, the lane function is called */
    LLVMValueRef is_plain;
};

/* Returns false if this form has no emitter (nothing has been built). */
typedef bool jit_emitter(struct jit_op *op);

/* BUILD(Add, x, y): LLVMBuildAdd at the place of `op`. */
#define BUILD(kind, ...) LLVMBuild##kind(op->b, __VA_ARGS__, "")

#define EMIT(row, function) bool jit_emit_##function(struct jit_op *op);
#include "backend/jit/emit/emit.def"

static inline enum pt_type jit_form_type(const struct jit_op *op, unsigned n)
{
    return (enum pt_type)op->form->type[n];
}

static inline unsigned jit_form_bits(const struct jit_op *op, unsigned n)
{
    return pt_type_bits(jit_form_type(op, n));
}

static inline bool jit_form_signed(const struct jit_op *op, unsigned n)
{
    return pt_type_class(jit_form_type(op, n)) == PT_CLASS_S;
}

static inline bool jit_has(const struct jit_op *op, enum pt_mod mod)
{
    return pt_form_has(op->form, mod);
}

static inline LLVMTypeRef jit_ints(const struct jit_op *op, unsigned bits)
{
    return jit_int_type(op->j, bits, op->lanes);
}

static inline LLVMTypeRef jit_floats(const struct jit_op *op, unsigned bits)
{
    return jit_float_type(op->j, bits, op->lanes);
}

static inline LLVMValueRef jit_int_const(const struct jit_op *op, unsigned bits, uint64_t value)
{
    return jit_const(jit_ints(op, bits), value);
}

#endif
