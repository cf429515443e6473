/* What becomes of texels, by vectors: texture_wide.h has read them. */
#ifndef PTERA_BACKEND_SEMANTICS_TEXTURE_FILTER_WIDE_H
#define PTERA_BACKEND_SEMANTICS_TEXTURE_FILTER_WIDE_H

#include "backend/semantics/texture_wide.h"

#ifdef PT_WIDE

/* ---- texels ---------------------------------------------------------------------------------- */

PT_LANE pt_wide pt_texture_wide_half(pt_wide h)
{
    pt_wide m = h & 0x7fff, u = (m << 13) + (112u << 23);
    u |= pt_wide_select(pt_wide_is_less(m, pt_wide_all(0x7c00)), (pt_wide){0},
                        pt_wide_all(0x7f800000));
    pt_wide small = (pt_wide)(pt_wide_to_f32(m) * 0x1p-24f);
    u = pt_wide_select(pt_wide_is_less(m, pt_wide_all(0x400)), small, u);
    return u | (h & 0x8000) << 16;
}

/* Channel k of texel `n` of lanes from `i` on, widened; normalised ones as integers. */
PT_LANE pt_wide pt_texture_wide_channel(const struct pt_texture_wide *w, enum pt_texel kind,
                                        unsigned n, unsigned k, uint32_t i)
{
    const uint32_t(*texel)[PT_TEXTURE_LANES] = w->texel[n];
    pt_wide byte = PT_TEXTURE_WIDE_CONST(texel[0] + i) >> (k % 4 * 8),
            both = PT_TEXTURE_WIDE_CONST(texel[k / 2] + i) >> (k % 2 * 16);
    switch (kind) {
    case PT_TEXEL_U8:
    case PT_TEXEL_UNORM8:
        return byte & 0xff;
    case PT_TEXEL_S8:
    case PT_TEXEL_SNORM8:
        return pt_wide_sar(byte << 24, 24);
    case PT_TEXEL_U16:
    case PT_TEXEL_UNORM16:
        return both & 0xffff;
    case PT_TEXEL_S16:
    case PT_TEXEL_SNORM16:
        return pt_wide_sar(both << 16, 16);
    case PT_TEXEL_F16:
        return pt_texture_wide_half(both & 0xffff);
    default:
        return PT_TEXTURE_WIDE_CONST(texel[k] + i);
    }
}

/* n / most, rounded; n no less than -most. */
PT_LANE pt_wide pt_texture_wide_ratio(pt_wide n, uint32_t most)
{
    const struct pt_texture_ratio by = pt_texture_ratio_of(most);
    pt_wide_f32 f = pt_wide_to_f32(pt_wide_max_s32(n, pt_wide_all(-most)));
    return (pt_wide)pt_wide_fma(f, pt_wide_all_f32(by.first), f * by.rest);
}

PT_LANE pt_wide pt_texture_wide_normalize(enum pt_texel kind, pt_wide value)
{
    switch (kind) {
    case PT_TEXEL_UNORM8:
        return pt_texture_wide_ratio(value, 255);
    case PT_TEXEL_UNORM16:
        return pt_texture_wide_ratio(value, 65535);
    case PT_TEXEL_SNORM8:
        return pt_texture_wide_ratio(value, 127);
    case PT_TEXEL_SNORM16:
        return pt_texture_wide_ratio(value, 32767);
    default:
        return value;
    }
}

/* Texels as they are, for lanes from `i` on. */
PT_LANE void pt_texture_wide_take(const struct pt_texture_wide *w, uint32_t i,
                                  uint32_t (*result)[PT_TEXTURE_LANES])
{
    enum pt_texel kind = w->texture->texel;
    for (unsigned k = 0; k < w->texture->n_channels; k++)
        PT_TEXTURE_WIDE(result[k] + i) =
            pt_texture_wide_normalize(kind, pt_texture_wide_channel(w, kind, 0, k, i));
}

/* ---- filtering ------------------------------------------------------------------------------- */

