/* Atomic accesses of kernels and of host threads to the same memory, of every width: nothing is
 * lost, nothing is torn. */
#include <pthread.h>
#include <sched.h>

#include "tests/api/support.h"

enum { CTAS = 8, LANES = 32, HOST_TIMES = 20000 };
#define TIMES 200 /* of each lane */
#define STRING_(x) #x
#define STRING(x) STRING_(x)

/* counts: TIMES times each, on one place a width. b16 has compare-and-swap alone, 8 bits have no
 * atomics at all. */
/* clang-format off */
static const char text[] =
    ".version 8.4\n.target sm_90\n.address_size 64\n"
    ".visible .entry counts(.param .u64 p)\n{\n"
    "    .reg .b32 %r<8>; .reg .b64 %rd<8>; .reg .b16 %h<4>; .reg .b128 %q<4>; "
    ".reg .pred %p<2>;\n    ld.param.u64 %rd1, [p];\n    mov.u32 %r1, 0;\n"
    "L:  red.relaxed.sys.global.add.u32 [%rd1], 1;\n"
    "    atom.relaxed.sys.global.add.u64 %rd2, [%rd1+8], 0x100000001;\n"
    "    ld.relaxed.sys.global.b16 %h1, [%rd1+16];\n"
    "A:  mov.b16 %h2, %h1;\n    add.s16 %h3, %h1, 1;\n"
    "    atom.relaxed.sys.global.cas.b16 %h1, [%rd1+16], %h2, %h3;\n"
    "    setp.ne.s16 %p1, %h1, %h2;\n    @%p1 bra A;\n"
    "    ld.relaxed.sys.global.b128 %q1, [%rd1+32];\n"
    "B:  mov.b128 {%rd3, %rd4}, %q1;\n    add.u64 %rd5, %rd3, 1;\n    sub.u64 %rd6, %rd4, 1;\n"
    "    mov.b128 %q2, {%rd5, %rd6};\n    mov.b128 %q3, %q1;\n"
    "    atom.relaxed.sys.global.cas.b128 %q1, [%rd1+32], %q3, %q2;\n"
    "    mov.b128 {%rd5, %rd6}, %q1;\n    setp.ne.u64 %p1, %rd5, %rd3;\n    @%p1 bra B;\n"
    "    setp.ne.u64 %p1, %rd6, %rd4;\n    @%p1 bra B;\n"
    "    atom.relaxed.sys.global.add.f64 %rd7, [%rd1+48], 0d3FF0000000000000;\n"
    "    add.u32 %r1, %r1, 1;\n    setp.lt.u32 %p1, %r1, " STRING(TIMES)
    ";\n    @%p1 bra L;\n    ret;\n}\n"
    /* patterns: half the CTAs store one of two patterns, the others count what is neither. */
#define PATTERN(type, reg, a, b, move)                                                         \
    ".visible .entry patterns_" type "(.param .u64 p, .param .u64 wrong)\n{\n"                 \
    "    .reg .b32 %r<8>; .reg .b64 %rd<8>; .reg " reg " %v<4>; .reg .pred %p<3>;\n"           \
    "    ld.param.u64 %rd1, [p];\n    ld.param.u64 %rd2, [wrong];\n    mov.u32 %r1, 0;\n"      \
    "    mov.u64 %rd3, " a ";\n    mov.u64 %rd4, " b ";\n    " move "\n"                       \
    "    mov.u32 %r2, %ctaid.x;\n    and.b32 %r2, %r2, 1;\n    setp.eq.u32 %p1, %r2, 0;\n    " \
    "@%p1 bra READ;\n"                                                                         \
    "W:  st.relaxed.sys.global." type " [%rd1], %v1;\n    st.volatile.global." type            \
    " [%rd1], %v2;\n"                                                                          \
    "    add.u32 %r1, %r1, 1;\n    setp.lt.u32 %p1, %r1, 4000;\n    @%p1 bra W;\n    ret;\n"
    PATTERN("b8", ".b16", "0", "255", "cvt.u16.u64 %v1, %rd3; cvt.u16.u64 %v2, %rd4;")
    "READ:\n    ld.relaxed.sys.global.b8 %v3, [%rd1];\n    cvt.u64.u16 %rd5, %v3;\n"
