/* a step of k-means: 16 means of points of eight coordinates, a plane for each */
extern "C" __global__ void __launch_bounds__(256)
kmeans_assign(unsigned n, const float *__restrict__ points, const float *__restrict__ means,
              float *__restrict__ sums, unsigned *__restrict__ counts)
{
    __shared__ float mean[128], sum[128];
    __shared__ unsigned count[16];
    unsigned t = threadIdx.x, i = blockIdx.x * 256 + t, best = 0;
    if (t < 128) {
        mean[t] = means[t];
        sum[t] = 0;
    }
    if (t < 16)
        count[t] = 0;
    __syncthreads();
    if (i < n) {
        float p[8], least = 3.4e38f;
#pragma unroll
        for (int d = 0; d < 8; d++)
            p[d] = points[d * n + i];
        for (unsigned k = 0; k < 16; k++) {
            float far = 0;
#pragma unroll
            for (int d = 0; d < 8; d++)
                far += (p[d] - mean[k * 8 + d]) * (p[d] - mean[k * 8 + d]);
            if (far < least) {
                least = far;
                best = k;
            }
        }
#pragma unroll
        for (int d = 0; d < 8; d++)
            atomicAdd(&sum[best * 8 + d], p[d]);
        atomicAdd(&count[best], 1);
    }
    __syncthreads();
    if (t < 128)
        atomicAdd(&sums[t], sum[t]);
    if (t < 16)
        atomicAdd(&counts[t], count[t]);
}
extern "C" __global__ void __launch_bounds__(128)
kmeans_update(float *__restrict__ means, float *__restrict__ sums, unsigned *__restrict__ counts)
{
    unsigned t = threadIdx.x, n = counts[t / 8];
    means[t] = n ? sums[t] / n : means[t];
    sums[t] = 0;
    __syncthreads();
    if (t < 16)
        counts[t] = 0;
}
