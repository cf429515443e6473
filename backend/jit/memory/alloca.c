/* The stack of each thread in its window of local memory, behind the variables of all calls: where
 * it ends is kept in the CTA's scratch memory. (Calls that were expanded give back what they took:
 * ir/inline.h.)
 */
#include "backend/jit/memory/alloca.h"

#include "backend/jit/jit.h"
#include "backend/jit/llvm/build.h"
#include "backend/jit/llvm/fault.h"
#include "backend/jit/value/registers.h"

/* Where the ends of a chunk's stacks are kept, 32 bits each. */
static LLVMValueRef ends_of(const struct jit *j, unsigned copy)
{
    LLVMTypeRef i64 = LLVMInt64TypeInContext(j->code->context);
    LLVMValueRef at =
        LLVMBuildMul(j->code->b, LLVMBuildZExt(j->code->b, j->group, i64, ""),
                     jit_i64(j, j->facts->copies * j->unit->width * sizeof(uint32_t)), "");
    return jit_at(
        j, j->code->scratch,
        LLVMBuildAdd(j->code->b, at,
                     jit_i64(j, j->facts->stack + copy * j->unit->width * sizeof(uint32_t)), ""));
}

/* Rounds up to a power of two. */
static LLVMValueRef aligned(const struct jit *j, LLVMValueRef v, uint64_t align)
{
    LLVMTypeRef type = LLVMTypeOf(v);
    v = LLVMBuildAdd(j->code->b, v, jit_const(type, align - 1), "");
    return LLVMBuildAnd(j->code->b, v, jit_const(type, 0 - align), "");
}

/* Takes memory at the stack's end: its address. *end becomes the new end. */
static LLVMValueRef take(const struct jit *j, const struct pt_operand *o, enum pt_type type,
                         unsigned copy, LLVMValueRef *end)
{
    LLVMTypeRef i64 = jit_int_type(j, 64, j->unit->width);
    uint64_t align = j->insn->n_operands > 2 && o[2].imm ? (uint64_t)o[2].imm : 8;
    LLVMValueRef size = jit_registers_read(j, &o[1], copy, type, j->unit->width, false);
    size = LLVMBuildZExtOrBitCast(j->code->b, size, i64, "");
    LLVMValueRef at = aligned(j, LLVMBuildZExt(j->code->b, *end, i64, ""), align);
    LLVMValueRef window =
        jit_splat(j, jit_field(j, LLVMInt64TypeInContext(j->code->context), j->code->launch,
                               offsetof(struct pt_launch, local_stride)));
    LLVMValueRef rest = LLVMBuildSub(j->code->b, window, at, "");
    LLVMValueRef bad =
        LLVMBuildOr(j->code->b, LLVMBuildICmp(j->code->b, LLVMIntUGT, at, window, ""),
                    LLVMBuildICmp(j->code->b, LLVMIntUGT, size, rest, ""), "");
    bad = j->mask[copy] ? LLVMBuildAnd(j->code->b, bad, j->mask[copy], "") : bad;
    jit_fault_raise_if_lanes(j, PT_FAULT_STACK_OVERFLOW, copy, bad, NULL);
    *end = LLVMBuildTrunc(j->code->b, aligned(j, LLVMBuildAdd(j->code->b, at, size, ""), 16),
                          LLVMTypeOf(*end), "");
    return at;
}

bool jit_alloca_emit(const struct jit *j)
{
    const struct pt_operand *o = &j->unit->f->operands.v[j->insn->operands];
    enum pt_type type = (enum pt_type)j->form->type[0];
    LLVMTypeRef i32 = jit_int_type(j, 32, j->unit->width), wide = jit_type(j, type, j->unit->width);
    for (unsigned u = j->first_copy; u < j->end_copy; u++) {
        LLVMValueRef ends = ends_of(j, u), old = LLVMBuildLoad2(j->code->b, i32, ends, ""),
                     end = old;
        LLVMValueRef value = old;
        LLVMSetAlignment(old, sizeof(uint32_t));
        if (j->form->op == PT_OP_stackrestore)
            end = LLVMBuildIntCast2(j->code->b,
                                    jit_registers_read(j, &o[0], u, type, j->unit->width, false),
                                    i32, false, "");
        else if (j->form->op == PT_OP_alloca)
            value = take(j, o, type, u, &end);
        if (end != old) {
            end = j->mask[u] ? LLVMBuildSelect(j->code->b, j->mask[u], end, old, "") : end;
            LLVMSetAlignment(LLVMBuildStore(j->code->b, end, ends), sizeof(uint32_t));
        }
        if (j->form->op != PT_OP_stackrestore)
            jit_registers_write(j, &o[0], u, LLVMBuildIntCast2(j->code->b, value, wide, false, ""),
                                j->unit->width, false);
    }
    return true;
}
