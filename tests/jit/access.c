/* Accesses that native code makes of whole vectors though lanes are not side by side: exchanges at
 * short distances, lanes a few elements apart, falling ones; by all lanes and by some, at each CPU
 * level. The memory ends, at one end or the other, where that of the lanes does: no byte is touched
 * in a page where they have none, and one element beyond is the fault that it was.
 */
#include <stdbool.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tests/api/support.h"

enum { THREADS = 64 };

/* Threads below `from`, and those whose bit (of 32) in `off` is set, do nothing; %r4 is the thread,
 * %r1 is d. */
#define KERNEL(name, body)                                                                  \
    ".visible .entry " name                                                                 \
    "(.param .u32 d, .param .u32 from, .param .u32 off, .param .u64 data)\n{\n"             \
    "    .reg .b32 %r<20>; .reg .b64 %rd<20>; .reg .pred %p<8>;\n"                          \
    "    ld.param.u32 %r1, [d]; ld.param.u32 %r2, [from]; ld.param.u32 %r3, [off];\n"       \
    "    ld.param.u64 %rd1, [data];\n    mov.u32 %r4, %tid.x;\n"                            \
    "    and.b32 %r5, %r4, 31; shr.u32 %r6, %r3, %r5; and.b32 %r6, %r6, 1;\n"               \
    "    setp.lt.u32 %p1, %r4, %r2; setp.ne.u32 %p2, %r6, 0; or.pred %p1, %p1, %p2;\n" body \
    "DONE:\n    ret;\n}\n"

/* %r8 and %r9: the elements of a pair. */
#define PAIR(mask) mask "    shl.b32 %r8, %r4, 1; sub.u32 %r8, %r8, %r7; add.u32 %r9, %r8, %r1;\n"
#define DISTANCE_MASK "    add.u32 %r7, %r1, -1; and.b32 %r7, %r7, %r4;\n"

/* Sorts a pair of unsigned numbers. */
#define SORT(type, space, lower, upper)                        \
    "    ld." space "." type " %rd10, [" lower "];\n"          \
    "    ld." space "." type " %rd11, [" upper "];\n"          \
    "    setp.le.u64 %p3, %rd10, %rd11;\n    @%p3 bra DONE;\n" \
    "    st." space "." type " [" lower "], %rd11;\n"          \
    "    st." space "." type " [" upper "], %rd10;\n"

#define SORT_GLOBAL(type, mul, size)                               \
    "    " mul " %rd2, %r8, " size "; add.s64 %rd3, %rd1, %rd2;\n" \
    "    " mul " %rd2, %r9, " size                                 \
    "; add.s64 %rd4, %rd1, %rd2;\n    @%p1 bra DONE;\n" SORT(type, "global", "%rd3", "%rd4")

/* Adds the thread's number to element %r8, behind a branch or under a guard. */
#define ADD(type, size, guard)                                                                 \
    "    mul.wide.u32 %rd2, %r8, " size "; add.s64 %rd3, %rd1, %rd2; cvt.u64.u32 %rd5, %r4;\n" \
    "    " guard "ld.global." type " %rd10, [%rd3];\n    add.u64 %rd10, %rd10, %rd5;\n"        \
    "    " guard "st.global." type " [%rd3], %rd10;\n"
#define BRANCH "    @%p1 bra DONE;\n"

/* Four elements a thread, each under a guard of its own, `below` of them all: to each the thread's
 * number is added, and the next one's value, or 5 where that one's guard does not hold. */
