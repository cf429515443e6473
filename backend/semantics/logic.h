/* Bit manipulation of one lane (PTX ISA 9.7.1.13 ..., 9.7.8): helpers of logic.def. */
#ifndef PTERA_BACKEND_SEMANTICS_LOGIC_H
#define PTERA_BACKEND_SEMANTICS_LOGIC_H

#include "backend/semantics/lane.h"

/* Counts are written with arithmetic instead of builtins where a host has no vector form of them. */
PT_LANE uint32_t pt_logic_popc32(uint32_t x)
{
    x -= x >> 1 & 0x55555555;
    x = (x & 0x33333333) + (x >> 2 & 0x33333333);
    x = (x + (x >> 4)) & 0x0f0f0f0f;
    return x * 0x01010101u >> 24;
}

PT_LANE uint32_t pt_logic_popc64(uint64_t x)
{
    return pt_logic_popc32((uint32_t)x) + pt_logic_popc32((uint32_t)(x >> 32));
}

PT_LANE uint32_t pt_logic_clz32(uint32_t x)
{
    x |= x >> 1;
    x |= x >> 2;
    x |= x >> 4;
    x |= x >> 8;
    x |= x >> 16;
    return pt_logic_popc32(~x);
}

PT_LANE uint32_t pt_logic_clz64(uint64_t x)
{
    uint32_t hi = (uint32_t)(x >> 32);
    return hi ? pt_logic_clz32(hi) : 32 + pt_logic_clz32((uint32_t)x);
}

PT_LANE uint32_t pt_logic_brev32(uint32_t x)
{
    x = (x >> 1 & 0x55555555) | (x & 0x55555555) << 1;
    x = (x >> 2 & 0x33333333) | (x & 0x33333333) << 2;
    x = (x >> 4 & 0x0f0f0f0f) | (x & 0x0f0f0f0f) << 4;
    x = (x >> 8 & 0x00ff00ff) | (x & 0x00ff00ff) << 8;
    return x >> 16 | x << 16;
}

PT_LANE uint64_t pt_logic_brev64(uint64_t x)
{
    return (uint64_t)pt_logic_brev32((uint32_t)x) << 32 | pt_logic_brev32((uint32_t)(x >> 32));
}

/* bfind: the position of the highest one (signed: of the highest bit that differs from the sign), all ones if there
 * is none; .shiftamt: the left shift that brings it to the top. */
PT_LANE uint32_t pt_logic_bfind32(uint32_t x, bool is_signed, bool shiftamt)
{
    if (is_signed)
        x ^= (uint32_t)((int32_t)x >> 31);
    uint32_t n = pt_logic_clz32(x);
    return x == 0 ? UINT32_MAX : shiftamt ? n : 31 - n;
}

PT_LANE uint32_t pt_logic_bfind64(uint64_t x, bool is_signed, bool shiftamt)
{
    if (is_signed)
        x ^= (uint64_t)((int64_t)x >> 63);
    uint32_t n = pt_logic_clz64(x);
    return x == 0 ? UINT32_MAX : shiftamt ? n : 63 - n;
}

/* bfe: `len` bits from bit `pos`. The signed form extends from the field's top bit, or from the sign of the source where
 * the field reaches beyond it. The 32-bit form reads the low byte of pos and len, the 64-bit form all of them. */
PT_LANE uint64_t pt_logic_bfe64(uint64_t a, uint32_t pos, uint32_t len, bool is_signed)
{
    uint64_t end = (uint64_t)pos + len;
    uint32_t top = end < 64 ? (uint32_t)(end - 1) & 63 : 63;
    uint64_t fill = is_signed && len ? -(a >> top & 1) : 0;
    uint64_t keep = len > 63 ? ~0ull : (1ull << (len & 63)) - 1;
    keep &= pt_lane_shr64(~0ull, pos);
    return (pt_lane_shr64(a, pos) & keep) | (fill & ~keep);
}

PT_LANE uint32_t pt_logic_bfe32(uint32_t a, uint32_t pos, uint32_t len, bool is_signed)
{
    pos &= 255;
    len &= 255;
    uint32_t top = pos + len - 1 < 31 ? pos + len - 1 : 31;
    uint32_t fill = is_signed && len ? -(a >> top & 1) : 0;
    uint32_t keep = len > 31 ? ~0u : (1u << (len & 31)) - 1;
    keep &= pt_lane_shr(~0u, pos);
    return (pt_lane_shr(a, pos) & keep) | (fill & ~keep);
}

