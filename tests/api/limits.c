/* Limits: local memory of a thread, what counts within memory_bytes, text that is too long, in both
 * engines. */
#include <time.h>

#include "tests/api/support.h"

static const char text[] =
    HEADER
    ".extern .func (.param .b32 r) vprintf(.param .b64 f, .param .b64 a);\n"
    ".visible .entry print(.param .u64 format, .param .u64 args)\n{\n"
    "    .reg .b64 %rd<3>; .reg .b32 %r;\n"
    "    ld.param.u64 %rd1, [format]; ld.param.u64 %rd2, [args];\n"
    "    { .param .b64 f; .param .b64 a; .param .b32 n;\n"
    "    st.param.b64 [f], %rd1; st.param.b64 [a], %rd2;\n"
    "    call.uni (n), vprintf, (f, a);\n    ld.param.b32 %r, [n]; }\n    ret;\n}\n"
#define LOCAL(name, bytes)                                                                      \
    ".visible .entry " name "(.param .u64 to)\n{\n"                                             \
    "    .local .align 8 .b8 room[" #bytes "];\n"                                               \
    "    .reg .b64 %rd<3>; .reg .b32 %r<3>;\n"                                                  \
    "    ld.param.u64 %rd1, [to]; ld.global.u32 %r1, [%rd1];\n"                                 \
    "    mov.u64 %rd2, room; st.local.u32 [room+" #bytes "-4], 7; cvta.local.u64 %rd2, %rd2;\n" \
    "    ld.volatile.u32 %r2, [%rd2+" #bytes "-4]; red.global.add.u32 [%rd1], %r2;\n    ret;\n}\n"
    LOCAL("most", 524288) LOCAL("more", 524304) LOCAL("some", 65536);

static size_t n_printed;

static void count(void *ud, const char *line, size_t bytes)
{
    (void)ud, (void)line;
    n_printed += bytes;
}

static ptera_engine *new_limited(size_t memory_bytes, unsigned threads)
{
    ptera_options options;
    ptera_engine *engine = NULL;
    ptera_options_init(&options);
    options.threads = threads;
    options.memory_bytes = memory_bytes;
    options.print = count;
    CHECK_INT(ptera_engine_create(&options, &engine), PTERA_OK);
    return engine;
}

static void check_local(void)
{
    ptera_engine *engine = new_limited(0, 2);
    ptera_module *module = load(engine, text);
    uint32_t *to = new_buffer(engine, 4);
    CHECK_INT(LAUNCH(kernel_of(module, "most"), 1, 4, &to), PTERA_OK);
    CHECK_INT(*to, 28);
    CHECK_INT(LAUNCH(kernel_of(module, "more"), 1, 4, &to), PTERA_ERROR_INVALID_LAUNCH);
    CHECK_TEXT(ptera_engine_error(engine),
               "kernel 'more': 524304 bytes of local memory for a thread, which has up to 524288");
    ptera_engine_destroy(engine);
}

/* Two CTAs of 256 threads have their local memory at once, four have not: the others wait; one of
 * 1,024 threads has not. What idle CTAs keep is given up for a buffer. */
static void check_local_counts(void)
{
    enum { LIMIT = 48 << 20 };
    ptera_engine *engine = new_limited(LIMIT, 4);
    ptera_module *module = load(engine, text);
    uint32_t *to = new_buffer(engine, 4);
    void *most = NULL;
    for (int round = 0; round < 3; round++) {
        *to = 0;
        CHECK_INT(LAUNCH(kernel_of(module, "some"), 64, 256, &to), PTERA_OK);
        CHECK_INT(*to, 64 * 256 * 7);
        CHECK_INT(LAUNCH(kernel_of(module, "some"), 1, 1024, &to), PTERA_ERROR_OUT_OF_MEMORY);
        CHECK_HAS(ptera_engine_error(engine), "no memory for a CTA");
        CHECK_INT(LAUNCH(kernel_of(module, "some"), 64, 256, &to), PTERA_OK);
        CHECK_INT(ptera_buffer_alloc(engine, LIMIT - 8192, &most), PTERA_OK);
        CHECK_INT(LAUNCH(kernel_of(module, "some"), 1, 256, &to), PTERA_ERROR_OUT_OF_MEMORY);
        CHECK_INT(ptera_buffer_free(engine, most), PTERA_OK);
    }
    ptera_engine_destroy(engine);
}

static ptera_result print(ptera_module *module, const char *format, const void *args)
{
    n_printed = 0;
    return LAUNCH(kernel_of(module, "print"), 1, 1, &format, &args);
}

