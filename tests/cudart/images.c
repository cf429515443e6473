/* The device code of programs in samples/programs (images/make.sh), run as nvcc's host code runs
 * it: registered before, launched by the addresses of host functions. So these run where there is
 * no nvcc. */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "runtime/cudart/abi.h"
#include "tests/cuda/kernels.h"
#include "tests/unit/check.h"

void **__cudaRegisterFatBinary(void *wrapper);
void __cudaRegisterFatBinaryEnd(void **handle);
void __cudaUnregisterFatBinary(void **handle);
void __cudaRegisterFunction(void **handle, const char *host, char *device, const char *name,
                            int limit, void *tid, void *bid, void *block, void *grid, int *warp);
void __cudaRegisterVar(void **handle, char *host, char *device, const char *name, int is_extern,
                       size_t bytes, int is_constant, int is_global);
void __cudaRegisterManagedVar(void **handle, void **host, char *device, const char *name,
                              int is_extern, size_t bytes, int is_constant, int is_global);
char __cudaInitModule(void **handle);
unsigned __cudaPushCallConfiguration(dim3 grid, dim3 block, size_t shared, cudaStream_t stream);
cudaError_t __cudaPopCallConfiguration(dim3 *grid, dim3 *block, size_t *shared, void *stream);
cudaError_t cudaMalloc(void **p, size_t bytes);
cudaError_t cudaFree(void *p);
cudaError_t cudaMemcpy(void *to, const void *from, size_t bytes, cudaMemcpyKind kind);
cudaError_t cudaMemset(void *p, int value, size_t bytes);
cudaError_t __cudaGetKernel(cudaKernel_t *kernel, const void *function);
cudaError_t cudaGraphCreate(cudaGraph_t *graph, unsigned flags);
cudaError_t cudaGraphDestroy(cudaGraph_t graph);
cudaError_t cudaGraphInstantiate(cudaGraphExec_t *exec, cudaGraph_t graph,
                                 unsigned long long flags);
cudaError_t cudaGraphLaunch(cudaGraphExec_t exec, cudaStream_t stream);
cudaError_t cudaGraphExecDestroy(cudaGraphExec_t exec);
cudaError_t cudaGraphAddMemcpyNodeToSymbol(cudaGraphNode_t *node, cudaGraph_t graph,
                                           const cudaGraphNode_t *after, size_t n,
                                           const void *symbol, const void *from, size_t bytes,
                                           size_t offset, cudaMemcpyKind kind);
cudaError_t cudaGraphAddMemcpyNodeFromSymbol(cudaGraphNode_t *node, cudaGraph_t graph,
                                             const cudaGraphNode_t *after, size_t n, void *to,
                                             const void *symbol, size_t bytes, size_t offset,
                                             cudaMemcpyKind kind);
cudaError_t cudaGraphAddKernelNode(cudaGraphNode_t *node, cudaGraph_t graph,
                                   const cudaGraphNode_t *after, size_t n,
                                   const cudaKernelNodeParams *p);
cudaError_t cudaGraphKernelNodeGetParams(cudaGraphNode_t node, cudaKernelNodeParams *p);
cudaError_t cudaMemcpyToSymbol(const void *symbol, const void *from, size_t bytes, size_t offset,
                               cudaMemcpyKind kind);
cudaError_t cudaMemcpyFromSymbol(void *to, const void *symbol, size_t bytes, size_t offset,
                                 cudaMemcpyKind kind);
cudaError_t cudaMemcpyToSymbol_ptds(const void *symbol, const void *from, size_t bytes,
                                    size_t offset, cudaMemcpyKind kind);
cudaError_t cudaMemcpyFromSymbol_ptds(void *to, const void *symbol, size_t bytes, size_t offset,
                                      cudaMemcpyKind kind);
cudaError_t cudaMemcpyToSymbolAsync(const void *symbol, const void *from, size_t bytes,
                                    size_t offset, cudaMemcpyKind kind, cudaStream_t stream);
cudaError_t cudaMemcpyFromSymbolAsync(void *to, const void *symbol, size_t bytes, size_t offset,
                                      cudaMemcpyKind kind, cudaStream_t stream);
cudaError_t cudaMemcpyToSymbolAsync_ptsz(const void *symbol, const void *from, size_t bytes,
                                         size_t offset, cudaMemcpyKind kind, cudaStream_t stream);
cudaError_t cudaMemcpyFromSymbolAsync_ptsz(void *to, const void *symbol, size_t bytes,
                                           size_t offset, cudaMemcpyKind kind, cudaStream_t stream);
