/* Observers: every kind of event is told, with all that is said of it. One that writes down what it
 * is told takes the place of the first in the table; kernels of a few instructions then show that
 * none is lost. */
#include "backend/observer.h"
#include "backend/semantics/tensormap_encode.h"
#include "runtime/cuda/abi.h"
#include "runtime/engine.h"
#include "tests/api/support.h"

/* ---- the observer ---------------------------------------------------------------------------- */

enum { ACCESSES = 1, SYNC = 2, ASYNC = 4, HOST = 8, STEPS = 16, CALLS = 32 };

/* What is written down: of these kinds; accesses that follow each other and are alike, as one. */
static unsigned kinds, n_instructions, n_blocks, n_returned;
static char text[4096], last[128];
static uint64_t last_bytes;

static void put(const char *format, ...)
{
    va_list list;
    va_start(list, format);
    size_t n = strlen(text);
    vsnprintf(text + n, sizeof text - n, format, list);
    va_end(list);
}

static void put_accesses(void)
{
    if (last_bytes)
        put("%s %u\n", last, (unsigned)last_bytes);
    last_bytes = 0;
}

static bool access_(const struct pt_event *e, const struct pt_access *a)
{
    static const char *const orders[] = {"",         " relaxed", " acquire",
                                         " release", " acq_rel", " seq_cst"};
    static const char *const uses[] = {
        [PT_USE_READ] = "read",
        [PT_USE_WRITE] = "write",
        [PT_USE_WRITE | PT_USE_ATOMIC] = "atomic",
        [PT_USE_WRITE | PT_USE_READ] = "bad",
        [PT_USE_READ | PT_USE_ATOMIC] = "bad",
    };
    static const char *const spaces[] = {
        [PT_SPACE_GENERIC] = "generic", [PT_SPACE_GLOBAL] = "global", [PT_SPACE_SHARED] = "shared",
        [PT_SPACE_LOCAL] = "local",     [PT_SPACE_CONST] = "const",   [PT_SPACE_PARAM] = "param"};
    char line[sizeof last];
    if (!(kinds & ACCESSES))
        return true;
    snprintf(line, sizeof line, "%s %s%s%s", uses[a->use], spaces[a->space], orders[a->order],
             a->is_async ? " async" : "");
    if (strcmp(line, last) != 0)
        put_accesses();
    memcpy(last, line, sizeof last);
    last_bytes += a->bytes * (unsigned)__builtin_popcount(e->lanes);
    for (uint32_t left = e->lanes; left; left &= left - 1)
        CHECK(a->address[__builtin_ctz(left)] >> 12 != 0);
    return true;
}

static void sync_(const struct pt_event *e, const struct pt_sync *sync)
{
    static const char *const what[] = {[PT_SYNC_RELEASE] = "release",
                                       [PT_SYNC_ACQUIRE] = "acquire",
                                       [PT_SYNC_JOIN] = "join",
                                       [PT_SYNC_PHASE] = "phase"};
    static const char *const where[] = {[PT_SYNC_OF_WARP] = "warp",
                                        [PT_SYNC_OF_BARRIER] = "barrier",
                                        [PT_SYNC_OF_MBARRIER] = "mbarrier"};
    if (kinds & SYNC)
        put("%s %s %u\n", what[sync->what], where[sync->where], __builtin_popcount(e->lanes));
}

static bool issued(const struct pt_event *e, struct pt_async_op *op)
{
    (void)op;
    if (kinds & ASYNC)
        put("issued %u\n", __builtin_popcount(e->lanes));
    return true;
}

static void done(const struct pt_async_op *op)
{
    (void)op;
    if (kinds & ASYNC)
        put("done\n");
}

static void waited(const struct pt_event *e, uint32_t kind, uint32_t pending, bool is_read)
{
    (void)kind;
    if (kinds & ASYNC)
        put("waited%s %u %u\n", is_read ? " read" : "", pending, __builtin_popcount(e->lanes));
}

static void instruction(const struct pt_event *e)
{
    n_instructions += (unsigned)__builtin_popcount(e->lanes);
}

static void block(const struct pt_event *e)
{
    n_blocks += (unsigned)__builtin_popcount(e->lanes);
}

static void returned(const struct pt_frame *f)
{
    (void)f;
    n_returned++;
}

static void launched(struct pt_launch *launch, bool is_over)
{
    if (kinds & HOST)
        put("%s %u\n", is_over ? "over" : "launch", launch->threads);
}

