/* a pass of a radix sort by eight bits: counts of each group's 2,048 keys, their sums, keys to their
 * places; one work-item ranks 256 keys */
__kernel __attribute__((reqd_work_group_size(256, 1, 1)))
void radix_count(uint shift, __global const uint *restrict keys, __global uint *restrict counts)
{
    __local uint count[256];
    uint t = get_local_id(0);
    count[t] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int i = 0; i < 8; i++)
        atomic_inc(&count[keys[get_group_id(0) * 2048 + i * 256 + t] >> shift & 255]);
    barrier(CLK_LOCAL_MEM_FENCE);
    counts[t * get_num_groups(0) + get_group_id(0)] = count[t];
}
/* exclusive, by one group */
__kernel __attribute__((reqd_work_group_size(256, 1, 1)))
void radix_scan(uint n, __global uint *counts)
{
    __local uint s[2][256];
    uint t = get_local_id(0), before = 0;
    for (uint base = 0; base < n; base += 256) {
        uint own = base + t < n ? counts[base + t] : 0, p = 0;
        s[0][t] = own;
        barrier(CLK_LOCAL_MEM_FENCE);
        for (uint d = 1; d < 256; d <<= 1) {
            s[p ^ 1][t] = s[p][t] + (t >= d ? s[p][t - d] : 0);
            p ^= 1;
            barrier(CLK_LOCAL_MEM_FENCE);
        }
        if (base + t < n)
            counts[base + t] = before + s[p][t] - own;
        before += s[p][255];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
}
__kernel __attribute__((reqd_work_group_size(256, 1, 1)))
void radix_place(uint shift, __global const uint *restrict keys, __global const uint *restrict counts,
                 __global uint *restrict out)
{
    __local uint count[8][256];
    __local ushort rank[2048];
    uint t = get_local_id(0), base = get_group_id(0) * 2048;
    for (int w = 0; w < 8; w++)
        count[w][t] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    if (t < 8)
        for (uint i = t * 256; i < t * 256 + 256; i++)
            rank[i] = count[t][keys[base + i] >> shift & 255]++;
    barrier(CLK_LOCAL_MEM_FENCE);
    uint at = counts[t * get_num_groups(0) + get_group_id(0)];
    for (int w = 0; w < 8; w++) {
        uint n = count[w][t];
        count[w][t] = at;
        at += n;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint i = 0; i < 8; i++) {
        uint k = i * 256 + t, key = keys[base + k];
        out[count[i][key >> shift & 255] + rank[k]] = key;
    }
}
