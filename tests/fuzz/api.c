/* libFuzzer target: calls of the C API in any order, as far as the header allows: handles are live,
 * or null; sizes of structs, numbers, texts and addresses are any. Each byte is a choice. */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "ptera.h"
#include "tests/fuzz/input.h"

enum { ENGINES = 2, MODULES = 4, BUFFERS = 4, HOST_BYTES = 4096, CALLS_MAX = 60 };

struct module {
    ptera_module *module;
    unsigned engine;
    bool is_loaded; /* not only diagnostics */
};

static struct state {
    ptera_engine *engines[ENGINES];
    struct module modules[MODULES];
    struct {
        void *address;
        unsigned engine;
    } buffers[BUFFERS];
    struct input in;
} s;

static uint8_t host_memory[HOST_BYTES];

#define HEAD ".version 8.0\n.target sm_90\n.address_size 64\n"
static const char *const texts[] = {
    HEAD ".visible .global .u32 v = 3;\n.visible .entry a(.param .u64 p)\n"
         "{ .reg .b64 %p; ld.param.u64 %p, [p]; red.global.add.u32 [%p], 1; ret; }\n"
         ".visible .entry b(.param .u64 p, .param .u32 n) .maxntid 64\n{ trap; }\n",
    HEAD ".extern .func (.param .b32 r) f(.param .b32 x);\n.visible .entry a(.param .u64 p)\n"
         "{ .reg .b64 %p; .reg .b32 %r;\n"
         "ld.param.u64 %p, [p]; { .param .b32 x; .param .b32 r; st.param.b32 [x], 4; "
         "call (r), f, (x); ld.param.b32 %r, [r]; }\n"
         "red.add.u32 [%p], %r; ret; }\n",
    HEAD ".visible .func (.param .b32 r) g(.param .b32 x)\n"
         "{ .reg .b32 %r; ld.param.b32 %r, [x]; add.u32 %r, %r, 1; st.param.b32 [r], %r; ret; }\n"
         ".visible .entry a() { .reg .pred %q; .reg .b32 %r; L: add.u32 %r, %r, 1; "
         "setp.ne.u32 %q, %r, 0; @%q bra L; ret; }\n",
    HEAD ".visible .entry a(.param .u64 p) .reqnctapercluster 2\n"
         "{ .shared .b32 x; barrier.cluster.arrive; barrier.cluster.wait; ret; }\n",
    HEAD ".visible .entry a( { ret; }\n",
    "",
};
static const char *const names[] = {"a", "b", "f", "g", "v", "", "malloc", "vprintf", "a b", NULL};
static const char *const signatures[] = {"u32 (u32)", "void ()",          "f64 (f64)", "u32 (",
                                         "",          "{u8[9999]} (ptr)", NULL};
static const size_t sizes[] = {
    0, 1, 7, 64, 4096, 65536, 1 << 20, (size_t)1 << 40, SIZE_MAX, SIZE_MAX / 2 + 1};
static const unsigned numbers[] = {
    0, 1, 2, 3, 8, 31, 32, 64, 65, 1024, 1025, 65535, 65536, 0x7fffffff, 0x80000000u, 0xffffffffu};
static const double seconds[] = {0.02, 0.001, -1, 0.05};

static uint32_t add_one(uint32_t x)
{
    if (x > 100)
        ptera_function_fail("too much");
    return x + 1;
}

static void drop_text(void *ud, const char *text, size_t bytes)
{
    (void)ud, (void)text, (void)bytes;
}

/* ---- handles --------------------------------------------------------------------------------- */

static struct module *take_module(void)
{
    return &s.modules[take(&s.in) % MODULES];
}

static ptera_engine *take_engine(void)
{
    return s.engines[take(&s.in) % ENGINES];
}

static ptera_kernel *take_kernel(void)
{
    ptera_kernel *kernel = NULL;
    const struct module *m = take_module();
    const char *name = PICK(&s.in, names);
    if (ptera_module_kernel(m->is_loaded ? m->module : NULL, name, take(&s.in) % 3, &kernel) !=
        PTERA_OK)
        return NULL;
    return kernel;
}

