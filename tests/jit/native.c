/* Launches as native code: versions by block shape, what is interpreted instead and why, faults,
 * time limits, engine auto. */
#include <pthread.h>
#include <semaphore.h>
#include <stdbool.h>

#include "tests/api/support.h"

static ptera_engine *engine;

static const char text[] = HEADER
    ".visible .entry count(.param .u64 to)\n{\n"
    "    .reg .b64 %rd<2>;\n"
    "    ld.param.u64 %rd1, [to];\n"
    "    red.global.add.u32 [%rd1], 1;\n    ret;\n}\n"
    /* Lines 10 to 17. */
    ".visible .entry wild(.param .u64 to)\n"
    "{\n"
    "    .reg .b64 %rd<2>;\n"
    "    .reg .b32 %r<2>;\n"
    "    ld.param.u64 %rd1, [to];\n"
    "    mov.u32 %r1, 5;\n"
    "    st.global.u32 [%rd1+16], %r1;\n"
    "    ret;\n}\n"
    ".visible .entry endless()\n{\nL:\n    bra L;\n}\n"
    ".visible .entry lock(.param .u64 to)\n{\n"
    "    .reg .b64 %rd<2>; .reg .b32 %r<2>; .reg .pred %p<2>;\n"
    "    ld.param.u64 %rd1, [to];\n"
    "L:  atom.global.cas.b32 %r1, [%rd1], 0, 1;\n    setp.ne.u32 %p1, %r1, 0;\n    @%p1 bra L;\n"
    "    atom.global.exch.b32 %r1, [%rd1], 0;\n"
    "    red.global.add.u32 [%rd1+4], 1;\n    ret;\n}\n"
    ".func down()\n{\n    call down;\n    ret;\n}\n"
    ".visible .entry recurs()\n{\n    call down;\n    ret;\n}\n"
    ".visible .entry rows(.param .u64 to, .param .u32 width)\n{\n"
    "    .reg .b64 %rd<4>; .reg .b32 %r<12>;\n"
    "    ld.param.u64 %rd1, [to]; ld.param.u32 %r1, [width];\n"
    "    mov.u32 %r2, %ctaid.x; mov.u32 %r3, %ntid.x; mov.u32 %r4, %tid.x;\n"
    "    mov.u32 %r5, %ctaid.y; mov.u32 %r6, %ntid.y; mov.u32 %r7, %tid.y;\n"
    "    mad.lo.u32 %r8, %r2, %r3, %r4; mad.lo.u32 %r9, %r5, %r6, %r7;\n"
    "    mad.lo.u32 %r8, %r9, %r1, %r8; mul.wide.u32 %rd2, %r8, 4; add.s64 %rd3, %rd1, %rd2;\n"
    "    st.global.u32 [%rd3], %r9;\n    ret;\n}\n"
    ".visible .entry points(.param .u64 from, .param .u64 to, .param .u32 width)\n{\n"
    "    .reg .b64 %rd<16>; .reg .b32 %r<16>; .reg .f32 %f<8>;\n"
    "    ld.param.u64 %rd1, [from]; ld.param.u64 %rd2, [to]; ld.param.u32 %r1, [width];\n"
    "    mov.u32 %r2, %ctaid.x; mov.u32 %r3, %ntid.x; mov.u32 %r4, %tid.x;\n"
    "    mov.u32 %r5, %ctaid.y; mov.u32 %r6, %ntid.y; mov.u32 %r7, %tid.y;\n"
    "    mad.lo.u32 %r8, %r2, %r3, %r4; mad.lo.u32 %r9, %r5, %r6, %r7;\n"
    "    mad.lo.u32 %r8, %r9, %r1, %r8; add.u32 %r9, %r8, 1; sub.u32 %r10, %r8, %r1; add.u32 %r11, "
    "%r8, %r1;\n"
    "    mul.wide.u32 %rd3, %r8, 4; add.s64 %rd4, %rd1, %rd3; ld.global.f32 %f1, [%rd4];\n"
    "    mul.wide.u32 %rd5, %r9, 4; add.s64 %rd6, %rd1, %rd5; ld.global.f32 %f2, [%rd6];\n"
    "    mul.wide.u32 %rd7, %r10, 4; add.s64 %rd8, %rd1, %rd7; ld.global.f32 %f3, [%rd8];\n"
    "    mul.wide.u32 %rd9, %r11, 4; add.s64 %rd10, %rd1, %rd9; ld.global.f32 %f4, [%rd10];\n"
    "    add.f32 %f5, %f1, %f2; add.f32 %f6, %f3, %f4; add.f32 %f7, %f5, %f6;\n"
    "    add.s64 %rd11, %rd2, %rd3; st.global.f32 [%rd11], %f7;\n    ret;\n}\n"
    ".visible .entry strides(.param .u64 from, .param .u64 to, .param .u32 n)\n{\n"
    "    .reg .b64 %rd<6>; .reg .b32 %r<10>; .reg .pred %p;\n"
    "    ld.param.u64 %rd1, [from]; ld.param.u64 %rd2, [to]; ld.param.u32 %r1, [n];\n"
    "    mov.u32 %r2, %ctaid.x; mov.u32 %r3, %ntid.x; mov.u32 %r4, %tid.x; "
    "mov.u32 %r5, %nctaid.x;\n"
    "    mad.lo.u32 %r6, %r2, %r3, %r4; mul.lo.u32 %r7, %r3, %r5; mov.u32 %r8, 0;\n"
    "L:  mul.wide.u32 %rd3, %r6, 4; add.s64 %rd4, %rd1, %rd3; ld.global.u32 %r9, [%rd4];\n"
    "    add.u32 %r8, %r8, %r9; add.u32 %r6, %r6, %r7; setp.lt.u32 %p, %r6, %r1; @%p bra L;\n"
    "    st.global.u32 [%rd2], %r8;\n    ret;\n}\n"
    ".visible .entry row_sums(.param .u64 from, .param .u64 to, .param .u32 n)\n{\n"
    "    .reg .b64 %rd<7>; .reg .b32 %r<10>; .reg .pred %p;\n"
    "    ld.param.u64 %rd1, [from]; ld.param.u64 %rd2, [to]; ld.param.u32 %r1, [n];\n"
    "    mov.u32 %r2, %ctaid.x; mov.u32 %r6, %tid.x; mov.u32 %r8, 0;\n"
    "    mul.wide.u32 %rd3, %r1, %r2;\n"
    "L:  cvt.u64.u32 %rd4, %r6; add.s64 %rd5, %rd3, %rd4; shl.b64 %rd5, %rd5, 2;\n"
    "    add.s64 %rd6, %rd1, %rd5; ld.global.u32 %r9, [%rd6];\n"
    "    add.u32 %r8, %r8, %r9; add.u32 %r6, %r6, 256; setp.lt.u32 %p, %r6, %r1; @%p bra L;\n"
    "    st.global.u32 [%rd2], %r8;\n    ret;\n}\n";

