// C = A B of bytes with sign: rows of A and columns of B are contiguous, 16 x 16 tiles of 64 bytes in local memory.
__kernel void dp4a(uint n, __global const char4 *a, __global const char4 *b, __global int *c)
{
    __local char4 s[16][17], t[16][17];
    uint x = get_local_id(0), y = get_local_id(1), words = n / 4;
    uint row = get_group_id(1) * 16 + y, column = get_group_id(0) * 16 + x;
    int sum = 0;
    for (uint k = 0; k < words; k += 16) {
        s[y][x] = a[row * words + k + x];
        t[x][y] = b[(get_group_id(0) * 16 + y) * words + k + x];
        barrier(CLK_LOCAL_MEM_FENCE);
#pragma unroll
        for (uint i = 0; i < 16; i++) {
            int4 p = convert_int4(s[y][i]) * convert_int4(t[i][x]);
            sum += p.x + p.y + p.z + p.w;
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    c[row * n + column] = sum;
}
