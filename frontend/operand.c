/* Operands of instructions, read generically: which of them an instruction takes is the
 * instruction table's business. */
#include "frontend/operand.h"

#include <string.h>

#include "frontend/constexpr.h"
#include "frontend/fit.h"
#include "frontend/label.h"

static struct pt_operand *push(struct pt_parser *p, enum pt_operand_kind kind, uint32_t index)
{
    struct pt_operand *o = pt_vec_push(&p->m->arena, &p->operands);
    *o = (struct pt_operand){.kind = (uint8_t)kind, .index = index};
    return o;
}

/* Moves the operands from `first` on off the stack to their place in the function, and pushes
 * `kind` for them. */
static struct pt_operand *group(struct pt_parser *p, enum pt_operand_kind kind, uint32_t first)
{
    struct pt_func *f = pt_token_func(p);
    uint32_t n = p->operands.n - first, index = f->operands.n;
    if (n)
        memcpy(pt_vec_extend(&p->m->arena, &f->operands, n), p->operands.v + first,
               n * sizeof *p->operands.v);
    p->operands.n = first;
    struct pt_operand *o = push(p, kind, index);
    o->imm = n;
    return o;
}

static bool constant(struct pt_parser *p)
{
    struct pt_const v;
    if (!pt_constexpr_parse(p, &v))
        return false;
    struct pt_operand *o = push(p, PT_OPND_IMM, 0);
    o->type = (uint8_t)v.type;
    if (v.type == PT_f64)
        memcpy(&o->imm, &v.f, sizeof v.f);
    else
        o->imm = v.i;
    return true;
}

/* + constant, after a register or symbol; *imm stays 0 without it. */
static bool offset(struct pt_parser *p, int64_t *imm)
{
    struct pt_const v;
    *imm = 0;
    if (!pt_token_accept(p, '+'))
        return true;
    struct pt_token at = p->tok;
    if (!pt_constexpr_parse(p, &v))
        return false;
    if (v.type == PT_f32 || v.type == PT_f64)
        return pt_token_error(p, &at, "an offset must be an integer");
    *imm = v.i;
    return true;
}

/* ---- registers ------------------------------------------------------------------------------- */

static bool vector_component(struct pt_parser *p, uint32_t reg, uint32_t count, uint8_t type)
{
    static const char names[] = "xyzwrgba";
    const struct pt_token *t = &p->tok;
    const char *c = t->len == 2 ? strchr(names, t->text[1]) : NULL;
    uint32_t i = c ? (uint32_t)(c - names) & 3 : count;
    if (i >= count)
        return pt_token_error(p, t, "'%.*s' is no component of a vector of %u", PT_TOKEN_ARGS(t),
                              count);
    pt_token_advance(p);
    push(p, PT_OPND_REG, reg + i)->type = type;
    return true;
}

static void whole_vector(struct pt_parser *p, uint32_t reg, uint32_t count, uint8_t type)
{
    uint32_t first = p->operands.n;
    for (uint32_t i = 0; i < count; i++)
        push(p, PT_OPND_REG, reg + i)->type = type;
    group(p, PT_OPND_VEC, first);
}

/* .b0 .h1 .b3210 of the video instructions: the letter in `select`, the digits as hexadecimal
 * digits in the low half of imm and their number in the high half. */
static bool selector(struct pt_parser *p, struct pt_operand *o)
{
    const struct pt_token *t = &p->tok;
    bool ok = t->len >= 3 && t->len <= 6 && (t->text[1] == 'b' || t->text[1] == 'h');
    uint32_t digits = 0;
    for (uint32_t i = 2; ok && i < t->len; i++) {
        ok = t->text[i] >= '0' && t->text[i] <= '7';
        digits = digits << 4 | (uint32_t)(t->text[i] - '0');
    }
    if (!ok)
        return pt_token_error(p, t, "'%.*s' is no selector of a register", PT_TOKEN_ARGS(t));
    o->select = (uint8_t)t->text[1];
    o->imm = (int64_t)digits | (int64_t)(t->len - 2) << 32;
    pt_token_advance(p);
    return true;
}

