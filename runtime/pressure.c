/* How many registers a kernel's values need in the orders that an assembler may give its
 * instructions.
 *
 * A *region* is a stretch of blocks that an assembler makes one of, short conditional ones guarded.
 * Its instructions become a list in which each value has a name of its own; a short loop's body may
 * be in it four times. A list is put in order under a *cap*: by latency while that many registers
 * are not exceeded, by what frees most otherwise. Registers are counted in halves, since 16 bits
 * that come or go in pairs share one. */
#include "runtime/pressure.h"

#include <string.h>

#include "ir/bits.h"

#include "runtime/shape.h"

/* The time to order a list grows with its square: of functions longer than LONG the regions are
 * shorter, and a block of more than LIST_MOST stays as it is. */
enum {
    REGION_INSNS = 2000,
    LIST_MOST = 4096,
    LONG = 16384,
    LONG_REGION_INSNS = 250,
    GUARDED_INSNS = 64,
    SHORT_LOOP = 128,
    COPIES = 4,
    REMADE_DEPTH = 3,
    NO_CAP = 1 << 20
};

/* An instruction of the function. */
struct step {
    uint32_t op, effects;
    uint8_t class;           /* of memory: accesses of different ones never meet */
    bool is_load, is_read_only, is_fence, is_slow, is_integer, is_f64;
    int32_t latency;
    uint32_t first, n_uses, n_defs; /* registers: uses, then definitions */
};

enum { CLASS_GLOBAL, CLASS_SHARED, CLASS_LOCAL, CLASS_CONSTANT, CLASSES };

/* An instruction of a list. */
struct item {
    const struct step *step;
    uint32_t first, n_uses, n_defs; /* values: uses, then definitions */
    uint32_t edges, n_before, n_after; /* items: those that come before it, then those after */
    uint32_t waits;                 /* for so many */
    /* only for uniform values and constants: costs vector units nothing */
    bool is_silent;
    bool may_wait;                  /* a load, or an integer that only loads want */
    bool is_issued;
    /* cycles to the end of the list; the first in which its operands are there */
    int32_t height, early;
};

struct value {
    int32_t weight;
    uint32_t total, uses; /* in the list; still to come */
    bool is_in, is_out, is_live;
    uint32_t writer;      /* item + 1 */
    uint32_t readers;     /* since: index + 1 into list.readers */
};

struct pair {
    uint32_t a, b;
};

struct list {
    PT_VEC(struct item) items;
    PT_VEC(uint32_t) values_of;
    PT_VEC(struct value) values;
    PT_VEC(struct pair) readers; /* item, next + 1 */
    PT_VEC(struct pair) arcs;    /* from, to */
    uint32_t *edges, *ready;
    int32_t base;                /* live from end to end and not named */
    int32_t units, most;         /* now and so far */
};

struct scan {
    const struct pt_module *m;
    const struct pt_func *f;
    struct pt_arena *arena;
    struct step *steps;
    PT_VEC(uint32_t) regs;   /* of steps */
    int32_t *weight, *vector; /* by register; vector: 0 for uniform values and constants */
    bool *varies;            /* by register: between threads of the CTA */
    bool *is_constant;       /* by register: in the constant bank, or an immediate */
    uint32_t *made_at;       /* by register: its only definition + 1 */
    uint32_t *name;          /* by register: value + 1 */
    const uint64_t *live_in;
    uint64_t *live_out, *live, *after; /* by block; sets at hand */
    uint32_t words;
    bool wants_defs;
    int32_t *found;
};

static bool has(const uint64_t *set, uint32_t reg)
{
    return set[reg / 64] >> (reg % 64) & 1;
}

static void put(uint64_t *set, uint32_t reg)
{
    set[reg / 64] |= UINT64_C(1) << (reg % 64);
}

static void take(uint64_t *set, uint32_t reg)
{
    set[reg / 64] &= ~(UINT64_C(1) << (reg % 64));
}

/* The first register of the set from `reg` on; UINT32_MAX: none. */
static uint32_t next_in(const uint64_t *set, uint32_t words, uint32_t reg)
{
    uint32_t w = reg / 64;
    uint64_t bits = w < words ? set[w] & UINT64_MAX << (reg % 64) : 0;
    while (!bits && ++w < words)
        bits = set[w];
    return bits ? w * 64 + (uint32_t)__builtin_ctzll(bits) : UINT32_MAX;
}

static void raise(int32_t *most, int32_t n)
{
    if (*most < n)
        *most = n;
}

/* ---- instructions ---------------------------------------------------------------------------- */

static bool starts(const char *text, const char *with)
{
    return !strncmp(text, with, strlen(with));
}

static bool starts_one(const char *text, const char *const *with)
{
    while (*with && !starts(text, *with))
        with++;
    return *with;
}

static void gather(void *ud, uint32_t reg, bool is_def)
{
    struct scan *s = ud;
    if (is_def == s->wants_defs)
        *pt_vec_push(s->arena, &s->regs) = reg;
}

static uint8_t class_of(enum pt_space space)
{
    switch (space) {
    case PT_SPACE_SHARED:
    case PT_SPACE_SHARED_CLUSTER:
        return CLASS_SHARED;
    case PT_SPACE_LOCAL:
        return CLASS_LOCAL;
    case PT_SPACE_PARAM:
    case PT_SPACE_CONST:
        return CLASS_CONSTANT;
    default:
        return CLASS_GLOBAL;
    }
}

