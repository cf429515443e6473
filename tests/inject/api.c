/* The public API: load, verify, show, compile, launch in both engines and in the background,
 * asynchronous launches, functions of the host and for the host, buffers and registered memory.
 * LLVM itself, in the compiler process, is left alone: its failures are tests/jit/process.c's. */
#define _GNU_SOURCE
#include <dirent.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ptera.h"
#include "tests/inject/fail.h"
#include "tests/inject/scenario.h"

enum { CTAS = 6, THREADS = 64, N = CTAS * THREADS, WORKERS = 3, HOST_WORDS = 1024 };

static const char text[] =
    ".version 8.0\n.target sm_90\n.address_size 64\n"
    ".extern .func (.param .b64 r) malloc(.param .b64 n);\n.extern .func free(.param .b64 p);\n"
    ".extern .func (.param .b32 r) vprintf(.param .b64 format, .param .b64 arguments);\n"
    ".extern .func (.param .b32 r) triple(.param .b32 a);\n"
    ".global .align 1 .b8 format[] = {37,100,10,0};\n"
    ".visible .global .align 4 .u32 counter = 5;\n.const .align 4 .u32 factor[2] = {3, 4};\n"
    /* out[i] = 3 * i by way of shared memory, local memory, the heap, and two threads of each CTA
       print */
    ".visible .entry k(.param .u64 out)\n{\n"
    "    .shared .align 4 .b8 s[256]; .local .align 8 .b8 l[64]; .reg .b32 %r<12>; "
    ".reg .b64 %rd<10>; .reg .pred %p<3>;\n"
    "    ld.param.u64 %rd1, [out]; mov.u32 %r1, %tid.x; mov.u32 %r2, %ctaid.x; "
    "mad.lo.u32 %r3, %r2, 64, %r1;\n"
    "    mov.u32 %r4, s; mad.lo.u32 %r5, %r1, 4, %r4; st.shared.u32 [%r5], %r3; bar.sync 0;\n"
    "    xor.b32 %r6, %r1, 1; mad.lo.u32 %r5, %r6, 4, %r4; ld.shared.u32 %r7, [%r5]; "
    "xor.b32 %r7, %r7, 1;\n"
    "    and.b32 %r8, %r1, 7; mov.u64 %rd2, l; mul.wide.u32 %rd3, %r8, 8; "
    "add.u64 %rd4, %rd2, %rd3; st.local.u32 [%rd4], %r7;\n"
    "    { .param .b64 n; .param .b64 q; st.param.b64 [n], 4096; call.uni (q), malloc, (n); "
    "ld.param.b64 %rd5, [q]; }\n"
    "    setp.eq.u64 %p1, %rd5, 0; @%p1 trap;\n"
    "    ld.local.u32 %r9, [%rd4]; st.u32 [%rd5+64], %r9; ld.u32 %r10, [%rd5+64];\n"
    "    { .param .b64 q; st.param.b64 [q], %rd5; call.uni free, (q); }\n"
    "    setp.gt.u32 %p2, %r1, 1; @%p2 bra L;\n    st.local.u32 [%rd2], %r10;\n"
    "    { .param .b64 a; .param .b64 b; .param .b32 c; cvta.global.u64 %rd6, format; "
    "cvta.local.u64 %rd7, %rd2;\n"
    "      mov.u64 %rd6, format; cvta.global.u64 %rd6, %rd6; st.param.b64 [a], %rd6; "
    "st.param.b64 [b], %rd7;\n"
    "      call.uni (c), vprintf, (a, b); }\n"
    "L:  ld.const.u32 %r11, [factor]; mul.lo.u32 %r10, %r10, %r11; mul.wide.u32 %rd8, %r3, 4; "
    "add.u64 %rd1, %rd1, %rd8;\n"
    "    st.global.u32 [%rd1], %r10; ret;\n}\n"
    /* out[i] = 3 * i by a loop that is hot at once */
    ".visible .entry hot(.param .u64 out)\n{\n"
    "    .reg .b32 %r<8>; .reg .b64 %rd<4>; .reg .pred %p;\n    ld.param.u64 %rd1, [out];\n"
    "    mov.u32 %r1, %tid.x; mov.u32 %r2, %ctaid.x; mov.u32 %r3, %ntid.x; "
    "mad.lo.u32 %r1, %r2, %r3, %r1;\n"
    "    mov.u32 %r4, 0; mov.u32 %r5, 0;\n"
    "M:  add.u32 %r5, %r5, %r1; add.u32 %r4, %r4, 1; setp.lt.u32 %p, %r4, 3003; @%p bra M;\n"
    "    mul.lo.u32 %r6, %r1, 3000; sub.u32 %r5, %r5, %r6; mul.wide.u32 %rd2, %r1, 4; "
    "add.u64 %rd1, %rd1, %rd2;\n"
    "    st.global.u32 [%rd1], %r5; ret;\n}\n"
    /* out[i] = triple(i) */
    ".visible .entry calls(.param .u64 out)\n{\n"
    "    .reg .b32 %r<8>; .reg .b64 %rd<4>;\n    ld.param.u64 %rd1, [out];\n"
    "    mov.u32 %r1, %tid.x; mov.u32 %r2, %ctaid.x; mov.u32 %r3, %ntid.x; "
    "mad.lo.u32 %r1, %r2, %r3, %r1;\n"
    "    { .param .b32 a; .param .b32 b; st.param.b32 [a], %r1; call.uni (b), triple, (a); "
    "ld.param.b32 %r4, [b]; }\n"
    "    mul.wide.u32 %rd2, %r1, 4; add.u64 %rd1, %rd1, %rd2; st.global.u32 [%rd1], %r4; ret;\n}\n"
    /* out[i] = 3 * i, quick to compile */
    ".visible .entry thrice(.param .u64 out)\n{\n"
    "    .reg .b32 %r<8>; .reg .b64 %rd<4>;\n    ld.param.u64 %rd1, [out];\n"
    "    mov.u32 %r1, %tid.x; mov.u32 %r2, %ctaid.x; mov.u32 %r3, %ntid.x; "
    "mad.lo.u32 %r1, %r2, %r3, %r1;\n"
    "    mul.wide.u32 %rd2, %r1, 4; add.u64 %rd1, %rd1, %rd2; mul.lo.u32 %r4, %r1, 3; "
    "st.global.u32 [%rd1], %r4; ret;\n}\n"
    ".visible .func (.param .b32 r) half(.param .b32 v)\n"
    "{ .reg .b32 %r; ld.param.b32 %r, [v]; shr.u32 %r, %r, 1; st.param.b32 [r], %r; ret; }\n";

