/* Devices, their limits and properties, errors of threads, and cudaDeviceReset while other threads
 * work. */
#include <pthread.h>
#include <stdatomic.h>

#include "tests/cudart/support.h"

const char *cudaGetErrorString(cudaError_t error);
cudaError_t cudaRuntimeGetVersion(int *version);
cudaError_t cudaDriverGetVersion(int *version);
cudaError_t cudaGetDeviceCount(int *n);
cudaError_t cudaGetDevice(int *device);
cudaError_t cudaSetDevice(int device);
cudaError_t cudaInitDevice(int device, unsigned device_flags, unsigned flags);
cudaError_t cudaDeviceGetAttribute(int *value, CUdevice_attribute attribute, int device);
cudaError_t cudaGetDeviceFlags(unsigned *flags);
cudaError_t cudaSetDeviceFlags(unsigned flags);
cudaError_t cudaSetValidDevices(int *devices, int n);
cudaError_t cudaGetDeviceProperties(cudaDeviceProp *p, int device);
cudaError_t cudaChooseDevice(int *device, const cudaDeviceProp *wanted);
cudaError_t cudaDeviceEnablePeerAccess(int peer, unsigned flags);
cudaError_t cudaDeviceDisablePeerAccess(int peer);
cudaError_t cudaGetDriverEntryPointByVersion(const char *name, void **entry, unsigned version,
                                             unsigned long long flags, int *status);

static void check_devices(void)
{
    int n = 0, device = -1, value = 0;
    cudaDeviceProp p;
    OK(cudaGetDeviceCount(&n));
    CHECK_INT(n, 2);
    BAD_VALUE(cudaGetDeviceCount(NULL));
    OK(cudaGetDevice(&device));
    CHECK_INT(device, 0);
    BAD_VALUE(cudaGetDevice(NULL));
    OK(cudaSetDevice(1));
    OK(cudaGetDevice(&device));
    CHECK_INT(device, 1);
    CHECK_RT(cudaSetDevice(2), cudaErrorInvalidDevice);
    CHECK_RT(cudaSetDevice(-1), cudaErrorInvalidDevice);
    OK(cudaGetDevice(&device));
    CHECK_INT(device, 1);
    OK(cudaSetDevice(0));
    OK(cudaInitDevice(1, 0, 0));
    CHECK_RT(cudaInitDevice(2, 0, 0), cudaErrorInvalidDevice);
    OK(cudaDeviceGetAttribute(&value, CU_DEVICE_ATTRIBUTE_WARP_SIZE, 0));
    CHECK_INT(value, 32);
    BAD_VALUE(cudaDeviceGetAttribute(NULL, CU_DEVICE_ATTRIBUTE_WARP_SIZE, 0));
    BAD_VALUE(cudaDeviceGetAttribute(&value, (CUdevice_attribute)-1, 0));
    CHECK_RT(cudaDeviceGetAttribute(&value, CU_DEVICE_ATTRIBUTE_WARP_SIZE, 2),
             cudaErrorInvalidDevice);
    OK(cudaGetDeviceProperties(&p, 1));
    CHECK(p.major == 9 && p.minor == 0 && p.warpSize == 32 && p.maxThreadsPerBlock == 1024 &&
          p.name[0]);
    BAD_VALUE(cudaGetDeviceProperties(NULL, 0));
    CHECK_RT(cudaGetDeviceProperties(&p, 2), cudaErrorInvalidDevice);
    OK(cudaChooseDevice(&device, &p));
    BAD_VALUE(cudaChooseDevice(NULL, &p));
    BAD_VALUE(cudaChooseDevice(&device, NULL));
    OK(cudaSetValidDevices(&device, 1));
    BAD_VALUE(cudaSetValidDevices(NULL, 1));
}

