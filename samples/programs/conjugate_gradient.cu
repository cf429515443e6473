// Conjugate gradients on all devices at once: each has a cooperative kernel for its rows of a tridiagonal system. The grids meet at a
// barrier of their own, of which one thread a device takes part when its grid has come, and share sums by atomics of the whole system.
#include "check.h"
#include <cmath>
#include <cooperative_groups.h>
namespace cg = cooperative_groups;

const int N = 1024, BLOCKS = 2, THREADS = 64, MOST = 100;
const double DIAGONAL = 2.5, SMALL = 1e-20;

struct Shared {
    unsigned arrived;
    double sums[2 * MOST + 2]; // each is used once
    int iterations;
};

__device__ void meet(Shared *s, unsigned devices, unsigned *round)
{
    cg::grid_group grid = cg::this_grid();
    __threadfence_system();
    grid.sync();
    if (grid.thread_rank() == 0) {
        ++*round;
        atomicAdd_system(&s->arrived, 1);
        while (*(volatile unsigned *)&s->arrived < *round * devices)
            continue;
        __threadfence_system();
    }
    grid.sync();
}

__device__ void add(double *sum, double mine)
{
    for (int d = 16; d; d /= 2)
        mine += __shfl_down_sync(~0u, mine, d);
    if (threadIdx.x % 32 == 0)
        atomicAdd_system(sum, mine);
}

__global__ void solve(Shared *s, double *x, double *r, double *p, double *q, int first, int rows, unsigned devices)
{
    const int begin = first + blockIdx.x * blockDim.x + threadIdx.x, end = first + rows, step = gridDim.x * blockDim.x;
    unsigned round = 0;
    double mine = 0;
    for (int i = begin; i < end; i += step)
        mine += r[i] * r[i];
    add(&s->sums[0], mine);
    meet(s, devices, &round);
    double before = *(volatile double *)&s->sums[0];
    int k = 0;
    for (; k < MOST && before > SMALL; k++) {
        double pq = 0, rr = 0;
        for (int i = begin; i < end; i += step) {
            q[i] = DIAGONAL * p[i] - (i > 0 ? p[i - 1] : 0) - (i + 1 < N ? p[i + 1] : 0);
            pq += p[i] * q[i];
        }
        add(&s->sums[2 * k + 1], pq);
        meet(s, devices, &round);
        double alpha = before / *(volatile double *)&s->sums[2 * k + 1];
        for (int i = begin; i < end; i += step) {
            x[i] += alpha * p[i];
            r[i] -= alpha * q[i];
            rr += r[i] * r[i];
        }
        add(&s->sums[2 * k + 2], rr);
        meet(s, devices, &round);
        double after = *(volatile double *)&s->sums[2 * k + 2];
        for (int i = begin; i < end; i += step)
            p[i] = r[i] + after / before * p[i];
        before = after;
        meet(s, devices, &round);
    }
    if (begin == 0)
        s->iterations = k;
}

int main()
{
    int devices, has;
    Shared *s;
    double *x, *r, *p, *q;
    CUDA(cudaGetDeviceCount(&devices));
    CUDA(cudaMallocManaged(&s, sizeof *s));
    CUDA(cudaMallocManaged(&x, N * sizeof *x));
    CUDA(cudaMallocManaged(&r, N * sizeof *r));
    CUDA(cudaMallocManaged(&p, N * sizeof *p));
    CUDA(cudaMallocManaged(&q, N * sizeof *q));
    *s = Shared();
    for (int i = 0; i < N; i++) {
        x[i] = q[i] = 0;
        r[i] = p[i] = 1 + i % 7;
    }
    for (int d = 0; d < devices; d++) {
        int first = N / devices * d, rows = d + 1 < devices ? N / devices : N - first;
        unsigned all = devices;
        CUDA(cudaSetDevice(d));
        CUDA(cudaDeviceGetAttribute(&has, cudaDevAttrCooperativeLaunch, d));
        EXPECT(has);
        void *arguments[] = {&s, &x, &r, &p, &q, &first, &rows, &all};
        CUDA(cudaLaunchCooperativeKernel((void *)solve, BLOCKS, THREADS, arguments));
    }
    for (int d = 0; d < devices; d++) {
        CUDA(cudaSetDevice(d));
        CUDA(cudaDeviceSynchronize());
    }
    double worst = 0;
    for (int i = 0; i < N; i++) {
        double ax = DIAGONAL * x[i] - (i > 0 ? x[i - 1] : 0) - (i + 1 < N ? x[i + 1] : 0);
        worst = fmax(worst, fabs(ax - (1 + i % 7)));
    }
    printf("%d devices, %d iterations, largest error %.1e\n", devices, s->iterations, worst);
    EXPECT(worst < 1e-8 && s->iterations > 5 && s->iterations < MOST);
    CUDA(cudaFree(s));
    CUDA(cudaFree(x));
    CUDA(cudaFree(r));
    CUDA(cudaFree(p));
    CUDA(cudaFree(q));
    return passed();
}
