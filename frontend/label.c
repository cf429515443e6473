/* Labels of a function: uses before the definition, scopes, aliases. */
#include "frontend/label.h"

static uint32_t add_label(struct pt_parser *p, uint32_t name)
{
    struct pt_func *f = pt_token_func(p);
    *pt_vec_push(&p->m->arena, &f->labels) =
        (struct pt_label){.name = p->scopes.names.v[name].text};
    *pt_vec_push(&p->m->arena, &p->label_alias) = 0;
    return f->labels.n - 1;
}

uint32_t pt_label_use(struct pt_parser *p, const struct pt_token *at)
{
    uint32_t reg;
    if (at->kind != PT_TOK_NAME) {
        pt_token_unexpected(p, "a label");
        return 0;
    }
    if (pt_scope_find_reg(&p->scopes, at->text, at->len, &reg)) {
        pt_token_error(p, at, "'%.*s' is a register, not a label", PT_TOKEN_ARGS(at));
        return 0;
    }
    uint32_t name = pt_scope_intern(&p->scopes, at->text, at->len);
    struct pt_binding *b = pt_scope_own(&p->scopes, name);
    if (b && b->kind != PT_NAME_LABEL) {
        pt_token_error(p, at, "'%.*s' is not a label", PT_TOKEN_ARGS(at));
        return 0;
    }
    if (!b) { /* perhaps a label of an outer block, but one that follows here would hide it */
        uint32_t label = add_label(p, name);
        b = pt_scope_define(&p->scopes, name, PT_NAME_LABEL, label);
        b->is_pending = 1;
        b->line = at->line;
        b->col = at->col;
    }
    return b->index;
}

bool pt_label_define(struct pt_parser *p, const struct pt_token *at)
{
    uint32_t name = pt_scope_intern(&p->scopes, at->text, at->len);
    struct pt_binding *b = pt_scope_own(&p->scopes, name);
    if (b && !b->is_pending)
        return pt_token_error(p, at, "'%.*s' is already declared on %s", PT_TOKEN_ARGS(at),
                              pt_token_line(p, b->line));
    if (!b)
        b = pt_scope_define(&p->scopes, name, PT_NAME_LABEL, add_label(p, name));
    b->is_pending = 0;
    b->line = at->line;
    struct pt_func *f = pt_token_func(p);
    f->labels.v[b->index].insn = f->insns.n;
    f->labels.v[b->index].line = at->line;
    return true;
}

void pt_label_leave(void *ud, const struct pt_binding *pending)
{
    struct pt_parser *p = ud;
    struct pt_binding *b = pt_scope_own(&p->scopes, pending->name);
    const struct pt_name *name = &p->scopes.names.v[pending->name];
    if (p->scopes.depth == 0 || (b && b->kind != PT_NAME_LABEL)) {
        pt_diag_error(&p->m->diags, pending->line, pending->col, name->len,
                      "label '%.*s' is not defined", (int)(name->len < 60 ? name->len : 60),
                      name->text);
    } else if (b) {
        p->label_alias.v[pending->index] = b->index;
        p->has_alias = true;
    } else {
        b = pt_scope_define(&p->scopes, pending->name, PT_NAME_LABEL, pending->index);
        b->is_pending = 1;
        b->line = pending->line;
        b->col = pending->col;
    }
}

static uint32_t final_label(const struct pt_parser *p, uint32_t label)
{
    while (p->label_alias.v[label])
        label = p->label_alias.v[label];
    return label;
}

void pt_label_resolve(struct pt_parser *p)
{
    struct pt_func *f = pt_token_func(p);
    if (!p->has_alias)
        return;
    uint32_t *place = pt_arena_alloc(&p->m->arena, (size_t)f->labels.n * sizeof *place);
    uint32_t kept = 1;
    for (uint32_t i = 1; i < f->labels.n; i++) {
        if (p->label_alias.v[i])
            continue;
        place[i] = kept;
        f->labels.v[kept++] = f->labels.v[i];
    }
    for (uint32_t i = 0; i < f->operands.n; i++)
        if (f->operands.v[i].kind == PT_OPND_LABEL)
            f->operands.v[i].index = place[final_label(p, f->operands.v[i].index)];
    for (uint32_t i = 1; i < f->tables.n; i++)
        for (uint32_t j = 0; f->tables.v[i].kind == 'b' && j < f->tables.v[i].targets.n; j++)
            f->tables.v[i].targets.v[j] = place[final_label(p, f->tables.v[i].targets.v[j])];
    f->labels.n = kept;
}
