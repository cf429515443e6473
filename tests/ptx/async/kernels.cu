// Kernels that overlap copies with work; tests/unit/async.c runs them and compares with a CPU.
//     nvcc -arch=compute_90a -ptx kernels.cu
#include <cuda.h>
#include <stdint.h>

__device__ static unsigned shared_address(const void *p)
{
    return (unsigned)__cvta_generic_to_shared(p);
}

__device__ static void wait(uint64_t *bar, unsigned parity)
{
    unsigned done;
    do
        asm volatile("{\n.reg .pred p;\nmbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2;\nselp.u32 %0, 1, 0, p;\n}"
                     : "=r"(done) : "r"(shared_address(bar)), "r"(parity) : "memory");
    while (!done);
}

__device__ static void init(uint64_t *bar, unsigned count)
{
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(shared_address(bar)), "r"(count) : "memory");
}

__device__ static void expect(uint64_t *bar, unsigned bytes)
{
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(shared_address(bar)), "r"(bytes) : "memory");
}

__device__ static void arrive(uint64_t *bar)
{
    asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(shared_address(bar)) : "memory");
}

__device__ static void load(void *to, const void *from, unsigned bytes, uint64_t *bar)
{
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(
                     shared_address(to)), "l"(from), "r"(bytes), "r"(shared_address(bar)) : "memory");
}

// c = a * b in tiles of 16 by 16: cp.async fills one of two buffers while the other is used.
extern "C" __global__ void gemm(const float *a, const float *b, float *c, int n, int k)
{
    __shared__ __align__(16) float as[2][16][16], bs[2][16][16];
    int x = threadIdx.x % 16, y = threadIdx.x / 16, row = blockIdx.y * 16, column = blockIdx.x * 16;
    auto fetch = [&](int buffer, int at) {
        if (threadIdx.x < 128) {
            int r = threadIdx.x % 64 / 4, q = threadIdx.x % 4 * 4;
            bool is_a = threadIdx.x < 64;
            const float *from = is_a ? a + (row + r) * k + at + q : b + (at + r) * n + column + q;
            float *to = is_a ? &as[buffer][r][q] : &bs[buffer][r][q];
            int left = is_a ? k - (at + q) : at + r < k ? 4 : 0;
            int bytes = left >= 4 ? 16 : left > 0 ? 4 * left : 0;
            asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(shared_address(to)), "l"(bytes ? from : a),
                         "r"(bytes) : "memory");
        }
        asm volatile("cp.async.commit_group;" ::: "memory");
    };
    float sum = 0;
    fetch(0, 0);
    for (int at = 0, buffer = 0; at < k; at += 16, buffer ^= 1) {
        fetch(buffer ^ 1, at + 16);
        asm volatile("cp.async.wait_group 1;" ::: "memory");
        __syncthreads();
        for (int i = 0; i < 16; i++)
            sum = fmaf(as[buffer][y][i], bs[buffer][i][x], sum);
        __syncthreads();
    }
    c[(row + y) * n + column + x] = sum;
}

// A producer warp brings pieces of 256 bytes through a ring of stages; consumers add them up.
extern "C" __global__ void pipeline(const unsigned *in, unsigned *out, int pieces)
{
    enum { STAGES = 3, WORDS = 64 };
    __shared__ __align__(16) unsigned stage[STAGES][WORDS];
    __shared__ uint64_t full[STAGES], empty[STAGES];
    if (threadIdx.x == 0)
        for (int s = 0; s < STAGES; s++) {
            init(&full[s], 1);
            init(&empty[s], WORDS);
        }
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    __syncthreads();
    in += blockIdx.x * pieces * WORDS;
    if (threadIdx.x >= WORDS) {
        for (int p = 0; p < pieces && threadIdx.x == WORDS; p++) {
            int s = p % STAGES;
            if (p >= STAGES)
                wait(&empty[s], p / STAGES + 1 & 1);
            expect(&full[s], sizeof stage[s]);
            load(stage[s], in + p * WORDS, sizeof stage[s], &full[s]);
        }
        return;
    }
    unsigned sum = 0;
    for (int p = 0; p < pieces; p++) {
        int s = p % STAGES;
        wait(&full[s], p / STAGES & 1);
        sum = sum * 31 + stage[s][threadIdx.x];
        arrive(&empty[s]);
    }
    out[blockIdx.x * WORDS + threadIdx.x] = sum;
}

