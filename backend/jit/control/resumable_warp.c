/* Warps that are suspended and resumed: kernels in which a thread may wait for others anywhere: in
 * loops, at barriers of some of the threads, at the cluster's. Their warps are resumed one by one,
 * and the runtime resumes them as it does the interpreter's.
 *
 * A group is a warp. Regions begin at sync points, at headers of loops that wait, and where others
 * would overlap. A region runs the lanes that stand at its start (frontier.h) until all have ended
 * or stand at the starts of other regions, whose registers are in memory then; there is nobody else
 * of the warp in between, so inside a region lanes part and meet as in any other kernel. Lanes that
 * have come to different starts run one after the other. At a sync point lanes wait for all others
 * of their warp, be it one that names them (bar.warp.sync), or a barrier, which counts whole warps.
 */
#include "backend/jit/control/resumable_warp.h"

#include "backend/barrier.h"
#include "backend/jit/analysis/insn_info.h"
#include "backend/jit/analysis/plan.h"
#include "backend/jit/analysis/sync_points.h"
#include "backend/jit/control/barrier_reduce.h"
#include "backend/jit/control/gen.h"
#include "backend/jit/control/region_spill.h"
#include "backend/jit/jit.h"
#include "backend/jit/llvm/build.h"
#include "backend/jit/llvm/debug_info.h"
#include "backend/jit/object/frontier.h"
#include "backend/jit/value/registers.h"

/* ---- where lanes stop ------------------------------------------------------------------------ */

/* Groups of lanes that name different ones stay together there on an H200; elsewhere one runs after
 * the other. */
static bool goes_together(const struct jit *j, uint32_t block)
{
    return jit_sync_points_is_warp_barrier(j->facts, block) ||
           pt_insn_form(j->unit->m, jit_insn_info_first(j->facts, block))->op == PT_OP_shfl_sync;
}

/* ---- sync points that native code knows ------------------------------------------------------ */

/* The operands of a CTA's barrier; `count` and `pred` may be NULL. */
struct barrier {
    const struct pt_operand *number, *count, *pred;
};

static struct barrier barrier_of(const struct jit *j, const struct pt_insn *insn)
{
    const struct pt_operand *o = &j->unit->f->operands.v[insn->operands],
                            *end = o + insn->n_operands;
    bool is_reduction = jit_insn_info_is_reduction(pt_insn_form(j->unit->m, insn));
    struct barrier b = {.number = o + is_reduction, .pred = is_reduction ? end - 1 : NULL};
    if (end - is_reduction > b.number + 1)
        b.count = b.number + 1;
    return b;
}

/* ---- lanes come to the start of a region ----------------------------------------------------- */

static LLVMTypeRef i32_of(const struct jit *j)
{
    return LLVMInt32TypeInContext(j->code->context);
}

static const struct jit_region *region_at(const struct jit_gen *g, uint32_t block)
{
    const struct jit_region *r = g->plan->regions;
    while (r->entry != block)
        r++;
    return r;
}

/* The lanes of the warp as integers in memory. */
static LLVMValueRef in_memory(const struct jit *j, const struct pt_operand *o)
{
    LLVMValueRef memory = jit_alloca(j, LLVMArrayType2(i32_of(j), PT_WARP_SIZE), "");
    for (unsigned u = 0; u < j->facts->copies; u++) {
        LLVMValueRef value = jit_registers_read(j, o, u, PT_u32, j->unit->width, true);
        LLVMSetAlignment(LLVMBuildStore(j->code->b, value,
                                        jit_at(j, memory, jit_i64(j, u * j->unit->width * 4))),
                         4);
    }
    return memory;
}

static LLVMValueRef read_number(const struct jit *j, const struct pt_operand *o, LLVMValueRef lanes,
                                uint32_t bits)
{
    if (!o)
        return jit_i32(j, 0);
    if (jit_sync_points_is_agreed(j->facts, o))
        return LLVMBuildAnd(j->code->b, jit_registers_read(j, o, 0, PT_u32, 1, true),
                            jit_i32(j, bits), "");
    LLVMTypeRef types[] = {LLVMPointerTypeInContext(j->code->context, 0), i32_of(j), i32_of(j)};
    LLVMValueRef args[] = {in_memory(j, o), lanes, jit_i32(j, bits)};
    return jit_help(j, "jit_help_agreed", LLVMFunctionType(i32_of(j), types, 3, false), args);
}

static LLVMValueRef read_lanes(const struct jit *j, const struct pt_operand *pred)
{
    LLVMValueRef lanes[JIT_COPIES];
    for (unsigned u = 0; pred && u < j->facts->copies; u++)
        lanes[u] = jit_registers_read(j, pred, u, PT_pred, j->unit->width, true);
    return pred ? jit_warp_bits(j, lanes) : jit_i32(j, 0);
}

