/* How values and control differ between threads: the analysis behind ir/uniformity.h.
 *
 * All starts out as good as can be (nothing known of registers, all branches uniform) and is made
 * worse, until every definition, branch and waiting place agrees with what the others say: an
 * optimistic fixpoint.
 *
 * Waiting places. Two lanes at different blocks are a *pair* (runs, waits): of the two, which runs
 * first follows from the order of the blocks, as other lanes do not change it. A branch that varies
 * makes pairs of its successors; when the lane that runs goes on to a successor, the two have met,
 * or are a pair again. So waits(b) is exactly what can happen, loops left at different times and
 * irreducible graphs included. The order: the lower block first; but where a lane waits at the
 * header of a loop for the next iteration, the other runs first as long as it stays in that loop.
 *
 * A register written in b while another lane waits at x, where the register is live, is not the
 * same in the two lanes: so what is written at different times (in iterations that only some lanes
 * run) or at different places counts as different.
 */
#include "ir/uniformity.h"

#include "ir/affine.h"
#include "ir/bits.h"
#include "ir/insn.h"
#include "ir/liveness.h"
#include "ir/row.h"

enum { WARP_SIZE = 32 };

/* The pairs of lanes of a group, or of a CTA. */
struct fronts {
    enum pt_level level; /* branches above it part lanes */
    const uint8_t *stops; /* enum pt_stop by block, or NULL */
    uint64_t *stuck;      /* set of blocks */
    uint64_t *waits;     /* by block: the set of blocks where others wait while it runs */
    uint64_t *done;      /* by block: those that were followed through it */
    uint8_t *is_open;    /* by block: its set has new members */
    uint8_t *is_parted;  /* by block: its branch has made its pairs */
    bool any_open;
};

struct uniformity {
    const struct pt_module *m;
    const struct pt_func *f;
    const struct pt_uniformity_shape *shape;
    uint32_t lanes[PT_SPANS], threads; /* of the spans, of the CTA (0: not known) */
    const uint64_t *live_in;
    size_t reg_words, block_words;
    struct pt_affine *facts; /* by register; the last is CC.CF */
    uint32_t *outermost;   /* by block: header of the outermost loop around it, or UINT32_MAX */
    struct fronts cta, group;
    bool changes;

    /* the instruction at hand */
    uint32_t block;
    const struct pt_insn *insn;
    const struct pt_form *form;
    const struct pt_operand *o;
    struct pt_affine fact; /* what it gives its destinations */
    bool has_guard_passed; /* of its sources as they are visited */
    const uint64_t *live;  /* registers live where others wait */
    enum pt_level waiting; /* the level of those */
};

static bool has_bit(const uint64_t *set, uint32_t i)
{
    return set[i / 64] >> (i & 63) & 1;
}

static unsigned reg_bits(const struct uniformity *v, uint32_t reg)
{
    unsigned bits = reg < v->f->regs.n ? pt_type_bits((enum pt_type)v->f->regs.v[reg].type) : 1;
    return bits < 64 ? bits : 64;
}

/* ---- special registers ----------------------------------------------------------------------- */

static struct uniformity with_shape(const struct pt_uniformity_shape *shape)
{
    return (struct uniformity){
        .shape = shape,
        .lanes = {shape->width, shape->width * shape->copies},
        .threads = shape->block[0] * shape->block[1] * shape->block[2],
    };
}

static struct pt_affine bounded(enum pt_level level, uint64_t max)
{
    struct pt_affine fact = pt_affine_any(level, 32);
    fact.max = max;
    return max ? fact : pt_affine_const(0, 32);
}

static struct pt_affine tid_fact(const struct uniformity *v, unsigned dim)
{
    static const uint32_t limit[3] = {1024, 1024, 64};
    if (!v->threads)
        return bounded(PT_LEVEL_LANE, limit[dim] - 1);
    uint32_t n = v->shape->block[dim], inner = 1;
    for (unsigned i = 0; i < dim; i++)
        inner *= v->shape->block[i];
    bool is_last = inner * n == v->threads;
    if (n > 1 && inner == 1 && (is_last || n % v->lanes[PT_SPAN_CHUNK] == 0))
        return pt_affine_lanes(v->lanes, is_last || n % v->lanes[PT_SPAN_GROUP] == 0, n);
    bool is_uniform = inner % v->lanes[PT_SPAN_CHUNK] == 0;
    return bounded(!is_uniform                            ? PT_LEVEL_LANE
                   : inner % v->lanes[PT_SPAN_GROUP] == 0 ? PT_LEVEL_GROUP
                                                          : PT_LEVEL_CHUNK,
                   n - 1);
}

