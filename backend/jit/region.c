/* One region: a loop over the groups of a CTA. Inside, blocks in their order.
 *
 * Lanes of a group that part at a branch wait, by masks in variables, at the blocks they will run. After a block the
 * next place is the lowest block at which lanes may wait (jit_waits says where); it is skipped when its mask is empty. At
 * the end of a loop it goes round again if lanes wait at its header. A branch that the whole group takes alike is a
 * branch. Masks exist only for blocks that part of a group may run (j->partial).
 */
#include "backend/jit/region.h"

#include <string.h>

struct gen {
    struct jit *j;
    const struct jit_plan *plan;
    struct jit_region *r;
    LLVMValueRef first[JIT_COPIES];     /* lanes on at the start of the group, as a flow; NULL: all */
    LLVMValueRef (*masks)[JIT_COPIES];  /* allocas: lanes that wait at a block */
    LLVMBasicBlockRef *enter, *body;    /* by block: with the test for an empty mask, without */
    LLVMBasicBlockRef *latch;           /* by loop */
    LLVMBasicBlockRef *leave;           /* by block: exit to it */
    LLVMBasicBlockRef end, done;
    LLVMValueRef next;                  /* alloca: number of the exit taken */
    LLVMValueRef cur[JIT_COPIES];       /* lanes that run the block, as a flow; NULL: all */
};

LLVMBasicBlockRef jit_new_block(struct jit *j, const char *name)
{
    return LLVMAppendBasicBlockInContext(j->context, j->function, name);
}

void jit_continue_in(struct jit *j, LLVMBasicBlockRef block)
{
    LLVMPositionBuilderAtEnd(j->b, block);
}

/* Inside the region, and not where a region begins: an edge to there leaves, be it the region's own entry. */
static bool is_in(const struct gen *g, uint32_t block)
{
    return jit_set_has(g->r->set, block) && !jit_set_has(g->plan->entries, block);
}

/* Masks are kept for blocks that part of the group may run, and for exits. */
static bool has_mask(const struct gen *g, uint32_t block)
{
    return is_in(g, block) ? jit_set_has(g->j->partial, block) : true;
}

/* ---- where control goes ---------------------------------------------------------------------- */

/* Lanes may wait at `block` after block `from` ran, which has just sent lanes to a and b (or UINT32_MAX). */
struct pending {
    const uint64_t *waits;
    uint32_t a, b;
};

static bool is_pending(const struct pending *p, uint32_t block)
{
    return block == p->a || block == p->b || jit_set_has(p->waits, block);
}

/* The loops around a position, innermost first. */
static uint32_t loop_of(const struct gen *g, uint32_t block)
{
    return g->j->f->blocks.v[block].loop;
}

/* Continues at the first place after `from` (inside loop `l`, or PT_NONE) where lanes may wait. */
static void go_on_from(struct gen *g, uint32_t from, uint32_t l, const struct pending *p)
{
    const struct pt_func *f = g->j->f;
    for (uint32_t i = 0; i < g->r->n_blocks; i++) {
        uint32_t x = g->r->blocks[i];
        if (x <= from || !is_in(g, x))
            continue;
        for (; l && f->loops.v[l - 1].end <= x; l = f->loops.v[l - 1].parent) {
            if (is_in(g, f->loops.v[l - 1].header) && is_pending(p, f->loops.v[l - 1].header)) {
                LLVMBuildBr(g->j->b, g->latch[l - 1]);
                return;
            }
        }
        if (is_pending(p, x)) {
            LLVMBuildBr(g->j->b, g->enter[x]);
            return;
        }
    }
    for (; l; l = f->loops.v[l - 1].parent) {
        if (is_in(g, f->loops.v[l - 1].header) && is_pending(p, f->loops.v[l - 1].header)) {
            LLVMBuildBr(g->j->b, g->latch[l - 1]);
            return;
        }
    }
    LLVMBuildBr(g->j->b, g->end);
}

static void go_on(struct gen *g, uint32_t from, uint32_t a, uint32_t b)
{
    struct pending p = {jit_waits(g->j, from), a, b};
    go_on_from(g, from, loop_of(g, from), &p);
}

/* True if other lanes may wait at a place that comes before `to` when block `from` has run. */
static bool others_first(struct gen *g, uint32_t from, uint32_t to)
{
    const struct pt_func *f = g->j->f;
    const uint64_t *waits = jit_waits(g->j, from);
    bool is_back = is_in(g, to) && to <= from;
    uint32_t until = !is_in(g, to) ? UINT32_MAX : to;
    uint32_t stop = PT_NONE; /* the loop whose header `to` is */
    if (is_back) {
        for (stop = loop_of(g, from); stop && f->loops.v[stop - 1].header != to;)
            stop = f->loops.v[stop - 1].parent;
        until = stop ? f->loops.v[stop - 1].end : UINT32_MAX;
    }
    for (uint32_t i = 0; i < g->r->n_blocks; i++) {
        uint32_t x = g->r->blocks[i];
        if (is_in(g, x) && x > from && x < until && jit_set_has(waits, x))
            return true;
    }
    for (uint32_t l = loop_of(g, from); l && l != stop; l = f->loops.v[l - 1].parent)
        if (is_in(g, f->loops.v[l - 1].header) && f->loops.v[l - 1].end <= until &&
            jit_set_has(waits, f->loops.v[l - 1].header))
            return true;
    return false;
}

/* Lanes of `mask` (NULL: all) go to `to`. */
static void send(struct gen *g, uint32_t from, uint32_t to, LLVMValueRef *mask)
{
    struct jit *j = g->j;
    if (!has_mask(g, to))
        return;
    bool joins = jit_set_has(jit_waits(j, from), to);
    for (unsigned u = 0; u < j->copies; u++) {
        LLVMValueRef lanes = mask[u] ? mask[u] : LLVMConstAllOnes(jit_flow_type(j));
        if (joins && mask[u])
            lanes = LLVMBuildOr(j->b, jit_flow_load(j, g->masks[to][u]), lanes, "");
        LLVMBuildStore(j->b, lanes, g->masks[to][u]);
    }
}

