/* The kernels behind CUB's and Thrust's algorithms of the whole device. */
#include <cub/cub.cuh>
#include <thrust/device_ptr.h>
#include <thrust/sort.h>
#include <thrust/transform_reduce.h>
#include <thrust/scan.h>
#include <thrust/unique.h>
#include <stdint.h>

template <class T> void use(T *in, T *out, int n, void *temp, size_t &bytes, int *count)
{
    cub::DeviceReduce::Sum(temp, bytes, in, out, n);
    cub::DeviceReduce::ArgMin(temp, bytes, in, (cub::KeyValuePair<int, T> *)out, n);
    cub::DeviceScan::InclusiveSum(temp, bytes, in, out, n);
    cub::DeviceRadixSort::SortKeys(temp, bytes, in, out, n);
    cub::DeviceRadixSort::SortPairs(temp, bytes, in, out, count, count, n);
    cub::DeviceSelect::Unique(temp, bytes, in, out, count, n);
    cub::DeviceRunLengthEncode::Encode(temp, bytes, in, out, count, count, n);
    cub::DeviceHistogram::HistogramEven(temp, bytes, in, count, 65, T(0), T(64), n);
}
void use_all(void *in, void *out, int n, void *temp, size_t &bytes, int *count)
{
    use((int *)in, (int *)out, n, temp, bytes, count);
    use((float *)in, (float *)out, n, temp, bytes, count);
    use((double *)in, (double *)out, n, temp, bytes, count);
    thrust::device_ptr<float> f((float *)in);
    thrust::sort(f, f + n, thrust::greater<float>());
    thrust::exclusive_scan(f, f + n, f);
    thrust::device_ptr<int64_t> l((int64_t *)in);
    thrust::unique(l, l + n);
    thrust::stable_sort_by_key(l, l + n, f);
}
