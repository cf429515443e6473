/* See check.h. */
#include "frontend/check.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

__attribute__((format(printf, 2, 3))) static bool error(const struct pt_check *c,
                                                        const char *format, ...)
{
    char text[256];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    pt_diag_error(&c->m->diags, c->line, c->col, c->len, "%s", text);
    return false;
}

/* ---- addresses ------------------------------------------------------------------------------- */

static uint32_t bit(enum pt_space space)
{
    return UINT32_C(1) << space;
}

/* Spaces that the form's state space modifier names; without one, those in which a generic
 * address of a variable may lie. 0: copies between two spaces, which say nothing of a single
 * operand. */
static uint32_t form_spaces(const struct pt_form *form)
{
    uint32_t set = 0;
    unsigned n = 0;
    for (unsigned i = 0; i < form->n_mods; i++) {
        enum pt_space space = pt_mod_space((enum pt_mod)form->mod[i]);
        set = space == PT_SPACE_GENERIC ? set : bit(space);
        n += space != PT_SPACE_GENERIC;
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

static bool has(const uint32_t *symbols, uint32_t n, uint32_t symbol)
{
    for (uint32_t i = 0; i < n; i++)
        if (symbols[i] == symbol)
            return true;
    return false;
}

static bool is_input(const struct pt_func *f, uint32_t symbol)
{
    return has(f->params.v, f->params.n, symbol);
}

static bool is_result(const struct pt_func *f, uint32_t symbol)
{
    return has(f->results.v, f->results.n, symbol);
}

/* Neither the function's own: one that it passes to others. */
static bool is_passed(const struct pt_check *c, uint32_t symbol)
{
    return c->m->symbols.v[symbol].space == PT_SPACE_PARAM && !is_input(c->f, symbol) &&
           !is_result(c->f, symbol);
}

/* `symbol` is a parameter. */
static bool parameter_fits(const struct pt_check *c, uint32_t symbol)
{
    const char *spelling = c->form->spelling, *name = c->m->symbols.v[symbol].name;
    bool writes = c->form->effects & PT_FX_WRITE;
    if (writes && is_input(c->f, symbol))
        return error(c, "'%s' cannot write the input parameter '%s'", spelling, name);
    if (!writes && is_result(c->f, symbol))
        return error(c, "'%s' cannot read the result '%s'", spelling, name);
    return true;
}

/* Bits that the register of an address has at least: some forms, which the assembler expands to
 * several instructions, do not take narrow ones. */
static unsigned address_bits(const struct pt_form *form, uint32_t operand)
{
    switch (form->op) {
    case PT_OP_multimem_red:
        return 64;
    case PT_OP_st_bulk:
    case PT_OP_createpolicy:
        return 32;
    case PT_OP_red_async:
        return operand > 0 && pt_form_has(form, PT_M_shared_cluster) ? 8 : 32;
    case PT_OP_prefetch:
        return pt_form_has(form, PT_M_tensormap) ? 32 : 8;
    default:
        return 8;
    }
}

/* `o` is the address in operand `operand`. */
static bool address_fits(const struct pt_check *c, uint32_t spaces, const struct pt_operand *o,
                         uint32_t operand)
{
    const char *spelling = c->form->spelling;
    unsigned bits = address_bits(c->form, operand);
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
        return error(c, "'%s' cannot access '%s', which is in another state space", spelling,
                     s->name);
    return s->space != PT_SPACE_PARAM || parameter_fits(c, o->index);
}

/* The address that operand `i` is, or NULL. */
static const struct pt_operand *address(const struct pt_check *c, uint32_t i)
{
    const struct pt_operand *o = &c->operands[i];
    if (o->kind == PT_OPND_MEM && o->imm == 1)
        return &c->f->operands.v[o->index];
    return o->kind == PT_OPND_SYM ? o : NULL;
}

static bool addresses_fit(const struct pt_check *c)
{
    uint32_t spaces = form_spaces(c->form);
    for (uint32_t i = 0; i < c->n_operands && spaces; i++) {
        const struct pt_operand *o = address(c, i);
        if (o && !address_fits(c, spaces, o, i))
            return false;
    }
    return true;
}

static bool may_take_address(const struct pt_check *c)
{
    const struct pt_operand *o = c->n_operands ? &c->operands[c->n_operands - 1] : NULL;
    if (c->form->op != PT_OP_mov_addr || o->kind != PT_OPND_SYM || !is_passed(c, o->index))
        return true;
    return error(c, "the address of '%s', a parameter of calls, cannot be taken",
                 c->m->symbols.v[o->index].name);
}

/* The last operand, where the table cannot say what values it has. */
static bool value_fits(const struct pt_check *c)
{
    const struct pt_operand *o = c->n_operands ? &c->operands[c->n_operands - 1] : NULL;
    if (!o || o->kind != PT_OPND_IMM)
        return true;
    if (c->form->op == PT_OP_fabric_pullred && o == &c->operands[4])
        return o->imm == UINT32_MAX ||
               error(c, "the mask of '%s' must be 0xffffffff", c->form->spelling);
    if (c->form->op == PT_OP_alloca && c->n_operands == 3)
        return (o->imm > 0 && !(o->imm & (o->imm - 1))) ||
               error(c, "an alignment must be a power of two");
    if (c->form->op == PT_OP_createpolicy && o->type == PT_f64) {
        double fraction;
        memcpy(&fraction, &o->imm, sizeof fraction);
        return (fraction > 0 && fraction <= 1) ||
               error(c, "a fraction must be above 0 and not above 1");
    }
    return true;
}

/* vmad subtracts the product or c, not both (PTX ISA 9.7.18.1.5). */
static bool signs_fit(const struct pt_check *c)
{
    const struct pt_operand *o = c->operands;
    if (c->form->op != PT_OP_vmad || !((o[1].flags ^ o[2].flags) & o[3].flags & PT_OPND_MINUS))
        return true;
    return error(c, "'%s' can subtract the product or c, not both", c->form->spelling);
}

bool pt_check_operands(const struct pt_check *c)
{
    return addresses_fit(c) && may_take_address(c) && value_fits(c) && signs_fit(c);
}

bool pt_check_guard(const struct pt_check *c)
{
    for (uint32_t i = 0; i < c->n_operands; i++) {
        const struct pt_operand *o = address(c, i);
        if (o && o->kind == PT_OPND_SYM && is_passed(c, o->index))
            return error(c, "'%s' of '%s', a parameter of calls, cannot have a guard",
                         c->form->spelling, c->m->symbols.v[o->index].name);
    }
    return true;
}
