/* cvta, mapa, getctarank: an address of one space as one of another. */
#include "backend/jit/value/cvta.h"

#include "backend/jit/emit/emit.h"
#include "backend/jit/jit.h"
#include "backend/jit/llvm/build.h"
#include "backend/jit/value/local_window.h"
#include "backend/jit/value/symbol.h"

bool jit_cvta_is_local(const struct pt_form *form)
{
    return (form->op == PT_OP_cvta || form->op == PT_OP_cvta_to) && pt_form_has(form, PT_M_local);
}

/* cvta and cvta.to of a space whose addresses are offsets in a window that all threads have in
 * common. */
static bool has_window(const struct pt_form *form)
{
    return pt_form_has(form, PT_M_param) || pt_form_has(form, PT_M_param_entry) ||
           pt_form_has(form, PT_M_const);
}

static LLVMValueRef through_window(const struct jit *j, const struct jit_op *op, unsigned bits)
{
    LLVMValueRef window =
        jit_symbol_window(j, pt_form_has(op->form, PT_M_const) ? PT_SPACE_CONST : PT_SPACE_PARAM);
    window = LLVMBuildIntCast2(j->code->b, window, jit_int_type(j, bits, 1), false, "");
    window = jit_spread(j, window, op->lanes);
    return op->form->op == PT_OP_cvta ? LLVMBuildAdd(j->code->b, op->a[0], window, "")
                                      : LLVMBuildSub(j->code->b, op->a[0], window, "");
}

static LLVMValueRef through_local_window(const struct jit *j, LLVMValueRef address, unsigned copy,
                                         bool to_local)
{
    LLVMValueRef windows = jit_local_window_begin(j, copy);
    windows = LLVMBuildIntCast2(j->code->b, windows, LLVMTypeOf(address), false, "");
    return to_local ? LLVMBuildSub(j->code->b, address, windows, "")
                    : LLVMBuildAdd(j->code->b, address, windows, "");
}

#define RANK_BITS (UINT64_C(0xff) << PT_SHARED_RANK_SHIFT)

static bool cvta_shared(const struct jit *j, struct jit_op *op, LLVMTypeRef type)
{
    LLVMTypeRef i64 = LLVMInt64TypeInContext(j->code->context);
    LLVMValueRef base = LLVMBuildPtrToInt(j->code->b, j->code->shared, i64, "");
    base = LLVMBuildIntCast2(j->code->b, base, jit_int_type(j, jit_form_bits(op, 0), 1), false, "");
    base = jit_spread(j, base, op->lanes);
    op->d[0] = LLVMBuildAnd(j->code->b, op->a[0], jit_const(type, UINT32_MAX), "");
    if (op->form->op == PT_OP_cvta)
        op->d[0] = LLVMBuildAdd(j->code->b, op->d[0], base, "");
    return true;
}

static bool cvta(const struct jit *j, struct jit_op *op, LLVMTypeRef type, unsigned copy)
{
    if (pt_form_has(op->form, PT_M_shared) || pt_form_has(op->form, PT_M_shared_cta) ||
        pt_form_has(op->form, PT_M_shared_cluster))
        return cvta_shared(j, op, type);
    if (jit_cvta_is_local(op->form)) {
        op->d[0] = through_local_window(j, op->a[0], copy, op->form->op == PT_OP_cvta_to);
        return true;
    }
    if (pt_form_has(op->form, PT_M_param) && j->unit->inlined)
        return false;
    op->d[0] = has_window(op->form) ? through_window(j, op, jit_form_bits(op, 0)) : op->a[0];
    return true;
}

bool jit_cvta_emit(const struct jit *j, struct jit_op *op, unsigned copy)
{
    LLVMTypeRef type = jit_int_type(j, jit_form_bits(op, 0), op->lanes);
    LLVMValueRef rank;
    switch ((enum pt_op)op->form->op) {
    case PT_OP_cvta:
    case PT_OP_cvta_to:
        return cvta(j, op, type, copy);
    case PT_OP_mapa: /* of a kernel without clusters */
        op->d[0] = LLVMBuildAnd(j->code->b, op->a[0], jit_const(type, ~RANK_BITS), "");
        rank = LLVMBuildIntCast2(j->code->b, op->a[1], type, false, "");
        rank = LLVMBuildAnd(j->code->b, rank, jit_const(type, 0xff), "");
        rank = LLVMBuildShl(j->code->b, rank, jit_const(type, PT_SHARED_RANK_SHIFT), "");
        op->d[0] = LLVMBuildOr(j->code->b, op->d[0], rank, "");
        return true;
    case PT_OP_getctarank:
        rank = LLVMBuildAnd(j->code->b, op->a[0], jit_const(type, RANK_BITS), "");
        rank = LLVMBuildLShr(j->code->b, rank, jit_const(type, PT_SHARED_RANK_SHIFT), "");
        op->d[0] = LLVMBuildIntCast2(j->code->b, rank, jit_int_type(j, 32, op->lanes), false, "");
        return true;
    default:
        return false;
    }
}
