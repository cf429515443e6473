/* Three ways to find which lanes of a warp have the value that a lane has. */
#include "backend/jit/warp/match.h"

#include "backend/jit/analysis/def_use.h"
#include "backend/jit/jit.h"
#include "backend/jit/llvm/build.h"
#include "backend/jit/llvm/cpu.h"
#include "backend/jit/tune.h"

/* Bits that a value may have: a constant's with which it was masked, or all. */
static uint64_t possible_bits(const struct jit *j, const struct pt_operand *o)
{
    uint64_t mask;
    uint32_t only = o->kind == PT_OPND_REG ? j->facts->regs[o->index].only : UINT32_MAX;
    if (only == UINT32_MAX)
        return UINT64_MAX;
    const struct pt_insn *def = &j->unit->f->insns.v[only];
    const struct pt_form *form = pt_insn_form(j->unit->m, def);
    const struct pt_operand *s = &j->unit->f->operands.v[def->operands];
    for (unsigned i = 1; form->op == PT_OP_and_b && !def->guard && i < 3; i++)
        if (jit_def_use_constant(j->facts, &s[i], &mask))
            return mask & (UINT64_MAX >> (64 - pt_type_bits((enum pt_type)form->type[0])));
    return UINT64_MAX;
}

/* Of values of few bits, bit by bit: lanes that have it set, and the others. */
static void bit_by_bit(const struct jit *j, const LLVMValueRef *a, uint64_t bits, LLVMValueRef here,
                       LLVMValueRef *masks)
{
    LLVMBuilderRef b = j->code->b;
    LLVMTypeRef element = LLVMGetElementType(LLVMTypeOf(a[0]));
    LLVMValueRef is_set[JIT_COPIES];
    for (unsigned u = 0; u < jit_warp_chunks(j); u++)
        masks[u] = here;
    for (; bits; bits &= bits - 1) {
        LLVMValueRef bit = jit_splat(j, LLVMConstInt(element, bits & -bits, false));
        for (unsigned u = 0; u < jit_warp_chunks(j); u++)
            is_set[u] = LLVMBuildICmp(b, LLVMIntNE, LLVMBuildAnd(b, a[u], bit, ""),
                                      LLVMConstNull(LLVMTypeOf(a[u])), "");
        LLVMValueRef set = jit_warp_bits(j, is_set);
        set = jit_splat(j, set);
        for (unsigned u = 0; u < jit_warp_chunks(j); u++) {
            LLVMValueRef own = LLVMBuildSExt(b, is_set[u], LLVMTypeOf(set), "");
            LLVMValueRef differ = LLVMBuildXor(b, set, own, "");
            masks[u] = LLVMBuildAnd(b, masks[u], LLVMBuildNot(b, differ, ""), "");
        }
    }
}

/* Each lane's mask is made bit by bit: lanes that have what lane i has. */
static void lane_by_lane(const struct jit *j, const LLVMValueRef *a, LLVMValueRef here,
                         LLVMValueRef *masks)
{
    LLVMTypeRef lanes = jit_int_type(j, 32, j->unit->width);
    for (unsigned u = 0; u < jit_warp_chunks(j); u++)
        masks[u] = LLVMConstNull(lanes);
    for (unsigned i = 0; i < PT_WARP_SIZE; i++) {
        LLVMValueRef one = jit_splat(j, jit_lane(j, a[i / j->unit->width], i % j->unit->width));
        LLVMValueRef bit = LLVMBuildAnd(j->code->b, here, jit_each(j, UINT32_C(1) << i), "");
        for (unsigned u = 0; u < jit_warp_chunks(j); u++) {
            LLVMValueRef is_equal = LLVMBuildICmp(j->code->b, LLVMIntEQ, a[u], one, "");
            LLVMValueRef more =
                LLVMBuildSelect(j->code->b, is_equal, bit, LLVMConstNull(lanes), "");
            masks[u] = LLVMBuildOr(j->code->b, masks[u], more, "");
        }
    }
}

/* A load or store that LLVM leaves as it is: it would make moves out of and into vectors, lane by
 * lane, of what goes through memory. */
static LLVMValueRef keep(LLVMValueRef access, unsigned alignment)
{
    LLVMSetVolatile(access, true);
    LLVMSetAlignment(access, alignment);
    return access;
}

/* Where comparisons give bits: which lanes have what lane i has is, as who equals whom goes both
 * ways, the mask of lane i. Values and masks go through memory. */
static void row_by_row(const struct jit *j, const LLVMValueRef *a, LLVMValueRef here,
                       LLVMValueRef *masks)
{
    LLVMBuilderRef b = j->code->b;
    LLVMTypeRef element = LLVMGetElementType(LLVMTypeOf(a[0])),
                lanes = jit_int_type(j, 32, j->unit->width),
                chunk = LLVMIntTypeInContext(j->code->context, j->unit->width);
    unsigned width = j->unit->width, bytes = LLVMGetIntTypeWidth(element) / 8;
    LLVMValueRef values = jit_alloca(j, LLVMArrayType2(element, PT_WARP_SIZE), "values");
    LLVMValueRef rows = jit_alloca(j, LLVMArrayType2(LLVMTypeOf(jit_i32(j, 0)), PT_WARP_SIZE), "");
    LLVMSetAlignment(values, 64);
    LLVMSetAlignment(rows, 64);
    for (unsigned u = 0; u < jit_warp_chunks(j); u++)
        keep(LLVMBuildStore(b, a[u], jit_at(j, values, jit_i64(j, u * width * bytes))), bytes);
    for (unsigned i = 0; i < PT_WARP_SIZE; i++) {
        LLVMValueRef at = jit_at(j, values, jit_i64(j, i * bytes));
        LLVMValueRef one = jit_splat(j, keep(LLVMBuildLoad2(b, element, at, ""), bytes));
        for (unsigned u = 0; u < jit_warp_chunks(j); u++) {
            LLVMValueRef is_equal = LLVMBuildICmp(b, LLVMIntEQ, a[u], one, "");
            at = jit_at(j, rows, jit_i64(j, i * 4 + u * width / 8));
            keep(LLVMBuildStore(b, LLVMBuildBitCast(b, is_equal, chunk, ""), at), width / 8);
        }
    }
    for (unsigned u = 0; u < jit_warp_chunks(j); u++) {
        LLVMValueRef at = jit_at(j, rows, jit_i64(j, u * width * 4));
        masks[u] = LLVMBuildAnd(b, keep(LLVMBuildLoad2(b, lanes, at, ""), 4), here, "");
    }
}

void jit_match_find(const struct jit *j, const struct pt_operand *o, const LLVMValueRef *a,
                    LLVMValueRef here, LLVMValueRef *masks)
{
    uint64_t bits = possible_bits(j, o);
    if (__builtin_popcountll(bits) <= JIT_MATCH_BITS)
        bit_by_bit(j, a, bits, here, masks);
    else if (j->unit->cpu->has_mask_registers && j->unit->width >= 8)
        row_by_row(j, a, here, masks);
    else
        lane_by_lane(j, a, here, masks);
}
