/* Whether operands fit a form, as the assembler judges it, and the type that literals take. */
#include "frontend/fit.h"

#include "ir/print.h"

#include <stdio.h>
#include <string.h>

/* ---- registers and constants that fit a type ------------------------------------------------- */

static uint64_t bit(enum pt_type type)
{
    return UINT64_C(1) << type;
}
_Static_assert(PT_TYPE_COUNT <= 64, "a bit for each type");

/* .bN .uN .sN registers of `bits`, or of more too. */
static uint64_t int_regs(unsigned bits, bool wider)
{
    static const struct {
        unsigned bits;
        uint8_t type[3];
    } ints[] = {{8, {PT_b8, PT_u8, PT_s8}},
                {16, {PT_b16, PT_u16, PT_s16}},
                {32, {PT_b32, PT_u32, PT_s32}},
                {64, {PT_b64, PT_u64, PT_s64}},
                {128, {PT_b128, PT_b128, PT_b128}}};
    uint64_t set = 0;
    for (unsigned i = 0; i < 5; i++)
        if (ints[i].bits == bits || (wider && ints[i].bits > bits))
            for (unsigned k = 0; k < 3; k++)
                set |= bit(ints[i].type[k]);
    return set;
}

static const uint64_t BITS_REGS = UINT64_C(1) << PT_b8 | UINT64_C(1) << PT_b16 |
                                  UINT64_C(1) << PT_b32 | UINT64_C(1) << PT_b64 |
                                  UINT64_C(1) << PT_b128;

/* .fN registers of `bits`, or of more too; the packed .f16x2 counts as 32 untyped bits. */
static uint64_t float_regs(unsigned bits, bool wider)
{
    uint64_t set = 0;
    static const uint8_t types[] = {PT_f16, PT_f32, PT_f16x2, PT_f64};
    for (unsigned i = 0; i < 4; i++)
        if (pt_type_bits(types[i]) == bits || (wider && pt_type_bits(types[i]) > bits))
            set |= bit(types[i]);
    return set;
}

/* Registers an operand of the type accepts, as the assembler judges (PTX ISA 9.4, measured where
 * the text is silent): .bN registers fit any N-bit type, signed and unsigned mix, floating-point
 * registers fit only their own and untyped types. `vector`: elements of .v2 .v4 .v8, where
 * floating-point types take integer registers too. */
uint64_t pt_fit_regs(enum pt_type type, bool wider, bool vector)
{
    unsigned bits = pt_type_bits(type);
    switch (pt_type_class(type)) {
    case PT_CLASS_P:
        return bit(PT_pred);
    case PT_CLASS_B:
        return int_regs(bits, wider) | float_regs(bits, wider);
    case PT_CLASS_U:
    case PT_CLASS_S:
        return int_regs(bits, wider) | (bits == 32 || (wider && bits < 32) ? bit(PT_f16x2) : 0);
    case PT_CLASS_F:
        if (type == PT_bf16)
            return bit(PT_b16);
        return bit(type) | (int_regs(bits, wider) & BITS_REGS) |
               (vector ? int_regs(bits, false) : 0);
    case PT_CLASS_H:
        if (type == PT_f16x2)
            return bit(type) | (int_regs(bits, wider) & BITS_REGS);
        return int_regs(bits, false) & BITS_REGS;
    case PT_CLASS_I:
        return bit(PT_b32) | bit(PT_f16x2);
    default:
        return int_regs(bits, false) & BITS_REGS;
    }
}

/* Registers for a slot of a form. A .ftz conversion with a 64-bit side is expanded by the
 * assembler, and what it expands to takes no 128-bit registers. */
uint64_t pt_fit_slot(const struct pt_slot *slot, const struct pt_form *form, bool vector)
{
    bool wider = slot->flags & PT_SLOT_WIDER;
    uint64_t regs = pt_fit_regs(pt_slot_type(slot, form), wider, vector);
    if (wider && form->n_types == 2 && pt_form_has(form, PT_M_ftz) &&
        (pt_type_bits(form->type[0]) == 64 || pt_type_bits(form->type[1]) == 64))
        regs &= ~bit(PT_b128);
    return regs;
}

