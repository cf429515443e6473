/* Kernels that fail: what comes back, what the text says, and that the engine goes on. */
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>

#include "tests/api/support.h"

static ptera_engine *engine;

/* The kernel stands on line 4 of its text; statements follow from line 6 on. */
#define KERNEL(body)                                 \
    HEADER ".visible .entry k(.param .u64 p)\n{\n"   \
           "    .reg .b64 %rd<8>; .reg .b32 %r<8>; .reg .pred %p<4>; " \
           "ld.param.u64 %rd1, [p];\n" body "    ret;\n}\n"

static ptera_result run(const char *text, unsigned grid, unsigned block, uint64_t p)
{
    ptera_module *module = load(engine, text);
    ptera_result r = LAUNCH(kernel_of(module, "k"), grid, block, &p);
    ptera_module_unload(module);
    return r;
}

/* A launch after a failure is as good as any. */
static void check_healthy(void)
{
    uint32_t *out = new_buffer(engine, 4 * 64);
    CHECK_INT(run(KERNEL("    mov.u32 %r1, %tid.x; mul.wide.u32 %rd2, %r1, 4; "
                         "add.s64 %rd1, %rd1, %rd2;\n"
                         "    st.global.u32 [%rd1], %r1;\n"),
                  1, 64, (uintptr_t)out),
              PTERA_OK);
    for (uint32_t i = 0; i < 64; i++)
        CHECK_INT(out[i], i);
    ptera_buffer_free(engine, out);
}

static void check_null(void)
{
    CHECK_INT(run(KERNEL("    mov.u32 %r1, %tid.x;\n"
                         "    setp.ne.u32 %p1, %r1, 5;\n"
                         "    @%p1 ret;\n"
                         "    st.global.u32 [%rd1], %r1;\n"),
                  1, 32, 0),
              PTERA_ERROR_ILLEGAL_ADDRESS);
    CHECK_TEXT(ptera_engine_error(engine),
               "illegal address 0x0 in kernel 'k' at k.ptx:10, CTA (0,0,0), thread (5,0,0)\n"
               "  st.global.u32 [%rd1], %r1;");
    check_healthy();
}

static void check_wild(void)
{
    static const uint64_t wild[] = {16, UINT64_C(0x680000000000), UINT64_C(0x800000000000),
                                    UINT64_C(0xdeadbeefdeadbee8), UINT64_C(0xfffffffffffffff8)};
    for (size_t i = 0; i < sizeof wild / sizeof *wild; i++) {
        CHECK_INT(run(KERNEL("    ld.global.u64 %rd2, [%rd1];\n"
                             "    st.global.u64 [%rd1], %rd2;\n"), 1, 1, wild[i]),
                  PTERA_ERROR_ILLEGAL_ADDRESS);
        CHECK_HAS(ptera_engine_error(engine),
                  "in kernel 'k' at k.ptx:7, CTA (0,0,0), thread (0,0,0)");
    }
    check_healthy();
}

static void check_misaligned(void)
{
    char *p = new_buffer(engine, 64);
    CHECK_INT(run(KERNEL("    ld.global.u32 %r2, [%rd1+2];\n"
                         "    st.global.u32 [%rd1], %r2;\n"), 1, 1, (uintptr_t)p),
              PTERA_ERROR_MISALIGNED_ADDRESS);
    CHECK_HAS(ptera_engine_error(engine), "misaligned address 0x");
    CHECK_HAS(ptera_engine_error(engine), "in kernel 'k' at k.ptx:7, CTA (0,0,0), thread (0,0,0)");
    ptera_buffer_free(engine, p);
    check_healthy();
}

static void check_trap(void)
{
    CHECK_INT(run(KERNEL("    mov.u32 %r1, %ctaid.x;\n    setp.eq.u32 %p1, %r1, 2;\n"
                         "    @%p1 trap;\n"), 4, 64, 0),
              PTERA_ERROR_TRAP);
    CHECK_HAS(ptera_engine_error(engine), "trap in kernel 'k' at k.ptx:9, CTA (2,0,0), thread (");
    check_healthy();
}