static int32_t latency_of(const struct step *t, const char *spelling)
{
    static const char *const approximations[] = {"ex2", "lg2",  "rcp", "rsqrt", "sqrt", "sin",
                                                 "cos", "tanh", "div", "rem",   NULL};
    static const char *const exchanges[] = {"shfl", "vote", "redux",    "match",
                                            "mma",  "wmma", "ldmatrix", NULL};
    if (t->is_load)
        return t->class == CLASS_SHARED ? 24 : t->class == CLASS_CONSTANT ? 8 : 60;
    if (t->effects & PT_FX_ATOMIC)
        return 60;
    if (starts_one(spelling, exchanges))
        return 24;
    if (starts_one(spelling, approximations))
        return 20;
    return t->is_f64 ? 8 : 5;
}

/* A division or root whose rare cases an assembler branches to: nothing moves past it. */
static bool is_slow(const char *spelling)
{
    static const char *const f32[] = {"div.rn", "rcp.rn", "sqrt.rn", NULL};
    static const char *const others[] = {"div", "rem", "rcp.r", "sqrt", NULL};
    if (strstr(spelling, "64"))
        return starts_one(spelling, others);
    return starts_one(spelling, f32);
}

static void count_kind(struct scan *s, const struct step *t, const char *spelling)
{
    static const char *const divisions[] = {"div", "rem", NULL};
    static const char *const approximations[] = {"ex2", "lg2", "rsqrt", "sin", "cos", "tanh", NULL};
    static const char *const matrix[] = {"mma", "wmma.mma", NULL};
    int32_t *n = s->found;
    bool divides = starts_one(spelling, divisions), is_wide = strstr(spelling, "64");
    n[PT_PRESSURE_n_loads] += t->is_load;
    n[PT_PRESSURE_n_stores] += t->effects & PT_FX_WRITE && !(t->effects & PT_FX_READ);
    n[PT_PRESSURE_n_barriers] += (t->effects & PT_FX_CTA) != 0;
    n[PT_PRESSURE_n_shuffles] += starts(spelling, "shfl");
    n[PT_PRESSURE_n_atomics] += (t->effects & PT_FX_ATOMIC) != 0;
    n[PT_PRESSURE_n_copies] += starts(spelling, "cp.async");
    n[PT_PRESSURE_n_slow_f32] += t->is_slow && !is_wide;
    n[PT_PRESSURE_n_slow_f64] += t->is_slow && t->is_f64;
    n[PT_PRESSURE_n_f64] += t->is_f64;
    n[PT_PRESSURE_n_div_32] += divides && !is_wide && t->is_integer;
    n[PT_PRESSURE_n_div_64] += divides && is_wide && t->is_integer;
    n[PT_PRESSURE_n_approx] += starts_one(spelling, approximations);
    n[PT_PRESSURE_n_matrix] += starts_one(spelling, matrix);
    n[PT_PRESSURE_n_wgmma] += starts(spelling, "wgmma.mma");
    n[PT_PRESSURE_n_calls] += (t->effects & PT_FX_CALL) != 0;
}

static void read_step(struct scan *s, uint32_t i)
{
    const struct pt_insn *insn = &s->f->insns.v[i];
    const struct pt_form *form = pt_insn_form(s->m, insn);
    struct step *t = &s->steps[i];
    enum pt_space space = pt_form_space(form);
    t->op = form->op;
    t->effects = form->effects;
    t->class = class_of(space);
    t->is_load = t->effects & PT_FX_READ && !(t->effects & (PT_FX_WRITE | PT_FX_ATOMIC)) &&
                 space != PT_SPACE_PARAM;
    t->is_read_only = t->class == CLASS_CONSTANT || pt_form_has(form, PT_M_nc);
    t->is_fence =
        t->effects & (PT_FX_FENCE | PT_FX_VOLATILE | PT_FX_CTA | PT_FX_CLUSTER | PT_FX_CALL);
    t->is_slow = is_slow(form->spelling);
    t->is_f64 = t->effects & PT_FX_FP && strstr(form->spelling, "f64");
    t->is_integer = !t->effects;
    t->latency = latency_of(t, form->spelling);
    t->first = s->regs.n;
    s->wants_defs = false;
    pt_insn_regs(s->m, s->f, insn, gather, s);
    t->n_uses = s->regs.n - t->first;
    s->wants_defs = true;
    pt_insn_regs(s->m, s->f, insn, gather, s);
    t->n_defs = s->regs.n - t->first - t->n_uses;
    count_kind(s, t, form->spelling);
}

static const uint32_t *uses_of(const struct scan *s, const struct step *t)
{
    return s->regs.v + t->first;
}

static const uint32_t *defs_of(const struct scan *s, const struct step *t)
{
    return s->regs.v + t->first + t->n_uses;
}

/* ---- values ---------------------------------------------------------------------------------- */

static bool is_varying_sreg(const struct scan *s, const struct pt_insn *insn)
{
    const char *name = pt_sreg_spelling((enum pt_sreg)s->f->operands.v[insn->operands + 1].index);
    return !strstr(name, "ctaid") && !strstr(name, "ntid");
}

/* The uniform unit knows integers only. */
static bool step_varies(const struct scan *s, uint32_t i)
{
    const struct step *t = &s->steps[i];
    if (t->effects & (PT_FX_READ | PT_FX_ATOMIC) && t->class != CLASS_CONSTANT)
        return true;
    if (t->effects & (PT_FX_WARP | PT_FX_VOLATILE | PT_FX_FP | PT_FX_CALL))
        return true;
    if (t->op == PT_OP_mov_sreg && is_varying_sreg(s, &s->f->insns.v[i]))
        return true;
    for (uint32_t u = 0; u < t->n_uses; u++)
        if (s->varies[uses_of(s, t)[u]])
            return true;
    return false;
}

