/* The special-function unit's segments as vectors take them (mufu_wide.h, and native code): C1 is
 * less `linear`, a multiple of 2^a, so that it has 16 bits with a sign. What it lacks is a whole
 * number times x, which is added as it is, its upper bits with it: the rows take back what a
 * segment's number makes, and half an exponent is what a root is to have. */
#ifndef PTERA_BACKEND_SEMANTICS_MUFU_ROWS_H
#define PTERA_BACKEND_SEMANTICS_MUFU_ROWS_H

#include "backend/semantics/mufu.h"

/* What the functions' segments are: ROW(bits, n, a, linear, all, odd, c0, c1, c2) for segment n, of
 * 2^bits arguments. `all` is added in every row, `odd` in those of roots of odd exponents, which
 * are the first 64. */
#define PT_MUFU_WIDE_RCP(ROW, c0, c1, c2) \
    ROW(16, PT_MUFU_WIDE_N(RCP), 13, -0x8000, -4 * INT64_C(0x7fffff), 0, c0, c1, c2)
#define PT_MUFU_WIDE_RSQ(ROW, c0, c1, c2)                                                      \
    ROW(17, PT_MUFU_WIDE_N(RSQ), 14, -0x8000, (INT64_C(189) << 25) + INT64_C(2) * PT_MUFU_INF, \
        -(1 << 24), c0, c1, 4 * (c2))
#define PT_MUFU_WIDE_SQRT(ROW, c0, c1, c2) \
    ROW(17, PT_MUFU_WIDE_N(SQRT), 15, 0x10000, INT64_C(62) << 25, 1 << 24, c0, c1, 2 * (c2))
#define PT_MUFU_WIDE_EX2(ROW, c0, c1, c2) \
    ROW(17, PT_MUFU_WIDE_N(EX2), 13, 0x8000, INT64_C(126) << 25, 0, c0, c1, c2)
#define PT_MUFU_WIDE_LG2(ROW, c0, c1, c2) \
    ROW(17, PT_MUFU_WIDE_N(LG2), 12, 0x8000, 0, 0, c0, c1, 2 * (c2))
#define PT_MUFU_WIDE_SIN(ROW, c0, c1, c2) ROW(17, PT_MUFU_WIDE_N(SIN), 11, 0, 0, 0, c0, c1, c2)
#define PT_MUFU_WIDE_N(NAME) (__COUNTER__ - PT_MUFU_WIDE_FIRST_##NAME)

/* What is added to the products after their shift by a, and C2 * 2^c above C1 less `linear`. `at`:
 * the argument's bits from 16 on. */
#define PT_MUFU_WIDE_SUM(n, at, a, linear, all, odd, c0, c1)                                   \
    (uint32_t)((all) + ((n) < 64 ? (odd) : 0) + (c0) + ((c1) - (linear)) * (1 << (15 - (a))) - \
               ((at) & 127) * (INT64_C(0x10000) * (linear) / (1 << (a))))
#define PT_MUFU_WIDE_C2_C1(linear, c1, c2) ((uint32_t)(c2) << 16 | (((c1) - (linear)) & 0xffff))

#endif
