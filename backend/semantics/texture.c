#include "backend/semantics/texture.h"

#include <math.h>
#include <string.h>

#include "backend/semantics/half.h"

enum { FRACTION = 256, GUARD_BITS = 4 };

/* ---- positions ------------------------------------------------------------------------------- */

/* Where a sample falls on one axis: two texels and the upper one's weight. */
struct span {
    int32_t at[2]; /* -1: outside, the border's colour */
    uint32_t upper;
};

int pt_texture_fraction_bits(const struct pt_texture *t)
{
    uint32_t size = t->size[0] > t->size[1] ? t->size[0] : t->size[1];
    size = size > t->size[2] ? size : t->size[2];
    return size <= 1u << 13 ? 21 : size <= 1u << 16 ? 22 : 23;
}

static int32_t clamp(int64_t i, uint32_t size)
{
    return i < 0 ? 0 : i >= size ? (int32_t)(size - 1) : (int32_t)i;
}

enum pt_texture_address pt_texture_address_of(const struct pt_texture *t, int axis)
{
    enum pt_texture_address mode = t->address[axis];
    return mode != PT_TEXTURE_BORDER && !t->is_normalized ? PT_TEXTURE_CLAMP : mode;
}

static int32_t index_of(const struct pt_texture *t, int axis, int64_t i)
{
    int64_t size = t->size[axis];
    enum pt_texture_address mode = pt_texture_address_of(t, axis);
    if (mode == PT_TEXTURE_BORDER)
        return i < 0 || i >= size ? -1 : (int32_t)i;
    if (mode == PT_TEXTURE_CLAMP)
        return clamp(i, t->size[axis]);
    int64_t period = mode == PT_TEXTURE_WRAP ? size : 2 * size;
    i %= period;
    i += i < 0 ? period : 0;
    return (int32_t)(i < size ? i : 2 * size - 1 - i);
}

static double flushed(uint32_t bits)
{
    uint32_t magnitude = bits & 0x7fffffff;
    return magnitude < 0x00800000 || magnitude > 0x7f800000 ? 0 : pt_lane_f32(bits);
}

/* In texels, as far as it is told apart from the ones beside it; 2^40 stands for all beyond. */
static double place(const struct pt_texture *t, int axis, uint32_t bits)
{
    double x = flushed(bits);
    if (t->is_normalized) {
        double unit = ldexp(1, pt_texture_fraction_bits(t));
        bool is_periodic =
            t->address[axis] == PT_TEXTURE_WRAP || t->address[axis] == PT_TEXTURE_MIRROR;
        x = floor(x * unit) / unit;
        if (is_periodic)
            x = isinf(x) ? 0 : x - 2 * floor(x / 2);
        x *= t->size[axis];
    }
    return fmax(fmin(x, 0x1p40), -0x1p40);
}

static struct span span_of(const struct pt_texture *t, int axis, uint32_t bits)
{
    double x = place(t, axis, bits);
    struct span s = {{0, 0}, 0};
    if (!t->is_linear) {
        s.at[0] = index_of(t, axis, (int64_t)floor(x));
        return s;
    }
    int64_t p = (int64_t)floor(x * FRACTION + 0.5) - FRACTION / 2;
    if (pt_texture_address_of(t, axis) == PT_TEXTURE_CLAMP) {
        int64_t last = (int64_t)(t->size[axis] - 1) * FRACTION;
        p = p < 0 ? 0 : p > last ? last : p;
    }
    s.at[0] = index_of(t, axis, p >> 8);
    s.at[1] = index_of(t, axis, (p >> 8) + 1);
    s.upper = (uint32_t)(p & (FRACTION - 1));
    return s;
}

/* ---- texels ---------------------------------------------------------------------------------- */

