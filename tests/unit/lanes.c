/* The functions over n lanes that engines give to others (backend/lanes.h), at every CPU level of
 * this machine: they are found for the forms that have one, by form and by name; they compute what
 * the lane functions compute, also in place, and write n elements. */
#include "backend/exec.h"
#include "backend/semantics/convert.h"
#include "backend/semantics/mufu.h"
#include "tests/unit/load.h"

enum { LANES = 32, N = 12 };

static const char text[] =
    LOAD_HEADER ".entry k()\n{\n.reg .pred %p;\n.reg .b16 %h<4>;\n.reg .b32 %r<4>;\n.reg .b64 "
                "%l<4>;\n.reg .f32 %f<4>;\n.reg .f64 %d<4>;\n"
                "sin.approx.f32 %f0, %f1;\n"
                "ex2.approx.ftz.bf16x2 %r0, %r1;\n"
                "rsqrt.approx.f64 %d0, %d1;\n"
                "fma.rz.ftz.f32 %f0, %f1, %f2, %f3;\n"
                "add.rm.f64 %d0, %d1, %d2;\n"
                "fma.rn.relu.f16x2 %r0, %r1, %r2, %r3;\n"
                "cvt.rn.f16.f32 %h0, %f1;\n"
                "mul.wide.u16 %r0, %h1, %h2;\n"
                "mul.wide.u32 %l0, %r1, %r2;\n"
                "lop3.b32 %r0, %r1, %r2, %r3, 0x96;\n"
                "setp.lt.f32 %p, %f1, %f2;\n"
                "add.cc.u32 %r0, %r1, %r2;\n"
                "mov.b32 %r0, %r1;\n"
                "ret;\n}\n";

static uint64_t expect(unsigned insn, uint64_t a, uint64_t b, uint64_t c)
{
    uint32_t x = (uint32_t)a, y = (uint32_t)b, z = (uint32_t)c;
    switch (insn) {
    case 0:
        return pt_mufu_sincos(x, false);
    case 1:
        return PT_HALF_BOTH(pt_mufu_ex2_half(x, PT_BF16), pt_mufu_ex2_half(x >> 16, PT_BF16));
    case 2:
        return pt_mufu_rsqrt64(a);
    case 3:
        return pt_float_fma(x, y, z, PT_RZ, true, false);
    case 4:
        return pt_float_add64(a, b, PT_RM);
    case 5:
        return PT_HALF_BOTH(
            pt_half_fma(x, y, z, PT_F16, false, false, true, false),
            pt_half_fma(x >> 16, y >> 16, z >> 16, PT_F16, false, false, true, false));
    case 6:
        return pt_half_from_f32(x, PT_F16, PT_RN);
    case 7:
        return (uint32_t)(uint16_t)x * (uint16_t)y;
    default:
        return (uint64_t)x * y;
    }
}

enum { WITH_LANES = 9 }; /* instructions that have one: the first */

/* One slot a source, and one of the result. */
union slot {
    uint32_t w[LANES];
    uint64_t l[LANES];
};

static uint64_t element(const union slot *s, uint8_t bytes, unsigned i)
{
    return bytes == 8 ? s->l[i] : bytes == 4 ? s->w[i] : 0;
}

static void fill(union slot *s, uint8_t bytes, uint32_t *state)
{
    memset(s, 0xa5, sizeof *s);
    for (unsigned i = 0; i < LANES; i++) {
        uint64_t bits = (uint64_t)next_random(state) << 40 ^ (uint64_t)next_random(state) << 20 ^
                        next_random(state);
        if (bytes == 8)
            s->l[i] = bits;
        else
            s->w[i] = (uint32_t)(bits >> 16);
    }
}