static struct pt_affine sreg_fact(const struct uniformity *v, enum pt_sreg sreg)
{
    bool is_in_warp = v->lanes[PT_SPAN_GROUP] <= WARP_SIZE;
    switch (sreg) {
    case PT_SREG_tid_x:
    case PT_SREG_tid_y:
    case PT_SREG_tid_z:
        return tid_fact(v, sreg - PT_SREG_tid_x);
    case PT_SREG_ntid_x:
    case PT_SREG_ntid_y:
    case PT_SREG_ntid_z:
        return v->threads ? pt_affine_const(v->shape->block[sreg - PT_SREG_ntid_x], 32)
                          : bounded(PT_LEVEL_CTA, 1024);
    case PT_SREG_laneid:
        return pt_affine_lanes(v->lanes, is_in_warp, WARP_SIZE);
    case PT_SREG_warpid:
        return bounded(is_in_warp ? PT_LEVEL_GROUP : PT_LEVEL_CHUNK,
                       v->threads ? (v->threads - 1) / WARP_SIZE : WARP_SIZE - 1);
    case PT_SREG_lanemask_eq:
    case PT_SREG_lanemask_le:
    case PT_SREG_lanemask_lt:
    case PT_SREG_lanemask_ge:
    case PT_SREG_lanemask_gt:
    case PT_SREG_clock:
    case PT_SREG_clock_hi:
    case PT_SREG_clock64:
    case PT_SREG_globaltimer:
    case PT_SREG_globaltimer_lo:
    case PT_SREG_globaltimer_hi:
        return pt_affine_any(PT_LEVEL_LANE, 64);
    default:
        return pt_affine_any(PT_LEVEL_CTA, pt_type_bits(pt_sreg_type(sreg)));
    }
}

/* The level a shape gives a value that is known to have `level`. */
static uint8_t settled(const struct uniformity *v, uint8_t level)
{
    if (level == PT_LEVEL_CHUNK && v->shape->copies == 1)
        level = PT_LEVEL_GROUP;
    if (level == PT_LEVEL_GROUP && v->threads && v->threads <= v->lanes[PT_SPAN_GROUP])
        level = PT_LEVEL_CTA;
    return level;
}

static struct pt_value value_of(const struct uniformity *v, const struct pt_affine *fact)
{
    bool is_aligned = fact->is_affine || fact->level < PT_LEVEL_LANE;
    return (struct pt_value){.level = settled(v, fact->level),
                             .is_affine = fact->is_affine,
                             .spans_group = fact->is_affine && fact->is_affine_in_group,
                             .may_wrap = fact->may_wrap,
                             .align_log2 = is_aligned ? fact->align[PT_SPAN_CHUNK] : 0,
                             .stride = fact->stride};
}

struct pt_value pt_uniformity_sreg(const struct pt_uniformity_shape *shape, enum pt_sreg sreg)
{
    struct uniformity v = with_shape(shape);
    struct pt_affine fact = sreg_fact(&v, sreg);
    return value_of(&v, &fact);
}

/* ---- operands -------------------------------------------------------------------------------- */

/* In a window of each thread: local variables, and parameters other than the kernel's. */
static bool is_own(const struct uniformity *v, uint32_t symbol)
{
    const struct pt_symbol *s = &v->m->symbols.v[symbol];
    if (s->space != PT_SPACE_PARAM)
        return s->space == PT_SPACE_LOCAL;
    for (uint32_t i = 0; v->f->is_entry && i < v->f->params.n; i++)
        if (v->f->params.v[i] == symbol)
            return false;
    return true;
}

/* In a kernel all threads have a variable at the same place of their windows. */
static struct pt_affine symbol_fact(const struct uniformity *v, const struct pt_operand *o)
{
    const struct pt_symbol *s = &v->m->symbols.v[o->index];
    if (is_own(v, o->index) && (!v->f->is_entry || (o->flags & PT_OPND_GENERIC)))
        return pt_affine_any(PT_LEVEL_LANE, 64);
    struct pt_affine fact = pt_affine_any(PT_LEVEL_CTA, 64);
    uint64_t unit = (uint64_t)o->imm | s->align;
    uint8_t align = unit ? (uint8_t)__builtin_ctzll(unit) : 0;
    fact.align[PT_SPAN_CHUNK] = fact.align[PT_SPAN_GROUP] = align;
    return fact;
}

static struct pt_affine operand_fact(const struct uniformity *v, const struct pt_operand *o,
                                     unsigned bits)
{
    switch (o->kind) {
    case PT_OPND_REG:
        return v->facts[o->index];
    case PT_OPND_IMM:
        return pt_affine_const((uint64_t)o->imm, bits);
    case PT_OPND_SREG:
        return sreg_fact(v, (enum pt_sreg)o->index);
    case PT_OPND_SYM:
        return symbol_fact(v, o);
    default:
        return pt_affine_any(PT_LEVEL_CTA, bits);
    }
}

