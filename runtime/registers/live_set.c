/* The registers that are live at a place of a function, which moves backwards. */
#include "runtime/registers/live_set.h"

#include <string.h>

bool pt_live_set_has(const uint64_t *set, uint32_t reg)
{
    return set[reg / 64] >> (reg % 64) & 1;
}

uint32_t pt_live_set_next(const uint64_t *set, uint32_t words, uint32_t reg)
{
    uint32_t w = reg / 64;
    uint64_t bits = w < words ? set[w] & UINT64_MAX << (reg % 64) : 0;
    while (!bits && ++w < words)
        bits = set[w];
    return bits ? w * 64 + (uint32_t)__builtin_ctzll(bits) : UINT32_MAX;
}

void pt_live_set_start(const struct pt_code *code, uint64_t *set, uint32_t block)
{
    memcpy(set, code->live_out + (size_t)block * code->words, code->words * sizeof *set);
}

void pt_live_set_step(const struct pt_code *code, uint64_t *set, uint32_t insn)
{
    const struct pt_code_insn *i = &code->insns[insn];
    const uint32_t *uses = pt_code_uses(code, i), *defs = pt_code_defs(code, i);
    for (uint32_t d = 0; d < i->n_defs && !code->f->insns.v[insn].guard; d++)
        set[defs[d] / 64] &= ~(UINT64_C(1) << (defs[d] % 64));
    for (uint32_t u = 0; u < i->n_uses; u++)
        set[uses[u] / 64] |= UINT64_C(1) << (uses[u] % 64);
}

int32_t pt_live_set_size(const struct pt_code *code, const uint64_t *set, const int32_t *size)
{
    int32_t n = 0;
    for (uint32_t r = pt_live_set_next(set, code->words, 0); r != UINT32_MAX;
         r = pt_live_set_next(set, code->words, r + 1))
        n += size[r];
    return n;
}

int32_t pt_live_set_named(const struct pt_code *code, const uint64_t *set, uint32_t insn,
                          const int32_t *size)
{
    const struct pt_code_insn *i = &code->insns[insn];
    const uint32_t *regs = pt_code_uses(code, i);
    int32_t n = 0;
    for (uint32_t k = 0; k < i->n_uses + i->n_defs; k++)
        n += pt_live_set_has(set, regs[k]) ? size[regs[k]] : 0;
    return n;
}
