/* Launches, what can be asked and set of kernels, occupancy, libraries, symbols. */
#include "tests/cudart/support.h"

cudaError_t cudaLaunchCooperativeKernel(const void *function, dim3 grid, dim3 block,
                                        void **arguments, size_t shared, cudaStream_t stream);
cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t *config, const void *function,
                                void **arguments);
unsigned __cudaPushCallConfiguration(dim3 grid, dim3 block, size_t shared, cudaStream_t stream);
cudaError_t __cudaPopCallConfiguration(dim3 *grid, dim3 *block, size_t *shared, void *stream);
cudaError_t cudaFuncGetAttributes(cudaFuncAttributes *attributes, const void *function);
cudaError_t cudaFuncSetAttribute(const void *function, CUfunction_attribute attribute, int value);
cudaError_t cudaFuncSetCacheConfig(const void *function, CUfunc_cache cache);
cudaError_t cudaFuncGetName(const char **name, const void *function);
cudaError_t cudaFuncGetParamInfo(const void *function, size_t index, size_t *offset, size_t *bytes);
cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, const void *function,
                                                          int threads, size_t shared);
cudaError_t cudaGetSymbolAddress(void **address, const void *symbol);
cudaError_t cudaGetSymbolSize(size_t *bytes, const void *symbol);
cudaError_t cudaMemcpyToSymbol(const void *symbol, const void *from, size_t bytes, size_t offset,
                               cudaMemcpyKind kind);
cudaError_t cudaMemcpyFromSymbol(void *to, const void *symbol, size_t bytes, size_t offset,
                                 cudaMemcpyKind kind);
cudaError_t cudaGetKernel(cudaKernel_t *kernel, const void *function);
cudaError_t cudaGetFuncBySymbol(cudaFunction_t *function, const void *symbol);

static cudaLibrary_t library;
static const char unknown[1];

static void check_launches(void)
{
    cudaKernel_t add = kernel_of(library, "add"), empty = kernel_of(library, "empty");
    unsigned host[4] = {1, 2, 3, 4}, n = 4, value = 10;
    void *p = NULL, *arguments[] = {&p, &n, &value};
    OK(cudaMalloc(&p, sizeof host));
    OK(cudaMemcpy(p, host, sizeof host, cudaMemcpyHostToDevice));
    OK(cudaLaunchKernel(add, DIM(2), DIM(2), arguments, 0, NULL));
    OK(cudaLaunchCooperativeKernel(add, DIM(1), DIM(4), arguments, 0, NULL));
    cudaLaunchConfig_t config = {.gridDim = DIM(1), .blockDim = DIM(4)};
    OK(cudaLaunchKernelExC(&config, add, arguments));
    OK(cudaMemcpy(host, p, sizeof host, cudaMemcpyDeviceToHost));
    CHECK(host[0] == 31 && host[3] == 34);
    OK(cudaLaunchKernel(empty, DIM(1), DIM(1), NULL, 0, NULL));
    const void *wrong[] = {NULL, unknown, WILD};
    for (int i = 0; i < 3; i++) {
        CHECK_RT(cudaLaunchKernel(wrong[i], DIM(1), DIM(1), NULL, 0, NULL),
                 cudaErrorInvalidDeviceFunction);
        CHECK_RT(cudaLaunchCooperativeKernel(wrong[i], DIM(1), DIM(1), NULL, 0, NULL),
                 cudaErrorInvalidDeviceFunction);
        CHECK_RT(cudaLaunchKernelExC(&config, wrong[i], NULL), cudaErrorInvalidDeviceFunction);
    }
    const dim3 shapes[][2] = {{DIM(0), DIM(1)},
                              {DIM(1), DIM(0)},
                              {DIM(1), DIM(1025)},
                              {{1, 65536, 1}, DIM(1)},
                              {DIM(1), {1, 1, 65}},
                              {DIM(1), {65536, 65536, 1}}};
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        CHECK_RT(cudaLaunchKernel(empty, shapes[i][0], shapes[i][1], NULL, 0, NULL),
                 cudaErrorInvalidValue);
        CHECK_RT(cudaLaunchCooperativeKernel(empty, shapes[i][0], shapes[i][1], NULL, 0, NULL),
                 cudaErrorInvalidValue);
    }
    BAD_VALUE(cudaLaunchKernel(add, DIM(1), DIM(1), NULL, 0, NULL));
    BAD_VALUE(cudaLaunchKernel(empty, DIM(1), DIM(1), NULL, 1 << 20, NULL));
    BAD_VALUE(cudaLaunchKernel(empty, DIM(1), DIM(1), NULL, SIZE_MAX, NULL));
    BAD_HANDLE(cudaLaunchKernel(empty, DIM(1), DIM(1), NULL, 0, WILD));
    CHECK_RT(cudaLaunchCooperativeKernel(empty, DIM(1 << 20), DIM(32), NULL, 0, NULL),
             cudaErrorCooperativeLaunchTooLarge);
    BAD_VALUE(cudaLaunchKernelExC(NULL, empty, NULL));
    config.numAttrs = 1;
    BAD_VALUE(cudaLaunchKernelExC(&config, empty, NULL));
    OK(cudaFree(p));
}

