// Kernels of tensor cores, asynchronous copies and textures, whose times on an H100 the model is
// compared with: tests/bench and ../profile have few of these. What they compute means nothing.
//
// `linear` is a texture of the first 2^20 floats of `in`; `image` is 1024 floats wide and high, as
// an array, `smooth` the same filtered; `colours` has four floats a texel, 512 x 512. `map` has boxes
// of 64 x 32 of rows of 1024 floats of `in`, `result` the same of `out`.
#include <cstdint>
#include <cuda.h>
#include <mma.h>

#include "wgmma.h"

#define KERNEL(name)                                                                              \
    extern "C" __global__ void __launch_bounds__(256)                                             \
        name(const float *__restrict__ in, float *__restrict__ out, const int *__restrict__ at,   \
             int turns, cudaTextureObject_t linear, cudaTextureObject_t image,                    \
             cudaTextureObject_t smooth, cudaTextureObject_t colours,                             \
             const __grid_constant__ CUtensorMap map, const __grid_constant__ CUtensorMap result)
#define I (blockIdx.x * blockDim.x + threadIdx.x)
#define T threadIdx.x
#define ADDRESS(p) ((uint32_t)__cvta_generic_to_shared(p))

// ---- mma, of operands in registers: `n` chains a warp -------------------------------------------

#define CHAINS(name, n, type, constraint, text)                                                   \
    KERNEL(name)                                                                                  \
    {                                                                                             \
        type d[n][4] = {};                                                                        \
        uint32_t a[4], b[2];                                                                      \
        for (int i = 0; i < 4; i++)                                                               \
            a[i] = at[(I + i * 32) & 0xfffff], b[i & 1] = a[i];                                   \
        for (int t = 0; t < turns; t++)                                                           \
            _Pragma("unroll") for (int i = 0; i < n; i++) asm volatile(                           \
                text                                                                              \
                : "+" constraint(d[i][0]), "+" constraint(d[i][1]), "+" constraint(d[i][2]),      \
                  "+" constraint(d[i][3])                                                         \
                : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));              \
        type sum = 0;                                                                             \
        for (int i = 0; i < n; i++)                                                               \
            sum += d[i][0] + d[i][1] + d[i][2] + d[i][3];                                         \
        out[I] = sum;                                                                             \
    }
#define WIDE(shape) "mma.sync.aligned." shape " {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
#define NARROW(shape) "mma.sync.aligned." shape " {%0, %1, %2, %3}, {%4, %5}, {%8}, {%0, %1, %2, %3};"
#define HALF(shape) "mma.sync.aligned." shape " {%0, %1}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1};"
CHAINS(mma_f16, 8, float, "f", WIDE("m16n8k16.row.col.f32.f16.f16.f32"))
CHAINS(mma_f16_chain, 1, float, "f", WIDE("m16n8k16.row.col.f32.f16.f16.f32"))
CHAINS(mma_f16_k8, 8, float, "f", NARROW("m16n8k8.row.col.f32.f16.f16.f32"))
CHAINS(mma_half, 8, uint32_t, "r", HALF("m16n8k16.row.col.f16.f16.f16.f16"))
CHAINS(mma_bf16, 4, float, "f", WIDE("m16n8k16.row.col.f32.bf16.bf16.f32"))
CHAINS(mma_tf32, 8, float, "f", WIDE("m16n8k8.row.col.f32.tf32.tf32.f32"))
CHAINS(mma_tf32_k4, 8, float, "f", NARROW("m16n8k4.row.col.f32.tf32.tf32.f32"))
CHAINS(mma_s8, 8, int, "r", WIDE("m16n8k32.row.col.s32.s8.s8.s32"))
CHAINS(mma_s8_k16, 8, int, "r", NARROW("m16n8k16.row.col.s32.s8.s8.s32"))
CHAINS(mma_e4m3, 8, float, "f", WIDE("m16n8k32.row.col.f32.e4m3.e4m3.f32"))
KERNEL(mma_f64)
{
    double d[4][2] = {}, a = in[I & 0xfffff], b = a + 1;
    for (int t = 0; t < turns; t++)
#pragma unroll
        for (int i = 0; i < 4; i++)
            asm volatile("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0, %1}, {%2}, {%3}, {%0, %1};"
                         : "+d"(d[i][0]), "+d"(d[i][1])
                         : "d"(a), "d"(b));
    out[I] = d[0][0] + d[1][0] + d[2][1] + d[3][1];
}