static void add_source(void *ud, uint32_t reg, bool is_def)
{
    struct uniformity *v = ud;
    const struct pt_affine *fact = &v->facts[reg];
    bool is_guard = reg == v->insn->guard && !v->has_guard_passed;
    v->has_guard_passed |= is_guard;
    if (is_def || is_guard)
        return;
    if (!fact->is_known)
        v->fact.is_known = false;
    if (fact->level > v->fact.level)
        v->fact.level = fact->level;
}

/* Special registers among the operands, and addresses in windows of each thread. */
static void add_places(struct uniformity *v, const struct pt_operand *o, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        if (o[i].kind == PT_OPND_VEC)
            add_places(v, v->f->operands.v + o[i].index, (uint32_t)o[i].imm);
        if (o[i].kind != PT_OPND_SREG && o[i].kind != PT_OPND_SYM)
            continue;
        struct pt_affine fact = operand_fact(v, &o[i], 64);
        if (fact.level > v->fact.level)
            v->fact.level = fact.level;
    }
}

/* No better than the worst of the sources. The guard comes before them, and may be one. */
static struct pt_affine worst_source(struct uniformity *v)
{
    v->has_guard_passed = false;
    v->fact = pt_affine_any(PT_LEVEL_CTA, 64);
    pt_insn_regs(v->m, v->f, v->insn, add_source, v);
    add_places(v, v->o, v->insn->n_operands);
    if (v->form->effects & PT_FX_CARRY_IN)
        add_source(v, v->f->regs.n, false);
    return v->fact;
}

/* ---- instructions ---------------------------------------------------------------------------- */

static struct pt_width width(const struct uniformity *v, unsigned bits)
{
    return (struct pt_width){v->lanes, bits < 64 ? bits : 64};
}

static unsigned type_bits(const struct uniformity *v)
{
    return pt_type_bits((enum pt_type)v->form->type[0]);
}

static bool is_signed(const struct uniformity *v)
{
    return pt_type_class((enum pt_type)v->form->type[0]) == PT_CLASS_S;
}

static struct pt_affine binary(const struct uniformity *v, enum pt_affine_op op)
{
    unsigned bits = type_bits(v);
    struct pt_affine a = operand_fact(v, &v->o[1], bits), b = operand_fact(v, &v->o[2], bits);
    return pt_affine_op(op, &a, &b, width(v, bits));
}

/* The distance has 32 bits, whatever is shifted. */
static struct pt_affine shifted(const struct uniformity *v, enum pt_affine_op op)
{
    unsigned bits = type_bits(v);
    struct pt_affine a = operand_fact(v, &v->o[1], bits), by = operand_fact(v, &v->o[2], 32);
    return pt_affine_op(op, &a, &by, width(v, bits));
}

static struct pt_affine plus_third(const struct uniformity *v, struct pt_affine product,
                                   unsigned bits)
{
    struct pt_affine c = operand_fact(v, &v->o[3], bits);
    return pt_affine_op(PT_AFFINE_ADD, &product, &c, width(v, bits));
}

static struct pt_affine negated(const struct uniformity *v)
{
    struct pt_affine zero = pt_affine_const(0, 64), a = operand_fact(v, &v->o[1], type_bits(v));
    return pt_affine_op(PT_AFFINE_SUB, &zero, &a, width(v, type_bits(v)));
}

static struct pt_affine wide_product(const struct uniformity *v)
{
    unsigned bits = type_bits(v);
    struct pt_width wide = width(v, 2 * bits);
    struct pt_affine a = operand_fact(v, &v->o[1], bits), b = operand_fact(v, &v->o[2], bits);
    a = pt_affine_cvt(&a, bits, is_signed(v), wide);
    b = pt_affine_cvt(&b, bits, is_signed(v), wide);
    return pt_affine_op(PT_AFFINE_MUL, &a, &b, wide);
}

/* Division or remainder by a power of two of what is not negative. */
static struct pt_affine quotient(struct uniformity *v, bool is_rem)
{
    unsigned bits = type_bits(v);
    struct pt_affine a = operand_fact(v, &v->o[1], bits), b = operand_fact(v, &v->o[2], bits);
    uint64_t top = UINT64_MAX >> (64 - bits + is_signed(v));
    if (!b.is_const || !b.value || (b.value & (b.value - 1)) || b.value > top || a.max > top)
        return worst_source(v);
    struct pt_affine by =
        pt_affine_const(is_rem ? b.value - 1 : (uint64_t)__builtin_ctzll(b.value), 64);
    return pt_affine_op(is_rem ? PT_AFFINE_AND : PT_AFFINE_SHR, &a, &by, width(v, bits));
}