/* Every now and then on back edges: is the launch to stop? `insn` is the place that is told then. */
static void poll(struct jit *j, uint32_t insn)
{
    LLVMTypeRef i32 = LLVMInt32TypeInContext(j->context);
    LLVMBasicBlockRef look = jit_new_block(j, "look"), on = jit_new_block(j, "");
    LLVMBasicBlockRef stopped = jit_new_block(j, "stopped");
    LLVMValueRef left = LLVMBuildLoad2(j->b, i32, j->budget, "");
    left = LLVMBuildSub(j->b, left, jit_i32(j, 1), "");
    LLVMBuildStore(j->b, left, j->budget);
    LLVMBuildCondBr(j->b, LLVMBuildICmp(j->b, LLVMIntEQ, left, jit_i32(j, 0), ""), look, on);
    jit_continue_in(j, look);
    LLVMBuildStore(j->b, jit_i32(j, JIT_BUDGET), j->budget);
    LLVMValueRef stop = jit_field(j, i32, j->launch, offsetof(struct pt_launch, stop));
    LLVMSetVolatile(stop, true);
    LLVMBuildCondBr(j->b, LLVMBuildICmp(j->b, LLVMIntNE, stop, jit_i32(j, 0), ""), stopped, on);
    jit_continue_in(j, stopped);
    j->insn = &j->f->insns.v[insn];
    jit_stop(j);
    jit_continue_in(j, on);
}

static uint32_t last_of(const struct jit *j, uint32_t block)
{
    return j->f->blocks.v[block].first + j->f->blocks.v[block].count - 1;
}

/* All lanes that run block `from` go to `to`. */
static void go_to(struct gen *g, uint32_t from, uint32_t to)
{
    if (is_in(g, to) && to <= from)
        poll(g->j, last_of(g->j, from));
    send(g, from, to, g->cur);
    if (others_first(g, from, to))
        go_on(g, from, to, UINT32_MAX);
    else
        LLVMBuildBr(g->j->b, is_in(g, to) ? g->body[to] : g->leave[to]);
}

/* ---- ends of blocks -------------------------------------------------------------------------- */

static uint32_t target_of(const struct jit *j, const struct pt_insn *insn)
{
    return j->f->operands.v[insn->operands].index;
}

/* The guard as a mask of one chunk, or as one value. */
static LLVMValueRef read_guard(struct jit *j, const struct pt_insn *insn, unsigned copy,
                               unsigned lanes)
{
    struct pt_operand o = {.kind = PT_OPND_REG,
                           .index = insn->guard,
                           .flags = insn->guard_neg ? PT_OPND_NEG : 0};
    return jit_read(j, &o, copy, PT_pred, lanes, true);
}

static void part(struct gen *g, uint32_t from, const struct pt_insn *insn, uint32_t taken,
                 uint32_t next)
{
    struct jit *j = g->j;
    LLVMValueRef yes[JIT_COPIES], no[JIT_COPIES];
    for (unsigned u = 0; u < j->copies; u++) {
        LLVMValueRef p = jit_flow_of(j, read_guard(j, insn, u, j->width));
        LLVMValueRef not = LLVMBuildNot(j->b, p, "");
        yes[u] = g->cur[u] ? LLVMBuildAnd(j->b, g->cur[u], p, "") : p;
        no[u] = g->cur[u] ? LLVMBuildAnd(j->b, g->cur[u], not, "") : not;
    }
    bool is_back = (taken != UINT32_MAX && is_in(g, taken) && taken <= from) ||
                   (is_in(g, next) && next <= from);
    if (is_back)
        poll(j, last_of(j, from));
    if (taken != UINT32_MAX)
        send(g, from, taken, yes);
    send(g, from, next, no);
    go_on(g, from, taken, next);
}

static void choose(struct gen *g, uint32_t from, const struct pt_insn *insn, uint32_t taken,
                   uint32_t next)
{
    struct jit *j = g->j;
    LLVMBasicBlockRef yes = jit_new_block(j, ""), no = jit_new_block(j, "");
    LLVMBuildCondBr(j->b, read_guard(j, insn, 0, 1), yes, no);
    jit_continue_in(j, yes);
    if (taken == UINT32_MAX)
        go_on(g, from, UINT32_MAX, UINT32_MAX);
    else
        go_to(g, from, taken);
    jit_continue_in(j, no);
    go_to(g, from, next);
}

/* Fails if a lane runs the instruction whose guard holds; goes on behind it. */
static void fail_where(struct gen *g, const struct pt_insn *insn, enum pt_fault_kind kind,
                       LLVMValueRef bad)
{
    struct jit *j = g->j;
    LLVMBasicBlockRef fail = jit_new_block(j, "fail"), on = jit_new_block(j, "");
    LLVMBuildCondBr(j->b, bad, fail, on);
    jit_continue_in(j, fail);
    j->insn = insn;
    jit_fail(j, kind);
    jit_continue_in(j, on);
}

/* Lanes of a copy that run the last instruction: those of the block for which its guard holds. */
static LLVMValueRef running(struct gen *g, const struct pt_insn *insn, unsigned copy)
{
    struct jit *j = g->j;
    LLVMValueRef lanes = g->cur[copy] ? jit_flow_mask(j, g->cur[copy]) : jit_mask_all(j);
    return insn->guard ? LLVMBuildAnd(j->b, lanes, read_guard(j, insn, copy, j->width), "") : lanes;
}

