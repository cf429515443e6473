// Measures what a GPU's units take: lines "NAME VALUE UNIT".
//
//   rate.X     cycles of an SM's quarter for an instruction of a warp, when there are many warps
//   latency.X  cycles until another instruction can use the result
//   bytes.X    bytes a nanosecond of the device
//   alone.X    cycles of wgmma, for each of eight that one group of warps waits for
//   launch.X   microseconds of an empty launch, between others
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cuda.h>

#include "wgmma.h"

static void must(cudaError_t error)
{
    if (error == cudaSuccess)
        return;
    fprintf(stderr, "micro: %s\n", cudaGetErrorString(error));
    exit(1);
}

static const int chains = 8, unroll = 8, turns = 64;

// ---- instructions: each is made of its own result, in eight chains or one -----------------------

template <typename T> __device__ T start(int i);
template <> __device__ float start<float>(int i) { return 1.0f + (i + threadIdx.x) * 0x1p-10f; }
template <> __device__ double start<double>(int i) { return 1.0 + (i + threadIdx.x) * 0x1p-10; }
template <> __device__ uint32_t start<uint32_t>(int i) { return 12345u * i + threadIdx.x; }
template <> __device__ uint64_t start<uint64_t>(int i) { return 12345ull * i + threadIdx.x; }

#define INSTRUCTION(name, type, constraint, text)                                                 \
    struct name {                                                                                 \
        typedef type T;                                                                           \
        static __device__ void step(T &x) { asm volatile(text : constraint(x)); }                 \
    };
