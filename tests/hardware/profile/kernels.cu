// The kernels whose counters an H100 and Ptera are compared in: one way of accessing memory, or of
// control flow, each. KERNEL(name, blocks, threads): cases.txt has these.
//
// `in` holds 2^22 floats, `out` as many; `at` is a permutation of 0 to 2^20 - 1.
#include <cstdint>

#define KERNEL(name, blocks, threads)                                                             \
    extern "C" __global__ void __launch_bounds__(threads)                                         \
        name(const float *__restrict__ in, float *__restrict__ out, const int *__restrict__ at,   \
             int zero)
#define I (blockIdx.x * blockDim.x + threadIdx.x)
#define T threadIdx.x

// ---- global memory: strides, misalignment -------------------------------------------------------

#define STRIDE(n)                                                                                 \
    KERNEL(load_stride_##n, 256, 256) { out[I] = in[I * n]; }
STRIDE(1)
STRIDE(2)
STRIDE(3)
STRIDE(4)
STRIDE(8)
STRIDE(16)
STRIDE(32)
STRIDE(33)
#define STORE_STRIDE(n)                                                                           \
    KERNEL(store_stride_##n, 256, 256) { out[I * n] = in[I]; }
STORE_STRIDE(2)
STORE_STRIDE(8)
STORE_STRIDE(33)
#define OFFSET(n)                                                                                 \
    KERNEL(load_offset_##n, 256, 256) { out[I] = in[I + n]; }
OFFSET(1)
OFFSET(7)
OFFSET(8)
OFFSET(31)
#define STORE_OFFSET(n)                                                                           \
    KERNEL(store_offset_##n, 256, 256) { out[I + n] = in[I]; }
STORE_OFFSET(1)
STORE_OFFSET(31)
KERNEL(load_backwards, 256, 256) { out[I] = in[65535 - I]; }
KERNEL(load_broadcast, 256, 256) { out[I] = in[blockIdx.x]; }
KERNEL(load_by_fours, 256, 256) { out[I] = in[I / 4]; }
KERNEL(load_gather, 1024, 256) { out[I] = in[at[I]]; }
KERNEL(store_scatter, 1024, 256) { out[at[I]] = in[I]; }
KERNEL(store_half, 256, 256)
{
    if (T & 16)
        out[I] = in[I];
}

// ---- widths, vectors, structures ----------------------------------------------------------------

#define WIDTH(name, type)                                                                         \
    KERNEL(name, 256, 256) { ((type *)out)[I] = ((const type *)in)[I]; }
WIDTH(copy_bytes, uint8_t)
WIDTH(copy_shorts, uint16_t)
WIDTH(copy_doubles, double)
WIDTH(copy_float2, float2)
WIDTH(copy_float4, float4)
WIDTH(copy_float3, float3)
WIDTH(copy_uchar4, uchar4)
struct five {
    float v[5];
};
WIDTH(copy_five, five)
struct particle {
    float4 place, speed, more;
};
WIDTH(copy_particles, particle)
struct mixed {
    char a;
    double b;
    short c;
};
WIDTH(copy_mixed, mixed)
KERNEL(load_field, 256, 256) { out[I] = ((const particle *)in)[I].speed.y; }
KERNEL(store_field, 256, 256) { ((five *)out)[I].v[3] = in[I]; }
KERNEL(gather_float2, 256, 256) { ((float2 *)out)[I] = ((const float2 *)in)[at[I]]; }
KERNEL(gather_near, 256, 256) { out[I] = in[(I & ~1023) + (at[I] & 1023)]; }
KERNEL(gather_bytes, 256, 256) { out[I] = ((const uint8_t *)in)[at[I] & 65535]; }
KERNEL(scatter_near, 256, 256) { out[(I & ~1023) + (at[I] & 1023)] = in[I]; }
KERNEL(scatter_shorts, 256, 256) { ((uint16_t *)out)[at[I]] = (uint16_t)T; }
KERNEL(scatter_bytes, 256, 256) { ((uint8_t *)out)[at[I]] = (uint8_t)T; }
#define WIDE_STRIDE(name, type, n)                                                                \
    KERNEL(name, 256, 256) { ((type *)out)[I] = ((const type *)in)[(I * n) & 0x3ffff]; }
WIDE_STRIDE(load_float2_stride_2, float2, 2)
WIDE_STRIDE(load_float2_stride_3, float2, 3)
WIDE_STRIDE(load_float4_stride_2, float4, 2)
WIDE_STRIDE(load_float4_stride_3, float4, 3)
WIDE_STRIDE(load_float4_same, float4, 0)

// ---- shared memory ------------------------------------------------------------------------------

#define SHARED(n)                                                                                 \
    KERNEL(shared_stride_##n, 64, 256)                                                            \
    {                                                                                             \
        __shared__ float s[8448];                                                                 \
        s[T * n] = in[I];                                                                         \
        __syncthreads();                                                                          \
        out[I] = s[(255 - T) * n];                                                                \
    }
SHARED(1)
SHARED(2)
SHARED(3)
SHARED(4)
SHARED(5)
SHARED(6)
SHARED(7)
SHARED(8)
SHARED(9)
SHARED(10)
SHARED(11)
SHARED(12)
SHARED(13)
SHARED(14)
SHARED(15)
SHARED(16)
SHARED(17)
SHARED(18)
SHARED(19)
SHARED(20)
SHARED(21)
SHARED(22)
SHARED(23)
SHARED(24)
SHARED(25)
SHARED(26)
SHARED(27)
SHARED(28)
SHARED(29)
SHARED(30)
SHARED(31)
SHARED(32)
SHARED(33)
#define SHARED_WIDE(name, type, n)                                                                \
    KERNEL(name, 64, 256)                                                                         \
    {                                                                                             \
        __shared__ type s[256 * n];                                                               \
        s[T * n] = ((const type *)in)[I];                                                         \
        __syncthreads();                                                                          \
        ((type *)out)[I] = s[(255 - T) * n];                                                      \
    }
SHARED_WIDE(shared_float2_stride_1, float2, 1)
SHARED_WIDE(shared_float2_stride_2, float2, 2)
SHARED_WIDE(shared_float2_stride_3, float2, 3)
SHARED_WIDE(shared_float2_stride_4, float2, 4)
SHARED_WIDE(shared_float2_stride_5, float2, 5)
SHARED_WIDE(shared_float2_stride_8, float2, 8)
SHARED_WIDE(shared_float2_stride_16, float2, 16)
SHARED_WIDE(shared_float4_stride_1, float4, 1)
SHARED_WIDE(shared_float4_stride_2, float4, 2)
SHARED_WIDE(shared_float4_stride_3, float4, 3)
SHARED_WIDE(shared_float4_stride_4, float4, 4)
SHARED_WIDE(shared_float4_stride_5, float4, 5)
SHARED_WIDE(shared_float4_stride_8, float4, 8)
SHARED_WIDE(shared_bytes, uint8_t, 1)
SHARED_WIDE(shared_bytes_stride_4, uint8_t, 4)
SHARED_WIDE(shared_bytes_stride_5, uint8_t, 5)
SHARED_WIDE(shared_shorts, uint16_t, 1)
SHARED_WIDE(shared_shorts_stride_2, uint16_t, 2)
SHARED_WIDE(shared_shorts_stride_3, uint16_t, 3)
SHARED_WIDE(shared_five, five, 1)
SHARED_WIDE(shared_doubles, double, 1)
SHARED_WIDE(shared_doubles_stride_2, double, 2)
KERNEL(shared_broadcast, 64, 256)
{
    __shared__ float s[256];
    s[T] = in[I];
    __syncthreads();
    out[I] = s[T / 32] + s[T & ~3];
}
KERNEL(shared_random, 64, 256)
{
    __shared__ float s[256];
    s[T] = in[I];
    __syncthreads();
    out[I] = s[at[I] & 255];
}
KERNEL(shared_float2_random, 64, 256)
{
    __shared__ float2 s[256];
    s[T] = ((const float2 *)in)[I];
    __syncthreads();
    ((float2 *)out)[I] = s[at[I] & 255];
}
KERNEL(shared_float4_random, 64, 256)
{
    __shared__ float4 s[256];
    s[T] = ((const float4 *)in)[I];
    __syncthreads();
    ((float4 *)out)[I] = s[at[I] & 255];
}
#define TRANSPOSE(name, width)                                                                    \
    KERNEL(name, 64, 1024)                                                                        \
    {                                                                                             \
        __shared__ float tile[32][width];                                                         \
        int x = T & 31, y = T / 32;                                                               \
        tile[y][x] = in[I];                                                                       \
        __syncthreads();                                                                          \
        out[I] = tile[x][y];                                                                      \
    }
TRANSPOSE(transpose_plain, 32)
TRANSPOSE(transpose_padded, 33)

// ---- control flow -------------------------------------------------------------------------------

__device__ __noinline__ float work(float x, int n)
{
    for (int i = 0; i < n; i++)
        x = x * 1.5f + 0.25f;
    return x;
}
KERNEL(uniform_loop, 64, 256) { out[I] = work(in[I], 10 + zero); }
KERNEL(uneven_loop, 64, 256) { out[I] = work(in[I], T & 31); }
KERNEL(odd_and_even, 64, 256)
{
    if (T & 1)
        out[I] = work(in[I], 8 + zero);
    else
        out[I] = work(in[I], 4 + zero) + 1;
}
KERNEL(four_ways, 64, 256)
{
    float x = in[I];
    switch (T & 3) {
    case 0: x = work(x, 3 + zero); break;
    case 1: x = work(x + 1, 5 + zero); break;
    case 2: x = work(x + 2, 7 + zero); break;
    default: x = 1;
    }
    out[I] = x;
}
KERNEL(early_exit, 64, 256)
{
    if (T & 32 || T % 5 == 0)
        return;
    out[I] = in[I] + 1;
}
KERNEL(odd_block, 64, 77) { out[I] = in[I]; }

// ---- atomics ------------------------------------------------------------------------------------

KERNEL(reduce_same, 64, 256) { atomicAdd(&out[0], in[I]); }
KERNEL(reduce_spread, 64, 256) { atomicAdd(&out[I], in[I]); }
KERNEL(reduce_random, 64, 256) { atomicAdd(&out[at[I] & 4095], in[I]); }
KERNEL(reduce_pairs, 64, 256) { atomicAdd(&out[I / 2], in[I]); }
KERNEL(reduce_by_eight, 64, 256) { atomicAdd(&out[I & 7], in[I]); }
KERNEL(reduce_stride_8, 64, 256) { atomicAdd(&out[I * 8], in[I]); }
KERNEL(atomic_pairs, 64, 256) { out[65536 + I] = atomicExch(&out[I / 2], in[I]); }
KERNEL(atomic_doubles, 64, 256) { atomicAdd((double *)out + I, (double)in[I]); }
KERNEL(atomic_same, 64, 256) { out[I + 64] = atomicAdd((int *)out, (int)T); }
KERNEL(atomic_spread, 64, 256) { out[I] = atomicExch((int *)out + I, (int)T); }
KERNEL(atomic_shared, 64, 256)
{
    __shared__ int s[256];
    s[T] = 0;
    __syncthreads();
    atomicAdd(&s[at[I] & 255], 1);
    __syncthreads();
    out[I] = s[T];
}
KERNEL(atomic_shared_same, 64, 256)
{
    __shared__ int s;
    s = 0;
    __syncthreads();
    out[I] = atomicAdd(&s, 1);
}

// ---- local arrays, constants --------------------------------------------------------------------

__constant__ float table[1024];
KERNEL(local_array, 64, 256)
{
    float v[32];
    for (int i = 0; i < 32; i++)
        v[i] = in[I + i];
    float x = 0;
    for (int i = 0; i < 32; i++)
        x += v[(i * 7 + zero + at[I]) & 31];
    out[I] = x;
}
KERNEL(local_shorts, 64, 256)
{
    short v[64];
    for (int i = 0; i < 64; i++)
        v[(i + zero) & 63] = (short)(i * at[I]);
    out[I] = v[(at[I] + zero) & 63];
}
KERNEL(local_lanes, 64, 256)
{
    float v[16];
    for (int i = 0; i < 16; i++)
        v[i] = in[I] + i;
    v[(T + zero) & 15] = 1;
    out[I] = v[(T * 5 + zero) & 15];
}
KERNEL(constant_uniform, 64, 256) { out[I] = table[blockIdx.x + zero]; }
KERNEL(constant_divergent, 64, 256) { out[I] = table[T]; }

// ---- tensor operations --------------------------------------------------------------------------

#define MMA(name, shape, bits, a, b, c)                                                           \
    KERNEL(name, 16, 128)                                                                         \
    {                                                                                             \
        const bits *v = (const bits *)in + I * 4;                                                 \
        bits d[4] = {v[0], v[1], v[2], v[3]};                                                     \
        asm volatile("mma.sync.aligned." shape " {%0, %1" c "}, {%2, %3" a "}, {%2" b "}, "       \
                     "{%0, %1" c "};"                                                             \
                     : "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3]));                           \
        ((bits *)out)[I] = d[0] + d[1] + d[2] + d[3];                                             \
    }
MMA(mma_f16_f32, "m16n8k16.row.col.f32.f16.f16.f32", unsigned, ", %2, %3", ", %3", ", %2, %3")
MMA(mma_f16_f16, "m16n8k16.row.col.f16.f16.f16.f16", unsigned, ", %2, %3", ", %3", "")
MMA(mma_f16_k8, "m16n8k8.row.col.f32.f16.f16.f32", unsigned, "", "", ", %2, %3")
MMA(mma_bf16, "m16n8k16.row.col.f32.bf16.bf16.f32", unsigned, ", %2, %3", ", %3", ", %2, %3")
MMA(mma_tf32, "m16n8k8.row.col.f32.tf32.tf32.f32", unsigned, ", %2, %3", ", %3", ", %2, %3")
MMA(mma_s8, "m16n8k32.row.col.s32.s8.s8.s32", unsigned, ", %2, %3", ", %3", ", %2, %3")
KERNEL(mma_f64, 16, 128)
{
    double a = in[I], c = 1, d = 2;
    asm volatile("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0, %1}, {%2}, {%2}, {%0, %1};"
                 : "+d"(c), "+d"(d)
                 : "d"(a));
    out[I] = (float)(c + d);
}

// ---- small programs -----------------------------------------------------------------------------

KERNEL(saxpy, 1024, 256) { out[I] = 2.5f * in[I] + out[I]; }
KERNEL(stencil, 1024, 256)
{
    int i = I + 1;
    out[i] = 0.25f * in[i - 1] + 0.5f * in[i] + 0.25f * in[i + 1];
}
KERNEL(block_sum, 256, 256)
{
    __shared__ float s[8];
    float x = in[I];
    for (int d = 16; d; d /= 2)
        x += __shfl_xor_sync(~0u, x, d);
    if (T % 32 == 0)
        s[T / 32] = x;
    __syncthreads();
    if (T < 8) {
        x = s[T];
        for (int d = 4; d; d /= 2)
            x += __shfl_xor_sync(0xff, x, d);
        if (T == 0)
            out[blockIdx.x] = x;
    }
}
KERNEL(matmul, 64, 256)
{
    __shared__ float a[16][16], b[16][16];
    int x = T & 15, y = T / 16, column = (blockIdx.x & 7) * 16 + x, row = blockIdx.x / 8 * 16 + y;
    float sum = 0;
    for (int k = 0; k < 128; k += 16) {
        a[y][x] = in[row * 128 + k + x];
        b[y][x] = in[65536 + (k + y) * 128 + column];
        __syncthreads();
        for (int i = 0; i < 16; i++)
            sum += a[y][i] * b[i][x];
        __syncthreads();
    }
    out[row * 128 + column] = sum;
}
KERNEL(histogram, 64, 256)
{
    __shared__ int bins[64];
    if (T < 64)
        bins[T] = 0;
    __syncthreads();
    for (int i = I; i < 65536; i += 64 * 256)
        atomicAdd(&bins[at[i] & 63], 1);
    __syncthreads();
    if (T < 64)
        atomicAdd((int *)out + T, bins[T]);
}
KERNEL(nbody, 16, 256)
{
    __shared__ float4 s[256];
    const float4 *bodies = (const float4 *)in;
    float4 me = bodies[I];
    float x = 0, y = 0, z = 0;
    for (int tile = 0; tile < 4; tile++) {
        s[T] = bodies[tile * 256 + T];
        __syncthreads();
        for (int i = 0; i < 256; i++) {
            float4 o = s[i];
            float dx = o.x - me.x, dy = o.y - me.y, dz = o.z - me.z;
            float inverse = rsqrtf(dx * dx + dy * dy + dz * dz + 0.01f);
            float f = o.w * inverse * inverse * inverse;
            x += dx * f, y += dy * f, z += dz * f;
        }
        __syncthreads();
    }
    ((float4 *)out)[I] = make_float4(x, y, z, 0);
}
KERNEL(doubles, 64, 256)
{
    double x = in[I], y = 1;
    for (int i = 0; i < 8; i++)
        y = y * x + 0.5, y *= 0.75, y += x;
    out[I] = (float)y;
}