/* Ends the launch as soon as a lane runs it. */
static void end_in_trap(struct gen *g, uint32_t block, const struct pt_insn *insn)
{
    struct jit *j = g->j;
    if (!insn->guard) {
        j->insn = insn;
        jit_fail(j, PT_FAULT_TRAP);
        return;
    }
    LLVMValueRef any = jit_any(j, running(g, insn, 0));
    for (unsigned u = 1; u < j->copies; u++)
        any = LLVMBuildOr(j->b, any, jit_any(j, running(g, insn, u)), "");
    fail_where(g, insn, PT_FAULT_TRAP, any);
    go_to(g, block, j->f->blocks.v[block].next);
}

/* ---- branches by a table --------------------------------------------------------------------- */

static const struct pt_table *table_of(const struct jit *j, const struct pt_insn *insn)
{
    return &j->f->tables.v[j->f->operands.v[insn->operands + 1].index];
}

static void choose_by_table(struct gen *g, uint32_t from, const struct pt_insn *insn)
{
    struct jit *j = g->j;
    const struct pt_table *table = table_of(j, insn);
    LLVMValueRef index = jit_read(j, &j->f->operands.v[insn->operands], 0, PT_u32, 1, true);
    LLVMValueRef n = jit_i32(j, table->targets.n);
    fail_where(g, insn, PT_FAULT_ILLEGAL_INSTRUCTION,
               LLVMBuildICmp(j->b, LLVMIntUGE, index, n, ""));
    LLVMBasicBlockRef never = jit_new_block(j, "");
    LLVMValueRef to = LLVMBuildSwitch(j->b, index, never, table->targets.n);
    jit_continue_in(j, never);
    LLVMBuildUnreachable(j->b);
    for (uint32_t i = 0; i < table->targets.n; i++) {
        LLVMBasicBlockRef leave = jit_new_block(j, "");
        LLVMAddCase(to, jit_i32(j, i), leave);
        jit_continue_in(j, leave);
        go_to(g, from, table->targets.v[i]);
    }
}

/* Lanes whose index leads to the block; `lanes` are those that branch. */
static LLVMValueRef lanes_to(struct jit *j, const struct pt_insn *insn, unsigned copy,
                             uint32_t block, LLVMValueRef lanes)
{
    const struct pt_table *table = table_of(j, insn);
    LLVMValueRef index =
        jit_read(j, &j->f->operands.v[insn->operands], copy, PT_u32, j->width, true);
    LLVMValueRef some = LLVMConstNull(LLVMTypeOf(lanes));
    for (uint32_t i = 0; i < table->targets.n; i++) {
        if (table->targets.v[i] != block)
            continue;
        LLVMValueRef number = jit_const(LLVMTypeOf(index), i);
        LLVMValueRef here = LLVMBuildICmp(j->b, LLVMIntEQ, index, number, "");
        some = LLVMBuildOr(j->b, some, here, "");
    }
    return LLVMBuildAnd(j->b, some, lanes, "");
}

static void check_table(struct gen *g, const struct pt_insn *insn, LLVMValueRef *lanes)
{
    struct jit *j = g->j;
    LLVMValueRef any = NULL;
    for (unsigned u = 0; u < j->copies; u++) {
        LLVMValueRef index =
            jit_read(j, &j->f->operands.v[insn->operands], u, PT_u32, j->width, true);
        LLVMValueRef n = jit_const(LLVMTypeOf(index), table_of(j, insn)->targets.n);
        LLVMValueRef bad = LLVMBuildICmp(j->b, LLVMIntUGE, index, n, "");
        bad = jit_any(j, LLVMBuildAnd(j->b, bad, lanes[u], ""));
        any = any ? LLVMBuildOr(j->b, any, bad, "") : bad;
    }
    fail_where(g, insn, PT_FAULT_ILLEGAL_INSTRUCTION, any);
}

static void part_by_table(struct gen *g, uint32_t from, const struct pt_insn *insn)
{
    struct jit *j = g->j;
    const struct pt_block *block = &j->f->blocks.v[from];
    LLVMValueRef lanes[JIT_COPIES], some[JIT_COPIES];
    uint64_t *waits = pt_arena_alloc(j->arena, j->vary->words * sizeof *waits);
    memcpy(waits, jit_waits(j, from), j->vary->words * sizeof *waits);
    for (unsigned u = 0; u < j->copies; u++)
        lanes[u] = running(g, insn, u);
    check_table(g, insn, lanes);
    poll(j, last_of(j, from));
    for (uint32_t e = 0; e < block->n_succ; e++) {
        uint32_t to = j->f->edges.v[block->succ + e];
        jit_set_add(waits, to);
        for (unsigned u = 0; u < j->copies; u++) {
            some[u] = lanes_to(j, insn, u, to, lanes[u]);
            if (insn->guard && to == block->next) {
                LLVMValueRef here = g->cur[u] ? jit_flow_mask(j, g->cur[u]) : jit_mask_all(j);
                here = LLVMBuildAnd(j->b, here, LLVMBuildNot(j->b, lanes[u], ""), "");
                some[u] = LLVMBuildOr(j->b, some[u], here, "");
            }
            some[u] = jit_flow_of(j, some[u]);
        }
        send(g, from, to, some);
    }
    struct pending p = {waits, UINT32_MAX, UINT32_MAX};
    go_on_from(g, from, loop_of(g, from), &p);
}

static bool end_block(struct gen *g, uint32_t block)
{
    struct jit *j = g->j;
    const struct pt_block *b = &j->f->blocks.v[block];
    const struct pt_insn *insn = &j->f->insns.v[last_of(j, block)];
    const struct pt_form *form = pt_insn_form(j->m, insn);
    if (!(form->effects & (PT_FX_BRANCH | PT_FX_END))) {
        go_to(g, block, b->next);
        return true;
    }
    uint32_t taken = UINT32_MAX;
    if (form->op == PT_OP_bra) {
        taken = target_of(j, insn);
    } else if (form->op == PT_OP_trap) {
        end_in_trap(g, block, insn);
        return true;
    } else if (form->op == PT_OP_brx_idx) {
        if (insn->guard || j->vary->branch[block] > PT_LEVEL_GROUP)
            part_by_table(g, block, insn);
        else
            choose_by_table(g, block, insn);
        return true;
    } else if (form->op != PT_OP_ret && form->op != PT_OP_exit) {
        j->why = form->spelling;
        return false;
    }
    if (insn->guard && taken != b->next) {
        if (j->vary->branch[block] <= PT_LEVEL_GROUP)
            choose(g, block, insn, taken, b->next);
        else
            part(g, block, insn, taken, b->next);
    } else if (taken != UINT32_MAX) {
        go_to(g, block, taken);
    } else {
        go_on(g, block, UINT32_MAX, UINT32_MAX);
    }
    return true;
}