#define INSTRUCTIONS(X)                                                                           \
    X(fadd, float, "+f", "add.rn.f32 %0, %0, %0;")                                                \
    X(fmul, float, "+f", "mul.rn.f32 %0, %0, %0;")                                                \
    X(ffma, float, "+f", "fma.rn.f32 %0, %0, %0, %0;")                                            \
    X(fmin, float, "+f", "min.f32 %0, %0, 0f40000000;")                                           \
    X(dadd, double, "+d", "add.rn.f64 %0, %0, %0;")                                               \
    X(dfma, double, "+d", "fma.rn.f64 %0, %0, %0, %0;")                                           \
    X(hfma2, uint32_t, "+r", "fma.rn.f16x2 %0, %0, %0, %0;")                                      \
    X(iadd, uint32_t, "+r", "add.s32 %0, %0, %0;")                                                \
    X(iadd64, uint64_t, "+l", "add.s64 %0, %0, %0;")                                              \
    X(imad, uint32_t, "+r", "mad.lo.s32 %0, %0, %0, %0;")                                         \
    X(imul_hi, uint32_t, "+r", "mul.hi.u32 %0, %0, %0;")                                          \
    X(imul64, uint64_t, "+l", "mul.lo.s64 %0, %0, %0;")                                           \
    X(imad_wide, uint64_t, "+l",                                                                  \
      "{.reg .b32 a; cvt.u32.u64 a, %0; mad.wide.u32 %0, a, a, %0;}")                             \
    X(logic, uint32_t, "+r", "lop3.b32 %0, %0, 0x1234567, %0, 0x5a;")                             \
    X(shift, uint32_t, "+r", "shf.l.wrap.b32 %0, %0, %0, 7;")                                     \
    X(compare, uint32_t, "+r",                                                                    \
      "{.reg .pred p; setp.gt.s32 p, %0, 77; selp.b32 %0, %0, 0x5555, p;}")                       \
    X(popc, uint32_t, "+r", "popc.b32 %0, %0;")                                                   \
    X(brev, uint32_t, "+r", "brev.b32 %0, %0;")                                                   \
    X(clz, uint32_t, "+r", "clz.b32 %0, %0;")                                                     \
    X(prmt, uint32_t, "+r", "prmt.b32 %0, %0, %0, 0x1032;")                                       \
    X(dp4a, uint32_t, "+r", "dp4a.s32.s32 %0, %0, %0, %0;")                                       \
    X(ex2, float, "+f", "ex2.approx.ftz.f32 %0, %0;")                                             \
    X(lg2, float, "+f", "lg2.approx.ftz.f32 %0, %0;")                                             \
    X(rsqrt, float, "+f", "rsqrt.approx.ftz.f32 %0, %0;")                                         \
    X(sqrt_approx, float, "+f", "sqrt.approx.ftz.f32 %0, %0;")                                    \
    X(sin, float, "+f", "sin.approx.ftz.f32 %0, %0;")                                             \
    X(tanh, float, "+f", "tanh.approx.f32 %0, %0;")                                               \
    X(cvt_i_f, float, "+f", "{.reg .b32 a; cvt.rzi.s32.f32 a, %0; cvt.rn.f32.s32 %0, a;}")        \
    X(cvt_f16, float, "+f", "{.reg .b16 a; cvt.rn.f16.f32 a, %0; cvt.f32.f16 %0, a;}")            \
    X(cvt_f64, float, "+f", "{.reg .f64 a; cvt.f64.f32 a, %0; cvt.rn.f32.f64 %0, a;}")            \
    X(cvt_i64_f64, double, "+d", "{.reg .b64 a; cvt.rzi.s64.f64 a, %0; cvt.rn.f64.s64 %0, a;}")   \
    X(div_rn, float, "+f", "div.rn.f32 %0, %0, 0f3f8ccccd;")                                      \
    X(rcp_rn, float, "+f", "rcp.rn.f32 %0, %0;")                                                  \
    X(sqrt_rn, float, "+f", "sqrt.rn.f32 %0, %0;")                                                \
    X(div_f64, double, "+d", "div.rn.f64 %0, %0, 0d3ff199999999999a;")                            \
    X(rcp_f64, double, "+d", "rcp.rn.f64 %0, %0;")                                                \
    X(sqrt_f64, double, "+d", "sqrt.rn.f64 %0, %0;")                                              \
    X(div_u32, uint32_t, "+r", "{.reg .b32 a; or.b32 a, %0, 3; div.u32 %0, 0x7654321, a;}")       \
    X(rem_s32, uint32_t, "+r", "{.reg .b32 a; or.b32 a, %0, 3; rem.s32 %0, 0x7654321, a;}")       \
    X(div_u64, uint64_t, "+l",                                                                    \
      "{.reg .b64 a; or.b64 a, %0, 0x300000001; div.u64 %0, 0x7654321076543210, a;}")             \
    X(shfl, uint32_t, "+r", "shfl.sync.bfly.b32 %0, %0, 1, 31, -1;")                              \
    X(vote, uint32_t, "+r",                                                                       \
      "{.reg .pred p; setp.gt.s32 p, %0, 77; vote.sync.ballot.b32 %0, p, -1;}")                   \
    X(match, uint32_t, "+r", "match.any.sync.b32 %0, %0, -1;")                                    \
    X(redux, uint32_t, "+r", "redux.sync.add.s32 %0, %0, -1;")                                    \
    X(bar, uint32_t, "+r", "bar.sync 0;")                                                         \
    X(bar_warp, uint32_t, "+r", "bar.warp.sync -1;")                                              \
    X(fence, uint32_t, "+r", "fence.acq_rel.gpu;")                                                \
    X(ld_shared, uint32_t, "+r",                                                                  \
      "{.reg .b32 a; and.b32 a, %0, 0x7ffc; ld.shared.u32 %0, [a];}")                             \
    X(ld_shared_v4, uint32_t, "+r",                                                               \
      "{.reg .b32 a, b, c, d; and.b32 a, %0, 0x7ff0; ld.shared.v4.u32 {%0, b, c, d}, [a];}")      \
    X(atom_shared, uint32_t, "+r",                                                                \
      "{.reg .b32 a; and.b32 a, %0, 0x7ffc; atom.shared.add.u32 %0, [a], %0;}")                   \
    X(atom_shared_cas, uint32_t, "+r",                                                            \
      "{.reg .b32 a; and.b32 a, %0, 0x7ffc; atom.shared.cas.b32 %0, [a], %0, %0;}")               \
    X(ldmatrix, uint32_t, "+r",                                                                   \
      "{.reg .b32 a, b, c, d; and.b32 a, %0, 0x7ff0;"                                             \
      "ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, b, c, d}, [a];}")                            \
    X(st_shared, uint32_t, "+r",                                                                  \
      "{.reg .b32 a; and.b32 a, %0, 0x7ffc; st.shared.u32 [a], %0;}")                             \
    X(mma_f16, uint32_t, "+r",                                                                    \
      "{.reg .b32 b, c, d; mov.b32 b, 0; mov.b32 c, 0; mov.b32 d, 0;"                             \
      "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, b, c, d}, {b, b, b, b}, {c, c},"    \
      "{%0, b, c, d};}")                                                                          \
    X(mma_tf32, uint32_t, "+r",                                                                   \
      "{.reg .b32 b, c, d; mov.b32 b, 0; mov.b32 c, 0; mov.b32 d, 0;"                             \
      "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0, b, c, d}, {b, b, b, b}, {c, c},"   \
      "{%0, b, c, d};}")                                                                          \
    X(mma_s8, uint32_t, "+r",                                                                     \
      "{.reg .b32 b, c, d; mov.b32 b, 0; mov.b32 c, 0; mov.b32 d, 0;"                             \
      "mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 {%0, b, c, d}, {b, b, b, b}, {c, c},"      \
      "{%0, b, c, d};}")                                                                          \
    X(mma_f16_k8, uint32_t, "+r",                                                                 \
      "{.reg .b32 b, c, d; mov.b32 b, 0; mov.b32 c, 0; mov.b32 d, 0;"                             \
      "mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%0, b, c, d}, {b, b}, {c},"              \
      "{%0, b, c, d};}")                                                                          \
    X(mma_half, uint32_t, "+r",                                                                   \
      "{.reg .b32 b; mov.b32 b, 0;"                                                               \
      "mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16 {%0, b}, {b, b, b, b}, {b, b}, {%0, b};}")  \
    X(mma_bf16, uint32_t, "+r",                                                                   \
      "{.reg .b32 b, c, d; mov.b32 b, 0; mov.b32 c, 0; mov.b32 d, 0;"                             \
      "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, b, c, d}, {b, b, b, b}, {c, c},"  \
      "{%0, b, c, d};}")                                                                          \
    X(mma_tf32_k4, uint32_t, "+r",                                                                \
      "{.reg .b32 b, c, d; mov.b32 b, 0; mov.b32 c, 0; mov.b32 d, 0;"                             \
      "mma.sync.aligned.m16n8k4.row.col.f32.tf32.tf32.f32 {%0, b, c, d}, {b, b}, {c},"            \
      "{%0, b, c, d};}")                                                                          \
    X(mma_s8_k16, uint32_t, "+r",                                                                 \
      "{.reg .b32 b, c, d; mov.b32 b, 0; mov.b32 c, 0; mov.b32 d, 0;"                             \
      "mma.sync.aligned.m16n8k16.row.col.s32.s8.s8.s32 {%0, b, c, d}, {b, b}, {c},"               \
      "{%0, b, c, d};}")                                                                          \
    X(mma_f64, double, "+d",                                                                      \
      "{.reg .f64 b; mov.f64 b, 0d0000000000000000;"                                              \
      "mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0, b}, {b}, {b}, {%0, b};}")