static void check_illegal_instruction(void)
{
    CHECK_INT(run(KERNEL("    mov.u32 %r1, 33;\n"
                         "    bar.sync 0, %r1;\n"), 1, 64, 0), PTERA_ERROR_ILLEGAL_INSTRUCTION);
    CHECK_HAS(ptera_engine_error(engine),
              "illegal instruction in kernel 'k' at k.ptx:8, CTA (0,0,0), thread (");
    check_healthy();
}

/* Two warps wait at two barriers. */
static void check_deadlock(void)
{
    CHECK_INT(run(KERNEL("    mov.u32 %r1, %tid.x;\n"
                         "    setp.lt.u32 %p1, %r1, 32;\n"
                         "    @%p1 bra A;\n"
                         "    bar.sync 1;\n"
                         "    bra B;\n"
                         "A:  bar.sync 2;\n"
                         "B:\n"),
                  1, 64, 0),
              PTERA_ERROR_DEADLOCK);
    const char *text = ptera_engine_error(engine);
    CHECK_HAS(
        text,
        "deadlock in kernel 'k' at k.ptx:12, CTA (0,0,0), thread (0,0,0) and 31 more of warp 0");
    CHECK_HAS(text, "CTA (0,0,0) warp 0 lanes 0xffffffff at barrier 2, k.ptx:12");
    CHECK_HAS(text, "CTA (0,0,0) warp 1 lanes 0xffffffff at barrier 1, k.ptx:10");
    check_healthy();
}

/* Threads that have exited do not hold up a barrier. */
static void check_exited_threads(void)
{
    CHECK_INT(run(KERNEL("    mov.u32 %r1, %tid.x;\n    setp.lt.u32 %p1, %r1, 40;\n    @%p1 ret;\n"
                         "    bar.sync 0;\n"),
                  2, 128, 0),
              PTERA_OK);
}

static ptera_result run_limited(const char *text, double seconds)
{
    ptera_module *module = load(engine, text);
    ptera_kernel *kernel = kernel_of(module, "k");
    uint64_t p = 0;
    const void *parameters[] = {&p};
    ptera_launch launch;
    ptera_launch_init(&launch);
    launch.grid[0] = 3;
    launch.block[0] = 64;
    launch.parameters = parameters;
    launch.n_parameters = 1;
    launch.timeout_seconds = seconds;
    ptera_result r = ptera_kernel_launch(kernel, &launch);
    ptera_module_unload(module);
    return r;
}

static void check_timeout(void)
{
    CHECK_INT(run_limited(KERNEL("L:  bra L;\n"), 0.05), PTERA_ERROR_TIMEOUT);
    CHECK_HAS(ptera_engine_error(engine), "timeout in kernel 'k' at k.ptx:7, CTA (");
    CHECK_HAS(ptera_engine_error(engine), " warp 0 lanes 0xffffffff, k.ptx:7");
    CHECK_INT(run_limited(KERNEL("    .shared .u32 flag;\n"
                                 "L:  ld.volatile.shared.u32 %r1, [flag];\n"
                                 "    setp.ne.u32 %p1, %r1, -1;\n"
                                 "    @%p1 bra L;\n"),
                          0.05),
              PTERA_ERROR_TIMEOUT);
    CHECK_HAS(ptera_engine_error(engine), "timeout in kernel 'k' at k.ptx:");
    CHECK_INT(run_limited(KERNEL(""), 100), PTERA_OK);
    check_healthy();
}

/* Source lines come from .loc. */
static void check_source_line(void)
{
    CHECK_INT(run(HEADER ".file 1 \"k.cu\"\n.visible .entry k(.param .u64 p)\n{\n"
                         "    .reg .b64 %rd<2>;\n"
                         "    .loc 1 12 5\n    ld.param.u64 %rd1, [p];\n"
                         "    st.global.u64 [%rd1], %rd1;\n    ret;\n}\n",
                  1, 1, 0),
              PTERA_ERROR_ILLEGAL_ADDRESS);
    CHECK_HAS(ptera_engine_error(engine),
              "illegal address 0x0 in kernel 'k' at k.ptx:10 (k.cu:12), CTA");
}

