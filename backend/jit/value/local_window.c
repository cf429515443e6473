/* Windows of local memory: each thread has a window of its own, and a local address is an offset in
 * it. */
#include "backend/jit/value/local_window.h"

#include "backend/jit/jit.h"
#include "backend/jit/llvm/build.h"

LLVMValueRef jit_local_window_begin(struct jit *j, unsigned copy)
{
    LLVMTypeRef i64 = LLVMInt64TypeInContext(j->context);
    LLVMValueRef base = jit_field(j, i64, j->cta, offsetof(struct pt_cta, local));
    LLVMValueRef stride = jit_field(j, i64, j->launch, offsetof(struct pt_launch, local_stride));
    LLVMValueRef thread = LLVMBuildMul(j->b, j->group, jit_i32(j, j->width * j->copies), "");
    thread = LLVMBuildAdd(j->b, thread, jit_i32(j, copy * j->width), "");
    thread = LLVMBuildZExt(j->b, thread, i64, "");
    base = LLVMBuildAdd(j->b, base, LLVMBuildMul(j->b, thread, stride, ""), "");
    LLVMValueRef lanes = LLVMBuildMul(j->b, jit_splat(j, stride), jit_steps(j, i64, 1), "");
    return LLVMBuildAdd(j->b, jit_splat(j, base), lanes, "");
}

LLVMValueRef jit_local_window_leaves(struct jit *j, LLVMValueRef offsets, uint64_t bytes)
{
    LLVMTypeRef i64 = LLVMInt64TypeInContext(j->context);
    LLVMValueRef size = jit_field(j, i64, j->launch, offsetof(struct pt_launch, local_stride));
    size = jit_splat(j, LLVMBuildSub(j->b, size, jit_i64(j, bytes), ""));
    return LLVMBuildICmp(j->b, LLVMIntUGT, offsets, size, "");
}
