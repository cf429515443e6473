/* Modules, libraries, kernels, functions: loading from text and file, messages, variables,
 * attributes, occupancy. */
#include <unistd.h>

#include "tests/cuda/support.h"

static const char many[] =
    ".version 8.0\n.target sm_90\n.address_size 64\n"
    ".visible .entry sized(.param .u32 a, .param .u64 b, .param .align 8 .b8 c[24]) "
    ".maxntid 256, 1, 1\n{\n"
    "    .shared .align 16 .b8 room[1024]; .reg .b32 %r<2>; mov.u32 %r1, room; "
    "st.shared.u32 [%r1], %r1; ret;\n}\n"
    ".visible .entry clustered() .reqnctapercluster 2, 1, 1 { ret; }\n";

static void check_loading(void)
{
    CUmodule module, none = WILD;
    CUfunction f;
    char error[256] = "x", info[256] = "x";
    CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES,
                              CU_JIT_INFO_LOG_BUFFER,  CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES,
                              CU_JIT_LOG_VERBOSE,      CU_JIT_TARGET};
    void *values[] = {error,     (void *)(uintptr_t)sizeof error,
                      info,      (void *)(uintptr_t)sizeof info,
                      (void *)1, (void *)(uintptr_t)90};
    OK(cuModuleLoadDataEx(&module, kernels, 6, options, values));
    CHECK_TEXT(error, "");
    CHECK_INT((uintptr_t)values[1], 0);
    OK(cuModuleUnload(module));
    values[1] = (void *)(uintptr_t)sizeof error;
    CHECK_CU(cuModuleLoadDataEx(&none, PTX_HEADER ".visible .entry k() { add.u32 %r1; "
                                                  "}\n", 2, options, values),
             CUDA_ERROR_INVALID_PTX);
    CHECK_HAS(error, "error");
    CHECK_INT((uintptr_t)values[1], strlen(error));
    values[1] = (void *)(uintptr_t)8; /* what does not fit is cut */
    CHECK_CU(cuModuleLoadDataEx(&none, PTX_HEADER "nonsense", 2, options, values),
             CUDA_ERROR_INVALID_PTX);
    CHECK_INT(strlen(error), 7);
    static const char newer[] = ".version 9.9\n.target sm_90\n.address_size 64\n"
                                ".visible .entry k()\n{\n    newest; ret;\n}\n";
    /* tried, but what is new is not known */
    CHECK_CU(cuModuleLoadData(&none, newer), CUDA_ERROR_UNSUPPORTED_PTX_VERSION);
    values[1] = (void *)(uintptr_t)sizeof error;
    CHECK_CU(cuModuleLoadDataEx(&none, ".version 8.8\n.target sm_120\n"
                                       ".address_size 64\n", 2, options, values),
             CUDA_ERROR_INVALID_PTX);
    CHECK_HAS(error, "compute capability 9.0");
    char told[64] = "?";
    CUjit_option both[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES,
                           CU_JIT_INFO_LOG_BUFFER, CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES};
    void *into[] = {error, (void *)(uintptr_t)sizeof error, told, (void *)(uintptr_t)sizeof told};
    CHECK_CU(cuModuleLoadDataEx(&none, "nonsense", 4, both, into), CUDA_ERROR_INVALID_IMAGE);
    CHECK_INT((uintptr_t)into[1], strlen(error));
    CHECK(!*told && !into[3]);
    into[1] = (void *)(uintptr_t)sizeof error;
    CHECK_CU(cuModuleLoadDataEx(&none, PTX_HEADER "nonsense", 2, both, into),
             CUDA_ERROR_INVALID_PTX);
    CHECK_HAS(error, "ptxas application ptx input, line 4; error   : ");
    char elf[64] = "\177ELF\2\1\1"; /* the header of an ELF file; e_machine is at 18 */
    elf[18] = 62;
    CHECK_CU(cuModuleLoadData(&none, elf), CUDA_ERROR_INVALID_IMAGE);
    elf[18] = (char)190;
    CHECK_CU(cuModuleLoadData(&none, elf), CUDA_ERROR_NO_BINARY_FOR_GPU);
    CHECK_CU(cuModuleLoadData(&none, NULL), CUDA_ERROR_INVALID_VALUE);
    CHECK_CU(cuModuleLoadData(NULL, kernels), CUDA_ERROR_INVALID_VALUE);
    CHECK_CU(cuModuleLoadDataEx(&none, kernels, 2, NULL, NULL), CUDA_ERROR_INVALID_VALUE);
    CHECK_CU(cuModuleUnload(NULL), CUDA_ERROR_INVALID_HANDLE);
    CHECK_CU(cuModuleUnload(module), CUDA_ERROR_INVALID_HANDLE);
    CHECK_CU(cuModuleGetFunction(&f, WILD, "add"), CUDA_ERROR_INVALID_HANDLE);
    CHECK_CU(cuModuleLoad(&none, "/no/such/file.ptx"), CUDA_ERROR_FILE_NOT_FOUND);
    CHECK(none == WILD);
    char path[] = "/tmp/ptera_module_XXXXXX";
    int fd = mkstemp(path);
    CHECK(fd >= 0 && write(fd, kernels, sizeof kernels - 1) == (ssize_t)sizeof kernels - 1);
    close(fd);
    OK(cuModuleLoad(&module, path));
    unlink(path);
    OK(cuModuleGetFunction(&f, module, "add"));
    OK(cuModuleUnload(module));
}

