/* Several host threads and several engines at once; misuse from two threads. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "tests/api/support.h"

enum { HOSTS = 4, ROUNDS = 20, N = 1024 };

static const char text[] = HEADER
    ".visible .entry add(.param .u64 p, .param .u32 v)\n{\n"
    "    .reg .b32 %r<8>; .reg .b64 %rd<4>; .shared .u32 room[64];\n"
    "    ld.param.u64 %rd1, [p]; ld.param.u32 %r1, [v]; mov.u32 %r2, %ctaid.x; "
    "mov.u32 %r3, %tid.x;\n"
    "    mad.lo.u32 %r4, %r2, 64, %r3; mul.wide.u32 %rd2, %r4, 4; add.s64 %rd1, %rd1, %rd2;\n"
    "    ld.global.u32 %r5, [%rd1]; add.u32 %r5, %r5, %r1; st.global.u32 [%rd1], %r5;\n"
    "    bar.sync 0;\n    ret;\n}\n"
    ".visible .entry fail()\n{\n    trap;\n}\n";

struct host {
    pthread_t thread;
    uint32_t value;
    unsigned wrong;
    ptera_engine *engine;
    ptera_module *module;
};

static void *host_main(void *ud)
{
    struct host *h = ud;
    ptera_kernel *add = NULL, *fail = NULL;
    uint32_t *p = NULL;
    h->wrong += ptera_module_kernel(h->module, "add", 0, &add) != PTERA_OK;
    h->wrong += ptera_module_kernel(h->module, "fail", 0, &fail) != PTERA_OK;
    h->wrong += ptera_buffer_alloc(h->engine, N * 4, (void **)&p) != PTERA_OK;
    for (int i = 0; i < ROUNDS; i++) {
        h->wrong += LAUNCH(add, N / 64, 64, &p, &h->value) != PTERA_OK;
        if (h->value == 2)
            h->wrong += launch_with(fail, 4, 64, NULL, 0) != PTERA_ERROR_TRAP;
    }
    for (int i = 0; i < N; i++)
        h->wrong += p[i] != h->value * ROUNDS;
    h->wrong += ptera_buffer_free(h->engine, p) != PTERA_OK;
    return NULL;
}

static void run_hosts(struct host *hosts, void *(*host)(void *))
{
    for (uint32_t i = 0; i < HOSTS; i++) {
        hosts[i].value = i + 1;
        CHECK_INT(pthread_create(&hosts[i].thread, NULL, host, &hosts[i]), 0);
    }
    for (int i = 0; i < HOSTS; i++) {
        pthread_join(hosts[i].thread, NULL);
        CHECK_INT(hosts[i].wrong, 0);
    }
}

static void check_one_engine(unsigned threads)
{
    struct host hosts[HOSTS] = {0};
    ptera_engine *engine = new_engine(threads);
    ptera_module *module = load(engine, text);
    for (int i = 0; i < HOSTS; i++) {
        hosts[i].engine = engine;
        hosts[i].module = module;
    }
    run_hosts(hosts, host_main);
    ptera_engine_destroy(engine);
}

static void check_engine_each(void)
{
    struct host hosts[HOSTS] = {0};
    for (int i = 0; i < HOSTS; i++) {
        hosts[i].engine = new_engine(2);
        hosts[i].module = load(hosts[i].engine, text);
    }
    run_hosts(hosts, host_main);
    for (int i = 0; i < HOSTS; i++)
        ptera_engine_destroy(hosts[i].engine);
}

/* ---- every call on one module ---------------------------------------------------------------- */

/* Kernels that one thread compiles while others look at the module. `untold` is found wanting when
 * it is compiled. */
static const char busy_text[] =
    HEADER ".visible .global .u32 v = 3;\n"
           ".visible .func (.param .f32 r) half(.param .f32 v)\n"
           "{ .reg .f32 %f; ld.param.f32 %f, [v]; mul.f32 %f, %f, 0f3F000000; "
           "st.param.f32 [r], %f; ret; }\n"
           ".visible .entry k0(.param .u64 p)\n"
           "{ .reg .b64 %p; ld.param.u64 %p, [p]; red.add.u32 [%p], 1; ret; }\n"
           ".visible .entry k1(.param .u64 p)\n"
           "{ .reg .b64 %p; ld.param.u64 %p, [p]; red.add.u32 [%p], 2; ret; }\n"
           ".visible .entry k2(.param .u64 p)\n"
           "{ .reg .b64 %p; ld.param.u64 %p, [p]; red.add.u32 [%p], 3; ret; }\n"
           ".visible .entry k3(.param .u64 p)\n"
           "{ .reg .b64 %p; ld.param.u64 %p, [p]; red.add.u32 [%p], 4; ret; }\n"
           ".global .texref image;\n"
           ".visible .entry untold(.param .u64 p)\n"
           "{ .reg .b32 %r<5>; mov.b32 %r0, 0;\n"
           "    tex.2dms.v4.s32.s32 {%r1, %r2, %r3, %r4}, [image, {%r0, %r0, %r0, %r0}],\n"
           "    {%r0, %r0};\n"
           "    ret; }\n";

