/* Which registers are live where. */
#include "ir/liveness.h"

#include <string.h>

#include "ir/bits.h"
#include "ir/insn.h"

/* What an instruction under a guard has written, as seen by those behind it in its block. */
struct cover {
    uint32_t guard; /* the predicate times 2, plus 1 where it is negated */
    uint32_t at;    /* the instruction, counted from 1; 0: none */
};

struct scan {
    uint64_t *used;       /* read before the block writes it */
    uint64_t *killed;     /* written in all lanes */
    struct cover *covers; /* by register */
    uint32_t *written_at; /* by register: the last instruction that writes it, counted from 1 */
    uint32_t first, at;   /* of the block; the one at hand, counted from 1 */
    uint32_t guard;       /* of that one, as in covers; 0: none */
};

/* Lanes in which the guard holds have the register from this block, as the guard has not changed
 * since. */
static bool is_covered(const struct scan *s, uint32_t reg, uint32_t guard)
{
    const struct cover *c = &s->covers[reg];
    return guard && c->guard == guard && c->at > s->first && s->written_at[guard / 2] < c->at;
}

/* A write under a guard and one under its opposite are a write in all lanes. */
static void scan_def(struct scan *s, uint32_t reg)
{
    if (!s->guard || is_covered(s, reg, s->guard ^ 1))
        s->killed[reg / 64] |= (uint64_t)1 << (reg & 63);
    else
        s->covers[reg] = (struct cover){s->guard, s->at};
    s->written_at[reg] = s->at;
}

static void scan_reg(void *ud, uint32_t reg, bool is_def)
{
    struct scan *s = ud;
    if (is_def)
        scan_def(s, reg);
    else if (!is_covered(s, reg, s->guard))
        s->used[reg / 64] |= (uint64_t)1 << (reg & 63) & ~s->killed[reg / 64];
}

static void scan_block(struct scan *s, const struct pt_module *m, const struct pt_func *f,
                       const struct pt_block *block)
{
    s->first = block->first;
    for (uint32_t i = block->first; i < block->first + block->count; i++) {
        const struct pt_insn *insn = &f->insns.v[i];
        s->at = i + 1;
        s->guard = insn->guard ? 2 * insn->guard + insn->guard_neg : 0;
        pt_insn_regs(m, f, insn, scan_reg, s);
    }
}

uint64_t *pt_liveness_in(const struct pt_module *m, const struct pt_func *f, struct pt_arena *arena)
{
    size_t words = pt_bit_words(f->regs.n), n = f->blocks.n;
    uint64_t *in = pt_arena_alloc(arena, n * words * sizeof *in);
    uint64_t *killed = pt_arena_alloc(arena, n * words * sizeof *killed);
    struct scan s = {.covers = pt_arena_alloc(arena, f->regs.n * sizeof *s.covers),
                     .written_at = pt_arena_alloc(arena, f->regs.n * sizeof *s.written_at)};
    for (size_t b = 0; b < n; b++) {
        s.used = in + b * words;
        s.killed = killed + b * words;
        scan_block(&s, m, f, &f->blocks.v[b]);
    }
    /* Backwards over the numbering, until nothing changes: one round for each level of loops, and
     * one. */
    for (bool changed = true; changed;) {
        changed = false;
        for (size_t b = n; b-- > 0;) {
            const struct pt_block *block = &f->blocks.v[b];
            for (uint32_t e = 0; e < block->n_succ; e++) {
                const uint64_t *from = in + f->edges.v[block->succ + e] * words;
                for (size_t w = 0; w < words; w++) {
                    uint64_t add = from[w] & ~killed[b * words + w] & ~in[b * words + w];
                    in[b * words + w] |= add;
                    changed |= add != 0;
                }
            }
        }
    }
    return in;
}
