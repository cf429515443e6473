/* The kernel arguments of `ptera run`. */
#include "tools/args.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tools/file/read.h"

const char arg_help[] =
    "Arguments, one for each kernel parameter:\n"
    "  TYPE:VALUE          a scalar: u8 s8 b8 u16 s16 b16 u32 s32 b32 u64 s64 b64 f32 f64\n"
    "  in:FILE             a buffer filled from FILE\n"
    "  out:FILE:BYTES      a zeroed buffer, saved to FILE after the run\n"
    "  inout:FILE          filled from FILE, saved back to it\n"
    "  zero:BYTES          a zeroed buffer\n"
    "  fill:TYPE:N:VALUE   N elements of VALUE\n"
    "  iota:TYPE:N         0, 1, 2, ...\n"
    "  rand:TYPE:N:SEED    N random elements: integers of all bits, floats in [0, 1)\n"
    "  raw:FILE            the bytes of a by-value struct\n"
    "A buffer may end in @TYPE[:COUNT] to print its elements after the run, then in >FILE to save "
    "it.\n"
    "Element types are the above and f16, bf16; b types print in hexadecimal.\n";

enum kind { UNSIGNED, SIGNED, BITS, FLOAT, HALF, BRAIN };

struct type {
    const char *name;
    enum kind kind;
    unsigned bytes;
};

static const struct type types[] = {
    {"u8", UNSIGNED, 1}, {"u16", UNSIGNED, 2}, {"u32", UNSIGNED, 4}, {"u64", UNSIGNED, 8},
    {"s8", SIGNED, 1},   {"s16", SIGNED, 2},   {"s32", SIGNED, 4},   {"s64", SIGNED, 8},
    {"b8", BITS, 1},     {"b16", BITS, 2},     {"b32", BITS, 4},     {"b64", BITS, 8},
    {"f32", FLOAT, 4},   {"f64", FLOAT, 8},    {"f16", HALF, 2},     {"bf16", BRAIN, 2},
};

static const struct type *find_type(const char *name, size_t len)
{
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (strlen(types[i].name) == len && !memcmp(types[i].name, name, len))
            return &types[i];
    return NULL;
}

static bool complain(const struct arg *arg, const char *why)
{
    fprintf(stderr, "ptera: argument '%s': %s\n", arg->text, why);
    return false;
}

/* ---- values ---------------------------------------------------------------------------------- */

static uint64_t bits_of_f32(float f)
{
    uint32_t u;
    memcpy(&u, &f, sizeof u);
    return u;
}

static uint64_t bits_of_f64(double d)
{
    uint64_t u;
    memcpy(&u, &d, sizeof u);
    return u;
}

/* The nearest value with `mantissa` stored bits and the exponent range of a format with bias
 * `bias`, ties to even. */
static uint64_t narrow(double d, int mantissa, int bias)
{
    uint64_t sign = bits_of_f64(d) >> 63 << (mantissa + (bias == 127 ? 8 : 5));
    int width = bias == 127 ? 8 : 5;
    uint64_t inf = ((1ull << width) - 1) << mantissa;
    double a = fabs(d);
    if (isnan(d))
        return inf | ((1ull << mantissa) - 1);
    if (a == 0)
        return sign;
    int e;
    frexp(a, &e);
    int exponent = e - 1 < 1 - bias ? 1 - bias : e - 1;
    uint64_t units = isinf(d) ? 2ull << mantissa : (uint64_t)rint(ldexp(a, mantissa - exponent));
    uint64_t bits = ((uint64_t)(exponent + bias - 1) << mantissa) + units;
    return sign | (isinf(d) || exponent > bias || bits >= inf ? inf : bits);
}

static double widen(uint64_t bits, int mantissa, int width)
{
    int bias = (1 << (width - 1)) - 1;
    int e = (int)(bits >> mantissa) & ((1 << width) - 1);
    uint64_t m = bits & ((1ull << mantissa) - 1);
    double a = e == (1 << width) - 1 ? (m ? (double)NAN : (double)INFINITY)
               : e == 0              ? ldexp((double)m, 1 - bias - mantissa)
                                     : ldexp((double)(m | 1ull << mantissa), e - bias - mantissa);
    return bits >> (mantissa + width) & 1 ? -a : a;
}