static unsigned look_at(ptera_module *module)
{
    unsigned wrong = 0;
    ptera_diagnostic d = {.size = sizeof d};
    ptera_parameter parameter = {.size = sizeof parameter};
    ptera_kernel_properties properties = {.size = sizeof properties};
    ptera_kernel_status status = {.size = sizeof status};
    ptera_kernel *kernel = NULL;
    const char *text = NULL;
    size_t bytes = 0;
    for (unsigned i = 0; ptera_module_diagnostic(module, i, &d) == PTERA_OK; i++)
        wrong += !d.is_unsupported || !strstr(d.text, "not supported yet");
    for (unsigned i = 0; ptera_module_kernel(module, NULL, i, &kernel) == PTERA_OK; i++) {
        wrong += ptera_kernel_parameter(kernel, 0, &parameter) != PTERA_OK ||
                 strcmp(parameter.name, "p") != 0;
        wrong += ptera_kernel_info(kernel, &status) != PTERA_OK;
        wrong += !*ptera_kernel_name(kernel);
    }
    wrong += ptera_module_kernel(module, "k2", 0, &kernel) != PTERA_OK;
    wrong +=
        ptera_kernel_properties_get(kernel, &properties) != PTERA_OK || properties.parameters != 1;
    wrong += ptera_module_variable(module, "v", NULL, &bytes) != PTERA_OK || bytes != 4;
    wrong += ptera_module_emit(module, "k3", PTERA_EMIT_IR, &text) != PTERA_OK ||
             !strstr(text, "red.add.u32");
    wrong += ptera_module_verify(module) != PTERA_OK;
    return wrong;
}

static unsigned call_half(ptera_module *module)
{
    float (*half)(float) = NULL;
    ptera_result result =
        ptera_function_pointer(module, "half", "f32 (f32)", (void (**)(void))&half);
    return result != PTERA_OK || half(3) != 1.5f;
}

static void *busy_main(void *ud)
{
    struct host *h = ud;
    uint32_t *p = NULL, sum = 0;
    h->wrong += ptera_buffer_alloc(h->engine, sizeof *p, (void **)&p) != PTERA_OK;
    for (unsigned i = 0; i < ROUNDS; i++) {
        ptera_kernel *kernel = NULL;
        ptera_module *own = NULL;
        unsigned index = (h->value + i) % 5; /* the last is `untold` */
        h->wrong += ptera_module_kernel(h->module, NULL, index, &kernel) != PTERA_OK;
        h->wrong +=
            LAUNCH(kernel, 1, 1, &p) != (index < 4 ? PTERA_OK : PTERA_ERROR_UNSUPPORTED_PTX);
        sum += index < 4 ? index + 1 : 0;
        h->wrong += look_at(h->module);
        h->wrong += call_half(h->module);
        h->wrong +=
            ptera_module_load(h->engine, "own.ptx", busy_text, strlen(busy_text), &own) != PTERA_OK;
        ptera_module_unload(own);
    }
    h->wrong += *p != sum;
    return NULL;
}

static void check_one_module(void)
{
    for (int round = 0; round < 5; round++) { /* compiling comes once a module */
        struct host hosts[HOSTS] = {0};
        ptera_engine *engine = new_engine(2);
        ptera_module *module = NULL;
        CHECK_INT(ptera_module_load(engine, "busy.ptx", busy_text, strlen(busy_text), &module),
                  PTERA_OK);
        for (int i = 0; i < HOSTS; i++) {
            hosts[i].engine = engine;
            hosts[i].module = module;
        }
        run_hosts(hosts, busy_main);
        ptera_engine_destroy(engine);
    }
}

/* ---- what only one thread can have ----------------------------------------------------------- */

static struct {
    pthread_barrier_t start;
    void *buffer, *memory;
    char name[16];
    atomic_uint won[4];
} race;

static void own(void)
{
}