namespace unit
{
INSTRUCTIONS(INSTRUCTION)
}

template <typename I, int n> __global__ void run(long long *cycles, int *out)
{
    __shared__ int room[8192];
    typename I::T x[n];
    for (int i = threadIdx.x; i < 8192; i += blockDim.x)
        room[i] = i * 4;
    for (int i = 0; i < n; i++)
        x[i] = start<typename I::T>(i);
    __syncthreads();
    long long from = clock64();
    for (int t = 0; t < turns; t++)
#pragma unroll
        for (int u = 0; u < unroll; u++)
#pragma unroll
            for (int i = 0; i < n; i++)
                I::step(x[i]);
    __syncthreads();
    long long took = clock64() - from;
    if (!threadIdx.x)
        cycles[blockIdx.x] = took;
    int sum = 0;
    for (int i = 0; i < n; i++)
        sum += (int)x[i];
    if (sum == 0x7eadbeef)
        out[0] = sum + room[sum & 7];
}

static long long *cycles;
static int *out;

template <typename I, int n> static double measure(int threads)
{
    long long first;
    for (int i = 0; i < 2; i++)
        run<I, n><<<132, threads>>>(cycles, out);
    must(cudaMemcpy(&first, cycles, sizeof first, cudaMemcpyDeviceToHost));
    double each = (double)turns * unroll * n;
    return first / each / (threads > 128 ? threads / 128 : 1);
}

