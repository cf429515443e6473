/* Lane semantics against the host's own arithmetic: directed rounding against its rounding modes,
 * the software fma against libm's, conversions and divisions likewise, over random values rich in
 * boundaries. */
#include <fenv.h>
#include <math.h>

#include "backend/semantics/convert.h"
#include "backend/semantics/integer.h"
#include "backend/semantics/logic.h"
#include "tests/unit/check.h"

enum { ROUNDS = 200000 };

static uint64_t state = 0x9e3779b97f4a7c15;

static uint64_t next(void)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state;
}

/* Bits of an f32: any, or near the ends of the exponent range, or of few digits. */
static uint32_t some_f32(void)
{
    uint32_t u = (uint32_t)next();
    switch (next() & 7) {
    case 0:
        return (u & 0x807fffff) | (uint32_t)(next() % 3) << 23;
    case 1:
        return (u & 0x807fffff) | (uint32_t)(252 + next() % 3) << 23;
    case 2:
        return (u & 0xff800000) | (uint32_t)(next() & 3) << 21;
    case 3:
        return (u & 0x807fffff) | (uint32_t)(120 + next() % 16) << 23;
    case 4:
        return u & 0x80000000;
    default:
        return u;
    }
}

static uint64_t some_f64(void)
{
    uint64_t u = next();
    switch (next() & 7) {
    case 0:
        return (u & 0x800fffffffffffff) | next() % 3 << 52;
    case 1:
        return (u & 0x800fffffffffffff) | (2044 + next() % 3) << 52;
    case 2:
        return (u & 0xfff0000000000000) | (next() & 7) << 49;
    case 3:
        return (u & 0x800fffffffffffff) | (1016 + next() % 16) << 52;
    case 4:
        return u & 1ull << 63;
    default:
        return u;
    }
}

static bool same32(uint32_t got, float want)
{
    return got == (isnan(want) ? PT_FLOAT_NAN : pt_lane_u32(want));
}

static bool same64(uint64_t got, double want)
{
    return isnan(want) ? pt_float_is_nan64(got) : got == pt_lane_u64(want);
}

/* `want` is evaluated in the host's mode for the rounding, the rest in round to nearest. */
#define IN_MODE(T, mode, want)    \
    ({                            \
        fesetround(mode);         \
        volatile T w_ = (want);   \
        fesetround(FE_TONEAREST); \
        w_;                       \
    })

static void check_f32(enum pt_round rnd, int mode)
{
    unsigned bad[6] = {0};
    for (int i = 0; i < ROUNDS; i++) {
        uint32_t a = some_f32(), b = some_f32(), c = some_f32();
        if (!(i & 3))
            c = pt_lane_u32(-(pt_lane_f32(a) * pt_lane_f32(b)));
        volatile float x = pt_lane_f32(a), y = pt_lane_f32(b), z = pt_lane_f32(c);
        bad[0] += !same32(pt_float_add(a, b, rnd, false, false), IN_MODE(float, mode, x + y));
        bad[1] += !same32(pt_float_mul(a, b, rnd, false, false), IN_MODE(float, mode, x *y));
        bad[2] +=
            !same32(pt_float_fma(a, b, c, rnd, false, false), IN_MODE(float, mode, fmaf(x, y, z)));
        bad[3] += !same32(pt_float_div(a, b, rnd, false), IN_MODE(float, mode, x / y));
        bad[4] += !same32(pt_float_sqrt(a, rnd, false), IN_MODE(float, mode, sqrtf(x)));
        volatile double wide = pt_lane_f64(some_f64());
        uint64_t bits = pt_lane_u64(wide);
        if (!pt_float_is_nan64(bits))
            bad[5] += !same32(pt_convert_f64_f32(bits, rnd, false, false),
                              IN_MODE(float, mode, (float)wide));
    }
    CHECK(bad[0] == 0);
    CHECK(bad[1] == 0);
    CHECK(bad[2] == 0);
    CHECK(bad[3] == 0);
    CHECK(bad[4] == 0);
    CHECK(bad[5] == 0);
}

