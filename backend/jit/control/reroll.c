/* Loops that unrolling has split: one that runs the rounds left over, and behind it one whose round
 * does several of its rounds. Lane by lane each of them ends where the machine does not foresee it;
 * the first alone, run for the rounds of both, ends once.
 *
 * They are such a pair if several rounds of the first leave the same in all registers that matter
 * as one of the second does: the same operations, of what they began with. An access that faults is
 * reported as the first loop's, then.
 */
#include "backend/jit/control/reroll.h"

#include "backend/jit/analysis/loops.h"
#include "backend/jit/jit.h"
#include "backend/jit/llvm/build.h"
#include "backend/jit/tune.h"
#include "backend/jit/value/registers.h"

/* ---- how many rounds ------------------------------------------------------------------------- */

static LLVMValueRef in_all_lanes(const struct jit *j, uint32_t value)
{
    return jit_splat(j, jit_i32(j, value));
}

static LLVMValueRef read_lanes(const struct jit *j, const struct pt_operand *o, unsigned copy,
                               enum pt_type type)
{
    return jit_registers_read(j, o, copy, type, j->unit->width, false);
}

struct jit_rounds jit_reroll_count_rounds(const struct jit *j, const struct jit_reroll *r,
                                          unsigned copy, LLVMValueRef starts, LLVMValueRef skips,
                                          LLVMValueRef lanes)
{
    bool is_signed = pt_type_class(r->type) == PT_CLASS_S;
    LLVMValueRef none = in_all_lanes(j, 0), left = read_lanes(j, &r->counter, copy, r->type);
    LLVMValueRef is_few = LLVMBuildICmp(j->code->b, LLVMIntULT,
                                        LLVMBuildSub(j->code->b, left, in_all_lanes(j, 1), ""),
                                        in_all_lanes(j, r->rounds - 1), "");
    left = LLVMBuildSelect(j->code->b, starts, left, none, "");
    LLVMValueRef index = read_lanes(j, &r->index, copy, r->type);
    LLVMValueRef end = read_lanes(j, &r->end, copy, r->type);
    index = LLVMBuildAdd(j->code->b, index,
                         LLVMBuildMul(j->code->b, left, in_all_lanes(j, r->step), ""), "");
    LLVMValueRef way = LLVMBuildSub(j->code->b, end, index, "");
    LLVMValueRef rest = LLVMBuildAnd(j->code->b, way, in_all_lanes(j, r->step * r->rounds - 1), "");
    LLVMValueRef is_whole = LLVMBuildAnd(
        j->code->b, LLVMBuildICmp(j->code->b, LLVMIntEQ, rest, none, ""),
        LLVMBuildICmp(j->code->b, is_signed ? LLVMIntSLT : LLVMIntULT, index, end, ""), "");
    LLVMValueRef more = LLVMBuildUDiv(j->code->b, way, in_all_lanes(j, r->step), "");
    if (skips) {
        is_whole = LLVMBuildOr(j->code->b, is_whole, skips, "");
        more = LLVMBuildSelect(j->code->b, skips, none, more, "");
    }
    is_few = LLVMBuildOr(j->code->b, is_few, LLVMBuildNot(j->code->b, starts, ""), "");
    LLVMValueRef holds = LLVMBuildAnd(j->code->b, is_few, is_whole, "");
    LLVMValueRef rounds = LLVMBuildAdd(j->code->b, left, more, "");
    LLVMValueRef some = LLVMBuildICmp(j->code->b, LLVMIntNE, rounds, none, "");
    LLVMValueRef ends =
        LLVMBuildICmp(j->code->b, LLVMIntULT, rounds, in_all_lanes(j, JIT_REROLL_ROUNDS), "");
    holds = LLVMBuildAnd(j->code->b, holds, ends, "");
    return (struct jit_rounds){
        .n = rounds,
        .lanes = LLVMBuildAnd(j->code->b, lanes, some, ""),
        .hold =
            jit_all(j, LLVMBuildOr(j->code->b, holds, LLVMBuildNot(j->code->b, lanes, ""), ""))};
}
