/* Which loops may wait for other threads.
 *
 * A loop waits if what other threads do can end it: it orders memory, sleeps, reads a clock, or
 * calls something that may; or it reads memory in a way that sees their writes, and something it
 * has read decides whether it goes on. Beside such a read all that the loop reads counts as theirs.
 * A loop that counts its rounds ends whatever others do.
 */
#include "ir/spin_loop.h"

#include <string.h>

#include "ir/bits.h"
#include "ir/call_graph.h"
#include "ir/device.h"
#include "ir/insn.h"

struct search {
    struct pt_module *m;
    const struct pt_func *f;
    struct pt_arena *scratch;
    uint32_t *n_uses; /* by register; NULL in callees: every result counts as used */
    uint8_t *callee;  /* by function: 0 not asked yet, else enum answer */
    bool found;
    uint64_t *theirs; /* registers of a loop that others may have had a hand in */
    bool changes;
};

enum answer { ANSWER_NO = 1, ANSWER_YES };

static void count_use(void *ud, uint32_t reg, bool is_def)
{
    struct search *w = ud;
    w->n_uses[reg] += !is_def;
}

static void find_used_result(void *ud, uint32_t reg, bool is_def)
{
    struct search *w = ud;
    w->found |= is_def && (!w->n_uses || w->n_uses[reg]);
}

bool pt_spin_loop_reads_clock(const struct pt_func *f, const struct pt_insn *insn)
{
    for (uint32_t k = 0; k < insn->n_operands; k++) {
        const struct pt_operand *o = &f->operands.v[insn->operands + k];
        if (o->kind != PT_OPND_SREG)
            continue;
        switch (o->index) {
        case PT_SREG_clock:
        case PT_SREG_clock_hi:
        case PT_SREG_clock64:
        case PT_SREG_globaltimer:
        case PT_SREG_globaltimer_lo:
        case PT_SREG_globaltimer_hi:
            return true;
        }
    }
    return false;
}

/* Copies and products are waited for by the threads that began them; what they see is ordered for
 * these alone. */
static bool waits_for_own(const struct pt_form *form)
{
    switch (form->op) {
    case PT_OP_fence:
        return pt_form_has(form, PT_M_proxy) && !pt_form_has(form, PT_M_acquire) &&
               !pt_form_has(form, PT_M_release);
    case PT_OP_wgmma_fence:
    case PT_OP_wgmma_wait:
    case PT_OP_cp_async_commit:
    case PT_OP_cp_async_wait:
    case PT_OP_cp_bulk_commit:
    case PT_OP_cp_bulk_wait:
        return true;
    default:
        return false;
    }
}

/* An instruction other than a call, whatever the loop does with its results. */
static bool insn_waits(struct search *w, const struct pt_insn *insn)
{
    const struct pt_form *form = pt_insn_form(w->m, insn);
    if (form->op == PT_OP_nanosleep || form->op == PT_OP_bar_warp_sync ||
        pt_spin_loop_reads_clock(w->f, insn))
        return true;
    return (form->effects & PT_FX_FENCE) && !(form->effects & (PT_FX_READ | PT_FX_WRITE)) &&
           !waits_for_own(form);
}

/* The instruction reads what other threads write, and the result is used. */
static bool insn_sees(struct search *w, const struct pt_insn *insn)
{
    uint32_t effects = pt_insn_form(w->m, insn)->effects;
    if (!(effects & PT_FX_READ) || !(effects & (PT_FX_VOLATILE | PT_FX_ATOMIC | PT_FX_FENCE)))
        return false;
    w->found = false;
    pt_insn_regs(w->m, w->f, insn, find_used_result, w);
    return w->found;
}

static bool body_waits(struct search *w, uint32_t func)
{
    const struct pt_func *f = &w->m->funcs.v[func];
    struct search body = {.m = w->m, .f = f};
    if (f->is_declared_only)
        return !pt_device_find(f->name);
    for (uint32_t i = 0; i < f->insns.n; i++)
        if (!(pt_insn_form(w->m, &f->insns.v[i])->effects & PT_FX_CALL) &&
            (insn_waits(&body, &f->insns.v[i]) || insn_sees(&body, &f->insns.v[i])))
            return true;
    return false;
}

static bool callee_waits(struct search *w, uint32_t func)
{
    if (w->callee[func])
        return w->callee[func] == ANSWER_YES;
    uint32_t n;
    const uint32_t *all = pt_call_graph_reachable(w->m, func, w->scratch, &n);
    bool waits = false;
    for (uint32_t i = 0; i < n && !waits; i++)
        waits = body_waits(w, all[i]);
    w->callee[func] = waits ? ANSWER_YES : ANSWER_NO;
    return waits;
}

static bool call_waits(struct search *w, const struct pt_insn *insn)
{
    for (uint32_t k = 0; k < insn->n_operands; k++) {
        const struct pt_operand *o = &w->f->operands.v[insn->operands + k];
        if (o->kind == PT_OPND_FUNC)
            return callee_waits(w, o->index);
    }
    return true; /* indirect */
}

/* ---- loops ----------------------------------------------------------------------------------- */

static bool loop_has(struct search *w, const struct pt_loop *loop,
                     bool (*is_so)(struct search *w, const struct pt_insn *insn))
{
    uint32_t last = loop->end - 1, end = w->f->blocks.v[last].first + w->f->blocks.v[last].count;
    for (uint32_t i = w->f->blocks.v[loop->header].first; i < end; i++)
        if (is_so(w, &w->f->insns.v[i]))
            return true;
    return false;
}

