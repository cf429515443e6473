/* Samples of one texture by vectors (wide.h): the arithmetic of texture.c in f32 and integers of 32
 * bits, for most of what comes. Lanes with an infinity or a NaN among texels that are filtered are
 * left to texture.c, and so are textures of more than 2 GiB.
 *
 * What makes it exact: positions are integers below 2^30 and half a unit more is looked at, not
 * added; a normalised coordinate of F bits is multiplied by the size in two parts, of 11 lower bits
 * and the others; a sum of f32 texels is one of integers of 28 bits by weights of 9, in f64, and a
 * last bit more makes its rounding to nearest that of halves away from zero. */
#ifndef PTERA_BACKEND_SEMANTICS_TEXTURE_WIDE_H
#define PTERA_BACKEND_SEMANTICS_TEXTURE_WIDE_H

#include "backend/semantics/texture.h"
#include "backend/semantics/wide.h"

#ifdef PT_WIDE

#if defined(__clang__)
#define PT_TEXTURE_UNROLL _Pragma("clang loop unroll(full)")
#else
#define PT_TEXTURE_UNROLL _Pragma("GCC unroll 8")
#endif

enum { PT_TEXTURE_LANES = 32, PT_TEXTURE_LOWER_BITS = 11 };

struct pt_texture_wide_axis {
    uint32_t size;
    enum pt_texture_address mode; /* as it is in effect */
    bool is_normalized;
    int bits; /* of a normalised coordinate's fraction */
};

/* Of an axis: two texels by their numbers (of all ones: outside), and the upper one's weight. */
struct pt_texture_wide_span {
    uint32_t at[2][PT_TEXTURE_LANES], upper[PT_TEXTURE_LANES];
};

/* Samples of a warp, from one step to the next: positions, texels (words of `n`, x fastest). What
 * the hardware has no axis for is not looked at, but that layers are the third one. */
struct pt_texture_wide {
    struct pt_texture_wide_span span[PT_TEXTURE_AXES] __attribute__((aligned(64)));
    uint32_t texel[PT_TEXTURE_TEXELS][PT_TEXTURE_CHANNELS][PT_TEXTURE_LANES];
    const struct pt_texture *texture;
    unsigned axes, n;
    bool has_y, has_z;
    const uint32_t *border; /* the texel of what lies outside; NULL: nothing does */
};

/* Where a vector lies. */
#define PT_TEXTURE_WIDE(words) (*(pt_wide *)(words))
#define PT_TEXTURE_WIDE_CONST(words) (*(const pt_wide *)(words))

/* ---- positions ------------------------------------------------------------------------------- */

/* To the nearest integer, halves upwards. */
PT_LANE pt_wide pt_texture_wide_round(pt_wide_f32 v)
{
    pt_wide_f32 whole = pt_wide_floor(v);
    pt_wide_mask is_below = pt_wide_is_less_f32(v - whole, pt_wide_all_f32(0.5f));
    pt_wide up = pt_wide_trunc(whole) + 1;
    return pt_wide_select(is_below, up - 1, up);
}

/* Subnormal numbers and NaNs are 0. */
PT_LANE pt_wide_f32 pt_texture_wide_flush(pt_wide bits)
{
    pt_wide magnitude = bits & 0x7fffffff;
    pt_wide_mask is_none = pt_wide_is_less(magnitude, pt_wide_all(0x00800000)) |
                           pt_wide_is_less(pt_wide_all(0x7f800000), magnitude);
    return (pt_wide_f32)pt_wide_unless(is_none, bits);
}

PT_LANE pt_wide_f32 pt_texture_wide_limit(pt_wide_f32 x, float least, float most)
{
    return pt_wide_min(pt_wide_max(x, pt_wide_all_f32(least)), pt_wide_all_f32(most));
}

/* A normalised coordinate in units of 2^-bits: of a period, or as far as it is told from others. */
PT_LANE pt_wide pt_texture_wide_units(const struct pt_texture_wide_axis *a, pt_wide_f32 x)
{
    float unit = (float)(1 << a->bits);
    if (a->mode == PT_TEXTURE_CLAMP || a->mode == PT_TEXTURE_BORDER)
        return pt_wide_trunc(pt_wide_floor(pt_texture_wide_limit(x, -1, 2) * unit));
    float period = a->mode == PT_TEXTURE_WRAP ? unit : 2 * unit;
    pt_wide_f32 q = pt_wide_floor(x * unit);
    q -= pt_wide_floor(q * (1 / period)) * period;
    pt_wide_mask is_far =
        pt_wide_is_less(pt_wide_all(0x4b7fffff), (pt_wide)x & 0x7fffffff); /* 2^24, and more */
    return pt_wide_trunc((pt_wide_f32)pt_wide_unless(is_far, (pt_wide)q));
}