/* ---- state ----------------------------------------------------------------------------------- */

static ptera_engine *engine;
static ptera_module *module;
static ptera_kernel *kernel;
static uint32_t *out;
static uint32_t (*half)(uint32_t);
static bool is_registered;
static uint32_t host_memory[HOST_WORDS];
static atomic_size_t printed;
static atomic_uint ended, ended_well;
static char folder[] = "/tmp/ptera-inject-XXXXXX", path[sizeof folder + 8];

static void count_text(void *ud, const char *line, size_t bytes)
{
    (void)ud;
    (void)line;
    atomic_fetch_add(&printed, bytes);
}

static uint32_t triple(uint32_t a)
{
    return 3 * a;
}

/* What is the matter is memory, or a file, the compiler's among them. */
static enum outcome said(const char *what, ptera_result r)
{
    if (r == PTERA_OK)
        return GOOD;
    if (r == PTERA_ERROR_OUT_OF_MEMORY || r == PTERA_ERROR_FILE)
        return REFUSED;
    if (r == PTERA_ERROR_INVALID_LAUNCH &&
        strstr(ptera_engine_error(engine), "compiler cannot be opened"))
        return REFUSED;
    return wrong("%s: %s: %s", what, ptera_result_text(r), ptera_engine_error(engine));
}

static enum outcome create(void)
{
    ptera_options options;
    ptera_options_init(&options);
    options.threads = WORKERS;
    options.print = count_text;
    return engine ? GOOD : said("create", ptera_engine_create(&options, &engine));
}

static enum outcome give_functions(void)
{
    return said("register",
                ptera_function_register(engine, "triple", "u32 (u32)", (void (*)(void))triple));
}

static enum outcome load(void)
{
    return said("load", ptera_module_load(engine, "k.ptx", text, strlen(text), &module));
}

static enum outcome load_file(void)
{
    ptera_module *other = NULL;
    enum outcome outcome = said("load a file", ptera_module_load_file(engine, path, &other));
    ptera_module_unload(other);
    return outcome;
}

