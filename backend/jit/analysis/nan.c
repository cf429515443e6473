/* NaNs of f32. Arithmetic leaves those of the machine; they become canonical (0x7fffffff) where
 * somebody looks at the bits. Found here: which registers may hold others until then, and which
 * hold no NaN at all, or none that signals.
 */
#include "backend/jit/analysis/nan.h"

#include <math.h>
#include <string.h>

#include "backend/jit/bitset.h"
#include "backend/jit/jit.h"
#include "ir/bits.h"
#include "ir/chapter.h"
#include "ir/insn.h"

struct scan {
    const struct jit_facts *a;
    double *bound;  /* by register: no value is larger in magnitude; INFINITY: not known */
    uint64_t *seen; /* f32: registers of which somebody sees what kind of NaN they hold */
    const struct pt_insn *insn;
    const struct pt_form *form;
    bool changed;
};

/* ---- values that are finite ------------------------------------------------------------------ */

/* An immediate as f32; others than floating-point ones are its bits. */
static float number_of(const struct pt_operand *o)
{
    double wide;
    float narrow;
    uint32_t bits = (uint32_t)o->imm;
    memcpy(&wide, &o->imm, sizeof wide);
    memcpy(&narrow, &bits, sizeof narrow);
    return o->type == PT_f64 ? (float)wide : narrow;
}

static double bound_of(const struct scan *s, unsigned i)
{
    const struct pt_operand *o = &s->a->unit->f->operands.v[s->insn->operands + i];
    if (o->kind == PT_OPND_REG)
        return s->bound[o->index];
    return o->kind == PT_OPND_IMM && isfinite(number_of(o)) ? fabs(number_of(o)) : INFINITY;
}

static double bound_of_result(const struct scan *s)
{
    if (pt_form_has(s->form, PT_M_sat))
        return 1;
    switch (s->form->op) {
    case PT_OP_cvt_f32_int:
        return 0x1p64;
    case PT_OP_mov:
    case PT_OP_abs_f32:
    case PT_OP_neg_f32:
        return bound_of(s, 1);
    case PT_OP_min_f32:
    case PT_OP_max_f32:
    case PT_OP_selp:
        return fmax(bound_of(s, 1), bound_of(s, 2));
    case PT_OP_add_f32:
    case PT_OP_sub_f32:
        return bound_of(s, 1) + bound_of(s, 2);
    case PT_OP_mul_f32:
        return bound_of(s, 1) * bound_of(s, 2);
    case PT_OP_fma_f32:
        return bound_of(s, 1) * bound_of(s, 2) + bound_of(s, 3);
    default:
        return INFINITY;
    }
}

/* Definitions come before uses, but for those around a loop, of registers that have several. */
static void find_finite(struct scan *s)
{
    const struct pt_func *f = s->a->unit->f;
    for (uint32_t i = 0; i < f->regs.n; i++)
        s->bound[i] = INFINITY;
    for (uint32_t i = 0; i < f->insns.n; i++) {
        s->insn = &f->insns.v[i];
        s->form = pt_insn_form(s->a->unit->m, s->insn);
        const struct pt_operand *d = &f->operands.v[s->insn->operands];
        if (!s->insn->n_operands || d->kind != PT_OPND_REG || f->regs.v[d->index].type != PT_f32 ||
            f->regs.v[d->index].n_defs != 1 || s->a->regs[d->index].only != i)
            continue;
        double bound = bound_of_result(s) * (1 + 0x1p-20); /* rounded */
        s->bound[d->index] = bound < 0x1p126 ? bound : INFINITY;
        s->a->regs[d->index].is_finite = bound < 0x1p126;
    }
}

/* ---- values whose NaNs can wait -------------------------------------------------------------- */

unsigned jit_nan_choices(const struct pt_form *form)
{
    switch (form->op) {
    case PT_OP_mov:
    case PT_OP_shfl:
    case PT_OP_shfl_sync:
        return 1;
    case PT_OP_selp:
    case PT_OP_slct:
        return 2;
    default:
        return 0;
    }
}

