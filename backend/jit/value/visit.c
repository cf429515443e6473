/* Which instruction code is generated for: the next one, or another one in between. */
#include "backend/jit/value/visit.h"

#include <string.h>

#include "backend/jit/jit.h"

void jit_visit_insn(struct jit *j, uint32_t insn)
{
    j->insn = &j->unit->f->insns.v[insn];
    j->form = pt_insn_form(j->unit->m, j->insn);
}

struct jit_visited jit_visit_aside(struct jit *j, uint32_t insn)
{
    struct jit_visited was = {j->insn, j->form, j->guard, {0}};
    memcpy(was.mask, j->mask, sizeof was.mask);
    memset(j->mask, 0, sizeof j->mask);
    j->guard = NULL;
    jit_visit_insn(j, insn);
    return was;
}

void jit_visit_come_back(struct jit *j, const struct jit_visited *was)
{
    j->insn = was->insn;
    j->form = was->form;
    j->guard = was->guard;
    memcpy(j->mask, was->mask, sizeof was->mask);
}
