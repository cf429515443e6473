/* Where control goes in a region: blocks in their order, lanes that wait at them by masks (region.c says how). */
#include "backend/jit/control/gen.h"

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
static uint32_t loop_of(const struct jit_gen *g, uint32_t block)
{
    return g->j->f->blocks.v[block].loop;
}

/* Continues at the first place after `from` (inside loop `l`, or PT_NONE) where lanes may wait. */
static void go_on_from(struct jit_gen *g, uint32_t from, uint32_t l, const struct pending *p)
{
    const struct pt_func *f = g->j->f;
    for (uint32_t i = 0; i < g->r->n_blocks; i++) {
        uint32_t x = g->r->blocks[i];
        if (x <= from || !jit_is_in(g, x))
            continue;
        for (; l && f->loops.v[l - 1].end <= x; l = f->loops.v[l - 1].parent) {
            if (jit_is_in(g, f->loops.v[l - 1].header) && is_pending(p, f->loops.v[l - 1].header)) {
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
        if (jit_is_in(g, f->loops.v[l - 1].header) && is_pending(p, f->loops.v[l - 1].header)) {
            LLVMBuildBr(g->j->b, g->latch[l - 1]);
            return;
        }
    }
    LLVMBuildBr(g->j->b, g->end);
}

void jit_go_on(struct jit_gen *g, uint32_t from, uint32_t a, uint32_t b)
{
    struct pending p = {jit_waits(g->j, from), a, b};
    go_on_from(g, from, loop_of(g, from), &p);
}

void jit_go_on_among(struct jit_gen *g, uint32_t from, uint32_t loop, const uint64_t *waits)
{
    struct pending p = {waits, UINT32_MAX, UINT32_MAX};
    go_on_from(g, from, loop, &p);
}

/* True if other lanes may wait at a place that comes before `to` when block `from` has run. */
static bool others_first(struct jit_gen *g, uint32_t from, uint32_t to)
{
    const struct pt_func *f = g->j->f;
    const uint64_t *waits = jit_waits(g->j, from);
    for (uint32_t w = 0; g->j->runs_apart && !jit_is_in(g, to) && w < g->j->vary->words; w++)
        if (waits[w] & g->plan->entries[w])
            return true;
    bool is_back = jit_is_in(g, to) && to <= from;
    uint32_t until = !jit_is_in(g, to) ? UINT32_MAX : to;
    uint32_t stop = PT_NONE; /* the loop whose header `to` is */
    if (is_back) {
        for (stop = loop_of(g, from); stop && f->loops.v[stop - 1].header != to;)
            stop = f->loops.v[stop - 1].parent;
        until = stop ? f->loops.v[stop - 1].end : UINT32_MAX;
    }
    for (uint32_t i = 0; i < g->r->n_blocks; i++) {
        uint32_t x = g->r->blocks[i];
        if (jit_is_in(g, x) && x > from && x < until && jit_set_has(waits, x))
            return true;
    }
    for (uint32_t l = loop_of(g, from); l && l != stop; l = f->loops.v[l - 1].parent)
        if (jit_is_in(g, f->loops.v[l - 1].header) && f->loops.v[l - 1].end <= until &&
            jit_set_has(waits, f->loops.v[l - 1].header))
            return true;
    return false;
}

/* ---- loops with an outlet --------------------------------------------------------------------- */

static bool loop_holds(const struct jit_gen *g, uint32_t l, uint32_t block)
{
    return block >= g->j->f->loops.v[l].header && block < g->j->f->loops.v[l].end;
}

/* The one block behind the loop that it is left for, not into another loop; or PT_NONE. */
static uint32_t outlet_of(const struct jit_gen *g, uint32_t l)
{
    const struct pt_func *f = g->j->f;
    const struct pt_loop *loop = &f->loops.v[l];
    uint32_t outlet = PT_NONE;
    for (uint32_t b = loop->header; b < loop->end; b++) {
        const struct pt_block *block = &f->blocks.v[b];
        const struct pt_insn *last = &f->insns.v[jit_last_of(g->j, b)];
        uint32_t op = pt_insn_form(g->j->m, last)->op;
        bool ends = op == PT_OP_ret || op == PT_OP_exit;
        if (ends || !jit_is_in(g, b) || !jit_has_mask(g, b))
            return PT_NONE;
        for (uint32_t e = 0; e < block->n_succ; e++) {
            uint32_t to = f->edges.v[block->succ + e];
            if (loop_holds(g, l, to))
                continue;
            uint32_t around = loop_of(g, to);
            if (to < loop->end || !jit_is_in(g, to) || !jit_has_mask(g, to) ||
                (outlet != PT_NONE && outlet != to) ||
                (around && !loop_holds(g, around - 1, loop->header)))
                return PT_NONE;
            outlet = to;
        }
    }
    return loop->is_reducible ? outlet : PT_NONE;
}

void jit_find_outlets(struct jit_gen *g)
{
    struct jit *j = g->j;
    g->outlet = pt_arena_alloc(j->arena, (j->f->loops.n + 1) * sizeof *g->outlet);
    g->inside = pt_arena_alloc(j->arena, (j->f->loops.n + 1) * sizeof *g->inside);
    for (uint32_t l = 0; l < j->f->loops.n; l++)
        g->outlet[l] = outlet_of(g, l);
    for (uint32_t l = j->f->loops.n; l-- > 0;) /* one within another that has it too needs none */
        for (uint32_t p = j->f->loops.v[l].parent; p; p = j->f->loops.v[p - 1].parent)
            if (g->outlet[p - 1] == g->outlet[l])
                g->outlet[l] = PT_NONE;
}

void jit_clear_outlets(struct jit_gen *g)
{
    for (uint32_t l = 0; l < g->j->f->loops.n; l++)
        for (unsigned u = 0; g->outlet[l] != PT_NONE && u < g->j->copies; u++) {
            if (!g->inside[l][u])
                g->inside[l][u] = jit_alloca(g->j, jit_flow_type(g->j), "");
            LLVMBuildStore(g->j->b, LLVMConstNull(jit_flow_type(g->j)), g->inside[l][u]);
        }
}

LLVMValueRef jit_waiting(struct jit_gen *g, uint32_t block, unsigned copy)
{
    struct jit *j = g->j;
    LLVMValueRef lanes = jit_flow_load(j, g->masks[block][copy]);
    for (uint32_t l = 0; l < j->f->loops.n; l++)
        if (g->outlet[l] != PT_NONE && g->outlet[l] == block)
            lanes = LLVMBuildOr(j->b, lanes, jit_flow_load(j, g->inside[l][copy]), "");
    return lanes;
}

void jit_clear_waiting(struct jit_gen *g, uint32_t block, unsigned copy)
{
    struct jit *j = g->j;
    LLVMBuildStore(j->b, LLVMConstNull(jit_flow_type(j)), g->masks[block][copy]);
    if (g->full[block])
        LLVMBuildStore(j->b, LLVMConstNull(LLVMInt1TypeInContext(j->context)), g->full[block]);
    for (uint32_t l = 0; l < j->f->loops.n; l++)
        if (g->outlet[l] != PT_NONE && g->outlet[l] == block)
            LLVMBuildStore(j->b, LLVMConstNull(jit_flow_type(j)), g->inside[l][copy]);
}

/* Lanes go into loops, or leave one by its outlet (true). */
static bool pass_loops(struct jit_gen *g, uint32_t from, uint32_t to, LLVMValueRef *mask)
{
    struct jit *j = g->j;
    for (uint32_t l = 0; l < j->f->loops.n; l++) {
        if (g->outlet[l] == PT_NONE || loop_holds(g, l, from) == loop_holds(g, l, to))
            continue;
        if (loop_holds(g, l, from))
            return true;
        for (unsigned u = 0; u < j->copies; u++) {
            LLVMValueRef lanes = mask[u] ? mask[u] : LLVMConstAllOnes(jit_flow_type(j));
            lanes = LLVMBuildOr(j->b, jit_flow_load(j, g->inside[l][u]), lanes, "");
            LLVMBuildStore(j->b, lanes, g->inside[l][u]);
        }
    }
    return false;
}

/* ---- lanes ------------------------------------------------------------------------------------ */

/* `full`: i1, these are all lanes of the group; NULL: they may not be. */
static void send(struct jit_gen *g, uint32_t from, uint32_t to, LLVMValueRef *mask,
                 LLVMValueRef full)
{
    struct jit *j = g->j;
    jit_note_turn(g, from, to);
    if (!jit_has_mask(g, to) || pass_loops(g, from, to, mask))
        return;
    bool joins = jit_set_has(jit_waits(j, from), to);
    for (unsigned u = 0; u < j->copies; u++) {
        LLVMValueRef lanes = mask[u] ? mask[u] : LLVMConstAllOnes(jit_flow_type(j));
        if (joins && mask[u])
            lanes = LLVMBuildOr(j->b, jit_flow_load(j, g->masks[to][u]), lanes, "");
        LLVMBuildStore(j->b, lanes, g->masks[to][u]);
    }
    if (full && g->full[to])
        LLVMBuildStore(j->b, full, g->full[to]);
}

void jit_send(struct jit_gen *g, uint32_t from, uint32_t to, LLVMValueRef *mask)
{
    send(g, from, to, mask, NULL);
}

void jit_poll_rounds(struct jit *j, uint32_t insn, LLVMValueRef rounds)
{
    LLVMTypeRef i32 = LLVMInt32TypeInContext(j->context);
    LLVMBasicBlockRef look = jit_new_block(j, "look"), on = jit_new_block(j, "");
    LLVMBasicBlockRef stopped = jit_new_block(j, "stopped");
    LLVMValueRef left = LLVMBuildLoad2(j->b, i32, j->budget, "");
    left = LLVMBuildSub(j->b, left, rounds, "");
    LLVMBuildStore(j->b, left, j->budget);
    LLVMIntPredicate left_over = LLVMIsConstant(rounds) ? LLVMIntNE : LLVMIntSGT;
    jit_branch_mostly(j, LLVMBuildICmp(j->b, left_over, left, jit_i32(j, 0), ""), on, look);
    jit_continue_in(j, look);
    LLVMBuildStore(j->b, jit_i32(j, JIT_BUDGET), j->budget);
    LLVMValueRef stop = jit_field(j, i32, j->launch, offsetof(struct pt_launch, stop));
    LLVMSetVolatile(stop, true);
    jit_branch_mostly(j, LLVMBuildICmp(j->b, LLVMIntEQ, stop, jit_i32(j, 0), ""), on, stopped);
    jit_continue_in(j, stopped);
    j->insn = &j->f->insns.v[insn];
    jit_stop(j);
    jit_continue_in(j, on);
}

void jit_poll(struct jit *j, uint32_t insn)
{
    jit_poll_rounds(j, insn, jit_i32(j, 1));
}

/* The lanes that wait at the block, of all copies joined by `op`. */
static LLVMValueRef join_waiting(struct jit_gen *g, uint32_t block, LLVMOpcode op)
{
    struct jit *j = g->j;
    LLVMValueRef all = NULL;
    for (unsigned u = 0; u < j->copies; u++) {
        LLVMValueRef lanes = jit_waiting(g, block, u);
        all = all ? LLVMBuildBinOp(j->b, op, all, lanes, "") : lanes;
    }
    return jit_flow_mask(j, all);
}

LLVMValueRef jit_has_waiting(struct jit_gen *g, uint32_t block)
{
    return jit_any(g->j, join_waiting(g, block, LLVMOr));
}

LLVMValueRef jit_all_wait(struct jit_gen *g, uint32_t block)
{
    return jit_all(g->j, join_waiting(g, block, LLVMAnd));
}

void jit_go_to(struct jit_gen *g, uint32_t from, uint32_t to)
{
    if (jit_is_in(g, to) && to <= from)
        jit_poll(g->j, jit_last_of(g->j, from));
    if (g->runs_whole && jit_is_in(g, to) && g->whole[to]) {
        LLVMBuildBr(g->j->b, g->whole[to]);
        return;
    }
    send(g, from, to, g->cur, g->is_full);
    if (others_first(g, from, to))
        jit_go_on(g, from, to, UINT32_MAX);
    else if (jit_is_in(g, to) && to <= from)
        jit_go_again(g, to);
    else
        LLVMBuildBr(g->j->b, jit_is_in(g, to) ? g->body[to] : g->leave[to]);
}
