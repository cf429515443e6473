/* The level of a sample: named, or by derivatives. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "backend/semantics/lane.h"
#include "backend/semantics/texture.h"
#include "backend/semantics/texture_cube.h"

enum {
    FRACTION = 256,
    DIGITS = 10,
    DROPPED = 53 - DIGITS,
    EIGHTHS = 3,
    EIGHTH = 8,
    LEVEL_MOST = 128
};

#define LARGEST 0x1p127

void pt_texture_set_levels(struct pt_texture *t, float bias, bool is_optimized)
{
    const uint8_t steepest = 2 * EIGHTH;
    const float bias_most = 16;
    t->slope = !is_optimized || t->anisotropy < 2 ? EIGHTH
               : t->anisotropy < 4                ? 12
               : t->anisotropy < 8                ? 14
                                                  : steepest;
    float middle = (1 - (float)EIGHTH / t->slope) / 2;
    t->bias = (int16_t)(FRACTION * (fmaxf(fminf(bias, bias_most), -bias_most) - middle));
}

/* The fraction grows by `slope` eighths from level to level, and stays at the next one. The limits
 * come after that. */
static int32_t limited(const struct pt_texture *t, int32_t level)
{
    int32_t last = (t->n_levels - 1) * FRACTION;
    level += t->bias;
    int32_t fraction = level & (FRACTION - 1), steep = fraction * t->slope / EIGHTH;
    level += (steep < FRACTION ? steep : FRACTION) - fraction;
    level = level < t->max_level ? level : t->max_level;
    level = level > t->min_level ? level : t->min_level;
    return level < 0 ? 0 : level < last ? level : last;
}

int32_t pt_texture_level(const struct pt_texture *t, uint32_t lod)
{
    return limited(
        t, (int32_t)(fmax(fmin(pt_texture_flushed(lod), LEVEL_MOST), -LEVEL_MOST) * FRACTION));
}

/* ---- numbers of ten digits ------------------------------------------------------------------- */

static double cut(double x)
{
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    bits = bits >> DROPPED << DROPPED;
    memcpy(&x, &bits, sizeof x);
    return x;
}

/* The last digit's unit. */
static double unit_of(double x)
{
    return x ? ldexp(1, ilogb(x) - (DIGITS - 1)) : 0;
}

/* (factor * x + bias units) / whole */
static double times(double x, int factor, int bias, int whole)
{
    return cut((factor * x + bias * unit_of(x)) / whole);
}

/* A derivative in texels: a product of ten digits by ten, of which each line loses what is below
 * 1/8; 7/8 more. */
static double scaled(double d, uint32_t size)
{
    double x = fmin(fabs(cut(d)), LARGEST);
    if (!x || d != d)
        return 0;
    int exponent = ilogb(x) - (DIGITS - 1), log = 31 - __builtin_clz(size);
    uint32_t n = (uint32_t)ldexp(x, -exponent), sum = 7;
    uint32_t by = log < DIGITS ? size << (DIGITS - 1 - log) : size >> (log - (DIGITS - 1));
    for (int i = 0; i < DIGITS; i++)
        if (by >> i & 1)
            sum += n << EIGHTHS >> (DIGITS - 1 - i);
    return copysign(cut(ldexp(sum, exponent + log - EIGHTHS)), d);
}

/* What is below half a unit of the larger one is lost of the other. */
static double sum_of(double a, double b)
{
    double most = fabs(a) > fabs(b) ? a : b, least = fabs(a) > fabs(b) ? b : a;
    double unit = unit_of(most) / 2;
    return unit ? cut(most + unit * trunc(least / unit)) : 0;
}

/* ---- lengths --------------------------------------------------------------------------------- */

static void sort(const double *v, double *sorted)
{
    double a = fabs(v[0]), b = fabs(v[1]), c = fabs(v[2]);
    sorted[0] = fmax(fmax(a, b), c);
    sorted[2] = fmin(fmin(a, b), c);
    sorted[1] = fmax(fmin(a, b), fmin(fmax(a, b), c));
}

static double length_of(const double *v)
{
    double s[PT_TEXTURE_AXES];
    sort(v, s);
    return s[0] + times(s[1], 11, 4, 32) + s[2] / 4;
}

/* 11/16 of it. */
static double short_length_of(const double *v)
{
    double s[PT_TEXTURE_AXES];
    sort(v, s);
    return times(s[0], 11, 4, 16) + times(s[1], 121, 32, 512) + times(s[2], 11, 4, 64);
}

/* The longest of two derivatives and, halfway between them, of their sum and difference. */
static double longest_of(double d[2][PT_TEXTURE_AXES], bool has_both)
{
    double sum[PT_TEXTURE_AXES], difference[PT_TEXTURE_AXES],
        most = fmax(length_of(d[0]), length_of(d[1]));
    if (!has_both)
        return most;
    for (unsigned i = 0; i < PT_TEXTURE_AXES; i++) {
        sum[i] = sum_of(d[0][i], d[1][i]);
        difference[i] = sum_of(d[0][i], -d[1][i]);
    }
    return fmax(most, fmax(short_length_of(sum), short_length_of(difference)));
}

