/* Indexes of lanes that thread indexes alone tell apart: how far each lane is from the first. */
#include "backend/jit/memory/lane_index.h"

#include "backend/jit/analysis/address_form.h"
#include "backend/jit/jit.h"
#include "backend/jit/llvm/build.h"
#include "backend/jit/memory/access.h"
#include "backend/jit/value/lane_offsets.h"
#include "backend/jit/value/registers.h"

static LLVMValueRef frozen(const struct jit *j, LLVMValueRef v)
{
    return LLVMIsConstant(v) ? v : LLVMBuildFreeze(j->code->b, v, "");
}

/* Lanes that are off may hold nothing: frozen. */
static void read_indexes(const struct jit *j, const struct jit_access *a, unsigned copy,
                         struct jit_indexes *x)
{
    const struct pt_operand *o = x->is_split ? x->split.index : a->base;
    LLVMValueRef origin, lanes;
    if (jit_lane_offsets_find(j, o, copy, &origin, &lanes)) {
        lanes = frozen(j, lanes);
        origin = frozen(j, origin);
        if (!x->is_split)
            origin = LLVMBuildAdd(j->code->b, jit_access_from_window(j, a, origin),
                                  jit_const(LLVMTypeOf(origin), (uint64_t)o->imm), "");
    } else {
        lanes = x->is_split ? jit_registers_read(j, o, copy, PT_u32, j->unit->width, false)
                            : jit_access_address(j, a, copy, j->unit->width);
        lanes = LLVMBuildFreeze(j->code->b, lanes, "");
        origin = NULL;
    }
    if (a->space == PT_SPACE_SHARED) {
        lanes =
            LLVMBuildIntCast2(j->code->b, lanes, jit_int_type(j, 32, j->unit->width), false, "");
        origin = origin ? LLVMBuildIntCast2(j->code->b, origin, jit_int_type(j, 32, 1), false, "")
                        : NULL;
    }
    LLVMValueRef first = LLVMBuildExtractElement(j->code->b, lanes, jit_i32(j, 0), "");
    x->first = origin ? LLVMBuildAdd(j->code->b, origin, first, "") : first;
    x->from_first = LLVMBuildSub(j->code->b, lanes, jit_splat(j, first), "");
    x->type = LLVMTypeOf(first);
}

bool jit_lane_index_split(const struct jit *j, const struct jit_access *a, struct jit_indexes *x)
{
    x->split = (struct jit_split){.scale = 1};
    x->is_split = a->space != PT_SPACE_SHARED &&
                  jit_address_form_split(j->facts, j->insn, j->block, a->base, &x->split);
    if (a->space == PT_SPACE_LOCAL || !jit_address_form_is_computed(j->facts, a->base) ||
        a->bytes * a->n % x->split.scale)
        return false;
    x->stride = (int64_t)(a->bytes * a->n / x->split.scale);
    return true;
}

bool jit_lane_index_find(const struct jit *j, const struct jit_access *a, unsigned copy,
                         struct jit_indexes *x)
{
    if (!jit_lane_index_split(j, a, x))
        return false;
    read_indexes(j, a, copy, x);
    return true;
}

LLVMValueRef jit_lane_index_address(const struct jit *j, const struct jit_access *a, unsigned copy,
                                    const struct jit_indexes *x, LLVMValueRef index)
{
    LLVMTypeRef i64 = LLVMInt64TypeInContext(j->code->context);
    if (!x->is_split)
        return index;
    index = LLVMBuildIntCast2(j->code->b, index, i64, x->split.is_signed, "");
    index = LLVMBuildMul(j->code->b, index, jit_i64(j, x->split.scale), "");
    index = LLVMBuildAdd(j->code->b, index,
                         jit_registers_read(j, x->split.base, copy, PT_u64, 1, false), "");
    index = jit_access_from_window(j, a, index);
    return LLVMBuildAdd(j->code->b, index, jit_i64(j, (uint64_t)a->base->imm), "");
}

LLVMValueRef jit_lane_index_distance(const struct jit_indexes *x, int elements)
{
    return LLVMConstInt(x->type, (uint64_t)(x->stride * elements), true);
}

LLVMValueRef jit_lane_index_fits(const struct jit *j, const struct jit_access *a, unsigned copy,
                                 const struct jit_indexes *x, LLVMValueRef lowest, int last,
                                 LLVMValueRef *address)
{
    uint64_t top = UINT64_MAX >> (64 - LLVMGetIntTypeWidth(x->type)) >> x->split.is_signed;
    LLVMValueRef most = LLVMConstInt(x->type, top - (uint64_t)(x->stride * last), false);
    LLVMIntPredicate at_most = x->split.is_signed ? LLVMIntSLE : LLVMIntULE;
    LLVMValueRef is_low = LLVMBuildICmp(j->code->b, at_most, lowest, most, "");
    *address = jit_lane_index_address(j, a, copy, x, lowest);
    return LLVMBuildAnd(j->code->b, is_low,
                        LLVMBuildNot(j->code->b, jit_access_misaligned(j, a, *address), ""), "");
}
