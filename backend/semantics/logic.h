/* Logic and shifts of one lane (PTX ISA 9.7.8): helpers of logic.def. */
#ifndef PTERA_BACKEND_SEMANTICS_LOGIC_H
#define PTERA_BACKEND_SEMANTICS_LOGIC_H

#include "backend/semantics/lane.h"

/* lop3: bit i of the table is the result where the bits of a, b, c spell i. */
PT_LANE uint32_t pt_logic_lop3(uint32_t a, uint32_t b, uint32_t c, uint32_t table)
{
    uint32_t d = 0;
    for (unsigned i = 0; i < 8; i++) {
        uint32_t term = (i & 4 ? a : ~a) & (i & 2 ? b : ~b) & (i & 1 ? c : ~c);
        d |= term & -(table >> i & 1);
    }
    return d;
}

/* shf: the 64-bit value b:a shifted, its upper (.l) or lower (.r) word. */
PT_LANE uint32_t pt_logic_shf(uint32_t a, uint32_t b, uint32_t n, bool right, bool wrap)
{
    if (wrap) /* in 32 bits: twice as many lanes are a vector */
        return right ? a >> (n & 31) | b << 1 << (~n & 31) : b << (n & 31) | a >> 1 >> (~n & 31);
    n = n > 32 ? 32 : n;
    uint64_t v = (uint64_t)b << 32 | a;
    return right ? (uint32_t)(v >> n) : (uint32_t)(v << n >> 32);
}

#endif