static void find_varying(struct scan *s)
{
    for (bool changed = true; changed;) {
        changed = false;
        for (uint32_t i = 0; i < s->f->insns.n; i++) {
            const struct step *t = &s->steps[i];
            const uint32_t *defs = defs_of(s, t);
            bool varies = t->n_defs && step_varies(s, i);
            for (uint32_t d = 0; varies && d < t->n_defs; d++) {
                changed |= !s->varies[defs[d]];
                s->varies[defs[d]] = true;
            }
        }
    }
}

/* Parameters, immediates, addresses of variables, and copies of them. */
static bool makes_constant(const struct scan *s, const struct step *t)
{
    if (t->effects & PT_FX_READ)
        return !t->is_load && t->class == CLASS_CONSTANT;
    if (t->op == PT_OP_mov_addr)
        return true;
    if (t->op != PT_OP_mov && t->op != PT_OP_cvta && t->op != PT_OP_cvta_to)
        return false;
    return !t->n_uses || (t->n_uses == 1 && s->is_constant[uses_of(s, t)[0]]);
}

static void find_constants(struct scan *s)
{
    for (uint32_t i = 0; i < s->f->insns.n; i++) {
        const struct step *t = &s->steps[i];
        const uint32_t *defs = defs_of(s, t);
        for (uint32_t d = 0; d < t->n_defs; d++) {
            if (s->f->regs.v[defs[d]].n_defs != 1)
                continue;
            s->made_at[defs[d]] = i + 1;
            s->is_constant[defs[d]] = makes_constant(s, t);
        }
    }
}

static void weigh(struct scan *s)
{
    bool *is_half = pt_arena_alloc(s->arena, s->f->regs.n * sizeof *is_half);
    for (uint32_t i = 0; i < s->f->insns.n; i++) {
        const struct step *t = &s->steps[i];
        for (uint32_t d = 0; t->op == PT_OP_mov_unpack && d < t->n_defs; d++)
            is_half[defs_of(s, t)[d]] = true;
        for (uint32_t u = 0; t->op == PT_OP_mov_pack && u < t->n_uses; u++)
            is_half[uses_of(s, t)[u]] = true;
    }
    for (uint32_t r = 1; r < s->f->regs.n; r++) {
        uint32_t bits = pt_type_bits(s->f->regs.v[r].type);
        s->weight[r] = bits <= 1                  ? 0
                       : bits <= 16 && is_half[r] ? 1
                                                  : (int32_t)((bits + 31) / 32 * 2);
        s->vector[r] = s->varies[r] && !s->is_constant[r] ? s->weight[r] : 0;
    }
}

/* ---- in the order of the text ---------------------------------------------------------------- */

static void step_back(struct scan *s, uint32_t i)
{
    const struct step *t = &s->steps[i];
    for (uint32_t d = 0; d < t->n_defs && !s->f->insns.v[i].guard; d++)
        take(s->live, defs_of(s, t)[d]);
    for (uint32_t u = 0; u < t->n_uses; u++)
        put(s->live, uses_of(s, t)[u]);
}

static void start_back(struct scan *s, uint32_t block)
{
    memcpy(s->live, s->live_out + (size_t)block * s->words, s->words * sizeof *s->live);
}

static int32_t units_of(const struct scan *s, const int32_t *weight)
{
    int32_t n = 0;
    for (uint32_t r = next_in(s->live, s->words, 0); r != UINT32_MAX;
         r = next_in(s->live, s->words, r + 1))
        n += weight[r];
    return n;
}

/* What step i adds and takes, gone through backwards. */
static int32_t change_back(struct scan *s, uint32_t i, const int32_t *weight)
{
    const struct step *t = &s->steps[i];
    int32_t n = 0;
    for (uint32_t k = 0; k < t->n_uses + t->n_defs; k++)
        n -= has(s->live, uses_of(s, t)[k]) ? weight[uses_of(s, t)[k]] : 0;
    step_back(s, i);
    for (uint32_t k = 0; k < t->n_uses + t->n_defs; k++)
        n += has(s->live, uses_of(s, t)[k]) ? weight[uses_of(s, t)[k]] : 0;
    return n;
}

/* The most in the block, and at what step it is so: behind it where that is the last one + 1. */
static int32_t block_text(struct scan *s, uint32_t b, const int32_t *weight, uint32_t *at)
{
    const struct pt_block *block = &s->f->blocks.v[b];
    start_back(s, b);
    int32_t n = units_of(s, weight), most = n;
    *at = block->first + block->count;
    for (uint32_t i = block->first + block->count; i-- > block->first;) {
        n += change_back(s, i, weight);
        if (n > most) {
            most = n;
            *at = i;
        }
    }
    return most;
}

/* The value is one or few integer instructions away from others that are live. */
static bool is_remade(const struct scan *s, const uint64_t *live, uint32_t reg, int depth)
{
    if (!s->made_at[reg] || depth > REMADE_DEPTH)
        return false;
    const struct step *t = &s->steps[s->made_at[reg] - 1];
    if (!t->is_integer || t->op == PT_OP_mov_sreg)
        return false;
    bool is_from_any = false;
    for (uint32_t u = 0; u < t->n_uses; u++) {
        uint32_t r = uses_of(s, t)[u];
        if (!s->vector[r])
            continue;
        is_from_any = true;
        if (!has(live, r) && !is_remade(s, live, r, depth + 1))
            return false;
    }
    return is_from_any;
}

