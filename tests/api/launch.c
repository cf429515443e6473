/* Launches: shapes and limits, parameters, waiting between CTAs, clusters, the floating-point
 * environment. */
#include <fenv.h>
#include <math.h>
#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

#include "tests/api/support.h"

static ptera_engine *engine;

static const char text[] = HEADER
    /* out[linear thread] = linear CTA << 16 | linear thread of the CTA */
    ".visible .entry where(.param .u64 out)\n{\n"
    "    .reg .b32 %r<20>; .reg .b64 %rd<4>;\n"
    "    mov.u32 %r1, %ctaid.x; mov.u32 %r2, %ctaid.y; mov.u32 %r3, %ctaid.z;\n"
    "    mov.u32 %r4, %nctaid.x; mov.u32 %r5, %nctaid.y;\n"
    "    mad.lo.u32 %r6, %r3, %r5, %r2; mad.lo.u32 %r6, %r6, %r4, %r1;\n"
    "    mov.u32 %r7, %tid.x; mov.u32 %r8, %tid.y; mov.u32 %r9, %tid.z;\n"
    "    mov.u32 %r10, %ntid.x; mov.u32 %r11, %ntid.y; mov.u32 %r12, %ntid.z;\n"
    "    mad.lo.u32 %r13, %r9, %r11, %r8; mad.lo.u32 %r13, %r13, %r10, %r7;\n"
    "    mul.lo.u32 %r14, %r10, %r11; mul.lo.u32 %r14, %r14, %r12;\n"
    "    mad.lo.u32 %r15, %r6, %r14, %r13; shl.b32 %r16, %r6, 16; or.b32 %r16, %r16, %r13;\n"
    "    ld.param.u64 %rd1, [out]; mul.wide.u32 %rd2, %r15, 4; add.s64 %rd1, %rd1, %rd2;\n"
    "    st.global.u32 [%rd1], %r16;\n    ret;\n}\n"
    ".extern .shared .align 16 .b8 dynamic[];\n"
    ".visible .entry shared(.param .u64 out)\n{\n"
    "    .reg .b32 %r<4>; .reg .b64 %rd<4>; .shared .b8 room[1000];\n"
    "    mov.u32 %r1, room; mov.u32 %r1, dynamic; mov.u32 %r2, %dynamic_smem_size;\n"
    "    ld.param.u64 %rd1, [out]; st.global.u32 [%rd1], %r1; st.global.u32 [%rd1+4], %r2;\n"
    "    ret;\n}\n"
    ".visible .entry limited() .maxntid 8, 4, 1\n{\n    ret;\n}\n"
    ".visible .entry demanding() .reqntid 8, 4, 1\n{\n    ret;\n}\n"
    ".visible .entry clustered() .explicitcluster .reqnctapercluster 2, 1, 1\n{\n    ret;\n}\n"
    /* A ticket lock over all threads' leaders: [lock], [lock+4] counts. */
    ".visible .entry locked(.param .u64 lock)\n{\n"
    "    .reg .b32 %r<4>; .reg .b64 %rd<4>; .reg .pred %p<2>;\n    ld.param.u64 %rd1, [lock];\n"
    "L:  atom.global.cas.b32 %r1, [%rd1], 0, 1;\n    setp.ne.u32 %p1, %r1, 0;\n    @%p1 bra L;\n"
    "    ld.volatile.global.u32 %r2, [%rd1+4];\n    add.u32 %r2, %r2, 1;\n"
    "    st.volatile.global.u32 [%rd1+4], %r2;\n"
    "    membar.gl;\n    atom.global.exch.b32 %r3, [%rd1], 0;\n    ret;\n}\n"
    /* Every CTA waits until all have come: works only if all are resident. */
    ".visible .entry meet(.param .u64 count)\n{\n"
    "    .reg .b32 %r<4>; .reg .b64 %rd<4>; .reg .pred %p<2>;\n    ld.param.u64 %rd1, [count];\n"
    "    atom.global.add.u32 %r1, [%rd1], 1;\n    mov.u32 %r3, %nctaid.x;\n"
    "L:  ld.volatile.global.u32 %r2, [%rd1];\n    setp.lt.u32 %p1, %r2, %r3;\n    @%p1 bra L;\n"
    "    ret;\n}\n"
    /* out[0] = 1.5 * smallest subnormal pair, out[1] = 1 + tiny: nothing flushed, rounded to
       nearest */
    ".visible .entry numbers(.param .u64 out)\n{\n"
    "    .reg .f32 %f<8>; .reg .b64 %rd<4>;\n    ld.param.u64 %rd1, [out];\n"
    "    ld.global.f32 %f1, [%rd1]; ld.global.f32 %f2, [%rd1+4]; ld.global.f32 %f3, [%rd1+8];\n"
    "    add.rn.f32 %f4, %f1, %f1; mul.rn.f32 %f5, %f2, 0f3F000000; add.rn.f32 %f6, %f3, %f1;\n"
    "    st.global.f32 [%rd1+12], %f4; st.global.f32 [%rd1+16], %f5; "
    "st.global.f32 [%rd1+20], %f6;\n    ret;\n}\n";

