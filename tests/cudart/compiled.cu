// What NVIDIA's samples do with NVRTC and nvJitLink, in our words: machine code for sm_90, of each sample's kind of kernel. nvcc compiled.cu -lnvrtc -lnvJitLink -lcuda
#include "../../samples/programs/check.h"
#include <cuda.h>
#include <nvJitLink.h>
#include <nvrtc.h>
#include <string>
#include <vector>

static const char vector_add[] = "extern \"C\" __global__ void k(const float *a, const float *b, float *c, int n)\n"
                                 "{ int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) c[i] = a[i] + b[i]; }";
static const char matrix_mul[] =
    "template <int N> __device__ void mul(const float *a, const float *b, float *c) {\n"
    "  __shared__ float s[N][N], t[N][N];\n"
    "  int x = threadIdx.x, y = threadIdx.y, w = N * gridDim.x, row = blockIdx.y * N + y, column = blockIdx.x * N + x;\n"
    "  float sum = 0;\n"
    "  for (int m = 0; m < w; m += N) {\n"
    "    s[y][x] = a[row * w + m + x]; t[y][x] = b[(m + y) * w + column];\n"
    "    __syncthreads();\n"
    "    for (int i = 0; i < N; i++) sum += s[y][i] * t[i][x];\n"
    "    __syncthreads();\n"
    "  }\n"
    "  c[row * w + column] = sum; }\n"
    "extern \"C\" __global__ void k(const float *a, const float *b, float *c) { mul<16>(a, b, c); }";
static const char timed[] = "extern \"C\" __global__ void k(const float *in, float *out, long long *time) {\n"
                            "  extern __shared__ float s[]; int i = threadIdx.x;\n"
                            "  if (!i) time[blockIdx.x] = clock64();\n"
                            "  s[i] = in[i]; s[i + blockDim.x] = in[i + blockDim.x];\n"
                            "  for (int d = blockDim.x; d > 0; d /= 2) { __syncthreads(); if (i < d && s[i + d] < s[i]) s[i] = s[i + d]; }\n"
                            "  __syncthreads();\n"
                            "  if (!i) { out[blockIdx.x] = s[0]; time[blockIdx.x + gridDim.x] = clock64(); } }";
static const char atomics[] =
    "extern \"C\" __global__ void k(int *p) { unsigned i = blockDim.x * blockIdx.x + threadIdx.x;\n"
    "  atomicAdd(p, 10); atomicSub(p + 1, 10); atomicExch(p + 2, i); atomicMax(p + 3, i); atomicMin(p + 4, i);\n"
    "  atomicInc((unsigned *)p + 5, 17); atomicDec((unsigned *)p + 6, 137); atomicCAS(p + 7, i - 1, i);\n"
    "  atomicAnd(p + 8, 2 * i + 7); atomicOr(p + 9, 1 << i); atomicXor(p + 10, i); }";
static const char asserts[] = "extern \"C\" __global__ void k(int n) { assert((int)(blockIdx.x * blockDim.x + threadIdx.x) < n); }";
static const char offset[] = "__device__ int offset(int i) { return 3 * i + 1; }";
static const char caller[] = "extern __device__ int offset(int); extern \"C\" __global__ void k(int *p) { p[threadIdx.x] = offset(threadIdx.x); }";

static std::string compile(const char *source, bool is_lto = false)
{
    nvrtcProgram program;
    const char *options[] = {"--gpu-architecture=sm_90", "-dlto", "-rdc=true"}; // the latter for link-time optimisation alone
    size_t bytes;
    EXPECT(nvrtcCreateProgram(&program, source, "k.cu", 0, NULL, NULL) == NVRTC_SUCCESS);
    if (nvrtcCompileProgram(program, is_lto ? 3 : 1, options) != NVRTC_SUCCESS) {
        EXPECT(nvrtcGetProgramLogSize(program, &bytes) == NVRTC_SUCCESS);
        std::vector<char> log(bytes + 1);
        EXPECT(nvrtcGetProgramLog(program, log.data()) == NVRTC_SUCCESS);
        puts(log.data());
        exit(1);
    }
    EXPECT((is_lto ? nvrtcGetLTOIRSize(program, &bytes) : nvrtcGetCUBINSize(program, &bytes)) == NVRTC_SUCCESS && bytes > 1);
    std::string code(bytes, 0);
    EXPECT((is_lto ? nvrtcGetLTOIR(program, &code[0]) : nvrtcGetCUBIN(program, &code[0])) == NVRTC_SUCCESS);
    EXPECT(nvrtcDestroyProgram(&program) == NVRTC_SUCCESS);
    return code;
}