static void *take_address(void)
{
    void *const addresses[] = {s.buffers[0].address,
                               s.buffers[1].address,
                               s.buffers[2].address,
                               s.buffers[3].address,
                               host_memory,
                               host_memory + 100,
                               NULL,
                               (void *)(uintptr_t)0x123450};
    return PICK(&s.in, addresses);
}

/* ---- calls ----------------------------------------------------------------------------------- */

static void create(void)
{
    static const char *const levels[] = {NULL, NULL, "v3", "aarch64", "v9", ""};
    ptera_options o;
    unsigned i = take(&s.in) % ENGINES;
    if (s.engines[i])
        return;
    ptera_options_init(&o);
    o.threads = PICK(&s.in, numbers) % 4 + 1;
    o.cpu = PICK(&s.in, levels);
    o.memory_bytes = PICK(&s.in, sizes);
    o.heap_bytes = PICK(&s.in, sizes) % (1 << 20);
    o.stack_bytes = PICK(&s.in, sizes) % (1 << 20);
    o.print = drop_text;
    o.compile_inside = 1;
    o.allow_fork = take(&s.in) & 1;
    if (take(&s.in) == 255)
        o.size = PICK(&s.in, sizes) % sizeof o;
    ptera_engine_create(&o, &s.engines[i]);
}

static void destroy(void)
{
    unsigned e = take(&s.in) % ENGINES;
    ptera_engine_destroy(s.engines[e]);
    s.engines[e] = NULL;
    for (unsigned i = 0; i < MODULES; i++)
        if (s.modules[i].engine == e)
            s.modules[i] = (struct module){0};
    for (unsigned i = 0; i < BUFFERS; i++)
        if (s.buffers[i].engine == e)
            s.buffers[i].address = NULL;
}

static void load(void)
{
    struct module *m = take_module();
    unsigned e = take(&s.in) % ENGINES, what = take(&s.in);
    const char *text = texts[what % (sizeof texts / sizeof *texts)];
    if (m->module)
        return;
    ptera_result r =
        what < 200
            ? ptera_module_load(s.engines[e], "k.ptx", text, strlen(text), &m->module)
            : ptera_module_load_file(s.engines[e], what < 230 ? "/" : "/nowhere", &m->module);
    m->engine = e;
    m->is_loaded = r == PTERA_OK;
}

static void unload(void)
{
    struct module *m = take_module();
    if (m->module)
        ptera_engine_wait(s.engines[m->engine]); /* its launches */
    ptera_module_unload(m->module);
    *m = (struct module){0};
}

static void ask_module(void)
{
    const struct module *m = take_module();
    const char *text, *name;
    void *address;
    size_t bytes;
    ptera_diagnostic d = {.size = PICK(&s.in, sizes) % (sizeof d + 1)};
    ptera_module *loaded = m->is_loaded ? m->module : NULL;
    ptera_module_diagnostic(m->module, PICK(&s.in, numbers), &d);
    ptera_module_verify(loaded);
    ptera_module_emit(loaded, PICK(&s.in, names), (ptera_emit)(take(&s.in) % 4), &text);
    ptera_module_variable(loaded, PICK(&s.in, names), &address, &bytes);
    ptera_module_variable_at(loaded, PICK(&s.in, numbers), &name, &address, &bytes);
}

static void ask_kernel(void)
{
    ptera_kernel *kernel = take_kernel();
    ptera_kernel_properties p = {.size = PICK(&s.in, sizes) % (sizeof p + 1)};
    ptera_kernel_status status = {.size = PICK(&s.in, sizes) % (sizeof status + 1)};
    ptera_parameter parameter = {.size = sizeof parameter};
    ptera_kernel_properties_get(kernel, &p);
    ptera_kernel_info(kernel, &status);
    ptera_kernel_parameter(kernel, PICK(&s.in, numbers), &parameter);
    if (kernel)
        ptera_kernel_name(kernel);
}

static void ask_engine(void)
{
    ptera_engine *engine = take_engine();
    ptera_info info = {.size = PICK(&s.in, sizes) % (sizeof info + 1)};
    ptera_isa_row row = {.size = sizeof row};
    ptera_engine_error(engine);
    ptera_engine_info(engine, &info);
    ptera_isa_row_get(PICK(&s.in, numbers), &row);
    ptera_result_text((ptera_result)take(&s.in));
}

