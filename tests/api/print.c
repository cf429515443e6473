/* Device functions: printf in all its conversions, assertions, malloc and free. */
#include <locale.h>

#include "tests/api/support.h"

static char printed[1 << 16];
static size_t n_printed, n_calls;

static void collect(void *ud, const char *text, size_t bytes)
{
    (void)ud;
    n_calls++;
    if (bytes >= sizeof printed - n_printed)
        bytes = sizeof printed - n_printed - 1;
    memcpy(printed + n_printed, text, bytes);
    n_printed += bytes;
    printed[n_printed] = 0;
}

static ptera_engine *new_printing_engine(size_t heap_bytes)
{
    ptera_options options;
    ptera_engine *engine = NULL;
    ptera_options_init(&options);
    options.threads = 2;
    options.print = collect;
    options.heap_bytes = heap_bytes;
    CHECK_INT(ptera_engine_create(&options, &engine), PTERA_OK);
    return engine;
}

/* Calls vprintf with addresses of the host's memory: device addresses are host addresses. */
static const char text[] = HEADER
    ".extern .func (.param .b32 r) vprintf(.param .b64 f, .param .b64 a);\n"
    ".extern .func (.param .b64 r) malloc(.param .b64 n);\n"
    ".extern .func free(.param .b64 p);\n"
    ".extern .func __assertfail(.param .b64 m, .param .b64 f, .param .b32 l, "
    ".param .b64 fn, .param .b64 c);\n"
    ".global .align 1 .b8 message[6] = {120, 32, 62, 32, 48, 0};\n"
    ".global .align 1 .b8 file[5] = {97, 46, 99, 117, 0};\n"
    ".global .align 1 .b8 function[5] = {109, 97, 105, 110, 0};\n"
    ".visible .entry print(.param .u64 format, .param .u64 args, .param .u64 out)\n{\n"
    "    .reg .b64 %rd<5>; .reg .b32 %r<3>;\n"
    "    ld.param.u64 %rd1, [format]; ld.param.u64 %rd2, [args]; ld.param.u64 %rd3, [out];\n"
    "    { .param .b64 p0; .param .b64 p1; .param .b32 r0;\n"
    "    st.param.b64 [p0], %rd1; st.param.b64 [p1], %rd2;\n"
    "    call.uni (r0), vprintf, (p0, p1);\n    ld.param.b32 %r1, [r0]; }\n"
    "    st.global.u32 [%rd3], %r1;\n    ret;\n}\n"
    ".visible .entry fail()\n{\n"
    "    .reg .b64 %rd<5>; .reg .b32 %r<3>; .reg .pred %p1;\n"
    "    mov.u32 %r1, %tid.x; setp.ne.u32 %p1, %r1, 3; @%p1 bra DONE;\n"
    "    mov.u64 %rd1, message; cvta.global.u64 %rd1, %rd1; mov.u64 %rd2, file; "
    "cvta.global.u64 %rd2, %rd2;\n"
    "    mov.u64 %rd3, function; cvta.global.u64 %rd3, %rd3;\n"
    "    { .param .b64 p0; .param .b64 p1; .param .b32 p2; .param .b64 p3; .param .b64 p4;\n"
    "    st.param.b64 [p0], %rd1; st.param.b64 [p1], %rd2; st.param.b32 [p2], 42; "
    "st.param.b64 [p3], %rd3;\n"
    "    st.param.b64 [p4], 1;\n    call.uni __assertfail, (p0, p1, p2, p3, p4); }\n"
    "DONE:\n    ret;\n}\n"
    ".visible .entry allocate(.param .u64 out, .param .u64 bytes)\n{\n"
    "    .reg .b64 %rd<6>; .reg .b32 %r<3>;\n"
    "    ld.param.u64 %rd1, [out]; ld.param.u64 %rd2, [bytes]; mov.u32 %r1, %tid.x; "
    "mov.u32 %r2, %ctaid.x;\n"
    "    shl.b32 %r2, %r2, 5; add.u32 %r1, %r1, %r2;\n"
    "    { .param .b64 p0; .param .b64 r0; st.param.b64 [p0], %rd2;\n"
    "    call.uni (r0), malloc, (p0);\n    ld.param.b64 %rd3, [r0]; }\n"
    "    mul.wide.u32 %rd4, %r1, 8; add.s64 %rd4, %rd1, %rd4; st.global.u64 [%rd4], %rd3;\n"
    "    ret;\n}\n"
    ".visible .entry release(.param .u64 in)\n{\n"
    "    .reg .b64 %rd<6>; .reg .b32 %r<3>;\n"
    "    ld.param.u64 %rd1, [in]; mov.u32 %r1, %tid.x; mov.u32 %r2, %ctaid.x; "
    "shl.b32 %r2, %r2, 5;\n"
    "    add.u32 %r1, %r1, %r2; mul.wide.u32 %rd2, %r1, 8; add.s64 %rd2, %rd1, %rd2; "
    "ld.global.u64 %rd3, [%rd2];\n"
    "    { .param .b64 p0; st.param.b64 [p0], %rd3;\n    call.uni free, (p0); }\n    ret;\n}\n";

