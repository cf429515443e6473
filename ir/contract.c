/* Contraction: mul and add without a rounding modifier become one fma, exactly where NVIDIA's
 * assembler does it, because the result differs in its last bit.
 *
 * The rules were read off the machine code that ptxas 13.0 makes for sm_90 at -O3. A *product* is
 * the result of an unguarded `mul` of type f32, f64, f16, f16x2, bf16 or bf16x2 without rounding
 * modifier and without .sat. An `add` or `sub` without rounding modifier (guarded or not, .sat or
 * not) of the same type and the same .ftz *takes* a product:
 *
 *   mul t,a,b; add d,t,c   FFMA d,a,b,c        mul t,a,b; sub d,t,c   FFMA d,a,b,-c
 *   mul t,a,b; sub d,c,t   FFMA d,-a,b,c       .sat on the add: FFMA.SAT; on the mul: not fused
 *
 * - `mov` and `neg` between them are looked through (FFMA d,-a,b,c); abs, selp and an xor of the
 *   sign are not, nor is neg.bf16x2, which is an HFMA2. neg.ftz counts as neg only where mul and
 *   add are .ftz too, and only where nothing behind it, a neg or a sub, turns the sign once more.
 * - mul and add must stand in one stretch of straight code. Beside branches, calls and labels, what
 *   ptxas expands into code with branches ends a stretch: division and remainder of integers other
 *   than u32, correctly rounded div, rcp and sqrt, rsqrt.approx.f64, membar, fence.sc and
 *   fence.acq_rel, pmevent, brkpt, griddepcontrol.launch_dependents, and any guarded instruction
 *   that is not pure (so `@p ld` and `@p bar.sync` do). Barriers, shuffles, votes, atomics and
 *   other fences do not.
 * - All uses of the product (dead code not counted) must be such adds, as seen before anything is
 *   fused: one that is stored, multiplied, or used in another stretch keeps every add from taking
 *   it (FMUL and FADD remain). A product added to itself is not taken.
 * - First the products with one use are taken, the first operand of the add before the second: in
 *   a*b + c*d the first product becomes FFMA a,b,(c*d). Then, in the order of the code, the others:
 *   of two products the one with fewer uses, the first operand if they are equal. For f16x2 and
 *   bf16x2 all are taken in the order of the code, those with one use too. A product that
 *   stays the addend of an fma is not taken by later adds; those before it that took it keep it,
 *   and its mul remains for the rest.
 *
 * ptxas expands some instructions before it contracts, and what they end in is a product as well:
 *
 *   div.approx, div.full        FSETP, FMUL of both by the scale s, MUFU.RCP r,b*s, FMUL r,a*s
 *   rcp.approx without .ftz     FSETP, FSEL s, FMUL b*s, MUFU.RCP r, FMUL s,r
 *
 * s is 2^24 for |b| < 2^-126 (not with .ftz), 1/4 for |b| > 2^126 (not with div.approx), else 1.
 * All rules above hold for them; .sat they have none. Where an add takes one, the two factors are
 * computed in PTX before the division; the division itself remains for other uses.
 *
 * If b is a constant, itself or through mov, all of this is known before, and MUFU.RCP gives way to
 * the correctly rounded reciprocal r of b*s, zero where that is subnormal. A division is FMUL a,r
 * where s is 1 and FMUL r,(FMUL a,s) elsewhere, with contraction off as well, and that mul is a
 * product like any other. Division by 1 is a mov, by -1 a neg (FMUL where .ftz or with contraction
 * off). A reciprocal is
 * the constant r*s. Constants that are computed otherwise than by mov (neg, cvt, sums) are not
 * followed, nor is mul by 1, which ptxas makes a mov too, nor are functions of constants other than
 * the reciprocal.
 *
 * Nothing is taken from sqrt.approx and rsqrt.approx (their last FMUL is guarded), lg2.approx
 * (guarded FADD), ex2.approx (guarded FMUL), sin.approx and cos.approx (FMUL.RZ before MUFU), the
 * .ftz forms of these and rcp.approx.ftz (MUFU alone), tanh.approx, nor from div, rcp and sqrt with
 * a rounding (code with branches). cvt.f32.f32 is FADD x,-0 there and takes or passes on products
 * where it has .ftz or no modifier; that is not followed.
 *
 * ptxas does this after it has unrolled loops, so that a product carried to the next iteration may
 * be taken there; that is not followed.
 */
#include "ir/contract.h"

#include "ir/insn.h"
#include "ir/web.h"

#include <stdio.h>
#include <string.h>