static uint64_t encode_float(const struct type *type, double d)
{
    switch (type->kind) {
    case HALF:
        return narrow(d, 10, 15);
    case BRAIN:
        return narrow(d, 7, 127);
    default:
        return type->bytes == 4 ? bits_of_f32((float)d) : bits_of_f64(d);
    }
}

static bool is_float(const struct type *type)
{
    return type->kind >= FLOAT;
}

static bool parse_integer(const struct type *type, const char *text, uint64_t *bits)
{
    char *end;
    errno = 0;
    bool negative = *text == '-';
    uint64_t v = negative ? (uint64_t)strtoll(text, &end, 0) : strtoull(text, &end, 0);
    if (end == text || *end || errno)
        return false;
    unsigned width = type->bytes * 8;
    if (width < 64) {
        int64_t s = (int64_t)v;
        if (negative ? s < -(1ll << (width - 1)) : v >> width != 0)
            return false;
    }
    *bits = v;
    return type->kind != UNSIGNED || !negative;
}

/* An integer, a decimal float, or PTX's 0f… and 0d… bit patterns. */
static bool parse_value(const struct type *type, const char *text, uint64_t *bits)
{
    if (!is_float(type))
        return parse_integer(type, text, bits);
    char *end;
    if (text[0] == '0' && (text[1] == 'f' || text[1] == 'd') && text[2]) {
        *bits = strtoull(text + 2, &end, 16);
        return !*end && (type->bytes == 4 ? text[1] == 'f' : type->bytes == 8 && text[1] == 'd');
    }
    /* strtof rounds once; strtod and a conversion would round twice. */
    if (type->kind == FLOAT && type->bytes == 4)
        *bits = bits_of_f32(strtof(text, &end));
    else
        *bits = encode_float(type, strtod(text, &end));
    return end != text && !*end;
}

static bool parse_size(const char *text, size_t *n)
{
    char *end;
    errno = 0;
    unsigned long long v = strtoull(text, &end, 0);
    *n = v;
    return end != text && !*end && !errno && *text != '-' && v > 0 && v <= SIZE_MAX / 8;
}

static void put_element(void *data, size_t i, const struct type *type, uint64_t bits)
{
    memcpy((char *)data + i * type->bytes, &bits,
           type->bytes); /* little-endian, as every target is */
}

static uint64_t get_element(const void *data, size_t i, const struct type *type)
{
    uint64_t bits = 0;
    memcpy(&bits, (const char *)data + i * type->bytes, type->bytes);
    return bits;
}

/* ---- files ----------------------------------------------------------------------------------- */

static bool write_file(const char *path, const void *data, size_t bytes)
{
    FILE *f = fopen(path, "wb");
    bool ok = f && fwrite(data, 1, bytes, f) == bytes;
    if (f && fclose(f))
        ok = false;
    if (!ok)
        fprintf(stderr, "ptera: cannot write %s: %s\n", path, strerror(errno));
    return ok;
}

/* ---- arguments ------------------------------------------------------------------------------- */

static bool alloc_buffer(ptera_engine *engine, struct arg *arg, size_t bytes)
{
    arg->is_buffer = true;
    arg->bytes = bytes;
    ptera_result r = ptera_buffer_alloc(engine, bytes, &arg->data);
    return r == PTERA_OK || complain(arg, ptera_result_text(r));
}

static bool parse_file(ptera_engine *engine, struct arg *arg, const char *path, bool save)
{
    size_t bytes;
    void *data = file_read(path, &bytes);
    if (!data)
        return false;
    bool ok = bytes > 0 ? alloc_buffer(engine, arg, bytes) : complain(arg, "the file is empty");
    if (ok)
        memcpy(arg->data, data, bytes);
    free(data);
    if (ok && save && !arg->save)
        arg->save = strdup(path);
    return ok;
}