/* bfi: the low `len` bits of a into b at `pos`; pos and len as for bfe. */
PT_LANE uint32_t pt_logic_bfi32(uint32_t a, uint32_t b, uint32_t pos, uint32_t len)
{
    pos &= 255;
    len &= 255;
    uint32_t mask = pt_lane_shl(len > 31 ? ~0u : (1u << (len & 31)) - 1, pos);
    return (pt_lane_shl(a, pos) & mask) | (b & ~mask);
}

PT_LANE uint64_t pt_logic_bfi64(uint64_t a, uint64_t b, uint32_t pos, uint32_t len)
{
    uint64_t mask = pt_lane_shl64(len > 63 ? ~0ull : (1ull << (len & 63)) - 1, pos);
    return (pt_lane_shl64(a, pos) & mask) | (b & ~mask);
}

/* bmsk: `len` ones from bit `pos`; .clamp cuts both at 32, .wrap takes them modulo 32. */
PT_LANE uint32_t pt_logic_bmsk(uint32_t pos, uint32_t len, bool wrap)
{
    if (wrap) {
        pos &= 31;
        len &= 31;
    }
    return pt_lane_shl(len > 31 ? ~0u : (1u << (len & 31)) - 1, pos);
}

/* szext: a cut to `n` bits, then extended by zero or sign. */
PT_LANE uint32_t pt_logic_szext(uint32_t a, uint32_t n, bool is_signed, bool wrap)
{
    if (wrap)
        n &= 31;
    uint32_t keep = n > 31 ? ~0u : (1u << (n & 31)) - 1;
    uint32_t fill = is_signed && n && n < 32 ? -(a >> ((n - 1) & 31) & 1) : 0;
    return (a & keep) | (fill & ~keep);
}

/* fns (PTX ISA 9.7.1.17): the n-th set bit of mask from `base` on, upward for n > 0, downward for n < 0; n = 0: base
 * itself if it is set. All ones if there is none. */
PT_LANE uint32_t pt_logic_fns(uint32_t mask, uint32_t base, int32_t n)
{
    uint32_t found = UINT32_MAX;
    if (n == INT32_MIN) /* has no magnitude: an H200 gives 0 */
        return 0;
    if (n == 0)
        return base < 32 && (mask >> base & 1) ? base : UINT32_MAX;
    uint32_t left = n > 0 ? (uint32_t)n : 0u - (uint32_t)n;
    for (uint32_t i = base; i < 32; i += n > 0 ? 1u : UINT32_MAX) {
        left -= mask >> i & 1;
        if (left == 0) {
            found = i;
            break;
        }
    }
    return found;
}

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
    n = wrap ? n & 31 : n > 32 ? 32 : n;
    uint64_t v = (uint64_t)b << 32 | a;
    return right ? (uint32_t)(v >> n) : (uint32_t)(v << n >> 32);
}

/* prmt: four bytes picked from b:a by the nibbles of c; bit 3 of a nibble replicates the byte's sign. */
PT_LANE uint32_t pt_logic_prmt(uint32_t a, uint32_t b, uint32_t c)
{
    uint64_t v = (uint64_t)b << 32 | a;
    uint32_t d = 0;
    for (unsigned i = 0; i < 4; i++) {
        uint32_t sel = c >> 4 * i & 15;
        uint32_t byte = (uint32_t)(v >> 8 * (sel & 7)) & 255;
        uint32_t sign = -(byte >> 7) & 255;
        d |= (sel & 8 ? sign : byte) << 8 * i;
    }
    return d;
}

enum pt_prmt { PT_PRMT_f4e, PT_PRMT_b4e, PT_PRMT_rc8, PT_PRMT_ecl, PT_PRMT_ecr, PT_PRMT_rc16 };

/* The modes of prmt turn the low two bits of c into a selector (table in PTX ISA 9.7.8.7). */
PT_LANE uint32_t pt_logic_prmt_mode(uint32_t a, uint32_t b, uint32_t c, enum pt_prmt mode)
{
    uint32_t n = c & 3, sel = 0;
    for (uint32_t i = 0; i < 4; i++) {
        uint32_t pick = 0;
        switch (mode) {
        case PT_PRMT_f4e:
            pick = (n + i) & 7;
            break;
        case PT_PRMT_b4e:
            pick = (n - i) & 7;
            break;
        case PT_PRMT_rc8:
            pick = n;
            break;
        case PT_PRMT_ecl:
            pick = i > n ? i : n;
            break;
        case PT_PRMT_ecr:
            pick = i < n ? i : n;
            break;
        case PT_PRMT_rc16:
            pick = (n & 1) * 2 + (i & 1);
            break;
        }
        sel |= pick << 4 * i;
    }
    return pt_logic_prmt(a, b, sel);
}

#endif