static struct pt_affine bit_field(struct uniformity *v)
{
    unsigned bits = type_bits(v);
    struct pt_affine a = operand_fact(v, &v->o[1], bits);
    struct pt_affine at = operand_fact(v, &v->o[2], 8), n = operand_fact(v, &v->o[3], 8);
    if (is_signed(v) || !at.is_const || !n.is_const || at.value >= bits || n.value >= bits)
        return worst_source(v);
    struct pt_affine mask = pt_affine_const(((uint64_t)1 << n.value) - 1, 64);
    a = pt_affine_op(PT_AFFINE_SHR, &a, &at, width(v, bits));
    return pt_affine_op(PT_AFFINE_AND, &a, &mask, width(v, bits));
}

static struct pt_affine moved(struct uniformity *v)
{
    return pt_type_is_int((enum pt_type)v->form->type[0]) ? operand_fact(v, &v->o[1], type_bits(v))
                                                  : worst_source(v);
}

enum { WINDOW_ALIGN = 12 }; /* log2: windows begin with a page */

static struct pt_affine moved_by_window(struct uniformity *v)
{
    unsigned bits = type_bits(v);
    struct pt_affine a = operand_fact(v, &v->o[1], bits),
                     window = pt_affine_any(PT_LEVEL_CTA, bits);
    window.align[PT_SPAN_CHUNK] = window.align[PT_SPAN_GROUP] = WINDOW_ALIGN;
    enum pt_affine_op op = v->form->op == PT_OP_cvta ? PT_AFFINE_ADD : PT_AFFINE_SUB;
    return a.is_known ? pt_affine_op(op, &a, &window, width(v, bits)) : a;
}

/* Local addresses are each thread's own. Those of shared memory go through 32 bits. */
static struct pt_affine converted_address(struct uniformity *v)
{
    if (pt_form_has(v->form, PT_M_local))
        return pt_affine_any(PT_LEVEL_LANE, 64);
    if (pt_form_has(v->form, PT_M_global))
        return operand_fact(v, &v->o[1], type_bits(v));
    return pt_form_has(v->form, PT_M_const) ? moved_by_window(v) : worst_source(v);
}

static struct pt_affine converted(struct uniformity *v)
{
    unsigned to = type_bits(v), from = pt_type_bits((enum pt_type)v->form->type[1]);
    bool from_signed = pt_type_class((enum pt_type)v->form->type[1]) == PT_CLASS_S;
    if (reg_bits(v, v->o[0].index) != to)
        return worst_source(v);
    struct pt_affine a = operand_fact(v, &v->o[1], from);
    return a.is_known ? pt_affine_cvt(&a, from, from_signed, width(v, to)) : a;
}

static struct pt_affine selected(struct uniformity *v)
{
    struct pt_affine a = operand_fact(v, &v->o[1], type_bits(v)), all = worst_source(v);
    struct pt_affine b = operand_fact(v, &v->o[2], type_bits(v)), p = operand_fact(v, &v->o[3], 1);
    bool is_int = pt_type_is_int((enum pt_type)v->form->type[0]);
    if (!is_int || p.level > PT_LEVEL_GROUP || !all.is_known)
        return all;
    pt_affine_join(&a, &b, type_bits(v));
    pt_affine_raise(&a, (enum pt_level)p.level);
    return a;
}

static struct pt_affine limited(struct uniformity *v, bool is_min)
{
    unsigned bits = type_bits(v);
    struct pt_affine a = operand_fact(v, &v->o[1], bits), b = operand_fact(v, &v->o[2], bits);
    return pt_affine_limit(is_min, is_signed(v), &a, &b, width(v, bits));
}

static struct pt_affine compared(struct uniformity *v)
{
    static const struct {
        enum pt_mod mod;
        enum pt_affine_cmp cmp;
    } orders[] = {
        {PT_M_lt, PT_AFFINE_LT}, {PT_M_lo, PT_AFFINE_LT}, {PT_M_le, PT_AFFINE_LE},
        {PT_M_ls, PT_AFFINE_LE}, {PT_M_gt, PT_AFFINE_GT}, {PT_M_hi, PT_AFFINE_GT},
        {PT_M_ge, PT_AFFINE_GE}, {PT_M_hs, PT_AFFINE_GE},
    };
    unsigned bits = type_bits(v);
    struct pt_affine a = operand_fact(v, &v->o[1], bits), b = operand_fact(v, &v->o[2], bits);
    struct pt_affine all = worst_source(v);
    for (size_t i = 0; i < sizeof orders / sizeof *orders && all.is_known; i++) {
        if (!pt_form_has(v->form, orders[i].mod))
            continue;
        enum pt_level level =
            pt_affine_compare(orders[i].cmp, is_signed(v), &a, &b, width(v, bits));
        all.level = (uint8_t)level;
    }
    if (v->insn->n_operands > 3) {
        struct pt_affine c = operand_fact(v, &v->o[3], 1);
        all.level = c.level > all.level ? c.level : all.level;
    }
    return all;
}

/* ---- memory ---------------------------------------------------------------------------------- */

