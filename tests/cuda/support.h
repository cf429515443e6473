/* What the tests of the driver share. They are programs as users write them: they know libcuda.so.1
 * by its header alone. */
#ifndef PTERA_TESTS_CUDA_SUPPORT_H
#define PTERA_TESTS_CUDA_SUPPORT_H

#include <stdlib.h>

#include "runtime/cuda/abi.h"
#include "tests/cuda/kernels.h"
#include "tests/unit/check.h"

/* A result is the one that is wanted; shown by name. */
#define CHECK_CU(call, want) check_cu((call), (want), #call, __FILE__, __LINE__)
#define OK(call) CHECK_CU(call, CUDA_SUCCESS)

static inline void check_cu(CUresult have, CUresult want, const char *call, const char *file,
                            int line)
{
    const char *name = "?", *wanted = "?";
    if (have == want) {
        check_passed++;
        return;
    }
    check_failed++;
    cuGetErrorName(have, &name);
    cuGetErrorName(want, &wanted);
    fprintf(stderr, "%s:%d: failed: %s is %s, not %s\n", file, line, call, name, wanted);
}

/* Something that is no handle of anything. */
#define WILD ((void *)(uintptr_t)0x123450)

#define PTX_HEADER ".version 8.0\n.target sm_70\n.address_size 64\n"

/* Kernels that most tests can do with. */
static const char kernels[] =
    PTX_HEADER
    ".visible .global .align 4 .u32 counter = 5;\n"
    ".visible .const .align 4 .u32 factor[2] = {3, 4};\n"
    ".visible .entry empty() { ret; }\n"
    PTX_ADD_AND_WAIT
    /* stores to the address */
    ".visible .entry store(.param .u64 p)\n{\n"
    "    .reg .b64 %rd<2>; ld.param.u64 %rd1, [p]; st.global.u32 [%rd1], 7; ret;\n}\n"
    ".visible .entry stop() { trap; }\n";

/* The driver, device 0 and a context of it that is current. */
static inline CUcontext begin(void)
{
    CUdevice device;
    CUcontext ctx = NULL;
    OK(cuInit(0));
    OK(cuDeviceGet(&device, 0));
    OK(cuCtxCreate_v2(&ctx, 0, device));
    return ctx;
}

static inline CUmodule load_kernels(void)
{
    CUmodule module = NULL;
    OK(cuModuleLoadData(&module, kernels));
    return module;
}

static inline CUfunction function_of(CUmodule module, const char *name)
{
    CUfunction function = NULL;
    OK(cuModuleGetFunction(&function, module, name));
    return function;
}

static inline CUdeviceptr new_memory(size_t bytes)
{
    CUdeviceptr p = 0;
    OK(cuMemAlloc_v2(&p, bytes));
    OK(cuMemsetD8_v2(p, 0, bytes));
    return p;
}

/* One block of `threads` threads. */
#define LAUNCH(function, threads, stream, ...) \
    cuLaunchKernel((function), 1, 1, 1, (threads), 1, 1, 0, (stream), (void *[]){__VA_ARGS__}, NULL)

#endif