static void check_variables(void)
{
    CUmodule module = load_kernels();
    CUdeviceptr p;
    size_t bytes;
    int values[2] = {0};
    OK(cuModuleGetGlobal_v2(&p, &bytes, module, "counter"));
    CHECK_INT(bytes, 4);
    OK(cuMemcpyDtoH_v2(values, p, 4));
    CHECK_INT(values[0], 5);
    OK(cuMemsetD32_v2(p, 6, 1));
    OK(cuModuleGetGlobal_v2(&p, &bytes, module, "factor"));
    CHECK_INT(bytes, 8);
    OK(cuMemcpyDtoH_v2(values, p, 8));
    CHECK(values[0] == 3 && values[1] == 4);
    OK(cuModuleGetGlobal_v2(NULL, &bytes, module, "counter"));
    CHECK_CU(cuModuleGetGlobal_v2(&p, &bytes, module, "missing"), CUDA_ERROR_NOT_FOUND);
    CHECK_CU(cuModuleGetGlobal_v2(&p, &bytes, module, NULL), CUDA_ERROR_INVALID_VALUE);
    CHECK_CU(cuModuleGetGlobal_v2(NULL, NULL, module, "counter"), CUDA_ERROR_INVALID_VALUE);
    OK(cuModuleUnload(module));
    CHECK_CU(cuMemcpyDtoH_v2(values, p, 8), CUDA_ERROR_INVALID_VALUE);
}

