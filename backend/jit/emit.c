/* Emitters: which row has one, and what they build with. */
#include "backend/jit/jit.h"

#include <string.h>

/* ---- types and constants --------------------------------------------------------------------- */

static LLVMTypeRef of_lanes(LLVMTypeRef type, unsigned lanes)
{
    return lanes > 1 ? LLVMVectorType(type, lanes) : type;
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

static bool is_vector(LLVMTypeRef type)
{
    return LLVMGetTypeKind(type) == LLVMVectorTypeKind;
}

static LLVMTypeRef element_of(LLVMTypeRef type)
{
    return is_vector(type) ? LLVMGetElementType(type) : type;
}

static LLVMValueRef in_all(LLVMTypeRef type, LLVMValueRef value)
{
    LLVMValueRef lanes[64];
    if (!is_vector(type))
        return value;
    for (unsigned i = 0; i < LLVMGetVectorSize(type); i++)
        lanes[i] = value;
    return LLVMConstVector(lanes, LLVMGetVectorSize(type));
}

LLVMValueRef jit_const(LLVMTypeRef type, uint64_t value)
{
    return in_all(type, LLVMConstInt(element_of(type), value, true));
}

LLVMValueRef jit_const_real(LLVMTypeRef type, double value)
{
    return in_all(type, LLVMConstReal(element_of(type), value));
}

LLVMValueRef jit_intrinsic(struct jit *j, const char *name, LLVMTypeRef type, LLVMValueRef *args,
                           unsigned n)
{
    unsigned id = LLVMLookupIntrinsicID(name, strlen(name));
    LLVMValueRef f = LLVMGetIntrinsicDeclaration(j->module, id, &type, 1);
    return LLVMBuildCall2(j->b, LLVMGlobalGetValueType(f), f, args, n, "");
}

/* ---- NaNs and subnormals --------------------------------------------------------------------- */

static LLVMTypeRef bits_of(struct jit *j, LLVMTypeRef type)
{
    bool is_double = element_of(type) == LLVMDoubleTypeInContext(j->context);
    return jit_int_type(j, is_double ? 64 : 32, is_vector(type) ? LLVMGetVectorSize(type) : 1);
}

LLVMValueRef jit_canonical(struct jit *j, LLVMValueRef value)
{
    LLVMTypeRef type = LLVMTypeOf(value), bits = bits_of(j, type);
    bool is_double = element_of(type) == LLVMDoubleTypeInContext(j->context);
    LLVMValueRef nan = jit_const(bits, is_double ? INT64_MAX : INT32_MAX);
    LLVMValueRef is_nan = LLVMBuildFCmp(j->b, LLVMRealUNO, value, value, "");
    return LLVMBuildSelect(j->b, is_nan, LLVMConstBitCast(nan, type), value, "");
}

LLVMValueRef jit_flush(struct jit *j, LLVMValueRef value)
{
    LLVMTypeRef type = LLVMTypeOf(value), bits = bits_of(j, type);
    LLVMValueRef u = LLVMBuildBitCast(j->b, value, bits, "");
    LLVMValueRef exponent = LLVMBuildAnd(j->b, u, jit_const(bits, 0x7f800000), "");
    LLVMValueRef sign = LLVMBuildAnd(j->b, u, jit_const(bits, 0x80000000), "");
    LLVMValueRef is_tiny = LLVMBuildICmp(j->b, LLVMIntEQ, exponent, jit_const(bits, 0), "");
    return LLVMBuildBitCast(j->b, LLVMBuildSelect(j->b, is_tiny, sign, u, ""), type, "");
}

bool jit_call_lanes(struct jit_op *op)
{
    (void)op;
    return false;
}

/* ---- the table ------------------------------------------------------------------------------- */

static bool add(struct jit_op *op)
{
    op->d[0] = LLVMBuildAdd(op->b, op->a[0], op->a[1], "");
    return true;
}

jit_emitter *jit_emitter_of(enum pt_op op)
{
    return op == PT_OP_add_int ? add : NULL;
}
