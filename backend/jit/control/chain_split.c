/* Blocks of many independent dependence chains, which run in parts that fit the registers. A block
 * of sums that go on side by side, as those of a tile of a matrix, takes them one by one and has
 * more of them than the machine has registers: each would go to memory and come back again and
 * again. Where nobody can tell the order, such a block runs in parts instead: some strands of one
 * chunk, as many as fit the registers, from their first operation to the last; then the next ones.
 * Strands share nothing but loads, which every part repeats, each in front of what reads it first.
 */
#include "backend/jit/control/chain_split.h"

#include <string.h>

#include "backend/jit/analysis/def_use.h"
#include "backend/jit/analysis/insn_info.h"
#include "backend/jit/bitset.h"
#include "backend/jit/control/block.h"
#include "backend/jit/jit.h"
#include "backend/jit/llvm/cpu.h"
#include "backend/jit/tune.h"
#include "ir/bits.h"
#include "ir/insn.h"

enum { NONE = UINT32_MAX };

struct block {
    const struct jit *j;
    const uint32_t *insns;
    uint32_t n;
    uint64_t *read, *written; /* registers, by the block */
    uint64_t *carried;        /* written by strands */
    uint64_t *seen;           /* read before the place in question */
    uint32_t *
        /* by place: the strand's first place, later its number; NONE: a load, or nothing to run */
        strand;
    uint32_t *toucher;        /* by register: a place that reads or writes it */
    uint32_t *last;           /* by register: where a part reads it last */
    uint32_t *loader;         /* by register: the load that all parts repeat; or NONE */
    uint32_t *order, n_order; /* places of a part, as they run */
    uint64_t *placed;         /* its loads in that order */
    uint32_t at, n_strands;
    bool is_wide; /* strands of 64 bits: two vectors each */
    bool is_load, ok;
};

static const struct pt_insn *insn_at(const struct block *b, uint32_t i)
{
    return &b->j->unit->f->insns.v[b->insns[i]];
}

static const struct pt_form *form_at(const struct block *b, uint32_t i)
{
    return pt_insn_form(b->j->unit->m, insn_at(b, i));
}

static void visit(struct block *b, uint32_t i, void (*see)(void *ud, uint32_t reg, bool is_def))
{
    b->at = i;
    pt_insn_regs(b->j->unit->m, b->j->unit->f, insn_at(b, i), see, b);
}

/* ---- what the block is made of --------------------------------------------------------------- */

/* Barriers, where regions begin, and the branch at the end: they make no code here. */
static bool is_idle(const struct pt_form *form)
{
    return (form->effects & (PT_FX_BRANCH | PT_FX_END)) ||
           (jit_insn_info_is_barrier(form) && !jit_insn_info_is_reduction(form));
}

/* Nobody sees when it runs. */
static bool is_silent(const struct block *b, uint32_t i)
{
    const struct pt_form *form = form_at(b, i);
    return !insn_at(b, i)->guard && (jit_insn_info_is_plain_load(form) ||
                                     (!(form->effects & ~(uint32_t)PT_FX_FP) &&
                                      !jit_insn_info_is_batched(b->j->facts, insn_at(b, i)) &&
                                      !jit_insn_info_is_stepped(b->j->facts, form)));
}

static void note_use(void *ud, uint32_t reg, bool is_def)
{
    struct block *b = ud;
    if (!is_def)
        jit_def_use_add_roots(b->j->facts, reg, b->read);
    jit_set_add(is_def ? b->written : b->read, reg);
}

static void note_seen(void *ud, uint32_t reg, bool is_def)
{
    struct block *b = ud;
    if (!is_def)
        jit_set_add(b->seen, reg);
}

/* A load may be repeated if it gives the same wherever in the block it is, and only what comes
 * behind it reads that. */
static void check_load(void *ud, uint32_t reg, bool is_def)
{
    struct block *b = ud;
    b->is_load &= is_def ? b->j->unit->f->regs.v[reg].n_defs == 1 && jit_set_has(b->read, reg) &&
                               !jit_set_has(b->seen, reg)
                         : !jit_set_has(b->written, reg);
}

static bool is_shared_load(struct block *b, uint32_t i)
{
    b->is_load = jit_insn_info_is_plain_load(form_at(b, i));
    if (b->is_load)
        visit(b, i, check_load);
    return b->is_load;
}

static void note_carried(void *ud, uint32_t reg, bool is_def)
{
    struct block *b = ud;
    if (!is_def)
        return;
    jit_set_add(b->carried, reg);
    b->is_wide |= pt_type_bits((enum pt_type)b->j->unit->f->regs.v[reg].type) == 64;
    b->ok &= b->j->facts->regs[reg].shape == JIT_VECTOR && b->j->facts->regs[reg].is_per_copy;
}

static uint32_t first_of(struct block *b, uint32_t i)
{
    while (b->strand[i] != i)
        i = b->strand[i] = b->strand[b->strand[i]];
    return i;
}

