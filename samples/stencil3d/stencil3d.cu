// One step of a 7-point stencil over a box; the faces are copied.
// RUN: ptera run samples/stencil3d/stencil3d.ptx -g 1,2,8 -b 16,4,1 u32:16 u32:8 u32:8 f32:0.4 f32:0.1 fill:f32:1024:3 zero:4096@f32:4
// EXPECT: 3 3 3 3
extern "C" __global__ void stencil3d(unsigned nx, unsigned ny, unsigned nz, float centre, float side,
                                     const float *in, float *out)
{
    unsigned x = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned y = blockIdx.y * blockDim.y + threadIdx.y;
    unsigned z = blockIdx.z * blockDim.z + threadIdx.z;
    if (x >= nx || y >= ny || z >= nz)
        return;
    unsigned plane = nx * ny, i = z * plane + y * nx + x;
    if (x == 0 || x == nx - 1 || y == 0 || y == ny - 1 || z == 0 || z == nz - 1)
        out[i] = in[i];
    else
        out[i] = centre * in[i] +
                 side * (in[i - 1] + in[i + 1] + in[i - nx] + in[i + nx] + in[i - plane] + in[i + plane]);
}