static bool is_float_constant(const struct pt_operand *o)
{
    return o->type == PT_f32 || o->type == PT_f64;
}

/* Half and packed types have no constants. */
static bool constant_fits(const struct pt_operand *o, enum pt_type type)
{
    switch (pt_type_class(type)) {
    case PT_CLASS_P:
    case PT_CLASS_U:
    case PT_CLASS_S:
        return !is_float_constant(o);
    case PT_CLASS_B:
        return !is_float_constant(o) || pt_type_bits(type) == pt_type_bits(o->type);
    case PT_CLASS_F:
        return is_float_constant(o) && pt_type_bits(type) >= 32;
    default:
        return false;
    }
}

static bool in_values(const struct pt_slot *slot, const struct pt_operand *o)
{
    if (slot->n_values == 2)
        return o->imm >= slot->value[0] && o->imm <= slot->value[1] && o->imm % slot->value[2] == 0;
    if (!slot->n_values)
        return true;
    for (unsigned i = 0; i < (slot->n_values & 0xfu); i++)
        if (o->imm == slot->value[i])
            return true;
    return false;
}

/* ---- operands -------------------------------------------------------------------------------- */

static bool misfit(struct pt_misfit *why, const char *text)
{
    if (why)
        snprintf(why->text, sizeof why->text, "%s", text);
    return false;
}

static const char *kind_text(const struct pt_operand *o)
{
    switch (o->kind) {
    case PT_OPND_REG:
        return "a register";
    case PT_OPND_IMM:
        return "a constant";
    case PT_OPND_SREG:
        return "a special register";
    case PT_OPND_SYM:
        return "a variable";
    case PT_OPND_FUNC:
        return "a function";
    case PT_OPND_LABEL:
        return "a label";
    case PT_OPND_TABLE:
        return "a table of targets or a prototype";
    case PT_OPND_SINK:
        return "_";
    case PT_OPND_VEC:
        return "a vector";
    case PT_OPND_PAIR:
        return "a pair";
    case PT_OPND_MEM:
        return "an address in brackets";
    case PT_OPND_LIST:
        return "a list";
    default:
        return "nothing";
    }
}

static bool misfit_kind(struct pt_misfit *why, const char *want, const struct pt_operand *o)
{
    if (why)
        snprintf(why->text, sizeof why->text, "must be %s, not %s", want, kind_text(o));
    return false;
}

static bool misfit_type(struct pt_misfit *why, enum pt_type want, const struct pt_func *f,
                        const struct pt_operand *o)
{
    if (!why)
        return false;
    char name[64] = "";
    if (o->kind == PT_OPND_REG)
        pt_print_reg(f, o->index, name, sizeof name);
    else
        snprintf(name, sizeof name, "%s",
                 is_float_constant(o) ? "a floating-point constant" : "a constant");
    if (o->kind == PT_OPND_REG)
        snprintf(why->text, sizeof why->text, "must be of type .%s, register %s is .%s",
                 pt_type_name(want), name, pt_type_name(o->type));
    else
        snprintf(why->text, sizeof why->text, "must be of type .%s, not %s", pt_type_name(want),
                 name);
    return false;
}

/* %tid, %ntid, %ctaid and %nctaid can be read at 16 bits, %gridid at 32 and 64 (PTX ISA 10). */
static bool sreg_fits(enum pt_sreg sreg, enum pt_type type, bool wider)
{
    unsigned have = pt_type_bits(pt_sreg_type(sreg)), want = pt_type_bits(type);
    if (have == want || (wider && have > want))
        return true;
    _Static_assert(PT_SREG_tid_x == 1 && PT_SREG_nctaid_w == 16, "sreg.def: these 16 are first");
    if (want == 16)
        return sreg <= PT_SREG_nctaid_w;
    return sreg == PT_SREG_gridid && (want == 32 || want == 64);
}

/* A selector of the video instructions (PTX ISA 9.7.18), as the assembler takes it: of a scalar
 * one byte or half; of a source one part of both sources for each part, of the result the parts
 * that are written, downwards. */