static int32_t block_remade(struct scan *s, uint32_t b, uint32_t at)
{
    int32_t n = 0;
    start_back(s, b);
    for (uint32_t i = s->f->blocks.v[b].first + s->f->blocks.v[b].count; i-- > at;)
        step_back(s, i);
    for (uint32_t r = next_in(s->live, s->words, 0); r != UINT32_MAX;
         r = next_in(s->live, s->words, r + 1))
        if (s->vector[r] && !is_remade(s, s->live, r, 0))
            n += s->vector[r];
    return n;
}

static void find_text(struct scan *s)
{
    int32_t *uniform = pt_arena_alloc(s->arena, s->f->regs.n * sizeof *uniform);
    int32_t *wide = pt_arena_alloc(s->arena, s->f->regs.n * sizeof *wide);
    for (uint32_t r = 1; r < s->f->regs.n; r++) {
        uniform[r] = s->weight[r] - s->vector[r];
        wide[r] = s->vector[r] > 2 ? s->vector[r] : 0;
    }
    for (uint32_t b = 0; b < s->f->blocks.n; b++) {
        uint32_t at;
        raise(&s->found[PT_PRESSURE_text], block_text(s, b, s->weight, &at));
        raise(&s->found[PT_PRESSURE_uniform], block_text(s, b, uniform, &at));
        raise(&s->found[PT_PRESSURE_wide], block_text(s, b, wide, &at));
        int32_t vector = block_text(s, b, s->vector, &at);
        raise(&s->found[PT_PRESSURE_vector], vector);
        if (s->f->blocks.v[b].loop)
            raise(&s->found[PT_PRESSURE_loop], vector);
        if (vector > s->found[PT_PRESSURE_remade])
            raise(&s->found[PT_PRESSURE_remade], block_remade(s, b, at));
    }
}

/* ---- lists ----------------------------------------------------------------------------------- */

static uint32_t new_value(struct scan *s, struct list *l, uint32_t reg)
{
    pt_vec_push(s->arena, &l->values)->weight = s->vector[reg];
    s->name[reg] = l->values.n;
    return l->values.n - 1;
}

static uint32_t value_of(struct scan *s, struct list *l, uint32_t reg)
{
    if (s->name[reg])
        return s->name[reg] - 1;
    uint32_t v = new_value(s, l, reg);
    l->values.v[v].is_in = !s->is_constant[reg];
    return v;
}

static void add_arc(struct scan *s, struct list *l, uint32_t from, uint32_t to)
{
    if (from != to)
        *pt_vec_push(s->arena, &l->arcs) = (struct pair){from, to};
}

/* Integer units take one constant from its bank; two of 64 bits, and what is added to a product,
 * they want in registers. */
static bool loads_constants(const struct scan *s, const struct step *t)
{
    return t->is_integer && t->n_defs && s->vector[defs_of(s, t)[0]];
}

static void add_use(struct scan *s, struct list *l, uint32_t item, uint32_t reg)
{
    uint32_t v = value_of(s, l, reg);
    struct value *value = &l->values.v[v];
    value->total++;
    if (s->is_constant[reg] && loads_constants(s, l->items.v[item].step))
        value->weight = s->weight[reg];
    if (value->writer)
        add_arc(s, l, value->writer - 1, item);
    *pt_vec_push(s->arena, &l->readers) = (struct pair){item, value->readers};
    l->values.v[v].readers = l->readers.n;
    *pt_vec_push(s->arena, &l->values_of) = v;
    l->items.v[item].n_uses++;
}

static void add_def(struct scan *s, struct list *l, uint32_t item, uint32_t reg, bool is_partial)
{
    uint32_t v = is_partial ? value_of(s, l, reg) : new_value(s, l, reg);
    struct value *value = &l->values.v[v];
    for (uint32_t r = value->readers; r; r = l->readers.v[r - 1].b)
        add_arc(s, l, l->readers.v[r - 1].a, item);
    if (value->writer)
        add_arc(s, l, value->writer - 1, item);
    value->readers = 0;
    value->writer = item + 1;
    *pt_vec_push(s->arena, &l->values_of) = v;
    l->items.v[item].n_defs++;
}

static bool is_silent(const struct scan *s, const struct step *t)
{
    if (t->effects & ~(uint32_t)PT_FX_READ || t->is_load)
        return false;
    for (uint32_t d = 0; d < t->n_defs; d++)
        if (s->varies[defs_of(s, t)[d]] && !s->is_constant[defs_of(s, t)[d]])
            return false;
    return true;
}

static void add_item(struct scan *s, struct list *l, uint32_t insn, bool is_conditional)
{
    const struct step *t = &s->steps[insn];
    if (t->effects & (PT_FX_BRANCH | PT_FX_END) && !(t->effects & PT_FX_CALL))
        return;
    uint32_t at = l->items.n;
    struct item *item = pt_vec_push(s->arena, &l->items);
    item->step = t;
    item->first = l->values_of.n;
    item->is_silent = is_silent(s, t);
    for (uint32_t u = 0; u < t->n_uses; u++)
        add_use(s, l, at, uses_of(s, t)[u]);
    for (uint32_t d = 0; d < t->n_defs; d++) {
        uint32_t reg = defs_of(s, t)[d];
        bool is_partial =
            (is_conditional || s->f->insns.v[insn].guard) && s->f->regs.v[reg].n_defs > 1;
        add_def(s, l, at, reg, is_partial);
    }
}

/* ---- what must stay in order ----------------------------------------------------------------- */

struct memory {
    uint32_t store[CLASSES]; /* item + 1 */
    uint32_t loads[CLASSES]; /* since: item + 1 */
    uint32_t *next_load;     /* by item */
    uint32_t fence;          /* item + 1 */
    uint32_t wall;           /* likewise: of those that are slow */
};

