/* See check.h. */
#include "frontend/check.h"

#include <stdarg.h>
#include <stdio.h>

#include "frontend/insn.h"

__attribute__((format(printf, 2, 3))) static bool error(const struct pt_check *c, const char *format, ...)
{
    char text[256];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    pt_diag_error(&c->m->diags, c->line, c->col, c->len, "%s", text);
    return false;
}

/* ---- addresses ------------------------------------------------------------------------------------------ */

static uint32_t bit(enum pt_space space)
{
    return UINT32_C(1) << space;
}

/* Spaces that the form's state space modifier names; without one, those in which a generic address of a variable may
 * lie. 0: copies between two spaces, which say nothing of a single operand. */
static uint32_t form_spaces(const struct pt_form *form)
{
    static const struct {
        uint16_t mod;
        uint8_t space;
    } spaces[] = {{PT_M_global, PT_SPACE_GLOBAL},     {PT_M_shared, PT_SPACE_SHARED},
                  {PT_M_shared_cta, PT_SPACE_SHARED}, {PT_M_shared_cluster, PT_SPACE_SHARED},
                  {PT_M_const, PT_SPACE_CONST},       {PT_M_local, PT_SPACE_LOCAL},
                  {PT_M_param, PT_SPACE_PARAM},       {PT_M_param_entry, PT_SPACE_PARAM},
                  {PT_M_param_func, PT_SPACE_PARAM}};
    uint32_t set = 0;
    unsigned n = 0;
    for (unsigned i = 0; i < form->n_mods; i++)
        for (unsigned k = 0; k < sizeof spaces / sizeof *spaces; k++)
            if (form->mod[i] == spaces[k].mod) {
                set = bit(spaces[k].space);
                n++;
            }
    bool is_fence = form->effects & PT_FX_FENCE && !(form->effects & (PT_FX_READ | PT_FX_WRITE));
    if (n > 1 || is_fence || form->op == PT_OP_mov_addr)
        return 0;
    if (n == 1)
        return set;
    if (form->op == PT_OP_mapa || form->op == PT_OP_getctarank)
        return bit(PT_SPACE_SHARED);
    if (form->op == PT_OP_prefetchu)
        return bit(PT_SPACE_GLOBAL);
    return bit(PT_SPACE_GLOBAL) | bit(PT_SPACE_SHARED) | bit(PT_SPACE_LOCAL);
}

static bool is_input(const struct pt_func *f, uint32_t symbol)
{
    for (uint32_t i = 0; i < f->params.n; i++)
        if (f->params.v[i] == symbol)
            return true;
    return false;
}

/* Bits that the register of an address has at least: some forms, which the assembler expands to several instructions,
 * do not take narrow ones. */
static unsigned address_bits(const struct pt_form *form)
{
    switch (form->op) {
    case PT_OP_multimem_red:
        return 64;
    case PT_OP_st_bulk:
    case PT_OP_red_async:
    case PT_OP_createpolicy:
        return 32;
    case PT_OP_prefetch:
        return pt_form_has(form, PT_M_tensormap) ? 32 : 8;
    default:
        return 8;
    }
}

static bool address_fits(const struct pt_check *c, uint32_t spaces, const struct pt_operand *o)
{
    const char *spelling = c->form->spelling;
    unsigned bits = address_bits(c->form);
    if (o->kind == PT_OPND_REG && pt_type_bits(o->type) < bits)
        return error(c, "the address of '%s' needs a register of %u bits", spelling, bits);
    if (o->kind == PT_OPND_IMM && spaces != bit(PT_SPACE_LOCAL))
        return error(c, "'%s' cannot have a constant address; only .local memory can", spelling);
    if (o->kind != PT_OPND_SYM)
        return true;
    const struct pt_symbol *s = &c->m->symbols.v[o->index];
    if (pt_type_class(s->type) == PT_CLASS_O)
        return true;
    if (!(spaces >> s->space & 1))
        return error(c, "'%s' cannot access '%s', which is in another state space", spelling, s->name);
    if ((c->form->effects & PT_FX_WRITE) && s->space == PT_SPACE_PARAM && is_input(c->f, o->index))
        return error(c, "'%s' cannot write the input parameter '%s'", spelling, s->name);
    return true;
}

bool pt_check_addresses(const struct pt_check *c)
{
    uint32_t spaces = form_spaces(c->form);
    for (uint32_t i = 0; i < c->n_operands && spaces; i++) {
        const struct pt_operand *o = &c->operands[i];
        if (o->kind == PT_OPND_MEM && o->imm == 1)
            o = &c->f->operands.v[o->index];
        else if (o->kind != PT_OPND_SYM)
            continue;
        if (!address_fits(c, spaces, o))
            return false;
    }
    return true;
}

/* ---- calls ---------------------------------------------------------------------------------------------- */