cudaError_t cudaGraphMemcpyNodeSetParamsToSymbol(cudaGraphNode_t node, const void *symbol,
                                                 const void *from, size_t bytes, size_t offset,
                                                 cudaMemcpyKind kind);
cudaError_t cudaGraphMemcpyNodeSetParamsFromSymbol(cudaGraphNode_t node, void *to,
                                                   const void *symbol, size_t bytes, size_t offset,
                                                   cudaMemcpyKind kind);
cudaError_t cudaGraphExecMemcpyNodeSetParamsToSymbol(cudaGraphExec_t exec, cudaGraphNode_t node,
                                                     const void *symbol, const void *from,
                                                     size_t bytes, size_t offset,
                                                     cudaMemcpyKind kind);
cudaError_t cudaGraphExecMemcpyNodeSetParamsFromSymbol(cudaGraphExec_t exec, cudaGraphNode_t node,
                                                       void *to, const void *symbol, size_t bytes,
                                                       size_t offset, cudaMemcpyKind kind);
cudaError_t cudaFuncSetSharedMemConfig(const void *function, CUsharedconfig config);
cudaError_t cudaDeviceSynchronize(void);
cudaError_t cudaDeviceReset(void);
cudaError_t cudaLaunchKernel(const void *function, dim3 grid, dim3 block, void **arguments,
                             size_t shared, cudaStream_t stream);
cudaError_t cudaLaunchCooperativeKernel(const void *function, dim3 grid, dim3 block,
                                        void **arguments, size_t shared, cudaStream_t stream);
cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t *config, const void *function,
                                void **arguments);

/* ---- images ---------------------------------------------------------------------------------- */

struct wrapper {
    uint32_t magic, version;
    const void *data;
    const void **units;
};

static void *load(const char *name)
{
    char path[512];
    snprintf(path, sizeof path, "%s/tests/%s.fatbin", SOURCE_DIR, name);
    FILE *in = fopen(path, "rb");
    CHECK(in);
    void *data = calloc(1, 1 << 16);
    CHECK(in && fread(data, 1, 1 << 16, in) > 0);
    if (in)
        fclose(in);
    return data;
}

static void **register_image(struct wrapper *w, const char *name)
{
    char path[64];
    snprintf(path, sizeof path, "cudart/images/%s", name);
    *w = (struct wrapper){0x466243b1, 1, load(path), NULL};
    return __cudaRegisterFatBinary(w);
}

/* `host` stands for a function or variable of the program. */
static void register_kernel(void **handle, const char *host, const char *name)
{
    __cudaRegisterFunction(handle, host, NULL, name, -1, NULL, NULL, NULL, NULL, NULL);
}

static void *device_memory(size_t bytes, const void *from)
{
    void *p = NULL;
    CHECK_INT(cudaMalloc(&p, bytes), cudaSuccess);
    if (from)
        CHECK_INT(cudaMemcpy(p, from, bytes, cudaMemcpyHostToDevice), cudaSuccess);
    return p;
}

static void read_back(void *to, void *from, size_t bytes)
{
    CHECK_INT(cudaMemcpy(to, from, bytes, cudaMemcpyDeviceToHost), cudaSuccess);
    CHECK_INT(cudaFree(from), cudaSuccess);
}

#define DIM(n) ((dim3){(n), 1, 1})

/* ---- programs -------------------------------------------------------------------------------- */