#define NONE UINT32_MAX

enum kind { KIND_OTHER, KIND_MUL, KIND_DIV, KIND_RCP, KIND_ADD, KIND_SUB, KIND_MOV, KIND_NEG };

/* What a form is to this pass. */
struct role {
    uint8_t kind; /* enum kind */
    uint8_t type; /* enum pt_type of arithmetic */
    bool is_ftz, is_sat, is_full;
    bool is_pure, is_boundary;
};

/* The mul that an add takes, and which of its operands (0 or 1) is the product. */
struct fusion {
    uint32_t mul;
    uint8_t side;
    bool is_negated;
};

struct inserted {
    struct pt_insn insn;
    uint32_t next; /* + 1 */
};

typedef uint32_t find_form(struct pt_module *m, struct pt_func *f, const char *spelling,
                           struct pt_operand *operands, uint32_t n, uint32_t line);

struct contract {
    struct pt_module *m;
    struct pt_func *f;
    struct pt_arena *scratch;
    find_form *form;
    struct role *roles;      /* by form */
    uint32_t *stretch;       /* by instruction */
    uint32_t *def;           /* by register: its only definition if that is unguarded, else NONE */
    uint32_t *def_at, *defs; /* by register: where it is written, ascending */
    uint32_t *uses;          /* by register: times it is read by what is not dead */
    uint32_t *adds;          /* by register: adds that could take it, also through mov and neg */
    uint32_t *good;          /* by register: uses that lead to such adds only */
    bool *is_addend;         /* by register: a product that is the addend of an fma */
    struct fusion *fusion;   /* by instruction; mul NONE: none */
    uint32_t *before;        /* by instruction: first of what is inserted before it, + 1 */
    uint32_t *before_tail;
    uint32_t *copy; /* two for each product: registers of its factors, or PT_NONE */
    bool *is_dropped;
    PT_VEC(struct inserted) inserted;
    uint32_t insn; /* where a walk stands */
    bool has_used_def;
    unsigned mark;
    bool has_product, has_sum, has_division; /* among the forms */
    bool may_fuse;                           /* mul and add into fma */
};

/* ---- forms ----------------------------------------------------------------------------------- */

static bool has_rounding(const struct pt_form *form)
{
    return pt_form_has(form, PT_M_rn) || pt_form_has(form, PT_M_rz) || pt_form_has(form, PT_M_rm) ||
           pt_form_has(form, PT_M_rp);
}

static bool is_boundary(const struct pt_form *form)
{
    switch (form->op) {
    case PT_OP_div_int:
    case PT_OP_rem_int:
        return form->type[0] != PT_u32;
    case PT_OP_div_f32:
    case PT_OP_div_f64:
    case PT_OP_rcp_f32:
    case PT_OP_rcp_f64:
    case PT_OP_sqrt_f32:
    case PT_OP_sqrt_f64:
    case PT_OP_pmevent:
    case PT_OP_brkpt:
        return true;
    case PT_OP_rsqrt_approx_f64:
        return !pt_form_has(form, PT_M_ftz);
    case PT_OP_membar:
        return !pt_form_has(form, PT_M_proxy);
    case PT_OP_fence:
        return !pt_form_has(form, PT_M_proxy) && !pt_form_has(form, PT_M_acquire) &&
               !pt_form_has(form, PT_M_release);
    case PT_OP_griddepcontrol:
        return pt_form_has(form, PT_M_launch_dependents);
    default:
        return form->effects & PT_FX_CALL;
    }
}

static enum kind form_kind(const struct pt_form *form)
{
    switch (form->op) {
    case PT_OP_mul_f32:
    case PT_OP_mul_f64:
    case PT_OP_mul_f16:
    case PT_OP_mul_bf16:
        return has_rounding(form) || pt_form_has(form, PT_M_sat) ? KIND_OTHER : KIND_MUL;
    case PT_OP_div_approx:
        return KIND_DIV;
    case PT_OP_rcp_approx:
        return pt_form_has(form, PT_M_ftz) ? KIND_OTHER : KIND_RCP;
    case PT_OP_add_f32:
    case PT_OP_add_f64:
    case PT_OP_add_f16:
    case PT_OP_add_bf16:
        return has_rounding(form) ? KIND_OTHER : KIND_ADD;
    case PT_OP_sub_f32:
    case PT_OP_sub_f64:
    case PT_OP_sub_f16:
    case PT_OP_sub_bf16:
        return has_rounding(form) ? KIND_OTHER : KIND_SUB;
    case PT_OP_neg_f32:
    case PT_OP_neg_f64:
    case PT_OP_neg_f16:
    case PT_OP_neg_bf16:
        return KIND_NEG;
    case PT_OP_mov:
        return KIND_MOV;
    default:
        return KIND_OTHER;
    }
}