static void join(void *ud, uint32_t reg, bool is_def)
{
    struct block *b = ud;
    (void)is_def;
    if (!jit_set_has(b->carried, reg))
        return;
    if (b->toucher[reg] != NONE) {
        uint32_t x = first_of(b, b->toucher[reg]), y = first_of(b, b->at);
        b->strand[x < y ? y : x] = x < y ? x : y;
    }
    b->toucher[reg] = b->at;
}

static void note_loader(void *ud, uint32_t reg, bool is_def)
{
    struct block *b = ud;
    if (is_def)
        b->loader[reg] = b->at;
}

/* Instructions that have a register in common which one of them writes belong to one strand. */
static bool find_strands(struct block *b)
{
    for (uint32_t i = 0; i < b->n; i++) {
        if (!is_idle(form_at(b, i)) && !is_silent(b, i))
            return false;
        visit(b, i, note_use);
    }
    for (uint32_t i = 0; i < b->n; i++) {
        b->strand[i] = is_shared_load(b, i) || is_idle(form_at(b, i)) ? NONE : i;
        if (b->strand[i] == i)
            visit(b, i, note_carried);
        else if (b->is_load)
            visit(b, i, note_loader);
        visit(b, i, note_seen);
    }
    memset(b->toucher, 0xff, b->j->unit->f->regs.n * sizeof *b->toucher);
    for (uint32_t i = 0; i < b->n; i++)
        if (b->strand[i] != NONE)
            visit(b, i, join);
    for (uint32_t i = 0; i < b->n; i++) {
        if (b->strand[i] == NONE)
            continue;
        uint32_t first = b->strand[i] == i ? i : first_of(b, i);
        b->strand[i] = first;
    }
    return b->ok;
}

/* Numbers them in the order in which they begin. */
static void number_strands(struct block *b)
{
    uint32_t *number = b->toucher;
    for (uint32_t i = 0; i < b->n; i++) {
        uint32_t first = b->strand[i];
        if (first == NONE)
            continue;
        if (first == i)
            number[i] = b->n_strands++;
        b->strand[i] = number[first];
    }
}

/* ---- parts ----------------------------------------------------------------------------------- */

/* Strands `from` ... `to` - 1. */
struct part {
    uint32_t from, to;
};

static bool is_in_part(const struct block *b, const struct part *p, uint32_t i)
{
    return b->strand[i] != NONE && b->strand[i] >= p->from && b->strand[i] < p->to;
}

static void note_read(void *ud, uint32_t reg, bool is_def)
{
    struct block *b = ud;
    if (!is_def)
        b->last[reg] = b->at;
}

static void place_load(void *ud, uint32_t reg, bool is_def)
{
    struct block *b = ud;
    uint32_t load = b->loader[reg];
    if (is_def || load == NONE || jit_set_has(b->placed, load))
        return;
    jit_set_add(b->placed, load);
    b->order[b->n_order++] = load;
}

/* What the part runs, and where it reads registers last. */
static void order_part(struct block *b, const struct part *p)
{
    b->n_order = 0;
    memset(b->placed, 0, pt_bit_words(b->n) * sizeof *b->placed);
    memset(b->last, 0xff, b->j->unit->f->regs.n * sizeof *b->last);
    for (uint32_t i = 0; i < b->n; i++) {
        if (!is_in_part(b, p, i))
            continue;
        visit(b, i, place_load);
        visit(b, i, note_read);
        b->order[b->n_order++] = i;
    }
}

static uint32_t room_of(const struct jit *j)
{
    return j->unit->cpu->vector_registers - 1;
}

struct pressure {
    struct block *b;
    uint64_t *live;
    uint32_t copies, now, most;
};

static uint32_t weight(const struct pressure *p, uint32_t reg)
{
    const struct jit_reg *r = &p->b->j->facts->regs[reg];
    enum pt_type type = (enum pt_type)p->b->j->unit->f->regs.v[reg].type;
    bool is_number = type == PT_f32 || type == PT_f64;
    if (pt_type_bits(type) == 1 || (r->shape != JIT_VECTOR && !is_number))
        return 0;
    return (pt_type_bits(type) == 64 && r->shape == JIT_VECTOR ? 2 : 1) *
           (r->is_per_copy ? p->copies : 1);
}

static void count(void *ud, uint32_t reg, bool is_def)
{
    struct pressure *p = ud;
    bool was = jit_set_has(p->live, reg), is_over = p->b->last[reg] == p->b->at;
    uint64_t bit = (uint64_t)1 << (reg & 63);
    bool stays = is_def ? p->b->last[reg] != NONE && p->b->last[reg] > p->b->at : !is_over;
    if (!was) {
        p->now += weight(p, reg);
        p->most = p->now > p->most ? p->now : p->most;
    }
    p->now -= stays ? 0 : weight(p, reg);
    p->live[reg / 64] = stays ? p->live[reg / 64] | bit : p->live[reg / 64] & ~bit;
}