static void memory(enum pt_memory_event event, uint64_t address, uint64_t bytes)
{
    static const char *const names[] = {[PT_MEMORY_ALLOCATED] = "allocated",
                                        [PT_MEMORY_FREED] = "freed",
                                        [PT_MEMORY_WRITTEN] = "written",
                                        [PT_MEMORY_READ] = "read"};
    CHECK(address != 0);
    if (kinds & HOST)
        put("%s %u\n", names[event], (unsigned)bytes);
}

static const struct pt_observer notes = {
    .name = "notes",
    .access = access_,
    .sync = sync_,
    .instruction = instruction,
    .block = block,
    .issued = issued,
    .done = done,
    .waited = waited,
    .returned = returned,
    .launched = launched,
    .memory = memory,
};
static const struct pt_observer other = {.name = "other"};

/* The tables of all levels: these are linked instead of the library's. */
#define TABLE(level)                                                       \
    extern const struct pt_observer *const pt_observers_##level[];         \
    const struct pt_observer *const pt_observers_##level[PT_OBSERVERS] = { \
        &notes, [1 ... PT_OBSERVERS - 1] = &other};
TABLE(v2)
TABLE(v3)
TABLE(v4)
TABLE(aarch64)

/* ---- kernels --------------------------------------------------------------------------------- */

#define KERNEL                                                                              \
    ".version 8.6\n.target sm_90a\n.address_size 64\n"                                      \
    ".const .align 4 .u32 k[4];\n"                                                          \
    ".func (.param .b64 r) malloc(.param .b64 n);\n.func free(.param .b64 p);\n"            \
    ".visible .entry e(.param .u64 p, .param .u64 map)\n{\n"                                \
    "    .reg .pred %p<4>; .reg .b16 %h<8>; .reg .b32 %r<40>; .reg .b64 %d<16>; .reg .f32 " \
    "%f<40>;\n"                                                                             \
    "    .reg .b64 %g, %map; .reg .b32 %s, %m;\n"                                           \
    "    .shared .align 1024 .b8 tile[16384]; .shared .align 8 .b64 bar;\n"                 \
    "    .local .align 16 .b8 l[64];\n"                                                     \
    "    mov.u32 %s, tile; mov.u32 %m, bar;\n"                                              \
    "    mov.b32 %r0, 1; mov.b32 %r1, 1; mov.b32 %r2, 0; mov.b32 %r3, 0; mov.b16 %h0, 1;\n" \
    "    mov.f32 %f0, 0f00000000; mov.f32 %f1, 0f00000000; mov.f32 %f2, 0f00000000;\n"      \
    "    mov.f32 %f3, 0f00000000;\n"

/* The parameters are read into %g and %map first; that is not written down. */
struct kernel {
    unsigned kinds, threads;
    const char *body, *told;
};

