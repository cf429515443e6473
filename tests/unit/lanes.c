/* The functions over n lanes that engines give to others (backend/lanes.h), at every CPU level of this machine: they are found
 * for the forms that have one, by form and by name; they compute what the lane functions compute, also in place, and write
 * n elements. */
#include "backend/exec.h"
#include "backend/semantics/cvt.h"
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

static void check_level(const struct pt_engine *engine, struct pt_module *m)
{
    const struct pt_func *k = &m->funcs.v[m->funcs.n - 1];
    for (unsigned i = 0; i < k->insns.n; i++) {
        const struct pt_lanes *lanes = engine->lanes(m, pt_insn_form(m, &k->insns.v[i]));
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
        n++;
    }
    CHECK(n > 0);
    pt_arena_free(&m.arena);
    return CHECK_DONE("lanes");
}
