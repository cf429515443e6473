/* Many engines, one after the other and side by side: nothing is left behind, and none knows of the
 * others. */
#include <stdbool.h>

#include "tests/api/support.h"

static const char text[] =
    HEADER ".visible .global .u32 state = 1;\n"
           ".visible .entry k(.param .u64 out, .param .f32 a, .param .f32 b)\n{\n"
           "    .reg .b64 %p; .reg .f32 %f<4>; .reg .b32 %r;\n"
           "    ld.param.u64 %p, [out]; ld.param.f32 %f1, [a]; ld.param.f32 %f2, [b]; mul.f32 %f3, "
           "%f1, %f2;\n"
           "    sub.f32 %f3, %f3, %f2; st.f32 [%p], %f3; ld.global.u32 %r, [state]; st.u32 [%p+4], "
           "%r; add.u32 %r, %r, 1;\n"
           "    st.global.u32 [state], %r;\n    ret;\n}\n";

struct result {
    float f;
    unsigned state;
};

static long resident_pages(void)
{
    long size, resident = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    if (!file || fscanf(file, "%ld %ld", &size, &resident) != 2)
        resident = 0;
    if (file)
        fclose(file);
    return resident;
}

static struct result run(ptera_kernel *kernel, ptera_backend backend, struct result *out)
{
    ptera_launch launch;
    float a = 1 + 0x1p-12f, b = 1 + 0x1p-12f;
    ptera_launch_init(&launch);
    launch.backend = backend;
    launch.parameters = (const void *const[]){&out, &a, &b};
    launch.n_parameters = 3;
    CHECK_INT(ptera_kernel_launch(kernel, &launch), PTERA_OK);
    return *out;
}

static void live(bool runs, bool natively)
{
    ptera_engine *engine = NULL;
    if (ptera_engine_create(NULL, &engine) != PTERA_OK) {
        CHECK(!"created");
        return;
    }
    if (runs) {
        ptera_kernel *kernel = kernel_of(load(engine, text), "k");
        struct result *out = new_buffer(engine, sizeof *out);
        ptera_backend backend = natively ? best_backend(engine) : PTERA_BACKEND_INTERP;
        CHECK_INT(run(kernel, backend, out).state, 1);
        CHECK_INT(run(kernel, backend, out).state, 2);
    }
    ptera_engine_destroy(engine);
}

static void test_lives(void)
{
    enum { LIVES = 10000, SETTLED = 1000, PAGES = 1024 };
    long before = 0;
    for (int i = 0; i < LIVES; i++) {
        live(i % 100 == 0, i % 200 == 0);
        if (i == SETTLED)
            before = resident_pages();
    }
#ifndef PT_SANITIZED
    CHECK(before > 0);
    CHECK(resident_pages() < before + PAGES);
#else
    (void)before; /* sanitizers keep what was freed; they find leaks themselves */
#endif
}

/* Contraction is one engine's option, the level of the CPU another's. */
static void test_side_by_side(void)
{
    ptera_options options;
    ptera_engine *fused = NULL, *plain = NULL;
    ptera_options_init(&options);
    CHECK_INT(ptera_engine_create(&options, &fused), PTERA_OK);
    options.fmad = 0;
    options.threads = 1;
    CHECK_INT(ptera_engine_create(&options, &plain), PTERA_OK);
    ptera_kernel *f = kernel_of(load(fused, text), "k"), *p = kernel_of(load(plain, text), "k");
    struct result *a = new_buffer(fused, sizeof *a), *b = new_buffer(plain, sizeof *b);
    ptera_backend best = best_backend(fused);
    for (unsigned i = 1; i < 4; i++) {
        run(f, i & 1 ? best : PTERA_BACKEND_INTERP, a);
        CHECK(a->f == 0x1p-12f + 0x1p-24f);
        CHECK_INT(a->state, i);
        run(p, i & 1 ? PTERA_BACKEND_INTERP : best, b);
        CHECK(b->f == 0x1p-12f);
        CHECK_INT(b->state, i);
    }
    ptera_engine_destroy(fused);
    run(p, PTERA_BACKEND_INTERP, b);
    CHECK_INT(b->state, 4);
    ptera_engine_destroy(plain);
}

int main(void)
{
    test_side_by_side();
    test_lives();
    return CHECK_DONE("many");
}
