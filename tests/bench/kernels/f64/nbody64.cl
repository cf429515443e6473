__kernel __attribute__((reqd_work_group_size(256, 1, 1)))
void nbody64(uint n, double eps2, __global const double4 *restrict pos, __global double4 *restrict acc)
{
    __local double4 s[256];
    uint t = get_local_id(0), i = get_global_id(0);
    double4 p = pos[i];
    double ax = 0, ay = 0, az = 0;
    for (uint b = 0; b < n; b += 256) {
        s[t] = pos[b + t];
        barrier(CLK_LOCAL_MEM_FENCE);
        __attribute__((opencl_unroll_hint(4)))
        for (uint j = 0; j < 256; j++) {
            double4 q = s[j];
            double dx = q.x - p.x, dy = q.y - p.y, dz = q.z - p.z;
            double inv = 1.0 / sqrt(dx * dx + dy * dy + dz * dz + eps2);
            double f = q.w * inv * inv * inv;
            ax += dx * f; ay += dy * f; az += dz * f;
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    acc[i] = (double4)(ax, ay, az, 0.0);
}
