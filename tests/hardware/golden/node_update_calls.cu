/* What kernels that change kernel nodes of graphs return, and what runs then. node_update_calls.txt
 * is what an H100 made of it (driver 580, nvcc 13.0).
 *
 *     nvcc -rdc=true -arch=sm_90 node_update_calls.cu -lcudadevrt -lcuda
 *
 * Each case runs in a process of its own. */
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cuda_runtime.h>
#include <sys/wait.h>
#include <unistd.h>

#define SAY(call) printf("%s: %d\n", #call, (int)(call))

enum { RAN, A, B, GRID, OTHER = 8, WORDS = 16, RESULTS = 8 };

__device__ int results[RESULTS];

__global__ void target(int a, long long b, int *out)
{
    atomicAdd(out + RAN, 1);
    if (threadIdx.x || blockIdx.x || blockIdx.y || blockIdx.z)
        return;
    out[A] = a;
    out[B] = (int)b;
    out[GRID] = gridDim.x;
    out[GRID + 1] = gridDim.y;
    out[GRID + 2] = gridDim.z;
}

__global__ void other(int a, long long b, int *out)
{
    atomicAdd(out + OTHER, a + (int)b);
}

/* ---- kernels that change a node -------------------------------------------------------------- */

enum what {
    FIRST,
    SECOND,
    OFF,
    ON,
    LARGER,
    BY_VALUE,
    TWO_AT_ONCE,
    BEYOND,
    NO_GRID,
    NO_BYTES,
    NO_UPDATES,
    SMALLER,
    NO_VALUE,
    LAST_ERROR,
    LARGE_GRIDS,
    FIELDS,
    PARTS,
    SHARED
};

__device__ cudaGraphKernelNodeUpdate *updates_in(char *room, cudaGraphDeviceNode_t node, int *a)
{
    auto *u = (cudaGraphKernelNodeUpdate *)room;
    u[0].node = u[1].node = node;
    u[0].field = cudaGraphKernelNodeFieldParam;
    u[0].updateData.param.pValue = a;
    u[0].updateData.param.offset = 0;
    u[0].updateData.param.size = sizeof *a;
    return u;
}

__device__ void change_some(cudaGraphDeviceNode_t node, enum what what)
{
    alignas(16) char room[2 * sizeof(cudaGraphKernelNodeUpdate)] = {0};
    int a = 61;
    auto *u = updates_in(room, node, &a);
    if (what == TWO_AT_ONCE) {
        u[1].field = cudaGraphKernelNodeFieldGridDim;
        u[1].updateData.gridDim = dim3(1, 4, 1);
        results[0] = cudaGraphKernelNodeUpdatesApply(u, 2);
        return;
    }
    a = 71;
    u[1].field = cudaGraphKernelNodeFieldInvalid;
    results[0] = cudaGraphKernelNodeUpdatesApply(u, 2);
    u[1].field = (cudaGraphKernelNodeField)9;
    results[1] = cudaGraphKernelNodeUpdatesApply(u, 2);
    results[2] = cudaGraphKernelNodeUpdatesApply(u, 0);
    u[1].field = cudaGraphKernelNodeFieldEnabled;
    u[1].updateData.isEnabled = 5;
    results[3] = cudaGraphKernelNodeUpdatesApply(u, 2);
}

__device__ void change_parts(cudaGraphDeviceNode_t node)
{
    int a = 0x01020304;
    results[0] = cudaGraphKernelNodeSetParam(node, 0, &a, 2);
    results[1] = cudaGraphKernelNodeSetParam(node, 2, &a, 1);
    results[2] = cudaGraphKernelNodeSetParam(node, 24, &a, 0);
    results[3] = cudaGraphKernelNodeSetParam(node, 24, &a, 1);
    results[4] = cudaGraphKernelNodeSetParam(node, 22, &a, 4);
}

