/* Devices, their attributes, limits, errors' names; contexts' peers. */
#include "tests/hardware/driver/say.h"

void part_before(void)
{
    int n;
    CUdevice d;
    CUcontext c;
    CUdeviceptr p;
    CUstream s;
    const char *text;
    SAY(cuDeviceGetCount(&n));
    SAY(cuDeviceGet(&d, 0));
    SAY(cuDeviceGetAttribute(&n, 1, 0));
    SAY(cuCtxGetCurrent(&c));
    SAY(cuCtxCreate(&c, NULL, 0, 0));
    SAY(cuCtxSynchronize());
    SAY(cuDevicePrimaryCtxRetain(&c, 0));
    SAY(cuMemAlloc(&p, 4));
    SAY(cuMemFree(0));
    SAY(cuStreamCreate(&s, 0));
    SAY(cuModuleLoadData(&module, module_text));
    SAY(cuGetErrorName(CUDA_SUCCESS, &text));
    SAY(cuDriverGetVersion(NULL));
    SAY(cuInit(1));
    SAY(cuInit(~0u));
    SAY(cuInit(0));
    SAY(cuInit(0));
    SAY(cuMemAlloc(&p, 4));
    SAY(cuCtxGetDevice(&d));
    SAY(cuCtxSynchronize());
    SAY(cuStreamCreate(&s, 0));
    SAY(cuStreamSynchronize(NULL));
    SAY(cuModuleLoadData(&module, module_text));
    SAY(cuMemFree(0));
    SAY(cuMemFree(16));
    SAY(cuCtxPopCurrent(&c));
    SAY(cuCtxSetCurrent(NULL));
    SAY(cuCtxPushCurrent(NULL));
    SAY(cuMemcpyHtoD(0, NULL, 0));
}

void part_device(void)
{
    int n = 0;
    char text[64] = "";
    size_t size;
    unsigned mask;
    CUuuid uuid;
    CUmemoryPool pool;
    say_begin();
    SAY(cuDeviceGetCount(NULL));
    SAY(cuDeviceGet(NULL, 0));
    GET(n, cuDeviceGet(&n, -1));
    GET(n, cuDeviceGet(&n, 99));
    SAY(cuDeviceGetName(NULL, 10, 0));
    SAY(cuDeviceGetName(text, 5, 0));
    printf("%s\n", text);
    SAY(cuDeviceGetName(text, 64, 9));
    SAY(cuDeviceGetName(text, -1, 0));
    SAY(cuDeviceGetUuid(NULL, 0));
    SAY(cuDeviceGetUuid(&uuid, 9));
    SAY(cuDeviceGetLuid(text, &mask, 0));
    SAY(cuDeviceTotalMem(NULL, 0));
    SAY(cuDeviceTotalMem(&size, 9));
    GET(n, cuDeviceGetAttribute(&n, 0, 0));
    GET(n, cuDeviceGetAttribute(&n, -1, 0));
    GET(n, cuDeviceGetAttribute(&n, CU_DEVICE_ATTRIBUTE_MAX, 0));
    GET(n, cuDeviceGetAttribute(&n, 500, 0));
    GET(n, cuDeviceGetAttribute(&n, 1, 9));
    SAY(cuDeviceGetAttribute(NULL, 1, 0));
    GET(n, cuDeviceGetByPCIBusId(&n, "bad"));
    GET(n, cuDeviceGetByPCIBusId(&n, "0000:ff:1f.0"));
    GET(n, cuDeviceGetByPCIBusId(&n, ""));
    SAY(cuDeviceGetByPCIBusId(&n, NULL));
    SAY(cuDeviceGetByPCIBusId(NULL, "0000:00:00.0"));
    SAY(cuDeviceGetPCIBusId(text, 13, 0));
    printf("%zu\n", strlen(text));
    GET(n, cuDeviceGetByPCIBusId(&n, text));
    SAY(cuDeviceGetPCIBusId(text, 5, 0));
    SAY(cuDeviceGetPCIBusId(text, 0, 0));
    SAY(cuDeviceGetPCIBusId(NULL, 13, 0));
    SAY(cuDeviceGetPCIBusId(text, 13, 9));
    GET(n, cuDeviceGetExecAffinitySupport(&n, CU_EXEC_AFFINITY_TYPE_SM_COUNT, 0));
    GET(n, cuDeviceGetExecAffinitySupport(&n, 7, 0));
    SAY(cuDeviceGetExecAffinitySupport(NULL, CU_EXEC_AFFINITY_TYPE_SM_COUNT, 0));
    GET(size, cuDeviceGetTexture1DLinearMaxWidth(&size, CU_AD_FORMAT_FLOAT, 1, 0));
    GET(size, cuDeviceGetTexture1DLinearMaxWidth(&size, CU_AD_FORMAT_FLOAT, 2, 0));
    GET(size, cuDeviceGetTexture1DLinearMaxWidth(&size, CU_AD_FORMAT_FLOAT, 4, 0));
    GET(size, cuDeviceGetTexture1DLinearMaxWidth(&size, CU_AD_FORMAT_HALF, 1, 0));
    GET(size, cuDeviceGetTexture1DLinearMaxWidth(&size, CU_AD_FORMAT_UNSIGNED_INT8, 1, 0));
    GET(size, cuDeviceGetTexture1DLinearMaxWidth(&size, CU_AD_FORMAT_UNSIGNED_INT8, 4, 0));
    GET(size, cuDeviceGetTexture1DLinearMaxWidth(&size, CU_AD_FORMAT_UNSIGNED_INT8, 3, 0));
    GET(size, cuDeviceGetTexture1DLinearMaxWidth(&size, CU_AD_FORMAT_UNSIGNED_INT8, 0, 0));
    GET(size, cuDeviceGetTexture1DLinearMaxWidth(&size, 99, 1, 0));
    SAY(cuDeviceGetTexture1DLinearMaxWidth(NULL, CU_AD_FORMAT_FLOAT, 1, 0));
    GET(size, cuDeviceGetTexture1DLinearMaxWidth(&size, CU_AD_FORMAT_FLOAT, 1, 9));
    SAY(cuDeviceGetDefaultMemPool(NULL, 0));
    MAKE(pool, cuDeviceGetDefaultMemPool(&pool, 0));
    MAKE(pool, cuDeviceGetDefaultMemPool(&pool, 9));
    MAKE(pool, cuDeviceGetMemPool(&pool, 0));
    SAY(cuDeviceSetMemPool(0, NULL));
    SAY(cuFlushGPUDirectRDMAWrites(CU_FLUSH_GPU_DIRECT_RDMA_WRITES_TARGET_CURRENT_CTX,
                                   CU_FLUSH_GPU_DIRECT_RDMA_WRITES_TO_OWNER));
    SAY(cuFlushGPUDirectRDMAWrites(5, CU_FLUSH_GPU_DIRECT_RDMA_WRITES_TO_OWNER));
}

