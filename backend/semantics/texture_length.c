#include "backend/semantics/texture_length.h"

#include <math.h>
#include <string.h>

enum {
    FRACTION = 256,
    DIGITS = 10,
    DROPPED = 53 - DIGITS,
    EIGHTHS = 3,
    LOG_LEAST = -128 * FRACTION /* of 0 */
};

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

/* A product of ten digits by ten, of which each line loses what is below 1/8; 7/8 more. `by` is one
 * of 2^(DIGITS - 1) to 2^DIGITS - 1 in units of 2^exponent. */
static double product(double d, uint32_t by, int by_exponent)
{
    double x = fmin(fabs(cut(d)), PT_TEXTURE_LENGTH_MOST);
    if (!x || d != d)
        return 0;
    int exponent = ilogb(x) - (DIGITS - 1);
    uint32_t n = (uint32_t)ldexp(x, -exponent), sum = 7;
    for (int i = 0; i < DIGITS; i++)
        if (by >> i & 1)
            sum += n << EIGHTHS >> (DIGITS - 1 - i);
    return copysign(cut(ldexp(sum, exponent + by_exponent + (DIGITS - 1) - EIGHTHS)), d);
}

double pt_texture_length_scale(double d, uint32_t size)
{
    int exponent = 31 - __builtin_clz(size) - (DIGITS - 1);
    return product(d, exponent < 0 ? size << -exponent : size >> exponent, exponent);
}

/* Of two derivatives. */
static double times_derivative(double a, double b)
{
    double x = fmin(fabs(cut(b)), PT_TEXTURE_LENGTH_MOST);
    if (!x || b != b)
        return 0;
    int exponent = ilogb(x) - (DIGITS - 1);
    return copysign(1, b) * product(a, (uint32_t)ldexp(x, -exponent), exponent);
}

/* What is below half a unit of the larger one is lost of the other. */
double pt_texture_length_add(double a, double b)
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

static double signed_times(double x, int factor, int bias, int whole)
{
    return copysign(times(fabs(x), factor, bias, whole), x);
}

/* Halfway between two: 11/16 of their sum. */
static struct pt_texture_axis halfway(const double *a, const double *b, int sign)
{
    struct pt_texture_axis axis;
    for (unsigned i = 0; i < PT_TEXTURE_AXES; i++)
        axis.at[i] = pt_texture_length_add(a[i], sign * b[i]);
    axis.length = cut(short_length_of(axis.at));
    for (unsigned i = 0; i < PT_TEXTURE_AXES; i++)
        axis.at[i] = signed_times(axis.at[i], 11, 4, 16);
    return axis;
}

/* Of like ones the first derivative goes before the sum, that before the second one, and that
 * before the difference, which is the longer one's less the other; of two as long the second's. */
struct pt_texture_axis pt_texture_length_find_longest(double d[2][PT_TEXTURE_AXES], bool has_both)
{
    struct pt_texture_axis axis[2], most;
    for (unsigned n = 0; n < 2; n++) {
        memcpy(axis[n].at, d[n], sizeof axis[n].at);
        axis[n].length = cut(length_of(d[n]));
    }
    if (!has_both)
        return axis[axis[1].length > axis[0].length];
    bool is_second = axis[1].length >= axis[0].length;
    struct pt_texture_axis sum = halfway(d[0], d[1], 1),
                           difference = halfway(d[is_second], d[!is_second], -1);
    most = sum.length > axis[0].length ? sum : axis[0];
    most = axis[1].length > most.length ? axis[1] : most;
    return difference.length > most.length ? difference : most;
}

double pt_texture_length_find_area(double d[2][PT_TEXTURE_AXES])
{
    return fabs(pt_texture_length_add(times_derivative(d[0][0], d[1][1]),
                                      -times_derivative(d[0][1], d[1][0])));
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

int32_t pt_texture_length_find_log(double length)
{
    if (!length)
        return LOG_LEAST;
    int exponent = ilogb(length);
    return exponent * FRACTION + log_of[(int)ldexp(length, 8 - exponent) - FRACTION];
}
