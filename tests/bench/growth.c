/* How compile time grows with a kernel: generated kernels of 2,500 instructions and more, twice as
 * many each time, in one basic block or with a branch that parts the lanes every 50 instructions.
 * The figure is the first launch of one CTA, with nothing cached, less the second. */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ptera.h"
#include "tests/bench/growth.h"
#include "tests/bench/random.h"
#include "tests/bench/timing.h"

enum { LEAST = 2500, MOST = 40000, BETWEEN_BRANCHES = 50, BYTES_A_LINE = 64 };

static const char head[] = ".version 8.0\n.target sm_80\n.address_size 64\n"
                           ".entry k(.param .u64 out)\n{\n"
                           ".reg .pred %p<2>;\n.reg .b32 %r<40>;\n.reg .f32 %f<40>;\n"
                           ".reg .b64 %rd<4>;\n"
                           "ld.param.u64 %rd0, [out];\nmov.u32 %r0, %tid.x;\n"
                           "mul.wide.u32 %rd1, %r0, 4;\nadd.s64 %rd0, %rd0, %rd1;\n";
static const char tail[] = "st.global.u32 [%rd0], %r1;\nst.global.f32 [%rd0+128], %f1;\nret;\n}\n";

static int put_instruction(char *out, uint32_t *seed)
{
    unsigned d = next_random(seed, 40), a = next_random(seed, 40), b = next_random(seed, 40);
    switch (next_random(seed, 8)) {
    case 0:
        return sprintf(out, "mad.lo.s32 %%r%u, %%r%u, %%r%u, 17;\n", d, a, b);
    case 1:
        return sprintf(out, "xor.b32 %%r%u, %%r%u, %%r%u;\n", d, a, b);
    case 2:
        return sprintf(out, "shf.l.wrap.b32 %%r%u, %%r%u, %%r%u, 7;\n", d, a, b);
    case 3:
        return sprintf(out, "fma.rn.f32 %%f%u, %%f%u, %%f%u, 0f3F800000;\n", d, a, b);
    case 4:
        return sprintf(out, "add.f32 %%f%u, %%f%u, %%f%u;\n", d, a, b);
    case 5:
        return sprintf(out, "cvt.rn.f32.s32 %%f%u, %%r%u;\n", d, a);
    case 6:
        return sprintf(out, "setp.lt.s32 %%p1, %%r%u, %%r%u;\n"
                            "@%%p1 add.s32 %%r%u, %%r%u, 3;\n", a, b, d, d);
    default:
        return sprintf(out, "ld.global.u32 %%r%u, [%%rd0+%u];\n", d, 4 * a);
    }
}

/* The caller frees it. */
static char *generate(unsigned instructions, bool has_branches)
{
    char *text = malloc(sizeof head + sizeof tail + (size_t)instructions * 2 * BYTES_A_LINE),
         *p = text;
    uint32_t seed = 1;
    if (!text)
        return NULL;
    p += sprintf(p, "%s", head);
    for (unsigned i = 0; i < instructions; i++) {
        if (has_branches && i % BETWEEN_BRANCHES == BETWEEN_BRANCHES - 1)
            p += sprintf(p, "setp.gt.s32 %%p0, %%r%u, %%r0;\n@%%p0 bra L%u;\n", i % 40, i);
        p += put_instruction(p, &seed);
        if (has_branches && i % BETWEEN_BRANCHES == BETWEEN_BRANCHES / 2 && i > BETWEEN_BRANCHES)
            p += sprintf(p, "L%u:\n", i - BETWEEN_BRANCHES / 2 - 1);
    }
    if (has_branches)
        p += sprintf(p, "L%u:\n", instructions - 1);
    sprintf(p, "%s", tail);
    return text;
}

static double launch_ms(ptera_kernel *kernel, const ptera_launch *launch)
{
    double start = now_ms();
    return ptera_kernel_launch(kernel, launch) == PTERA_OK ? now_ms() - start : -1;
}

/* Negative if it cannot be compiled. */
static double compile_ms(const char *text)
{
    ptera_options options;
    ptera_engine *engine;
    ptera_module *module;
    ptera_kernel *kernel;
    ptera_launch launch;
    ptera_kernel_status status = {.size = sizeof status};
    double ms = -1;
    void *out;
    ptera_options_init(&options);
    options.threads = 1;
    if (ptera_engine_create(&options, &engine) != PTERA_OK)
        return -1;
    ptera_launch_init(&launch);
    launch.block[0] = 32;
    launch.backend = PTERA_BACKEND_JIT;
    launch.parameters = (const void *[]){&out};
    launch.n_parameters = 1;
    if (ptera_buffer_alloc(engine, 4096, &out) == PTERA_OK &&
        ptera_module_load(engine, "generated.ptx", text, strlen(text), &module) == PTERA_OK &&
        ptera_module_kernel(module, "k", 0, &kernel) == PTERA_OK) {
        double first = launch_ms(kernel, &launch), second = launch_ms(kernel, &launch);
        if (first >= 0 && second >= 0 && ptera_kernel_info(kernel, &status) == PTERA_OK &&
            !status.why)
            ms = first - second;
    }
    ptera_engine_destroy(engine);
    return ms;
}

static void measure(const char *name, bool has_branches)
{
    double last = -1;
    printf("compiling  %s:", name);
    for (unsigned n = LEAST; n <= MOST; n *= 2) {
        char *text = generate(n, has_branches);
        double ms = text ? compile_ms(text) : -1;
        printf(ms < 0 ? "%s %u instructions: not native" : "%s %u instructions %.0f ms",
               n > LEAST ? "," : "", n, ms);
        if (ms > 0 && last > 0)
            printf(" (x %.1f)", ms / last);
        last = ms;
        fflush(stdout);
        free(text);
    }
    printf("\n");
}

void bench_growth(void)
{
    setenv("PTERA_CACHE", "", 1);
    measure("one basic block", false);
    measure("a branch every 50", true);
}
