/* .callprototype: the signature of an indirect call. */
#include "frontend/prototype.h"

#include <string.h>

#include "frontend/parameter.h"
#include "frontend/directive.h"

/* [(results)] _ [(parameters)] directives ; */
static bool read_prototype(struct pt_parser *p, uint32_t func)
{
    if (pt_token_is(p, '(') && !pt_parameter_read(p, func, true, true))
        return false;
    if (p->tok.kind != PT_TOK_NAME || p->tok.len != 1 || *p->tok.text != '_')
        return pt_token_unexpected(p, "'_'");
    pt_token_advance(p);
    if (pt_token_is(p, '(') && !pt_parameter_read(p, func, false, true))
        return false;
    return pt_directive_read(p, func) && pt_token_expect(p, ';');
}

bool pt_prototype_parse(struct pt_parser *p, uint32_t *signature)
{
    struct pt_func *f = pt_vec_push(&p->m->arena, &p->m->funcs);
    memset(f, 0, sizeof *f);
    f->name = "_"; /* no function can have this name */
    f->is_declared_only = true;
    f->line = p->tok.line;
    *signature = p->m->funcs.n - 1;
    return read_prototype(p, *signature);
}
