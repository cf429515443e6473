/* griddepcontrol: grids that depend on others. */
#include "backend/jit/memory/grid.h"

#include "backend/jit/llvm/build.h"
#include "backend/jit/memory/atomic_op.h"
#include "backend/order.h"

static LLVMValueRef any_lane(const struct jit *j)
{
    LLVMValueRef any = NULL;
    for (unsigned u = 0; u < j->facts->copies; u++) {
        LLVMValueRef here = jit_any(j, j->mask[u] ? j->mask[u] : jit_mask_all(j));
        any = any ? LLVMBuildOr(j->code->b, any, here, "") : here;
    }
    return any;
}

bool jit_grid_emit(const struct jit *j)
{
    LLVMBuilderRef b = j->code->b;
    LLVMContextRef context = j->code->context;
    LLVMTypeRef types[] = {LLVMPointerTypeInContext(context, 0), LLVMInt32TypeInContext(context)};
    LLVMValueRef args[] = {j->code->cta, jit_i32(j, pt_form_has(j->form, PT_M_wait))};
    LLVMBasicBlockRef does = jit_new_block(j, "grid"), after = jit_new_block(j, "");
    LLVMBuildCondBr(b, any_lane(j), does, after);
    jit_continue_in(j, does);
    jit_help(j, "jit_help_depend",
             LLVMFunctionType(LLVMVoidTypeInContext(context), types, 2, false), args);
    LLVMBuildBr(b, after);
    jit_continue_in(j, after);
    LLVMBuildFence(b, jit_atomic_op_order(pt_order_of(j->form)), false, "");
    return true;
}