static bool can_wait(const struct jit_facts *a, const struct pt_operand *o)
{
    if (o->kind == PT_OPND_REG)
        return a->regs[o->index].is_noncanonical || a->regs[o->index].is_finite;
    return o->kind == PT_OPND_IMM && !isnan(number_of(o));
}

static bool is_float(enum pt_type type)
{
    return type == PT_f32 || type == PT_f64;
}

/* Until a round over all instructions takes nothing back. */
static void scan_to_end(struct scan *s, void (*visit)(void *ud, uint32_t reg, bool is_def))
{
    const struct pt_func *f = s->a->unit->f;
    do {
        s->changed = false;
        for (uint32_t i = 0; i < f->insns.n; i++) {
            s->insn = &f->insns.v[i];
            s->form = pt_insn_form(s->a->unit->m, s->insn);
            pt_insn_regs(s->a->unit->m, f, s->insn, visit, s);
        }
    } while (s->changed);
}

/* The register of 32 bits that the instruction copies its first source to, from the same lane or
 * another; NULL: it does something else. */
static const struct pt_operand *copy_of_bits(const struct scan *s)
{
    const struct pt_operand *all = s->a->unit->f->operands.v, *d = &all[s->insn->operands];
    if (jit_nan_choices(s->form) != 1 || pt_type_bits((enum pt_type)s->form->type[0]) != 32)
        return NULL;
    if (s->form->op != PT_OP_mov && d->kind == PT_OPND_PAIR)
        d = &all[d->index];
    return d->kind == PT_OPND_REG ? d : NULL;
}

/* Nobody sees the bits of a copy of f32, as shfl takes it, if only further copies read it, whose
 * NaNs wait, too. */
static bool takes_raw(const struct scan *s, uint32_t reg)
{
    const struct pt_operand *o = &s->a->unit->f->operands.v[s->insn->operands],
                            *d = copy_of_bits(s);
    if (is_float((enum pt_type)s->a->unit->f->regs.v[reg].type))
        return true;
    for (uint32_t i = 2; i < s->insn->n_operands; i++)
        if (o[i].kind == PT_OPND_REG && o[i].index == reg)
            return false;
    return d && o[1].kind == PT_OPND_REG && o[1].index == reg &&
           s->a->regs[d->index].is_noncanonical;
}

/* It makes NaNs of its own, whatever its operands are. */
static bool is_arithmetic(const struct pt_form *form)
{
    return (form->effects & PT_FX_FP) && pt_chapter_has("float", (enum pt_op)form->op);
}

static bool is_seen(const struct scan *s, uint32_t reg)
{
    return s->a->unit->f->regs.v[reg].type != PT_f32 || jit_set_has(s->seen, reg);
}

/* The instruction takes any NaN of the register for the same, or copies it to where that is so. */
static bool reads_number(const struct scan *s, uint32_t reg)
{
    const struct pt_operand *o = &s->a->unit->f->operands.v[s->insn->operands];
    if (jit_nan_takes_numbers(s->form))
        return true;
    for (uint32_t i = jit_nan_choices(s->form) + 1; i < s->insn->n_operands; i++)
        if (o[i].kind == PT_OPND_REG && o[i].index == reg)
            return false;
    return jit_nan_choices(s->form) && o->kind == PT_OPND_REG && !is_seen(s, o->index);
}

static void scan_seen(void *ud, uint32_t reg, bool is_def)
{
    struct scan *s = ud;
    if (is_def || is_seen(s, reg) || reads_number(s, reg))
        return;
    jit_set_add(s->seen, reg);
    s->changed = true;
}

static bool gives_raw(const struct scan *s, uint32_t reg)
{
    const struct pt_operand *o = &s->a->unit->f->operands.v[s->insn->operands];
    unsigned n = jit_nan_choices(s->form);
    if (!is_seen(s, reg))
        return true;
    if (!is_float((enum pt_type)s->a->unit->f->regs.v[reg].type) && !copy_of_bits(s))
        return false;
    for (unsigned i = 1; i <= n; i++)
        if (!can_wait(s->a, &o[i]))
            return false;
    return n || (is_arithmetic(s->form) && is_float((enum pt_type)s->form->type[0]));
}