static ptera_module *module;

static ptera_launch shape(unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by,
                          unsigned bz)
{
    ptera_launch l;
    ptera_launch_init(&l);
    l.grid[0] = gx, l.grid[1] = gy, l.grid[2] = gz;
    l.block[0] = bx, l.block[1] = by, l.block[2] = bz;
    return l;
}

static void check_shape(void)
{
    uint32_t *out = new_buffer(engine, 30 * 105 * 4);
    const void *parameters[] = {&out};
    ptera_launch l = shape(5, 3, 2, 7, 5, 3);
    l.parameters = parameters;
    l.n_parameters = 1;
    CHECK_INT(ptera_kernel_launch(kernel_of(module, "where"), &l), PTERA_OK);
    unsigned wrong = 0;
    for (unsigned cta = 0; cta < 30; cta++)
        for (unsigned t = 0; t < 105; t++)
            wrong += out[cta * 105 + t] != (cta << 16 | t);
    CHECK_INT(wrong, 0);
    ptera_buffer_free(engine, out);
}

/* Dynamic shared memory lies behind static, aligned as its declaration says. */
static void check_shared(void)
{
    uint32_t *out = new_buffer(engine, 8);
    const void *parameters[] = {&out};
    ptera_kernel *kernel = kernel_of(module, "shared");
    ptera_launch l = shape(1, 1, 1, 1, 1, 1);
    l.parameters = parameters;
    l.n_parameters = 1;
    l.shared_bytes = 5000;
    CHECK_INT(ptera_kernel_launch(kernel, &l), PTERA_OK);
    CHECK_INT(out[0], 0x400 + 1008);
    CHECK_INT(out[1], 5000);
    l.shared_bytes = (227 << 10) - 1008;
    CHECK_INT(ptera_kernel_launch(kernel, &l), PTERA_OK);
    l.shared_bytes = (227 << 10) + 1;
    CHECK_INT(ptera_kernel_launch(kernel, &l), PTERA_ERROR_INVALID_LAUNCH);
    CHECK_HAS(ptera_engine_error(engine), "shared memory, a CTA has 232448");
    ptera_buffer_free(engine, out);
}

static void refuse(const char *name, ptera_launch l, const char *why)
{
    CHECK_INT(ptera_kernel_launch(kernel_of(module, name), &l), PTERA_ERROR_INVALID_LAUNCH);
    CHECK_HAS(ptera_engine_error(engine), why);
}