/* Keeps what the lanes that come name, beside what those name that are there. */
static LLVMValueRef keep_members(struct jit_gen *g, uint32_t to)
{
    const struct jit *j = g->j;
    LLVMTypeRef i64 = LLVMInt64TypeInContext(j->code->context),
                type = jit_int_type(j, 32, j->unit->width);
    LLVMValueRef at = LLVMBuildMul(j->code->b, LLVMBuildZExt(j->code->b, j->group, i64, ""),
                                   jit_i64(j, JIT_MEMBERS_BYTES), "");
    at = jit_at(j, j->code->scratch,
                LLVMBuildAdd(j->code->b, at, jit_i64(j, region_at(g, to)->members), ""));
    for (unsigned u = 0; u < j->facts->copies; u++) {
        LLVMValueRef place = jit_at(j, at, jit_i64(j, u * j->unit->width * 4));
        LLVMValueRef value = jit_registers_read(
            j, jit_sync_points_members(j->facts, jit_insn_info_first(j->facts, to)), u, PT_u32,
            j->unit->width, true);
        if (g->code->masks) {
            LLVMValueRef old = LLVMBuildLoad2(j->code->b, type, place, "");
            LLVMSetAlignment(old, 4);
            value = LLVMBuildSelect(j->code->b, jit_mask_load(j, g->code->masks[to][u]), value, old,
                                    "");
        }
        LLVMSetAlignment(LLVMBuildStore(j->code->b, value, place), 4);
    }
    return at;
}

/* The sync point as jit_help_hold gets it. */
static uint32_t flags_of(const struct jit *j, uint32_t block)
{
    enum jit_sync sync = jit_sync_points_sync(j->facts, block);
    bool is_warp = sync == JIT_SYNC_WARP,
         is_each = j->facts->uniformity->stops[block] == PT_STOP_EACH;
    bool is_unaligned =
        !is_warp &&
        !jit_sync_points_is_aligned(pt_insn_form(j->unit->m, jit_insn_info_first(j->facts, block)));
    return sync | (is_each ? JIT_SYNC_EACH : 0u) | (is_unaligned ? JIT_SYNC_UNALIGNED : 0u) |
           (jit_sync_points_is_warp_barrier(j->facts, block) ? JIT_SYNC_ANYWHERE : 0u) |
           (goes_together(j, block) ? JIT_SYNC_TOGETHER : 0u);
}

static void hold(struct jit_gen *g, uint32_t to, LLVMValueRef stand, LLVMValueRef place,
                 LLVMValueRef lanes)
{
    const struct jit *j = g->j;
    uint32_t flags = flags_of(j, to), kind = flags & JIT_SYNC_KINDS;
    struct barrier b = {0};
    if (kind == JIT_SYNC_BARRIER || kind == JIT_SYNC_ARRIVE)
        b = barrier_of(j, jit_insn_info_first(j->facts, to));
    LLVMTypeRef pointer = LLVMPointerTypeInContext(j->code->context, 0), i32 = i32_of(j);
    LLVMTypeRef types[] = {
        pointer, i32, LLVMInt64TypeInContext(j->code->context), i32, i32, i32, i32, i32, pointer};
    LLVMTypeRef type = LLVMFunctionType(LLVMVoidTypeInContext(j->code->context), types, 9, false);
    bool has_members = kind == JIT_SYNC_WARP && (flags & JIT_SYNC_EACH);
    LLVMValueRef args[] = {j->code->front,
                           stand,
                           place,
                           lanes,
                           jit_i32(j, flags),
                           read_number(j, b.number, lanes, PT_BARRIER_NUMBER_BITS),
                           read_number(j, b.count, lanes, PT_BARRIER_COUNT_BITS),
                           read_lanes(j, b.pred),
                           has_members ? keep_members(g, to) : LLVMConstNull(pointer)};
    jit_help(j, "jit_help_hold", type, args);
}

/* Lanes, some at least, stand at the start of region `to` from now on. */
static void come(struct jit_gen *g, uint32_t to, LLVMValueRef lanes)
{
    const struct jit *j = g->j;
    struct pt_place at = jit_debug_info_place(j->unit, j->unit->f->blocks.v[to].first);
    LLVMValueRef stand = jit_i32(j, (uint32_t)(region_at(g, to) - g->plan->regions));
    LLVMValueRef place = jit_i64(j, (uint64_t)at.func << 32 | at.insn);
    if (jit_sync_points_sync(j->facts, to)) {
        hold(g, to, stand, place, lanes);
        return;
    }
    LLVMTypeRef i32 = i32_of(j), i64 = LLVMInt64TypeInContext(j->code->context);
    LLVMTypeRef types[] = {LLVMPointerTypeInContext(j->code->context, 0), i32, i64, i32, i32};
    LLVMTypeRef type = LLVMFunctionType(LLVMVoidTypeInContext(j->code->context), types, 5, false);
    LLVMValueRef is_turn = jit_i32(j, 0);
    if (jit_resumable_warp_is_yielding(g, to))
        is_turn = LLVMBuildLoad2(j->code->b, i32, j->code->yielded, "");
    LLVMValueRef args[] = {j->code->front, stand, place, lanes, is_turn};
    jit_help(j, "jit_help_stand", type, args);
}

