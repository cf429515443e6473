/* What the driver makes of conditional nodes, a line for each call: what it returns and what kernels
 * did. graph_calls.txt is what an H200's driver made of it.
 *
 *     nvcc -rdc=true -arch=sm_90 graph_calls.cu -lcudadevrt -lcuda
 *
 * Each part runs in a process of its own. */
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cuda.h>
#include <sys/wait.h>
#include <unistd.h>

#define SAY(c) printf("%s: %d\n", #c, (int)(c))
typedef CUgraphConditionalHandle H;

__global__ void set(H h, unsigned v)
{
    cudaGraphSetConditional(h, v);
}

__global__ void add(int *p, int v)
{
    atomicAdd(p, v);
}

__global__ void loop(int *p, H h, int n)
{
    int v = atomicAdd(p, 1) + 1;
    cudaGraphSetConditional(h, v % n != 0);
}

static int *mem;
static CUcontext ctx;
static CUfunction k_set, k_add, k_loop;

static int get()
{
    int v = -1;
    cudaMemcpy(&v, mem, 4, cudaMemcpyDeviceToHost);
    return v;
}

static void zero()
{
    cudaMemset(mem, 0, 4);
}

static CUgraph newg()
{
    CUgraph g;
    cuGraphCreate(&g, 0);
    return g;
}

static CUgraphNode kern(CUgraph g, CUgraphNode *b, int nb, CUfunction f, void **a)
{
    CUDA_KERNEL_NODE_PARAMS p;
    memset(&p, 0, sizeof p);
    p.func = f;
    p.gridDimX = p.gridDimY = p.gridDimZ = p.blockDimX = p.blockDimY = p.blockDimZ = 1;
    p.kernelParams = a;
    CUgraphNode n = 0;
    CUresult r = cuGraphAddKernelNode(&n, g, b, nb, &p);
    if (r)
        printf("  kernel node %d\n", r);
    return n;
}

static CUgraphNode kadd(CUgraph g, CUgraphNode *b, int nb, int v)
{
    void *a[] = {&mem, &v};
    return kern(g, b, nb, k_add, a);
}

static CUgraphNode kset(CUgraph g, CUgraphNode *b, int nb, H h, unsigned v)
{
    void *a[] = {&h, &v};
    return kern(g, b, nb, k_set, a);
}

static CUgraphNode kloop(CUgraph g, CUgraphNode *b, int nb, H h, int n)
{
    void *a[] = {&mem, &h, &n};
    return kern(g, b, nb, k_loop, a);
}

static int cond(CUgraph g, CUgraphNode *b, int nb, H h, int type, unsigned size, CUgraph *out,
                CUgraphNode *node)
{
    CUgraphNodeParams p;
    memset(&p, 0, sizeof p);
    p.type = CU_GRAPH_NODE_TYPE_CONDITIONAL;
    p.conditional.handle = h;
    p.conditional.type = (CUgraphConditionalNodeType)type;
    p.conditional.size = size;
    p.conditional.ctx = ctx;
    CUgraphNode n = 0;
    CUresult r = cuGraphAddNode_v2(&n, g, b, NULL, nb, &p);
    if (!r && out)
        for (unsigned i = 0; i < size; i++)
            out[i] = p.conditional.phGraph_out[i];
    if (node)
        *node = n;
    return r;
}

static void handles()
{
    CUgraph g = newg();
    H h = 77;
    SAY(cuGraphConditionalHandleCreate(NULL, g, ctx, 0, 0));
    SAY(cuGraphConditionalHandleCreate(&h, NULL, ctx, 0, 0));
    SAY(cuGraphConditionalHandleCreate(&h, g, NULL, 0, 0));
    SAY(cuGraphConditionalHandleCreate(&h, g, ctx, 0, 2));
    SAY(cuGraphConditionalHandleCreate(&h, g, ctx, 0, 3));
    SAY(cuGraphConditionalHandleCreate(&h, g, ctx, 7, 1));
    printf("h zero %d\n", h == 0);
    H h2;
    SAY(cuGraphConditionalHandleCreate(&h2, g, ctx, 7, 0));
    CUgraphExec e;
    SAY(cuGraphInstantiateWithFlags(&e, g, 0));
}