__global__ void change(cudaGraphDeviceNode_t node, enum what what)
{
    __shared__ int shared;
    int a = 41;
    long long b = 42;
    for (int i = 0; i < RESULTS; i++)
        results[i] = 77;
    switch (what) {
    case FIRST:
        results[0] = cudaGraphKernelNodeSetParam(node, 0, &a, sizeof a);
        break;
    case SECOND:
        results[0] = cudaGraphKernelNodeSetParam(node, 8, &b, sizeof b);
        break;
    case OFF:
        results[0] = cudaGraphKernelNodeSetEnabled(node, false);
        break;
    case ON:
        results[0] = cudaGraphKernelNodeSetEnabled(node, true);
        break;
    case LARGER:
        results[0] = cudaGraphKernelNodeSetGridDim(node, dim3(3, 2, 1));
        break;
    case BY_VALUE:
        results[0] = cudaGraphKernelNodeSetParam(node, 0, 51);
        break;
    case BEYOND:
        results[0] = cudaGraphKernelNodeSetParam(node, 1000, &a, sizeof a);
        break;
    case NO_GRID:
        results[0] = cudaGraphKernelNodeSetGridDim(node, dim3(0, 1, 1));
        break;
    case NO_BYTES:
        results[0] = cudaGraphKernelNodeSetParam(node, 0, &a, 0);
        break;
    case NO_UPDATES:
        results[0] = cudaGraphKernelNodeUpdatesApply(nullptr, 0);
        break;
    case SMALLER:
        results[0] = cudaGraphKernelNodeSetGridDim(node, dim3(1, 1, 1));
        break;
    case NO_VALUE:
        results[0] = cudaGraphKernelNodeSetParam(node, 0, (void *)nullptr, sizeof a);
        break;
    case LAST_ERROR:
        results[0] = cudaGraphKernelNodeSetParam(node, 1000, &a, sizeof a);
        results[1] = cudaPeekAtLastError();
        results[2] = cudaGetLastError();
        results[3] = cudaPeekAtLastError();
        break;
    case LARGE_GRIDS:
        results[0] = cudaGraphKernelNodeSetGridDim(node, dim3(1, 70000, 1));
        results[1] = cudaGraphKernelNodeSetGridDim(node, dim3(1, 1, 70000));
        results[2] = cudaGraphKernelNodeSetGridDim(node, dim3(0x80000000u, 1, 1));
        break;
    case TWO_AT_ONCE:
    case FIELDS:
        change_some(node, what);
        break;
    case PARTS:
        change_parts(node);
        break;
    case SHARED:
        shared = 12;
        __syncthreads();
        results[0] = cudaGraphKernelNodeSetParam(node, 0, &shared, sizeof shared);
        break;
    }
}

/* ---- graphs ---------------------------------------------------------------------------------- */

static int *out, a = 1;
static long long b = 2;
static void *arguments[] = {&a, &b, &out};
static cudaStream_t stream;
static cudaGraph_t graph;
static cudaGraphNode_t node;
static cudaGraphExec_t exec;
static cudaKernelNodeParams params;

static void show(const char *when)
{
    int v[WORDS], r[RESULTS];
    cudaError_t e = cudaDeviceSynchronize();
    memset(v, 0, sizeof v);
    memset(r, 0, sizeof r);
    cudaMemcpy(v, out, sizeof v, cudaMemcpyDeviceToHost);
    cudaMemcpyFromSymbol(r, results, sizeof r);
    printf("%s: %d, results %d %d %d %d %d, ran %d a %d b %d grid %d %d %d, other %d\n", when,
           (int)e, r[0], r[1], r[2], r[3], r[4], v[RAN], v[A], v[B], v[GRID], v[GRID + 1],
           v[GRID + 2], v[OTHER]);
    cudaMemset(out, 0, sizeof v);
    cudaDeviceSynchronize();
}

static cudaGraphDeviceNode_t make_updatable(cudaGraphNode_t which)
{
    cudaKernelNodeAttrValue value = {};
    SAY(cudaGraphKernelNodeSetAttribute(which, cudaLaunchAttributeDeviceUpdatableKernelNode,
                                        &value));
    value.deviceUpdatableKernelNode.deviceUpdatable = 1;
    SAY(cudaGraphKernelNodeSetAttribute(which, cudaLaunchAttributeDeviceUpdatableKernelNode,
                                        &value));
    cudaGraphDeviceNode_t given = value.deviceUpdatableKernelNode.devNode;
    memset(&value, 0, sizeof value);
    SAY(cudaGraphKernelNodeGetAttribute(which, cudaLaunchAttributeDeviceUpdatableKernelNode,
                                        &value));
    printf("the same %d\n", given && given == value.deviceUpdatableKernelNode.devNode);
    return given;
}

/* A graph of a node that kernels may change. */
static cudaGraphDeviceNode_t begin()
{
    cudaMalloc(&out, WORDS * sizeof *out);
    cudaMemset(out, 0, WORDS * sizeof *out);
    cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
    cudaGraphCreate(&graph, 0);
    params.func = (void *)target;
    params.gridDim = params.blockDim = dim3(1);
    params.kernelParams = arguments;
    SAY(cudaGraphAddKernelNode(&node, graph, nullptr, 0, &params));
    return make_updatable(node);
}