static uint64_t address_of(const struct pt_texture *t, const struct span *span, uint32_t layer,
                           unsigned i)
{
    int32_t x = span[0].at[i & 1], y = span[1].at[i >> 1 & 1],
            z = t->layers ? (int32_t)layer : span[2].at[i >> 2];
    return x < 0 || y < 0 || z < 0 ? 0
                                   : t->texels + (uint64_t)z * t->slice + (uint64_t)y * t->pitch +
                                         (uint64_t)x * t->texel_bytes;
}

static uint32_t channel_bits(const void *p, unsigned bytes)
{
    uint32_t bits = 0;
    memcpy(&bits, p, bytes);
    return bits;
}

/* One channel as it is read: widened, normalised ones as integers. */
static uint32_t channel_of(enum pt_texel texel, const void *p, unsigned i)
{
    const uint8_t *bytes = p;
    switch (texel) {
    case PT_TEXEL_U8:
    case PT_TEXEL_UNORM8:
        return bytes[i];
    case PT_TEXEL_S8:
    case PT_TEXEL_SNORM8:
        return (uint32_t)(int8_t)bytes[i];
    case PT_TEXEL_U16:
    case PT_TEXEL_UNORM16:
        return channel_bits(bytes + 2 * i, 2);
    case PT_TEXEL_S16:
    case PT_TEXEL_SNORM16:
        return (uint32_t)(int16_t)channel_bits(bytes + 2 * i, 2);
    case PT_TEXEL_F16:
        return pt_half_to_f32(channel_bits(bytes + 2 * i, 2), PT_F16);
    default:
        return channel_bits(bytes + 4 * i, 4);
    }
}

/* The nearest multiple of 1 / most from `least` to 1; of two the lower one. */
static uint32_t fraction_of(float f, float least, float most)
{
    f = f != f ? 0 : fmaxf(fminf(f, 1), least);
    return (uint32_t)(int32_t)ceilf(f * most - 0.5f);
}

static uint32_t border_bits(enum pt_texel texel, float f)
{
    switch (texel) {
    case PT_TEXEL_UNORM8:
        return fraction_of(f, 0, 255);
    case PT_TEXEL_UNORM16:
        return fraction_of(f, 0, 65535);
    case PT_TEXEL_SNORM8:
        return fraction_of(f, -1, 127);
    case PT_TEXEL_SNORM16:
        return fraction_of(f, -1, 32767);
    case PT_TEXEL_F16:
        return f != f ? 0x7e00 : pt_half_from_f32(pt_lane_u32(f), PT_F16, PT_RZ);
    default:
        return pt_lane_u32(f);
    }
}

void pt_texture_set_border(struct pt_texture *t, const float *colour)
{
    unsigned bytes = t->texel_bytes / t->n_channels;
    memset(t->border, 0, sizeof t->border);
    for (unsigned i = 0; i < t->n_channels; i++) {
        uint32_t bits = border_bits(t->texel, colour[i]);
        memcpy((uint8_t *)t->border + i * bytes, &bits, bytes);
    }
}

/* ---- filtering ------------------------------------------------------------------------------- */

static uint32_t split(uint32_t part, uint32_t by)
{
    return (part * by + FRACTION / 2) / FRACTION;
}

/* Of the texels of a footprint, x fastest. Returns which of them take part: also those whose weight
 * is rounded to 0, but none beyond a whole coordinate. */
static unsigned weigh(const struct span *span, uint32_t *weight)
{
    uint32_t a = span[0].upper, b = span[1].upper, c = span[2].upper;
    for (unsigned z = 0; z < 2; z++) {
        uint32_t *w = weight + 4 * z, part = z ? c : FRACTION - c;
        uint32_t upper = split(part, a), lower = part - upper;
        w[3] = split(upper, b);
        w[1] = upper - w[3];
        w[0] = split(lower, FRACTION - b);
        w[2] = lower - w[0];
    }
    return 0xff & (a ? 0xff : 0x55) & (b ? 0xff : 0x33) & (c ? 0xff : 0x0f);
}

static int exponent_of(uint32_t bits)
{
    return (int)(bits >> 23 & 0xff);
}

/* sum * 2^exponent to nearest, halves away from zero: to `digits` bits behind the first, but no
 * finer than 2^unit. */
