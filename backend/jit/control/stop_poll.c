/* Loops poll for the stop of the launch: on their back edges, every now and then. */
#include "backend/jit/control/stop_poll.h"

#include "backend/jit/jit.h"
#include "backend/jit/llvm/build.h"
#include "backend/jit/llvm/fault.h"
#include "backend/jit/value/visit.h"
#include "backend/jit/tune.h"

void jit_stop_poll_emit_rounds(const struct jit *j, uint32_t insn, LLVMValueRef rounds)
{
    LLVMTypeRef i32 = LLVMInt32TypeInContext(j->code->context);
    LLVMBasicBlockRef look = jit_new_block(j, "look"), on = jit_new_block(j, "");
    LLVMBasicBlockRef stopped = jit_new_block(j, "stopped");
    LLVMValueRef left = LLVMBuildLoad2(j->code->b, i32, j->code->budget, "");
    left = LLVMBuildSub(j->code->b, left, rounds, "");
    LLVMBuildStore(j->code->b, left, j->code->budget);
    LLVMIntPredicate left_over = LLVMIsConstant(rounds) ? LLVMIntNE : LLVMIntSGT;
    jit_branch_mostly(j, LLVMBuildICmp(j->code->b, left_over, left, jit_i32(j, 0), ""), on, look);
    jit_continue_in(j, look);
    LLVMBuildStore(j->code->b, jit_i32(j, JIT_STOP_POLL_EDGES), j->code->budget);
    LLVMValueRef stop = jit_field(j, i32, j->code->launch, offsetof(struct pt_launch, stop));
    LLVMSetVolatile(stop, true);
    jit_branch_mostly(j, LLVMBuildICmp(j->code->b, LLVMIntEQ, stop, jit_i32(j, 0), ""), on,
                      stopped);
    jit_continue_in(j, stopped);
    struct jit at = *j;
    jit_visit_insn(&at, insn);
    jit_fault_leave(&at, PT_RUN_YIELDED);
    jit_continue_in(j, on);
}

void jit_stop_poll_emit(const struct jit *j, uint32_t insn)
{
    jit_stop_poll_emit_rounds(j, insn, jit_i32(j, 1));
}
