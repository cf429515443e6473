/* What emitters share: the operation's form, its sources and results. */
#include "backend/jit/emit/helpers.h"

#include "backend/jit/emit/emit.h"
#include "backend/jit/jit.h"
#include "backend/jit/llvm/build.h"
#include "backend/jit/llvm/check.h"
#include "backend/jit/llvm/cpu.h"

/* ---- types and constants --------------------------------------------------------------------- */

uint64_t jit_immediate(const struct jit_op *op, unsigned i)
{
    return (uint64_t)op->j->unit->f->operands.v[op->insn->operands + i].imm;
}

/* ---- the form -------------------------------------------------------------------------------- */

bool jit_is_rn(const struct jit_op *op)
{
    return jit_is_fast_rounding(op->j->unit, op->form) ||
           (!jit_has(op, PT_M_rz) && !jit_has(op, PT_M_rm) && !jit_has(op, PT_M_rp));
}

/* Arithmetic of f32 that may name a rounding mode. */
static bool is_rounded_f32(const struct pt_form *form)
{
    switch (form->op) {
    case PT_OP_add_f32:
    case PT_OP_sub_f32:
    case PT_OP_mul_f32:
    case PT_OP_fma_f32:
    case PT_OP_div_f32:
    case PT_OP_rcp_f32:
    case PT_OP_sqrt_f32:
        return true;
    default:
        return false;
    }
}

bool jit_rounds_itself(const struct jit_unit *u, const struct pt_form *form)
{
    return is_rounded_f32(form) && u->cpu->has_embedded_rounding;
}

/* ---- values ---------------------------------------------------------------------------------- */

LLVMValueRef jit_unary(struct jit_op *op, const char *intrinsic, LLVMValueRef a)
{
    return jit_intrinsic(op->j, intrinsic, LLVMTypeOf(a), &a, 1);
}

LLVMValueRef jit_binary(struct jit_op *op, const char *intrinsic, LLVMValueRef a, LLVMValueRef b)
{
    LLVMValueRef args[] = {a, b};
    return jit_intrinsic(op->j, intrinsic, LLVMTypeOf(a), args, 2);
}

LLVMValueRef jit_extend(struct jit_op *op, LLVMValueRef value, unsigned bits, bool is_signed)
{
    LLVMTypeRef type = jit_ints(op, bits);
    return is_signed ? BUILD(SExt, value, type) : BUILD(ZExt, value, type);
}

static unsigned int_bits(LLVMValueRef value)
{
    LLVMTypeRef type = LLVMTypeOf(value);
    bool is_vector = LLVMGetTypeKind(type) == LLVMVectorTypeKind;
    return LLVMGetIntTypeWidth(is_vector ? LLVMGetElementType(type) : type);
}

LLVMValueRef jit_resize(struct jit_op *op, LLVMValueRef value, unsigned bits, bool is_signed)
{
    unsigned from = int_bits(value);
    if (from < bits)
        return jit_extend(op, value, bits, is_signed);
    return from > bits ? BUILD(Trunc, value, jit_ints(op, bits)) : value;
}

LLVMValueRef jit_to_bits(struct jit_op *op, LLVMValueRef value, unsigned bits)
{
    return BUILD(BitCast, value, jit_ints(op, bits));
}

LLVMValueRef jit_from_bits(struct jit_op *op, LLVMValueRef value, unsigned bits)
{
    return BUILD(BitCast, value, jit_floats(op, bits));
}

LLVMValueRef jit_is_nan(struct jit_op *op, LLVMValueRef value)
{
    return BUILD(FCmp, LLVMRealUNO, value, value);
}

LLVMValueRef jit_flushed(struct jit_op *op, unsigned i)
{
    return jit_has(op, PT_M_ftz) ? jit_flush(op->j, op->a[i]) : op->a[i];
}

LLVMValueRef jit_saturate(struct jit_op *op, LLVMValueRef value)
{
    LLVMValueRef zero = jit_const_real(LLVMTypeOf(value), 0),
                 one = jit_const_real(LLVMTypeOf(value), 1);
    value = BUILD(Select, BUILD(FCmp, LLVMRealOGT, value, zero), value, zero);
    return BUILD(Select, BUILD(FCmp, LLVMRealOLT, value, one), value, one);
}

bool jit_is_fast_rounding(const struct jit_unit *u, const struct pt_form *form)
{
    return is_rounded_f32(form) && u->options->math_fast;
}

LLVMValueRef jit_min_const(struct jit_op *op, LLVMValueRef n, unsigned bits, uint64_t top)
{
    return jit_binary(op, "llvm.umin", n, jit_int_const(op, bits, top));
}

LLVMValueRef jit_shift(struct jit_op *op, LLVMValueRef value, LLVMValueRef n, unsigned bits,
                       bool is_left)
{
    LLVMValueRef is_inside = BUILD(ICmp, LLVMIntULT, n, jit_int_const(op, 32, bits));
    n = jit_resize(op, n, bits, false);
    value = is_left ? BUILD(Shl, value, n) : BUILD(LShr, value, n);
    jit_check_proven(op->j->code, value, "amount"); /* beyond the width select leaves it out */
    return BUILD(Select, is_inside, value, jit_int_const(op, bits, 0));
}
