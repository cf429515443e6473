/* How large a kernel may be. Much of what LLVM does takes time that grows with the square of a
 * function's blocks, of the values that cross them, or of a block's instructions. So kernels beyond
 * those that people write are made in another way: few passes, instructions chosen and registers
 * given as they come (LLVMCodeGenLevelNone), block by block, in parts where blocks are long. That
 * takes time in proportion. Still larger ones are not made.
 *
 * What is below the bounds takes a few seconds. The largest kernels of tests, samples and
 * benchmarks, Triton's, have 117,343 instructions in 3,176 blocks, of 6,399 instructions at
 * most. */
#include "backend/jit/llvm/code_size.h"

#include "backend/jit/jit.h"
#include "backend/jit/llvm/build.h"
#include "backend/jit/tune.h"

bool jit_code_size_is_bounded(const struct jit *j)
{
    if (j->code->n_generated + j->code->part.n < JIT_KERNEL_INSNS)
        return true;
    return jit_refuse(j->unit, "too much code");
}

/* What has come to the basic block since it was looked at. */
static void look_at_block(const struct jit *j)
{
    struct jit_part *p = &j->code->part;
    LLVMBasicBlockRef block = LLVMGetInsertBlock(j->code->b);
    LLVMValueRef last = LLVMGetLastInstruction(block);
    if (p->block != block)
        *p = (struct jit_part){.block = block};
    for (LLVMValueRef i = last; i && i != p->last; i = LLVMGetPreviousInstruction(i))
        p->n++;
    p->last = last;
}

static bool will_be_large(const struct jit *j)
{
    return j->code->n_in_parts > JIT_FULL_IN_PARTS || j->code->n_generated > JIT_FULL_INSNS ||
           (uint64_t)j->unit->f->insns.n * j->facts->copies > JIT_LIGHT_INSNS;
}

void jit_code_size_part_block(const struct jit *j)
{
    look_at_block(j);
    if (j->code->part.n < (will_be_large(j) ? JIT_LIGHT_PART : JIT_FULL_PART))
        return;
    LLVMBasicBlockRef next = jit_new_block(j, "part");
    LLVMBuildBr(j->code->b, next);
    jit_continue_in(j, next);
    j->code->n_in_parts += j->code->part.n;
}

uint32_t jit_code_size_count(struct jit_code *code)
{
    uint32_t n = 0;
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(code->function); b;
         b = LLVMGetNextBasicBlock(b))
        n += jit_count_in(b);
    return n;
}

bool jit_code_size_is_large(struct jit_code *code)
{
    return code->n_in_parts > JIT_FULL_IN_PARTS || jit_code_size_count(code) > JIT_FULL_INSNS ||
           LLVMCountBasicBlocks(code->function) > JIT_FULL_BLOCKS;
}
