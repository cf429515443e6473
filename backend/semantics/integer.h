/* Integer arithmetic of one lane (PTX ISA 9.7.1, 9.7.2): helpers of integer.def. */
#ifndef PTERA_BACKEND_SEMANTICS_INTEGER_H
#define PTERA_BACKEND_SEMANTICS_INTEGER_H

#include "backend/semantics/lane.h"

PT_LANE uint64_t pt_integer_mulhi_u64(uint64_t a, uint64_t b)
{
    return (uint64_t)((unsigned __int128)a * b >> 64);
}

PT_LANE uint64_t pt_integer_mulhi_s64(int64_t a, int64_t b)
{
    return (uint64_t)((__int128)a * b >> 64);
}

PT_LANE uint32_t pt_integer_mulhi_u32(uint32_t a, uint32_t b)
{
    return (uint32_t)((uint64_t)a * b >> 32);
}

PT_LANE uint32_t pt_integer_mulhi_s32(int32_t a, int32_t b)
{
    return (uint32_t)((uint64_t)((int64_t)a * b) >> 32);
}

/* Clamps a 64-bit value to the range of s32. */
PT_LANE int32_t pt_integer_sat_s32(int64_t v)
{
    v = v > INT32_MAX ? INT32_MAX : v;
    return (int32_t)(v < INT32_MIN ? INT32_MIN : v);
}

/* Division by zero does not trap: an H200 gives a quotient and a remainder of all ones. */
PT_LANE uint32_t pt_integer_div_u32(uint32_t a, uint32_t b)
{
    return b ? a / b : UINT32_MAX;
}

PT_LANE uint32_t pt_integer_rem_u32(uint32_t a, uint32_t b)
{
    return b ? a % b : UINT32_MAX;
}

PT_LANE uint64_t pt_integer_div_u64(uint64_t a, uint64_t b)
{
    return b ? a / b : UINT64_MAX;
}

PT_LANE uint64_t pt_integer_rem_u64(uint64_t a, uint64_t b)
{
    return b ? a % b : UINT64_MAX;
}

/* -1 is kept from the host's divide instruction: INT_MIN / -1 traps there and wraps here. */
PT_LANE uint32_t pt_integer_div_s32(int32_t a, int32_t b)
{
    bool plain = b != 0 && b != -1;
    int32_t q = a / (plain ? b : 1);
    return b == 0 ? UINT32_MAX : b == -1 ? 0u - (uint32_t)a : (uint32_t)q;
}

PT_LANE uint32_t pt_integer_rem_s32(int32_t a, int32_t b)
{
    bool plain = b != 0 && b != -1;
    int32_t r = a % (plain ? b : 1);
    return b == 0 ? UINT32_MAX : b == -1 ? 0 : (uint32_t)r;
}

PT_LANE uint64_t pt_integer_div_s64(int64_t a, int64_t b)
{
    bool plain = b != 0 && b != -1;
    int64_t q = a / (plain ? b : 1);
    return b == 0 ? UINT64_MAX : b == -1 ? 0u - (uint64_t)a : (uint64_t)q;
}

PT_LANE uint64_t pt_integer_rem_s64(int64_t a, int64_t b)
{
    bool plain = b != 0 && b != -1;
    int64_t r = a % (plain ? b : 1);
    return b == 0 ? UINT64_MAX : b == -1 ? 0 : (uint64_t)r;
}

/* mul24, mad24: the low 24 bits of each source, signed ones extended from bit 23. */
PT_LANE uint64_t pt_integer_mul24_u(uint32_t a, uint32_t b)
{
    return (uint64_t)(a & 0xffffff) * (b & 0xffffff);
}

PT_LANE uint64_t pt_integer_mul24_s(uint32_t a, uint32_t b)
{
    return (uint64_t)((int64_t)((int32_t)(a << 8) >> 8) * ((int32_t)(b << 8) >> 8));
}

/* A packed pair of 16-bit halves. */
#define PT_INTEGER_PAIR(lo, hi) (((uint32_t)(lo) & 0xffffu) | (uint32_t)(hi) << 16)
#define PT_INTEGER_MIN(x, y) ((x) < (y) ? (x) : (y))
#define PT_INTEGER_MAX(x, y) ((x) > (y) ? (x) : (y))

/* The smaller or larger of each pair of halves; .relu cuts at 0 from below. */
PT_LANE uint32_t pt_integer_pick_half(uint32_t a, uint32_t b, bool larger, bool is_signed,
                                      bool relu)
{
    int32_t x = is_signed ? (int32_t)(int16_t)a : (int32_t)(uint16_t)a;
    int32_t y = is_signed ? (int32_t)(int16_t)b : (int32_t)(uint16_t)b;
    int32_t r = (x > y) == larger ? x : y;
    return (uint32_t)(relu && r < 0 ? 0 : r) & 0xffff;
}

PT_LANE uint32_t pt_integer_pick_x2(uint32_t a, uint32_t b, bool larger, bool is_signed, bool relu)
{
    return pt_integer_pick_half(a, b, larger, is_signed, relu) |
           pt_integer_pick_half(a >> 16, b >> 16, larger, is_signed, relu) << 16;
}

