/* Graphs that kernels launch: what is done while they run. (What their calls return, and orders:
 * tests/hardware/golden/device_graph_calls.cu.) */
#include "tests/cuda/support.h"

enum { ROUNDS = 5000, TAIL = 1 };

/* Counts at *p; until `most` the graph launches `exec`, itself where that is 0. */
static const char text[] =
    ".version 8.0\n.target sm_90\n.address_size 64\n"
    ".extern .func (.param .b32 r) cudaGraphLaunch(.param .b64 g, .param .b64 s);\n"
    ".visible .entry count(.param .u64 p, .param .u64 g, .param .u64 how, .param .u32 most)\n{\n"
    "    .reg .b64 %p, %g, %how; .reg .b32 %old, %most, %r; .reg .pred %c;\n"
    "    ld.param.u64 %p, [p]; ld.param.u64 %g, [g]; ld.param.u64 %how, [how];\n"
    "    ld.param.u32 %most, [most]; atom.global.add.u32 %old, [%p], 1;\n"
    "    setp.ge.u32 %c, %old, %most; @%c ret;\n"
    "    setp.eq.u64 %c, %g, 0; @%c mov.u64 %g, %current_graph_exec; shl.b64 %how, %how, 56;\n"
    "    { .param .b64 a; .param .b64 b; .param .b32 v; st.param.b64 [a], %g;\n"
    "      st.param.b64 [b], %how; call.uni (v), cudaGraphLaunch, (a, b);\n"
    "      ld.param.b32 %r, [v]; }\n"
    "    st.global.u32 [%p+4], %r; ret;\n}\n"
    /* lets a graph go and waits for it */
    ".visible .entry await(.param .u64 p, .param .u64 g)\n{\n"
    "    .reg .b64 %p, %g; .reg .b32 %v, %r; .reg .pred %c;\n"
    "    ld.param.u64 %p, [p]; ld.param.u64 %g, [g];\n"
    "    { .param .b64 a; .param .b64 b; .param .b32 v; st.param.b64 [a], %g;\n"
    "      st.param.b64 [b], 0x200000000000000; call.uni (v), cudaGraphLaunch, (a, b);\n"
    "      ld.param.b32 %r, [v]; }\n"
    "    st.global.u32 [%p+4], %r;\n"
    "again: ld.volatile.global.u32 %v, [%p]; setp.eq.u32 %c, %v, 0; @%c bra again;\n"
    "    st.global.u32 [%p+8], %v; ret;\n}\n"
    ".visible .entry stop() { trap; }\n"
    /* counts its blocks, and says what it was given and how many they are */
    ".visible .entry show(.param .u64 p, .param .u32 what)\n{\n"
    "    .reg .b64 %p; .reg .b32 %what, %n, %old;\n"
    "    ld.param.u64 %p, [p]; ld.param.u32 %what, [what]; mov.u32 %n, %nctaid.x;\n"
    "    atom.global.add.u32 %old, [%p], 1; st.global.u32 [%p+4], %what;\n"
    "    st.global.u32 [%p+8], %n; ret;\n}\n"
    ".extern .func (.param .b32 r) cudaGraphKernelNodeSetParam(.param .b64 n, .param .b64 at,\n"
    "    .param .b64 value, .param .b64 bytes);\n"
    ".extern .func (.param .b32 r) cudaGraphKernelNodeSetGridDim(.param .b64 n,\n"
    "    .param .align 4 .b8 grid[12]);\n"
    ".extern .func (.param .b32 r) cudaGraphKernelNodeSetEnabled(.param .b64 n, .param .b32 on);\n"
    /* changes that of a node to what lies at `value`, and its grid to `blocks`; 0: it is off */
    ".visible .entry change(.param .u64 n, .param .u64 value, .param .u32 blocks)\n{\n"
    "    .reg .b64 %n, %value; .reg .b32 %blocks, %on, %r; .reg .pred %c;\n"
    "    ld.param.u64 %n, [n]; ld.param.u64 %value, [value]; ld.param.u32 %blocks, [blocks];\n"
    "    { .param .b64 a; .param .b64 b; .param .b64 c; .param .b64 d; .param .b32 v;\n"
    "      st.param.b64 [a], %n; st.param.b64 [b], 8; st.param.b64 [c], %value;\n"
    "      st.param.b64 [d], 4;\n"
    "      call.uni (v), cudaGraphKernelNodeSetParam, (a, b, c, d); ld.param.b32 %r, [v]; }\n"
    "    setp.ne.u32 %c, %blocks, 0; selp.u32 %on, 1, 0, %c;\n"
    "    { .param .b64 a; .param .b32 b; .param .b32 v; st.param.b64 [a], %n;\n"
    "      st.param.b32 [b], %on;\n"
    "      call.uni (v), cudaGraphKernelNodeSetEnabled, (a, b); ld.param.b32 %r, [v]; }\n"
    "    @!%c ret;\n"
    "    { .param .b64 a; .param .align 4 .b8 b[12]; .param .b32 v; st.param.b64 [a], %n;\n"
    "      st.param.b32 [b], %blocks; st.param.b32 [b+4], 1; st.param.b32 [b+8], 1;\n"
    "      call.uni (v), cudaGraphKernelNodeSetGridDim, (a, b); ld.param.b32 %r, [v]; }\n"
    "    ret;\n}\n";

static CUdeviceptr words;
static CUmodule module;

static unsigned get(unsigned i)
{
    unsigned v = 0;
    OK(cuMemcpyDtoH_v2(&v, words + i * 4, sizeof v));
    return v;
}

