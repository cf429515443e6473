/* Checks every conversion against exact arithmetic, through the engine.
 *
 *     convert FORMS COUNT [FORM]
 *
 * FORMS is tests/assembler/isa/forms.tsv: all its cvt forms up to sm_90 are tested. Sources of up
 * to 16 bits are tested with every value; wider ones with every boundary value (each exponent with
 * the fractions next to each bit, each power of two and sums of two of them) and COUNT random ones.
 * What is right is computed here from the formats alone, in integers, and shares nothing with the
 * library. Forms that are not supported yet are counted as skipped. */
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ptera.h"

enum {
    BATCH = 1 << 20,
    ALL = 1 << 16,
    CTA = 256,
    STEPS = 16,
    MAX_FORMS = 1200,
    SHOWN = 3,
    THREADS = 2
};

static void die(const char *what)
{
    fprintf(stderr, "convert: %s\n", what);
    exit(2);
}

/* ---- formats and exact numbers --------------------------------------------------------------- */

enum kind { UNSIGNED, SIGNED, FLOAT };

struct format {
    const char *name;
    enum kind kind;
    int bits, fraction, bias; /* bits: of the value in its register */
    uint64_t largest, inf;    /* bits of the largest finite magnitude; of infinity, 0 if there is
                               * none */
    uint64_t nan;             /* what arithmetic returns */
};

enum { U8, S8, U16, S16, U32, S32, U64, S64, F16, BF16, F32, F64, TF32, E4M3, E5M2, FORMATS };

static const struct format formats[FORMATS] = {
    [U8] = {"u8", UNSIGNED, 8, 0, 0, 0, 0, 0},
    [S8] = {"s8", SIGNED, 8, 0, 0, 0, 0, 0},
    [U16] = {"u16", UNSIGNED, 16, 0, 0, 0, 0, 0},
    [S16] = {"s16", SIGNED, 16, 0, 0, 0, 0, 0},
    [U32] = {"u32", UNSIGNED, 32, 0, 0, 0, 0, 0},
    [S32] = {"s32", SIGNED, 32, 0, 0, 0, 0, 0},
    [U64] = {"u64", UNSIGNED, 64, 0, 0, 0, 0, 0},
    [S64] = {"s64", SIGNED, 64, 0, 0, 0, 0, 0},
    [F16] = {"f16", FLOAT, 16, 10, 15, 0x7bff, 0x7c00, 0x7fff},
    [BF16] = {"bf16", FLOAT, 16, 7, 127, 0x7f7f, 0x7f80, 0x7fff},
    [F32] = {"f32", FLOAT, 32, 23, 127, 0x7f7fffff, 0x7f800000, 0x7fffffff},
    [F64] = {"f64", FLOAT, 64, 52, 1023, 0x7fefffffffffffff, 0x7ff0000000000000, 0},
    /* without the 13 low bits that are always 0 */
    [TF32] = {"tf32", FLOAT, 32, 10, 127, 0x3fbff, 0x3fc00, 0x3ffff},
    [E4M3] = {"e4m3", FLOAT, 8, 3, 7, 0x7e, 0, 0x7f},
    [E5M2] = {"e5m2", FLOAT, 8, 2, 15, 0x7b, 0x7c, 0x7f},
};

enum round { TO_EVEN, TO_ZERO, DOWN, UP, AWAY };

/* (-1)^negative * m * 2^e, or not finite. */
struct number {
    enum { FINITE, INFINITE, NOT_A_NUMBER } is;
    bool negative;
    uint64_t m;
    int e;
};

static uint64_t low_bits(uint64_t v, int n)
{
    return n >= 64 ? v : v & ((1ull << n) - 1);
}