bool jit_resumable_warp_is_yielding(const struct jit_gen *g, uint32_t block)
{
    const struct pt_func *f = g->j->unit->f;
    uint32_t l = f->blocks.v[block].loop;
    return l && f->loops.v[l - 1].header == block && f->loops.v[l - 1].communicates;
}

void jit_resumable_warp_note_turn(struct jit_gen *g, uint32_t from, uint32_t to)
{
    const struct jit *j = g->j;
    if (j->facts->is_resumable && to <= from && !jit_is_in(g, to) &&
        jit_resumable_warp_is_yielding(g, to))
        LLVMBuildStore(j->code->b, jit_i32(j, 1), j->code->yielded);
}

/* ---- the ends of a region -------------------------------------------------------------------- */

static LLVMValueRef lanes_at(struct jit_gen *g, uint32_t to)
{
    LLVMValueRef lanes[JIT_COPIES];
    for (unsigned u = 0; u < g->j->facts->copies; u++)
        lanes[u] = jit_mask_load(g->j, g->code->masks[to][u]);
    return jit_warp_bits(g->j, lanes);
}

/* Where `is_on` (i1) holds, goes to the first block; the builder stands in it. Returns the
 * other. */
static LLVMBasicBlockRef only_if(const struct jit *j, LLVMValueRef is_on)
{
    LLVMBasicBlockRef yes = jit_new_block(j, ""), no = jit_new_block(j, "");
    LLVMBuildCondBr(j->code->b, is_on, yes, no);
    jit_continue_in(j, yes);
    return no;
}

static LLVMValueRef is_some(const struct jit *j, LLVMValueRef lanes)
{
    return LLVMBuildICmp(j->code->b, LLVMIntNE, lanes, jit_i32(j, 0), "");
}

/* Tells which of the lanes that ran have ended: all but `left`. */
static void tell_ended(struct jit_gen *g, LLVMValueRef left)
{
    const struct jit *j = g->j;
    if (!g->r->has_ends)
        return;
    LLVMTypeRef types[] = {LLVMPointerTypeInContext(j->code->context, 0), i32_of(j)};
    LLVMTypeRef type = LLVMFunctionType(LLVMVoidTypeInContext(j->code->context), types, 2, false);
    LLVMValueRef lanes = LLVMBuildLoad2(j->code->b, i32_of(j), j->code->standing, "");
    lanes = LLVMBuildAnd(j->code->b, lanes, LLVMBuildNot(j->code->b, left, ""), "");
    LLVMBasicBlockRef on = only_if(j, is_some(j, lanes));
    LLVMValueRef args[] = {j->code->warp, lanes};
    jit_help(j, "jit_help_exit", type, args);
    LLVMBuildBr(j->code->b, on);
    jit_continue_in(j, on);
}

void jit_resumable_warp_leave(struct jit_gen *g, uint32_t to)
{
    const struct jit *j = g->j;
    jit_continue_in(j, g->code->leave[to]);
    LLVMValueRef lanes = lanes_at(g, to);
    jit_region_spill_save_group(g, to);
    tell_ended(g, lanes);
    if (!jit_sync_points_sync(j->facts, to)) {
        LLVMBasicBlockRef turns = NULL;
        if (jit_resumable_warp_is_yielding(g, to)) {
            LLVMValueRef turned = LLVMBuildLoad2(j->code->b, i32_of(j), j->code->yielded, "");
            turns = only_if(j, LLVMBuildICmp(j->code->b, LLVMIntEQ, turned, jit_i32(j, 0), ""));
        }
        LLVMBuildStore(j->code->b, lanes, j->code->standing);
        LLVMBuildBr(j->code->b, j->code->regions[region_at(g, to) - g->plan->regions]);
        if (!turns)
            return;
        jit_continue_in(j, turns);
    }
    come(g, to, lanes);
    LLVMBuildBr(j->code->b, j->code->choose);
}