/* What stands between <<< and >>> is a stack. */
static void check_configurations(void)
{
    dim3 grid, block;
    size_t shared = 0;
    cudaStream_t stream = WILD;
    CHECK_INT(__cudaPushCallConfiguration(DIM(1), DIM(2), 3, NULL), 0);
    CHECK_INT(__cudaPushCallConfiguration(DIM(4), DIM(5), 6, NULL), 0);
    OK(__cudaPopCallConfiguration(&grid, &block, &shared, &stream));
    CHECK(grid.x == 4 && block.x == 5 && shared == 6 && stream == NULL);
    OK(__cudaPopCallConfiguration(&grid, &block, &shared, &stream));
    CHECK(grid.x == 1 && block.x == 2 && shared == 3);
    CHECK_RT(__cudaPopCallConfiguration(&grid, &block, &shared, &stream),
             cudaErrorMissingConfiguration);
}

static void check_attributes(void)
{
    cudaKernel_t add = kernel_of(library, "add");
    cudaFuncAttributes a;
    const char *name = NULL;
    size_t offset = 0, bytes = 0;
    int blocks = 0;
    OK(cudaFuncGetAttributes(&a, add));
    CHECK(a.maxThreadsPerBlock == 1024 && a.numRegs > 0 && a.ptxVersion == 70 &&
          a.binaryVersion == 90);
    BAD_VALUE(cudaFuncGetAttributes(NULL, add));
    CHECK_RT(cudaFuncGetAttributes(&a, unknown), cudaErrorInvalidDeviceFunction);
    CHECK_RT(cudaFuncGetAttributes(&a, NULL), cudaErrorInvalidDeviceFunction);
    OK(cudaFuncSetAttribute(add, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 100000));
    OK(cudaFuncGetAttributes(&a, add));
    CHECK_INT(a.maxDynamicSharedSizeBytes, 100000);
    BAD_VALUE(cudaFuncSetAttribute(add, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 1 << 20));
    BAD_VALUE(cudaFuncSetAttribute(add, (CUfunction_attribute)-1, 0));
    CHECK_RT(cudaFuncSetAttribute(WILD, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 0),
             cudaErrorInvalidDeviceFunction);
    OK(cudaFuncSetCacheConfig(add, CU_FUNC_CACHE_PREFER_SHARED));
    BAD_VALUE(cudaFuncSetCacheConfig(add, (CUfunc_cache)9));
    CHECK_RT(cudaFuncSetCacheConfig(NULL, CU_FUNC_CACHE_PREFER_SHARED),
             cudaErrorInvalidDeviceFunction);
    OK(cudaFuncGetName(&name, add));
    CHECK_TEXT(name, "add");
    BAD_VALUE(cudaFuncGetName(NULL, add));
    CHECK_RT(cudaFuncGetName(&name, WILD), cudaErrorInvalidDeviceFunction);
    OK(cudaFuncGetParamInfo(add, 2, &offset, &bytes));
    CHECK(offset == 12 && bytes == 4);
    BAD_VALUE(cudaFuncGetParamInfo(add, 3, &offset, &bytes));
    BAD_VALUE(cudaFuncGetParamInfo(add, 0, NULL, &bytes));
    OK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, add, 1024, 0));
    CHECK_INT(blocks, 2);
    BAD_VALUE(cudaOccupancyMaxActiveBlocksPerMultiprocessor(NULL, add, 1024, 0));
    BAD_VALUE(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, add, 0, 0));
    CHECK_RT(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, NULL, 32, 0),
             cudaErrorInvalidDeviceFunction);
}