static ptera_launch launch_of(unsigned grid, unsigned x, unsigned y, uint32_t **to)
{
    static __thread const void *parameters[1];
    ptera_launch launch;
    ptera_launch_init(&launch);
    launch.backend = PTERA_BACKEND_JIT;
    launch.grid[0] = grid;
    launch.block[0] = x;
    launch.block[1] = y;
    parameters[0] = to;
    launch.parameters = parameters;
    launch.n_parameters = to ? 1 : 0;
    return launch;
}

static ptera_kernel_status status_of(const ptera_kernel *kernel)
{
    ptera_kernel_status status = {.size = sizeof status};
    CHECK_INT(ptera_kernel_info(kernel, &status), PTERA_OK);
    return status;
}

enum { SHAPES = 30 };

/* Every shape gives the right result, four at least by versions of their own, few altogether; a
 * version is made once. */
static void check_shapes(ptera_module *module)
{
    ptera_kernel *kernel = kernel_of(module, "count");
    uint32_t *to = new_buffer(engine, sizeof *to), sum = 0;
    for (unsigned i = 1; i <= SHAPES; i++) {
        ptera_launch launch = launch_of(1000, i * 11, i % 3 + 1, &to);
        CHECK_INT(ptera_kernel_launch(kernel, &launch), PTERA_OK);
        CHECK_INT(ptera_kernel_launch(kernel, &launch), PTERA_OK);
        sum += 2 * 1000 * i * 11 * (i % 3 + 1);
        CHECK_INT(*to, sum);
        ptera_kernel_status status = status_of(kernel);
        CHECK(i < 5 ? status.versions == i : status.versions >= 5 && status.versions <= 6);
        CHECK_INT(status.native_launches, 2 * i);
        CHECK(status.code_bytes > 0 && status.why == NULL);
    }
    CHECK_INT(status_of(kernel).interpreted_launches, 0);
}

