/* LLVM's builder made small: types, constants, blocks, memory, vectors and masks of lanes. */
#include "backend/jit/llvm/build.h"

#include <llvm/Config/llvm-config.h>
#include <stdio.h>
#include <string.h>

#include "backend/jit/jit.h"
#include "backend/jit/llvm/check.h"
#include "backend/jit/llvm/cpu.h"
#include "backend/jit/tune.h"

/* ---- types and constants --------------------------------------------------------------------- */

static LLVMTypeRef of_lanes(LLVMTypeRef element, unsigned lanes)
{
    return lanes > 1 ? LLVMVectorType(element, lanes) : element;
}

LLVMTypeRef jit_int_type(const struct jit *j, unsigned bits, unsigned lanes)
{
    return of_lanes(LLVMIntTypeInContext(j->code->context, bits), lanes);
}

LLVMTypeRef jit_float_type(const struct jit *j, unsigned bits, unsigned lanes)
{
    LLVMTypeRef type = bits == 16   ? LLVMHalfTypeInContext(j->code->context)
                       : bits == 32 ? LLVMFloatTypeInContext(j->code->context)
                                    : LLVMDoubleTypeInContext(j->code->context);
    return of_lanes(type, lanes);
}

LLVMTypeRef jit_type(const struct jit *j, enum pt_type type, unsigned lanes)
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

/* The scalar constant that all lanes of a vector are; NULL: there is none. */
static LLVMValueRef splat_of(LLVMValueRef value)
{
    if (!LLVMIsConstant(value) || LLVMGetTypeKind(LLVMTypeOf(value)) != LLVMVectorTypeKind)
        return value;
    LLVMValueRef first = LLVMGetAggregateElement(value, 0);
    unsigned n = LLVMGetVectorSize(LLVMTypeOf(value));
    for (unsigned i = 1; i < n; i++)
        if (LLVMGetAggregateElement(value, i) != first)
            return NULL;
    return first;
}

bool jit_is_const(LLVMValueRef value, uint64_t *constant)
{
    value = splat_of(value);
    if (!value || !LLVMIsAConstantInt(value) || LLVMGetIntTypeWidth(LLVMTypeOf(value)) > 64)
        return false;
    *constant = LLVMConstIntGetZExtValue(value);
    return true;
}

bool jit_is_const_real(LLVMValueRef value, double *constant)
{
    LLVMBool loses;
    value = splat_of(value);
    if (!value || !LLVMIsAConstantFP(value))
        return false;
    *constant = LLVMConstRealGetDouble(value, &loses);
    return true;
}

LLVMValueRef jit_i32(const struct jit *j, uint32_t value)
{
    return LLVMConstInt(LLVMInt32TypeInContext(j->code->context), value, false);
}

LLVMValueRef jit_i64(const struct jit *j, uint64_t value)
{
    return LLVMConstInt(LLVMInt64TypeInContext(j->code->context), value, false);
}

LLVMTypeRef jit_i32_of(const struct jit *j)
{
    return LLVMInt32TypeInContext(j->code->context);
}

LLVMValueRef jit_each(const struct jit *j, uint32_t value)
{
    return jit_const(jit_int_type(j, 32, j->unit->width), value);
}

/* ---- blocks ---------------------------------------------------------------------------------- */

uint32_t jit_count_in(LLVMBasicBlockRef block)
{
    uint32_t n = 0;
    for (LLVMValueRef i = LLVMGetFirstInstruction(block); i; i = LLVMGetNextInstruction(i))
        n++;
    return n;
}

void jit_count_block(const struct jit *j)
{
    LLVMBasicBlockRef block = LLVMGetInsertBlock(j->code->b);
    j->code->n_generated += block ? jit_count_in(block) : 0;
}

LLVMBasicBlockRef jit_new_block(const struct jit *j, const char *name)
{
    return LLVMAppendBasicBlockInContext(j->code->context, j->code->function, name);
}

void jit_continue_in(const struct jit *j, LLVMBasicBlockRef block)
{
    jit_count_block(j);
    LLVMPositionBuilderAtEnd(j->code->b, block);
}