static bool is_own_memory(const struct uniformity *v, const struct pt_operand *base)
{
    bool is_func_param = pt_form_has(v->form, PT_M_param_func) ||
                         (pt_form_has(v->form, PT_M_param) && !v->f->is_entry);
    if (base->kind == PT_OPND_SYM)
        return is_own(v, base->index);
    return pt_form_has(v->form, PT_M_local) || is_func_param;
}

static bool is_constant_memory(const struct uniformity *v, const struct pt_operand *base)
{
    if (v->form->op != PT_OP_ld)
        return true; /* ld.global.nc, ldu */
    if (base->kind == PT_OPND_SYM) {
        enum pt_space space = (enum pt_space)v->m->symbols.v[base->index].space;
        return space == PT_SPACE_CONST || space == PT_SPACE_PARAM;
    }
    return pt_form_has(v->form, PT_M_const) || pt_form_has(v->form, PT_M_param) ||
           pt_form_has(v->form, PT_M_param_entry);
}

/* A group reads one address once. Others may write there before the next group does. */
static struct pt_affine loaded(struct uniformity *v)
{
    const struct pt_operand *base = &v->f->operands.v[v->o[1].index];
    struct pt_affine fact = worst_source(v);
    if (base->kind == PT_OPND_SYM)
        fact = symbol_fact(v, base);
    fact = (struct pt_affine){.is_known = fact.is_known, .level = fact.level, .max = UINT64_MAX};
    if (is_own_memory(v, base))
        fact.level = PT_LEVEL_LANE;
    else if (!is_constant_memory(v, base) && fact.level < PT_LEVEL_GROUP)
        fact.level = PT_LEVEL_GROUP;
    return fact;
}

/* An mbarrier that all lanes of a warp ask for the same phase: they ask at once. */
static struct pt_affine tested(struct uniformity *v)
{
    struct pt_affine fact = worst_source(v);
    bool is_in_warp = v->lanes[PT_SPAN_GROUP] <= WARP_SIZE;
    enum pt_level level = is_in_warp ? PT_LEVEL_GROUP : PT_LEVEL_LANE;
    return pt_affine_any(fact.level < level ? level : (enum pt_level)fact.level, 64);
}

/* ---- other threads --------------------------------------------------------------------------- */

/* A result all lanes get alike, where all that the member mask names are in the group. */
static struct pt_affine agreed(struct uniformity *v, const struct pt_operand *members)
{
    uint32_t group = v->lanes[PT_SPAN_GROUP]; /* one warp, or several */
    enum pt_level level = group == WARP_SIZE ? PT_LEVEL_GROUP : PT_LEVEL_CHUNK;
    struct pt_affine mask = operand_fact(v, members, 32);
    return pt_affine_any(
        group % WARP_SIZE == 0 && mask.level <= PT_LEVEL_GROUP ? level : PT_LEVEL_LANE, 64);
}

/* The last phase's count; the same for the whole CTA if no other phase can have come between. */
static struct pt_affine reduced_by_barrier(struct uniformity *v, bool has_count)
{
    struct pt_affine id = operand_fact(v, &v->o[1], 32);
    const uint64_t *waits = v->cta.waits + v->block * v->block_words;
    uint64_t others = 0;
    for (size_t i = 0; i < v->block_words; i++)
        others |= waits[i];
    if (id.level == PT_LEVEL_CTA && !has_count && !others)
        return pt_affine_any(PT_LEVEL_CTA, 64);
    return pt_affine_any(id.level <= PT_LEVEL_GROUP ? PT_LEVEL_GROUP : PT_LEVEL_LANE, 64);
}

static struct pt_affine by_effects(struct uniformity *v)
{
    uint32_t others = PT_FX_READ | PT_FX_ATOMIC | PT_FX_WARP | PT_FX_CTA | PT_FX_CLUSTER |
                      PT_FX_CALL | PT_FX_VOLATILE;
    return v->form->effects & others ? pt_affine_any(PT_LEVEL_LANE, 64) : worst_source(v);
}