#define COMPARE                                                                      \
    "    setp.ne.u64 %p1, %rd5, %rd3;\n    setp.ne.and.u64 %p2, %rd5, %rd4, %p1;\n"  \
    "    @%p2 red.relaxed.gpu.global.add.u32 [%rd2], 1;\n    add.u32 %r1, %r1, 1;\n" \
    "    setp.lt.u32 %p1, %r1, 4000;\n    @%p1 bra READ;\n    ret;\n}\n"
    COMPARE
    PATTERN("b16", ".b16", "0", "0xffff", "cvt.u16.u64 %v1, %rd3; cvt.u16.u64 %v2, %rd4;")
    "READ:\n    ld.volatile.global.b16 %v3, [%rd1];\n    cvt.u64.u16 %rd5, %v3;\n" COMPARE
    PATTERN("b32", ".b32", "0", "0xffffffff", "cvt.u32.u64 %v1, %rd3; cvt.u32.u64 %v2, %rd4;")
    "READ:\n    ld.acquire.sys.global.b32 %v3, [%rd1];\n    cvt.u64.u32 %rd5, %v3;\n" COMPARE
    PATTERN("b64", ".b64", "0", "0xffffffffffffffff", "mov.b64 %v1, %rd3; mov.b64 %v2, %rd4;")
    "READ:\n    ld.relaxed.sys.global.b64 %v3, [%rd1];\n    mov.b64 %rd5, %v3;\n" COMPARE
    /* of b128 both halves must be of one pattern */
    PATTERN("b128", ".b128", "0", "0xffffffffffffffff",
            "mov.b128 %v1, {%rd3, %rd3}; mov.b128 %v2, {%rd4, %rd4};")
    "READ:\n    ld.relaxed.sys.global.b128 %v3, [%rd1];\n    mov.b128 {%rd5, %rd6}, %v3;\n"
    "    setp.eq.u64 %p1, %rd5, %rd6;\n    @!%p1 mov.u64 %rd5, 1;\n" COMPARE
    /* ping: answers the host's odd numbers in flag with even ones, and passes on what it sent */
    ".visible .entry ping(.param .u64 flag, .param .u32 n)\n{\n"
    "    .reg .b32 %r<8>; .reg .b64 %rd<8>; .reg .pred %p<2>;\n    ld.param.u64 %rd1, [flag];\n"
    "    ld.param.u32 %r1, [n];\n    mov.u32 %r2, 1;\n"
    "L:  ld.acquire.sys.u32 %r3, [%rd1];\n    setp.ne.u32 %p1, %r3, %r2;\n    @%p1 bra L;\n"
    "    ld.u32 %r4, [%rd1+64];\n    add.u32 %r4, %r4, 3;\n    st.u32 [%rd1+64], %r4;\n"
    "    add.u32 %r3, %r3, 1;\n    st.release.sys.u32 [%rd1], %r3;\n    add.u32 %r2, %r2, 2;\n"
    "    setp.lt.u32 %p1, %r2, %r1;\n    @%p1 bra L;\n    ret;\n}\n";
/* clang-format on */

static ptera_engine *engine;
static ptera_module *module;

struct places {
    uint32_t u32;
    uint64_t u64;
    uint16_t u16;
    _Alignas(16) uint64_t pair[2];
    double f64;
};

static void *count_beside(void *ud)
{
    struct places *p = ud;
    for (int i = 0; i < HOST_TIMES; i++) {
        __atomic_fetch_add(&p->u32, 1, __ATOMIC_RELAXED);
        __atomic_fetch_add(&p->u64, UINT64_C(0x100000001), __ATOMIC_RELAXED);
        __atomic_fetch_add(&p->u16, 1, __ATOMIC_RELAXED);
    }
    return NULL;
}

/* In the host's own memory: a device address is a host address. */
static void check_counts(void)
{
    static struct places places;
    struct places *p = &places;
    const uint64_t kernel = (uint64_t)CTAS * LANES * TIMES, all = kernel + HOST_TIMES;
    pthread_t thread;
    CHECK_INT(pthread_create(&thread, NULL, count_beside, p), 0);
    CHECK_INT(LAUNCH(kernel_of(module, "counts"), CTAS, LANES, &p), PTERA_OK);
    pthread_join(thread, NULL);
    CHECK_INT(p->u32, all);
    CHECK_INT(p->u64, all << 32 | all);
    CHECK_INT(p->u16, (uint16_t)all);
    CHECK_INT(p->pair[0], kernel);
    CHECK_INT(-p->pair[1], kernel);
    CHECK(p->f64 == (double)kernel);
}

static void check_patterns(void)
{
    static const char *const names[] = {"patterns_b8", "patterns_b16", "patterns_b32",
                                        "patterns_b64", "patterns_b128"};
    uint32_t *wrong = new_buffer(engine, 4);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        void *p = new_buffer(engine, 16);
        CHECK_INT(LAUNCH(kernel_of(module, names[i]), 4, 1, &p, &wrong), PTERA_OK);
        CHECK_INT(*wrong, 0);
        ptera_buffer_free(engine, p);
    }
    ptera_buffer_free(engine, wrong);
}

struct ball {
    uint32_t flag;
    _Alignas(64) uint32_t load;
    int is_over; /* the launch has ended */
};
enum { SHOTS = 200 };

static void *play(void *ud)
{
    struct ball *ball = ud;
    for (uint32_t shot = 1; shot < 2 * SHOTS; shot += 2) {
        ball->load += 5;
        __atomic_store_n(&ball->flag, shot, __ATOMIC_RELEASE);
        while (__atomic_load_n(&ball->flag, __ATOMIC_ACQUIRE) != shot + 1)
            if (__atomic_load_n(&ball->is_over, __ATOMIC_RELAXED) || sched_yield())
                return NULL;
    }
    return NULL;
}

/* A running kernel and a host thread take turns; what they hand over is plain memory. */
static void check_ping_pong(void)
{
    static struct ball ball;
    struct ball *p = &ball;
    uint32_t n = 2 * SHOTS;
    pthread_t thread;
    CHECK_INT(pthread_create(&thread, NULL, play, p), 0);
    CHECK_INT(LAUNCH(kernel_of(module, "ping"), 1, 1, &p, &n), PTERA_OK);
    __atomic_store_n(&ball.is_over, 1, __ATOMIC_RELAXED);
    pthread_join(thread, NULL);
    CHECK_INT(ball.flag, 2 * SHOTS);
    CHECK_INT(ball.load, SHOTS * (5 + 3));
}

int main(void)
{
    engine = new_engine(4);
    module = load(engine, text);
    check_counts();
    check_patterns();
    check_ping_pong();
    ptera_engine_destroy(engine);
    return CHECK_DONE("atomics");
}