static void test_vector_add(void)
{
    enum { N = 1000 };
    static const char add[1];
    static float a[N], c[N];
    struct wrapper w;
    int n = N;
    void **handle = register_image(&w, "vector_add");
    register_kernel(handle, add, "_Z3addPKfS0_Pfi");
    __cudaRegisterFatBinaryEnd(handle);
    for (int i = 0; i < N; i++)
        a[i] = (float)i;
    void *da = device_memory(sizeof a, a), *dc = device_memory(sizeof c, NULL);
    /* add<<<4, 256>>>(da, da, dc, n) */
    dim3 grid, block;
    size_t shared;
    cudaStream_t stream;
    CHECK_INT(__cudaPushCallConfiguration(DIM(4), DIM(256), 0, NULL), 0);
    CHECK_INT(__cudaPopCallConfiguration(&grid, &block, &shared, &stream), cudaSuccess);
    void *args[] = {&da, &da, &dc, &n};
    CHECK_INT(cudaLaunchKernel(add, grid, block, args, shared, stream), cudaSuccess);
    read_back(c, dc, sizeof c);
    bool is_right = true;
    for (int i = 0; i < N; i++)
        is_right = is_right && c[i] == 2 * a[i];
    CHECK(is_right);
    /* After a reset the image is loaded again. */
    CHECK_INT(cudaDeviceReset(), cudaSuccess);
    da = device_memory(sizeof a, a);
    dc = device_memory(sizeof c, NULL);
    CHECK_INT(cudaLaunchKernel(add, DIM(4), DIM(256), args, 0, NULL), cudaSuccess);
    read_back(c, dc, sizeof c);
    CHECK(c[N - 1] == 2 * a[N - 1]);
    CHECK_INT(cudaLaunchKernel(add, DIM(1), DIM(2000), args, 0, NULL), cudaErrorInvalidValue);
    __cudaUnregisterFatBinary(handle);
    CHECK_INT(cudaLaunchKernel(add, DIM(4), DIM(256), args, 0, NULL),
              cudaErrorInvalidDeviceFunction);
    CHECK_INT(__cudaPopCallConfiguration(&grid, &block, &shared, &stream),
              cudaErrorMissingConfiguration);
    free((void *)w.data);
}

static void test_reduction(void)
{
    enum { N = 5000 };
    static const char sum[1];
    static int in[N];
    struct wrapper w;
    int n = N;
    long long out = 0, want = 0;
    void **handle = register_image(&w, "reduction");
    register_kernel(handle, sum, "_Z3sumPKiiPy");
    for (int i = 0; i < N; i++)
        want += in[i] = i * 31 % 97 - 40;
    void *din = device_memory(sizeof in, in), *dout = device_memory(sizeof out, &out);
    void *args[] = {&din, &n, &dout};
    CHECK_INT(cudaLaunchKernel(sum, DIM(3), DIM(128), args, 0, NULL), cudaSuccess);
    read_back(&out, dout, sizeof out);
    CHECK_INT(out, want);
    __cudaUnregisterFatBinary(handle);
    free((void *)w.data);
}

static void test_symbols(void)
{
    static const char use[1];
    static char weights[1], result[1];
    struct wrapper w;
    float news[2] = {7, 8}, host[4];
    int r = 0;
    void **handle = register_image(&w, "symbols");
    register_kernel(handle, use, "_Z3usePf");
    __cudaRegisterVar(handle, weights, weights, "weights", 0, 16, 1, 0);
    __cudaRegisterVar(handle, result, result, "result", 0, 4, 0, 0);
    CHECK_INT(cudaMemcpyToSymbol(weights, news, sizeof news, 8, cudaMemcpyHostToDevice),
              cudaSuccess);
    void *out = device_memory(sizeof host, NULL), *args[] = {&out};
    CHECK_INT(cudaLaunchKernel(use, DIM(1), DIM(4), args, 0, NULL), cudaSuccess);
    CHECK_INT(cudaMemcpyFromSymbol(&r, result, sizeof r, 0, cudaMemcpyDeviceToHost), cudaSuccess);
    CHECK_INT(r, 42);
    read_back(host, out, sizeof host);
    CHECK(host[0] == 1 && host[1] == 2 && host[2] == 7 && host[3] == 8);
    CHECK_INT(cudaMemcpyToSymbol(weights, news, 8, 12, cudaMemcpyHostToDevice),
              cudaErrorInvalidValue);
    CHECK_INT(cudaMemcpyToSymbol(use, news, 8, 0, cudaMemcpyHostToDevice), cudaErrorInvalidSymbol);
    out = device_memory(sizeof host, NULL);
    /* nodes of graphs: variables and kernels by the addresses that the program has for them */
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    cudaGraphNode_t put, get, node;
    cudaKernelNodeParams p = {(void *)use, DIM(1), DIM(4), 0, args, NULL}, back = {0};
    CHECK_INT(cudaGraphCreate(&graph, 0), cudaSuccess);
    CHECK_INT(cudaGraphAddMemcpyNodeToSymbol(&put, graph, NULL, 0, weights, news, 4, 4,
                                             cudaMemcpyHostToDevice),
              cudaSuccess);
    CHECK_INT(cudaGraphAddMemcpyNodeFromSymbol(&get, graph, &put, 1, host, weights, 16, 0,
                                               cudaMemcpyDeviceToHost),
              cudaSuccess);
    CHECK_INT(cudaGraphAddMemcpyNodeToSymbol(&put, graph, NULL, 0, use, news, 4, 4,
                                             cudaMemcpyHostToDevice),
              cudaErrorInvalidSymbol);
    CHECK_INT(cudaGraphAddKernelNode(&node, graph, &get, 1, &p), cudaSuccess);
    CHECK_INT(cudaGraphKernelNodeGetParams(node, &back), cudaSuccess);
    CHECK(back.func == use);
    CHECK_INT(cudaGraphInstantiate(&exec, graph, 0), cudaSuccess);
    CHECK_INT(cudaGraphLaunch(exec, NULL), cudaSuccess);
    CHECK_INT(cudaDeviceSynchronize(), cudaSuccess);
    CHECK(host[0] == 1 && host[1] == 7 && host[3] == 8);
    CHECK_INT(cudaFree(out), cudaSuccess);
    CHECK_INT(cudaGraphExecDestroy(exec), cudaSuccess);
    CHECK_INT(cudaGraphDestroy(graph), cudaSuccess);
    __cudaUnregisterFatBinary(handle);
    free((void *)w.data);
}

