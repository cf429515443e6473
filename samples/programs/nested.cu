// Kernels that launch kernels: a tree of launches that prints, quicksort in streams of the device, and what comes behind it in the tail stream. nvcc -rdc=true nested.cu -lcudadevrt
#include "check.h"
#include <algorithm>
#include <vector>

__device__ int n_blocks[4]; // by depth

// Each block launches two blocks more until `most`.
__global__ void print(int depth, int most, int parent)
{
    __shared__ int me;
    if (threadIdx.x == 0) {
        me = atomicAdd(&n_blocks[depth], 1);
        if (depth < 2)
            printf("depth %d: block %d of block %d\n", depth, me, parent);
    }
    __syncthreads();
    if (depth < most && threadIdx.x == 0)
        print<<<2, 2>>>(depth + 1, most, me);
}

__device__ void selection_sort(unsigned *v, int from, int to)
{
    for (int i = from; i < to; i++) {
        int least = i;
        for (int k = i + 1; k <= to; k++)
            least = v[k] < v[least] ? k : least;
        unsigned moved = v[least];
        v[least] = v[i];
        v[i] = moved;
    }
}

// Each half in a stream of its own.
__global__ void quicksort(unsigned *v, int from, int to, int depth)
{
    if (depth > 14 || to - from < 24) {
        selection_sort(v, from, to);
        return;
    }
    unsigned pivot = v[(from + to) / 2];
    int low = from, high = to;
    while (low <= high) {
        while (v[low] < pivot)
            low++;
        while (v[high] > pivot)
            high--;
        if (low <= high) {
            unsigned moved = v[low];
            v[low++] = v[high];
            v[high--] = moved;
        }
    }
    cudaStream_t stream;
    if (from < high) {
        cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
        quicksort<<<1, 1, 0, stream>>>(v, from, high, depth + 1);
        cudaStreamDestroy(stream);
    }
    if (low < to) {
        cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
        quicksort<<<1, 1, 0, stream>>>(v, low, to, depth + 1);
        cudaStreamDestroy(stream);
    }
}

__global__ void count_wrong(const unsigned *v, int n, int *wrong)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x + 1;
    if (i < n && v[i - 1] > v[i])
        atomicAdd(wrong, 1);
}

__global__ void sort(unsigned *v, int n, int *wrong)
{
    count_wrong<<<(n + 127) / 128, 128, 0, cudaStreamTailLaunch>>>(v, n, wrong);
    quicksort<<<1, 1>>>(v, 0, n - 1, 0);
    count_wrong<<<1, 2000>>>(v, n, wrong); // too many threads for a block
    if (cudaGetLastError() != cudaErrorInvalidConfiguration || cudaGetLastError() != cudaSuccess)
        *wrong = 1000;
}

int main()
{
    int depths[4] = {};
    print<<<1, 2>>>(0, 3, -1);
    CUDA(cudaDeviceSynchronize());
    CUDA(cudaMemcpyFromSymbol(depths, n_blocks, sizeof depths));
    EXPECT(depths[0] == 1 && depths[1] == 2 && depths[2] == 4 && depths[3] == 8);

    const int n = 3000;
    unsigned *v, state = 1;
    int *wrong, is_wrong;
    std::vector<unsigned> host(n), have(n);
    for (unsigned &x : host)
        x = (state = state * 1664525 + 1013904223) >> 8;
    CUDA(cudaMalloc(&v, n * sizeof *v));
    CUDA(cudaMalloc(&wrong, sizeof *wrong));
    CUDA(cudaMemset(wrong, 0, sizeof *wrong));
    CUDA(cudaMemcpy(v, host.data(), n * sizeof *v, cudaMemcpyHostToDevice));
    sort<<<1, 1>>>(v, n, wrong);
    CUDA(cudaDeviceSynchronize());
    CUDA(cudaMemcpy(have.data(), v, n * sizeof *v, cudaMemcpyDeviceToHost));
    CUDA(cudaMemcpy(&is_wrong, wrong, sizeof is_wrong, cudaMemcpyDeviceToHost));
    std::sort(host.begin(), host.end());
    EXPECT(have == host);
    EXPECT(is_wrong == 0);
    CUDA(cudaFree(wrong));
    CUDA(cudaFree(v));
    return passed();
}
