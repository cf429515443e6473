/* What releases of the runtime answer otherwise: built for each of them. */
#include <stdlib.h>

#include "runtime/cudart/abi.h"
#include "tests/unit/check.h"

void **__cudaRegisterFatBinary(void *wrapper);
void __cudaRegisterFunction(void **handle, const char *host, char *device, const char *name,
                            int limit, void *tid, void *bid, void *block, void *grid, int *warp);
void __cudaUnregisterFatBinary(void **handle);
cudaError_t cudaLaunchKernel(const void *function, dim3 grid, dim3 block, void **arguments,
                             size_t shared, cudaStream_t stream);
cudaError_t cudaDeviceSynchronize(void);
cudaError_t cudaRuntimeGetVersion(int *version);

#if PT_RT_MAJOR >= 13 /* leaves it to the driver */
enum { IMPOSSIBLE = cudaErrorInvalidValue, OVER_BOUND = cudaErrorInvalidValue };
#else
enum { IMPOSSIBLE = cudaErrorInvalidConfiguration, OVER_BOUND = cudaErrorLaunchOutOfResources };
#endif

static const char ptx[] = ".version 7.0\n.target sm_70\n.address_size 64\n"
                          ".visible .entry empty() { ret; }\n"
                          ".visible .entry bounded() .maxntid 64, 1, 1 { ret; }\n";
static const char empty[1], bounded[1];

static cudaError_t launch(const void *function, dim3 grid, dim3 block)
{
    return cudaLaunchKernel(function, grid, block, NULL, 0, NULL);
}

int main(void)
{
    const dim3 one = {1, 1, 1};
    int version = 0;
    void **handle = __cudaRegisterFatBinary((void *)ptx);
    __cudaRegisterFunction(handle, empty, NULL, "empty", -1, NULL, NULL, NULL, NULL, NULL);
    __cudaRegisterFunction(handle, bounded, NULL, "bounded", -1, NULL, NULL, NULL, NULL, NULL);
    CHECK_INT(cudaRuntimeGetVersion(&version), cudaSuccess);
    CHECK_INT(version / 1000, PT_RT_MAJOR);
    CHECK_INT(launch(empty, one, one), cudaSuccess);
    CHECK_INT(launch(empty, one, (dim3){1025, 1, 1}), IMPOSSIBLE);
    CHECK_INT(launch(empty, one, (dim3){1, 1, 65}), IMPOSSIBLE);
    CHECK_INT(launch(empty, one, (dim3){0, 1, 1}), IMPOSSIBLE);
    CHECK_INT(launch(empty, (dim3){0, 1, 1}, one), IMPOSSIBLE);
    CHECK_INT(launch(empty, (dim3){1, 65536, 1}, one), IMPOSSIBLE);
    CHECK_INT(launch(empty, (dim3){1u << 31, 1, 1}, one), IMPOSSIBLE);
    CHECK_INT(launch(bounded, one, (dim3){64, 1, 1}), cudaSuccess);
    CHECK_INT(launch(bounded, one, (dim3){65, 1, 1}), OVER_BOUND);
    CHECK_INT(cudaDeviceSynchronize(), cudaSuccess);
    __cudaUnregisterFatBinary(handle);
    return CHECK_DONE("release");
}
