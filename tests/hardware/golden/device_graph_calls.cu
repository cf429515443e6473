/* What graphs that kernels launch return, and in which order they run. device_graph_calls.txt is
 * what an H200 made of it (driver 580, nvcc 13.0).
 *
 *     nvcc -rdc=true -arch=sm_90 device_graph_calls.cu -lcudadevrt -lcuda
 *
 * Kernels of graphs that kernels launch do not call what is linked in for launches of kernels, as
 * cudaGetLastError. Each case runs in a process of its own. What may run in any order is told in that of its
 * values. */
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cuda.h>
#include <sys/wait.h>
#include <unistd.h>

enum { EXECS = 300, FREE = 2, TAIL = 1, SIBLING = 3 };

__device__ int values[512], n_values, results[512], is_open;
__device__ cudaGraphExec_t execs[EXECS];

__device__ void say(int v)
{
    int i = atomicAdd(&n_values, 1);
    if (i < 512)
        values[i] = v;
}

__device__ cudaError_t launch(int exec, int mode)
{
    return cudaGraphLaunch(execs[exec], (cudaStream_t)((unsigned long long)mode << 56));
}

__device__ void wait_until_open()
{
    while (!*(volatile int *)&is_open)
        ;
}

__device__ void open()
{
    *(volatile int *)&is_open = 1;
    __threadfence();
}

/* ---- kernels --------------------------------------------------------------------------------- */

__global__ void note(int v)
{
    say(v);
}

__global__ void note_late(int v)
{
    wait_until_open();
    say(v);
}

__global__ void note_and_open(int v)
{
    say(v);
    open();
}

__global__ void launch_kernel()
{
    note<<<1, 1>>>(1);
}

__global__ void print()
{
    printf("printed\n");
}

__global__ void decide(cudaGraphConditionalHandle handle)
{
    cudaGraphSetConditional(handle, 0);
}

/* Launches exec 0 `n` times. */
__global__ void launch_times(int mode, int n)
{
    for (int i = 0; i < n; i++)
        results[i] = launch(0, mode) + 1000;
    say(77);
    open();
}

/* Launches execs from 0 on, once each. */
__global__ void launch_many(int mode, int n)
{
    int failed = 0, first = 0;
    for (int i = 0; i < n; i++) {
        int e = launch(i, mode);
        if (e && !failed++)
            first = e;
    }
    results[0] = failed + 1000;
    results[1] = first + 1000;
    say(77);
    open();
}

__global__ void launch_in(int v, int first, int first_mode, int second, int second_mode)
{
    say(v);
    if (first_mode)
        results[v] = launch(first, first_mode) + 1000;
    if (second_mode)
        results[v + 1] = launch(second, second_mode) + 1000;
}

__global__ void tail_self(int n)
{
    int i = atomicAdd(&n_values, 1);
    values[i] = i;
    if (i >= n)
        return;
    int e = cudaGraphLaunch(cudaGetCurrentGraphExec(), cudaStreamGraphTailLaunch);
    if (e)
        results[0] = e;
}

/* Exec `other` by turns with the graph that this is in. */
__global__ void pass_on(int v, int other, int n)
{
    say(v);
    if (n_values < n)
        results[v] = launch(other, TAIL) + 1000;
}

__global__ void launch_stream(cudaGraphExec_t exec, unsigned long long stream)
{
    results[0] = cudaGraphLaunch(exec, (cudaStream_t)stream) + 1000;
    say(77);
    open();
}

/* Again when it is done. */
__global__ void launch_again()
{
    results[0] = launch(0, FREE) + 1000;
    open();
    while (!*(volatile int *)&n_values)
        ;
    int e = 1;
    for (int i = 0; i < 1000000 && e; i++)
        e = launch(0, FREE);
    results[1] = e + 1000;
}

__global__ void who(int i)
{
    cudaGraphExec_t exec = cudaGetCurrentGraphExec();
    results[i] = (exec != 0) + 2 * (exec == execs[0]) + 1000;
}

/* ---- the host -------------------------------------------------------------------------------- */

static cudaStream_t stream;

