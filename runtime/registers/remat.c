/* Rematerialisation. */
#include "runtime/registers/remat.h"

#include "runtime/registers/live_set.h"

enum { DEPTH = 3 };

static bool is_cheap(const struct pt_code *code, const struct pt_register_file *file,
                     const uint64_t *live, uint32_t reg, int depth)
{
    if (!code->made_at[reg] || depth > DEPTH)
        return false;
    const struct pt_code_insn *insn = &code->insns[code->made_at[reg] - 1];
    if (!insn->cost.is_integer || insn->cost.op == PT_OP_mov_sreg)
        return false;
    bool is_from_any = false;
    for (uint32_t u = 0; u < insn->n_uses; u++) {
        uint32_t r = pt_code_uses(code, insn)[u];
        if (!file->vector[r])
            continue;
        is_from_any = true;
        if (!pt_live_set_has(live, r) && !is_cheap(code, file, live, r, depth + 1))
            return false;
    }
    return is_from_any;
}

bool pt_remat_is_cheap(const struct pt_code *code, const struct pt_register_file *file,
                       const uint64_t *live, uint32_t reg)
{
    return is_cheap(code, file, live, reg, 0);
}
