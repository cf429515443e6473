/* Video instructions of one lane (PTX ISA 9.7.18).
 *
 * One function computes all of them from a description of the form: parts of a and b, sign- or
 * zero-extended, are combined exactly, saturated, and then added to c, compared with it or merged
 * into it. The scalar instructions have one part.
 *
 * Hopper has no such instructions: the assembler expands them, and the scalar ones not quite as the
 * manual says. What is computed here is what the expansions compute; comments say where they
 * differ.
 */
#ifndef PTERA_BACKEND_SEMANTICS_VIDEO_H
#define PTERA_BACKEND_SEMANTICS_VIDEO_H

#include "backend/semantics/lane.h"

enum { PT_VIDEO_PARTS = 4 };

enum pt_video_op {
    PT_VIDEO_ADD,
    PT_VIDEO_SUB,
    PT_VIDEO_ABSDIFF,
    PT_VIDEO_AVRG,
    PT_VIDEO_MIN,
    PT_VIDEO_MAX,
    PT_VIDEO_SHL,
    PT_VIDEO_SHR,
    PT_VIDEO_SET,
    PT_VIDEO_MAD
};

enum pt_video_cmp { PT_VIDEO_EQ, PT_VIDEO_NE, PT_VIDEO_LT, PT_VIDEO_LE, PT_VIDEO_GT, PT_VIDEO_GE };

/* What happens with c. Without c it merges all 32 bits. */
enum pt_video_then { PT_VIDEO_THEN_MERGE, PT_VIDEO_THEN_ADD, PT_VIDEO_THEN_MIN, PT_VIDEO_THEN_MAX };

struct pt_video {
    uint8_t op;                /* enum pt_video_op */
    uint8_t cmp;               /* SET: enum pt_video_cmp */
    uint8_t then;              /* enum pt_video_then */
    uint8_t parts;             /* 1, 2, 4 */
    uint8_t mask;              /* a bit for each part that is used */
    uint8_t a[PT_VIDEO_PARTS]; /* lowest bit of each part in the 64 bits b:a */
    uint8_t b[PT_VIDEO_PARTS];
    uint8_t d[PT_VIDEO_PARTS];      /* in d */
    uint8_t a_bits, b_bits, d_bits; /* of a part */
    uint8_t shift;                  /* MAD: .shr7, .shr15 */
    bool in_place;                  /* d gets the bits of the result that lie where it is written */
    bool a_signed, b_signed, d_signed;
    bool sat, wrap;
    bool plus_one, minus_product, minus_c; /* MAD: .po, -a or -b but not both, -c */
};

PT_LANE int64_t pt_video_part(uint64_t ba, unsigned at, unsigned bits, bool is_signed)
{
    uint64_t v = ba >> at << (64 - bits);
    return is_signed ? (int64_t)v >> (64 - bits) : (int64_t)(v >> (64 - bits));
}

PT_LANE int64_t pt_video_clamp(int64_t v, unsigned bits, bool is_signed)
{
    int64_t one = 1, low = is_signed ? -(one << (bits - 1)) : 0,
            high = (one << (bits - is_signed)) - 1;
    return v < low ? low : v > high ? high : v;
}

PT_LANE bool pt_video_test(unsigned cmp, int64_t a, int64_t b)
{
    switch (cmp) {
    case PT_VIDEO_EQ:
        return a == b;
    case PT_VIDEO_NE:
        return a != b;
    case PT_VIDEO_LT:
        return a < b;
    case PT_VIDEO_LE:
        return a <= b;
    case PT_VIDEO_GT:
        return a > b;
    default:
        return a >= b;
    }
}

/* The operation on a pair of parts, exact (shifts to the left: the low 64 bits). */
PT_LANE int64_t pt_video_combine(const struct pt_video *k, int64_t a, int64_t b)
{
    unsigned count = (unsigned)(k->wrap ? b & 31 : b > 32 ? 32 : b);
    switch (k->op) {
    case PT_VIDEO_ADD:
        return a + b;
    case PT_VIDEO_SUB:
        return a - b;
    case PT_VIDEO_ABSDIFF:
        return a > b ? a - b : b - a;
    case PT_VIDEO_AVRG:
        return (a + b + (a + b >= 0)) >> 1;
    case PT_VIDEO_MIN:
        return a < b ? a : b;
    case PT_VIDEO_MAX:
        return a > b ? a : b;
    case PT_VIDEO_SHL:
        return (int64_t)((uint64_t)a << count);
    case PT_VIDEO_SHR:
        return a >> count;
    default:
        return pt_video_test(k->cmp, a, b);
    }
}

