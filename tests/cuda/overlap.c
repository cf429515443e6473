/* PTERA_CHECK=race: operations that no stream, event or wait orders. Each case stands beside a twin
 * that does it right, in which there is nothing to find. */
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

#include "tests/cuda/support.h"

/* By thread: `put` writes a word, `get` reads one of p and writes one of q. `add` counts at p, as
 * does `own`, but for its CTA alone. `publish` writes p[0], then the flag; `late` with a relaxed
 * store. `fetch` waits for it and reads. `poll` waits for a word that others write. `first` reads
 * one byte of p and writes one of q. `count` writes a variable. */
static const char text[] = PTX_HEADER
    ".visible .global .align 4 .u32 seen;\n"
    ".visible .entry put(.param .u64 p)\n{\n"
    ".reg .b64 %rd<4>; .reg .b32 %r<5>;\n"
    "ld.param.u64 %rd1, [p]; mov.u32 %r1, %tid.x; mov.u32 %r2, %ctaid.x;\n"
    "mov.u32 %r3, %ntid.x; mad.lo.u32 %r1, %r2, %r3, %r1; mad.wide.u32 %rd2, %r1, 4, %rd1;\n"
    "st.global.u32 [%rd2], %r1;\n" /* line 10 */
    "ret;\n}\n"
    ".visible .entry get(.param .u64 p, .param .u64 q)\n{\n"
    ".reg .b64 %rd<5>; .reg .b32 %r<5>;\n"
    "ld.param.u64 %rd1, [p]; ld.param.u64 %rd4, [q]; mov.u32 %r1, %tid.x;\n"
    "mov.u32 %r2, %ctaid.x; mov.u32 %r3, %ntid.x; mad.lo.u32 %r1, %r2, %r3, %r1;\n"
    "mad.wide.u32 %rd2, %r1, 4, %rd1; mad.wide.u32 %rd3, %r1, 4, %rd4;\n"
    "ld.global.u32 %r2, [%rd2];\n" /* line 19 */
    "st.global.u32 [%rd3], %r2;\n"
    "ret;\n}\n"
    ".visible .entry add(.param .u64 p)\n{\n"
    ".reg .b64 %rd<2>; ld.param.u64 %rd1, [p]; red.global.add.u32 [%rd1], 1; ret;\n}\n"
    ".visible .entry own(.param .u64 p)\n{\n"
    ".reg .b64 %rd<2>; ld.param.u64 %rd1, [p]; red.cta.global.add.u32 [%rd1], 1; ret;\n}\n"
    ".visible .entry publish(.param .u64 p)\n{\n"
    ".reg .b64 %rd<2>; ld.param.u64 %rd1, [p]; st.global.u32 [%rd1], 7;\n"
    "st.release.gpu.global.u32 [%rd1+128], 1; ret;\n}\n"
    ".visible .entry late(.param .u64 p)\n{\n"
    ".reg .b64 %rd<2>; ld.param.u64 %rd1, [p]; st.global.u32 [%rd1], 7;\n"
    "st.relaxed.gpu.global.u32 [%rd1+128], 1; ret;\n}\n"
    ".visible .entry fetch(.param .u64 p, .param .u64 q)\n{\n"
    ".reg .b64 %rd<3>; .reg .b32 %r<3>; .reg .pred %p1;\n"
    "ld.param.u64 %rd1, [p]; ld.param.u64 %rd2, [q];\n"
    "again: ld.acquire.gpu.global.u32 %r1, [%rd1+128]; setp.eq.u32 %p1, %r1, 0;\n"
    "@%p1 bra again; ld.global.u32 %r2, [%rd1]; st.global.u32 [%rd2], %r2; ret;\n}\n"
    ".visible .entry poll(.param .u64 p)\n{\n"
    ".reg .b64 %rd<2>; .reg .b32 %r<2>; .reg .pred %p1; ld.param.u64 %rd1, [p];\n"
    "again: ld.volatile.global.u32 %r1, [%rd1]; setp.eq.u32 %p1, %r1, 0;\n"
    "@%p1 bra again; ret;\n}\n"
    ".visible .entry first(.param .u64 p, .param .u64 q)\n{\n"
    ".reg .b64 %rd<3>; .reg .b32 %r<2>;\n"
    "ld.param.u64 %rd1, [p]; ld.param.u64 %rd2, [q]; ld.global.u8 %r1, [%rd1];\n"
    "st.global.u8 [%rd2], %r1; ret;\n}\n"
    ".visible .entry count()\n{\n"
    ".reg .b64 %rd<2>; mov.u64 %rd1, seen; st.global.u32 [%rd1], 1; ret;\n}\n";