static void check_libraries(void)
{
    cudaLibrary_t other = NULL;
    cudaKernel_t kernel = NULL, list[3];
    unsigned n = 0;
    void *p = NULL;
    size_t bytes = 0;
    int value = 0;
    OK(cudaLibraryGetKernelCount(&n, library));
    CHECK_INT(n, 3);
    OK(cudaLibraryEnumerateKernels(list, 3, library));
    OK(cudaLibraryGetGlobal(&p, &bytes, library, "counter"));
    CHECK_INT(bytes, 4);
    OK(cudaMemcpy(&value, p, 4, cudaMemcpyDeviceToHost));
    CHECK_INT(value, 5);
    CHECK_RT(cudaLibraryGetGlobal(&p, &bytes, library, "nothing"), cudaErrorSymbolNotFound);
    CHECK_RT(cudaLibraryGetKernel(&kernel, library, "nothing"), cudaErrorSymbolNotFound);
    BAD_VALUE(cudaLibraryGetKernel(NULL, library, "add"));
    BAD_VALUE(cudaLibraryGetKernel(&kernel, library, NULL));
    BAD_HANDLE(cudaLibraryGetKernel(&kernel, WILD, "add"));
    BAD_HANDLE(cudaLibraryUnload(WILD));
    BAD_HANDLE(cudaLibraryUnload(NULL));
    BAD_VALUE(cudaLibraryLoadData(NULL, kernels, NULL, NULL, 0, NULL, NULL, 0));
    BAD_VALUE(cudaLibraryLoadData(&other, NULL, NULL, NULL, 0, NULL, NULL, 0));
    CHECK_RT(cudaLibraryLoadData(&other, ".version 8.0\n.target sm_70\n"
                                         "what?", NULL, NULL, 0, NULL, NULL, 0),
             cudaErrorInvalidPtx);
    CHECK_RT(cudaLibraryLoadFromFile(&other, "/nothing/there", NULL, NULL, 0, NULL, NULL, 0),
             cudaErrorFileNotFound);
}

static void check_symbols(void)
{
    void *p = NULL;
    size_t bytes = 0;
    int value = 0;
    cudaKernel_t kernel = NULL;
    cudaFunction_t function = NULL;
    const void *wrong[] = {NULL, unknown, WILD};
    for (int i = 0; i < 3; i++) {
        CHECK_RT(cudaGetSymbolAddress(&p, wrong[i]), cudaErrorInvalidSymbol);
        CHECK_RT(cudaGetSymbolSize(&bytes, wrong[i]), cudaErrorInvalidSymbol);
        CHECK_RT(cudaMemcpyToSymbol(wrong[i], &value, 4, 0, cudaMemcpyHostToDevice),
                 cudaErrorInvalidSymbol);
        CHECK_RT(cudaMemcpyFromSymbol(&value, wrong[i], 4, 0, cudaMemcpyDeviceToHost),
                 cudaErrorInvalidSymbol);
        CHECK_RT(cudaGetKernel(&kernel, wrong[i]), cudaErrorInvalidDeviceFunction);
        CHECK_RT(cudaGetFuncBySymbol(&function, wrong[i]), cudaErrorInvalidDeviceFunction);
    }
    BAD_VALUE(cudaGetSymbolAddress(NULL, unknown));
    BAD_VALUE(cudaGetSymbolSize(NULL, unknown));
    BAD_VALUE(cudaGetKernel(NULL, unknown));
    BAD_VALUE(cudaGetFuncBySymbol(NULL, unknown));
    OK(cudaGetFuncBySymbol(&function, kernel_of(library, "empty")));
    CHECK(function != NULL);
}

int main(void)
{
    library = load_kernels();
    check_launches();
    check_configurations();
    check_attributes();
    check_libraries();
    check_symbols();
    OK(cudaLibraryUnload(library));
    return CHECK_DONE("launch");
}
