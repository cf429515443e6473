#include "runtime/cuda/device.h"

#include <stdio.h>
#include <stdlib.h>

#include "runtime/cuda/board.h"
#include "runtime/cuda/driver.h"
#include "runtime/cuda/entry.h"
#include "runtime/cuda/settings.h"
#include "runtime/device.h"

CUresult pt_cu_device_init(void)
{
    struct pt_cu_driver *driver = &pt_cu_driver;
    CUresult r = pt_cu_board_read(driver);
    if (r != CUDA_SUCCESS)
        return r;
    r = pt_cu_settings_read(driver);
    if (r != CUDA_SUCCESS)
        return r;
    driver->devices = calloc((size_t)driver->n_devices, sizeof *driver->devices);
    return driver->devices ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

bool pt_cu_device_is_valid(CUdevice device)
{
    return device >= 0 && device < pt_cu_driver.n_devices;
}

/* Of the L2 cache: what may be set aside for data that persists. Three quarters by A100's data
 * sheet, five eighths by an H100 (driver 580). */
static int persisting_kib(const struct pt_device *p, const struct pt_device_limits *l)
{
    return l->major < 8 ? 0 : l->major == 9 ? p->l2_kib * 5 / 8 : p->l2_kib * 3 / 4;
}

int pt_cu_device_attribute(CUdevice_attribute attribute, CUdevice d)
{
    const struct pt_device *p = pt_cu_driver.profile;
    const struct pt_device_limits *l = pt_cu_driver.limits;
    (void)d;
    switch (attribute) {
#define X(name, id, value)           \
    case CU_DEVICE_ATTRIBUTE_##name: \
        return value;
#include "runtime/cuda/attribute.def"
#undef X
    default:
        return 0; /* what newer drivers know: programs go on without it */
    }
}

/* Checks what every call about a device has. */
static CUresult check(const void *output, CUdevice device)
{
    CUresult r = pt_cu_driver_check();
    if (r != CUDA_SUCCESS)
        return r;
    if (!output)
        return CUDA_ERROR_INVALID_VALUE;
    return pt_cu_device_is_valid(device) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_DEVICE;
}

/* ---- which devices --------------------------------------------------------------------------- */

static CUresult get_count(int *count)
{
    CUresult r = pt_cu_driver_check();
    if (r == CUDA_SUCCESS && !count)
        r = CUDA_ERROR_INVALID_VALUE;
    if (r == CUDA_SUCCESS)
        *count = pt_cu_driver.n_devices;
    return r;
}

CUresult cuDeviceGetCount(int *count)
{
    return API(get_count(count));
}

static CUresult get(CUdevice *device, int ordinal)
{
    CUresult r = check(device, ordinal);
    if (r == CUDA_SUCCESS)
        *device = ordinal;
    return r;
}

CUresult cuDeviceGet(CUdevice *device, int ordinal)
{
    return API(get(device, ordinal));
}

static CUresult get_name(char *name, int bytes, CUdevice device)
{
    CUresult r = check(name, device);
    if (r != CUDA_SUCCESS)
        return r;
    if (bytes <= 0)
        return CUDA_ERROR_INVALID_VALUE;
    pt_cu_board_name(&pt_cu_driver, name, (size_t)bytes);
    return CUDA_SUCCESS;
}

CUresult cuDeviceGetName(char *name, int bytes, CUdevice device)
{
    return API(get_name(name, bytes, device));
}

enum { BUS_ID_BYTES = sizeof "0000:00:00.0" };

static CUresult get_bus_id(char *id, int bytes, CUdevice device)
{
    CUresult r = check(id, device);
    if (r != CUDA_SUCCESS)
        return r;
    if (bytes < BUS_ID_BYTES)
        return CUDA_ERROR_INVALID_VALUE;
    pt_cu_board_bus_id(pt_cu_driver.shown[device], id, (size_t)bytes);
    return CUDA_SUCCESS;
}

CUresult cuDeviceGetPCIBusId(char *id, int bytes, CUdevice device)
{
    return API(get_bus_id(id, bytes, device));
}

/* [domain:]bus:device[.function] */
static CUresult get_by_bus_id(CUdevice *device, const char *id)
{
    unsigned domain = 0, bus, slot, function = 0;
    CUresult r = pt_cu_driver_check();
    if (r != CUDA_SUCCESS)
        return r;
    if (!device || !id)
        return CUDA_ERROR_INVALID_VALUE;
    if (sscanf(id, "%x:%x:%x.%x", &domain, &bus, &slot, &function) < 3) {
        domain = 0;
        if (sscanf(id, "%x:%x.%x", &bus, &slot, &function) < 2)
            return CUDA_ERROR_INVALID_VALUE;
    }
    for (int d = 0; !domain && !slot && !function && d < pt_cu_driver.n_devices; d++)
        if ((unsigned)pt_cu_driver.shown[d] + 1 == bus) {
            *device = d;
            return CUDA_SUCCESS;
        }
    return CUDA_ERROR_INVALID_DEVICE;
}

CUresult cuDeviceGetByPCIBusId(CUdevice *device, const char *id)
{
    return API(get_by_bus_id(device, id));
}

static CUresult get_uuid(CUuuid *uuid, CUdevice device)
{
    CUresult r = check(uuid, device);
    if (r != CUDA_SUCCESS)
        return r;
    *uuid = pt_cu_board_uuid(&pt_cu_driver, pt_cu_driver.shown[device]);
    return CUDA_SUCCESS;
}

CUresult cuDeviceGetUuid(CUuuid *uuid, CUdevice device)
{
    return API(get_uuid(uuid, device));
}

CUresult cuDeviceGetUuid_v2(CUuuid *uuid, CUdevice device)
{
    return API(get_uuid(uuid, device));
}

/* ---- what they can --------------------------------------------------------------------------- */

static CUresult get_attribute(int *value, CUdevice_attribute attribute, CUdevice device)
{
    CUresult r = check(value, device);
    if (r != CUDA_SUCCESS)
        return r;
    if ((int)attribute <= 0 || attribute >= CU_DEVICE_ATTRIBUTE_MAX)
        return CUDA_ERROR_INVALID_VALUE;
    *value = pt_cu_device_attribute(attribute, device);
    return CUDA_SUCCESS;
}

CUresult cuDeviceGetAttribute(int *value, CUdevice_attribute attribute, CUdevice device)
{
    return API(get_attribute(value, attribute, device));
}

static CUresult compute_capability(int *major, int *minor, CUdevice device)
{
    CUresult r = check(minor ? major : NULL, device);
    if (r != CUDA_SUCCESS)
        return r;
    *major = pt_cu_driver.limits->major;
    *minor = pt_cu_driver.limits->minor;
    return CUDA_SUCCESS;
}

CUresult cuDeviceComputeCapability(int *major, int *minor, CUdevice device)
{
    return API(compute_capability(major, minor, device));
}

static CUresult get_properties(CUdevprop *properties, CUdevice d)
{
    CUresult r = check(properties, d);
    if (r != CUDA_SUCCESS)
        return r;
#define VALUE(name) pt_cu_device_attribute(CU_DEVICE_ATTRIBUTE_##name, d)
    *properties = (CUdevprop){
        .maxThreadsPerBlock = VALUE(MAX_THREADS_PER_BLOCK),
        .maxThreadsDim = {VALUE(MAX_BLOCK_DIM_X), VALUE(MAX_BLOCK_DIM_Y), VALUE(MAX_BLOCK_DIM_Z)},
        .maxGridSize = {VALUE(MAX_GRID_DIM_X), VALUE(MAX_GRID_DIM_Y), VALUE(MAX_GRID_DIM_Z)},
        .sharedMemPerBlock = VALUE(MAX_SHARED_MEMORY_PER_BLOCK),
        .totalConstantMemory = VALUE(TOTAL_CONSTANT_MEMORY),
        .SIMDWidth = VALUE(WARP_SIZE),
        .memPitch = VALUE(MAX_PITCH),
        .regsPerBlock = VALUE(MAX_REGISTERS_PER_BLOCK),
        .clockRate = VALUE(CLOCK_RATE),
        .textureAlign = VALUE(TEXTURE_ALIGNMENT),
    };
#undef VALUE
    return CUDA_SUCCESS;
}

CUresult cuDeviceGetProperties(CUdevprop *properties, CUdevice device)
{
    return API(get_properties(properties, device));
}

static CUresult total_mem(size_t *bytes, CUdevice device)
{
    CUresult r = check(bytes, device);
    if (r == CUDA_SUCCESS)
        *bytes = pt_cu_driver.device_bytes;
    return r;
}

CUresult cuDeviceTotalMem_v2(size_t *bytes, CUdevice device)
{
    return API(total_mem(bytes, device));
}

static CUresult affinity_support(int *supported, CUexecAffinityType type, CUdevice device)
{
    CUresult r = check(supported, device);
    (void)type; /* of all kinds none is */
    if (r == CUDA_SUCCESS)
        *supported = 0;
    return r;
}

CUresult cuDeviceGetExecAffinitySupport(int *supported, CUexecAffinityType type, CUdevice device)
{
    return API(affinity_support(supported, type, device));
}

/* There are no writes of others that would be under way. */
static CUresult flush_writes(int target, int scope)
{
    enum { CURRENT_CTX = 0, TO_OWNER = 100, TO_ALL_DEVICES = 200 };
    CUresult r = pt_cu_driver_check();
    bool is_right = target == CURRENT_CTX && (scope == TO_OWNER || scope == TO_ALL_DEVICES);
    return r == CUDA_SUCCESS && !is_right ? CUDA_ERROR_INVALID_VALUE : r;
}

CUresult cuFlushGPUDirectRDMAWrites(int target, int scope)
{
    return API(flush_writes(target, scope));
}

/* ---- devices and each other ------------------------------------------------------------------ */

static CUresult check_pair(const void *output, CUdevice device, CUdevice peer)
{
    CUresult r = check(output, device);
    return r == CUDA_SUCCESS && !pt_cu_device_is_valid(peer) ? CUDA_ERROR_INVALID_DEVICE : r;
}

/* All devices share one memory. */
static CUresult can_access_peer(int *can, CUdevice device, CUdevice peer)
{
    CUresult r = check_pair(can, device, peer);
    if (r == CUDA_SUCCESS)
        *can = device != peer;
    return r;
}

CUresult cuDeviceCanAccessPeer(int *can, CUdevice device, CUdevice peer)
{
    return API(can_access_peer(can, device, peer));
}

static CUresult p2p_attribute(int *value, CUdevice_P2PAttribute attribute, CUdevice device,
                              CUdevice peer)
{
    CUresult r = check_pair(value, device, peer);
    if (r == CUDA_SUCCESS && device == peer)
        r = CUDA_ERROR_INVALID_DEVICE;
    if (r != CUDA_SUCCESS)
        return r;
    switch (attribute) {
    case CU_DEVICE_P2P_ATTRIBUTE_PERFORMANCE_RANK:
    case CU_DEVICE_P2P_ATTRIBUTE_ONLY_PARTIAL_NATIVE_ATOMIC_SUPPORTED:
        *value = 0;
        return CUDA_SUCCESS;
    case CU_DEVICE_P2P_ATTRIBUTE_ACCESS_SUPPORTED:
    case CU_DEVICE_P2P_ATTRIBUTE_NATIVE_ATOMIC_SUPPORTED:
    case CU_DEVICE_P2P_ATTRIBUTE_CUDA_ARRAY_ACCESS_SUPPORTED:
        *value = 1;
        return CUDA_SUCCESS;
    }
    return CUDA_ERROR_INVALID_VALUE;
}

CUresult cuDeviceGetP2PAttribute(int *value, CUdevice_P2PAttribute attribute, CUdevice device,
                                 CUdevice peer)
{
    return API(p2p_attribute(value, attribute, device, peer));
}
