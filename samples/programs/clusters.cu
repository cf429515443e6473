// Clusters: CTAs that read each other's shared memory. The cluster's size once from the kernel, once from the launch. nvcc -arch=sm_90 clusters.cu
#include "check.h"
#include <cooperative_groups.h>
namespace cg = cooperative_groups;

__device__ void exchange(int *out)
{
    __shared__ int mine;
    cg::cluster_group cluster = cg::this_cluster();
    unsigned rank = cluster.block_rank(), n = cluster.num_blocks();
    if (threadIdx.x == 0)
        mine = 100 + blockIdx.x;
    cluster.sync();
    int *other = cluster.map_shared_rank(&mine, (rank + 1) % n);
    if (threadIdx.x == 0)
        out[blockIdx.x] = *other;
    cluster.sync();
}

__global__ void __cluster_dims__(2, 1, 1) pairs(int *out)
{
    exchange(out);
}

__global__ void any(int *out)
{
    exchange(out);
}

int main()
{
    int *out, host[8];
    CUDA(cudaMalloc(&out, sizeof host));
    pairs<<<8, 32>>>(out);
    CUDA(cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost));
    for (int i = 0; i < 8; i++)
        EXPECT(host[i] == 100 + (i ^ 1));
    cudaLaunchConfig_t config = {};
    cudaLaunchAttribute size = {};
    size.id = cudaLaunchAttributeClusterDimension;
    size.val.clusterDim.x = 4;
    size.val.clusterDim.y = size.val.clusterDim.z = 1;
    config.gridDim = 8;
    config.blockDim = 32;
    config.attrs = &size;
    config.numAttrs = 1;
    CUDA(cudaLaunchKernelEx(&config, any, out));
    CUDA(cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost));
    for (int i = 0; i < 8; i++)
        EXPECT(host[i] == 100 + i / 4 * 4 + (i + 1) % 4);
    CUDA(cudaFree(out));
    return passed();
}