static void check_interpreted(ptera_kernel *kernel, const ptera_launch *launch, const char *why)
{
    uint64_t before = status_of(kernel).interpreted_launches;
    CHECK_INT(ptera_kernel_launch(kernel, launch), PTERA_OK);
    CHECK_INT(status_of(kernel).interpreted_launches, before + 1);
    CHECK_HAS(status_of(kernel).why, why);
}

static void check_native(ptera_kernel *kernel, const ptera_launch *launch)
{
    uint64_t before = status_of(kernel).native_launches;
    CHECK_INT(ptera_kernel_launch(kernel, launch), PTERA_OK);
    CHECK_INT(status_of(kernel).native_launches, before + 1);
    CHECK(status_of(kernel).why == NULL);
}

static void check_reasons(ptera_module *module)
{
    uint32_t *to = new_buffer(engine, 2 * sizeof *to);
    ptera_kernel *count = kernel_of(module, "count"), *lock = kernel_of(module, "lock");
    ptera_launch launch = launch_of(2, 32, 1, &to);
    launch.isolate = 1;
    check_interpreted(count, &launch, "isolated");
    launch = launch_of(2, 32, 1, &to);
    launch.cluster[0] = 2;
    check_native(count, &launch);
    launch = launch_of(2, 32, 1, &to);
    launch.cooperative = 1;
    check_native(count, &launch);
    launch.grid[0] = 1;
    check_native(count, &launch);
    CHECK_INT(to[0], 7 * 32); /* two CTAs three times, and this one */
    launch = launch_of(2, 32, 1, &to);
    to[0] = 0;
    check_native(lock, &launch);
    CHECK_INT(to[1], 64);
    launch.backend = PTERA_BACKEND_INTERP;
    CHECK_INT(ptera_kernel_launch(count, &launch), PTERA_OK);
}

/* Room for CTAs that was made for a kernel with warps is given to one without, of more threads. */
static void check_room(void)
{
    ptera_options options;
    ptera_engine *own = NULL;
    ptera_options_init(&options);
    options.threads = 1;
    CHECK_INT(ptera_engine_create(&options, &own), PTERA_OK);
    ptera_module *module = load(own, text);
    uint32_t *to = new_buffer(own, 2 * sizeof *to);
    ptera_launch launch = launch_of(2, 32, 1, &to);
    check_native(kernel_of(module, "lock"), &launch);
    to[0] = 0;
    launch = launch_of(2, 1024, 1, &to);
    check_native(kernel_of(module, "count"), &launch);
    CHECK_INT(to[0], 2 * 1024);
    ptera_engine_destroy(own);
}

static void check_failures(ptera_module *module)
{
    uint32_t *to = NULL;
    ptera_launch launch = launch_of(1, 32, 1, &to);
    CHECK_INT(ptera_kernel_launch(kernel_of(module, "wild"), &launch), PTERA_ERROR_ILLEGAL_ADDRESS);
    CHECK_HAS(ptera_engine_error(engine),
              "illegal address 0x10 in kernel 'wild' at k.ptx:17, CTA (0,0,0)");
    CHECK_HAS(ptera_engine_error(engine), "st.global.u32 [%rd1+16], %r1;");
    CHECK_INT(status_of(kernel_of(module, "wild")).native_launches, 1);
    launch = launch_of(3, 32, 1, NULL);
    launch.timeout_seconds = 0.05;
    CHECK_INT(ptera_kernel_launch(kernel_of(module, "endless"), &launch), PTERA_ERROR_TIMEOUT);
    CHECK_HAS(ptera_engine_error(engine), "timeout in kernel 'endless' at k.ptx");
    CHECK(status_of(kernel_of(module, "endless")).why == NULL);
    to = new_buffer(engine, 32);
    launch = launch_of(1, 32, 1, &to);
    CHECK_INT(ptera_kernel_launch(kernel_of(module, "wild"), &launch), PTERA_OK);
    CHECK_INT(to[4], 5);
}