// Each CTA of the cluster passes 128 bytes to the next, `steps` times, and changes them in between.
extern "C" __global__ void ring(unsigned *out, int steps)
{
    __shared__ __align__(16) unsigned mine[2][32], sent[32];
    __shared__ uint64_t full[2];
    unsigned rank, size, next, to, bar;
    asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
    asm("mov.u32 %0, %%cluster_nctarank;" : "=r"(size));
    next = (rank + 1) % size;
    unsigned value = blockIdx.x * 1000 + threadIdx.x;
    if (threadIdx.x == 0)
        for (int i = 0; i < 2; i++)
            init(&full[i], 1);
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    for (int s = 0; s < steps; s++) {
        asm volatile("barrier.cluster.arrive.release;\nbarrier.cluster.wait.acquire;" ::: "memory");
        sent[threadIdx.x] = value;
        asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
        __syncwarp();
        if (threadIdx.x == 0) {
            expect(&full[s & 1], 128);
            asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(to) : "r"(shared_address(mine[s & 1])), "r"(next));
            asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(bar) : "r"(shared_address(&full[s & 1])), "r"(next));
            asm volatile("cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%0], [%1], 128, [%2];" ::"r"(
                             to), "r"(shared_address(sent)), "r"(bar) : "memory");
        }
        wait(&full[s & 1], s / 2 & 1);
        value = mine[s & 1][threadIdx.x] * 3 + rank;
    }
    asm volatile("barrier.cluster.arrive.release;\nbarrier.cluster.wait.acquire;" ::: "memory");
    out[blockIdx.x * 32 + threadIdx.x] = value;
}

// Copies a tile of a tensor of words, made larger by one, to the same place of another. Reads it where the swizzle put it.
extern "C" __global__ void tile(const __grid_constant__ CUtensorMap from, const __grid_constant__ CUtensorMap to, int x, int y,
                                int words, int rows, int swizzle)
{
    extern __shared__ char room[];
    __shared__ uint64_t full;
    char *place = (char *)(((uintptr_t)room + 1023) & ~(uintptr_t)1023);
    if (threadIdx.x == 0) {
        init(&full, 1);
        asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
        expect(&full, words * rows * 4);
        asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3}], [%4];" ::
                         "r"(shared_address(place)), "l"(&from), "r"(x), "r"(y), "r"(shared_address(&full)) : "memory");
    }
    __syncthreads();
    wait(&full, 0);
    for (int i = threadIdx.x; i < words * rows; i += blockDim.x) {
        int at = i / words * (swizzle ? 16 << swizzle : 4 * words) + i % words * 4;
        at ^= (at >> 7 & ((1 << swizzle) - 1)) << 4;
        *(unsigned *)(place + at) += i + 1;
    }
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    __syncthreads();
    if (threadIdx.x == 0) {
        asm volatile("cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%0, {%1, %2}], [%3];" ::"l"(&to), "r"(x), "r"(y),
                     "r"(shared_address(place)) : "memory");
        asm volatile("cp.async.bulk.commit_group;\ncp.async.bulk.wait_group 0;" ::: "memory");
    }
}

enum { SIDE = 64, TILE_BYTES = SIDE * SIDE * 2 };

// Brings a tile of f16, SIDE by SIDE, in columns as wide as the swizzle. `is_across`: the rows of the tensor go over the depth.
__device__ static void load_tile(unsigned to, const CUtensorMap *from, bool is_across, int line, int depth, int swizzle, uint64_t *full)
{
    int width = 16 << swizzle;
    expect(full, TILE_BYTES);
#pragma unroll 1
    for (int i = 0; i < SIDE * 2 / width; i++) {
        int x = (is_across ? line : depth) + i * width / 2, y = is_across ? depth : line;
        asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3}], [%4];" ::
                         "r"(to + i * SIDE * width), "l"(from), "r"(x), "r"(y), "r"(shared_address(full)) : "memory");
    }
}

// The descriptor of what wgmma number `step` takes from such a tile.
__device__ static uint64_t describe(unsigned tile, bool is_across, int swizzle, int step)
{
    unsigned width = 16 << swizzle, eight = 8 * width, column = SIDE * width;
    bool is_swapped = is_across && swizzle == 0;
    uint64_t leading = is_swapped ? eight : column, stride = is_swapped ? column : eight, mode = -swizzle & 3;
    tile += is_across ? step * 16 * width : step * 32 / width * column + step * 32 % width;
    return tile >> 4 | leading >> 4 << 16 | stride >> 4 << 32 | mode << 62;
}

#define FOUR(i) "+f"(d[i]), "+f"(d[i + 1]), "+f"(d[i + 2]), "+f"(d[i + 3])
#define SUMS FOUR(0), FOUR(4), FOUR(8), FOUR(12), FOUR(16), FOUR(20), FOUR(24), FOUR(28)
#define WGMMA                                                                                                                    \
    "wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16 {%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, " \
    "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31}, "

