/* Functions of the host that kernels call: types, many workers, both engines, errors. */
#include <fenv.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "tests/api/support.h"

#define REGISTER(engine, name, signature, function) \
    ptera_function_register((engine), (name), (signature), (void (*)(void))(function))

static ptera_backend engines[2] = {PTERA_BACKEND_INTERP};

static ptera_result run(ptera_kernel *kernel, ptera_backend backend, unsigned grid, unsigned block,
                        const void *p0, const void *p1)
{
    ptera_launch launch;
    ptera_launch_init(&launch);
    launch.grid[0] = grid;
    launch.block[0] = block;
    launch.backend = backend;
    launch.parameters = (const void *const[]){p0, p1};
    launch.n_parameters = p1 ? 2 : 1;
    return ptera_kernel_launch(kernel, &launch);
}

/* ---- every type ------------------------------------------------------------------------------ */

struct pair {
    double x;
    int n;
};
struct big {
    long long v[5];
};

static double mix(signed char a, unsigned char b, short c, unsigned short d, int e, unsigned f,
                  long long g, unsigned long long h, float i, double j, void *k)
{
    return a + 2.0 * b + 3.0 * c + 4.0 * d + 5.0 * e + 6.0 * f + 7.0 * (double)g + 8.0 * (double)h +
           9.0 * i + 10.0 * j + *(int *)k;
}

static struct pair swap(struct pair p, int add)
{
    return (struct pair){p.n + add, (int)p.x};
}

static struct big sums(struct big a, struct pair p)
{
    for (int i = 0; i < 5; i++)
        a.v[i] += (long long)p.x * p.n;
    return a;
}

static short negate(short v)
{
    return (short)-v;
}

static const char types_text[] = HEADER
    ".extern .func (.param .b64 r) mix(.param .b32 a, .param .b32 b, .param .b32 c, .param .b32 d, "
    ".param .b32 e,\n"
    "    .param .b32 f, .param .b64 g, .param .b64 h, .param .b32 i, .param .b64 j, .param .b64 "
    "k);\n"
    ".extern .func (.param .align 8 .b8 r[16]) swap(.param .align 8 .b8 p[16], .param .b32 add);\n"
    ".extern .func (.param .align 8 .b8 r[40]) sums(.param .align 8 .b8 a[40], .param .align 8 .b8 "
    "p[16]);\n"
    ".extern .func (.param .b32 r) negate(.param .b32 v);\n"
    ".visible .entry types(.param .u64 out)\n{\n"
    "    .reg .b64 %p<3>; .reg .b32 %r<9>; .reg .f64 %d<5>; .reg .f32 %f; .reg .b64 %q<9>;\n"
    "    ld.param.u64 %p1, [out]; mov.u32 %r1, %tid.x; mad.wide.u32 %p1, %r1, 64, %p1;\n"
    "    st.u32 [%p1], %r1; neg.s32 %r2, %r1; cvt.s64.s32 %q1, %r2; cvt.u64.u32 %q2, %r1;\n"
    "    cvt.rn.f32.u32 %f, %r1; cvt.rn.f64.u32 %d1, %r1;\n"
    "    { .param .b32 a; .param .b32 b; .param .b32 c; .param .b32 d; .param .b32 e; .param .b32 "
    "f; .param .b64 g;\n"
    "      .param .b64 h; .param .b32 i; .param .b64 j; .param .b64 k; .param .b64 r;\n"
    "      st.param.b32 [a], %r2; st.param.b32 [b], %r1; st.param.b32 [c], %r2; st.param.b32 [d], "
    "%r1;\n"
    "      st.param.b32 [e], %r2; st.param.b32 [f], %r1; st.param.b64 [g], %q1; st.param.b64 [h], "
    "%q2;\n"
    "      st.param.f32 [i], %f; st.param.f64 [j], %d1; st.param.b64 [k], %p1;\n"
    "      call (r), mix, (a, b, c, d, e, f, g, h, i, j, k);\n      ld.param.f64 %d2, [r]; }\n"
    "    { .param .align 8 .b8 p[16]; .param .b32 add; .param .align 8 .b8 r[16];\n"
    "      st.param.f64 [p], %d1; st.param.b32 [p+8], %r2; st.param.b32 [add], 100;\n"
    "      call (r), swap, (p, add);\n      ld.param.f64 %d3, [r]; ld.param.b32 %r3, [r+8]; }\n"
    "    { .param .align 8 .b8 a[40]; .param .align 8 .b8 p[16]; .param .align 8 .b8 r[40];\n"
    "      st.param.b64 [a], %q1; st.param.b64 [a+8], %q1; st.param.b64 [a+16], %q1; st.param.b64 "
    "[a+24], %q1;\n"
    "      st.param.b64 [a+32], %q2; st.param.f64 [p], %d1; st.param.b32 [p+8], 3;\n"
    "      call (r), sums, (a, p);\n      ld.param.b64 %q3, [r+24]; ld.param.b64 %q4, [r+32]; }\n"
    "    { .param .b32 v; .param .b32 r; st.param.b32 [v], %r1; call (r), negate, (v); "
    "ld.param.b32 %r4, [r]; }\n"
    "    st.f64 [%p1+8], %d2; st.f64 [%p1+16], %d3; st.u32 [%p1+24], %r3; st.u64 [%p1+32], %q3; "
    "st.u64 [%p1+40], %q4;\n"
    "    st.u32 [%p1+48], %r4;\n    ret;\n}\n";

