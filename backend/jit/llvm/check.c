/* Nothing that is generated is undefined, whatever the kernel does: UNDEFINED.md says how each
 * cause is kept out. In builds for tests (PT_CHECK_IR) this looks at the code before its passes:
 * whatever LLVM may take for a promise of ours, or for a case that never comes, is refused unless
 * jit_check_proven stands where it is built, with the reason beside it.
 */
#include "backend/jit/llvm/check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backend/jit/jit.h"

struct check {
    struct jit_code *code; /* whose proofs are sorted */
    char *text;            /* what was found first; empty: nothing */
    size_t size;
};

LLVMValueRef jit_check_proven(struct jit_code *code, LLVMValueRef value, const char *what)
{
    if (PT_CHECK_IR && LLVMIsAInstruction(value))
        *pt_vec_push(code->unit->arena, &code->proofs) = (struct jit_proof){value, what};
    return value;
}

static int by_value(const void *a, const void *b)
{
    const struct jit_proof *x = a, *y = b;
    int order =
        ((uintptr_t)x->value > (uintptr_t)y->value) - ((uintptr_t)x->value < (uintptr_t)y->value);
    return order ? order : strcmp(x->what, y->what);
}

static bool is_proven(struct jit_code *code, LLVMValueRef i, const char *what)
{
    struct jit_proof proof = {i, what};
    return code->proofs.n &&
           bsearch(&proof, code->proofs.v, code->proofs.n, sizeof proof, by_value);
}

static void report(struct check *c, const char *what, LLVMValueRef where)
{
    if (c->text[0])
        return;
    char *text = LLVMPrintValueToString(where);
    snprintf(c->text, c->size, "not proven to be defined (%s): %.*s", what,
             (int)strcspn(text, "\n"), text);
    LLVMDisposeMessage(text);
}

/* The instruction, if `is_there`, has what needs a proof. */
static void expect(struct check *c, LLVMValueRef i, bool is_there, const char *what)
{
    if (is_there && !is_proven(c->code, i, what))
        report(c, what, i);
}

/* ---- flags ----------------------------------------------------------------------------------- */

static void check_flags(struct check *c, LLVMValueRef i, LLVMOpcode op)
{
    switch (op) {
    case LLVMAdd:
    case LLVMSub:
    case LLVMMul:
    case LLVMShl:
        expect(c, i, LLVMGetNUW(i), "nuw");
        expect(c, i, LLVMGetNSW(i), "nsw");
        break;
    case LLVMUDiv:
    case LLVMSDiv:
    case LLVMLShr:
    case LLVMAShr:
        expect(c, i, LLVMGetExact(i), "exact");
        break;
    case LLVMOr:
        expect(c, i, LLVMGetIsDisjoint(i), "disjoint");
        break;
    case LLVMZExt:
    case LLVMUIToFP:
        expect(c, i, LLVMGetNNeg(i), "nneg");
        break;
    case LLVMGetElementPtr:
        expect(c, i, LLVMGEPGetNoWrapFlags(i), "inbounds");
        break;
    default:
        break;
    }
    expect(c, i, LLVMCanValueUseFastMathFlags(i) && LLVMGetFastMathFlags(i), "fast-math");
}

/* ---- operands -------------------------------------------------------------------------------- */

static unsigned lanes_of(LLVMValueRef v)
{
    LLVMTypeRef type = LLVMTypeOf(v);
    return LLVMGetTypeKind(type) == LLVMVectorTypeKind ? LLVMGetVectorSize(type) : 1;
}

static LLVMTypeRef element_of(LLVMValueRef v)
{
    LLVMTypeRef type = LLVMTypeOf(v);
    return LLVMGetTypeKind(type) == LLVMVectorTypeKind ? LLVMGetElementType(type) : type;
}

/* All lanes are constants from `least` to below `end`. */
static bool lies_within(LLVMValueRef v, uint64_t least, uint64_t end)
{
    unsigned n = lanes_of(v);
    for (unsigned k = 0; k < n; k++) {
        LLVMValueRef lane = !LLVMIsConstant(v)      ? NULL
                            : LLVMIsAConstantInt(v) ? v
                                                    : LLVMGetAggregateElement(v, k);
        if (!lane || !LLVMIsAConstantInt(lane) || LLVMConstIntGetZExtValue(lane) < least ||
            LLVMConstIntGetZExtValue(lane) >= end)
            return false;
    }
    return true;
}

/* The divisor is neither 0 nor, signed, -1. */
static bool is_divisor(LLVMValueRef v, bool is_signed)
{
    unsigned bits = LLVMGetIntTypeWidth(element_of(v));
    return lies_within(v, 1, is_signed ? UINT64_MAX >> (64 - bits) : UINT64_MAX);
}