// ---- products of matrices -----------------------------------------------------------------------

// 64 x 64 of a product, by 4 warps of 32 x 32 each: tiles of 64 x 32 halves come by cp.async, two
// are there at once, and ldmatrix loads them.
KERNEL(mma_product)
{
    __shared__ __align__(128) uint16_t a[2][64][40], b[2][64][40];
    const uint16_t *left = (const uint16_t *)in, *right = left + (1 << 21);
    const int side = 1024, row = blockIdx.x / 16 % 16 * 64, column = blockIdx.x % 16 * 64;
    int lane = T % 32, warp = T / 32, x = warp % 2 * 32, y = warp / 2 * 32;
    float d[2][4][4] = {};
    auto load = [&](int k) {
        for (int i = T; i < 256; i += 128) {
            int r = i / 4, c = i % 4 * 8;
            asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(ADDRESS(&a[k & 1][r][c])),
                         "l"(left + (row + r) * side + k * 32 + c));
            asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(ADDRESS(&b[k & 1][r][c])),
                         "l"(right + (column + r) * side + k * 32 + c));
        }
        asm volatile("cp.async.commit_group;");
    };
    load(0);
    for (int k = 0; k < side / 32; k++) {
        if (k + 1 < side / 32)
            load(k + 1);
        else
            asm volatile("cp.async.commit_group;");
        asm volatile("cp.async.wait_group 1;" ::: "memory");
        __syncthreads();
#pragma unroll
        for (int h = 0; h < 32; h += 16) {
            uint32_t p[2][4], q[2][4];
            for (int i = 0; i < 2; i++) {
                asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                             : "=r"(p[i][0]), "=r"(p[i][1]), "=r"(p[i][2]), "=r"(p[i][3])
                             : "r"(ADDRESS(&a[k & 1][y + i * 16 + lane % 16][h + lane / 16 * 8])));
                asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                             : "=r"(q[i][0]), "=r"(q[i][1]), "=r"(q[i][2]), "=r"(q[i][3])
                             : "r"(ADDRESS(&b[k & 1][x + i * 16 + lane % 16][h + lane / 16 * 8])));
            }
            for (int i = 0; i < 2; i++)
                for (int j = 0; j < 4; j++)
                    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, "
                                 "{%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
                                 : "+f"(d[i][j][0]), "+f"(d[i][j][1]), "+f"(d[i][j][2]), "+f"(d[i][j][3])
                                 : "r"(p[i][0]), "r"(p[i][1]), "r"(p[i][2]), "r"(p[i][3]),
                                   "r"(q[j / 2][j % 2]), "r"(q[j / 2][j % 2 + 2]));
        }
        __syncthreads();
    }
    for (int i = 0; i < 2; i++)
        for (int j = 0; j < 4; j++)
            for (int e = 0; e < 4; e++)
                out[(row + y + i * 16 + lane / 4 + e / 2 * 8) * side + column + x + j * 8 + lane % 4 * 2 + e % 2] =
                    d[i][j][e];
}
// A warp has 32 x 32, its operands straight from memory.
KERNEL(wmma_product)
{
    using namespace nvcuda::wmma;
    const half *left = (const half *)in, *right = left + (1 << 21);
    const int side = 1024;
    int tile = (blockIdx.x * blockDim.x + T) / 32 % 1024, row = tile / 32 * 32, column = tile % 32 * 32;
    fragment<accumulator, 16, 16, 16, float> d[2][2];
    for (int i = 0; i < 4; i++)
        fill_fragment(d[i / 2][i % 2], 0);
    for (int k = 0; k < side; k += 16) {
        fragment<matrix_a, 16, 16, 16, half, row_major> a[2];
        fragment<matrix_b, 16, 16, 16, half, col_major> b[2];
        for (int i = 0; i < 2; i++) {
            load_matrix_sync(a[i], left + (row + i * 16) * side + k, side);
            load_matrix_sync(b[i], right + (column + i * 16) * side + k, side);
        }
        for (int i = 0; i < 4; i++)
            mma_sync(d[i / 2][i % 2], a[i / 2], b[i % 2], d[i / 2][i % 2]);
    }
    for (int i = 0; i < 4; i++)
        store_matrix_sync(out + (row + i / 2 * 16) * side + column + i % 2 * 16, d[i / 2][i % 2], side,
                          mem_row_major);
}