static void sizes()
{
    CUgraph g = newg();
    CUgraph o[70];
    int t[][2] = {{0, 0}, {0, 1}, {0, 2}, {0, 3},  {1, 0}, {1, 1}, {1, 2},
                  {2, 0}, {2, 1}, {2, 3}, {2, 64}, {3, 1}, {-1, 1}};
    for (auto &x : t) {
        H h;
        cuGraphConditionalHandleCreate(&h, g, ctx, 0, 0);
        printf("type %d size %d: %d\n", x[0], x[1], cond(g, 0, 0, h, x[0], x[1], o, 0));
    }
    H h;
    cuGraphConditionalHandleCreate(&h, g, ctx, 0, 0);
    printf("first %d twice %d\n", cond(g, 0, 0, h, 0, 1, o, 0), cond(g, 0, 0, h, 0, 1, o, 0));
    printf("wild %d zero %d\n", cond(g, 0, 0, 0x1234567, 0, 1, o, 0), cond(g, 0, 0, 0, 0, 1, o, 0));
    CUgraph g2 = newg();
    H h3;
    cuGraphConditionalHandleCreate(&h3, g, ctx, 0, 0);
    printf("other graph %d\n", cond(g2, 0, 0, h3, 0, 1, o, 0));
    CUgraphNodeParams p;
    memset(&p, 0, sizeof p);
    p.type = CU_GRAPH_NODE_TYPE_CONDITIONAL;
    H h4;
    cuGraphConditionalHandleCreate(&h4, g, ctx, 0, 0);
    p.conditional.handle = h4;
    p.conditional.size = 1;
    CUgraphNode n;
    SAY(cuGraphAddNode_v2(&n, g, 0, 0, 0, &p));
}

static void run_if()
{
    for (int size = 1; size <= 2; size++)
        for (unsigned v = 0; v < 3; v++) {
            zero();
            CUgraph g = newg(), o[2];
            H h;
            cuGraphConditionalHandleCreate(&h, g, ctx, 0, 0);
            CUgraphNode s = kset(g, 0, 0, h, v), c;
            int r = cond(g, &s, 1, h, 0, size, o, &c);
            kadd(o[0], 0, 0, 1);
            if (size == 2)
                kadd(o[1], 0, 0, 10);
            kadd(g, &c, 1, 100);
            CUgraphExec e;
            int i = cuGraphInstantiateWithFlags(&e, g, 0);
            int l = cuGraphLaunch(e, 0);
            int y = cuCtxSynchronize();
            printf("if size %d value %u: %d %d %d %d -> %d\n", size, v, r, i, l, y, get());
            CUgraphNodeType t;
            SAY(cuGraphNodeGetType(c, &t));
            printf("type %d\n", t);
        }
}

static void run_switch()
{
    for (unsigned v = 0; v < 5; v++) {
        zero();
        CUgraph g = newg(), o[3];
        H h;
        cuGraphConditionalHandleCreate(&h, g, ctx, v, 1);
        CUgraphNode c;
        int r = cond(g, 0, 0, h, 2, 3, o, &c);
        for (int i = 0, w = 1; i < 3; i++, w *= 10)
            kadd(o[i], 0, 0, w);
        CUgraphExec e;
        int i = cuGraphInstantiateWithFlags(&e, g, 0);
        cuGraphLaunch(e, 0);
        int y = cuCtxSynchronize();
        printf("switch %u: %d %d %d -> %d\n", v, r, i, y, get());
    }
}

static void run_while()
{
    for (int d = 0; d < 2; d++) {
        zero();
        CUgraph g = newg(), o[1];
        H h;
        cuGraphConditionalHandleCreate(&h, g, ctx, d, 1);
        CUgraphNode c;
        cond(g, 0, 0, h, 1, 1, o, &c);
        kloop(o[0], 0, 0, h, 5);
        CUgraphExec e;
        int i = cuGraphInstantiateWithFlags(&e, g, 0);
        cuGraphLaunch(e, 0);
        cuGraphLaunch(e, 0);
        int y = cuCtxSynchronize();
        printf("while default %d: %d %d -> %d\n", d, i, y, get());
    }
    {
        zero();
        CUgraph g = newg(), o[1];
        H h;
        cuGraphConditionalHandleCreate(&h, g, ctx, 1, 0);
        CUgraphNode c;
        cond(g, 0, 0, h, 1, 1, o, &c);
        kloop(o[0], 0, 0, h, 5);
        CUgraphExec e;
        int i = cuGraphInstantiateWithFlags(&e, g, 0);
        cuGraphLaunch(e, 0);
        cuGraphLaunch(e, 0);
        int y = cuCtxSynchronize();
        printf("while default not assigned: %d %d -> %d\n", i, y, get());
    }
}