static struct number decode(const struct format *f, uint64_t bits)
{
    bits = low_bits(bits, f->bits);
    bool top = bits >> (f->bits - 1) & 1;
    if (f->kind == UNSIGNED)
        return (struct number){FINITE, false, bits, 0};
    if (f->kind == SIGNED)
        return (struct number){FINITE, top, top ? low_bits(0 - bits, f->bits) : bits, 0};
    uint64_t magnitude = low_bits(bits, f->bits - 1), fraction = low_bits(bits, f->fraction);
    int field = (int)(magnitude >> f->fraction);
    if (magnitude > f->largest)
        return (struct number){magnitude == f->inf ? INFINITE : NOT_A_NUMBER, top, 0, 0};
    if (field == 0)
        return (struct number){FINITE, top, fraction, 1 - f->bias - f->fraction};
    return (struct number){FINITE, top, fraction | 1ull << f->fraction,
                           field - f->bias - f->fraction};
}

/* m / 2^n rounded to an integer. */
static uint64_t cut(uint64_t m, int n, bool negative, enum round round)
{
    uint64_t q = n > 63 ? 0 : m >> n, rest = n > 63 ? m : low_bits(m, n);
    if (rest == 0)
        return q;
    int half = n > 64 ? -1 : rest > 1ull << (n - 1) ? 1 : rest == 1ull << (n - 1) ? 0 : -1;
    switch (round) {
    case TO_EVEN: return q + (half > 0 || (half == 0 && (q & 1)));
    case AWAY: return q + (half >= 0);
    case DOWN: return q + negative;
    case UP: return q + !negative;
    default: return q;
    }
}

static int top_bit(uint64_t m)
{
    return 63 - __builtin_clzll(m);
}

/* The magnitude of a finite number in a floating-point format; above f->largest if it overflows. */
static uint64_t encode_magnitude(const struct format *f, struct number x, enum round round)
{
    if (x.m == 0)
        return 0;
    int lowest = 1 - f->bias - f->fraction; /* exponent of the last place of subnormals */
    int place = top_bit(x.m) + x.e - f->fraction;
    if (place < lowest)
        place = lowest;
    uint64_t m = x.e >= place ? x.m << (x.e - place) : cut(x.m, place - x.e, x.negative, round);
    /* The leading 1 of a normal number adds one to the field; so does a carry out of the
     * fraction. */
    uint64_t bits = ((uint64_t)(place - lowest) << f->fraction) + m;
    if (bits <= f->largest)
        return bits;
    bool inward = round == TO_ZERO || (round == DOWN && !x.negative) || (round == UP && x.negative);
    return inward ? f->largest : f->largest + 1;
}

static struct number integral(struct number x, enum round round)
{
    if (x.is == FINITE && x.e < 0) {
        x.m = cut(x.m, -x.e, x.negative, round);
        x.e = 0;
    }
    return x;
}

/* The nearest value of an integer format to an integral number. */
static uint64_t clamp_integer(const struct format *f, struct number x)
{
    bool huge = x.is == INFINITE || (x.m && top_bit(x.m) + x.e > 63);
    uint64_t m = huge ? UINT64_MAX : x.m << x.e;
    uint64_t most = f->kind == SIGNED ? (1ull << (f->bits - 1)) - !x.negative
                    : x.negative      ? 0
                                      : low_bits(~0ull, f->bits);
    if (m > most)
        m = most;
    return low_bits(x.negative ? 0 - m : m, f->bits);
}

/* ---- forms ----------------------------------------------------------------------------------- */

struct form {
    char spelling[64];
    const struct format *to, *from;
    int to_bits, from_bits; /* of the registers */
    unsigned operands, lanes;
    enum round round;
    bool integral, ftz, sat, relu, satfinite;
    ptera_kernel *kernel;
    uint64_t bad, tested;
};

static struct form form[MAX_FORMS];
static unsigned n_forms, n_skipped;

