/* Declarations of registers: one, a range, vectors. */
#include "frontend/register.h"

#include <stdio.h>
#include <string.h>

static bool take_registers(struct pt_parser *p, const struct pt_token *at, uint64_t count,
                           uint32_t *first)
{
    struct pt_func *f = pt_token_func(p);
    if (!f->regs.n)
        (void)pt_vec_push(&p->m->arena, &f->regs);
    if (count > PT_MAX_REGS || f->regs.n + count > PT_MAX_REGS ||
        p->n_regs + count > 4 * PT_MAX_REGS)
        return pt_token_error(p, at, "too many registers (at most %d in a function)", PT_MAX_REGS);
    *first = f->regs.n;
    p->n_regs += (uint32_t)count;
    if (count)
        (void)pt_vec_extend(&p->m->arena, &f->regs, (uint32_t)count);
    return true;
}

static void set_register(struct pt_parser *p, uint32_t reg, const char *name, uint32_t base,
                         enum pt_type type, bool is_range)
{
    struct pt_reg *r = &pt_token_func(p)->regs.v[reg];
    r->name = name;
    r->base = base;
    r->type = (uint8_t)type;
    r->is_range = is_range;
}

bool pt_register_temporary(struct pt_parser *p, const struct pt_token *at, enum pt_type type,
                           uint32_t *reg)
{
    if (!take_registers(p, at, 1, reg))
        return false;
    set_register(p, *reg, "%sum", *reg, type, false);
    return true;
}

/* The components of a vector register are registers of their own: v.x v.y v.z v.w. */
static bool add_vector(struct pt_parser *p, const struct pt_token *at, uint32_t name,
                       const struct pt_decl *d, uint32_t *first)
{
    if (!take_registers(p, at, d->vec, first))
        return false;
    const struct pt_name *n = &p->scopes.names.v[name];
    for (uint32_t i = 0; i < d->vec; i++) {
        char *text = pt_arena_alloc(&p->m->arena, n->len + 3);
        memcpy(text, n->text, n->len);
        text[n->len] = '.';
        text[n->len + 1] = "xyzw"[i];
        set_register(p, *first + i, text, *first + i, d->type, false);
    }
    return true;
}

bool pt_register_add(struct pt_parser *p, const struct pt_token *at, uint32_t name,
                     const struct pt_decl *d, uint32_t *reg)
{
    if (d->vec > 1)
        return add_vector(p, at, name, d, reg);
    if (!take_registers(p, at, 1, reg))
        return false;
    set_register(p, *reg, p->scopes.names.v[name].text, *reg, d->type, false);
    return true;
}

/* %v<N> of vectors: N plain vector registers. */
static bool add_vector_range(struct pt_parser *p, const struct pt_token *at,
                             const struct pt_decl *d, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        char text[128];
        uint32_t reg;
        int len = snprintf(text, sizeof text, "%.*s%u", PT_TOKEN_ARGS(at), i);
        uint32_t name = pt_scope_intern(&p->scopes, text, (uint32_t)len);
        const struct pt_binding *old = pt_scope_own(&p->scopes, name);
        if (old)
            return pt_decl_report_twice(p, at, old->line);
        if (!add_vector(p, at, name, d, &reg))
            return false;
        pt_decl_define(p, at, name, PT_NAME_REG, reg)->count = d->vec;
    }
    return true;
}

static bool add_range(struct pt_parser *p, const struct pt_token *at, const struct pt_decl *d,
                      uint32_t count)
{
    if (d->vec > 1)
        return add_vector_range(p, at, d, count);
    uint32_t prefix = pt_scope_intern(&p->scopes, at->text, at->len), first;
    if (count <= PT_MAX_REGS && pt_scope_range_clashes(&p->scopes, prefix, count))
        return pt_token_error(p, at, "a register of '%.*s<%u>' is already declared",
                              PT_TOKEN_ARGS(at), count);
    if (!take_registers(p, at, count, &first))
        return false;
    for (uint32_t i = 0; i < count; i++)
        set_register(p, first + i, i ? NULL : p->scopes.names.v[prefix].text, first, d->type, true);
    pt_decl_define(p, at, prefix, PT_NAME_RANGE, first)->count = count;
    return true;
}

bool pt_register_read(struct pt_parser *p, const struct pt_decl *d)
{
    struct pt_token at = p->tok;
    uint32_t name, count, reg;
    pt_token_advance(p);
    if (pt_token_accept(p, '<'))
        return pt_token_u32(p, &count) && pt_token_expect(p, '>') && add_range(p, &at, d, count);
    if (pt_token_is(p, '['))
        return pt_token_error(p, &at, "a register cannot be an array");
    if (pt_token_is(p, '='))
        return pt_token_error(p, &p->tok, "a register cannot have an initial value");
    if (!pt_decl_name(p, &at, &name) || !pt_register_add(p, &at, name, d, &reg))
        return false;
    pt_decl_define(p, &at, name, PT_NAME_REG, reg)->count = d->vec;
    return true;
}