// ---- wgmma --------------------------------------------------------------------------------------

#define MEASURE_WGMMA(name, list, type, shape, operands, tail)                                    \
    __global__ void __launch_bounds__(256) name(int n, long long *cycles, int *out)               \
    {                                                                                             \
        __shared__ __align__(1024) int room[8192];                                                \
        uint32_t sum;                                                                             \
        for (int i = threadIdx.x; i < 8192; i += blockDim.x)                                      \
            room[i] = 0;                                                                          \
        uint64_t d = (uint64_t)(__cvta_generic_to_shared(room) >> 4) | 1ull << 16 | 64ull << 32;  \
        __syncthreads();                                                                          \
        long long from = clock64();                                                               \
        WGMMA(sum, d, n, 0, list, 8, type, shape, operands, tail)                             \
        __syncthreads();                                                                          \
        long long took = clock64() - from;                                                        \
        if (!threadIdx.x)                                                                         \
            cycles[blockIdx.x] = took;                                                            \
        if (sum == 0x7eadbeef)                                                                    \
            out[0] = 1;                                                                           \
    }
MEASURE_WGMMA(wgmma_n8, LIST_4, ".f32", "m64n8k16.f32.f16.f16", "%1, %1", ", 1, 1, 0, 0")
MEASURE_WGMMA(wgmma_n16, LIST_8, ".f32", "m64n16k16.f32.f16.f16", "%1, %1", ", 1, 1, 0, 0")
MEASURE_WGMMA(wgmma_n32, LIST_16, ".f32", "m64n32k16.f32.f16.f16", "%1, %1", ", 1, 1, 0, 0")
MEASURE_WGMMA(wgmma_n64, LIST_32, ".f32", "m64n64k16.f32.f16.f16", "%1, %1", ", 1, 1, 0, 0")
MEASURE_WGMMA(wgmma_n64_regs, LIST_32, ".f32", "m64n64k16.f32.f16.f16", "{%3, %3, %3, %3}, %1", ", 1, 1, 0")
MEASURE_WGMMA(wgmma_n128, LIST_64, ".f32", "m64n128k16.f32.f16.f16", "%1, %1", ", 1, 1, 0, 0")
MEASURE_WGMMA(wgmma_n256, LIST_128, ".f32", "m64n256k16.f32.f16.f16", "%1, %1", ", 1, 1, 0, 0")
MEASURE_WGMMA(wgmma_n128_tf32, LIST_64, ".f32", "m64n128k8.f32.tf32.tf32", "%1, %1", ", 1, 1")
MEASURE_WGMMA(wgmma_n128_s8, LIST_64, ".b32", "m64n128k32.s32.s8.s8", "%1, %1", "")
MEASURE_WGMMA(wgmma_n128_e4m3, LIST_64, ".f32", "m64n128k32.f32.e4m3.e4m3", "%1, %1", ", 1, 1")
MEASURE_WGMMA(wgmma_n128_half, LIST_32, ".b32", "m64n128k16.f16.f16.f16", "%1, %1", ", 1, 1, 0, 0")

// Of two groups of four warps, or of one: then what it waits for each eight.
static void put_wgmma(const char *name, void (*kernel)(int, long long *, int *))
{
    for (int groups = 2; groups; groups--) {
        long long first;
        for (int i = 0; i < 2; i++)
            kernel<<<132, 128 * groups>>>(turns, cycles, out);
        must(cudaMemcpy(&first, cycles, sizeof first, cudaMemcpyDeviceToHost));
        printf("%s.%s %.2f cycles\n", groups == 2 ? "rate" : "alone", name, first / (8.0 * groups * turns));
    }
}

// ---- textures -----------------------------------------------------------------------------------