static bool parse_out(ptera_engine *engine, struct arg *arg, char *rest)
{
    char *colon = strrchr(rest, ':');
    size_t bytes;
    if (!colon || colon == rest || !parse_size(colon + 1, &bytes))
        return complain(arg, "expected out:FILE:BYTES");
    *colon = 0;
    if (!arg->save)
        arg->save = strdup(rest);
    return alloc_buffer(engine, arg, bytes);
}

static uint64_t mix(uint64_t x)
{
    x += 0x9e3779b97f4a7c15;
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9;
    x = (x ^ x >> 27) * 0x94d049bb133111eb;
    return x ^ x >> 31;
}

static uint64_t random_element(const struct type *type, uint64_t seed, size_t i)
{
    uint64_t r = mix(mix(seed) + i);
    if (!is_float(type))
        return r;
    int digits = type->kind == HALF ? 11 : type->kind == BRAIN ? 8 : type->bytes == 4 ? 24 : 53;
    return encode_float(type, ldexp((double)(r >> (64 - digits)), -digits));
}

/* fill:TYPE:N:VALUE, iota:TYPE:N, rand:TYPE:N:SEED */
static bool parse_generated(ptera_engine *engine, struct arg *arg, const char *how, char *rest)
{
    char *field[3] = {rest, NULL, NULL};
    for (int i = 1; i < 3 && field[i - 1]; i++)
        if ((field[i] = strchr(field[i - 1], ':')))
            *field[i]++ = 0;
    bool is_iota = !strcmp(how, "iota");
    const struct type *type = find_type(field[0], strlen(field[0]));
    size_t n;
    if (!type)
        return complain(arg, "unknown element type");
    if (!field[1] || !parse_size(field[1], &n) || is_iota != !field[2])
        return complain(arg, is_iota ? "expected iota:TYPE:N" : "expected TYPE:N:VALUE");
    uint64_t value = 0;
    static const struct type seed_type = {"u64", UNSIGNED, 8};
    bool is_fill = !strcmp(how, "fill");
    if (field[2] && !parse_value(is_fill ? type : &seed_type, field[2], &value))
        return complain(arg, "the value does not fit the type");
    if (!alloc_buffer(engine, arg, n * type->bytes))
        return false;
    for (size_t i = 0; i < n; i++)
        put_element(arg->data, i, type,
                    is_fill   ? value
                    : is_iota ? (is_float(type) ? encode_float(type, (double)i) : i)
                              : random_element(type, value, i));
    return true;
}

static bool parse_scalar(struct arg *arg, const struct type *type, const char *value)
{
    uint64_t bits;
    if (!parse_value(type, value, &bits))
        return complain(arg, "the value does not fit the type");
    arg->bytes = type->bytes;
    arg->data = malloc(sizeof bits);
    if (!arg->data)
        return complain(arg, "out of memory");
    memcpy(arg->data, &bits, sizeof bits);
    return true;
}

/* Cuts @TYPE[:COUNT] and >FILE off the end of `s`. */
static bool cut_suffixes(struct arg *arg, char *s)
{
    char *save = strrchr(s, '>');
    if (save) {
        *save++ = 0;
        if (!*save)
            return complain(arg, "no file after '>'");
        arg->save = strdup(save);
    }
    char *at = strrchr(s, '@');
    char *colon = at ? strchr(at, ':') : NULL;
    size_t len = at ? (size_t)((colon ? colon : strchr(at, 0)) - at - 1) : 0;
    arg->print = at ? find_type(at + 1, len) : NULL;
    if (!arg->print)
        return true; /* an '@' that belongs to a file name */
    if (colon && !parse_size(colon + 1, &arg->print_count))
        return complain(arg, "bad count after '@'");
    *at = 0;
    return true;
}

