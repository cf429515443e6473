/* Launches that nobody waits for; parameters by name; what a kernel demands; limits and the log. */
#include <stdatomic.h>

#include "tests/api/support.h"

static const char text[] = HEADER
    ".visible .entry append(.param .u64 list, .param .u32 value)\n{\n"
    "    .reg .b64 %p<3>; .reg .b32 %r<4>;\n"
    "    ld.param.u64 %p1, [list]; ld.param.u32 %r1, [value]; ld.u32 %r2, [%p1];\n"
    "    mad.wide.u32 %p2, %r2, 4, %p1; st.u32 [%p2+4], %r1; add.u32 %r2, %r2, 1; st.u32 [%p1], "
    "%r2;\n    ret;\n}\n"
    ".visible .entry subtract(.param .u64 out, .param .u32 a, .param .u32 b)\n{\n"
    "    .reg .b64 %p; .reg .b32 %r<4>;\n"
    "    ld.param.u64 %p, [out]; ld.param.u32 %r1, [a]; ld.param.u32 %r2, [b]; sub.u32 %r1, %r1, "
    "%r2;\n"
    "    st.u32 [%p], %r1;\n    ret;\n}\n"
    ".visible .entry fail()\n{\n    trap;\n}\n"
    ".visible .entry shaped(.param .u32 a, .param .u64 b) .reqntid 8, 4\n"
    "{\n    .shared .b8 s[100]; .local .align 16 .b8 l[48]; .reg .b32 %r;\n"
    "    mov.u32 %r, s; st.shared.u32 [%r], %r; mov.u32 %r, l; st.local.u32 [%r], %r; ret;\n}\n"
    ".visible .entry bounded() .maxntid 96 .reqnctapercluster 2\n{\n    ret;\n}\n"
    ".visible .entry ranked() .maxclusterrank 8\n{\n    ret;\n}\n"
    ".visible .entry waits(.param .u64 p)\n{\n"
    "    .reg .b64 %p; .reg .b32 %r; .reg .pred %c;\n    ld.param.u64 %p, [p];\n"
    "LOOP:\n    ld.volatile.u32 %r, [%p]; setp.eq.u32 %c, %r, 0; @%c bra LOOP;\n    ret;\n}\n"
    ".func down(.param .u32 n)\n{\n    .reg .u32 %r; .reg .pred %c;\n"
    "    ld.param.u32 %r, [n]; setp.eq.u32 %c, %r, 0; @%c ret; sub.u32 %r, %r, 1;\n"
    "    { .param .u32 a; st.param.u32 [a], %r; call down, (a); }\n    ret;\n}\n"
    ".visible .entry recurs()\n{\n    { .param .u32 a; st.param.u32 [a], 3; call down, (a); }\n"
    "    ret;\n}\n";

/* ---- in order, with a callback --------------------------------------------------------------- */

struct told {
    atomic_uint calls;
    ptera_result results[8];
    char error[4096];
};

static void tell(void *ud, ptera_result result, const char *error)
{
    struct told *told = ud;
    told->results[atomic_load(&told->calls)] = result;
    if (*error)
        snprintf(told->error, sizeof told->error, "%s", error);
    atomic_fetch_add(&told->calls, 1);
}

static ptera_result start(ptera_kernel *kernel, const void *p0, const void *p1, ptera_done *done,
                          void *ud)
{
    ptera_launch launch;
    ptera_launch_init(&launch);
    launch.parameters = (const void *const[]){p0, p1};
    launch.n_parameters = p1 ? 2 : p0 ? 1 : 0;
    return ptera_kernel_launch_async(kernel, &launch, done, ud);
}