PT_LANE bool pt_video_is_shift(const struct pt_video *k)
{
    return k->op == PT_VIDEO_SHL || k->op == PT_VIDEO_SHR;
}

/* .sat. Shifts count 34 bits and are clamped to 32 whatever part of d is written. The other scalar
 * ones are not clamped from above to u32, and where they write a part of d a negative value becomes
 * the greatest one. */
PT_LANE int64_t pt_video_saturate(const struct pt_video *k, int64_t v)
{
    if (pt_video_is_shift(k))
        return pt_video_clamp((int64_t)((uint64_t)v << 30) >> 30, 32, k->d_signed);
    if (k->parts > 1 || (k->d_bits == 32 && k->d_signed))
        return pt_video_clamp(v, k->d_bits, k->d_signed);
    if (k->d_bits == 32)
        return v < 0 ? 0 : v;
    int64_t max = (1ll << (k->d_bits - k->d_signed)) - 1;
    return (uint64_t)v > (uint64_t)max ? max : v;
}

/* The smaller or larger of a scalar result and c, as 64 bits in the signedness of the type: sums,
 * differences and saturated shifts are cut to 32 bits and sign-extended first, for u32 too. */
PT_LANE uint32_t pt_video_pick(const struct pt_video *k, int64_t v, uint32_t c)
{
    bool is_cut =
        k->op == PT_VIDEO_ADD || k->op == PT_VIDEO_SUB || (pt_video_is_shift(k) && k->sat);
    int64_t t = is_cut ? (int32_t)v : v, with = k->d_signed ? (int32_t)c : (int64_t)c;
    bool above = k->d_signed ? t > with : (uint64_t)t > (uint64_t)with;
    return above == (k->then == PT_VIDEO_THEN_MAX) ? (uint32_t)t : c;
}

/* a, b and c count as s32 whatever their types, once parts are extended. The types decide whether
 * the result is signed. */
PT_LANE uint32_t pt_video_mad(const struct pt_video *k, uint64_t ba, uint32_t c)
{
    int32_t a = (int32_t)pt_video_part(ba, k->a[0], k->a_bits, k->a_signed);
    int32_t b = (int32_t)pt_video_part(ba, k->b[0], k->b_bits, k->b_signed);
    int64_t product = (int64_t)a * b, add = (int32_t)c;
    int64_t v = (k->minus_product ? -product : product) + (k->minus_c ? -add : add) + k->plus_one;
    v = k->d_signed ? v >> k->shift : (int64_t)((uint64_t)v >> k->shift);
    return (uint32_t)(k->sat ? pt_video_clamp(v, 32, k->d_signed) : v);
}

PT_LANE uint32_t pt_video(const struct pt_video *k, uint32_t a, uint32_t b, uint32_t c)
{
    uint64_t ba = (uint64_t)b << 32 | a;
    if (k->op == PT_VIDEO_MAD)
        return pt_video_mad(k, ba, c);
    uint32_t merged = c, sum = c;
    for (unsigned i = 0; i < k->parts; i++) {
        if (!(k->mask >> i & 1))
            continue;
        int64_t x = pt_video_part(ba, k->a[i], k->a_bits, k->a_signed);
        int64_t y = pt_video_part(ba, k->b[i], k->b_bits, k->b_signed);
        int64_t v = pt_video_combine(k, x, y);
        v = k->sat ? pt_video_saturate(k, v) : v;
        if (k->then == PT_VIDEO_THEN_MIN || k->then == PT_VIDEO_THEN_MAX)
            return pt_video_pick(k, v, c);
        uint32_t field = UINT32_MAX >> (32 - k->d_bits) << k->d[i];
        uint32_t placed = k->in_place ? (uint32_t)v : (uint32_t)v << k->d[i];
        merged = (merged & ~field) | (placed & field);
        sum += (uint32_t)v;
    }
    return k->then == PT_VIDEO_THEN_ADD ? sum : merged;
}

#endif