struct row {
    int tid, pad;
    double mixed, swapped;
    int n, pad2;
    long long sum3, sum4;
    int negated, pad3[3];
};

static void test_types(ptera_engine *engine)
{
    CHECK_INT(
        REGISTER(engine, "mix", "f64 (s8, u8, s16, u16, s32, u32, s64, u64, f32, f64, ptr)", mix),
        PTERA_OK);
    CHECK_INT(REGISTER(engine, "swap", "{f64 s32}({f64 s32},s32)", swap), PTERA_OK);
    CHECK_INT(REGISTER(engine, "sums", "{s64[5]} ( {s64 [ 5 ]} , {f64 s32} )", sums), PTERA_OK);
    CHECK_INT(REGISTER(engine, "negate", "s16 (s16)", negate), PTERA_OK);
    ptera_kernel *kernel = kernel_of(load(engine, types_text), "types");
    struct row *rows = new_buffer(engine, 256 * sizeof *rows);
    for (size_t e = 0; e < sizeof engines / sizeof *engines; e++) {
        memset(rows, 0, 256 * sizeof *rows);
        CHECK_INT(run(kernel, engines[e], 1, 70, &rows, NULL), PTERA_OK);
        for (int t = 0; t < 70; t++) {
            struct pair p = swap((struct pair){t, -t}, 100);
            CHECK(rows[t].mixed == mix((signed char)-t, (unsigned char)t, (short)-t,
                                       (unsigned short)t, -t, (unsigned)t, -t,
                                       (unsigned long long)t, (float)t, t, &t));
            CHECK(rows[t].swapped == p.x);
            CHECK_INT(rows[t].n, p.n);
            CHECK_INT(rows[t].sum3, -t + 3 * t);
            CHECK_INT(rows[t].sum4, t + 3 * t);
            CHECK_INT(rows[t].negated, -t);
        }
    }
    ptera_kernel_status status = {.size = sizeof status};
    CHECK_INT(ptera_kernel_info(kernel, &status), PTERA_OK);
    CHECK_INT(ptera_kernel_info(NULL, &status), PTERA_ERROR_INVALID_ARGUMENT);
    CHECK_INT(ptera_kernel_info(kernel, NULL), PTERA_ERROR_INVALID_ARGUMENT);
    CHECK_INT(status.native_launches, engines[1] == PTERA_BACKEND_JIT);
}

/* ---- many calls, from every worker ----------------------------------------------------------- */

static atomic_ullong total;

static unsigned add_to_total(unsigned v)
{
    atomic_fetch_add(&total, v);
    return v * v;
}