static bool selector_fits(const struct pt_slot *slot, const struct pt_operand *o)
{
    unsigned n = (unsigned)((uint64_t)o->imm >> 32), parts = slot->parts, last = 8;
    bool is_dest = slot->flags & PT_SLOT_DEST;
    if (parts == 1)
        return n == 1 && (uint32_t)o->imm < (o->select == 'b' ? 4 : 2);
    if (o->select != (parts == 2 ? 'h' : 'b') || n > parts || (n < parts && !is_dest))
        return false;
    for (unsigned i = n; i--;) {
        unsigned digit = (unsigned)(o->imm >> 4 * i) & 15;
        if (digit >= (is_dest ? parts : 2 * parts) || (is_dest && digit >= last))
            return false;
        last = digit;
    }
    return true;
}

/* A register, constant or special register in a place for one value. */
static bool value_fits(const struct pt_func *f, const struct pt_candidate *c,
                       const struct pt_slot *slot, const struct pt_operand *o, bool vector,
                       struct pt_misfit *why)
{
    enum pt_type type = pt_slot_type(slot, &c->form);
    bool wider = slot->flags & PT_SLOT_WIDER;
    bool is_dest = slot->flags & PT_SLOT_DEST;
    if (o->kind == PT_OPND_SINK)
        return slot->flags & PT_SLOT_SINK ? true : misfit(why, "may not be _");
    if ((o->flags & PT_OPND_NEG) && (is_dest || type != PT_pred))
        return misfit(why, "may not be negated with '!'");
    if ((o->flags & PT_OPND_MINUS) && !(slot->flags & PT_SLOT_MINUS))
        return misfit(why, "may not have a minus sign");
    if ((o->flags & PT_FIT_SUM) && (is_dest || slot->flags & PT_SLOT_SELECT))
        return misfit(why, "may not be a sum");
    if (o->select && !(slot->flags & PT_SLOT_SELECT))
        return misfit(why, "may not have a byte or half selector");
    if (o->select && !selector_fits(slot, o))
        return misfit(why, "has a selector of other parts");
    if (!o->select && (slot->flags & PT_SLOT_SELECTED))
        return misfit(why, "needs a byte or half selector");
    if (o->kind == PT_OPND_REG)
        return pt_fit_slot(slot, &c->form, vector) >> o->type & 1 ? true
                                                                  : misfit_type(why, type, f, o);
    if (is_dest || slot->kind == PT_SLOT_REG)
        return misfit_kind(why, "a register", o);
    if (o->kind == PT_OPND_SREG && wider && pt_type_class(type) != PT_CLASS_F &&
        !(c->form.effects & PT_FX_WRITE))
        return sreg_fits(o->index, type, true) ? true
                                               : misfit(why, "cannot be this special register");
    if (o->kind != PT_OPND_IMM)
        return misfit_kind(why, "a register or a constant", o);
    if (!constant_fits(o, type))
        return misfit_type(why, type, f, o);
    return in_values(slot, o) ? true : misfit(why, "is a constant out of range");
}

static bool operand_fits(const struct pt_func *f, const struct pt_candidate *c,
                         const struct pt_slot *slot, const struct pt_operand *o,
                         struct pt_misfit *why);

/* The base of an address: a register of integer type, a variable, a function or a constant. */
static bool base_fits(const struct pt_func *f, const struct pt_operand *o, struct pt_misfit *why)
{
    if (o->kind == PT_OPND_REG && !(int_regs(8, true) >> o->type & 1 && o->type != PT_b128))
        return misfit_type(why, PT_u64, f, o);
    if (o->kind != PT_OPND_REG && o->kind != PT_OPND_SYM && o->kind != PT_OPND_IMM)
        return misfit_kind(why, "an address", o);
    return true;
}

/* The name of a texture, sampler or surface; with `+` in the table, or a register with its
 * handle. */
static bool handle_fits(const struct pt_func *f, const struct pt_candidate *c,
                        const struct pt_slot *slot, const struct pt_operand *o,
                        struct pt_misfit *why)
{
    if (o->kind == PT_OPND_SYM && c->m->symbols.v[o->index].type == slot->type)
        return true;
    if (o->kind != PT_OPND_REG || !(slot->flags & PT_SLOT_WIDER))
        return misfit_kind(why, "the name of a variable of the right opaque type", o);
    return pt_fit_regs(PT_u64, false, false) >> o->type & 1 ? true : misfit_type(why, PT_u64, f, o);
}

