/* Modules, libraries, functions and their attributes; occupancy; entry points; logs. */
#include "tests/hardware/driver/say.h"

void part_module(void)
{
    CUmodule m;
    CUfunction f;
    CUdeviceptr g;
    size_t n;
    unsigned count;
    CUmoduleLoadingMode mode;
    say_begin();
    SAY(cuModuleLoadData(NULL, module_text));
    SAY(cuModuleLoadData(&m, NULL));
    SAY(cuModuleLoadData(&m, "hello"));
    SAY(cuModuleLoadData(&m, ""));
    SAY(cuModuleLoadData(&m, ".version 8.0\n.target sm_90\n.address_size 64\nbogus\n"));
    SAY(cuModuleLoadData(&m, ".version 8.0\n.target sm_90\n.address_size 64\n"));
    SAY(cuModuleLoadData(&m, ".version 8.0\n.target sm_100\n.address_size 64\n"));
    SAY(cuModuleLoadData(&m, ".version 8.0\n.target sm_999\n.address_size 64\n"));
    SAY(cuModuleLoadData(&m, ".version 99.0\n.target sm_90\n.address_size 64\n"));
    SAY(cuModuleLoadData(&m, ".version 8.0\n.target sm_90a\n.address_size 64\n"));
    SAY(cuModuleLoadData(&m, ".version 8.0\n.target sm_90\n.address_size 32\n"));
    SAY(cuModuleLoadData(&m, ".version 8.0\n.target sm_90\n.address_size 64\n"
                             ".extern .func g();\n.visible .entry k() { call g; ret; }\n"));
    SAY(cuModuleLoadData(&m,
                         ".version 8.0\n.target sm_90\n.address_size 64\n"
                         ".extern .global .u32 g;\n"
                         ".visible .entry k() { .reg .u32 %r; ld.global.u32 %r, [g]; ret; }\n"));
    SAY(cuModuleLoad(&m, "/does/not/exist"));
    SAY(cuModuleLoad(&m, NULL));
    SAY(cuModuleLoad(NULL, "/does/not/exist"));
    SAY(cuModuleLoad(&m, "/dev/null"));
    SAY(cuModuleLoadFatBinary(&m, NULL));
    SAY(cuModuleLoadFatBinary(&m, "hello"));
    SAY(cuModuleLoadData(&m, module_text));
    MAKE(f, cuModuleGetFunction(&f, m, "empty"));
    MAKE(f, cuModuleGetFunction(&f, m, "none"));
    MAKE(f, cuModuleGetFunction(&f, m, ""));
    MAKE(f, cuModuleGetFunction(&f, m, NULL));
    MAKE(f, cuModuleGetFunction(&f, NULL, "empty"));
    SAY(cuModuleGetFunction(NULL, m, "empty"));
    MAKE(g, cuModuleGetGlobal(&g, &n, m, "bytes"));
    GET(n, cuModuleGetGlobal(&g, &n, m, "bytes"));
    GET(n, cuModuleGetGlobal(NULL, &n, m, "number"));
    MAKE(g, cuModuleGetGlobal(&g, NULL, m, "constant"));
    MAKE(g, cuModuleGetGlobal(&g, &n, m, "managed"));
    MAKE(g, cuModuleGetGlobal(&g, &n, m, "none"));
    MAKE(g, cuModuleGetGlobal(&g, &n, m, "empty"));
    SAY(cuModuleGetGlobal(NULL, NULL, m, "number"));
    SAY(cuModuleGetGlobal(&g, &n, m, NULL));
    SAY(cuModuleGetGlobal(&g, &n, NULL, "number"));
    GET(count, cuModuleGetFunctionCount(&count, m));
    SAY(cuModuleGetFunctionCount(NULL, m));
    CUfunction all[8] = {0};
    SAY(cuModuleEnumerateFunctions(all, 8, m));
    SAY(cuModuleEnumerateFunctions(all, 2, m));
    SAY(cuModuleEnumerateFunctions(all, 0, m));
    SAY(cuModuleEnumerateFunctions(NULL, 2, m));
    GET(mode, cuModuleGetLoadingMode(&mode));
    SAY(cuModuleUnload(m));
    SAY(cuModuleUnload(NULL));
    SAY(cuModuleUnload(m));
}