enum { WORDS = 256, BYTES = 4 * WORDS };

/* What a case has: memory, of which the host's is page-locked, two streams that wait for nobody,
 * two that the default stream orders, and an event. */
static struct {
    CUmodule module;
    CUdeviceptr p, q, managed;
    uint32_t *pinned;
    CUstream a, b, c, d;
    CUevent event;
} with;

static void launch(const char *name, CUstream stream, CUdeviceptr p, CUdeviceptr q)
{
    void *parameters[] = {&p, &q};
    unsigned grid = !strcmp(name, "put") || !strcmp(name, "get") ? 4 : 1;
    OK(cuLaunchKernel(function_of(with.module, name), grid, 1, 1, grid == 4 ? 64 : 1, 1, 1, 0,
                      stream, parameters, NULL));
}

static void put(CUstream stream, CUdeviceptr p)
{
    launch("put", stream, p, 0);
}

static void get(CUstream stream, CUdeviceptr p)
{
    launch("get", stream, p, with.q);
}

/* `then` waits for what is in `first`. */
static void order(CUstream first, CUstream then)
{
    OK(cuEventRecord(with.event, first));
    OK(cuStreamWaitEvent(then, with.event, 0));
}

/* ---- cases: `right` does what is missing else ------------------------------------------------ */

static void two_kernels(bool right)
{
    put(with.a, with.p);
    if (right)
        order(with.a, with.b);
    get(with.b, with.p);
}

static void waits(bool right)
{
    put(with.a, with.p);
    OK(cuStreamSynchronize(right ? with.a : with.b));
    get(with.b, with.p);
}

static void event_too_early(bool right)
{
    if (!right)
        OK(cuEventRecord(with.event, with.a));
    put(with.a, with.p);
    if (right)
        OK(cuEventRecord(with.event, with.a));
    OK(cuEventSynchronize(with.event));
    get(with.b, with.p);
}

static void asks(bool right)
{
    put(with.a, with.p);
    OK(cuEventRecord(with.event, right ? with.a : with.b));
    while (cuEventQuery(with.event) == CUDA_ERROR_NOT_READY)
        continue;
    get(with.b, with.p);
}

static void asks_stream(bool right)
{
    put(with.a, with.p);
    while (cuStreamQuery(right ? with.a : with.b) == CUDA_ERROR_NOT_READY)
        continue;
    get(with.b, with.p);
}

static void default_between(bool right)
{
    put(with.c, with.p);
    if (right)
        launch("count", NULL, 0, 0);
    get(with.d, with.p);
}

static void default_stream(bool right)
{
    put(NULL, with.p);
    get(right ? with.c : with.a, with.p);
}

static void destroyed_stream(bool right)
{
    CUstream stream;
    OK(cuStreamCreate(&stream, right ? CU_STREAM_DEFAULT : CU_STREAM_NON_BLOCKING));
    put(stream, with.p);
    OK(cuStreamDestroy_v2(stream));
    get(NULL, with.p);
}

static void neighbours(bool right) /* one word is of both */
{
    put(with.a, with.p);
    get(with.b, with.p + BYTES - (right ? 0 : 4));
}

