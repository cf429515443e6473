/* Kernels so large that few passes make them: code grows with the kernel, not faster, and computes
 * what the interpreter does. Families of generated kernels, of which LLVM's passes, left to
 * themselves, take the square of the time for twice the code. */
#include <stdbool.h>

#include "tests/api/support.h"

enum { THREADS = 64, BYTES_A_LINE = 192, OUT_BYTES = 16384 };

static const char head[] = HEADER ".visible .entry k(.param .u64 out)\n{\n"
                                  ".reg .b64 %a, %b; .reg .b32 %r<16>; .reg .pred %p<4>;\n"
                                  "ld.param.u64 %a, [out]; mov.u32 %r1, %tid.x; mov.u32 %r2, 7; "
                                  "mov.u32 %r3, 3; mov.u32 %r9, 0;\n";
static const char tail[] = "END:\nmov.u32 %r0, %tid.x; mad.wide.u32 %b, %r0, 4, %a; "
                           "st.global.u32 [%b], %r1;\nret;\n}\n";

/* Each family: line i of n, or what comes before and behind them. */
static int put_local(char *out, unsigned i, unsigned n)
{
    (void)n;
    return sprintf(out,
                   "st.local.u32 [l+%u], %%r1; ld.local.u32 %%r2, [l+%u]; "
                   "add.u32 %%r1, %%r1, %%r2;\n",
                   4 * i, 4 * (i * 7 % (i + 1)));
}

static int put_atomic(char *out, unsigned i, unsigned n)
{
    (void)n;
    return sprintf(out, "red.global.add.u32 [%%a+%u], %%r1;\n", 8192 + 4 * (i % 1000));
}

static int put_exit(char *out, unsigned i, unsigned n)
{
    return sprintf(out,
                   "setp.eq.u32 %%p1, %%r1, %u; @%%p1 bra END; "
                   "add.u32 %%r1, %%r1, %u;\n",
                   i + n, i % 3);
}

static int put_if(char *out, unsigned i, unsigned n)
{
    if (i < n / 2)
        return sprintf(out,
                       "setp.gt.u32 %%p1, %%r1, %u; @%%p1 bra L%u; "
                       "add.u32 %%r2, %%r2, 1;\n",
                       i % 64, i);
    return sprintf(out, "L%u: add.u32 %%r1, %%r1, %%r2;\n", n - 1 - i);
}

static int put_loop(char *out, unsigned i, unsigned n)
{
    (void)n;
    return sprintf(out,
                   "mov.u32 %%r5, 0; L%u: add.u32 %%r5, %%r5, 1; add.u32 %%r1, %%r1, %%r5; "
                   "setp.lt.u32 %%p1, %%r5, 2; @%%p1 bra L%u;\n",
                   i, i);
}

static int put_jump(char *out, unsigned i, unsigned n)
{
    return sprintf(out,
                   "L%u: add.u32 %%r9, %%r9, 1; add.u32 %%r1, %%r1, %%r9; "
                   "and.b32 %%r5, %%r1, 7; setp.eq.u32 %%p1, %%r5, %u; "
                   "setp.gt.u32 %%p2, %%r9, %u; @%%p2 bra END; "
                   "@%%p1 bra L%u;\n",
                   i, i % 8, 4 * n, (i * 7919 + 13) % n);
}

static int put_hash(char *out, unsigned i, unsigned n)
{
    (void)n;
    return sprintf(out,
                   "shf.l.wrap.b32 %%r5, %%r%u, %%r%u, %u; xor.b32 %%r%u, %%r%u, %%r5; "
                   "mad.lo.u32 %%r%u, %%r%u, 5, %%r5;\n",
                   1 + i % 3, 1 + i % 3, i % 31 + 1, 1 + (i + 1) % 3, 1 + (i + 1) % 3, 1 + i % 3,
                   1 + i % 3);
}

