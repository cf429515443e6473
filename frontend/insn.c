/* One instruction: spelling and operands to a form of the instruction table.
 *
 * A module spells a few hundred different instructions some hundred thousand times, so a spelling is matched against the
 * table once: its candidates (the lines that fit, one for each choice of optional operands) are kept in the
 * module, and an instruction costs a hash look-up and a check of its operands. */
#include "frontend/insn.h"

#include <stdio.h>
#include <string.h>

#include "frontend/check.h"
#include "ir/row.h"

enum { MAX_PARTS = PT_FORM_MODS + PT_FORM_TYPES + 2 };

/* A line of the table that the spelling fits, with one choice of its optional operands. */
struct candidate {
    const struct pt_module *m;
    const struct pt_line *line;
    struct pt_when when;
    struct pt_form form;
    uint32_t index;    /* in m->forms, PT_NONE until it is used */
    uint8_t n_operands;
    uint64_t *regs;    /* register types each operand may have, if it is a plain value */
};

struct spelling {
    const char *text;
    uint32_t len, hash;
    uint32_t n;
    struct candidate *candidates;
};

struct pt_insn_cache {
    uint32_t n, cap; /* cap: a power of two */
    struct spelling **table;
};

/* What is being matched, for messages. */
struct place {
    struct pt_module *m;
    const struct pt_func *f;
    const char *s;
    uint32_t len, line, col;
};

/* ---- spelling to lines --------------------------------------------------------------------------------- */

struct parts {
    unsigned n;
    uint16_t token[MAX_PARTS];
    uint32_t at[MAX_PARTS], len[MAX_PARTS]; /* in the spelling, without the dot */
    uint32_t mnemonic_len;
    uint32_t opcode;   /* parts that belong to the name of the instruction */
    int opcode_after;  /* such a part behind one that does not, or -1 */
};

static bool is_repeated(const struct parts *p, unsigned part)
{
    for (unsigned i = 0; i < part; i++)
        if (p->token[i] && p->token[i] == p->token[part])
            return pt_token_is_repeatable(p->token[part]);
    return false;
}

static void find_opcode(struct parts *p, const char *s)
{
    unsigned leading = 0;
    p->opcode_after = -1;
    for (unsigned i = 0; i < p->n; i++) {
        if (!pt_token_is_opcode(p->token[i], s, p->mnemonic_len))
            continue;
        p->opcode |= UINT32_C(1) << i;
        if (i != leading++ && p->opcode_after < 0)
            p->opcode_after = (int)i;
    }
}

/* Splits at the dots. Returns the index of the first part that is no token, or -1. */
static int split(struct parts *p, const char *s, uint32_t len)
{
    uint32_t i = 0;
    int unknown = -1;
    *p = (struct parts){.n = 0};
    while (i < len && s[i] != '.')
        i++;
    p->mnemonic_len = i;
    while (i < len) {
        uint32_t start = ++i;
        while (i < len && s[i] != '.')
            i++;
        if (p->n == MAX_PARTS)
            return MAX_PARTS - 1;
        p->at[p->n] = start;
        p->len[p->n] = i - start;
        p->token[p->n] = pt_token_find(s + start, i - start);
        if (!p->token[p->n] && unknown < 0)
            unknown = (int)p->n;
        if (!is_repeated(p, p->n))
            p->n++;
    }
    find_opcode(p, s);
    return unknown;
}

/* A search for the elements that take the parts. With the relaxations below it says what is wrong with a spelling. */
struct search {
    const struct parts *parts;
    const struct pt_line *line;
    const struct pt_when *within; /* only alternatives good for this target and version, or NULL */
    unsigned target;
    uint16_t ptx;
    int skip;         /* part to ignore, or -1 */
    int any_type;     /* part that stands for any type, or -1 */
    bool may_lack;    /* one required element may be missing: */
    int lacking;
    const struct pt_alt *used[PT_LINE_ELEMS]; /* by element */
    uint8_t elem_of[MAX_PARTS];
};

static bool when_holds(const struct pt_when *when, unsigned target, uint16_t ptx)
{
    return (when->targets >> target & 1) && ptx >= when->ptx_lo && ptx <= when->ptx_hi;
}

static bool is_space(uint16_t token)
{
    switch (token) {
    case PT_M_const:
    case PT_M_global:
    case PT_M_local:
    case PT_M_shared:
    case PT_M_shared_cta:
    case PT_M_shared_cluster:
        return true;
    default:
        return false;
    }
}

/* Types match in order: the elements of the types, as spelled, must ascend; so must those of the state spaces and those
 * of the words of the instruction's name. */
