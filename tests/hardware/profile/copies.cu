// Textures and asynchronous copies, whose counters an H100 and Ptera are compared in, as those of
// kernels.cu: copies.txt has their shapes.
//
// `linear` and `wide` are textures of the first 2^20 floats, and float4s, of `in`; `pitch` and `image`
// are 1024 floats wide and high, in rows and as an array. `map` has boxes of 32 x 8 of these rows,
// `swizzled` boxes of 32 x 8 that are swizzled by 128 bytes.
#include <cstdint>
#include <cuda.h>

#define KERNEL(name)                                                                              \
    extern "C" __global__ void __launch_bounds__(256)                                             \
        name(const float *__restrict__ in, float *__restrict__ out, const int *__restrict__ at,   \
             int zero, cudaTextureObject_t linear, cudaTextureObject_t wide,                      \
             cudaTextureObject_t pitch, cudaTextureObject_t image,                                \
             const __grid_constant__ CUtensorMap map, const __grid_constant__ CUtensorMap swizzled)
#define I (blockIdx.x * blockDim.x + threadIdx.x)
#define T threadIdx.x

// ---- textures -----------------------------------------------------------------------------------

#define FETCH(name, i)                                                                            \
    KERNEL(fetch_##name) { out[I] = tex1Dfetch<float>(linear, i); }
FETCH(stride_1, I)
FETCH(stride_2, I * 2)
FETCH(stride_8, I * 8)
FETCH(stride_32, I * 32)
FETCH(same, blockIdx.x)
FETCH(gather, at[I])
FETCH(backwards, 16383 - I)
KERNEL(fetch_half)
{
    if (T & 1)
        out[I] = tex1Dfetch<float>(linear, I);
}
KERNEL(fetch_wide)
{
    ((float4 *)out)[I] = tex1Dfetch<float4>(wide, I);
}
KERNEL(fetch_wide_stride)
{
    ((float4 *)out)[I] = tex1Dfetch<float4>(wide, I * 4);
}
#define AT(texture, x, y) tex2D<float>(texture, (x) + 0.5f, (y) + 0.5f)
KERNEL(pitch_row) { out[I] = AT(pitch, T, blockIdx.x); }
KERNEL(pitch_column) { out[I] = AT(pitch, blockIdx.x, T); }
KERNEL(pitch_tile) { out[I] = AT(pitch, T % 8 + blockIdx.x * 8, T / 8); }
KERNEL(pitch_quads) { out[I] = AT(pitch, T % 2 + blockIdx.x * 2, T / 2); }
KERNEL(pitch_gather) { out[I] = AT(pitch, at[I] & 1023, at[I] >> 10); }
KERNEL(image_row) { out[I] = AT(image, T, blockIdx.x); }
KERNEL(image_column) { out[I] = AT(image, blockIdx.x, T); }
KERNEL(image_tile) { out[I] = AT(image, T % 8 + blockIdx.x * 8, T / 8); }
KERNEL(image_gather) { out[I] = AT(image, at[I] & 1023, at[I] >> 10); }

// ---- cp.async -----------------------------------------------------------------------------------

__device__ void copy(void *to, const void *from, int bytes)
{
    uint32_t shared = (uint32_t)__cvta_generic_to_shared(to);
    if (bytes == 4)
        asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(shared), "l"(from));
    else if (bytes == 8)
        asm volatile("cp.async.ca.shared.global [%0], [%1], 8;" ::"r"(shared), "l"(from));
    else
        asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(shared), "l"(from));
}
__device__ void wait() { asm volatile("cp.async.wait_all;" ::: "memory"); __syncthreads(); }
#define COPY(name, bytes, to, from)                                                               \
    KERNEL(copy_##name)                                                                           \
    {                                                                                             \
        extern __shared__ float s[];                                                              \
        copy((char *)s + (to) * bytes, (const char *)in + (from) * bytes, bytes);                 \
        wait();                                                                                   \
        out[I] = s[T];                                                                            \
    }
COPY(4, 4, T, I)
COPY(8, 8, T, I)
COPY(16, 16, T, I)
COPY(4_stride_2, 4, T, I * 2)
COPY(4_stride_8, 4, T, I * 8)
COPY(4_offset, 4, T, I + 1)
COPY(4_gather, 4, T, at[I])
COPY(8_stride_4, 8, T, I * 4)
COPY(16_stride_2, 16, T, I * 2)
COPY(16_rows, 16, T, (T / 4) * 256 + T % 4 + blockIdx.x * 4)
COPY(4_to_stride_2, 4, T * 2, I)
COPY(4_to_stride_8, 4, T * 8, I)
COPY(8_to_stride_2, 8, T * 2, I)
COPY(16_to_stride_2, 16, T * 2, I)
COPY(16_to_column, 16, (T & 7) * 64 + T / 8, I)
COPY(4_same, 4, T, blockIdx.x)
KERNEL(copy_16_cached)
{
    extern __shared__ float s[];
    asm volatile("cp.async.ca.shared.global [%0], [%1], 16;" ::"r"(
                     (uint32_t)__cvta_generic_to_shared(s + T * 4)),
                 "l"(in + I * 4));
    wait();
    out[I] = s[T];
}
KERNEL(copy_16_zeros)
{
    extern __shared__ float s[];
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(
                     (uint32_t)__cvta_generic_to_shared(s + T * 4)),
                 "l"(in + I * 4), "r"(T % 3 ? 16 : 4));
    wait();
    out[I] = s[T];
}
KERNEL(copy_16_half)
{
    extern __shared__ float s[];
    if (T & 2)
        copy(s + T * 4, in + I * 4, 16);
    wait();
    out[I] = s[T];
}