/* Is the default of an inner handle assigned at each iteration? */
static void nested()
{
    for (int f = 0; f < 2; f++)
        for (int inner = 0; inner < 2; inner++) {
            zero();
            CUgraph g = newg(), o[1], q[1];
            H h, k;
            cuGraphConditionalHandleCreate(&h, g, ctx, 1, 1);
            cond(g, 0, 0, h, 1, 1, o, 0);
            int rc = cuGraphConditionalHandleCreate(&k, inner ? o[0] : g, ctx, 1, f);
            CUgraphNode c;
            int r = cond(o[0], 0, 0, k, 0, 1, q, &c);
            kadd(q[0], 0, 0, 100);
            CUgraphNode z = kset(o[0], &c, 1, k, 0);
            kloop(o[0], &z, 1, h, 103);
            CUgraphExec e;
            int i = cuGraphInstantiateWithFlags(&e, g, 0);
            int l = i ? -1 : cuGraphLaunch(e, 0);
            alarm(3);
            int y = i ? -1 : cuCtxSynchronize();
            alarm(0);
            printf("nested flags %d inner %d: %d %d %d %d %d -> %d\n", f, inner, rc, r, i, l, y,
                   get());
        }
}

static void body_of(CUgraph *g, CUgraph *o, H *h, CUgraphNode *c)
{
    *g = newg();
    cuGraphConditionalHandleCreate(h, *g, ctx, 1, 1);
    cond(*g, 0, 0, *h, 0, 1, o, c);
}

static void nop(void *)
{
}

static void structure()
{
    CUgraph g, o[1];
    H h;
    CUgraphNode c, n;
    CUgraphExec e, e2;
    body_of(&g, o, &h, &c);
    kadd(o[0], 0, 0, 1);
    SAY(cuGraphInstantiateWithFlags(&e, g, 0));
    SAY(cuGraphInstantiateWithFlags(&e2, g, 0));
    CUgraph k;
    SAY(cuGraphClone(&k, g));
    CUgraph p = newg();
    SAY(cuGraphAddChildGraphNode(&n, p, 0, 0, g));
    SAY(cuGraphInstantiateWithFlags(&e2, p, 0));
    SAY(cuGraphDestroy(o[0]));
    CUgraphExecUpdateResultInfo inf;
    memset(&inf, 0, sizeof inf);
    SAY(cuGraphExecUpdate_v2(e, g, &inf));
    printf("  result %d\n", inf.result);
    CUgraphNodeParams q;
    memset(&q, 0, sizeof q);
    q.type = CU_GRAPH_NODE_TYPE_CONDITIONAL;
    q.conditional.handle = h;
    q.conditional.size = 1;
    q.conditional.ctx = ctx;
    SAY(cuGraphNodeSetParams(c, &q));
    SAY(cuGraphExecNodeSetParams(e, c, &q));
    unsigned en;
    SAY(cuGraphNodeGetEnabled(e, c, &en));
    SAY(cuGraphClone(&k, o[0]));
    SAY(cuGraphInstantiateWithFlags(&e2, o[0], 0));
    SAY(cuGraphDestroyNode(c));
}

