/* a step of k-means: 16 means of points of eight coordinates, a plane for each. OpenCL 1.2 adds no
 * floats atomically: by compare and exchange. */
void add(volatile __local float *to, float x)
{
    volatile __local uint *p = (volatile __local uint *)to;
    for (uint old = *p, seen;; old = seen) {
        seen = atomic_cmpxchg(p, old, as_uint(as_float(old) + x));
        if (seen == old)
            break;
    }
}
void add_global(volatile __global float *to, float x)
{
    volatile __global uint *p = (volatile __global uint *)to;
    for (uint old = *p, seen;; old = seen) {
        seen = atomic_cmpxchg(p, old, as_uint(as_float(old) + x));
        if (seen == old)
            break;
    }
}
__kernel __attribute__((reqd_work_group_size(256, 1, 1)))
void kmeans_assign(uint n, __global const float *restrict points, __global const float *restrict means,
                   __global float *restrict sums, __global uint *restrict counts)
{
    __local float mean[128], sum[128];
    __local uint count[16];
    uint t = get_local_id(0), i = get_group_id(0) * 256 + t, best = 0;
    if (t < 128) {
        mean[t] = means[t];
        sum[t] = 0;
    }
    if (t < 16)
        count[t] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    if (i < n) {
        float p[8], least = 3.4e38f;
        __attribute__((opencl_unroll_hint))
        for (int d = 0; d < 8; d++)
            p[d] = points[d * n + i];
        for (uint k = 0; k < 16; k++) {
            float far = 0;
            __attribute__((opencl_unroll_hint))
            for (int d = 0; d < 8; d++)
                far += (p[d] - mean[k * 8 + d]) * (p[d] - mean[k * 8 + d]);
            if (far < least) {
                least = far;
                best = k;
            }
        }
        for (int d = 0; d < 8; d++)
            add(&sum[best * 8 + d], p[d]);
        atomic_inc(&count[best]);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    if (t < 128)
        add_global(&sums[t], sum[t]);
    if (t < 16)
        atomic_add(&counts[t], count[t]);
}
__kernel __attribute__((reqd_work_group_size(128, 1, 1)))
void kmeans_update(__global float *restrict means, __global float *restrict sums,
                   __global uint *restrict counts)
{
    uint t = get_local_id(0), n = counts[t / 8];
    means[t] = n ? sums[t] / n : means[t];
    sums[t] = 0;
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    if (t < 16)
        counts[t] = 0;
}