void jit_resumable_warp_end(struct jit_gen *g)
{
    const struct jit *j = g->j;
    LLVMValueRef left = jit_i32(j, 0);
    jit_continue_in(j, g->code->end);
    for (uint32_t e = 0; e < g->r->n_exits; e++) {
        uint32_t to = g->r->exits[e];
        LLVMValueRef lanes = lanes_at(g, to);
        left = LLVMBuildOr(j->code->b, left, lanes, "");
        LLVMBasicBlockRef on = only_if(j, is_some(j, lanes));
        jit_region_spill_save_group(g, to);
        come(g, to, lanes);
        LLVMBuildBr(j->code->b, on);
        jit_continue_in(j, on);
    }
    tell_ended(g, left);
    LLVMBuildBr(j->code->b, j->code->choose);
}

/* ---- the start ------------------------------------------------------------------------------- */

LLVMValueRef jit_resumable_warp_standing(struct jit_gen *g, unsigned copy)
{
    const struct jit *j = g->j;
    if (j->facts->starts_full && !g->plan->has_ended &&
        !jit_plan_is_left(j->facts, g->plan, g->r->entry))
        return NULL;
    LLVMValueRef lanes = LLVMBuildLoad2(j->code->b, i32_of(j), j->code->standing, "");
    return jit_mask_from_bits(
        j, LLVMBuildLShr(j->code->b, lanes, jit_i32(j, copy * j->unit->width), ""));
}

void jit_resumable_warp_start_region(struct jit_gen *g)
{
    const struct jit *j = g->j;
    LLVMBuildStore(j->code->b, jit_i32(j, 0), j->code->yielded);
    jit_barrier_reduce_load_votes(g);
}

static LLVMValueRef call_next(const struct jit *j)
{
    LLVMTypeRef pointer = LLVMPointerTypeInContext(j->code->context, 0);
    LLVMTypeRef types[] = {pointer, pointer};
    LLVMValueRef args[] = {j->code->warp, j->code->front};
    return jit_help(j, "jit_help_next", LLVMFunctionType(i32_of(j), types, 2, false), args);
}

/* All lanes come to the first region. */
static void start_warp(const struct jit *j, const struct jit_plan *plan)
{
    struct jit_region_code code = {0};
    struct jit_gen g = {.j = j, .plan = plan, .code = &code};
    LLVMTypeRef types[] = {LLVMPointerTypeInContext(j->code->context, 0), i32_of(j)};
    LLVMTypeRef type = LLVMFunctionType(LLVMVoidTypeInContext(j->code->context), types, 2, false);
    LLVMValueRef args[] = {j->code->front, jit_i32(j, plan->n_regions)};
    jit_help(j, "jit_help_start", type, args);
    LLVMBuildStore(j->code->b, jit_i32(j, 0), j->code->yielded);
    come(&g, 0, jit_field(j, i32_of(j), j->code->warp, offsetof(struct pt_warp, live)));
}

void jit_resumable_warp_begin(struct jit *j, const struct jit_plan *plan)
{
    LLVMTypeRef i64 = LLVMInt64TypeInContext(j->code->context);
    j->group = jit_field(j, i32_of(j), j->code->warp, offsetof(struct pt_warp, index));
    LLVMValueRef offset = LLVMBuildMul(j->code->b, LLVMBuildZExt(j->code->b, j->group, i64, ""),
                                       jit_i64(j, j->facts->front_bytes), "");
    j->code->front = jit_at(j, j->code->scratch, offset);
    j->code->standing = jit_alloca(j, i32_of(j), "standing");
    j->code->yielded = jit_alloca(j, i32_of(j), "turned");
    j->code->choose = jit_new_block(j, "choose");
    LLVMValueRef is_started =
        jit_field(j, i32_of(j), j->code->front, offsetof(struct jit_front, is_started));
    LLVMBasicBlockRef start = jit_new_block(j, "start");
    LLVMBuildCondBr(j->code->b, is_some(j, is_started), j->code->choose, start);
    jit_continue_in(j, start);
    start_warp(j, plan);
    LLVMBuildBr(j->code->b, j->code->choose);
    jit_continue_in(j, j->code->choose);
    LLVMValueRef next = call_next(j);
    LLVMBuildStore(j->code->b,
                   jit_field(j, i32_of(j), j->code->front, offsetof(struct jit_front, lanes)),
                   j->code->standing);
    LLVMBasicBlockRef leave = jit_new_block(j, "leave");
    LLVMValueRef to = LLVMBuildSwitch(j->code->b, next, leave, plan->n_regions);
    for (uint32_t r = 0; r < plan->n_regions; r++)
        LLVMAddCase(to, jit_i32(j, r), j->code->regions[r]);
    jit_continue_in(j, leave);
    LLVMBuildRet(j->code->b, LLVMBuildSub(j->code->b, next, jit_i32(j, JIT_LEAVES), ""));
}