/* A register whose name has been read. */
static bool reg_operand(struct pt_parser *p, const struct pt_binding *b, uint32_t reg)
{
    uint8_t type = pt_token_func(p)->regs.v[reg].type;
    uint32_t count = b->kind == PT_NAME_REG ? b->count : 1;
    bool has_suffix = p->tok.kind == PT_TOK_DOT;
    if (count > 1 && has_suffix)
        return vector_component(p, reg, count, type);
    if (count > 1) {
        whole_vector(p, reg, count, type);
        return true;
    }
    struct pt_operand *o = push(p, PT_OPND_REG, reg);
    o->type = type;
    return !has_suffix || selector(p, o);
}

/* ---- special registers ----------------------------------------------------------------------- */

/* The special register of a name and a suffix such as ".x", which may be empty. */
static enum pt_sreg find_sreg(const struct pt_token *name, const char *suffix, uint32_t len)
{
    char text[64];
    if (name->len + len > sizeof text)
        return PT_SREG_NONE;
    memcpy(text, name->text, name->len);
    memcpy(text + name->len, suffix, len);
    return pt_sreg_find(text, name->len + len);
}

static void push_sreg(struct pt_parser *p, enum pt_sreg s)
{
    push(p, PT_OPND_SREG, s)->type = (uint8_t)pt_sreg_type(s);
}

/* A whole special register of four components, such as %tid. */
static bool sreg_vector(struct pt_parser *p, const struct pt_token *name)
{
    static const char suffixes[4][3] = {".x", ".y", ".z", ".w"};
    uint32_t first = p->operands.n;
    for (int i = 0; i < 4; i++) {
        enum pt_sreg s = find_sreg(name, suffixes[i], 2);
        if (s)
            push_sreg(p, s);
    }
    if (p->operands.n == first)
        return false;
    group(p, PT_OPND_VEC, first);
    return true;
}

static bool sreg_operand(struct pt_parser *p, const struct pt_token *name)
{
    struct pt_token suffix = p->tok;
    bool has_suffix = suffix.kind == PT_TOK_DOT;
    enum pt_sreg s = find_sreg(name, suffix.text, has_suffix ? suffix.len : 0);
    if (s) {
        if (has_suffix)
            pt_token_advance(p);
        push_sreg(p, s);
        return true;
    }
    if (has_suffix && (find_sreg(name, ".x", 2) || find_sreg(name, "", 0)))
        return pt_token_error(p, &suffix, "'%.*s' has no component '%.*s'", PT_TOKEN_ARGS(name),
                              PT_TOKEN_ARGS(&suffix));
    if (!has_suffix && sreg_vector(p, name))
        return true;
    return pt_token_error(p, name, "'%.*s' is not declared", PT_TOKEN_ARGS(name));
}

/* ---- names ----------------------------------------------------------------------------------- */

/* NAME[N]: an element of an array, as PTX before 2.0 wrote it; the address of one if
 * `p->index_is_address`. */
static bool element_operand(struct pt_parser *p, uint32_t index)
{
    const struct pt_symbol *sym = &p->m->symbols.v[index];
    struct pt_token at = p->tok;
    struct pt_const v;
    uint32_t first = p->operands.n;
    if (!sym->is_array || !p->may_index)
        return pt_token_error(p, &at, "only an array that is a whole operand can have an index");
    pt_token_advance(p);
    at = p->tok;
    if (!pt_constexpr_parse(p, &v))
        return false;
    if (v.type != PT_s64 && v.type != PT_u64)
        return pt_token_error(p, &at, "an index must be an integer");
    if (!pt_token_expect(p, ']'))
        return false;
    push(p, PT_OPND_SYM, index)->imm =
        (int64_t)((uint64_t)v.i * pt_type_bytes(sym->type) * sym->vec);
    if (!p->index_is_address)
        group(p, PT_OPND_MEM, first);
    return true;
}