static void check_functions(void)
{
    CUmodule module, seen;
    CUfunction sized, all[2];
    unsigned n;
    int value;
    size_t offset, bytes;
    const char *name;
    CUfunctionLoadingState state;
    CUmoduleLoadingMode mode;
    OK(cuModuleLoadData(&module, many));
    OK(cuModuleGetFunctionCount(&n, module));
    CHECK_INT(n, 2);
    OK(cuModuleEnumerateFunctions(all, 2, module));
    OK(cuModuleGetFunction(&sized, module, "sized"));
    CHECK(all[0] == sized);
    CHECK_CU(cuModuleGetFunction(&sized, module, "missing"), CUDA_ERROR_NOT_FOUND);
    CHECK_CU(cuModuleGetFunction(NULL, module, "sized"), CUDA_ERROR_INVALID_VALUE);
    OK(cuFuncGetModule(&seen, sized));
    CHECK(seen == module);
    OK(cuFuncGetName(&name, sized));
    CHECK_TEXT(name, "sized");
    OK(cuFuncIsLoaded(&state, sized));
    CHECK_INT(state, CU_FUNCTION_LOADING_STATE_UNLOADED);
    OK(cuFuncLoad(sized));
    OK(cuFuncIsLoaded(&state, sized));
    CHECK_INT(state, CU_FUNCTION_LOADING_STATE_LOADED);
    OK(cuModuleGetLoadingMode(&mode));
    CHECK_INT(mode, CU_MODULE_LAZY_LOADING);
    OK(cuFuncGetParamInfo(sized, 2, &offset, &bytes));
    CHECK(offset == 16 && bytes == 24);
    CHECK_CU(cuFuncGetParamInfo(sized, 3, &offset, &bytes), CUDA_ERROR_INVALID_VALUE);
    OK(cuFuncGetAttribute(&value, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, sized));
    CHECK_INT(value, 1024);
    OK(cuFuncGetAttribute(&value, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, sized));
    CHECK_INT(value, 256);
    OK(cuFuncGetAttribute(&value, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, sized));
    CHECK_INT(value, (48 << 10) - 1024);
    OK(cuFuncGetAttribute(&value, CU_FUNC_ATTRIBUTE_PTX_VERSION, sized));
    CHECK_INT(value, 90);
    OK(cuFuncGetAttribute(&value, CU_FUNC_ATTRIBUTE_BINARY_VERSION, sized));
    CHECK_INT(value, 90);
    OK(cuFuncGetAttribute(&value, CU_FUNC_ATTRIBUTE_NUM_REGS, sized));
    CHECK(value >= 4 && value <= 16); /* an estimate */
    OK(cuFuncGetAttribute(&value, CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH, all[1]));
    CHECK_INT(value, 2);
    OK(cuFuncGetAttribute(&value, CU_FUNC_ATTRIBUTE_CLUSTER_SIZE_MUST_BE_SET, all[1]));
    CHECK_INT(value, 1);
    OK(cuFuncGetAttribute(&value, CU_FUNC_ATTRIBUTE_CLUSTER_SIZE_MUST_BE_SET, sized));
    CHECK_INT(value, 0);
    CHECK_CU(cuFuncSetAttribute(all[1], CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH, 4),
             CUDA_ERROR_INVALID_VALUE);
    OK(cuFuncSetAttribute(sized, CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT, 50));
    OK(cuFuncGetAttribute(&value, CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT, sized));
    CHECK_INT(value, 50);
    CHECK_CU(cuFuncSetAttribute(sized, CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT, 101),
             CUDA_ERROR_INVALID_VALUE);
    CHECK_CU(cuFuncSetAttribute(sized, CU_FUNC_ATTRIBUTE_NUM_REGS, 4), CUDA_ERROR_INVALID_VALUE);
    CHECK_CU(cuFuncGetAttribute(&value, (CUfunction_attribute)99, sized), CUDA_ERROR_INVALID_VALUE);
    CHECK_CU(cuFuncGetAttribute(NULL, CU_FUNC_ATTRIBUTE_NUM_REGS, sized), CUDA_ERROR_INVALID_VALUE);
    CHECK_CU(cuFuncGetAttribute(&value, CU_FUNC_ATTRIBUTE_NUM_REGS, WILD),
             CUDA_ERROR_INVALID_HANDLE);
    OK(cuFuncSetCacheConfig(sized, CU_FUNC_CACHE_PREFER_L1));
    CHECK_CU(cuFuncSetCacheConfig(sized, (CUfunc_cache)7), CUDA_ERROR_INVALID_VALUE);
    OK(cuModuleUnload(module));
}

static size_t shared_of(int threads)
{
    return (size_t)threads * 64;
}

/* By hand, for compute capability 9.0: 64 warps, 32 blocks, 228 KiB of shared memory of which each
 * block has one more. */
