/* Records of devices, contexts and streams, as the driver's own entries describe them. */
#include "runtime/cupti/device.h"

#include <unistd.h>

#include "runtime/cupti/activity.h"
#include "runtime/cupti/api.h"
#include "runtime/cupti/buffer.h"
#include "runtime/cupti/callback.h"
#include "runtime/cupti/names.h"

static uint32_t value_of(CUdevice device, CUdevice_attribute attribute)
{
    int value = 0;
    return cuDeviceGetAttribute(&value, attribute, device) == CUDA_SUCCESS ? (uint32_t)value : 0;
}
#define OF(name) value_of(device, CU_DEVICE_ATTRIBUTE_##name)

static void describe_limits(CUdevice device, CUpti_ActivityDevice *d)
{
    d->constant_bytes = OF(TOTAL_CONSTANT_MEMORY);
    d->l2_bytes = OF(L2_CACHE_SIZE);
    d->warp_threads = OF(WARP_SIZE);
    d->clock_khz = OF(CLOCK_RATE);
    d->copy_engines = OF(ASYNC_ENGINE_COUNT);
    d->multiprocessors = OF(MULTIPROCESSOR_COUNT);
    d->multiprocessor_warps = OF(MAX_THREADS_PER_MULTIPROCESSOR) / OF(WARP_SIZE);
    d->multiprocessor_blocks = OF(MAX_BLOCKS_PER_MULTIPROCESSOR);
    d->multiprocessor_shared = OF(MAX_SHARED_MEMORY_PER_MULTIPROCESSOR);
    d->multiprocessor_registers = OF(MAX_REGISTERS_PER_MULTIPROCESSOR);
    d->block_registers = OF(MAX_REGISTERS_PER_BLOCK);
    d->block_shared = OF(MAX_SHARED_MEMORY_PER_BLOCK);
    d->block_threads = OF(MAX_THREADS_PER_BLOCK);
    for (int i = 0; i < 3; i++) {
        d->block_dim[i] =
            value_of(device, (CUdevice_attribute)(CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X + i));
        d->grid_dim[i] =
            value_of(device, (CUdevice_attribute)(CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X + i));
    }
    d->major = OF(COMPUTE_CAPABILITY_MAJOR);
    d->minor = OF(COMPUTE_CAPABILITY_MINOR);
    d->has_ecc = OF(ECC_ENABLED);
}

static void add_device(CUdevice device)
{
    enum { CONCURRENT_KERNELS = 1, BITS = 8, RATES = 2, NONE = 0xffffffff };
    char name[256];
    size_t bytes = 0;
    CUpti_ActivityDevice d = {.kind = CUPTI_ACTIVITY_KIND_DEVICE,
                              .flags = CONCURRENT_KERNELS,
                              .id = (uint32_t)device,
                              .is_visible = 1,
                              .gpu_instance = NONE,
                              .compute_instance = NONE,
                              .numa = NONE};
    describe_limits(device, &d);
    if (cuDeviceGetName(name, sizeof name, device) == CUDA_SUCCESS)
        d.name = pt_cupti_names_keep(name);
    cuDeviceGetUuid(&d.uuid, device);
    cuDeviceTotalMem_v2(&bytes, device);
    d.global_bytes = bytes;
    d.global_bandwidth =
        (uint64_t)OF(MEMORY_CLOCK_RATE) * RATES * OF(GLOBAL_MEMORY_BUS_WIDTH) / BITS;
    pt_cupti_buffer_add(&d);
}

/* Before cuInit there are none. */
void pt_cupti_device_add_devices(void)
{
    int n = 0;
    if (!pt_cupti_activity_is_wanted(CUPTI_ACTIVITY_KIND_DEVICE, 0))
        return;
    pt_cupti_callback_enter();
    if (cuDeviceGetCount(&n) == CUDA_SUCCESS)
        for (CUdevice device = 0; device < n; device++)
            add_device(device);
    pt_cupti_callback_leave();
}

void pt_cupti_device_add_context(CUcontext context)
{
    enum { CUDA = 1 };
    CUcontext found;
    int device = 0;
    if (!pt_cupti_activity_is_wanted(CUPTI_ACTIVITY_KIND_CONTEXT, 0))
        return;
    pt_cupti_callback_enter();
    uint64_t id = pt_cupti_driver()->context(context, &found, &device);
    const CUpti_ActivityContext c = {.kind = CUPTI_ACTIVITY_KIND_CONTEXT,
                                     .context = (uint32_t)id,
                                     .device = (uint32_t)device,
                                     .api = CUDA,
                                     .null_stream =
                                         (uint16_t)pt_cupti_driver()->stream(context, NULL, false),
                                     .multiprocessors = (uint16_t)OF(MULTIPROCESSOR_COUNT),
                                     .process = (uint64_t)getpid()};
    pt_cupti_buffer_add(&c);
    pt_cupti_callback_leave();
}

void pt_cupti_device_add_stream(CUcontext context, CUstream stream)
{
    enum { BLOCKING = 1, NON_BLOCKING, NULL_STREAM };
    CUcontext found;
    int device, priority = 0;
    unsigned flags = 0;
    if (!pt_cupti_activity_is_wanted(CUPTI_ACTIVITY_KIND_STREAM, 0))
        return;
    pt_cupti_callback_enter();
    const struct pt_cu_listening *driver = pt_cupti_driver();
    uint64_t id = driver->stream(context, stream, false);
    cuStreamGetFlags(stream, &flags);
    cuStreamGetPriority(stream, &priority);
    const CUpti_ActivityStream s = {.kind = CUPTI_ACTIVITY_KIND_STREAM,
                                    .context = (uint32_t)driver->context(context, &found, &device),
                                    .stream = (uint32_t)id,
                                    .priority = (uint32_t)priority,
                                    .flag = id == driver->stream(context, NULL, false) ? NULL_STREAM
                                            : flags & CU_STREAM_NON_BLOCKING ? NON_BLOCKING
                                                                             : BLOCKING};
    pt_cupti_buffer_add(&s);
    pt_cupti_callback_leave();
}
