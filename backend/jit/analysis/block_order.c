/* The instructions of a block in the order they run. */
#include "backend/jit/analysis/block_order.h"

#include "backend/jit/analysis/address_form.h"
#include "backend/jit/analysis/call_batch.h"
#include "backend/jit/analysis/def_use.h"
#include "backend/jit/bitset.h"
#include "backend/jit/jit.h"
#include "ir/bits.h"
#include "ir/insn.h"

struct uses {
    uint64_t *read, *written; /* by what stays behind */
    bool is_early;            /* no such register is in the way */
    bool collects;
    bool may_divide; /* its lanes are an origin and known offsets, perhaps */
    const struct jit_facts *a;
    uint32_t
        /* a block that has run, and from which lanes may go elsewhere than to the instruction;
         * UINT32_MAX: none */
        from;
};

/* No lane that goes elsewhere reads what the register holds, so that it may be written for all. */
static bool is_free(const struct uses *u, uint32_t reg)
{
    const struct pt_block *from = &u->a->unit->f->blocks.v[u->from];
    size_t words = pt_bit_words(u->a->unit->f->regs.n);
    if (u->a->unit->f->regs.v[reg].n_defs > 1)
        return false;
    for (uint32_t e = 0; e < from->n_succ; e++)
        if (jit_set_has(u->a->live_in + u->a->unit->f->edges.v[from->succ + e] * words, reg))
            return false;
    return true;
}

static void see_use(void *ud, uint32_t reg, bool is_def)
{
    struct uses *u = ud;
    if (u->collects && !is_def)
        jit_def_use_add_roots(u->a, reg, u->read);
    if (u->collects)
        jit_set_add(is_def ? u->written : u->read, reg);
    else if (jit_set_has(u->written, reg) || (is_def && jit_set_has(u->read, reg)))
        u->is_early = false;
    else if (is_def && u->a->regs[reg].shape == JIT_VECTOR && !u->a->regs[reg].is_bounded &&
             !u->may_divide)
        u->is_early = false;
    else if (is_def && u->from != UINT32_MAX && !is_free(u, reg))
        u->is_early = false;
}

static bool is_pure(const struct jit_facts *a, const struct pt_insn *insn)
{
    bool is_plain =
        !insn->guard && !(pt_insn_form(a->unit->m, insn)->effects & ~(uint32_t)PT_FX_FP);
    return is_plain || jit_def_use_may_repeat(a, insn);
}

static struct jit_order find_order(const struct jit_facts *a, uint32_t from, bool divides,
                                   const uint32_t *insns, uint32_t n)
{
    size_t words = pt_bit_words(a->unit->f->regs.n);
    struct jit_order o = {.insns = pt_arena_alloc(a->unit->arena, n * sizeof(uint32_t))};
    struct uses u = {.a = a, .from = from};
    u.read = pt_arena_alloc(a->unit->arena, words * sizeof(uint64_t));
    u.written = pt_arena_alloc(a->unit->arena, words * sizeof(uint64_t));
    uint8_t *early = pt_arena_alloc(a->unit->arena, n);
    for (uint32_t i = 0; i < n; i++) {
        const struct pt_insn *insn = &a->unit->f->insns.v[insns[i]];
        u.is_early = is_pure(a, insn);
        u.may_divide = divides && u.is_early &&
                       jit_address_form_may_divide(a, insn, jit_def_use_block(a, insns[i]));
        u.collects = false;
        pt_insn_regs(a->unit->m, a->unit->f, insn, see_use, &u);
        early[i] = u.is_early;
        u.collects = true;
        if (!early[i])
            pt_insn_regs(a->unit->m, a->unit->f, insn, see_use, &u);
    }
    for (int late = 0; late < 2; late++)
        for (uint32_t i = 0; i < n; i++) {
            if (early[i] == !late)
                o.insns[o.n++] = insns[i];
            o.n_early += !late && early[i];
        }
    jit_call_batch_gather(a, o.insns + o.n_early, o.n - o.n_early);
    return o;
}

struct jit_order jit_block_order_find(const struct jit_facts *a, uint32_t block, bool divides)
{
    const struct pt_block *b = &a->unit->f->blocks.v[block];
    uint32_t *insns = pt_arena_alloc(a->unit->arena, b->count * sizeof *insns);
    for (uint32_t i = 0; i < b->count; i++)
        insns[i] = b->first + i;
    return find_order(a, UINT32_MAX, divides, insns, b->count);
}

struct jit_order jit_block_order_find_behind(const struct jit_facts *a, uint32_t from, bool divides,
                                             const uint32_t *blocks, unsigned n_blocks)
{
    uint32_t n = 0;
    for (unsigned k = 0; k < n_blocks; k++)
        n += a->unit->f->blocks.v[blocks[k]].count;
    uint32_t *insns = pt_arena_alloc(a->unit->arena, (n + 1) * sizeof *insns);
    n = 0;
    for (unsigned k = 0; k < n_blocks; k++) {
        const struct pt_block *b = &a->unit->f->blocks.v[blocks[k]];
        for (uint32_t i = b->first; i < b->first + b->count; i++)
            if (!(pt_insn_form(a->unit->m, &a->unit->f->insns.v[i])->effects &
                  (PT_FX_BRANCH | PT_FX_END)))
                insns[n++] = i;
    }
    return find_order(a, from, divides, insns, n);
}
