/* --math fast: how far its functions are from the true ones, and that nothing but them changes. */
#include <math.h>
#include <stdbool.h>

#include "tests/api/support.h"

enum { CTA = 256, N = 1 << 16 };

static ptera_engine *engine;

/* d = op a, 1.5 for each thread. */
static void compute(const char *op, bool is_binary, int math_fast, const float *a, float *d)
{
    static char text[2048];
    snprintf(
        text, sizeof text,
        HEADER
        ".visible .entry k(.param .u64 from, .param .u64 to, .param .f32 y)\n{\n.reg .b32 %%r<3>;\n"
        ".reg .f32 %%f<4>;\n.reg .b64 %%l<4>;\n"
        "ld.param.f32 %%f3, [y];\nld.param.u64 %%l1, [from];\nld.param.u64 %%l2, [to];\n"
        "mov.u32 %%r1, %%ctaid.x;\nmov.u32 %%r2, %%tid.x;\nmad.lo.u32 %%r1, %%r1, %d, %%r2;\n"
        "mul.wide.u32 %%l3, %%r1, 4;\nadd.u64 %%l1, %%l1, %%l3;\nadd.u64 %%l2, %%l2, %%l3;\n"
        "ld.global.f32 %%f1, [%%l1];\n%s %%f2, %%f1%s;\nst.global.f32 [%%l2], %%f2;\nret;\n}\n",
        CTA, op, is_binary ? ", %f3" : "");
    ptera_module *module = load(engine, text);
    ptera_kernel *kernel = kernel_of(module, "k");
    const float y = 1.5f;
    ptera_launch launch;
    ptera_launch_init(&launch);
    launch.grid[0] = N / CTA;
    launch.block[0] = CTA;
    launch.parameters = (const void *[]){&a, &d, &y};
    launch.n_parameters = 3;
    launch.backend = PTERA_BACKEND_JIT;
    launch.math_fast = math_fast;
    CHECK_INT(ptera_kernel_launch(kernel, &launch), PTERA_OK);
    ptera_module_unload(module);
}

/* ---- accuracy -------------------------------------------------------------------------------- */

static double rcp(double x)
{
    return 1 / x;
}

static double rsqrt(double x)
{
    return 1 / sqrt(x);
}

static double div15(double x)
{
    return x / 1.5;
}

static double plus15(double x)
{
    return x + 1.5;
}

static const struct range {
    const char *op;
    double (*truth)(double);
    double from, to;
    double relative, absolute; /* what an error may be: either */
    bool is_binary;
} ranges[] = {
    {"rcp.approx.f32", rcp, 1e-37, 1e37, 0x1p-24, 0, false},
    {"rcp.approx.ftz.f32", rcp, -1e37, -1e-37, 0x1p-24, 0, false},
    {"rsqrt.approx.f32", rsqrt, 1e-44, 3e38, 0x1p-23, 0, false},
    {"sqrt.approx.f32", sqrt, 1e-44, 3e38, 0x1p-24, 0, false},
    {"div.approx.f32", div15, 1e-37, 3e38, 0x1p-24, 0, true},
    {"div.full.f32", div15, -3e38, -1e-37, 0x1p-24, 0, true},
    {"ex2.approx.f32", exp2, -126, 128, 0x1p-21, 0, false},
    {"ex2.approx.f32", exp2, -160, -126, 0x1p-21, 0x1p-149, false},
    {"ex2.approx.ftz.f32", exp2, -126, 128, 0x1p-21, 0, false},
    {"lg2.approx.f32", log2, 1e-44, 3e38, 0x1p-21, 0, false},
    {"lg2.approx.f32", log2, 0.7, 1.4, 0x1p-21, 0, false},
    {"sin.approx.f32", sin, -3.14159, 3.14159, 0, 0x1p-21, false},
    {"sin.approx.f32", sin, 1e-30, 1e-3, 0x1p-21, 0, false},
    {"cos.approx.f32", cos, -3.14159, 3.14159, 0, 0x1p-21, false},
    {"sin.approx.f32", sin, -1e4, 1e4, 0, 1e4 * 0x1p-23, false},
    {"cos.approx.f32", cos, -1e4, 1e4, 0, 1e4 * 0x1p-23, false},
    {"tanh.approx.f32", tanh, -20, 20, 0x1p-21, 0, false},
    {"tanh.approx.f32", tanh, 1e-40, 1e-3, 0x1p-21, 0x1p-149, false},
    {"add.rm.f32", plus15, 1e-37, 1e37, 0x1p-24, 0, true},
};

