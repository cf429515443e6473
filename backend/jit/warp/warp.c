/* What the lanes of a warp do together. A group is one or several warps: all chunks of a warp are
 * at hand. */
#include "backend/jit/warp/warp.h"

#include "backend/jit/analysis/def_use.h"
#include "backend/jit/analysis/insn_info.h"
#include "backend/jit/analysis/regions.h"
#include "backend/jit/analysis/sync_points.h"
#include "backend/jit/jit.h"
#include "backend/jit/llvm/build.h"
#include "backend/jit/llvm/cpu.h"
#include "backend/jit/llvm/fault.h"
#include "backend/jit/value/registers.h"
#include "backend/jit/warp/ldmatrix.h"
#include "backend/jit/warp/match.h"
#include "backend/jit/warp/mma.h"

/* ---- who takes part -------------------------------------------------------------------------- */

static const struct pt_operand *operand(const struct jit *j, unsigned k)
{
    return &j->unit->f->operands.v[j->insn->operands + k];
}

/* Lanes that have parted from others must be named. Warps are whole: plan.c sees to that. */
static void test_members(const struct jit *j, unsigned first, LLVMValueRef members)
{
    struct jit_blame who = {.first = first, .n = jit_warp_chunks(j)};
    LLVMValueRef here = jit_warp_bits(j, j->mask + first);
    LLVMValueRef strangers =
        LLVMBuildAnd(j->code->b, here, LLVMBuildNot(j->code->b, members, ""), "");
    LLVMValueRef bad = LLVMBuildICmp(j->code->b, LLVMIntNE, strangers, jit_i32(j, 0), "");
    for (unsigned u = 0; u < who.n; u++) {
        LLVMValueRef bits =
            LLVMBuildLShr(j->code->b, strangers, jit_i32(j, u * j->unit->width), "");
        who.lanes[u] = jit_mask_from_bits(j, bits);
    }
    LLVMValueRef parted = LLVMBuildICmp(j->code->b, LLVMIntNE, here, jit_i32(j, UINT32_MAX), "");
    jit_fault_raise_if(j, LLVMBuildAnd(j->code->b, bad, parted, ""), PT_FAULT_MASK, &who);
}

/* The member mask is the same in all lanes: then those that are here take part. */
static bool has_one_mask(const struct jit *j, unsigned first, unsigned k)
{
    int64_t stride;
    if (jit_insn_info_stop(j->facts, j->block) == PT_STOP_EACH)
        return true;
    if (jit_def_use_shape(j->facts, operand(j, k), &stride) != JIT_SCALAR ||
        jit_def_use_is_per_copy(j->facts, operand(j, k)))
        return jit_refuse(j->unit, "member masks that differ");
    if (!jit_sync_points_names_all(j->facts, operand(j, k)) &&
        jit_regions_is_parted(j->facts, j->block))
        test_members(j, first, jit_registers_read(j, operand(j, k), first, PT_u32, 1, true));
    return true;
}

static void write_all(const struct jit *j, unsigned first, const struct pt_operand *d,
                      LLVMValueRef value)
{
    for (unsigned u = first; u < first + jit_warp_chunks(j); u++)
        jit_registers_write(j, d, u, value, 1, false);
}

/* ---- shfl ------------------------------------------------------------------------------------ */

enum shuffle { SHFL_UP, SHFL_DOWN, SHFL_BFLY, SHFL_IDX };

static enum shuffle shuffle_of(const struct pt_form *form)
{
    return pt_form_has(form, PT_M_up)     ? SHFL_UP
           : pt_form_has(form, PT_M_down) ? SHFL_DOWN
           : pt_form_has(form, PT_M_bfly) ? SHFL_BFLY
                                          : SHFL_IDX;
}

/* The lane that `lane` reads, by PTX ISA 9.7.9.6; *in_range: false where it keeps its own. */
static uint32_t source_lane(enum shuffle how, uint32_t lane, uint32_t b, uint32_t c, bool *in_range)
{
    int32_t n = (int32_t)(b & 31), i = (int32_t)lane, segment = (int32_t)(c >> 8 & 31);
    int32_t limit = (i & segment) | ((int32_t)(c & 31) & ~segment), from;
    switch (how) {
    case SHFL_UP:
        from = i - n;
        *in_range = from >= limit;
        break;
    case SHFL_DOWN:
        from = i + n;
        *in_range = from <= limit;
        break;
    case SHFL_BFLY:
        from = i ^ n;
        *in_range = from <= limit;
        break;
    default:
        from = (i & segment) | (n & ~segment);
        *in_range = from <= limit;
        break;
    }
    return *in_range ? (uint32_t)from & 31 : lane;
}

