/* A process that has little address space (ulimit -v), as batch systems give it: kernels of all
 * kinds run, what leaves its memory is a fault as ever, and what does not fit is an error that does
 * no harm. */
#include <sys/resource.h>

#include "tests/api/support.h"

enum { SPACE = 1000000000 };

static const char text[] = HEADER
    ".extern .func (.param .b32 r) vprintf(.param .b64 f, .param .b64 a);\n"
    ".extern .func (.param .b64 r) malloc(.param .b64 n);\n"
    ".extern .func free(.param .b64 p);\n"
    ".extern .shared .align 4 .b8 room[];\n"
    ".global .align 1 .b8 line[4] = {104, 105, 10, 0};\n"
    ".visible .entry add(.param .u64 to, .param .u32 n)\n{\n"
    "    .reg .b64 %rd<3>; .reg .b32 %r<5>;\n"
    "    ld.param.u64 %rd1, [to]; mov.u32 %r1, %ctaid.x; mov.u32 %r2, %ntid.x; "
    "mov.u32 %r3, %tid.x;\n"
    "    mad.lo.u32 %r1, %r1, %r2, %r3; mul.wide.u32 %rd2, %r1, 4; add.u64 %rd1, %rd1, %rd2; "
    "ld.param.u32 %r2, [n];\n"
    "    ld.global.u32 %r3, [%rd1]; add.u32 %r3, %r3, %r2; st.global.u32 [%rd1], %r3;\n    ret;\n"
    "}\n"
    /* Thread t writes word 32 t of shared memory, and reads that of its opposite; each CTA takes
       what the opposite of its cluster has. */
    ".visible .entry shared(.param .u64 to)\n{\n"
    "    .reg .b64 %rd<3>; .reg .b32 %r<8>;\n"
    "    ld.param.u64 %rd1, [to]; mov.u32 %r1, %tid.x; shl.b32 %r2, %r1, 7; mov.u32 %r3, room; "
    "add.u32 %r4, %r3, %r2;\n"
    "    st.shared.u32 [%r4], %r1; barrier.cluster.arrive; barrier.cluster.wait;\n"
    "    not.b32 %r2, %r1; and.b32 %r2, %r2, 255; shl.b32 %r2, %r2, 7; add.u32 %r4, %r3, %r2;\n"
    "    mov.u32 %r5, %cluster_ctarank; mov.u32 %r6, %cluster_nctarank; sub.u32 %r6, %r6, %r5; "
    "sub.u32 %r6, %r6, 1;\n"
    "    mapa.shared::cluster.u32 %r4, %r4, %r6; ld.shared::cluster.u32 %r7, [%r4]; "
    "red.global.add.u32 [%rd1], %r7;\n"
    "    barrier.cluster.arrive; barrier.cluster.wait;\n    ret;\n}\n"
    ".visible .entry wild(.param .u32 at)\n{\n"
    "    .reg .b32 %r<3>;\n    ld.param.u32 %r1, [at]; mov.u32 %r2, room; add.u32 %r1, %r1, %r2; "
    "st.shared.u32 [%r1], %r2;\n    ret;\n}\n"
    ".visible .entry heap(.param .u64 to)\n{\n"
    "    .reg .b64 %rd<5>; .reg .b32 %r<3>; .reg .pred %p;\n"
    "    ld.param.u64 %rd1, [to]; mov.u64 %rd2, 1000;\n"
    "    { .param .b64 n; .param .b64 p; st.param.b64 [n], %rd2; call.uni (p), malloc, (n); "
    "ld.param.b64 %rd3, [p]; }\n"
    "    st.u32 [%rd3], 1; ld.u32 %r1, [%rd3]; red.global.add.u32 [%rd1], %r1;\n"
    "    { .param .b64 p; st.param.b64 [p], %rd3; call.uni free, (p); }\n"
    "    mov.u32 %r1, %tid.x; mov.u32 %r2, %ctaid.x; or.b32 %r1, %r1, %r2; setp.ne.u32 %p, %r1, 0; "
    "@%p bra DONE;\n"
    "    mov.u64 %rd1, line; cvta.global.u64 %rd1, %rd1; mov.u64 %rd2, 0;\n"
    "    { .param .b64 f; .param .b64 a; .param .b32 r; st.param.b64 [f], %rd1; "
    "st.param.b64 [a], %rd2;\n"
    "    call.uni (r), vprintf, (f, a); }\nDONE:\n    ret;\n}\n";