static std::string link()
{
    nvJitLinkHandle linker;
    const char *options[] = {"-arch=sm_90", "-lto"};
    size_t bytes;
    EXPECT(nvJitLinkCreate(&linker, 2, options) == NVJITLINK_SUCCESS);
    for (const char *source : {offset, caller}) {
        std::string code = compile(source, true);
        EXPECT(nvJitLinkAddData(linker, NVJITLINK_INPUT_LTOIR, code.data(), code.size(), "part") == NVJITLINK_SUCCESS);
    }
    EXPECT(nvJitLinkComplete(linker) == NVJITLINK_SUCCESS);
    EXPECT(nvJitLinkGetLinkedCubinSize(linker, &bytes) == NVJITLINK_SUCCESS && bytes > 0);
    std::string code(bytes, 0);
    EXPECT(nvJitLinkGetLinkedCubin(linker, &code[0]) == NVJITLINK_SUCCESS);
    EXPECT(nvJitLinkDestroy(&linker) == NVJITLINK_SUCCESS);
    return code;
}

static CUresult launch(const std::string &code, dim3 grid, dim3 block, unsigned shared, void **arguments)
{
    CUmodule module;
    CUfunction kernel;
    EXPECT(cuModuleLoadData(&module, code.data()) == CUDA_SUCCESS);
    EXPECT(cuModuleGetFunction(&kernel, module, "k") == CUDA_SUCCESS);
    EXPECT(cuLaunchKernel(kernel, grid.x, grid.y, grid.z, block.x, block.y, block.z, shared, NULL, arguments, NULL) == CUDA_SUCCESS);
    return cuCtxSynchronize();
}

template <class T> static T *managed(size_t n)
{
    T *p;
    CUDA(cudaMallocManaged(&p, n * sizeof(T)));
    return p;
}

static void run_vector_add()
{
    int n = 50000;
    float *a = managed<float>(n), *b = managed<float>(n), *c = managed<float>(n);
    for (int i = 0; i < n; i++)
        a[i] = i, b[i] = 2 * i;
    void *arguments[] = {&a, &b, &c, &n};
    EXPECT(launch(compile(vector_add), (n + 255) / 256, 256, 0, arguments) == CUDA_SUCCESS);
    for (int i = 0; i < n; i++)
        EXPECT(c[i] == 3.0f * i);
}

static void run_matrix_mul()
{
    enum { N = 64 };
    float *a = managed<float>(N * N), *b = managed<float>(N * N), *c = managed<float>(N * N);
    for (int i = 0; i < N * N; i++)
        a[i] = i % 7, b[i] = i % 5;
    void *arguments[] = {&a, &b, &c};
    EXPECT(launch(compile(matrix_mul), dim3(N / 16, N / 16), dim3(16, 16), 0, arguments) == CUDA_SUCCESS);
    for (int y = 0; y < N; y++)
        for (int x = 0; x < N; x++) {
            float sum = 0;
            for (int i = 0; i < N; i++)
                sum += a[y * N + i] * b[i * N + x];
            EXPECT(c[y * N + x] == sum);
        }
}

static void run_timed()
{
    enum { BLOCKS = 8, THREADS = 256 };
    float *in = managed<float>(2 * THREADS), *out = managed<float>(BLOCKS);
    long long *time = managed<long long>(2 * BLOCKS);
    for (int i = 0; i < 2 * THREADS; i++)
        in[i] = (i + 100) % 512;
    void *arguments[] = {&in, &out, &time};
    EXPECT(launch(compile(timed), BLOCKS, THREADS, 2 * THREADS * sizeof(float), arguments) == CUDA_SUCCESS);
    for (int i = 0; i < BLOCKS; i++)
        EXPECT(out[i] == 0 && time[BLOCKS + i] > time[i]);
}

static void run_atomics()
{
    enum { N = 64 * 256 };
    int *p = managed<int>(11), bits = 0, low = 0xff;
    for (int i = 0; i < 11; i++)
        p[i] = 0;
    p[8] = p[10] = 0xff;
    void *arguments[] = {&p};
    EXPECT(launch(compile(atomics), 64, 256, 0, arguments) == CUDA_SUCCESS);
    for (int i = 0; i < N; i++)
        low &= 2 * i + 7, bits ^= i;
    EXPECT(p[0] == 10 * N && p[1] == -10 * N && p[2] >= 0 && p[2] < N && p[3] == N - 1 && p[4] == 0);
    EXPECT(p[5] == N % 18 && p[6] >= 0 && p[6] <= 137 && p[7] >= 0 && p[7] < N);
    EXPECT(p[8] == low && p[9] != 0 && p[10] == (bits ^ 0xff));
}

static void run_linked()
{
    int *p = managed<int>(32);
    void *arguments[] = {&p};
    EXPECT(launch(link(), 1, 32, 0, arguments) == CUDA_SUCCESS);
    for (int i = 0; i < 32; i++)
        EXPECT(p[i] == 3 * i + 1);
}

static void run_asserts() // the last one: no context outlives it
{
    int n = 60;
    void *arguments[] = {&n};
    EXPECT(launch(compile(asserts), 2, 32, 0, arguments) == CUDA_ERROR_ASSERT);
}

int main()
{
    CUDA(cudaFree(NULL));
    run_vector_add();
    run_matrix_mul();
    run_timed();
    run_atomics();
    run_linked();
    run_asserts();
    return passed();
}