/* Faults in a function name it; runaway recursion is a stack overflow. */
static void check_functions(void)
{
    CHECK_INT(run(HEADER ".func f(.param .b64 a)\n{\n    .reg .b64 %rd<2>;\n"
                         "    ld.param.u64 %rd1, [a];\n"
                         "    st.global.u64 [%rd1], %rd1;\n    ret;\n}\n"
                         ".visible .entry k(.param .u64 p)\n{\n    .reg .b64 %rd<2>;\n"
                         "    ld.param.u64 %rd1, [p];\n"
                         "    { .param .b64 a; st.param.b64 [a], %rd1;\n"
                         "    call.uni f, (a); }\n    ret;\n}\n",
                  1, 1, 8),
              PTERA_ERROR_ILLEGAL_ADDRESS);
    CHECK_HAS(ptera_engine_error(engine), "illegal address 0x8 in kernel 'k' at k.ptx:8, CTA");
    CHECK_HAS(ptera_engine_error(engine), "\n  in function 'f'");
    CHECK_INT(run(HEADER ".func f()\n{\n    .reg .b32 %r<2>; .local .b8 room[64];\n"
                         "    st.local.u32 [room], 1;\n"
                         "    call f;\n    ld.local.u32 %r1, [room];\n    ret;\n}\n"
                         ".visible .entry k(.param .u64 p)\n{\n    call f;\n    ret;\n}\n",
                  1, 1, 0),
              PTERA_ERROR_STACK_OVERFLOW);
    check_healthy();
}

/* Shared memory ends where the launch said; kernel parameters cannot be written. */
static void check_spaces(void)
{
    CHECK_INT(run(KERNEL("    .shared .b8 room[64];\n    mov.u32 %r1, room;\n"
                         "    add.u32 %r1, %r1, 1048576;\n"
                         "    st.shared.u32 [%r1], %r1;\n"),
                  1, 1, 0),
              PTERA_ERROR_ILLEGAL_ADDRESS);
    CHECK_HAS(ptera_engine_error(engine), "is shared address 0x100400");
    CHECK_INT(run(KERNEL("    mov.b64 %rd2, p;\n    cvta.param.u64 %rd2, %rd2;\n"
                         "    st.u64 [%rd2], %rd1;\n"), 1, 1, 0),
              PTERA_ERROR_ILLEGAL_ADDRESS);
    check_healthy();
}

/* ---- faults that are the program's own ------------------------------------------------------- */

static volatile sig_atomic_t seen;
static char *volatile page; /* read by the handler */

static void on_segv(int signal)
{
    (void)signal;
    seen++;
    mprotect(page, 4096, PROT_READ | PROT_WRITE);
}

/* A handler the program had before the engine goes on getting the program's own faults. */
static void check_chaining(void)
{
    struct sigaction action = {.sa_handler = on_segv}, before;
    sigaction(SIGSEGV, &action, &before);
    engine = new_engine(1);
    page = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    *(volatile char *)page = 1;
    CHECK_INT(seen, 1);
    check_null();
    CHECK_INT(seen, 1);
    ptera_engine_destroy(engine);
    struct sigaction after;
    sigaction(SIGSEGV, NULL, &after);
    CHECK(after.sa_handler == on_segv);
    sigaction(SIGSEGV, &before, NULL);
    munmap(page, 4096);
}