/* A hot kernel becomes native, in the middle of a launch or between two, and no CTA runs twice. */
static void check_auto(void)
{
    ptera_module *module = load(engine, text);
    ptera_kernel *kernel = kernel_of(module, "count");
    uint32_t *to = new_buffer(engine, sizeof *to), sum = 0;
    unsigned tries = 0;
    for (; tries < 2000 && !status_of(kernel).native_launches; tries++) {
        ptera_launch launch = launch_of(2000, 33, 1, &to);
        launch.backend = PTERA_BACKEND_AUTO;
        CHECK_INT(ptera_kernel_launch(kernel, &launch), PTERA_OK);
        CHECK_INT(*to, sum += 2000 * 33);
    }
    CHECK_INT(status_of(kernel).native_launches, 1);
    ptera_module_unload(module);
}

static void wait_for_gate(void *gate, ptera_result result, const char *error)
{
    (void)error;
    CHECK_INT(result, PTERA_OK);
    sem_wait(gate);
}

/* What was asked for before there was native code, and runs later, takes it. */
static void check_queued(void)
{
    ptera_module *module = load(engine, text);
    ptera_kernel *kernel = kernel_of(module, "count");
    uint32_t *to = new_buffer(engine, sizeof *to);
    ptera_launch first = launch_of(1, 32, 1, &to), second = first;
    sem_t gate;
    sem_init(&gate, 0, 0);
    first.backend = PTERA_BACKEND_INTERP;
    second.backend = PTERA_BACKEND_AUTO;
    CHECK_INT(ptera_kernel_launch_async(kernel, &first, wait_for_gate, &gate), PTERA_OK);
    CHECK_INT(ptera_kernel_launch_async(kernel, &second, NULL, NULL), PTERA_OK);
    first.backend = PTERA_BACKEND_JIT;
    CHECK_INT(ptera_kernel_launch(kernel, &first), PTERA_OK);
    sem_post(&gate);
    CHECK_INT(ptera_engine_wait(engine), PTERA_OK);
    CHECK_INT(status_of(kernel).native_launches, 2);
    CHECK_INT(*to, 3 * 32);
    sem_destroy(&gate);
    ptera_module_unload(module);
}

/* A module may go while its kernel is still being compiled. */
static void check_unload(void)
{
    uint32_t *to = new_buffer(engine, sizeof *to);
    for (int i = 0; i < 20; i++) {
        ptera_module *module = load(engine, text);
        ptera_launch launch = launch_of(4000, 33, 1, &to);
        launch.backend = PTERA_BACKEND_AUTO;
        CHECK_INT(ptera_kernel_launch(kernel_of(module, "count"), &launch), PTERA_OK);
        ptera_module_unload(module);
    }
    CHECK_INT(*to, 20 * 4000 * 33);
}

static ptera_kernel *shared_kernel;

static void *launch_shapes(void *ud)
{
    uint32_t **to = ud;
    for (unsigned i = 1; i <= 6; i++) {
        ptera_launch launch = launch_of(100, i * 32, 1, to);
        if (ptera_kernel_launch(shared_kernel, &launch) != PTERA_OK)
            return NULL;
    }
    return ud;
}

/* Threads that need the same versions at the same time get them, each made once. */
static void check_threads(void)
{
    enum { N = 4 };
    pthread_t threads[N];
    uint32_t *to[N];
    ptera_module *module = load(engine, text);
    shared_kernel = kernel_of(module, "count");
    for (int i = 0; i < N; i++)
        to[i] = new_buffer(engine, sizeof *to[i]);
    for (int i = 0; i < N; i++)
        CHECK_INT(pthread_create(&threads[i], NULL, launch_shapes, &to[i]), 0);
    for (int i = 0; i < N; i++) {
        void *end;
        pthread_join(threads[i], &end);
        CHECK(end == &to[i]);
        CHECK_INT(*to[i], 100 * 32 * (1 + 2 + 3 + 4 + 5 + 6));
    }
    CHECK_INT(status_of(shared_kernel).native_launches, N * 6);
    CHECK(status_of(shared_kernel).versions >= 5 && status_of(shared_kernel).versions <= 6);
    ptera_module_unload(module);
}

/* How deep indirect calls go is known to native code alone, how large a thread's stack is at the
 * launch. */