/* Where a kernel may write, and its accesses are not tested, is memory. */
static void launch(bool waits)
{
    static const ptera_backend backends[] = {PTERA_BACKEND_INTERP, PTERA_BACKEND_AUTO,
                                             PTERA_BACKEND_DEFAULT, (ptera_backend)9};
    ptera_launch l;
    ptera_kernel *kernel = take_kernel();
    const char *given_names[] = {"p", "n"};
    unsigned n = 3;
    ptera_launch_init(&l);
    l.isolate = take(&s.in) & 1;
    void *address = l.isolate ? take_address() : host_memory;
    const void *parameters[] = {&address, &n};
    for (unsigned i = 0; i < 3; i++) {
        l.grid[i] = i ? take(&s.in) % 3 : PICK(&s.in, numbers);
        l.block[i] = i ? take(&s.in) % 3 : PICK(&s.in, numbers);
        l.cluster[i] = take(&s.in) % 3;
    }
    l.shared_bytes = PICK(&s.in, numbers);
    l.cooperative = take(&s.in) & 1;
    l.timeout_seconds = PICK(&s.in, seconds);
    l.parameters = parameters;
    l.n_parameters = take(&s.in) % 3;
    l.backend = PICK(&s.in, backends);
    if (take(&s.in) == 255)
        l.backend = PTERA_BACKEND_JIT;
    l.async_late = take(&s.in) & 1;
    l.checks = take(&s.in) % 3;
    if (take(&s.in) == 1)
        l.parameter_names = given_names;
    static char error[64];
    l.error = error;
    l.error_bytes = l.shared_bytes % (sizeof error + 1);
    if (waits)
        ptera_kernel_launch(kernel, &l);
    else
        ptera_kernel_launch_async(kernel, &l, NULL, NULL);
}

static void wait_for_all(void)
{
    ptera_engine *engine = take_engine();
    if (take(&s.in) & 1)
        ptera_engine_cancel(engine);
    ptera_engine_wait(engine);
}

static void launch_and_wait(void)
{
    launch(true);
}

static void launch_only(void)
{
    launch(false);
}

static void get_buffer(void)
{
    unsigned i = take(&s.in) % BUFFERS, e = take(&s.in) % ENGINES;
    if (!s.buffers[i].address &&
        ptera_buffer_alloc(s.engines[e], PICK(&s.in, sizes), &s.buffers[i].address) == PTERA_OK)
        s.buffers[i].engine = e;
}

static void free_buffer(void)
{
    ptera_engine *engine = take_engine();
    void *address = take_address();
    ptera_engine_wait(engine);
    if (ptera_buffer_free(engine, address) == PTERA_OK)
        for (unsigned i = 0; i < BUFFERS; i++)
            if (s.buffers[i].address == address)
                s.buffers[i].address = NULL;
}

static void register_memory(void)
{
    ptera_engine *engine = take_engine();
    ptera_memory_register(engine, take_address(), PICK(&s.in, sizes));
    ptera_memory_unregister(engine, take_address());
}

static void use_functions(void)
{
    uint32_t (*g)(uint32_t) = NULL;
    const struct module *m = take_module();
    ptera_function_register(take_engine(), PICK(&s.in, names), "u32 (u32)",
                            (void (*)(void))add_one);
    const char *name = PICK(&s.in, names), *signature = PICK(&s.in, signatures);
    if (ptera_function_pointer(m->is_loaded ? m->module : NULL, name, signature,
                               (void (**)(void))&g) == PTERA_OK &&
        !strcmp(signature, "u32 (u32)") && g(3) != 4 && !*ptera_engine_error(s.engines[m->engine]))
        abort();
}

static void (*const calls[])(void) = {create,       load,       launch_and_wait, launch_only,
                                      wait_for_all, get_buffer, free_buffer,     register_memory,
                                      ask_module,   ask_kernel, ask_engine,      use_functions,
                                      unload,       destroy};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    s = (struct state){.in = {data, size}};
    for (unsigned i = 0; s.in.left && i < CALLS_MAX; i++)
        PICK(&s.in, calls)();
    for (unsigned i = 0; i < ENGINES; i++)
        ptera_engine_destroy(s.engines[i]);
    return 0;
}