static void test_order(void)
{
    enum { N = 10000 };
    ptera_engine *engine = new_engine(2);
    ptera_module *module = load(engine, text);
    ptera_kernel *append = kernel_of(module, "append");
    unsigned *list = new_buffer(engine, (N + 1) * sizeof *list);
    struct told told = {0};
    for (unsigned i = 0; i < N; i++)
        if (start(append, &list, &i, i == N - 1 ? tell : NULL, &told) != PTERA_OK)
            CHECK(!"launched");
    CHECK_INT(ptera_engine_wait(engine), PTERA_OK);
    CHECK_INT(list[0], N);
    unsigned wrong = 0;
    for (unsigned i = 0; i < N; i++)
        wrong += list[i + 1] != i;
    CHECK_INT(wrong, 0);
    CHECK_INT(atomic_load(&told.calls), 1);
    ptera_engine_destroy(engine);
}

static void test_errors(void)
{
    ptera_engine *engine = new_engine(2);
    ptera_module *module = load(engine, text);
    struct told told = {0};
    unsigned *list = new_buffer(engine, 64);
    CHECK_INT(start(kernel_of(module, "fail"), NULL, NULL, tell, &told), PTERA_OK);
    CHECK_INT(start(kernel_of(module, "append"), &list, list, tell, &told), PTERA_OK);
    CHECK_INT(ptera_engine_wait(engine), PTERA_OK);
    CHECK_INT(told.results[0], PTERA_ERROR_TRAP);
    CHECK_INT(told.results[1], PTERA_OK);
    CHECK_HAS(told.error, "trap in kernel 'fail'");
    CHECK_INT(start(kernel_of(module, "fail"), &list, NULL, tell, &told),
              PTERA_ERROR_INVALID_LAUNCH);
    CHECK_INT(start(NULL, NULL, NULL, tell, &told), PTERA_ERROR_INVALID_ARGUMENT);
    CHECK_INT(ptera_kernel_launch_async(kernel_of(module, "fail"), NULL, tell, &told),
              PTERA_ERROR_INVALID_ARGUMENT);
    CHECK_INT(ptera_engine_wait(NULL), PTERA_ERROR_INVALID_ARGUMENT);
    CHECK_INT(atomic_load(&told.calls), 2);
    /* What is queued still runs when the engine goes. */
    volatile unsigned go = 0;
    const volatile unsigned *address = &go;
    CHECK_INT(start(kernel_of(module, "waits"), &address, NULL, tell, &told), PTERA_OK);
    CHECK_INT(start(kernel_of(module, "append"), &list, list, tell, &told), PTERA_OK);
    CHECK_INT(atomic_load(&told.calls), 2);
    go = 1;
    ptera_engine_destroy(engine);
    CHECK_INT(atomic_load(&told.calls), 4);
}

/* ---- parameters by name ---------------------------------------------------------------------- */

static ptera_result subtract(ptera_kernel *kernel, const char *const names[3],
                             const void *const values[3])
{
    ptera_launch launch;
    ptera_launch_init(&launch);
    launch.parameters = values;
    launch.parameter_names = names;
    launch.n_parameters = 3;
    return ptera_kernel_launch(kernel, &launch);
}

static void test_names(ptera_engine *engine, ptera_module *module)
{
    ptera_kernel *kernel = kernel_of(module, "subtract");
    unsigned *out = new_buffer(engine, 4), a = 50, b = 8;
    CHECK_INT(subtract(kernel, (const char *const[]){"b", "out", "a"},
                       (const void *const[]){&b, &out, &a}),
              PTERA_OK);
    CHECK_INT(*out, 42);
    CHECK_INT(subtract(kernel, (const char *const[]){"b", "out", "c"},
                       (const void *const[]){&b, &out, &a}),
              PTERA_ERROR_INVALID_LAUNCH);
    CHECK_HAS(ptera_engine_error(engine), "kernel 'subtract' has no parameter 'c'");
    CHECK_INT(subtract(kernel, (const char *const[]){"b", "out", "b"},
                       (const void *const[]){&b, &out, &a}),
              PTERA_ERROR_INVALID_LAUNCH);
    CHECK_HAS(ptera_engine_error(engine), "parameter 'b' is given twice");
    CHECK_INT(subtract(kernel, (const char *const[]){"b", "out", NULL},
                       (const void *const[]){&b, &out, &a}),
              PTERA_ERROR_INVALID_LAUNCH);
}