static void check_stack(size_t stack_bytes, ptera_result expected, const char *why)
{
    static const char calls[] = HEADER
        ".func (.param .b32 r) far(.param .b32 n)\n{\n"
        "    .local .align 4 .b8 room[4096]; .reg .b32 %r<4>;\n"
        "    ld.param.u32 %r1, [n]; st.local.u32 [room+4092], %r1; ld.local.u32 %r2, [room+4092];\n"
        "    st.param.b32 [r], %r2; ret;\n}\n"
        ".global .u64 table[1] = {far};\n"
        ".visible .entry k(.param .u64 to)\n{\n"
        "    .reg .b64 %rd<3>; .reg .b32 %r<3>; ld.param.u64 %rd1, [to]; "
        "ld.global.u64 %rd2, [table];\n"
        "P:  .callprototype (.param .b32 _) _ (.param .b32 _);\n"
        "    { .param .b32 a; .param .b32 b; st.param.b32 [a], 7; call (b), %rd2, (a), P; "
        "ld.param.b32 %r2, [b]; }\n"
        "    st.global.u32 [%rd1], %r2; ret;\n}\n";
    ptera_options options;
    ptera_engine *own = NULL;
    ptera_options_init(&options);
    options.stack_bytes = stack_bytes;
    CHECK_INT(ptera_engine_create(&options, &own), PTERA_OK);
    ptera_kernel *kernel = kernel_of(load(own, calls), "k");
    uint32_t *to = new_buffer(own, sizeof *to);
    ptera_launch launch = launch_of(1, 32, 1, &to);
    CHECK_INT(ptera_kernel_launch(kernel, &launch), expected);
    CHECK_INT(*to, expected == PTERA_OK ? 7 : 0);
    CHECK_INT(status_of(kernel).native_launches, expected == PTERA_OK);
    CHECK(why ? !strcmp(status_of(kernel).why, why) : !status_of(kernel).why);
    ptera_engine_destroy(own);
}

static void check_emit(ptera_module *module)
{
    const unsigned block[3] = {64, 1, 1};
    const void *data;
    size_t bytes;
    ptera_kernel *kernel = kernel_of(module, "count");
    CHECK_INT(ptera_kernel_emit(kernel, block, 0, PTERA_EMIT_LLVM, &data, &bytes), PTERA_OK);
    CHECK_HAS(data, "define ");
    CHECK_INT(strlen(data), bytes);
    CHECK_INT(ptera_kernel_emit(kernel, block, 0, PTERA_EMIT_ASM, &data, &bytes), PTERA_OK);
    CHECK_HAS(data, "ret");
    CHECK_INT(ptera_kernel_emit(kernel, block, 0, PTERA_EMIT_OBJ, &data, &bytes), PTERA_OK);
    CHECK(bytes > 64 && !memcmp(data, "\177ELF", 4));
    CHECK_INT(
        ptera_kernel_emit(kernel_of(module, "recurs"), block, 0, PTERA_EMIT_LLVM, &data, &bytes),
        PTERA_ERROR_UNSUPPORTED_PTX);
    CHECK_HAS(ptera_engine_error(engine), "kernel 'recurs' cannot be native: recursion");
    CHECK_INT(ptera_kernel_emit(NULL, block, 0, PTERA_EMIT_OBJ, &data, &bytes),
              PTERA_ERROR_INVALID_ARGUMENT);
    CHECK_INT(ptera_kernel_emit(kernel, NULL, 0, PTERA_EMIT_OBJ, &data, &bytes),
              PTERA_ERROR_INVALID_ARGUMENT);
    CHECK_INT(ptera_kernel_emit(kernel, block, 0, (ptera_native_emit)3, &data, &bytes),
              PTERA_ERROR_INVALID_ARGUMENT);
    CHECK_INT(ptera_kernel_emit(kernel, block, 0, PTERA_EMIT_OBJ, NULL, &bytes),
              PTERA_ERROR_INVALID_ARGUMENT);
    CHECK_INT(ptera_kernel_emit(kernel, block, 0, PTERA_EMIT_OBJ, &data, NULL),
              PTERA_ERROR_INVALID_ARGUMENT);
}

static unsigned count(const char *text, const char *what)
{
    unsigned n = 0;
    for (const char *at = text; (at = strstr(at, what)); at += strlen(what))
        n++;
    return n;
}

static const char *emitted(ptera_module *module, const char *name, const unsigned *block)
{
    const void *data = "";
    size_t bytes;
    CHECK_INT(ptera_kernel_emit(kernel_of(module, name), block, 0, PTERA_EMIT_LLVM, &data, &bytes),
              PTERA_OK);
    return data;
}