// Past L1, a warp alone: `from` and `to` in 16 bytes.
#define BYPASS(name, to, from)                                                                    \
    KERNEL(bypass_##name)                                                                         \
    {                                                                                             \
        extern __shared__ __align__(1024) float s[];                                              \
        copy((char *)s + (to) * 16, (const char *)in + (from) * 16, 16);                          \
        wait();                                                                                   \
    }
BYPASS(to_backwards, 31 - T, T)
BYPASS(to_neighbour, T ^ 1, T)
BYPASS(to_offset, T + 1, T)
BYPASS(to_stride_3, T * 3, T)
BYPASS(to_pairs, T / 2 * 6 + T % 2, T)
BYPASS(to_fours, T / 4 * 12 + T % 4, T)
BYPASS(offset, T, T + 1)
BYPASS(offset_to_offset, T + 1, T + 1)
BYPASS(offset_to_fours, T / 4 * 12 + T % 4, T + 1)
BYPASS(offset_to_pairs, T / 2 * 6 + T % 2, T + 1)
BYPASS(stride_2_to_stride_2, T * 2, T * 2)
BYPASS(stride_2_to_offset, T + 1, T * 2)
BYPASS(stride_8_to_pairs, T / 2 * 6 + T % 2, T * 8)
BYPASS(twice, T, T / 2)
BYPASS(twice_to_offset, T + 1, T / 2)
BYPASS(twice_backwards, 31 - T, T / 2)
BYPASS(crossed_to_offset, T + 1, T ^ 2)

// ---- bulk and tensor copies ---------------------------------------------------------------------

__device__ void start(uint32_t barrier, uint32_t bytes)
{
    asm volatile("mbarrier.init.shared.b64 [%0], 1;\n\tfence.mbarrier_init.release.cluster;\n\t"
                 "mbarrier.arrive.expect_tx.shared.b64 _, [%0], %1;" ::"r"(barrier), "r"(bytes)
                 : "memory");
}
__device__ void finish(uint32_t barrier)
{
    __syncthreads();
    asm volatile("{\n\t.reg .pred p;\nagain:\n\tmbarrier.try_wait.parity.shared.b64 p, [%0], 0;\n\t"
                 "@!p bra again;\n\t}" ::"r"(barrier)
                 : "memory");
}
#define ADDRESS(p) ((uint32_t)__cvta_generic_to_shared(p))
#define BULK(bytes)                                                                               \
    KERNEL(bulk_##bytes)                                                                          \
    {                                                                                             \
        extern __shared__ __align__(1024) float s[];                                              \
        __shared__ uint64_t barrier;                                                              \
        if (T == 0) {                                                                             \
            start(ADDRESS(&barrier), bytes);                                                      \
            asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes "     \
                         "[%0], [%1], %2, [%3];" ::"r"(ADDRESS(s)),                               \
                         "l"(in + blockIdx.x * 2048), "r"(bytes), "r"(ADDRESS(&barrier)));        \
        }                                                                                         \
        finish(ADDRESS(&barrier));                                                                \
        out[I] = s[T % (bytes / 4)];                                                              \
    }
BULK(1024)
BULK(4096)
BULK(48)
KERNEL(bulk_store)
{
    extern __shared__ __align__(1024) float s[];
    s[T] = in[I];
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    __syncthreads();
    if (T == 0)
        asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], 1024;\n\t"
                     "cp.async.bulk.commit_group;\n\tcp.async.bulk.wait_group 0;" ::"l"(
                         out + blockIdx.x * 256),
                     "r"(ADDRESS(s)));
}
#define TILE(name, map, x, y)                                                                     \
    KERNEL(tile_##name)                                                                           \
    {                                                                                             \
        extern __shared__ __align__(1024) float s[];                                              \
        __shared__ uint64_t barrier;                                                              \
        if (T == 0) {                                                                             \
            start(ADDRESS(&barrier), 1024);                                                       \
            asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.tile."                   \
                         "mbarrier::complete_tx::bytes [%0], [%1, {%2, %3}], [%4];" ::"r"(        \
                             ADDRESS(s)),                                                         \
                         "l"(&map), "r"(x), "r"(y), "r"(ADDRESS(&barrier)));                      \
        }                                                                                         \
        finish(ADDRESS(&barrier));                                                                \
        out[I] = s[T];                                                                            \
    }
TILE(plain, map, (int)blockIdx.x % 32 * 32, (int)blockIdx.x / 32 * 8)
TILE(swizzled, swizzled, (int)blockIdx.x % 32 * 32, (int)blockIdx.x / 32 * 8)
TILE(offset, map, (int)blockIdx.x % 32 * 32 + 4, (int)blockIdx.x / 32 * 8)
TILE(outside, map, 1016, (int)blockIdx.x * 8)
KERNEL(tile_store)
{
    extern __shared__ __align__(1024) float s[];
    s[T] = in[I];
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    __syncthreads();
    if (T == 0)
        asm volatile("cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%0, {%1, %2}], [%3];"
                     "\n\tcp.async.bulk.commit_group;\n\tcp.async.bulk.wait_group 0;" ::"l"(&map),
                     "r"((int)blockIdx.x % 32 * 32), "r"((int)blockIdx.x / 32 * 8),
                     "r"(ADDRESS(s)));
}
