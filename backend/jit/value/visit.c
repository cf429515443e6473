/* Which instruction code is generated for: the next one, or another one in between. */
#include "backend/jit/value/visit.h"

#include <string.h>

#include "backend/jit/jit.h"

void jit_visit_insn(struct jit *j, uint32_t insn)
{
    j->insn = &j->unit->f->insns.v[insn];
    j->form = pt_insn_form(j->unit->m, j->insn);
}

struct jit jit_visit_aside(const struct jit *j, uint32_t insn)
{
    struct jit at = *j;
    memset(at.mask, 0, sizeof at.mask);
    at.guard = NULL;
    jit_visit_insn(&at, insn);
    return at;
}