static bool calls_or_waits(struct search *w, const struct pt_insn *insn)
{
    bool is_call = pt_insn_form(w->m, insn)->effects & PT_FX_CALL;
    return is_call ? call_waits(w, insn) : insn_waits(w, insn);
}

static bool is_seen_read(struct search *w, const struct pt_insn *insn)
{
    return !(pt_insn_form(w->m, insn)->effects & PT_FX_CALL) && insn_sees(w, insn);
}

static void find_theirs(void *ud, uint32_t reg, bool is_def)
{
    struct search *w = ud;
    w->found |= !is_def && (w->theirs[reg / 64] >> (reg & 63) & 1);
}

static void note_theirs(void *ud, uint32_t reg, bool is_def)
{
    struct search *w = ud;
    uint64_t bit = UINT64_C(1) << (reg & 63);
    if (!is_def || (w->theirs[reg / 64] & bit))
        return;
    w->theirs[reg / 64] |= bit;
    w->changes = true;
}

/* The instruction uses what others may have had a hand in. */
static bool uses_theirs(struct search *w, const struct pt_insn *insn)
{
    w->found = false;
    pt_insn_regs(w->m, w->f, insn, find_theirs, w);
    return w->found;
}

/* Lanes leave the kernel, or the function. */
static bool ends(const struct pt_form *form)
{
    return (form->effects & (PT_FX_END | PT_FX_BRANCH)) == PT_FX_END;
}

/* A branch that others decide parts lanes up to where they join: what is written there is theirs,
 * too. False if it, or what runs there, may leave the loop, or go round. */
static bool spread_branch(struct search *w, const struct pt_loop *loop, uint32_t block)
{
    const struct pt_func *f = w->f;
    uint32_t join = f->blocks.v[block].ipdom;
    if (join <= block || join >= loop->end)
        return false;
    for (uint32_t b = block; b < join; b++) {
        const struct pt_block *part = &f->blocks.v[b];
        for (uint32_t e = 0; e < part->n_succ; e++)
            if (f->edges.v[part->succ + e] <= block || f->edges.v[part->succ + e] > join)
                return false;
        for (uint32_t i = part->first; b > block && i < part->first + part->count; i++) {
            if (ends(pt_insn_form(w->m, &f->insns.v[i])))
                return false;
            pt_insn_regs(w->m, f, &f->insns.v[i], note_theirs, w);
        }
    }
    return true;
}

/* Once more through the loop. False if something of others' ends it. */
static bool spread(struct search *w, const struct pt_loop *loop)
{
    for (uint32_t b = loop->header; b < loop->end; b++) {
        const struct pt_block *block = &w->f->blocks.v[b];
        for (uint32_t i = block->first; i < block->first + block->count; i++) {
            const struct pt_insn *insn = &w->f->insns.v[i];
            const struct pt_form *form = pt_insn_form(w->m, insn);
            uint32_t effects = form->effects;
            bool is_theirs = uses_theirs(w, insn);
            if (is_theirs &&
                (ends(form) || ((effects & PT_FX_BRANCH) && !spread_branch(w, loop, b))))
                return false;
            if (is_theirs || (effects & (PT_FX_READ | PT_FX_CARRY_IN | PT_FX_CALL)))
                pt_insn_regs(w->m, w->f, insn, note_theirs, w);
        }
    }
    return true;
}

static bool loop_waits(struct search *w, const struct pt_loop *loop)
{
    size_t words = pt_bit_words(w->f->regs.n);
    if (loop_has(w, loop, calls_or_waits))
        return true;
    if (!loop_has(w, loop, is_seen_read))
        return false;
    if (!loop->is_reducible)
        return true;
    memset(w->theirs, 0, words * sizeof *w->theirs);
    do {
        w->changes = false;
        if (!spread(w, loop))
            return true;
    } while (w->changes);
    return false;
}

void pt_spin_loop_find(struct pt_module *m, struct pt_func *f, struct pt_arena *scratch)
{
    if (!f->loops.n)
        return;
    struct search w = {.m = m, .f = f, .scratch = scratch};
    w.n_uses = pt_arena_alloc(scratch, f->regs.n * sizeof *w.n_uses);
    w.callee = pt_arena_alloc(scratch, m->funcs.n);
    w.theirs = pt_arena_alloc(scratch, pt_bit_words(f->regs.n) * sizeof *w.theirs);
    for (uint32_t i = 0; i < f->insns.n; i++)
        pt_insn_regs(m, f, &f->insns.v[i], count_use, &w);
    for (uint32_t l = 0; l < f->loops.n; l++) {
        if (f->loops.v[l].communicates || !loop_waits(&w, &f->loops.v[l]))
            continue;
        for (uint32_t k = l + 1; k; k = f->loops.v[k - 1].parent)
            f->loops.v[k - 1].communicates = 1;
    }
    for (uint32_t b = 0; b < f->blocks.n; b++) {
        struct pt_block *block = &f->blocks.v[b];
        for (uint32_t e = 0; e < block->n_succ; e++) {
            uint32_t to = f->edges.v[block->succ + e];
            if (to <= b)
                block->communicates |= f->loops.v[f->blocks.v[to].loop - 1].communicates;
        }
    }
}
