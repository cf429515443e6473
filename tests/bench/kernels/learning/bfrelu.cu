// Scale, shift and ReLU of bfloat16 in pairs.
#include <cuda_bf16.h>
extern "C" __global__ void bfrelu(unsigned n, float scale, float shift, const __nv_bfloat162 *x, __nv_bfloat162 *y)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = __hfma2_relu(x[i], __float2bfloat162_rn(scale), __float2bfloat162_rn(shift));
}