static void scan_raw(void *ud, uint32_t reg, bool is_def)
{
    struct scan *s = ud;
    if (!s->a->regs[reg].is_noncanonical || (is_def ? gives_raw(s, reg) : takes_raw(s, reg)))
        return;
    s->a->regs[reg].is_noncanonical = false;
    s->changed = true;
}

/* Registers whose every definition is arithmetic, or a choice of such values, and copies of their
 * bits; and those of which nobody sees the bits, wherever their values come from, as sums that
 * begin with what was loaded. */
static void find_raw(struct scan *s)
{
    const struct pt_func *f = s->a->unit->f;
    for (uint32_t i = 1; i < f->regs.n; i++)
        s->a->regs[i].is_noncanonical = is_float((enum pt_type)f->regs.v[i].type) ||
                                        pt_type_bits((enum pt_type)f->regs.v[i].type) == 32;
    scan_to_end(s, scan_raw);
}

/* ---- values whose NaNs are quiet ------------------------------------------------------------- */

bool jit_nan_is_quiet(const struct jit_facts *a, const struct pt_operand *o)
{
    if (o->kind == PT_OPND_REG)
        return a->regs[o->index].is_quiet;
    return o->kind == PT_OPND_IMM && !isnan(number_of(o));
}

/* Arithmetic makes NaNs quiet; signs and choices leave them as they are. */
static bool gives_quiet(const struct scan *s)
{
    const struct pt_operand *o = &s->a->unit->f->operands.v[s->insn->operands];
    unsigned n = jit_nan_choices(s->form);
    switch ((enum pt_op)s->form->op) {
    case PT_OP_abs_f32:
    case PT_OP_neg_f32:
        n = 1;
        break;
    case PT_OP_copysign:
        return false;
    default:
        break;
    }
    for (unsigned i = 1; i <= n; i++)
        if (!jit_nan_is_quiet(s->a, &o[i]))
            return false;
    return n || (is_arithmetic(s->form) && s->form->type[0] == PT_f32);
}

static void scan_quiet(void *ud, uint32_t reg, bool is_def)
{
    struct scan *s = ud;
    if (!is_def || !s->a->regs[reg].is_quiet || gives_quiet(s))
        return;
    s->a->regs[reg].is_quiet = false;
    s->changed = true;
}

/* Of f32, and of their bits, which shfl has. */
static void find_quiet(struct scan *s)
{
    const struct pt_func *f = s->a->unit->f;
    for (uint32_t i = 1; i < f->regs.n; i++)
        s->a->regs[i].is_quiet = pt_type_bits((enum pt_type)f->regs.v[i].type) == 32;
    scan_to_end(s, scan_quiet);
}

void jit_nan_find(const struct jit_facts *a)
{
    struct scan s = {.a = a,
                     .bound = pt_arena_alloc(a->unit->arena, a->unit->f->regs.n * sizeof(double))};
    s.seen = pt_arena_alloc(a->unit->arena, pt_bit_words(a->unit->f->regs.n) * sizeof *s.seen);
    find_finite(&s);
    scan_to_end(&s, scan_seen);
    find_raw(&s);
    find_quiet(&s);
}

/* True if results and choices do not depend on what kind of NaN a source is. */
bool jit_nan_takes_numbers(const struct pt_form *form)
{
    if (form->op == PT_OP_copysign || form->op == PT_OP_cvt_f64_f32 ||
        form->op == PT_OP_cvt_tf32_f32 || pt_form_has(form, PT_M_xorsign) ||
        (form->op == PT_OP_cvt_f32_f32 && !pt_form_has(form, PT_M_sat)))
        return false;
    return form->effects & PT_FX_FP;
}