/* The base of an address: of a type if the table says so (tensor memory, the least width of a
 * register), else a register of integer type, a variable or a constant. */
static bool typed_base_fits(const struct pt_func *f, const struct pt_candidate *c,
                            const struct pt_slot *slot, const struct pt_operand *o,
                            struct pt_misfit *why)
{
    if (o->kind == PT_OPND_IMM && is_float_constant(o))
        return misfit(why, "is no address");
    if (slot->type >= PT_SLOT_TYPE_NTH)
        return base_fits(f, o, why);
    if (pt_type_class(slot->type) == PT_CLASS_O)
        return handle_fits(f, c, slot, o, why);
    if (slot->flags & PT_SLOT_WIDER)
        return o->kind == PT_OPND_REG && pt_type_bits(o->type) < pt_type_bits(slot->type)
                   ? misfit_type(why, slot->type, f, o)
                   : base_fits(f, o, why);
    if (o->kind != PT_OPND_REG)
        return misfit_kind(why, "a register", o);
    return pt_fit_regs(slot->type, false, false) >> o->type & 1
               ? true
               : misfit_type(why, slot->type, f, o);
}

static bool mem_fits(const struct pt_func *f, const struct pt_candidate *c,
                     const struct pt_slot *slot, const struct pt_operand *o, struct pt_misfit *why)
{
    if (o->kind != PT_OPND_MEM)
        return misfit_kind(why, "an address in brackets", o);
    if (o->imm != slot->n_sub)
        return misfit(why, "has the wrong number of parts in brackets");
    const struct pt_operand *part = &f->operands.v[o->index];
    bool is_tensor_map = slot->n_sub > 1 && pt_slot_sub(slot, 0)->type >= PT_SLOT_TYPE_NTH;
    if (!(is_tensor_map && part->kind == PT_OPND_REG) && /* of any type, as the assembler has it */
        !typed_base_fits(f, c, pt_slot_sub(slot, 0), part, why))
        return false;
    for (unsigned i = 1; i < slot->n_sub; i++)
        if (!operand_fits(f, c, pt_slot_sub(slot, i), &part[i], why))
            return false;
    return true;
}

/* The type of a .bN register among the elements, or PT_TYPE_NONE. */
static uint8_t untyped_beside(const struct pt_func *f, const struct pt_operand *o)
{
    for (unsigned i = 0; i < o->imm; i++) {
        const struct pt_operand *e = &f->operands.v[o->index + i];
        if (e->kind == PT_OPND_REG && pt_type_class(e->type) == PT_CLASS_B)
            return e->type;
    }
    return PT_TYPE_NONE;
}

/* Elements of one type. As the assembler has it, their registers must fit each other, and then
 * it is enough that one fits the type: {.f64, .b64} passes for .u64. */
static bool elements_fit(const struct pt_func *f, const struct pt_candidate *c,
                         const struct pt_slot *slot, const struct pt_operand *o,
                         struct pt_misfit *why)
{
    const struct pt_slot *sub = pt_slot_sub(slot, 0);
    struct pt_slot beside = *sub; /* a constant beside a .bN register has that type */
    uint8_t untyped = untyped_beside(f, o);
    if (untyped) {
        beside.kind = PT_SLOT_VALUE;
        beside.type = untyped;
    }
    uint64_t fit = pt_fit_regs(pt_slot_type(sub, &c->form), sub->flags & PT_SLOT_WIDER, true);
    uint64_t agree = UINT64_MAX, types = 0;
    const struct pt_operand *reg = NULL;
    bool is_sink = true;
    for (unsigned i = 0; i < o->imm; i++) {
        const struct pt_operand *e = &f->operands.v[o->index + i];
        is_sink &= e->kind == PT_OPND_SINK;
        if (e->kind != PT_OPND_REG || e->flags || e->select) {
            if (!value_fits(f, c, &beside, e, true, why))
                return false;
            continue;
        }
        types |= bit(e->type);
        agree &= pt_fit_regs(e->type, false, false);
        reg = e;
    }
    if (reg && !(types & fit))
        return value_fits(f, c, sub, reg, true, why);
    if (is_sink)
        return misfit(why, "needs an element that is not _");
    return types & ~agree ? misfit(why, "has registers of types that do not mix") : true;
}