/* Evenly, or by a constant ratio where both ends have one sign and are far apart. */
static float point(const struct range *r, unsigned i)
{
    double part = (double)i / (N - 1);
    if (r->from * r->to > 0 && fabs(log(r->to / r->from)) > 8)
        return (float)(r->from * pow(r->to / r->from, part));
    return (float)(r->from + (r->to - r->from) * part);
}

static void check_range(const struct range *r, float *a, float *d)
{
    unsigned wrong = 0;
    double worst = 0;
    for (unsigned i = 0; i < N; i++)
        a[i] = point(r, i);
    compute(r->op, r->is_binary, 1, a, d);
    for (unsigned i = 0; i < N; i++) {
        double want = r->truth(a[i]), error = fabs(d[i] - want);
        double allowed = fmax(fmax(r->relative * fabs(want), r->absolute), 0x1p-150);
        bool is_over = isinf(d[i]) && fabs(want) > 0x1.fffffep127;
        wrong += !(error <= allowed * 1.0000001 || is_over);
        worst = is_over ? worst : fmax(worst, error / allowed);
    }
    if (wrong)
        fprintf(stderr, "%s from %g to %g: %u of %u, up to %g of what is allowed\n", r->op, r->from,
                r->to, wrong, (unsigned)N, worst);
    CHECK_INT(wrong, 0);
}

/* ---- zeros, infinities, NaN ------------------------------------------------------------------ */

static void check_special(float *a, float *d)
{
    static const struct {
        const char *op;
        float want[6]; /* of 0, -0, infinity, -infinity, NaN, -1 (NAN: any) */
    } of[] = {
        {"rcp.approx.f32", {INFINITY, -INFINITY, 0, -0.0f, NAN, -1}},
        {"rsqrt.approx.f32", {INFINITY, -INFINITY, 0, NAN, NAN, NAN}},
        {"sqrt.approx.ftz.f32", {0, -0.0f, INFINITY, NAN, NAN, NAN}},
        {"ex2.approx.f32", {1, 1, INFINITY, 0, NAN, 0.5f}},
        {"ex2.approx.ftz.f32", {1, 1, INFINITY, 0, NAN, 0.5f}},
        {"lg2.approx.f32", {-INFINITY, -INFINITY, INFINITY, NAN, NAN, NAN}},
        {"tanh.approx.f32", {0, -0.0f, 1, -1, NAN, -0.76159416f}},
        {"sin.approx.f32", {0, -0.0f, NAN, NAN, NAN, -0.84147098f}},
        {"cos.approx.f32", {1, 1, NAN, NAN, NAN, 0.54030231f}},
    };
    const float sources[] = {0, -0.0f, INFINITY, -INFINITY, NAN, -1};
    for (unsigned i = 0; i < N; i++)
        a[i] = sources[i % 6];
    for (unsigned k = 0; k < sizeof of / sizeof *of; k++) {
        compute(of[k].op, false, 1, a, d);
        unsigned wrong = 0;
        for (unsigned i = 0; i < N; i++) {
            float want = of[k].want[i % 6], have = d[i];
            bool is_close = fabsf(have - want) <= 1e-6f || (isinf(want) && have == want);
            uint32_t bits;
            memcpy(&bits, &have, 4);
            wrong += isnan(want) ? bits != 0x7fffffff
                                 : !is_close || (want == 0 && signbit(have) != signbit(want));
        }
        if (wrong)
            fprintf(stderr, "%s: %g %g %g %g %g %g\n", of[k].op, d[0], d[1], d[2], d[3], d[4],
                    d[5]);
        CHECK_INT(wrong, 0);
    }
}

/* Without it, results are those of the machine; f64 and conversions are so with it. */
static void check_exact(float *a, float *d)
{
    static float other[N];
    for (unsigned i = 0; i < N; i++)
        a[i] = (float)(i + 1) * 0.37f;
    compute("rsqrt.approx.f32", false, 0, a, d);
    compute("rsqrt.approx.f32", false, 1, a, other);
    CHECK(memcmp(d, other, sizeof other) != 0);
    compute("cvt.rpi.f32.f32", false, 1, a, d);
    for (unsigned i = 0; i < N; i++)
        other[i] = ceilf(a[i]);
    CHECK(memcmp(d, other, sizeof other) == 0);
}

int main(void)
{
    engine = new_engine(1);
    float *a = new_buffer(engine, N * sizeof *a), *d = new_buffer(engine, N * sizeof *d);
    for (unsigned i = 0; i < sizeof ranges / sizeof *ranges; i++)
        check_range(&ranges[i], a, d);
    check_special(a, d);
    check_exact(a, d);
    ptera_engine_destroy(engine);
    return CHECK_DONE("fast");
}