/* ---- properties ------------------------------------------------------------------------------ */

static void test_properties(ptera_module *module)
{
    ptera_kernel_properties p = {.size = sizeof p};
    CHECK_INT(ptera_kernel_properties_get(kernel_of(module, "shaped"), &p), PTERA_OK);
    CHECK_INT(p.parameters, 2);
    CHECK_INT(p.parameter_bytes, 16);
    CHECK(p.required_block[0] == 8 && p.required_block[1] == 4 && p.required_block[2] == 1);
    CHECK_INT(p.max_threads, 32);
    CHECK_INT(p.required_cluster[0], 0);
    CHECK_INT(p.max_cluster, 16);
    CHECK_INT(p.shared_bytes, 100);
    CHECK_INT(p.local_bytes, 48);
    CHECK_INT(ptera_kernel_properties_get(kernel_of(module, "bounded"), &p), PTERA_OK);
    CHECK_INT(p.required_block[0], 0);
    CHECK_INT(p.max_threads, 96);
    CHECK(p.required_cluster[0] == 2 && p.required_cluster[1] == 1 && p.required_cluster[2] == 1);
    CHECK_INT(p.max_cluster, 2);
    CHECK_INT(ptera_kernel_properties_get(kernel_of(module, "ranked"), &p), PTERA_OK);
    CHECK_INT(p.max_cluster, 8);
    CHECK_INT(ptera_kernel_properties_get(kernel_of(module, "fail"), &p), PTERA_OK);
    CHECK_INT(p.max_threads, 1024);
    CHECK_INT(ptera_kernel_properties_get(NULL, &p), PTERA_ERROR_INVALID_ARGUMENT);
    CHECK_INT(ptera_kernel_properties_get(kernel_of(module, "fail"), NULL),
              PTERA_ERROR_INVALID_ARGUMENT);
}

/* ---- limits, log ----------------------------------------------------------------------------- */

static char logged[1 << 12];

static void collect(void *ud, ptera_severity severity, const char *line)
{
    CHECK(ud == logged && severity == PTERA_NOTE);
    strncat(logged, line, sizeof logged - strlen(logged) - 1);
}

static void test_options(void)
{
    enum { LIMIT = 1 << 20 };
    ptera_options options;
    ptera_engine *engine = NULL;
    void *a = NULL, *b = NULL;
    ptera_options_init(&options);
    options.memory_bytes = LIMIT;
    options.log = collect;
    options.log_ud = logged;
    CHECK_INT(ptera_engine_create(&options, &engine), PTERA_OK);
    CHECK_INT(ptera_buffer_alloc(engine, LIMIT / 2, &a), PTERA_OK);
    CHECK_INT(ptera_buffer_alloc(engine, LIMIT / 2 + 1, &b), PTERA_ERROR_OUT_OF_MEMORY);
    CHECK_INT(ptera_buffer_alloc(engine, LIMIT / 2, &b), PTERA_OK);
    CHECK_INT(ptera_buffer_free(engine, a), PTERA_OK);
    CHECK_INT(ptera_buffer_alloc(engine, LIMIT / 2 + 1, &a), PTERA_ERROR_OUT_OF_MEMORY);
    CHECK_INT(ptera_buffer_alloc(engine, 1, &a), PTERA_OK);
    ptera_launch launch;
    ptera_launch_init(&launch);
    launch.backend = best_backend(engine);
    ptera_module *module = load(engine, text);
    CHECK_INT(ptera_kernel_launch(kernel_of(module, "recurs"), &launch), PTERA_OK);
    if (launch.backend == PTERA_BACKEND_JIT)
        CHECK_HAS(logged, "kernel 'recurs' is interpreted: ");
    ptera_engine_destroy(engine);
}

int main(void)
{
    ptera_engine *engine = new_engine(2);
    ptera_module *module = load(engine, text);
    test_names(engine, module);
    test_properties(module);
    ptera_engine_destroy(engine);
    test_order();
    test_errors();
    test_options();
    return CHECK_DONE("async");
}