/* Copies of variables in their other forms: in a stream, in the thread's own one, in nodes of
 * graphs that are changed before they are instantiated and after. */
static void test_symbol_copies(void)
{
    static char weights[1], nothing[1];
    const cudaMemcpyKind to = cudaMemcpyHostToDevice, from = cudaMemcpyDeviceToHost;
    struct wrapper w;
    float news[4] = {5, 6, 7, 8}, host[4] = {0};
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    cudaGraphNode_t put, get;
    void **handle = register_image(&w, "symbols");
    __cudaRegisterVar(handle, weights, weights, "weights", 0, 16, 1, 0);
    CHECK_INT(cudaMemcpyToSymbolAsync(weights, news, 8, 0, to, NULL), cudaSuccess);
    CHECK_INT(cudaMemcpyToSymbolAsync_ptsz(weights, news + 2, 8, 8, to, NULL), cudaSuccess);
    CHECK_INT(cudaDeviceSynchronize(), cudaSuccess);
    CHECK_INT(cudaMemcpyFromSymbolAsync(host, weights, 8, 0, from, NULL), cudaSuccess);
    CHECK_INT(cudaMemcpyFromSymbolAsync_ptsz(host + 2, weights, 8, 8, from, NULL), cudaSuccess);
    CHECK_INT(cudaDeviceSynchronize(), cudaSuccess);
    CHECK(host[0] == 5 && host[1] == 6 && host[2] == 7 && host[3] == 8);
    CHECK_INT(cudaMemcpyToSymbol_ptds(weights, news + 3, 4, 0, to), cudaSuccess);
    CHECK_INT(cudaMemcpyFromSymbol_ptds(host, weights, 8, 0, from), cudaSuccess);
    CHECK(host[0] == 8 && host[1] == 6);
    CHECK_INT(cudaMemcpyToSymbolAsync(nothing, news, 4, 0, to, NULL), cudaErrorInvalidSymbol);
    CHECK_INT(cudaMemcpyFromSymbolAsync(host, weights, 8, 12, from, NULL), cudaErrorInvalidValue);
    CHECK_INT(cudaMemcpyFromSymbol_ptds(host, weights, 17, 0, from), cudaErrorInvalidValue);
    CHECK_INT(cudaFuncSetSharedMemConfig(weights, CU_SHARED_MEM_CONFIG_EIGHT_BYTE_BANK_SIZE),
              cudaErrorInvalidDeviceFunction);
    /* as they are added: news[0] to weights[0], weights[0] to host[0] */
    CHECK_INT(cudaGraphCreate(&graph, 0), cudaSuccess);
    CHECK_INT(cudaGraphAddMemcpyNodeToSymbol(&put, graph, NULL, 0, weights, news, 4, 0, to), 0);
    CHECK_INT(cudaGraphAddMemcpyNodeFromSymbol(&get, graph, &put, 1, host, weights, 4, 0, from), 0);
    CHECK_INT(cudaGraphMemcpyNodeSetParamsToSymbol(put, weights, news + 1, 4, 8, to), 0);
    CHECK_INT(cudaGraphMemcpyNodeSetParamsFromSymbol(get, host + 3, weights, 4, 8, from), 0);
    CHECK_INT(cudaGraphMemcpyNodeSetParamsToSymbol(put, nothing, news, 4, 0, to),
              cudaErrorInvalidSymbol);
    CHECK_INT(cudaGraphInstantiate(&exec, graph, 0), cudaSuccess);
    CHECK_INT(cudaGraphLaunch(exec, NULL), cudaSuccess);
    CHECK_INT(cudaDeviceSynchronize(), cudaSuccess);
    CHECK(host[0] == 8 && host[3] == 6);
    CHECK_INT(cudaGraphExecMemcpyNodeSetParamsToSymbol(exec, put, weights, news + 2, 4, 4, to), 0);
    CHECK_INT(cudaGraphExecMemcpyNodeSetParamsFromSymbol(exec, get, host, weights, 4, 4, from), 0);
    CHECK_INT(cudaGraphExecMemcpyNodeSetParamsFromSymbol(exec, get, host, weights, 4, 16, from),
              cudaErrorInvalidValue);
    CHECK_INT(cudaGraphLaunch(exec, NULL), cudaSuccess);
    CHECK_INT(cudaDeviceSynchronize(), cudaSuccess);
    CHECK(host[0] == 7 && host[3] == 6);
    CHECK_INT(cudaGraphExecDestroy(exec), cudaSuccess);
    CHECK_INT(cudaGraphDestroy(graph), cudaSuccess);
    __cudaUnregisterFatBinary(handle);
    free((void *)w.data);
}