/* Parts of LLVM heed this only where they know how often the function runs: kernel.c. */
void jit_branch_mostly(const struct jit *j, LLVMValueRef condition, LLVMBasicBlockRef usual,
                       LLVMBasicBlockRef rare)
{
    static const char name[] = "branch_weights";
    LLVMMetadataRef parts[] = {LLVMMDStringInContext2(j->code->context, name, strlen(name)),
                               LLVMValueAsMetadata(jit_i32(j, JIT_BRANCH_WEIGHT)),
                               LLVMValueAsMetadata(jit_i32(j, 1))};
    LLVMMetadataRef node = LLVMMDNodeInContext2(j->code->context, parts, 3);
    LLVMSetMetadata(LLVMBuildCondBr(j->code->b, condition, usual, rare),
                    LLVMGetMDKindIDInContext(j->code->context, "prof", 4),
                    LLVMMetadataAsValue(j->code->context, node));
}

/* ---- memory ---------------------------------------------------------------------------------- */

LLVMValueRef jit_alloca(const struct jit *j, LLVMTypeRef type, const char *name)
{
    return LLVMBuildAlloca(j->code->allocas, type, name);
}

LLVMValueRef jit_at(const struct jit *j, LLVMValueRef pointer, LLVMValueRef bytes)
{
    return LLVMBuildGEP2(j->code->b, LLVMInt8TypeInContext(j->code->context), pointer, &bytes, 1,
                         "");
}

LLVMValueRef jit_field(const struct jit *j, LLVMTypeRef type, LLVMValueRef pointer, size_t offset)
{
    return LLVMBuildLoad2(j->code->b, type, jit_at(j, pointer, jit_i64(j, offset)), "");
}

void jit_set_invariant(const struct jit *j, LLVMValueRef load)
{
    LLVMSetMetadata(load, LLVMGetMDKindIDInContext(j->code->context, "invariant.load", 14),
                    LLVMMDNodeInContext(j->code->context, NULL, 0));
    jit_check_proven(j->code, load, "invariant.load"); /* by the caller */
}

LLVMValueRef jit_nowhere(const struct jit *j)
{
    if (!j->code->nowhere) {
        j->code->nowhere =
            jit_alloca(j, LLVMArrayType2(LLVMInt64TypeInContext(j->code->context), 8), "nowhere");
        LLVMSetAlignment(j->code->nowhere, 64);
    }
    return j->code->nowhere;
}

/* ---- calls ----------------------------------------------------------------------------------- */

LLVMValueRef jit_intrinsic(const struct jit *j, const char *name, LLVMTypeRef type,
                           LLVMValueRef *args, unsigned n)
{
    unsigned id = LLVMLookupIntrinsicID(name, strlen(name));
    LLVMValueRef function = LLVMGetIntrinsicDeclaration(j->code->module, id, &type, 1);
    return LLVMBuildCall2(j->code->b, LLVMIntrinsicGetType(j->code->context, id, &type, 1),
                          function, args, n, "");
}

static void add_attribute(const struct jit *j, LLVMValueRef function, const char *name,
                          uint64_t value)
{
    unsigned kind = LLVMGetEnumAttributeKindForName(name, strlen(name));
    LLVMAddAttributeAtIndex(function, (LLVMAttributeIndex)LLVMAttributeFunctionIndex,
                            LLVMCreateEnumAttribute(j->code->context, kind, value));
}

LLVMValueRef jit_declare(const struct jit *j, const char *prefix, const char *name,
                         LLVMTypeRef type)
{
    enum { READS_AND_WRITES_ARGUMENTS = 3 };
    char symbol[128];
    snprintf(symbol, sizeof symbol, "%s%s", prefix, name);
    LLVMValueRef function = LLVMGetNamedFunction(j->code->module, symbol);
    if (function)
        return function;
    function = LLVMAddFunction(j->code->module, symbol, type);
    add_attribute(j, function, "nounwind", 0);
    add_attribute(j, function, "willreturn", 0);
    add_attribute(j, function, "memory", READS_AND_WRITES_ARGUMENTS);
    return function;
}

LLVMValueRef jit_help(const struct jit *j, const char *name, LLVMTypeRef type, LLVMValueRef *args)
{
    LLVMValueRef function = LLVMGetNamedFunction(j->code->module, name);
    if (!function)
        function = LLVMAddFunction(j->code->module, name, type);
    return LLVMBuildCall2(j->code->b, type, function, args, LLVMCountParamTypes(type), "");
}

