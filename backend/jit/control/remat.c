/* Rematerialisation: values that are computed once more instead of being kept: addresses and
 * indexes that come from parameters and special registers, which also shows LLVM what they are made
 * of; and the lanes of affine values, which only the rare path of an access asks for.
 */
#include "backend/jit/control/remat.h"

#include "backend/jit/analysis/def_use.h"
#include "backend/jit/bitset.h"
#include "backend/jit/control/block.h"
#include "backend/jit/jit.h"

/* ---- anew in each region --------------------------------------------------------------------- */

bool jit_remat_compute(const struct jit *j, uint32_t reg, uint64_t *done)
{
    struct jit_sources s;
    if (jit_set_has(done, reg) || j->facts->regs[reg].is_cta_uniform)
        return true;
    jit_set_add(done, reg);
    if (!jit_def_use_sources(j->facts, j->facts->regs[reg].def, &s))
        return false;
    for (uint32_t i = 0; i < s.n; i++)
        if (!jit_remat_compute(j, s.regs[i], done))
            return false;
    return jit_block_repeat(j, j->facts->regs[reg].def);
}
