// What CUDA C++ makes of clusters, mbarriers and cooperative launches; tests/api/cluster.c runs it in many shapes.
//     nvcc -arch=compute_90 -std=c++17 -ptx kernels.cu
// RUN: ptera run tests/ptx/cluster/kernels.ptx -k ring --cluster 4 -g 4 -b 32 zero:16@u32 u32:3
// EXPECT: 33 0 11 22
// RUN: ptera run tests/ptx/cluster/kernels.ptx -k pipeline -g 2 -b 96 iota:u32:256 zero:8@u32 u32:128
// EXPECT: 8128 24512
// RUN: ptera run tests/ptx/cluster/kernels.ptx -k grid_sum -g 8 -b 64 --cooperative iota:u32:1000 zero:32 zero:4@u32 u32:1000
// EXPECT: 499500
#include <cooperative_groups.h>
#include <cuda/barrier>
#include <cuda/ptx>
namespace cg = cooperative_groups;
namespace ptx = cuda::ptx;

// A histogram whose bins are spread over the shared memory of a cluster.
extern "C" __global__ void histogram(unsigned *bins, unsigned bins_of_cta, const unsigned *in, unsigned n)
{
    extern __shared__ unsigned part[];
    cg::cluster_group cluster = cg::this_cluster();
    for (unsigned i = threadIdx.x; i < bins_of_cta; i += blockDim.x)
        part[i] = 0;
    cluster.sync();
    for (unsigned i = cg::this_grid().thread_rank(); i < n; i += gridDim.x * blockDim.x) {
        unsigned bin = min(in[i], bins_of_cta * cluster.num_blocks() - 1);
        atomicAdd(cluster.map_shared_rank(part, bin / bins_of_cta) + bin % bins_of_cta, 1);
    }
    cluster.sync();
    for (unsigned i = threadIdx.x; i < bins_of_cta; i += blockDim.x)
        atomicAdd(bins + cluster.block_rank() * bins_of_cta + i, part[i]);
}

// Values go round the cluster: each step takes from the CTA before, between two barriers that are arrived at early.
extern "C" __global__ void ring(unsigned *out, unsigned steps)
{
    __shared__ unsigned value[32];
    cg::cluster_group cluster = cg::this_cluster();
    unsigned n = cluster.num_blocks(), rank = cluster.block_rank();
    value[threadIdx.x] = 11 * rank * (threadIdx.x + 1);
    for (unsigned i = 0; i < steps; i++) {
        auto written = cluster.barrier_arrive();
        unsigned from = (rank + n - 1) % n;
        cluster.barrier_wait(cuda::std::move(written));
        unsigned taken = cluster.map_shared_rank(value, from)[threadIdx.x];
        cluster.sync();
        value[threadIdx.x] = taken;
    }
    cluster.sync();
    if (threadIdx.x == 0)
        out[blockIdx.x] = cluster.map_shared_rank(value, (rank + 2) % n)[0];
    cluster.sync();
}

// One warp fills a buffer of four stages, the others empty it; each stage has a barrier for either direction.
extern "C" __global__ void pipeline(const unsigned *in, unsigned *out, unsigned n)
{
    using barrier = cuda::barrier<cuda::thread_scope_block>;
    constexpr unsigned stages = 4, width = 32;
    __shared__ unsigned stage[stages][width], total;
#pragma nv_diag_suppress static_var_with_dynamic_init
    __shared__ barrier full[stages], empty[stages];
    unsigned warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    in += blockIdx.x * n;
    if (threadIdx.x == 0) {
        total = 0;
        for (unsigned s = 0; s < stages; s++) {
            init(full + s, blockDim.x);
            init(empty + s, blockDim.x);
        }
    }
    __syncthreads();
    unsigned sum = 0;
    for (unsigned i = 0; i < n / width; i++) {
        unsigned s = i % stages;
        if (warp == 0) {
            if (i >= stages)
                empty[s].wait(empty[s].arrive());
            stage[s][lane] = in[i * width + lane];
            (void)full[s].arrive();
        } else {
            full[s].wait(full[s].arrive());
            if (i % (blockDim.x / 32 - 1) == warp - 1)
                sum += stage[s][lane];
            if (i + stages < n / width)
                (void)empty[s].arrive();
        }
    }
    atomicAdd(&total, sum);
    __syncthreads();
    if (threadIdx.x == 0)
        out[blockIdx.x] = total;
}

// Every CTA sends its number to all others of the cluster, whose mbarrier counts the bytes.
extern "C" __global__ void all_to_all(unsigned *out)
{
    __shared__ uint64_t arrived;
    __shared__ unsigned from[16], sum;
    cg::cluster_group cluster = cg::this_cluster();
    unsigned n = cluster.num_blocks(), rank = cluster.block_rank();
    if (threadIdx.x == 0) {
        ptx::mbarrier_init(&arrived, 1);
        ptx::fence_mbarrier_init(ptx::sem_release, ptx::scope_cluster);
        ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared, &arrived, 8 * n);
        sum = 0;
    }
    cluster.sync();
    if (threadIdx.x < n) {
        unsigned to = threadIdx.x;
        auto *there = cluster.map_shared_rank(&arrived, to);
        ptx::st_async(cluster.map_shared_rank(from, to) + rank, 100 * blockIdx.x + to, there);
        ptx::red_async(ptx::op_add, cluster.map_shared_rank(&sum, to), rank + 1, there);
    }
    while (!ptx::mbarrier_try_wait_parity(&arrived, 0))
        ;
    if (threadIdx.x < n)
        out[blockIdx.x * n + threadIdx.x] = from[threadIdx.x] + 1000000 * sum;
    cluster.sync();
}

// CTAs with more work than others: some threads leave before the barriers of the rest, one CTA as a whole.
extern "C" __global__ void early(unsigned *out)
{
    __shared__ unsigned count;
    cg::cluster_group cluster = cg::this_cluster();
    unsigned rank = cluster.block_rank(), n = cluster.num_blocks();
    if (threadIdx.x == 0)
        count = 0;
    cluster.sync();
    if (rank == 1 && n > 1)
        return;
    if (threadIdx.x % 5 == rank)
        return;
    atomicAdd(cluster.map_shared_rank(&count, 0), 1);
    cluster.sync();
    if (threadIdx.x % 7 == 3)
        return;
    atomicAdd(cluster.map_shared_rank(&count, 0), 1000);
    cluster.sync();
    if (rank == 0)
        atomicMax(&out[blockIdx.x / n], count);
}

// Partial sums of all CTAs, added up by the first behind a barrier of the grid; twice, so that the barrier is used again.
extern "C" __global__ void grid_sum(const unsigned *in, unsigned *parts, unsigned *out, unsigned n)
{
    cg::grid_group grid = cg::this_grid();
    for (unsigned round = 0; round < 2; round++) {
        if (threadIdx.x == 0)
            parts[blockIdx.x] = 0;
        __syncthreads();
        unsigned sum = 0;
        for (unsigned i = grid.thread_rank(); i < n; i += grid.size())
            sum += in[i];
        atomicAdd(&parts[blockIdx.x], sum);
        grid.sync();
        if (grid.thread_rank() == 0) {
            unsigned total = 0;
            for (unsigned i = 0; i < gridDim.x; i++)
                total += parts[i];
            *out = total;
        }
        grid.sync();
    }
}