static bool is_product(const struct role *r)
{
    return r->kind == KIND_MUL || r->kind == KIND_DIV || r->kind == KIND_RCP;
}

static void classify_forms(struct contract *c)
{
    c->has_product = c->has_sum = c->has_division = false;
    c->roles = pt_arena_alloc(c->scratch, c->m->forms.n * sizeof *c->roles);
    for (uint32_t i = 1; i < c->m->forms.n; i++) {
        const struct pt_form *form = &c->m->forms.v[i];
        struct role *r = &c->roles[i];
        r->kind = form_kind(form);
        r->type = form->type[0];
        r->is_ftz = pt_form_has(form, PT_M_ftz);
        r->is_sat = pt_form_has(form, PT_M_sat);
        r->is_full = pt_form_has(form, PT_M_full);
        r->is_pure = !(form->effects & ~(uint32_t)PT_FX_FP);
        r->is_boundary = is_boundary(form);
        c->has_product |= is_product(r);
        c->has_sum |= r->kind == KIND_ADD || r->kind == KIND_SUB;
        c->has_division |= form->op == PT_OP_div_approx || form->op == PT_OP_rcp_approx;
    }
}

static const struct role *role_of(const struct contract *c, uint32_t insn)
{
    return &c->roles[c->f->insns.v[insn].form];
}

static struct pt_operand *operand_of(const struct contract *c, uint32_t insn, uint32_t k)
{
    return &c->f->operands.v[c->f->insns.v[insn].operands + k];
}

static bool is_sum(const struct contract *c, uint32_t insn)
{
    return role_of(c, insn)->kind == KIND_ADD || role_of(c, insn)->kind == KIND_SUB;
}

/* ---- definitions, uses, stretches ------------------------------------------------------------ */

static void count_def(void *ud, uint32_t reg, bool is_def)
{
    struct contract *c = ud;
    if (is_def)
        c->def_at[reg + 2]++;
}

static void place_def(void *ud, uint32_t reg, bool is_def)
{
    struct contract *c = ud;
    if (is_def)
        c->defs[c->def_at[reg + 1]++] = c->insn;
}

static void find_defs(struct contract *c)
{
    struct pt_func *f = c->f;
    c->def_at = pt_arena_alloc(c->scratch, (f->regs.n + 2) * sizeof *c->def_at);
    for (uint32_t i = 0; i < f->insns.n; i++)
        pt_insn_regs(c->m, f, &f->insns.v[i], count_def, c);
    for (uint32_t r = 0; r < f->regs.n; r++)
        c->def_at[r + 2] += c->def_at[r + 1];
    c->defs = pt_arena_alloc(c->scratch, c->def_at[f->regs.n + 1] * sizeof *c->defs);
    for (c->insn = 0; c->insn < f->insns.n; c->insn++)
        pt_insn_regs(c->m, f, &f->insns.v[c->insn], place_def, c);
    c->def = pt_arena_alloc(c->scratch, f->regs.n * sizeof *c->def);
    for (uint32_t r = 0; r < f->regs.n; r++) {
        bool is_single = c->def_at[r + 1] - c->def_at[r] == 1 && f->regs.v[r].n_defs == 1;
        uint32_t i = is_single ? c->defs[c->def_at[r]] : NONE;
        c->def[r] = is_single && !f->insns.v[i].guard ? i : NONE;
    }
}

static void find_used_def(void *ud, uint32_t reg, bool is_def)
{
    struct contract *c = ud;
    c->has_used_def |= is_def && c->uses[reg];
}

static void count_use(void *ud, uint32_t reg, bool is_def)
{
    struct contract *c = ud;
    c->uses[reg] += !is_def;
}

static void drop_use(void *ud, uint32_t reg, bool is_def)
{
    struct contract *c = ud;
    c->uses[reg] -= !is_def;
}

/* Counts uses, then takes back those by pure instructions whose results nobody uses. Going
 * backwards once finds what is dead in straight code. */
static void find_uses(struct contract *c)
{
    struct pt_func *f = c->f;
    c->uses = pt_arena_alloc(c->scratch, f->regs.n * sizeof *c->uses);
    for (uint32_t i = 0; i < f->insns.n; i++)
        pt_insn_regs(c->m, f, &f->insns.v[i], count_use, c);
    for (uint32_t i = f->insns.n; i-- > 0;) {
        c->has_used_def = !role_of(c, i)->is_pure;
        pt_insn_regs(c->m, f, &f->insns.v[i], find_used_def, c);
        if (!c->has_used_def)
            pt_insn_regs(c->m, f, &f->insns.v[i], drop_use, c);
    }
}