static void write_shuffled(const struct jit *j, const struct pt_operand *d,
                           const struct pt_operand *p, unsigned copy, LLVMValueRef value,
                           LLVMValueRef in_range)
{
    jit_registers_write(j, d, copy, value, j->unit->width, false);
    if (p)
        jit_registers_write(j, p, copy, in_range, j->unit->width, false);
}

/* Distances that the text states: permutes. */
static void shuffle_constant(const struct jit *j, unsigned first, const struct pt_operand *d,
                             const struct pt_operand *p, LLVMValueRef *a, uint32_t b, uint32_t c)
{
    LLVMTypeRef i1 = LLVMInt1TypeInContext(j->code->context);
    LLVMValueRef all = jit_concat(j, a, jit_warp_chunks(j));
    for (unsigned u = 0; u < jit_warp_chunks(j); u++) {
        LLVMValueRef order[64], valid[64];
        for (unsigned i = 0; i < j->unit->width; i++) {
            bool in_range;
            uint32_t from =
                source_lane(shuffle_of(j->form), u * j->unit->width + i, b, c, &in_range);
            order[i] = jit_i32(j, from);
            valid[i] = LLVMConstInt(i1, in_range, false);
        }
        LLVMValueRef value = LLVMBuildShuffleVector(j->code->b, all, LLVMGetPoison(LLVMTypeOf(all)),
                                                    LLVMConstVector(order, j->unit->width), "");
        write_shuffled(j, d, p, first + u, value, LLVMConstVector(valid, j->unit->width));
    }
}

/* source_lane for the lanes of a chunk of a warp. */
static LLVMValueRef source_lanes(const struct jit *j, unsigned chunk, LLVMValueRef b,
                                 LLVMValueRef c, LLVMValueRef *in_range)
{
    LLVMBuilderRef o = j->code->b;
    LLVMValueRef n = LLVMBuildAnd(o, b, jit_each(j, 31), "");
    LLVMValueRef lane = LLVMConstAdd(jit_steps(j, LLVMInt32TypeInContext(j->code->context), 1),
                                     jit_each(j, chunk * j->unit->width));
    LLVMValueRef segment =
        LLVMBuildAnd(o, LLVMBuildLShr(o, c, jit_each(j, 8), ""), jit_each(j, 31), "");
    LLVMValueRef low = LLVMBuildAnd(o, lane, segment, "");
    LLVMValueRef rest = LLVMBuildNot(o, segment, "");
    LLVMValueRef limit = LLVMBuildAnd(o, LLVMBuildAnd(o, c, jit_each(j, 31), ""), rest, "");
    limit = LLVMBuildOr(o, low, limit, "");
    LLVMValueRef from;
    switch (shuffle_of(j->form)) {
    case SHFL_UP:
        from = LLVMBuildSub(o, lane, n, "");
        break;
    case SHFL_DOWN:
        from = LLVMBuildAdd(o, lane, n, "");
        break;
    case SHFL_BFLY:
        from = LLVMBuildXor(o, lane, n, "");
        break;
    default:
        from = LLVMBuildOr(o, low, LLVMBuildAnd(o, n, rest, ""), "");
        break;
    }
    LLVMIntPredicate test = shuffle_of(j->form) == SHFL_UP ? LLVMIntSGE : LLVMIntSLE;
    *in_range = LLVMBuildICmp(o, test, from, limit, "");
    return LLVMBuildSelect(o, *in_range, LLVMBuildAnd(o, from, jit_each(j, 31), ""), lane, "");
}