/* The function whose signature the call must have, PT_NONE if that is not known. */
static uint32_t signature_of(const struct pt_check *c, const struct pt_operand *o)
{
    if (o->kind == PT_OPND_FUNC)
        return o->index;
    if (o->kind == PT_OPND_TABLE) {
        const struct pt_table *t = &c->f->tables.v[o->index];
        if (t->kind == 'p')
            return t->signature;
        return t->kind == 'c' && t->targets.n ? t->targets.v[0] : PT_NONE;
    }
    const struct pt_symbol *s = &c->m->symbols.v[o->index];
    return o->kind == PT_OPND_SYM && s->relocs.n && s->relocs.v[0].is_func ? s->relocs.v[0].target : PT_NONE;
}

static bool constant_passes(const struct pt_operand *o, enum pt_type type)
{
    bool is_float = o->type == PT_f32 || o->type == PT_f64;
    switch (pt_type_class(type)) {
    case PT_CLASS_B:
        return true;
    case PT_CLASS_U:
    case PT_CLASS_S:
        return !is_float;
    case PT_CLASS_F:
        return is_float;
    default:
        return false;
    }
}

/* A variable as an argument: a .param variable of the formal's type; arrays of the same size and alignment. */
static bool variable_passes(const struct pt_check *c, const struct pt_symbol *formal, const struct pt_symbol *s)
{
    if (s->space != PT_SPACE_PARAM)
        return error(c, "'%s' cannot be passed: it is not a .param variable", s->name);
    if (s->is_array != formal->is_array || s->vec != formal->vec)
        return error(c, "'%s' does not fit parameter '%s'", s->name, formal->name);
    if (!formal->is_array && !(pt_insn_fits(formal->type) >> s->type & 1))
        return error(c, "'%s' is .%s, parameter '%s' is .%s", s->name, pt_type_name(s->type), formal->name,
                     pt_type_name(formal->type));
    if (formal->is_array && !formal->is_unsized && (s->size != formal->size || s->align != formal->align))
        return error(c, "'%s' has %llu bytes aligned to %u, parameter '%s' has %llu aligned to %u", s->name,
                     (unsigned long long)s->size, s->align, formal->name, (unsigned long long)formal->size,
                     formal->align);
    return true;
}

static bool argument_passes(const struct pt_check *c, const struct pt_symbol *formal, struct pt_operand *o,
                            bool is_result)
{
    char name[64];
    switch (o->kind) {
    case PT_OPND_SYM:
        return variable_passes(c, formal, &c->m->symbols.v[o->index]);
    case PT_OPND_SINK:
        return is_result || error(c, "'_' cannot stand for the argument '%s'", formal->name);
    case PT_OPND_REG:
        if (!formal->is_array && (pt_insn_fits(formal->type) >> o->type & 1))
            return true;
        pt_reg_name(c->f, o->index, name, sizeof name);
        return error(c, "register %s is .%s, parameter '%s' is .%s%s", name, pt_type_name(o->type),
                     formal->name, pt_type_name(formal->type), formal->is_array ? "[]" : "");
    case PT_OPND_IMM:
        if (is_result || formal->is_array || !constant_passes(o, formal->type))
            return error(c, "a constant does not fit parameter '%s' of type .%s", formal->name,
                         pt_type_name(formal->type));
        pt_insn_settle(formal->type, o);
        return true;
    default:
        return error(c, "parameter '%s' takes a register, a constant or a .param variable", formal->name);
    }
}

static bool list_passes(const struct pt_check *c, const char *callee, const struct pt_operand *list,
                        const uint32_t *formals, uint32_t n_formals, bool is_result)
{
    uint32_t n = list ? (uint32_t)list->imm : 0;
    bool is_variadic = n_formals && c->m->symbols.v[formals[n_formals - 1]].is_unsized;
    if (n != n_formals && !(is_variadic && n + 1 == n_formals))
        return error(c, "'%s' has %u %s%s, the call %u", callee, n_formals, is_result ? "result" : "parameter",
                     n_formals == 1 ? "" : "s", n);
    for (uint32_t i = 0; i < n; i++)
        if (!argument_passes(c, &c->m->symbols.v[formals[i]], &c->f->operands.v[list->index + i], is_result))
            return false;
    return true;
}

bool pt_check_call(const struct pt_check *c)
{
    if (!(c->form->effects & PT_FX_CALL))
        return true;
    const struct pt_operand *o = c->operands, *end = o + c->n_operands, *results = NULL, *args = NULL;
    if (o->kind == PT_OPND_LIST)
        results = o++;
    const struct pt_operand *callee = o++;
    if (o < end && o->kind == PT_OPND_LIST)
        args = o++;
    uint32_t signature = signature_of(c, o < end ? o : callee);
    if (!signature)
        return true;
    const struct pt_func *f = &c->m->funcs.v[signature];
    const char *name = f->name ? f->name : "the prototype";
    if (f->is_entry)
        return error(c, "'%s' is a kernel and cannot be called", name);
    return list_passes(c, name, results, f->results.v, f->results.n, true) &&
           list_passes(c, name, args, f->params.v, f->params.n, false);
}