static unsigned wrong_results(const struct pt_lanes *lanes, unsigned insn, bool in_place)
{
    static union slot a, b, c, d;
    uint32_t state = insn + 1;
    unsigned wrong = 0;
    for (int round = 0; round < 1000; round++) {
        fill(&a, lanes->bytes[1], &state);
        fill(&b, lanes->bytes[2], &state);
        fill(&c, lanes->bytes[3], &state);
        union slot first = a, *to = in_place ? &a : &d;
        memset(&d, 0x5a, sizeof d);
        union slot before = *to;
        lanes->fn(to, &a, lanes->bytes[2] ? &b : NULL, lanes->bytes[3] ? &c : NULL, N);
        for (unsigned i = 0; i < LANES; i++) {
            uint64_t want =
                expect(insn, element(&first, lanes->bytes[1], i), element(&b, lanes->bytes[2], i),
                       element(&c, lanes->bytes[3], i));
            uint8_t bytes = lanes->bytes[0];
            wrong += element(to, bytes, i) != (i < N ? want : element(&before, bytes, i));
        }
    }
    return wrong;
}

/* ---- operations that levels compute in ways of their own, against the lane functions at the base
 * level  */

static const char *const named[] = {
    "rcp_approx_f32",  "rcp_approx_ftz_f32",  "rsqrt_approx_f32", "rsqrt_approx_ftz_f32",
    "sqrt_approx_f32", "sqrt_approx_ftz_f32", "ex2_approx_f32",   "ex2_approx_ftz_f32",
    "lg2_approx_f32",  "lg2_approx_ftz_f32",  "sin_approx_f32",   "cos_approx_f32",
    "add_rm_f32",      "sub_rp_ftz_sat_f32",  "mul_rz_f32",       "mul_rp_ftz_f32",
    "fma_rm_f32",      "fma_rz_ftz_f32",      "fma_rm_ftz_f32",   "fma_rp_ftz_sat_f32",
    "div_rm_f32",      "div_rz_ftz_f32",      "rcp_rp_ftz_f32",   "sqrt_rm_ftz_f32",
    "add_rz_f64",      "sub_rm_f64",          "mul_rp_f64",       "fma_rm_f64",
    "div_rz_f64",      "rcp_rp_f64",          "sqrt_rm_f64",
};

static uint64_t expect_named(unsigned i, uint64_t a, uint64_t b, uint64_t c)
{
    uint32_t x = (uint32_t)a, y = (uint32_t)b, z = (uint32_t)c;
    const uint64_t one = 0x3ff0000000000000;
    const uint64_t results[] = {
        pt_mufu_rcp(x, false),
        pt_mufu_rcp(x, true),
        pt_mufu_rsqrt(x, false),
        pt_mufu_rsqrt(x, true),
        pt_mufu_root(x, false),
        pt_mufu_root(x, true),
        pt_mufu_ex2(x, false),
        pt_mufu_ex2(x, true),
        pt_mufu_lg2(x, false),
        pt_mufu_lg2(x, true),
        pt_mufu_sincos(x, false),
        pt_mufu_sincos(x, true),
        pt_float_add(x, y, PT_RM, false, false),
        pt_float_sub(x, y, PT_RP, true, true),
        pt_float_mul(x, y, PT_RZ, false, false),
        pt_float_mul(x, y, PT_RP, true, false),
        pt_float_fma(x, y, z, PT_RM, false, false),
        pt_float_fma(x, y, z, PT_RZ, true, false),
        pt_float_fma(x, y, z, PT_RM, true, false),
        pt_float_fma(x, y, z, PT_RP, true, true),
        pt_float_div(x, y, PT_RM, false),
        pt_float_div(x, y, PT_RZ, true),
        pt_float_div(0x3f800000, x, PT_RP, true),
        pt_float_sqrt(x, PT_RM, true),
        pt_float_add64(a, b, PT_RZ),
        pt_float_sub64(a, b, PT_RM),
        pt_float_mul64(a, b, PT_RP),
        pt_float_fma64(a, b, c, PT_RM),
        pt_float_div64(a, b, PT_RZ),
        pt_float_div64(one, a, PT_RP),
        pt_float_sqrt64(a, PT_RM),
    };
    _Static_assert(sizeof results / sizeof *results == sizeof named / sizeof *named,
                   "each operation has its result");
    return results[i];
}

/* Corners of the format in some elements; in others exponents near 0, where results are inexact but
 * ordinary. */
