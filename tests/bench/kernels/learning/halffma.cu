// Fused multiply-add of halves in pairs: y = a * x + y.
#include <cuda_fp16.h>
extern "C" __global__ void halffma(unsigned n, float a, const __half2 *x, __half2 *y)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = __hfma2(__float2half2_rn(a), x[i], y[i]);
}
