/* Traced launches: what is told of which threads, and what is refused. */
#include "ptera_trace.h"
#include "tests/api/support.h"

static const char text[] = HEADER ".visible .entry k(.param .u64 p)\n"
                                  "{\n"
                                  "    .reg .pred %p1;\n"
                                  "    .reg .b64 %rd<3>;\n"
                                  "    .reg .b32 %r<4>;\n"
                                  "    ld.param.u64 %rd1, [p];\n"
                                  "    mov.u32 %r1, %tid.x;\n"
                                  "    setp.gt.u32 %p1, %r1, 3;\n"
                                  "    mov.u32 %r2, 5;\n"
                                  "@%p1 add.u32 %r2, %r2, %r1;\n"
                                  "    mad.wide.u32 %rd2, %r1, 4, %rd1;\n"
                                  "    st.global.u32 [%rd2], %r2;\n"
                                  "    ret;\n"
                                  "}\n"
                                  ".visible .entry fails(.param .u64 p)\n"
                                  "{\n"
                                  "    trap;\n"
                                  "}\n";
enum { THREADS = 32, CTAS = 4, STEPS = 7, GUARDED = THREADS - 4 };

struct told {
    unsigned asked, steps, failed;
    unsigned long long last[CTAS][THREADS]; /* step, of each thread */
    unsigned out_of_order;
    unsigned long long sum, address; /* of thread 9 */
};

static int ask(void *ud, const unsigned cta[3], const unsigned thread[3])
{
    struct told *told = ud;
    told->asked++;
    return cta[0] == 1 && thread[0] == 9;
}

static void hear(void *ud, const ptera_step *step)
{
    struct told *told = ud;
    unsigned long long *last = &told->last[step->cta[0]][step->thread[0]];
    told->steps++;
    told->failed += !step->has_results;
    told->out_of_order += step->number != *last + 1;
    *last = step->number;
    for (unsigned i = 0; step->thread[0] == 9 && i < step->n_values; i++)
        if (!strcmp(step->spelling, "add.u32") && step->values[i].is_result)
            told->sum = step->values[i].low;
    if (step->thread[0] == 9 && step->writes_memory)
        told->address = step->address;
}

static ptera_result trace(ptera_kernel *kernel, unsigned ctas, ptera_launch *launch,
                          const ptera_tracing *tracing)
{
    launch->grid[0] = ctas;
    launch->block[0] = THREADS;
    return ptera_kernel_trace(kernel, launch, tracing);
}

int main(void)
{
    struct told told = {0};
    ptera_engine *engine = new_engine(4);
    ptera_module *module = load(engine, text);
    ptera_kernel *k = kernel_of(module, "k"), *fails = kernel_of(module, "fails");
    unsigned *p = new_buffer(engine, THREADS * sizeof *p);
    ptera_tracing tracing = {.size = sizeof tracing, .step = hear, .ud = &told};
    ptera_launch launch;
    ptera_launch_init(&launch);
    launch.parameters = (const void *const[]){&p};
    launch.n_parameters = 1;

    /* all threads, by several workers */
    CHECK_INT(trace(k, CTAS, &launch, &tracing), PTERA_OK);
    CHECK_INT(told.steps, CTAS * (THREADS * STEPS + GUARDED));
    CHECK_INT(told.out_of_order, 0);
    CHECK_INT(told.failed, 0);
    CHECK_INT(told.sum, 14);
    CHECK_INT(told.address == (uintptr_t)&p[9], 1);
    CHECK_INT(p[9], 14);
    CHECK_INT(p[3], 5);

    /* one that is wanted: each is asked for once */
    told = (struct told){0};
    tracing.wants = ask;
    CHECK_INT(trace(k, CTAS, &launch, &tracing), PTERA_OK);
    CHECK_INT(told.asked, CTAS * THREADS);
    CHECK_INT(told.steps, STEPS + 1);
    CHECK_INT(told.last[1][9], STEPS + 1);

    /* one that fails is told without results; the next launch is as if nothing had been */
    told = (struct told){0};
    tracing.wants = NULL;
    CHECK_INT(trace(fails, 1, &launch, &tracing), PTERA_ERROR_TRAP);
    CHECK_INT(told.steps, THREADS);
    CHECK_INT(told.failed, THREADS);
    told = (struct told){0};
    CHECK_INT(ptera_kernel_launch(k, &launch), PTERA_OK);
    CHECK_INT(told.steps, 0);

    /* what cannot be traced */
    launch.backend = PTERA_BACKEND_JIT;
    CHECK_INT(trace(k, 1, &launch, &tracing), PTERA_ERROR_INVALID_ARGUMENT);
    launch.backend = PTERA_BACKEND_DEFAULT;
    launch.checks = PTERA_CHECK_ORDER;
    CHECK_INT(trace(k, 1, &launch, &tracing), PTERA_ERROR_INVALID_ARGUMENT);
    launch.checks = 0;
    CHECK_INT(trace(k, 1, &launch, NULL), PTERA_ERROR_INVALID_ARGUMENT);
    CHECK_INT(trace(NULL, 1, &launch, &tracing), PTERA_ERROR_INVALID_ARGUMENT);
    tracing.step = NULL;
    CHECK_INT(trace(k, 1, &launch, &tracing), PTERA_ERROR_INVALID_ARGUMENT);
    ptera_engine_destroy(engine);
    return CHECK_DONE("trace");
}