static void order_access(struct scan *s, struct list *l, struct memory *m, uint32_t i)
{
    const struct step *t = l->items.v[i].step;
    bool writes = t->effects & (PT_FX_WRITE | PT_FX_ATOMIC);
    if ((t->is_load && t->is_read_only) || !(writes || t->is_load))
        return;
    if (m->store[t->class])
        add_arc(s, l, m->store[t->class] - 1, i);
    if (!writes) {
        m->next_load[i] = m->loads[t->class];
        m->loads[t->class] = i + 1;
        return;
    }
    for (uint32_t r = m->loads[t->class]; r; r = m->next_load[r - 1])
        add_arc(s, l, r - 1, i);
    m->loads[t->class] = 0;
    m->store[t->class] = i + 1;
}

static void order_memory(struct scan *s, struct list *l)
{
    struct memory m = {.next_load = pt_arena_alloc(s->arena, (l->items.n + 1) * sizeof(uint32_t))};
    for (uint32_t i = 0; i < l->items.n; i++) {
        const struct step *t = l->items.v[i].step;
        bool is_memory = t->is_fence || t->effects & (PT_FX_READ | PT_FX_WRITE | PT_FX_ATOMIC);
        if (m.fence && is_memory)
            add_arc(s, l, m.fence - 1, i);
        if (m.wall)
            add_arc(s, l, m.wall - 1, i);
        for (uint32_t p = m.fence ? m.fence - 1 : 0; p < i && t->is_fence; p++)
            if (l->items.v[p].step->effects & (PT_FX_READ | PT_FX_WRITE | PT_FX_ATOMIC))
                add_arc(s, l, p, i);
        for (uint32_t p = m.wall ? m.wall - 1 : 0; p < i && t->is_slow; p++)
            add_arc(s, l, p, i);
        order_access(s, l, &m, i);
        if (t->is_fence)
            m.fence = i + 1;
        if (t->is_slow)
            m.wall = i + 1;
    }
}

/* Arcs by item, and how long it is from each to the end. */
static void finish_list(struct scan *s, struct list *l)
{
    uint32_t n = l->items.n, at = 0;
    struct item *items = l->items.v;
    order_memory(s, l);
    for (uint32_t a = 0; a < l->arcs.n; a++) {
        items[l->arcs.v[a].a].n_after++;
        items[l->arcs.v[a].b].n_before++;
    }
    for (uint32_t i = 0; i < n; i++) {
        items[i].edges = at;
        at += items[i].n_before + items[i].n_after;
        items[i].waits = items[i].n_before;
        items[i].n_after = 0;
    }
    l->edges = pt_arena_alloc(s->arena, (at + 1) * sizeof *l->edges);
    l->ready = pt_arena_alloc(s->arena, (n + 1) * sizeof *l->ready);
    for (uint32_t a = 0; a < l->arcs.n; a++) {
        struct item *from = &items[l->arcs.v[a].a], *to = &items[l->arcs.v[a].b];
        l->edges[to->edges + --to->waits] = l->arcs.v[a].a;
        l->edges[from->edges + from->n_before + from->n_after++] = l->arcs.v[a].b;
    }
    for (uint32_t i = n; i-- > 0;) {
        const uint32_t *after = l->edges + items[i].edges + items[i].n_before;
        bool for_loads = items[i].step->is_integer && items[i].n_after;
        for (uint32_t e = 0; e < items[i].n_after; e++) {
            raise(&items[i].height, items[after[e]].height);
            for_loads &= items[after[e]].may_wait;
        }
        items[i].may_wait = items[i].step->is_load || for_loads;
        items[i].height += items[i].is_silent ? 0 : items[i].step->latency;
    }
}

/* ---- orders ---------------------------------------------------------------------------------- */

static void start_order(struct list *l)
{
    l->units = l->base;
    for (uint32_t v = 0; v < l->values.n; v++) {
        struct value *value = &l->values.v[v];
        value->uses = value->total;
        value->is_live = value->is_in && (value->total || value->is_out);
        l->units += value->is_live ? value->weight : 0;
    }
    for (uint32_t i = 0; i < l->items.n; i++) {
        l->items.v[i].waits = l->items.v[i].n_before;
        l->items.v[i].is_issued = false;
        l->items.v[i].early = 0;
    }
    l->most = l->units;
}

static void set_live(struct list *l, struct value *v, bool is_live)
{
    if (v->is_live == is_live)
        return;
    v->is_live = is_live;
    l->units += is_live ? v->weight : -v->weight;
    raise(&l->most, l->units);
}

static void issue(struct list *l, struct item *item)
{
    const uint32_t *values = l->values_of.v + item->first, n = item->n_uses + item->n_defs;
    item->is_issued = true;
    for (uint32_t u = 0; u < item->n_uses; u++)
        set_live(l, &l->values.v[values[u]], true);
    for (uint32_t u = 0; u < item->n_uses; u++) {
        struct value *v = &l->values.v[values[u]];
        if (!--v->uses && !v->is_out)
            set_live(l, v, false);
    }
    for (uint32_t d = item->n_uses; d < n; d++)
        set_live(l, &l->values.v[values[d]], true);
    for (uint32_t d = item->n_uses; d < n; d++)
        if (!l->values.v[values[d]].uses && !l->values.v[values[d]].is_out)
            set_live(l, &l->values.v[values[d]], false);
}

static int32_t order_text(struct list *l)
{
    start_order(l);
    for (uint32_t i = 0; i < l->items.n; i++)
        issue(l, &l->items.v[i]);
    return l->most;
}