/* log2(1 + i / 256) in 1/256, as it is there. */
static const uint8_t log_of[] = {
    0,   2,   4,   5,   6,   8,   9,   11,  12,  13,  15,  16,  18,  19,  20,  22,  23,  24,  26,
    27,  28,  30,  31,  32,  34,  35,  36,  38,  39,  40,  42,  43,  44,  45,  47,  48,  49,  50,
    52,  53,  54,  55,  57,  58,  59,  60,  62,  63,  64,  65,  66,  68,  69,  70,  71,  72,  74,
    75,  76,  77,  78,  79,  81,  82,  83,  84,  85,  86,  88,  89,  90,  91,  92,  93,  94,  95,
    97,  98,  99,  100, 101, 102, 103, 104, 105, 106, 107, 109, 110, 111, 112, 113, 114, 115, 116,
    117, 118, 119, 120, 121, 122, 123, 124, 125, 126, 127, 128, 129, 130, 131, 132, 133, 135, 136,
    137, 137, 138, 139, 140, 141, 142, 143, 144, 145, 146, 147, 148, 149, 150, 151, 152, 153, 154,
    155, 156, 157, 158, 159, 160, 161, 162, 162, 163, 164, 165, 166, 167, 168, 169, 170, 171, 172,
    173, 173, 174, 175, 176, 177, 178, 179, 180, 181, 181, 182, 183, 184, 185, 186, 187, 188, 188,
    189, 190, 191, 192, 193, 194, 195, 195, 196, 197, 198, 199, 200, 200, 201, 202, 203, 204, 205,
    205, 206, 207, 208, 209, 210, 210, 211, 212, 213, 214, 214, 215, 216, 217, 218, 218, 219, 220,
    221, 222, 222, 223, 224, 225, 226, 226, 227, 228, 229, 229, 230, 231, 232, 233, 233, 234, 235,
    236, 236, 237, 238, 239, 239, 240, 241, 242, 242, 243, 244, 245, 245, 246, 247, 248, 248, 249,
    250, 251, 251, 252, 253, 253, 254, 255, 255};

static int32_t level_of(double length)
{
    if (!length)
        return -LEVEL_MOST * FRACTION;
    int exponent = ilogb(length);
    return exponent * FRACTION + log_of[(int)ldexp(length, 8 - exponent) - FRACTION];
}

/* ---- derivatives ----------------------------------------------------------------------------- */

/* In three dimensions, for cubes and with a depth reference the driver asks for a sample of four,
 * of which the derivatives are differences. */
static uint32_t neighbour(uint32_t coordinate, uint32_t derivative)
{
    return pt_lane_u32(pt_lane_f32(coordinate) + pt_lane_f32(derivative));
}

static struct pt_cube_place place_of(const uint32_t *direction)
{
    struct pt_cube_place place = pt_texture_cube_place(direction);
    for (unsigned i = 0; i < PT_TEXTURE_AXES; i++)
        place.at[i] = place.at[i] == place.at[i] ? place.at[i] : 0;
    return place;
}

/* A difference on a face, which is 2 wide. */
static double on_face(double d, uint32_t size)
{
    return scaled(d, size) / 2;
}

/* From a place on a face to the edge with another one: a place has 24 bits behind the point. */
static double left_of(const struct pt_cube_place *place, uint32_t to)
{
    double at = place->at[to / 2] * (to % 2 ? -1 : 1);
    return 1 - floor(at * 0x1p24) / 0x1p24;
}

/* The way from one face to the one beside it is that to the edge and that on from it. */
static void cross(const struct pt_cube_place *from, const struct pt_cube_place *to, uint32_t size,
                  double *d)
{
    unsigned other = 3 - from->face / 2 - to->face / 2;
    d[0] = sum_of(on_face(left_of(from, to->face), size), on_face(left_of(to, from->face), size));
    d[1] = on_face(to->at[other] - from->at[other], size);
}

static int32_t cube_level(const struct pt_texture *t, const uint32_t *coordinate,
                          uint32_t derivative[2][PT_TEXTURE_AXES])
{
    double d[2][PT_TEXTURE_AXES] = {0};
    bool is_one_face = true;
    struct pt_cube_place from = place_of(coordinate);
    for (unsigned n = 0; n < 2; n++) {
        uint32_t at[PT_TEXTURE_AXES];
        for (unsigned i = 0; i < PT_TEXTURE_AXES; i++)
            at[i] = neighbour(coordinate[i], derivative[n][i]);
        struct pt_cube_place to = place_of(at);
        is_one_face &= to.face == from.face;
        if (to.face / 2 != from.face / 2)
            cross(&from, &to, t->size[0], d[n]);
        else
            for (unsigned i = 0; i < PT_TEXTURE_AXES; i++)
                d[n][i] = on_face(i != to.face / 2       ? to.at[i] - from.at[i]
                                  : to.face != from.face ? 2
                                                         : 0,
                                  t->size[0]);
    }
    return level_of(longest_of(d, is_one_face));
}

/* In texels they must be numbers still. */
static double difference(uint32_t from, uint32_t to, uint32_t size)
{
    float a = (float)pt_texture_flushed(from), b = (float)pt_texture_flushed(to),
          most = fmaxf(fabsf(a), fabsf(b)) * (float)size;
    return most >= FLT_MAX ? LARGEST : b - a;
}

int32_t pt_texture_gradient_level(const struct pt_texture *t, const uint32_t *coordinate,
                                  uint32_t derivative[2][PT_TEXTURE_AXES], bool has_depth)
{
    double d[2][PT_TEXTURE_AXES] = {0};
    if (t->is_cube)
        return limited(t, cube_level(t, coordinate, derivative));
    for (unsigned n = 0; n < 2; n++)
        for (unsigned i = 0; i < t->axes; i++) {
            double by = pt_texture_flushed(derivative[n][i]);
            if (t->axes > 2 || has_depth)
                by = difference(coordinate[i], neighbour(coordinate[i], derivative[n][i]),
                                t->size[i]);
            d[n][i] = scaled(by, t->size[i]);
        }
    return limited(t, level_of(longest_of(d, true)));
}