static bool vec_fits(const struct pt_func *f, const struct pt_candidate *c,
                     const struct pt_slot *slot, const struct pt_operand *o, struct pt_misfit *why)
{
    const struct pt_slot *sub = pt_slot_sub(slot, 0);
    bool by_vec = slot->flags & PT_SLOT_BY_VEC;
    bool is_loose = by_vec && slot->value[1] > 1; /* surfaces: {d*1..4} */
    if (by_vec && c->form.vec == 1 && o->kind == PT_OPND_VEC && o->imm == 1)
        o = &f->operands.v[o->index]; /* Triton writes { %r1 } for one value */
    if (o->kind != PT_OPND_VEC && by_vec &&
        (c->form.vec == 1 || (is_loose && !pt_slot_is_dest(slot))))
        return o->kind == PT_OPND_SINK ? misfit(why, "may not be _")
                                       : operand_fits(f, c, sub, o, why);
    unsigned lo, hi;
    pt_slot_count(slot, &c->form, &lo, &hi);
    if (is_loose && c->form.vec == 1)
        hi = (unsigned)slot->value[1];
    if (by_vec && hi == 1)
        return operand_fits(f, c, sub, o, why);
    if (o->kind != PT_OPND_VEC && lo == 1 && hi > 1)
        return value_fits(f, c, pt_slot_sub(slot, 0), o, true, why);
    if (o->kind != PT_OPND_VEC)
        return misfit_kind(why, "a vector in braces", o);
    if (lo != hi && o->imm == 3)
        return misfit(why, "must have 1, 2 or 4 elements");
    if (o->imm < lo || o->imm > hi) {
        if (why && lo == hi)
            snprintf(why->text, sizeof why->text, "must have %u elements, not %u", lo,
                     (unsigned)o->imm);
        else if (why)
            snprintf(why->text, sizeof why->text, "must have %u to %u elements", lo, hi);
        return false;
    }
    if (slot->n_sub == 1)
        return elements_fit(f, c, slot, o, why);
    for (unsigned i = 0; i < o->imm; i++)
        if (!value_fits(f, c, pt_slot_sub(slot, i), &f->operands.v[o->index + i], true, why))
            return false;
    return true;
}

static bool pair_fits(const struct pt_func *f, const struct pt_candidate *c,
                      const struct pt_slot *slot, const struct pt_operand *o, struct pt_misfit *why)
{
    if (o->kind != PT_OPND_PAIR)
        return misfit_kind(why, "a pair d|p", o);
    for (unsigned i = 0; i < 2; i++) {
        const struct pt_operand *part = &f->operands.v[o->index + i];
        const struct pt_slot *sub = pt_slot_sub(slot, i);
        if (part->kind == PT_OPND_SINK && sub->type == PT_pred)
            continue;
        if (!operand_fits(f, c, sub, part, why))
            return false;
    }
    return true;
}