/* Byte i of x as the dot products read it. */
PT_LANE int32_t pt_integer_byte(uint32_t x, unsigned i, bool is_signed)
{
    return is_signed ? (int32_t)(int8_t)(x >> 8 * i) : (int32_t)(uint8_t)(x >> 8 * i);
}

PT_LANE uint32_t pt_integer_dp4a(uint32_t a, uint32_t b, uint32_t c, bool as, bool bs)
{
    for (unsigned i = 0; i < 4; i++)
        c += (uint32_t)(pt_integer_byte(a, i, as) * pt_integer_byte(b, i, bs));
    return c;
}

/* Two 16-bit halves of a times two bytes of b: its lower (half = 0) or upper ones. */
PT_LANE uint32_t pt_integer_dp2a(uint32_t a, uint32_t b, uint32_t c, bool as, bool bs,
                                 unsigned half)
{
    for (unsigned i = 0; i < 2; i++) {
        int32_t x = as ? (int32_t)(int16_t)(a >> 16 * i) : (int32_t)(uint16_t)(a >> 16 * i);
        c += (uint32_t)x * (uint32_t)pt_integer_byte(b, 2 * half + i, bs);
    }
    return c;
}

/* Product of two polynomials over GF(2): the lower, and the upper 64 bits. */
PT_LANE uint64_t pt_integer_clmul_lo(uint64_t a, uint64_t b)
{
    uint64_t sum = 0;
    for (unsigned i = 0; i < 64; i++)
        sum ^= a << i & -(b >> i & 1);
    return sum;
}

PT_LANE uint64_t pt_integer_clmul_hi(uint64_t a, uint64_t b)
{
    uint64_t sum = 0;
    for (unsigned i = 1; i < 64; i++)
        sum ^= a >> (64 - i) & -(b >> i & 1);
    return sum;
}

enum pt_integer_packed {
    PT_INTEGER_ADD,
    PT_INTEGER_SUB,
    PT_INTEGER_MIN,
    PT_INTEGER_MAX,
    PT_INTEGER_EQ, /* compared: all ones or zero */
    PT_INTEGER_NE,
    PT_INTEGER_LT,
    PT_INTEGER_LE,
    PT_INTEGER_GT,
    PT_INTEGER_GE
};

PT_LANE int64_t pt_integer_part(uint32_t a, unsigned at, unsigned bits, bool is_signed)
{
    int64_t low = (int64_t)((uint64_t)a >> at & ((UINT64_C(1) << bits) - 1));
    return is_signed && low >> (bits - 1) ? low - (INT64_C(1) << bits) : low;
}

PT_LANE int64_t pt_integer_packed_one(int64_t x, int64_t y, enum pt_integer_packed op)
{
    switch (op) {
    case PT_INTEGER_ADD:
        return x + y;
    case PT_INTEGER_SUB:
        return x - y;
    case PT_INTEGER_MIN:
        return x < y ? x : y;
    case PT_INTEGER_MAX:
        return x > y ? x : y;
    case PT_INTEGER_EQ:
        return -(int64_t)(x == y);
    case PT_INTEGER_NE:
        return -(int64_t)(x != y);
    case PT_INTEGER_LT:
        return -(int64_t)(x < y);
    case PT_INTEGER_LE:
        return -(int64_t)(x <= y);
    case PT_INTEGER_GT:
        return -(int64_t)(x > y);
    default:
        return -(int64_t)(x >= y);
    }
}

/* Each part of 8, 16 or 32 bits by itself. `saturates`: to what the part can hold. */
PT_LANE uint32_t pt_integer_packed(uint32_t a, uint32_t b, unsigned bits, bool is_signed,
                                   bool saturates, enum pt_integer_packed op)
{
    int64_t least = is_signed ? -(INT64_C(1) << (bits - 1)) : 0;
    int64_t most = least + (INT64_C(1) << bits) - 1;
    uint32_t result = 0;
    for (unsigned at = 0; at < 32; at += bits) {
        int64_t v = pt_integer_packed_one(pt_integer_part(a, at, bits, is_signed),
                                          pt_integer_part(b, at, bits, is_signed), op);
        if (saturates)
            v = v < least ? least : v > most ? most : v;
        result |= (uint32_t)(((uint64_t)v & ((UINT64_C(1) << bits) - 1)) << at);
    }
    return result;
}

/* ---- bits: counted, found, moved (9.7.1.14 to 9.7.1.23) -------------------------------------- */

/* Counts are written with arithmetic instead of builtins where a host has no vector form of
 * them. */
PT_LANE uint32_t pt_integer_popc32(uint32_t x)
{
    x -= x >> 1 & 0x55555555;
    x = (x & 0x33333333) + (x >> 2 & 0x33333333);
    x = (x + (x >> 4)) & 0x0f0f0f0f;
    return x * 0x01010101u >> 24;
}

PT_LANE uint32_t pt_integer_popc64(uint64_t x)
{
    return pt_integer_popc32((uint32_t)x) + pt_integer_popc32((uint32_t)(x >> 32));
}

