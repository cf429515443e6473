/* The end of a CTA: the next of its row begins, or native code returns. */
#include "backend/jit/control/cta_end.h"

#include "backend/jit/control/cta_rows.h"
#include "backend/jit/jit.h"
#include "backend/jit/llvm/build.h"

/* A fault is reported with the id of the CTA that is in memory. */
static void go_to(const struct jit *j, LLVMValueRef x)
{
    LLVMTypeRef i32 = LLVMInt32TypeInContext(j->code->context);
    LLVMValueRef at = jit_at(j, j->code->cta, jit_i64(j, offsetof(struct pt_cta, id)));
    LLVMSetVolatile(LLVMBuildStore(j->code->b, x, at), true);
    LLVMValueRef stop = jit_field(j, i32, j->code->launch, offsetof(struct pt_launch, stop));
    LLVMSetVolatile(stop, true);
    LLVMBasicBlockRef stopped = jit_new_block(j, "stopped");
    LLVMValueRef goes_on = LLVMBuildICmp(j->code->b, LLVMIntEQ, stop, jit_i32(j, 0), "");
    jit_branch_mostly(j, goes_on, j->code->start, stopped);
    jit_continue_in(j, stopped);
    LLVMBuildRet(j->code->b, jit_i32(j, PT_RUN_YIELDED));
}

/* Behind the last CTA: back to the first one for the next row of threads, if there is one. */
static void go_to_next_row(const struct jit *j)
{
    const uint32_t *block = j->facts->uniformity->shape.block;
    LLVMTypeRef i32 = LLVMInt32TypeInContext(j->code->context);
    uint32_t lanes = j->unit->width * j->facts->copies;
    uint32_t groups = (block[0] * block[1] * block[2] + lanes - 1) / lanes;
    LLVMBasicBlockRef again = jit_new_block(j, "next_row"), over = jit_new_block(j, "");
    LLVMValueRef next = jit_cta_rows_end_group(j);
    LLVMBuildCondBr(j->code->b, LLVMBuildICmp(j->code->b, LLVMIntULT, next, jit_i32(j, groups), ""),
                    again, over);
    jit_continue_in(j, again);
    LLVMBuildStore(j->code->b, next, j->code->rows.group);
    go_to(j, LLVMBuildLoad2(j->code->b, i32, j->code->rows.first, ""));
    jit_continue_in(j, over);
}

void jit_end_cta(const struct jit *j)
{
    LLVMTypeRef i32 = LLVMInt32TypeInContext(j->code->context);
    LLVMBasicBlockRef next = jit_new_block(j, "next"), over = jit_new_block(j, "row_end");
    LLVMValueRef x = LLVMBuildAdd(j->code->b, j->code->id[0], jit_i32(j, 1), "");
    LLVMValueRef end = jit_field(j, i32, j->code->cta, offsetof(struct pt_cta, row_end));
    jit_branch_mostly(j, LLVMBuildICmp(j->code->b, LLVMIntULT, x, end, ""), next, over);
    jit_continue_in(j, next);
    go_to(j, x);
    jit_continue_in(j, over);
    if (j->facts->row_groups)
        go_to_next_row(j);
    LLVMBuildRet(j->code->b, jit_i32(j, PT_RUN_EXITED));
}