#define QUADS(below)                                                                               \
    "    shl.b32 %r8, %r4, 2; mul.wide.u32 %rd2, %r8, 4; add.s64 %rd3, %rd1, %rd2;\n"              \
    "    and.b32 %r9, %r3, 255; sub.u32 %r9, 256, %r9;\n"                                          \
    "    or.b32 %r10, %r8, 1; or.b32 %r11, %r8, 2; or.b32 %r12, %r8, 3;\n"                         \
    "    " below("%p4", "%r8") below("%p5", "%r10") below("%p6", "%r11") below(                    \
        "%p7",                                                                                     \
        "%r12") "\n"                                                                               \
                "    mov.u32 %r13, 5; mov.u32 %r14, 5; mov.u32 %r15, 5; mov.u32 %r16, 5;\n"        \
                "    @%p4 ld.global.u32 %r13, [%rd3]; @%p5 ld.global.u32 %r14, [%rd3+4];\n"        \
                "    @%p6 ld.global.u32 %r15, [%rd3+8]; @%p7 ld.global.u32 %r16, [%rd3+12];\n"     \
                "    add.u32 %r17, %r13, %r4; add.u32 %r13, %r17, %r14; add.u32 %r14, %r14, "      \
                "%r15;\n"                                                                          \
                "    sub.u32 %r17, %r17, %r4; add.u32 %r15, %r15, %r16; add.u32 %r16, %r16, "      \
                "%r17;\n"                                                                          \
                "    add.u32 %r14, %r14, %r4; add.u32 %r15, %r15, %r4; add.u32 %r16, %r16, %r4;\n" \
                "    @%p4 st.global.u32 [%rd3], %r13; @%p5 st.global.u32 [%rd3+4], %r14;\n"        \
                "    @%p6 st.global.u32 [%rd3+8], %r15; @%p7 st.global.u32 [%rd3+12], %r16;\n"
#define BELOW(p, r) "setp.lt.u32 " p ", " r ", %r9; "
#define BELOW_ON(p, r) "setp.lt.and.u32 " p ", " r ", %r9, !%p1; "