enum { FETCH, POINT, SMOOTH, COLOURS };
template <int how> __device__ float fetch(cudaTextureObject_t t, int i)
{
    if (how == FETCH)
        return tex1Dfetch<float>(t, i);
    if (how == COLOURS)
        return tex2D<float4>(t, (i & 31) + 0.5f, (i >> 5) + 0.5f).x;
    return tex2D<float>(t, (i & 31) + 0.5f, (i >> 5) + 0.5f);
}
template <int how, int n> __global__ void run_fetch(cudaTextureObject_t t, long long *cycles, int *out)
{
    float x[n];
    for (int i = 0; i < n; i++)
        x[i] = threadIdx.x & 1023;
    __syncthreads();
    long long from = clock64();
    for (int k = 0; k < turns; k++)
#pragma unroll
        for (int i = 0; i < n; i++)
            x[i] = fetch<how>(t, (int)x[i] + threadIdx.x & 1023);
    __syncthreads();
    long long took = clock64() - from;
    if (!threadIdx.x)
        cycles[blockIdx.x] = took;
    float sum = 0;
    for (int i = 0; i < n; i++)
        sum += x[i];
    if (sum == 1e30f)
        out[0] = 1;
}
template <int how, int n> static double measure_fetch(cudaTextureObject_t t, int threads)
{
    long long first;
    for (int i = 0; i < 2; i++)
        run_fetch<how, n><<<132, threads>>>(t, cycles, out);
    must(cudaMemcpy(&first, cycles, sizeof first, cudaMemcpyDeviceToHost));
    return first / ((double)turns * n) / (threads > 128 ? threads / 128 : 1);
}
template <int how> static void put_fetch(const char *name)
{
    cudaTextureObject_t t;
    cudaResourceDesc r = {};
    cudaTextureDesc d = {};
    d.addressMode[0] = d.addressMode[1] = cudaAddressModeClamp;
    d.filterMode = how == SMOOTH ? cudaFilterModeLinear : cudaFilterModePoint;
    cudaChannelFormatDesc c = how == COLOURS ? cudaCreateChannelDesc<float4>() : cudaCreateChannelDesc<float>();
    if (how == FETCH) {
        r.resType = cudaResourceTypeLinear;
        must(cudaMalloc(&r.res.linear.devPtr, 4096));
        must(cudaMemset(r.res.linear.devPtr, 0, 4096));
        r.res.linear.desc = c;
        r.res.linear.sizeInBytes = 4096;
    } else {
        r.resType = cudaResourceTypeArray;
        must(cudaMallocArray(&r.res.array.array, &c, 32, 32));
        static float zeros[4096];
        must(cudaMemcpy2DToArray(r.res.array.array, 0, 0, zeros, 32 * (how == COLOURS ? 16 : 4),
                                 32 * (how == COLOURS ? 16 : 4), 32, cudaMemcpyHostToDevice));
    }
    must(cudaCreateTextureObject(&t, &r, &d, NULL));
    printf("rate.%s %.2f cycles\nlatency.%s %.1f cycles\n", name, (measure_fetch<how, 4>(t, 1024)), name,
           (measure_fetch<how, 1>(t, 32)));
}

// ---- asynchronous copies: of one thread, one after the other -------------------------------------