PT_LANE pt_wide pt_texture_wide_split(pt_wide part, pt_wide by)
{
    return (pt_wide_madd(part, by) + 128) >> 8;
}

/* Of the four texels of a plane. */
PT_LANE void pt_texture_wide_weigh_plane(pt_wide lower, pt_wide upper, pt_wide b, pt_wide *weight)
{
    weight[3] = pt_texture_wide_split(upper, b);
    weight[1] = upper - weight[3];
    weight[0] = pt_texture_wide_split(lower, 256 - b);
    weight[2] = lower - weight[0];
}

/* Of n texels, of lanes from `i` on. */
PT_LANE void pt_texture_wide_weigh(const struct pt_texture_wide *w, unsigned n, uint32_t i,
                                   pt_wide *weight)
{
    pt_wide a = PT_TEXTURE_WIDE_CONST(w->span[0].upper + i);
    weight[0] = 256 - a; /* of 256, `a` is split as it is */
    weight[1] = a;
    if (n == 2)
        return;
    pt_wide b = PT_TEXTURE_WIDE_CONST(w->span[1].upper + i);
    if (n == 4) {
        pt_texture_wide_weigh_plane(weight[0], a, b, weight);
        return;
    }
    pt_wide c = PT_TEXTURE_WIDE_CONST(w->span[2].upper + i);
    pt_wide lower = pt_texture_wide_split(256 - c, a), upper = pt_texture_wide_split(c, a);
    pt_texture_wide_weigh_plane(256 - c - lower, lower, b, weight);
    pt_texture_wide_weigh_plane(c - upper, upper, b, weight + 4);
}

PT_LANE pt_wide pt_texture_wide_widen_s8(pt_wide sum)
{
    return pt_wide_sar(8 * sum + pt_wide_sar(sum, 4) + pt_wide_sar(sum, 12) + 4, 3);
}

/* Bytes: sums of all four channels in halves of two vectors. */
PT_LANE void pt_texture_wide_filter_bytes(struct pt_texture_wide *w, bool is_signed, unsigned n,
                                          uint32_t i, const pt_wide *weight,
                                          uint32_t (*result)[PT_TEXTURE_LANES])
{
    pt_wide_u16 even = {0}, odd = {0};
    PT_TEXTURE_UNROLL for (unsigned k = 0; k < n; k++)
    {
        pt_wide t = PT_TEXTURE_WIDE(w->texel[k][0] + i);
        pt_wide_u16 by = (pt_wide_u16)(weight[k] | weight[k] << 16);
        if (is_signed) {
            even += by * (pt_wide_u16)((pt_wide_i16)(t << 8) >> 8);
            odd += by * (pt_wide_u16)((pt_wide_i16)t >> 8);
        } else {
            even += by * (pt_wide_u16)(t & 0x00ff00ff);
            odd += by * (pt_wide_u16)(t >> 8 & 0x00ff00ff);
        }
    }
    for (unsigned k = 0; k < w->texture->n_channels; k++) {
        pt_wide both = (pt_wide)(k & 1 ? odd : even), sum = k & 2 ? both : both << 16;
        if (is_signed) {
            sum = pt_texture_wide_widen_s8(pt_wide_sar(sum, 16));
            PT_TEXTURE_WIDE(result[k] + i) = pt_texture_wide_ratio(sum, 32767);
        } else {
            sum >>= 16;
            PT_TEXTURE_WIDE(result[k] + i) = pt_texture_wide_ratio(sum + ((sum + 128) >> 8), 65535);
        }
    }
}

PT_LANE pt_wide pt_texture_wide_weighted(unsigned n, const pt_wide *value, const pt_wide *weight)
{
    pt_wide sum = {0};
    PT_TEXTURE_UNROLL for (unsigned i = 0; i < n; i++) sum += value[i] * weight[i];
    return sum;
}