/* What the instruction gives its destinations. */
static struct pt_affine result(struct uniformity *v)
{
    unsigned bits = type_bits(v);
    switch (v->form->op) {
    case PT_OP_mov:
    case PT_OP_mov_addr:
        return moved(v);
    case PT_OP_mov_sreg:
        return sreg_fact(v, (enum pt_sreg)v->o[1].index);
    case PT_OP_cvta:
    case PT_OP_cvta_to:
        return converted_address(v);
    case PT_OP_add_int:
        return binary(v, PT_AFFINE_ADD);
    case PT_OP_sub_int:
        return binary(v, PT_AFFINE_SUB);
    case PT_OP_neg_int:
        return negated(v);
    case PT_OP_mul_lo:
        return binary(v, PT_AFFINE_MUL);
    case PT_OP_mad_lo:
        return plus_third(v, binary(v, PT_AFFINE_MUL), bits);
    case PT_OP_mul_wide:
        return wide_product(v);
    case PT_OP_mad_wide:
        return plus_third(v, wide_product(v), 2 * bits);
    case PT_OP_and_b:
        return binary(v, PT_AFFINE_AND);
    case PT_OP_or_b:
        return binary(v, PT_AFFINE_OR);
    case PT_OP_xor_b:
        return binary(v, PT_AFFINE_XOR);
    case PT_OP_shl:
        return shifted(v, PT_AFFINE_SHL);
    case PT_OP_shr:
        return shifted(v, is_signed(v) ? PT_AFFINE_SAR : PT_AFFINE_SHR);
    case PT_OP_div_int:
        return quotient(v, false);
    case PT_OP_rem_int:
        return quotient(v, true);
    case PT_OP_bfe:
        return bit_field(v);
    case PT_OP_cvt_int:
        return converted(v);
    case PT_OP_min_int:
        return limited(v, true);
    case PT_OP_max_int:
        return limited(v, false);
    case PT_OP_selp:
        return selected(v);
    case PT_OP_setp_int:
        return compared(v);
    case PT_OP_ld:
    case PT_OP_ld_nc:
    case PT_OP_ldu:
        return loaded(v);
    case PT_OP_mbarrier_test_wait:
    case PT_OP_mbarrier_test_wait_parity:
    case PT_OP_mbarrier_try_wait:
    case PT_OP_mbarrier_try_wait_parity:
        return tested(v);
    case PT_OP_vote_sync:
    case PT_OP_match_all:
    case PT_OP_redux_sync:
        return agreed(v, &v->o[2]);
    case PT_OP_bar_red_popc:
    case PT_OP_bar_red_pred:
    case PT_OP_barrier_red_popc:
    case PT_OP_barrier_red_pred:
        return reduced_by_barrier(v, v->insn->n_operands > 3);
    default:
        return by_effects(v);
    }
}

/* ---- definitions ----------------------------------------------------------------------------- */

/* Lanes that the guard leaves out keep a value that is not this definition's of the same time. */
static bool keeps_old_value(const struct uniformity *v, uint32_t reg)
{
    uint32_t header = v->outermost[v->block];
    if (reg == v->f->regs.n || v->f->regs.v[reg].n_defs > 1)
        return true;
    return header != UINT32_MAX && has_bit(v->live_in + header * v->reg_words, reg);
}

static void define(struct uniformity *v, uint32_t reg)
{
    struct pt_affine *to = &v->facts[reg], fact = v->fact;
    bool is_int_reg = reg < v->f->regs.n && pt_type_is_int((enum pt_type)v->f->regs.v[reg].type);
    if (!is_int_reg && fact.is_known)
        fact = pt_affine_any((enum pt_level)fact.level, 64);
    fact.level = settled(v, fact.level);
    v->changes |= pt_affine_join(to, &fact, reg_bits(v, reg));
    if (!v->insn->guard || !fact.is_known || !keeps_old_value(v, reg))
        return;
    enum pt_level guard = (enum pt_level)v->facts[v->insn->guard].level;
    v->changes |= pt_affine_raise(to, guard > PT_LEVEL_GROUP ? PT_LEVEL_LANE : guard);
}

static void define_reg(void *ud, uint32_t reg, bool is_def)
{
    if (is_def)
        define(ud, reg);
}

static void visit_insns(struct uniformity *v)
{
    for (v->block = 0; v->block < v->f->blocks.n; v->block++) {
        const struct pt_block *b = &v->f->blocks.v[v->block];
        for (uint32_t i = b->first; i < b->first + b->count; i++) {
            v->insn = &v->f->insns.v[i];
            v->form = pt_insn_form(v->m, v->insn);
            v->o = v->insn->n_operands ? &v->f->operands.v[v->insn->operands] : NULL;
            v->fact = result(v);
            pt_insn_regs(v->m, v->f, v->insn, define_reg, v);
            if (v->form->effects & PT_FX_CARRY_OUT)
                define(v, v->f->regs.n);
        }
    }
}

/* ---- pairs of lanes -------------------------------------------------------------------------- */

static uint32_t loop_end(const struct uniformity *v, uint32_t header)
{
    return v->f->loops.v[v->f->blocks.v[header].loop - 1].end;
}

/* Which of two lanes runs first, when the last block either ran is `from`: what is not behind it is
 * the header of a loop around it, where a lane waits for the next iteration. */
static bool is_first(const struct uniformity *v, uint32_t a, uint32_t b, uint32_t from)
{
    if (a > from && b > from)
        return a < b;
    if (a <= from && b <= from)
        return a > b; /* the inner loop */
    return a > from ? a < loop_end(v, b) : b >= loop_end(v, a);
}