/* What a NaN becomes: the PTX manual leaves most of this open, the hardware does not. */
static uint64_t convert_nan(const struct form *k, uint64_t a)
{
    bool plain = !k->integral && !k->ftz && !k->relu && !k->satfinite;
    bool from64 = k->from->bits == 64;
    if (k->to->kind != FLOAT)
        return from64 || k->to->bits == 64 ? 1ull << (k->to->bits - 1) : 0;
    if (k->sat)
        return 0;
    if (k->to->bits == 64) { /* the payload moves to the top */
        if (from64)
            return plain ? a : a | 1ull << 51;
        if (k->from == &formats[F16])
            return (a & 0x8000) << 48 | 0x7ff8000000000000 | (a & 0x3ff) << 42;
        uint64_t f32 = k->ftz ? 0x7fffffff : k->from->bits == 16 ? a << 16 : a;
        return (f32 & 0x80000000) << 32 | 0x7ff8000000000000 | (f32 & 0x7fffff) << 29;
    }
    if (from64) { /* the payload loses its low bits, and is quiet */
        int lost = 52 - k->to->fraction;
        uint64_t payload = (a | 1ull << 51) >> lost;
        return low_bits(payload, k->to->fraction) | k->to->inf | (a >> 63) << (k->to->bits - 1);
    }
    if (plain && k->from == k->to && k->to->bits == 32)
        return a; /* a move */
    if (plain && k->from == &formats[BF16] && k->to->bits == 32)
        return a << 16;
    return k->to->nan;
}

static bool is_subnormal_f32(uint64_t bits)
{
    return (bits & 0x7f800000) == 0;
}

/* Whether .ftz makes an f32 result 0: what counts is the number rounded to 24 bits, of whatever
 * exponent. Just below the smallest normal number that is less than the result without .ftz, which
 * has one bit fewer to round to. */
static bool is_tiny_f32(struct number x, enum round round)
{
    if (x.is != FINITE || x.m == 0)
        return false;
    int drop = top_bit(x.m) - 23;
    uint64_t m = drop > 0 ? cut(x.m, drop, x.negative, round) : x.m;
    return top_bit(m) + x.e + (drop > 0 ? drop : 0) < -126;
}

static uint64_t convert_float(const struct form *k, struct number x)
{
    const struct format *f = k->to;
    uint64_t sign = 1ull << (f->bits - 1), one = (uint64_t)f->bias << f->fraction;
    uint64_t bits = x.is == INFINITE ? f->largest + 1 : encode_magnitude(f, x, k->round);
    if (bits > f->largest)
        bits = k->satfinite || !f->inf ? f->largest : f->inf;
    if (k->ftz && f == &formats[F32] && is_tiny_f32(x, k->round))
        bits = 0;
    if (k->sat)
        return x.negative ? 0 : bits > one ? one : bits;
    if (k->relu && x.negative)
        return 0;
    return x.negative ? bits | sign : bits;
}

/* To tf32 by .rna a NaN is cut like any other bits; .satfinite takes what has the exponent of
 * infinity one step back. */
static uint64_t convert_rna(const struct form *k, uint64_t a, struct number x)
{
    uint64_t bits = x.is != FINITE ? low_bits(a, 31) >> 13 : encode_magnitude(k->to, x, k->round);
    if (k->satfinite && bits >= k->to->inf)
        bits -= 1;
    return bits << 13 | (a & 0x80000000);
}

static uint64_t convert_tf32(const struct form *k, uint64_t a, struct number x)
{
    if (k->round == AWAY)
        return convert_rna(k, a, x);
    if (x.is == NOT_A_NUMBER)
        return k->to->nan << 13;
    bool sign = x.negative;
    x.negative = false;
    uint64_t bits = convert_float(k, x) << 13;
    return !sign ? bits : k->relu ? 0 : bits | 0x80000000;
}

/* .ftz flushes an f32 source, except that the assembler drops it between f32 and f16 with .rm and
 * .rp. */