static void copy_out(bool right)
{
    put(with.a, with.p);
    OK(cuMemcpyDtoHAsync_v2(with.pinned, with.p, BYTES, right ? with.a : with.b));
}

static void copy_that_waits(bool right)
{
    uint32_t words[WORDS];
    put(right ? with.c : with.a, with.p);
    OK(cuMemcpyDtoH_v2(words, with.p, BYTES));
}

static void copy_in(bool right)
{
    OK(cuMemcpyHtoDAsync_v2(with.p, with.pinned, BYTES, with.a));
    if (right)
        order(with.a, with.b);
    get(with.b, with.p);
}

static void copies(bool right) /* of the host's memory */
{
    OK(cuMemcpyDtoHAsync_v2(with.pinned, with.p, BYTES, with.a));
    if (right)
        OK(cuStreamSynchronize(with.a));
    OK(cuMemcpyHtoDAsync_v2(with.q, with.pinned, BYTES, with.b));
}

static void box(bool right) /* every second row of four words */
{
    put(with.a, with.p);
    OK(cuMemsetD2D8Async(with.p + (right ? BYTES : 16), 32, 0, 16, 4, with.b));
}

static void set(bool right)
{
    OK(cuMemsetD32Async(with.p, 0, 1, with.a));
    if (right)
        order(with.a, with.b);
    launch("add", with.b, with.p, 0);
}

static void set_that_waits_not(bool right) /* as cuMemsetD8 of device memory */
{
    OK(cuMemsetD8_v2(with.p, 0, BYTES));
    if (right)
        OK(cuCtxSynchronize());
    put(with.a, with.p);
}

static void copy_that_waits_not(bool right)
{
    OK(cuMemcpyDtoD_v2(with.q, with.p, BYTES));
    if (right)
        OK(cuStreamSynchronize(NULL));
    put(with.a, with.p);
}

static void managed(bool right)
{
    put(with.a, with.managed);
    OK(cuMemcpyAsync((CUdeviceptr)(uintptr_t)with.pinned, with.managed, BYTES,
                     right ? with.a : with.b));
}

static void mapped(bool right) /* a kernel writes the host's memory, which a copy reads */
{
    CUdeviceptr host = 0;
    OK(cuMemHostGetDevicePointer_v2(&host, with.pinned, 0));
    put(with.a, host);
    if (right)
        order(with.a, with.b);
    OK(cuMemcpyHtoDAsync_v2(with.q, with.pinned, BYTES, with.b));
}

static void variable(bool right)
{
    CUdeviceptr seen;
    size_t bytes;
    OK(cuModuleGetGlobal_v2(&seen, &bytes, with.module, "seen"));
    launch("count", with.a, 0, 0);
    OK(cuMemcpyDtoHAsync_v2(with.pinned, seen, bytes, right ? with.a : with.b));
}

static void freed(bool right)
{
    CUdeviceptr p;
    OK(cuMemAllocAsync(&p, BYTES, with.a));
    put(with.a, p);
    if (right)
        order(with.a, with.b);
    OK(cuMemFreeAsync(p, with.b));
}

static void atomics(bool right)
{
    const char *name = right ? "add" : "own";
    launch(name, with.a, with.p, 0);
    launch(name, with.b, with.p, 0);
}

static void flag(bool right)
{
    OK(cuMemsetD8_v2(with.p, 0, BYTES));
    OK(cuCtxSynchronize());
    launch("fetch", with.b, with.p, with.q);
    launch(right ? "publish" : "late", with.a, with.p, 0);
}

/* What waits behind a kernel that has acquired knows what that knows. */
static void flag_then(bool right)
{
    OK(cuMemsetD8_v2(with.p, 0, BYTES));
    OK(cuCtxSynchronize());
    put(with.a, with.p + 256);
    launch("fetch", with.b, with.p, with.q);
    launch(right ? "publish" : "late", with.a, with.p, 0);
    OK(cuMemcpyDtoHAsync_v2(with.pinned, with.p + 512, 256, with.b));
}