static uint32_t round_sum(int64_t sum, int exponent, int digits, int unit)
{
    uint64_t m = (uint64_t)(sum < 0 ? -sum : sum);
    int top = 63 - __builtin_clzll(m), drop = top - digits;
    drop = drop < unit - exponent ? unit - exponent : drop;
    if (drop > 63)
        return sum < 0 ? 0x80000000 : 0;
    if (drop > 0)
        m = ((m >> (drop - 1)) + 1) >> 1 << drop;
    float r = (float)ldexp(sum < 0 ? -(double)m : (double)m, exponent);
    return m && fabsf(r) < 0x1p-126f ? 0 : pt_lane_u32(r);
}

/* NaN or infinity, if one of the values is that; else 0. */
static uint32_t special_of(const uint32_t *value, unsigned present, uint32_t nan)
{
    unsigned infinities = 0;
    for (; present; present &= present - 1) {
        uint32_t v = value[__builtin_ctz(present)];
        if ((v & 0x7fffffff) > 0x7f800000)
            return nan;
        if ((v & 0x7fffffff) == 0x7f800000)
            infinities |= 1u << (v >> 31);
    }
    return infinities == 3 ? nan : infinities == 2 ? 0xff800000 : infinities ? 0x7f800000 : 0;
}

/* Of the four texels of a plane, in 2^(exponent - 127 - finest - 8). */
static int64_t sum_plane(const uint32_t *value, const uint32_t *weight, int finest, int *exponent)
{
    int64_t sum = 0;
    *exponent = 0;
    for (unsigned i = 0; i < 4; i++)
        if (weight[i] && exponent_of(value[i]) > *exponent)
            *exponent = exponent_of(value[i]);
    for (unsigned i = 0; i < 4; i++) {
        int e = exponent_of(value[i]), drop = 23 - finest + *exponent - e;
        if (!weight[i] || !e || drop > 24)
            continue;
        int64_t m = (value[i] & 0x7fffff) | 0x800000;
        m = drop > 0 ? m >> drop : m << -drop;
        sum += (value[i] >> 31 ? -m : m) * (int64_t)weight[i];
    }
    return sum;
}

static int64_t shifted(int64_t n, int by)
{
    return n >> (by < 63 ? by : 63);
}

static uint32_t filter_float(const uint32_t *value, const uint32_t *weight, unsigned present,
                             int digits, int unit)
{
    uint32_t sign = 0x80000000;
    uint32_t special = special_of(value, present, 0x7fffffffu >> (23 - digits) << (23 - digits));
    if (special)
        return special;
    for (unsigned i = 0; i < PT_TEXTURE_TEXELS; i++)
        sign &= present >> i & 1 ? value[i] : sign;
    int exponent[2], finest = digits + GUARD_BITS;
    int64_t low = sum_plane(value, weight, finest, &exponent[0]);
    int64_t high = sum_plane(value + 4, weight + 4, finest, &exponent[1]);
    int apart = exponent[1] - exponent[0];
    int most = apart > 0 ? exponent[1] : exponent[0];
    int64_t sum = apart > 0 ? high - shifted(-low, apart) : low + shifted(high, -apart);
    return sum ? round_sum(sum, most - 127 - finest - 8, digits, unit) : sign;
}

static int32_t weighted(const uint32_t *value, const uint32_t *weight)
{
    int32_t sum = 0;
    for (unsigned i = 0; i < PT_TEXTURE_TEXELS; i++)
        sum += (int32_t)value[i] * (int32_t)weight[i];
    return sum;
}

/* 1/127 to 1/32767, of a sum in 1/256 of the former: times 258 + 1/128, three bits finer than the
 * result, each term truncated. */
static int32_t widen_s8(int32_t sum)
{
    return (8 * sum + (sum >> 4) + (sum >> 12) + 4) >> 3;
}

static uint32_t signed_fraction(int32_t n, int32_t most)
{
    return pt_lane_u32((float)(n < -most ? -most : n) / (float)most);
}