// ---- wgmma, of operands in shared memory --------------------------------------------------------

KERNEL(wgmma_n8)
{
    __shared__ __align__(1024) uint32_t room[8192];
    for (int i = T; i < 8192; i += blockDim.x)
        room[i] = 0;
    uint64_t place = (uint64_t)(ADDRESS(room) >> 4) | 1ull << 16 | 64ull << 32;
    uint32_t sum;
    __syncthreads();
    WGMMA(sum, place, turns, at[I & 0xfffff], LIST_4, 4, ".f32", "m64n8k16.f32.f16.f16", "%1, %1", ", 1, 1, 0, 0")
    out[I] = sum;
}
KERNEL(wgmma_n16)
{
    __shared__ __align__(1024) uint32_t room[8192];
    for (int i = T; i < 8192; i += blockDim.x)
        room[i] = 0;
    uint64_t place = (uint64_t)(ADDRESS(room) >> 4) | 1ull << 16 | 64ull << 32;
    uint32_t sum;
    __syncthreads();
    WGMMA(sum, place, turns, at[I & 0xfffff], LIST_8, 4, ".f32", "m64n16k16.f32.bf16.bf16", "%1, %1", ", 1, 1, 0, 0")
    out[I] = sum;
}
KERNEL(wgmma_n32)
{
    __shared__ __align__(1024) uint32_t room[8192];
    for (int i = T; i < 8192; i += blockDim.x)
        room[i] = 0;
    uint64_t place = (uint64_t)(ADDRESS(room) >> 4) | 1ull << 16 | 64ull << 32;
    uint32_t sum;
    __syncthreads();
    WGMMA(sum, place, turns, at[I & 0xfffff], LIST_16, 4, ".f32", "m64n32k16.f32.f16.f16", "%1, %1", ", 1, 1, 0, 0")
    out[I] = sum;
}
KERNEL(wgmma_n64)
{
    __shared__ __align__(1024) uint32_t room[8192];
    for (int i = T; i < 8192; i += blockDim.x)
        room[i] = 0;
    uint64_t place = (uint64_t)(ADDRESS(room) >> 4) | 1ull << 16 | 64ull << 32;
    uint32_t sum;
    __syncthreads();
    WGMMA(sum, place, turns, at[I & 0xfffff], LIST_32, 4, ".f32", "m64n64k16.f32.f16.f16", "%1, %1", ", 1, 1, 0, 0")
    out[I] = sum;
}
KERNEL(wgmma_n64_regs)
{
    __shared__ __align__(1024) uint32_t room[8192];
    for (int i = T; i < 8192; i += blockDim.x)
        room[i] = 0;
    uint64_t place = (uint64_t)(ADDRESS(room) >> 4) | 1ull << 16 | 64ull << 32;
    uint32_t sum;
    __syncthreads();
    WGMMA(sum, place, turns, at[I & 0xfffff], LIST_32, 4, ".f32", "m64n64k16.f32.f16.f16", "{%3, %3, %3, %3}, %1", ", 1, 1, 0")
    out[I] = sum;
}
KERNEL(wgmma_n128)
{
    __shared__ __align__(1024) uint32_t room[8192];
    for (int i = T; i < 8192; i += blockDim.x)
        room[i] = 0;
    uint64_t place = (uint64_t)(ADDRESS(room) >> 4) | 1ull << 16 | 64ull << 32;
    uint32_t sum;
    __syncthreads();
    WGMMA(sum, place, turns, at[I & 0xfffff], LIST_64, 4, ".f32", "m64n128k16.f32.bf16.bf16", "%1, %1", ", 1, 1, 0, 0")
    out[I] = sum;
}
KERNEL(wgmma_n192)
{
    __shared__ __align__(1024) uint32_t room[8192];
    for (int i = T; i < 8192; i += blockDim.x)
        room[i] = 0;
    uint64_t place = (uint64_t)(ADDRESS(room) >> 4) | 1ull << 16 | 64ull << 32;
    uint32_t sum;
    __syncthreads();
    WGMMA(sum, place, turns, at[I & 0xfffff], LIST_96, 4, ".f32", "m64n192k16.f32.f16.f16", "%1, %1", ", 1, 1, 0, 0")
    out[I] = sum;
}
KERNEL(wgmma_n256)
{
    __shared__ __align__(1024) uint32_t room[8192];
    for (int i = T; i < 8192; i += blockDim.x)
        room[i] = 0;
    uint64_t place = (uint64_t)(ADDRESS(room) >> 4) | 1ull << 16 | 64ull << 32;
    uint32_t sum;
    __syncthreads();
    WGMMA(sum, place, turns, at[I & 0xfffff], LIST_128, 4, ".f32", "m64n256k16.f32.f16.f16", "%1, %1", ", 1, 1, 0, 0")
    out[I] = sum;
}
KERNEL(wgmma_n128_tf32)
{
    __shared__ __align__(1024) uint32_t room[8192];
    for (int i = T; i < 8192; i += blockDim.x)
        room[i] = 0;
    uint64_t place = (uint64_t)(ADDRESS(room) >> 4) | 1ull << 16 | 64ull << 32;
    uint32_t sum;
    __syncthreads();
    WGMMA(sum, place, turns, at[I & 0xfffff], LIST_64, 4, ".f32", "m64n128k8.f32.tf32.tf32", "%1, %1", ", 1, 1")
    out[I] = sum;
}
KERNEL(wgmma_n128_s8)
{
    __shared__ __align__(1024) uint32_t room[8192];
    for (int i = T; i < 8192; i += blockDim.x)
        room[i] = 0;
    uint64_t place = (uint64_t)(ADDRESS(room) >> 4) | 1ull << 16 | 64ull << 32;
    uint32_t sum;
    __syncthreads();
    WGMMA(sum, place, turns, at[I & 0xfffff], LIST_64, 4, ".b32", "m64n128k32.s32.s8.s8", "%1, %1", "")
    out[I] = sum;
}
KERNEL(wgmma_n128_e4m3)
{
    __shared__ __align__(1024) uint32_t room[8192];
    for (int i = T; i < 8192; i += blockDim.x)
        room[i] = 0;
    uint64_t place = (uint64_t)(ADDRESS(room) >> 4) | 1ull << 16 | 64ull << 32;
    uint32_t sum;
    __syncthreads();
    WGMMA(sum, place, turns, at[I & 0xfffff], LIST_64, 4, ".f32", "m64n128k32.f32.e4m3.e4m3", "%1, %1", ", 1, 1")
    out[I] = sum;
}
KERNEL(wgmma_n128_half)
{
    __shared__ __align__(1024) uint32_t room[8192];
    for (int i = T; i < 8192; i += blockDim.x)
        room[i] = 0;
    uint64_t place = (uint64_t)(ADDRESS(room) >> 4) | 1ull << 16 | 64ull << 32;
    uint32_t sum;
    __syncthreads();
    WGMMA(sum, place, turns, at[I & 0xfffff], LIST_32, 4, ".b32", "m64n128k16.f16.f16.f16", "%1, %1", ", 1, 1, 0, 0")
    out[I] = sum;
}