static void content()
{
    CUgraph g, o[1];
    H h;
    CUgraphNode c, n;
    CUgraphExec e;
    {
        body_of(&g, o, &h, &c);
        CUDA_HOST_NODE_PARAMS p = {nop, 0};
        SAY(cuGraphAddHostNode(&n, o[0], 0, 0, &p));
        SAY(cuGraphInstantiateWithFlags(&e, g, 0));
    }
    {
        body_of(&g, o, &h, &c);
        CUevent ev;
        cuEventCreate(&ev, 0);
        SAY(cuGraphAddEventRecordNode(&n, o[0], 0, 0, ev));
        SAY(cuGraphInstantiateWithFlags(&e, g, 0));
    }
    {
        body_of(&g, o, &h, &c);
        CUevent ev;
        cuEventCreate(&ev, 0);
        SAY(cuGraphAddEventWaitNode(&n, o[0], 0, 0, ev));
        SAY(cuGraphInstantiateWithFlags(&e, g, 0));
    }
    {
        body_of(&g, o, &h, &c);
        CUDA_MEM_ALLOC_NODE_PARAMS p;
        memset(&p, 0, sizeof p);
        p.poolProps.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
        p.poolProps.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
        p.bytesize = 100;
        SAY(cuGraphAddMemAllocNode(&n, o[0], 0, 0, &p));
        SAY(cuGraphInstantiateWithFlags(&e, g, 0));
    }
    {
        body_of(&g, o, &h, &c);
        SAY(cuGraphAddEmptyNode(&n, o[0], 0, 0));
        SAY(cuGraphInstantiateWithFlags(&e, g, 0));
    }
    {
        body_of(&g, o, &h, &c);
        SAY(cuGraphInstantiateWithFlags(&e, g, 0));
        SAY(cuGraphLaunch(e, 0));
        SAY(cuCtxSynchronize());
    }
    {
        body_of(&g, o, &h, &c);
        CUgraph k = newg();
        kadd(k, 0, 0, 1);
        SAY(cuGraphAddChildGraphNode(&n, o[0], 0, 0, k));
        SAY(cuGraphInstantiateWithFlags(&e, g, 0));
    }
    {
        body_of(&g, o, &h, &c);
        CUgraph k = newg();
        CUDA_HOST_NODE_PARAMS p = {nop, 0};
        SAY(cuGraphAddHostNode(&n, k, 0, 0, &p));
        SAY(cuGraphAddChildGraphNode(&n, o[0], 0, 0, k));
        SAY(cuGraphInstantiateWithFlags(&e, g, 0));
    }
    {
        body_of(&g, o, &h, &c);
        CUDA_MEMSET_NODE_PARAMS p = {(CUdeviceptr)mem, 0, 7, 4, 1, 1};
        SAY(cuGraphAddMemsetNode(&n, o[0], 0, 0, &p, ctx));
        SAY(cuGraphInstantiateWithFlags(&e, g, 0));
        SAY(cuGraphLaunch(e, 0));
        SAY(cuCtxSynchronize());
        printf("  %d\n", get());
    }
    {
        body_of(&g, o, &h, &c);
        static int pageable;
        CUDA_MEMCPY3D p;
        memset(&p, 0, sizeof p);
        p.srcMemoryType = CU_MEMORYTYPE_DEVICE;
        p.srcDevice = (CUdeviceptr)mem;
        p.dstMemoryType = CU_MEMORYTYPE_HOST;
        p.dstHost = &pageable;
        p.WidthInBytes = 4;
        p.Height = p.Depth = 1;
        SAY(cuGraphAddMemcpyNode(&n, o[0], 0, 0, &p, ctx));
        SAY(cuGraphInstantiateWithFlags(&e, g, 0));
    }
    {
        body_of(&g, o, &h, &c);
        CUstream s;
        cuStreamCreate(&s, 1);
        SAY(cuStreamBeginCaptureToGraph(s, o[0], 0, 0, 0, CU_STREAM_CAPTURE_MODE_GLOBAL));
        add<<<1, 1, 0, s>>>(mem, 5);
        CUgraph r;
        SAY(cuStreamEndCapture(s, &r));
        printf("  same %d\n", r == o[0]);
        SAY(cuGraphInstantiateWithFlags(&e, g, 0));
        zero();
        SAY(cuGraphLaunch(e, 0));
        SAY(cuCtxSynchronize());
        printf("  %d\n", get());
        SAY(cuGraphDestroy(g));
        zero();
        SAY(cuGraphLaunch(e, 0));
        SAY(cuGraphExecDestroy(e));
        SAY(cuCtxSynchronize());
        printf("  %d\n", get());
    }
    {
        CUgraph g = newg();
        H h;
        cuGraphConditionalHandleCreate(&h, g, ctx, 1, 1);
        CUgraphExec e;
        CUgraphNode k = kadd(g, 0, 0, 1);
        (void)k;
        SAY(cuGraphInstantiateWithFlags(&e, g, 0));
    }
    {
        CUgraph g = newg();
        H h;
        cuGraphConditionalHandleCreate(&h, g, ctx, 1, 1);
        CUgraph k = newg(), o[1];
        SAY(cond(k, 0, 0, h, 0, 1, o, 0));
        CUgraphExec e;
        SAY(cuGraphAddChildGraphNode(&n, g, 0, 0, k));
        SAY(cuGraphInstantiateWithFlags(&e, g, 0));
        SAY(cuGraphInstantiateWithFlags(&e, k, 0));
    }
}