static enum outcome get_kernel(const char *name)
{
    return said("kernel", ptera_module_kernel(module, name, 0, &kernel));
}

static enum outcome get_memory(void)
{
    enum outcome outcome =
        out ? GOOD : said("buffer", ptera_buffer_alloc(engine, N * sizeof *out, (void **)&out));
    for (unsigned i = 0; outcome == GOOD && i < N; i++)
        if (out[i])
            return wrong("a new buffer is not zero");
    return outcome;
}

/* Used again, it is zero again. */
static enum outcome give_memory_back(void)
{
    memset(out, 0xee, N * sizeof *out);
    enum outcome outcome = said("free", ptera_buffer_free(engine, out));
    if (outcome == GOOD)
        out = NULL;
    return outcome;
}

static void end(void)
{
    if (is_registered)
        ptera_memory_unregister(engine, host_memory);
    ptera_engine_destroy(engine);
    engine = NULL;
    module = NULL;
    out = NULL;
    is_registered = false;
}

/* ---- launches -------------------------------------------------------------------------------- */

static ptera_launch new_launch(ptera_backend backend)
{
    static const void *parameters[1];
    ptera_launch launch;
    ptera_launch_init(&launch);
    parameters[0] = &out;
    launch.parameters = parameters;
    launch.n_parameters = 1;
    launch.backend = backend;
    launch.grid[0] = CTAS;
    launch.block[0] = THREADS;
    return launch;
}

static enum outcome check_result(void)
{
    for (uint32_t i = 0; i < N; i++)
        if (out[i] != 3 * i)
            return wrong("out[%u] is %u", i, out[i]);
    return GOOD;
}

static size_t text_bytes(void)
{
    size_t n = 0;
    for (unsigned i = 0; i < N; i++)
        n += i % THREADS < 2 ? (size_t)snprintf(NULL, 0, "%u\n", i) : 0;
    return n;
}

/* That the checker of races had no memory, and nothing else. */
static bool is_forgotten_alone(void)
{
    ptera_finding finding = {.size = sizeof finding};
    for (unsigned i = 0; ptera_engine_finding(engine, i, &finding) == PTERA_OK; i++)
        if (strcmp(finding.kind, "race-forgotten"))
            return false;
    return true;
}

/* Kernels see for themselves that there is no memory for malloc. */
static enum outcome launch_k(const ptera_launch *launch)
{
    enum outcome outcome = get_kernel("k");
    if (outcome != GOOD)
        return outcome;
    memset(out, 0, N * sizeof *out);
    atomic_store(&printed, 0);
    ptera_result r = ptera_kernel_launch(kernel, launch);
    if (fail_is_armed() &&
        (r == PTERA_ERROR_TRAP || (r == PTERA_ERROR_FINDINGS && is_forgotten_alone())))
        return REFUSED;
    outcome = said("launch", r);
    if (outcome == GOOD && atomic_load(&printed) != text_bytes())
        return wrong("%zu bytes printed, not %zu", atomic_load(&printed), text_bytes());
    return outcome == GOOD ? check_result() : outcome;
}

static enum outcome launch_interpreted(void)
{
    ptera_launch launch = new_launch(PTERA_BACKEND_INTERP);
    launch.timeout_seconds = 50;
    return launch_k(&launch);
}

static enum outcome launch_isolated(void)
{
    ptera_launch launch = new_launch(PTERA_BACKEND_INTERP);
    launch.isolate = 1;
    return launch_k(&launch);
}

static enum outcome launch_checked(void)
{
    ptera_launch launch = new_launch(PTERA_BACKEND_INTERP);
    launch.checks = PTERA_CHECK_MEM | PTERA_CHECK_INIT | PTERA_CHECK_SYNC | PTERA_CHECK_RACE;
    return launch_k(&launch);
}

/* Other launches end with the same result. */
static enum outcome launch_named(const char *name, const ptera_launch *launch)
{
    enum outcome outcome = get_kernel(name);
    if (outcome != GOOD)
        return outcome;
    memset(out, 0, N * sizeof *out);
    outcome = said("launch", ptera_kernel_launch(kernel, launch));
    return outcome == GOOD ? check_result() : outcome;
}