/* Issues an item behind what it waits for. `ready` is the stack. */
static void issue_wanted(struct list *l, uint32_t i)
{
    uint32_t n = 0;
    l->ready[n++] = i;
    while (n) {
        struct item *item = &l->items.v[l->ready[n - 1]];
        while (item->waits && l->items.v[l->edges[item->edges + item->waits - 1]].is_issued)
            item->waits--;
        if (item->waits) {
            l->ready[n++] = l->edges[item->edges + item->waits - 1];
            continue;
        }
        issue(l, item);
        n--;
    }
}

/* Loads and their addresses (`all`: whatever writes nothing) when they are wanted. */
static int32_t order_late(struct list *l, bool all)
{
    start_order(l);
    for (uint32_t pass = 0; pass < 2; pass++)
        for (uint32_t i = 0; i < l->items.n; i++) {
            const struct step *t = l->items.v[i].step;
            bool may_wait = l->items.v[i].may_wait || (all && !(t->effects & ~(uint32_t)PT_FX_FP));
            if (!l->items.v[i].is_issued && (pass || !may_wait))
                issue_wanted(l, i);
        }
    return l->most;
}

/* Halves that the item adds. */
static int32_t growth(const struct list *l, const struct item *item)
{
    const uint32_t *values = l->values_of.v + item->first;
    int32_t n = 0;
    for (uint32_t u = 0; u < item->n_uses; u++) {
        const struct value *v = &l->values.v[values[u]];
        if (v->is_live && v->uses == 1 && !v->is_out)
            n -= v->weight;
        else if (!v->is_live && v->uses > 1)
            n += v->weight;
    }
    for (uint32_t d = item->n_uses; d < item->n_uses + item->n_defs; d++)
        n += l->values.v[values[d]].is_live ? 0 : l->values.v[values[d]].weight;
    return n;
}

struct choice {
    uint32_t best, least; /* in `ready`; best: UINT32_MAX: none */
    int32_t soon;         /* when the first of those that fit will have its operands */
};

static struct choice choose(const struct list *l, uint32_t n, int32_t cap, int32_t cycle)
{
    struct choice c = {UINT32_MAX, 0, INT32_MAX};
    int32_t least = INT32_MAX, height = -1;
    for (uint32_t q = 0; q < n; q++) {
        const struct item *item = &l->items.v[l->ready[q]];
        int32_t grows = growth(l, item);
        if (grows < least || (grows == least && l->ready[q] < l->ready[c.least])) {
            least = grows;
            c.least = q;
        }
        if (grows > 0 && l->units + grows > cap)
            continue;
        if (item->early < c.soon)
            c.soon = item->early;
        if (item->early > cycle)
            continue;
        if (item->height > height || (item->height == height && l->ready[q] < l->ready[c.best])) {
            height = item->height;
            c.best = q;
        }
    }
    return c;
}

static int32_t order_capped(struct list *l, int32_t cap)
{
    uint32_t n = 0;
    int32_t cycle = 0;
    if (l->items.n > LIST_MOST)
        return order_text(l);
    start_order(l);
    for (uint32_t i = 0; i < l->items.n; i++)
        if (!l->items.v[i].n_before)
            l->ready[n++] = i;
    while (n) {
        struct choice c = choose(l, n, cap, cycle);
        if (c.best == UINT32_MAX && c.soon != INT32_MAX && c.soon > cycle) {
            cycle = c.soon;
            continue;
        }
        uint32_t q = c.best == UINT32_MAX ? c.least : c.best;
        struct item *item = &l->items.v[l->ready[q]];
        l->ready[q] = l->ready[--n];
        raise(&cycle, item->early);
        issue(l, item);
        int32_t done = cycle + (item->is_silent ? 0 : item->step->latency);
        cycle += !item->is_silent;
        const uint32_t *after = l->edges + item->edges + item->n_before;
        for (uint32_t e = 0; e < item->n_after; e++) {
            raise(&l->items.v[after[e]].early, done);
            if (!--l->items.v[after[e]].waits)
                l->ready[n++] = after[e];
        }
    }
    return l->most;
}

/* ---- regions --------------------------------------------------------------------------------- */

struct region {
    uint32_t first, end; /* blocks */
    uint32_t insns;
    bool is_short_loop;
};

static bool is_in(const struct region *r, uint32_t block)
{
    return block >= r->first && block < r->end;
}

static bool is_always_run(const struct scan *s, const struct region *r, uint32_t block)
{
    uint32_t b = r->first;
    while (b < block)
        b = s->f->blocks.v[b].ipdom;
    return b == block;
}

static bool may_join(const struct scan *s, const struct region *r)
{
    if (r->end == s->f->blocks.n)
        return false;
    const struct pt_block *block = &s->f->blocks.v[r->end];
    const uint32_t most = s->f->insns.n > LONG ? LONG_REGION_INSNS : REGION_INSNS;
    if (block->loop != s->f->blocks.v[r->first].loop || r->insns + block->count > most)
        return false;
    if (s->steps[block->first].effects & (PT_FX_CTA | PT_FX_CLUSTER | PT_FX_CALL))
        return false;
    for (uint32_t p = 0; p < block->n_pred; p++)
        if (!is_in(r, s->f->edges.v[block->pred + p]))
            return false;
    return block->count <= GUARDED_INSNS || is_always_run(s, r, r->end);
}

static struct region find_region(const struct scan *s, uint32_t first)
{
    const struct pt_block *block = &s->f->blocks.v[first];
    struct region r = {.first = first, .end = first + 1, .insns = block->count};
    while (may_join(s, &r))
        r.insns += s->f->blocks.v[r.end++].count;
    if (block->loop) {
        const struct pt_loop *loop = &s->f->loops.v[block->loop - 1];
        r.is_short_loop = loop->header == r.first && loop->end == r.end && r.insns <= SHORT_LOOP;
    }
    return r;
}