static bool flushes_source(const struct form *k)
{
    bool dropped = k->to == &formats[F16] && (k->round == DOWN || k->round == UP);
    return k->ftz && k->from == &formats[F32] && !dropped;
}

/* One lane: the bits of the result's format. */
static uint64_t convert_lane(const struct form *k, uint64_t a)
{
    a = low_bits(a, k->from->bits);
    if (k->to->kind != FLOAT && k->from->kind != FLOAT && !k->sat) {
        struct number x = decode(k->from, a);
        return low_bits(x.negative ? 0 - x.m : x.m, k->to->bits);
    }
    if (flushes_source(k) && is_subnormal_f32(a))
        a &= 0x80000000;
    struct number x = decode(k->from, a);
    if (k->to == &formats[TF32])
        return convert_tf32(k, a, x);
    if (x.is == NOT_A_NUMBER)
        return convert_nan(k, a);
    if (k->integral)
        x = integral(x, k->round);
    return k->to->kind == FLOAT ? convert_float(k, x) : clamp_integer(k->to, x);
}

/* What the destination register holds. */
static uint64_t convert(const struct form *k, uint64_t a, uint64_t b)
{
    uint64_t r;
    if (k->operands == 2) /* the first operand goes to the upper half */
        r = convert_lane(k, a) << k->to->bits | convert_lane(k, b);
    else if (k->lanes == 2)
        r = convert_lane(k, a >> k->from->bits) << k->to->bits | convert_lane(k, a);
    else
        r = convert_lane(k, a);
    if (k->to->kind == SIGNED && r >> (k->to->bits - 1) & 1)
        r |= k->to->bits < 64 ? ~0ull << k->to->bits : 0;
    return low_bits(r, k->to_bits);
}

/* ---- reading the forms ----------------------------------------------------------------------- */

static const struct format *find_format(const char *name, unsigned *lanes)
{
    size_t n = strlen(name);
    if (n > 2 && strcmp(name + n - 2, "x2") == 0) {
        n -= 2;
        *lanes = 2;
    }
    for (int i = 0; i < FORMATS; i++)
        if (strlen(formats[i].name) == n && memcmp(formats[i].name, name, n) == 0)
            return &formats[i];
    return NULL;
}

static bool set_modifier(struct form *k, const char *m)
{
    static const char *const roundings[] = {"rn", "rz", "rm", "rp", "rna"};
    for (int i = TO_EVEN; i <= AWAY; i++) {
        bool is_integral = strlen(m) == 3 && m[2] == 'i' && memcmp(m, roundings[i], 2) == 0;
        if (strcmp(m, roundings[i]) == 0 || is_integral) {
            k->round = (enum round)i;
            k->integral = is_integral;
            return true;
        }
    }
    bool *flag = strcmp(m, "ftz") == 0         ? &k->ftz
                 : strcmp(m, "sat") == 0       ? &k->sat
                 : strcmp(m, "relu") == 0      ? &k->relu
                 : strcmp(m, "satfinite") == 0 ? &k->satfinite
                                               : NULL;
    if (flag)
        *flag = true;
    return flag != NULL;
}

/* Of %b, %rs, %r, %rd, %f and %fd. */
static int register_bits(const char *name)
{
    return name[1] == 'b' ? 8 : name[2] == 's' ? 16 : name[2] == 'd' ? 64 : 32;
}

/* `text` is an example: cvt.MODIFIERS.TO.FROM %d1, %a2[, %b3]; */
static void parse_form(struct form *k, char *text)
{
    char *part[12], *operand[4];
    int n = 0;
    unsigned n_operands = 0;
    *k = (struct form){.lanes = 1};
    char *rest = strchr(text, ' ');
    *rest++ = 0;
    snprintf(k->spelling, sizeof k->spelling, "%s", text);
    for (char *p = strtok(text, "."); p && n < 12; p = strtok(NULL, "."))
        part[n++] = p;
    for (char *p = strtok(rest, ", ;"); p && n_operands < 4; p = strtok(NULL, ", ;"))
        operand[n_operands++] = p;
    k->to = find_format(part[n - 2], &k->lanes);
    k->from = find_format(part[n - 1], &k->lanes);
    k->operands = n_operands - 1;
    bool known = k->to && k->from && n_operands >= 2 && n_operands <= 3;
    for (int i = 1; known && i < n - 2; i++)
        known = set_modifier(k, part[i]);
    if (!known)
        die(k->spelling);
    k->to_bits = register_bits(operand[0]);
    k->from_bits = register_bits(operand[1]);
}