/* All attributes but those that tell one machine from another. */
void part_attribute(void)
{
    say_begin();
    for (int id = 1; id < CU_DEVICE_ATTRIBUTE_MAX; id++) {
        int value = 77;
        if (id == CU_DEVICE_ATTRIBUTE_PCI_BUS_ID || id == CU_DEVICE_ATTRIBUTE_PCI_DEVICE_ID ||
            id == CU_DEVICE_ATTRIBUTE_PCI_DOMAIN_ID || id == CU_DEVICE_ATTRIBUTE_NUMA_ID ||
            id == CU_DEVICE_ATTRIBUTE_HOST_NUMA_ID)
            continue;
        int r = (int)cuDeviceGetAttribute(&value, (CUdevice_attribute)id, 0);
        printf("attribute %d: %d %d\n", id, r, value);
    }
}

void part_error(void)
{
    const char *text = NULL;
    for (int id = 0; id < 1100; id++)
        if (cuGetErrorName((CUresult)id, &text) == CUDA_SUCCESS)
            printf("driver %d: %s\n", id, text);
    for (int id = 0; id < 1100; id++)
        if (strcmp(cudaGetErrorName((cudaError_t)id), "unrecognized error code") != 0)
            printf("runtime %d: %s\n", id, cudaGetErrorName((cudaError_t)id));
    SAY(cuGetErrorName((CUresult)-1, &text));
    printf("%s\n", text ? text : "null");
    SAY(cuGetErrorString((CUresult)5000, &text));
    printf("%s\n", text ? text : "null");
    printf("%s\n", cudaGetErrorName((cudaError_t)-1));
}