/* Registers live behind the region. */
static void find_after(struct scan *s, const struct region *r)
{
    memset(s->after, 0, s->words * sizeof *s->after);
    for (uint32_t b = r->first; b < r->end; b++) {
        const struct pt_block *block = &s->f->blocks.v[b];
        for (uint32_t e = 0; e < block->n_succ; e++) {
            uint32_t to = s->f->edges.v[block->succ + e];
            for (uint32_t w = 0; w < s->words && (!is_in(r, to) || to == r->first); w++)
                s->after[w] |= s->live_in[(size_t)to * s->words + w];
        }
    }
}

static void make_list(struct scan *s, struct list *l, const struct region *r, unsigned copies)
{
    const uint64_t *in = s->live_in + (size_t)r->first * s->words;
    memset(l, 0, sizeof *l);
    memset(s->name, 0, s->f->regs.n * sizeof *s->name);
    *pt_vec_push(s->arena, &l->values_of) = 0;
    for (unsigned k = 0; k < copies; k++)
        for (uint32_t b = r->first; b < r->end; b++) {
            const struct pt_block *block = &s->f->blocks.v[b];
            bool is_conditional = !is_always_run(s, r, b);
            for (uint32_t i = 0; i < block->count; i++)
                add_item(s, l, block->first + i, is_conditional);
        }
    find_after(s, r);
    for (uint32_t reg = next_in(s->after, s->words, 0); reg != UINT32_MAX;
         reg = next_in(s->after, s->words, reg + 1)) {
        if (s->name[reg] && !s->is_constant[reg])
            l->values.v[s->name[reg] - 1].is_out = true;
        if (!s->name[reg] && s->vector[reg] && has(in, reg) && !is_remade(s, in, reg, 0))
            l->base += s->vector[reg];
    }
    finish_list(s, l);
}

static void count_loads(struct scan *s, const struct region *r)
{
    int32_t loads = 0, shared = 0;
    const struct pt_block *first = &s->f->blocks.v[r->first], *last = &s->f->blocks.v[r->end - 1];
    for (uint32_t i = first->first; i < last->first + last->count; i++) {
        const struct step *t = &s->steps[i];
        int32_t n = 0;
        for (uint32_t d = 0; d < t->n_defs; d++)
            n += s->weight[defs_of(s, t)[d]];
        if (!t->is_load)
            continue;
        *(t->class == CLASS_SHARED ? &shared : &loads) += n;
        raise(&s->found[PT_PRESSURE_widest], n);
    }
    raise(&s->found[PT_PRESSURE_loads], loads);
    raise(&s->found[PT_PRESSURE_shared_loads], shared);
    if (first->loop)
        raise(&s->found[PT_PRESSURE_loop_loads], loads);
}

enum { OVERHEAD = 4 };

/* Registers of a thread with which an SM holds fewer warps than with one less. */
static int32_t step_above(int32_t registers)
{
    static const int32_t steps[] = {32, 40, 48, 56, 64, 72, 80, 96, 128, 168, 255};
    unsigned k = 0;
    while (steps[k] < registers && steps[k] < 255)
        k++;
    return steps[k];
}

static int32_t cap_of(int32_t registers)
{
    return 2 * (registers - OVERHEAD);
}

static void try_orders(struct scan *s, struct list *l)
{
    int32_t *n = s->found, late = order_late(l, false), lazy = order_late(l, true),
            greedy = order_capped(l, 0), text = order_text(l);
    int32_t least = late < lazy ? late : lazy;
    least = least < greedy ? least : greedy;
    raise(&n[PT_PRESSURE_late], late);
    raise(&n[PT_PRESSURE_greedy], greedy);
    raise(&n[PT_PRESSURE_least], least < text ? least : text);
    raise(&n[PT_PRESSURE_most], order_capped(l, NO_CAP));
    raise(&n[PT_PRESSURE_within_32], order_capped(l, cap_of(32)));
    raise(&n[PT_PRESSURE_within_64], order_capped(l, cap_of(64)));
    raise(&n[PT_PRESSURE_within_128], order_capped(l, cap_of(128)));
}

static void find_orders(struct scan *s)
{
    PT_VEC(struct list) lists = {0}, copied = {0};
    int32_t *n = s->found;
    for (uint32_t b = 0; b < s->f->blocks.n;) {
        struct region r = find_region(s, b);
        struct list *l = pt_vec_push(s->arena, &lists);
        make_list(s, l, &r, 1);
        try_orders(s, l);
        count_loads(s, &r);
        raise(&n[PT_PRESSURE_region], (int32_t)r.insns);
        n[PT_PRESSURE_short_loops] += r.is_short_loop;
        struct list *c = pt_vec_push(s->arena, &copied);
        if (r.is_short_loop)
            make_list(s, c, &r, COPIES);
        else
            *c = *l;
        b = r.end;
    }
    n[PT_PRESSURE_regions] = (int32_t)lists.n;
    n[PT_PRESSURE_step] =
        s->f->minnctapersm ? n[PT_PRESSURE_bound] : step_above(n[PT_PRESSURE_least] / 2 + OVERHEAD);
    int32_t cap = cap_of(n[PT_PRESSURE_step]);
    for (uint32_t k = 0; k < lists.n; k++) {
        raise(&n[PT_PRESSURE_capped], order_capped(&lists.v[k], cap));
        raise(&n[PT_PRESSURE_capped_unrolled], order_capped(&copied.v[k], cap));
        raise(&n[PT_PRESSURE_unrolled], order_capped(&copied.v[k], NO_CAP));
    }
}