static const char many_text[] =
    HEADER ".extern .func (.param .b32 r) add_to_total(.param .b32 v);\n"
           ".visible .entry many(.param .u64 out, .param .u32 rounds)\n{\n"
           "    .reg .b64 %p<3>; .reg .b32 %r<9>; .reg .pred %c;\n"
           "    ld.param.u64 %p1, [out]; ld.param.u32 %r5, [rounds]; mov.u32 %r1, %tid.x; mov.u32 "
           "%r2, %ctaid.x;\n"
           "    mov.u32 %r3, %ntid.x; mad.lo.u32 %r1, %r2, %r3, %r1; mad.wide.u32 %p1, %r1, 4, "
           "%p1; mov.u32 %r6, 0;\n"
           "LOOP:\n"
           "    { .param .b32 v; .param .b32 r; st.param.b32 [v], %r1; call (r), add_to_total, "
           "(v); ld.param.b32 %r4, [r]; }\n"
           "    add.u32 %r6, %r6, %r4; sub.u32 %r5, %r5, 1; setp.ne.u32 %c, %r5, 0; @%c bra LOOP;\n"
           "    st.u32 [%p1], %r6;\n    ret;\n}\n";

static void test_many(void)
{
    enum { GRID = 100, BLOCK = 100, ROUNDS = 100 };
    ptera_engine *engine = new_engine(4);
    CHECK_INT(REGISTER(engine, "add_to_total", "u32 (u32)", add_to_total), PTERA_OK);
    ptera_kernel *kernel = kernel_of(load(engine, many_text), "many");
    unsigned *out = new_buffer(engine, GRID * BLOCK * sizeof *out), rounds = ROUNDS;
    for (size_t e = 0; e < sizeof engines / sizeof *engines; e++) {
        atomic_store(&total, 0);
        CHECK_INT(run(kernel, engines[e], GRID, BLOCK, &out, &rounds), PTERA_OK);
        CHECK(atomic_load(&total) ==
              (unsigned long long)ROUNDS * GRID * BLOCK * (GRID * BLOCK - 1) / 2);
        bool right = true;
        for (unsigned i = 0; i < GRID * BLOCK; i++)
            right = right && out[i] == i * i * ROUNDS;
        CHECK(right);
    }
    ptera_engine_destroy(engine);
}

/* ---- what a function says and does ----------------------------------------------------------- */

static void refuse(unsigned v)
{
    fesetround(FE_UPWARD);
    if (v == 37) {
        ptera_function_fail(NULL);
        ptera_function_fail("37 is refused");
        ptera_function_fail("and again");
    }
}

static const char refuse_text[] =
    HEADER ".extern .func refuse(.param .b32 v);\n"
           ".visible .entry refused(.param .u64 out, .param .u32 first)\n{\n"
           "    .reg .b64 %p<3>; .reg .b32 %r<9>; .reg .f32 %f<4>;\n"
           "    ld.param.u64 %p1, [out]; ld.param.u32 %r2, [first]; mov.u32 %r1, %tid.x; add.u32 "
           "%r2, %r2, %r1;\n"
           "    { .param .b32 v; st.param.b32 [v], %r2; call refuse, (v); }\n"
           "    cvt.rn.f32.u32 %f1, %r2; add.f32 %f2, %f1, 0f33000000; mad.wide.u32 %p1, %r1, 4, "
           "%p1; st.f32 [%p1], %f2;\n"
           "    ret;\n}\n";

static void test_failure(ptera_engine *engine)
{
    CHECK_INT(REGISTER(engine, "refuse", "void (u32)", refuse), PTERA_OK);
    ptera_kernel *kernel = kernel_of(load(engine, refuse_text), "refused");
    float *out = new_buffer(engine, 4096);
    for (size_t e = 0; e < sizeof engines / sizeof *engines; e++) {
        unsigned first = 0;
        CHECK_INT(run(kernel, engines[e], 1, 64, &out, &first), PTERA_ERROR_HOST_FUNCTION);
        const char *error = ptera_engine_error(engine);
        CHECK_HAS(error, "failure of a host function in kernel 'refused' at k.ptx:");
        CHECK(strstr(error, "37 is refused") != NULL && strstr(error, "again") == NULL);
        first = 1000; /* rounding upwards stays in the function */
        CHECK_INT(run(kernel, engines[e], 1, 64, &out, &first), PTERA_OK);
        CHECK(out[0] == 1000 && out[63] == 1063);
        CHECK_INT(fegetround(), FE_TONEAREST);
    }
    ptera_function_fail("outside of any call");
}