static ptera_engine *engine;
static ptera_module *module;

struct arg {
    unsigned bytes;
    uint64_t v;
};
#define I4(x) {4, (uint32_t)(x)}
#define I8(x) {8, (uint64_t)(x)}
#define STR(x) {8, (uintptr_t)(x)}
static struct arg f8(double v)
{
    struct arg a = {8, 0};
    memcpy(&a.v, &v, 8);
    return a;
}

static ptera_result print_args(const char *format, const struct arg *args, unsigned n,
                               int32_t *count)
{
    _Alignas(8) unsigned char block[256];
    size_t at = 0;
    for (unsigned i = 0; i < n; i++) {
        at = (at + args[i].bytes - 1) / args[i].bytes * args[i].bytes;
        memcpy(block + at, &args[i].v, args[i].bytes);
        at += args[i].bytes;
    }
    const void *address = n ? block : NULL;
    n_printed = 0;
    printed[0] = 0;
    return LAUNCH(kernel_of(module, "print"), 1, 1, &format, &address, &count);
}

static void expect(const char *format, const struct arg *args, unsigned n, const char *want)
{
    int32_t count = -9;
    CHECK_INT(print_args(format, args, n, &count), PTERA_OK);
    CHECK_TEXT(printed, want);
    CHECK_INT(count, n);
}
#define EXPECT(want, format, ...) \
    expect((format), (const struct arg[]){__VA_ARGS__}, \
           sizeof((const struct arg[]){__VA_ARGS__}) / sizeof(struct arg), (want))

static void check_conversions(void)
{
    expect("plain\n", NULL, 0, "plain\n");
    expect("100%%", NULL, 0, "100%");
    expect("odd %y %", NULL, 0, "odd %y %");
    EXPECT("-7 4294967289 fffffff9", "%d %u %x", I4(-7), I4(-7), I4(-7));
    EXPECT("-1 -1 255 65535", "%hhd %hd %hhu %hu", I4(255), I4(65535), I4(-1), I4(-1));
    EXPECT("9223372036854775807 -1 18446744073709551615", "%lld %ld %llu", I8(INT64_MAX), I8(-1),
           I8(-1));
    EXPECT("+5|   5|5   |0005|  0x1f|017", "%+d|%4d|%-4d|%04d|%#6x|%#o", I4(5), I4(5), I4(5), I4(5),
           I4(31), I4(15));
    EXPECT("   42|42   ", "%*d|%*d", I4(5), I4(42), I4(-5), I4(42));
    EXPECT("3.14%| 3.1|1e+10|inf|-nan", "%.2f%%|%*.*f|%g|%f|%f", f8(3.14159), I4(4), I4(1),
           f8(3.14159), f8(1e10), f8(__builtin_inf()), f8(-__builtin_nan("")));
    EXPECT("0x1p+0 1.5E+00", "%a %.1E", f8(1), f8(1.5));
    EXPECT("1 2.5 3 x 4", "%d %.1f %lld %s %d", I4(1), f8(2.5), I8(3), STR("x"), I4(4));
    EXPECT("[abc] [  abc] [abc  ] [ab] [(null)]", "[%s] [%5s] [%-5s] [%.2s] [%s]", STR("abc"),
           STR("abc"), STR("abc"), STR("abc"), STR(NULL));
    EXPECT("A|  B|C  ", "%c|%3c|%-3c", I4('A'), I4('B'), I4('C'));
    EXPECT("0x10 (nil)", "%p %p", I8(16), I8(0));
    EXPECT("wide \xc3\xa4!", "%ls", STR(L"wide \u00e4!"));
    EXPECT("-3 17 BEEF -1 5", "%i %o %X %li %lu", I4(-3), I4(15), I4(0xbeef), I8(-1), I8(5));
    EXPECT("ffffffffffffffff 1777777777777777777777 0XFF", "%llx %llo %#llX", I8(-1), I8(-1),
           I8(255));
    EXPECT(" 5|+5|-0005|00007|  +9|9   |", "% d|%+i|%05d|%.5d|%+4lld|%-4llu|", I4(5), I4(5), I4(-5),
           I4(7), I8(9), I8(9));
    EXPECT("18446744073709551615 -2 3 4", "%zu %jd %td %ju", I8(-1), I8(-2), I8(3), I8(4));
    EXPECT("1.500000e+00 1.5 1.5E+20 0X1.8P+0 INF nan", "%e %G %G %A %F %f", f8(1.5), f8(1.5),
           f8(1.5e20), f8(1.5), f8(__builtin_inf()), f8(__builtin_nan("")));
    EXPECT("[  2.50] [2.50  ] [+02.5] [ 2.5] [3.] [2.50000]",
           "[%6.2f] [%-6.2f] [%+05.1f] [% .1f] [%#.0f] [%#g]", f8(2.5), f8(2.5), f8(2.5), f8(2.5),
           f8(3), f8(2.5));
    EXPECT("[   ab] [ab   ] [] [(null)] [  (null)]", "[%*.*s] [%-*.*s] [%.0s] [%s] [%8s]", I4(5),
           I4(2), STR("abc"), I4(5), I4(2), STR("abc"), STR("abc"), STR(NULL), STR(NULL));
    EXPECT("%d % 5%s", "%%d %% %d%%s", I4(5));
}