/* Distances known at run time: through memory. */
static void shuffle_any(const struct jit *j, unsigned first, const struct pt_operand *d,
                        const struct pt_operand *p, LLVMValueRef *a, const struct pt_operand *b,
                        const struct pt_operand *c)
{
    LLVMTypeRef i32 = LLVMInt32TypeInContext(j->code->context);
    LLVMTypeRef i64 = LLVMInt64TypeInContext(j->code->context),
                type = LLVMVectorType(i32, j->unit->width);
    LLVMValueRef memory = jit_alloca(j, LLVMArrayType2(i32, PT_WARP_SIZE), "");
    for (unsigned u = 0; u < jit_warp_chunks(j); u++)
        LLVMSetAlignment(
            LLVMBuildStore(j->code->b, a[u], jit_at(j, memory, jit_i64(j, u * j->unit->width * 4))),
            4);
    LLVMValueRef value[JIT_COPIES], in_range[JIT_COPIES];
    for (unsigned u = 0; u < jit_warp_chunks(j); u++) {
        LLVMValueRef n = jit_registers_read(j, b, first + u, PT_b32, j->unit->width, false);
        LLVMValueRef clamp = jit_registers_read(j, c, first + u, PT_b32, j->unit->width, false);
        LLVMValueRef from = source_lanes(j, u, n, clamp, &in_range[u]);
        value[u] = LLVMConstNull(type);
        for (unsigned i = 0; i < j->unit->width; i++) {
            LLVMValueRef at = LLVMBuildZExt(j->code->b, jit_lane(j, from, i), i64, "");
            at = LLVMBuildShl(j->code->b, at, jit_i64(j, 2), "");
            LLVMValueRef one = LLVMBuildLoad2(j->code->b, i32, jit_at(j, memory, at), "");
            value[u] = LLVMBuildInsertElement(j->code->b, value[u], one, jit_i32(j, i), "");
        }
    }
    for (unsigned u = 0; u < jit_warp_chunks(j); u++)
        write_shuffled(j, d, p, first + u, value[u], in_range[u]);
}

static bool shfl(const struct jit *j, unsigned first)
{
    const struct pt_operand *d = operand(j, 0), *p = NULL;
    if (j->form->op == PT_OP_shfl_sync && !has_one_mask(j, first, 4))
        return false;
    if (d->kind == PT_OPND_PAIR) {
        p = &j->unit->f->operands.v[d->index + 1];
        d = &j->unit->f->operands.v[d->index];
    }
    LLVMValueRef a[JIT_COPIES];
    bool is_raw = d->kind == PT_OPND_REG && j->facts->regs[d->index].is_noncanonical;
    for (unsigned u = 0; u < jit_warp_chunks(j); u++) {
        a[u] = jit_registers_read(j, operand(j, 1), first + u, PT_b32, j->unit->width, is_raw);
        if (j->mask[first + u]) /* lanes that do not take part give 0 */
            a[u] = LLVMBuildSelect(j->code->b, j->mask[first + u], a[u], jit_each(j, 0), "");
    }
    const struct pt_operand *b = operand(j, 2), *c = operand(j, 3);
    uint64_t distance, clamp;
    if (jit_def_use_constant(j->facts, b, &distance) && jit_def_use_constant(j->facts, c, &clamp))
        shuffle_constant(j, first, d, p, a, (uint32_t)distance, (uint32_t)clamp);
    else
        shuffle_any(j, first, d, p, a, b, c);
    return true;
}

/* ---- vote, redux, elect, activemask ---------------------------------------------------------- */

static LLVMValueRef is_zero(const struct jit *j, LLVMValueRef bits)
{
    return LLVMBuildICmp(j->code->b, LLVMIntEQ, bits, jit_i32(j, 0), "");
}

static bool vote(const struct jit *j, unsigned first)
{
    LLVMValueRef lanes[JIT_COPIES];
    if (j->form->op == PT_OP_vote_sync && !has_one_mask(j, first, 2))
        return false;
    for (unsigned u = 0; u < jit_warp_chunks(j); u++)
        lanes[u] = jit_registers_read(j, operand(j, 1), first + u, PT_pred, j->unit->width, false);
    LLVMValueRef here = jit_warp_bits(j, j->mask + first);
    LLVMValueRef set = LLVMBuildAnd(j->code->b, jit_warp_bits(j, lanes), here, "");
    LLVMValueRef all = LLVMBuildICmp(j->code->b, LLVMIntEQ, set, here, "");
    if (pt_form_has(j->form, PT_M_ballot))
        write_all(j, first, operand(j, 0), set);
    else if (pt_form_has(j->form, PT_M_all))
        write_all(j, first, operand(j, 0), all);
    else if (pt_form_has(j->form, PT_M_any))
        write_all(j, first, operand(j, 0), LLVMBuildNot(j->code->b, is_zero(j, set), ""));
    else
        write_all(j, first, operand(j, 0), LLVMBuildOr(j->code->b, all, is_zero(j, set), ""));
    return true;
}