static char printed[64];

static void collect(void *ud, const char *line, size_t bytes)
{
    (void)ud;
    snprintf(printed, sizeof printed, "%.*s", (int)bytes, line);
}

static ptera_engine *engine;
static ptera_module *module;

static ptera_result launch_shared(const char *name, unsigned grid, unsigned block, unsigned cluster,
                                  unsigned bytes, void *to)
{
    ptera_launch launch;
    ptera_launch_init(&launch);
    launch.grid[0] = grid;
    launch.block[0] = block;
    launch.cluster[0] = cluster;
    launch.shared_bytes = bytes;
    launch.parameters = (const void *[]){to};
    launch.n_parameters = 1;
    return ptera_kernel_launch(kernel_of(module, name), &launch);
}

static void check_kernels(void)
{
    enum { N = 1 << 20 };
    uint32_t *to = new_buffer(engine, N * sizeof *to), n = 5;
    CHECK_INT(LAUNCH(kernel_of(module, "add"), N / 256, 256, &to, &n), PTERA_OK);
    CHECK(to[0] == 5 && to[N - 1] == 5);
    static const unsigned clusters[] = {1, 2, 8, 16, 1};
    for (size_t i = 0; i < sizeof clusters / sizeof *clusters; i++) {
        to[0] = 0;
        CHECK_INT(launch_shared("shared", 32, 256, clusters[i], 32 << 10, &to), PTERA_OK);
        CHECK_INT(to[0], 32 * 255 * 128);
    }
    to[0] = 0;
    CHECK_INT(LAUNCH(kernel_of(module, "heap"), 8, 64, &to), PTERA_OK);
    CHECK_INT(to[0], 8 * 64);
    CHECK_TEXT(printed, "hi\n");
    CHECK_INT(ptera_buffer_free(engine, to), PTERA_OK);
}

/* Of the 4 GiB that shared addresses reach, all but the windows is a fault, wherever the engine's
 * memory lies. */
static void check_faults(void)
{
    static const uint32_t far[] = {64 << 10, 1 << 20,    (1 << 24) - 4096, 1 << 24,
                                   1 << 28,  0x7ffffff0, 0x80000000,       0xf0000000};
    for (size_t i = 0; i < sizeof far / sizeof *far; i++) {
        uint32_t at = far[i];
        CHECK_INT(launch_shared("wild", 1, 1, 1, 4096, &at), PTERA_ERROR_ILLEGAL_ADDRESS);
        CHECK_HAS(ptera_engine_error(engine), "the address is shared address 0x");
    }
}

static void check_out_of_space(void)
{
    void *p = NULL, *q = NULL;
    CHECK_INT(ptera_buffer_alloc(engine, SPACE, &p), PTERA_ERROR_OUT_OF_MEMORY);
    for (int i = 0; i < 20; i++) { /* freed space is used again */
        CHECK_INT(ptera_buffer_alloc(engine, 300 << 20, &p), PTERA_OK);
        CHECK_INT(ptera_buffer_free(engine, p), PTERA_OK);
        CHECK_INT(ptera_buffer_alloc(engine, (310 << 20) + (size_t)(i << 20), &q), PTERA_OK);
        CHECK_INT(ptera_buffer_free(engine, q), PTERA_OK);
    }
    check_kernels();
}

int main(void)
{
    const struct rlimit space = {SPACE, SPACE};
    ptera_options options;
#ifdef PT_SANITIZED
    printf("space: 0 passed, 0 failed, 1 skipped\n");
    return 0;
#endif
    CHECK_INT(setrlimit(RLIMIT_AS, &space), 0);
    ptera_options_init(&options);
    options.threads = 4;
    options.print = collect;
    CHECK_INT(ptera_engine_create(&options, &engine), PTERA_OK);
    module = load(engine, text);
    check_kernels();
    check_faults();
    check_out_of_space();
    ptera_engine_destroy(engine);
    return CHECK_DONE("space");
}
