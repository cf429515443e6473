/* Windows of local memory: each thread has a window of its own, and a local address is an offset in
 * it. */
#include "backend/jit/value/local_window.h"

#include "backend/jit/jit.h"
#include "backend/jit/llvm/build.h"

LLVMValueRef jit_local_window_begin(const struct jit *j, unsigned copy)
{
    LLVMTypeRef i64 = LLVMInt64TypeInContext(j->code->context);
    LLVMValueRef base = jit_field(j, i64, j->code->cta, offsetof(struct pt_cta, local));
    LLVMValueRef stride =
        jit_field(j, i64, j->code->launch, offsetof(struct pt_launch, local_stride));
    LLVMValueRef thread =
        LLVMBuildMul(j->code->b, j->group, jit_i32(j, j->unit->width * j->facts->copies), "");
    thread = LLVMBuildAdd(j->code->b, thread, jit_i32(j, copy * j->unit->width), "");
    thread = LLVMBuildZExt(j->code->b, thread, i64, "");
    base = LLVMBuildAdd(j->code->b, base, LLVMBuildMul(j->code->b, thread, stride, ""), "");
    LLVMValueRef lanes = LLVMBuildMul(j->code->b, jit_splat(j, stride), jit_steps(j, i64, 1), "");
    return LLVMBuildAdd(j->code->b, jit_splat(j, base), lanes, "");
}

LLVMValueRef jit_local_window_leaves(const struct jit *j, LLVMValueRef offsets, uint64_t bytes)
{
    LLVMTypeRef i64 = LLVMInt64TypeInContext(j->code->context);
    LLVMValueRef size =
        jit_field(j, i64, j->code->launch, offsetof(struct pt_launch, local_stride));
    size = jit_splat(j, LLVMBuildSub(j->code->b, size, jit_i64(j, bytes), ""));
    return LLVMBuildICmp(j->code->b, LLVMIntUGT, offsets, size, "");
}