/* In texels, or in 256ths of them where it is linear, of which half a texel is taken. */
PT_LANE pt_wide pt_texture_wide_position(const struct pt_texture_wide_axis *a, bool is_linear,
                                         pt_wide bits)
{
    pt_wide_f32 x = pt_texture_wide_flush(bits);
    if (!a->is_normalized) {
        x = pt_texture_wide_limit(x, -2, (float)a->size + 2);
        return is_linear ? pt_texture_wide_round(x * 256) - 128 : pt_wide_trunc(pt_wide_floor(x));
    }
    int shift = a->bits - PT_TEXTURE_LOWER_BITS - (is_linear ? 8 : 0);
    uint32_t half = is_linear ? 1u << (a->bits - 9) : 0;
    pt_wide units = pt_texture_wide_units(a, x);
    pt_wide lower = (units & ((1 << PT_TEXTURE_LOWER_BITS) - 1)) * a->size + half;
    pt_wide upper = pt_wide_sar(units, PT_TEXTURE_LOWER_BITS) * a->size;
    pt_wide p = pt_wide_sar(upper + pt_wide_sar(lower, PT_TEXTURE_LOWER_BITS), shift);
    return is_linear ? p - 128 : p;
}

/* Periodic ones are of one period, and at most one beside it. */
PT_LANE pt_wide pt_texture_wide_index(const struct pt_texture_wide_axis *a, pt_wide i)
{
    pt_wide zero = {0}, size = pt_wide_all(a->size);
    switch (a->mode) {
    case PT_TEXTURE_WRAP:
        i = pt_wide_min_u32(i, i + size);
        return pt_wide_min_u32(i, i - size);
    case PT_TEXTURE_MIRROR:
        return pt_wide_max_s32(pt_wide_min_s32(i, 2 * size - 1 - i), zero);
    case PT_TEXTURE_BORDER: {
        pt_wide_mask is_outside = pt_wide_is_less(i, zero) | pt_wide_is_less(size - 1, i);
        return pt_wide_select(is_outside, pt_wide_all(UINT32_MAX), i);
    }
    default:
        return pt_wide_min_s32(pt_wide_max_s32(i, zero), size - 1);
    }
}

/* Coordinates of a warp (NULL: zeros) along an axis. */
PT_LANE void pt_texture_wide_locate(const struct pt_texture_wide_axis *a, bool is_linear,
                                    const uint32_t *coordinate, struct pt_texture_wide_span *span)
{
    for (uint32_t i = 0; i < PT_TEXTURE_LANES; i += PT_WIDE) {
        pt_wide bits = coordinate ? PT_TEXTURE_WIDE_CONST(coordinate + i) : (pt_wide){0};
        pt_wide p = pt_texture_wide_position(a, is_linear, bits);
        if (!is_linear) {
            PT_TEXTURE_WIDE(span->at[0] + i) = pt_texture_wide_index(a, p);
            continue;
        }
        if (a->mode == PT_TEXTURE_CLAMP)
            p = pt_wide_min_s32(pt_wide_max_s32(p, (pt_wide){0}), pt_wide_all((a->size - 1) * 256));
        PT_TEXTURE_WIDE(span->upper + i) = p & 255;
        p = pt_wide_sar(p, 8);
        PT_TEXTURE_WIDE(span->at[0] + i) = pt_texture_wide_index(a, p);
        PT_TEXTURE_WIDE(span->at[1] + i) = pt_texture_wide_index(a, p + 1);
    }
}

/* Whole coordinates, or layers: beyond the size lies the last one where it is clamped, or none. */
PT_LANE void pt_texture_wide_locate_whole(uint32_t size, bool is_clamped,
                                          const uint32_t *coordinate,
                                          struct pt_texture_wide_span *span)
{
    pt_wide last = pt_wide_all(size - 1);
    for (uint32_t i = 0; i < PT_TEXTURE_LANES; i += PT_WIDE) {
        pt_wide at = PT_TEXTURE_WIDE_CONST(coordinate + i), least = pt_wide_min_u32(at, last);
        if (!is_clamped)
            least = pt_wide_select(pt_wide_is_equal(at, least), at, pt_wide_all(UINT32_MAX));
        PT_TEXTURE_WIDE(span->at[0] + i) = PT_TEXTURE_WIDE(span->at[1] + i) = least;
    }
}

/* ---- samples --------------------------------------------------------------------------------- */

/* True if all texels lie within 2 GiB. */
PT_LANE bool pt_texture_wide_is_small(const struct pt_texture *t)
{
    const uint64_t most = 1u << 31;
    uint64_t slices = t->layers ? t->layers : t->size[2];
    return t->slice < most && t->pitch < most &&
           (uint64_t)(t->size[0] - 1) * t->texel_bytes + (t->size[1] - 1) * t->pitch +
                   (slices - 1) * t->slice <
               most - 16;
}

/* What texture.c has to do: faces, levels, layers that there are not, sRGB, blocks, 10-10-10-2,
 * linear memory by other than integers (it has no such texels), filters of integers, and of f16 and
 * f32 in three dimensions. */
