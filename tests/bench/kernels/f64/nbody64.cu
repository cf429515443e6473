extern "C" __global__ void __launch_bounds__(256)
nbody64(unsigned n, double eps2, const double4 *__restrict__ pos, double4 *__restrict__ acc)
{
    __shared__ double4 s[256];
    unsigned t = threadIdx.x, i = blockIdx.x * 256 + t;
    double4 p = pos[i];
    double ax = 0, ay = 0, az = 0;
    for (unsigned b = 0; b < n; b += 256) {
        s[t] = pos[b + t];
        __syncthreads();
#pragma unroll 4
        for (unsigned j = 0; j < 256; j++) {
            double4 q = s[j];
            double dx = q.x - p.x, dy = q.y - p.y, dz = q.z - p.z;
            double inv = 1.0 / sqrt(dx * dx + dy * dy + dz * dz + eps2);
            double f = q.w * inv * inv * inv;
            ax += dx * f; ay += dy * f; az += dz * f;
        }
        __syncthreads();
    }
    acc[i] = make_double4(ax, ay, az, 0.0);
}