/* ---- blocks ---------------------------------------------------------------------------------- */

/* Lanes of some copy wait at the block. */
static LLVMValueRef has_waiting(struct gen *g, uint32_t block)
{
    struct jit *j = g->j;
    LLVMValueRef any = NULL;
    for (unsigned u = 0; u < j->copies; u++) {
        LLVMValueRef lanes = jit_flow_load(j, g->masks[block][u]);
        any = any ? LLVMBuildOr(j->b, any, lanes, "") : lanes;
    }
    return jit_any(j, jit_flow_mask(j, any));
}

static void enter_block(struct gen *g, uint32_t block)
{
    struct jit *j = g->j;
    jit_continue_in(j, g->enter[block]);
    if (block == g->r->entry || !has_mask(g, block)) {
        LLVMBuildBr(j->b, g->body[block]);
        return;
    }
    LLVMBasicBlockRef skip = jit_new_block(j, "skip");
    LLVMBuildCondBr(j->b, has_waiting(g, block), g->body[block], skip);
    jit_continue_in(j, skip);
    go_on(g, block, UINT32_MAX, UINT32_MAX);
}

/* The instructions of a block in the order they run: first those that compute addresses and other values of the whole
 * chunk from what is there at its start, so that accesses can be tested together; then the rest. */
struct order {
    uint32_t *insns, n, n_early;
};

struct uses {
    uint64_t *read, *written; /* by what stays behind */
    bool is_early;            /* no such register is in the way */
    bool collects;
    const struct jit *j;
};

static void see_use(void *ud, uint32_t reg, bool is_def)
{
    struct uses *u = ud;
    if (u->collects && !is_def)
        jit_add_roots(u->j, reg, u->read);
    if (u->collects)
        jit_set_add(is_def ? u->written : u->read, reg);
    else if (jit_set_has(u->written, reg) || (is_def && jit_set_has(u->read, reg)))
        u->is_early = false;
    else if (is_def && u->j->regs[reg].shape == JIT_VECTOR)
        u->is_early = false;
}

static bool is_pure(const struct jit *j, const struct pt_insn *insn)
{
    return !insn->guard && !(pt_insn_form(j->m, insn)->effects & ~(uint32_t)PT_FX_FP);
}

static struct order find_order(struct jit *j, uint32_t block)
{
    const struct pt_block *b = &j->f->blocks.v[block];
    size_t words = (j->f->regs.n + 63) / 64;
    struct order o = {.insns = pt_arena_alloc(j->arena, b->count * sizeof(uint32_t))};
    struct uses u = {.j = j};
    u.read = pt_arena_alloc(j->arena, words * sizeof(uint64_t));
    u.written = pt_arena_alloc(j->arena, words * sizeof(uint64_t));
    uint8_t *early = pt_arena_alloc(j->arena, b->count);
    for (uint32_t i = 0; i < b->count; i++) {
        const struct pt_insn *insn = &j->f->insns.v[b->first + i];
        u.is_early = is_pure(j, insn);
        u.collects = false;
        pt_insn_regs(j->m, j->f, insn, see_use, &u);
        early[i] = u.is_early;
        u.collects = true;
        if (!early[i])
            pt_insn_regs(j->m, j->f, insn, see_use, &u);
    }
    for (int late = 0; late < 2; late++)
        for (uint32_t i = 0; i < b->count; i++) {
            if (early[i] == !late)
                o.insns[o.n++] = b->first + i;
            o.n_early += !late && early[i];
        }
    jit_batch_order(j, o.insns + o.n_early, o.n - o.n_early);
    return o;
}

static void note_write(void *ud, uint32_t reg, bool is_def)
{
    if (is_def)
        jit_set_add(ud, reg);
}

/* Tests all accesses that can be tested at once; j->trusted will hold them. NULL if there are none. */
static LLVMValueRef test_accesses(struct jit *j, const struct order *o)
{
    LLVMValueRef all = NULL;
    uint64_t *written = pt_arena_alloc(j->arena, (j->f->regs.n + 63) / 64 * sizeof *written);
    j->trusted = pt_arena_alloc(j->arena, (j->f->insns.n + 63) / 64 * sizeof *j->trusted);
    for (uint32_t i = o->n_early; i < o->n; i++) {
        LLVMValueRef test = NULL;
        j->insn = &j->f->insns.v[o->insns[i]];
        j->form = pt_insn_form(j->m, j->insn);
        if (jit_test_access(j, written, &test))
            jit_set_add(j->trusted, o->insns[i]);
        if (test)
            all = all ? LLVMBuildAnd(j->b, all, test, "") : test;
        pt_insn_regs(j->m, j->f, j->insn, note_write, written);
    }
    return all;
}

static bool touches_memory(const struct jit *j, const struct order *o)
{
    for (uint32_t i = 0; i < o->n; i++)
        if (pt_insn_form(j->m, &j->f->insns.v[o->insns[i]])->effects & (PT_FX_READ | PT_FX_WRITE))
            return true;
    return false;
}

/* A block that touches memory comes in up to three versions: plain accesses where all lanes are on and the tests of addresses
 * hold; masked ones where the tests hold; and one for everything else. */