static CUgraph graph_of(const char *kernel, void **parameters)
{
    CUgraph graph;
    CUgraphNode node;
    CUDA_KERNEL_NODE_PARAMS_v1 p = {
        function_of(module, kernel), 1, 1, 1, 1, 1, 1, 0, parameters, NULL};
    OK(cuGraphCreate(&graph, 0));
    OK(cuGraphAddKernelNode(&node, graph, NULL, 0, &p));
    return graph;
}

static CUgraphExec make(CUgraph graph)
{
    CUgraphExec exec = NULL;
    OK(cuGraphInstantiateWithFlags(&exec, graph, CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH));
    OK(cuGraphUpload(exec, NULL));
    OK(cuGraphDestroy(graph));
    OK(cuMemsetD8_v2(words, 0, 16));
    return exec;
}

static CUgraphExec make_counter(CUgraphExec launched, uint64_t how, unsigned most)
{
    return make(graph_of("count", (void *[]){&words, &launched, &how, &most}));
}

/* A graph that goes on and on; what is behind it in the stream waits. It may be destroyed at
 * once. */
static void check_chain(void)
{
    CUgraphExec exec = make_counter(NULL, TAIL, ROUNDS);
    OK(cuGraphLaunch(exec, NULL));
    OK(cuGraphLaunch(exec, NULL));
    CHECK_INT(get(0), ROUNDS + 2);
    CHECK_INT(get(1), CUDA_SUCCESS);
    OK(cuMemsetD8_v2(words, 0, 16));
    OK(cuGraphLaunch(exec, NULL));
    OK(cuGraphExecDestroy(exec));
    CHECK_INT(get(0), ROUNDS + 1);
}

/* What is let go runs beside the kernel that launched it, in any engine. */
static void check_beside(void)
{
    CUgraphExec counter = make_counter(NULL, TAIL, 0),
                exec = make(graph_of("await", (void *[]){&words, &counter}));
    OK(cuGraphLaunch(exec, NULL));
    OK(cuCtxSynchronize());
    CHECK_INT(get(0), 1);
    CHECK_INT(get(1), CUDA_SUCCESS);
    CHECK_INT(get(2), 1);
    OK(cuGraphExecDestroy(exec));
    OK(cuGraphExecDestroy(counter));
}

static void check_refused(void)
{
    uint64_t none = 0;
    unsigned zero = 0;
    void *parameters[] = {&words, &none, &none, &zero};
    CHECK_CU(
        cuLaunchKernel(function_of(module, "count"), 1, 1, 1, 1, 1, 1, 0, NULL, parameters, NULL),
        CUDA_ERROR_NOT_SUPPORTED);
    CUgraph graph;
    CUgraphExec exec;
    OK(cuGraphCreate(&graph, 0));
    CHECK_CU(cuGraphInstantiateWithFlags(&exec, graph, CUDA_GRAPH_INSTANTIATE_FLAG_UPLOAD),
             CUDA_ERROR_INVALID_VALUE);
    OK(cuGraphDestroy(graph));
}

/* A kernel changes the one behind it in its graph: what runs is what the node is when its turn has
 * come. */
static void check_updates(void)
{
    unsigned what = 5, blocks = 3, value = 77;
    CUlaunchAttributeValue v = {.deviceUpdatableKernelNode = {.deviceUpdatable = 1}};
    CUgraphNode node, changer;
    CUgraphExec exec;
    size_t n = 1;
    CUdeviceptr values = new_memory(4);
    CUgraph graph = graph_of("show", (void *[]){&words, &what});
    OK(cuMemcpyHtoD_v2(values, &value, sizeof value));
    OK(cuGraphGetNodes(graph, &node, &n));
    OK(cuGraphKernelNodeSetAttribute(node, CU_LAUNCH_ATTRIBUTE_DEVICE_UPDATABLE_KERNEL_NODE, &v));
    CUgraphDeviceNode handle = v.deviceUpdatableKernelNode.devNode;
    CUDA_KERNEL_NODE_PARAMS_v1 p = {function_of(module, "change"),         1,   1, 1, 1, 1, 1, 0,
                                    (void *[]){&handle, &values, &blocks}, NULL};
    OK(cuGraphAddKernelNode(&changer, graph, NULL, 0, &p));
    OK(cuGraphAddDependencies(graph, &changer, &node, 1));
    OK(cuGraphInstantiateWithFlags(&exec, graph, 0));
    OK(cuMemsetD8_v2(words, 0, 16));
    OK(cuGraphLaunch(exec, NULL));
    CHECK(get(0) == 3 && get(1) == 77 && get(2) == 3);
    blocks = 0;
    OK(cuGraphExecKernelNodeSetParams(exec, changer, &p));
    OK(cuGraphLaunch(exec, NULL));
    CHECK_INT(get(0), 3);
    OK(cuGraphExecDestroy(exec));
    OK(cuGraphDestroy(graph));
    OK(cuMemFree_v2(values));
}

/* A fault in a tail ends all; executables can still be destroyed. */
static void check_fault(void)
{
    CUgraphExec stop = make(graph_of("stop", NULL)), exec = make_counter(stop, TAIL, 1);
    OK(cuGraphLaunch(exec, NULL));
    CHECK_CU(cuCtxSynchronize(), CUDA_ERROR_LAUNCH_FAILED);
    CHECK_CU(cuGraphExecDestroy(exec), CUDA_SUCCESS);
    CHECK_CU(cuGraphExecDestroy(stop), CUDA_SUCCESS);
}

int main(void)
{
    CUcontext ctx = begin();
    OK(cuModuleLoadData(&module, text));
    words = new_memory(16);
    check_chain();
    check_beside();
    check_refused();
    check_updates();
    check_fault();
    OK(cuCtxDestroy_v2(ctx));
    return CHECK_DONE("cuda_device_graph");
}
