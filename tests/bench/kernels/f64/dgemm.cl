__kernel __attribute__((reqd_work_group_size(16, 16, 1)))
void dgemm(uint n, __global const double *restrict A, __global const double *restrict B, __global double *restrict C)
{
    __local double As[16][64], Bs[16][64];
    uint tx = get_local_id(0), ty = get_local_id(1), t = ty * 16 + tx;
    uint row0 = get_group_id(1) * 64, col0 = get_group_id(0) * 64;
    double acc[4][4] = { { 0.0 } };
    for (uint k0 = 0; k0 < n; k0 += 16) {
        __attribute__((opencl_unroll_hint))
        for (uint i = 0; i < 4; i++) {
            uint e = t + i * 256;
            As[e % 16][e / 16] = A[(row0 + e / 16) * n + k0 + e % 16];
            Bs[e / 64][e % 64] = B[(k0 + e / 64) * n + col0 + e % 64];
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        __attribute__((opencl_unroll_hint))
        for (int k = 0; k < 16; k++) {
            double a[4], b[4];
            __attribute__((opencl_unroll_hint))
            for (int i = 0; i < 4; i++) { a[i] = As[k][ty * 4 + i]; b[i] = Bs[k][tx + 16 * i]; }
            __attribute__((opencl_unroll_hint))
            for (int i = 0; i < 4; i++)
                __attribute__((opencl_unroll_hint))
                for (int j = 0; j < 4; j++) acc[i][j] += a[i] * b[j];
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    __attribute__((opencl_unroll_hint))
    for (int i = 0; i < 4; i++)
        __attribute__((opencl_unroll_hint))
        for (int j = 0; j < 4; j++)
            C[(row0 + ty * 4 + i) * n + col0 + tx + 16 * j] = acc[i][j];
}