void part_limit(void)
{
    size_t n;
    say_begin();
    for (int id = 0; id < 12; id++)
        GET(n, cuCtxGetLimit(&n, (CUlimit)id));
    SAY(cuCtxGetLimit(NULL, CU_LIMIT_STACK_SIZE));
    static const size_t values[] = {0,     1,      100,    1000,    1025,    4096,
                                    65536, 524288, 524289, 1 << 20, 1 << 24, 100000001};
    for (size_t i = 0; i < sizeof values / sizeof values[0]; i++) {
        printf("%zu\n", values[i]);
        SAY(cuCtxSetLimit(CU_LIMIT_STACK_SIZE, values[i]));
        GET(n, cuCtxGetLimit(&n, CU_LIMIT_STACK_SIZE));
        SAY(cuCtxSetLimit(CU_LIMIT_PRINTF_FIFO_SIZE, values[i]));
        GET(n, cuCtxGetLimit(&n, CU_LIMIT_PRINTF_FIFO_SIZE));
        SAY(cuCtxSetLimit(CU_LIMIT_MALLOC_HEAP_SIZE, values[i]));
        GET(n, cuCtxGetLimit(&n, CU_LIMIT_MALLOC_HEAP_SIZE));
        SAY(cuCtxSetLimit(CU_LIMIT_DEV_RUNTIME_SYNC_DEPTH, values[i]));
        GET(n, cuCtxGetLimit(&n, CU_LIMIT_DEV_RUNTIME_SYNC_DEPTH));
        SAY(cuCtxSetLimit(CU_LIMIT_DEV_RUNTIME_PENDING_LAUNCH_COUNT, values[i] % 70000));
        GET(n, cuCtxGetLimit(&n, CU_LIMIT_DEV_RUNTIME_PENDING_LAUNCH_COUNT));
        SAY(cuCtxSetLimit(CU_LIMIT_MAX_L2_FETCH_GRANULARITY, values[i]));
        GET(n, cuCtxGetLimit(&n, CU_LIMIT_MAX_L2_FETCH_GRANULARITY));
        SAY(cuCtxSetLimit(CU_LIMIT_PERSISTING_L2_CACHE_SIZE, values[i]));
        GET(n, cuCtxGetLimit(&n, CU_LIMIT_PERSISTING_L2_CACHE_SIZE));
    }
    SAY(cuCtxSetLimit((CUlimit)99, 1));
    SAY(cuCtxSetLimit(CU_LIMIT_SHMEM_SIZE, 1024));
    SAY(cuCtxResetPersistingL2Cache());
    SAY(cuLaunchKernel(empty, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL));
    SAY(cuCtxSetLimit(CU_LIMIT_MALLOC_HEAP_SIZE, 1 << 23));
    SAY(cuCtxSynchronize());
}

void part_peer(void)
{
    int n;
    CUcontext c;
    say_begin();
    GET(n, cuDeviceCanAccessPeer(&n, 0, 0));
    GET(n, cuDeviceCanAccessPeer(&n, 0, 9));
    SAY(cuDeviceCanAccessPeer(NULL, 0, 0));
    SAY(cuCtxEnablePeerAccess(NULL, 0));
    SAY(cuCtxEnablePeerAccess(context, 0));
    SAY(cuCtxEnablePeerAccess(context, 1));
    SAY(cuCtxDisablePeerAccess(NULL));
    SAY(cuCtxDisablePeerAccess(context));
    MAKE(c, cuCtxCreate(&c, NULL, 0, 0));
    SAY(cuCtxEnablePeerAccess(context, 0));
    SAY(cuCtxEnablePeerAccess(context, 0));
    SAY(cuCtxDisablePeerAccess(context));
    SAY(cuCtxDisablePeerAccess(context));
    GET(n, cuDeviceGetP2PAttribute(&n, CU_DEVICE_P2P_ATTRIBUTE_ACCESS_SUPPORTED, 0, 0));
    GET(n, cuDeviceGetP2PAttribute(&n, CU_DEVICE_P2P_ATTRIBUTE_PERFORMANCE_RANK, 0, 0));
    GET(n, cuDeviceGetP2PAttribute(&n, CU_DEVICE_P2P_ATTRIBUTE_ACCESS_SUPPORTED, 0, 9));
    GET(n, cuDeviceGetP2PAttribute(&n, 99, 0, 0));
    SAY(cuDeviceGetP2PAttribute(NULL, CU_DEVICE_P2P_ATTRIBUTE_ACCESS_SUPPORTED, 0, 0));
    SAY(cudaDeviceEnablePeerAccess(0, 0));
    SAY(cudaDeviceEnablePeerAccess(9, 0));
    SAY(cudaDeviceEnablePeerAccess(0, 1));
    SAY(cudaDeviceDisablePeerAccess(0));
    SAY(cudaDeviceDisablePeerAccess(9));
    GET(n, cudaDeviceCanAccessPeer(&n, 0, 0));
    GET(n, cudaDeviceCanAccessPeer(&n, 0, 9));
    GET(n, cudaDeviceGetP2PAttribute(&n, cudaDevP2PAttrAccessSupported, 0, 0));
    SAY(cudaMemcpyPeer(NULL, 0, NULL, 0, 0));
    SAY(cudaMemcpyPeer(NULL, 0, NULL, 9, 4));
}