static void add_waiting(struct uniformity *v, struct fronts *s, uint32_t runs, uint32_t waits)
{
    uint64_t *word = s->waits + runs * v->block_words + waits / 64;
    uint64_t bit = (uint64_t)1 << (waits & 63);
    if (*word & bit)
        return;
    *word |= bit;
    s->is_open[runs] = true;
    s->any_open = true;
}

static void set_bit(uint64_t *set, uint32_t i)
{
    set[i / 64] |= (uint64_t)1 << (i & 63);
}

/* How long lanes stay at the start of a block while others can go on. */
enum patience { GOES_ON, LETS_GO_ON, NEEDS_ALL };

static enum patience patience_at(const struct fronts *s, uint32_t block)
{
    uint8_t stop = s->stops ? s->stops[block] : PT_STOP_NONE;
    return stop == PT_STOP_NONE ? GOES_ON : stop == PT_STOP_ALL ? NEEDS_ALL : LETS_GO_ON;
}

static void add_pair(struct uniformity *v, struct fronts *s, uint32_t a, uint32_t b, uint32_t from)
{
    enum patience at_a = patience_at(s, a), at_b = patience_at(s, b);
    if (a == b)
        return;
    if (at_a == NEEDS_ALL && at_b == NEEDS_ALL) {
        set_bit(s->stuck, a);
        set_bit(s->stuck, b);
    } else if (at_a == LETS_GO_ON && at_b == LETS_GO_ON) {
        add_waiting(v, s, a, b);
        add_waiting(v, s, b, a);
    } else if (at_a != at_b ? at_a < at_b : is_first(v, a, b, from)) {
        add_waiting(v, s, a, b);
    } else {
        add_waiting(v, s, b, a);
    }
}

static void part_lanes(struct uniformity *v, struct fronts *s, uint32_t block)
{
    const struct pt_block *b = &v->f->blocks.v[block];
    const uint32_t *to = v->f->edges.v + b->succ;
    if (s->is_parted[block])
        return;
    s->is_parted[block] = true;
    for (uint32_t i = 0; i < b->n_succ; i++)
        for (uint32_t k = 0; k < i; k++)
            add_pair(v, s, to[i], to[k], block);
}

/* The lane that runs goes on to each successor, while the other waits. */
static void follow(struct uniformity *v, struct fronts *s, uint32_t block, size_t word,
                   uint64_t waiting)
{
    const struct pt_block *b = &v->f->blocks.v[block];
    for (; waiting; waiting &= waiting - 1) {
        uint32_t x = (uint32_t)(word * 64) + (uint32_t)__builtin_ctzll(waiting);
        for (uint32_t e = 0; e < b->n_succ; e++)
            add_pair(v, s, v->f->edges.v[b->succ + e], x, block);
    }
}

static void define_waiting(void *ud, uint32_t reg, bool is_def)
{
    struct uniformity *v = ud;
    if (is_def && has_bit(v->live, reg))
        v->changes |= pt_affine_raise(&v->facts[reg], v->waiting);
}

/* What the block writes and those who wait at one of `waiting` still read. */
static void raise_written(struct uniformity *v, enum pt_level level, uint32_t block, size_t word,
                          uint64_t waiting)
{
    const struct pt_block *b = &v->f->blocks.v[block];
    v->waiting = level;
    for (; waiting; waiting &= waiting - 1) {
        size_t x = word * 64 + (size_t)__builtin_ctzll(waiting);
        v->live = v->live_in + x * v->reg_words;
        for (uint32_t i = b->first; i < b->first + b->count; i++) {
            v->insn = &v->f->insns.v[i];
            pt_insn_regs(v->m, v->f, v->insn, define_waiting, v);
            if (pt_insn_form(v->m, v->insn)->effects & PT_FX_CARRY_OUT)
                v->changes |= pt_affine_raise(&v->facts[v->f->regs.n], level);
        }
    }
}

static void close_block(struct uniformity *v, struct fronts *s, uint32_t block)
{
    enum pt_level level = s->level == PT_LEVEL_CTA ? PT_LEVEL_GROUP : PT_LEVEL_LANE;
    s->is_open[block] = false;
    for (size_t w = 0; w < v->block_words; w++) {
        size_t at = block * v->block_words + w;
        uint64_t new = s->waits[at] & ~s->done[at];
        s->done[at] |= new;
        follow(v, s, block, w, new);
        raise_written(v, level, block, w, new);
    }
}

static void find_pairs(struct uniformity *v, struct fronts *s, const uint8_t *branch)
{
    for (uint32_t b = 0; b < v->f->blocks.n; b++) {
        if (branch[b] > s->level)
            part_lanes(v, s, b);
        if (s->stops && s->stops[b] == PT_STOP_EACH)
            add_waiting(v, s, b, b);
    }
    while (s->any_open) {
        s->any_open = false;
        v->changes = true;
        for (uint32_t b = 0; b < v->f->blocks.n; b++)
            if (s->is_open[b])
                close_block(v, s, b);
    }
}