static void instantiate(unsigned flags, bool uploads)
{
    SAY(cudaGraphInstantiate(&exec, graph, flags));
    if (uploads)
        SAY(cudaGraphUpload(exec, stream));
    SAY(cudaStreamSynchronize(stream));
}

static void run(cudaGraphDeviceNode_t handle, enum what what)
{
    char title[20];
    snprintf(title, sizeof title, "change %d", (int)what);
    change<<<1, 1>>>(handle, what);
    show(title);
    SAY(cudaGraphLaunch(exec, stream));
    show("ran");
}

static void run_all(unsigned flags, bool uploads)
{
    cudaGraphDeviceNode_t handle = begin();
    instantiate(flags, uploads);
    SAY(cudaGraphLaunch(exec, stream));
    show("as it was");
    for (int what = FIRST; what <= SHARED; what++)
        run(handle, (enum what)what);
}

static void changes()
{
    run_all(0, true);
}

static void not_uploaded()
{
    run_all(0, false);
}

static void for_kernels()
{
    run_all(cudaGraphInstantiateFlagDeviceLaunch, true);
}

/* What the host may change besides. */
static void host()
{
    cudaGraphExecUpdateResultInfo info;
    cudaGraph_t clone, outer;
    cudaGraphNode_t child;
    cudaGraphExec_t second;
    cudaGraphDeviceNode_t handle = begin();
    instantiate(0, true);
    run(handle, FIRST);
    SAY(cudaGraphExecUpdate(exec, graph, &info));
    SAY(cudaGraphExecKernelNodeSetParams(exec, node, &params));
    SAY(cudaGraphLaunch(exec, stream));
    show("set");
    run(handle, LARGER);
    SAY(cudaGraphNodeSetEnabled(exec, node, 0));
    SAY(cudaGraphLaunch(exec, stream));
    show("off");
    SAY(cudaGraphInstantiate(&second, graph, 0));
    SAY(cudaGraphClone(&clone, graph));
    SAY(cudaGraphDestroyNode(node));
    SAY(cudaGraphCreate(&outer, 0));
    SAY(cudaGraphAddChildGraphNode(&child, outer, nullptr, 0, graph));
    SAY(cudaGraphExecDestroy(exec));
    SAY(cudaGraphInstantiate(&exec, graph, 0));
    run(handle, FIRST);
}

/* A kernel of the graph changes the one behind it. */
static void in_graph()
{
    enum what order[] = {FIRST, LARGER, OFF, SECOND, ON, SHARED};
    cudaGraphNode_t changer;
    cudaKernelNodeParams p = {};
    cudaGraphDeviceNode_t handle = begin();
    void *of_changer[] = {&handle, &order[0]};
    p.func = (void *)change;
    p.gridDim = p.blockDim = dim3(1);
    p.kernelParams = of_changer;
    SAY(cudaGraphAddKernelNode(&changer, graph, nullptr, 0, &p));
    SAY(cudaGraphAddDependencies(graph, &changer, &node, nullptr, 1));
    instantiate(0, true);
    for (int i = 0; i < (int)(sizeof order / sizeof *order); i++) {
        of_changer[1] = &order[i];
        SAY(cudaGraphExecKernelNodeSetParams(exec, changer, &p));
        SAY(cudaGraphLaunch(exec, stream));
        show("in the graph");
    }
}

static void no_executable()
{
    cudaGraphDeviceNode_t handle = begin();
    change<<<1, 1>>>(handle, OFF);
    show("not instantiated");
}

static void no_node()
{
    begin();
    change<<<1, 1>>>(nullptr, OFF);
    show("no node");
}

static void another_function()
{
    cudaGraphDeviceNode_t handle = begin();
    instantiate(0, true);
    params.func = (void *)other;
    SAY(cudaGraphKernelNodeSetParams(node, &params));
    SAY(cudaGraphExecKernelNodeSetParams(exec, node, &params));
    SAY(cudaGraphLaunch(exec, stream));
    show("another");
    run(handle, FIRST);
}

static const struct {
    const char *name;
    void (*call)();
} parts[] = {
    {"changes", changes},   {"not uploaded", not_uploaded},   {"for kernels", for_kernels},
    {"host", host},         {"in a graph", in_graph},         {"no executable", no_executable},
    {"no node", no_node},   {"another function", another_function},
};

int main(int argc, char **v)
{
    const int n = sizeof parts / sizeof *parts;
    if (argc > 1) {
        setvbuf(stdout, NULL, _IOLBF, 0);
        alarm(20);
        parts[atoi(v[1])].call();
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