static void fill_corners(union slot *s, uint8_t bytes, uint32_t *state)
{
    static const uint32_t corners[] = {0,          1,          0x7fffff,   0x800000,   0x800001,
                                       0x3f800000, 0x40000000, 0x7e800001, 0x7f7fffff, 0x7f800000,
                                       0x7fc00000, 0x42fe0000, 0xc2fc0001, 0x4b800000, 0x3f7fffff};
    fill(s, bytes, state);
    for (unsigned i = 0; i < LANES; i++) {
        uint32_t how = next_random(state) >> 13, sign = how << 31;
        uint32_t corner = corners[(how >> 8) % (sizeof corners / sizeof *corners)] ^ sign;
        if (bytes == 8 && how % 8 < 2)
            s->l[i] = pt_lane_u64((double)pt_lane_f32(corner)) + how % 3;
        else if (bytes == 8 && how % 8 < 6)
            s->l[i] = (s->l[i] & 0x801fffffffffffff) | 0x3fe0000000000000;
        else if (bytes == 4 && how % 8 < 2)
            s->w[i] = corner;
        else if (bytes == 4 && how % 8 < 6)
            s->w[i] = (s->w[i] & 0x81ffffff) | 0x3e000000;
    }
}

static void check_named(const struct pt_engine *engine)
{
    static union slot a, b, c, d;
    uint32_t state = 1;
    for (unsigned k = 0; k < sizeof named / sizeof *named; k++) {
        const struct pt_lanes *lanes = engine->lanes_named(named[k]);
        unsigned wrong = 0;
        for (int round = 0; lanes && round < 4000; round++) {
            unsigned n = round % 2 ? LANES : 4 * (1 + (unsigned)round / 2 % 8);
            fill_corners(&a, lanes->bytes[1], &state);
            fill_corners(&b, lanes->bytes[2], &state);
            fill_corners(&c, lanes->bytes[3], &state);
            lanes->fn(&d, &a, &b, &c, n);
            for (unsigned i = 0; i < n; i++)
                wrong +=
                    element(&d, lanes->bytes[0], i) !=
                    expect_named(k, element(&a, lanes->bytes[1], i),
                                 element(&b, lanes->bytes[2], i), element(&c, lanes->bytes[3], i));
        }
        CHECK(lanes != NULL);
        if (wrong)
            fprintf(stderr, "%s at %s: %u results differ\n", named[k], engine->name, wrong);
        CHECK_INT(wrong, 0);
    }
}

static void check_level(const struct pt_engine *engine, struct pt_module *m)
{
    const struct pt_func *k = &m->funcs.v[m->funcs.n - 1];
    unsigned first = count_added(k);
    for (unsigned i = 0; i < k->insns.n - first; i++) {
        uint64_t kind;
        const struct pt_form *form = pt_insn_form(m, &k->insns.v[first + i]);
        const struct pt_lanes *lanes = engine->lanes(m, form, &kind);
        CHECK((lanes != NULL) == (i < WITH_LANES));
        if (!lanes || i >= WITH_LANES)
            continue;
        CHECK(engine->lanes_named(lanes->name) == lanes);
        CHECK(wrong_results(lanes, i, false) == 0);
        if (lanes->bytes[0] == lanes->bytes[1])
            CHECK(wrong_results(lanes, i, true) == 0);
    }
    CHECK(engine->lanes_named("no such operation") == NULL);
}

int main(void)
{
    static const char *const levels[] = {"v2", "v3", "v4", "aarch64"};
    struct pt_module m;
    bool is_loaded = load(&m, text) && lower_all(&m);
    CHECK(is_loaded);
    unsigned n = 0;
    for (unsigned i = 0; i < sizeof levels / sizeof *levels && is_loaded; i++) {
        const struct pt_engine *engine = pt_interp(levels[i]);
        if (!engine)
            continue;
        check_level(engine, &m);
        check_named(engine);
        n++;
    }
    CHECK(n > 0);
    pt_arena_free(&m.arena);
    return CHECK_DONE("lanes");
}