static void check_f64(enum pt_round rnd, int mode)
{
    unsigned bad[6] = {0};
    for (int i = 0; i < ROUNDS; i++) {
        uint64_t a = some_f64(), b = some_f64(), c = some_f64(), n = next() >> (next() & 63);
        if (!(i & 3))
            c = pt_lane_u64(-(pt_lane_f64(a) * pt_lane_f64(b)));
        volatile double x = pt_lane_f64(a), y = pt_lane_f64(b), z = pt_lane_f64(c);
        volatile uint64_t m = n;
        bad[0] += !same64(pt_float_add64(a, b, rnd), IN_MODE(double, mode, x + y));
        bad[1] += !same64(pt_float_mul64(a, b, rnd), IN_MODE(double, mode, x *y));
        bad[2] += !same64(pt_float_fma64(a, b, c, rnd), IN_MODE(double, mode, fma(x, y, z)));
        bad[3] += !same64(pt_float_div64(a, b, rnd), IN_MODE(double, mode, x / y));
        bad[4] += !same64(pt_float_sqrt64(a, rnd), IN_MODE(double, mode, sqrt(x)));
        bad[5] += !same64(pt_convert_int_f64(m & INT64_MAX, false, rnd),
                          IN_MODE(double, mode, (double)(int64_t)(m & INT64_MAX)));
    }
    CHECK(bad[0] == 0);
    CHECK(bad[1] == 0);
    CHECK(bad[2] == 0);
    CHECK(bad[3] == 0);
    CHECK(bad[4] == 0);
    CHECK(bad[5] == 0);
}

/* Every half value survives the way to f32 and back, and rounding finds the nearer neighbour. */
static void check_half(void)
{
    unsigned bad = 0;
    for (uint32_t h = 0; h < 0x10000; h++)
        for (int fmt = PT_F16; fmt <= PT_BF16; fmt++)
            if (!pt_half_is_nan(h, fmt))
                bad += pt_half_from_f32(pt_half_to_f32(h, fmt), fmt, PT_RN) != h;
    CHECK(bad == 0);
    bad = 0;
    for (uint32_t h = 0; h < 0x7bff; h++) {
        float low = pt_lane_f32(pt_half_to_f32(h, PT_F16)),
              high = pt_lane_f32(pt_half_to_f32(h + 1, PT_F16));
        uint32_t middle = pt_lane_u32((low + high) / 2);
        bad += pt_half_from_f32(middle, PT_F16, PT_RN) != h + (h & 1);
        bad += pt_half_from_f32(middle + 1, PT_F16, PT_RN) != h + 1;
        bad += pt_half_from_f32(middle - 1, PT_F16, PT_RN) != h;
        bad += pt_half_from_f32(middle, PT_F16, PT_RZ) != h;
        bad += pt_half_from_f32(middle, PT_F16, PT_RP) != h + 1;
    }
    CHECK(bad == 0);
}

static void check_bits(void)
{
    unsigned bad = 0;
    for (int i = 0; i < ROUNDS; i++) {
        uint32_t x = (uint32_t)(next() >> (next() & 63));
        uint64_t y = next() >> (next() & 63);
        bad += pt_integer_popc32(x) != (uint32_t)__builtin_popcount(x);
        bad += pt_integer_popc64(y) != (uint32_t)__builtin_popcountll(y);
        bad += pt_integer_clz32(x) != (x ? (uint32_t)__builtin_clz(x) : 32);
        bad += pt_integer_clz64(y) != (y ? (uint32_t)__builtin_clzll(y) : 64);
        bad += pt_integer_brev32(pt_integer_brev32(x)) != x;
        bad += pt_logic_lop3(x, (uint32_t)y, (uint32_t)(y >> 32), 0x96) !=
               (x ^ (uint32_t)y ^ (uint32_t)(y >> 32));
    }
    CHECK(bad == 0);
    CHECK(pt_integer_div_s32(INT32_MIN, -1) == 0x80000000);
    CHECK(pt_integer_rem_s64(INT64_MIN, -1) == 0);
    CHECK(pt_integer_div_u32(7, 0) == UINT32_MAX);
}

int main(void)
{
    static const struct {
        enum pt_round rnd;
        int mode;
    } modes[] = {
        {PT_RN, FE_TONEAREST}, {PT_RZ, FE_TOWARDZERO}, {PT_RM, FE_DOWNWARD}, {PT_RP, FE_UPWARD}};
    for (int i = 0; i < 4; i++) {
        check_f32(modes[i].rnd, modes[i].mode);
        check_f64(modes[i].rnd, modes[i].mode);
    }
    check_half();
    check_bits();
    return CHECK_DONE("semantics");
}