static void check_limits(void)
{
    refuse("limited", shape(1, 1, 1, 1025, 1, 1),
           "block 1025x1x1 is not between 1 and 1024 threads");
    refuse("limited", shape(1, 1, 1, 0, 1, 1), "block 0x1x1");
    refuse("limited", shape(1, 1, 1, 1, 1, 65), "block 1x1x65");
    refuse("limited", shape(1, 1, 1, 33, 1, 1), "33 threads in a block, .maxntid allows 32");
    refuse("limited", shape(0, 1, 1, 1, 1, 1), "grid 0x1x1");
    refuse("limited", shape(0x80000000u, 1, 1, 1, 1, 1), "grid 2147483648x1x1");
    refuse("limited", shape(1, 65536, 1, 1, 1, 1), "grid 1x65536x1");
    refuse("demanding", shape(1, 1, 1, 4, 8, 1), "block 4x8x1, .reqntid demands 8x4x1");
    refuse("clustered", shape(3, 1, 1, 1, 1, 1),
           "grid 3x1x1 is not a multiple of the cluster 2x1x1");
    ptera_launch l = shape(4, 1, 1, 1, 1, 1);
    l.cluster[0] = 4;
    refuse("clustered", l, "is not what .reqnctapercluster demands");
    l.grid[0] = l.cluster[0] = 17;
    refuse("limited", l, "a cluster has at most 16 CTAs");
    l = shape(100000, 1, 1, 32, 1, 1);
    l.cooperative = 1;
    refuse("limited", l, "100000 CTAs in a cooperative launch, 4224 of this size can be resident");
    l = shape(8, 1, 1, 32, 1, 1);
    CHECK_INT(ptera_kernel_launch(kernel_of(module, "limited"), &l), PTERA_OK);
    CHECK_INT(ptera_kernel_launch(kernel_of(module, "clustered"), &l), PTERA_OK);
}

static void check_parameters(void)
{
    ptera_kernel *kernel = kernel_of(module, "where");
    uint32_t *out = new_buffer(engine, 4);
    const void *parameters[] = {&out, &out};
    ptera_launch l = shape(1, 1, 1, 1, 1, 1);
    refuse("where", l, "0 parameters were given, it has 1");
    l.parameters = parameters;
    l.n_parameters = 2;
    refuse("where", l, "2 parameters were given, it has 1");
    l.n_parameters = 1;
    parameters[0] = NULL;
    refuse("where", l, "parameter 0 is a null pointer");
    l.parameters = NULL;
    l.parameter_block = &out;
    l.parameter_block_bytes = 12;
    refuse("where", l, "a parameter block of 12 bytes was given, it has 8");
    l.parameter_block_bytes = 8;
    CHECK_INT(ptera_kernel_launch(kernel, &l), PTERA_OK);
    l.timeout_seconds = -1;
    CHECK_INT(ptera_kernel_launch(kernel, &l), PTERA_ERROR_INVALID_ARGUMENT);
    l.timeout_seconds = NAN;
    CHECK_INT(ptera_kernel_launch(kernel, &l), PTERA_ERROR_INVALID_ARGUMENT);
    l.timeout_seconds = 0;
    l.backend = (ptera_backend)(PTERA_BACKEND_JIT + 1);
    CHECK_INT(ptera_kernel_launch(kernel, &l), PTERA_ERROR_INVALID_ARGUMENT);
    l.backend = PTERA_BACKEND_DEFAULT;
    l.order = (ptera_order)(PTERA_ORDER_TURNS + 1);
    CHECK_INT(ptera_kernel_launch(kernel, &l), PTERA_ERROR_INVALID_ARGUMENT);
    l.order = PTERA_ORDER_LOCKSTEP;
    CHECK_INT(ptera_kernel_launch(kernel, NULL), PTERA_ERROR_INVALID_ARGUMENT);
    CHECK_INT(ptera_kernel_launch(NULL, &l), PTERA_ERROR_INVALID_ARGUMENT);
    ptera_buffer_free(engine, out);
}

/* Host memory is as good as a buffer. */
static void check_host_memory(void)
{
    uint32_t here[64] = {0}, *p = here;
    CHECK_INT(LAUNCH(kernel_of(module, "where"), 2, 32, &p), PTERA_OK);
    CHECK_INT(here[33], 1 << 16 | 1);
}