static const struct kernel cases[] = {
    {ACCESSES, 32, "ld.param.u64 %d0, [p];", "read param 768\n"},
    {ACCESSES, 32, "ld.global.u32 %r1, [%g];", "read global 128\n"},
    {ACCESSES, 32, "ld.u8 %r1, [%g];", "read generic 32\n"},
    {ACCESSES, 32, "ld.acquire.gpu.global.u32 %r1, [%g];", "read global acquire 128\n"},
    {ACCESSES, 32, "ld.volatile.shared.u32 %r1, [%s];", "read shared relaxed 128\n"},
    {ACCESSES, 32, "st.release.gpu.global.u64 [%g], %d0;", "write global release 256\n"},
    {ACCESSES, 32, "st.shared.v4.b32 [%s], {%r0, %r1, %r2, %r3};", "write shared 512\n"},
    {ACCESSES, 32, "ld.global.nc.v2.u64 {%d1, %d2}, [%g];", "read global 512\n"},
    {ACCESSES, 32, "st.local.u32 [l], %r1; ld.local.u16 %h1, [l+2];",
     "write local 128\nread local 64\n"},
    {ACCESSES, 32, "ld.const.u32 %r1, [k+4];", "read const 128\n"},
    {ACCESSES, 32, "prefetch.global.L2 [%g];", ""},
    {ACCESSES, 3, "atom.global.add.u32 %r1, [%g], %r0;", "atomic global relaxed 12\n"},
    {ACCESSES, 3, "atom.acq_rel.gpu.global.cas.b64 %d1, [%g], %d0, %d0;",
     "atomic global acq_rel 24\n"},
    {ACCESSES, 3, "red.shared.max.s32 [%s], %r0;", "atomic shared relaxed 12\n"},
    {ACCESSES, 3, "red.global.add.v4.f32 [%g], {%f0, %f1, %f2, %f3};",
     "atomic global relaxed 48\n"},
    {ACCESSES, 2, "cp.async.cg.shared.global [%s], [%g], 16, 8; cp.async.wait_all;",
     "write shared async 16\nread global async 8\nwrite shared async 16\nread global async 8\n"},
    {ACCESSES, 1, "mbarrier.init.shared.b64 [%m], 1; cp.async.mbarrier.arrive.shared.b64 [%m];",
     "write shared 8\natomic shared relaxed async 8\n"},
    {ACCESSES, 1,
     "mbarrier.init.shared.b64 [%m], 1;\n"
     "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%s], [%g], 64, [%m];",
     "write shared 8\nread global async 64\nwrite shared async 64\n"
     "atomic shared relaxed async 8\n"},
    {ACCESSES, 1,
     "mbarrier.init.shared.b64 [%m], 1;\n"
     "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster\n"
     "    [%s], [%g], 64, [%m], %h0;",
     "write shared 8\nread global async 64\nwrite shared async 64\n"
     "atomic shared relaxed async 8\n"},
    {ACCESSES, 1, "cp.async.bulk.global.shared::cta.bulk_group [%g], [%s], 64;",
     "read shared async 64\nwrite global async 64\n"},
    {ACCESSES, 1, "cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [%g], [%s], 64;",
     "read shared async 64\natomic global relaxed async 64\n"},
    {ACCESSES, 1,
     "mbarrier.init.shared.b64 [%m], 1;\n"
     "cp.async.bulk.tensor.1d.shared::cluster.global.mbarrier::complete_tx::bytes\n"
     "    [%s], [%map, {%r2}], [%m];",
     "write shared 8\nread generic async 128\nwrite shared async 64\n"
     "atomic shared relaxed async 8\nread global async 64\n"},
    {ACCESSES, 1, "cp.async.bulk.tensor.1d.global.shared::cta.bulk_group [%map, {%r2}], [%s];",
     "read generic async 128\nread shared async 64\nwrite global async 64\n"},
    {ACCESSES, 1,
     "cp.reduce.async.bulk.tensor.1d.global.shared::cta.add.bulk_group [%map, {%r2}], [%s];",
     "read generic async 128\nread shared async 64\natomic global relaxed async 64\n"},
    {ACCESSES, 1,
     "mbarrier.init.shared.b64 [%m], 1;\n"
     "st.async.shared::cluster.mbarrier::complete_tx::bytes.b32 [%s], %r0, [%m];",
     "write shared 8\nwrite shared async 4\natomic shared relaxed async 8\n"},
    {ACCESSES, 1,
     "mbarrier.init.shared.b64 [%m], 1;\n"
     "red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.add.u32\n"
     "    [%s], %r0, [%m];",
     "write shared 8\natomic shared relaxed async 12\n"},
    {ACCESSES, 1, "tensormap.replace.tile.global_dim.global.b1024.b32 [%map], 0, %r0;",
     "write global 128\n"},
    {ACCESSES, 32,
     "tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned\n"
     "    [%map], [%s], 128;",
     "read global release 128\nwrite global release 128\n"},
    {ACCESSES, 32, "ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%r4, %r5}, [%s];",
     "read shared 256\n"},
    {ACCESSES, 32, "stmatrix.sync.aligned.m8n8.x1.shared.b16 [%s], {%r4};", "write shared 128\n"},
    {ACCESSES, 32,
     "wmma.load.a.sync.aligned.row.m16n16k16.shared.f16\n"
     "    {%r4, %r5, %r6, %r7, %r8, %r9, %r10, %r11}, [%s];",
     "read shared 1024\n"},
    {ACCESSES, 32,
     "wmma.store.d.sync.aligned.row.m16n16k16.global.f32\n"
     "    [%g], {%f4, %f5, %f6, %f7, %f8, %f9, %f10, %f11};",
     "write global 1024\n"},
    {ACCESSES, 128,
     "mov.b64 %d0, 0x0000001000080000; wgmma.fence.sync.aligned;\n"
     "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f0, %f1, %f2, %f3}, %d0, %d0, 1, 1, 1, "
     "0, 0;\n"
     "wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 0;",
     "read shared async 768\nread param 512\nread shared async 768\nread param 512\n"
     "read shared async 768\nread param 512\nread shared async 768\n"},
    {ACCESSES, 2, "multimem.ld_reduce.relaxed.gpu.global.add.u32 %r1, [%g];",
     "read global relaxed 16\n"},
    {ACCESSES, 2, "multimem.st.release.gpu.global.u32 [%g], %r0;", "write global release 16\n"},
    {ACCESSES, 2, "multimem.red.relaxed.gpu.global.add.u32 [%g], %r0;",
     "atomic global relaxed 16\n"},
    {ACCESSES, 1, "mbarrier.init.shared.b64 [%m], 2; mbarrier.arrive.shared.b64 %d0, [%m];",
     "write shared 8\natomic shared relaxed 8\n"},
    {SYNC, 1,
     "mbarrier.init.shared.b64 [%m], 1; mbarrier.arrive.shared.b64 %d0, [%m];\n"
     "mbarrier.test_wait.shared.b64 %p1, [%m], %d0;",
     "release mbarrier 1\nphase mbarrier 1\nacquire mbarrier 1\n"},
    {SYNC, 64, "bar.sync 0;",
     "release barrier 32\nrelease barrier 32\nacquire barrier 32\nacquire barrier 32\n"},
    {SYNC, 8, "barrier.cluster.arrive; barrier.cluster.wait;",
     "release barrier 8\nacquire barrier 8\n"},
    {SYNC, 32, "bar.warp.sync 0xffffffff;", "join warp 32\n"},
    {ASYNC, 1,
     "cp.async.ca.shared.global [%s], [%g], 4; cp.async.commit_group; cp.async.wait_group 0;",
     "issued 1\ndone\nwaited 0 1\n"},
    {ASYNC, 1,
     "cp.async.bulk.global.shared::cta.bulk_group [%g], [%s], 64; cp.async.bulk.commit_group;\n"
     "cp.async.bulk.wait_group.read 0;",
     "issued 1\ndone\nwaited read 0 1\n"},
    {HOST, 2, "", "launch 2\nover 2\n"},
    {HOST, 1,
     "{ .param .b64 n, r; st.param.b64 [n], 64; call (r), malloc, (n); ld.param.b64 %d0, [r]; }\n"
     "{ .param .b64 q; st.param.b64 [q], %d0; call free, (q); }",
     "launch 1\nallocated 64\nfreed 64\nover 1\n"},
};

