/* Memory that runs out: whichever allocation fails, the result says so, nothing leaks, nothing
 * breaks. */
#include "tests/api/support.h"

struct counter {
    long left;  /* allocations until one fails; negative: none does */
    long live;  /* blocks that are out */
    long total;
};

static void *resize(void *ud, void *p, size_t bytes)
{
    struct counter *c = ud;
    if (bytes == 0) {
        c->live -= p != NULL;
        free(p);
        return NULL;
    }
    c->total++;
    if (c->left == 0)
        return NULL;
    if (c->left > 0)
        c->left--;
    void *q = realloc(p, bytes);
    c->live += q && !p;
    return q;
}

static const char text[] =
    HEADER
    ".global .align 4 .u32 values[4] = {1, 2, 3, 4};\n.const .u32 scale = 3;\n"
    ".visible .func (.param .b32 r) twice(.param .b32 a)\n{\n    .reg .b32 %r<3>;\n"
    "    ld.param.u32 %r1, [a];\n"
    "    add.u32 %r2, %r1, %r1;\n    st.param.u32 [r], %r2;\n    ret;\n}\n"
    ".visible .entry k(.param .u64 out)\n{\n"
    "    .reg .b32 %r<8>; .reg .b64 %rd<5>; .reg .pred %p<2>; .shared .u32 room[32];\n"
    "    ld.param.u64 %rd1, [out]; mov.u32 %r1, %tid.x; mov.u32 %r3, 0;\n"
    "L:  { .param .b32 a; .param .b32 r; st.param.b32 [a], %r3;\n    call.uni (r), twice, (a);\n"
    "    ld.param.b32 %r4, [r]; }\n"
    "    add.u32 %r3, %r3, 1; setp.lt.u32 %p1, %r3, 10; @%p1 bra L;\n"
    "    ld.const.u32 %r5, [scale]; mul.lo.u32 %r4, %r4, %r5; ld.global.u32 %r6, [values+4];\n"
    "    add.u32 %r4, %r4, %r6; bar.sync 0;\n"
    "    mul.wide.u32 %rd2, %r1, 4; add.s64 %rd1, %rd1, %rd2; st.global.u32 [%rd1], %r4;\n"
    "    ret;\n}\n";

static void own(void)
{
}

static void keep_result(void *ud, ptera_result result, const char *error)
{
    (void)error;
    *(ptera_result *)ud = result;
}

/* What a program asks of a module and its kernel. */
static ptera_result ask(ptera_module *module, ptera_kernel *kernel)
{
    const char *ir;
    void (*twice)(void);
    ptera_kernel_properties properties = {.size = sizeof properties};
    ptera_result r = ptera_module_verify(module);
    if (r == PTERA_OK)
        r = ptera_module_emit(module, NULL, PTERA_EMIT_TOKENS, &ir);
    if (r == PTERA_OK)
        r = ptera_module_emit(module, "k", PTERA_EMIT_IR, &ir);
    if (r == PTERA_OK)
        r = ptera_kernel_properties_get(kernel, &properties);
    if (r == PTERA_OK)
        r = ptera_function_pointer(module, "twice", "u32 (u32)", &twice);
    return r;
}

static ptera_result launch_both_ways(ptera_engine *engine, ptera_kernel *kernel, void *buffer)
{
    ptera_launch launch;
    ptera_result r, later = PTERA_OK;
    ptera_launch_init(&launch);
    launch.grid[0] = 2;
    launch.block[0] = 32;
    launch.isolate = 1;
    launch.parameters = (const void *const[]){&buffer};
    launch.n_parameters = 1;
    r = ptera_kernel_launch_async(kernel, &launch, keep_result, &later);
    if (r == PTERA_OK)
        r = ptera_engine_wait(engine);
    if (r == PTERA_OK)
        r = later;
    return r == PTERA_OK ? LAUNCH(kernel, 2, 32, &buffer) : r;
}

/* All a program does, once. Stops at the first failure. */
static ptera_result use(struct counter *c, uint32_t *out)
{
    ptera_options options;
    ptera_engine *engine = NULL;
    ptera_module *module = NULL;
    ptera_kernel *kernel = NULL;
    void *buffer = NULL;
    ptera_options_init(&options);
    options.threads = 1;
    options.resize = resize;
    options.resize_ud = c;
    ptera_result r = ptera_engine_create(&options, &engine);
    if (r == PTERA_OK)
        r = ptera_buffer_alloc(engine, 256, &buffer);
    if (r == PTERA_OK)
        r = ptera_memory_register(engine, c, sizeof *c);
    if (r == PTERA_OK)
        r = ptera_function_register(engine, "own", "{s32 f64[2]} (ptr, {u8 u8})", own);
    if (r == PTERA_OK)
        r = ptera_module_load(engine, "k.ptx", text, strlen(text), &module);
    if (r == PTERA_OK)
        r = ptera_module_kernel(module, "k", 0, &kernel);
    if (r == PTERA_OK)
        r = ask(module, kernel);
    if (r == PTERA_OK)
        r = launch_both_ways(engine, kernel, buffer);
    if (r == PTERA_OK)
        memcpy(out, buffer, 128);
    ptera_engine_destroy(engine);
    return r;
}

/* The same kernel again after memory came back. */
static void check_retry(long n)
{
    struct counter c = {.left = -1};
    ptera_options options;
    ptera_engine *engine = NULL;
    ptera_options_init(&options);
    options.threads = 1;
    options.resize = resize;
    options.resize_ud = &c;
    CHECK_INT(ptera_engine_create(&options, &engine), PTERA_OK);
    uint32_t *out = new_buffer(engine, 128);
    ptera_module *module = load(engine, text);
    ptera_kernel *kernel = kernel_of(module, "k");
    c.left = n;
    ptera_result r = LAUNCH(kernel, 1, 32, &out);
    CHECK(r == PTERA_OK || r == PTERA_ERROR_OUT_OF_MEMORY);
    c.left = -1;
    CHECK_INT(LAUNCH(kernel, 1, 32, &out), PTERA_OK);
    CHECK_INT(out[31], 56);
    ptera_engine_destroy(engine);
    CHECK_INT(c.live, 0);
}

int main(void)
{
    uint32_t out[32];
    struct counter all = {.left = -1};
    CHECK_INT(use(&all, out), PTERA_OK);
    CHECK_INT(all.live, 0);
    CHECK_INT(out[31], 56);
    for (long n = 0; n < all.total; n++) {
        struct counter c = {.left = n};
        ptera_result r = use(&c, out);
        CHECK_INT(r, PTERA_ERROR_OUT_OF_MEMORY);
        CHECK_INT(c.live, 0);
    }
    for (long n = 0; n < 40; n++)
        check_retry(n);
    return CHECK_DONE("allocator");
}
