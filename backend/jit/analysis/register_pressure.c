/* Register pressure: vector registers that the values of a chunk take. */
#include "backend/jit/analysis/register_pressure.h"

#include <string.h>

#include "backend/jit/analysis/insn_info.h"
#include "backend/jit/bitset.h"
#include "backend/jit/jit.h"
#include "backend/jit/tune.h"
#include "ir/bits.h"
#include "ir/insn.h"

/* ---- operands in memory ---------------------------------------------------------------------- */

struct reads {
    uint32_t *n;          /* by register: how often it is read */
    uint32_t reg, n_defs; /* what an instruction writes, and how much */
    bool is_read;         /* reg, by the instruction in question */
};

static void count_read(void *ud, uint32_t reg, bool is_def)
{
    struct reads *r = ud;
    r->n[reg] += !is_def;
}

static void note_def(void *ud, uint32_t reg, bool is_def)
{
    struct reads *r = ud;
    r->reg = is_def ? reg : r->reg;
    r->n_defs += is_def;
}

static void note_read(void *ud, uint32_t reg, bool is_def)
{
    struct reads *r = ud;
    r->is_read |= !is_def && reg == r->reg;
}

/* The instruction is a load of one register, r->reg, which has no other value and one reader. */
static bool loads_for_one(const struct jit_facts *a, const struct pt_insn *insn, struct reads *r)
{
    r->n_defs = 0;
    pt_insn_regs(a->unit->m, a->unit->f, insn, note_def, r);
    return jit_insn_info_is_plain_load(pt_insn_form(a->unit->m, insn)) && !insn->guard &&
           r->n_defs == 1 && a->unit->f->regs.v[r->reg].n_defs == 1 && r->n[r->reg] == 1;
}

/* The reader of r->reg, loaded by instruction `i`, if it is arithmetic or a store of the same block
 * and nothing writes memory in between; 0: none. */
static uint32_t find_reader(const struct jit_facts *a, const struct pt_block *b, uint32_t i,
                            struct reads *r)
{
    uint32_t end =
        b->first + b->count < i + JIT_PRESSURE_NEAR ? b->first + b->count : i + JIT_PRESSURE_NEAR;
    r->is_read = false;
    for (uint32_t k = i + 1; k < end; k++) {
        uint32_t effects =
            pt_insn_form(a->unit->m, &a->unit->f->insns.v[k])->effects & ~(uint32_t)PT_FX_FP;
        pt_insn_regs(a->unit->m, a->unit->f, &a->unit->f->insns.v[k], note_read, r);
        if (r->is_read)
            return effects & ~(uint32_t)PT_FX_WRITE ? 0 : k;
        if (effects & ~(uint32_t)PT_FX_READ)
            return 0;
    }
    return 0;
}

/* Registers that are loaded for one instruction, one each: arithmetic takes such an operand from
 * memory, or rows of threads share it; what is only stored again is held for a moment. */
static uint64_t *find_operands(const struct jit_facts *a)
{
    const struct pt_func *f = a->unit->f;
    uint64_t *operands = pt_arena_alloc(a->unit->arena, pt_bit_words(f->regs.n) * sizeof *operands);
    uint64_t *taken = pt_arena_alloc(a->unit->arena, pt_bit_words(f->insns.n) * sizeof *taken);
    struct reads r = {.n = pt_arena_alloc(a->unit->arena, f->regs.n * sizeof *r.n)};
    for (uint32_t i = 0; i < f->insns.n; i++)
        pt_insn_regs(a->unit->m, f, &f->insns.v[i], count_read, &r);
    for (const struct pt_block *b = f->blocks.v; b < f->blocks.v + f->blocks.n; b++)
        for (uint32_t i = b->first; i < b->first + b->count; i++) {
            uint32_t reader = loads_for_one(a, &f->insns.v[i], &r) ? find_reader(a, b, i, &r) : 0;
            if (reader && !jit_set_has(taken, reader)) {
                jit_set_add(taken, reader);
                jit_set_add(operands, r.reg);
            }
        }
    return operands;
}

/* ---- pressure -------------------------------------------------------------------------------- */

struct pressure {
    const struct jit_facts *a;
    const uint64_t *operands; /* in memory; NULL: none */
    uint64_t *live;
    uint32_t now, most;
};

static uint32_t weight(const struct pressure *p, uint32_t reg)
{
    const struct jit_facts *a = p->a;
    const struct pt_value *v = &a->uniformity->regs[reg];
    unsigned bits = pt_type_bits((enum pt_type)a->unit->f->regs.v[reg].type);
    bool is_operand = p->operands && jit_set_has(p->operands, reg);
    if (v->level < PT_LEVEL_LANE || v->is_affine || bits == 1 || is_operand)
        return 0;
    return bits == 64 ? 2 : 1;
}

static void leave_or_enter(void *ud, uint32_t reg, bool is_def)
{
    struct pressure *p = ud;
    bool was = jit_set_has(p->live, reg);
    uint64_t bit = (uint64_t)1 << (reg & 63);
    p->now += (!is_def && !was) ? weight(p, reg) : 0;
    p->now -= (is_def && was) ? weight(p, reg) : 0;
    p->live[reg / 64] = is_def ? p->live[reg / 64] & ~bit : p->live[reg / 64] | bit;
    if (p->now > p->most)
        p->most = p->now;
}

static void only_defs(void *ud, uint32_t reg, bool is_def)
{
    if (is_def)
        leave_or_enter(ud, reg, true);
}

static void only_uses(void *ud, uint32_t reg, bool is_def)
{
    if (!is_def)
        leave_or_enter(ud, reg, false);
}

uint32_t jit_register_pressure_find(const struct jit_facts *a, bool loads_operands)
{
    const struct pt_func *f = a->unit->f;
    size_t words = pt_bit_words(f->regs.n);
    struct pressure p = {.a = a, .operands = loads_operands ? find_operands(a) : NULL};
    p.live = pt_arena_alloc(a->unit->arena, words * sizeof *p.live);
    for (uint32_t b = 0; b < f->blocks.n; b++) {
        const struct pt_block *block = &f->blocks.v[b];
        memset(p.live, 0, words * sizeof *p.live);
        p.now = 0;
        for (uint32_t e = 0; e < block->n_succ; e++) {
            const uint64_t *in = a->live_in + f->edges.v[block->succ + e] * words;
            for (uint32_t r = 1; r < f->regs.n; r++)
                if (jit_set_has(in, r))
                    leave_or_enter(&p, r, false);
        }
        for (uint32_t i = block->count; i-- > 0;) {
            pt_insn_regs(a->unit->m, f, &f->insns.v[block->first + i], only_defs, &p);
            pt_insn_regs(a->unit->m, f, &f->insns.v[block->first + i], only_uses, &p);
        }
    }
    return p.most;
}