PT_LANE uint32_t pt_integer_clz32(uint32_t x)
{
    x |= x >> 1;
    x |= x >> 2;
    x |= x >> 4;
    x |= x >> 8;
    x |= x >> 16;
    return pt_integer_popc32(~x);
}

PT_LANE uint32_t pt_integer_clz64(uint64_t x)
{
    uint32_t hi = (uint32_t)(x >> 32);
    return hi ? pt_integer_clz32(hi) : 32 + pt_integer_clz32((uint32_t)x);
}

PT_LANE uint32_t pt_integer_brev32(uint32_t x)
{
    x = (x >> 1 & 0x55555555) | (x & 0x55555555) << 1;
    x = (x >> 2 & 0x33333333) | (x & 0x33333333) << 2;
    x = (x >> 4 & 0x0f0f0f0f) | (x & 0x0f0f0f0f) << 4;
    x = (x >> 8 & 0x00ff00ff) | (x & 0x00ff00ff) << 8;
    return x >> 16 | x << 16;
}

PT_LANE uint64_t pt_integer_brev64(uint64_t x)
{
    return (uint64_t)pt_integer_brev32((uint32_t)x) << 32 | pt_integer_brev32((uint32_t)(x >> 32));
}

/* bfind: the position of the highest one (signed: of the highest bit that differs from the sign),
 * all ones if there is none; .shiftamt: the left shift that brings it to the top. */
PT_LANE uint32_t pt_integer_bfind32(uint32_t x, bool is_signed, bool shiftamt)
{
    if (is_signed)
        x ^= (uint32_t)((int32_t)x >> 31);
    uint32_t n = pt_integer_clz32(x);
    return x == 0 ? UINT32_MAX : shiftamt ? n : 31 - n;
}

PT_LANE uint32_t pt_integer_bfind64(uint64_t x, bool is_signed, bool shiftamt)
{
    if (is_signed)
        x ^= (uint64_t)((int64_t)x >> 63);
    uint32_t n = pt_integer_clz64(x);
    return x == 0 ? UINT32_MAX : shiftamt ? n : 63 - n;
}

/* bfe: `len` bits from bit `pos`. The signed form extends from the field's top bit, or from the
 * sign of the source where the field reaches beyond it. The 32-bit form reads the low byte of pos
 * and len, the 64-bit form all of them. */
PT_LANE uint64_t pt_integer_bfe64(uint64_t a, uint32_t pos, uint32_t len, bool is_signed)
{
    uint64_t end = (uint64_t)pos + len;
    uint32_t top = end < 64 ? (uint32_t)(end - 1) & 63 : 63;
    uint64_t fill = is_signed && len ? -(a >> top & 1) : 0;
    uint64_t keep = len > 63 ? ~0ull : (1ull << (len & 63)) - 1;
    keep &= pt_lane_shr64(~0ull, pos);
    return (pt_lane_shr64(a, pos) & keep) | (fill & ~keep);
}

PT_LANE uint32_t pt_integer_bfe32(uint32_t a, uint32_t pos, uint32_t len, bool is_signed)
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
PT_LANE uint32_t pt_integer_bfi32(uint32_t a, uint32_t b, uint32_t pos, uint32_t len)
{
    pos &= 255;
    len &= 255;
    uint32_t mask = pt_lane_shl(len > 31 ? ~0u : (1u << (len & 31)) - 1, pos);
    return (pt_lane_shl(a, pos) & mask) | (b & ~mask);
}

PT_LANE uint64_t pt_integer_bfi64(uint64_t a, uint64_t b, uint32_t pos, uint32_t len)
{
    uint64_t mask = pt_lane_shl64(len > 63 ? ~0ull : (1ull << (len & 63)) - 1, pos);
    return (pt_lane_shl64(a, pos) & mask) | (b & ~mask);
}

/* bmsk: `len` ones from bit `pos`; .clamp cuts both at 32, .wrap takes them modulo 32. */
PT_LANE uint32_t pt_integer_bmsk(uint32_t pos, uint32_t len, bool wrap)
{
    if (wrap) {
        pos &= 31;
        len &= 31;
    }
    return pt_lane_shl(len > 31 ? ~0u : (1u << (len & 31)) - 1, pos);
}

/* szext: a cut to `n` bits, then extended by zero or sign. */
PT_LANE uint32_t pt_integer_szext(uint32_t a, uint32_t n, bool is_signed, bool wrap)
{
    if (wrap)
        n &= 31;
    uint32_t keep = n > 31 ? ~0u : (1u << (n & 31)) - 1;
    uint32_t fill = is_signed && n && n < 32 ? -(a >> ((n - 1) & 31) & 1) : 0;
    return (a & keep) | (fill & ~keep);
}

/* fns (PTX ISA 9.7.1.17): the n-th set bit of mask from `base` on, upward for n > 0, downward for n
 * < 0; n = 0: base itself if it is set. All ones if there is none. */
PT_LANE uint32_t pt_integer_fns(uint32_t mask, uint32_t base, int32_t n)
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

#endif