static bool sym_operand(struct pt_parser *p, enum pt_operand_kind kind, uint32_t index)
{
    int64_t imm;
    if (kind == PT_OPND_SYM)
        p->m->symbols.v[index].is_used = 1;
    if (kind == PT_OPND_SYM && pt_token_is(p, '['))
        return element_operand(p, index);
    if (!offset(p, &imm))
        return false;
    push(p, kind, index)->imm = imm;
    return true;
}

static bool name_operand(struct pt_parser *p)
{
    struct pt_token name = p->tok;
    uint32_t reg;
    pt_token_advance(p);
    const struct pt_binding *b = pt_scope_find_reg(&p->scopes, name.text, name.len, &reg);
    if (b)
        return reg_operand(p, b, reg);
    b = pt_scope_find(&p->scopes, name.text, name.len);
    switch (b ? b->kind : PT_NAME_NONE) {
    case PT_NAME_SYM:
        return sym_operand(p, PT_OPND_SYM, b->index);
    case PT_NAME_FUNC:
        return sym_operand(p, PT_OPND_FUNC, b->index);
    case PT_NAME_TABLE:
        push(p, PT_OPND_TABLE, b->index);
        return true;
    case PT_NAME_LABEL:
        return pt_token_error(p, &name, "label '%.*s' cannot be an operand here",
                              PT_TOKEN_ARGS(&name));
    default:
        return sreg_operand(p, &name);
    }
}

static bool is_sink(const struct pt_token *t)
{
    return t->kind == PT_TOK_NAME && t->len == 1 && *t->text == '_';
}

/* The token after the current one is a name that is no constant: the sign before it belongs to a
 * register. */
static bool name_follows(const struct pt_parser *p)
{
    struct pt_token t = pt_token_peek(p);
    return t.kind == PT_TOK_NAME && !pt_constexpr_starts(&t);
}

static bool signed_name(struct pt_parser *p, uint8_t flag)
{
    uint32_t at = p->operands.n;
    pt_token_advance(p);
    if (!name_operand(p))
        return false;
    p->operands.v[at].flags |= flag;
    return true;
}

/* An operand without brackets of its own: also what stands inside vectors and lists. */
static bool simple(struct pt_parser *p)
{
    const struct pt_token *t = &p->tok;
    if (is_sink(t)) {
        push(p, PT_OPND_SINK, 0);
        pt_token_advance(p);
        return true;
    }
    if ((pt_token_is(p, '!') || pt_token_is(p, '-')) && name_follows(p))
        return signed_name(p, pt_token_is(p, '!') ? PT_OPND_NEG : PT_OPND_MINUS);
    if (pt_constexpr_starts(&p->tok))
        return constant(p);
    if (t->kind == PT_TOK_NAME)
        return name_operand(p);
    return pt_token_unexpected(p, "an operand");
}

/* ---- groups ---------------------------------------------------------------------------------- */

/* Of a call a vector register is passed as its components. */
static void spread_vector(struct pt_parser *p)
{
    struct pt_operand vector = p->operands.v[p->operands.n - 1];
    if (vector.kind != PT_OPND_VEC)
        return;
    p->operands.n--;
    for (int64_t i = 0; i < vector.imm; i++)
        *pt_vec_push(&p->m->arena, &p->operands) = pt_token_func(p)->operands.v[vector.index + i];
}

/* { a, b, … } or ( a, b, … ), up to `close`. */
static bool elements(struct pt_parser *p, enum pt_operand_kind kind, int close)
{
    uint32_t first = p->operands.n;
    pt_token_advance(p);
    if (kind == PT_OPND_LIST && pt_token_is(p, close)) {
        pt_token_advance(p);
        group(p, kind, first);
        return true;
    }
    do {
        if (!simple(p))
            return false;
        if (kind == PT_OPND_LIST)
            spread_vector(p);
    } while (pt_token_accept(p, ','));
    if (!pt_token_expect(p, close))
        return false;
    group(p, kind, first);
    return true;
}

