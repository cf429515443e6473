/* Checked launches: what is told, and what the result is. */
#include <malloc.h>

#include "tests/api/support.h"

/* Each thread copies a word and reads its neighbour's: `early` without a wait, `late` behind it and
 * a barrier. */
#define KERNEL(name, wait)                                                                \
    ".visible .entry " name "(.param .u64 p)\n"                                           \
    "{\n"                                                                                 \
    "    .reg .b64 %rd<3>;\n"                                                             \
    "    .reg .b32 %r<6>;\n"                                                              \
    "    .shared .align 4 .b8 room[256];\n"                                               \
    "    ld.param.u64 %rd1, [p];\n"                                                       \
    "    mov.u32 %r1, %tid.x;\n"                                                          \
    "    mad.wide.u32 %rd2, %r1, 4, %rd1;\n"                                              \
    "    mov.u32 %r2, room;\n"                                                            \
    "    mad.lo.u32 %r3, %r1, 4, %r2;\n"                                                  \
    "    cp.async.ca.shared.global [%r3], [%rd2], 4;\n" wait "    xor.b32 %r4, %r3, 4;\n" \
    "    ld.shared.u32 %r5, [%r4];\n"                                                     \
    "    ret;\n"                                                                          \
    "}\n"
static const char text[] = HEADER KERNEL("early", "") KERNEL(
    "late", "    cp.async.wait_all;\n    bar.sync 0;\n") ".visible .entry fails(.param .u64 "
                                                         "p)\n{\n    trap;\n}\n"
                                                         ".visible .entry last(.param .u64 p)\n"
                                                         "{\n"
                                                         "    .reg .b64 %rd1;\n"
                                                         "    .reg .b32 %r1;\n"
                                                         "    ld.param.u64 %rd1, [p];\n"
                                                         "    mov.u32 %r1, %ctaid.x;\n"
                                                         "    st.global.u32 [%rd1], %r1;\n"
                                                         "    red.global.add.u32 [%rd1+4], 1;\n"
                                                         "    ret;\n"
                                                         "}\n";

struct told {
    unsigned n;
    char text[1024]; /* the last */
};

static void hear(void *ud, const char *finding)
{
    struct told *told = ud;
    told->n++;
    snprintf(told->text, sizeof told->text, "%s", finding);
}

static ptera_result launch_checked(ptera_kernel *kernel, void *p, unsigned checks,
                                   struct told *told)
{
    ptera_launch launch;
    ptera_launch_init(&launch);
    launch.grid[0] = 8;
    launch.block[0] = 64;
    launch.parameters = (const void *const[]){&p};
    launch.n_parameters = 1;
    launch.checks = checks;
    launch.finding = told ? hear : NULL;
    launch.finding_ud = told;
    return ptera_kernel_launch(kernel, &launch);
}

/* `n` times all threads write the word below their buffer, which is nobody's, and read what they
 * never wrote. */
static const char repeated[] = HEADER ".visible .entry repeats(.param .u64 p, .param .u32 n)\n"
                                      "{\n"
                                      "    .reg .b64 %rd<3>; .reg .b32 %r<6>; .reg .pred %p<3>;\n"
                                      "    .shared .u32 room;\n"
                                      "    ld.param.u64 %rd1, [p]; ld.param.u32 %r1, [n];\n"
                                      "    mov.u32 %r2, %tid.x;\n"
                                      "again:\n"
                                      "    st.global.u32 [%rd1+-4], %r2;\n"
                                      "    ld.shared.u32 %r3, [room];\n"
                                      "    setp.eq.u32 %p1, %r3, 99;\n"
                                      "    @%p1 bra over;\n"
                                      "    sub.u32 %r1, %r1, 1;\n"
                                      "    setp.ne.u32 %p2, %r1, 0;\n"
                                      "    @%p2 bra again;\n"
                                      "over:\n"
                                      "    ret;\n"
                                      "}\n";

/* The bytes that the process has from malloc after a checked launch of `n` rounds. */
static size_t repeat(ptera_kernel *kernel, void *p, unsigned n)
{
    ptera_launch launch;
    ptera_launch_init(&launch);
    launch.block[0] = 256;
    launch.parameters = (const void *const[]){&p, &n};
    launch.n_parameters = 2;
    launch.checks = PTERA_CHECK_MEM | PTERA_CHECK_INIT | PTERA_CHECK_RACE | PTERA_CHECK_SYNC;
    CHECK_INT(ptera_kernel_launch(kernel, &launch), PTERA_ERROR_FINDINGS);
    struct mallinfo2 all = mallinfo2();
    return all.uordblks + all.hblkhd;
}