static void check_occupancy(void)
{
    CUmodule module = load_kernels();
    CUfunction empty = function_of(module, "empty");
    CUlaunchAttribute attribute = {.id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION};
    CUlaunchConfig config = {.gridDimX = 8,
                             .gridDimY = 1,
                             .gridDimZ = 1,
                             .blockDimX = 256,
                             .blockDimY = 1,
                             .blockDimZ = 1,
                             .attrs = &attribute,
                             .numAttrs = 1};
    int blocks, grid, block, n;
    size_t bytes;
    OK(cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, empty, 256, 0));
    CHECK_INT(blocks, 8);
    OK(cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, empty, 32, 0));
    CHECK_INT(blocks, 32);
    OK(cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(&blocks, empty, 1000, 0,
                                                            CU_OCCUPANCY_DEFAULT));
    CHECK_INT(blocks, 2);
    OK(cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, empty, 128, 40 << 10));
    CHECK_INT(blocks, 5);
    OK(cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, empty, 128, (48 << 10) + 1));
    CHECK_INT(blocks, 0); /* more than the function may have */
    OK(cuFuncSetAttribute(empty, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 227 << 10));
    OK(cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, empty, 128, 227 << 10));
    CHECK_INT(blocks, 1);
    OK(cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, empty, 128, 228 << 10));
    CHECK_INT(blocks, 0);
    OK(cuFuncSetAttribute(empty, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 48 << 10));
    OK(cuOccupancyMaxPotentialBlockSize(&grid, &block, empty, NULL, 0, 0));
    CHECK(block == 1024 && grid == 2 * 132);
    OK(cuOccupancyMaxPotentialBlockSizeWithFlags(&grid, &block, empty, shared_of, 0, 512, 0));
    CHECK(block > 0 && block <= 512 && grid % 132 == 0);
    OK(cuOccupancyAvailableDynamicSMemPerBlock(&bytes, empty, 4, 256));
    CHECK_INT(bytes, 48 << 10); /* all that the function may have */
    OK(cuOccupancyAvailableDynamicSMemPerBlock(&bytes, empty, 8, 256));
    CHECK_INT(bytes, (228 << 10) / 8);
    attribute.value.clusterDim.x = 4;
    attribute.value.clusterDim.y = attribute.value.clusterDim.z = 1;
    OK(cuOccupancyMaxActiveClusters(&n, empty, &config));
    CHECK_INT(n, 8 * 132 / 4);
    OK(cuOccupancyMaxPotentialClusterSize(&n, empty, &config));
    CHECK_INT(n, 8);
    config.blockDimX = 32; /* an SM takes no more of the blocks of clusters */
    OK(cuOccupancyMaxActiveClusters(&n, empty, &config));
    CHECK_INT(n, 8 * 132 / 4);
    config.sharedMemBytes = 64 << 10;
    OK(cuOccupancyMaxActiveClusters(&n, empty, &config));
    CHECK_INT(n, 0);
    config.sharedMemBytes = 0;
    attribute.value.clusterDim.x = 12;
    CHECK_CU(cuOccupancyMaxActiveClusters(&n, empty, &config), CUDA_ERROR_INVALID_CLUSTER_SIZE);
    CHECK_CU(cuOccupancyMaxPotentialClusterSize(&n, empty, &config),
             CUDA_ERROR_INVALID_CLUSTER_SIZE);
    CHECK_CU(cuOccupancyMaxActiveBlocksPerMultiprocessor(NULL, empty, 256, 0),
             CUDA_ERROR_INVALID_VALUE);
    CHECK_CU(cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, empty, 0, 0),
             CUDA_ERROR_INVALID_VALUE);
    CHECK_CU(cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, NULL, 32, 0),
             CUDA_ERROR_INVALID_HANDLE);
    CHECK_CU(cuOccupancyMaxActiveClusters(&n, empty, NULL), CUDA_ERROR_INVALID_VALUE);
    OK(cuModuleUnload(module));
}

