/* Nodes of graphs that write and wait for values; what graphs have in memory; nodes that kernels
 * may change. */
#include "tests/hardware/driver/say.h"

static CUdeviceptr word;
static CUgraph graph;

static CUstreamBatchMemOpParams writing(CUdeviceptr to, unsigned value)
{
    CUstreamBatchMemOpParams p;
    memset(&p, 0, sizeof p);
    p.operation = CU_STREAM_MEM_OP_WRITE_VALUE_32;
    p.writeValue.address = to;
    p.writeValue.value = value;
    return p;
}

static CUstreamBatchMemOpParams waiting(CUdeviceptr at, unsigned value)
{
    CUstreamBatchMemOpParams p;
    memset(&p, 0, sizeof p);
    p.operation = CU_STREAM_MEM_OP_WAIT_VALUE_32;
    p.waitValue.address = at;
    p.waitValue.value = value;
    p.waitValue.flags = CU_STREAM_WAIT_VALUE_EQ;
    return p;
}

static unsigned word_now(void)
{
    unsigned v = 0;
    cuMemcpyDtoH(&v, word, 4);
    return v;
}

static void add_wrong(void)
{
    CUstreamBatchMemOpParams op[3] = {writing(word, 5), waiting(word, 5), writing(word + 4, 6)};
    CUDA_BATCH_MEM_OP_NODE_PARAMS p;
    CUgraphNode node;
    memset(&p, 0, sizeof p);
    p.count = 3;
    p.paramArray = op;
    MAKE(node, cuGraphAddBatchMemOpNode(&node, graph, NULL, 0, &p));
    p.ctx = context;
    MAKE(node, cuGraphAddBatchMemOpNode(&node, graph, NULL, 0, NULL));
    MAKE(node, cuGraphAddBatchMemOpNode(&node, NULL, NULL, 0, &p));
    p.flags = 1;
    MAKE(node, cuGraphAddBatchMemOpNode(&node, graph, NULL, 0, &p));
    p.flags = 0;
    p.paramArray = NULL;
    MAKE(node, cuGraphAddBatchMemOpNode(&node, graph, NULL, 0, &p));
    p.paramArray = op;
    p.count = 0;
    MAKE(node, cuGraphAddBatchMemOpNode(&node, graph, NULL, 0, &p));
    p.count = 1;
    for (unsigned shift = 1; shift < 4; shift++) {
        op[0] = writing(word + shift, 5);
        MAKE(node, cuGraphAddBatchMemOpNode(&node, graph, NULL, 0, &p));
    }
    op[0] = writing(0, 5);
    MAKE(node, cuGraphAddBatchMemOpNode(&node, graph, NULL, 0, &p));
    op[0] = writing(word, 5);
    op[0].writeValue.flags = 1;
    MAKE(node, cuGraphAddBatchMemOpNode(&node, graph, NULL, 0, &p));
    for (int operation = 0; operation < 8; operation++) {
        op[0] = writing(word, 5);
        op[0].operation = (CUstreamBatchMemOpType)operation;
        printf("operation %d\n", operation);
        MAKE(node, cuGraphAddBatchMemOpNode(&node, graph, NULL, 0, &p));
    }
}

static void tell(CUgraphNode node)
{
    CUDA_BATCH_MEM_OP_NODE_PARAMS p;
    CUgraphNodeType type = (CUgraphNodeType)77;
    memset(&p, 0, sizeof p);
    SAY(cuGraphNodeGetType(node, &type));
    SAY(cuGraphBatchMemOpNodeGetParams(node, &p));
    printf("type %d ctx %d count %u flags %u\n", (int)type, p.ctx == context, p.count, p.flags);
    for (unsigned i = 0; i < p.count && p.paramArray; i++)
        printf("%d %d %u\n", (int)p.paramArray[i].operation,
               (int)(p.paramArray[i].writeValue.address - word), p.paramArray[i].writeValue.value);
}

static void run(CUgraphExec exec)
{
    SAY(cuGraphLaunch(exec, NULL));
    SAY(cuCtxSynchronize());
    printf("%u\n", word_now());
}