static void read_forms(const char *path, const char *only)
{
    char line[512];
    FILE *f = fopen(path, "r");
    if (!f)
        die(path);
    while (fgets(line, sizeof line, f)) {
        int target;
        if (sscanf(line, "cvt\t%*s\tsm_%d", &target) != 1 || target > 90)
            continue;
        char *example = strrchr(line, '\t') + 1;
        example[strcspn(example, "\n")] = 0;
        if (strncmp(example, "cvt.", 4) != 0 || strncmp(example, "cvt.pack", 8) == 0)
            continue;
        if (n_forms == MAX_FORMS)
            die("too many forms");
        parse_form(&form[n_forms], example);
        n_forms += !only || strcmp(only, form[n_forms].spelling) == 0;
    }
    fclose(f);
}

/* ---- running --------------------------------------------------------------------------------- */

static ptera_engine *engine;
static void *in[2], *out;

/* Element i is read from in0 and in1 and written to out, each as wide as its register. Returns
 * whether it is supported. */
static bool load_kernel(struct form *k)
{
    static char text[16384];
    char *p = text;
    int d = k->to_bits, a = k->from_bits;
    p += sprintf(p,
                 ".version 8.6\n.target sm_90\n.address_size 64\n"
                 ".visible .entry k(.param .u64 in0, .param .u64 in1, .param .u64 out)\n{\n"
                 "    .reg .b%d %%d<%d>;\n    .reg .b%d %%a<%d>, %%b<%d>;\n    .reg .b32 %%r<4>;\n"
                 "    .reg .b64 %%rd<8>;\n"
                 "    mov.u32 %%r0, %%ctaid.x;\n    mov.u32 %%r1, %%tid.x;\n"
                 "    mad.lo.u32 %%r0, %%r0, %d, %%r1;\n"
                 "    ld.param.u64 %%rd0, [in0];\n    ld.param.u64 %%rd1, [in1];\n"
                 "    ld.param.u64 %%rd2, [out];\n"
                 "    mad.wide.u32 %%rd0, %%r0, %d, %%rd0;\n"
                 "    mad.wide.u32 %%rd1, %%r0, %d, %%rd1;\n"
                 "    mad.wide.u32 %%rd2, %%r0, %d, %%rd2;\n",
                 d, STEPS, a, STEPS, STEPS, STEPS * CTA, a / 8, a / 8, d / 8);
    for (int i = 0; i < STEPS; i++) {
        p += sprintf(p, "    ld.global.b%d %%a%d, [%%rd0+%d];\n", a, i, i * CTA * a / 8);
        if (k->operands == 2)
            p += sprintf(p, "    ld.global.b%d %%b%d, [%%rd1+%d];\n"
                            "    %s %%d%d, %%a%d, %%b%d;\n", a, i,
                         i * CTA * a / 8, k->spelling, i, i, i);
        else
            p += sprintf(p, "    %s %%d%d, %%a%d;\n", k->spelling, i, i);
        p += sprintf(p, "    st.global.b%d [%%rd2+%d], %%d%d;\n", d, i * CTA * d / 8, i);
    }
    p += sprintf(p, "    ret;\n}\n");
    ptera_module *module;
    ptera_diagnostic diagnostic = {.size = sizeof diagnostic};
    ptera_result r = ptera_module_load(engine, k->spelling, text, (size_t)(p - text), &module);
    if (r != PTERA_OK && module && ptera_module_diagnostic(module, 0, &diagnostic) == PTERA_OK)
        die(diagnostic.text);
    if (r != PTERA_OK || ptera_module_kernel(module, "k", 0, &k->kernel) != PTERA_OK)
        die(k->spelling);
    bool unsupported =
        ptera_module_diagnostic(module, 0, &diagnostic) == PTERA_OK && diagnostic.is_unsupported;
    return !unsupported;
}