/* clang-format off */
static const char text[] = HEADER
    KERNEL("pairs4", PAIR(DISTANCE_MASK) SORT_GLOBAL("u32", "mul.wide.u32", "4"))
    KERNEL("pairs8", PAIR(DISTANCE_MASK) SORT_GLOBAL("u64", "mul.wide.s32", "8"))
    KERNEL("fixed", PAIR("    and.b32 %r7, %r4, 3;\n") SORT_GLOBAL("u32", "mul.wide.u32", "4"))
    KERNEL("swap4", BRANCH "    xor.b32 %r8, %r4, %r1;\n" ADD("u32", "4", ""))
    KERNEL("swap8", "    xor.b32 %r8, %r4, %r1;\n" ADD("u64", "8", "@!%p1 "))
    KERNEL("swap5", BRANCH "    xor.b32 %r8, %r4, 5;\n" ADD("u32", "4", ""))
    KERNEL("apart2", BRANCH "    shl.b32 %r8, %r4, 1;\n" ADD("u32", "4", ""))
    KERNEL("apart4", BRANCH "    shl.b32 %r8, %r4, 2;\n" ADD("u32", "4", ""))
    KERNEL("apart4_8", BRANCH "    shl.b32 %r8, %r4, 2;\n" ADD("u64", "8", ""))
    KERNEL("apart3", BRANCH "    mul.lo.u32 %r8, %r4, 3;\n" ADD("u32", "4", ""))
    KERNEL("apart2_2", BRANCH "    shl.b32 %r8, %r4, 1;\n" ADD("u16", "2", ""))
    KERNEL("falling", BRANCH "    sub.u32 %r8, 63, %r4;\n" ADD("u32", "4", ""))
    KERNEL("falling3", BRANCH "    sub.u32 %r8, 63, %r4; "
                              "mul.lo.u32 %r8, %r8, 3;\n" ADD("u64", "8", ""))
    KERNEL("quads", QUADS(BELOW))
    KERNEL("quads_on", QUADS(BELOW_ON))
    /* By way of shared memory: each round behind a barrier, down to a distance of 1. */
    KERNEL("rounds",
           "    .shared .align 4 .b8 tile[512];\n"
           "    mov.u32 %r10, tile; shl.b32 %r11, %r4, 2; add.u32 %r12, %r10, %r11;\n"
           "    mul.wide.u32 %rd2, %r4, 4; add.s64 %rd3, %rd1, %rd2;\n"
           "    ld.global.u32 %r13, [%rd3]; ld.global.u32 %r14, [%rd3+256];\n"
           "    st.shared.u32 [%r12], %r13; st.shared.u32 [%r12+256], %r14;\n"
           "ROUND:\n    bar.sync 0;\n"
           PAIR(DISTANCE_MASK)
           "    shl.b32 %r15, %r8, 2; add.u32 %r15, %r10, %r15;\n"
           "    shl.b32 %r16, %r1, 2; add.u32 %r16, %r15, %r16;\n"
           "    ld.shared.u32 %r17, [%r16]; ld.shared.u32 %r18, [%r15];\n"
           "    setp.le.u32 %p3, %r18, %r17; or.pred %p3, %p3, %p1;\n    @%p3 bra NEXT;\n"
           "    st.shared.u32 [%r15], %r17; st.shared.u32 [%r16], %r18;\n"
           "NEXT:\n    shr.u32 %r1, %r1, 1; setp.ne.u32 %p4, %r1, 0;\n    @%p4 bra ROUND;\n"
           "    bar.sync 0;\n"
           "    ld.shared.u32 %r13, [%r12]; ld.shared.u32 %r14, [%r12+256];\n"
           "    st.global.u32 [%rd3], %r13; st.global.u32 [%rd3+256], %r14;\n")
    /* Shared memory ends in the middle of a vector: %r12 of thread 60 is its last element. */
    KERNEL("brim",
           "    .shared .align 4 .b8 brim[3072];\n"
           "    setp.gt.u32 %p2, %r4, 60; or.pred %p1, %p1, %p2;\n"
           "    mov.u32 %r10, brim; shl.b32 %r11, %r4, 2; add.u32 %r12, %r10, %r11;\n"
           "    mul.wide.u32 %rd2, %r4, 4; add.s64 %rd3, %rd1, %rd2;\n    @%p2 bra FILLED;\n"
           "    ld.global.u32 %r13, [%rd3]; st.shared.u32 [%r12+2828], %r13;\n"
           "FILLED:\n    bar.sync 0;\n    @%p1 bra STORED;\n"
           "    add.u32 %r13, %r13, %r4; st.shared.u32 [%r12+2828], %r13;\n"
           "STORED:\n    bar.sync 0;\n    @%p2 bra DONE;\n"
           "    ld.shared.u32 %r14, [%r12+2828]; st.global.u32 [%rd3], %r14;\n");
/* clang-format on */

struct run {
    uint32_t d, from, off;
};

struct kind {
    const char *name;
    unsigned size, elements;
    void (*expect)(unsigned char *at, const struct kind *k, const struct run *r);
    uint32_t only;   /* the distance in the text; 0: any */
    int stride, add; /* lanes at stride * t + add */
};

static uint64_t get(const unsigned char *at, unsigned size, unsigned i)
{
    uint64_t value = 0;
    memcpy(&value, at + (size_t)i * size, size);
    return value;
}

static void set(unsigned char *at, unsigned size, unsigned i, uint64_t value)
{
    memcpy(at + (size_t)i * size, &value, size);
}

static bool is_on(const struct run *r, unsigned t)
{
    return t >= r->from && !(r->off >> t % 32 & 1);
}

static void sort_pair(unsigned char *at, unsigned size, unsigned lower, unsigned d)
{
    uint64_t a = get(at, size, lower), b = get(at, size, lower + d);
    set(at, size, lower, a < b ? a : b);
    set(at, size, lower + d, a < b ? b : a);
}

static void expect_pairs(unsigned char *at, const struct kind *k, const struct run *r)
{
    for (unsigned t = 0; t < THREADS; t++)
        if (is_on(r, t))
            sort_pair(at, k->size, 2 * t - (t & (r->d - 1)), r->d);
}