static bool run_block(struct gen *g, uint32_t block)
{
    struct jit *j = g->j;
    LLVMValueRef masks[JIT_COPIES] = {0}, none[JIT_COPIES] = {0}, all = NULL;
    for (unsigned u = 0; u < j->copies; u++) {
        if (!g->cur[u])
            continue;
        masks[u] = jit_flow_mask(j, g->cur[u]);
        all = all ? LLVMBuildAnd(j->b, all, g->cur[u], "") : g->cur[u];
    }
    struct order o = find_order(j, block);
    j->trusted = NULL;
    if (!touches_memory(j, &o))
        return jit_run(j, o.insns, o.n, masks);
    if (!jit_run(j, o.insns, o.n_early, masks))
        return false;
    uint32_t *late = o.insns + o.n_early, n_late = o.n - o.n_early;
    LLVMValueRef good = test_accesses(j, &o);
    if (!all && !good)
        return jit_run(j, late, n_late, masks);
    LLVMBasicBlockRef after = jit_new_block(j, "after");
    uint64_t *trusted = j->trusted;
    if (good) { /* the tests hold, or each access makes its own */
        LLVMBasicBlockRef slow = jit_new_block(j, "slow"), tested = jit_new_block(j, "tested");
        LLVMBuildCondBr(j->b, good, tested, slow);
        jit_continue_in(j, slow);
        j->trusted = NULL;
        if (!jit_run(j, late, n_late, masks))
            return false;
        LLVMBuildBr(j->b, after);
        jit_continue_in(j, tested);
        j->trusted = trusted;
    }
    if (all) { /* all lanes are on, or some */
        LLVMBasicBlockRef some = jit_new_block(j, "some"), full = jit_new_block(j, "full");
        LLVMBuildCondBr(j->b, jit_all(j, jit_flow_mask(j, all)), full, some);
        jit_continue_in(j, some);
        if (!jit_run(j, late, n_late, masks))
            return false;
        LLVMBuildBr(j->b, after);
        jit_continue_in(j, full);
    }
    bool ok = jit_run(j, late, n_late, none);
    LLVMBuildBr(j->b, after);
    jit_continue_in(j, after);
    j->trusted = NULL;
    return ok;
}

static bool generate_block(struct gen *g, uint32_t block)
{
    struct jit *j = g->j;
    enter_block(g, block);
    jit_continue_in(j, g->body[block]);
    j->block = block;
    for (unsigned u = 0; u < j->copies; u++) {
        g->cur[u] = g->first[u];
        if (block != g->r->entry && has_mask(g, block)) {
            g->cur[u] = jit_flow_load(j, g->masks[block][u]);
            LLVMBuildStore(j->b, LLVMConstNull(jit_flow_type(j)), g->masks[block][u]);
        }
    }
    return run_block(g, block) && end_block(g, block);
}

/* The end of a loop: round again if lanes wait at its header. */
static void generate_latch(struct gen *g, uint32_t l)
{
    struct jit *j = g->j;
    const struct pt_loop *loop = &j->f->loops.v[l];
    jit_continue_in(j, g->latch[l]);
    if (!has_mask(g, loop->header)) {
        LLVMBuildBr(j->b, g->body[loop->header]);
        return;
    }
    LLVMBasicBlockRef out = jit_new_block(j, "");
    LLVMBuildCondBr(j->b, has_waiting(g, loop->header), g->body[loop->header], out);
    jit_continue_in(j, out);
    uint64_t *waits = pt_arena_alloc(j->arena, j->vary->words * sizeof *waits);
    for (uint32_t b = loop->header; b < loop->end; b++) {
        if (!is_in(g, b))
            continue;
        for (uint32_t w = 0; w < j->vary->words; w++)
            waits[w] |= jit_waits(j, b)[w];
        for (uint32_t e = 0; e < j->f->blocks.v[b].n_succ; e++)
            jit_set_add(waits, j->f->edges.v[j->f->blocks.v[b].succ + e]);
    }
    struct pending p = {waits, UINT32_MAX, UINT32_MAX};
    go_on_from(g, loop->end - 1, loop->parent, &p);
}

/* ---- between regions ------------------------------------------------------------------------- */

static LLVMValueRef scratch_of(struct jit *j, const struct jit_reg *r, uint32_t at)
{
    LLVMTypeRef i64 = LLVMInt64TypeInContext(j->context);
    LLVMValueRef group = LLVMBuildZExt(j->b, j->group, i64, "");
    LLVMValueRef offset = LLVMBuildMul(j->b, group, jit_i64(j, r->scratch_bytes), "");
    return jit_at(j, j->scratch,
                  LLVMBuildAdd(j->b, offset, jit_i64(j, (uint64_t)r->scratch + at), ""));
}

static LLVMValueRef to_bits(struct jit *j, LLVMValueRef mask)
{
    LLVMValueRef bits =
        LLVMBuildBitCast(j->b, mask, LLVMIntTypeInContext(j->context, j->width), "");
    return LLVMBuildZExtOrBitCast(j->b, bits, LLVMInt32TypeInContext(j->context), "");
}

static LLVMValueRef from_bits(struct jit *j, LLVMValueRef bits)
{
    bits = LLVMBuildTruncOrBitCast(j->b, bits, LLVMIntTypeInContext(j->context, j->width), "");
    return LLVMBuildBitCast(j->b, bits, jit_int_type(j, 1, j->width), "");
}

static LLVMValueRef load_unaligned(struct jit *j, LLVMTypeRef type, LLVMValueRef at)
{
    LLVMValueRef value = LLVMBuildLoad2(j->b, type, at, "");
    LLVMSetAlignment(value, 4);
    return value;
}

static void store_unaligned(struct jit *j, LLVMValueRef value, LLVMValueRef at)
{
    LLVMSetAlignment(LLVMBuildStore(j->b, value, at), 4);
}

/* Copies of a register that go through memory one by one. */
static unsigned crossing_copies(const struct jit *j, const struct jit_reg *r)
{
    return r->is_per_copy || r->wide[0] ? j->copies : 1;
}