static bool types_ascend(const struct search *s)
{
    unsigned last_type = 0, last_space = 0, last_word = 0;
    for (unsigned i = 0; i < s->parts->n; i++) {
        uint16_t token = s->parts->token[i];
        unsigned *last = token & PT_TOKEN_TYPE          ? &last_type
                         : s->parts->opcode >> i & 1 ? &last_word
                         : is_space(token)           ? &last_space
                                                     : NULL;
        if (!last || (int)i == s->skip)
            continue;
        if (s->elem_of[i] < *last)
            return false;
        *last = s->elem_of[i];
    }
    return true;
}

static bool is_complete(struct search *s)
{
    s->lacking = -1;
    for (unsigned e = 0; e < s->line->n_elems; e++) {
        if (s->used[e] || pt_line_elem(s->line, e)->is_optional)
            continue;
        if (!s->may_lack || s->lacking >= 0)
            return false;
        s->lacking = (int)e;
    }
    return types_ascend(s);
}

/* Marks the parts that the alternative takes; false if one is missing. Types and state spaces of one alternative keep
 * their order. */
static bool take_parts(const struct search *s, const struct pt_alt *alt, uint32_t *free,
                       uint32_t *taken)
{
    unsigned type = 0, space = 0;
    *taken = 0;
    for (unsigned t = 0; t < alt->n; t++) {
        unsigned *from = alt->token[t] & PT_TOKEN_TYPE ? &type : is_space(alt->token[t]) ? &space : NULL;
        bool found = false;
        for (unsigned i = from ? *from : 0; i < s->parts->n && !found; i++) {
            bool same = s->parts->token[i] == alt->token[t];
            if ((int)i == s->any_type)
                same = alt->token[t] & PT_TOKEN_TYPE;
            if (!same || !(*free >> i & 1) || (*taken >> i & 1))
                continue;
            *taken |= UINT32_C(1) << i;
            found = true;
            if (from)
                *from = i + 1;
        }
        if (!found)
            return false;
    }
    return true;
}

static bool search_parts(struct search *s, uint32_t free)
{
    if (!free)
        return is_complete(s);
    unsigned first = (unsigned)__builtin_ctz(free);
    for (unsigned e = 0; e < s->line->n_elems; e++) {
        const struct pt_elem *elem = pt_line_elem(s->line, e);
        if (s->used[e])
            continue;
        for (unsigned a = 0; a < elem->n; a++) {
            const struct pt_alt *alt = pt_elem_alt(elem, a);
            uint32_t taken;
            if ((s->within && !when_holds(&alt->when, s->target, s->ptx)) ||
                !take_parts(s, alt, &free, &taken) || !(taken >> first & 1))
                continue;
            s->used[e] = alt;
            for (unsigned i = 0; i < s->parts->n; i++)
                if (taken >> i & 1)
                    s->elem_of[i] = (uint8_t)e;
            if (search_parts(s, free & ~taken))
                return true;
            s->used[e] = NULL;
        }
    }
    return false;
}

static bool search_line(struct search *s, const struct pt_line *line)
{
    s->line = line;
    memset(s->used, 0, sizeof s->used);
    uint32_t all = s->parts->n < 32 ? (UINT32_C(1) << s->parts->n) - 1 : UINT32_MAX;
    if (s->skip >= 0)
        all &= ~(UINT32_C(1) << s->skip);
    return search_parts(s, all);
}

static void fill_form(struct pt_form *form, const struct search *s, const char *text)
{
    *form = (struct pt_form){.op = s->line->op, .vec = 1, .spelling = text};
    form->effects = pt_op_effects(s->line->op);
    for (unsigned i = 0; i < s->parts->n; i++) {
        uint16_t t = s->parts->token[i];
        if (t & PT_TOKEN_VEC)
            form->vec = (uint8_t)(t & 0xff);
        else if ((t & PT_TOKEN_TYPE) && form->n_types < PT_FORM_TYPES)
            form->type[form->n_types++] = (uint8_t)(t & 0xff);
        else if (!(t & PT_TOKEN_TYPE) && form->n_mods < PT_FORM_MODS)
            form->mod[form->n_mods++] = t;
    }
}

/* ---- registers and constants that fit a type ----------------------------------------------------------- */

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

static const uint64_t BITS_REGS = UINT64_C(1) << PT_b8 | UINT64_C(1) << PT_b16 | UINT64_C(1) << PT_b32 |
                                  UINT64_C(1) << PT_b64 | UINT64_C(1) << PT_b128;

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

/* Registers an operand of the type accepts, as the assembler judges (PTX ISA 9.4, measured where the text is
 * silent): .bN registers fit any N-bit type, signed and unsigned mix, floating-point registers fit only their own and
 * untyped types. `vector`: elements of .v2 .v4 .v8, where floating-point types take integer registers too. */
static uint64_t regs_for(enum pt_type type, bool wider, bool vector)
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
        return bit(type) | (int_regs(bits, wider) & BITS_REGS) | (vector ? int_regs(bits, false) : 0);
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

