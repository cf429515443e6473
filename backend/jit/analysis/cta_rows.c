#include "backend/jit/analysis/cta_rows.h"

#include "backend/jit/analysis/insn_info.h"
#include "ir/row.h"

/* Other CTAs cannot tell when it runs: it touches nothing that is the CTA's own, and nobody waits
 * for it. */
static bool is_independent(const struct pt_form *form)
{
    const uint32_t harmless = PT_FX_READ | PT_FX_WRITE | PT_FX_BRANCH | PT_FX_END | PT_FX_FP |
                              PT_FX_CARRY_IN | PT_FX_CARRY_OUT;
    enum pt_space space = pt_form_space(form);
    bool is_own = space == PT_SPACE_SHARED || space == PT_SPACE_GENERIC;
    return !(form->effects & ~harmless) && !(is_own && form->effects & (PT_FX_READ | PT_FX_WRITE));
}

static bool only_samples(const struct jit_facts *a)
{
    bool samples = false;
    for (uint32_t i = 0; i < a->unit->f->insns.n; i++) {
        const struct pt_form *form = pt_insn_form(a->unit->m, &a->unit->f->insns.v[i]);
        bool is_sampled = jit_insn_info_is_sampled(form, NULL);
        if (!is_sampled && !is_independent(form))
            return false;
        samples |= is_sampled;
    }
    return samples;
}

unsigned jit_cta_rows_find(const struct jit_facts *a)
{
    const uint32_t *block = a->uniformity->shape.block;
    uint32_t group = a->unit->width * a->copies;
    if (!a->is_one_region || a->is_resumable || a->has_steps || jit_is_checked(a->unit) ||
        block[1] * block[2] <= 1 || (block[0] % group && group % block[0]) || !only_samples(a))
        return 0;
    return block[0] > group ? block[0] / group : 1;
}