static void expect_fixed(unsigned char *at, const struct kind *k, const struct run *r)
{
    for (unsigned t = 0; t < THREADS; t++)
        if (is_on(r, t))
            sort_pair(at, k->size, 2 * t - (t & 3), r->d);
}

static void expect_rounds(unsigned char *at, const struct kind *k, const struct run *r)
{
    for (struct run round = *r; round.d; round.d >>= 1)
        expect_pairs(at, k, &round);
}

static void expect_swap(unsigned char *at, const struct kind *k, const struct run *r)
{
    for (unsigned t = 0; t < THREADS; t++)
        if (is_on(r, t))
            set(at, k->size, t ^ r->d, get(at, k->size, t ^ r->d) + t);
}

static void expect_apart(unsigned char *at, const struct kind *k, const struct run *r)
{
    for (int t = 0; t < THREADS; t++)
        if (is_on(r, (unsigned)t)) {
            unsigned i = (unsigned)(k->stride * t + k->add);
            set(at, k->size, i, get(at, k->size, i) + (unsigned)t);
        }
}

static void expect_brim(unsigned char *at, const struct kind *k, const struct run *r)
{
    for (unsigned t = 0; t < k->elements; t++)
        set(at, k->size, t, get(at, k->size, t) + (is_on(r, t) ? t : 0));
}

/* Of an element of a thread, beyond which `off` leaves none; 5: its guard does not hold. */
static uint64_t quad_value(const unsigned char *at, const struct kind *k, const struct run *r,
                           unsigned t, unsigned i, bool *holds)
{
    *holds = 4 * t + i < 256 - (r->off & 255) && (k->stride || is_on(r, t));
    return *holds ? get(at, k->size, 4 * t + i) : 5;
}

static void expect_quads(unsigned char *at, const struct kind *k, const struct run *r)
{
    for (unsigned t = 0; t < THREADS; t++) {
        uint64_t v[4];
        bool holds[4];
        for (unsigned i = 0; i < 4; i++)
            v[i] = quad_value(at, k, r, t, i, &holds[i]);
        for (unsigned i = 0; i < 4; i++)
            if (holds[i])
                set(at, k->size, 4 * t + i, v[i] + v[(i + 1) % 4] + t);
    }
}

static const struct kind kinds[] = {
    {"pairs4", 4, 2 * THREADS, expect_pairs, 0, 0, 0},
    {"pairs8", 8, 2 * THREADS, expect_pairs, 0, 0, 0},
    {"fixed", 4, 2 * THREADS, expect_fixed, 4, 0, 0},
    {"rounds", 4, 2 * THREADS, expect_rounds, 0, 0, 0},
    {"brim", 4, 61, expect_brim, 1, 1, 0},
    {"swap4", 4, THREADS, expect_swap, 0, 0, 0},
    {"swap8", 8, THREADS, expect_swap, 0, 0, 0},
    {"swap5", 4, THREADS, expect_swap, 5, 0, 0},
    {"apart2", 4, 2 * THREADS - 1, expect_apart, 1, 2, 0},
    {"apart4", 4, 4 * THREADS - 3, expect_apart, 1, 4, 0},
    {"apart4_8", 8, 4 * THREADS - 3, expect_apart, 1, 4, 0},
    {"apart3", 4, 3 * THREADS - 2, expect_apart, 1, 3, 0},
    {"apart2_2", 2, 2 * THREADS - 1, expect_apart, 1, 2, 0},
    {"quads", 4, 4 * THREADS, expect_quads, 1, 4, 0},
    {"quads_on", 4, 4 * THREADS, expect_quads, 1, 0, 0},
    {"falling", 4, THREADS, expect_apart, 1, -1, THREADS - 1},
    {"falling3", 8, 3 * THREADS - 2, expect_apart, 1, -3, 3 * THREADS - 3},
};
enum { N_KINDS = sizeof kinds / sizeof *kinds };

/* ---- memory that ends ------------------------------------------------------------------------ */

static size_t page;
static unsigned char *memory; /* a page, with none before and none behind */

