/* What the tests of the runtime library share. They are programs as users write them: they know
 * libcudart.so by its names and types alone. The calls that are the driver's are declared from the
 * list they are made of; the others by each test that uses them. */
#ifndef PTERA_TESTS_CUDART_SUPPORT_H
#define PTERA_TESTS_CUDART_SUPPORT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

#include "runtime/cudart/abi.h"
#include "tests/cuda/kernels.h"
#include "tests/unit/check.h"

#define FORWARD(name, parameters, ...) cudaError_t name parameters;
#define STREAM FORWARD
#include "runtime/cudart/forward.def"
#undef FORWARD
#undef STREAM

const char *cudaGetErrorName(cudaError_t error);
cudaError_t cudaGetLastError(void);
cudaError_t cudaPeekAtLastError(void);
cudaError_t cudaMalloc(void **p, size_t bytes);
cudaError_t cudaFree(void *p);
cudaError_t cudaMemcpy(void *to, const void *from, size_t bytes, cudaMemcpyKind kind);
cudaError_t cudaMemset(void *p, int value, size_t bytes);
cudaError_t cudaDeviceReset(void);
cudaError_t cudaLaunchKernel(const void *function, dim3 grid, dim3 block, void **arguments,
                             size_t shared, cudaStream_t stream);

/* A call gives the result that is wanted, and the thread remembers it, once, if it is an error. */
#define CHECK_RT(call, want) check_rt((call), (want), #call, __FILE__, __LINE__)
#define OK(call) CHECK_RT(call, cudaSuccess)
/* The call refuses its value, or its handle. */
#define BAD_VALUE(call) CHECK_RT(call, cudaErrorInvalidValue)
#define BAD_HANDLE(call) CHECK_RT(call, cudaErrorInvalidResourceHandle)

static inline void check_rt(cudaError_t have, cudaError_t want, const char *call, const char *file,
                            int line)
{
    cudaError_t peeked = cudaPeekAtLastError(), last = cudaGetLastError(),
                then = cudaPeekAtLastError();
    if (have == want && peeked == want && last == want && then == cudaSuccess) {
        check_passed++;
        return;
    }
    check_failed++;
    fprintf(stderr,
            "%s:%d: failed: %s is %s, not %s; "
            "remembered: %s, %s, then %s\n",
            file, line, call, cudaGetErrorName(have), cudaGetErrorName(want),
            cudaGetErrorName(peeked), cudaGetErrorName(last), cudaGetErrorName(then));
}

/* Something that is no address and no handle of anything. */
#define WILD ((void *)(uintptr_t)0x123450)

#define DIM(n) ((dim3){(n), 1, 1})

/* Kernels that most tests can do with. */
static const char kernels[] =
    ".version 8.0\n.target sm_70\n.address_size 64\n"
    ".visible .global .align 4 .u32 counter = 5;\n"
    ".visible .entry empty() { ret; }\n"
    PTX_ADD_AND_WAIT;

static inline cudaLibrary_t load_kernels(void)
{
    cudaLibrary_t library = NULL;
    OK(cudaLibraryLoadData(&library, kernels, NULL, NULL, 0, NULL, NULL, 0));
    return library;
}

static inline cudaKernel_t kernel_of(cudaLibrary_t library, const char *name)
{
    cudaKernel_t kernel = NULL;
    OK(cudaLibraryGetKernel(&kernel, library, name));
    return kernel;
}

#endif