template <bool A_IS_ACROSS, bool B_IS_ACROSS>
__device__ static void multiply_tiles(float *d, unsigned a, unsigned b, int swizzle)
{
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
#pragma unroll
    for (int step = 0; step < SIDE / 16; step++)
        asm volatile(WGMMA "%32, %33, 1, 1, 1, %34, %35;" : SUMS : "l"(describe(a, A_IS_ACROSS, swizzle, step)),
                     "l"(describe(b, B_IS_ACROSS, swizzle, step)), "n"(A_IS_ACROSS), "n"(B_IS_ACROSS) : "memory");
    asm volatile("wgmma.commit_group.sync.aligned;\nwgmma.wait_group.sync.aligned 0;" ::: "memory");
}

// The thread's words of A have two f16 each: from `row` on, whose depth is `k`, and eight rows below.
template <bool B_IS_ACROSS>
__device__ static void multiply_registers(float *d, const unsigned *row, int at, int k, unsigned b, int swizzle)
{
    unsigned a[SIDE / 16][4];
#pragma unroll
    for (int i = 0; i < SIDE / 4; i++) {
        int depth = at + i / 4 * 16 + i % 4 / 2 * 8;
        a[i / 4][i % 4] = depth < k ? row[(i % 2 * 8 * k + depth) / 2] : 0;
    }
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
#pragma unroll
    for (int step = 0; step < SIDE / 16; step++)
        asm volatile(WGMMA "{%32, %33, %34, %35}, %36, 1, 1, 1, %37;" : SUMS : "r"(a[step][0]), "r"(a[step][1]), "r"(a[step][2]),
                     "r"(a[step][3]), "l"(describe(b, B_IS_ACROSS, swizzle, step)), "n"(B_IS_ACROSS) : "memory");
    asm volatile("wgmma.commit_group.sync.aligned;\nwgmma.wait_group.sync.aligned 0;" ::: "memory");
}

// c = a * b in tiles of SIDE by SIDE by one warpgroup; tensor copies fill one of two buffers while the other is used.
// Kind: 1: A has its rows over the depth (M-major); 2: B has (N-major); 4: A, in `words` too, is read into registers.
extern "C" __global__ void __launch_bounds__(128)
    warpgroup_gemm(const __grid_constant__ CUtensorMap a, const __grid_constant__ CUtensorMap b, const unsigned *words, float *c,
                   int n, int k, int swizzle, int kind)
{
    extern __shared__ char room[];
    __shared__ uint64_t full[2];
    unsigned tiles = shared_address(room) + 1023 & ~1023u;
    int row = blockIdx.y * SIDE, column = blockIdx.x * SIDE, pair = threadIdx.x % 4 * 2;
    bool has_registers = kind & 4;
    auto fetch = [&](int buffer, int at) {
        unsigned to = tiles + buffer * 2 * TILE_BYTES;
        if (threadIdx.x > 0 || at >= k)
            return;
        if (!has_registers)
            load_tile(to, &a, kind & 1, row, at, swizzle, &full[buffer]);
        load_tile(to + TILE_BYTES, &b, kind & 2, column, at, swizzle, &full[buffer]);
    };
    if (threadIdx.x == 0)
        for (int i = 0; i < 2; i++)
            init(&full[i], has_registers ? 1 : 2);
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    __syncthreads();
    int first = row + threadIdx.x / 32 * 16 + threadIdx.x % 32 / 4;
    const unsigned *mine = words + (first * k + pair) / 2;
    float d[SIDE / 2] = {};
    fetch(0, 0);
    for (int at = 0, buffer = 0; at < k; at += SIDE, buffer ^= 1) {
        unsigned a_tile = tiles + buffer * 2 * TILE_BYTES, b_tile = a_tile + TILE_BYTES;
        fetch(buffer ^ 1, at + SIDE);
        wait(&full[buffer], at / SIDE / 2 & 1);
        switch (kind) {
        case 0: multiply_tiles<false, false>(d, a_tile, b_tile, swizzle); break;
        case 1: multiply_tiles<true, false>(d, a_tile, b_tile, swizzle); break;
        case 2: multiply_tiles<false, true>(d, a_tile, b_tile, swizzle); break;
        case 3: multiply_tiles<true, true>(d, a_tile, b_tile, swizzle); break;
        case 4: multiply_registers<false>(d, mine, at, k, b_tile, swizzle); break;
        case 6: multiply_registers<true>(d, mine, at, k, b_tile, swizzle); break;
        }
        __syncthreads();
    }
#pragma unroll
    for (int i = 0; i < SIDE / 2; i++)
        c[(first + i % 4 / 2 * 8) * n + column + i / 4 * 8 + pair + i % 2] = d[i];
}
