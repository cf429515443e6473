/* Which loops may wait for other threads.
 *
 * A loop waits if what other threads do can end it: it reads memory in a way that sees their
 * writes, orders memory, sleeps, reads a clock, or calls something that may. What such a read is
 * used for is not followed: a result that nobody reads cannot end the loop, all others may.
 */
#include "ir/spin_loop.h"

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

static bool reads_clock(const struct pt_func *f, const struct pt_insn *insn)
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

/* An instruction other than a call. */
static bool insn_waits(struct search *w, const struct pt_insn *insn)
{
    const struct pt_form *form = pt_insn_form(w->m, insn);
    uint32_t memory = form->effects & (PT_FX_READ | PT_FX_WRITE);
    if (form->op == PT_OP_nanosleep || form->op == PT_OP_bar_warp_sync || reads_clock(w->f, insn))
        return true;
    if ((form->effects & PT_FX_FENCE) && !memory)
        return !waits_for_own(form);
    if (!(memory & PT_FX_READ) || !(form->effects & (PT_FX_VOLATILE | PT_FX_ATOMIC | PT_FX_FENCE)))
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
            insn_waits(&body, &f->insns.v[i]))
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

static bool block_waits(struct search *w, const struct pt_block *b)
{
    for (uint32_t i = b->first; i < b->first + b->count; i++) {
        const struct pt_insn *insn = &w->f->insns.v[i];
        bool is_call = pt_insn_form(w->m, insn)->effects & PT_FX_CALL;
        if (is_call ? call_waits(w, insn) : insn_waits(w, insn))
            return true;
    }
    return false;
}

void pt_spin_loop_find(struct pt_module *m, struct pt_func *f, struct pt_arena *scratch)
{
    if (!f->loops.n)
        return;
    struct search w = {.m = m, .f = f, .scratch = scratch};
    w.n_uses = pt_arena_alloc(scratch, f->regs.n * sizeof *w.n_uses);
    w.callee = pt_arena_alloc(scratch, m->funcs.n);
    for (uint32_t i = 0; i < f->insns.n; i++)
        pt_insn_regs(m, f, &f->insns.v[i], count_use, &w);
    for (uint32_t b = 0; b < f->blocks.n; b++) {
        uint32_t l = f->blocks.v[b].loop;
        if (!l || f->loops.v[l - 1].communicates || !block_waits(&w, &f->blocks.v[b]))
            continue;
        for (; l; l = f->loops.v[l - 1].parent)
            f->loops.v[l - 1].communicates = 1;
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