void jit_set_pure(const struct jit *j, LLVMValueRef call)
{
    static const char *const names[] = {"memory", "nounwind", "willreturn"};
    for (unsigned i = 0; i < sizeof names / sizeof *names; i++) {
        unsigned kind = LLVMGetEnumAttributeKindForName(names[i], strlen(names[i]));
        LLVMAddCallSiteAttribute(call, (LLVMAttributeIndex)LLVMAttributeFunctionIndex,
                                 LLVMCreateEnumAttribute(j->code->context, kind, 0));
    }
    jit_check_proven(j->code, call, "pure"); /* by the caller */
}

/* ---- f32 ------------------------------------------------------------------------------------- */

static unsigned lanes_of(LLVMTypeRef type)
{
    return LLVMGetTypeKind(type) == LLVMVectorTypeKind ? LLVMGetVectorSize(type) : 1;
}

LLVMValueRef jit_canonical(const struct jit *j, LLVMValueRef value)
{
    LLVMTypeRef type = LLVMTypeOf(value);
    unsigned lanes = lanes_of(type);
    if (type != jit_float_type(j, 32, lanes))
        return value;
    LLVMValueRef nan = LLVMConstBitCast(jit_const(jit_int_type(j, 32, lanes), 0x7fffffff), type);
    LLVMValueRef is_nan = LLVMBuildFCmp(j->code->b, LLVMRealUNO, value, value, "");
    return LLVMBuildSelect(j->code->b, is_nan, nan, value, "");
}

LLVMValueRef jit_flush(const struct jit *j, LLVMValueRef value)
{
    LLVMTypeRef type = LLVMTypeOf(value), ints = jit_int_type(j, 32, lanes_of(type));
    LLVMValueRef bits = LLVMBuildBitCast(j->code->b, value, ints, "");
    LLVMValueRef exponent = LLVMBuildAnd(j->code->b, bits, jit_const(ints, 0x7f800000), "");
    LLVMValueRef sign = LLVMBuildAnd(j->code->b, bits, jit_const(ints, 0x80000000), "");
    LLVMValueRef is_tiny = LLVMBuildICmp(j->code->b, LLVMIntEQ, exponent, jit_const(ints, 0), "");
    return LLVMBuildBitCast(j->code->b, LLVMBuildSelect(j->code->b, is_tiny, sign, bits, ""), type,
                            "");
}

/* ---- vectors --------------------------------------------------------------------------------- */

static LLVMValueRef fence_lanes(const struct jit *j, LLVMValueRef lanes);

/* Keeps LLVM from looking through lanes of 32 bits. */
static LLVMValueRef fence_lanes(const struct jit *j, LLVMValueRef vector)
{
    LLVMTypeRef floats = jit_float_type(j, 32, LLVMGetVectorSize(LLVMTypeOf(vector)));
    LLVMValueRef lanes = LLVMBuildBitCast(j->code->b, vector, floats, "");
    lanes = jit_intrinsic(j, "llvm.arithmetic.fence", floats, &lanes, 1);
    return LLVMBuildBitCast(j->code->b, lanes, LLVMTypeOf(vector), "");
}

/* A predicate of all lanes, made of integers: LLVM is slow at spreading a single i1, and without
 * the fence goes back to it. */
static LLVMValueRef splat_bit(const struct jit *j, LLVMValueRef bit)
{
    if (j->unit->cpu->has_mask_registers) {
        LLVMTypeRef bits = LLVMIntTypeInContext(j->code->context, j->unit->width);
        return LLVMBuildBitCast(j->code->b, LLVMBuildSExt(j->code->b, bit, bits, ""),
                                jit_int_type(j, 1, j->unit->width), "");
    }
    LLVMValueRef lane =
        LLVMBuildSExt(j->code->b, bit, LLVMInt32TypeInContext(j->code->context), "");
    return jit_flow_mask(j, fence_lanes(j, jit_splat(j, lane)));
}

LLVMValueRef jit_splat(const struct jit *j, LLVMValueRef scalar)
{
    if (LLVMTypeOf(scalar) == LLVMInt1TypeInContext(j->code->context) && !LLVMIsConstant(scalar))
        return splat_bit(j, scalar);
    LLVMTypeRef type = LLVMVectorType(LLVMTypeOf(scalar), j->unit->width);
    LLVMTypeRef i32 = LLVMInt32TypeInContext(j->code->context);
    LLVMValueRef one = LLVMBuildInsertElement(j->code->b, LLVMGetPoison(type), scalar,
                                              LLVMConstInt(i32, 0, false), "");
    return LLVMBuildShuffleVector(j->code->b, one, LLVMGetPoison(type),
                                  LLVMConstNull(LLVMVectorType(i32, j->unit->width)), "");
}