enum { WORDS, BULK, TILE };
template <int how, int bytes>
__global__ void copy(const char *from, const __grid_constant__ CUtensorMap map, long long *cycles)
{
    __shared__ __align__(128) char room[16384];
    __shared__ uint64_t barrier;
    uint32_t to = (uint32_t)__cvta_generic_to_shared(room), b = (uint32_t)__cvta_generic_to_shared(&barrier);
    asm volatile("mbarrier.init.shared.b64 [%0], 1;\n\tfence.mbarrier_init.release.cluster;" ::"r"(b) : "memory");
    long long start = 0;
    for (int i = -64; i < 64; i++) {
        if (i == 0)
            start = clock64();
        if (how == WORDS) {
            asm volatile("cp.async.cg.shared.global [%0], [%1], 16;\n\tcp.async.wait_all;" ::"r"(to), "l"(from)
                         : "memory");
            continue;
        }
        asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], %1;" ::"r"(b), "r"(bytes) : "memory");
        if (how == BULK)
            asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::
                             "r"(to), "l"(from), "r"(bytes), "r"(b)
                         : "memory");
        else
            asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes "
                         "[%0], [%1, {0, 0}], [%2];" ::"r"(to), "l"(&map), "r"(b)
                         : "memory");
        asm volatile("{\n\t.reg .pred p;\nagain:\n\tmbarrier.try_wait.parity.shared.b64 p, [%0], %1;\n\t"
                     "@!p bra again;\n\t}" ::"r"(b), "r"(i & 1)
                     : "memory");
    }
    cycles[blockIdx.x] = (clock64() - start) / 64;
}
template <int how, int bytes> static void put_copy(const char *name, int blocks)
{
    long long took[132], sum = 0;
    CUtensorMap map = {};
    char *from;
    must(cudaMalloc(&from, 1 << 20));
    cuuint64_t sides[] = {1024, 256}, pitch[] = {4096};
    cuuint32_t box[] = {64, bytes / 256 ? bytes / 256 : 1}, step[] = {1, 1};
    void *encode;
    cudaDriverEntryPointQueryResult found;
    must(cudaGetDriverEntryPoint("cuTensorMapEncodeTiled", &encode, cudaEnableDefault, &found));
    ((decltype(&cuTensorMapEncodeTiled))encode)(
        &map, CU_TENSOR_MAP_DATA_TYPE_FLOAT32, 2, from, sides, pitch, box, step, CU_TENSOR_MAP_INTERLEAVE_NONE,
        CU_TENSOR_MAP_SWIZZLE_NONE, CU_TENSOR_MAP_L2_PROMOTION_NONE, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
    for (int i = 0; i < 2; i++)
        copy<how, bytes><<<blocks, 1>>>(from, map, cycles);
    must(cudaMemcpy(took, cycles, blocks * sizeof *took, cudaMemcpyDeviceToHost));
    for (int i = 0; i < blocks; i++)
        sum += took[i];
    printf("latency.%s %.0f cycles\n", name, (double)sum / blocks);
    must(cudaFree(from));
}

// ---- latencies of memory ------------------------------------------------------------------------

__global__ void link(uint64_t *v, size_t n, size_t step)
{
    for (size_t i = threadIdx.x + (size_t)blockIdx.x * blockDim.x; i * step < n;
         i += (size_t)gridDim.x * blockDim.x)
        v[i * step] = (uint64_t)&v[(i * step + step) % n];
}
enum { VIA_L1, VIA_L2, ATOMIC };
template <int how> __global__ void chase(uint64_t *v, int n, long long *cycles)
{
    uint64_t p = (uint64_t)v;
    long long from = 0;
    for (int i = -n; i < n; i++) {
        if (i == 0)
            from = clock64();
        if (how == VIA_L1)
            asm volatile("ld.global.ca.u64 %0, [%0];" : "+l"(p));
        else if (how == VIA_L2)
            asm volatile("ld.global.cg.u64 %0, [%0];" : "+l"(p));
        else
            asm volatile("atom.global.or.b64 %0, [%0], 0;" : "+l"(p));
    }
    cycles[0] = clock64() - from + (p == 1);
}
__constant__ uint32_t table[8192];
__global__ void chase_constant(int step, long long *cycles)
{
    uint32_t p = 0;
    long long from = 0;
    for (int i = -256; i < 256; i++) {
        if (i == 0)
            from = clock64();
        p = table[p] + step * (i & 0);
    }
    cycles[0] = clock64() - from + (p == 1);
}

template <int how> static void put_latency(const char *name, size_t bytes, size_t step, int n)
{
    uint64_t *v;
    long long took;
    must(cudaMalloc(&v, bytes));
    link<<<1024, 256>>>(v, bytes / 8, step / 8);
    chase<how><<<1, 1>>>(v, n, cycles);
    must(cudaMemcpy(&took, cycles, sizeof took, cudaMemcpyDeviceToHost));
    printf("latency.%s %.1f cycles\n", name, (double)took / n);
    must(cudaFree(v));
}

// ---- bandwidths ---------------------------------------------------------------------------------

enum { READ, WRITE, COPY, READ_L1, RED_SPREAD, RED_SAME, ATOM_SPREAD };
template <int how> __global__ void move(float4 *a, float4 *b, size_t n, int times)
{
    float4 sum = make_float4(0, 0, 0, 0);
    size_t all = (size_t)gridDim.x * blockDim.x, me = threadIdx.x + (size_t)blockIdx.x * blockDim.x;
    for (int t = 0; t < times; t++)
        for (size_t i = how == READ_L1 ? threadIdx.x : me; i < n;
             i += how == READ_L1 ? blockDim.x : all) {
            if (how == READ || how == READ_L1) {
                float4 x;
                if (how == READ)
                    asm volatile("ld.global.cg.v4.f32 {%0, %1, %2, %3}, [%4];"
                                 : "=f"(x.x), "=f"(x.y), "=f"(x.z), "=f"(x.w)
                                 : "l"(a + i));
                else
                    asm volatile("ld.global.ca.v4.f32 {%0, %1, %2, %3}, [%4];"
                                 : "=f"(x.x), "=f"(x.y), "=f"(x.z), "=f"(x.w)
                                 : "l"(a + (size_t)blockIdx.x * n + i));
                sum.x += x.x, sum.y += x.y, sum.z += x.z, sum.w += x.w;
            } else if (how == WRITE) {
                asm volatile("st.global.v4.f32 [%0], {%1, %1, %1, %1};" ::"l"(a + i), "f"(1.0f));
            } else if (how == COPY) {
                b[i] = a[i];
            } else if (how == RED_SAME) {
                asm volatile("red.global.add.u32 [%0], 1;" ::"l"(a));
            } else if (how == RED_SPREAD) {
                asm volatile("red.global.add.u32 [%0], 1;" ::"l"((int *)a + i));
            } else {
                int x;
                asm volatile("atom.global.add.u32 %0, [%1], 1;" : "=r"(x) : "l"((int *)a + i));
                sum.x += x;
            }
        }
    if (sum.x == 1e30f)
        b[0] = sum;
}

static float4 *a, *b;

template <int how>
static void put_bytes(const char *name, int blocks, size_t n, int times, double bytes)
{
    cudaEvent_t from, to;
    float ms, best = 1e30f;
    cudaEventCreate(&from);
    cudaEventCreate(&to);
    for (int i = 0; i < 4; i++) {
        cudaEventRecord(from);
        move<how><<<blocks, 256>>>(a, b, n, times);
        cudaEventRecord(to);
        must(cudaEventSynchronize(to));
        cudaEventElapsedTime(&ms, from, to);
        best = ms < best ? ms : best;
    }
    printf("bytes.%s %.1f bytes/ns\n", name, bytes * times / (best * 1e6));
}

__global__ void nothing() {}
__global__ void wait(long long n)
{
    long long from = clock64();
    while (clock64() - from < n)
        ;
}
static void put_launch(const char *name, int blocks, int threads, long long n)
{
    cudaEvent_t from, to;
    float ms;
    cudaEventCreate(&from);
    cudaEventCreate(&to);
    for (int i = 0; i < 2; i++) {
        cudaEventRecord(from);
        for (int k = 0; k < 50; k++)
            if (n)
                wait<<<blocks, threads>>>(n);
            else
                nothing<<<blocks, threads>>>();
        cudaEventRecord(to);
        must(cudaEventSynchronize(to));
        cudaEventElapsedTime(&ms, from, to);
    }
    printf("launch.%s %.3f us\n", name, ms * 1000 / 50);
}

int main()
{
    must(cudaMalloc(&cycles, 1 << 20));
    must(cudaMalloc(&out, 64));
    must(cudaMalloc(&a, 1 << 30));
    must(cudaMalloc(&b, 1 << 30));
#define PUT(name, type, constraint, text)                                                         \
    printf("rate." #name " %.3f cycles\n", measure<unit::name, chains>(1024));                     \
    printf("latency." #name " %.2f cycles\n", measure<unit::name, 1>(32));
    INSTRUCTIONS(PUT)
    put_wgmma("wgmma_n8", wgmma_n8);
    put_wgmma("wgmma_n16", wgmma_n16);
    put_wgmma("wgmma_n32", wgmma_n32);
    put_wgmma("wgmma_n64", wgmma_n64);
    put_wgmma("wgmma_n64_regs", wgmma_n64_regs);
    put_wgmma("wgmma_n128", wgmma_n128);
    put_wgmma("wgmma_n256", wgmma_n256);
    put_wgmma("wgmma_n128_tf32", wgmma_n128_tf32);
    put_wgmma("wgmma_n128_s8", wgmma_n128_s8);
    put_wgmma("wgmma_n128_e4m3", wgmma_n128_e4m3);
    put_wgmma("wgmma_n128_half", wgmma_n128_half);
    put_fetch<FETCH>("tex_fetch");
    put_fetch<POINT>("tex_point");
    put_fetch<SMOOTH>("tex_smooth");
    put_fetch<COLOURS>("tex_colours");
    put_copy<WORDS, 16>("cp_async_16", 1);
    put_copy<BULK, 16>("bulk_16", 1);
    put_copy<BULK, 1024>("bulk_1k", 1);
    put_copy<BULK, 8192>("bulk_8k", 1);
    put_copy<BULK, 16384>("bulk_16k", 1);
    put_copy<BULK, 16384>("bulk_16k_all", 132);
    put_copy<TILE, 1024>("tile_1k", 1);
    put_copy<TILE, 8192>("tile_8k", 1);
    put_copy<TILE, 16384>("tile_16k", 1);
    put_copy<TILE, 16384>("tile_16k_all", 132);
    put_latency<VIA_L1>("l1", 16 << 10, 128, 128);
    put_latency<VIA_L2>("l2", 4 << 20, 256, 16384);
    put_latency<VIA_L2>("l2_far", 24 << 20, 256, 98304);
    put_latency<VIA_L1>("dram", 800 << 20, 4096, 4096);
    put_latency<ATOMIC>("atomic", 4 << 20, 256, 16384);
    for (int i = 0; i < 2; i++) {
        long long took;
        chase_constant<<<1, 1>>>(0, cycles);
        must(cudaMemcpy(&took, cycles, sizeof took, cudaMemcpyDeviceToHost));
        if (i)
            printf("latency.constant %.1f cycles\n", took / 256.0);
    }
    put_bytes<READ>("dram_read", 2112, 1 << 26, 1, 1 << 30);
    put_bytes<WRITE>("dram_write", 2112, 1 << 26, 1, 1 << 30);
    put_bytes<COPY>("dram_copy", 2112, 1 << 26, 1, 2.0 * (1 << 30));
    put_bytes<READ>("l2_read", 1056, 1 << 20, 64, 16 << 20);
    put_bytes<WRITE>("l2_write", 1056, 1 << 20, 64, 16 << 20);
    put_bytes<COPY>("l2_copy", 1056, 1 << 19, 64, 16 << 20);
    put_bytes<READ_L1>("l1_read", 528, 2048, 256, 528.0 * (2048 * 16));
    put_bytes<RED_SPREAD>("red_spread", 1056, 1 << 22, 8, 16 << 20);
    put_bytes<ATOM_SPREAD>("atom_spread", 1056, 1 << 22, 8, 16 << 20);
    put_bytes<RED_SAME>("red_same", 1056, 1 << 20, 1, 4 << 20);
    put_launch("empty_1", 1, 64, 0);
    put_launch("empty_1056", 1056, 64, 0);
    put_launch("empty_16896", 16896, 64, 0);
    put_launch("empty_65536", 65536, 64, 0);
    put_launch("empty_16896_x1024", 16896, 1024, 0);
    for (int waves = 1; waves <= 4; waves++) {
        char name[32];
        snprintf(name, sizeof name, "wait_%d_waves", waves);
        put_launch(name, 264 * waves, 1024, 5000);
        snprintf(name, sizeof name, "wait_%d_waves_and_1", waves);
        put_launch(name, 264 * waves + 1, 1024, 5000);
    }
    return 0;
}
