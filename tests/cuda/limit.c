/* Limits of a context: what an H100 answers (driver 580.159), and that stack and heap hold. */
#include "tests/cuda/support.h"

static size_t get(CUlimit limit)
{
    size_t value = 77;
    OK(cuCtxGetLimit(&value, limit));
    return value;
}

static void expect(CUlimit limit, size_t value, size_t want)
{
    OK(cuCtxSetLimit(limit, value));
    CHECK_INT(get(limit), want);
}

static void refuse(CUlimit limit, size_t value, CUresult want)
{
    size_t before = get(limit);
    CHECK_CU(cuCtxSetLimit(limit, value), want);
    CHECK_INT(get(limit), before);
}

static void check_defaults(void)
{
    size_t value = 77;
    int l2 = 0;
    OK(cuDeviceGetAttribute(&l2, CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE, 0));
    CHECK_INT(get(CU_LIMIT_STACK_SIZE), 1024);
    CHECK_INT(get(CU_LIMIT_PRINTF_FIFO_SIZE), 8650752);
    CHECK_INT(get(CU_LIMIT_MALLOC_HEAP_SIZE), 8 << 20);
    CHECK_INT(get(CU_LIMIT_DEV_RUNTIME_PENDING_LAUNCH_COUNT), 2048);
    CHECK_INT(get(CU_LIMIT_MAX_L2_FETCH_GRANULARITY), 64);
    CHECK_INT(get(CU_LIMIT_PERSISTING_L2_CACHE_SIZE), l2 / 16 * 3); /* 9,830,400 of 50 MiB */
    CHECK_INT(get(CU_LIMIT_SHMEM_SIZE), 232448);
    CHECK_INT(get(CU_LIMIT_CIG_ENABLED), 0);
    CHECK_CU(cuCtxGetLimit(&value, CU_LIMIT_DEV_RUNTIME_SYNC_DEPTH), CUDA_ERROR_UNSUPPORTED_LIMIT);
    CHECK_CU(cuCtxGetLimit(&value, CU_LIMIT_CIG_SHMEM_FALLBACK_ENABLED),
             CUDA_ERROR_UNSUPPORTED_LIMIT);
    CHECK_CU(cuCtxGetLimit(&value, CU_LIMIT_MAX), CUDA_ERROR_INVALID_VALUE);
    CHECK_CU(cuCtxGetLimit(&value, (CUlimit)-1), CUDA_ERROR_INVALID_VALUE);
    CHECK_CU(cuCtxGetLimit(NULL, CU_LIMIT_STACK_SIZE), CUDA_ERROR_INVALID_VALUE);
    CHECK_INT(value, 77);
}

