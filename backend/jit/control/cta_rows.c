#include "backend/jit/control/cta_rows.h"

#include "backend/jit/llvm/build.h"

void jit_cta_rows_begin(const struct jit *j)
{
    LLVMTypeRef i32 = LLVMInt32TypeInContext(j->code->context);
    LLVMBasicBlockRef here = LLVMGetInsertBlock(j->code->b);
    if (!j->facts->row_groups)
        return;
    j->code->rows.group = jit_alloca(j, i32, "row");
    j->code->rows.first = jit_alloca(j, i32, "first");
    LLVMBasicBlockRef before = LLVMGetPreviousBasicBlock(j->code->start);
    LLVMPositionBuilderBefore(j->code->b, LLVMGetBasicBlockTerminator(before));
    LLVMBuildStore(j->code->b, jit_i32(j, 0), j->code->rows.group);
    LLVMBuildStore(j->code->b, jit_field(j, i32, j->code->cta, offsetof(struct pt_cta, id)),
                   j->code->rows.first);
    LLVMPositionBuilderAtEnd(j->code->b, here);
}

LLVMValueRef jit_cta_rows_first_group(const struct jit *j)
{
    LLVMTypeRef i32 = LLVMInt32TypeInContext(j->code->context);
    return LLVMBuildLoad2(j->code->b, i32, j->code->rows.group, "");
}

LLVMValueRef jit_cta_rows_end_group(const struct jit *j)
{
    LLVMValueRef first = jit_cta_rows_first_group(j);
    return LLVMBuildAdd(j->code->b, first, jit_i32(j, j->facts->row_groups), "");
}