/* ---- operands ------------------------------------------------------------------------------------------ */

/* Why an operand does not fit, for the message. */
struct misfit {
    char text[160];
};

static bool misfit(struct misfit *why, const char *text)
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

static bool misfit_kind(struct misfit *why, const char *want, const struct pt_operand *o)
{
    if (why)
        snprintf(why->text, sizeof why->text, "must be %s, not %s", want, kind_text(o));
    return false;
}

static bool misfit_type(struct misfit *why, enum pt_type want, const struct pt_func *f,
                        const struct pt_operand *o)
{
    if (!why)
        return false;
    char name[64] = "";
    if (o->kind == PT_OPND_REG)
        pt_reg_name(f, o->index, name, sizeof name);
    else
        snprintf(name, sizeof name, "%s", is_float_constant(o) ? "a floating-point constant" : "a constant");
    if (o->kind == PT_OPND_REG)
        snprintf(why->text, sizeof why->text, "must be of type .%s, register %s is .%s",
                 pt_type_name(want), name, pt_type_name(o->type));
    else
        snprintf(why->text, sizeof why->text, "must be of type .%s, not %s", pt_type_name(want), name);
    return false;
}

/* %tid, %ntid, %ctaid and %nctaid can be read at 16 bits, %gridid at 32 and 64 (PTX ISA 10). */
static bool sreg_fits(enum pt_sreg sreg, enum pt_type type, bool wider)
{
    unsigned have = pt_type_bits(pt_sreg_type(sreg)), want = pt_type_bits(type);
    if (have == want || (wider && have > want))
        return true;
    if (want == 16)
        return sreg <= PT_SREG_nctaid_w;
    return sreg == PT_SREG_gridid && (want == 32 || want == 64);
}

/* A register, constant or special register in a place for one value. */
static bool value_fits(const struct pt_func *f, const struct candidate *c, const struct pt_slot *slot,
                       const struct pt_operand *o, bool vector, struct misfit *why)
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
    if (o->select && !(slot->flags & PT_SLOT_SELECT))
        return misfit(why, "may not have a byte or half selector");
    if (!o->select && (slot->flags & PT_SLOT_SELECTED))
        return misfit(why, "needs a byte or half selector");
    if (o->kind == PT_OPND_REG)
        return regs_for(type, wider, vector) >> o->type & 1 ? true : misfit_type(why, type, f, o);
    if (is_dest || slot->kind == PT_SLOT_REG)
        return misfit_kind(why, "a register", o);
    if (o->kind == PT_OPND_SREG && wider && pt_type_class(type) != PT_CLASS_F &&
        !(c->form.effects & PT_FX_WRITE))
        return sreg_fits(o->index, type, true) ? true : misfit(why, "cannot be this special register");
    if (o->kind != PT_OPND_IMM)
        return misfit_kind(why, "a register or a constant", o);
    if (!constant_fits(o, type))
        return misfit_type(why, type, f, o);
    return in_values(slot, o) ? true : misfit(why, "is a constant out of range");
}

static bool operand_fits(const struct pt_func *f, const struct candidate *c, const struct pt_slot *slot,
                         const struct pt_operand *o, struct misfit *why);

/* The base of an address: a register of integer type, a variable, a function or a constant. */
static bool base_fits(const struct pt_func *f, const struct pt_operand *o, struct misfit *why)
{
    if (o->kind == PT_OPND_REG && !(int_regs(8, true) >> o->type & 1 && o->type != PT_b128))
        return misfit_type(why, PT_u64, f, o);
    if (o->kind != PT_OPND_REG && o->kind != PT_OPND_SYM && o->kind != PT_OPND_IMM)
        return misfit_kind(why, "an address", o);
    return true;
}

/* The name of a texture, sampler or surface; with `+` in the table, or a register with its handle. */
static bool handle_fits(const struct pt_func *f, const struct candidate *c, const struct pt_slot *slot,
                        const struct pt_operand *o, struct misfit *why)
{
    if (o->kind == PT_OPND_SYM && c->m->symbols.v[o->index].type == slot->type)
        return true;
    if (o->kind != PT_OPND_REG || !(slot->flags & PT_SLOT_WIDER))
        return misfit_kind(why, "the name of a variable of the right opaque type", o);
    return regs_for(PT_u64, false, false) >> o->type & 1 ? true : misfit_type(why, PT_u64, f, o);
}

/* The base of an address: of a type if the table says so (tensor memory, the least width of a register), else a register
 * of integer type, a variable or a constant. */
static bool typed_base_fits(const struct pt_func *f, const struct candidate *c, const struct pt_slot *slot,
                            const struct pt_operand *o, struct misfit *why)
{
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
    return regs_for(slot->type, false, false) >> o->type & 1 ? true : misfit_type(why, slot->type, f, o);
}