void part_module_options(void)
{
    CUmodule m;
    CUlinkState link;
    char info[512] = "", error[512] = "";
    CUjit_option ids[4] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES,
                           CU_JIT_INFO_LOG_BUFFER, CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES};
    void *values[4] = {error, (void *)(uintptr_t)sizeof error, info,
                       (void *)(uintptr_t)sizeof info};
    static const char bad[] = ".version 8.0\n.target sm_90\n.address_size 64\nbogus\n";
    say_begin();
    SAY(cuModuleLoadDataEx(&m, module_text, 4, ids, values));
    SAY(cuModuleLoadDataEx(&m, bad, 4, ids, values));
    printf("%d\n", error[0] != 0);
    for (int id = 0; id < 36; id++) {
        ids[0] = (CUjit_option)id;
        if ((id >= 2 && id <= 6) || (id >= 17 && id <= 19) || (id >= 25 && id <= 28))
            continue; /* take pointers */
        for (int value = 0; value < 3; value++) {
            values[0] = (void *)(uintptr_t)value;
            int r = (int)cuModuleLoadDataEx(&m, module_text, 1, ids, values);
            printf("option %d value %d: %d\n", id, value, r);
        }
    }
    ids[0] = CU_JIT_TARGET;
    static const int targets[] = {10, 30, 50, 75, 80, 89, 90, 100, 120, 90 + 0x10000};
    for (size_t i = 0; i < sizeof targets / sizeof targets[0]; i++) {
        values[0] = (void *)(uintptr_t)targets[i];
        printf("target %d: %d\n", targets[i],
               (int)cuModuleLoadDataEx(&m, module_text, 1, ids, values));
    }
    SAY(cuLinkCreate(0, NULL, NULL, NULL));
    MAKE(link, cuLinkCreate(0, NULL, NULL, &link));
    SAY(cuLinkAddData(link, CU_JIT_INPUT_PTX, (void *)(uintptr_t)bad, sizeof bad, "bad", 0, NULL,
                      NULL));
    SAY(cuLinkAddData(link, CU_JIT_INPUT_PTX, NULL, 0, "none", 0, NULL, NULL));
    SAY(cuLinkAddData(link, (CUjitInputType)99, (void *)(uintptr_t)module_text, 10, "x", 0, NULL,
                      NULL));
    SAY(cuLinkAddFile(link, CU_JIT_INPUT_PTX, "/does/not/exist", 0, NULL, NULL));
    SAY(cuLinkAddFile(link, CU_JIT_INPUT_PTX, NULL, 0, NULL, NULL));
    SAY(cuLinkDestroy(link));
    SAY(cuLinkDestroy(NULL));
    SAY(cuLinkComplete(NULL, NULL, NULL));
}

void part_library(void)
{
    CUlibrary l;
    CUkernel k;
    CUfunction f;
    CUmodule m;
    CUdeviceptr g;
    void *managed = NULL;
    size_t n;
    unsigned count;
    int v;
    const char *name = NULL;
    say_begin();
    SAY(cuLibraryLoadData(NULL, module_text, NULL, NULL, 0, NULL, NULL, 0));
    SAY(cuLibraryLoadData(&l, NULL, NULL, NULL, 0, NULL, NULL, 0));
    SAY(cuLibraryLoadData(&l, "hello", NULL, NULL, 0, NULL, NULL, 0));
    SAY(cuLibraryLoadFromFile(&l, "/does/not/exist", NULL, NULL, 0, NULL, NULL, 0));
    SAY(cuLibraryLoadFromFile(&l, NULL, NULL, NULL, 0, NULL, NULL, 0));
    MAKE(l, cuLibraryLoadData(&l, module_text, NULL, NULL, 0, NULL, NULL, 0));
    MAKE(k, cuLibraryGetKernel(&k, l, "none"));
    MAKE(k, cuLibraryGetKernel(&k, l, NULL));
    MAKE(k, cuLibraryGetKernel(&k, NULL, "store"));
    SAY(cuLibraryGetKernel(NULL, l, "store"));
    MAKE(k, cuLibraryGetKernel(&k, l, "store"));
    GET(count, cuLibraryGetKernelCount(&count, l));
    MAKE(m, cuLibraryGetModule(&m, l));
    SAY(cuLibraryGetModule(NULL, l));
    MAKE(f, cuKernelGetFunction(&f, k));
    SAY(cuKernelGetFunction(NULL, k));
    MAKE(f, cuKernelGetFunction(&f, NULL));
    MAKE(g, cuLibraryGetGlobal(&g, &n, l, "bytes"));
    printf("%zu\n", n);
    MAKE(g, cuLibraryGetGlobal(&g, &n, l, "none"));
    MAKE(g, cuLibraryGetGlobal(&g, &n, l, "managed"));
    CUdeviceptr at = 0;
    MAKE(at, cuLibraryGetManaged(&at, &n, l, "managed"));
    MAKE(at, cuLibraryGetManaged(&at, &n, l, "bytes"));
    MAKE(at, cuLibraryGetManaged(&at, &n, l, "none"));
    MAKE(managed, cuLibraryGetUnifiedFunction(&managed, l, "store"));
    MAKE(managed, cuLibraryGetUnifiedFunction(&managed, l, "none"));
    SAY(cuKernelGetName(&name, k));
    printf("%s\n", name ? name : "null");
    SAY(cuKernelGetName(NULL, k));
    for (int id = -1; id < 18; id++) {
        printf("%d\n", id);
        GET(v, cuKernelGetAttribute(&v, (CUfunction_attribute)id, k, 0));
        SAY(cuKernelSetAttribute((CUfunction_attribute)id, 0, k, 0));
    }
    GET(v, cuKernelGetAttribute(&v, CU_FUNC_ATTRIBUTE_NUM_REGS, k, 9));
    SAY(cuKernelGetAttribute(NULL, CU_FUNC_ATTRIBUTE_NUM_REGS, k, 0));
    SAY(cuKernelSetCacheConfig(k, CU_FUNC_CACHE_PREFER_L1, 0));
    SAY(cuKernelSetCacheConfig(k, 9, 0));
    size_t offset, size;
    GET(offset, cuKernelGetParamInfo(k, 1, &offset, &size));
    printf("%zu\n", size);
    GET(offset, cuKernelGetParamInfo(k, 2, &offset, &size));
    GET(offset, cuKernelGetParamInfo(k, 0, &offset, NULL));
    SAY(cuKernelGetParamInfo(k, 0, NULL, &size));
    CUlibrary of;
    MAKE(of, cuKernelGetLibrary(&of, k));
    printf("same %d\n", of == l);
    CUkernel all[8];
    SAY(cuLibraryEnumerateKernels(all, 8, l));
    SAY(cuLibraryEnumerateKernels(NULL, 8, l));
    SAY(cuLibraryEnumerateKernels(all, 0, l));
    SAY(cuLibraryUnload(l));
    SAY(cuLibraryUnload(NULL));
}