static bool memory_base(struct pt_parser *p)
{
    if (p->tok.kind != PT_TOK_NAME || pt_constexpr_starts(&p->tok))
        return pt_constexpr_starts(&p->tok) ? constant(p) : pt_token_unexpected(p, "an address");
    uint32_t at = p->operands.n;
    if (!name_operand(p))
        return false;
    struct pt_operand *base = &p->operands.v[at];
    int64_t imm;
    if (base->kind != PT_OPND_REG || !pt_token_is(p, '+'))
        return true;
    if (!offset(p, &imm))
        return false;
    p->operands.v[at].imm = imm;
    return true;
}

/* [base + offset], [texture, sampler, {…}], [map, {…}] */
static bool memory(struct pt_parser *p)
{
    uint32_t first = p->operands.n;
    pt_token_advance(p);
    if (!memory_base(p))
        return false;
    while (pt_token_accept(p, ','))
        if (!(pt_token_is(p, '{') ? elements(p, PT_OPND_VEC, '}') : simple(p)))
            return false;
    if (!pt_token_expect(p, ']'))
        return false;
    struct pt_operand *o = group(p, PT_OPND_MEM, first);
    if (pt_token_accept_dot(p, "unified"))
        o->flags |= PT_OPND_UNIFIED;
    return true;
}

/* %r + 1, beside brackets and vectors, as NVIDIA's assembler takes it: the sum has the register's
 * width. (It adds nothing to a floating-point register or predicate, though it reads such sums.) */
static bool sum(struct pt_parser *p, const struct pt_token *at)
{
    uint32_t last = p->operands.n - 1;
    enum pt_type type = p->operands.v[last].type;
    enum pt_type_class class = pt_type_class(type);
    int64_t imm;
    if ((class != PT_CLASS_B && class != PT_CLASS_U && class != PT_CLASS_S) ||
        pt_type_bits(type) > 64)
        return pt_token_error(p, at, "'%.*s' is no integer of up to 64 bits to add a constant to",
                              PT_TOKEN_ARGS(at));
    if (!offset(p, &imm))
        return false;
    p->operands.v[last].imm = imm;
    p->operands.v[last].flags = PT_FIT_SUM;
    return true;
}

static bool is_register(const struct pt_operand *o)
{
    return o->kind == PT_OPND_REG && !o->flags && !o->select;
}

static bool operand(struct pt_parser *p)
{
    uint32_t first = p->operands.n;
    if (pt_token_is(p, '['))
        return memory(p);
    bool is_vector = pt_token_is(p, '{');
    struct pt_token at = p->tok;
    p->may_index = !is_vector;
    bool ok = is_vector ? elements(p, PT_OPND_VEC, '}') : simple(p);
    p->may_index = false;
    if (!ok)
        return false;
    if (pt_token_is(p, '+') && is_register(&p->operands.v[p->operands.n - 1]))
        return sum(p, &at);
    if (!pt_token_accept(p, '|'))
        return true;
    if (!simple(p))
        return false;
    group(p, PT_OPND_PAIR, first);
    return true;
}

static bool label_operand(struct pt_parser *p)
{
    uint32_t label = pt_label_use(p, &p->tok);
    if (!label)
        return false;
    pt_token_advance(p);
    push(p, PT_OPND_LABEL, label);
    return true;
}

bool pt_operand_list(struct pt_parser *p, bool is_branch)
{
    if (pt_token_is(p, ';'))
        return true;
    do {
        if (!(is_branch ? label_operand(p) : operand(p)))
            return false;
    } while (pt_token_accept(p, ','));
    return true;
}

bool pt_operand_call(struct pt_parser *p)
{
    if (pt_token_is(p, '(') && (!elements(p, PT_OPND_LIST, ')') || !pt_token_expect(p, ',')))
        return false;
    if (p->tok.kind != PT_TOK_NAME)
        return pt_token_unexpected(p, "the function to call");
    if (!name_operand(p))
        return false;
    while (pt_token_accept(p, ','))
        if (!(pt_token_is(p, '(') ? elements(p, PT_OPND_LIST, ')') : simple(p)))
            return false;
    return true;
}