static void check_setting(void)
{
    int l2 = 0;
    OK(cuDeviceGetAttribute(&l2, CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE, 0));
    expect(CU_LIMIT_STACK_SIZE, 0, 0);
    expect(CU_LIMIT_STACK_SIZE, 1000, 1008);
    expect(CU_LIMIT_STACK_SIZE, 262144, 262144);
    refuse(CU_LIMIT_STACK_SIZE, 523776, CUDA_ERROR_INVALID_VALUE);
    refuse(CU_LIMIT_STACK_SIZE, SIZE_MAX, CUDA_ERROR_INVALID_VALUE);
    expect(CU_LIMIT_PRINTF_FIFO_SIZE, 0, 524288);
    expect(CU_LIMIT_PRINTF_FIFO_SIZE, 3000000, 3000064);
    expect(CU_LIMIT_PRINTF_FIFO_SIZE, SIZE_MAX, (size_t)2 << 30);
    expect(CU_LIMIT_MALLOC_HEAP_SIZE, 1000, 4194304);
    expect(CU_LIMIT_MALLOC_HEAP_SIZE, 5000000, 5046272);
    expect(CU_LIMIT_MALLOC_HEAP_SIZE, 33554432, 33554432);
    OK(cuCtxSetLimit(CU_LIMIT_MALLOC_HEAP_SIZE, SIZE_MAX)); /* what there is */
    expect(CU_LIMIT_DEV_RUNTIME_PENDING_LAUNCH_COUNT, 1, 32);
    expect(CU_LIMIT_DEV_RUNTIME_PENDING_LAUNCH_COUNT, 1000, 1000);
    expect(CU_LIMIT_DEV_RUNTIME_PENDING_LAUNCH_COUNT, 1 << 20, 599186);
    expect(CU_LIMIT_MAX_L2_FETCH_GRANULARITY, 48, 48);
    refuse(CU_LIMIT_MAX_L2_FETCH_GRANULARITY, 256, CUDA_ERROR_INVALID_VALUE);
    expect(CU_LIMIT_PERSISTING_L2_CACHE_SIZE, 1, (size_t)l2 / 16);
    expect(CU_LIMIT_PERSISTING_L2_CACHE_SIZE, 0, 0);
    refuse(CU_LIMIT_PERSISTING_L2_CACHE_SIZE, 1 << 30, CUDA_ERROR_INVALID_VALUE);
    refuse(CU_LIMIT_SHMEM_SIZE, 1, CUDA_ERROR_NOT_PERMITTED);
    refuse(CU_LIMIT_CIG_ENABLED, 1, CUDA_ERROR_NOT_PERMITTED);
    CHECK_CU(cuCtxSetLimit(CU_LIMIT_DEV_RUNTIME_SYNC_DEPTH, 4), CUDA_ERROR_UNSUPPORTED_LIMIT);
    CHECK_CU(cuCtxSetLimit(CU_LIMIT_CIG_SHMEM_FALLBACK_ENABLED, 1), CUDA_ERROR_UNSUPPORTED_LIMIT);
    CHECK_CU(cuCtxSetLimit(CU_LIMIT_MAX, 4), CUDA_ERROR_INVALID_VALUE);
}

/* take: the addresses of two blocks of `bytes`. sum: 0 + 1 + … + n by recursion, 64 bytes of stack
 * and more a level. */
static const char text[] =
    PTX_HEADER
    ".extern .func (.param .b64 r) malloc(.param .b64 n);\n"
    ".visible .entry take(.param .u64 to, .param .u64 bytes)\n{\n"
    "    .reg .b64 %rd<4>;\n    ld.param.u64 %rd1, [to]; ld.param.u64 %rd2, [bytes];\n"
    "    { .param .b64 n; .param .b64 p; st.param.b64 [n], %rd2; call.uni (p), malloc, (n); "
    "ld.param.b64 %rd3, [p]; }\n"
    "    st.global.u64 [%rd1], %rd3;\n"
    "    { .param .b64 n; .param .b64 p; st.param.b64 [n], %rd2; call.uni (p), malloc, (n); "
    "ld.param.b64 %rd3, [p]; }\n"
    "    st.global.u64 [%rd1+8], %rd3;\n    ret;\n}\n"
    ".func (.param .b32 r) down(.param .b32 n)\n{\n"
    "    .local .align 4 .b8 room[64]; .reg .b32 %r<4>; .reg .pred %p;\n"
    "    ld.param.u32 %r1, [n]; st.local.u32 [room+60], %r1; setp.eq.u32 %p, %r1, 0; "
    "mov.u32 %r2, 0; @%p bra DONE;\n"
    "    sub.u32 %r2, %r1, 1;\n"
    "    { .param .b32 a; .param .b32 b; st.param.b32 [a], %r2; call (b), down, (a); "
    "ld.param.b32 %r2, [b]; }\n"
    "    ld.local.u32 %r3, [room+60]; add.u32 %r2, %r2, %r3;\nDONE:\n"
    "    st.param.b32 [r], %r2; ret;\n}\n"
    ".visible .entry sum(.param .u64 to, .param .u32 n)\n{\n"
    "    .reg .b64 %rd1; .reg .b32 %r<3>; ld.param.u64 %rd1, [to]; ld.param.u32 %r1, [n];\n"
    "    { .param .b32 a; .param .b32 b; st.param.b32 [a], %r1; call (b), down, (a); "
    "ld.param.b32 %r2, [b]; }\n"
    "    st.global.u32 [%rd1], %r2; ret;\n}\n"
    ".visible .entry wide(.param .u64 to)\n{\n    .local .align 8 .b8 room[573440];\n"
    "    .reg .b64 %rd<2>; .reg .b32 %r1;\n"
    "    ld.param.u64 %rd1, [to]; mov.u32 %r1, room; st.local.u32 [%r1], %r1;\n"
    "    st.global.u32 [%rd1], %r1;\n    ret;\n}\n";

