/* Conditional nodes: what is done to an executable while its branches run. (What their calls
 * return: tests/hardware/golden/graph_calls.cu.) */
#include <stdatomic.h>
#include <stdbool.h>
#include <unistd.h>

#include "tests/cuda/support.h"

enum { ROUNDS = 300 };

static const char text[] = ".version 8.0\n.target sm_90\n.address_size 64\n" PTX_TURN;

static CUdeviceptr word;
static atomic_bool is_open;

static void wait_for_door(void *ud)
{
    (void)ud;
    while (!atomic_load(&is_open))
        usleep(100);
}

static unsigned get(void)
{
    unsigned v = 0;
    OK(cuMemcpyDtoH_v2(&v, word, sizeof v));
    return v;
}

/* A launch that waits for the door, and then turns until the sum is a multiple of ROUNDS. */
static CUgraph make(CUmodule module, CUcontext ctx, CUgraphNode *turn)
{
    CUgraph graph;
    CUgraphNode door, loop;
    CUgraphConditionalHandle handle;
    unsigned v = 1, n = ROUNDS;
    OK(cuGraphCreate(&graph, 0));
    OK(cuGraphConditionalHandleCreate(&handle, graph, ctx, 1, CU_GRAPH_COND_ASSIGN_DEFAULT));
    OK(cuGraphAddHostNode(&door, graph, NULL, 0, &(CUDA_HOST_NODE_PARAMS){wait_for_door, NULL}));
    CUgraphNodeParams p = {.type = CU_GRAPH_NODE_TYPE_CONDITIONAL,
                           .conditional = {handle, CU_GRAPH_COND_TYPE_WHILE, 1, NULL, ctx}};
    OK(cuGraphAddNode_v2(&loop, graph, &door, NULL, 1, &p));
    CUDA_KERNEL_NODE_PARAMS_v1 kernel = {function_of(module, "turn"),        1,   1, 1, 1, 1, 1, 0,
                                         (void *[]){&word, &handle, &v, &n}, NULL};
    OK(cuGraphAddKernelNode(turn, *p.conditional.phGraph_out, NULL, 0, &kernel));
    return graph;
}

/* A launch under way has the parameters that there were; the next one has others. */
static void check_change(CUmodule module, CUcontext ctx)
{
    CUgraphNode turn;
    CUgraphExec exec;
    CUgraph graph = make(module, ctx, &turn);
    CUDA_KERNEL_NODE_PARAMS_v1 p;
    OK(cuGraphInstantiateWithFlags(&exec, graph, 0));
    OK(cuMemsetD8_v2(word, 0, 4));
    atomic_store(&is_open, false);
    OK(cuGraphLaunch(exec, NULL));
    OK(cuGraphKernelNodeGetParams(turn, &p));
    unsigned v = 10 * ROUNDS;
    p.kernelParams = (void *[]){p.kernelParams[0], p.kernelParams[1], &v, p.kernelParams[3]};
    OK(cuGraphExecKernelNodeSetParams(exec, turn, &p));
    atomic_store(&is_open, true);
    OK(cuCtxSynchronize());
    CHECK_INT(get(), ROUNDS);
    OK(cuGraphLaunch(exec, NULL));
    OK(cuCtxSynchronize());
    CHECK_INT(get(), 11 * ROUNDS);
    OK(cuGraphExecDestroy(exec));
    OK(cuGraphInstantiateWithFlags(&exec, graph, 0)); /* the one before is gone */
    OK(cuGraphExecDestroy(exec));
    OK(cuGraphDestroy(graph));
}

/* Launches go on when executable and graph are gone. */
static void check_gone(CUmodule module, CUcontext ctx)
{
    CUgraphNode turn;
    CUgraphExec exec;
    CUgraph graph = make(module, ctx, &turn);
    OK(cuGraphInstantiateWithFlags(&exec, graph, 0));
    OK(cuMemsetD8_v2(word, 0, 4));
    atomic_store(&is_open, false);
    OK(cuGraphLaunch(exec, NULL));
    OK(cuGraphLaunch(exec, NULL));
    OK(cuGraphDestroy(graph));
    OK(cuGraphExecDestroy(exec));
    atomic_store(&is_open, true);
    OK(cuCtxSynchronize());
    CHECK_INT(get(), 2 * ROUNDS);
}

/* A fault ends the loop. */
static void check_fault(CUmodule module, CUcontext ctx)
{
    CUgraphNode turn;
    CUgraphExec exec;
    CUgraph graph = make(module, ctx, &turn);
    CUDA_KERNEL_NODE_PARAMS_v1 p;
    CUgraphConditionalHandle wild = 0x123450;
    OK(cuGraphKernelNodeGetParams(turn, &p));
    p.kernelParams = (void *[]){p.kernelParams[0], &wild, p.kernelParams[2], p.kernelParams[3]};
    OK(cuGraphKernelNodeSetParams(turn, &p));
    OK(cuGraphInstantiateWithFlags(&exec, graph, 0));
    OK(cuGraphLaunch(exec, NULL));
    CHECK_CU(cuCtxSynchronize(), CUDA_ERROR_ILLEGAL_ADDRESS);
}

int main(void)
{
    CUmodule module;
    CUcontext ctx = begin();
    OK(cuModuleLoadData(&module, text));
    word = new_memory(4);
    check_change(module, ctx);
    check_gone(module, ctx);
    check_fault(module, ctx);
    OK(cuCtxDestroy_v2(ctx));
    return CHECK_DONE("cuda_condition");
}