static void test_managed(void)
{
    static const char count[1];
    static int *counter, *table;
    struct wrapper w;
    void **handle = register_image(&w, "managed");
    register_kernel(handle, count, "_Z5countPi");
    __cudaRegisterManagedVar(handle, (void **)&counter, NULL, "counter", 0, 4, 0, 0);
    __cudaRegisterManagedVar(handle, (void **)&table, NULL, "table", 0, 32, 0, 0);
    CHECK(__cudaInitModule(handle));
    CHECK(counter && *counter == 5 && table && table[2] == 3);
    if (!counter)
        return;
    *counter = 20;
    int zeros[64] = {0};
    void *p = device_memory(sizeof zeros, zeros), *args[] = {&p};
    CHECK_INT(cudaLaunchKernel(count, DIM(1), DIM(64), args, 0, NULL), cudaSuccess);
    CHECK_INT(cudaDeviceSynchronize(), cudaSuccess);
    CHECK_INT(*counter, 84);
    read_back(zeros, p, sizeof zeros);
    CHECK_INT(zeros[9], 2);
    __cudaUnregisterFatBinary(handle);
    free((void *)w.data);
}

static void test_grid_sync(void)
{
    enum { BLOCKS = 6, THREADS = 32, N = BLOCKS * THREADS };
    static const char rotate[1];
    struct wrapper w;
    int host[N], rounds = 3;
    void **handle = register_image(&w, "grid_sync");
    register_kernel(handle, rotate, "_Z6rotatePii");
    for (int i = 0; i < N; i++)
        host[i] = i;
    void *p = device_memory(sizeof host, host), *args[] = {&p, &rounds};
    CHECK_INT(cudaLaunchCooperativeKernel(rotate, DIM(BLOCKS), DIM(THREADS), args, 0, NULL),
              cudaSuccess);
    read_back(host, p, sizeof host);
    for (int i = 0; i < N; i++)
        CHECK_INT(host[i], (i + rounds) % N + rounds);
    __cudaUnregisterFatBinary(handle);
    free((void *)w.data);
}

static void test_clusters(void)
{
    static const char pairs[1], any[1];
    struct wrapper w;
    int host[8];
    void **handle = register_image(&w, "clusters");
    register_kernel(handle, pairs, "_Z5pairsPi");
    register_kernel(handle, any, "_Z3anyPi");
    void *p = device_memory(sizeof host, NULL), *args[] = {&p};
    CHECK_INT(cudaLaunchKernel(pairs, DIM(8), DIM(32), args, 0, NULL), cudaSuccess);
    CHECK_INT(cudaMemcpy(host, p, sizeof host, cudaMemcpyDeviceToHost), cudaSuccess);
    for (int i = 0; i < 8; i++)
        CHECK_INT(host[i], 100 + (i ^ 1));
    CUlaunchAttribute size = {.id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION,
                              .value.clusterDim = {4, 1, 1}};
    cudaLaunchConfig_t config = {
        .gridDim = DIM(8), .blockDim = DIM(32), .attrs = &size, .numAttrs = 1};
    CHECK_INT(cudaLaunchKernelExC(&config, any, args), cudaSuccess);
    read_back(host, p, sizeof host);
    for (int i = 0; i < 8; i++)
        CHECK_INT(host[i], 100 + i / 4 * 4 + (i + 1) % 4);
    __cudaUnregisterFatBinary(handle);
    free((void *)w.data);
}