static uint64_t get(const void *array, size_t i, int bits)
{
    switch (bits) {
    case 8: return ((const uint8_t *)array)[i];
    case 16: return ((const uint16_t *)array)[i];
    case 32: return ((const uint32_t *)array)[i];
    default: return ((const uint64_t *)array)[i];
    }
}

static void put(void *array, size_t i, int bits, uint64_t v)
{
    switch (bits) {
    case 8: ((uint8_t *)array)[i] = (uint8_t)v; break;
    case 16: ((uint16_t *)array)[i] = (uint16_t)v; break;
    case 32: ((uint32_t *)array)[i] = (uint32_t)v; break;
    default: ((uint64_t *)array)[i] = v; break;
    }
}

struct share {
    const struct form *form;
    size_t begin, end;
    uint64_t bad;
    size_t shown[SHOWN];
};

static void *compare_share(void *ud)
{
    struct share *s = ud;
    const struct form *k = s->form;
    int from = k->from_bits, to = k->to_bits;
    for (size_t i = s->begin; i < s->end; i++)
        if (get(out, i, to) != convert(k, get(in[0], i, from), get(in[1], i, from)) &&
            s->bad++ < SHOWN)
            s->shown[s->bad - 1] = i;
    return NULL;
}

static void show(const struct form *k, size_t i)
{
    int from = k->from_bits;
    uint64_t a = get(in[0], i, from), b = get(in[1], i, from);
    printf("%s (b%d to b%d) of %llx", k->spelling, k->from_bits, k->to_bits, (unsigned long long)a);
    if (k->operands == 2)
        printf(" %llx", (unsigned long long)b);
    printf(" gave %llx, not %llx\n", (unsigned long long)get(out, i, k->to_bits),
           (unsigned long long)convert(k, a, b));
}

/* Runs the first n elements, a multiple of CTA * STEPS, through a form. */
static void test_batch(struct form *k, size_t n)
{
    ptera_launch launch;
    ptera_launch_init(&launch);
    launch.grid[0] = (unsigned)(n / (CTA * STEPS));
    launch.block[0] = CTA;
    launch.parameters = (const void *[]){&in[0], &in[1], &out};
    launch.n_parameters = 3;
    if (ptera_kernel_launch(k->kernel, &launch) != PTERA_OK)
        die(ptera_engine_error(engine));
    struct share share[THREADS];
    pthread_t thread[THREADS];
    for (size_t t = 0; t < THREADS; t++) {
        share[t] =
            (struct share){.form = k, .begin = n * t / THREADS, .end = n * (t + 1) / THREADS};
        if (pthread_create(&thread[t], NULL, compare_share, &share[t]))
            die("no thread");
    }
    for (size_t t = 0; t < THREADS; t++) {
        pthread_join(thread[t], NULL);
        for (uint64_t i = 0; i < share[t].bad && i < SHOWN && k->bad + i < SHOWN; i++)
            show(k, share[t].shown[i]);
        k->bad += share[t].bad;
    }
    k->tested += n;
}

/* ---- inputs ---------------------------------------------------------------------------------- */

static uint64_t state = 0x243f6a8885a308d3;

static uint64_t next_random(void)
{
    uint64_t z = state += 0x9e3779b97f4a7c15;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
    z = (z ^ z >> 27) * 0x94d049bb133111eb;
    return z ^ z >> 31;
}

