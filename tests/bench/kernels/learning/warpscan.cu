// Inclusive prefix sums of rows of 32, then divided by the row's sum, by shuffles alone.
extern "C" __global__ void warpscan(unsigned n, const float *x, float *y)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x % 32;
    float v = x[i], sum = v;
    for (unsigned d = 1; d < 32; d *= 2) {
        float from = __shfl_up_sync(~0u, v, d);
        if (lane >= d)
            v += from;
    }
    for (unsigned d = 16; d; d /= 2)
        sum += __shfl_xor_sync(~0u, sum, d);
    y[i] = v / sum;
}