PT_LANE bool pt_texture_wide_is_known(const struct pt_texture *t, bool is_whole)
{
    bool is_float = t->texel == PT_TEXEL_F16 || t->texel == PT_TEXEL_F32;
    if (t->is_cube || t->n_levels != 1 || t->is_srgb || t->block || t->texel > PT_TEXEL_SNORM16 ||
        t->layers > t->slices)
        return false;
    if (is_whole)
        return t->layers || (t->axes == 1) == (t->memory == PT_TEXTURE_LINEAR);
    return t->memory != PT_TEXTURE_LINEAR &&
           (!t->is_linear || (t->texel >= PT_TEXEL_F16 && !(is_float && t->axes == 3)));
}

/* The positions of a warp's samples; false where texture.c has to do them. `is_whole`: coordinates
 * are integers. `layer` is NULL where there are none. */
PT_LANE bool pt_texture_wide_begin(struct pt_texture_wide *w, const struct pt_texture *t,
                                   bool is_whole, const uint32_t *const *coordinate,
                                   const uint32_t *layer)
{
    static const uint32_t nothing[PT_TEXTURE_CHANNELS];
    if (!pt_texture_wide_is_known(t, is_whole) || !pt_texture_wide_is_small(t))
        return false;
    w->texture = t;
    w->axes = t->axes;
    w->border = is_whole ? nothing : NULL;
    /* in one dimension without layers there is a y, which matters where there is a border */
    w->axes += !is_whole && t->axes == 1 && !t->layers && t->is_linear &&
               t->address[1] == PT_TEXTURE_BORDER;
    w->has_y = w->axes > 1;
    w->has_z = w->axes > 2 || t->layers;
    w->n = t->is_linear && !is_whole ? 1u << w->axes : 1;
    for (unsigned i = 0; i < w->axes; i++) {
        enum pt_texture_address mode = t->address[i];
        const struct pt_texture_wide_axis a = {t->size[i], mode, t->is_normalized,
                                               pt_texture_fraction_bits(t)};
        const uint32_t *c = i < t->axes ? coordinate[i] : NULL;
        if (is_whole)
            pt_texture_wide_locate_whole(t->size[i], false, c, &w->span[i]);
        else if (t->is_linear)
            pt_texture_wide_locate(&a, true, c, &w->span[i]);
        else
            pt_texture_wide_locate(&a, false, c, &w->span[i]);
        if (!is_whole && mode == PT_TEXTURE_BORDER)
            w->border = t->border;
    }
    if (t->layers)
        pt_texture_wide_locate_whole(t->layers, !is_whole, layer, &w->span[2]);
    return true;
}

/* The parts of offsets that an axis makes, and whether a texel lies outside. */
PT_LANE void pt_texture_wide_step(const struct pt_texture_wide_span *span, unsigned n, uint32_t i,
                                  uint64_t bytes, pt_wide *at, pt_wide *outside)
{
    PT_TEXTURE_UNROLL for (unsigned k = 0; k < n; k++)
    {
        outside[k] = PT_TEXTURE_WIDE_CONST(span->at[k] + i);
        at[k] = outside[k] * (uint32_t)bytes;
    }
}

/* Reads n texels of `words` words (0: less than one) for lanes from `i` on: touches the program's
 * memory. */
PT_LANE void pt_texture_wide_gather(struct pt_texture_wide *w, unsigned n, unsigned words,
                                    uint32_t i)
{
    const struct pt_texture *t = w->texture;
    const char *texels = (const char *)(uintptr_t)t->texels;
    const unsigned each = words ? words : 1;
    pt_wide x[2], y[2] = {{0}}, z[2] = {{0}}, beside[2], above[2] = {{0}}, behind[2] = {{0}};
    pt_texture_wide_step(&w->span[0], n > 1 ? 2 : 1, i, t->texel_bytes, x, beside);
    if (w->has_y)
        pt_texture_wide_step(&w->span[1], n > 2 ? 2 : 1, i, t->pitch, y, above);
    if (w->has_z)
        pt_texture_wide_step(&w->span[2], n > 4 ? 2 : 1, i, t->slice, z, behind);
    PT_TEXTURE_UNROLL for (unsigned k = 0; k < n; k++)
    {
        pt_wide at = x[k & 1] + y[k >> 1 & 1] + z[k >> 2];
        pt_wide outside = beside[k & 1] | above[k >> 1 & 1] | behind[k >> 2];
        pt_wide_mask is_outside = pt_wide_is_less(outside, (pt_wide){0});
        if (w->border)
            at = pt_wide_unless(is_outside, at);
        PT_TEXTURE_UNROLL for (unsigned word = 0; word < each; word++)
        {
            /* what is less than a word, in whole ones, which lie in one page */
            pt_wide v = words ? pt_wide_gather(texels + 4 * word, at)
                              : pt_wide_shr(pt_wide_gather(texels, at & ~3u), (at & 3) * 8);
            if (w->border)
                v = pt_wide_select(is_outside, pt_wide_all(w->border[word]), v);
            PT_TEXTURE_WIDE(w->texel[k][word] + i) = v;
        }
    }
}

#endif
#endif
