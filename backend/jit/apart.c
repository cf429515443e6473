/* Kernels in which a thread may wait for others anywhere: in loops, at barriers of some of the threads, at the cluster's. Their warps
 * run apart, one by one, and the runtime resumes them as it does the interpreter's.
 *
 * A group is a warp. Regions begin at sync points, at headers of loops that wait, and where others would overlap. A region runs the
 * lanes that stand at its start (front.h) until all have ended or stand at the starts of other regions, whose registers are in memory
 * then; there is nobody else of the warp in between, so inside a region lanes part and meet as in any other kernel. Lanes that
 * have come to different starts take turns. At a sync point lanes wait for all others of their warp, be it one that names them
 * (bar.warp.sync), or a barrier, which counts whole warps.
 */
#include "backend/jit/front.h"
#include "backend/jit/gen.h"
#include "backend/jit/helper.h"

/* ---- where lanes stop ------------------------------------------------------------------------ */

static const struct pt_insn *first_of(const struct jit *j, uint32_t block)
{
    return &j->f->insns.v[j->f->blocks.v[block].first];
}

/* An instruction of a warp that all lanes take part in, whatever their registers hold. */
static bool names_all(const struct jit *j, const struct pt_insn *insn)
{
    const struct pt_form *form = pt_insn_form(j->m, insn);
    const struct pt_operand *members = &j->f->operands.v[insn->operands + insn->n_operands - 1];
    switch (form->op) {
    case PT_OP_activemask:
    case PT_OP_shfl:
    case PT_OP_vote:
        return false;
    case PT_OP_shfl_sync:
    case PT_OP_vote_sync:
    case PT_OP_match_any:
    case PT_OP_match_all:
    case PT_OP_redux_sync:
    case PT_OP_elect_sync:
    case PT_OP_bar_warp_sync:
        return members->kind == PT_OPND_IMM && (uint32_t)members->imm == UINT32_MAX;
    default:
        return form->effects & PT_FX_WARP;
    }
}

static bool stands_beside(const struct jit *j, uint32_t block, const uint64_t *blocks)
{
    for (uint32_t w = 0; w < j->vary->words; w++)
        if (jit_waits(j, block)[w] & blocks[w])
            return true;
    return false;
}

/* Adds instructions of a warp whose lanes may have stopped at different places. */
static bool add_parted(struct jit *j, const struct jit_plan *plan, uint64_t *all)
{
    bool is_any = false;
    for (uint32_t b = 0; b < j->f->blocks.n; b++) {
        if (jit_set_has(all, b) || !names_all(j, first_of(j, b)) || !stands_beside(j, b, plan->entries))
            continue;
        jit_set_add(all, b);
        is_any = true;
    }
    return is_any;
}

void jit_find_stops(struct jit *j, struct pt_vary_shape *shape)
{
    uint64_t *all = jit_new_set(j);
    struct jit_plan plan;
    shape->copies = PT_WARP_SIZE / shape->width;
    do {
        uint8_t *stops = pt_arena_alloc(j->arena, j->f->blocks.n);
        plan = (struct jit_plan){0};
        jit_cut_apart(j, &plan, all);
        for (uint32_t b = 0; b < j->f->blocks.n; b++)
            if (jit_set_has(plan.entries, b))
                stops[b] = jit_is_sync(j, b) || jit_set_has(all, b) ? PT_STOP_ALL : PT_STOP_SOME;
        j->vary = pt_vary_find(j->m, j->f, shape, stops, j->arena);
    } while (add_parted(j, &plan, all));
}