static void show(const char *what, bool is_ordered = true)
{
    static int have[512], codes[512], zeros[512];
    int n = 0, last = 0;
    cudaError_t launched = cudaGetLastError(), error = cudaDeviceSynchronize();
    if (error) /* what was launched behind a kernel that fails may have been told, or not yet */
        printf("%s: - %d;", what, error);
    else
        printf("%s: %d %d;", what, launched, error);
    if (error == cudaSuccess) {
        cudaMemcpyFromSymbol(&n, n_values, sizeof n);
        cudaMemcpyFromSymbol(have, values, sizeof have);
        cudaMemcpyFromSymbol(codes, results, sizeof codes);
        if (!is_ordered)
            std::sort(have, have + std::min(n, 512));
        for (int i = 0; i < n && i < 20; i++)
            printf(" %d", have[i]);
        if (n >= 20)
            printf(" (%d)", n);
        printf("; results");
        for (int i = 0; i < 512; i++)
            last = codes[i] ? i + 1 : last;
        for (int i = 0; i < last; i++)
            printf(" %d", codes[i]);
        cudaMemcpyToSymbol(values, zeros, sizeof zeros);
        cudaMemcpyToSymbol(results, zeros, sizeof zeros);
        cudaMemcpyToSymbol(n_values, zeros, sizeof n_values);
        cudaMemcpyToSymbol(is_open, zeros, sizeof is_open);
    }
    printf("\n");
}

template <typename... T> static cudaGraphNode_t add(cudaGraph_t graph, void (*kernel)(T...), T... v)
{
    void *parameters[] = {&v..., NULL};
    cudaKernelNodeParams p = {};
    cudaGraphNode_t node = NULL, last[8];
    size_t n = 8;
    cudaGraphGetNodes(graph, last, &n);
    p.func = (void *)kernel;
    p.gridDim = p.blockDim = 1;
    p.kernelParams = parameters;
    cudaGraphAddKernelNode(&node, graph, n ? &last[n - 1] : NULL, n ? 1 : 0, &p);
    return node;
}

template <typename... T> static cudaGraph_t graph_of(void (*kernel)(T...), T... v)
{
    cudaGraph_t graph;
    cudaGraphCreate(&graph, 0);
    add(graph, kernel, v...);
    return graph;
}

static cudaGraphExec_t make(cudaGraph_t graph,
                            unsigned flags = cudaGraphInstantiateFlagDeviceLaunch)
{
    cudaGraphExec_t exec = NULL;
    cudaError_t e = cudaGraphInstantiate(&exec, graph, flags);
    if (e)
        printf("cudaGraphInstantiate: %d\n", e);
    return exec;
}

/* Kernels know it by this number. */
static void give(int i, cudaGraphExec_t exec, bool is_uploaded = true)
{
    if (is_uploaded)
        cudaGraphUpload(exec, stream);
    cudaMemcpyToSymbol(execs, &exec, sizeof exec, i * sizeof exec);
    cudaStreamSynchronize(stream);
}

template <typename... T>
static void run(const char *what, bool is_ordered, unsigned flags, void (*kernel)(T...), T... v)
{
    cudaGraphLaunch(make(graph_of(kernel, v...), flags), stream);
    note<<<1, 1, 0, stream>>>(999);
    show(what, is_ordered);
}

static const unsigned device = cudaGraphInstantiateFlagDeviceLaunch;

/* ---- what can be launched -------------------------------------------------------------------- */

static void say_made(const char *what, cudaGraph_t graph, unsigned flags = device)
{
    cudaGraphExec_t exec = NULL;
    cudaGraphInstantiateParams p = {};
    cudaGraphNode_t nodes[1] = {NULL};
    size_t n = 1;
    unsigned long long have = 77;
    p.flags = flags;
    p.uploadStream = stream;
    cudaError_t plain = cudaGraphInstantiate(&exec, graph, flags);
    if (exec)
        cudaGraphExecDestroy(exec);
    exec = NULL;
    cudaError_t e = cudaGraphInstantiateWithParams(&exec, graph, &p);
    cudaGraphGetNodes(graph, nodes, &n);
    if (exec)
        cudaGraphExecGetFlags(exec, &have);
    printf("%s: %d, with parameters %d, result %d, %s, flags %llu\n", what, plain, e, p.result_out,
           !p.errNode_out              ? "no node"
           : p.errNode_out == nodes[0] ? "the node"
                                       : "another node",
           have);
    cudaGetLastError();
}