static uint32_t crossing_bytes(const struct jit *j, const struct jit_reg *r)
{
    return (r->scratch_bytes - (r->wide[0] ? 4 * j->copies : 0)) / crossing_copies(j, r);
}

/* One copy of a register between its variable and its place in memory. */
static void load_crossing(struct jit *j, const struct jit_reg *r, unsigned u)
{
    LLVMTypeRef i32 = LLVMInt32TypeInContext(j->context);
    bool is_bit = r->type == LLVMInt1TypeInContext(j->context);
    uint32_t bytes = crossing_bytes(j, r);
    LLVMValueRef at = scratch_of(j, r, u * bytes);
    if (is_bit && r->shape == JIT_VECTOR) {
        jit_mask_store(j, r->slot[u], from_bits(j, load_unaligned(j, i32, at)));
    } else if (is_bit) {
        LLVMValueRef bit = LLVMBuildTrunc(j->b, load_unaligned(j, i32, at), r->type, "");
        LLVMBuildStore(j->b, bit, r->slot[u]);
    } else if (r->shape == JIT_VECTOR) {
        LLVMTypeRef type = LLVMVectorType(r->type, j->width);
        LLVMBuildStore(j->b, load_unaligned(j, type, at), r->slot[u]);
    } else if (r->wide[u]) {
        LLVMValueRef wide = load_unaligned(j, LLVMVectorType(r->type, j->width), at);
        LLVMBuildStore(j->b, wide, r->wide[u]);
        if (!r->slot[u])
            return;
        LLVMBuildStore(j->b, jit_lane(j, wide, 0), r->slot[u]);
        LLVMValueRef fits = load_unaligned(j, i32, scratch_of(j, r, bytes * j->copies + 4 * u));
        LLVMBuildStore(j->b,
                       LLVMBuildTrunc(j->b, fits, LLVMInt1TypeInContext(j->context), ""),
                       r->fits[u]);
    } else {
        LLVMBuildStore(j->b, load_unaligned(j, r->type, at), r->slot[u]);
    }
}

static void store_crossing(struct jit *j, const struct jit_reg *r, unsigned u)
{
    LLVMTypeRef i32 = LLVMInt32TypeInContext(j->context);
    bool is_bit = r->type == LLVMInt1TypeInContext(j->context);
    uint32_t bytes = crossing_bytes(j, r);
    LLVMValueRef at = scratch_of(j, r, u * bytes);
    if (is_bit && r->shape == JIT_VECTOR) {
        store_unaligned(j, to_bits(j, jit_mask_load(j, r->slot[u])), at);
        return;
    }
    if (r->shape == JIT_VECTOR || r->wide[u]) {
        LLVMTypeRef type = LLVMVectorType(r->type, j->width);
        LLVMValueRef from = r->wide[u] ? r->wide[u] : r->slot[u];
        store_unaligned(j, LLVMBuildLoad2(j->b, type, from, ""), at);
        if (r->fits[u]) {
            LLVMValueRef fits =
                LLVMBuildLoad2(j->b, LLVMInt1TypeInContext(j->context), r->fits[u], "");
            store_unaligned(j, LLVMBuildZExt(j->b, fits, i32, ""),
                            scratch_of(j, r, bytes * j->copies + 4 * u));
        }
        return;
    }
    LLVMValueRef value = LLVMBuildLoad2(j->b, r->type, r->slot[u], "");
    store_unaligned(j, is_bit ? LLVMBuildZExt(j->b, value, i32, "") : value, at);
}

static const uint64_t *live_into(const struct jit *j, uint32_t block)
{
    return j->live_in + block * (size_t)((j->f->regs.n + 63) / 64);
}

/* Zeros where a lane's old value could be asked for though nothing wrote it yet. */
static void clear_reg(struct jit *j, const struct jit_reg *r)
{
    for (unsigned u = 0; u < (r->is_per_copy ? j->copies : 1); u++)
        LLVMBuildStore(j->b, LLVMConstNull(LLVMGetAllocatedType(r->slot[u])), r->slot[u]);
}

static bool load_registers(struct gen *g)
{
    struct jit *j = g->j;
    const uint64_t *in = live_into(j, g->r->entry);
    uint64_t *done = pt_arena_alloc(j->arena, (j->f->regs.n + 63) / 64 * sizeof *done);
    clear_reg(j, &j->regs[j->f->regs.n]);
    for (uint32_t i = 1; i < j->f->regs.n; i++) {
        const struct jit_reg *r = &j->regs[i];
        if (r->is_remade) {
            continue;
        } else if (!jit_set_has(in, i) || !r->crosses) {
            if (j->f->regs.v[i].n_defs > 1)
                clear_reg(j, r);
        } else if (r->kept) {
            LLVMBuildStore(j->b, LLVMBuildLoad2(j->b, r->type, r->kept, ""), r->slot[0]);
        } else {
            for (unsigned u = 0; u < crossing_copies(j, r); u++)
                load_crossing(j, r, u);
        }
    }
    for (uint32_t i = 1; i < j->f->regs.n; i++)
        if (g->r->entry && jit_set_has(in, i) && j->regs[i].is_remade && !jit_remake(j, i, done))
            return false;
    return true;
}

static void note_def(void *ud, uint32_t reg, bool is_def)
{
    if (is_def)
        jit_set_add(ud, reg);
}

/* Registers that the region may write. */
static uint64_t *find_written(struct gen *g)
{
    struct jit *j = g->j;
    uint64_t *set = pt_arena_alloc(j->arena, (j->f->regs.n + 63) / 64 * sizeof *set);
    for (uint32_t i = 0; i < g->r->n_blocks; i++) {
        const struct pt_block *b = &j->f->blocks.v[g->r->blocks[i]];
        for (uint32_t k = b->first; k < b->first + b->count; k++)
            pt_insn_regs(j->m, j->f, &j->f->insns.v[k], note_def, set);
    }
    return set;
}

