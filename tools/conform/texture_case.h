/* The texture group's cases, as texture_gen.py writes them, and the texels and coordinates that a
 * seed stands for. */
#ifndef PTERA_TOOLS_CONFORM_TEXTURE_CASE_H
#define PTERA_TOOLS_CONFORM_TEXTURE_CASE_H

#include <stdint.h>
#include <stdio.h>
#include <string.h>

enum { LANE_WORDS = 16, MAX_LANES = 4096 };
enum resource { ARRAY, MIPMAP, LINEAR, PITCHED };
enum texels {
    RANDOM_FLOATS,
    PARITY,
    SPECIAL_FLOATS,
    RANDOM_BITS,
    WIDE_FLOATS,
    INDEX,
    PLACE,
    MODES,
    LEAST_FLOATS
};
enum coordinates {
    UNIFORM,
    HALVES,
    SPECIALS,
    RAMP,
    EXPONENTS,
    MIXED,
    GRID,
    DIRECTIONS,
    SCAN,
    DERIVATIVES,
    AXES,
    LEASTS
};

struct texture_case {
    char kernel[64];
    unsigned resource, format, channels, size[3], levels, array_flags;
    unsigned flags, filter, mip_filter, address[3], anisotropy;
    float bias, min_level, max_level, border[4];
    unsigned texels, texel_seed, coordinates, coordinate_seed, lanes;
    /* a view, where it has one: format, width, height, depth, levels and layers from and to */
    unsigned has_view, view[8];
};

static inline int texture_case_parse(const char *line, struct texture_case *c)
{
    memset(c, 0, sizeof *c);
    int n = sscanf(
        line,
        "%63s %u %x %u %u %u %u %u %u %u %u %u %u %u %u %u %g %g %g %g %g %g %g %u %u %u %u %u "
        "%u %u %u %u %u %u %u %u",
        c->kernel, &c->resource, &c->format, &c->channels, &c->size[0], &c->size[1], &c->size[2],
        &c->levels, &c->array_flags, &c->flags, &c->filter, &c->mip_filter, &c->address[0],
        &c->address[1], &c->address[2], &c->anisotropy, &c->bias, &c->min_level, &c->max_level,
        &c->border[0], &c->border[1], &c->border[2], &c->border[3], &c->texels, &c->texel_seed,
        &c->coordinates, &c->coordinate_seed, &c->lanes, &c->view[0], &c->view[1], &c->view[2],
        &c->view[3], &c->view[4], &c->view[5], &c->view[6], &c->view[7]);
    c->has_view = n == 36;
    return n == 28 || n == 36;
}

static inline int texture_case_read(FILE *f, struct texture_case *c)
{
    char line[512];
    return fgets(line, sizeof line, f) && texture_case_parse(line, c);
}