static cudaGraph_t copy_of(void *to, const void *from, cudaMemcpyKind kind)
{
    cudaGraph_t graph;
    cudaGraphNode_t node;
    cudaGraphCreate(&graph, 0);
    cudaGraphAddMemcpyNode1D(&node, graph, NULL, 0, to, from, 16, kind);
    return graph;
}

static void nothing(void *)
{
}

static void copies()
{
    static char on_host[64];
    void *a, *b, *pinned;
    cudaMalloc(&a, 64);
    cudaMalloc(&b, 64);
    cudaMallocHost(&pinned, 64);
    say_made("device to device", copy_of(a, b, cudaMemcpyDeviceToDevice));
    say_made("pinned to device", copy_of(a, pinned, cudaMemcpyHostToDevice));
    say_made("device to pinned", copy_of(pinned, a, cudaMemcpyDeviceToHost));
    say_made("pageable to device", copy_of(a, on_host, cudaMemcpyHostToDevice));
    say_made("device to pageable", copy_of(on_host, a, cudaMemcpyDeviceToHost));
    cudaGraph_t graph;
    cudaGraphNode_t node;
    cudaArray_t array;
    cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
    cudaMallocArray(&array, &format, 4, 4);
    cudaMemcpy3DParms p = {};
    p.srcPtr = make_cudaPitchedPtr(a, 16, 4, 4);
    p.dstArray = array;
    p.extent = make_cudaExtent(4, 1, 1);
    p.kind = cudaMemcpyDeviceToDevice;
    cudaGraphCreate(&graph, 0);
    cudaGraphAddMemcpyNode(&node, graph, NULL, 0, &p);
    say_made("to an array", graph);
    cudaMemsetParams set = {};
    set.dst = a;
    set.elementSize = 1;
    set.width = 16;
    set.height = 1;
    cudaGraphCreate(&graph, 0);
    cudaGraphAddMemsetNode(&node, graph, NULL, 0, &set);
    say_made("fill", graph);
    cudaGraphCreate(&graph, 0);
    cudaMemAllocNodeParams m = {};
    m.poolProps.allocType = cudaMemAllocationTypePinned;
    m.poolProps.location.type = cudaMemLocationTypeDevice;
    m.bytesize = 64;
    cudaGraphAddMemAllocNode(&node, graph, NULL, 0, &m);
    say_made("allocation", graph);
}

static void contents()
{
    cudaGraph_t graph, hosts;
    cudaGraphNode_t node;
    cudaHostNodeParams h = {nothing, NULL};
    cudaEvent_t event;
    cudaEventCreate(&event);
    cudaGraphCreate(&graph, 0);
    say_made("empty graph", graph);
    cudaGraphAddEmptyNode(&node, graph, NULL, 0);
    say_made("empty node", graph);
    add(graph, note, 1);
    say_made("empty node, kernel", graph);
    cudaGraphCreate(&hosts, 0);
    cudaGraphAddHostNode(&node, hosts, NULL, 0, &h);
    say_made("host", hosts);
    cudaGraphCreate(&graph, 0);
    cudaGraphAddChildGraphNode(&node, graph, NULL, 0, graph_of(note, 1));
    say_made("child", graph);
    cudaGraphCreate(&graph, 0);
    cudaGraphAddChildGraphNode(&node, graph, NULL, 0, hosts);
    say_made("child with a host node", graph);
    cudaGraphCreate(&graph, 0);
    cudaGraphAddEventRecordNode(&node, graph, NULL, 0, event);
    say_made("event record", graph);
    cudaGraphCreate(&graph, 0);
    cudaGraphAddEventWaitNode(&node, graph, NULL, 0, event);
    say_made("event wait", graph);
    cudaGraphConditionalHandle handle;
    cudaGraphCreate(&graph, 0);
    cudaGraphConditionalHandleCreate(&handle, graph, 0, cudaGraphCondAssignDefault);
    cudaGraphNodeParams c = {};
    c.type = cudaGraphNodeTypeConditional;
    c.conditional.handle = handle;
    c.conditional.size = 1;
    cudaGraphAddNode(&node, graph, NULL, NULL, 0, &c);
    say_made("conditional", graph);
    say_made("kernel that launches a kernel", graph_of(launch_kernel));
    say_made("kernel that launches a graph", graph_of(tail_self, 1));
    say_made("kernel that prints", graph_of(print));
    say_made("kernel that sets a condition", graph_of(decide, handle));
    graph = graph_of(note, 1);
    for (unsigned flags = 0; flags < 32; flags++)
        say_made("flags", graph, flags);
    copies();
}