static void attributes_of(const char *what, CUfunction f)
{
    for (int id = -1; id < 18; id++) {
        int v = 77;
        int r = (int)cuFuncGetAttribute(&v, (CUfunction_attribute)id, f);
        printf("%s, attribute %d: %d %d\n", what, id, r, id == 4 ? 0 : v);
    }
}

void part_function(void)
{
    int v;
    size_t offset, size;
    const char *name = NULL;
    CUmodule m;
    CUfunctionLoadingState state;
    say_begin();
    attributes_of("empty", empty);
    attributes_of("bounds", bounds);
    attributes_of("cluster", cluster);
    SAY(cuFuncGetAttribute(NULL, CU_FUNC_ATTRIBUTE_NUM_REGS, empty));
    GET(v, cuFuncGetAttribute(&v, CU_FUNC_ATTRIBUTE_NUM_REGS, NULL));
    static const int values[] = {-2, -1, 0, 1, 2, 8, 100, 101, 1024, 49152, 100000, 232448, 232449};
    for (int id = 0; id < 16; id++)
        for (size_t i = 0; i < sizeof values / sizeof values[0]; i++)
            printf("attribute %d value %d: %d\n", id, values[i],
                   (int)cuFuncSetAttribute(empty, (CUfunction_attribute)id, values[i]));
    SAY(cuFuncSetAttribute(bounds, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 228352));
    SAY(cuFuncSetAttribute(bounds, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 228353));
    GET(v, cuFuncGetAttribute(&v, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, bounds));
    SAY(cuFuncSetAttribute(cluster, CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH, 4));
    SAY(cuFuncSetAttribute(NULL, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 0));
    for (int config = -1; config < 5; config++) {
        printf("%d\n", config);
        SAY(cuFuncSetCacheConfig(empty, (CUfunc_cache)config));
    }
    SAY(cuFuncSetCacheConfig(NULL, CU_FUNC_CACHE_PREFER_L1));
    SAY(cuFuncGetName(&name, bounds));
    printf("%s\n", name ? name : "null");
    SAY(cuFuncGetName(NULL, bounds));
    SAY(cuFuncGetName(&name, NULL));
    MAKE(m, cuFuncGetModule(&m, bounds));
    printf("same %d\n", m == module);
    SAY(cuFuncGetModule(NULL, bounds));
    MAKE(m, cuFuncGetModule(&m, NULL));
    GET(offset, cuFuncGetParamInfo(bounds, 0, &offset, &size));
    printf("%zu\n", size);
    GET(offset, cuFuncGetParamInfo(bounds, 1, &offset, &size));
    printf("%zu\n", size);
    GET(offset, cuFuncGetParamInfo(bounds, 2, &offset, &size));
    GET(offset, cuFuncGetParamInfo(empty, 0, &offset, &size));
    SAY(cuFuncGetParamInfo(bounds, 0, NULL, &size));
    SAY(cuFuncGetParamInfo(bounds, 0, &offset, NULL));
    GET(state, cuFuncIsLoaded(&state, bounds));
    SAY(cuFuncLoad(bounds));
    GET(state, cuFuncIsLoaded(&state, bounds));
    SAY(cuFuncIsLoaded(NULL, bounds));
    GET(state, cuFuncIsLoaded(&state, NULL));
    SAY(cuFuncLoad(NULL));
}