static enum jit_sync sync_of(const struct jit *j, uint32_t block)
{
    if (j->vary->stops[block] != PT_STOP_ALL)
        return JIT_SYNC_NONE;
    switch (pt_insn_form(j->m, first_of(j, block))->op) {
    case PT_OP_bar_sync:
    case PT_OP_bar_red_popc:
    case PT_OP_bar_red_pred:
    case PT_OP_barrier_sync:
    case PT_OP_barrier_red_popc:
    case PT_OP_barrier_red_pred:
        return JIT_SYNC_BARRIER;
    case PT_OP_bar_arrive:
    case PT_OP_barrier_arrive:
        return JIT_SYNC_ARRIVE;
    case PT_OP_barrier_cluster_arrive:
        return JIT_SYNC_CLUSTER_ARRIVE;
    case PT_OP_barrier_cluster_wait:
        return JIT_SYNC_CLUSTER_WAIT;
    default:
        return JIT_SYNC_WARP;
    }
}

/* ---- sync points that native code knows -------------------------------------------------------- */

static bool refuse(struct jit *j, const char *why)
{
    j->why = why;
    return false;
}

static bool is_aligned(const struct pt_form *form)
{
    bool is_bar = form->op == PT_OP_bar_sync || form->op == PT_OP_bar_arrive || form->op == PT_OP_bar_red_popc ||
                  form->op == PT_OP_bar_red_pred;
    return is_bar || pt_form_has(form, PT_M_aligned);
}

/* The lanes of a warp agree on the value. */
static bool is_agreed(const struct jit *j, const struct pt_operand *o)
{
    return o->kind == PT_OPND_IMM ||
           (o->kind == PT_OPND_REG && j->vary->regs[o->index].level <= PT_LEVEL_GROUP);
}

/* The operands of a CTA's barrier; `count` and `pred` may be NULL. */
struct barrier {
    const struct pt_operand *number, *count, *pred;
};

static struct barrier barrier_of(const struct jit *j, const struct pt_insn *insn)
{
    const struct pt_operand *o = &j->f->operands.v[insn->operands], *end = o + insn->n_operands;
    bool is_reduction = jit_is_reduction(pt_insn_form(j->m, insn));
    struct barrier b = {.number = o + is_reduction, .pred = is_reduction ? end - 1 : NULL};
    if (end - is_reduction > b.number + 1)
        b.count = b.number + 1;
    return b;
}

/* Lanes of the warp may pass by the barrier, to a block where all of them meet: the interpreter counts them then. */
static bool is_passed_by(const struct jit *j, uint32_t block)
{
    const struct pt_block *blocks = j->f->blocks.v;
    for (uint32_t b = blocks[block].ipdom; b != UINT32_MAX && blocks[b].loop == blocks[block].loop; b = blocks[b].ipdom)
        if (jit_set_has(jit_waits(j, b), block))
            return true;
    return false;
}

/* Other lanes of the warp may stop elsewhere while some stand there. */
static bool is_left_alone(const struct jit *j, uint32_t block)
{
    for (uint32_t b = 0; b < j->f->blocks.n; b++)
        if (j->vary->stops[b] && jit_set_has(jit_waits(j, b), block))
            return true;
    return jit_set_has(j->vary->stuck, block);
}

/* A barrier that is not aligned takes lanes as they come: the same as if they had come together, where those that came first have
 * nothing else to do, and all come to the same one. */
static bool can_come_together(const struct jit *j, uint32_t block, enum jit_sync sync)
{
    if (is_aligned(pt_insn_form(j->m, first_of(j, block))))
        return true;
    bool goes_on = sync == JIT_SYNC_ARRIVE || sync == JIT_SYNC_CLUSTER_ARRIVE;
    return goes_on ? !is_left_alone(j, block) : !jit_set_has(j->vary->stuck, block);
}

static bool knows_sync(struct jit *j, uint32_t block)
{
    enum jit_sync sync = sync_of(j, block);
    struct barrier b = barrier_of(j, first_of(j, block));
    bool is_cta = sync == JIT_SYNC_BARRIER || sync == JIT_SYNC_ARRIVE;
    if (is_cta && (!is_agreed(j, b.number) || (b.count && !is_agreed(j, b.count))))
        return refuse(j, "a barrier whose number or count differs within a warp");
    if (is_passed_by(j, block) || !can_come_together(j, block, sync))
        return refuse(j, "a barrier where threads of a warp have parted");
    return block || refuse(j, "a barrier before anything else");
}

