/* The speed of single instructions, one or more of each family, on one worker.
 *
 * A kernel runs one instruction UNROLL times in a loop, with operands that stay as they are; the
 * loop's own two instructions are counted as free. The figure is operations of single lanes, all
 * lanes of a warp active: the best of several runs. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "ptera.h"
#include "tests/bench/families.h"

enum { UNROLL = 64, LOOPS = 32, CTA = 256, CTAS = 16, RUNS = 5 };

struct family {
    const char *name, *instruction;
};

/* %r0 %r1 %r2: the thread's number, 77, 5; %f0 %f1: 1 + a thread's fraction, 0.7; %d0 %d1 the same
 * in f64; %h0 in f16, %x0 twice; %s0: 16 bytes of shared memory of its own; %g0: of global memory;
 * %g1: 2 bytes there. */
static const struct family families[] = {
    {"integer", "add.s32 %r5, %r0, %r1"},
    {"integer", "add.s64 %l5, %l0, %l1"},
    {"integer", "mul.lo.s32 %r5, %r0, %r1"},
    {"integer", "mul.hi.u32 %r5, %r0, %r1"},
    {"integer", "mad.lo.s32 %r5, %r0, %r1, %r2"},
    {"integer", "mad.wide.u32 %l5, %r0, %r1, %l1"},
    {"integer", "div.u32 %r5, %r0, %r1"},
    {"integer", "min.s32 %r5, %r0, %r1"},
    {"integer", "popc.b32 %r5, %r0"},
    {"logic", "and.b32 %r5, %r0, %r1"},
    {"logic", "lop3.b32 %r5, %r0, %r1, %r2, 0x96"},
    {"shift", "shl.b32 %r5, %r0, %r2"},
    {"shift", "shr.s32 %r5, %r0, 3"},
    {"shift", "shf.l.wrap.b32 %r5, %r0, %r1, %r2"},
    {"shift", "bfe.u32 %r5, %r0, %r2, %r2"},
    {"compare", "setp.lt.s32 %p1, %r0, %r1"},
    {"compare", "setp.gt.f32 %p1, %f0, %f1"},
    {"compare", "selp.b32 %r5, %r0, %r1, %p0"},
    {"move", "mov.b32 %r5, %r0"},
    {"move", "prmt.b32 %r5, %r0, %r1, 0x3254"},
    {"fp32", "add.f32 %f5, %f0, %f1"},
    {"fp32", "add.rz.f32 %f5, %f0, %f1"},
    {"fp32", "fma.rn.f32 %f5, %f0, %f1, %f1"},
    {"fp32", "fma.rm.f32 %f5, %f0, %f1, %f1"},
    {"fp32", "div.rn.f32 %f5, %f0, %f1"},
    {"fp32", "sqrt.rn.f32 %f5, %f0"},
    {"fp64", "fma.rn.f64 %d5, %d0, %d1, %d1"},
    {"fp64", "div.rn.f64 %d5, %d0, %d1"},
    {"fp64", "add.rz.f64 %d5, %d0, %d1"},
    {"fp64", "mul.rz.f64 %d5, %d0, %d1"},
    {"half", "fma.rn.f16 %h5, %h0, %h0, %h0"},
    {"half", "fma.rn.f16x2 %x5, %x0, %x0, %x0"},
    {"half", "add.bf16x2 %x5, %x0, %x0"},
    {"half", "fma.rn.bf16x2 %x5, %x0, %x0, %x0"},
    {"special", "ex2.approx.f32 %f5, %f0"},
    {"special", "rsqrt.approx.f32 %f5, %f0"},
    {"special", "sin.approx.f32 %f5, %f0"},
    {"special", "lg2.approx.f32 %f5, %f0"},
    {"special", "rcp.approx.f32 %f5, %f0"},
    {"special", "tanh.approx.f32 %f5, %f0"},
    {"special", "div.full.f32 %f5, %f0, %f1"},
    {"convert", "cvt.rn.f32.s32 %f5, %r0"},
    {"convert", "cvt.rzi.s32.f32 %r5, %f0"},
    {"convert", "cvt.rn.f16.f32 %h5, %f0"},
    {"convert", "cvt.f32.f16 %f5, %h0"},
    {"convert", "cvt.rm.bf16.f32 %h5, %f0"},
    {"video", "vadd.s32.s32.s32 %r5, %r0, %r1"},
    {"video", "dp4a.u32.u32 %r5, %r0, %r1, %r2"},
    {"memory", "ld.shared.b32 %r5, [%s0]"},
    {"memory", "st.shared.b32 [%s0], %r0"},
    {"memory", "ld.global.b32 %r5, [%g0]"},
    {"memory", "ld.global.v4.b32 {%r4, %r5, %r6, %r7}, [%g0]"},
    {"memory", "ld.global.b16 %h5, [%g1]"},
    {"memory", "st.global.b32 [%g0], %r0"},
    {"memory", "st.global.v4.b32 [%g0], {%r0, %r1, %r2, %r0}"},
    {"atomic", "atom.shared.add.u32 %r5, [%s0], %r1"},
    {"atomic", "atom.global.add.u32 %r5, [%g0], %r1"},
    {"warp", "shfl.sync.bfly.b32 %r5, %r0, 1, 31, -1"},
    {"warp", "vote.sync.ballot.b32 %r5, %p0, -1"},
};

