/* two sorted halves into one: a CTA's 2,048 results begin on a diagonal of the merge path, those of
 * each thread on one of the CTA's */
__kernel void
merge(uint n, __global const uint *restrict a, __global const uint *restrict b,
      __global uint *restrict out)
{
    __local uint s[2048], ends[2];
    uint t = get_local_id(0), first = get_group_id(0) * 2048;
    if (t < 2) {
        uint d = first + t * 2048, low = d > n ? d - n : 0, high = d < n ? d : n;
        while (low < high) {
            uint mid = (low + high) / 2;
            if (a[mid] <= b[d - 1 - mid])
                low = mid + 1;
            else
                high = mid;
        }
        ends[t] = low;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    uint a0 = ends[0], na = ends[1] - a0, b0 = first - a0, nb = 2048 - na;
__attribute__((opencl_unroll_hint))
    for (int i = 0; i < 8; i++) {
        uint k = i * 256 + t;
        s[k] = k < na ? a[a0 + k] : b[b0 + k - na];
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    uint d = t * 8, low = d > nb ? d - nb : 0, high = d < na ? d : na;
    while (low < high) {
        uint mid = (low + high) / 2;
        if (s[mid] <= s[na + d - 1 - mid])
            low = mid + 1;
        else
            high = mid;
    }
    uint i = low, j = d - low, v[8];
__attribute__((opencl_unroll_hint))
    for (int k = 0; k < 8; k++) {
        bool from_a = j >= nb || (i < na && s[i] <= s[na + j]);
        v[k] = from_a ? s[i++] : s[na + j++];
    }
    barrier(CLK_LOCAL_MEM_FENCE);
__attribute__((opencl_unroll_hint))
    for (int k = 0; k < 8; k++)
        s[d + k] = v[k];
    barrier(CLK_LOCAL_MEM_FENCE);
__attribute__((opencl_unroll_hint))
    for (int k = 0; k < 8; k++)
        out[first + k * 256 + t] = s[k * 256 + t];
}