static uint32_t *buffer, *replica;

static const char *replicas(uint64_t address, bool is_write, struct pt_replicas *found)
{
    (void)is_write;
    (void)address;
    *found = (struct pt_replicas){.first = (uintptr_t)buffer,
                                  .bytes = 4096,
                                  .n = 2,
                                  .at = {(uintptr_t)buffer, (uintptr_t)replica}};
    return NULL;
}

/* A row of 16 words in the buffer. */
static void make_map(void *map)
{
    struct pt_tensormap_arguments a = {.type = 2,
                                       .rank = 1,
                                       .address = (uintptr_t)buffer,
                                       .size = (const uint64_t[]){64},
                                       .step = (const uint32_t[]){1}};
    CHECK(pt_tensormap_encode_tiled(map, &a, (const uint32_t[]){16}));
}

static void begin(unsigned what)
{
    kinds = what;
    text[0] = last[0] = 0;
    last_bytes = 0;
    n_instructions = n_blocks = n_returned = 0;
}

/* Both parameters are read by each thread. */
static void run(ptera_engine *engine, const struct kernel *k, void *map)
{
    char source[8192], read[64] = "";
    snprintf(source, sizeof source,
             "%s    ld.param.u64 %%g, [p]; ld.param.u64 %%map, [map];\n%s\nret;\n}\n", KERNEL,
             k->body);
    unsigned warp = k->threads < 32 ? k->threads : 32;
    if (k->kinds & ACCESSES && strncmp(k->told, "read param", 10) != 0)
        snprintf(read, sizeof read, "read param %u\n", 16 * warp);
    ptera_module *module = load(engine, source);
    make_map(map);
    memset(buffer, 0, 4096);
    begin(k->kinds);
    CHECK_INT(LAUNCH(kernel_of(module, "e"), 1, k->threads, &buffer, &map), PTERA_OK);
    put_accesses();
    kinds = 0;
    CHECK(!strncmp(text, read, strlen(read)));
    if (strcmp(text + strlen(read), k->told) != 0)
        fprintf(stderr, "%s\n", k->body);
    CHECK_TEXT(text + strlen(read), k->told);
    ptera_module_unload(module);
}

