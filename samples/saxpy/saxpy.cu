// y = a x + y, one thread an element.
// RUN: ptera run samples/saxpy/saxpy.ptx -g 4 -b 256 u32:1000 f32:2 iota:f32:1000 fill:f32:1000:1@f32:5
// EXPECT: 1 3 5 7 9
extern "C" __global__ void saxpy(unsigned n, float a, const float *__restrict__ x, float *__restrict__ y)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = a * x[i] + y[i];
}