/* One in four any bits; the others near where formats begin and end, many of them ties. */
static uint64_t random_value(const struct format *f)
{
    uint64_t v = next_random(), r = next_random();
    if ((r & 3) == 0)
        return low_bits(v, f->bits);
    if (f->kind != FLOAT) {
        v = low_bits(v, f->bits) >> (r >> 2) % (unsigned)f->bits;
        if (r >> 32 & 1)
            v = v >> (r >> 8 & 63) << (r >> 8 & 63);
        return low_bits(r >> 33 & 1 ? 0 - v : v, f->bits);
    }
    int exponent = (int)((r >> 8) % 300) - 160 + f->bias;
    if (exponent < 0)
        exponent = 0;
    if (exponent > 2 * f->bias)
        exponent = 2 * f->bias;
    uint64_t fraction = low_bits(v, f->fraction);
    unsigned cleared = (unsigned)(r >> 24) % (unsigned)(f->fraction + 1);
    if (r >> 32 & 1)
        fraction = fraction >> cleared << cleared;
    if (r >> 33 & 1)
        fraction |= low_bits(~0ull << (r >> 34) % (unsigned)(f->fraction + 1), f->fraction);
    return (v >> 63) << (f->bits - 1) | (uint64_t)exponent << f->fraction | fraction;
}

static size_t add_value(size_t n, const struct format *f, uint64_t v)
{
    if (n < BATCH)
        put(in[0], n, f->bits, low_bits(v, f->bits));
    return n + 1;
}

/* Every boundary value of a format, in in[0]; returns how many. */
static size_t boundaries(const struct format *f)
{
    size_t n = 0;
    if (f->kind != FLOAT) {
        for (int i = 0; i < f->bits; i++)
            for (int j = 0; j <= i; j++)
                for (int k = 0; k < 6; k++) {
                    uint64_t v = (1ull << i) + (j < i ? 1ull << j : 0) + (uint64_t)(k % 3) - 1;
                    n = add_value(n, f, k < 3 ? v : 0 - v);
                }
        return n;
    }
    for (uint64_t exponent = 0; exponent <= 2 * (uint64_t)f->bias + 1; exponent++)
        for (int bit = 0; bit < f->fraction; bit++)
            for (int k = 0; k < 8; k++) {
                uint64_t one = 1ull << bit;
                uint64_t fraction = (k & 3) == 0   ? one
                                    : (k & 3) == 1 ? one - 1
                                    : (k & 3) == 2 ? one + 1
                                                   : 0 - one;
                n = add_value(n, f, (uint64_t)k >> 2 << (f->bits - 1) | exponent << f->fraction |
                                        low_bits(fraction, f->fraction));
            }
    return n;
}

/* Puts values with the same upper bits next to each other: the branches of what is computed here
 * are then foreseen, which nearly halves the time. */
static void order_inputs(const struct format *f, size_t n)
{
    static uint64_t copy[BATCH];
    static size_t place[ALL + 1];
    int shift = f->bits > 16 ? f->bits - 16 : 0;
    memset(place, 0, sizeof place);
    for (size_t i = 0; i < n; i++) {
        copy[i] = get(in[0], i, f->bits);
        place[(copy[i] >> shift) + 1]++;
    }
    for (size_t i = 0; i < ALL; i++)
        place[i + 1] += place[i];
    for (size_t i = 0; i < n; i++)
        put(in[0], place[copy[i] >> shift]++, f->bits, copy[i]);
}

/* Fills both inputs up to a multiple of a CTA's share; in[1] is in[0] in another order. Returns how
 * many there are. */
static size_t finish_inputs(const struct format *f, size_t n)
{
    if (n > BATCH)
        die("too many boundary values");
    while (n % (CTA * STEPS))
        put(in[0], n++, f->bits, random_value(f));
    for (size_t i = 0; i < n; i++)
        put(in[1], i, f->bits, get(in[0], (i * 40503 + 12345) % n, f->bits));
    return n;
}