static void values(bool right)
{
    OK(cuMemsetD8_v2(with.q, 0, 4));
    OK(cuCtxSynchronize());
    put(with.a, with.p);
    OK(cuStreamWriteValue32_v2(with.a, with.q, 1, 0));
    if (right)
        OK(cuStreamWaitValue32_v2(with.b, with.q, 1, CU_STREAM_WAIT_VALUE_EQ));
    OK(cuMemcpyDtoHAsync_v2(with.pinned, with.p, BYTES, with.b));
}

static void nodes(bool right)
{
    CUgraph graph;
    CUgraphNode first, second;
    CUgraphExec exec;
    void *parameters[] = {&with.p, &with.q};
    CUDA_KERNEL_NODE_PARAMS_v1 node = {
        function_of(with.module, "put"), 4, 1, 1, 64, 1, 1, 0, parameters, NULL};
    OK(cuGraphCreate(&graph, 0));
    OK(cuGraphAddKernelNode(&first, graph, NULL, 0, &node));
    node.func = function_of(with.module, "get");
    OK(cuGraphAddKernelNode(&second, graph, &first, right, &node));
    OK(cuGraphInstantiateWithFlags(&exec, graph, 0));
    OK(cuGraphLaunch(exec, with.a));
    OK(cuStreamSynchronize(with.a));
    OK(cuGraphExecDestroy(exec));
    OK(cuGraphDestroy(graph));
}

static void captured(bool right)
{
    CUgraph graph;
    CUgraphExec exec;
    OK(cuStreamBeginCapture_v2(with.a, CU_STREAM_CAPTURE_MODE_RELAXED));
    if (!right)
        order(with.a, with.b);
    put(with.a, with.p);
    if (right)
        order(with.a, with.b);
    get(with.b, with.p);
    order(with.b, with.a);
    OK(cuStreamEndCapture(with.a, &graph));
    OK(cuGraphInstantiateWithFlags(&exec, graph, 0));
    OK(cuGraphLaunch(exec, with.a));
    OK(cuStreamSynchronize(with.a));
    OK(cuGraphExecDestroy(exec));
    OK(cuGraphDestroy(graph));
}

/* In these is nothing to find either way. */
static void readers(bool right)
{
    launch("get", with.a, with.p, with.q);
    launch("get", with.b, with.p, right ? with.managed : with.q + BYTES);
}

static void host_flag(bool right)
{
    OK(cuMemsetD8_v2(with.p, 0, BYTES));
    OK(cuCtxSynchronize());
    *with.pinned = 1;
    launch("poll", with.a, with.p, 0);
    if (right)
        OK(cuMemcpyHtoDAsync_v2(with.p, with.pinned, 4, with.b));
    else
        OK(cuMemsetD32Async(with.p, 1, 1, with.b));
}

static void given_again(bool right)
{
    CUdeviceptr p, again;
    OK(cuMemAllocAsync(&p, BYTES, with.a));
    put(with.a, p);
    OK(cuMemFreeAsync(p, with.a));
    if (right)
        OK(cuStreamSynchronize(with.a));
    OK(cuMemAllocAsync(&again, BYTES, with.b));
    put(with.b, again);
    OK(cuMemFreeAsync(again, with.b));
}

/* Bytes of one word. */
static void neighbouring_bytes(bool right)
{
    launch("first", with.a, with.p, with.q);
    launch("first", with.b, with.p, with.q + right);
}

/* The host's own stores, of memory that a kernel reads. */
static void store_managed(bool right)
{
    uint32_t *managed = (uint32_t *)(uintptr_t)with.managed;
    launch("get", with.a, with.managed, with.p);
    if (right)
        OK(cuStreamSynchronize(with.a));
    managed[70] = 7;
}

