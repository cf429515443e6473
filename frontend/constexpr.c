/* Constant expressions (PTX ISA, "Constant Expressions"): the operators of C on 64-bit integers,
 * signed or unsigned, and on f64. */
#include "frontend/constexpr.h"

#include <string.h>

bool pt_constexpr_starts(const struct pt_token *t)
{
    if (t->kind == PT_TOK_INT || t->kind == PT_TOK_F32 || t->kind == PT_TOK_F64)
        return true;
    if (t->kind == PT_TOK_DOT)
        return t->len > 1 && t->text[1] >= '0' && t->text[1] <= '9';
    if (t->kind == PT_TOK_NAME)
        return pt_token_is_warp_size(t);
    return t->kind == PT_TOK_PUNCT && strchr("(-+~!", t->punct) && t->punct;
}

static bool unary(struct pt_parser *p, struct pt_const *v);
static bool ternary(struct pt_parser *p, struct pt_const *v);

static bool is_int(const struct pt_const *v)
{
    return v->type == PT_s64 || v->type == PT_u64;
}

static bool need_int(struct pt_parser *p, const struct pt_token *at, const struct pt_const *v)
{
    return is_int(v) || pt_token_error(p, at, "an integer constant is needed here");
}

static void set_int(struct pt_const *v, enum pt_type type, uint64_t bits)
{
    v->type = type;
    v->i = (int64_t)bits;
}

/* (.s64) or (.u64), after the parenthesis. */
static bool cast(struct pt_parser *p, struct pt_const *v)
{
    struct pt_token at = p->tok;
    enum pt_type type = pt_token_is_dot(p, "s64") ? PT_s64 : PT_u64;
    if (type == PT_u64 && !pt_token_is_dot(p, "u64"))
        return pt_token_error(p, &at, "only (.s64) and (.u64) are casts");
    pt_token_advance(p);
    if (!pt_token_expect(p, ')'))
        return false;
    struct pt_token operand = p->tok;
    if (!unary(p, v) || !need_int(p, &operand, v))
        return false;
    v->type = type;
    return true;
}

static bool primary(struct pt_parser *p, struct pt_const *v)
{
    struct pt_token *t = &p->tok;
    if (t->kind == PT_TOK_DOT && pt_constexpr_starts(t)) {
        pt_lex_again_as_number(&p->lexer, t);
        if (t->kind == PT_TOK_BAD)
            return pt_token_error(p, t, "%s", t->message);
    }
    if (t->kind == PT_TOK_INT) {
        set_int(v, t->is_unsigned || t->value > INT64_MAX ? PT_u64 : PT_s64, t->value);
    } else if (t->kind == PT_TOK_F64) {
        v->type = PT_f64;
        memcpy(&v->f, &t->value, sizeof v->f);
    } else if (t->kind == PT_TOK_F32) {
        v->type = PT_f32;
        v->i = (int64_t)t->value;
    } else if (pt_token_is_warp_size(t)) {
        set_int(v, PT_s64, 32);
    } else {
        return pt_token_unexpected(p, "a constant");
    }
    pt_token_advance(p);
    return true;
}

static bool no_bits(struct pt_parser *p, const struct pt_token *at, const struct pt_const *v)
{
    return v->type != PT_f32 ||
           pt_token_error(p, at, "a 0f constant cannot be part of an expression");
}

static bool unary(struct pt_parser *p, struct pt_const *v)
{
    struct pt_token op = p->tok;
    if (op.kind != PT_TOK_PUNCT || !strchr("(-+~!", op.punct))
        return primary(p, v);
    if (++p->nesting > PT_MAX_NESTING)
        return pt_token_error(p, &op, "the expression is nested too deeply");
    pt_token_advance(p);
    bool ok;
    if (op.punct == '(' && p->tok.kind == PT_TOK_DOT && !pt_constexpr_starts(&p->tok)) {
        ok = cast(p, v);
    } else if (op.punct == '(') {
        ok = ternary(p, v) && pt_token_expect(p, ')');
    } else {
        struct pt_token at = p->tok;
        ok = unary(p, v) && no_bits(p, &at, v);
        if (ok && !is_int(v) && (op.punct == '~' || op.punct == '!'))
            ok = need_int(p, &op, v);
        else if (ok && is_int(v))
            set_int(v, op.punct == '!' ? PT_s64 : v->type,
                    op.punct == '-'   ? -(uint64_t)v->i
                    : op.punct == '~' ? ~(uint64_t)v->i
                    : op.punct == '!' ? !v->i
                                      : (uint64_t)v->i);
        else if (ok && op.punct == '-')
            v->f = -v->f;
    }
    p->nesting--;
    return ok;
}

/* Binding strength of a binary operator, 0 if the token is none. */
static int precedence(const struct pt_token *t)
{
    if (t->kind != PT_TOK_PUNCT)
        return 0;
    switch (t->punct) {
    case '*':
    case '/':
    case '%':
        return 10;
    case '+':
    case '-':
        return 9;
    case PT_PUNCT_SHL:
    case PT_PUNCT_SHR:
        return 8;
    case '<':
    case '>':
    case PT_PUNCT_LE:
    case PT_PUNCT_GE:
        return 7;
    case PT_PUNCT_EQ:
    case PT_PUNCT_NE:
        return 6;
    case '&':
        return 5;
    case '^':
        return 4;
    case '|':
        return 3;
    case PT_PUNCT_AND:
        return 2;
    case PT_PUNCT_OR:
        return 1;
    default:
        return 0;
    }
}

