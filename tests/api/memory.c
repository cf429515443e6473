/* Buffers: alignment, zeroes, guard pages as kernels meet them, many of them, wrong frees. */
#include <unistd.h>

#include "tests/api/support.h"

static const char poke[] = HEADER ".visible .entry poke(.param .u64 p)\n"
                                  "{\n"
                                  "    .reg .b64 %rd<2>;\n"
                                  "    .reg .b32 %r<2>;\n"
                                  "    ld.param.u64 %rd1, [p];\n"
                                  "    mov.u32 %r1, 7;\n"
                                  "    st.global.u32 [%rd1], %r1;\n"
                                  "    ret;\n"
                                  "}\n";

static void check_contents(ptera_engine *engine)
{
    static const size_t sizes[] = {1, 255, 256, 257, 4096, 4097, 3 << 20};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        unsigned char *p = new_buffer(engine, sizes[i]);
        unsigned sum = 0;
        CHECK_INT((uintptr_t)p % 256, 0);
        for (size_t k = 0; k < sizes[i]; k++)
            sum |= p[k];
        CHECK_INT(sum, 0);
        memset(p, 0xff, sizes[i]);
        CHECK_INT(ptera_buffer_free(engine, p), PTERA_OK);
    }
}

static void check_guards(ptera_engine *engine)
{
    ptera_module *module = load(engine, poke);
    ptera_kernel *kernel = kernel_of(module, "poke");
    char *p = new_buffer(engine, 1000);
    char *inside = p + 996, *behind = p + 1024,
         *before = (char *)((uintptr_t)p & ~UINT64_C(4095)) - 4;
    CHECK_INT(LAUNCH(kernel, 1, 1, &inside), PTERA_OK);
    CHECK_INT(p[996], 7);
    CHECK_INT(LAUNCH(kernel, 1, 1, &behind), PTERA_ERROR_ILLEGAL_ADDRESS);
    CHECK_HAS(ptera_engine_error(engine), "24 bytes behind the end of a buffer of 1000 bytes");
    CHECK_INT(LAUNCH(kernel, 1, 1, &before), PTERA_ERROR_ILLEGAL_ADDRESS);
    CHECK_HAS(ptera_engine_error(engine), "before a buffer of 1000 bytes");
    CHECK_INT(ptera_buffer_free(engine, p), PTERA_OK);
    CHECK_INT(LAUNCH(kernel, 1, 1, &inside), PTERA_ERROR_ILLEGAL_ADDRESS);
    ptera_module_unload(module);
}

static void check_many(ptera_engine *engine)
{
    enum { N = 2000 };
    void *p[N];
    for (int i = 0; i < N; i++)
        p[i] = new_buffer(engine, (size_t)(i % 9 + 1) * 700);
    for (int i = 0; i < N; i += 2)
        CHECK_INT(ptera_buffer_free(engine, p[i]), PTERA_OK);
    for (int i = 0; i < N; i += 2)
        p[i] = new_buffer(engine, 5000);
    for (int i = 0; i < N; i++)
        CHECK_INT(ptera_buffer_free(engine, p[i]), PTERA_OK);
}

/* ---- accesses outside that go on ------------------------------------------------------------- */

/* Multiplies the words at `p` and `q` by 3 and adds 1, each on a line of its own. */
static const char bump[] = HEADER ".visible .entry bump(.param .u64 p, .param .u64 q)\n"
                                  "{\n"
                                  "    .reg .b64 %rd<3>;\n"
                                  "    .reg .b32 %r<3>;\n"
                                  "    ld.param.u64 %rd1, [p]; ld.param.u64 %rd2, [q];\n"
                                  "    ld.global.u32 %r1, [%rd1]; mad.lo.u32 %r1, %r1, 3, 1;\n"
                                  "    st.global.u32 [%rd1], %r1;\n"
                                  "    ld.global.u32 %r2, [%rd2]; mad.lo.u32 %r2, %r2, 3, 1;\n"
                                  "    st.global.u32 [%rd2], %r2;\n"
                                  "    ret;\n"
                                  "}\n";

static char logged[1 << 14];
static unsigned n_logged;

static void take_log(void *ud, ptera_severity severity, const char *text)
{
    (void)ud;
    size_t n = strlen(logged);
    if (severity != PTERA_ERROR)
        return;
    n_logged++;
    snprintf(logged + n, sizeof logged - n, "%s\n", text);
}

static ptera_engine *engine_with(const char *oob)
{
    ptera_options options;
    ptera_engine *engine = NULL;
    logged[0] = 0;
    n_logged = 0;
    setenv("PTERA_OOB", oob, 1);
    ptera_options_init(&options);
    options.threads = 1;
    options.log = take_log;
    CHECK_INT(ptera_engine_create(&options, &engine), PTERA_OK);
    unsetenv("PTERA_OOB");
    return engine;
}

static ptera_result bump_both(ptera_kernel *kernel, ptera_backend backend, char *p, char *q)
{
    ptera_launch launch;
    ptera_launch_init(&launch);
    launch.backend = backend;
    launch.parameters = (const void *const[]){&p, &q};
    launch.n_parameters = 2;
    return ptera_kernel_launch(kernel, &launch);
}