LLVMValueRef jit_spread(const struct jit *j, LLVMValueRef scalar, unsigned lanes)
{
    return lanes > 1 ? jit_splat(j, scalar) : scalar;
}

LLVMValueRef jit_steps(const struct jit *j, LLVMTypeRef element, int64_t stride)
{
    LLVMValueRef steps[64];
    for (unsigned i = 0; i < j->unit->width; i++)
        steps[i] = LLVMConstInt(element, (uint64_t)stride * i, true);
    return LLVMConstVector(steps, j->unit->width);
}

/* Without the fence LLVM 19 takes what only the pair's other lane needs for undefined, and lets it
 * into addresses. */
LLVMValueRef jit_lane(const struct jit *j, LLVMValueRef vector, unsigned lane)
{
    LLVMTypeRef i32 = LLVMInt32TypeInContext(j->code->context),
                i64 = LLVMInt64TypeInContext(j->code->context);
    if (LLVMGetElementType(LLVMTypeOf(vector)) != i32 || LLVMIsConstant(vector))
        return LLVMBuildExtractElement(j->code->b, vector, jit_i32(j, lane), "");
    LLVMTypeRef pairs = LLVMVectorType(i64, LLVMGetVectorSize(LLVMTypeOf(vector)) / 2);
    LLVMValueRef pair = LLVMBuildBitCast(j->code->b, fence_lanes(j, vector), pairs, "");
    pair = LLVMBuildExtractElement(j->code->b, pair, jit_i32(j, lane / 2), "");
    if (lane % 2)
        pair = LLVMBuildLShr(j->code->b, pair, jit_i64(j, 32), "");
    return LLVMBuildTrunc(j->code->b, pair, i32, "");
}

LLVMValueRef jit_shuffle(const struct jit *j, LLVMValueRef x, LLVMValueRef y, const int *lanes,
                         unsigned n)
{
    LLVMValueRef order[256];
    for (unsigned i = 0; i < n; i++)
        order[i] = jit_i32(j, (uint32_t)lanes[i]);
    return LLVMBuildShuffleVector(j->code->b, x, y ? y : LLVMGetPoison(LLVMTypeOf(x)),
                                  LLVMConstVector(order, n), "");
}

LLVMValueRef jit_concat(const struct jit *j, LLVMValueRef *parts, unsigned n)
{
    LLVMValueRef v[JIT_COPIES];
    memcpy(v, parts, n * sizeof *v);
    for (unsigned jit_each = LLVMGetVectorSize(LLVMTypeOf(v[0])); n > 1; n /= 2, jit_each *= 2) {
        int order[256];
        for (unsigned i = 0; i < 2 * jit_each; i++)
            order[i] = (int)i;
        for (unsigned i = 0; i < n / 2; i++)
            v[i] = jit_shuffle(j, v[2 * i], v[2 * i + 1], order, 2 * jit_each);
    }
    return v[0];
}

/* ---- masks ----------------------------------------------------------------------------------- */

LLVMTypeRef jit_flow_type(const struct jit *j)
{
    return jit_int_type(j, j->unit->cpu->has_mask_registers ? 1 : 32, j->unit->width);
}

/* The fence keeps LLVM from making vectors of i1 of it again. */
LLVMValueRef jit_flow_of(const struct jit *j, LLVMValueRef mask)
{
    if (j->unit->cpu->has_mask_registers)
        return mask;
    LLVMValueRef flow = LLVMBuildSExt(j->code->b, mask, jit_flow_type(j), "");
    return LLVMIsConstant(flow) ? flow : fence_lanes(j, flow);
}

LLVMValueRef jit_flow_and(const struct jit *j, LLVMValueRef a, LLVMValueRef b)
{
    LLVMValueRef both = LLVMBuildAnd(j->code->b, a, b, "");
    return j->unit->cpu->has_mask_registers || LLVMIsConstant(both) ? both : fence_lanes(j, both);
}

LLVMValueRef jit_flow_mask(const struct jit *j, LLVMValueRef flow)
{
    if (j->unit->cpu->has_mask_registers)
        return flow;
    return LLVMBuildICmp(j->code->b, LLVMIntSLT, flow, LLVMConstNull(jit_flow_type(j)), "");
}