static void change(CUgraphExec exec, CUgraphNode node, CUDA_BATCH_MEM_OP_NODE_PARAMS *p,
                   CUstreamBatchMemOpParams *op)
{
    CUgraphExecUpdateResultInfo info;
    op[0] = writing(word, 8);
    op[1] = waiting(word, 8);
    SAY(cuGraphExecBatchMemOpNodeSetParams(exec, node, p));
    run(exec);
    p->count = 1;
    SAY(cuGraphExecBatchMemOpNodeSetParams(exec, node, p));
    run(exec);
    p->count = 3;
    SAY(cuGraphExecBatchMemOpNodeSetParams(exec, node, p));
    p->count = 2;
    op[0].operation = CU_STREAM_MEM_OP_WRITE_VALUE_64;
    SAY(cuGraphExecBatchMemOpNodeSetParams(exec, node, p));
    op[0] = waiting(word, 8);
    op[1] = writing(word, 9);
    SAY(cuGraphExecBatchMemOpNodeSetParams(exec, node, p));
    p->flags = 1;
    SAY(cuGraphExecBatchMemOpNodeSetParams(exec, node, p));
    p->flags = 0;
    p->ctx = NULL;
    SAY(cuGraphExecBatchMemOpNodeSetParams(exec, node, p));
    p->ctx = context;
    SAY(cuGraphExecBatchMemOpNodeSetParams(exec, node, NULL));
    SAY(cuGraphBatchMemOpNodeSetParams(node, NULL));
    SAY(cuGraphBatchMemOpNodeSetParams(NULL, p));
    p->count = 1;
    op[0] = writing(word, 11);
    SAY(cuGraphBatchMemOpNodeSetParams(node, p));
    tell(node);
    SAY(cuGraphExecUpdate(exec, graph, &info));
    printf("update %d\n", (int)info.result);
    run(exec);
    p->count = 3;
    op[1] = waiting(word, 11);
    op[2] = writing(word, 12);
    SAY(cuGraphBatchMemOpNodeSetParams(node, p));
    SAY(cuGraphExecUpdate(exec, graph, &info));
    printf("update %d\n", (int)info.result);
    run(exec);
    SAY(cuGraphNodeSetEnabled(exec, node, 0));
}

void part_graph_values(void)
{
    CUstreamBatchMemOpParams op[3];
    CUDA_BATCH_MEM_OP_NODE_PARAMS p;
    CUgraphNodeParams any;
    CUgraphNode node, other;
    CUgraphExec exec;
    CUgraph clone;
    say_begin();
    SAY(cuMemAlloc(&word, 64));
    SAY(cuMemsetD8(word, 0, 64));
    SAY(cuGraphCreate(&graph, 0));
    add_wrong();
    SAY(cuGraphDestroy(graph));
    SAY(cuGraphCreate(&graph, 0));
    op[0] = writing(word, 3);
    op[1] = waiting(word, 3);
    op[2] = writing(word, 4);
    memset(&p, 0, sizeof p);
    p.ctx = context;
    p.count = 2;
    p.paramArray = op;
    MAKE(node, cuGraphAddBatchMemOpNode(&node, graph, NULL, 0, &p));
    op[0] = writing(word, 99); /* the node has its own */
    tell(node);
    MAKE(exec, cuGraphInstantiate(&exec, graph, 0));
    run(exec);
    change(exec, node, &p, op);
    MAKE(clone, cuGraphClone(&clone, graph));
    memset(&any, 0, sizeof any);
    any.type = CU_GRAPH_NODE_TYPE_BATCH_MEM_OP;
    op[0] = writing(word, 21);
    any.memOp.ctx = context;
    any.memOp.count = 1;
    any.memOp.paramArray = op;
    MAKE(other, cuGraphAddNode(&other, graph, &node, NULL, 1, &any));
    SAY(cuGraphNodeSetParams(other, &any));
    MAKE(exec, cuGraphInstantiate(&exec, graph, 0));
    run(exec);
    SAY(cuGraphExecNodeSetParams(exec, other, &any));
    MAKE(exec, cuGraphInstantiate(&exec, clone, CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH));
}