static LLVMValueRef alive_at(struct gen *g, unsigned u)
{
    struct jit *j = g->j;
    LLVMValueRef offset = LLVMBuildMul(j->b, j->group, jit_i32(j, 4 * j->copies), "");
    offset = LLVMBuildAdd(j->b, offset, jit_i32(j, g->plan->alive + 4 * u), "");
    return jit_at(j, j->scratch,
                  LLVMBuildZExt(j->b, offset, LLVMInt64TypeInContext(j->context), ""));
}

/* bar.red where the next region begins: lanes arrive with their predicates. */
static void arrive(struct gen *g, uint32_t to)
{
    struct jit *j = g->j;
    LLVMTypeRef i32 = LLVMInt32TypeInContext(j->context);
    const struct pt_insn *insn = &j->f->insns.v[j->f->blocks.v[to].first];
    if (!jit_is_reduction(pt_insn_form(j->m, insn)))
        return;
    const struct pt_operand *p = &j->f->operands.v[insn->operands + insn->n_operands - 1];
    for (unsigned u = 0; u < j->copies; u++) {
        LLVMValueRef here = jit_mask_load(j, g->masks[to][u]);
        LLVMValueRef lanes[] = {
            LLVMBuildAnd(j->b, here, jit_read(j, p, u, PT_pred, j->width, true), ""), here};
        for (unsigned i = 0; i < 2; i++) {
            LLVMValueRef bits = to_bits(j, lanes[i]);
            LLVMValueRef n = jit_intrinsic(j, "llvm.ctpop", i32, &bits, 1);
            n = LLVMBuildAdd(j->b, LLVMBuildLoad2(j->b, i32, j->arrived[i], ""), n, "");
            LLVMBuildStore(j->b, n, j->arrived[i]);
        }
    }
}

/* Everybody has arrived, nobody at the next one. */
static void complete_reduction(struct jit *j)
{
    LLVMTypeRef i32 = LLVMInt32TypeInContext(j->context);
    for (unsigned i = 0; i < 2; i++) {
        LLVMBuildStore(j->b, LLVMBuildLoad2(j->b, i32, j->arrived[i], ""), j->reduced[i]);
        LLVMBuildStore(j->b, jit_i32(j, 0), j->arrived[i]);
    }
}

/* The group leaves by exit number `e`. */
static void generate_exit(struct gen *g, uint32_t e, const uint64_t *written)
{
    struct jit *j = g->j;
    uint32_t to = g->r->exits[e];
    const uint64_t *in = live_into(j, to);
    jit_continue_in(j, g->leave[to]);
    for (uint32_t i = 1; i < j->f->regs.n; i++) {
        const struct jit_reg *r = &j->regs[i];
        if (!r->crosses || r->is_remade || !jit_set_has(in, i) || !jit_set_has(written, i))
            continue;
        if (r->kept)
            LLVMBuildStore(j->b, LLVMBuildLoad2(j->b, r->type, r->slot[0], ""), r->next);
        for (unsigned u = 0; !r->kept && u < crossing_copies(j, r); u++)
            store_crossing(j, r, u);
    }
    arrive(g, to);
    for (unsigned u = 0; g->plan->keeps_alive && u < j->copies; u++)
        store_unaligned(j, to_bits(j, jit_mask_load(j, g->masks[to][u])), alive_at(g, u));
    LLVMBuildStore(j->b, jit_i32(j, e), g->next);
    LLVMBuildBr(j->b, g->done);
}

/* No lane is left inside: to the exit where they wait, if any. */
static void generate_end(struct gen *g)
{
    struct jit *j = g->j;
    jit_continue_in(j, g->end);
    for (uint32_t e = 0; e < g->r->n_exits; e++) {
        uint32_t to = g->r->exits[e];
        LLVMBasicBlockRef other = jit_new_block(j, "");
        LLVMBuildCondBr(j->b, has_waiting(g, to), g->leave[to], other);
        jit_continue_in(j, other);
    }
    LLVMBuildBr(j->b, g->done);
}

/* ---- the loop over groups -------------------------------------------------------------------- */

/* Threads of the CTA. */
static LLVMValueRef threads_of(struct jit *j)
{
    const uint32_t *block = j->vary->shape.block;
    if (block[0])
        return jit_i32(j, block[0] * block[1] * block[2]);
    return jit_field(j, LLVMInt32TypeInContext(j->context), j->launch,
                     offsetof(struct pt_launch, threads));
}

static LLVMValueRef groups_of(struct jit *j)
{
    uint32_t group = j->width * j->copies;
    LLVMValueRef up = LLVMBuildAdd(j->b, threads_of(j), jit_i32(j, group - 1), "");
    return LLVMBuildUDiv(j->b, up, jit_i32(j, group), "");
}

/* Lanes on at the start of the group. */
static void find_first(struct gen *g)
{
    struct jit *j = g->j;
    LLVMTypeRef i32 = LLVMInt32TypeInContext(j->context);
    bool has_ended = g->plan->keeps_alive && g->r->entry != 0;
    for (unsigned u = 0; u < j->copies; u++) {
        g->first[u] = NULL;
        if (!j->starts_full) {
            LLVMValueRef t = LLVMBuildMul(j->b, j->group, jit_i32(j, j->width * j->copies), "");
            t = jit_splat(j, LLVMBuildAdd(j->b, t, jit_i32(j, u * j->width), ""));
            t = LLVMBuildAdd(j->b, t, jit_steps(j, i32, 1), "");
            LLVMValueRef n = jit_splat(j, threads_of(j));
            g->first[u] = jit_flow_of(j, LLVMBuildICmp(j->b, LLVMIntULT, t, n, ""));
        }
        if (has_ended)
            g->first[u] = jit_flow_of(j, from_bits(j, load_unaligned(j, i32, alive_at(g, u))));
    }
}