static bool ends_stretch(const struct contract *c, uint32_t insn)
{
    const struct role *r = role_of(c, insn);
    return r->is_boundary || (c->f->insns.v[insn].guard && !r->is_pure);
}

static void find_stretches(struct contract *c)
{
    const struct pt_func *f = c->f;
    uint32_t n = 0, *last = pt_arena_alloc(c->scratch, f->blocks.n * sizeof *last);
    c->stretch = pt_arena_alloc(c->scratch, f->insns.n * sizeof *c->stretch);
    for (uint32_t b = 0; b < f->blocks.n; b++) {
        const struct pt_block *block = &f->blocks.v[b];
        uint32_t p = block->n_pred == 1 ? f->edges.v[block->pred] : NONE;
        bool goes_on = b && p < b && f->blocks.v[p].n_succ == 1 &&
                       !f->insns.v[f->blocks.v[p].first + f->blocks.v[p].count - 1].guard;
        uint32_t s = goes_on ? last[p] : ++n;
        for (uint32_t i = block->first; i < block->first + block->count; i++) {
            if (ends_stretch(c, i))
                s = ++n;
            c->stretch[i] = s;
        }
        last[b] = s;
    }
}

/* ---- products -------------------------------------------------------------------------------- */

/* The mul whose product operand `side` of the add is, NONE if it is none that the add could take.
 */
static uint32_t find_product(const struct contract *c, uint32_t add, unsigned side,
                             bool *is_negated)
{
    const struct pt_operand *o = operand_of(c, add, 1 + side);
    const struct role *r = role_of(c, add);
    uint32_t at = add;
    bool is_subtracted = r->kind == KIND_SUB && side == 1;
    *is_negated = false;
    while (o->kind == PT_OPND_REG && c->def[o->index] < at &&
           c->stretch[c->def[o->index]] == c->stretch[add]) {
        at = c->def[o->index];
        const struct role *d = role_of(c, at);
        if (is_product(d))
            return d->type == r->type && d->is_ftz == r->is_ftz ? at : NONE;
        bool is_neg = d->kind == KIND_NEG && d->type == r->type && d->type != PT_bf16x2 &&
                      (!d->is_ftz || (r->is_ftz && *is_negated == is_subtracted));
        bool is_mov = d->kind == KIND_MOV && pt_type_bits(d->type) == pt_type_bits(r->type);
        if (!is_neg && !is_mov)
            return NONE;
        *is_negated ^= is_neg;
        o = operand_of(c, at, 1);
    }
    return NONE;
}

static uint32_t product_reg(const struct contract *c, uint32_t mul)
{
    return operand_of(c, mul, 0)->index;
}

/* Fills adds and good: from the adds back through mov and neg to the products. */
static bool find_takers(struct contract *c)
{
    const struct pt_func *f = c->f;
    bool any = false;
    c->adds = pt_arena_alloc(c->scratch, f->regs.n * sizeof *c->adds);
    c->good = pt_arena_alloc(c->scratch, f->regs.n * sizeof *c->good);
    for (uint32_t i = f->insns.n; i-- > 0;) {
        uint8_t kind = role_of(c, i)->kind;
        if (kind == KIND_MOV || kind == KIND_NEG) {
            const struct pt_operand *d = operand_of(c, i, 0), *a = operand_of(c, i, 1);
            if (d->kind == PT_OPND_REG && a->kind == PT_OPND_REG && c->def[d->index] == i &&
                c->uses[d->index] && c->good[d->index] == c->uses[d->index]) {
                c->good[a->index]++;
                c->adds[a->index] += c->adds[d->index];
            }
        }
        if ((kind != KIND_ADD && kind != KIND_SUB) || !c->uses[operand_of(c, i, 0)->index])
            continue;
        bool negated;
        uint32_t mul[2] = {find_product(c, i, 0, &negated), find_product(c, i, 1, &negated)};
        for (unsigned side = 0; side < 2 && mul[0] != mul[1]; side++) {
            if (mul[side] == NONE)
                continue;
            any = true;
            c->good[operand_of(c, i, 1 + side)->index]++;
            c->adds[operand_of(c, i, 1 + side)->index]++;
        }
    }
    return any;
}

