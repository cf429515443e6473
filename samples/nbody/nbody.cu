// Gravity: the acceleration of each body from all others, positions staged in shared memory.
// n is a multiple of blockDim.x; a body is x, y, z, mass.
// RUN: ptera run samples/nbody/nbody.ptx -g 2 -b 64 --shared 1024 u32:128 f32:0.01 rand:f32:512:1 zero:2048
extern "C" __global__ void nbody(unsigned n, float softening, const float4 *bodies, float4 *acceleration)
{
    extern __shared__ float4 tile[];
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    float4 me = bodies[i];
    float ax = 0, ay = 0, az = 0;
    for (unsigned base = 0; base < n; base += blockDim.x) {
        tile[threadIdx.x] = bodies[base + threadIdx.x];
        __syncthreads();
        for (unsigned j = 0; j < blockDim.x; j++) {
            float dx = tile[j].x - me.x, dy = tile[j].y - me.y, dz = tile[j].z - me.z;
            float inv = rsqrtf(dx * dx + dy * dy + dz * dz + softening);
            float f = tile[j].w * inv * inv * inv;
            ax += f * dx;
            ay += f * dy;
            az += f * dz;
        }
        __syncthreads();
    }
    acceleration[i] = make_float4(ax, ay, az, 0);
}