static size_t per_thread(int block)
{
    return (size_t)block * 64;
}

void part_occupancy(void)
{
    int n, block;
    size_t bytes;
    say_begin();
    static const int blocks[] = {-1, 0, 1, 32, 33, 64, 127, 128, 129, 256, 512, 1000, 1024, 1025};
    static const size_t sizes[] = {0, 1, 1024, 16384, 49152, 49153, 100000, 300000};
    for (size_t i = 0; i < sizeof blocks / sizeof blocks[0]; i++)
        for (size_t k = 0; k < sizeof sizes / sizeof sizes[0]; k++) {
            int a = 77, b = 77;
            int r =
                (int)cuOccupancyMaxActiveBlocksPerMultiprocessor(&a, empty, blocks[i], sizes[k]);
            int q =
                (int)cuOccupancyMaxActiveBlocksPerMultiprocessor(&b, bounds, blocks[i], sizes[k]);
            printf("occupancy %d %zu: %d %d, bounds %d %d\n", blocks[i], sizes[k], r, a, q, b);
        }
    SAY(cuOccupancyMaxActiveBlocksPerMultiprocessor(NULL, empty, 32, 0));
    GET(n, cuOccupancyMaxActiveBlocksPerMultiprocessor(&n, NULL, 32, 0));
    for (unsigned flags = 0; flags < 3; flags++) {
        printf("%u\n", flags);
        GET(n, cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(&n, empty, 64, 0, flags));
    }
    GET(block, cuOccupancyMaxPotentialBlockSize(&n, &block, empty, NULL, 0, 0));
    printf("%d\n", n);
    GET(block, cuOccupancyMaxPotentialBlockSize(&n, &block, empty, NULL, 0, 200));
    GET(block, cuOccupancyMaxPotentialBlockSize(&n, &block, empty, NULL, 40000, 0));
    GET(block, cuOccupancyMaxPotentialBlockSize(&n, &block, empty, per_thread, 0, 0));
    GET(block, cuOccupancyMaxPotentialBlockSize(&n, &block, bounds, NULL, 0, 0));
    GET(block, cuOccupancyMaxPotentialBlockSizeWithFlags(&n, &block, empty, NULL, 0, 0, 1));
    GET(block, cuOccupancyMaxPotentialBlockSizeWithFlags(&n, &block, empty, NULL, 0, 0, 2));
    SAY(cuOccupancyMaxPotentialBlockSize(NULL, &block, empty, NULL, 0, 0));
    SAY(cuOccupancyMaxPotentialBlockSize(&n, NULL, empty, NULL, 0, 0));
    for (int count = -1; count < 5; count++) {
        printf("%d\n", count);
        GET(bytes, cuOccupancyAvailableDynamicSMemPerBlock(&bytes, empty, count, 128));
        GET(bytes, cuOccupancyAvailableDynamicSMemPerBlock(&bytes, bounds, count, 128));
    }
    GET(bytes, cuOccupancyAvailableDynamicSMemPerBlock(&bytes, empty, 16, 128));
    GET(bytes, cuOccupancyAvailableDynamicSMemPerBlock(&bytes, empty, 32, 64));
    GET(bytes, cuOccupancyAvailableDynamicSMemPerBlock(&bytes, empty, 33, 64));
    GET(bytes, cuOccupancyAvailableDynamicSMemPerBlock(&bytes, empty, 1, 0));
    CUlaunchConfig config;
    memset(&config, 0, sizeof config);
    config.gridDimX = config.gridDimY = config.gridDimZ = 1;
    config.blockDimX = 128;
    config.blockDimY = config.blockDimZ = 1;
    GET(n, cuOccupancyMaxPotentialClusterSize(&n, empty, &config));
    GET(n, cuOccupancyMaxPotentialClusterSize(&n, cluster, &config));
    GET(n, cuOccupancyMaxPotentialClusterSize(&n, NULL, &config));
    GET(n, cuOccupancyMaxPotentialClusterSize(&n, empty, NULL));
    CUlaunchAttribute attribute;
    memset(&attribute, 0, sizeof attribute);
    attribute.id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION;
    config.attrs = &attribute;
    config.numAttrs = 1;
    for (unsigned width = 0; width < 18; width++) {
        attribute.value.clusterDim.x = width;
        attribute.value.clusterDim.y = attribute.value.clusterDim.z = 1;
        config.gridDimX = width ? width * 4 : 4;
        n = 77;
        printf("clusters of %u: %d", width, (int)cuOccupancyMaxActiveClusters(&n, empty, &config));
        printf(" %d\n", width > 2 && width != 4 && width != 8 ? n != 77 : n);
    }
    SAY(cuOccupancyMaxActiveClusters(NULL, empty, &config));
}