/* Uses of the product as ptxas counts them if the add may take it, else 0. */
static uint32_t takeable(const struct contract *c, uint32_t mul, bool single)
{
    if (mul == NONE)
        return 0;
    uint32_t reg = product_reg(c, mul), type = role_of(c, mul)->type;
    bool is_pair = type == PT_f16x2 || type == PT_bf16x2;
    bool is_first = c->adds[reg] == 1 && !is_pair;
    if (c->good[reg] != c->uses[reg] || c->is_addend[reg] || is_first != single)
        return 0;
    return c->adds[reg];
}

static void take_products(struct contract *c, bool single)
{
    for (uint32_t i = 0; i < c->f->insns.n; i++) {
        if (!is_sum(c, i) || c->fusion[i].mul != NONE || !c->uses[operand_of(c, i, 0)->index])
            continue;
        bool negated[2];
        uint32_t mul[2] = {find_product(c, i, 0, &negated[0]), find_product(c, i, 1, &negated[1])};
        uint32_t n[2] = {takeable(c, mul[0], single), takeable(c, mul[1], single)};
        if ((!n[0] && !n[1]) || mul[0] == mul[1])
            continue;
        unsigned side = !n[0] || (n[1] && n[1] < n[0]);
        c->fusion[i] = (struct fusion){mul[side], (uint8_t)side, negated[side]};
        if (mul[!side] != NONE)
            c->is_addend[product_reg(c, mul[!side])] = true;
    }
}

/* ---- rewriting ------------------------------------------------------------------------------- */

static const char *type_of(const struct contract *c, uint32_t insn)
{
    return pt_type_name(role_of(c, insn)->type);
}

static void insert_before(struct contract *c, uint32_t at, const struct pt_insn *insn)
{
    struct inserted *new = pt_vec_push(c->scratch, &c->inserted);
    new->insn = *insn;
    if (c->before[at])
        c->inserted.v[c->before_tail[at] - 1].next = c->inserted.n;
    else
        c->before[at] = c->inserted.n;
    c->before_tail[at] = c->inserted.n;
}

/* Inserts, before instruction `at`, an unguarded instruction that computes a new register of the
 * given type from `from`, n operands. The register is named after `name`. */
static struct pt_operand compute(struct contract *c, uint32_t at, const char *spelling,
                                 enum pt_type type, uint32_t name, const struct pt_operand *from,
                                 uint8_t n)
{
    struct pt_operand to = {.kind = PT_OPND_REG, .type = (uint8_t)type};
    to.index = pt_web_reg(c->m, c->f, name, c->mark);
    c->f->regs.v[to.index].type = (uint8_t)type;
    c->f->regs.v[to.index].n_defs = 1;
    struct pt_insn insn = c->f->insns.v[at];
    insn.guard = PT_NONE;
    insn.guard_neg = 0;
    insn.n_operands = n + 1;
    insn.operands = c->f->operands.n;
    struct pt_operand *o = pt_vec_extend(&c->m->arena, &c->f->operands, n + 1u);
    o[0] = to;
    memcpy(o + 1, from, n * sizeof *from);
    insn.form = c->form(c->m, c->f, spelling, o, n + 1u, insn.line);
    insert_before(c, at, &insn);
    return to;
}

static struct pt_operand derive(struct contract *c, uint32_t at, const char *spelling,
                                struct pt_operand from)
{
    return compute(c, at, spelling, from.type, from.index, &from, 1);
}

/* The f32 register that a formula of up to three operands computes before `at`. */
static struct pt_operand compute_f32(struct contract *c, uint32_t at, const char *spelling,
                                     struct pt_operand a, struct pt_operand b, struct pt_operand d,
                                     uint8_t n)
{
    struct pt_operand from[3] = {a, b, d};
    return compute(c, at, spelling, PT_f32, product_reg(c, at), from, n);
}

#define ONE 0x3f800000u
#define QUARTER 0x3e800000u
#define TWO_TO_24 0x4b800000u
#define SMALLEST_NORMAL 0x00800000u
#define LARGEST_UNSCALED 0x7e800000u
#define INFINITE 0x7f800000u
#define F32_SIGN 0x80000000u

static struct pt_operand imm_f32(uint32_t bits)
{
    return (struct pt_operand){.kind = PT_OPND_IMM, .type = PT_f32, .imm = bits};
}

/* `scale`, or the constant `value` where the magnitude m stands in the given relation to `limit`.
 * A NaN is not scaled. */
