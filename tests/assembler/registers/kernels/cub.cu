/* Block primitives of CUB over types and sizes. */
#include <cub/cub.cuh>
#include <stdint.h>

template <class T, int THREADS, int ITEMS> __global__ void __launch_bounds__(THREADS) block_sort(const T *in, T *out)
{
    using Load = cub::BlockLoad<T, THREADS, ITEMS, cub::BLOCK_LOAD_TRANSPOSE>;
    using Store = cub::BlockStore<T, THREADS, ITEMS, cub::BLOCK_STORE_TRANSPOSE>;
    using Sort = cub::BlockRadixSort<T, THREADS, ITEMS>;
    __shared__ union { typename Load::TempStorage l; typename Store::TempStorage s; typename Sort::TempStorage r; } s;
    T v[ITEMS];
    Load(s.l).Load(in + blockIdx.x * THREADS * ITEMS, v);
    __syncthreads();
    Sort(s.r).Sort(v);
    __syncthreads();
    Store(s.s).Store(out + blockIdx.x * THREADS * ITEMS, v);
}

template <class T, int THREADS, int ITEMS> __global__ void block_scan(const T *in, T *out, int n)
{
    using Load = cub::BlockLoad<T, THREADS, ITEMS, cub::BLOCK_LOAD_WARP_TRANSPOSE>;
    using Store = cub::BlockStore<T, THREADS, ITEMS, cub::BLOCK_STORE_WARP_TRANSPOSE>;
    using Scan = cub::BlockScan<T, THREADS>;
    __shared__ union { typename Load::TempStorage l; typename Store::TempStorage s; typename Scan::TempStorage r; } s;
    T v[ITEMS];
    int left = n - blockIdx.x * THREADS * ITEMS;
    Load(s.l).Load(in + blockIdx.x * THREADS * ITEMS, v, left, T());
    __syncthreads();
    Scan(s.r).InclusiveSum(v, v);
    __syncthreads();
    Store(s.s).Store(out + blockIdx.x * THREADS * ITEMS, v, left);
}

template <class T, int THREADS, int ITEMS> __global__ void block_reduce(const T *in, T *out)
{
    using Reduce = cub::BlockReduce<T, THREADS>;
    __shared__ typename Reduce::TempStorage s;
    T v[ITEMS];
    cub::LoadDirectStriped<THREADS>(threadIdx.x, in + blockIdx.x * THREADS * ITEMS, v);
    T sum = Reduce(s).Sum(v);
    if (threadIdx.x == 0) out[blockIdx.x] = sum;
}

template <class T, int THREADS, int ITEMS> __global__ void block_merge(const T *in, T *out)
{
    using Sort = cub::BlockMergeSort<T, THREADS, ITEMS>;
    __shared__ typename Sort::TempStorage s;
    T v[ITEMS];
    cub::LoadDirectBlocked(threadIdx.x, in + blockIdx.x * THREADS * ITEMS, v);
    Sort(s).Sort(v, [](T a, T b) { return a < b; });
    cub::StoreDirectBlocked(threadIdx.x, out + blockIdx.x * THREADS * ITEMS, v);
}

#define K(F, T, N, I) template __global__ void F<T, N, I>(const T *, T *);
#define C(T, N, I) template __global__ void block_scan<T, N, I>(const T *, T *, int);
K(block_sort, int, 128, 1) K(block_sort, int, 128, 4) K(block_sort, int, 256, 8) K(block_sort, float, 128, 7) K(block_sort, uint64_t, 128, 4) K(block_sort, uint8_t, 128, 12)
C(int, 128, 1) C(int, 128, 4) C(int, 256, 8) C(int, 128, 15) C(float, 128, 4) C(double, 128, 7) C(int64_t, 256, 4)
K(block_reduce, float, 128, 1) K(block_reduce, float, 256, 4) K(block_reduce, double, 256, 8) K(block_reduce, int, 512, 16) K(block_reduce, int64_t, 128, 4)
K(block_merge, int, 128, 4) K(block_merge, float, 128, 8) K(block_merge, double, 64, 8) K(block_merge, uint16_t, 128, 4)