/* Only where nothing fails is native code sure to be had, of a shape that has not been tried. */
static enum outcome launch_shape(unsigned threads, bool is_sure)
{
    ptera_kernel_status before = {.size = sizeof before}, status = {.size = sizeof status};
    ptera_launch launch = new_launch(PTERA_BACKEND_JIT);
    launch.block[0] = threads;
    launch.grid[0] = N / threads;
    enum outcome outcome = get_kernel("thrice");
    if (outcome != GOOD || ptera_kernel_info(kernel, &before) != PTERA_OK)
        return outcome;
    outcome = launch_named("thrice", &launch);
    if (outcome != GOOD || ptera_kernel_info(kernel, &status) != PTERA_OK ||
        status.native_launches > before.native_launches)
        return outcome;
    return is_sure || !status.why
               ? wrong("interpreted: %s", status.why ? status.why : "it is not said why")
               : GOOD;
}

static enum outcome launch_native(void)
{
    return launch_shape(THREADS, false);
}

static enum outcome launch_surely_native(void)
{
    return launch_shape(THREADS / 2, !fail_is_armed());
}

/* So few CTAs with loops start at once. */
static enum outcome launch_auto(void)
{
    ptera_launch launch = new_launch(PTERA_BACKEND_AUTO);
    launch.grid[0] = WORKERS;
    launch.block[0] = N / WORKERS;
    return launch_named("hot", &launch);
}

/* The background is through, where nothing fails: so each run leaves one compiler process. */
static enum outcome wait_for_background(void)
{
    enum { TIMES = 20000 };
    enum outcome outcome = GOOD;
    ptera_kernel_status status = {.size = sizeof status};
    for (unsigned i = 0; i < TIMES && !fail_is_armed() && !status.versions; i++) {
        outcome = launch_auto();
        if (outcome != GOOD || ptera_kernel_info(kernel, &status) != PTERA_OK)
            return outcome == GOOD ? wrong("no status") : outcome;
    }
    return GOOD;
}

/* ---- what is shown --------------------------------------------------------------------------- */

static enum outcome verify(void)
{
    return said("verify", ptera_module_verify(module));
}

static enum outcome emit(void)
{
    enum outcome outcome = GOOD;
    for (int what = PTERA_EMIT_TOKENS; what <= PTERA_EMIT_IR && outcome == GOOD; what++) {
        const char *shown = NULL;
        outcome = said("emit", ptera_module_emit(module, NULL, (ptera_emit)what, &shown));
        if (outcome == GOOD && !strstr(shown, "triple"))
            return wrong("an emit without the text");
    }
    return outcome;
}

static enum outcome emit_native(void)
{
    const void *data = NULL;
    size_t bytes = 0;
    enum outcome outcome = get_kernel("thrice");
    ptera_result r = outcome == GOOD ? ptera_kernel_emit(kernel, (const unsigned[]){THREADS, 1, 1},
                                                         0, PTERA_EMIT_OBJ, &data, &bytes)
                                     : PTERA_ERROR_OUT_OF_MEMORY;
    if (fail_is_armed() && r == PTERA_ERROR_UNSUPPORTED_PTX)
        return REFUSED;
    return said("emit native", r);
}

static enum outcome look(void)
{
    ptera_kernel_properties p = {.size = sizeof p};
    ptera_info info = {.size = sizeof info};
    void *address;
    size_t bytes;
    enum outcome outcome = get_kernel("k");
    outcome =
        outcome == GOOD ? said("properties", ptera_kernel_properties_get(kernel, &p)) : outcome;
    outcome = outcome == GOOD
                  ? said("variable", ptera_module_variable(module, "counter", &address, &bytes))
                  : outcome;
    if (outcome == GOOD &&
        (p.parameters != 1 || p.shared_bytes != 256 || bytes != 4 || *(uint32_t *)address != 5))
        return wrong("properties");
    return outcome == GOOD ? said("info", ptera_engine_info(engine, &info)) : outcome;
}

/* ---- the rest -------------------------------------------------------------------------------- */

static void tell_end(void *ud, ptera_result result, const char *error)
{
    (void)ud;
    atomic_fetch_add(&ended_well, result == PTERA_OK);
    if (result != PTERA_OK && result != PTERA_ERROR_OUT_OF_MEMORY)
        fprintf(stderr, "%s\n", error);
    atomic_fetch_add(&ended, 1);
}