static struct pt_operand select_scale(struct contract *c, uint32_t at, const char *setp,
                                      struct pt_operand m, uint32_t limit, uint32_t value,
                                      struct pt_operand scale)
{
    struct pt_operand from[2] = {m, imm_f32(limit)};
    struct pt_operand p = compute(c, at, setp, PT_pred, product_reg(c, at), from, 2);
    return compute_f32(c, at, "selp.f32", imm_f32(value), scale, p, 3);
}

/* The factors of a division or a reciprocal, whose product is its result to the bit: the divisor
 * is scaled where it, or its reciprocal, would be a subnormal number to MUFU.RCP, which is
 * rcp.approx.ftz. */
static void expand(struct contract *c, uint32_t div)
{
    const struct role *r = role_of(c, div);
    bool is_div = r->kind == KIND_DIV, is_large = !is_div || r->is_full;
    struct pt_operand one = imm_f32(ONE), scale = one;
    struct pt_operand a = is_div ? *operand_of(c, div, 1) : one;
    struct pt_operand b = *operand_of(c, div, is_div ? 2 : 1);
    const char *mul = r->is_ftz ? "mul.rn.ftz.f32" : "mul.rn.f32";
    if (is_large || !r->is_ftz) {
        struct pt_operand m = compute_f32(c, div, "abs.f32", b, one, one, 1);
        if (is_large)
            scale = select_scale(c, div, "setp.gt.f32", m, LARGEST_UNSCALED, QUARTER, scale);
        if (!r->is_ftz)
            scale = select_scale(c, div, "setp.lt.f32", m, SMALLEST_NORMAL, TWO_TO_24, scale);
        b = compute_f32(c, div, mul, b, scale, one, 2);
        a = is_div ? compute_f32(c, div, mul, a, scale, one, 2) : scale;
        c->copy[2 * div] = a.index;
    }
    c->copy[2 * div + 1] = compute_f32(c, div, "rcp.approx.ftz.f32", b, one, one, 1).index;
}

/* Factor k (0 or 1) of the product, as it can be read at the add: a copy if it is written in
 * between. */
static struct pt_operand factor(struct contract *c, uint32_t mul, unsigned k, uint32_t add)
{
    struct pt_operand o = {.kind = PT_OPND_REG};
    bool is_written = false;
    if (role_of(c, mul)->kind != KIND_MUL && !c->copy[2 * mul + 1])
        expand(c, mul);
    if (c->copy[2 * mul + k]) {
        o.index = c->copy[2 * mul + k];
        o.type = c->f->regs.v[o.index].type;
        return o;
    }
    o = *operand_of(c, mul, 1 + k);
    if (o.kind != PT_OPND_REG)
        return o;
    for (uint32_t d = c->def_at[o.index]; d < c->def_at[o.index + 1]; d++)
        is_written |= c->defs[d] > mul && c->defs[d] < add;
    if (!is_written)
        return o;
    char spelling[16];
    snprintf(spelling, sizeof spelling, "mov.b%u", pt_type_bits(role_of(c, mul)->type));
    o = derive(c, mul, spelling, o);
    c->copy[2 * mul + k] = o.index;
    return o;
}

static struct pt_operand negative(struct contract *c, uint32_t add, struct pt_operand o)
{
    char spelling[16];
    if (o.kind == PT_OPND_IMM) {
        switch (role_of(c, add)->type) {
        case PT_f64:
            o.imm ^= INT64_MIN;
            break;
        case PT_f32:
            o.imm ^= INT64_C(1) << 31;
            break;
        case PT_f16x2:
        case PT_bf16x2:
            o.imm ^= 0x80008000;
            break;
        default:
            o.imm ^= 0x8000;
            break;
        }
        return o;
    }
    snprintf(spelling, sizeof spelling, "neg.%s", type_of(c, add));
    return derive(c, add, spelling, o);
}

static void rewrite(struct contract *c, uint32_t add)
{
    const struct fusion *x = &c->fusion[add];
    const struct role *r = role_of(c, add);
    bool is_sub = r->kind == KIND_SUB;
    struct pt_operand o[4] = {*operand_of(c, add, 0), factor(c, x->mul, 0, add),
                              factor(c, x->mul, 1, add), *operand_of(c, add, 2 - x->side)};
    if (x->is_negated ^ (is_sub && x->side == 1)) {
        unsigned k = o[2].kind == PT_OPND_IMM ? 2 : 1;
        o[k] = negative(c, add, o[k]);
    }
    if (is_sub && x->side == 0)
        o[3] = negative(c, add, o[3]);
    char spelling[32];
    snprintf(spelling, sizeof spelling, "fma.rn%s%s.%s", r->is_ftz ? ".ftz" : "",
             r->is_sat ? ".sat" : "", type_of(c, add));
    struct pt_operand *to = pt_vec_extend(&c->m->arena, &c->f->operands, 4);
    memcpy(to, o, sizeof o);
    struct pt_insn *insn = &c->f->insns.v[add];
    insn->operands = c->f->operands.n - 4;
    insn->n_operands = 4;
    insn->form = c->form(c->m, c->f, spelling, to, 4, insn->line);
}

