/* Calls against the signatures of what they call (PTX ISA, "call"). */
#include "frontend/call.h"

#include "frontend/fit.h"

struct call {
    struct pt_parser *p;
    const struct pt_token *at;
    const struct pt_operand *results, *args, *target, *table; /* NULL: not given */
};

/* Do values of the two types pass for each other: equal size, and not floating point against
 * integers? */
static bool types_fit(enum pt_type a, enum pt_type b)
{
    enum pt_type_class x = pt_type_class(a), y = pt_type_class(b);
    if (pt_type_bits(a) != pt_type_bits(b) || (x == PT_CLASS_P) != (y == PT_CLASS_P))
        return false;
    bool x_int = x == PT_CLASS_U || x == PT_CLASS_S, y_int = y == PT_CLASS_U || y == PT_CLASS_S;
    return x == y || x == PT_CLASS_B || y == PT_CLASS_B || (x_int && y_int);
}

static bool constant_fits(enum pt_type constant, enum pt_type formal)
{
    enum pt_type_class class = pt_type_class(formal);
    bool is_float = constant == PT_f32 || constant == PT_f64;
    return class == PT_CLASS_B ||
           (is_float ? class == PT_CLASS_F : class == PT_CLASS_U || class == PT_CLASS_S);
}

static bool symbol_fits(struct call *c, const struct pt_operand *o, const struct pt_symbol *formal,
                        const char *what)
{
    const struct pt_symbol *s = &c->p->m->symbols.v[o->index];
    const struct pt_func *f = pt_token_func(c->p);
    if (s->space != PT_SPACE_PARAM)
        return pt_token_error(
            c->p, c->at,
            "%s '%s' of the call must be a register, a constant or a '.param' variable", what,
            s->name);
    for (uint32_t i = 0; i < f->params.n; i++)
        if (f->params.v[i] == o->index)
            return pt_token_error(c->p, c->at,
                                  "'%s' is a parameter of '%s' and cannot be passed on as it is",
                                  s->name, f->name);
    bool is_same = formal->is_array ? formal->is_unsized ||
                                          (s->size == formal->size && s->align == formal->align)
                                    : s->vec == formal->vec && types_fit(s->type, formal->type);
    if (o->imm || s->is_array != formal->is_array || !is_same)
        return pt_token_error(c->p, c->at, "%s '%s' of the call does not fit '%s' of the callee",
                              what, s->name, formal->name);
    return true;
}

static bool value_fits(struct call *c, const struct pt_operand *o, const struct pt_symbol *formal,
                       bool is_result)
{
    const char *what = is_result ? "result" : "argument";
    bool ok = false;
    if (o->kind == PT_OPND_SYM)
        return symbol_fits(c, o, formal, what);
    if (o->kind == PT_OPND_REG)
        ok = !o->flags && !o->select && !formal->is_array && types_fit(o->type, formal->type);
    else if (o->kind == PT_OPND_IMM)
        ok = !is_result && !formal->is_array && constant_fits(o->type, formal->type);
    return ok || pt_token_error(c->p, c->at, "%s for '%s' of the callee does not fit its type .%s",
                                what, formal->name, pt_type_name(formal->type));
}

static bool list_fits(struct call *c, const struct pt_operand *list, const uint32_t *formals,
                      uint32_t n, bool is_result)
{
    const struct pt_module *m = c->p->m;
    uint32_t given = list ? (uint32_t)list->imm : 0;
    bool is_variadic = n && m->symbols.v[formals[n - 1]].is_unsized;
    if (given > n || given + is_variadic < n)
        return pt_token_error(c->p, c->at, "the call has %u %s, its callee %u", given,
                              is_result ? "results" : "arguments", n);
    for (uint32_t i = 0; i < given; i++) {
        struct pt_operand *o = &pt_token_func(c->p)->operands.v[list->index + i];
        bool is_dropped = o->kind == PT_OPND_SINK && is_result;
        if (!is_dropped && !value_fits(c, o, &m->symbols.v[formals[i]], is_result))
            return false;
        if (o->kind == PT_OPND_IMM)
            pt_fit_constant(m->symbols.v[formals[i]].type, o);
    }
    return true;
}

static bool signature_fits(struct call *c, const struct pt_func *callee)
{
    return list_fits(c, c->results, callee->results.v, callee->results.n, true) &&
           list_fits(c, c->args, callee->params.v, callee->params.n, false);
}

/* Each function that the table names must fit. */
static bool table_fits(struct call *c)
{
    const struct pt_module *m = c->p->m;
    if (c->table->kind == PT_OPND_SYM) {
        const struct pt_symbol *s = &m->symbols.v[c->table->index];
        for (uint32_t i = 0; i < s->relocs.n; i++)
            if (s->relocs.v[i].is_func && !signature_fits(c, &m->funcs.v[s->relocs.v[i].target]))
                return false;
        return true;
    }
    const struct pt_table *t = &pt_token_func(c->p)->tables.v[c->table->index];
    if (t->kind == 'b')
        return pt_token_error(c->p, c->at, "'%s' is a table of labels, not of functions", t->name);
    if (t->kind == 'p')
        return signature_fits(c, &m->funcs.v[t->signature]);
    for (uint32_t i = 0; i < t->targets.n; i++)
        if (!signature_fits(c, &m->funcs.v[t->targets.v[i]]))
            return false;
    return true;
}

/* Takes the operands apart: [(results)] target [(arguments)] [table]. */
static void take_apart(struct call *c, const struct pt_operand *o, uint32_t n)
{
    uint32_t i = 0;
    if (o[i].kind == PT_OPND_LIST)
        c->results = &o[i++];
    c->target = &o[i++];
    if (i < n && o[i].kind == PT_OPND_LIST)
        c->args = &o[i++];
    if (i < n)
        c->table = &o[i];
}

bool pt_call_check(struct pt_parser *p, const struct pt_token *at, const struct pt_insn *insn)
{
    struct call c = {.p = p, .at = at};
    take_apart(&c, &pt_token_func(p)->operands.v[insn->operands], insn->n_operands);
    if (c.target->kind != PT_OPND_FUNC)
        return !c.table || table_fits(&c);
    const struct pt_func *callee = &p->m->funcs.v[c.target->index];
    if (callee->is_entry)
        return pt_token_error(p, at, "kernel '%s' cannot be called", callee->name);
    return signature_fits(&c, callee);
}

bool pt_call_check_branch(struct pt_parser *p, const struct pt_token *at,
                          const struct pt_insn *insn)
{
    const struct pt_operand *o = &pt_token_func(p)->operands.v[insn->operands];
    for (uint32_t i = 0; i < insn->n_operands; i++) {
        const struct pt_table *t =
            o[i].kind == PT_OPND_TABLE ? &pt_token_func(p)->tables.v[o[i].index] : NULL;
        if (t && t->kind != 'b')
            return pt_token_error(p, at, "'%s' is not a table of labels", t->name);
    }
    return true;
}