static void check_long_text(void)
{
    static const char *const formats[] = {
        "%2147483646d", "%-2147483646d",           "%.2147483647d", "%.2147483647f",
        "%1000000000s", "%2147483647.2147483647e", "%1048577c",     "%600000d%600000d"};
    static const int wild[] = {INT32_MAX, INT32_MIN, -INT32_MAX, (1 << 20) + 1};
    static char endless[(1 << 20) + 1];
    uint64_t args[4] = {0};
    ptera_engine *engine = new_limited(0, 1);
    ptera_module *module = load(engine, text);
    args[0] = args[1] = (uintptr_t)"text";
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) {
        CHECK_INT(print(module, formats[i], args), PTERA_ERROR_OUT_OF_MEMORY);
        CHECK_HAS(ptera_engine_error(engine), "a call that prints more than 1 MiB");
        CHECK(n_printed < 1 << 20);
    }
    for (size_t i = 0; i < sizeof wild / sizeof *wild; i++) {
        args[0] = (uint32_t)wild[i];
        CHECK_INT(print(module, "%*d", args), PTERA_ERROR_OUT_OF_MEMORY);
        CHECK_INT(print(module, "%-*c", args), PTERA_ERROR_OUT_OF_MEMORY);
    }
    args[0] = UINT32_MAX | (uint64_t)7 << 32; /* a negative precision is none */
    CHECK_INT(print(module, "%.*d", args), PTERA_OK);
    CHECK_INT(n_printed, 1);
    args[0] = (uintptr_t)"text";
    CHECK_INT(print(module, "%.2147483647s", args), PTERA_OK);
    CHECK_INT(n_printed, 4);
    CHECK_INT(print(module, "%1000000d\n", args), PTERA_OK);
    CHECK_INT(n_printed, 1000001);
    memset(endless, 'x', sizeof endless - 1);
    args[0] = (uintptr_t)endless;
    CHECK_INT(print(module, "%s", args), PTERA_ERROR_OUT_OF_MEMORY);
    CHECK_INT(print(module, "%.4s", args), PTERA_OK);
    CHECK_INT(n_printed, 4);
    CHECK_INT(print(module, endless, args), PTERA_ERROR_OUT_OF_MEMORY);
    ptera_engine_destroy(engine);
}

static void check_text_counts(void)
{
    enum { LIMIT = 1 << 20 };
    ptera_engine *engine = new_limited(LIMIT, 1);
    ptera_module *module = load(engine, text);
    void *rest = NULL;
    uint64_t args[1] = {1};
    CHECK_INT(print(module, "%300000d", args), PTERA_OK);
    CHECK_INT(n_printed, 300000);
    CHECK_INT(ptera_buffer_alloc(engine, LIMIT / 2, &rest), PTERA_OK);
    CHECK_INT(print(module, "%300000d", args), PTERA_ERROR_OUT_OF_MEMORY);
    CHECK_HAS(ptera_engine_error(engine), "no memory for printed text");
    CHECK_INT(ptera_buffer_free(engine, rest), PTERA_OK);
    CHECK_INT(print(module, "%300000d", args), PTERA_OK);
    /* nothing of the text counts any more */
    CHECK_INT(ptera_buffer_alloc(engine, LIMIT, &rest), PTERA_OK);
    ptera_engine_destroy(engine);
}

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* Each call is short; a thread's many are not. */
static void check_time(void)
{
    const char *format = "%.1000000f";
    const double value = 0.1;
    const void *args = &value;
    ptera_engine *engine = new_limited(0, 1);
    ptera_launch launch;
    ptera_launch_init(&launch);
    launch.grid[0] = 1000;
    launch.block[0] = 1024;
    launch.timeout_seconds = 0.2;
    launch.parameters = (const void *[]){&format, &args};
    launch.n_parameters = 2;
    ptera_kernel *kernel = kernel_of(load(engine, text), "print");
    double begin = now();
    CHECK_INT(ptera_kernel_launch(kernel, &launch), PTERA_ERROR_TIMEOUT);
    CHECK(now() - begin < 20);
    CHECK_HAS(ptera_engine_error(engine), "timeout in kernel 'print' at k.ptx");
    launch.grid[0] = launch.block[0] = 1;
    launch.timeout_seconds = 0;
    CHECK_INT(ptera_kernel_launch(kernel, &launch), PTERA_OK);
    ptera_engine_destroy(engine);
}

int main(void)
{
    check_local();
    check_local_counts();
    check_long_text();
    check_text_counts();
    check_time();
    return CHECK_DONE("limits");
}