static void test_group(struct form *first, struct form *end, uint64_t count)
{
    const struct format *f = first->from;
    int bits = first->from_bits;
    if (f->bits * (int)first->lanes <= 16 || (first->operands == 1 && first->lanes == 2)) {
        for (size_t i = 0; i < ALL; i++) /* every pair of 8-bit lanes, or every value of each 16-bit
                                          * lane */
            put(in[0], i, bits, i | (i * 40503 & 0xffff) << 16);
        for (struct form *k = first; k < end; k++)
            test_batch(k, ALL);
        return;
    }
    size_t n = finish_inputs(f, boundaries(f));
    for (struct form *k = first; k < end; k++)
        test_batch(k, n);
    for (uint64_t done = 0; done < count; done += n) {
        n = count - done < BATCH ? (size_t)(count - done) : BATCH;
        for (size_t i = 0; i < n; i++)
            put(in[0], i, f->bits, random_value(f));
        order_inputs(f, n);
        n = finish_inputs(f, n);
        for (struct form *k = first; k < end; k++)
            test_batch(k, n);
    }
}

/* Forms with the same inputs next to each other. */
static int compare_forms(const void *a, const void *b)
{
    const struct form *x = a, *y = b;
    if (x->from != y->from)
        return x->from < y->from ? -1 : 1;
    int widths = x->from_bits - y->from_bits;
    int shapes = (int)(4 * x->lanes + x->operands) - (int)(4 * y->lanes + y->operands);
    return widths ? widths : shapes ? shapes : strcmp(x->spelling, y->spelling);
}

static bool same_inputs(const struct form *x, const struct form *y)
{
    return x->from == y->from && x->from_bits == y->from_bits && x->lanes == y->lanes &&
           x->operands == y->operands;
}

static void load_forms(void)
{
    unsigned kept = 0;
    for (unsigned i = 0; i < n_forms; i++) {
        if (load_kernel(&form[i])) {
            form[kept++] = form[i];
        } else {
            printf("skipped convert: %s is not supported yet\n", form[i].spelling);
            n_skipped++;
        }
    }
    n_forms = kept;
    qsort(form, n_forms, sizeof *form, compare_forms);
}

int main(int argc, char **argv)
{
    if (argc < 3) {
        fprintf(stderr, "usage: convert FORMS COUNT [FORM]\n");
        return 2;
    }
    read_forms(argv[1], argc > 3 ? argv[3] : NULL);
    if (ptera_engine_create(NULL, &engine) != PTERA_OK ||
        ptera_buffer_alloc(engine, 8 * BATCH, &in[0]) != PTERA_OK ||
        ptera_buffer_alloc(engine, 8 * BATCH, &in[1]) != PTERA_OK ||
        ptera_buffer_alloc(engine, 8 * BATCH, &out) != PTERA_OK)
        die("no engine");
    load_forms();
    for (unsigned i = 0, j; i < n_forms; i = j) {
        for (j = i + 1; j < n_forms && same_inputs(&form[i], &form[j]); j++)
            continue;
        test_group(&form[i], &form[j], strtoull(argv[2], NULL, 10));
    }
    unsigned failed = 0;
    uint64_t tested = 0;
    for (unsigned i = 0; i < n_forms; i++) {
        failed += form[i].bad != 0;
        tested += form[i].tested;
        if (form[i].bad)
            printf("%s: %llu of %llu differ\n", form[i].spelling, (unsigned long long)form[i].bad,
                   (unsigned long long)form[i].tested);
    }
    ptera_engine_destroy(engine);
    printf("%llu conversions\n", (unsigned long long)tested);
    printf("convert: %u passed, %u failed, %u skipped\n", n_forms - failed, failed, n_skipped);
    return failed != 0 || n_forms == 0;
}