LLVMValueRef jit_flow_load(const struct jit *j, LLVMValueRef slot)
{
    return LLVMBuildLoad2(j->code->b, jit_flow_type(j), slot, "");
}

LLVMValueRef jit_mask_load(const struct jit *j, LLVMValueRef slot)
{
    return jit_flow_mask(j, jit_flow_load(j, slot));
}

/* Predicate registers: the same form, without the fence, as most do not leave their block. */
void jit_mask_store(const struct jit *j, LLVMValueRef slot, LLVMValueRef mask)
{
    if (!j->unit->cpu->has_mask_registers)
        mask = LLVMBuildSExt(j->code->b, mask, jit_flow_type(j), "");
    LLVMBuildStore(j->code->b, mask, slot);
}

LLVMValueRef jit_mask_all(const struct jit *j)
{
    return LLVMConstAllOnes(jit_int_type(j, 1, j->unit->width));
}

static LLVMValueRef mask_bits(const struct jit *j, LLVMValueRef mask)
{
    return LLVMBuildBitCast(j->code->b, mask,
                            LLVMIntTypeInContext(j->code->context, j->unit->width), "");
}

LLVMValueRef jit_any(const struct jit *j, LLVMValueRef mask)
{
    LLVMValueRef bits = mask_bits(j, mask);
    return LLVMBuildICmp(j->code->b, LLVMIntNE, bits, LLVMConstNull(LLVMTypeOf(bits)), "");
}

LLVMValueRef jit_all(const struct jit *j, LLVMValueRef mask)
{
    LLVMValueRef bits = mask_bits(j, mask);
    return LLVMBuildICmp(j->code->b, LLVMIntEQ, bits, LLVMConstAllOnes(LLVMTypeOf(bits)), "");
}

LLVMValueRef jit_mask_to_bits(const struct jit *j, LLVMValueRef mask)
{
    LLVMValueRef bits = LLVMBuildBitCast(
        j->code->b, mask, LLVMIntTypeInContext(j->code->context, j->unit->width), "");
    return LLVMBuildZExtOrBitCast(j->code->b, bits, LLVMInt32TypeInContext(j->code->context), "");
}

/* Where masks have registers the mask is the low lanes of a longer one: LLVM 19, tuned for znver4,
 * never ends with xor of two that are 16-bit integers. */
LLVMValueRef jit_mask_from_bits(const struct jit *j, LLVMValueRef bits)
{
    int lanes[PT_WARP_SIZE];
    for (unsigned i = 0; i < j->unit->width; i++)
        lanes[i] = (int)i;
    if (j->unit->cpu->has_mask_registers)
        return jit_shuffle(j,
                           LLVMBuildBitCast(j->code->b, bits, jit_int_type(j, 1, PT_WARP_SIZE), ""),
                           NULL, lanes, j->unit->width);
    bits = LLVMBuildTruncOrBitCast(j->code->b, bits,
                                   LLVMIntTypeInContext(j->code->context, j->unit->width), "");
    return LLVMBuildBitCast(j->code->b, bits, jit_int_type(j, 1, j->unit->width), "");
}

/* Chunks of a warp. Arrays below hold one value for each. */
LLVMValueRef jit_warp_bits(const struct jit *j, const LLVMValueRef *lanes)
{
    LLVMTypeRef i32 = LLVMInt32TypeInContext(j->code->context);
    LLVMValueRef all = jit_i32(j, 0);
    for (unsigned u = 0; u < jit_warp_chunks(j); u++) {
        LLVMValueRef bits =
            LLVMBuildBitCast(j->code->b, lanes[u] ? lanes[u] : jit_mask_all(j),
                             LLVMIntTypeInContext(j->code->context, j->unit->width), "");
        bits = LLVMBuildZExtOrBitCast(j->code->b, bits, i32, "");
        all = LLVMBuildOr(j->code->b, all,
                          LLVMBuildShl(j->code->b, bits, jit_i32(j, u * j->unit->width), ""), "");
    }
    return all;
}

/* ---- CTAs ------------------------------------------------------------------------------------ */

LLVMValueRef jit_interleaves(const struct jit *j)
{
    LLVMValueRef alone =
        jit_field(j, jit_i32_of(j), j->code->cta, offsetof(struct pt_cta, is_alone));
    return LLVMBuildICmp(j->code->b, LLVMIntEQ, alone, jit_i32(j, 0), "");
}
