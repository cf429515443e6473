/* A loop over the lanes of a mask that are on. */
#include "backend/jit/llvm/set_bits.h"

#include "backend/jit/jit.h"
#include "backend/jit/llvm/build.h"
#include "backend/jit/llvm/check.h"

LLVMValueRef jit_set_bits_begin(const struct jit *j, LLVMValueRef mask, struct jit_set_bits *s)
{
    LLVMTypeRef i32 = LLVMInt32TypeInContext(j->code->context);
    LLVMBasicBlockRef turn = jit_new_block(j, "lane");
    *s = (struct jit_set_bits){.next = jit_new_block(j, "next_lane"),
                               .done = jit_new_block(j, "lanes_done"),
                               .left = jit_alloca(j, i32, "left")};
    LLVMBuildStore(j->code->b, jit_mask_to_bits(j, mask), s->left);
    LLVMBuildBr(j->code->b, s->next);
    jit_continue_in(j, s->next);
    LLVMValueRef bits = LLVMBuildLoad2(j->code->b, i32, s->left, "");
    LLVMValueRef is_over = LLVMBuildICmp(j->code->b, LLVMIntEQ, bits, jit_i32(j, 0), "");
    LLVMBuildCondBr(j->code->b, is_over, s->done, turn);
    jit_continue_in(j, turn);
    LLVMValueRef rest =
        LLVMBuildAnd(j->code->b, bits, LLVMBuildSub(j->code->b, bits, jit_i32(j, 1), ""), "");
    LLVMBuildStore(j->code->b, rest, s->left);
    LLVMValueRef args[] = {bits, LLVMConstInt(LLVMInt1TypeInContext(j->code->context), 1, false)};
    return jit_check_proven(j->code, jit_intrinsic(j, "llvm.cttz", i32, args, 2), "nonzero");
}

void jit_set_bits_end(const struct jit *j, const struct jit_set_bits *s)
{
    LLVMBuildBr(j->code->b, s->next);
    jit_continue_in(j, s->done);
}