static void store_later(bool right)
{
    CUdeviceptr pinned;
    OK(cuMemHostGetDevicePointer_v2(&pinned, with.pinned, 0));
    launch("get", with.a, pinned, with.p);
    OK(cuEventRecord(with.event, with.a));
    if (right)
        OK(cuEventSynchronize(with.event));
    *with.pinned = 7; /* the record was asked for before: it is not looked at any more */
}

static void store_before_event(bool right)
{
    CUdeviceptr pinned;
    OK(cuMemHostGetDevicePointer_v2(&pinned, with.pinned, 0));
    launch("get", with.a, pinned, with.p);
    if (right)
        OK(cuCtxSynchronize());
    with.pinned[255] = 7;
    OK(cuEventRecord(with.event, with.a));
    launch("put", with.a, pinned, 0);
}

/* What the kernel does not access, and what it waits for. */
static void store_apart(bool right)
{
    uint32_t *managed = (uint32_t *)(uintptr_t)with.managed;
    launch("first", with.a, with.managed, with.p);
    managed[1] = 7;
    ((uint8_t *)managed)[1] = 7;
    if (!right)
        launch("first", with.a, with.managed, with.p);
}

static void store_flag(bool right)
{
    CUdeviceptr pinned;
    OK(cuMemHostGetDevicePointer_v2(&pinned, with.pinned, 0));
    launch("poll", with.a, pinned, 0);
    if (right)
        with.pinned[1] = 7;
    *(volatile uint32_t *)with.pinned = 1;
}

/* More than are remembered, of which the driver says so where nothing orders them. */
static void many(bool right)
{
    for (unsigned i = 0; i < 800; i++) {
        OK(cuMemsetD32Async(with.p + 4 * (i % WORDS), i, 1, with.a));
        OK(cuMemsetD32Async(with.q + 4 * (i % WORDS), i, 1, right ? with.a : with.b));
    }
}

/* What the message of the finding has; of a thread, which, and where. */
static const struct {
    const char *name;
    void (*run)(bool right);
    const char *by, *other;
} cases[] = {
    {"two_kernels", two_kernels, "thread (0,0,0), CTA (0,0,0), reads",
     ":10:1, thread (0,0,0), CTA (0,0,0)"},
    {"waits", waits, "asked for by cuLaunchKernel", "the second by cuLaunchKernel"},
    {"event_too_early", event_too_early, "reads", "writes"},
    {"asks", asks, "reads", "writes"},
    {"asks_stream", asks_stream, "reads", "writes"},
    {"default_between", default_between, "reads", "writes"},
    {"default_stream", default_stream, "reads", "writes"},
    {"destroyed_stream", destroyed_stream, "reads", "writes"},
    {"neighbours", neighbours, "thread (0,0,0), CTA (0,0,0), reads",
     ":10:1, thread (63,0,0), CTA (3,0,0), writes"},
    {"copy_out", copy_out, "the copy (cuMemcpyDtoHAsync_v2), reads", ":10:1, thread (0,0,0)"},
    {"copy_that_waits", copy_that_waits, "the copy (cuMemcpyDtoH_v2), reads", "writes"},
    {"copy_in", copy_in, "reads", "which the copy (cuMemcpyHtoDAsync_v2) writes"},
    {"copies", copies, "the copy (cuMemcpyHtoDAsync_v2), reads",
     "the copy (cuMemcpyDtoHAsync_v2) writes"},
    {"box", box, "the memset (cuMemsetD2D8Async), writes", "thread (4,0,0), CTA (0,0,0), writes"},
    {"set", set, "updates", "the memset (cuMemsetD32Async) writes"},
    {"set_that_waits_not", set_that_waits_not, "writes", "the memset (cuMemsetD8_v2) writes"},
    {"copy_that_waits_not", copy_that_waits_not, "writes", "the copy (cuMemcpyDtoD_v2) reads"},
    {"managed", managed, "the copy (cuMemcpyAsync), reads", "writes"},
    {"mapped", mapped, "the copy (cuMemcpyHtoDAsync_v2), reads", "writes"},
    {"variable", variable, "the copy (cuMemcpyDtoHAsync_v2), reads", "writes"},
    {"freed", freed, "the free (cuMemFreeAsync), writes", ":10:1, thread (0,0,0), CTA (0,0,0)"},
    {"atomics", atomics, "updates", "updates"},
    {"flag", flag, "global address", "CTA (0,0,0)"},
    {"flag_then", flag_then, "global address", "CTA (0,0,0)"},
    {"values", values, "the copy (cuMemcpyDtoHAsync_v2), reads", "writes"},
    {"nodes", nodes, "cuGraphLaunch", "cuGraphLaunch"},
    {"captured", captured, "cuGraphLaunch", "cuGraphLaunch"},
    {"readers", readers, NULL, NULL},
    {"host_flag", host_flag, NULL, NULL},
    {"given_again", given_again, NULL, NULL},
    {"neighbouring_bytes", neighbouring_bytes, "writes", "writes"},
    {"store_managed", store_managed, "thread (6,0,0), CTA (1,0,0), reads",
     "a store of the host writes"},
    {"store_later", store_later, NULL, NULL},
    {"store_before_event", store_before_event, "thread (63,0,0), CTA (3,0,0), reads",
     "asked for by cuLaunchKernel"},
    {"store_apart", store_apart, NULL, NULL},
    {"store_flag", store_flag, NULL, NULL},
    {"many", many, NULL, NULL}};

