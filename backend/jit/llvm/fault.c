/* Where launches end early: who is at fault, and where the code was. */
#include "backend/jit/llvm/fault.h"

#include <string.h>

#include "backend/jit/jit.h"
#include "backend/jit/llvm/build.h"
#include "backend/jit/llvm/check.h"
#include "backend/jit/llvm/debug_info.h"

uint64_t jit_fault_place(const struct jit *j)
{
    struct pt_place place =
        jit_debug_info_place(j->unit, (uint32_t)(j->insn - j->unit->f->insns.v));
    return (uint64_t)place.func << 32 | place.insn;
}

/* ---- who ------------------------------------------------------------------------------------- */

static LLVMValueRef one_lane(const struct jit *j)
{
    LLVMValueRef bit = LLVMBuildShl(j->code->b, jit_i32(j, 1), j->alone, "");
    jit_check_proven(j->code, bit, "amount"); /* a lane of a chunk */
    return jit_mask_from_bits(j, bit);
}

/* Masks go to memory as they are: asked for as bits, they would be made in that form where they are
 * tested, too. */
LLVMValueRef jit_fault_store_lanes(const struct jit *j, const struct jit_blame *who)
{
    LLVMTypeRef i32 = LLVMInt32TypeInContext(j->code->context);
    if (!j->code->blamed[0])
        j->code->blamed[0] =
            jit_alloca(j, LLVMArrayType2(i32, JIT_COPIES * j->unit->width), "blamed");
    for (unsigned i = 0; i < who->n; i++) {
        LLVMValueRef mask = who->lanes[i] ? who->lanes[i] : jit_mask_all(j);
        if (j->alone)
            mask = LLVMBuildAnd(j->code->b, mask, one_lane(j), "");
        LLVMValueRef elements =
            LLVMBuildSExt(j->code->b, mask, LLVMVectorType(i32, j->unit->width), "");
        LLVMValueRef to =
            jit_at(j, j->code->blamed[0], jit_i64(j, (uint64_t)i * j->unit->width * 4));
        LLVMSetAlignment(LLVMBuildStore(j->code->b, elements, to), 4);
    }
    return j->code->blamed[0];
}

/* What they access; *n is the number of addresses. */
static LLVMValueRef store_addresses(const struct jit *j, LLVMValueRef pointer, uint32_t *n)
{
    LLVMTypeRef i64 = LLVMInt64TypeInContext(j->code->context);
    *n = 0;
    if (!pointer)
        return LLVMConstNull(LLVMPointerTypeInContext(j->code->context, 0));
    if (!j->code->blamed[1])
        j->code->blamed[1] = jit_alloca(j, LLVMArrayType2(i64, j->unit->width), "accessed");
    bool is_vector = LLVMGetTypeKind(LLVMTypeOf(pointer)) == LLVMVectorTypeKind;
    *n = is_vector ? j->unit->width : 1;
    LLVMSetAlignment(LLVMBuildStore(j->code->b, pointer, j->code->blamed[1]), 8);
    return j->code->blamed[1];
}

LLVMValueRef jit_fault_first_thread(const struct jit *j, unsigned copy)
{
    LLVMTypeRef i64 = LLVMInt64TypeInContext(j->code->context);
    LLVMValueRef first = LLVMBuildMul(j->code->b, LLVMBuildZExt(j->code->b, j->group, i64, ""),
                                      jit_i64(j, (uint64_t)j->unit->width * j->facts->copies), "");
    return LLVMBuildAdd(j->code->b, first, jit_i64(j, (uint64_t)copy * j->unit->width), "");
}

/* ---- leaving --------------------------------------------------------------------------------- */

static LLVMValueRef helper(const struct jit *j, LLVMTypeRef *type)
{
    static const char name[] = "jit_help_fail";
    LLVMTypeRef pointer = LLVMPointerTypeInContext(j->code->context, 0);
    LLVMTypeRef i64 = LLVMInt64TypeInContext(j->code->context);
    LLVMTypeRef types[] = {pointer, pointer, i64, i64, i64, pointer, pointer};
    *type = LLVMFunctionType(LLVMVoidTypeInContext(j->code->context), types, 7, false);
    LLVMValueRef f = LLVMGetNamedFunction(j->code->module, name);
    if (f)
        return f;
    f = LLVMAddFunction(j->code->module, name, *type);
    unsigned cold = LLVMGetEnumAttributeKindForName("cold", strlen("cold"));
    LLVMAddAttributeAtIndex(f, (LLVMAttributeIndex)LLVMAttributeFunctionIndex,
                            LLVMCreateEnumAttribute(j->code->context, cold, 0));
    return f;
}

void jit_fault_raise(const struct jit *j, enum pt_fault_kind kind, const struct jit_blame *who)
{
    LLVMTypeRef type;
    LLVMValueRef f = helper(j, &type);
    uint32_t n;
    LLVMValueRef lanes = jit_fault_store_lanes(j, who),
                 addresses = store_addresses(j, who->pointer, &n);
    LLVMValueRef first = jit_fault_first_thread(j, who->first);
    uint64_t what = (uint64_t)kind << 32 | who->n * j->unit->width << 16 | n;
    LLVMValueRef args[] = {
        j->code->cta, j->code->fault, jit_i64(j, what), jit_i64(j, jit_fault_place(j)),
        first,        lanes,          addresses};
    LLVMBuildCall2(j->code->b, type, f, args, 7, "");
    LLVMBuildRet(j->code->b, jit_i32(j, PT_RUN_FAULT));
}

void jit_fault_raise_if(const struct jit *j, LLVMValueRef test, enum pt_fault_kind kind,
                        const struct jit_blame *who)
{
    LLVMBasicBlockRef fail = jit_new_block(j, "fault"), on = jit_new_block(j, "");
    jit_branch_mostly(j, LLVMBuildNot(j->code->b, test, ""), on, fail);
    jit_continue_in(j, fail);
    jit_fault_raise(j, kind, who);
    jit_continue_in(j, on);
}

void jit_fault_raise_if_any(const struct jit *j, enum pt_fault_kind kind,
                            const struct jit_blame *who)
{
    LLVMValueRef test = NULL;
    for (unsigned i = 0; i < who->n; i++) {
        LLVMValueRef any = jit_any(j, who->lanes[i] ? who->lanes[i] : jit_mask_all(j));
        test = test ? LLVMBuildOr(j->code->b, test, any, "") : any;
    }
    jit_fault_raise_if(j, test, kind, who);
}

void jit_fault_raise_if_lanes(const struct jit *j, enum pt_fault_kind kind, unsigned copy,
                              LLVMValueRef bad, LLVMValueRef pointers)
{
    struct jit_blame who = {.first = copy, .n = 1, .lanes = {bad}, .pointer = pointers};
    jit_fault_raise_if(j, jit_any(j, bad), kind, &who);
}

void jit_fault_leave(const struct jit *j, enum pt_run run)
{
    struct pt_place place =
        jit_debug_info_place(j->unit, (uint32_t)(j->insn - j->unit->f->insns.v));
    LLVMValueRef func = jit_at(j, j->code->fault, jit_i64(j, offsetof(struct pt_fault, func)));
    LLVMValueRef insn = jit_at(j, j->code->fault, jit_i64(j, offsetof(struct pt_fault, insn)));
    LLVMBuildStore(j->code->b, jit_i32(j, place.func), func);
    LLVMBuildStore(j->code->b, jit_i32(j, place.insn), insn);
    LLVMBuildRet(j->code->b, jit_i32(j, run));
}