static void make_memory(void)
{
    page = (size_t)sysconf(_SC_PAGESIZE);
    memory = mmap(NULL, 3 * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(memory != MAP_FAILED);
    memory += page;
    CHECK_INT(mprotect(memory, page, PROT_READ | PROT_WRITE), 0);
}

static void fill(void)
{
    uint32_t x = 1;
    for (size_t i = 0; i < page; i++)
        memory[i] = (unsigned char)((x = x * 1664525 + 1013904223) >> 24);
}

static ptera_result run(ptera_kernel *kernel, const struct run *r, unsigned char *data)
{
    ptera_launch launch;
    ptera_launch_init(&launch);
    launch.backend = PTERA_BACKEND_JIT;
    launch.block[0] = THREADS;
    launch.parameters = (const void *[]){&r->d, &r->from, &r->off, &data};
    launch.n_parameters = 4;
    return ptera_kernel_launch(kernel, &launch);
}

/* The elements from `first` on begin with the page, or end with it. */
static void check_run(ptera_kernel *kernel, const struct kind *k, const struct run *r,
                      unsigned first, bool at_end)
{
    unsigned char want[1 << 16];
    unsigned char *data =
        at_end ? memory + page - (size_t)k->elements * k->size : memory - (size_t)first * k->size;
    fill();
    k->expect(data, k, r);
    memcpy(want, memory, page);
    fill();
    CHECK_INT(run(kernel, r, data), PTERA_OK);
    if (memcmp(memory, want, page))
        printf("%s, d %u, from %u, off %x\n", k->name, r->d, r->from, r->off);
    CHECK(!memcmp(memory, want, page));
}

/* The first element, or the last, lies outside. */
static void check_faults(ptera_kernel *kernel, const struct kind *k, const struct run *r)
{
    CHECK_INT(run(kernel, r, memory - k->size), PTERA_ERROR_ILLEGAL_ADDRESS);
    CHECK_INT(run(kernel, r, memory + page - (size_t)(k->elements - 1) * k->size),
              PTERA_ERROR_ILLEGAL_ADDRESS);
    CHECK_INT(run(kernel, r, memory + 1), PTERA_ERROR_MISALIGNED_ADDRESS);
}

static void check_kind(ptera_module *module, const struct kind *k)
{
    static const uint32_t offs[] = {0, 0x80000001, 0x5555aaaa, 0xfffffffe, 0xffffffff};
    ptera_kernel *kernel = kernel_of(module, k->name);
    bool pairs = k->elements == 2 * THREADS;
    for (uint32_t d = 1; d < (pairs ? 65 : 32); d = pairs ? 2 * d : d + 1)
        for (size_t i = 0; i < sizeof offs / sizeof *offs && (!k->only || d == k->only); i++) {
            struct run r = {d, 0, offs[i]}, upper = {d, 32, offs[i]};
            check_run(kernel, k, &r, 0, true);
            check_run(kernel, k, &r, 0, false);
            /* the lower threads' elements are not there */
            if (k->expect != expect_rounds && !k->stride && d <= 32)
                check_run(kernel, k, &upper, k->elements / 2, false);
            if (!offs[i])
                check_faults(kernel, k, &r);
        }
}

/* NULL: the host's own. */
static void check_level(const char *level)
{
    ptera_options options;
    ptera_engine *engine = NULL;
    ptera_options_init(&options);
    options.cpu = level;
    options.threads = 1;
    if (ptera_engine_create(&options, &engine) != PTERA_OK) {
        printf("this machine lacks CPU level %s\n", level ? level : "of its own");
        return;
    }
    ptera_module *module = load(engine, text);
    for (int i = 0; i < N_KINDS; i++)
        check_kind(module, &kinds[i]);
    ptera_engine_destroy(engine);
}

int main(void)
{
    make_memory();
#if defined(__x86_64__)
    check_level("v2");
    check_level("v3");
    check_level("v4");
#else
    check_level(NULL);
#endif
    return CHECK_DONE("access");
}