static void check_libraries(CUcontext ctx)
{
    CUlibrary library;
    CUkernel add, other, all[8];
    CUfunction f;
    CUmodule module;
    CUdeviceptr p;
    CUcontext second;
    size_t bytes;
    unsigned count, n = 1, value = 3, out = 0;
    int attribute;
    const char *name;
    OK(cuCtxSetCurrent(NULL)); /* loaded before there is a context, as runtime libraries do */
    OK(cuLibraryLoadData(&library, kernels, NULL, NULL, 0, NULL, NULL, 0));
    OK(cuLibraryGetKernel(&add, library, "add"));
    CHECK_CU(cuLibraryGetGlobal(&p, &bytes, library, "counter"), CUDA_ERROR_INVALID_CONTEXT);
    OK(cuCtxSetCurrent(ctx));
    OK(cuLibraryGetKernel(&other, library, "add"));
    CHECK(add == other);
    CHECK_CU(cuLibraryGetKernel(&other, library, "missing"), CUDA_ERROR_NOT_FOUND);
    OK(cuLibraryGetKernelCount(&count, library));
    CHECK_INT(count, 5);
    OK(cuLibraryEnumerateKernels(all, 8, library));
    CHECK(all[1] == add);
    OK(cuKernelGetName(&name, add));
    CHECK_TEXT(name, "add");
    OK(cuLibraryGetGlobal(&p, &bytes, library, "counter"));
    /* a kernel is launched as it is */
    OK(LAUNCH((CUfunction)add, 1, NULL, &p, &n, &value));
    OK(cuMemcpyDtoH_v2(&out, p, 4));
    CHECK_INT(out, 8);
    OK(cuKernelGetFunction(&f, add));
    OK(LAUNCH(f, 1, NULL, &p, &n, &value));
    OK(cuKernelSetAttribute(CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 100 << 10, add, 0));
    OK(cuFuncGetAttribute(&attribute, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, f));
    CHECK_INT(attribute, 100 << 10);
    OK(cuKernelGetAttribute(&attribute, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, add, 0));
    CHECK_INT(attribute, 1024);
    OK(cuKernelSetCacheConfig(add, CU_FUNC_CACHE_PREFER_NONE, 0));
    OK(cuKernelGetParamInfo(add, 0, &bytes, NULL));
    OK(cuLibraryGetModule(&module, library));
    CHECK_CU(cuModuleUnload(module), CUDA_ERROR_NOT_PERMITTED);
    /* another context has variables of its own */
    OK(cuCtxCreate_v2(&second, 0, 0));
    OK(cuLibraryGetGlobal(&p, &bytes, library, "counter"));
    OK(LAUNCH((CUfunction)add, 1, NULL, &p, &n, &value));
    OK(cuMemcpyDtoH_v2(&out, p, 4));
    CHECK_INT(out, 8);
    CHECK_CU(LAUNCH(f, 1, NULL, &p, &n, &value), CUDA_ERROR_INVALID_HANDLE);
    OK(cuCtxDestroy_v2(second));
    OK(cuCtxSetCurrent(ctx));
    OK(cuLibraryUnload(library));
    CHECK_CU(LAUNCH((CUfunction)add, 1, NULL, &p, &n, &value), CUDA_ERROR_INVALID_HANDLE);
    CHECK_CU(cuLibraryUnload(library), CUDA_ERROR_INVALID_HANDLE);
    CHECK_CU(cuLibraryGetKernel(&add, WILD, "add"), CUDA_ERROR_INVALID_HANDLE);
    CHECK_CU(cuLibraryLoadData(&library, "nonsense", NULL, NULL, 0, NULL, NULL, 0),
             CUDA_ERROR_INVALID_IMAGE);
    CHECK_CU(cuLibraryLoadData(NULL, kernels, NULL, NULL, 0, NULL, NULL, 0),
             CUDA_ERROR_INVALID_VALUE);
    CHECK_CU(cuLibraryLoadFromFile(&library, "/no/such", NULL, NULL, 0, NULL, NULL, 0),
             CUDA_ERROR_FILE_NOT_FOUND);
    CHECK_CU(cuKernelGetFunction(&f, NULL), CUDA_ERROR_INVALID_HANDLE);
}

int main(void)
{
    CUcontext ctx = begin();
    check_loading();
    check_variables();
    check_functions();
    check_occupancy();
    check_libraries(ctx);
    OK(cuCtxDestroy_v2(ctx));
    return CHECK_DONE("cuda_module");
}