/* Within the 2 MiB pages of an allocation, on both sides; once for a line; what is stored stays. */
static void check_tolerance(ptera_backend backend)
{
    ptera_engine *engine = engine_with("warn");
    ptera_kernel *kernel = kernel_of(load(engine, bump), "bump");
    if (backend == PTERA_BACKEND_JIT)
        backend = best_backend(engine);
    unsigned *p = new_buffer(engine, 1000), *other = new_buffer(engine, 4);
    char *behind = (char *)p + 1024, *before = (char *)((uintptr_t)p & ~UINT64_C(4095)) - 8;
    CHECK_INT(bump_both(kernel, backend, (char *)p, (char *)p + 4), PTERA_OK);
    CHECK_INT(n_logged, 0);
    for (int i = 0; i < 3; i++)
        CHECK_INT(bump_both(kernel, backend, (char *)p, behind), PTERA_OK);
    CHECK_INT(p[0], 40);
    CHECK_INT(n_logged, 1);
    CHECK_HAS(logged, "illegal address 0x");
    CHECK_HAS(logged, "in kernel 'bump' at k.ptx:11, CTA (0,0,0)");
    CHECK_HAS(logged, "24 bytes behind the end of a buffer of 1000 bytes");
    CHECK_INT(bump_both(kernel, backend, behind, before), PTERA_OK);
    CHECK_INT(n_logged, 2);
    CHECK_HAS(logged, "at k.ptx:9, CTA");
    CHECK_INT(bump_both(kernel, backend, (char *)other, behind), PTERA_OK);
    /* what lies there, as a kernel reads it, after five times */
    ptera_kernel *copy = kernel_of(
        load(engine, HEADER
             ".visible .entry copy(.param .u64 p, .param .u64 q)\n{\n"
             ".reg .b64 %rd<3>; .reg .b32 %r<2>; ld.param.u64 %rd1, [p]; ld.param.u64 %rd2, [q];\n"
             "ld.global.u32 %r1, [%rd2]; st.global.u32 [%rd1], %r1; ret;\n}\n"),
        "copy");
    CHECK_INT(bump_both(copy, backend, (char *)p, behind), PTERA_OK);
    CHECK_INT(p[0], 121);
    /* elsewhere it stops */
    CHECK_INT(bump_both(kernel, backend, (char *)p, (char *)p + (2 << 20)),
              PTERA_ERROR_ILLEGAL_ADDRESS);
    CHECK_INT(bump_both(kernel, backend, (char *)p, NULL), PTERA_ERROR_ILLEGAL_ADDRESS);
    CHECK_INT(bump_both(kernel, backend, (char *)p, (char *)p + 1), PTERA_ERROR_MISALIGNED_ADDRESS);
    CHECK_INT(ptera_buffer_free(engine, p), PTERA_OK);
    CHECK_INT(bump_both(kernel, backend, (char *)other, behind), PTERA_ERROR_ILLEGAL_ADDRESS);
    /* of large ones what is left of their last page */
    p = new_buffer(engine, (2 << 20) + 4096);
    CHECK_INT(bump_both(kernel, backend, (char *)other, (char *)p + (2 << 20) + 8192), PTERA_OK);
    CHECK_INT(bump_both(kernel, backend, (char *)other, (char *)p + (4 << 20)),
              PTERA_ERROR_ILLEGAL_ADDRESS);
    ptera_engine_destroy(engine);
}

static void check_tolerance_names(void)
{
    ptera_engine *engine = engine_with("ignore");
    CHECK_HAS(logged, "PTERA_OOB=ignore is neither stop nor warn");
    check_guards(engine);
    ptera_engine_destroy(engine);
    engine = engine_with("stop");
    CHECK_INT(n_logged, 0);
    check_guards(engine);
    ptera_engine_destroy(engine);
}

static void check_wrong_arguments(ptera_engine *engine)
{
    void *p = NULL;
    int local;
    CHECK_INT(ptera_buffer_alloc(engine, 0, &p), PTERA_ERROR_INVALID_ARGUMENT);
    CHECK_INT(ptera_buffer_alloc(engine, 4, NULL), PTERA_ERROR_INVALID_ARGUMENT);
    CHECK_INT(ptera_buffer_alloc(NULL, 4, &p), PTERA_ERROR_INVALID_ARGUMENT);
    CHECK_INT(ptera_buffer_alloc(engine, SIZE_MAX, &p), PTERA_ERROR_OUT_OF_MEMORY);
    CHECK_INT(ptera_buffer_alloc(engine, SIZE_MAX / 4, &p), PTERA_ERROR_OUT_OF_MEMORY);
    CHECK(!p);
    CHECK_INT(ptera_buffer_free(NULL, NULL), PTERA_ERROR_INVALID_ARGUMENT);
    CHECK_INT(ptera_buffer_free(engine, NULL), PTERA_OK);
    CHECK_INT(ptera_buffer_free(engine, &local), PTERA_ERROR_INVALID_ARGUMENT);
    p = new_buffer(engine, 512);
    CHECK_INT(ptera_buffer_free(engine, (char *)p + 256), PTERA_ERROR_INVALID_ARGUMENT);
    CHECK_INT(ptera_buffer_free(engine, p), PTERA_OK);
    CHECK_INT(ptera_buffer_free(engine, p), PTERA_ERROR_INVALID_ARGUMENT);
}

int main(void)
{
    ptera_engine *engine = new_engine(1);
    check_contents(engine);
    check_guards(engine);
    check_many(engine);
    check_wrong_arguments(engine);
    ptera_engine_destroy(engine);
    check_tolerance(PTERA_BACKEND_INTERP);
    check_tolerance(PTERA_BACKEND_JIT);
    check_tolerance_names();
    return CHECK_DONE("memory");
}
