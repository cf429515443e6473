/* What becomes of texels: channels, sums, results. */
#include <math.h>
#include <string.h>

#include "backend/semantics/half.h"
#include "backend/semantics/texture.h"

enum { PLANE_STEP = 4, ONE = 0x3f800000, SRGB_BITS = 14, WEIGHT_BITS = 8 };

/* ---- channels -------------------------------------------------------------------------------- */

static unsigned channel_bytes(enum pt_texel texel)
{
    switch (texel) {
    case PT_TEXEL_U8:
    case PT_TEXEL_UNORM8:
    case PT_TEXEL_S8:
    case PT_TEXEL_SNORM8:
        return 1;
    case PT_TEXEL_U16:
    case PT_TEXEL_UNORM16:
    case PT_TEXEL_S16:
    case PT_TEXEL_SNORM16:
    case PT_TEXEL_F16:
        return 2;
    default:
        return 4;
    }
}

static uint32_t channel_bits(const void *p, unsigned bytes)
{
    uint32_t bits = 0;
    memcpy(&bits, p, bytes);
    return bits;
}

/* A channel of 10-10-10-2 in 16 bits: its upper ones again. */
static uint32_t widened_ten(uint32_t word, unsigned i)
{
    uint32_t ten = word >> 10 * i & 0x3ff;
    return i < 3 ? ten << 6 | ten >> 4 : ten * (UINT16_MAX / 3);
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
    case PT_TEXEL_UNORM10:
        return widened_ten(channel_bits(bytes, 4), i);
    default:
        return channel_bits(bytes + 4 * i, 4);
    }
}