// ---- asynchronous copies, two under way ---------------------------------------------------------

// Each turn a thread copies `bytes`; CTAs lie behind each other.
#define ASYNC(name, bytes, cache)                                                                 \
    KERNEL(name)                                                                                  \
    {                                                                                             \
        __shared__ __align__(16) float room[2][256 * bytes / 4];                                  \
        const char *from = (const char *)in + (uint64_t)blockIdx.x * turns * blockDim.x * bytes % (96 << 20);  \
        float sum = 0;                                                                            \
        auto load = [&](int t) {                                                                  \
            if (t < turns)                                                                        \
                asm volatile("cp.async." cache ".shared.global [%0], [%1], %2;" ::"r"(            \
                                 ADDRESS(room[t & 1]) + T * bytes),                               \
                             "l"(from + (t * blockDim.x + T) * bytes), "n"(bytes));               \
            asm volatile("cp.async.commit_group;");                                               \
        };                                                                                        \
        load(0);                                                                                  \
        for (int t = 0; t < turns; t++) {                                                         \
            load(t + 1);                                                                          \
            asm volatile("cp.async.wait_group 1;" ::: "memory");                                  \
            sum += room[t & 1][T * bytes / 4];                                                    \
        }                                                                                         \
        out[I] = sum;                                                                             \
    }
