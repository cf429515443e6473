/* Where control goes in a region: blocks in their order, lanes that wait at them by masks (region.c
 * says how). */
#include "backend/jit/control/flow.h"

#include "backend/jit/analysis/def_use.h"
#include "backend/jit/analysis/insn_info.h"
#include "backend/jit/bitset.h"
#include "backend/jit/control/cta_interleave.h"
#include "backend/jit/control/gen.h"
#include "backend/jit/control/resumable_warp.h"
#include "backend/jit/control/stop_poll.h"
#include "backend/jit/jit.h"
#include "backend/jit/llvm/build.h"

/* Lanes may wait at `block` after block `from` ran, which has just sent lanes to a and b (or
 * UINT32_MAX). */
struct pending {
    const uint64_t *waits;
    uint32_t a, b;
};

static bool is_pending(const struct pending *p, uint32_t block)
{
    return block == p->a || block == p->b || jit_set_has(p->waits, block);
}

/* Continues at the first place after `from` (inside loop `l`, or PT_NONE) where lanes may wait. */
static void go_on_from(struct jit_gen *g, uint32_t from, uint32_t l, const struct pending *p)
{
    const struct pt_func *f = g->j->unit->f;
    for (uint32_t i = 0; i < g->r->n_blocks; i++) {
        uint32_t x = g->r->blocks[i];
        if (x <= from || !jit_is_in(g, x))
            continue;
        for (; l && f->loops.v[l - 1].end <= x; l = f->loops.v[l - 1].parent) {
            if (jit_is_in(g, f->loops.v[l - 1].header) && is_pending(p, f->loops.v[l - 1].header)) {
                LLVMBuildBr(g->j->code->b, g->code->latch[l - 1]);
                return;
            }
        }
        if (is_pending(p, x)) {
            LLVMBuildBr(g->j->code->b, g->code->enter[x]);
            return;
        }
    }
    for (; l; l = f->loops.v[l - 1].parent) {
        if (jit_is_in(g, f->loops.v[l - 1].header) && is_pending(p, f->loops.v[l - 1].header)) {
            LLVMBuildBr(g->j->code->b, g->code->latch[l - 1]);
            return;
        }
    }
    LLVMBuildBr(g->j->code->b, g->code->end);
}

void jit_flow_go_on(struct jit_gen *g, uint32_t from, uint32_t a, uint32_t b)
{
    struct pending p = {jit_def_use_waits(g->j->facts, from), a, b};
    go_on_from(g, from, jit_loop_of(g, from), &p);
}

void jit_flow_go_on_among(struct jit_gen *g, uint32_t from, uint32_t loop, const uint64_t *waits)
{
    struct pending p = {waits, UINT32_MAX, UINT32_MAX};
    go_on_from(g, from, loop, &p);
}

/* True if other lanes may wait at a place that comes before `to` when block `from` has run. */
static bool others_first(struct jit_gen *g, uint32_t from, uint32_t to)
{
    const struct pt_func *f = g->j->unit->f;
    const uint64_t *waits = jit_def_use_waits(g->j->facts, from);
    for (uint32_t w = 0;
         g->j->facts->is_resumable && !jit_is_in(g, to) && w < g->j->facts->uniformity->words; w++)
        if (waits[w] & g->plan->entries[w])
            return true;
    bool is_back = jit_is_in(g, to) && to <= from;
    uint32_t until = !jit_is_in(g, to) ? UINT32_MAX : to;
    uint32_t stop = PT_NONE; /* the loop whose header `to` is */
    if (is_back) {
        for (stop = jit_loop_of(g, from); stop && f->loops.v[stop - 1].header != to;)
            stop = f->loops.v[stop - 1].parent;
        until = stop ? f->loops.v[stop - 1].end : UINT32_MAX;
    }
    for (uint32_t i = 0; i < g->r->n_blocks; i++) {
        uint32_t x = g->r->blocks[i];
        if (jit_is_in(g, x) && x > from && x < until && jit_set_has(waits, x))
            return true;
    }
    for (uint32_t l = jit_loop_of(g, from); l && l != stop; l = f->loops.v[l - 1].parent)
        if (jit_is_in(g, f->loops.v[l - 1].header) && f->loops.v[l - 1].end <= until &&
            jit_set_has(waits, f->loops.v[l - 1].header))
            return true;
    return false;
}

/* ---- loops with an outlet -------------------------------------------------------------------- */

/* Lanes go into loops, or leave one by its outlet (true). */
static bool pass_loops(struct jit_gen *g, uint32_t from, uint32_t to, LLVMValueRef *mask)
{
    const struct jit *j = g->j;
    for (uint32_t l = 0; l < j->unit->f->loops.n; l++) {
        if (g->code->outlet[l] == PT_NONE || jit_loop_holds(g, l, from) == jit_loop_holds(g, l, to))
            continue;
        if (jit_loop_holds(g, l, from))
            return true;
        for (unsigned u = 0; u < j->facts->copies; u++) {
            LLVMValueRef lanes = mask[u] ? mask[u] : LLVMConstAllOnes(jit_flow_type(j));
            lanes = LLVMBuildOr(j->code->b, jit_flow_load(j, g->code->inside[l][u]), lanes, "");
            LLVMBuildStore(j->code->b, lanes, g->code->inside[l][u]);
        }
    }
    return false;
}

/* ---- lanes ----------------------------------------------------------------------------------- */

/* `full`: i1, these are all lanes of the group; NULL: they may not be. */
static void send(struct jit_gen *g, uint32_t from, uint32_t to, LLVMValueRef *mask,
                 LLVMValueRef full)
{
    const struct jit *j = g->j;
    jit_resumable_warp_note_turn(g, from, to);
    if (!jit_has_mask(g, to) || pass_loops(g, from, to, mask))
        return;
    bool joins = jit_set_has(jit_def_use_waits(j->facts, from), to);
    for (unsigned u = 0; u < j->facts->copies; u++) {
        LLVMValueRef lanes = mask[u] ? mask[u] : LLVMConstAllOnes(jit_flow_type(j));
        if (joins && mask[u])
            lanes = LLVMBuildOr(j->code->b, jit_flow_load(j, g->code->masks[to][u]), lanes, "");
        LLVMBuildStore(j->code->b, lanes, g->code->masks[to][u]);
    }
    if (full && g->code->full[to])
        LLVMBuildStore(j->code->b, full, g->code->full[to]);
}

void jit_flow_send(struct jit_gen *g, uint32_t from, uint32_t to, LLVMValueRef *mask)
{
    send(g, from, to, mask, NULL);
}

void jit_flow_go_to(struct jit_gen *g, uint32_t from, uint32_t to)
{
    if (jit_is_in(g, to) && to <= from)
        jit_stop_poll_emit(g->j, jit_insn_info_last(g->j->facts, from));
    if (g->runs_whole && jit_is_in(g, to) && g->code->whole[to]) {
        LLVMBuildBr(g->j->code->b, g->code->whole[to]);
        return;
    }
    send(g, from, to, g->active, g->is_full);
    if (others_first(g, from, to))
        jit_flow_go_on(g, from, to, UINT32_MAX);
    else if (jit_is_in(g, to) && to <= from)
        jit_cta_interleave_go_again(g, to);
    else
        LLVMBuildBr(g->j->code->b, jit_is_in(g, to) ? g->code->body[to] : g->code->leave[to]);
}
