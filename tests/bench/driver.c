/* What calls of the driver cost: allocating, launching, graphs, copying, to the first result.
 * Prints medians of rounds. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/cuda/abi.h"
#include "tests/bench/timing.h"

enum { ROUNDS = 9, CALLS = 20000 };

static const char text[] = ".version 8.0\n.target sm_70\n.address_size 64\n"
                           ".visible .entry empty() { ret; }\n";

static double now_us(void)
{
    return now_ms() * 1e3;
}

static void must(CUresult result, const char *what)
{
    const char *name = "?";
    if (result == CUDA_SUCCESS)
        return;
    cuGetErrorName(result, &name);
    fprintf(stderr, "%s: %s\n", what, name);
    exit(1);
}

static double median_of(double (*round)(void))
{
    double us[ROUNDS];
    for (int i = 0; i < ROUNDS; i++)
        us[i] = round();
    return median(us, ROUNDS);
}

static CUfunction empty;

static double allocating(void)
{
    CUdeviceptr p;
    double start = now_us();
    for (int i = 0; i < CALLS; i++) {
        must(cuMemAlloc_v2(&p, 4096), "cuMemAlloc");
        must(cuMemFree_v2(p), "cuMemFree");
    }
    return (now_us() - start) / CALLS;
}

/* The calls alone; that they are done is waited for outside. */
static double launching(void)
{
    double start = now_us();
    for (int i = 0; i < CALLS; i++)
        must(cuLaunchKernel(empty, 1, 1, 1, 32, 1, 1, 0, NULL, NULL, NULL), "cuLaunchKernel");
    double us = (now_us() - start) / CALLS;
    must(cuCtxSynchronize(), "cuCtxSynchronize");
    return us;
}

/* ---- graphs: a chain of empty kernels, until all have run, for each node --------------------- */

enum { NODES = 1000, GRAPHS = 20 };
static CUgraphExec chain;

static void make_chain(void)
{
    CUgraph graph;
    CUgraphNode node, before = NULL;
    CUDA_KERNEL_NODE_PARAMS p = {.func = empty,
                                 .gridDimX = 1,
                                 .gridDimY = 1,
                                 .gridDimZ = 1,
                                 .blockDimX = 32,
                                 .blockDimY = 1,
                                 .blockDimZ = 1};
    must(cuGraphCreate(&graph, 0), "cuGraphCreate");
    for (int i = 0; i < NODES; i++, before = node)
        must(cuGraphAddKernelNode_v2(&node, graph, i ? &before : NULL, i > 0, &p),
             "cuGraphAddKernelNode");
    must(cuGraphInstantiateWithFlags(&chain, graph, 0), "cuGraphInstantiate");
    must(cuGraphDestroy(graph), "cuGraphDestroy");
}

static double running_chain(void)
{
    double start = now_us();
    for (int i = 0; i < GRAPHS; i++) {
        must(cuGraphLaunch(chain, NULL), "cuGraphLaunch");
        must(cuStreamSynchronize(NULL), "cuStreamSynchronize");
    }
    return (now_us() - start) / (GRAPHS * NODES);
}

static double calling_chain(void)
{
    double us = 0;
    for (int i = 0; i < GRAPHS; i++) {
        double start = now_us();
        must(cuGraphLaunch(chain, NULL), "cuGraphLaunch");
        us += now_us() - start;
        must(cuStreamSynchronize(NULL), "cuStreamSynchronize");
    }
    return us / (GRAPHS * NODES);
}

/* ---- copies ---------------------------------------------------------------------------------- */

enum { COPIED = 64 << 20 };
static char *host;
static CUdeviceptr device;

static double copying(void)
{
    double start = now_us();
    must(cuMemcpyHtoD_v2(device, host, COPIED), "cuMemcpyHtoD");
    return now_us() - start;
}

static double copying_plainly(void)
{
    double start = now_us();
    memcpy((void *)(uintptr_t)device, host, COPIED);
    return now_us() - start;
}

int main(void)
{
    CUcontext ctx;
    CUmodule module;
    double start = now_us();
    must(cuInit(0), "cuInit");
    must(cuCtxCreate_v2(&ctx, 0, 0), "cuCtxCreate");
    must(cuModuleLoadData(&module, text), "cuModuleLoadData");
    must(cuModuleGetFunction(&empty, module, "empty"), "cuModuleGetFunction");
    must(cuLaunchKernel(empty, 1, 1, 1, 32, 1, 1, 0, NULL, NULL, NULL), "cuLaunchKernel");
    must(cuCtxSynchronize(), "cuCtxSynchronize");
    printf("%-36s %10.2f us\n", "from cuInit to the first result", now_us() - start);
    printf("%-36s %10.2f us\n", "cuMemAlloc + cuMemFree of 4096 bytes", median_of(allocating));
    printf("%-36s %10.2f us\n", "cuLaunchKernel of an empty kernel", median_of(launching));
    make_chain();
    running_chain();
    printf("%-36s %10.2f us\n", "cuGraphLaunch, for each of its nodes", median_of(calling_chain));
    printf("%-36s %10.2f us\n", "a node, until it has run", median_of(running_chain));
    must(cuGraphExecDestroy(chain), "cuGraphExecDestroy");
    host = malloc(COPIED);
    memset(host, 1, COPIED);
    must(cuMemAlloc_v2(&device, COPIED), "cuMemAlloc");
    copying();
    printf("%-36s %10.2f us\n", "cuMemcpyHtoD of 64 MiB", median_of(copying));
    printf("%-36s %10.2f us\n", "memcpy of the same", median_of(copying_plainly));
    free(host);
    must(cuCtxDestroy_v2(ctx), "cuCtxDestroy");
    return 0;
}