/* What does not change the result of the operation. */
static uint32_t neutral(const struct pt_form *form, bool is_signed)
{
    if (pt_form_has(form, PT_M_and))
        return UINT32_MAX;
    if (pt_form_has(form, PT_M_min))
        return is_signed ? INT32_MAX : UINT32_MAX;
    if (pt_form_has(form, PT_M_max))
        return is_signed ? (uint32_t)INT32_MIN : 0;
    return 0;
}

static const char *reduction(const struct pt_form *form, bool is_signed)
{
    if (pt_form_has(form, PT_M_add))
        return "llvm.vector.reduce.add";
    if (pt_form_has(form, PT_M_and))
        return "llvm.vector.reduce.and";
    if (pt_form_has(form, PT_M_or))
        return "llvm.vector.reduce.or";
    if (pt_form_has(form, PT_M_xor))
        return "llvm.vector.reduce.xor";
    if (pt_form_has(form, PT_M_min))
        return is_signed ? "llvm.vector.reduce.smin" : "llvm.vector.reduce.umin";
    return is_signed ? "llvm.vector.reduce.smax" : "llvm.vector.reduce.umax";
}

static bool redux(const struct jit *j, unsigned first)
{
    bool is_signed = j->form->type[0] == PT_s32;
    LLVMValueRef a[JIT_COPIES];
    if (!has_one_mask(j, first, 2))
        return false;
    for (unsigned u = 0; u < jit_warp_chunks(j); u++) {
        a[u] = jit_registers_read(j, operand(j, 1), first + u, PT_b32, j->unit->width, false);
        if (j->mask[first + u])
            a[u] = LLVMBuildSelect(j->code->b, j->mask[first + u], a[u],
                                   jit_each(j, neutral(j->form, is_signed)), "");
    }
    LLVMValueRef all = jit_concat(j, a, jit_warp_chunks(j));
    write_all(j, first, operand(j, 0),
              jit_intrinsic(j, reduction(j->form, is_signed), LLVMTypeOf(all), &all, 1));
    return true;
}

/* The lowest lane leads. */
static bool elect(const struct jit *j, unsigned first)
{
    const struct pt_operand *d = operand(j, 0);
    const struct pt_operand *p = &j->unit->f->operands.v[d->index + 1];
    if (d->kind != PT_OPND_PAIR || !has_one_mask(j, first, 1))
        return jit_refuse(j->unit, "elect.sync with these operands");
    LLVMValueRef args[] = {jit_warp_bits(j, j->mask + first),
                           LLVMConstNull(LLVMInt1TypeInContext(j->code->context))};
    LLVMValueRef leader =
        jit_intrinsic(j, "llvm.cttz", LLVMInt32TypeInContext(j->code->context), args, 2);
    write_all(j, first, &j->unit->f->operands.v[d->index], leader);
    for (unsigned u = 0; u < jit_warp_chunks(j); u++) {
        LLVMValueRef lane = LLVMConstAdd(jit_steps(j, LLVMInt32TypeInContext(j->code->context), 1),
                                         jit_each(j, u * j->unit->width));
        LLVMValueRef is_leader =
            LLVMBuildICmp(j->code->b, LLVMIntEQ, lane, jit_splat(j, leader), "");
        jit_registers_write(j, p, first + u, is_leader, j->unit->width, false);
    }
    return true;
}

/* ---- match ----------------------------------------------------------------------------------- */

static void read_chunks(const struct jit *j, unsigned first, enum pt_type type, LLVMValueRef *a)
{
    for (unsigned u = 0; u < jit_warp_chunks(j); u++)
        a[u] = jit_registers_read(j, operand(j, 1), first + u, type, j->unit->width, false);
}

static bool match_any(const struct jit *j, unsigned first)
{
    LLVMValueRef a[JIT_COPIES], masks[JIT_COPIES];
    LLVMValueRef here = jit_splat(j, jit_warp_bits(j, j->mask + first));
    if (!has_one_mask(j, first, 2))
        return false;
    read_chunks(j, first, (enum pt_type)j->form->type[0], a);
    jit_match_find(j, operand(j, 1), a, here, masks);
    for (unsigned u = 0; u < jit_warp_chunks(j); u++)
        jit_registers_write(j, operand(j, 0), first + u, masks[u], j->unit->width, false);
    return true;
}

