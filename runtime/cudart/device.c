/* Devices and versions. */
#include <string.h>

#include "runtime/cudart/rt.h"

enum { RUNTIME_VERSION = PT_RT_MAJOR == 13 ? 13000 : PT_RT_MAJOR == 12 ? 12090 : 11080 };

cudaError_t cudaRuntimeGetVersion(int *version)
{
    if (!version)
        return RT_PLAIN(cudaErrorInvalidValue);
    *version = RUNTIME_VERSION;
    return cudaSuccess;
}

cudaError_t cudaDriverGetVersion(int *version)
{
    return RT_PLAIN(cuDriverGetVersion(version));
}

cudaError_t cudaGetDeviceCount(int *n)
{
    return RT_PLAIN(cuInit(0) ?: cuDeviceGetCount(n));
}

cudaError_t cudaGetDevice(int *device)
{
    return RT_PLAIN(device ? pt_rt_context_device(device) : cudaErrorInvalidValue);
}

cudaError_t cudaDeviceGetAttribute(int *value, CUdevice_attribute attribute, int device)
{
    return RT_PLAIN(cuInit(0) ?: cuDeviceGetAttribute(value, attribute, device));
}

cudaError_t cudaGetDeviceFlags(unsigned *flags)
{
    int device = 0, is_active;
    pt_rt_calls_enter(__func__, NULL);
    cudaError_t error = flags ? pt_rt_context_device(&device) : cudaErrorInvalidValue;
    error = error ?: (cudaError_t)cuDevicePrimaryCtxGetState(device, flags, &is_active);
    if (!error)
        *flags |= CU_CTX_MAP_HOST; /* all of the host's memory can be mapped */
    return RT_END(error);
}

static cudaError_t check_devices(const int *devices, int n)
{
    cudaError_t error = devices || !n ? cudaSuccess : cudaErrorInvalidValue;
    for (int i = 0; !error && i < n; i++)
        error = pt_rt_context_check_device(devices[i]);
    return error;
}

cudaError_t cudaSetValidDevices(int *devices, int n)
{
    return RT_PLAIN(check_devices(devices, n));
}

/* ---- properties ------------------------------------------------------------------------------ */

static int attribute_of(CUdevice_attribute attribute, int device)
{
    int value = 0;
    cuDeviceGetAttribute(&value, attribute, device);
    return value;
}

#define OF(name) attribute_of(CU_DEVICE_ATTRIBUTE_##name, device)

static cudaError_t get_properties(cudaDeviceProp *p, int device)
{
    CUresult r = cuInit(0) ?: cuDeviceGetName(p->name, sizeof p->name, device);
    if (r != CUDA_SUCCESS)
        return (cudaError_t)r;
    cuDeviceGetUuid_v2(&p->uuid, device);
    cuDeviceTotalMem_v2(&p->totalGlobalMem, device);
    p->sharedMemPerBlock = (size_t)OF(MAX_SHARED_MEMORY_PER_BLOCK);
    p->regsPerBlock = OF(MAX_REGISTERS_PER_BLOCK);
    p->warpSize = OF(WARP_SIZE);
    p->memPitch = (size_t)OF(MAX_PITCH);
#define INT(member, a) p->member = OF(a);
#define INT2(member, a, b) p->member[0] = OF(a), p->member[1] = OF(b);
#define INT3(member, a, b, c) p->member[0] = OF(a), p->member[1] = OF(b), p->member[2] = OF(c);
#define SIZE(member, a) p->member = (size_t)OF(a);
#if PT_RT_MAJOR >= 13
#define OLD(member, a)
#define NEW INT
#else
#define OLD INT
#define NEW(member, a)
#endif
#include "runtime/cudart/property.def"
    return cudaSuccess;
}

