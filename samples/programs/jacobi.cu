// Jacobi's method by graphs: a round is captured anew with the vectors changed over, and the executable updated with it; then memory that the graph itself allocates and frees.
#include "check.h"
#include <cmath>
#include <utility>
#include <vector>

__global__ void round_of(const float *a, const float *b, const float *x, float *next, double *moved, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    double sum = 0;
    for (int k = 0; k < n; k++)
        if (k != i)
            sum += a[i * n + k] * x[k];
    next[i] = (float)((b[i] - sum) / a[i * n + i]);
    atomicAdd(moved, fabs(next[i] - x[i]));
}

__global__ void fill(int *p, int v)
{
    p[threadIdx.x] = v + threadIdx.x;
}

static void solve(int n)
{
    std::vector<float> a(n * n), b(n, 0), x(n);
    for (int i = 0; i < n; i++) // the solution is i + 1
        for (int k = 0; k < n; k++) {
            a[i * n + k] = i == k ? 2.f * n : (i + k) % 3 - 1.f;
            b[i] += a[i * n + k] * (k + 1);
        }
    float *da, *db, *dx, *dn;
    double *dm, moved = 1;
    CUDA(cudaMalloc(&da, a.size() * sizeof(float)));
    CUDA(cudaMalloc(&db, n * sizeof(float)));
    CUDA(cudaMalloc(&dx, n * sizeof(float)));
    CUDA(cudaMalloc(&dn, n * sizeof(float)));
    CUDA(cudaMalloc(&dm, sizeof(double)));
    CUDA(cudaMemcpy(da, a.data(), a.size() * sizeof(float), cudaMemcpyHostToDevice));
    CUDA(cudaMemcpy(db, b.data(), n * sizeof(float), cudaMemcpyHostToDevice));
    CUDA(cudaMemset(dx, 0, n * sizeof(float)));
    cudaStream_t stream;
    CUDA(cudaStreamCreate(&stream));
    cudaGraphExec_t exec = NULL;
    int rounds = 0;
    for (; moved > 1e-4 && rounds < 100; rounds++) {
        cudaGraph_t graph;
        CUDA(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
        CUDA(cudaMemsetAsync(dm, 0, sizeof(double), stream));
        round_of<<<(n + 63) / 64, 64, 0, stream>>>(da, db, dx, dn, dm, n);
        CUDA(cudaMemcpyAsync(&moved, dm, sizeof moved, cudaMemcpyDeviceToHost, stream));
        CUDA(cudaStreamEndCapture(stream, &graph));
        cudaGraphExecUpdateResultInfo info;
        if (exec)
            CUDA(cudaGraphExecUpdate(exec, graph, &info));
        else
            CUDA(cudaGraphInstantiate(&exec, graph, 0));
        CUDA(cudaGraphDestroy(graph));
        CUDA(cudaGraphLaunch(exec, stream));
        CUDA(cudaStreamSynchronize(stream));
        std::swap(dx, dn);
    }
    EXPECT(rounds > 3 && rounds < 100);
    CUDA(cudaMemcpy(x.data(), dx, n * sizeof(float), cudaMemcpyDeviceToHost));
    for (int i = 0; i < n; i++)
        EXPECT(fabsf(x[i] - (i + 1)) < 1e-2f);
    CUDA(cudaGraphExecDestroy(exec));
    CUDA(cudaStreamDestroy(stream));
    for (void *p : {(void *)da, (void *)db, (void *)dx, (void *)dn, (void *)dm})
        CUDA(cudaFree(p));
}

// One graph allocates, fills and reads back; another one's memory outlives its launch.
static void allocate()
{
    int host[32];
    cudaStream_t stream;
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    int *p;
    CUDA(cudaStreamCreate(&stream));
    for (int is_freed = 0; is_freed < 2; is_freed++) {
        CUDA(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
        CUDA(cudaMallocAsync((void **)&p, sizeof host, stream));
        fill<<<1, 32, 0, stream>>>(p, 100 * is_freed);
        if (is_freed) {
            CUDA(cudaMemcpyAsync(host, p, sizeof host, cudaMemcpyDeviceToHost, stream));
            CUDA(cudaFreeAsync(p, stream));
        }
        CUDA(cudaStreamEndCapture(stream, &graph));
        CUDA(cudaGraphInstantiate(&exec, graph, 0));
        for (int i = 0; i < 2; i++) {
            CUDA(cudaGraphLaunch(exec, stream));
            if (!is_freed) {
                EXPECT(cudaGraphLaunch(exec, stream) == cudaErrorInvalidValue); // it is allocated
                CUDA(cudaMemcpyAsync(host, p, sizeof host, cudaMemcpyDeviceToHost, stream));
                CUDA(cudaFreeAsync(p, stream));
            }
            CUDA(cudaStreamSynchronize(stream));
            EXPECT(host[31] == 100 * is_freed + 31);
        }
        cudaGetLastError();
        CUDA(cudaGraphExecDestroy(exec));
        CUDA(cudaGraphDestroy(graph));
    }
    CUDA(cudaStreamDestroy(stream));
}

int main()
{
    solve(100);
    allocate();
    return passed();
}