/* A stream's operations, captured. */
void part_capture_values(void)
{
    CUstreamBatchMemOpParams op[2];
    CUstream stream;
    CUgraphExec exec;
    CUgraphNode nodes[4];
    size_t n = 4;
    say_begin();
    SAY(cuMemAlloc(&word, 64));
    SAY(cuMemsetD8(word, 0, 64));
    SAY(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    op[0] = writing(word, 3);
    op[1] = waiting(word, 3);
    SAY(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    SAY(cuStreamWriteValue32(stream, word, 2, 0));
    SAY(cuStreamWaitValue32(stream, word, 2, CU_STREAM_WAIT_VALUE_EQ));
    SAY(cuStreamBatchMemOp(stream, 2, op, 0));
    SAY(cuStreamEndCapture(stream, &graph));
    if (!graph)
        return;
    SAY(cuGraphGetNodes(graph, nodes, &n));
    printf("%zu\n", n);
    for (size_t i = 0; i < n && i < 4; i++)
        tell(nodes[i]);
    MAKE(exec, cuGraphInstantiate(&exec, graph, 0));
    run(exec);
}

/* ---- memory ---------------------------------------------------------------------------------- */

static void amounts(const char *when)
{
    printf("%s\n", when);
    for (int id = -1; id < 5; id++) {
        unsigned long long v = 77;
        printf("%d\n", id);
        SAY(cuDeviceGetGraphMemAttribute(0, (CUgraphMem_attribute)id, &v));
        printf("%llu\n", v);
    }
}

void part_graph_amounts(void)
{
    CUDA_MEM_ALLOC_NODE_PARAMS a;
    CUgraphNode alloc, release;
    CUgraphExec exec, second;
    unsigned long long v = 0;
    say_begin();
    amounts("at first");
    SAY(cuGraphCreate(&graph, 0));
    memset(&a, 0, sizeof a);
    a.poolProps.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
    a.poolProps.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    a.bytesize = 3 << 20;
    SAY(cuGraphAddMemAllocNode(&alloc, graph, NULL, 0, &a));
    SAY(cuGraphAddMemFreeNode(&release, graph, &alloc, 1, a.dptr));
    amounts("with nodes");
    MAKE(exec, cuGraphInstantiate(&exec, graph, 0));
    amounts("instantiated");
    SAY(cuGraphUpload(exec, NULL));
    SAY(cuCtxSynchronize());
    amounts("uploaded");
    SAY(cuGraphLaunch(exec, NULL));
    SAY(cuCtxSynchronize());
    amounts("launched");
    MAKE(second, cuGraphInstantiate(&second, graph, 0));
    SAY(cuDeviceGraphMemTrim(0));
    amounts("trimmed");
    SAY(cuGraphLaunch(exec, NULL));
    SAY(cuCtxSynchronize());
    SAY(cuGraphExecDestroy(exec));
    amounts("destroyed");
    SAY(cuDeviceGraphMemTrim(0));
    amounts("trimmed again");
    for (int id = -1; id < 5; id++) {
        printf("%d\n", id);
        v = 0;
        SAY(cuDeviceSetGraphMemAttribute(0, (CUgraphMem_attribute)id, &v));
        v = 4096;
        SAY(cuDeviceSetGraphMemAttribute(0, (CUgraphMem_attribute)id, &v));
    }
    amounts("set back");
    SAY(cuDeviceGetGraphMemAttribute(9, CU_GRAPH_MEM_ATTR_USED_MEM_CURRENT, &v));
    SAY(cuDeviceSetGraphMemAttribute(9, CU_GRAPH_MEM_ATTR_USED_MEM_HIGH, &v));
    SAY(cuDeviceGraphMemTrim(9));
    SAY(cuDeviceGetGraphMemAttribute(0, CU_GRAPH_MEM_ATTR_USED_MEM_CURRENT, NULL));
    SAY(cuDeviceSetGraphMemAttribute(0, CU_GRAPH_MEM_ATTR_USED_MEM_HIGH, NULL));
}

/* A graph whose memory outlives its run. */
void part_graph_amounts_kept(void)
{
    CUDA_MEM_ALLOC_NODE_PARAMS a;
    CUgraphNode alloc;
    CUgraphExec exec;
    say_begin();
    SAY(cuGraphCreate(&graph, 0));
    memset(&a, 0, sizeof a);
    a.poolProps.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
    a.poolProps.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    a.bytesize = 100;
    SAY(cuGraphAddMemAllocNode(&alloc, graph, NULL, 0, &a));
    MAKE(exec, cuGraphInstantiate(&exec, graph, 0));
    SAY(cuGraphLaunch(exec, NULL));
    SAY(cuCtxSynchronize());
    amounts("launched");
    SAY(cuDeviceGraphMemTrim(0));
    amounts("trimmed");
    SAY(cuMemFree(a.dptr));
    amounts("freed");
    SAY(cuDeviceGraphMemTrim(0));
    amounts("trimmed");
}

/* ---- nodes for kernels ----------------------------------------------------------------------- */

void part_graph_updatable(void)
{
    CUDA_KERNEL_NODE_PARAMS p;
    CUlaunchAttributeValue v;
    CUgraphNode node, second;
    CUgraphExec exec;
    CUgraph clone;
    CUlaunchConfig config;
    CUlaunchAttribute attribute;
    CUstream stream;
    say_begin();
    SAY(cuGraphCreate(&graph, 0));
    memset(&p, 0, sizeof p);
    p.func = empty;
    p.gridDimX = p.gridDimY = p.gridDimZ = p.blockDimX = p.blockDimY = p.blockDimZ = 1;
    SAY(cuGraphAddKernelNode(&node, graph, NULL, 0, &p));
    SAY(cuGraphAddKernelNode(&second, graph, NULL, 0, &p));
    memset(&v, 0, sizeof v);
    SAY(cuGraphKernelNodeGetAttribute(node, CU_LAUNCH_ATTRIBUTE_DEVICE_UPDATABLE_KERNEL_NODE, &v));
    printf("%d %d\n", v.deviceUpdatableKernelNode.deviceUpdatable,
           v.deviceUpdatableKernelNode.devNode != NULL);
    v.deviceUpdatableKernelNode.deviceUpdatable = 2;
    SAY(cuGraphKernelNodeSetAttribute(node, CU_LAUNCH_ATTRIBUTE_DEVICE_UPDATABLE_KERNEL_NODE, &v));
    v.deviceUpdatableKernelNode.deviceUpdatable = 1;
    SAY(cuGraphKernelNodeSetAttribute(node, CU_LAUNCH_ATTRIBUTE_DEVICE_UPDATABLE_KERNEL_NODE, &v));
    memset(&v, 0, sizeof v);
    SAY(cuGraphKernelNodeGetAttribute(node, CU_LAUNCH_ATTRIBUTE_DEVICE_UPDATABLE_KERNEL_NODE, &v));
    printf("%d %d\n", v.deviceUpdatableKernelNode.deviceUpdatable,
           v.deviceUpdatableKernelNode.devNode != NULL);
    SAY(cuGraphKernelNodeSetAttribute(node, CU_LAUNCH_ATTRIBUTE_DEVICE_UPDATABLE_KERNEL_NODE, &v));
    SAY(cuGraphKernelNodeCopyAttributes(second, node));
    SAY(cuGraphKernelNodeCopyAttributes(node, second));
    SAY(cuGraphKernelNodeSetParams(node, &p));
    MAKE(clone, cuGraphClone(&clone, graph));
    MAKE(exec, cuGraphInstantiate(&exec, graph, 0));
    CUgraphExec twice;
    MAKE(twice, cuGraphInstantiate(&twice, graph, 0));
    SAY(cuGraphExecKernelNodeSetParams(exec, node, &p));
    SAY(cuGraphNodeSetEnabled(exec, node, 0));
    CUgraphExecUpdateResultInfo info;
    SAY(cuGraphExecUpdate(exec, graph, &info));
    SAY(cuGraphLaunch(exec, NULL));
    SAY(cuGraphUpload(exec, NULL));
    SAY(cuGraphLaunch(exec, NULL));
    SAY(cuCtxSynchronize());
    SAY(cuGraphDestroyNode(node));
    v.deviceUpdatableKernelNode.deviceUpdatable = 0;
    SAY(cuGraphKernelNodeSetAttribute(node, CU_LAUNCH_ATTRIBUTE_DEVICE_UPDATABLE_KERNEL_NODE, &v));
    CUgraph outer;
    CUgraphNode child;
    SAY(cuGraphCreate(&outer, 0));
    MAKE(child, cuGraphAddChildGraphNode(&child, outer, NULL, 0, graph));
    SAY(cuGraphDestroy(graph));
    memset(&config, 0, sizeof config);
    memset(&attribute, 0, sizeof attribute);
    config.gridDimX = config.gridDimY = config.gridDimZ = 1;
    config.blockDimX = config.blockDimY = config.blockDimZ = 1;
    config.attrs = &attribute;
    config.numAttrs = 1;
    attribute.id = CU_LAUNCH_ATTRIBUTE_DEVICE_UPDATABLE_KERNEL_NODE;
    attribute.value.deviceUpdatableKernelNode.deviceUpdatable = 1;
    SAY(cuLaunchKernelEx(&config, empty, NULL, NULL));
    SAY(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    SAY(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    config.hStream = stream;
    SAY(cuLaunchKernelEx(&config, empty, NULL, NULL));
    printf("%d\n", attribute.value.deviceUpdatableKernelNode.devNode != NULL);
    SAY(cuStreamEndCapture(stream, &graph));
    MAKE(exec, cuGraphInstantiate(&exec, graph, 0));
}