static bool parse_body(ptera_engine *engine, struct arg *arg, char *s)
{
    char *rest = strchr(s, ':');
    if (!rest)
        return complain(arg, "expected KIND:VALUE");
    *rest++ = 0;
    const struct type *type = find_type(s, strlen(s));
    size_t bytes;
    if (type && type->kind < HALF)
        return parse_scalar(arg, type, rest);
    if (!strcmp(s, "in") || !strcmp(s, "inout"))
        return parse_file(engine, arg, rest, s[2] != 0);
    if (!strcmp(s, "out"))
        return parse_out(engine, arg, rest);
    if (!strcmp(s, "zero"))
        return parse_size(rest, &bytes) ? alloc_buffer(engine, arg, bytes)
                                        : complain(arg, "expected zero:BYTES");
    if (!strcmp(s, "fill") || !strcmp(s, "iota") || !strcmp(s, "rand"))
        return parse_generated(engine, arg, s, rest);
    if (!strcmp(s, "raw"))
        return (arg->data = file_read(rest, &arg->bytes)) != NULL;
    return complain(arg, "unknown kind of argument");
}

bool arg_parse(ptera_engine *engine, const char *text, struct arg *arg)
{
    memset(arg, 0, sizeof *arg);
    arg->text = text;
    char *copy = strdup(text);
    if (!copy)
        return complain(arg, "out of memory");
    bool ok = cut_suffixes(arg, copy) && parse_body(engine, arg, copy);
    free(copy);
    if (ok && !arg->is_buffer && (arg->print || arg->save))
        ok = complain(arg, "only a buffer can be printed or saved");
    if (ok && arg->print) {
        size_t n = arg->bytes / arg->print->bytes;
        if (arg->print_count > n)
            ok = complain(arg, "the buffer has fewer elements than are to be printed");
        else if (arg->print_count == 0)
            arg->print_count = n;
    }
    return ok;
}

static void print_element(const struct type *type, uint64_t bits)
{
    unsigned width = type->bytes * 8;
    switch (type->kind) {
    case UNSIGNED:
        printf("%" PRIu64, bits);
        break;
    case SIGNED:
        printf("%" PRId64, (int64_t)(bits << (64 - width)) >> (64 - width));
        break;
    case BITS:
        printf("0x%0*" PRIx64, (int)width / 4, bits);
        break;
    case HALF:
        printf("%.5g", widen(bits, 10, 5));
        break;
    case BRAIN:
        printf("%.4g", widen(bits, 7, 8));
        break;
    case FLOAT:
        if (type->bytes == 4)
            printf("%.9g", widen(bits, 23, 8));
        else
            printf("%.17g", widen(bits, 52, 11));
    }
}

bool arg_finish(const struct arg *arg)
{
    for (size_t i = 0; i < arg->print_count; i++) {
        if (i)
            putchar(' ');
        print_element(arg->print, get_element(arg->data, i, arg->print));
    }
    if (arg->print)
        putchar('\n');
    return !arg->save || write_file(arg->save, arg->data, arg->bytes);
}

void arg_read(ptera_engine *engine, const struct arg *arg)
{
    size_t shown = arg->print ? arg->print_count * arg->print->bytes : 0;
    if (arg->is_buffer)
        ptera_memory_read(engine, arg->data, arg->save ? arg->bytes : shown);
}

void arg_free(ptera_engine *engine, struct arg *arg)
{
    if (arg->is_buffer)
        ptera_buffer_free(engine, arg->data);
    else
        free(arg->data);
    free(arg->save);
}

bool parse_dim(const char *text, unsigned dim[3])
{
    char *end;
    dim[0] = dim[1] = dim[2] = 1;
    for (int i = 0; i < 3; i++) {
        errno = 0;
        unsigned long v = strtoul(text, &end, 0);
        if (end == text || *text == '-' || errno || v == 0 || v > UINT32_MAX)
            return false;
        dim[i] = (unsigned)v;
        if (!*end)
            return true;
        if (*end != ',')
            return false;
        text = end + 1;
    }
    return false;
}