/* Of what is read the row in front asks, as CTAs go upwards; a row of 32 floats is two lines. */
static void check_leading(ptera_module *module)
{
    const unsigned block[3] = {32, 8, 1};
    CHECK_INT(count(emitted(module, "points", block), "call void @llvm.prefetch"), 2 * 2);
}

/* CTAs of rows, and of a page each, ask for what later ones touch. (Of short lines that follow one
 * another it rests on the machine.) */
static void check_asking(ptera_module *module)
{
    static const unsigned shapes[][3] = {{32, 8, 1}, {1024, 1, 1}};
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
        CHECK_HAS(emitted(module, "rows", shapes[i]), "@llvm.prefetch");
}

/* CTAs of 1,024 threads that take turns ask for a page further on, which the next will read at
 * once; one that runs alone for what its own later rounds need. (Of CTAs that read less than a
 * page it rests on the machine.) */
static void check_strides(ptera_module *module)
{
    const unsigned block[3] = {1024, 1, 1};
    const char *llvm = emitted(module, "strides", block);
    CHECK_HAS(llvm, ", i64 4096, i64 %");
    CHECK_HAS(llvm, "i32 0, i32 3, i32 1)");
}

/* CTAs of 256 threads that go over a row each, 256 words a round: groups see every fourth part of
 * it, and ask for what a later CTA's row has there. */
static void check_rows(ptera_module *module)
{
    const unsigned block[3] = {256, 1, 1};
    CHECK_HAS(emitted(module, "row_sums", block), "@llvm.prefetch");
}

/* Where a function is called by its address all bodies of the module go to the compiler, those of
 * kernels that were launched before as well. */
static void check_launched_before(void)
{
    static const char two[] =
        HEADER ".func (.param .b32 r) next (.param .b32 a)\n{\n    .reg .b32 %r;\n"
               "    ld.param.b32 %r, [a];\n    add.u32 %r, %r, 1;\n    st.param.b32 [r], %r;\n"
               "    ret;\n}\n"
               ".global .u64 table[1] = {next};\n"
               ".visible .entry before(.param .u64 out)\n{\n    .reg .b64 %rd;\n"
               "    ld.param.u64 %rd, [out];\n    st.global.u32 [%rd], 1;\n    ret;\n}\n"
               ".visible .entry calls(.param .u64 out)\n{\n    .reg .b64 %rd<3>;\n"
               "    .reg .b32 %r;\n    .param .b32 a;\n    .param .b32 r;\n"
               "    ld.param.u64 %rd1, [out];\n    ld.global.u64 %rd2, [table];\n"
               "    st.param.b32 [a], 5;\n"
               "P:  .callprototype (.param .b32 _) _ (.param .b32 _);\n"
               "    call (r), %rd2, (a), P;\n    ld.param.b32 %r, [r];\n"
               "    st.global.u32 [%rd1], %r;\n    ret;\n}\n";
    ptera_module *module = load(engine, two);
    uint32_t *out = new_buffer(engine, 4);
    const void *parameters[] = {&out};
    ptera_launch launch;
    ptera_launch_init(&launch);
    launch.parameters = parameters;
    launch.n_parameters = 1;
    launch.backend = PTERA_BACKEND_INTERP;
    CHECK_INT(ptera_kernel_launch(kernel_of(module, "before"), &launch), PTERA_OK);
    CHECK_INT(*out, 1);
    launch.backend = PTERA_BACKEND_JIT;
    check_native(kernel_of(module, "calls"), &launch);
    CHECK_INT(*out, 6);
    ptera_buffer_free(engine, out);
    ptera_module_unload(module);
}

int main(void)
{
    engine = new_engine(3);
    ptera_module *module = load(engine, text);
    check_shapes(module);
    check_reasons(module);
    check_room();
    check_failures(module);
    check_stack(2048, PTERA_ERROR_STACK_OVERFLOW, "a stack smaller than its calls take");
    check_stack(8192, PTERA_OK, NULL);
    check_emit(module);
    check_asking(module);
    check_leading(module);
    check_strides(module);
    check_rows(module);
    check_launched_before();
    check_auto();
    check_queued();
    check_unload();
    check_threads();
    ptera_engine_destroy(engine);
    return CHECK_DONE("native");
}
