/* The errors that the PTX manual documents for its approximate instructions (approximate.def). */
#include "tools/conform/approximate.h"

#include <float.h>
#include <math.h>
#include <string.h>

enum kind { ULP, RELATIVE, ABSOLUTE };

/* The function's value; `y` is the last operand, the only one of all but divisions. */
static double value_of(const char *form, const char *type, double first, double last,
                       enum kind *kind, double *error)
{
    double magnitude = fabs(last);
#define APPROXIMATE(begin, has, function, from, to, how, most)                               \
    if (!strncmp(form, begin, strlen(begin)) && !strcmp(type, has) && magnitude >= (from) && \
        magnitude <= (to)) {                                                                 \
        double x = first, y = last;                                                          \
        (void)y;                                                                             \
        *kind = how;                                                                         \
        *error = most;                                                                       \
        return function;                                                                     \
    }
#include "tools/conform/approximate.def"
    return NAN;
}

/* ---- formats --------------------------------------------------------------------------------- */

struct format {
    const char *name, *type;
    unsigned bits, mantissa; /* of one number; of several, all must be close */
    int least;               /* exponent of the smallest normal number */
    unsigned count;
};

static const struct format formats[] = {{".f16x2", ".f16", 16, 10, -14, 2},
                                        {".bf16x2", ".bf16", 16, 7, -126, 2},
                                        {".f16", ".f16", 16, 10, -14, 1},
                                        {".bf16", ".bf16", 16, 7, -126, 1},
                                        {".f32", ".f32", 32, 23, -126, 1}};
enum { FORMATS = sizeof formats / sizeof *formats };

/* The one whose name ends the form's opcode, which ends at a space. NULL: no format of these. */
static const struct format *find_format(const char *form)
{
    size_t n = strcspn(form, " ");
    for (unsigned i = 0; i < FORMATS; i++) {
        size_t length = strlen(formats[i].name);
        if (n > length && !strncmp(form + n - length, formats[i].name, length))
            return &formats[i];
    }
    return NULL;
}

static double number(const struct format *f, uint64_t word, unsigned index)
{
    uint64_t bits = word >> index * f->bits & ((UINT64_C(1) << f->bits) - 1);
    uint64_t mantissa = bits & ((UINT64_C(1) << f->mantissa) - 1);
    int exponent = (int)(bits >> f->mantissa & ((1u << (f->bits - 1 - f->mantissa)) - 1));
    double sign = bits >> (f->bits - 1) ? -1 : 1;
    if (exponent == 2 * (1 - f->least) + 1) /* all ones */
        return mantissa ? NAN : sign * INFINITY;
    uint64_t whole = exponent ? mantissa | UINT64_C(1) << f->mantissa : mantissa;
    int scale = (exponent ? exponent - 1 : 0) + f->least - (int)f->mantissa;
    return sign * ldexp((double)whole, scale);
}

/* The distance of numbers of the format near a value. */
static double unit(const struct format *f, double value)
{
    int exponent = ilogb(value);
    return ldexp(1, (exponent < f->least ? f->least : exponent) - (int)f->mantissa);
}

static double flushed(const char *form, const struct format *f, double value)
{
    bool is_flushed = strstr(form, ".ftz") && fabs(value) < ldexp(1, f->least);
    return is_flushed ? copysign(0, value) : value;
}

bool conform_approximate_is_close(const char *form, const uint64_t *in, unsigned n_in, uint64_t got)
{
    const struct format *f = find_format(form);
    if (!f || !n_in || (f->count * f->bits < 64 && got >> f->count * f->bits))
        return false;
    for (unsigned i = 0; i < f->count; i++) {
        enum kind kind = ULP;
        double most = 0, have = number(f, got, i);
        double value = value_of(form, f->type, flushed(form, f, number(f, in[0], i)),
                                flushed(form, f, number(f, in[n_in - 1], i)), &kind, &most);
        if (!isfinite(value) || value == 0 || !isfinite(have))
            return false;
        bool is_flushed = have == 0 && flushed(form, f, value) == 0;
        double error = fabs(have - value), limit = kind == ULP        ? most * unit(f, value)
                                                   : kind == RELATIVE ? most * fabs(value)
                                                                      : most;
        /* A result below the normal numbers is rounded to their distance. */
        if (fabs(value) < ldexp(1, f->least))
            limit = fmax(limit, unit(f, value));
        if (error > limit && !is_flushed)
            return false;
    }
    return true;
}