bool jit_knows_syncs(struct jit *j)
{
    for (uint32_t b = 0; b < j->f->blocks.n; b++)
        if (jit_is_sync(j, b) && !knows_sync(j, b))
            return false;
    return true;
}

/* ---- lanes come to the start of a region ------------------------------------------------------- */

static LLVMTypeRef i32_of(struct jit *j)
{
    return LLVMInt32TypeInContext(j->context);
}

static const struct jit_region *region_at(const struct jit_gen *g, uint32_t block)
{
    const struct jit_region *r = g->plan->regions;
    while (r->entry != block)
        r++;
    return r;
}

static LLVMValueRef read_number(struct jit *j, const struct pt_operand *o)
{
    return o ? jit_read(j, o, 0, PT_u32, 1, true) : jit_i32(j, 0);
}

static LLVMValueRef read_lanes(struct jit *j, const struct pt_operand *pred)
{
    LLVMValueRef lanes[JIT_COPIES];
    for (unsigned u = 0; pred && u < j->copies; u++)
        lanes[u] = jit_read(j, pred, u, PT_pred, j->width, true);
    return pred ? jit_warp_bits(j, lanes) : jit_i32(j, 0);
}

static void hold(struct jit_gen *g, uint32_t to, LLVMValueRef stand, LLVMValueRef place, LLVMValueRef lanes)
{
    struct jit *j = g->j;
    enum jit_sync sync = sync_of(j, to);
    struct barrier b = {0};
    if (sync == JIT_SYNC_BARRIER || sync == JIT_SYNC_ARRIVE)
        b = barrier_of(j, first_of(j, to));
    bool is_unaligned = sync != JIT_SYNC_WARP && !is_aligned(pt_insn_form(j->m, first_of(j, to)));
    LLVMTypeRef i32 = i32_of(j), i64 = LLVMInt64TypeInContext(j->context);
    LLVMTypeRef types[] = {LLVMPointerTypeInContext(j->context, 0), i32, i64, i32, i32, i32, i32, i32};
    LLVMTypeRef type = LLVMFunctionType(LLVMVoidTypeInContext(j->context), types, 8, false);
    LLVMValueRef args[] = {j->front, stand, place, lanes, jit_i32(j, sync | (uint32_t)is_unaligned << 8),
                           read_number(j, b.number), read_number(j, b.count), read_lanes(j, b.pred)};
    jit_help(j, "jit_help_hold", type, args);
}

/* Lanes, some at least, stand at the start of region `to` from now on. */
static void come(struct jit_gen *g, uint32_t to, LLVMValueRef lanes)
{
    struct jit *j = g->j;
    struct pt_place at = jit_place(j, j->f->blocks.v[to].first);
    LLVMValueRef stand = jit_i32(j, (uint32_t)(region_at(g, to) - g->plan->regions));
    LLVMValueRef place = jit_i64(j, (uint64_t)at.func << 32 | at.insn);
    if (sync_of(j, to)) {
        hold(g, to, stand, place, lanes);
        return;
    }
    LLVMTypeRef i32 = i32_of(j), i64 = LLVMInt64TypeInContext(j->context);
    LLVMTypeRef types[] = {LLVMPointerTypeInContext(j->context, 0), i32, i64, i32, i32};
    LLVMTypeRef type = LLVMFunctionType(LLVMVoidTypeInContext(j->context), types, 5, false);
    LLVMValueRef is_turn = jit_i32(j, 0);
    if (jit_is_turning(g, to))
        is_turn = LLVMBuildLoad2(j->b, i32, j->turned, "");
    LLVMValueRef args[] = {j->front, stand, place, lanes, is_turn};
    jit_help(j, "jit_help_stand", type, args);
}