/* The add no longer reads `reg`: what computes it goes if nothing else reads it. */
static void release(struct contract *c, uint32_t reg)
{
    while (--c->uses[reg] == 0 && c->def[reg] != NONE) {
        uint32_t i = c->def[reg];
        c->is_dropped[i] = true;
        if (is_product(role_of(c, i)))
            return;
        reg = operand_of(c, i, 1)->index;
    }
}

static void rebuild(struct contract *c)
{
    struct pt_func *f = c->f;
    struct pt_insn *source = f->insns.v;
    uint32_t n = f->insns.n + c->inserted.n;
    memset(&f->insns, 0, sizeof f->insns);
    (void)pt_vec_extend(&c->m->arena, &f->insns, n);
    n = 0;
    for (uint32_t b = 0; b < f->blocks.n; b++) {
        struct pt_block *block = &f->blocks.v[b];
        uint32_t first = n, end = block->first + block->count;
        for (uint32_t i = block->first; i < end; i++) {
            for (uint32_t k = c->before[i]; k; k = c->inserted.v[k - 1].next)
                f->insns.v[n++] = c->inserted.v[k - 1].insn;
            /* A block is never empty: its last chance is a mul that nobody needs. */
            if (!c->is_dropped[i] || (n == first && i + 1 == end))
                f->insns.v[n++] = source[i];
            else
                f->regs.v[f->operands.v[source[i].operands].index].n_defs = 0;
        }
        block->first = first;
        block->count = n - first;
    }
    f->insns.n = n;
}

/* ---- constant divisors ----------------------------------------------------------------------- */

/* Whether the operand is a constant of 32 bits, also through mov. */
static bool constant_of(const struct contract *c, uint32_t insn, const struct pt_operand *o,
                        uint32_t *bits)
{
    while (o->kind == PT_OPND_REG && c->def[o->index] < insn) {
        insn = c->def[o->index];
        if (role_of(c, insn)->kind != KIND_MOV || pt_type_bits(role_of(c, insn)->type) != 32)
            return false;
        o = operand_of(c, insn, 1);
    }
    *bits = (uint32_t)o->imm;
    return o->kind == PT_OPND_IMM;
}

/* What both operands of a division by b are multiplied by. */
static uint32_t constant_scale(uint32_t b, bool is_small, bool is_large)
{
    uint32_t m = b & ~F32_SIGN;
    if (is_small && m < SMALLEST_NORMAL)
        return TWO_TO_24;
    return is_large && m > LARGEST_UNSCALED && m <= INFINITE ? QUARTER : ONE;
}

/* 1/(b * scale), correctly rounded; a subnormal divisor and a subnormal result count as zero. */
static uint32_t reciprocal(uint32_t b, uint32_t scale)
{
    uint32_t sign = b & F32_SIGN, mantissa = b & 0x7fffff;
    int exponent = (int)(b >> 23 & 0xff);
    if (exponent == 0xff)
        return mantissa ? 0x7fffffff : sign;
    if (!exponent && (scale == ONE || !mantissa))
        return sign | INFINITE;
    if (exponent)
        mantissa |= 1u << 23;
    else
        for (exponent = 1; mantissa < 1u << 23; exponent--)
            mantissa <<= 1;
    exponent += scale == TWO_TO_24 ? 24 : scale == QUARTER ? -2 : 0;
    /* b * scale is mantissa * 2^(exponent - 150), its reciprocal quotient * 2^(103 - exponent) with
     * 2^23 < quotient <= 2^24. Between two numbers of that precision it never lies halfway. */
    uint64_t quotient = ((UINT64_C(1) << 48) / mantissa + 1) >> 1;
    int64_t bits = (int64_t)(253 - exponent) * (1 << 23) + (int64_t)quotient - (1 << 23);
    return bits < SMALLEST_NORMAL ? sign : sign | (uint32_t)bits;
}