static enum outcome launch_async(void)
{
    enum { TIMES = 3 };
    ptera_launch launch = new_launch(PTERA_BACKEND_INTERP);
    enum outcome outcome = get_kernel("calls");
    unsigned made = 0;
    memset(out, 0, N * sizeof *out);
    atomic_store(&ended, 0);
    atomic_store(&ended_well, 0);
    for (; outcome == GOOD && made < TIMES; made += outcome == GOOD)
        outcome = said("launch without waiting",
                       ptera_kernel_launch_async(kernel, &launch, tell_end, NULL));
    ptera_result r = ptera_engine_wait(engine);
    if (r != PTERA_OK)
        return said("wait", r);
    if (atomic_load(&ended) != made)
        return wrong("%u of %u launches told of their end", atomic_load(&ended), made);
    if (atomic_load(&ended_well) < made)
        return REFUSED;
    return outcome == GOOD ? check_result() : outcome;
}

static enum outcome register_memory(void)
{
    enum outcome outcome =
        is_registered
            ? GOOD
            : said("register", ptera_memory_register(engine, host_memory, sizeof host_memory));
    is_registered = outcome == GOOD;
    uint32_t *buffer = out;
    ptera_launch launch = new_launch(PTERA_BACKEND_INTERP);
    launch.isolate = 1;
    if (outcome == GOOD)
        outcome = get_kernel("calls");
    out = host_memory;
    if (outcome == GOOD)
        outcome = said("launch on registered memory", ptera_kernel_launch(kernel, &launch));
    if (outcome == GOOD)
        outcome = check_result();
    out = buffer;
    return outcome;
}

static enum outcome get_function(void)
{
    return said("function",
                ptera_function_pointer(module, "half", "u32 (u32)", (void (**)(void))&half));
}

static enum outcome call_function(void)
{
    uint32_t have = half(84);
    if (!have && fail_is_armed() && *ptera_engine_error(engine))
        return REFUSED;
    return have == 42 ? GOOD : wrong("half(84) is %u: %s", have, ptera_engine_error(engine));
}

static enum outcome unload(void)
{
    ptera_module_unload(module);
    module = NULL;
    return GOOD;
}

/* ---- the cache ------------------------------------------------------------------------------- */

static void empty_folder(void)
{
    DIR *dir = opendir(folder);
    for (struct dirent *d; dir && (d = readdir(dir));)
        if (strstr(d->d_name, ".obj") || strstr(d->d_name, ".prof"))
            unlinkat(dirfd(dir), d->d_name, 0);
    if (dir)
        closedir(dir);
}

static void end_without_cache(void)
{
    end();
    empty_folder();
}

static const struct scenario scenarios[] = {
    {"load",
     {create, give_functions, load, load_file, verify, emit, look, unload},
     end,
     NULL,
     false},
    {"interpreted",
     {create, give_functions, load, get_memory, launch_interpreted, launch_isolated, launch_checked,
      give_memory_back, get_memory, launch_interpreted},
     end,
     NULL,
     false},
    {"native",
     {create, give_functions, load, get_memory, launch_native, launch_surely_native, unload},
     end_without_cache,
     empty_folder,
     false},
    /* (What is shown is not taken from the cache: so each run leaves one compiler process.) */
    {"cached",
     {create, give_functions, load, get_memory, emit_native, launch_native, launch_surely_native,
      unload},
     end,
     NULL,
     false},
    {"auto",
     {create, give_functions, load, get_memory, launch_auto, wait_for_background, launch_auto},
     end_without_cache,
     empty_folder,
     false},
    {"queued",
     {create, give_functions, load, get_memory, launch_async, register_memory, get_function,
      call_function, unload},
     end,
     NULL,
     false},
};

static void remove_files(void)
{
    empty_folder();
    unlink(path);
    rmdir(folder);
}

int main(int argc, char **argv)
{
    if (!mkdtemp(folder))
        return 2;
    snprintf(path, sizeof path, "%s/k.ptx", folder);
    int fd = open(path, O_WRONLY | O_CREAT, 0600);
    if (fd < 0 || write(fd, text, sizeof text - 1) != (ssize_t)sizeof text - 1 || close(fd))
        return 2;
    setenv("PTERA_CACHE", folder, 1);
    atexit(remove_files);
    return scenarios_main("inject_api", scenarios, sizeof scenarios / sizeof *scenarios, argc,
                          argv);
}
