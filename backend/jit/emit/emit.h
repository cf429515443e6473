/* What emitters share. An emitter builds one pure operation (struct jit_op); see jit.h. */
#ifndef PTERA_BACKEND_JIT_EMIT_H
#define PTERA_BACKEND_JIT_EMIT_H

#include "backend/jit/jit.h"

/* BUILD(Add, x, y): LLVMBuildAdd at the place of `op`. */
#define BUILD(kind, ...) LLVMBuild##kind(op->b, __VA_ARGS__, "")

#define EMIT(row, function) bool jit_emit_##function(struct jit_op *op);
#include "backend/jit/emit/emit.def"

/* ---- fast_math.c: --math fast ---------------------------------------------------------------------------- */

/* The emitter that serves then, or NULL. */
jit_emitter *jit_fast_emitter(struct jit *j, const struct pt_form *form);
/* True if directed roundings of the form are to nearest. */
bool jit_is_fast_rounding(struct jit *j, const struct pt_form *form);

/* ---- the form ------------------------------------------------------------------------------------------ */

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

/* True if vectors have instructions for the form's directed roundings. */
bool jit_rounds_itself(struct jit *j, const struct pt_form *form);
/* To nearest, spelled or not, or by jit_is_fast_rounding. */
bool jit_is_rn(const struct jit_op *op);

/* ---- values -------------------------------------------------------------------------------------------- */

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

/* An integer constant that is the same in all lanes. */
bool jit_is_const(LLVMValueRef value, uint64_t *constant);
/* Integer constant written as operand `i` of the instruction. */
uint64_t jit_immediate(const struct jit_op *op, unsigned i);

LLVMValueRef jit_extend(struct jit_op *op, LLVMValueRef value, unsigned bits, bool is_signed);
/* An integer cut or extended to `bits`. */
LLVMValueRef jit_resize(struct jit_op *op, LLVMValueRef value, unsigned bits, bool is_signed);
/* Intrinsics of one and two operands of the same type. */
LLVMValueRef jit_unary(struct jit_op *op, const char *intrinsic, LLVMValueRef a);
LLVMValueRef jit_binary(struct jit_op *op, const char *intrinsic, LLVMValueRef a, LLVMValueRef b);

/* The bits of a floating-point value, and back. */
LLVMValueRef jit_to_bits(struct jit_op *op, LLVMValueRef value, unsigned bits);
LLVMValueRef jit_from_bits(struct jit_op *op, LLVMValueRef value, unsigned bits);
LLVMValueRef jit_is_nan(struct jit_op *op, LLVMValueRef value);
/* Source `i`, of type f32, flushed if the form has .ftz. */
LLVMValueRef jit_flushed(struct jit_op *op, unsigned i);
/* f32, f64: to [0, 1], NaN to +0. */
LLVMValueRef jit_saturate(struct jit_op *op, LLVMValueRef value);

/* ---- half.c: values of f16 and bf16 as i16 ---------------------------------------------------------- */

/* True if there is code that rounds to f16, which is the machine's; to bf16 there is everywhere. */
bool jit_narrows_to(const struct jit_op *op, bool is_bf16);
/* To f32: exact, NaN to some NaN (bf16: with its payload). */
LLVMValueRef jit_half_to_f32(struct jit_op *op, LLVMValueRef half, bool is_bf16);
/* From f32, to nearest; NaN to 0x7fff. */
LLVMValueRef jit_half_from_f32(struct jit_op *op, LLVMValueRef value, bool is_bf16);

#endif