static bool mem_fits(const struct pt_func *f, const struct candidate *c, const struct pt_slot *slot,
                     const struct pt_operand *o, struct misfit *why)
{
    if (o->kind != PT_OPND_MEM)
        return misfit_kind(why, "an address in brackets", o);
    if (o->imm != slot->n_sub)
        return misfit(why, "has the wrong number of parts in brackets");
    const struct pt_operand *part = &f->operands.v[o->index];
    if (!typed_base_fits(f, c, pt_slot_sub(slot, 0), part, why))
        return false;
    for (unsigned i = 1; i < slot->n_sub; i++)
        if (!operand_fits(f, c, pt_slot_sub(slot, i), &part[i], why))
            return false;
    return true;
}

/* Elements of one type. As the assembler has it, their registers must fit each other, and then it is enough that one
 * fits the type: {.f64, .b64} passes for .u64. */
static bool elements_fit(const struct pt_func *f, const struct candidate *c, const struct pt_slot *slot,
                         const struct pt_operand *o, struct misfit *why)
{
    const struct pt_slot *sub = pt_slot_sub(slot, 0);
    uint64_t fit = regs_for(pt_slot_type(sub, &c->form), sub->flags & PT_SLOT_WIDER, true);
    uint64_t agree = UINT64_MAX, types = 0;
    const struct pt_operand *reg = NULL;
    bool is_sink = true;
    for (unsigned i = 0; i < o->imm; i++) {
        const struct pt_operand *e = &f->operands.v[o->index + i];
        is_sink &= e->kind == PT_OPND_SINK;
        if (e->kind != PT_OPND_REG || e->flags || e->select) {
            if (!value_fits(f, c, sub, e, true, why))
                return false;
            continue;
        }
        types |= bit(e->type);
        agree &= regs_for(e->type, false, false);
        reg = e;
    }
    if (reg && !(types & fit))
        return value_fits(f, c, sub, reg, true, why);
    if (is_sink)
        return misfit(why, "needs an element that is not _");
    return types & ~agree ? misfit(why, "has registers of types that do not mix") : true;
}