bool jit_is_turning(const struct jit_gen *g, uint32_t block)
{
    const struct pt_func *f = g->j->f;
    uint32_t l = f->blocks.v[block].loop;
    return l && f->loops.v[l - 1].header == block && f->loops.v[l - 1].communicates;
}

void jit_note_turn(struct jit_gen *g, uint32_t from, uint32_t to)
{
    struct jit *j = g->j;
    if (j->runs_apart && to <= from && !jit_is_in(g, to) && jit_is_turning(g, to))
        LLVMBuildStore(j->b, jit_i32(j, 1), j->turned);
}

/* ---- the ends of a region ---------------------------------------------------------------------- */

static LLVMValueRef lanes_at(struct jit_gen *g, uint32_t to)
{
    LLVMValueRef lanes[JIT_COPIES];
    for (unsigned u = 0; u < g->j->copies; u++)
        lanes[u] = jit_mask_load(g->j, g->masks[to][u]);
    return jit_warp_bits(g->j, lanes);
}

/* Where `is_on` (i1) holds, goes to the first block; the builder stands in it. Returns the other. */
static LLVMBasicBlockRef only_if(struct jit *j, LLVMValueRef is_on)
{
    LLVMBasicBlockRef yes = jit_new_block(j, ""), no = jit_new_block(j, "");
    LLVMBuildCondBr(j->b, is_on, yes, no);
    jit_continue_in(j, yes);
    return no;
}

static LLVMValueRef is_some(struct jit *j, LLVMValueRef lanes)
{
    return LLVMBuildICmp(j->b, LLVMIntNE, lanes, jit_i32(j, 0), "");
}

/* Tells which of the lanes that ran have ended: all but `left`. */
static void tell_ended(struct jit_gen *g, LLVMValueRef left)
{
    struct jit *j = g->j;
    if (!g->r->has_ends)
        return;
    LLVMTypeRef types[] = {LLVMPointerTypeInContext(j->context, 0), i32_of(j)};
    LLVMTypeRef type = LLVMFunctionType(LLVMVoidTypeInContext(j->context), types, 2, false);
    LLVMValueRef lanes = LLVMBuildLoad2(j->b, i32_of(j), j->standing, "");
    lanes = LLVMBuildAnd(j->b, lanes, LLVMBuildNot(j->b, left, ""), "");
    LLVMBasicBlockRef on = only_if(j, is_some(j, lanes));
    LLVMValueRef args[] = {j->warp, lanes};
    jit_help(j, "jit_help_exit", type, args);
    LLVMBuildBr(j->b, on);
    jit_continue_in(j, on);
}

void jit_leave_apart(struct jit_gen *g, uint32_t to)
{
    struct jit *j = g->j;
    jit_continue_in(j, g->leave[to]);
    LLVMValueRef lanes = lanes_at(g, to);
    jit_save_group(g, to);
    tell_ended(g, lanes);
    if (!sync_of(j, to)) {
        LLVMBasicBlockRef turns = NULL;
        if (jit_is_turning(g, to)) {
            LLVMValueRef turned = LLVMBuildLoad2(j->b, i32_of(j), j->turned, "");
            turns = only_if(j, LLVMBuildICmp(j->b, LLVMIntEQ, turned, jit_i32(j, 0), ""));
        }
        LLVMBuildStore(j->b, lanes, j->standing);
        LLVMBuildBr(j->b, region_at(g, to)->start);
        if (!turns)
            return;
        jit_continue_in(j, turns);
    }
    come(g, to, lanes);
    LLVMBuildBr(j->b, j->choose);
}