/* What a sum of zero is: the sign that all texels have which take part. */
PT_LANE pt_wide pt_texture_wide_zero(const struct pt_texture_wide *w, unsigned n, uint32_t lane,
                                     const pt_wide *value)
{
    pt_wide sign = value[0], zero = {0}, all = pt_wide_all(UINT32_MAX);
    PT_TEXTURE_UNROLL for (unsigned i = 1; i < n; i++)
    {
        pt_wide v = value[i];
        PT_TEXTURE_UNROLL for (unsigned k = 0; k < 2; k++)
        {
            pt_wide upper = PT_TEXTURE_WIDE_CONST(w->span[k].upper + lane);
            if (i >> k & 1)
                v = pt_wide_select(pt_wide_is_equal(upper, zero), all, v);
        }
        sign &= v;
    }
    return sign & 0x80000000;
}

/* Texels as integers in units of 2^(exponent - 127 - finest), and that exponent. */
PT_LANE pt_wide pt_texture_wide_align(unsigned n, unsigned finest, const pt_wide *value,
                                      const pt_wide *weight, pt_wide *aligned)
{
    pt_wide most = {0}, zero = {0}, exponent[PT_TEXTURE_TEXELS];
    PT_TEXTURE_UNROLL for (unsigned i = 0; i < n; i++)
    {
        exponent[i] = value[i] << 1 >> 24;
        pt_wide_mask is_none = pt_wide_is_equal(weight[i], zero);
        most = pt_wide_max_s32(most, pt_wide_unless(is_none, exponent[i]));
    }
    PT_TEXTURE_UNROLL for (unsigned i = 0; i < n; i++)
    {
        pt_wide m = (value[i] & 0x7fffff) | 0x800000, sign = pt_wide_sar(value[i], 31);
        m = pt_wide_unless(pt_wide_is_equal(exponent[i], zero), m);
        m = finest > 23 ? pt_wide_shr(m << (finest - 23), most - exponent[i])
                        : pt_wide_shr(m, most - exponent[i] + (23 - finest));
        aligned[i] = (m ^ sign) - sign;
    }
    return most;
}

/* Lanes with infinities and NaNs among the texels. */
PT_LANE pt_wide_mask pt_texture_wide_is_special(unsigned n, const pt_wide *value)
{
    pt_wide most = {0};
    PT_TEXTURE_UNROLL for (unsigned i = 0; i < n; i++) most =
        pt_wide_max_s32(most, value[i] & 0x7fffffff);
    return pt_wide_is_less(pt_wide_all(0x7f7fffff), most);
}

PT_LANE pt_wide pt_texture_wide_filter_f32(const struct pt_texture_wide *w, unsigned n,
                                           uint32_t lane, const pt_wide *value,
                                           const pt_wide *weight)
{
    pt_wide aligned[PT_TEXTURE_TEXELS], tiny = pt_wide_all(0x00800000), zero = {0};
    pt_wide exponent = pt_texture_wide_align(n, 27, value, weight, aligned);
    pt_wide_f64 lower = {0}, upper = {0};
    PT_TEXTURE_UNROLL for (unsigned i = 0; i < n; i++)
    {
        lower = pt_wide_fma_f64(pt_wide_to_f64(aligned[i], 0), pt_wide_to_f64(weight[i], 0), lower);
        upper = pt_wide_fma_f64(pt_wide_to_f64(aligned[i], 1), pt_wide_to_f64(weight[i], 1), upper);
    }
    pt_wide scale = exponent + (1023 - 127 - 27 - 8);
    pt_wide r = (pt_wide)pt_wide_from_f64(lower * pt_wide_above_power(scale, 0),
                                          upper * pt_wide_above_power(scale, 1));
    pt_wide magnitude = r & 0x7fffffff;
    pt_wide_mask is_tiny = pt_wide_is_less(magnitude, tiny);
    if (!pt_wide_bits(is_tiny))
        return r;
    r = pt_wide_unless(is_tiny & ~pt_wide_is_equal(magnitude, zero), r);
    pt_wide sum = (pt_wide)pt_wide_from_f64(lower, upper) & 0x7fffffff;
    return pt_wide_select(pt_wide_is_equal(sum, zero), pt_texture_wide_zero(w, n, lane, value), r);
}

