/* Primary contexts: one for each device, made when it is first retained. */
#include "runtime/cuda/primary_context.h"

#include "runtime/cuda/context.h"
#include "runtime/cuda/context_list.h"
#include "runtime/cuda/device.h"
#include "runtime/cuda/driver.h"
#include "runtime/cuda/entry.h"

static CUresult check_device(CUdevice device)
{
    CUresult r = pt_cu_driver_check();
    return r == CUDA_SUCCESS && !pt_cu_device_is_valid(device) ? CUDA_ERROR_INVALID_DEVICE : r;
}

CUresult pt_cu_primary_context_retain(CUcontext *out, CUdevice device)
{
    CUresult r = check_device(device);
    if (r != CUDA_SUCCESS)
        return r;
    if (!out)
        return CUDA_ERROR_INVALID_VALUE;
    struct pt_cu_device *d = &pt_cu_driver.devices[device];
    if (!d->primary)
        d->primary = pt_cu_context_new(device, true);
    if (!d->primary)
        return CUDA_ERROR_OUT_OF_MEMORY;
    if (!d->primary->is_alive)
        r = pt_cu_context_revive(d->primary);
    if (r != CUDA_SUCCESS)
        return r;
    d->primary->flags = d->primary_flags | CU_CTX_MAP_HOST;
    d->retained++;
    *out = d->primary;
    return CUDA_SUCCESS;
}

CUresult cuDevicePrimaryCtxRetain(CUcontext *ctx, CUdevice device)
{
    return API(pt_cu_primary_context_retain(ctx, device));
}

CUresult pt_cu_primary_context_release(CUdevice device)
{
    CUresult r = check_device(device);
    if (r != CUDA_SUCCESS)
        return r;
    struct pt_cu_device *d = &pt_cu_driver.devices[device];
    if (!d->retained)
        return CUDA_ERROR_INVALID_CONTEXT;
    if (--d->retained == 0 && d->primary->is_alive)
        pt_cu_context_kill(d->primary);
    return CUDA_SUCCESS;
}

CUresult cuDevicePrimaryCtxRelease(CUdevice device)
{
    return API(pt_cu_primary_context_release(device));
}

CUresult cuDevicePrimaryCtxRelease_v2(CUdevice device)
{
    return API(pt_cu_primary_context_release(device));
}

/* Those who retained it keep it; it is made anew at once, empty. */
static CUresult reset(CUdevice device)
{
    CUresult r = check_device(device);
    if (r != CUDA_SUCCESS)
        return r;
    struct pt_cu_device *d = &pt_cu_driver.devices[device];
    if (!d->primary || !d->primary->is_alive)
        return CUDA_SUCCESS;
    pt_cu_context_kill(d->primary);
    return d->retained ? pt_cu_context_revive(d->primary) : CUDA_SUCCESS;
}

CUresult cuDevicePrimaryCtxReset(CUdevice device)
{
    return API(reset(device));
}

CUresult cuDevicePrimaryCtxReset_v2(CUdevice device)
{
    return API(reset(device));
}

static CUresult set_primary_flags(CUdevice device, unsigned flags)
{
    CUresult r = check_device(device);
    if (r != CUDA_SUCCESS)
        return r;
    if (!pt_cu_context_are_flags(flags))
        return CUDA_ERROR_INVALID_VALUE;
    struct pt_cu_device *d = &pt_cu_driver.devices[device];
    d->primary_flags = flags;
    if (d->primary)
        d->primary->flags = flags | CU_CTX_MAP_HOST;
    return CUDA_SUCCESS;
}

CUresult cuDevicePrimaryCtxSetFlags(CUdevice device, unsigned flags)
{
    return API(set_primary_flags(device, flags));
}

CUresult cuDevicePrimaryCtxSetFlags_v2(CUdevice device, unsigned flags)
{
    return API(set_primary_flags(device, flags));
}

static CUresult get_state(CUdevice device, unsigned *flags, int *active)
{
    CUresult r = check_device(device);
    if (r != CUDA_SUCCESS)
        return r;
    if (!flags || !active)
        return CUDA_ERROR_INVALID_VALUE;
    const struct pt_cu_device *d = &pt_cu_driver.devices[device];
    *flags = d->primary_flags;
    *active = d->primary && d->primary->is_alive;
    return CUDA_SUCCESS;
}

CUresult cuDevicePrimaryCtxGetState(CUdevice device, unsigned *flags, int *active)
{
    return API(get_state(device, flags, active));
}