static void find_branches(struct uniformity *v, uint8_t *branch)
{
    for (uint32_t b = 0; b < v->f->blocks.n; b++) {
        const struct pt_block *block = &v->f->blocks.v[b];
        const struct pt_insn *insn = &v->f->insns.v[block->first + block->count - 1];
        const struct pt_form *form = pt_insn_form(v->m, insn);
        if (!(form->effects & (PT_FX_BRANCH | PT_FX_END)))
            continue;
        uint8_t level = insn->guard ? v->facts[insn->guard].level : PT_LEVEL_CTA;
        if (form->op == PT_OP_brx_idx) {
            struct pt_affine index = operand_fact(v, &v->f->operands.v[insn->operands], 32);
            level = index.level > level ? index.level : level;
        }
        v->changes |= level > branch[b];
        branch[b] = level;
    }
}

/* ---- all of it ------------------------------------------------------------------------------- */

static void prepare_fronts(struct uniformity *v, struct fronts *s, enum pt_level level,
                           struct pt_arena *arena)
{
    size_t n = v->f->blocks.n;
    s->level = level;
    s->waits = pt_arena_alloc(arena, n * v->block_words * sizeof *s->waits);
    s->done = pt_arena_alloc(arena, n * v->block_words * sizeof *s->done);
    s->is_open = pt_arena_alloc(arena, n);
    s->is_parted = pt_arena_alloc(arena, n);
    s->stuck = pt_arena_alloc(arena, v->block_words * sizeof *s->stuck);
}

static void find_outermost(struct uniformity *v, struct pt_arena *arena)
{
    v->outermost = pt_arena_alloc(arena, v->f->blocks.n * sizeof *v->outermost);
    for (uint32_t b = 0; b < v->f->blocks.n; b++) {
        uint32_t loop = v->f->blocks.v[b].loop, header = UINT32_MAX;
        for (; loop; loop = v->f->loops.v[loop - 1].parent)
            header = v->f->loops.v[loop - 1].header;
        v->outermost[b] = header;
    }
}

/* Registers that are read before they are written: all threads find the same there. */
static void enter_unwritten(struct uniformity *v)
{
    for (uint32_t r = 0; r < v->f->regs.n && v->f->blocks.n; r++)
        if (has_bit(v->live_in, r))
            v->facts[r] = pt_affine_any(PT_LEVEL_CTA, reg_bits(v, r));
}

/* Values a function is called with. */
static void enter_params(struct uniformity *v)
{
    for (uint32_t i = 0; i < v->f->params.n; i++) {
        const struct pt_symbol *s = &v->m->symbols.v[v->f->params.v[i]];
        if (s->space == PT_SPACE_REG)
            v->facts[s->reg] = pt_affine_any(PT_LEVEL_LANE, 64);
    }
}

struct pt_uniformity *pt_uniformity_find(const struct pt_module *m, const struct pt_func *f,
                                         const struct pt_uniformity_shape *shape,
                                         const uint8_t *stops, struct pt_arena *arena)
{
    struct uniformity v = with_shape(shape);
    struct pt_uniformity *found = pt_arena_alloc(arena, sizeof *found);
    v.m = m;
    v.f = f;
    v.reg_words = pt_bit_words(f->regs.n);
    v.block_words = pt_bit_words(f->blocks.n);
    v.live_in = pt_liveness_in(m, f, arena);
    v.facts = pt_arena_alloc(arena, (f->regs.n + 1) * sizeof *v.facts);
    uint8_t *branch = pt_arena_alloc(arena, f->blocks.n);
    prepare_fronts(&v, &v.cta, PT_LEVEL_CTA, arena);
    prepare_fronts(&v, &v.group, PT_LEVEL_GROUP, arena);
    v.group.stops = stops;
    find_outermost(&v, arena);
    enter_unwritten(&v);
    enter_params(&v);
    do {
        v.changes = false;
        visit_insns(&v);
        find_branches(&v, branch);
        find_pairs(&v, &v.cta, branch);
        find_pairs(&v, &v.group, branch);
    } while (v.changes);

    *found = (struct pt_uniformity){.shape = *shape,
                                    .stops = stops,
                                    .branch = branch,
                                    .words = (uint32_t)v.block_words,
                                    .waits_cta = v.cta.waits,
                                    .waits_group = v.group.waits,
                                    .stuck = v.group.stuck};
    found->regs = pt_arena_alloc(arena, (f->regs.n + 1) * sizeof *found->regs);
    for (uint32_t r = 0; r <= f->regs.n; r++)
        found->regs[r] = value_of(&v, &v.facts[r]);
    return found;
}
