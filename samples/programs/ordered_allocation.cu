// Memory that comes and goes in the order of streams: temporary arrays of a sum in two steps, pools with a release threshold, what one stream gives back and another takes.
#include "check.h"
#include <vector>

__global__ void sums(const int *v, int *of, int n)
{
    __shared__ int sum;
    if (threadIdx.x == 0)
        sum = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        atomicAdd(&sum, v[i]);
    __syncthreads();
    if (threadIdx.x == 0)
        of[blockIdx.x] = sum;
}

// Everything that it needs is allocated and freed in the stream.
static void add_up(const std::vector<int> &v, int *sum, cudaStream_t stream)
{
    enum { BLOCKS = 16 };
    int n = (int)v.size(), *values, *parts, *all;
    CUDA(cudaMallocAsync(&values, n * sizeof *values, stream));
    CUDA(cudaMallocAsync(&parts, BLOCKS * sizeof *parts, stream));
    CUDA(cudaMemcpyAsync(values, v.data(), n * sizeof *values, cudaMemcpyHostToDevice, stream));
    sums<<<BLOCKS, 128, 0, stream>>>(values, parts, n);
    CUDA(cudaFreeAsync(values, stream));
    CUDA(cudaMallocAsync(&all, sizeof *all, stream));
    sums<<<1, 128, 0, stream>>>(parts, all, BLOCKS);
    CUDA(cudaMemcpyAsync(sum, all, sizeof *sum, cudaMemcpyDeviceToHost, stream));
    CUDA(cudaFreeAsync(parts, stream));
    CUDA(cudaFreeAsync(all, stream));
}

static unsigned long long get(cudaMemPool_t pool, cudaMemPoolAttr attribute)
{
    unsigned long long v = 0;
    CUDA(cudaMemPoolGetAttribute(pool, attribute, &v));
    return v;
}

// What is freed stays with the pool, up to the threshold, when a stream is waited for.
static void keep(cudaStream_t stream)
{
    const size_t bytes = 8 << 20;
    cudaMemPoolProps p = {};
    p.allocType = cudaMemAllocationTypePinned;
    p.location.type = cudaMemLocationTypeDevice;
    cudaMemPool_t pool;
    void *first, *second;
    unsigned long long threshold = ~0ull;
    CUDA(cudaMemPoolCreate(&pool, &p));
    CUDA(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &threshold));
    CUDA(cudaMallocFromPoolAsync(&first, bytes, pool, stream));
    EXPECT(get(pool, cudaMemPoolAttrUsedMemCurrent) >= bytes);
    CUDA(cudaFreeAsync(first, stream));
    CUDA(cudaStreamSynchronize(stream));
    EXPECT(get(pool, cudaMemPoolAttrUsedMemCurrent) == 0 &&
           get(pool, cudaMemPoolAttrReservedMemCurrent) >= bytes);
    CUDA(cudaMallocFromPoolAsync(&second, bytes, pool, stream));
    EXPECT(second == first); // nothing new is mapped
    EXPECT(get(pool, cudaMemPoolAttrReservedMemHigh) < 2 * bytes);
    CUDA(cudaFreeAsync(second, stream));
    CUDA(cudaStreamSynchronize(stream));
    CUDA(cudaMemPoolTrimTo(pool, 0));
    EXPECT(get(pool, cudaMemPoolAttrReservedMemCurrent) == 0);
    CUDA(cudaMemPoolDestroy(pool));
}

// One stream allocates, another uses and frees, with an event between them.
static void pass(cudaStream_t from, cudaStream_t to)
{
    int *p, *sum, have = 0;
    cudaEvent_t ready;
    CUDA(cudaEventCreateWithFlags(&ready, cudaEventDisableTiming));
    CUDA(cudaMallocAsync(&p, 4096 * sizeof *p, from));
    CUDA(cudaMemsetAsync(p, 1, 4096 * sizeof *p, from));
    CUDA(cudaEventRecord(ready, from));
    CUDA(cudaStreamWaitEvent(to, ready, 0));
    CUDA(cudaMallocAsync(&sum, sizeof *sum, to));
    sums<<<1, 128, 0, to>>>(p, sum, 4096);
    CUDA(cudaFreeAsync(p, to));
    CUDA(cudaMemcpyAsync(&have, sum, sizeof have, cudaMemcpyDeviceToHost, to));
    CUDA(cudaFreeAsync(sum, to));
    CUDA(cudaStreamSynchronize(to));
    EXPECT(have == (int)(4096u * 0x01010101u));
    CUDA(cudaEventDestroy(ready));
}

int main()
{
    cudaStream_t streams[2];
    int can, have[2] = {}, want[2] = {};
    CUDA(cudaDeviceGetAttribute(&can, cudaDevAttrMemoryPoolsSupported, 0));
    EXPECT(can);
    std::vector<int> v[2] = {std::vector<int>(100000), std::vector<int>(70001)};
    for (int k = 0; k < 2; k++) {
        CUDA(cudaStreamCreateWithFlags(&streams[k], cudaStreamNonBlocking));
        for (size_t i = 0; i < v[k].size(); i++)
            want[k] += v[k][i] = (int)(i * 7919 % 1000) - 300 * k;
        add_up(v[k], &have[k], streams[k]);
    }
    for (int k = 0; k < 2; k++) {
        CUDA(cudaStreamSynchronize(streams[k]));
        EXPECT(have[k] == want[k]);
    }
    keep(streams[0]);
    pass(streams[0], streams[1]);
    for (cudaStream_t stream : streams)
        CUDA(cudaStreamDestroy(stream));
    return passed();
}
