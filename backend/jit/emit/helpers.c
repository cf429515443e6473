/* The table of emitters, and what they share. */
#include "backend/jit/emit/emit.h"

#include <string.h>

/* The instruction table says of each of these rows that it has an emitter. */
enum {
#define ROW(id, syntax, shape, effects, jit, ptx, sm) JIT_OF_##id = (int)PT_JIT_##jit,
#define ROW_TODO(id, syntax, shape, effects, jit, ptx, sm)
#include "ir/isa.def"
};
#define EMIT(row, function) _Static_assert(JIT_OF_##row == (int)PT_JIT_EMIT, #row " has an emitter");
#include "backend/jit/emit/emit.def"

jit_emitter *jit_emitter_of(struct jit *j, const struct pt_form *form)
{
    static jit_emitter *const emitters[PT_OP_COUNT] = {
#define EMIT(row, function) [PT_OP_##row] = jit_emit_##function,
#include "backend/jit/emit/emit.def"
    };
    jit_emitter *fast = jit_fast_emitter(j, form);
    return fast ? fast : emitters[form->op];
}

/* ---- types and constants ----------------------------------------------------------------------------------- */

static LLVMTypeRef of_lanes(LLVMTypeRef element, unsigned lanes)
{
    return lanes > 1 ? LLVMVectorType(element, lanes) : element;
}

LLVMTypeRef jit_int_type(struct jit *j, unsigned bits, unsigned lanes)
{
    return of_lanes(LLVMIntTypeInContext(j->context, bits), lanes);
}

LLVMTypeRef jit_float_type(struct jit *j, unsigned bits, unsigned lanes)
{
    LLVMTypeRef type = bits == 16   ? LLVMHalfTypeInContext(j->context)
                       : bits == 32 ? LLVMFloatTypeInContext(j->context)
                                    : LLVMDoubleTypeInContext(j->context);
    return of_lanes(type, lanes);
}

LLVMTypeRef jit_type(struct jit *j, enum pt_type type, unsigned lanes)
{
    if (type == PT_f32 || type == PT_f64)
        return jit_float_type(j, pt_type_bits(type), lanes);
    return jit_int_type(j, pt_type_bits(type), lanes);
}

static LLVMValueRef splat(LLVMTypeRef type, LLVMValueRef element)
{
    LLVMValueRef elements[64];
    unsigned n = LLVMGetVectorSize(type);
    for (unsigned i = 0; i < n; i++)
        elements[i] = element;
    return LLVMConstVector(elements, n);
}

LLVMValueRef jit_const(LLVMTypeRef type, uint64_t value)
{
    bool is_vector = LLVMGetTypeKind(type) == LLVMVectorTypeKind;
    LLVMValueRef one = LLVMConstInt(is_vector ? LLVMGetElementType(type) : type, value, false);
    return is_vector ? splat(type, one) : one;
}

LLVMValueRef jit_const_real(LLVMTypeRef type, double value)
{
    bool is_vector = LLVMGetTypeKind(type) == LLVMVectorTypeKind;
    LLVMValueRef one = LLVMConstReal(is_vector ? LLVMGetElementType(type) : type, value);
    return is_vector ? splat(type, one) : one;
}

bool jit_is_const(LLVMValueRef value, uint64_t *constant)
{
    if (!LLVMIsConstant(value))
        return false;
    if (LLVMGetTypeKind(LLVMTypeOf(value)) == LLVMVectorTypeKind) {
        LLVMValueRef first = LLVMGetAggregateElement(value, 0);
        unsigned n = LLVMGetVectorSize(LLVMTypeOf(value));
        for (unsigned i = 1; i < n; i++)
            if (LLVMGetAggregateElement(value, i) != first)
                return false;
        value = first;
    }
    if (!value || !LLVMIsAConstantInt(value) || LLVMGetIntTypeWidth(LLVMTypeOf(value)) > 64)
        return false;
    *constant = LLVMConstIntGetZExtValue(value);
    return true;
}

uint64_t jit_immediate(const struct jit_op *op, unsigned i)
{
    return (uint64_t)op->j->f->operands.v[op->insn->operands + i].imm;
}

/* ---- the form ---------------------------------------------------------------------------------------------- */

bool jit_is_rn(const struct jit_op *op)
{
    return jit_is_fast_rounding(op->j, op->form) ||
           (!jit_has(op, PT_M_rz) && !jit_has(op, PT_M_rm) && !jit_has(op, PT_M_rp));
}

bool jit_rounds_itself(struct jit *j, const struct pt_form *form)
{
    switch (form->op) {
    case PT_OP_add_f32:
    case PT_OP_sub_f32:
    case PT_OP_mul_f32:
    case PT_OP_fma_f32:
    case PT_OP_div_f32:
    case PT_OP_rcp_f32:
    case PT_OP_sqrt_f32:
        return j->target->has_mask_registers && j->width == 16;
    default:
        return false;
    }
}

/* ---- values ------------------------------------------------------------------------------------------------ */

LLVMValueRef jit_intrinsic(struct jit *j, const char *name, LLVMTypeRef type, LLVMValueRef *args,
                           unsigned n)
{
    unsigned id = LLVMLookupIntrinsicID(name, strlen(name));
    LLVMValueRef function = LLVMGetIntrinsicDeclaration(j->module, id, &type, 1);
    return LLVMBuildCall2(j->b, LLVMIntrinsicGetType(j->context, id, &type, 1), function, args, n,
                          "");
}

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

static unsigned lanes_of(LLVMTypeRef type)
{
    return LLVMGetTypeKind(type) == LLVMVectorTypeKind ? LLVMGetVectorSize(type) : 1;
}

LLVMValueRef jit_canonical(struct jit *j, LLVMValueRef value)
{
    LLVMTypeRef type = LLVMTypeOf(value);
    unsigned lanes = lanes_of(type);
    if (type != jit_float_type(j, 32, lanes))
        return value;
    LLVMValueRef nan = LLVMConstBitCast(jit_const(jit_int_type(j, 32, lanes), 0x7fffffff), type);
    LLVMValueRef is_nan = LLVMBuildFCmp(j->b, LLVMRealUNO, value, value, "");
    return LLVMBuildSelect(j->b, is_nan, nan, value, "");
}

LLVMValueRef jit_flush(struct jit *j, LLVMValueRef value)
{
    LLVMTypeRef type = LLVMTypeOf(value), ints = jit_int_type(j, 32, lanes_of(type));
    LLVMValueRef bits = LLVMBuildBitCast(j->b, value, ints, "");
    LLVMValueRef exponent = LLVMBuildAnd(j->b, bits, jit_const(ints, 0x7f800000), "");
    LLVMValueRef sign = LLVMBuildAnd(j->b, bits, jit_const(ints, 0x80000000), "");
    LLVMValueRef is_tiny = LLVMBuildICmp(j->b, LLVMIntEQ, exponent, jit_const(ints, 0), "");
    return LLVMBuildBitCast(j->b, LLVMBuildSelect(j->b, is_tiny, sign, bits, ""), type, "");
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
