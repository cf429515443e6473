// Inclusive prefix sums of rows of 32, then divided by the row's sum, in local memory.
__kernel void warpscan(uint n, __global const float *x, __global float *y)
{
    __local float part[256];
    uint t = get_local_id(0), i = get_global_id(0), lane = t % 32;
    part[t] = x[i];
    for (uint d = 1; d < 32; d *= 2) {
        barrier(CLK_LOCAL_MEM_FENCE);
        float from = lane >= d ? part[t - d] : 0.0f;
        barrier(CLK_LOCAL_MEM_FENCE);
        part[t] += from;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    y[i] = part[t] / part[t | 31];
}