/* Lanes of a mask that come from a source that is nothing. */
static bool takes_nothing(LLVMValueRef shuffle)
{
    LLVMValueRef second = LLVMGetOperand(shuffle, 1);
    int n = (int)lanes_of(second);
    for (unsigned k = 0; k < LLVMGetNumMaskElements(shuffle); k++) {
        int lane = LLVMGetMaskValue(shuffle, k);
        if (lane == LLVMGetUndefMaskElem() || (lane >= n && LLVMIsUndef(second)))
            return true;
    }
    return false;
}

/* What vectors are begun with, and the second source of a shuffle that has none, are nothing. */
static bool may_be_nothing(LLVMOpcode op, unsigned operand)
{
    return (op == LLVMInsertElement && operand == 0) || (op == LLVMShuffleVector && operand == 1);
}

static void check_operands(struct check *c, LLVMValueRef i, LLVMOpcode op)
{
    LLVMValueRef last =
        LLVMGetNumOperands(i) ? LLVMGetOperand(i, (unsigned)LLVMGetNumOperands(i) - 1) : NULL;
    switch (op) {
    case LLVMShl:
    case LLVMLShr:
    case LLVMAShr:
        expect(c, i, !lies_within(last, 0, LLVMGetIntTypeWidth(element_of(i))), "amount");
        break;
    case LLVMUDiv:
    case LLVMURem:
    case LLVMSDiv:
    case LLVMSRem:
        expect(c, i, !is_divisor(last, op == LLVMSDiv || op == LLVMSRem), "divisor");
        break;
    case LLVMFPToUI:
    case LLVMFPToSI:
        expect(c, i, true, "range");
        break;
    case LLVMExtractElement:
        expect(c, i, !lies_within(last, 0, lanes_of(LLVMGetOperand(i, 0))), "index");
        break;
    case LLVMInsertElement:
        expect(c, i, !lies_within(last, 0, lanes_of(i)), "index");
        break;
    case LLVMShuffleVector:
        expect(c, i, takes_nothing(i), "mask");
        break;
    case LLVMUnreachable:
        expect(c, i, true, "unreachable");
        break;
    default:
        break;
    }
    for (int k = 0; k < LLVMGetNumOperands(i); k++)
        expect(c, i,
               LLVMIsUndef(LLVMGetOperand(i, (unsigned)k)) && !may_be_nothing(op, (unsigned)k),
               "undef");
}

/* ---- calls ----------------------------------------------------------------------------------- */

/* Intrinsics that are defined for all values. */
static bool is_total(const char *name)
{
    static const char *const names[] = {
        "arithmetic.fence", "bitreverse", "bswap", "ceil", "copysign", "ctpop", "fabs", "floor",
        "fma", "fptosi.sat", "fptoui.sat", "fshl", "fshr", "masked.gather", "masked.load",
        "masked.scatter", "masked.store", "memcpy", "prefetch", "rint", "sadd.sat", "smax", "smin",
        "sqrt", "ssub.sat", "trunc", "umax", "umin", "usub.sat", "vector.reduce.add",
        "vector.reduce.and", "vector.reduce.or", "vector.reduce.smax", "vector.reduce.smin",
        "vector.reduce.umax", "vector.reduce.umin", "vector.reduce.xor",
        /* with a rounding mode */
        "x86.avx512.add.ps.512", "x86.avx512.sub.ps.512", "x86.avx512.mul.ps.512",
        "x86.avx512.div.ps.512", "x86.avx512.vfmadd.ps.512", "x86.avx512.sqrt.ps.512",
        "x86.avx512.mask.fixupimm.pd.512", "x86.avx512.mask.range.pd.512",
        "x86.avx512.mask.fixupimm.ps.512", "x86.avx512.mask.range.ps.512",
        /* of mufu.c */
        "x86.avx512.mask.cvttps2dq.512", "x86.avx512.permvar.qi.512",
        "x86.avx512.pmultishift.qb.512", "x86.avx512.sitofp.round", "x86.avx512.vpdpbusd.512",
        "x86.avx512.vpdpwssd.512", "x86.avx512.vpermi2var.qi.512"};
    for (unsigned k = 0; k < sizeof names / sizeof *names; k++)
        if (!strcmp(name, names[k]))
            return true;
    return false;
}

static void check_intrinsic(struct check *c, LLVMValueRef call, unsigned id)
{
    size_t n;
    const char *name = LLVMIntrinsicGetName(id, &n) + strlen("llvm.");
    if (!strcmp(name, "ctlz") || !strcmp(name, "cttz"))
        expect(c, call, !lies_within(LLVMGetOperand(call, 1), 0, 1), "nonzero");
    else
        expect(c, call, !is_total(name), "intrinsic");
}