/* ---- all ------------------------------------------------------------------------------------- */

/* Loads of a loop that writes nothing, from places that it does not change. */
static int32_t loop_hoists(const struct scan *s, const struct pt_loop *loop)
{
    const struct pt_block *blocks = s->f->blocks.v;
    uint32_t from = blocks[loop->header].first,
             to = blocks[loop->end - 1].first + blocks[loop->end - 1].count;
    int32_t n = 0;
    for (uint32_t i = from; i < to; i++) {
        const struct step *t = &s->steps[i];
        bool stays = t->is_load;
        if (t->is_fence || t->effects & (PT_FX_WRITE | PT_FX_ATOMIC))
            return 0;
        for (uint32_t u = 0; u < t->n_uses; u++) {
            uint32_t at = s->made_at[uses_of(s, t)[u]];
            stays &= at && (at - 1 < from || at - 1 >= to);
        }
        for (uint32_t d = 0; stays && d < t->n_defs; d++)
            n += s->weight[defs_of(s, t)[d]];
    }
    return n;
}

static void count_function(struct scan *s)
{
    int32_t *n = s->found;
    n[PT_PRESSURE_insns] = (int32_t)s->f->insns.n;
    n[PT_PRESSURE_blocks] = (int32_t)s->f->blocks.n;
    n[PT_PRESSURE_loops] = (int32_t)s->f->loops.n;
    n[PT_PRESSURE_n_params] = (int32_t)s->f->params.n;
    n[PT_PRESSURE_local] = (int32_t)s->f->local_size;
    for (uint32_t p = 0; p < s->f->params.n; p++)
        n[PT_PRESSURE_n_pointers] += s->m->symbols.v[s->f->params.v[p]].size == 8;
    for (uint32_t k = 0; k < s->f->loops.n; k++) {
        int32_t depth = 0;
        for (uint32_t l = k + 1; l; l = s->f->loops.v[l - 1].parent)
            depth++;
        raise(&n[PT_PRESSURE_depth], depth);
        raise(&n[PT_PRESSURE_hoisted], loop_hoists(s, &s->f->loops.v[k]));
    }
}

static void find_live_out(struct scan *s)
{
    s->live_out = pt_arena_alloc(s->arena, (size_t)s->f->blocks.n * s->words * sizeof *s->live_out);
    for (uint32_t b = 0; b < s->f->blocks.n; b++) {
        const struct pt_block *block = &s->f->blocks.v[b];
        for (uint32_t e = 0; e < block->n_succ; e++)
            for (uint32_t w = 0; w < s->words; w++)
                s->live_out[(size_t)b * s->words + w] |=
                    s->live_in[(size_t)s->f->edges.v[block->succ + e] * s->words + w];
    }
}

uint32_t pt_pressure_bound(const struct pt_func *f)
{
    enum { WARP = PT_DEVICE_WARP, UNIT = PT_DEVICE_REGISTER_UNIT / WARP, FEWEST = UNIT };
    enum { PARTS = PT_DEVICE_SM_PARTITIONS, PART_REGISTERS = PT_DEVICE_SM_REGISTERS / PARTS };
    uint32_t most = f->maxnreg && f->maxnreg < PT_DEVICE_THREAD_REGISTERS
                        ? f->maxnreg
                        : PT_DEVICE_THREAD_REGISTERS;
    uint64_t threads = pt_shape_declared_threads(f);
    if (!threads || threads > PT_DEVICE_BLOCK_THREADS)
        return most;
    uint64_t warps = (threads + WARP - 1) / WARP * (f->minnctapersm ? f->minnctapersm : 1);
    uint64_t room = PART_REGISTERS / ((warps + PARTS - 1) / PARTS * WARP) / UNIT * UNIT;
    /* Out of range, .minnctapersm is ignored, as ptxas does. */
    return room >= FEWEST && room < most ? (uint32_t)room : most;
}

void pt_pressure_find(const struct pt_module *m, const struct pt_func *f, int32_t *pressure,
                      struct pt_arena *arena)
{
    struct scan s = {
        .m = m, .f = f, .arena = arena, .words = pt_bit_words(f->regs.n), .found = pressure};
    memset(pressure, 0, PT_PRESSURE_COUNT * sizeof *pressure);
    pressure[PT_PRESSURE_bound] = (int32_t)pt_pressure_bound(f);
    s.steps = pt_arena_alloc(arena, f->insns.n * sizeof *s.steps);
    s.weight = pt_arena_alloc(arena, f->regs.n * sizeof *s.weight);
    s.vector = pt_arena_alloc(arena, f->regs.n * sizeof *s.vector);
    s.varies = pt_arena_alloc(arena, f->regs.n * sizeof *s.varies);
    s.is_constant = pt_arena_alloc(arena, f->regs.n * sizeof *s.is_constant);
    s.made_at = pt_arena_alloc(arena, f->regs.n * sizeof *s.made_at);
    s.name = pt_arena_alloc(arena, f->regs.n * sizeof *s.name);
    s.live = pt_arena_alloc(arena, s.words * sizeof *s.live);
    s.after = pt_arena_alloc(arena, s.words * sizeof *s.after);
    s.live_in = pt_live_in(m, f, arena);
    *pt_vec_push(arena, &s.regs) = 0; /* never empty, nor values_of */
    for (uint32_t i = 0; i < f->insns.n; i++)
        read_step(&s, i);
    find_varying(&s);
    find_constants(&s);
    weigh(&s);
    find_live_out(&s);
    find_text(&s);
    find_orders(&s);
    count_function(&s);
}