static void check_names_of_devices(void)
{
    char id[32] = "";
    int device = -1;
    OK(cudaDeviceGetPCIBusId(id, sizeof id, 1));
    OK(cudaDeviceGetByPCIBusId(&device, id));
    CHECK_INT(device, 1);
    BAD_VALUE(cudaDeviceGetPCIBusId(NULL, sizeof id, 0));
    CHECK_RT(cudaDeviceGetPCIBusId(id, sizeof id, 2), cudaErrorInvalidDevice);
    BAD_VALUE(cudaDeviceGetByPCIBusId(NULL, id));
    BAD_VALUE(cudaDeviceGetByPCIBusId(&device, NULL));
    CHECK_RT(cudaDeviceGetByPCIBusId(&device, "9999:99:99.9"), cudaErrorInvalidDevice);
}

static void check_settings(void)
{
    size_t bytes = 0;
    unsigned flags = 0;
    int least = 1, greatest = 1, version = 0;
    CUfunc_cache cache;
    OK(cudaDeviceSetLimit(CU_LIMIT_STACK_SIZE, 2048));
    OK(cudaDeviceGetLimit(&bytes, CU_LIMIT_STACK_SIZE));
    CHECK_INT(bytes, 2048);
    BAD_VALUE(cudaDeviceGetLimit(NULL, CU_LIMIT_STACK_SIZE));
    BAD_VALUE(cudaDeviceGetLimit(&bytes, (CUlimit)99));
    BAD_VALUE(cudaDeviceSetLimit((CUlimit)99, 1));
    OK(cudaDeviceSetCacheConfig(CU_FUNC_CACHE_PREFER_L1));
    OK(cudaDeviceGetCacheConfig(&cache));
    BAD_VALUE(cudaDeviceGetCacheConfig(NULL));
    OK(cudaSetDeviceFlags(CU_CTX_SCHED_YIELD));
    OK(cudaGetDeviceFlags(&flags));
    CHECK(flags & CU_CTX_SCHED_YIELD);
    BAD_VALUE(cudaGetDeviceFlags(NULL));
    BAD_VALUE(cudaSetDeviceFlags(0x10000));
    OK(cudaDeviceGetStreamPriorityRange(&least, &greatest));
    CHECK(least == 0 && greatest < 0);
    OK(cudaDeviceGetStreamPriorityRange(NULL, NULL));
    OK(cudaRuntimeGetVersion(&version));
    CHECK_INT(version, 13000);
    OK(cudaDriverGetVersion(&version));
    CHECK_INT(version, 13050);
    BAD_VALUE(cudaRuntimeGetVersion(NULL));
    BAD_VALUE(cudaDriverGetVersion(NULL));
}

static void check_peers(void)
{
    int can = 0;
    OK(cudaDeviceCanAccessPeer(&can, 0, 1));
    CHECK_INT(can, 1);
    BAD_VALUE(cudaDeviceCanAccessPeer(NULL, 0, 1));
    CHECK_RT(cudaDeviceCanAccessPeer(&can, 0, 2), cudaErrorInvalidDevice);
    CHECK_RT(cudaDeviceDisablePeerAccess(1), cudaErrorPeerAccessNotEnabled);
    OK(cudaDeviceEnablePeerAccess(1, 0));
    CHECK_RT(cudaDeviceEnablePeerAccess(1, 0), cudaErrorPeerAccessAlreadyEnabled);
    OK(cudaDeviceDisablePeerAccess(1));
    BAD_VALUE(cudaDeviceEnablePeerAccess(1, 1));
    CHECK_RT(cudaDeviceEnablePeerAccess(2, 0), cudaErrorInvalidDevice);
    CHECK_RT(cudaDeviceEnablePeerAccess(0, 0), cudaErrorPeerAccessUnsupported);
}

static void check_entry_points(void)
{
    void *entry = NULL;
    int status = -1;
    OK(cudaGetDriverEntryPointByVersion("cuInit", &entry, 12000, 0, &status));
    CHECK(entry && status == CU_GET_PROC_ADDRESS_SUCCESS);
    OK(cudaGetDriverEntryPointByVersion("cuNothing", &entry, 12000, 0, &status));
    CHECK(!entry && status == CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND);
    BAD_VALUE(cudaGetDriverEntryPointByVersion(NULL, &entry, 12000, 0, &status));
    BAD_VALUE(cudaGetDriverEntryPointByVersion("cuInit", NULL, 12000, 0, &status));
}