static const char head[] =
    ".version 8.0\n.target sm_90\n.address_size 64\n"
    ".visible .entry k(.param .u64 memory)\n{\n"
    "    .shared .align 16 .b8 words[4096];\n"
    "    .reg .pred %p<4>;\n    .reg .b16 %h<8>;\n    .reg .b32 %r<8>, %x<8>, %s<2>, %i;\n"
    "    .reg .b64 %l<8>, %g<2>;\n    .reg .f32 %f<8>;\n    .reg .f64 %d<8>;\n"
    "    mov.u32 %r0, %tid.x;\n    mov.u32 %r1, 77;\n    mov.u32 %r2, 5;\n"
    "    cvt.u64.u32 %l0, %r0;\n    mov.u64 %l1, 77;\n"
    "    cvt.rn.f32.u32 %f0, %r0;\n    fma.rn.f32 %f0, %f0, 0f3B000000, 0f3F800000;\n"
    "    mov.f32 %f1, 0f3F333333;\n"
    "    cvt.f64.f32 %d0, %f0;\n    cvt.f64.f32 %d1, %f1;\n"
    "    cvt.rn.f16.f32 %h0, %f0;\n    mov.b32 %x0, {%h0, %h0};\n    setp.lt.u32 %p0, %r0, 100;\n"
    "    mov.u32 %s0, words;\n    shl.b32 %i, %r0, 4;\n    add.u32 %s0, %s0, %i;\n"
    "    ld.param.u64 %g0, [memory];\n    mad.wide.u32 %g1, %r0, 2, %g0;\n"
    "    mad.wide.u32 %g0, %r0, 16, %g0;\n"
    "    mov.u32 %i, 0;\n$loop:\n";

static const char tail[] = "    add.u32 %i, %i, 1;\n    setp.lt.u32 %p2, %i, 32;\n"
                           "    @%p2 bra $loop;\n    ret;\n}\n";
_Static_assert(LOOPS == 32, "as the kernel's text says");

static void die(const char *what)
{
    fprintf(stderr, "bench: %s\n", what);
    exit(1);
}

static double seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* Millions of lane operations a second; 0 if the instruction is not supported yet. */
static double measure(ptera_engine *engine, const char *instruction, void *memory)
{
    static char text[16384];
    char *p = text + sprintf(text, "%s", head);
    for (int i = 0; i < UNROLL; i++)
        p += sprintf(p, "    %s;\n", instruction);
    p += sprintf(p, "%s", tail);
    ptera_module *module = NULL;
    ptera_kernel *kernel = NULL;
    if (ptera_module_load(engine, "family.ptx", text, (size_t)(p - text), &module) != PTERA_OK ||
        ptera_module_kernel(module, "k", 0, &kernel) != PTERA_OK)
        die(instruction);
    ptera_launch launch;
    ptera_launch_init(&launch);
    launch.grid[0] = CTAS;
    launch.block[0] = CTA;
    launch.parameters = (const void *[]){&memory};
    launch.n_parameters = 1;
    double best = 1e9;
    ptera_result r = PTERA_OK;
    for (int i = 0; i < RUNS && r == PTERA_OK; i++) {
        double start = seconds();
        r = ptera_kernel_launch(kernel, &launch);
        double time = seconds() - start;
        best = time < best ? time : best;
    }
    if (r != PTERA_OK && r != PTERA_ERROR_UNSUPPORTED_PTX)
        die(ptera_engine_error(engine));
    ptera_module_unload(module);
    return r == PTERA_OK ? (double)UNROLL * LOOPS * CTA * CTAS / best * 1e-6 : 0;
}

void bench_families(void)
{
    ptera_options o;
    ptera_engine *engine = NULL;
    void *memory = NULL;
    ptera_options_init(&o);
    o.threads = 1;
    if (ptera_engine_create(&o, &engine) != PTERA_OK ||
        ptera_buffer_alloc(engine, 16 * CTA, &memory) != PTERA_OK)
        die("no engine");
    for (size_t i = 0; i < sizeof families / sizeof *families; i++) {
        const struct family *f = &families[i];
        double rate = measure(engine, f->instruction, memory);
        if (rate > 0)
            printf("%-10s %-50s %8.0f Mops/s\n", f->name, f->instruction, rate);
        else
            printf("%-10s %-50s not supported yet\n", f->name, f->instruction);
    }
    ptera_engine_destroy(engine);
}