static CUresult run(const char *name, void *to, uint64_t argument)
{
    CUmodule module;
    CUfunction f;
    void *args[] = {to, &argument};
    OK(cuModuleLoadData(&module, text));
    OK(cuModuleGetFunction(&f, module, name));
    CUresult r = cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, NULL, args, NULL);
    return r == CUDA_SUCCESS ? cuCtxSynchronize() : r;
}

static void check_heap(void)
{
    uint64_t *to;
    OK(cuCtxSetLimit(CU_LIMIT_MALLOC_HEAP_SIZE, 4 << 20));
    OK(cuMemAllocManaged((CUdeviceptr *)&to, 16, CU_MEM_ATTACH_GLOBAL));
    OK(run("take", &to, 3 << 20));
    CHECK(to[0] && !to[1]);
    CHECK_CU(cuCtxSetLimit(CU_LIMIT_MALLOC_HEAP_SIZE, 32 << 20), CUDA_ERROR_INVALID_VALUE);
}

/* The last one breaks the context. */
static void check_stack(void)
{
    uint32_t *to;
    OK(cuMemAllocManaged((CUdeviceptr *)&to, 16, CU_MEM_ATTACH_GLOBAL));
    OK(run("sum", &to, 100));
    CHECK_INT(*to, 5050);
    CHECK_CU(run("wide", &to, 0), CUDA_ERROR_INVALID_VALUE);
    OK(cuCtxSetLimit(CU_LIMIT_STACK_SIZE, 256 << 10));
    OK(run("sum", &to, 1500));
    CHECK_INT(*to, 1500 * 1501 / 2);
    CHECK(run("sum", &to, 100000) != CUDA_SUCCESS);
}

/* ---- of modules ------------------------------------------------------------------------------ */

static CUresult load_with(const char *format, unsigned bytes)
{
    char ptx[512];
    CUmodule module;
    snprintf(ptx, sizeof ptx, format, bytes);
    CUresult r = cuModuleLoadData(&module, ptx);
    return r == CUDA_SUCCESS ? cuModuleUnload(module) : r;
}

/* As NVIDIA's assembler refuses them (13.0), where the driver says CUDA_ERROR_INVALID_PTX. */
static void check_modules(void)
{
    static const char shared[] = PTX_HEADER ".visible .entry k() { .shared .b8 s[%u]; "
                                            ".reg .b32 %%r<2>; ld.shared.u8 %%r1, [s]; ret; }";
    static const char constant[] = PTX_HEADER ".const .b8 c[%u]; .visible .entry k() { ret; }";
    OK(load_with(shared, 49152));
    CHECK_CU(load_with(shared, 49153), CUDA_ERROR_INVALID_PTX);
    OK(load_with(constant, 65536));
    CHECK_CU(load_with(constant, 65537), CUDA_ERROR_INVALID_PTX);
}

/* CUDA C++ Programming Guide, "Device Memory Accesses": variables in global memory are aligned to
 * 256 bytes. */
static void check_alignment(void)
{
    CUmodule module;
    CUdeviceptr a, b, c;
    size_t bytes;
    OK(cuModuleLoadData(&module, PTX_HEADER ".visible .global .u32 a;\n"
                                            ".visible .global .b8 b[300];\n"
                                            ".visible .global .f64 c;\n"));
    OK(cuModuleGetGlobal_v2(&a, &bytes, module, "a"));
    OK(cuModuleGetGlobal_v2(&b, &bytes, module, "b"));
    OK(cuModuleGetGlobal_v2(&c, &bytes, module, "c"));
    CHECK_INT(bytes, 8);
    CHECK(a % 256 == 0 && b - a == 256 && c - b == 512);
    OK(cuModuleUnload(module));
}

int main(void)
{
    CUcontext ctx = begin();
    check_defaults();
    check_setting();
    check_modules();
    check_alignment();
    OK(cuCtxDestroy_v2(ctx));
    ctx = begin();
    check_heap();
    check_stack();
    OK(cuCtxDestroy_v2(ctx));
    return CHECK_DONE("cuda_limit");
}