ASYNC(async_4, 4, "ca")
ASYNC(async_16, 16, "cg")

__device__ void begin(uint32_t barrier)
{
    asm volatile("mbarrier.init.shared.b64 [%0], 1;\n\tfence.mbarrier_init.release.cluster;" ::"r"(barrier)
                 : "memory");
}
__device__ void expect(uint32_t barrier, uint32_t bytes)
{
    asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], %1;" ::"r"(barrier), "r"(bytes) : "memory");
}
__device__ void await(uint32_t barrier, uint32_t parity)
{
    asm volatile("{\n\t.reg .pred p;\nagain:\n\tmbarrier.try_wait.parity.shared.b64 p, [%0], %1;\n\t"
                 "@!p bra again;\n\t}" ::"r"(barrier), "r"(parity)
                 : "memory");
}
// `copy` fills `bytes` of room[t & 1]; what it fills, all add up.
#define STREAM(bytes, copy)                                                                       \
    __shared__ __align__(128) float room[2][bytes / 4];                                           \
    __shared__ uint64_t barrier[2];                                                               \
    float sum = 0;                                                                                \
    if (T == 0)                                                                                   \
        begin(ADDRESS(&barrier[0])), begin(ADDRESS(&barrier[1]));                                 \
    __syncthreads();                                                                              \
    auto load = [&](int t) {                                                                      \
        if (T != 0 || t >= turns)                                                                 \
            return;                                                                               \
        expect(ADDRESS(&barrier[t & 1]), bytes);                                                  \
        copy;                                                                                     \
    };                                                                                            \
    load(0);                                                                                      \
    for (int t = 0; t < turns; t++) {                                                             \
        load(t + 1);                                                                              \
        await(ADDRESS(&barrier[t & 1]), t / 2 & 1);                                               \
        for (int i = T; i < bytes / 4; i += blockDim.x)                                           \
            sum += room[t & 1][i];                                                                \
        __syncthreads();                                                                          \
    }                                                                                             \
    out[I] = sum;