static void update()
{
    CUgraph g, o[1], g2, o2[1];
    H h, h2;
    CUgraphNode c, c2;
    CUgraphExec e;
    body_of(&g, o, &h, &c);
    CUgraphNode b = kadd(o[0], 0, 0, 1);
    SAY(cuGraphInstantiateWithFlags(&e, g, 0));
    int v = 50;
    void *a[] = {&mem, &v};
    CUDA_KERNEL_NODE_PARAMS p;
    memset(&p, 0, sizeof p);
    p.func = k_add;
    p.gridDimX = p.gridDimY = p.gridDimZ = p.blockDimX = p.blockDimY = p.blockDimZ = 1;
    p.kernelParams = a;
    SAY(cuGraphExecKernelNodeSetParams(e, b, &p));
    zero();
    SAY(cuGraphLaunch(e, 0));
    SAY(cuCtxSynchronize());
    printf("  %d\n", get());
    SAY(cuGraphKernelNodeSetParams(b, &p));
    CUgraphExecUpdateResultInfo inf;
    memset(&inf, 0, sizeof inf);
    SAY(cuGraphExecUpdate_v2(e, g, &inf));
    printf("  result %d\n", inf.result);
    body_of(&g2, o2, &h2, &c2);
    kadd(o2[0], 0, 0, 7);
    memset(&inf, 0, sizeof inf);
    SAY(cuGraphExecUpdate_v2(e, g2, &inf));
    printf("  result %d\n", inf.result);
    zero();
    SAY(cuGraphLaunch(e, 0));
    SAY(cuCtxSynchronize());
    printf("  %d\n", get());
}

static void outside()
{
    H h;
    CUgraph g = newg();
    cuGraphConditionalHandleCreate(&h, g, ctx, 1, 1);
    set<<<1, 1>>>(h, 1);
    SAY(cuCtxSynchronize());
}

static void wild()
{
    set<<<1, 1>>>((H)0x1234567, 1);
    SAY(cuCtxSynchronize());
}

static void wild0()
{
    set<<<1, 1>>>((H)0, 1);
    SAY(cuCtxSynchronize());
}

int main(int n, char **v)
{
    struct {
        const char *n;
        void (*f)();
    } t[] = {{"handles", handles},     {"sizes", sizes},     {"if", run_if},
             {"switch", run_switch},   {"while", run_while}, {"nested", nested},
             {"structure", structure}, {"content", content}, {"update", update},
             {"outside", outside},     {"wild", wild},       {"wild0", wild0}};
    if (n < 2) {
        for (auto &x : t) {
            fflush(stdout);
            if (!fork()) {
                printf("== %s\n", x.n);
                fflush(stdout);
                execl(v[0], v[0], x.n, NULL);
                _exit(9);
            }
            int s;
            wait(&s);
            if (s)
                printf("== %s ended %x\n", x.n, s);
        }
        return 0;
    }
    setvbuf(stdout, 0, _IOLBF, 0);
    cudaMalloc(&mem, 4);
    cuCtxGetCurrent(&ctx);
    cudaGetFuncBySymbol((cudaFunction_t *)&k_set, (void *)set);
    cudaGetFuncBySymbol((cudaFunction_t *)&k_add, (void *)add);
    cudaGetFuncBySymbol((cudaFunction_t *)&k_loop, (void *)loop);
    for (auto &x : t)
        if (!strcmp(x.n, v[1]))
            x.f();
    return 0;
}