/* Writes the first `bytes` of the properties: older programs have a shorter structure. */
static cudaError_t give_properties(void *to, size_t bytes, int device)
{
    cudaDeviceProp all = {0};
    if (!to)
        return cudaErrorInvalidValue;
    cudaError_t error = get_properties(&all, device);
    if (!error)
        memcpy(to, &all, bytes);
    return error;
}

#if PT_RT_MAJOR >= 13
cudaError_t cudaGetDeviceProperties(cudaDeviceProp *p, int device)
{
    return RT_PLAIN(give_properties(p, sizeof *p, device));
}
#else
cudaError_t cudaGetDeviceProperties_v2(cudaDeviceProp *p, int device)
{
    return RT_PLAIN(give_properties(p, sizeof *p, device));
}

cudaError_t cudaGetDeviceProperties(cudaDeviceProp *p, int device)
{
    return RT_PLAIN(give_properties(p, offsetof(cudaDeviceProp, hostRegisterSupported), device));
}
#endif

/* The device that has the most of what is asked for; they are all alike. */
cudaError_t cudaChooseDevice(int *device, const cudaDeviceProp *wanted)
{
    if (!device || !wanted)
        return RT_PLAIN(cudaErrorInvalidValue);
    *device = 0;
    return cudaSuccess;
}

/* ---- peers ----------------------------------------------------------------------------------- */

static cudaError_t peer_context(int peer, CUcontext *context)
{
    CUresult r = cuDevicePrimaryCtxRetain(context, peer);
    return (cudaError_t)r;
}

static cudaError_t change_peer(int peer, unsigned flags, bool is_enabled)
{
    CUcontext context;
    cudaError_t error = peer_context(peer, &context);
    if (error)
        return error;
    error = (cudaError_t)(is_enabled ? cuCtxEnablePeerAccess(context, flags)
                                     : cuCtxDisablePeerAccess(context));
    cuDevicePrimaryCtxRelease_v2(peer);
    return error;
}

cudaError_t cudaDeviceEnablePeerAccess(int peer, unsigned flags)
{
    return RT_API(change_peer(peer, flags, true));
}

cudaError_t cudaDeviceDisablePeerAccess(int peer)
{
    return RT_API(change_peer(peer, 0, false));
}

/* ---- the driver's calls ---------------------------------------------------------------------- */

static cudaError_t find_entry(const char *name, void **entry, unsigned version,
                              unsigned long long flags, int *status)
{
    CUdriverProcAddressQueryResult found = CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
    if (!name || !entry)
        return cudaErrorInvalidValue;
    CUresult r = cuGetProcAddress_v2(name, entry, (int)version, flags, &found);
    if (status)
        *status = (int)found;
    return r == CUDA_ERROR_NOT_FOUND && status ? cudaSuccess : (cudaError_t)r;
}

cudaError_t cudaGetDriverEntryPointByVersion(const char *name, void **entry, unsigned version,
                                             unsigned long long flags, int *status)
{
    return RT_PLAIN(find_entry(name, entry, version, flags, status));
}

cudaError_t cudaGetDriverEntryPointByVersion_ptsz(const char *name, void **entry, unsigned version,
                                                  unsigned long long flags, int *status)
{
    if (!flags)
        flags = CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM;
    return RT_PLAIN(find_entry(name, entry, version, flags, status));
}

cudaError_t cudaGetDriverEntryPoint(const char *name, void **entry, unsigned long long flags,
                                    int *status)
{
    return RT_PLAIN(find_entry(name, entry, RUNTIME_VERSION, flags, status));
}

cudaError_t cudaGetDriverEntryPoint_ptsz(const char *name, void **entry, unsigned long long flags,
                                         int *status)
{
    return cudaGetDriverEntryPointByVersion_ptsz(name, entry, RUNTIME_VERSION, flags, status);
}

cudaChannelFormatDesc cudaCreateChannelDesc(int x, int y, int z, int w, int kind)
{
    return (cudaChannelFormatDesc){x, y, z, w, kind};
}