/* ---- registering ----------------------------------------------------------------------------- */

static void test_registering(ptera_engine *engine)
{
    static const char *const wrong[] = {"",
                                        "u32",
                                        "u32(",
                                        "u32 (u32",
                                        "u32 (u32,)",
                                        "u33 (u32)",
                                        "u32 (void)",
                                        "u32 (u32) x",
                                        "{} (u32)",
                                        "{u32 (u32)",
                                        "u32 ({u32[0]})",
                                        "u32 ({u32[99999]})",
                                        "u32 ({u32[2)",
                                        "u32 (u32[2])",
                                        "u32 (u32 u32)",
                                        "(u32)",
                                        "{{{{{{{{{{{{{{{{{{{{u8}}}}}}}}}}}}}}}}}}}} (u32)"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        CHECK_INT(REGISTER(engine, "wrong", wrong[i], negate), PTERA_ERROR_INVALID_ARGUMENT);
    CHECK_INT(REGISTER(NULL, "f", "u32 (u32)", negate), PTERA_ERROR_INVALID_ARGUMENT);
    CHECK_INT(REGISTER(engine, NULL, "u32 (u32)", negate), PTERA_ERROR_INVALID_ARGUMENT);
    CHECK_INT(REGISTER(engine, "", "u32 (u32)", negate), PTERA_ERROR_INVALID_ARGUMENT);
    CHECK_INT(REGISTER(engine, "f", NULL, negate), PTERA_ERROR_INVALID_ARGUMENT);
    CHECK_INT(ptera_function_register(engine, "f", "u32 (u32)", NULL),
              PTERA_ERROR_INVALID_ARGUMENT);
    CHECK_INT(REGISTER(engine, "malloc", "ptr (u64)", malloc), PTERA_ERROR_INVALID_ARGUMENT);
    CHECK_INT(REGISTER(engine, "once", "s16 (s16)", negate), PTERA_OK);
    CHECK_INT(REGISTER(engine, "once", "s16 (s16)", negate), PTERA_ERROR_INVALID_ARGUMENT);
}

/* Declarations that are not of the registered type. */
static void test_declarations(ptera_engine *engine)
{
    static const struct {
        const char *text, *why;
    } wrong[] = {
        {HEADER ".extern .func (.param .b64 r) narrow(.param .b32 v);\n",
         "its result has 2 bytes, not 8"},
        {HEADER ".extern .func (.param .b32 r) narrow(.param .b64 v);\n",
         "its parameter 1 has 2 bytes, not 8"},
        {HEADER ".extern .func narrow(.param .b32 v);\n", "it has 1 parameters and 1 results"},
        {HEADER ".extern .func (.param .b32 r) narrow(.param .b32 v, .param .b32 w);\n",
         "it has 1 parameters and 1 results"},
    };
    CHECK_INT(REGISTER(engine, "narrow", "s16 (s16)", negate), PTERA_OK);
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        ptera_module *module = NULL;
        ptera_diagnostic d = {.size = sizeof d};
        CHECK_INT(ptera_module_load(engine, "k.ptx", wrong[i].text, strlen(wrong[i].text), &module),
                  PTERA_ERROR_INVALID_PTX);
        CHECK_INT(ptera_module_diagnostic(module, 0, &d), PTERA_OK);
        CHECK(d.message && strstr(d.message, "function 'narrow' is registered as 's16 (s16)'") &&
              strstr(d.message, wrong[i].why));
        CHECK_INT(d.line, 4);
    }
}

int main(void)
{
    ptera_engine *engine = new_engine(2);
    engines[1] = best_backend(engine);
    test_registering(engine);
    test_declarations(engine);
    test_types(engine);
    test_failure(engine);
    test_many();
    ptera_engine_destroy(engine);
    return CHECK_DONE("host");
}