void jit_end_apart(struct jit_gen *g)
{
    struct jit *j = g->j;
    LLVMValueRef left = jit_i32(j, 0);
    jit_continue_in(j, g->end);
    for (uint32_t e = 0; e < g->r->n_exits; e++) {
        uint32_t to = g->r->exits[e];
        LLVMValueRef lanes = lanes_at(g, to);
        left = LLVMBuildOr(j->b, left, lanes, "");
        LLVMBasicBlockRef on = only_if(j, is_some(j, lanes));
        jit_save_group(g, to);
        come(g, to, lanes);
        LLVMBuildBr(j->b, on);
        jit_continue_in(j, on);
    }
    tell_ended(g, left);
    LLVMBuildBr(j->b, j->choose);
}

/* ---- the start --------------------------------------------------------------------------------- */

LLVMValueRef jit_standing(struct jit_gen *g, unsigned copy)
{
    struct jit *j = g->j;
    if (j->starts_full && !g->plan->has_ended && !stands_beside(j, g->r->entry, g->plan->entries))
        return NULL;
    LLVMValueRef lanes = LLVMBuildLoad2(j->b, i32_of(j), j->standing, "");
    return jit_mask_from_bits(j, LLVMBuildLShr(j->b, lanes, jit_i32(j, copy * j->width), ""));
}

/* What threads brought to the barrier at which the region begins. */
static void load_votes(struct jit_gen *g)
{
    struct jit *j = g->j;
    if (!jit_is_reduction(pt_insn_form(j->m, first_of(j, g->r->entry))))
        return;
    for (unsigned i = 0; i < 2; i++) {
        size_t at = offsetof(struct jit_front, votes) + i * sizeof(uint32_t);
        LLVMBuildStore(j->b, jit_field(j, i32_of(j), j->front, at), j->reduced[i]);
    }
}

void jit_start_apart(struct jit_gen *g)
{
    struct jit *j = g->j;
    LLVMBuildStore(j->b, jit_i32(j, 0), j->turned);
    load_votes(g);
    j->group = jit_field(j, i32_of(j), j->warp, offsetof(struct pt_warp, index));
}

static LLVMValueRef call_next(struct jit *j, const struct jit_plan *plan)
{
    LLVMTypeRef pointer = LLVMPointerTypeInContext(j->context, 0);
    LLVMTypeRef types[] = {pointer, pointer, i32_of(j)};
    LLVMValueRef args[] = {j->warp, j->front, jit_i32(j, plan->n_regions)};
    return jit_help(j, "jit_help_next", LLVMFunctionType(i32_of(j), types, 3, false), args);
}

void jit_begin_apart(struct jit *j, const struct jit_plan *plan)
{
    LLVMTypeRef i64 = LLVMInt64TypeInContext(j->context);
    LLVMValueRef index = jit_field(j, i32_of(j), j->warp, offsetof(struct pt_warp, index));
    LLVMValueRef offset =
        LLVMBuildMul(j->b, LLVMBuildZExt(j->b, index, i64, ""), jit_i64(j, plan->front_bytes), "");
    j->front = jit_at(j, j->scratch, offset);
    j->standing = jit_alloca(j, i32_of(j), "standing");
    j->turned = jit_alloca(j, i32_of(j), "turned");
    j->choose = jit_new_block(j, "choose");
    LLVMBuildBr(j->b, j->choose);
    jit_continue_in(j, j->choose);
    LLVMValueRef next = call_next(j, plan);
    LLVMBuildStore(j->b, jit_field(j, i32_of(j), j->front, offsetof(struct jit_front, lanes)), j->standing);
    LLVMBasicBlockRef leave = jit_new_block(j, "leave");
    LLVMValueRef to = LLVMBuildSwitch(j->b, next, leave, plan->n_regions);
    for (uint32_t r = 0; r < plan->n_regions; r++)
        LLVMAddCase(to, jit_i32(j, r), plan->regions[r].start);
    jit_continue_in(j, leave);
    LLVMBuildRet(j->b, LLVMBuildSub(j->b, next, jit_i32(j, JIT_LEAVES), ""));
}