static void check_call(struct check *c, LLVMValueRef call)
{
    LLVMValueRef f = LLVMGetCalledValue(call);
    unsigned id = LLVMIsAFunction(f) ? LLVMGetIntrinsicID(f) : 0;
    if (id) {
        check_intrinsic(c, call, id);
        return;
    }
    for (unsigned at = 0; at <= LLVMGetNumArgOperands(call); at++)
        expect(c, call, LLVMGetCallSiteAttributeCount(call, at), "arguments");
    expect(c, call,
           LLVMGetCallSiteAttributeCount(call, (LLVMAttributeIndex)LLVMAttributeFunctionIndex),
           "pure");
    expect(c, call, LLVMIsTailCall(call), "tail");
}

/* ---- what is said of them -------------------------------------------------------------------- */

/* Of instructions: what is not known needs a proof as well. */
static const struct {
    const char *name;
    bool is_harmless;
} kinds[] = {
    {"dbg", true},  {"invariant.load", false}, {"dereferenceable", false}, {"align", false},
    {"prof", true}, {"nontemporal", true}};
enum { KINDS = sizeof kinds / sizeof *kinds };

static void check_metadata(struct check *c, LLVMValueRef i)
{
    size_t n;
    LLVMValueMetadataEntry *all = LLVMInstructionGetAllMetadataOtherThanDebugLoc(i, &n);
    for (unsigned e = 0; e < n; e++) {
        unsigned id = LLVMValueMetadataEntriesGetKind(all, e), k = 0;
        while (k < KINDS && id != LLVMGetMDKindIDInContext(c->code->context, kinds[k].name,
                                                           (unsigned)strlen(kinds[k].name)))
            k++;
        expect(c, i, k == KINDS || !kinds[k].is_harmless, k == KINDS ? "metadata" : kinds[k].name);
    }
    LLVMDisposeValueMetadataEntries(all);
}

static const struct {
    const char *name;
    unsigned at;
} attributes[] = {
    /* of JIT_ENTRY: kernel.c */
    {"null_pointer_is_valid", (unsigned)LLVMAttributeFunctionIndex},
    {"dereferenceable", 1},
    {"align", 1},
    /* likewise: coverage.c */
    {"noalias", 3},
    {"writable", 3},
    {"dead_on_unwind", 3},
    {"dereferenceable", 3},
    {"align", 3},
    /* of functions that are called: fault.c, lane_call.c */
    {"cold", (unsigned)LLVMAttributeFunctionIndex},
    {"nounwind", (unsigned)LLVMAttributeFunctionIndex},
    {"willreturn", (unsigned)LLVMAttributeFunctionIndex},
    {"memory", (unsigned)LLVMAttributeFunctionIndex},
};

static bool is_known(LLVMAttributeRef attribute, unsigned at)
{
    unsigned kind = LLVMIsEnumAttribute(attribute) ? LLVMGetEnumAttributeKind(attribute) : 0;
    for (unsigned k = 0; k < sizeof attributes / sizeof *attributes; k++)
        if (attributes[k].at == at &&
            kind == LLVMGetEnumAttributeKindForName(attributes[k].name, strlen(attributes[k].name)))
            return true;
    return LLVMIsStringAttribute(attribute);
}

static void check_attributes(struct check *c, LLVMValueRef f, unsigned at)
{
    LLVMAttributeRef all[64];
    unsigned n = LLVMGetAttributeCountAtIndex(f, at);
    if (n > sizeof all / sizeof *all) {
        report(c, "attributes", f);
        return;
    }
    LLVMGetAttributesAtIndex(f, at, all);
    for (unsigned k = 0; k < n; k++)
        if (!is_known(all[k], at))
            report(c, "attribute", f);
}

/* ---- all of it ------------------------------------------------------------------------------- */

static void check_instruction(struct check *c, LLVMValueRef i)
{
    LLVMOpcode op = LLVMGetInstructionOpcode(i);
    check_flags(c, i, op);
    check_operands(c, i, op);
    check_metadata(c, i);
    if (op == LLVMCall)
        check_call(c, i);
}

static void check_function(struct check *c, LLVMValueRef f)
{
    if (LLVMGetIntrinsicID(f))
        return;
    check_attributes(c, f, (unsigned)LLVMAttributeFunctionIndex);
    for (unsigned at = 0; at <= LLVMCountParams(f); at++)
        check_attributes(c, f, at);
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(f); b; b = LLVMGetNextBasicBlock(b))
        for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i))
            check_instruction(c, i);
}

bool jit_check_module(struct jit_code *code, char *text, size_t size)
{
    struct check c = {code, text, size};
    text[0] = 0;
    if (!PT_CHECK_IR)
        return true;
    if (code->proofs.n)
        qsort(code->proofs.v, code->proofs.n, sizeof *code->proofs.v, by_value);
    for (LLVMValueRef f = LLVMGetFirstFunction(code->module); f; f = LLVMGetNextFunction(f))
        check_function(&c, f);
    return !text[0];
}