/* A finding takes memory once, however often it is seen. */
static void check_repetitions(void)
{
    enum { ROUNDS = 4096, THREADS = 256, MOST = 64 << 10 };
    ptera_engine *engine = new_engine(2);
    ptera_module *module = load(engine, repeated);
    ptera_kernel *kernel = kernel_of(module, "repeats");
    void *p = new_buffer(engine, 256);
    size_t before = repeat(kernel, p, 2), after = repeat(kernel, p, ROUNDS);
    CHECK(after < before + MOST);
    ptera_finding f = {.size = sizeof f};
    uint64_t most = 0;
    unsigned n = 0;
    for (; ptera_engine_finding(engine, n, &f) == PTERA_OK; n++)
        most = f.count > most ? f.count : most;
    CHECK(n >= 3 && n < 8);
    CHECK(most >= (uint64_t)ROUNDS * THREADS);
    ptera_engine_destroy(engine);
}

/* The host says what it reads. */
static void check_reading(void)
{
    ptera_engine *engine = new_engine(1);
    void *p = new_buffer(engine, 256);
    CHECK_INT(ptera_memory_read(engine, p, 256), PTERA_OK);
    CHECK_INT(ptera_memory_read(engine, NULL, 0), PTERA_OK);
    CHECK_INT(ptera_memory_read(engine, NULL, 4), PTERA_ERROR_INVALID_ARGUMENT);
    CHECK_INT(ptera_memory_read(NULL, p, 4), PTERA_ERROR_INVALID_ARGUMENT);
    ptera_engine_destroy(engine);
}

/* The launch runs under several schedules; memory is what it would be after one. */
static void test_order(ptera_engine *engine, ptera_module *module)
{
    struct told told = {0};
    uint32_t *p = new_buffer(engine, 256);
    ptera_kernel *last = kernel_of(module, "last");
    CHECK_INT(launch_checked(last, p, 0, NULL), PTERA_OK);
    CHECK_INT(launch_checked(last, p, PTERA_CHECK_ORDER, &told), PTERA_ERROR_FINDINGS);
    CHECK_INT(told.n, 1);
    CHECK_HAS(told.text, "error: order: thread (");
    CHECK_HAS(told.text, "which st.global.u32 at k.ptx:");
    CHECK_INT(p[0], 7); /* of CTAs in ascending order, as one worker runs them */
    CHECK_INT(p[1], 16 * 64);
}

int main(void)
{
    struct told told = {0};
    ptera_engine *engine = new_engine(2);
    ptera_module *module = load(engine, text);
    ptera_kernel *early = kernel_of(module, "early"), *late = kernel_of(module, "late");
    void *p = new_buffer(engine, 256);
    /* One pair of places is told once, whatever threads, CTAs and workers come there. */
    CHECK_INT(launch_checked(early, p, PTERA_CHECK_RACE, &told), PTERA_ERROR_FINDINGS);
    CHECK_INT(told.n, 1);
    CHECK_HAS(told.text, "k.ptx:16:5: error: race: thread (");
    CHECK_HAS(told.text, "which cp.async.ca.shared.global at k.ptx:14:5, thread (");
    CHECK_TEXT(ptera_engine_error(engine), "kernel 'early': 1 finding");
    CHECK_INT(launch_checked(early, p, PTERA_CHECK_RACE, NULL), PTERA_ERROR_FINDINGS);
    CHECK_INT(launch_checked(early, p, 0, &told), PTERA_OK);
    CHECK_INT(launch_checked(late, p, PTERA_CHECK_RACE, &told), PTERA_OK);
    CHECK_INT(told.n, 1);
    CHECK_INT(launch_checked(late, p, 1u << 30, &told), PTERA_ERROR_INVALID_ARGUMENT);
    CHECK_INT(launch_checked(kernel_of(module, "fails"), p, PTERA_CHECK_RACE, &told),
              PTERA_ERROR_TRAP);
    test_order(engine, module);
    ptera_engine_destroy(engine);
    check_repetitions();
    check_reading();
    return CHECK_DONE("check");
}
