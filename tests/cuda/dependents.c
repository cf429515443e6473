/* Programmatic dependent launch: a kernel begins when the one before lets it, in each engine. Each
 * waits for the other, which takes both to be there at once. */
#include <stdbool.h>

#include "tests/cuda/support.h"

enum { CTAS = 3 };

/* words: blocks that the second kernel has seen, what the first one left, what the second one read
 * behind its wait. */
static const char text[] =
    ".version 8.0\n.target sm_90\n.address_size 64\n"
    /* its last block ends without a word */
    ".visible .entry first(.param .u64 p)\n{\n"
    "    .reg .b64 %p; .reg .b32 %v; .reg .pred %c;\n"
    "    ld.param.u64 %p, [p]; mov.u32 %v, %ctaid.x; setp.eq.u32 %c, %v, 2; @%c ret;\n"
    "    griddepcontrol.launch_dependents;\n"
    "again: ld.volatile.global.u32 %v, [%p]; setp.eq.u32 %c, %v, 0; @%c bra again;\n"
    "    atom.global.add.u32 %v, [%p+4], 1; griddepcontrol.launch_dependents; ret;\n}\n"
    ".visible .entry second(.param .u64 p)\n{\n"
    "    .reg .b64 %p; .reg .b32 %v, %t; .reg .pred %c;\n"
    "    ld.param.u64 %p, [p]; atom.global.add.u32 %v, [%p], 1;\n"
    "    mov.u32 %t, %tid.x; setp.ne.u32 %c, %t, 99; @%c griddepcontrol.wait;\n"
    "    ld.volatile.global.u32 %v, [%p+4]; atom.global.max.u32 %t, [%p+8], %v; ret;\n}\n"
    /* lets others begin, and waits for the host */
    ".visible .entry hosted(.param .u64 p)\n{\n"
    "    .reg .b64 %p; .reg .b32 %v; .reg .pred %c;\n"
    "    ld.param.u64 %p, [p]; griddepcontrol.launch_dependents; st.volatile.global.u32 [%p], 1;\n"
    "again: ld.volatile.global.u32 %v, [%p+4]; setp.eq.u32 %c, %v, 0; @%c bra again; ret;\n}\n"
    /* neither lets anybody begin nor waits */
    ".visible .entry third(.param .u64 p)\n{\n"
    "    .reg .b64 %p; .reg .b32 %v;\n"
    "    ld.param.u64 %p, [p]; ld.volatile.global.u32 %v, [%p+8];\n"
    "    atom.global.max.u32 %v, [%p+12], %v;\n"
    "    ret;\n}\n";

static CUdeviceptr words;
static CUmodule module;

static unsigned get(unsigned i)
{
    unsigned v = 0;
    OK(cuMemcpyDtoH_v2(&v, words + i * 4, sizeof v));
    return v;
}

static void launch(CUstream stream, const char *kernel, unsigned ctas, bool is_early)
{
    CUlaunchAttribute early = {.id = CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION,
                               .value.programmaticStreamSerializationAllowed = is_early};
    CUlaunchConfig config = {ctas, 1, 1, 64, 1, 1, 0, stream, &early, 1};
    void *parameters[] = {&words};
    OK(cuLaunchKernelEx(&config, function_of(module, kernel), parameters, NULL));
}

/* What comes behind the second kernel comes behind the first one, too. */
static void launch_all(CUstream stream)
{
    launch(stream, "first", CTAS, false);
    launch(stream, "second", 2, true);
    launch(stream, "third", 1, false);
}

static void check_words(void)
{
    CHECK_INT(get(0), 2 * 64);
    CHECK_INT(get(1), (CTAS - 1) * 64);
    CHECK_INT(get(2), (CTAS - 1) * 64);
    CHECK_INT(get(3), (CTAS - 1) * 64);
    OK(cuMemsetD8_v2(words, 0, 16));
    OK(cuCtxSynchronize());
}

static void check_stream(CUstream stream)
{
    launch_all(stream);
    OK(cuStreamSynchronize(stream));
    check_words();
    launch_all(NULL);
    check_words();
}

/* A launch returns, whatever the kernel waits for. */
static void check_host(CUstream stream)
{
    _Atomic unsigned *shared;
    CUdeviceptr there;
    OK(cuMemHostAlloc((void **)&shared, 8, CU_MEMHOSTALLOC_DEVICEMAP));
    OK(cuMemHostGetDevicePointer_v2(&there, (void *)shared, 0));
    shared[0] = shared[1] = 0;
    OK(cuLaunchKernel(function_of(module, "hosted"), 1, 1, 1, 1, 1, 1, 0, stream,
                      (void *[]){&there}, NULL));
    while (!shared[0])
        continue;
    launch(stream, "second", 1, true);
    shared[1] = 1;
    OK(cuStreamSynchronize(stream));
    CHECK_INT(get(0), 64);
    OK(cuMemFreeHost((void *)shared));
    OK(cuMemsetD8_v2(words, 0, 16));
    OK(cuCtxSynchronize());
}

/* Edges of graphs say the same. */
static void check_graph(CUstream stream)
{
    CUgraph graph;
    CUgraphExec exec;
    CUgraphNode from[4], to[4];
    CUgraphEdgeData data[4], none = {0};
    size_t n = 4;
    OK(cuStreamBeginCapture_v2(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    launch_all(stream);
    OK(cuStreamEndCapture(stream, &graph));
    OK(cuGraphGetEdges_v2(graph, from, to, data, &n));
    CHECK_INT(n, 2);
    CHECK_INT(data[0].from_port, CU_GRAPH_KERNEL_NODE_PORT_PROGRAMMATIC);
    CHECK_INT(data[0].type, CU_GRAPH_DEPENDENCY_TYPE_PROGRAMMATIC);
    CHECK_INT(data[1].type, 0);
    CHECK_CU(cuGraphGetEdges(graph, from, to, &n), CUDA_ERROR_LOSSY_QUERY);
    OK(cuGraphInstantiateWithFlags(&exec, graph, 0));
    for (int i = 0; i < 3; i++) {
        OK(cuGraphLaunch(exec, stream));
        OK(cuStreamSynchronize(stream));
        check_words();
    }
    CHECK_CU(cuGraphRemoveDependencies_v2(graph, from, to, &none, 1), CUDA_ERROR_INVALID_VALUE);
    OK(cuGraphRemoveDependencies_v2(graph, from, to, data, 1));
    OK(cuGraphExecDestroy(exec));
    OK(cuGraphDestroy(graph));
}

int main(void)
{
    CUcontext ctx = begin();
    CUstream stream;
    OK(cuModuleLoadData(&module, text));
    words = new_memory(16);
    OK(cuMemsetD8_v2(words, 0, 16));
    OK(cuCtxSynchronize());
    OK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    check_stream(stream);
    check_graph(stream);
    check_host(stream);
    OK(cuStreamDestroy_v2(stream));
    OK(cuCtxDestroy_v2(ctx));
    return CHECK_DONE("cuda_dependents");
}