#define BULK(name, bytes)                                                                         \
    KERNEL(name)                                                                                  \
    {                                                                                             \
        const char *from = (const char *)in + (uint64_t)blockIdx.x * turns * bytes % (96 << 20);  \
        STREAM(bytes, asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes "  \
                                   "[%0], [%1], %2, [%3];" ::"r"(ADDRESS(room[t & 1])),           \
                                   "l"(from + t * bytes), "r"(bytes), "r"(ADDRESS(&barrier[t & 1]))  \
                                   : "memory"))                                                   \
    }
BULK(bulk_1k, 1024)
BULK(bulk_8k, 8192)
KERNEL(tile_load)
{
    STREAM(8192, asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes "
                              "[%0], [%1, {%2, %3}], [%4];" ::"r"(ADDRESS(room[t & 1])),
                              "l"(&map), "r"((int)blockIdx.x % 16 * 64), "r"((int)(blockIdx.x / 16 * turns + t) % 512 * 32),
                              "r"(ADDRESS(&barrier[t & 1]))
                              : "memory"))
}
#define STORE(name, text, ...)                                                                    \
    KERNEL(name)                                                                                  \
    {                                                                                             \
        __shared__ __align__(128) float room[2048];                                               \
        for (int t = 0; t < turns; t++) {                                                         \
            for (int i = T; i < 2048; i += blockDim.x)                                            \
                room[i] = i + t;                                                                  \
            asm volatile("fence.proxy.async.shared::cta;" ::: "memory");                          \
            __syncthreads();                                                                      \
            if (T == 0)                                                                           \
                asm volatile(text "\n\tcp.async.bulk.commit_group;\n\tcp.async.bulk.wait_group.read 0;" :: __VA_ARGS__ : "memory");  \
            __syncthreads();                                                                      \
        }                                                                                         \
    }
STORE(bulk_store, "cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], 8192;",
      "l"((char *)out + (uint64_t)(blockIdx.x * turns + t) * 8192 % (96 << 20)), "r"(ADDRESS(room)))
STORE(tile_store, "cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%0, {%1, %2}], [%3];", "l"(&result),
      "r"((int)blockIdx.x % 16 * 64), "r"((int)(blockIdx.x / 16 * turns + t) % 512 * 32), "r"(ADDRESS(room)))

// ---- textures: several fetches a thread, of which none waits for another -------------------------

#define FETCH(name, n, text)                                                                      \
    KERNEL(name)                                                                                  \
    {                                                                                             \
        float sum = 0;                                                                            \
        int x = I & 1023, y = I >> 10 & 1023;                                                     \
        for (int t = 0; t < n; t++)                                                               \
            sum += text;                                                                          \
        out[I] = sum + x + y;                                                                     \
    }
#define AT(texture, x, y) tex2D<float>(texture, (x) + 0.5f, (y) + 0.5f)
FETCH(fetch_row, 4, tex1Dfetch<float>(linear, (I + t * 1024) & 0xfffff))
FETCH(fetch_gather, 4, tex1Dfetch<float>(linear, at[(I + t * 4096) & 0xfffff] & 0xfffff))
FETCH(image_row, 8, AT(image, x, (y + t * 8) & 1023))
FETCH(image_column, 8, AT(image, (y + t * 8) & 1023, x))
FETCH(image_near, 9, AT(image, x + t % 3, y + t / 3))
FETCH(image_gather, 4, AT(image, (x * 97 + t * 31) & 1023, (y + x * 57 + t) & 1023))
FETCH(smooth_row, 8, tex2D<float>(smooth, x * 0.97f, y + t * 8.3f))
FETCH(smooth_near, 9, tex2D<float>(smooth, x + t % 3 * 0.7f, y + t / 3 * 0.7f))
FETCH(colours_row, 4, tex2D<float4>(colours, (x & 511) + 0.5f, ((y + t * 8) & 511) + 0.5f).y)
FETCH(image_chain, 8, (x = (int)AT(image, x, y) & 1023, x))