static void *has_no_error(void *unused)
{
    (void)unused;
    return (void *)(uintptr_t)cudaPeekAtLastError();
}

/* An error is remembered over calls that succeed, by the thread that made it alone. */
static void check_errors(void)
{
    pthread_t thread;
    void *other = WILD;
    CHECK_INT(cudaFree(WILD), cudaErrorInvalidValue);
    CHECK_INT(cudaDeviceSynchronize(), cudaSuccess);
    CHECK_INT(cudaPeekAtLastError(), cudaErrorInvalidValue);
    pthread_create(&thread, NULL, has_no_error, NULL);
    pthread_join(thread, &other);
    CHECK(other == NULL);
    CHECK_INT(cudaGetLastError(), cudaErrorInvalidValue);
    CHECK_INT(cudaGetLastError(), cudaSuccess);
    CHECK_TEXT(cudaGetErrorName(cudaErrorInvalidValue), "cudaErrorInvalidValue");
    CHECK_TEXT(cudaGetErrorString(cudaErrorInvalidConfiguration), "invalid configuration argument");
    CHECK_TEXT(cudaGetErrorName((cudaError_t)-5), "unrecognized error code");
    CHECK_TEXT(cudaGetErrorString((cudaError_t)123456), "unrecognized error code");
}

/* ---- reset ----------------------------------------------------------------------------------- */

enum { N = 256, ROUNDS = 100 };
static cudaKernel_t add;
static atomic_bool is_over;

/* Work from the allocation on; the first error ends it, for the context may go away at any time. */
static cudaError_t work(void)
{
    unsigned host[N], n = N, value = 3;
    void *p = NULL, *arguments[] = {&p, &n, &value};
    cudaError_t error = cudaMalloc(&p, sizeof host);
    if (!error)
        error = cudaMemset(p, 0, sizeof host);
    if (!error)
        error = cudaLaunchKernel(add, DIM(2), DIM(N / 2), arguments, 0, NULL);
    if (!error)
        error = cudaMemcpy(host, p, sizeof host, cudaMemcpyDeviceToHost);
    if (!error)
        error = cudaFree(p);
    if (!error && (host[0] != 3 || host[N - 1] != 3))
        error = cudaErrorUnknown;
    return error;
}

/* Works until it is over, and once more. */
static void *worker(void *unused)
{
    (void)unused;
    while (!atomic_load(&is_over))
        work();
    return (void *)(uintptr_t)work();
}

/* What is underway when the device is reset may fail, also by an address that is no more; nothing
 * crashes, and what begins after a reset succeeds. */
static void check_reset(void)
{
    pthread_t threads[2];
    void *p = NULL, *result = WILD;
    cudaLibrary_t library = load_kernels();
    add = kernel_of(library, "add");
    OK(work());
    OK(cudaMalloc(&p, 16));
    OK(cudaDeviceReset());
    BAD_VALUE(cudaFree(p));
    OK(work());
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, worker, NULL);
    for (int i = 0; i < ROUNDS; i++) {
        OK(cudaDeviceReset());
        work();
        cudaGetLastError();
    }
    atomic_store(&is_over, true);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    OK(cudaDeviceReset());
    OK(work());
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, worker, NULL);
    for (int i = 0; i < 2; i++) {
        pthread_join(threads[i], &result);
        CHECK(result == NULL);
    }
    OK(cudaLibraryUnload(library));
    OK(cudaDeviceReset());
    OK(cudaDeviceReset());
}

int main(void)
{
    setenv("PTERA_DEVICES", "2", 1);
    check_devices();
    check_names_of_devices();
    check_settings();
    check_peers();
    check_entry_points();
    check_errors();
    check_reset();
    return CHECK_DONE("device");
}
