/* The primary contexts of devices, and the current one of the calling thread. */
#define _GNU_SOURCE
#include "runtime/cudart/context.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "runtime/cudart/program.h"
#include "runtime/cudart/rt.h"

enum { MAX_DEVICES = 64 };

/* The primary contexts that this library holds; NULL: not yet, or no more since cudaDeviceReset. */
static _Atomic(CUcontext) contexts[MAX_DEVICES];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* A thread that a fork leaves behind may hold it. */
static void renew_lock(void)
{
    pthread_mutex_init(&lock, NULL);
}

__attribute__((constructor)) static void watch_forks(void)
{
    pthread_atfork(NULL, NULL, renew_lock);
}

static _Thread_local struct {
    int device;
    CUcontext context; /* what `use` made current */
} self;

cudaError_t pt_rt_context_get(int device, CUcontext *context)
{
    CUresult r = CUDA_SUCCESS;
    pthread_mutex_lock(&lock);
    *context = atomic_load(&contexts[device]);
    if (!*context) {
        r = cuDevicePrimaryCtxRetain(context, device);
        if (r == CUDA_SUCCESS)
            atomic_store(&contexts[device], *context);
    }
    pthread_mutex_unlock(&lock);
    return (cudaError_t)r;
}

static cudaError_t use(int device)
{
    CUcontext context;
    cudaError_t error = pt_rt_context_get(device, &context);
    if (!error)
        error = (cudaError_t)cuCtxSetCurrent(context);
    if (error)
        return error;
    self.device = device;
    self.context = context;
    return pt_rt_program_load_managed();
}

static cudaError_t init(void)
{
    static atomic_bool is_ready;
    if (atomic_load_explicit(&is_ready, memory_order_acquire))
        return cudaSuccess;
    CUresult r = cuInit(0);
    if (r == CUDA_SUCCESS && !atomic_exchange(&is_ready, true))
        atexit(pt_rt_program_end);
    return (cudaError_t)r;
}

cudaError_t pt_rt_context_ready(void)
{
    CUcontext current = NULL;
    cudaError_t error = init();
    if (error)
        return error;
    if (cuCtxGetCurrent(&current) == CUDA_SUCCESS && current &&
        (current != self.context || atomic_load(&contexts[self.device]) == current))
        return pt_rt_program_load_managed();
    return use(self.device);
}

cudaError_t pt_rt_context_device(int *device)
{
    CUcontext current = NULL;
    cudaError_t error = init();
    if (error)
        return error;
    *device = self.device;
    if (cuCtxGetCurrent(&current) == CUDA_SUCCESS && current && current != self.context)
        return (cudaError_t)cuCtxGetDevice(device);
    return cudaSuccess;
}

cudaError_t pt_rt_context_check_device(int device)
{
    int n = 0;
    cudaError_t error = init();
    if (!error)
        error = (cudaError_t)cuDeviceGetCount(&n);
    if (!error && (device < 0 || device >= n || device >= MAX_DEVICES))
        error = cudaErrorInvalidDevice;
    return error;
}

cudaError_t cudaSetDevice(int device)
{
    return RT_PLAIN(pt_rt_context_check_device(device) ?: use(device));
}

cudaError_t cudaInitDevice(int device, unsigned device_flags, unsigned flags)
{
    enum { FLAGS_ARE_VALID = 1 };
    CUcontext context;
    pt_rt_calls_enter(__func__, NULL);
    cudaError_t error = pt_rt_context_check_device(device);
    if (!error && flags & FLAGS_ARE_VALID)
        error = (cudaError_t)cuDevicePrimaryCtxSetFlags_v2(device, device_flags);
    return RT_END(error ?: pt_rt_context_get(device, &context));
}

static cudaError_t reset(void)
{
    int device;
    cudaError_t error = pt_rt_context_device(&device);
    if (error)
        return error;
    pthread_mutex_lock(&lock);
    if (atomic_exchange(&contexts[device], NULL))
        error = (cudaError_t)cuDevicePrimaryCtxReset_v2(device);
    pthread_mutex_unlock(&lock);
    pt_rt_program_forget_managed();
    return error;
}

cudaError_t cudaDeviceReset(void)
{
    return RT_PLAIN(reset());
}

cudaError_t cudaThreadExit(void)
{
    return RT_PLAIN(reset());
}

cudaError_t cudaSetDeviceFlags(unsigned flags)
{
    int device = 0;
    pt_rt_calls_enter(__func__, NULL);
    cudaError_t error = pt_rt_context_device(&device);
    return RT_END(error ?: (cudaError_t)cuDevicePrimaryCtxSetFlags_v2(device, flags));
}