/* Three times round a loop, with a call each time. */
static void check_steps(ptera_engine *engine)
{
    static const char source[] =
        HEADER ".func (.reg .u32 %y) f(.reg .u32 %x)\n{ add.u32 %y, %x, 1; ret; }\n"
               ".visible .entry e()\n{\n"
               "    .reg .u32 %r; .reg .u64 %f; .reg .pred %p;\n"
               "    mov.u32 %r, 0; mov.u64 %f, f;\n"
               "again:\n"
               "    proto: .callprototype (.reg .u32 _) _ (.reg .u32 _);\n"
               "    call (%r), %f, (%r), proto; setp.lt.u32 %p, %r, 3; @%p bra again; ret;\n}\n";
    ptera_module *module = load(engine, source);
    begin(0);
    CHECK_INT(launch_with(kernel_of(module, "e"), 1, 4, NULL, 0), PTERA_OK);
    CHECK_INT(n_instructions, 4 * (3 + 3 * 5));
    CHECK_INT(n_blocks, 4 * (2 + 3 * 3));
    CHECK_INT(n_returned, 3);
    ptera_module_unload(module);
}

/* What the driver does for a program, which the environment has observed. */
static void check_driver(void)
{
    CUcontext ctx;
    CUdeviceptr p;
    char bytes[64] = "";
    setenv("PTERA_OBSERVE", "notes", 1);
    CHECK_INT(cuInit(0), CUDA_SUCCESS);
    CHECK_INT(cuCtxCreate_v2(&ctx, 0, 0), CUDA_SUCCESS);
    begin(HOST);
    for (int again = 0; again < 2; again++) { /* the block is kept, and used again */
        CHECK_INT(cuMemAlloc_v2(&p, 64), CUDA_SUCCESS);
        CHECK_INT(cuMemsetD8_v2(p, 1, 48), CUDA_SUCCESS);
        CHECK_INT(cuMemcpyHtoD_v2(p, bytes, 32), CUDA_SUCCESS);
        CHECK_INT(cuMemFree_v2(p), CUDA_SUCCESS);
        CHECK_TEXT(text, "allocated 64\nwritten 48\nread 32\nwritten 32\nfreed 64\n");
        begin(HOST);
    }
    CHECK_INT(cuCtxDestroy_v2(ctx), CUDA_SUCCESS);
    CHECK_TEXT(text, "");
}

/* Names that are no observers are told. */
static void take_log(void *ud, ptera_severity severity, const char *message)
{
    (void)severity;
    snprintf(ud, sizeof text, "%s", message);
}

static void check_names(void)
{
    ptera_options options;
    ptera_engine *engine = NULL;
    ptera_options_init(&options);
    options.log = take_log;
    options.log_ud = text;
    options.observe = "notes,noise";
    CHECK_INT(ptera_engine_create(&options, &engine), PTERA_ERROR_INVALID_ARGUMENT);
    CHECK_HAS(text, "there is no observer 'noise', but notes, other");
    options.observe = "";
    CHECK_INT(ptera_engine_create(&options, &engine), PTERA_OK);
    begin(HOST);
    ptera_buffer_free(engine, new_buffer(engine, 64));
    CHECK_TEXT(text, "");
    ptera_engine_destroy(engine);
}

int main(void)
{
    ptera_options options;
    ptera_engine *engine = NULL;
    ptera_options_init(&options);
    options.threads = 1;
    options.observe = "notes";
    CHECK_INT(ptera_engine_create(&options, &engine), PTERA_OK);
    begin(HOST);
    buffer = new_buffer(engine, 4096);
    replica = new_buffer(engine, 4096);
    void *map = new_buffer(engine, 128);
    CHECK_TEXT(text, "allocated 4096\nallocated 4096\nallocated 128\n");
    engine->replicas = replicas;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        run(engine, &cases[i], map);
    check_steps(engine);
    begin(HOST);
    ptera_buffer_free(engine, map);
    CHECK_TEXT(text, "freed 128\n");
    ptera_engine_destroy(engine);
    check_names();
    check_driver();
    return CHECK_DONE("observe");
}
