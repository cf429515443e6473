/* What native code calls for one thread, or for the whole CTA. */
#include "backend/jit/helper.h"
#include "backend/semantics/float.h"
#include "backend/sreg.h"

uint64_t jit_help_sreg(const struct pt_cta *cta, uint32_t sreg)
{
    return pt_sreg_of_cta(cta, (enum pt_sreg)sreg);
}

void *jit_help_frame(struct pt_cta *cta, uint32_t warp, uint32_t func)
{
    return cta->launch->program->engine->frame(&cta->warps[warp], func);
}

uint32_t jit_help_step(struct pt_cta *cta, uint32_t warp, uint32_t func, uint32_t insn,
                       uint32_t lanes, uint32_t is_fast)
{
    struct pt_warp *w = cta->stepping = &cta->warps[warp];
    uint32_t live = w->live;
    if (!cta->launch->program->engine->step(w, func, insn, lanes, is_fast))
        return 0;
    w->live = live;
    cta->stepping = NULL;
    cta->steps++;
    return 1;
}

uint64_t jit_help_atom_add_f64(uint64_t old, uint64_t b, uint32_t in_shared)
{
    return pt_float_atom_add64(old, b, in_shared);
}