static void check_long_text(void)
{
    static char string[20001];
    memset(string, 'x', 20000);
    struct arg args[] = {STR(string)};
    int32_t count;
    CHECK_INT(print_args("%s", args, 1, &count), PTERA_OK);
    CHECK_INT(n_printed, 20000);
}

/* Nothing is lost when more than a buffer is printed in one launch. */
static void check_flood(void)
{
    const char *format = "0123456789012345678901234567890123456789\n";
    const void *none = NULL;
    uint32_t count, *p = &count;
    n_printed = n_calls = 0;
    CHECK_INT(LAUNCH(kernel_of(module, "print"), 1500, 32, &format, &none, &p), PTERA_OK);
    CHECK(n_calls > 1 && n_calls < 10);
}

static void check_locale(void)
{
    if (!setlocale(LC_ALL, "de_DE.UTF-8"))
        setlocale(LC_ALL, "");
    EXPECT("2.50", "%.2f", f8(2.5));
    setlocale(LC_ALL, "C");
}

static void check_wild_pointers(void)
{
    struct arg args[] = {I8(0x1234)};
    int32_t count;
    CHECK_INT(print_args("a%s", args, 1, &count), PTERA_ERROR_ILLEGAL_ADDRESS);
    CHECK_HAS(ptera_engine_error(engine), "illegal address 0x1234 in kernel 'print'");
    CHECK_HAS(ptera_engine_error(engine), "read by a device function");
    CHECK_INT(print_args((const char *)(uintptr_t)8, NULL, 0, &count), PTERA_ERROR_ILLEGAL_ADDRESS);
    CHECK_INT(print_args("%d", NULL, 0, &count), PTERA_ERROR_ILLEGAL_ADDRESS);
    expect("fine", NULL, 0, "fine");
}

static void check_assertion(void)
{
    n_printed = 0;
    CHECK_INT(launch_with(kernel_of(module, "fail"), 1, 32, NULL, 0), PTERA_ERROR_ASSERT);
    CHECK_TEXT(printed,
               "a.cu:42: main: block: [0,0,0], thread: [3,0,0] Assertion `x > 0` failed.\n");
    CHECK_HAS(ptera_engine_error(engine), "failed assertion in kernel 'fail' at k.ptx:");
    CHECK_HAS(ptera_engine_error(engine), "thread (3,0,0)");
}

static void check_heap(void)
{
    enum { N = 64 };
    uint64_t *p = new_buffer(engine, N * 8), bytes = 1000, *null = NULL;
    CHECK_INT(LAUNCH(kernel_of(module, "allocate"), 2, 32, &p, &bytes), PTERA_OK);
    for (int i = 0; i < N; i++) {
        CHECK(p[i] && p[i] % 16 == 0);
        memset((void *)(uintptr_t)p[i], i, bytes);
    }
    for (int i = 0; i < N; i++)
        CHECK_INT(*(uint8_t *)(uintptr_t)p[i], i);
    CHECK_INT(LAUNCH(kernel_of(module, "release"), 2, 32, &p), PTERA_OK);
    /* The heap of 128 KiB has room for two of 60,000 bytes again, not for three. */
    bytes = 60000;
    CHECK_INT(LAUNCH(kernel_of(module, "allocate"), 1, 3, &p, &bytes), PTERA_OK);
    CHECK((p[0] != 0) + (p[1] != 0) + (p[2] != 0) == 2);
    CHECK_INT(LAUNCH(kernel_of(module, "release"), 1, 3, &p), PTERA_OK);
    CHECK_INT(LAUNCH(kernel_of(module, "release"), 1, 1, &p), PTERA_ERROR_ILLEGAL_ADDRESS);
    CHECK_HAS(ptera_engine_error(engine), "free of what malloc did not give");
    p[0] = 0;
    CHECK_INT(LAUNCH(kernel_of(module, "release"), 1, 1, &p), PTERA_OK);
    CHECK_INT(LAUNCH(kernel_of(module, "release"), 1, 1, &null), PTERA_ERROR_ILLEGAL_ADDRESS);
}

int main(void)
{
    engine = new_printing_engine(128 << 10);
    module = load(engine, text);
    check_conversions();
    check_long_text();
    check_flood();
    check_locale();
    check_wild_pointers();
    check_assertion();
    check_heap();
    ptera_engine_destroy(engine);
    return CHECK_DONE("print");
}