/* How deep 0 + 1 + … + n may go, by recursion with 64 bytes of local memory a level. */
static ptera_result sum_to(size_t stack_bytes, uint32_t n, uint32_t *sum)
{
    static const char text[] =
        HEADER
        ".func (.param .b32 r) sum(.param .b32 n)\n{\n"
        "    .local .align 4 .b8 room[64]; .reg .b32 %r<4>; .reg .pred %p;\n"
        "    ld.param.u32 %r1, [n]; st.local.u32 [room+60], %r1; setp.eq.u32 %p, %r1, 0; "
        "mov.u32 %r2, 0; @%p bra DONE;\n"
        "    sub.u32 %r2, %r1, 1;\n"
        "    { .param .b32 a; .param .b32 b; st.param.b32 [a], %r2; call (b), sum, (a); "
        "ld.param.b32 %r2, [b]; }\n"
        "    ld.local.u32 %r3, [room+60]; add.u32 %r2, %r2, %r3;\n"
        "DONE:\n    st.param.b32 [r], %r2; ret;\n}\n"
        ".visible .entry k(.param .u64 p, .param .u32 n)\n{\n"
        "    .reg .b64 %rd1; .reg .b32 %r<3>; ld.param.u64 %rd1, [p]; ld.param.u32 %r1, [n];\n"
        "    { .param .b32 a; .param .b32 b; st.param.b32 [a], %r1; call (b), sum, (a); "
        "ld.param.b32 %r2, [b]; }\n"
        "    st.global.u32 [%rd1], %r2; ret;\n}\n";
    ptera_options options;
    ptera_engine *own = NULL;
    ptera_options_init(&options);
    options.threads = 2;
    options.stack_bytes = stack_bytes;
    CHECK_INT(ptera_engine_create(&options, &own), PTERA_OK);
    ptera_module *module = load(own, text);
    ptera_result r = LAUNCH(kernel_of(module, "k"), 1, 64, &sum, &n);
    if (r == PTERA_ERROR_STACK_OVERFLOW) {
        CHECK_HAS(ptera_engine_error(own), "stack overflow in kernel 'k' at k.ptx:");
        uint32_t few = 3;
        CHECK_INT(LAUNCH(kernel_of(module, "k"), 1, 64, &sum, &few), PTERA_OK);
        CHECK_INT(*sum, 6);
    }
    ptera_engine_destroy(own);
    return r;
}

static void check_stack_limit(void)
{
    uint32_t sum = 0;
    CHECK_INT(sum_to(16 << 10, 100, &sum), PTERA_OK);
    CHECK_INT(sum, 100 * 101 / 2);
    CHECK_INT(sum_to(16 << 10, 1000, &sum), PTERA_ERROR_STACK_OVERFLOW);
    CHECK_INT(sum_to(1 << 20, 1000, &sum), PTERA_OK);
    CHECK_INT(sum, 1000 * 1001 / 2);
}

/* Threads of the program keep the alternate signal stack that they have; one that has none may
 * launch as well. */
static void *launch_with_own_stack(void *has_one)
{
    static char own[64 << 10];
    stack_t now;
    if (has_one)
        CHECK_INT(sigaltstack(&(stack_t){.ss_sp = own, .ss_size = sizeof own}, NULL), 0);
    for (int i = 0; i < 2; i++)
        CHECK_INT(run(KERNEL("    ld.global.u64 %rd2, [%rd1];\n"
                             "    st.global.u64 [%rd1], %rd2;\n"), 1, 1, 16),
                  PTERA_ERROR_ILLEGAL_ADDRESS);
    CHECK_INT(sigaltstack(NULL, &now), 0);
    if (has_one) {
        CHECK(now.ss_sp == own);
        CHECK_INT(sigaltstack(&(stack_t){.ss_flags = SS_DISABLE}, NULL), 0);
        CHECK_INT(run(KERNEL("    ld.global.u64 %rd2, [%rd1];\n"
                             "    st.global.u64 [%rd1], %rd2;\n"), 1, 1, 16),
                  PTERA_ERROR_ILLEGAL_ADDRESS);
    }
    return NULL;
}

static void check_signal_stacks(void)
{
    for (uintptr_t has_one = 0; has_one < 2; has_one++) {
        pthread_t thread;
        CHECK_INT(pthread_create(&thread, NULL, launch_with_own_stack, (void *)has_one), 0);
        pthread_join(thread, NULL);
    }
    check_healthy();
}

int main(void)
{
    check_chaining();
    for (unsigned threads = 1; threads <= 4; threads += 3) {
        engine = new_engine(threads);
        check_null();
        check_wild();
        check_misaligned();
        check_trap();
        check_illegal_instruction();
        check_deadlock();
        check_exited_threads();
        check_timeout();
        check_source_line();
        check_functions();
        check_spaces();
        check_signal_stacks();
        ptera_engine_destroy(engine);
    }
    check_stack_limit();
    return CHECK_DONE("fault");
}