/* ---- launches -------------------------------------------------------------------------------- */

static void modes()
{
    const int all[] = {FREE, TAIL, SIBLING, 0, 4, 5, 255};
    give(0, make(graph_of(note_late, 5)));
    for (int mode : all)
        for (int n = 1; n < 3; n++) {
            printf("mode %d, times %d: ", mode, n);
            run("device", mode == TAIL, device, launch_times, mode, n);
        }
    for (int mode : all) {
        printf("mode %d: ", mode);
        run("from a host's graph", mode == TAIL, 0, launch_times, mode, 2);
    }
}

static void streams()
{
    const unsigned long long all[] = {0, 1, 2, 3, 4, 0x1234, (unsigned long long)stream};
    cudaGraphExec_t exec = make(graph_of(note_late, 5));
    cudaGraphUpload(exec, stream);
    for (unsigned long long s : all)
        run("stream", false, device, launch_stream, exec, s);
}

static void uploads()
{
    cudaGraph_t graph = graph_of(note_late, 5);
    cudaGraphExec_t exec = make(graph);
    cudaGraphInstantiateParams p = {};
    give(0, exec, false);
    run("not uploaded", false, device, launch_times, (int)FREE, 1);
    note_and_open<<<1, 1>>>(4);
    cudaGraphLaunch(exec, stream);
    show("launched by the host");
    run("then by a kernel", false, device, launch_times, (int)FREE, 1);
    p.flags = device | cudaGraphInstantiateFlagUpload;
    p.uploadStream = stream;
    cudaGraphInstantiateWithParams(&exec, graph, &p);
    give(0, exec, false);
    run("uploaded as it was made", false, device, launch_times, (int)FREE, 1);
    cudaGraphNode_t node;
    size_t n = 1;
    cudaGraphGetNodes(graph, &node, &n);
    int v = 6;
    void *parameters[] = {&v};
    cudaKernelNodeParams k = {};
    k.func = (void *)note_late;
    k.gridDim = k.blockDim = 1;
    k.kernelParams = parameters;
    printf("change: %d\n", cudaGraphExecKernelNodeSetParams(exec, node, &k));
    run("changed", false, device, launch_times, (int)FREE, 1);
    cudaGraphUpload(exec, stream);
    run("changed and uploaded", false, device, launch_times, (int)FREE, 1);
    cudaGraphExecUpdateResultInfo info = {};
    printf("update: %d", cudaGraphExecUpdate(exec, graph_of(note, 8), &info));
    printf(" %d\n", info.result);
    cudaGetLastError();
    cudaGraphUpload(exec, stream);
    run("updated and uploaded", false, device, launch_times, (int)FREE, 1);
    printf("upload of another: %d\n", cudaGraphUpload(make(graph, 0), stream));
}

static void outside()
{
    give(0, make(graph_of(note_late, 5)));
    launch_times<<<1, 1, 0, stream>>>(FREE, 1);
    show("kernel of no graph");
    cudaGraph_t graph;
    cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal);
    launch_times<<<1, 1, 0, stream>>>(FREE, 1);
    printf("captured: %d", cudaGetLastError());
    printf(" %d\n", cudaStreamEndCapture(stream, &graph));
    cudaGraphLaunch(make(graph, 0), stream);
    show("captured", false);
}

static void order()
{
    run("tail of itself", true, device, tail_self, 5);
    cudaGraph_t graph = graph_of(tail_self, 5);
    add(graph, tail_self, 5);
    cudaGraphLaunch(make(graph), stream);
    show("by two nodes");
    give(0, make(graph_of(pass_on, 0, 1, 9)));
    give(1, make(graph_of(pass_on, 1, 0, 9)));
    run("by turns", true, device, pass_on, 2, 0, 9);
    give(3, make(graph_of(note, 40)));
    give(0, make(graph_of(launch_in, 20, 3, (int)TAIL, 0, 0)));
    give(1, make(graph_of(note, 30)));
    run("tails of tails", true, device, launch_in, 10, 0, (int)TAIL, 1, (int)TAIL);
    run("tail of what was let go", true, device, launch_in, 10, 0, (int)FREE, 1, (int)TAIL);
    give(0, make(graph_of(note_late, 20)));
    give(1, make(graph_of(note_and_open, 30)));
    run("sibling", true, device, launch_in, 10, 0, (int)SIBLING, 1, (int)TAIL);
    run("sibling in a host's graph", true, 0, launch_in, 10, 0, (int)SIBLING, 1, (int)TAIL);
    give(2, make(graph_of(launch_in, 40, 0, (int)SIBLING, 1, (int)TAIL)));
    run("sibling of one that was let go", true, device, launch_in, 10, 2, (int)FREE, 0, 0);
}