static bool vec_fits(const struct pt_func *f, const struct candidate *c, const struct pt_slot *slot,
                     const struct pt_operand *o, struct misfit *why)
{
    if ((slot->flags & PT_SLOT_BY_VEC) && c->form.vec == 1) {
        if (o->kind == PT_OPND_VEC && o->imm == 1)
            o = &f->operands.v[o->index]; /* Triton writes { %r1 } for one value */
        return o->kind == PT_OPND_SINK ? misfit(why, "may not be _")
                                       : operand_fits(f, c, pt_slot_sub(slot, 0), o, why);
    }
    unsigned lo, hi;
    pt_slot_count(slot, &c->form, &lo, &hi);
    if (o->kind != PT_OPND_VEC)
        return misfit_kind(why, "a vector in braces", o);
    if (lo != hi && o->imm == 3)
        return misfit(why, "must have 1, 2 or 4 elements");
    if (o->imm < lo || o->imm > hi) {
        if (why && lo == hi)
            snprintf(why->text, sizeof why->text, "must have %u elements, not %u", lo, (unsigned)o->imm);
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

static bool pair_fits(const struct pt_func *f, const struct candidate *c, const struct pt_slot *slot,
                      const struct pt_operand *o, struct misfit *why)
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

static bool operand_fits(const struct pt_func *f, const struct candidate *c, const struct pt_slot *slot,
                         const struct pt_operand *o, struct misfit *why)
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
static uint32_t fitting(const struct pt_func *f, const struct candidate *c,
                        const struct pt_operand *operands, struct misfit *why)
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

/* ---- literals take the type of their operand ----------------------------------------------------------- */

static uint64_t f32_bits(double d)
{
    float v = (float)d;
    uint32_t bits;
    memcpy(&bits, &v, sizeof bits);
    return bits;
}

void pt_insn_settle(enum pt_type type, struct pt_operand *o)
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

static void settle(struct pt_func *f, const struct candidate *c, const struct pt_slot *slot,
                   struct pt_operand *o)
{
    if (o->kind == PT_OPND_IMM && slot->kind == PT_SLOT_VEC)
        slot = pt_slot_sub(slot, 0);
    if (o->kind == PT_OPND_IMM) {
        if (slot->kind != PT_SLOT_IMM && slot->kind != PT_SLOT_FIMM)
            pt_insn_settle(pt_slot_type(slot, &c->form), o);
    } else if (o->kind == PT_OPND_VEC || o->kind == PT_OPND_PAIR) {
        unsigned n = o->kind == PT_OPND_PAIR ? 2 : (unsigned)o->imm;
        for (unsigned i = 0; i < n; i++)
            settle(f, c, pt_slot_sub(slot, i), &f->operands.v[o->index + i]);
    } else if (o->kind == PT_OPND_MEM) {
        for (unsigned i = 1; i < o->imm; i++)
            settle(f, c, pt_slot_sub(slot, i), &f->operands.v[o->index + i]);
    }
}

/* ---- the cache of spellings ---------------------------------------------------------------------------- */

static uint32_t hash_of(const char *s, uint32_t len)
{
    uint32_t h = 2166136261u;
    for (uint32_t i = 0; i < len; i++)
        h = (h ^ (uint8_t)s[i]) * 16777619u;
    return h ^ h >> 15;
}

/* In .texmode_independent a texture access names its sampler too, otherwise it must not. */
static bool texmode_fits(const struct candidate *c)
{
    for (unsigned i = 0; i < c->n_operands; i++) {
        const struct pt_slot *slot = pt_form_slot(&c->form, i);
        if (slot->kind != PT_SLOT_MEM)
            continue;
        bool texture = pt_slot_sub(slot, 0)->type == PT_texref && slot->n_sub > 1;
        bool sampler = pt_slot_sub(slot, slot->n_sub > 1)->type == PT_samplerref;
        if ((texture || sampler) && sampler != c->m->texmode_independent)
            return false;
    }
    return true;
}

static void add_candidates(struct pt_module *m, struct spelling *sp, const struct search *s)
{
    const struct pt_line *line = s->line;
    struct candidate *all = pt_arena_alloc(&m->arena, (sp->n + line->n_variants) * sizeof *all);
    if (sp->n)
        memcpy(all, sp->candidates, sp->n * sizeof *all);
    for (unsigned v = 0; v < line->n_variants; v++) {
        struct candidate *c = &all[sp->n++];
        c->m = m;
        c->line = line;
        c->when = line->when;
        for (unsigned e = 0; e < line->n_elems; e++)
            if (s->used[e])
                pt_when_narrow(&c->when, &s->used[e]->when);
        fill_form(&c->form, s, sp->text);
        c->form.variant = (uint16_t)(line->variant + v);
        c->n_operands = (uint8_t)pt_form_operands(&c->form);
        c->regs = pt_arena_alloc(&m->arena, (c->n_operands + 1u) * sizeof *c->regs);
        for (unsigned i = 0; i < c->n_operands; i++) {
            const struct pt_slot *slot = pt_form_slot(&c->form, i);
            if (slot->kind == PT_SLOT_VEC && (slot->flags & PT_SLOT_BY_VEC) && c->form.vec == 1)
                slot = pt_slot_sub(slot, 0);
            if (slot->kind == PT_SLOT_VALUE || slot->kind == PT_SLOT_REG)
                c->regs[i] = regs_for(pt_slot_type(slot, &c->form), slot->flags & PT_SLOT_WIDER, false);
        }
        sp->n -= !texmode_fits(c);
    }
    sp->candidates = all;
}

static struct spelling *match_spelling(struct pt_module *m, const char *text, uint32_t len)
{
    struct spelling *sp = pt_arena_alloc(&m->arena, sizeof *sp);
    struct parts parts;
    sp->text = pt_arena_text(&m->arena, text, len);
    sp->len = len;
    unsigned n, first = pt_lines_find(text, (uint32_t)strcspn(sp->text, "."), &n);
    if (split(&parts, text, len) >= 0 || parts.opcode_after >= 0)
        return sp;
    unsigned target = pt_target_find(m->sm, m->sm_feature);
    for (unsigned i = 0; i < n; i++) {
        const struct pt_line *line = pt_line_at(first + i);
        struct search s = {.parts = &parts, .target = target, .ptx = m->ptx, .skip = -1, .any_type = -1};
        s.within = &line->when;
        bool found = search_line(&s, line);
        s.within = NULL;
        if (found || search_line(&s, line))
            add_candidates(m, sp, &s);
    }
    return sp;
}

static void grow(struct pt_module *m, struct pt_insn_cache *cache)
{
    struct spelling **old = cache->table;
    uint32_t old_cap = cache->cap;
    cache->cap = old_cap ? 2 * old_cap : 256;
    cache->table = pt_arena_alloc(&m->arena, cache->cap * sizeof *cache->table);
    for (uint32_t i = 0; i < old_cap; i++) {
        if (!old[i])
            continue;
        uint32_t at = old[i]->hash & (cache->cap - 1);
        while (cache->table[at])
            at = (at + 1) & (cache->cap - 1);
        cache->table[at] = old[i];
    }
}

static struct spelling *find_spelling(struct pt_module *m, const char *text, uint32_t len)
{
    if (!m->insn_cache)
        m->insn_cache = pt_arena_alloc(&m->arena, sizeof *m->insn_cache);
    struct pt_insn_cache *cache = m->insn_cache;
    if (2 * cache->n >= cache->cap)
        grow(m, cache);
    uint32_t hash = hash_of(text, len), at = hash & (cache->cap - 1);
    for (; cache->table[at]; at = (at + 1) & (cache->cap - 1)) {
        struct spelling *sp = cache->table[at];
        if (sp->hash == hash && sp->len == len && !memcmp(sp->text, text, len))
            return sp;
    }
    struct spelling *sp = match_spelling(m, text, len);
    sp->hash = hash;
    cache->table[at] = sp;
    cache->n++;
    return sp;
}

/* ---- what is wrong ------------------------------------------------------------------------------------- */

static void error_part(const struct place *p, const struct parts *parts, unsigned i, const char *what)
{
    pt_diag_error(&p->m->diags, p->line, p->col + parts->at[i] - 1, parts->len[i] + 1, "'.%.*s' %s '%.*s'",
                  (int)parts->len[i], p->s + parts->at[i], what, (int)p->len, p->s);
}

static bool some_line(struct search *s, unsigned first, unsigned n)
{
    for (unsigned i = 0; i < n; i++)
        if (search_line(s, pt_line_at(first + i)))
            return true;
    return false;
}

static void unknown_mnemonic(const struct place *p, const struct parts *parts)
{
    uint32_t near_len = 0;
    const char *near = pt_mnemonic_near(p->s, parts->mnemonic_len, &near_len);
    uint32_t len = parts->mnemonic_len ? parts->mnemonic_len : 1;
    if (!near) {
        pt_diag_error(&p->m->diags, p->line, p->col, len, "unknown instruction '%.*s'", (int)p->len, p->s);
        return;
    }
    struct search s = {.parts = parts, .skip = -1, .any_type = -1};
    unsigned n, first = pt_lines_find(near, near_len, &n);
    bool fits = true;
    for (unsigned i = 0; i < parts->n; i++)
        fits = fits && parts->token[i];
    fits = fits && some_line(&s, first, n);
    int rest = fits ? (int)(p->len - parts->mnemonic_len) : 0;
    pt_diag_error(&p->m->diags, p->line, p->col, len, "unknown instruction '%.*s'; did you mean '%.*s%.*s'?",
                  (int)p->len, p->s, (int)near_len, near, rest, p->s + parts->mnemonic_len);
}

/* A part no instruction has: the nearest that the mnemonic has, if there is one. */
static void unknown_part(const struct place *p, const struct parts *parts, unsigned part, unsigned first,
                         unsigned n)
{
    unsigned best = parts->len[part] / 3 + 2;
    char near[64] = "", name[64];
    for (unsigned i = 0; i < n; i++)
        for (unsigned e = 0; e < pt_line_at(first + i)->n_elems; e++) {
            const struct pt_elem *elem = pt_line_elem(pt_line_at(first + i), e);
            for (unsigned a = 0; a < elem->n; a++) {
                pt_token_name(pt_elem_alt(elem, a)->token[0], name);
                unsigned d = pt_word_distance(p->s + parts->at[part], parts->len[part], name + 1,
                                              (uint32_t)strlen(name) - 1);
                if (d < best) {
                    best = d;
                    memcpy(near, name, sizeof near);
                }
            }
        }
    char text[128] = "is not known in";
    if (*near)
        snprintf(text, sizeof text, "is not known (did you mean '%s'?) in", near);
    error_part(p, parts, part, text);
}

static void missing_part(const struct place *p, const struct parts *parts, const struct search *s)
{
    const struct pt_elem *elem = pt_line_elem(s->line, (unsigned)s->lacking);
    char text[256] = "", name[64];
    for (unsigned a = 0; a < elem->n && a < 10; a++) {
        const struct pt_alt *alt = pt_elem_alt(elem, a);
        size_t at = strlen(text);
        snprintf(text + at, sizeof text - at, "%s", a ? ", " : "");
        for (unsigned t = 0; t < alt->n; t++) {
            at = strlen(text);
            pt_token_name(alt->token[t], name);
            snprintf(text + at, sizeof text - at, "%s", name);
        }
    }
    pt_diag_error(&p->m->diags, p->line, p->col, p->len, "'%.*s' needs %s%s%s", (int)p->len, p->s,
                  elem->n > 1 ? "one of " : "", text, elem->n > 10 ? ", ..." : "");
    (void)parts;
}

/* No line fits the spelling: tries which one change would make it fit. */
static void explain_spelling(const struct place *p)
{
    struct parts parts;
    int unknown = split(&parts, p->s, p->len);
    unsigned n, first = pt_lines_find(p->s, parts.mnemonic_len, &n);
    if (!n) {
        unknown_mnemonic(p, &parts);
        return;
    }
    if (unknown >= 0) {
        unknown_part(p, &parts, (unsigned)unknown, first, n);
        return;
    }
    if (parts.opcode_after >= 0) {
        error_part(p, &parts, (unsigned)parts.opcode_after, "must come right behind the name of the instruction in");
        return;
    }
    struct search s = {.parts = &parts, .skip = -1, .any_type = -1};
    for (s.skip = (int)parts.n - 1; s.skip >= 0; s.skip--)
        if (some_line(&s, first, n)) {
            error_part(p, &parts, (unsigned)s.skip, "is not allowed in");
            return;
        }
    for (s.any_type = (int)parts.n - 1; s.any_type >= 0; s.any_type--)
        if ((parts.token[s.any_type] & PT_TOKEN_TYPE) && some_line(&s, first, n)) {
            error_part(p, &parts, (unsigned)s.any_type, "is the wrong type for");
            return;
        }
    s.may_lack = true;
    if (some_line(&s, first, n))
        missing_part(p, &parts, &s);
    else
        pt_diag_error(&p->m->diags, p->line, p->col, p->len,
                      "no form of '%.*s' has these modifiers and types: '%.*s'", (int)parts.mnemonic_len,
                      p->s, (int)p->len, p->s);
}

static void explain_count(const struct place *p, const struct spelling *sp, uint32_t n_operands)
{
    char text[64] = "";
    uint32_t seen = 0;
    for (uint32_t i = 0; i < sp->n; i++)
        seen |= UINT32_C(1) << sp->candidates[i].n_operands;
    for (unsigned k = 0; k < 32; k++) {
        if (!(seen >> k & 1))
            continue;
        size_t at = strlen(text);
        bool last = !(seen >> k >> 1);
        snprintf(text + at, sizeof text - at, "%s%u", !at ? "" : last ? " or " : ", ", k);
    }
    pt_diag_error(&p->m->diags, p->line, p->col, p->len, "'%s' takes %s operand%s, not %u", sp->text, text,
                  !strcmp(text, "1") ? "" : "s", n_operands);
}

static void explain_operands(const struct place *p, const struct spelling *sp,
                             const struct pt_operand *operands, uint32_t n_operands)
{
    struct misfit best = {""}, why;
    int best_at = -1;
    for (uint32_t i = 0; i < sp->n; i++) {
        const struct candidate *c = &sp->candidates[i];
        if (c->n_operands != n_operands)
            continue;
        int at = (int)fitting(p->f, c, operands, &why);
        if (at > best_at) {
            best_at = at;
            best = why;
        }
    }
    if (best_at < 0)
        explain_count(p, sp, n_operands);
    else
        pt_diag_error(&p->m->diags, p->line, p->col, p->len, "operand %d of '%s' %s", best_at + 1, sp->text,
                      best.text);
}

static void target_text(const struct pt_target *t, char *buf, size_t size)
{
    char feature[2] = {(char)t->feature, 0};
    snprintf(buf, size, "sm_%u%s", t->sm, feature);
}

/* Names the targets that have it: the lowest one "or higher", an upper limit, or a list. */
static void explain_target(const struct place *p, const char *name, const struct pt_when *when)
{
    const struct pt_target mine = {p->m->sm, p->m->sm_feature, 0};
    char have[16], need[16], text[160] = "";
    target_text(&mine, have, sizeof have);
    const struct pt_target *lowest = pt_when_target(when), *highest = lowest;
    if (!lowest) {
        pt_diag_error(&p->m->diags, p->line, p->col, p->len, "'%s' exists for no .target", name);
        return;
    }
    target_text(lowest, need, sizeof need);
    for (unsigned i = 0; i < pt_n_targets; i++)
        if (when->targets >> i & 1)
            highest = &pt_targets[i];
    if (!lowest->feature && p->m->sm >= lowest->sm) {
        target_text(highest, need, sizeof need);
        pt_diag_error(&p->m->diags, p->line, p->col, p->len,
                      "'%s' exists only up to .target %s, this module says %s", name, need, have);
        return;
    }
    if (lowest->feature)
        for (unsigned i = 0; i < pt_n_targets; i++) {
            size_t at = strlen(text);
            if (&pt_targets[i] == lowest || !(when->targets >> i & 1))
                continue;
            target_text(&pt_targets[i], need, sizeof need);
            snprintf(text + at, sizeof text - at, "%s%s", at ? ", " : " (or ", need);
        }
    target_text(lowest, need, sizeof need);
    pt_diag_error(&p->m->diags, p->line, p->col, p->len, "'%s' needs .target %s%s%s%s, this module says %s",
                  name, need, lowest->feature ? "" : " or higher", text, *text ? ")" : "", have);
}

static void explain_when(const struct place *p, const char *name, const struct pt_when *when)
{
    const struct pt_module *m = p->m;
    if (!(when->targets >> pt_target_find(m->sm, m->sm_feature) & 1))
        explain_target(p, name, when);
    else if (m->ptx < when->ptx_lo)
        pt_diag_error(&p->m->diags, p->line, p->col, p->len,
                      "'%s' needs .version %u.%u or higher, this module says %u.%u", name, when->ptx_lo / 10,
                      when->ptx_lo % 10, m->ptx / 10, m->ptx % 10);
    else
        pt_diag_error(&p->m->diags, p->line, p->col, p->len,
                      "'%s' exists only up to .version %u.%u, this module says %u.%u", name,
                      when->ptx_hi / 10, when->ptx_hi % 10, m->ptx / 10, m->ptx % 10);
}

/* ---- the match ----------------------------------------------------------------------------------------- */

static uint32_t intern(struct pt_module *m, struct candidate *c)
{
    if (c->index)
        return c->index;
    if (!m->forms.n)
        (void)pt_vec_push(&m->arena, &m->forms);
    c->index = m->forms.n;
    const struct pt_target *lowest = pt_when_target(&c->when);
    c->form.min_sm = lowest ? lowest->sm : 0;
    c->form.min_sm_feature = lowest ? lowest->feature : 0;
    c->form.min_ptx = c->when.ptx_lo;
    *pt_vec_push(&m->arena, &m->forms) = c->form;
    return c->index;
}

/* What an operand needs of its own: special registers have a first .version and .target, and so have the addresses of
 * kernels and of textures and surfaces taken by mov. Its name, or NULL. */
static const char *operand_needs(const struct place *p, const struct pt_form *form,
                                 const struct pt_operand *o, uint16_t *ptx, uint16_t *sm)
{
    if (o->kind == PT_OPND_SREG) {
        pt_sreg_needs(o->index, ptx, sm);
        return pt_sreg_spelling(o->index);
    }
    *ptx = 31;
    if (form->op == PT_OP_mov_func && o->kind == PT_OPND_FUNC && p->m->funcs.v[o->index].is_entry) {
        *sm = 35;
        return "address of a kernel";
    }
    *sm = 20;
    bool is_opaque = form->op == PT_OP_mov_addr && o->kind == PT_OPND_SYM &&
                     pt_type_class(p->m->symbols.v[o->index].type) == PT_CLASS_O;
    return is_opaque ? "address of a texture, sampler or surface" : NULL;
}

static bool operands_exist(const struct place *p, const struct pt_form *form,
                           const struct pt_operand *operands, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        uint16_t ptx, sm;
        const char *name = operand_needs(p, form, &operands[i], &ptx, &sm);
        if (!name)
            continue;
        struct pt_when when = {0, ptx, UINT16_MAX};
        for (unsigned t = 0; t < pt_n_targets; t++)
            if (pt_targets[t].sm >= sm)
                when.targets |= UINT64_C(1) << t;
        if (!when_holds(&when, pt_target_find(p->m->sm, p->m->sm_feature), p->m->ptx)) {
            explain_when(p, name, &when);
            return false;
        }
        if (form->op == PT_OP_mov_addr && operands[i].kind == PT_OPND_SYM && form->type[0] != PT_u64) {
            pt_diag_error(&p->m->diags, p->line, p->col, p->len, "'%s' cannot take the %s; mov.u64 can",
                          form->spelling, name);
            return false;
        }
    }
    return true;
}

uint32_t pt_insn_match(struct pt_module *m, struct pt_func *f, const char *spelling, uint32_t len,
                       struct pt_operand *operands, uint32_t n_operands, uint32_t line, uint32_t col)
{
    struct place p = {m, f, spelling, len, line, col};
    struct spelling *sp = find_spelling(m, spelling, len);
    struct candidate *fits = NULL;
    unsigned target = pt_target_find(m->sm, m->sm_feature);
    for (uint32_t i = 0; i < sp->n; i++) {
        struct candidate *c = &sp->candidates[i];
        if (c->n_operands != n_operands || fitting(f, c, operands, NULL) != n_operands)
            continue;
        if (!fits || when_holds(&c->when, target, m->ptx))
            fits = c;
        if (when_holds(&c->when, target, m->ptx))
            break;
    }
    if (!sp->n) {
        explain_spelling(&p);
    } else if (!fits) {
        explain_operands(&p, sp, operands, n_operands);
    } else if (!when_holds(&fits->when, target, m->ptx)) {
        explain_when(&p, sp->text, &fits->when);
    } else if (operands_exist(&p, &fits->form, operands, n_operands) &&
               pt_check_operands(&(struct pt_check){m, f, &fits->form, operands, n_operands, line, col, len})) {
        if (!pt_op_is_supported(fits->form.op))
            pt_diag_unsupported(&m->diags, line, col, len, "'%s' is known but not supported yet", sp->text);
        for (uint32_t i = 0; i < n_operands; i++)
            settle(f, fits, pt_form_slot(&fits->form, i), &operands[i]);
        return intern(m, fits);
    }
    return PT_NONE;
}
