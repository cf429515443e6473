// A barrier of the whole grid: cooperative groups.
#include "check.h"
#include <cooperative_groups.h>
namespace cg = cooperative_groups;

__global__ void rotate(int *p, int rounds)
{
    cg::grid_group grid = cg::this_grid();
    unsigned n = grid.size(), i = grid.thread_rank();
    for (int r = 0; r < rounds; r++) {
        int v = p[(i + 1) % n];
        grid.sync();
        p[i] = v + 1;
        grid.sync();
    }
}

int main()
{
    const int blocks = 12, threads = 64, n = blocks * threads, rounds = 5;
    int *p, host[n], r = rounds, supported;
    CUDA(cudaDeviceGetAttribute(&supported, cudaDevAttrCooperativeLaunch, 0));
    EXPECT(supported);
    CUDA(cudaMalloc(&p, sizeof host));
    for (int i = 0; i < n; i++)
        host[i] = i;
    CUDA(cudaMemcpy(p, host, sizeof host, cudaMemcpyHostToDevice));
    void *args[] = {&p, &r};
    CUDA(cudaLaunchCooperativeKernel((void *)rotate, blocks, threads, args, 0, 0));
    CUDA(cudaMemcpy(host, p, sizeof host, cudaMemcpyDeviceToHost));
    for (int i = 0; i < n; i++)
        EXPECT(host[i] == (i + rounds) % n + rounds);
    CUDA(cudaFree(p));
    return passed();
}