static void itself()
{
    const int all[] = {FREE, SIBLING};
    for (int mode : all) {
        cudaGraphExec_t exec = make(graph_of(launch_in, 10, 0, mode, 0, 0));
        give(0, exec);
        cudaGraphLaunch(exec, stream);
        show("itself");
    }
    cudaGraphExec_t exec = make(graph_of(launch_in, 10, 0, (int)FREE, 0, 0));
    give(0, exec);
    give(1, make(graph_of(launch_in, 20, 0, (int)FREE, 0, (int)TAIL)));
    cudaGraphExec_t above = make(graph_of(launch_in, 30, 1, (int)FREE, 0, 0));
    give(0, above);
    cudaGraphLaunch(above, stream);
    show("what launched it");
    give(0, make(graph_of(note_late, 5)));
    run("again", true, device, launch_again);
}

static void limits()
{
    for (int i = 0; i < EXECS; i++)
        give(i, make(graph_of(note, 5)));
    const int all[] = {FREE, TAIL, SIBLING};
    for (int mode : all) {
        printf("mode %d: ", mode);
        run("many", false, device, launch_many, mode, (int)EXECS);
    }
}

static void wrong(int k)
{
    cudaGraphExec_t exec = make(graph_of(note_late, 5), k ? device : 0);
    if (k == 1)
        exec = NULL;
    if (k == 2)
        cudaGraphExecDestroy(exec);
    if (k == 3)
        exec = (cudaGraphExec_t)stream;
    run("wrong", false, device, launch_stream, exec, (unsigned long long)FREE << 56);
}

static void current()
{
    who<<<1, 1>>>(0);
    show("kernel");
    cudaGraph_t graph = graph_of(who, 0), outer;
    cudaGraphNode_t node;
    cudaGraphLaunch(make(graph, 0), stream);
    show("a host's graph");
    cudaGraphExec_t exec = make(graph);
    give(0, exec);
    cudaGraphLaunch(exec, stream);
    show("a device's graph");
    cudaGraphCreate(&outer, 0);
    cudaGraphAddChildGraphNode(&node, outer, NULL, 0, graph);
    exec = make(outer);
    give(0, exec);
    cudaGraphLaunch(exec, stream);
    show("in a child");
    give(0, make(graph));
    run("launched by a kernel", true, device, launch_times, (int)TAIL, 1);
}

static const struct {
    const char *name;
    void (*call)();
} parts[] = {
    {"contents", contents}, {"modes", modes},  {"streams", streams}, {"uploads", uploads},
    {"outside", outside},   {"order", order},  {"itself", itself},   {"limits", limits},
    {"current", current},   {"wrong 0", NULL}, {"wrong 1", NULL},    {"wrong 2", NULL},
    {"wrong 3", NULL},
};

int main(int argc, char **v)
{
    const int n = sizeof parts / sizeof *parts, first_wrong = n - 4;
    if (argc > 1) {
        int k = atoi(v[1]);
        setvbuf(stdout, NULL, _IOLBF, 0);
        alarm(20);
        cudaStreamCreate(&stream);
        if (k < first_wrong)
            parts[k].call();
        else
            wrong(k - first_wrong);
        return 0;
    }
    for (int k = 0; k < n; k++) {
        printf("== %s\n", parts[k].name);
        fflush(stdout);
        if (!fork()) {
            char number[8];
            snprintf(number, sizeof number, "%d", k);
            execl(v[0], v[0], number, NULL);
            _exit(9);
        }
        int s;
        wait(&s);
        if (s)
            printf("ended %x\n", s);
    }
    return 0;
}
