/* Functions of a module as C functions. */
#include <pthread.h>

#include "tests/api/support.h"

struct pair {
    double x;
    int n;
};
struct odd {
    unsigned char bytes[5];
};

static const char text[] = HEADER
    ".visible .global .u32 state = 7;\n"
    ".visible .func (.param .f32 r) half(.param .f32 v)\n"
    "{ .reg .f32 %f; ld.param.f32 %f, [v]; mul.f32 %f, %f, 0f3F000000; st.param.f32 [r], %f; ret; "
    "}\n"
    ".visible .func (.param .b32 r) narrow(.param .b32 a, .param .b32 b)\n"
    "{ .reg .b32 %r<3>; ld.param.b32 %r1, [a]; ld.param.b32 %r2, [b]; sub.s32 %r1, %r1, %r2; "
    "st.param.b32 [r], %r1; ret; }\n"
    ".visible .func (.param .align 8 .b8 r[16]) swap(.param .align 8 .b8 p[16], .param .align 1 "
    ".b8 o[5])\n"
    "{ .reg .f64 %d<3>; .reg .b32 %r<3>; .reg .b16 %h;\n"
    "  ld.param.f64 %d1, [p]; ld.param.b32 %r1, [p+8]; ld.param.u8 %h, [o+4]; cvt.u32.u16 %r2, %h; "
    "add.u32 %r1, %r1, %r2;\n"
    "  cvt.rn.f64.s32 %d2, %r1; cvt.rzi.s32.f64 %r1, %d1; st.param.f64 [r], %d2; st.param.b32 "
    "[r+8], %r1; ret; }\n"
    ".visible .func set(.param .b64 p, .param .b32 v)\n"
    "{ .reg .b64 %p; .reg .b32 %r<3>; ld.param.b64 %p, [p]; ld.param.b32 %r1, [v]; ld.global.u32 "
    "%r2, [state];\n"
    "  add.u32 %r2, %r2, %r1; st.global.u32 [state], %r2; st.u32 [%p], %r2; ret; }\n"
    ".visible .func (.param .b32 r) fails(.param .b32 v)\n{ trap; }\n"
    ".func (.param .b32 r) hidden(.param .b32 v)\n{ .reg .b32 %r; ld.param.b32 %r, [v]; "
    "st.param.b32 [r], %r; ret; }\n"
    ".visible .func (.param .b64 r) address()\n"
    "{ .reg .b64 %p; mov.u64 %p, state; cvta.global.u64 %p, %p; st.param.b64 [r], %p; ret; }\n"
    ".visible .func (.param .align 8 .b8 r[1032]) large(.param .b32 v)\n{ ret; }\n"
    ".visible .entry read(.param .u64 out)\n"
    "{ .reg .b64 %p; .reg .b32 %r; ld.param.u64 %p, [out]; ld.global.u32 %r, [state]; st.u32 [%p], "
    "%r; ret; }\n";

static char logged[256];

static void collect(void *ud, ptera_severity severity, const char *line)
{
    (void)ud;
    if (severity == PTERA_ERROR)
        snprintf(logged, sizeof logged, "%s", line);
}

#define POINTER(module, name, signature, function)                                             \
    CHECK_INT(                                                                                 \
        ptera_function_pointer((module), (name), (signature), (void (**)(void)) & (function)), \
        PTERA_OK)

static void test_calls(ptera_module *module)
{
    float (*half)(float) = NULL;
    short (*narrow)(short, signed char) = NULL;
    struct pair (*swap)(struct pair, struct odd) = NULL;
    void (*set)(unsigned *, int) = NULL;
    unsigned *(*address)(void) = NULL;
    POINTER(module, "half", "f32 (f32)", half);
    POINTER(module, "narrow", "s16 (s16, s8)", narrow);
    POINTER(module, "swap", "{f64 s32} ({f64 s32}, {u8[5]})", swap);
    POINTER(module, "set", "void (ptr, s32)", set);
    POINTER(module, "address", "ptr ()", address);
    CHECK(half(5) == 2.5f);
    CHECK_INT(narrow(-30000, -100), -29900);
    CHECK_INT(narrow(30000, -128), 30128);
    struct pair p = swap((struct pair){-2.75, 40}, (struct odd){{0, 0, 0, 0, 250}});
    CHECK(p.x == 290);
    CHECK_INT(p.n, -2);
    /* One set of variables, whoever uses them. */
    unsigned seen = 0, *out = &seen;
    void *state = NULL;
    set(&seen, 5);
    CHECK_INT(seen, 12);
    set(&seen, -2);
    CHECK_INT(seen, 10);
    seen = 0;
    CHECK_INT(LAUNCH(kernel_of(module, "read"), 1, 1, &out), PTERA_OK);
    CHECK_INT(seen, 10);
    CHECK_INT(ptera_module_variable(module, "state", &state, NULL), PTERA_OK);
    CHECK(address() == state);
}