/* ---- running them ---------------------------------------------------------------------------- */

static char file[] = "/tmp/ptera-cuda-overlap-XXXXXX", found[1 << 16];

static void read_found(void)
{
    FILE *in = fopen(file, "r");
    size_t n = in ? fread(found, 1, sizeof found - 1, in) : 0;
    found[n] = 0;
    if (in)
        fclose(in);
}

static void run(size_t i, bool right)
{
    CHECK(truncate(file, 0) == 0);
    CUcontext ctx = begin();
    OK(cuModuleLoadData(&with.module, text));
    with.p = new_memory(2 * BYTES);
    with.q = new_memory(2 * BYTES);
    OK(cuMemAllocManaged(&with.managed, BYTES, CU_MEM_ATTACH_GLOBAL));
    OK(cuMemHostAlloc((void **)&with.pinned, BYTES, CU_MEMHOSTALLOC_DEVICEMAP));
    memset(with.pinned, 0, BYTES);
    OK(cuStreamCreate(&with.a, CU_STREAM_NON_BLOCKING));
    OK(cuStreamCreate(&with.b, CU_STREAM_NON_BLOCKING));
    OK(cuStreamCreate(&with.c, CU_STREAM_DEFAULT));
    OK(cuStreamCreate(&with.d, CU_STREAM_DEFAULT));
    OK(cuEventCreate(&with.event, CU_EVENT_DISABLE_TIMING));
    OK(cuCtxSynchronize());
    cases[i].run(right);
    OK(cuCtxSynchronize());
    OK(cuCtxDestroy_v2(ctx));
    read_found();
    bool is_wrong = !right && cases[i].by,
         is_found = strstr(found, "\nkind race-stream\n") || strstr(found, "\nkind race-host\n");
    bool is_right = is_found == is_wrong && !strstr(found, "\nkind race\n");
    if (is_wrong)
        is_right &= strstr(found, cases[i].by) && strstr(found, cases[i].other);
    CHECK(is_right);
    if (!is_right)
        fprintf(stderr, "case %s, %s: %.1000s\n", cases[i].name, right ? "right" : "wrong",
                strstr(found, "\nmessage") ? strstr(found, "\nmessage") : "nothing");
}

int main(void)
{
    int fd = mkstemp(file);
    CHECK(fd >= 0);
    close(fd);
    setenv("PTERA_CHECK", "race", 1);
    setenv("PTERA_CHECK_FILE", file, 1);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (int right = 0; right < 2; right++)
            run(i, right);
    unlink(file);
    return CHECK_DONE("overlap");
}