/* What the border's colour is kept as: that of 10-10-10-2 in 16 bits. */
static enum pt_texel border_texel(const struct pt_texture *t)
{
    return t->texel == PT_TEXEL_UNORM10 ? PT_TEXEL_UNORM16 : (enum pt_texel)t->texel;
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

/* What bytes of an sRGB texture stand for, in 1/16384. */
static const uint16_t srgb[] = {
    0,     5,     10,    15,    20,    25,    30,    35,    40,    45,    50,    55,    60,
    66,    72,    78,    85,    92,    99,    107,   115,   123,   131,   140,   150,   159,
    169,   180,   190,   201,   213,   224,   236,   250,   262,   276,   290,   304,   318,
    332,   348,   364,   380,   396,   412,   430,   448,   466,   484,   504,   524,   544,
    564,   584,   604,   624,   648,   672,   692,   716,   740,   764,   788,   816,   840,
    864,   896,   920,   944,   976,   1000,  1032,  1064,  1088,  1120,  1152,  1184,  1216,
    1248,  1280,  1312,  1352,  1384,  1416,  1456,  1488,  1528,  1560,  1600,  1640,  1672,
    1712,  1752,  1792,  1832,  1872,  1920,  1952,  2000,  2048,  2080,  2128,  2176,  2224,
    2272,  2320,  2368,  2416,  2464,  2512,  2560,  2608,  2656,  2704,  2752,  2816,  2864,
    2912,  2976,  3024,  3072,  3136,  3184,  3248,  3296,  3360,  3424,  3472,  3536,  3600,
    3664,  3712,  3776,  3840,  3904,  3968,  4032,  4096,  4160,  4224,  4288,  4352,  4416,
    4512,  4576,  4640,  4704,  4768,  4864,  4928,  4992,  5056,  5152,  5216,  5280,  5376,
    5440,  5536,  5600,  5696,  5760,  5824,  5920,  6016,  6080,  6176,  6240,  6336,  6400,
    6496,  6592,  6688,  6752,  6848,  6944,  7008,  7104,  7200,  7296,  7392,  7488,  7584,
    7680,  7744,  7872,  7936,  8064,  8128,  8256,  8320,  8448,  8512,  8640,  8768,  8832,
    8960,  9024,  9152,  9280,  9344,  9472,  9600,  9664,  9792,  9920,  9984,  10112, 10240,
    10304, 10432, 10560, 10688, 10816, 10880, 11008, 11136, 11264, 11392, 11456, 11584, 11712,
    11840, 11968, 12096, 12224, 12352, 12480, 12608, 12736, 12864, 12992, 13120, 13248, 13376,
    13504, 13632, 13760, 13888, 14016, 14144, 14272, 14400, 14528, 14656, 14848, 14976, 15104,
    15232, 15360, 15488, 15616, 15744, 16000, 16128, 16256, 16384};

/* Red, green and blue of four channels; of fewer ones red alone. */
static bool is_srgb(const struct pt_texture *t, unsigned channel)
{
    return t->is_srgb && t->texel == PT_TEXEL_UNORM8 &&
           channel < (t->n_channels == PT_TEXTURE_CHANNELS ? 3 : 1);
}

/* The byte that stands for a colour of the border. */
static uint32_t srgb_of(float f)
{
    f = f != f ? 0 : fmaxf(fminf(f, 1), 0);
    double encoded = f <= 0.0031308f ? 12.92 * f : 1.055 * pow(f, 1 / 2.4) - 0.055;
    return (uint32_t)(encoded * 255 + 0.5);
}

void pt_texture_set_border(struct pt_texture *t, const float *colour)
{
    unsigned bytes = channel_bytes(border_texel(t));
    memset(t->border, 0, sizeof t->border);
    for (unsigned i = 0; i < t->n_channels; i++) {
        uint32_t bits =
            is_srgb(t, i) ? srgb_of(colour[i]) : border_bits(border_texel(t), colour[i]);
        memcpy((uint8_t *)t->border + i * bytes, &bits, bytes);
    }
}

/* Of no texel the border's. */
static uint32_t value_of(const struct pt_texture *t, const uint32_t *texel, unsigned channel)
{
    return texel ? channel_of(t->texel, texel, channel)
                 : channel_of(border_texel(t), t->border, channel);
}

/* ---- filtering ------------------------------------------------------------------------------- */

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
static uint32_t special_of(const uint32_t *value, const struct pt_footprint *f, uint32_t nan)
{
    unsigned infinities = 0;
    for (unsigned i = 0; i < f->n_planes * PT_TEXTURE_PLANE; i++) {
        uint32_t magnitude = pt_texture_has(f, i) ? value[i] & 0x7fffffff : 0;
        if (magnitude > 0x7f800000)
            return nan;
        if (magnitude == 0x7f800000)
            infinities |= 1u << (value[i] >> 31);
    }
    return infinities == 3 ? nan : infinities == 2 ? 0xff800000 : infinities ? 0x7f800000 : 0;
}

/* Of a sum: bits that its terms have below the largest one's exponent; that a result has; the
 * finest one that it has at all. */
struct precision {
    int terms, result, unit;
};
static const struct precision single_sum = {27, 23, -149}, half_sum = {14, 10, -24},
                              srgb_sum = {7, 10, -24};

typedef int64_t plane_sum(const uint32_t *value, const uint32_t *weight, int finest, int *exponent);

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

/* The bits before the point of an sRGB number as it is stored: eight have one exponent, their
 * last one's. */
static int srgb_bits(uint32_t byte)
{
    return 32 - __builtin_clz(srgb[byte | 7]);
}

/* sRGB numbers lose what is below eight bits of the longest one that has a weight. */
static int64_t sum_srgb_plane(const uint32_t *value, const uint32_t *weight, int finest,
                              int *exponent)
{
    int bits = 8;
    int64_t sum = 0;
    for (unsigned i = 0; i < 4; i++)
        if (weight[i] && srgb_bits(value[i]) > bits)
            bits = srgb_bits(value[i]);
    for (unsigned i = 0; i < 4; i++)
        sum += (int64_t)(srgb[value[i]] >> (bits - 8) << (bits - 8)) * weight[i];
    *exponent = 127 - SRGB_BITS + bits - 1;
    return sum >> (bits - 1 - finest); /* without a rest */
}

static int64_t shifted(int64_t n, int by)
{
    return n >> (by < 63 ? by : 63);
}

/* A plane's sum, in units of 2^exponent, which counts in fours. */
struct plane {
    int64_t sum;
    int exponent;
};

static struct plane plane_at(plane_sum *sum_one, const uint32_t *value,
                             const struct pt_footprint *f, unsigned n, struct precision p)
{
    struct plane plane = {0};
    if (n >= f->n_planes)
        return plane;
    n *= PT_TEXTURE_PLANE;
    plane.sum = sum_one(value + n, f->weight + n, p.terms, &plane.exponent);
    plane.sum *= 1 << plane.exponent % PLANE_STEP;
    plane.exponent -= plane.exponent % PLANE_STEP;
    return plane;
}

static int largest(int a, int b)
{
    return a > b ? a : b;
}

/* Planes are added two by two to what there is. What is below the unit that the largest exponent of
 * these three has with weights of 8 bits is lost of each, downwards. */
static uint32_t sum_all(plane_sum *sum_one, const uint32_t *value, const struct pt_footprint *f,
                        uint32_t zero, struct precision p)
{
    int64_t sum = 0;
    int most = 0, lost = f->weight_bits - WEIGHT_BITS;
    for (unsigned n = 0; n < f->n_planes; n += 2) {
        struct plane a = plane_at(sum_one, value, f, n, p),
                     b = plane_at(sum_one, value, f, n + 1, p);
        int exponent = largest(most, largest(a.exponent, b.exponent));
        sum = shifted(sum, exponent - most) + shifted(a.sum, exponent - a.exponent + lost) +
              shifted(b.sum, exponent - b.exponent + lost);
        most = exponent;
    }
    return sum ? round_sum(sum, most - 127 - p.terms - WEIGHT_BITS, p.result, p.unit) : zero;
}

static uint32_t filter_float(const uint32_t *value, const struct pt_footprint *f,
                             struct precision p)
{
    uint32_t sign = 0x80000000;
    uint32_t special = special_of(value, f, 0x7fffffffu >> (23 - p.result) << (23 - p.result));
    if (special)
        return special;
    for (unsigned i = 0; i < f->n_planes * PT_TEXTURE_PLANE; i++)
        sign &= pt_texture_has(f, i) ? value[i] : sign;
    return sum_all(sum_plane, value, f, sign, p);
}

/* Of values that are signed, or are not. */
static int64_t weighted(const uint32_t *value, const struct pt_footprint *f, bool is_signed)
{
    int64_t sum = 0;
    for (unsigned i = 0; i < f->n_planes * PT_TEXTURE_PLANE; i++)
        sum += (is_signed ? (int32_t)value[i] : (int64_t)value[i]) * (int32_t)f->weight[i];
    return sum;
}

/* A sum in units of which there are 2^bits in one, halves upwards. */
static int64_t rounded(int64_t sum, unsigned bits)
{
    return (sum + (1 << (bits - 1))) >> bits;
}

/* 1/127 to 1/32767, of a sum in 2^-bits of the former: times 258 + 1/128, three bits finer than the
 * result, each term truncated. */
static int32_t widen_s8(int32_t sum, unsigned bits)
{
    unsigned more = bits - WEIGHT_BITS;
    return ((8 * sum >> more) + (sum >> (4 + more)) + (sum >> (12 + more)) + 4) >> 3;
}

static uint32_t signed_fraction(int32_t n, int32_t most)
{
    return pt_lane_u32((float)(n < -most ? -most : n) / (float)most);
}

static uint32_t linear_of(uint32_t byte)
{
    return pt_lane_u32((float)srgb[byte] / 16384);
}

static uint32_t filter(const struct pt_texture *t, const uint32_t *value,
                       const struct pt_footprint *f)
{
    unsigned bits = f->weight_bits;
    switch ((enum pt_texel)t->texel) {
    case PT_TEXEL_U8:
    case PT_TEXEL_S8:
    case PT_TEXEL_U16:
    case PT_TEXEL_S16:
        return (uint32_t)rounded(weighted(value, f, true), bits);
    case PT_TEXEL_S32:
        return (uint32_t)(weighted(value, f, true) >> bits);
    case PT_TEXEL_U32:
        return (uint32_t)(weighted(value, f, false) >> bits);
    case PT_TEXEL_UNORM8:
        return pt_lane_u32((float)rounded(weighted(value, f, true) * 257, bits) / 65535);
    case PT_TEXEL_UNORM16:
    case PT_TEXEL_UNORM10:
        return pt_lane_u32((float)rounded(weighted(value, f, true), bits) / 65535);
    case PT_TEXEL_SNORM8:
        return signed_fraction(widen_s8((int32_t)weighted(value, f, true), bits), 32767);
    case PT_TEXEL_SNORM16:
        return signed_fraction((int32_t)rounded(weighted(value, f, true), bits), 32767);
    case PT_TEXEL_F16:
        return filter_float(value, f, half_sum);
    default:
        return filter_float(value, f, single_sum);
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
    case PT_TEXEL_UNORM10:
        return pt_lane_u32((float)(value >> 6) / 0x3ff);
    default:
        return value;
    }
}

static uint32_t result_of(const struct pt_texture *t, const struct pt_footprint *footprint,
                          unsigned channel, const uint32_t *value)
{
    if (footprint->is_filtered && footprint->n_planes)
        return is_srgb(t, channel) ? sum_all(sum_srgb_plane, value, footprint, 0, srgb_sum)
                                   : filter(t, value, footprint);
    return is_srgb(t, channel) ? linear_of(*value) : normalize(t->texel, *value);
}

/* Makes texels of the blocks that were read. */
static void unpack(const struct pt_texture *t, const struct pt_footprint *footprint,
                   uint32_t texel[PT_TEXTURE_FOOTPRINT][PT_TEXTURE_CHANNELS])
{
    if (!t->block)
        return;
    for (unsigned i = 0; i < footprint->n_planes * PT_TEXTURE_PLANE; i++) {
        uint32_t block[PT_TEXTURE_CHANNELS];
        if (!pt_texture_has(footprint, i) || !footprint->address[i])
            continue;
        memcpy(block, texel[i], sizeof block);
        pt_texture_block_decode(t->block, block, footprint->at[i], texel[i]);
    }
}

void pt_texture_filter(const struct pt_texture *t, const struct pt_footprint *footprint,
                       uint32_t texel[PT_TEXTURE_FOOTPRINT][PT_TEXTURE_CHANNELS], uint32_t *result)
{
    uint32_t value[PT_TEXTURE_FOOTPRINT];
    value[0] = 0;
    unpack(t, footprint, texel);
    for (unsigned k = 0; k < PT_TEXTURE_CHANNELS; k++) {
        for (unsigned i = 0; i < footprint->n_planes * PT_TEXTURE_PLANE; i++)
            value[i] = k < t->n_channels && pt_texture_has(footprint, i)
                           ? value_of(t, footprint->address[i] ? texel[i] : NULL, k)
                           : 0;
        result[k] = result_of(t, footprint, k, value);
    }
    if (t->is_opaque)
        result[PT_TEXTURE_CHANNELS - 1] = ONE;
}

/* Signed bytes and channels of ten bits are widened as they are for sums. */
static uint32_t gathered(enum pt_texel texel, uint32_t value)
{
    if (texel == PT_TEXEL_SNORM8)
        return signed_fraction(widen_s8((int32_t)value * 256, WEIGHT_BITS), 32767);
    return normalize(texel == PT_TEXEL_UNORM10 ? PT_TEXEL_UNORM16 : texel, value);
}

void pt_texture_gather(const struct pt_texture *t, const struct pt_footprint *footprint,
                       uint32_t component,
                       uint32_t texel[PT_TEXTURE_FOOTPRINT][PT_TEXTURE_CHANNELS], uint32_t *result)
{
    bool is_one = t->is_opaque && component == PT_TEXTURE_CHANNELS - 1;
    unpack(t, footprint, texel);
    for (unsigned i = 0; i < PT_TEXTURE_CHANNELS; i++) {
        const uint32_t *from = footprint->address[i] ? texel[i] : NULL;
        uint32_t value = component < t->n_channels ? value_of(t, from, component) : 0;
        result[i] = is_one                  ? ONE
                    : is_srgb(t, component) ? linear_of(value)
                                            : gathered(t->texel, value);
    }
}