static const struct family {
    int (*put)(char *out, unsigned i, unsigned n);
    unsigned n; /* so many lines are enough for few passes */
    bool has_local;
} families[] = {
    {put_local, 100, true}, {put_atomic, 170, false}, {put_exit, 700, false},  {put_if, 700, false},
    {put_loop, 420, false}, {put_jump, 200, false},   {put_hash, 3000, false},
};

/* The caller frees it. */
static char *generate(const struct family *family, unsigned n)
{
    char *text = malloc(sizeof head + sizeof tail + (size_t)(n + 1) * BYTES_A_LINE), *p = text;
    CHECK(text != NULL);
    p += sprintf(p, "%s", head);
    if (family->has_local)
        p += sprintf(p, ".local .align 4 .b8 l[%u];\n", 4 * n);
    for (unsigned i = 0; i < n; i++)
        p += family->put(p, i, n);
    sprintf(p, "%s", tail);
    return text;
}

static size_t object_bytes(ptera_kernel *kernel)
{
    static const unsigned block[3] = {THREADS, 1, 1};
    size_t bytes = 0;
    const void *object = NULL;
    CHECK_INT(ptera_kernel_emit(kernel, block, 0, PTERA_EMIT_OBJ, &object, &bytes), PTERA_OK);
    return bytes;
}

static void run(ptera_kernel *kernel, ptera_backend backend, uint8_t *out)
{
    ptera_launch launch;
    ptera_kernel_status status = {.size = sizeof status};
    memset(out, 0, OUT_BYTES);
    ptera_launch_init(&launch);
    launch.backend = backend;
    launch.block[0] = THREADS;
    launch.parameters = (const void *[]){&out};
    launch.n_parameters = 1;
    CHECK_INT(ptera_kernel_launch(kernel, &launch), PTERA_OK);
    CHECK_INT(ptera_kernel_info(kernel, &status), PTERA_OK);
    CHECK_TEXT(status.why ? status.why : "", "");
}

static void check_family(const struct family *family)
{
    ptera_engine *engine = new_engine(1);
    size_t bytes[2];
    uint8_t *native = new_buffer(engine, OUT_BYTES), *interpreted = new_buffer(engine, OUT_BYTES);
    for (unsigned k = 0; k < 2; k++) {
        char *text = generate(family, family->n << k);
        ptera_kernel *kernel = kernel_of(load(engine, text), "k");
        bytes[k] = object_bytes(kernel);
        if (k == 0) {
            run(kernel, PTERA_BACKEND_JIT, native);
            run(kernel, PTERA_BACKEND_INTERP, interpreted);
            CHECK(memcmp(native, interpreted, OUT_BYTES) == 0);
        }
        free(text);
    }
    CHECK(10 * bytes[1] <= 23 * bytes[0]);
    ptera_engine_destroy(engine);
}

/* What is larger than the compiler takes is interpreted, with the reason. */
static void check_refusal(void)
{
    static const struct family atomics = {put_atomic, 3000, false};
    ptera_engine *engine = new_engine(1);
    char *text = generate(&atomics, atomics.n);
    ptera_kernel *kernel = kernel_of(load(engine, text), "k");
    ptera_kernel_status status = {.size = sizeof status};
    ptera_launch launch;
    uint8_t *out = new_buffer(engine, OUT_BYTES);
    ptera_launch_init(&launch);
    launch.backend = PTERA_BACKEND_JIT;
    launch.block[0] = THREADS;
    launch.parameters = (const void *[]){&out};
    launch.n_parameters = 1;
    CHECK_INT(ptera_kernel_launch(kernel, &launch), PTERA_OK);
    CHECK_INT(ptera_kernel_info(kernel, &status), PTERA_OK);
    CHECK_TEXT(status.why, "too much code");
    ptera_engine_destroy(engine);
    free(text);
}

int main(void)
{
    for (size_t i = 0; i < sizeof families / sizeof *families; i++)
        check_family(&families[i]);
    check_refusal();
    return CHECK_DONE("growth");
}