/* What the lowest lane of `here` has; without one, of any. */
static LLVMValueRef lowest_value(const struct jit *j, LLVMValueRef *a, LLVMValueRef here)
{
    LLVMTypeRef element = LLVMGetElementType(LLVMTypeOf(a[0]));
    LLVMTypeRef i1 = LLVMInt1TypeInContext(j->code->context),
                i64 = LLVMInt64TypeInContext(j->code->context);
    unsigned bytes = LLVMGetIntTypeWidth(element) / 8;
    LLVMValueRef memory = jit_alloca(j, LLVMArrayType2(element, PT_WARP_SIZE), "");
    for (unsigned u = 0; u < jit_warp_chunks(j); u++)
        LLVMSetAlignment(LLVMBuildStore(j->code->b, a[u],
                                        jit_at(j, memory, jit_i64(j, u * j->unit->width * bytes))),
                         bytes);
    LLVMValueRef args[] = {here, LLVMConstNull(i1)};
    LLVMValueRef lane =
        jit_intrinsic(j, "llvm.cttz", LLVMInt32TypeInContext(j->code->context), args, 2);
    lane = LLVMBuildAnd(j->code->b, lane, jit_i32(j, PT_WARP_SIZE - 1), "");
    LLVMValueRef at =
        LLVMBuildMul(j->code->b, LLVMBuildZExt(j->code->b, lane, i64, ""), jit_i64(j, bytes), "");
    return LLVMBuildLoad2(j->code->b, element, jit_at(j, memory, at), "");
}

static bool match_all(const struct jit *j, unsigned first)
{
    const struct pt_operand *d = operand(j, 0), *p = NULL;
    LLVMValueRef a[JIT_COPIES], equal[JIT_COPIES];
    if (!has_one_mask(j, first, 2))
        return false;
    if (d->kind == PT_OPND_PAIR) {
        p = &j->unit->f->operands.v[d->index + 1];
        d = &j->unit->f->operands.v[d->index];
    }
    LLVMValueRef here = jit_warp_bits(j, j->mask + first);
    read_chunks(j, first, (enum pt_type)j->form->type[0], a);
    LLVMValueRef one = jit_splat(j, lowest_value(j, a, here));
    for (unsigned u = 0; u < jit_warp_chunks(j); u++)
        equal[u] = LLVMBuildICmp(j->code->b, LLVMIntEQ, a[u], one, "");
    LLVMValueRef differ = LLVMBuildNot(j->code->b, jit_warp_bits(j, equal), "");
    LLVMValueRef all = is_zero(j, LLVMBuildAnd(j->code->b, differ, here, ""));
    write_all(j, first, d, LLVMBuildSelect(j->code->b, all, here, jit_i32(j, 0), ""));
    if (p)
        write_all(j, first, p, all);
    return true;
}

static bool one_warp(const struct jit *j, unsigned first)
{
    if (jit_insn_info_is_product(j->facts, j->form))
        return jit_mma_emit(j, first);
    switch ((enum pt_op)j->form->op) {
    case PT_OP_shfl:
    case PT_OP_shfl_sync:
        return shfl(j, first);
    case PT_OP_vote:
    case PT_OP_vote_sync:
        return vote(j, first);
    case PT_OP_redux_sync:
        return redux(j, first);
    case PT_OP_elect_sync:
        return elect(j, first);
    case PT_OP_match_any:
        return match_any(j, first);
    case PT_OP_match_all:
        return match_all(j, first);
    case PT_OP_activemask:
        write_all(j, first, operand(j, 0), jit_warp_bits(j, j->mask + first));
        return true;
    case PT_OP_bar_warp_sync:
        return has_one_mask(j, first, 0);
    case PT_OP_ldmatrix:
    case PT_OP_stmatrix:
    case PT_OP_movmatrix:
        return jit_ldmatrix_emit(j, first);
    default:
        return jit_refuse(j->unit, j->form->spelling);
    }
}

bool jit_warp_emit(const struct jit *j)
{
    if (j->unit->width * j->facts->copies % PT_WARP_SIZE)
        return false;
    if (!jit_insn_info_takes_present(j->form) && !jit_insn_info_is_whole(j->facts, j->block))
        return jit_refuse(j->unit, JIT_INSN_INFO_PARTED);
    for (unsigned first = 0; first < j->facts->copies; first += jit_warp_chunks(j))
        if (!one_warp(j, first))
            return false;
    return true;
}