static void replace(struct contract *c, uint32_t insn, const char *spelling, struct pt_operand a,
                    struct pt_operand b, uint8_t n)
{
    struct pt_operand to = *operand_of(c, insn, 0);
    struct pt_insn *i = &c->f->insns.v[insn];
    struct pt_operand *o = pt_vec_extend(&c->m->arena, &c->f->operands, n + 1u);
    o[0] = to;
    o[1] = a;
    if (n == 2)
        o[2] = b;
    i->operands = c->f->operands.n - n - 1u;
    i->n_operands = n + 1;
    i->form = c->form(c->m, c->f, spelling, o, n + 1u, i->line);
}

/* a / b is (a * scale) * r. */
static void divide_by(struct contract *c, uint32_t div, bool is_ftz, uint32_t scale, uint32_t r)
{
    struct pt_operand a = *operand_of(c, div, 1);
    if (scale != ONE)
        a = compute_f32(c, div, is_ftz ? "mul.rn.ftz.f32" : "mul.rn.f32", a, imm_f32(scale), a, 2);
    if (!c->may_fuse || is_ftz || scale != ONE || (r & ~F32_SIGN) != ONE)
        replace(c, div, is_ftz ? "mul.ftz.f32" : "mul.f32", a, imm_f32(r), 2);
    else
        replace(c, div, r == ONE ? "mov.f32" : "neg.f32", a, a, 1);
}

/* Makes divisions by constants multiplications, and reciprocals of constants constants. */
static bool fold_constants(struct contract *c)
{
    bool any = false;
    for (uint32_t i = 0, n = c->f->insns.n; i < n; i++) {
        const struct pt_form *form = pt_insn_form(c->m, &c->f->insns.v[i]);
        bool is_div = form->op == PT_OP_div_approx, is_ftz = pt_form_has(form, PT_M_ftz);
        uint32_t b;
        if ((!is_div && form->op != PT_OP_rcp_approx) ||
            !constant_of(c, i, operand_of(c, i, is_div ? 2 : 1), &b))
            continue;
        bool is_large = is_div ? pt_form_has(form, PT_M_full) : !is_ftz;
        uint32_t scale = constant_scale(b, !is_ftz, is_large), r = reciprocal(b, scale);
        any = true;
        if (is_div)
            divide_by(c, i, is_ftz, scale, r);
        else if (scale != ONE)
            replace(c, i, "mul.rn.f32", imm_f32(r), imm_f32(scale), 2);
        else
            replace(c, i, "mov.f32", imm_f32(r), imm_f32(r), 1);
    }
    return any;
}

static void allocate(struct contract *c)
{
    uint32_t n = c->f->insns.n;
    memset(&c->inserted, 0, sizeof c->inserted);
    c->before = pt_arena_alloc(c->scratch, n * sizeof *c->before);
    c->before_tail = pt_arena_alloc(c->scratch, n * sizeof *c->before_tail);
    c->is_dropped = pt_arena_alloc(c->scratch, n * sizeof *c->is_dropped);
}

static void contract(struct contract *c)
{
    struct pt_func *f = c->f;
    uint32_t n = f->insns.n;
    find_uses(c);
    find_stretches(c);
    if (!find_takers(c))
        return;
    c->is_addend = pt_arena_alloc(c->scratch, f->regs.n * sizeof *c->is_addend);
    c->fusion = pt_arena_alloc(c->scratch, n * sizeof *c->fusion);
    c->copy = pt_arena_alloc(c->scratch, 2 * (size_t)n * sizeof *c->copy);
    allocate(c);
    for (uint32_t i = 0; i < n; i++)
        c->fusion[i].mul = NONE;
    take_products(c, true);
    take_products(c, false);
    for (uint32_t i = 0; i < n; i++) {
        if (c->fusion[i].mul == NONE)
            continue;
        uint32_t reg = operand_of(c, i, 1 + c->fusion[i].side)->index;
        rewrite(c, i);
        release(c, reg);
    }
    rebuild(c);
}

void pt_contract(struct pt_module *m, struct pt_func *f, struct pt_arena *scratch, find_form *form)
{
    struct contract c = {.m = m, .f = f, .scratch = scratch, .form = form};
    /* fma.f32 came with sm_20; neg.f16 with version 5.1, in which only f16 itself is older. */
    if (m->sm < 20 || m->ptx < 51)
        return;
    classify_forms(&c);
    c.may_fuse = m->fmad && !f->keeps_products;
    bool has_fusion = c.may_fuse && c.has_product && c.has_sum;
    if (!has_fusion && !c.has_division)
        return;
    c.mark = pt_web_mark(f);
    find_defs(&c);
    allocate(&c);
    if (c.has_division && fold_constants(&c)) {
        rebuild(&c);
        classify_forms(&c);
        find_defs(&c);
    }
    if (has_fusion)
        contract(&c);
}