static inline uint64_t texture_random(uint64_t *state)
{
    uint64_t z = *state += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

static inline float texture_float(uint32_t bits)
{
    float f;
    memcpy(&f, &bits, sizeof f);
    return f;
}

static inline uint32_t texture_bits(float f)
{
    uint32_t bits;
    memcpy(&bits, &f, sizeof bits);
    return bits;
}

/* ---- texels ---------------------------------------------------------------------------------- */

static inline uint32_t special_bits(uint64_t r)
{
    static const uint32_t special[] = {0,          0x80000000, 0x3f800000, 0xbf800000, 0x7f800000,
                                       0xff800000, 0x7fc00000, 0xffc12345, 0x7f812345, 0x00000001,
                                       0x807fffff, 0x00800000, 0x7f7fffff, 0xff7fffff, 0x00ffffff,
                                       0x7f000000, 0x01000000, 0x33800000, 0x3f7fffff, 0x007fffff};
    return special[r % (sizeof special / sizeof *special)];
}

/* The least numbers, and the NaNs next to infinity: a bit less, and each is another thing. */
static inline uint32_t least_bits(uint64_t r)
{
    static const uint32_t least[] = {0x7f800001, 0xff800001, 0x00000001,
                                     0x80000001, 0x00000000, 0x3f800000};
    return least[r % (sizeof least / sizeof *least)];
}

/* The bits of channel `channel` of the texel at x, y, z. */
static inline uint32_t texel_bits(const struct texture_case *c, uint64_t *state, unsigned x,
                                  unsigned y, unsigned z, unsigned channel, unsigned level)
{
    uint64_t r = texture_random(state);
    switch (c->texels) {
    case RANDOM_FLOATS:
        return (uint32_t)(r & 0x807fffff) | (uint32_t)(124 + (r >> 40) % 6) << 23;
    case WIDE_FLOATS:
        return (uint32_t)(r & 0x807fffff) | (uint32_t)(112 + (r >> 40) % 30) << 23;
    case PARITY: /* the weight of each texel of a footprint in a channel of its own */
        return (x % 2 + 2 * (y % 2)) == channel && z % 2 == c->texel_seed % 2 ? 0x3f800000 : 0;
    case SPECIAL_FLOATS:
        return special_bits(r);
    case LEAST_FLOATS:
        return least_bits(r);
    case PLACE:
        return texture_bits((float)(channel == 0   ? level
                                    : channel == 1 ? x
                                    : channel == 2 ? y
                                                   : z));
    case INDEX:
        return x + 16 * y + 64 * z + channel;
    default:
        return (uint32_t)r;
    }
}

/* Bytes of a channel; 0 of formats whose texels are no whole channels. */
static inline unsigned texture_channel_bytes(const struct texture_case *c)
{
    switch (c->format) {
    case 1:
    case 8:
        return 1;
    case 2:
    case 9:
    case 0x10:
        return 2;
    case 3:
    case 10:
    case 0x20:
        return 4;
    }
    return 0;
}

/* Makes blocks of 16 bytes which have modes have each as often as the others. */
static inline void balance_modes(const struct texture_case *c, uint64_t *state, uint8_t *to,
                                 size_t bytes)
{
    unsigned view = c->has_view ? c->view[0] : 0;
    int has_prefix = c->format == 0x9d || c->format == 0x9e || view == 34,
        has_number = c->format == 0x9b || c->format == 0x9c || view == 32 || view == 33;
    for (size_t i = 0; i + 16 <= bytes; i += 16) {
        unsigned mode = (unsigned)(texture_random(state) % 9), of_two = mode < 2;
        if (has_prefix)
            to[i] = (uint8_t)((to[i] & ~0u << mode) | 1u << mode);
        if (has_number && of_two)
            to[i] = (uint8_t)((to[i] & ~3u) | mode);
        if (has_number && !of_two)
            to[i] |= 2;
    }
}

/* The texels of a level, in rows of `pitch` bytes. Where channels are no whole bytes, the rows are
 * bytes of no meaning. */
static inline void fill_texels(const struct texture_case *c, unsigned level, unsigned width,
                               unsigned height, unsigned depth, size_t pitch, uint8_t *to)
{
    uint64_t state = c->texel_seed * 1000003u + level;
    unsigned bytes = texture_channel_bytes(c);
    if (!bytes || c->texels == MODES) {
        for (size_t i = 0; i < (size_t)height * depth * pitch; i++)
            to[i] = (uint8_t)texture_random(&state);
        if (c->texels == MODES)
            balance_modes(c, &state, to, (size_t)height * depth * pitch);
        return;
    }
    for (unsigned z = 0; z < depth; z++)
        for (unsigned y = 0; y < height; y++)
            for (unsigned x = 0; x < width; x++)
                for (unsigned k = 0; k < c->channels; k++) {
                    uint32_t bits = texel_bits(c, &state, x, y, z, k, level);
                    if (bytes == 2 && c->texels != RANDOM_BITS && c->texels != INDEX)
                        bits = (bits >> 16 & 0x8000) | (bits >> 23 & 0x7f) % 30 << 10 |
                               (bits >> 13 & 0x3ff);
                    memcpy(to + (z * (size_t)height + y) * pitch +
                               (x * (size_t)c->channels + k) * bytes,
                           &bits, bytes);
                }
}

/* ---- coordinates ----------------------------------------------------------------------------- */

static inline float special_coordinate(uint64_t r, float size)
{
    static const uint32_t special[] = {
        0,          0x80000000, 0x00000001, 0x807fffff, 0x7f800000, 0xff800000, 0x7fc00000,
        0xffc00001, 0x4b000000, 0xcb000001, 0x4f000000, 0xcf000000, 0x5f000000, 0x7f7fffff,
        0xff7fffff, 0x3f800000, 0xbf800000, 0x3f7fffff, 0x33800000, 0xb3800000, 0x48000000,
        0x47ffff80, 0xc7ffff80, 0x49742400, 0x3f000000, 0x3effffff, 0x3f000001, 0xbf000000};
    unsigned n = sizeof special / sizeof *special;
    unsigned k = (unsigned)(r % (n + 8));
    uint32_t at_size = texture_bits(size);
    if (k < n)
        return texture_float(special[k]);
    return k < n + 3   ? texture_float(at_size + (k - n) - 1)
           : k < n + 6 ? texture_float(texture_bits(size - 0.5f) + (k - n - 3) - 1)
           : k < n + 7 ? -size
                       : 2 * size;
}

static inline float float_coordinate(unsigned class, uint64_t r, unsigned lane, unsigned size)
{
    unsigned fine = (unsigned)(r >> 16 & 0xffff), whole = (unsigned)((r >> 32) % (size + 4));
    switch (class) {
    case UNIFORM:
        return (float)((int)whole - 2) + (float)fine / 65536;
    case HALVES: { /* a multiple of 1/512, and a few bits beside it */
        float at = (float)((int)whole - 2) + (float)(fine % 512) / 512;
        return texture_float(texture_bits(at) + (uint32_t)(r % 5) - 2);
    }
    case SPECIALS:
        return special_coordinate(r, (float)size);
    case RAMP:
        return (float)lane / 8192 + (float)(r % 2) / 65536;
    case EXPONENTS:
        return texture_float((uint32_t)(r & 0x807fffff) | (uint32_t)(100 + (r >> 40) % 50) << 23);
    case DIRECTIONS: /* many of them 1 or -1, so that axes are equal */
        return r >> 60 < 3 ? 1.f - 2 * (float)(r & 1) : (float)(r & 0x1ffffff) / 0x1p24f - 1;
    case DERIVATIVES:
    case AXES:
        return (float)whole + (float)fine / 65536;
    case SCAN:
        return (float)lane * (float)size / MAX_LANES;
    case LEASTS:
        return texture_float(least_bits(r));
    default:
        return float_coordinate((unsigned)(r >> 50) % 8 < 4   ? UNIFORM
                                : (unsigned)(r >> 50) % 8 < 6 ? HALVES
                                                              : SPECIALS + 2 * (r >> 50 & 1),
                                r * 0x9e3779b97f4a7c15u ^ r >> 32, lane, size);
    }
}

/* The texel of lane `lane` on an axis, x fastest. */
static inline unsigned grid_coordinate(const struct texture_case *c, unsigned axis, unsigned lane)
{
    for (unsigned i = 0; i < axis; i++)
        lane /= c->size[i] ? c->size[i] : 1;
    return lane % (axis < 3 && c->size[axis] ? c->size[axis] : 1);
}

static inline uint32_t integer_coordinate(unsigned class, uint64_t r, unsigned lane, unsigned size)
{
    static const uint32_t special[] = {0x7fffffff, 0x80000000, 0xffffffff, 0x10000, 0xffff0000};
    if (class == RAMP)
        return lane;
    if (class == SPECIALS && r % 8 < 5)
        return special[r % 8];
    return (uint32_t)((r >> 32) % (size + 6)) - 3;
}

static inline uint32_t scaled_bits(uint32_t bits, unsigned by)
{
    return bits & 0x7fffffff ? bits - (by << 23) : bits;
}

/* Derivatives in two dimensions: across each other, any two, one, alike, opposed, along x or y. */
static inline void fill_axes(uint64_t *state, uint32_t *words)
{
    uint64_t r = texture_random(state), kind = r % 6;
    uint32_t d[4], by = (uint32_t)(r >> 8) % 5, common = 120 + (uint32_t)(r >> 16) % 6;
    for (unsigned i = 0; i < 4; i++) {
        uint64_t one = texture_random(state);
        d[i] = (uint32_t)(one & 0x807fffff) | (common - (uint32_t)(one >> 40) % 3) << 23;
    }
    if (kind == 5)
        d[r >> 24 & 1] = 0;
    if (kind == 0 || kind == 5) {
        d[2] = scaled_bits(d[1] ^ 0x80000000, by);
        d[3] = scaled_bits(d[0], by);
    }
    if (kind == 2)
        d[2] = d[3] = 0;
    for (unsigned i = 2; i < 4 && (kind == 3 || kind == 4); i++)
        d[i] = (d[i - 2] ^ (d[i] & 0x3ffff)) ^ (kind == 4 ? 0x80000000 : 0);
    for (unsigned i = 0; i < 4; i++)
        words[i + (i > 1)] = d[i];
}

/* Derivatives by x, then by y: any; of one size; along x only; of x and y apart. */
static inline void fill_derivatives(const struct texture_case *c, uint64_t *state, uint32_t *words)
{
    uint64_t kind = c->coordinates == DERIVATIVES ? 1 + (texture_random(state) & 3) : 0;
    uint32_t common = kind ? (uint32_t)(118 + texture_random(state) % 12) : 0;
    for (unsigned i = 0; i < 6; i++) {
        uint64_t r = texture_random(state);
        uint32_t exponent = kind == 1 ? common : (uint32_t)(118 + (r >> 40) % 12);
        int is_zero = (kind == 2 && i) || (kind == 3 && i % 4) || (kind == 4 && i > 2);
        words[i] = is_zero ? 0 : (uint32_t)(r & 0x807fffff) | exponent << 23;
        if (r >> 56 == 0 && !kind && c->coordinates != SCAN)
            words[i] = special_bits(r);
    }
    if (c->coordinates == AXES)
        fill_axes(state, words);
}

/* The words of a lane: coordinates as numbers (4), a level (4), derivatives (5..7, 8..10), as
 * integers (12..15). */
static inline void fill_lane(const struct texture_case *c, unsigned lane, uint32_t *words)
{
    uint64_t state = c->coordinate_seed * 1000003u + lane;
    int is_normalized = (c->flags & 2) != 0;
    for (unsigned i = 0; i < 4; i++) {
        unsigned size = i < 3 && c->size[i] ? c->size[i] : 1;
        uint64_t r = texture_random(&state);
        float at = c->coordinates == GRID ? (float)grid_coordinate(c, i, lane) + 0.5f
                                          : float_coordinate(c->coordinates, r, lane, size);
        int is_scaled = is_normalized && c->coordinates != DIRECTIONS &&
                        c->coordinates != LEASTS && /* a quotient is quiet */
                        !(c->coordinates == SPECIALS && r >> 60 & 1);
        words[i] = texture_bits(is_scaled ? at / (float)size : at);
        r = texture_random(&state);
        words[12 + i] = c->coordinates == GRID ? grid_coordinate(c, i, lane)
                                               : integer_coordinate(c->coordinates, r, lane, size);
    }
    uint64_t r = texture_random(&state);
    words[4] = texture_bits(float_coordinate(c->coordinates, r, lane, c->levels));
    if (c->coordinates == SCAN)
        state = c->coordinate_seed;
    fill_derivatives(c, &state, words + 5);
    words[11] = (uint32_t)texture_random(&state);
}

/* What came of three steps, CUresults, and how many lanes there were. */
struct texture_result {
    uint32_t created, object, launched, lanes;
};

#endif