static void *race_main(void *ud)
{
    ptera_engine *engine = ((struct host *)ud)->engine;
    pthread_barrier_wait(&race.start);
    const ptera_result results[] = {ptera_function_register(engine, race.name, "void ()", own),
                                    ptera_buffer_free(engine, race.buffer),
                                    ptera_memory_register(engine, race.memory, 64),
                                    ptera_memory_register(engine, (char *)race.memory + 63, 8)};
    for (int i = 0; i < 4; i++) {
        ((struct host *)ud)->wrong +=
            results[i] != PTERA_OK && results[i] != PTERA_ERROR_INVALID_ARGUMENT;
        race.won[i] += results[i] == PTERA_OK;
    }
    pthread_barrier_wait(&race.start);
    if (ptera_memory_unregister(engine, race.memory) == PTERA_OK)
        race.won[2]--;
    return NULL;
}

/* Threads that register one name, free one buffer, register overlapping memory at once: one of them
 * has it, the others hear so. */
static void check_races(void)
{
    char memory[128];
    ptera_engine *engine = new_engine(2);
    pthread_barrier_init(&race.start, NULL, HOSTS);
    for (int round = 0; round < ROUNDS; round++) {
        struct host hosts[HOSTS] = {0};
        race.buffer = new_buffer(engine, 100);
        race.memory = memory;
        snprintf(race.name, sizeof race.name, "own%d", round);
        for (int i = 0; i < 4; i++)
            atomic_store(&race.won[i], 0);
        for (int i = 0; i < HOSTS; i++)
            hosts[i].engine = engine;
        run_hosts(hosts, race_main);
        CHECK_INT(race.won[0], 1);
        CHECK_INT(race.won[1], 1);
        CHECK_INT(race.won[2], 0); /* registered as often as taken back */
        CHECK(race.won[3] <= 1);
        if (race.won[3])
            CHECK_INT(ptera_memory_unregister(engine, memory + 63), PTERA_OK);
    }
    pthread_barrier_destroy(&race.start);
    ptera_engine_destroy(engine);
}

/* ---- each its own failure -------------------------------------------------------------------- */

/* Launches of thread v fail at address 0x1000 v, others do not fit; each text is the launch's. */
static void *failing_main(void *ud)
{
    struct host *h = ud;
    char error[256], wanted[64];
    ptera_kernel *add = kernel_of(h->module, "add");
    uint64_t address = 0x1000 * (uint64_t)h->value;
    unsigned block = h->value + 64;
    ptera_launch launch;
    ptera_launch_init(&launch);
    launch.parameters = (const void *[]){&address, &h->value};
    launch.error = error;
    launch.error_bytes = sizeof error;
    for (unsigned i = 0; i < 300; i++) {
        bool fits = i % 2;
        launch.n_parameters = 2;
        launch.block[0] = fits ? 64 : block;
        launch.block[1] = fits ? 1 : 1000;
        snprintf(wanted, sizeof wanted, fits ? "illegal address 0x%llx in" : "block %llux1000x1",
                 fits ? (unsigned long long)address : block);
        ptera_result r = ptera_kernel_launch(add, &launch);
        h->wrong += r != (fits ? PTERA_ERROR_ILLEGAL_ADDRESS : PTERA_ERROR_INVALID_LAUNCH) ||
                    !strstr(error, wanted);
    }
    return NULL;
}

static void check_own_errors(void)
{
    struct host hosts[HOSTS] = {0};
    ptera_engine *engine = new_engine(2);
    ptera_module *module = load(engine, text);
    for (int i = 0; i < HOSTS; i++) {
        hosts[i].engine = engine;
        hosts[i].module = module;
    }
    run_hosts(hosts, failing_main);
    ptera_engine_destroy(engine);
}

static void check_error_is_cut(void)
{
    char error[8];
    ptera_engine *engine = new_engine(1);
    ptera_module *module = load(engine, text);
    ptera_launch launch;
    ptera_launch_init(&launch);
    launch.error = error;
    launch.error_bytes = sizeof error;
    CHECK_INT(ptera_kernel_launch(kernel_of(module, "fail"), &launch), PTERA_ERROR_TRAP);
    CHECK_TEXT(error, "trap in");
    launch.grid[0] = 0;
    CHECK_INT(ptera_kernel_launch(kernel_of(module, "fail"), &launch), PTERA_ERROR_INVALID_LAUNCH);
    CHECK_TEXT(error, "kernel ");
    launch.order = (ptera_order)99; /* of which no text tells */
    CHECK_INT(ptera_kernel_launch(kernel_of(module, "fail"), &launch),
              PTERA_ERROR_INVALID_ARGUMENT);
    CHECK_TEXT(error, "");
    ptera_engine_destroy(engine);
}

int main(void)
{
    check_one_engine(1);
    check_one_engine(3);
    check_engine_each();
    check_one_module();
    check_races();
    check_own_errors();
    check_error_is_cut();
    return CHECK_DONE("threads");
}