static void check_waiting(void)
{
    uint32_t *p = new_buffer(engine, 8);
    CHECK_INT(LAUNCH(kernel_of(module, "locked"), 12, 40, &p), PTERA_OK);
    CHECK_INT(p[0], 0);
    CHECK_INT(p[1], 12 * 40);
    memset(p, 0, 8);
    CHECK_INT(LAUNCH(kernel_of(module, "meet"), 40, 1, &p), PTERA_OK);
    CHECK_INT(p[0], 40);
    memset(p, 0, 8);
    const void *parameters[] = {&p};
    ptera_launch l = shape(50, 1, 1, 1, 1, 1);
    l.cooperative = 1;
    l.parameters = parameters;
    l.n_parameters = 1;
    CHECK_INT(ptera_kernel_launch(kernel_of(module, "meet"), &l), PTERA_OK);
    CHECK_INT(p[0], 50);
    ptera_buffer_free(engine, p);
}

/* Every CTA of a cooperative launch runs, even if the first worker is through before another has
 * come. */
static void check_short_cooperative(void)
{
    uint32_t *p = new_buffer(engine, 8);
    const void *parameters[] = {&p};
    ptera_launch l = shape(7, 1, 1, 1, 1, 1);
    l.cooperative = 1;
    l.parameters = parameters;
    l.n_parameters = 1;
    for (unsigned i = 0; i < 500; i++)
        CHECK_INT(ptera_kernel_launch(kernel_of(module, "locked"), &l), PTERA_OK);
    CHECK_INT(p[1], 500 * 7);
    ptera_buffer_free(engine, p);
}

/* A launch whose time is over at once either ran as a whole or says that it did not. */
static void check_short_time(void)
{
    uint32_t *p = new_buffer(engine, 8);
    const void *parameters[] = {&p};
    unsigned lost = 0;
    for (unsigned i = 0; i < 500; i++) {
        ptera_launch l = shape(4, 1, 1, 1, 1, 1);
        l.timeout_seconds = 1e-9 * (1 + i * 200);
        l.parameters = parameters;
        l.n_parameters = 1;
        p[0] = p[1] = 0;
        ptera_result r = ptera_kernel_launch(kernel_of(module, "locked"), &l);
        lost += !(r == PTERA_OK && p[1] == 4) && r != PTERA_ERROR_TIMEOUT;
    }
    CHECK_INT(lost, 0);
    ptera_buffer_free(engine, p);
}

/* The caller's rounding mode, flush-to-zero and denormals-are-zero do not reach the kernel and are
 * as before afterwards. */
static void check_control_word(void)
{
    uint32_t *p = new_buffer(engine, 24), caller[3] = {0x00000001, 0x00800000, 0x3f800000};
    memcpy(p, caller, sizeof caller);
    fesetround(FE_UPWARD);
#if defined(__x86_64__)
    unsigned before = _mm_getcsr();
    _mm_setcsr(before | 0x8040);
#endif
    ptera_result r = LAUNCH(kernel_of(module, "numbers"), 8, 32, &p);
#if defined(__x86_64__)
    CHECK_INT(_mm_getcsr() & 0xffc0, (before | 0x8040) & 0xffc0);
    _mm_setcsr(before);
#endif
    CHECK_INT(fegetround(), FE_UPWARD);
    fesetround(FE_TONEAREST);
    CHECK_INT(r, PTERA_OK);
    CHECK_INT(p[3], 0x00000002);
    CHECK_INT(p[4], 0x00400000);
    CHECK_INT(p[5], 0x3f800000);
    ptera_buffer_free(engine, p);
}

int main(void)
{
    for (unsigned threads = 1; threads <= 4; threads += 3) {
        engine = new_engine(threads);
        module = load(engine, text);
        check_shape();
        check_shared();
        check_limits();
        check_parameters();
        check_host_memory();
        check_waiting();
        check_short_cooperative();
        check_short_time();
        check_control_word();
        ptera_engine_destroy(engine);
    }
    return CHECK_DONE("launch");
}