static bool apply_float(struct pt_parser *p, const struct pt_token *op, struct pt_const *a,
                        const struct pt_const *b)
{
    double x = a->f, y = b->f;
    switch (op->punct) {
    case '*':
        a->f = x * y;
        return true;
    case '/':
        a->f = x / y;
        return true;
    case '+':
        a->f = x + y;
        return true;
    case '-':
        a->f = x - y;
        return true;
    case '<':
        set_int(a, PT_s64, x < y);
        return true;
    case '>':
        set_int(a, PT_s64, x > y);
        return true;
    case PT_PUNCT_LE:
        set_int(a, PT_s64, x <= y);
        return true;
    case PT_PUNCT_GE:
        set_int(a, PT_s64, x >= y);
        return true;
    case PT_PUNCT_EQ:
        set_int(a, PT_s64, x == y);
        return true;
    case PT_PUNCT_NE:
        set_int(a, PT_s64, x != y);
        return true;
    default:
        return pt_token_error(p, op, "this operator takes integers only");
    }
}

static bool divide(struct pt_parser *p, const struct pt_token *op, struct pt_const *a,
                   const struct pt_const *b)
{
    bool is_rem = op->punct == '%';
    if (!b->i)
        return pt_token_error(p, op, "division by zero in a constant expression");
    if (a->type == PT_u64)
        a->i =
            (int64_t)(is_rem ? (uint64_t)a->i % (uint64_t)b->i : (uint64_t)a->i / (uint64_t)b->i);
    else if (b->i == -1)
        a->i = is_rem ? 0 : (int64_t)-(uint64_t)a->i;
    else
        a->i = is_rem ? a->i % b->i : a->i / b->i;
    return true;
}

static bool compare(int op, int64_t a, int64_t b, bool is_unsigned)
{
    bool less = is_unsigned ? (uint64_t)a < (uint64_t)b : a < b;
    switch (op) {
    case '<':
        return less;
    case '>':
        return !less && a != b;
    case PT_PUNCT_LE:
        return less || a == b;
    case PT_PUNCT_GE:
        return !less;
    case PT_PUNCT_EQ:
        return a == b;
    default:
        return a != b;
    }
}

/* A count past the width shifts everything out. */
static int64_t shift(int op, const struct pt_const *a, uint64_t count)
{
    if (op == PT_PUNCT_SHL)
        return count > 63 ? 0 : (int64_t)((uint64_t)a->i << count);
    if (a->type == PT_u64)
        return count > 63 ? 0 : (int64_t)((uint64_t)a->i >> count);
    return a->i >> (count > 63 ? 63 : count);
}

static bool apply_int(struct pt_parser *p, const struct pt_token *op, struct pt_const *a,
                      const struct pt_const *b)
{
    uint64_t x = (uint64_t)a->i, y = (uint64_t)b->i;
    if (op->punct == PT_PUNCT_SHL || op->punct == PT_PUNCT_SHR) {
        a->i = shift(op->punct, a, y);
        return true;
    }
    if (a->type != b->type)
        a->type = PT_u64;
    switch (op->punct) {
    case '*':
        set_int(a, a->type, x * y);
        return true;
    case '+':
        set_int(a, a->type, x + y);
        return true;
    case '-':
        set_int(a, a->type, x - y);
        return true;
    case '&':
        set_int(a, a->type, x & y);
        return true;
    case '^':
        set_int(a, a->type, x ^ y);
        return true;
    case '|':
        set_int(a, a->type, x | y);
        return true;
    case '/':
    case '%':
        return divide(p, op, a, b);
    case PT_PUNCT_AND:
        set_int(a, PT_s64, x && y);
        return true;
    case PT_PUNCT_OR:
        set_int(a, PT_s64, x || y);
        return true;
    default:
        set_int(a, PT_s64, compare(op->punct, a->i, b->i, a->type == PT_u64));
        return true;
    }
}

static bool binary(struct pt_parser *p, struct pt_const *a, int least)
{
    struct pt_token first = p->tok;
    if (!unary(p, a))
        return false;
    for (int prec = precedence(&p->tok); prec && prec >= least; prec = precedence(&p->tok)) {
        struct pt_token op = p->tok;
        struct pt_const b;
        pt_token_advance(p);
        struct pt_token second = p->tok;
        if (!binary(p, &b, prec + 1) || !no_bits(p, &first, a) || !no_bits(p, &second, &b))
            return false;
        if (is_int(a) != is_int(&b))
            return pt_token_error(p, &op, "an integer and a floating-point constant do not mix");
        if (!(is_int(a) ? apply_int(p, &op, a, &b) : apply_float(p, &op, a, &b)))
            return false;
    }
    return true;
}

/* a ? b : c on integers; both arms are read, one counts. */
static bool ternary(struct pt_parser *p, struct pt_const *v)
{
    struct pt_token at = p->tok;
    struct pt_const yes, no;
    if (!binary(p, v, 1))
        return false;
    if (!pt_token_is(p, '?'))
        return true;
    if (++p->nesting > PT_MAX_NESTING)
        return pt_token_error(p, &at, "the expression is nested too deeply");
    pt_token_advance(p);
    struct pt_token yes_at = p->tok;
    if (!need_int(p, &at, v) || !ternary(p, &yes) || !need_int(p, &yes_at, &yes) ||
        !pt_token_expect(p, ':'))
        return false;
    struct pt_token no_at = p->tok;
    if (!ternary(p, &no) || !need_int(p, &no_at, &no))
        return false;
    p->nesting--;
    enum pt_type type = yes.type == no.type ? yes.type : PT_u64;
    set_int(v, type, (uint64_t)(v->i ? yes.i : no.i));
    return true;
}

bool pt_constexpr_parse(struct pt_parser *p, struct pt_const *v)
{
    p->nesting = 0;
    return ternary(p, v);
}