/* To 11 bits, or a multiple of 2^-24, halves away from zero. */
PT_LANE pt_wide pt_texture_wide_round_half(pt_wide bits)
{
    pt_wide magnitude = bits & 0x7fffffff;
    pt_wide small = (pt_wide)((pt_wide_f32)(magnitude + 1) + 0.5f - 0.5f);
    pt_wide normal = (magnitude + 0x1000) & 0xffffe000;
    pt_wide_mask is_small = pt_wide_is_less(magnitude, pt_wide_all(0x38800000));
    return (bits & 0x80000000) | pt_wide_select(is_small, small, normal);
}

PT_LANE pt_wide pt_texture_wide_filter_f16(const struct pt_texture_wide *w, unsigned n,
                                           uint32_t lane, const pt_wide *value,
                                           const pt_wide *weight)
{
    pt_wide aligned[PT_TEXTURE_TEXELS], zero = {0};
    pt_wide exponent = pt_texture_wide_align(n, 14, value, weight, aligned);
    pt_wide sum = pt_texture_wide_weighted(n, aligned, weight);
    pt_wide scale = pt_wide_max_s32(exponent, pt_wide_all(23)) - 22;
    pt_wide r = (pt_wide)(pt_wide_to_f32(sum) * (pt_wide_f32)(scale << 23));
    return pt_wide_select(pt_wide_is_equal(sum, zero), pt_texture_wide_zero(w, n, lane, value),
                          pt_texture_wide_round_half(r));
}

/* One channel's texels. */
PT_LANE pt_wide pt_texture_wide_filter(const struct pt_texture_wide *w, enum pt_texel kind,
                                       unsigned n, uint32_t lane, const pt_wide *value,
                                       const pt_wide *weight)
{
    pt_wide sum;
    switch (kind) {
    case PT_TEXEL_UNORM16:
        sum = pt_texture_wide_weighted(n, value, weight) + 128;
        return pt_texture_wide_ratio(sum >> 8, 65535);
    case PT_TEXEL_SNORM16:
        sum = pt_texture_wide_weighted(n, value, weight) + 128;
        return pt_texture_wide_ratio(pt_wide_sar(sum, 8), 32767);
    case PT_TEXEL_F16:
        return pt_texture_wide_filter_f16(w, n, lane, value, weight);
    default:
        return pt_texture_wide_filter_f32(w, n, lane, value, weight);
    }
}

/* Filters n texels of that kind for lanes from `i` on. Returns those with infinities and NaNs, as
 * bits. */
PT_LANE uint32_t pt_texture_wide_filter_lanes(struct pt_texture_wide *w, enum pt_texel kind,
                                              unsigned n, uint32_t i,
                                              uint32_t (*result)[PT_TEXTURE_LANES])
{
    pt_wide weight[PT_TEXTURE_TEXELS], value[PT_TEXTURE_TEXELS];
    uint32_t left = 0;
    pt_texture_wide_weigh(w, n, i, weight);
    if (kind == PT_TEXEL_UNORM8 || kind == PT_TEXEL_SNORM8) {
        pt_texture_wide_filter_bytes(w, kind == PT_TEXEL_SNORM8, n, i, weight, result);
        return 0;
    }
    for (unsigned k = 0; k < w->texture->n_channels; k++) {
        PT_TEXTURE_UNROLL for (unsigned m = 0; m < n; m++) value[m] =
            pt_texture_wide_channel(w, kind, m, k, i);
        if (kind <= PT_TEXEL_F32)
            left |= pt_wide_bits(pt_texture_wide_is_special(n, value));
        PT_TEXTURE_WIDE(result[k] + i) = pt_texture_wide_filter(w, kind, n, i, value, weight);
    }
    return left;
}

#endif
#endif
