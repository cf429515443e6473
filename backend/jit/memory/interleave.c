/* Interleaved accesses: those of one form through one address that together touch a stretch in
 * which the lanes lie side by side: elements of an array of structures, a few elements a thread.
 * They become one access of a vector in each lane, where the last of them stands.
 */
#include "backend/jit/memory/interleave.h"

#include <string.h>

#include "backend/jit/analysis/def_use.h"
#include "backend/jit/bitset.h"
#include "backend/jit/jit.h"
#include "backend/jit/memory/access.h"
#include "backend/jit/memory/overlapping_loads.h"
#include "backend/jit/memory/structure.h"
#include "backend/jit/tune.h"
#include "backend/jit/value/visit.h"
#include "backend/order.h"
#include "ir/bits.h"
#include "ir/insn.h"

/* What must stay as it is from the first access to the last. */
struct group {
    struct jit_interleaved join;
    struct jit_access first;
    unsigned wanted;     /* accesses */
    uint64_t *results;   /* registers that members load */
    uint64_t *unchanged; /* their guards, their address, values that they store */
    bool conflicts;
};

/* ---- what may be interleaved ----------------------------------------------------------------- */

/* How many elements of a lane lie between two of its own; 0: the instruction is no access that may
 * be interleaved. */
static unsigned elements_of_lane(const struct jit *j, uint32_t insn, struct jit_access *a)
{
    int64_t stride;
    struct jit at = *j;
    jit_visit_insn(&at, insn);
    uint32_t effects = at.form->effects;
    if (!(effects & (PT_FX_READ | PT_FX_WRITE)) || (effects & PT_FX_ATOMIC) ||
        (at.insn->guard && jit_is_checked(j->unit)) || !jit_set_has(j->trusted, insn) ||
        !jit_access_try_describe(&at, a))
        return 0;
    if (a->n != 1 || a->base->kind != PT_OPND_REG || a->order != PT_ORDER_PLAIN ||
        jit_def_use_shape(j->facts, a->base, &stride) != JIT_AFFINE)
        return 0;
    unsigned n = stride > 0 && stride <= 8 * a->bytes ? (unsigned)(stride / a->bytes) : 0;
    return n * a->bytes == stride && n > 1 && !(n & (n - 1)) ? n : 0;
}

static bool is_like(const struct jit_access *a, const struct jit_access *b)
{
    return a->is_load == b->is_load && a->type == b->type && a->space == b->space &&
           a->window == b->window && a->base->index == b->base->index &&
           a->is_constant == b->is_constant;
}

/* ---- what stands in between ------------------------------------------------------------------ */

static void see(void *ud, uint32_t reg, bool is_def)
{
    struct group *g = ud;
    g->conflicts |= jit_set_has(g->results, reg) || (is_def && jit_set_has(g->unchanged, reg));
}

/* The instruction need not run before the accesses so far, nor behind them. */
static bool commutes(const struct jit *j, struct group *g, const struct pt_insn *insn)
{
    uint32_t effects = pt_insn_form(j->unit->m, insn)->effects & ~(uint32_t)PT_FX_FP;
    g->conflicts = effects && !(effects == PT_FX_READ && g->first.is_load);
    pt_insn_regs(j->unit->m, j->unit->f, insn, see, g);
    return !g->conflicts;
}

static void add(const struct jit *j, struct group *g, uint32_t insn, const struct jit_access *a)
{
    const struct pt_operand *value = &a->values[0];
    uint32_t guard = j->unit->f->insns.v[insn].guard;
    g->join.insns[g->join.n++] = insn;
    g->join.has_guards |= guard != 0;
    jit_set_add(g->unchanged, a->base->index);
    if (guard)
        jit_set_add(g->unchanged, guard);
    if (value->kind == PT_OPND_REG)
        jit_set_add(a->is_load ? g->results : g->unchanged, value->index);
}

static int64_t offset_of(const struct jit *j, uint32_t insn)
{
    return jit_access_base_of(j, insn)->imm;
}

/* By offset; false if they are not side by side. */
static bool sort(const struct jit *j, struct group *g)
{
    uint32_t *v = g->join.insns;
    for (unsigned i = 1; i < g->join.n; i++)
        for (unsigned k = i; k && offset_of(j, v[k - 1]) > offset_of(j, v[k]); k--) {
            uint32_t other = v[k];
            v[k] = v[k - 1];
            v[k - 1] = other;
        }
    for (unsigned i = 1; i < g->join.n; i++)
        if (offset_of(j, v[i]) != offset_of(j, v[0]) + (int64_t)(i * g->first.bytes))
            return false;
    return true;
}

/* The accesses that can be interleaved with the first of the instructions. */
static bool gather(const struct jit *j, const uint32_t *insns, uint32_t n, struct group *g)
{
    size_t bytes = pt_bit_words(j->unit->f->regs.n) * sizeof(uint64_t);
    struct jit_access a;
    memset(g, 0, sizeof *g);
    g->wanted = elements_of_lane(j, insns[0], &g->first);
    if (!g->wanted)
        return false;
    g->join.first = g->join.last = insns[0];
    g->results = pt_arena_alloc(j->unit->arena, bytes);
    g->unchanged = pt_arena_alloc(j->unit->arena, bytes);
    add(j, g, insns[0], &g->first);
    for (uint32_t i = 1; i < n && i < JIT_JOIN_INSNS && g->join.n < g->wanted; i++) {
        bool joins = elements_of_lane(j, insns[i], &a) && is_like(&g->first, &a);
        const struct pt_insn *insn = &j->unit->f->insns.v[insns[i]];
        if (joins ? (pt_insn_regs(j->unit->m, j->unit->f, insn, see, g), g->conflicts)
                  : !commutes(j, g, insn))
            return false;
        if (!joins)
            continue;
        add(j, g, insns[i], &a);
        g->join.last = insns[i];
    }
    return g->join.n == g->wanted && sort(j, g);
}

/* ---- interleaved accesses of a list ---------------------------------------------------------- */

void jit_interleave_find(struct jit *j, const uint32_t *insns, uint32_t n)
{
    struct group g;
    j->interleaved = NULL;
    j->overlaps = NULL;
    for (uint32_t i = 0; i < n; i++) {
        jit_visit_insn(j, insns[i]);
        if (jit_access_interleaved(j) || !gather(j, insns + i, n - i, &g))
            continue;
        struct jit_interleaved *join = pt_arena_alloc(j->unit->arena, sizeof *join);
        *join = g.join;
        join->next = j->interleaved;
        j->interleaved = join;
    }
    jit_overlapping_loads_find(j, insns, n);
    jit_structure_find(j, insns, n);
}

void jit_interleave_describe(const struct jit *j, const struct jit_interleaved *join,
                             struct jit_access *a)
{
    struct jit_access one;
    struct jit at = *j;
    for (unsigned i = 0; i < join->n; i++) {
        jit_visit_insn(&at, join->insns[i]);
        jit_access_describe(&at, &one);
        if (!i)
            *a = one;
        a->values[i] = one.values[0];
    }
    a->n = join->n;
}