/* Machine code for this GPU, PTX for later ones alone: NVIDIA's own libraries are made so. */
static void test_later(void)
{
    static const char fill[1];
    unsigned host[32], n = 32;
    struct wrapper w = {0x466243b1, 1, load("fatbin/later"), NULL};
    void **handle = __cudaRegisterFatBinary(&w);
    register_kernel(handle, fill, "fill");
    void *p = device_memory(sizeof host, NULL), *args[] = {&p, &n};
    CHECK_INT(cudaLaunchKernel(fill, DIM(1), DIM(32), args, 0, NULL), cudaSuccess);
    read_back(host, p, sizeof host);
    for (unsigned i = 0; i < 32; i++)
        CHECK_INT(host[i], 3 * i);
    __cudaUnregisterFatBinary(handle);
    free((void *)w.data);
}

/* Two translation units in a wrapper of version 2, linked when they are loaded. */
static void test_relocatable(void)
{
    static const char fill[1];
    int host[32];
    const void *units[] = {load("cudart/images/rdc"), load("cudart/images/rdc_part"), NULL};
    struct wrapper w = {0x466243b1, 2, NULL, units};
    void **handle = __cudaRegisterFatBinary(&w);
    register_kernel(handle, fill, "_Z4fillIiEvPT_");
    void *p = device_memory(sizeof host, NULL), *args[] = {&p};
    CHECK_INT(cudaLaunchKernel(fill, DIM(1), DIM(32), args, 0, NULL), cudaSuccess);
    read_back(host, p, sizeof host);
    for (int i = 0; i < 32; i++)
        CHECK_INT(host[i], 3 * i + 1000 + (i % 2 ? 20 : 10));
    __cudaUnregisterFatBinary(handle);
    free((void *)units[0]);
    free((void *)units[1]);
}

static const char spin[] = ".version 8.0\n.target sm_70\n.address_size 64\n" PTX_ADD_AND_WAIT;
static void **spinning;

static void unregister_spinning(void)
{
    __cudaUnregisterFatBinary(spinning);
}

/* A process ends, by its exit handlers, while a kernel runs for ever. (What that holds, sanitizers
 * take for leaks.) */
static void test_end(void)
{
    static const char wait[1];
    int status = -1;
    fflush(NULL);
    pid_t child = fork(); /* before this process uses the driver */
    if (child == 0) {
        alarm(60);
        spinning = __cudaRegisterFatBinary((void *)spin);
        atexit(unregister_spinning);
        register_kernel(spinning, wait, "wait");
        void *gate = device_memory(4, (const unsigned[]){0}), *args[] = {&gate};
        exit(cudaLaunchKernel(wait, DIM(1), DIM(1), args, 0, NULL));
    }
    waitpid(child, &status, 0);
    CHECK_INT(status, 0);
}

/* Why an image cannot be loaded is what its kernels' launches say, too. */
static void test_no_image(void)
{
    static const char host[1], newer[] = ".version 9.0\n.target sm_120\n.address_size 64\n"
                                         ".visible .entry k() { ret; }\n";
    cudaKernel_t kernel = NULL;
    void **handle = __cudaRegisterFatBinary((void *)newer);
    register_kernel(handle, host, "k");
    cudaError_t why = __cudaGetKernel(&kernel, host);
    CHECK(why && why != cudaErrorInvalidDeviceFunction && kernel);
    CHECK_INT(cudaLaunchKernel(kernel, DIM(1), DIM(1), NULL, 0, NULL), why);
    __cudaUnregisterFatBinary(handle);
    struct wrapper w = {0x466243b1, 1, load("fatbin/family"), NULL}; /* PTX of sm_100f alone */
    handle = __cudaRegisterFatBinary(&w);
    register_kernel(handle, host, "fill");
    CHECK_INT(cudaLaunchKernel(host, DIM(1), DIM(1), NULL, 0, NULL),
              cudaErrorNoKernelImageForDevice);
    __cudaUnregisterFatBinary(handle);
    free((void *)w.data);
}

int main(void)
{
#ifdef PT_SANITIZED
    (void)test_end;
#else
    test_end();
#endif
    test_vector_add();
    test_reduction();
    test_symbols();
    test_symbol_copies();
    test_managed();
    test_grid_sync();
    test_clusters();
    test_relocatable();
    test_later();
    test_no_image();
    return CHECK_DONE("images");
}