static uint32_t filter(const struct pt_texture *t, const uint32_t *value, const uint32_t *weight,
                       unsigned present)
{
    switch ((enum pt_texel)t->texel) {
    case PT_TEXEL_UNORM8:
        return pt_lane_u32((float)((weighted(value, weight) * 257 + 128) >> 8) / 65535);
    case PT_TEXEL_UNORM16:
        return pt_lane_u32((float)((weighted(value, weight) + 128) >> 8) / 65535);
    case PT_TEXEL_SNORM8:
        return signed_fraction(widen_s8(weighted(value, weight)), 32767);
    case PT_TEXEL_SNORM16:
        return signed_fraction((weighted(value, weight) + 128) >> 8, 32767);
    case PT_TEXEL_F16:
        return filter_float(value, weight, present, 10, -24);
    default:
        return filter_float(value, weight, present, 23, -149);
    }
}

static uint32_t normalize(enum pt_texel texel, uint32_t value)
{
    switch (texel) {
    case PT_TEXEL_UNORM8:
        return pt_lane_u32((float)value / 255);
    case PT_TEXEL_UNORM16:
        return pt_lane_u32((float)value / 65535);
    case PT_TEXEL_SNORM8:
        return signed_fraction((int32_t)value, 127);
    case PT_TEXEL_SNORM16:
        return signed_fraction((int32_t)value, 32767);
    default:
        return value;
    }
}

void pt_texture_locate(const struct pt_texture *t, const uint32_t *coordinate, uint32_t layer,
                       struct pt_footprint *footprint)
{
    struct span span[PT_TEXTURE_AXES] = {0};
    layer = layer < t->layers ? layer : t->layers - 1;
    for (int i = 0; i < t->axes; i++)
        span[i] = span_of(t, i, coordinate[i]);
    if (t->axes == 1 && !t->layers)
        /* has a y, which is 0: halfway to the border, where that has a colour */
        span[1] = span_of(t, 1, 0);
    footprint->is_filtered = t->is_linear && t->texel >= PT_TEXEL_F16;
    footprint->present = t->memory == PT_TEXTURE_LINEAR ? 0
                         : footprint->is_filtered       ? weigh(span, footprint->weight)
                                                        : 1;
    for (uint32_t left = footprint->present; left; left &= left - 1) {
        unsigned i = (unsigned)__builtin_ctz(left);
        footprint->address[i] = address_of(t, span, layer, i);
    }
}

void pt_texture_locate_whole(const struct pt_texture *t, const uint32_t *coordinate, uint32_t layer,
                             struct pt_footprint *footprint)
{
    struct span span[PT_TEXTURE_AXES] = {0};
    footprint->present =
        t->layers ? layer < t->layers : (t->axes == 1) == (t->memory == PT_TEXTURE_LINEAR);
    for (int i = 0; i < t->axes; i++) {
        span[i].at[0] = (int32_t)coordinate[i];
        footprint->present &= coordinate[i] < t->size[i];
    }
    footprint->is_filtered = false;
    footprint->address[0] = address_of(t, span, layer, 0);
}

void pt_texture_filter(const struct pt_texture *t, const struct pt_footprint *footprint,
                       uint32_t texel[PT_TEXTURE_TEXELS][PT_TEXTURE_CHANNELS], uint32_t *result)
{
    for (unsigned k = 0; k < PT_TEXTURE_CHANNELS; k++) {
        uint32_t value[PT_TEXTURE_TEXELS] = {0};
        for (uint32_t left = k < t->n_channels ? footprint->present : 0; left; left &= left - 1) {
            unsigned i = (unsigned)__builtin_ctz(left);
            value[i] = channel_of(t->texel, footprint->address[i] ? texel[i] : t->border, k);
        }
        result[k] = footprint->is_filtered && footprint->present
                        ? filter(t, value, footprint->weight, footprint->present)
                        : normalize(t->texel, value[0]);
    }
}