/* Vector registers that the part of so many chunks takes. */
static uint32_t find_pressure(struct block *b, const struct part *part, uint32_t copies)
{
    struct pressure p = {.b = b, .copies = copies};
    p.live =
        pt_arena_alloc(b->j->unit->arena, pt_bit_words(b->j->unit->f->regs.n) * sizeof *p.live);
    order_part(b, part);
    for (uint32_t i = 0; i < b->n_order; i++) {
        b->at = b->order[i];
        pt_insn_regs(b->j->unit->m, b->j->unit->f, insn_at(b, b->at), count, &p);
    }
    return p.most;
}

/* From strand `from` on, up to `most` that fit. */
static struct part find_part(struct block *b, uint32_t from, uint32_t most, uint32_t copies)
{
    struct part p = {from, from + 1}, more = {from, from + 2};
    while (more.to <= b->n_strands && more.to - from <= most &&
           find_pressure(b, &more, copies) <= room_of(b->j))
        p.to = more.to++;
    return p;
}

/* ---- the block ------------------------------------------------------------------------------- */

static bool find_block(const struct jit *j, const uint32_t *insns, uint32_t n, struct block *b)
{
    size_t words = pt_bit_words(j->unit->f->regs.n);
    *b = (struct block){.j = j, .insns = insns, .n = n, .ok = true};
    if (n > JIT_CHAIN_SPLIT_INSNS)
        return false;
    uint64_t *sets = pt_arena_alloc(j->unit->arena, 4 * words * sizeof *sets);
    uint32_t most = n > j->unit->f->regs.n ? n : j->unit->f->regs.n;
    b->written = sets;
    b->carried = sets + words;
    b->read = sets + 2 * words;
    b->seen = sets + 3 * words;
    b->strand = pt_arena_alloc(j->unit->arena, n * sizeof *b->strand);
    b->toucher = pt_arena_alloc(j->unit->arena, most * sizeof *b->toucher);
    b->last = pt_arena_alloc(j->unit->arena, j->unit->f->regs.n * sizeof *b->last);
    b->loader = pt_arena_alloc(j->unit->arena, j->unit->f->regs.n * sizeof *b->loader);
    memset(b->loader, 0xff, j->unit->f->regs.n * sizeof *b->loader);
    b->order = pt_arena_alloc(j->unit->arena, n * sizeof *b->order);
    b->placed = pt_arena_alloc(j->unit->arena, pt_bit_words(n) * sizeof *b->placed);
    if (!find_strands(b))
        return false;
    number_strands(b);
    return true;
}

/* Chunks that go together, and the most strands of a part, so that parts are of one size; false:
 * the block had better run as it is. */
static bool find_size(struct block *b, uint32_t *copies, uint32_t *most)
{
    const struct jit *j = b->j;
    struct part all = {0, b->n_strands}, p = {0, 0};
    uint32_t n_parts = 0;
    *copies = j->facts->copies;
    if (!b->n_strands || find_pressure(b, &all, *copies) <= room_of(j))
        return false;
    while (*copies > 1 && find_pressure(b, &all, *copies) > room_of(j))
        *copies /= 2;
    for (; p.to < b->n_strands; n_parts++)
        p = find_part(b, p.to, b->n_strands, *copies);
    *most = (b->n_strands + n_parts - 1) / n_parts;
    return *most * *copies * (b->is_wide ? 2 : 1) >= JIT_CHAIN_SPLIT_STRANDS;
}

bool jit_chain_split_pays(const struct jit *j, const uint32_t *insns, uint32_t n)
{
    struct block b;
    uint32_t copies, most;
    return find_block(j, insns, n, &b) && find_size(&b, &copies, &most);
}

/* What a part loads again is not to be what the part before it loaded, in registers all the
 * while. */
static void forget_loads(const struct jit *j)
{
    LLVMBuildFence(j->code->b, LLVMAtomicOrderingAcquireRelease, true, "");
}

bool jit_chain_split_emit(const struct jit *j, const uint32_t *insns, uint32_t n)
{
    struct block b;
    LLVMValueRef all[JIT_COPIES] = {0};
    uint32_t *some = pt_arena_alloc(j->unit->arena, n * sizeof *some), copies = 0, most;
    bool ok = find_block(j, insns, n, &b) && find_size(&b, &copies, &most);
    for (uint32_t first = 0; first < j->facts->copies && ok; first += copies) {
        struct jit at = *j;
        at.first_copy = first;
        at.end_copy = first + copies;
        for (struct part p = {0, 0}; p.to < b.n_strands && ok;) {
            uint32_t n_some = 0;
            p = find_part(&b, p.to, most, copies);
            order_part(&b, &p);
            for (; n_some < b.n_order; n_some++)
                some[n_some] = insns[b.order[n_some]];
            forget_loads(j);
            ok = jit_block_emit(&at, some, n_some, all);
        }
    }
    return ok;
}