static bool operand_fits(const struct pt_func *f, const struct pt_candidate *c,
                         const struct pt_slot *slot, const struct pt_operand *o,
                         struct pt_misfit *why)
{
    switch ((enum pt_slot_kind)slot->kind) {
    case PT_SLOT_VALUE:
    case PT_SLOT_REG:
        if (slot->type < PT_SLOT_TYPE_NTH && pt_type_class(slot->type) == PT_CLASS_O)
            return handle_fits(f, c, slot, o, why);
        return value_fits(f, c, slot, o, false, why);
    case PT_SLOT_IMM:
        if (o->kind != PT_OPND_IMM || is_float_constant(o))
            return misfit_kind(why, "an integer constant", o);
        return in_values(slot, o) ? true : misfit(why, "is a constant out of range");
    case PT_SLOT_FIMM:
        return o->kind == PT_OPND_IMM ? true : misfit_kind(why, "a constant", o);
    case PT_SLOT_SREG:
        if (o->kind != PT_OPND_SREG)
            return misfit_kind(why, "a special register", o);
        return sreg_fits(o->index, pt_slot_type(slot, &c->form), false)
                   ? true
                   : misfit(why, "is a special register of another width");
    case PT_SLOT_ADDR:
        return o->kind == PT_OPND_SYM ? true : misfit_kind(why, "a variable", o);
    case PT_SLOT_LABEL:
        return o->kind == PT_OPND_LABEL ? true : misfit_kind(why, "a label", o);
    case PT_SLOT_FUNC:
        return o->kind == PT_OPND_FUNC ? true : misfit_kind(why, "a function", o);
    case PT_SLOT_TABLE:
        return o->kind == PT_OPND_TABLE ? true : misfit_kind(why, "a table or prototype", o);
    case PT_SLOT_LIST:
        return o->kind == PT_OPND_LIST ? true : misfit_kind(why, "a list in parentheses", o);
    case PT_SLOT_MEM:
        return mem_fits(f, c, slot, o, why);
    case PT_SLOT_PAIR:
        return pair_fits(f, c, slot, o, why);
    case PT_SLOT_VEC:
        return vec_fits(f, c, slot, o, why);
    case PT_SLOT_SINK_ONLY:
        return o->kind == PT_OPND_SINK ? true : misfit_kind(why, "_", o);
    }
    return false;
}

/* Operands that fit, from the first on; n_operands if all do. */
uint32_t pt_fit_operands(const struct pt_func *f, const struct pt_candidate *c,
                         const struct pt_operand *operands, struct pt_misfit *why)
{
    for (uint32_t i = 0; i < c->n_operands; i++) {
        const struct pt_operand *o = &operands[i];
        if (o->kind == PT_OPND_REG && !o->flags && !o->select && (c->regs[i] >> o->type & 1))
            continue;
        if (!operand_fits(f, c, pt_form_slot(&c->form, i), o, why))
            return i;
    }
    return c->n_operands;
}

/* ---- literals take the type of their operand ------------------------------------------------- */

static uint64_t f32_bits(double d)
{
    float v = (float)d;
    uint32_t bits;
    memcpy(&bits, &v, sizeof bits);
    return bits;
}

void pt_fit_constant(enum pt_type type, struct pt_operand *o)
{
    bool is_f32 = type == PT_f32 || (type == PT_b32 && o->type == PT_f64);
    if (is_f32 && o->type == PT_f64) {
        double d;
        memcpy(&d, &o->imm, sizeof d);
        o->imm = (int64_t)f32_bits(d);
    } else if (type == PT_f64 && o->type == PT_f32) {
        uint32_t bits = (uint32_t)o->imm;
        float v;
        memcpy(&v, &bits, sizeof v);
        double d = v;
        memcpy(&o->imm, &d, sizeof d);
    } else if (type == PT_pred) {
        o->imm = o->imm != 0;
    } else if (pt_type_bits(type) < 64) {
        o->imm &= (INT64_C(1) << pt_type_bits(type)) - 1;
    }
    o->type = (uint8_t)type;
}

void pt_fit_settle(struct pt_func *f, const struct pt_candidate *c, const struct pt_slot *slot,
                   struct pt_operand *o)
{
    if (o->kind == PT_OPND_IMM && slot->kind == PT_SLOT_VEC)
        slot = pt_slot_sub(slot, 0);
    if (o->kind == PT_OPND_IMM) {
        if (slot->kind != PT_SLOT_IMM && slot->kind != PT_SLOT_FIMM)
            pt_fit_constant(pt_slot_type(slot, &c->form), o);
    } else if (o->kind == PT_OPND_VEC || o->kind == PT_OPND_PAIR) {
        unsigned n = o->kind == PT_OPND_PAIR ? 2 : (unsigned)o->imm;
        for (unsigned i = 0; i < n; i++)
            pt_fit_settle(f, c, pt_slot_sub(slot, i), &f->operands.v[o->index + i]);
    } else if (o->kind == PT_OPND_MEM) {
        for (unsigned i = 1; i < o->imm; i++)
            pt_fit_settle(f, c, pt_slot_sub(slot, i), &f->operands.v[o->index + i]);
    }
}