static void make_blocks(struct gen *g)
{
    struct jit *j = g->j;
    size_t n = j->f->blocks.n;
    g->masks = pt_arena_alloc(j->arena, n * sizeof *g->masks);
    g->enter = pt_arena_alloc(j->arena, n * sizeof *g->enter);
    g->body = pt_arena_alloc(j->arena, n * sizeof *g->body);
    g->leave = pt_arena_alloc(j->arena, n * sizeof *g->leave);
    g->latch = pt_arena_alloc(j->arena, (j->f->loops.n + 1) * sizeof *g->latch);
    for (uint32_t i = 0; i < g->r->n_blocks; i++) {
        g->enter[g->r->blocks[i]] = jit_new_block(j, "enter");
        g->body[g->r->blocks[i]] = jit_new_block(j, "body");
    }
    for (uint32_t e = 0; e < g->r->n_exits; e++)
        g->leave[g->r->exits[e]] = jit_new_block(j, "leave");
    for (uint32_t l = 0; l < j->f->loops.n; l++)
        if (is_in(g, j->f->loops.v[l].header))
            g->latch[l] = jit_new_block(j, "latch");
    g->end = jit_new_block(j, "end");
    g->done = jit_new_block(j, "done");
}

static void clear_mask(struct gen *g, uint32_t block)
{
    struct jit *j = g->j;
    for (unsigned u = 0; has_mask(g, block) && u < j->copies; u++) {
        if (!g->masks[block][u])
            g->masks[block][u] = jit_alloca(j, jit_flow_type(j), "");
        LLVMBuildStore(j->b, LLVMConstNull(jit_flow_type(j)), g->masks[block][u]);
    }
}

static bool generate_group(struct gen *g)
{
    struct jit *j = g->j;
    if (!load_registers(g))
        return false;
    find_first(g);
    for (uint32_t i = 0; i < g->r->n_blocks; i++)
        if (is_in(g, g->r->blocks[i]))
            clear_mask(g, g->r->blocks[i]);
    for (uint32_t e = 0; e < g->r->n_exits; e++)
        clear_mask(g, g->r->exits[e]);
    if (g->plan->keeps_alive && g->r->entry) {
        LLVMValueRef any = NULL;
        for (unsigned u = 0; u < j->copies; u++)
            any = any ? LLVMBuildOr(j->b, any, g->first[u], "") : g->first[u];
        LLVMBuildCondBr(j->b, jit_any(j, jit_flow_mask(j, any)), g->body[g->r->entry], g->done);
    } else {
        LLVMBuildBr(j->b, g->enter[g->r->entry]);
    }
    for (uint32_t i = 0; i < g->r->n_blocks; i++)
        if (!generate_block(g, g->r->blocks[i]))
            return false;
    for (uint32_t l = 0; l < j->f->loops.n; l++)
        if (g->latch[l])
            generate_latch(g, l);
    const uint64_t *written = find_written(g);
    for (uint32_t e = 0; e < g->r->n_exits; e++)
        generate_exit(g, e, written);
    generate_end(g);
    return true;
}

/* Behind the loop: what all groups agree on counts from here, and the next region runs. */
static void dispatch(struct gen *g)
{
    struct jit *j = g->j;
    LLVMTypeRef i32 = LLVMInt32TypeInContext(j->context);
    const uint64_t *written = find_written(g);
    for (uint32_t i = 1; i < j->f->regs.n; i++)
        if (j->regs[i].kept && jit_set_has(written, i))
            LLVMBuildStore(j->b, LLVMBuildLoad2(j->b, j->regs[i].type, j->regs[i].next, ""),
                           j->regs[i].kept);
    LLVMBasicBlockRef over = jit_new_block(j, "over");
    LLVMValueRef next = LLVMBuildLoad2(j->b, i32, g->next, "");
    LLVMValueRef to = LLVMBuildSwitch(j->b, next, over, g->r->n_exits);
    for (uint32_t e = 0; e < g->r->n_exits; e++)
        for (uint32_t r = 0; r < g->plan->n_regions; r++)
            if (g->plan->regions[r].entry == g->r->exits[e])
                LLVMAddCase(to, jit_i32(j, e), g->plan->regions[r].start);
    jit_continue_in(j, over);
    LLVMBuildRet(j->b, jit_i32(j, PT_RUN_EXITED));
}

bool jit_region(struct jit *j, const struct jit_plan *plan, struct jit_region *region)
{
    struct gen g = {.j = j, .plan = plan, .r = region};
    LLVMTypeRef i32 = LLVMInt32TypeInContext(j->context);
    g.next = jit_alloca(j, i32, "next");
    LLVMValueRef count = jit_alloca(j, i32, "group");
    LLVMBasicBlockRef head = jit_new_block(j, "group");
    make_blocks(&g);
    jit_continue_in(j, region->start);
    poll(j, j->f->blocks.v[region->entry].first);
    complete_reduction(j);
    LLVMBuildStore(j->b, jit_i32(j, UINT32_MAX), g.next);
    for (uint32_t i = 1; i < j->f->regs.n; i++)
        if (j->regs[i].kept)
            LLVMBuildStore(j->b, LLVMBuildLoad2(j->b, j->regs[i].type, j->regs[i].kept, ""),
                           j->regs[i].next);
    LLVMBuildStore(j->b, jit_i32(j, 0), count);
    LLVMBuildBr(j->b, head);
    jit_continue_in(j, head);
    j->group = LLVMBuildLoad2(j->b, i32, count, "");
    if (!generate_group(&g))
        return false;
    jit_continue_in(j, g.done);
    LLVMValueRef more = LLVMBuildAdd(j->b, j->group, jit_i32(j, 1), "");
    LLVMBuildStore(j->b, more, count);
    LLVMBasicBlockRef after = jit_new_block(j, "after_groups");
    LLVMBuildCondBr(j->b,
                    LLVMBuildICmp(j->b, LLVMIntULT, more, groups_of(j), ""), head, after);
    jit_continue_in(j, after);
    dispatch(&g);
    return true;
}