static void test_failure(ptera_engine *engine, ptera_module *module)
{
    unsigned (*fails)(unsigned) = NULL;
    POINTER(module, "fails", "u32 (u32)", fails);
    CHECK_INT(fails(3), 0);
    CHECK_HAS(ptera_engine_error(engine), "trap in kernel '$call$fails'");
    CHECK_HAS(ptera_engine_error(engine), "in function 'fails'");
    CHECK_HAS(logged, "a call from the host failed: trap");
}

static void test_refused(ptera_engine *engine, ptera_module *module)
{
    void (*f)(void) = NULL;
    CHECK_INT(ptera_function_pointer(module, "hidden", "u32 (u32)", &f), PTERA_ERROR_NOT_FOUND);
    CHECK_INT(ptera_function_pointer(module, "read", "void (ptr)", &f), PTERA_ERROR_NOT_FOUND);
    CHECK_INT(ptera_function_pointer(module, "nothing", "void (ptr)", &f), PTERA_ERROR_NOT_FOUND);
    CHECK_INT(ptera_function_pointer(module, "half", "f32 (f64)", &f),
              PTERA_ERROR_INVALID_ARGUMENT);
    CHECK_HAS(ptera_engine_error(engine),
              "function 'half' as 'f32 (f64)': its parameter 1 has 8 bytes, not 4");
    CHECK_INT(ptera_function_pointer(module, "half", "f32 (", &f), PTERA_ERROR_INVALID_ARGUMENT);
    CHECK_INT(ptera_function_pointer(module, "large", "{u64[129]} (u32)", &f),
              PTERA_ERROR_INVALID_ARGUMENT);
    CHECK_HAS(ptera_engine_error(engine), "it passes more than 1024 bytes");
    CHECK_INT(ptera_function_pointer(NULL, "half", "f32 (f32)", &f), PTERA_ERROR_INVALID_ARGUMENT);
    CHECK_INT(ptera_function_pointer(module, NULL, "f32 (f32)", &f), PTERA_ERROR_INVALID_ARGUMENT);
    CHECK_INT(ptera_function_pointer(module, "half", NULL, &f), PTERA_ERROR_INVALID_ARGUMENT);
    CHECK_INT(ptera_function_pointer(module, "half", "f32 (f32)", NULL),
              PTERA_ERROR_INVALID_ARGUMENT);
    CHECK(!f);
}

enum { CALLS = 2000 };

static void *call_often(void *ud)
{
    float (*half)(float) = *(float (**)(float))ud;
    size_t wrong = 0;
    for (int i = 0; i < CALLS; i++)
        wrong += half((float)i) != (float)i / 2;
    return (void *)wrong;
}

static void test_threads(ptera_module *module)
{
    pthread_t threads[4];
    float (*half)(float) = NULL;
    POINTER(module, "half", "f32 (f32)", half);
    for (int i = 0; i < 4; i++)
        CHECK_INT(pthread_create(&threads[i], NULL, call_often, &half), 0);
    for (int i = 0; i < 4; i++) {
        void *wrong;
        pthread_join(threads[i], &wrong);
        CHECK(!wrong);
    }
}

int main(void)
{
    ptera_options options;
    ptera_engine *engine = NULL;
    ptera_options_init(&options);
    options.log = collect;
    CHECK_INT(ptera_engine_create(&options, &engine), PTERA_OK);
    ptera_module *module = load(engine, text);
    test_calls(module);
    test_failure(engine, module);
    test_refused(engine, module);
    test_threads(module);
    ptera_module_unload(module);
    ptera_engine_destroy(engine);
    return CHECK_DONE("closure");
}
