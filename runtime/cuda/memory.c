/* Allocating: device, pinned, registered and managed memory. All of it is the process's own memory,
 * so that a device pointer is a host pointer. */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "runtime/cuda/block.h"
#include "runtime/cuda/capture.h"
#include "runtime/cuda/command.h"
#include "runtime/cuda/context_list.h"
#include "runtime/cuda/current.h"
#include "runtime/cuda/driver.h"
#include "runtime/cuda/entry.h"
#include "runtime/cuda/ipc.h"
#include "runtime/cuda/graph_memory.h"
#include "runtime/cuda/paged.h"
#include "runtime/cuda/range.h"
#include "runtime/cuda/stream.h"

enum { PITCH_ALIGN = 512 };

/* ---- device memory --------------------------------------------------------------------------- */

static CUresult alloc(CUdeviceptr *out, size_t bytes, enum pt_cu_memory memory)
{
    CUcontext ctx;
    struct pt_cu_range *range;
    CUresult r = pt_cu_current_get(&ctx);
    if (r == CUDA_SUCCESS)
        r = pt_cu_capture_forbid_unsafe();
    if (r != CUDA_SUCCESS)
        return r;
    if (!out || !bytes)
        return CUDA_ERROR_INVALID_VALUE;
    r = pt_cu_block_alloc(ctx, bytes, memory, &range);
    if (r == CUDA_SUCCESS)
        *out = range->first;
    return r;
}

CUresult cuMemAlloc_v2(CUdeviceptr *address, size_t bytes)
{
    return API(alloc(address, bytes, PT_CU_DEVICE));
}

static CUresult alloc_pitch(CUdeviceptr *out, size_t *pitch, size_t width, size_t height,
                            unsigned element_bytes)
{
    if (!pitch || !width || !height || width > SIZE_MAX / 4 / height ||
        (element_bytes != 4 && element_bytes != 8 && element_bytes != 16))
        return CUDA_ERROR_INVALID_VALUE;
    size_t row = (width + PITCH_ALIGN - 1) / PITCH_ALIGN * PITCH_ALIGN;
    CUresult r = alloc(out, row * height, PT_CU_DEVICE);
    if (r == CUDA_SUCCESS)
        *pitch = row;
    return r;
}

CUresult cuMemAllocPitch_v2(CUdeviceptr *address, size_t *pitch, size_t width, size_t height,
                            unsigned element_bytes)
{
    return API(alloc_pitch(address, pitch, width, height, element_bytes));
}

/* Frees what starts at the address, when nothing that is under way can use it any more. */
static CUresult free_at(uint64_t address, bool (*is_right)(const struct pt_cu_range *range))
{
    CUresult r = pt_cu_driver_check();
    if (r == CUDA_SUCCESS && address)
        r = pt_cu_capture_forbid_unsafe();
    if (r != CUDA_SUCCESS || !address)
        return r;
    struct pt_cu_range *range = pt_cu_range_find(address);
    if (!range || range->first != address || range->is_going || !is_right(range))
        return CUDA_ERROR_INVALID_VALUE;
    if (range->imports > 1) {
        range->imports--;
        return pt_cu_command_drain(range->ctx);
    }
    struct pt_cu_graph_block *block = pt_cu_graph_memory_block_at(address);
    if (block && !pt_cu_graph_memory_block_release(block))
        return CUDA_ERROR_INVALID_VALUE;
    if (block)
        return pt_cu_command_drain(range->ctx);
    range->is_going = true;
    r = pt_cu_command_drain(range->ctx);
    range = pt_cu_range_find(address); /* its context may have gone meanwhile */
    if (range && range->is_going &&
        (range->memory == PT_CU_EXTERNAL || range->memory == PT_CU_IMPORTED))
        pt_cu_ipc_close(range);
    else if (range && range->is_going)
        pt_cu_block_free(range);
    return r;
}

static bool is_device(const struct pt_cu_range *range)
{
    return range->memory == PT_CU_DEVICE || range->memory == PT_CU_MANAGED ||
           range->memory == PT_CU_POOLED || range->memory == PT_CU_EXTERNAL ||
           (range->memory == PT_CU_IMPORTED && range->owner); /* of a pool */
}

CUresult cuMemFree_v2(CUdeviceptr address)
{
    return API(free_at(address, is_device));
}

static CUresult get_info(size_t *available, size_t *total)
{
    CUcontext ctx;
    CUresult r = pt_cu_current_get(&ctx);
    if (r == CUDA_SUCCESS && available)
        *available = pt_cu_driver.device_bytes - pt_cu_driver.devices[ctx->device].used_bytes;
    if (r == CUDA_SUCCESS && total)
        *total = pt_cu_driver.device_bytes;
    return r;
}

CUresult cuMemGetInfo_v2(size_t *available, size_t *total)
{
    return API(get_info(available, total));
}

/* ---- host memory ----------------------------------------------------------------------------- */

/* As they are told: all of it is mapped, and everybody's. */
static unsigned host_flags_of(unsigned flags)
{
    return (flags & ~(unsigned)CU_MEMHOSTALLOC_PORTABLE) | CU_MEMHOSTALLOC_DEVICEMAP;
}

static CUresult host_alloc(void **out, size_t bytes, unsigned flags)
{
    const unsigned known =
        CU_MEMHOSTALLOC_PORTABLE | CU_MEMHOSTALLOC_DEVICEMAP | CU_MEMHOSTALLOC_WRITECOMBINED;
    CUdeviceptr address;
    CUcontext ctx;
    if (!out || flags & ~known)
        return CUDA_ERROR_INVALID_VALUE;
    *out = NULL;
    if (!bytes)
        return pt_cu_current_get(&ctx);
    CUresult r = alloc(&address, bytes, PT_CU_HOST);
    if (r != CUDA_SUCCESS)
        return r;
    struct pt_cu_range *range = pt_cu_range_find(address);
    range->flags = host_flags_of(flags);
    *out = (void *)(uintptr_t)address;
    return CUDA_SUCCESS;
}

CUresult cuMemHostAlloc(void **address, size_t bytes, unsigned flags)
{
    return API(host_alloc(address, bytes, flags));
}

CUresult cuMemAllocHost_v2(void **address, size_t bytes)
{
    return API(host_alloc(address, bytes, 0));
}

static bool is_host(const struct pt_cu_range *range)
{
    return range->memory == PT_CU_HOST;
}

CUresult cuMemFreeHost(void *address)
{
    return API(free_at((uintptr_t)address, is_host));
}

/* Whether the process has the pages. */
static bool is_there(uintptr_t address, size_t bytes)
{
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), first = address & ~(page - 1);
    return msync((void *)first, bytes + (address - first), MS_ASYNC) == 0;
}

static CUresult host_register(void *address, size_t bytes, unsigned flags)
{
    const unsigned known =
        CU_MEMHOSTREGISTER_PORTABLE | CU_MEMHOSTREGISTER_DEVICEMAP | CU_MEMHOSTREGISTER_READ_ONLY;
    CUcontext ctx;
    CUresult r = pt_cu_current_get(&ctx);
    if (r == CUDA_SUCCESS)
        r = pt_cu_capture_forbid_unsafe();
    if (r != CUDA_SUCCESS)
        return r;
    if (!address || !bytes || flags & ~known || bytes > UINTPTR_MAX - (uintptr_t)address ||
        !is_there((uintptr_t)address, bytes))
        return CUDA_ERROR_INVALID_VALUE;
    struct pt_cu_range *known_range = pt_cu_range_find((uintptr_t)address);
    if (known_range && known_range->memory != PT_CU_REGISTERED)
        return CUDA_ERROR_INVALID_VALUE;
    struct pt_cu_range *range = pt_cu_range_add((uintptr_t)address, bytes, PT_CU_REGISTERED, ctx);
    if (!range)
        return CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED;
    range->flags = host_flags_of(0);
    return CUDA_SUCCESS;
}

CUresult cuMemHostRegister_v2(void *address, size_t bytes, unsigned flags)
{
    return API(host_register(address, bytes, flags));
}

static CUresult host_unregister(void *address)
{
    CUcontext ctx;
    CUresult r = pt_cu_current_get(&ctx);
    if (r == CUDA_SUCCESS)
        r = pt_cu_capture_forbid_unsafe();
    if (r != CUDA_SUCCESS)
        return r;
    if (!address)
        return CUDA_ERROR_INVALID_VALUE;
    struct pt_cu_range *range = pt_cu_range_find((uintptr_t)address);
    if (!range)
        return CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED;
    if (range->memory != PT_CU_REGISTERED || range->first != (uintptr_t)address)
        return CUDA_ERROR_INVALID_VALUE;
    r = pt_cu_command_drain(range->ctx);
    pt_cu_range_remove(range);
    return r;
}

CUresult cuMemHostUnregister(void *address)
{
    return API(host_unregister(address));
}

static struct pt_cu_range *find_host(const void *address)
{
    struct pt_cu_range *range = pt_cu_range_find((uintptr_t)address);
    bool is_one = range && (range->memory == PT_CU_HOST || range->memory == PT_CU_REGISTERED);
    return is_one ? range : NULL;
}

static CUresult host_device_pointer(CUdeviceptr *out, void *address, unsigned flags)
{
    CUcontext ctx;
    CUresult r = pt_cu_current_get(&ctx);
    if (r != CUDA_SUCCESS)
        return r;
    if (!out || flags || !find_host(address))
        return CUDA_ERROR_INVALID_VALUE;
    *out = (uintptr_t)address;
    return CUDA_SUCCESS;
}

CUresult cuMemHostGetDevicePointer_v2(CUdeviceptr *out, void *address, unsigned flags)
{
    return API(host_device_pointer(out, address, flags));
}

static CUresult host_flags(unsigned *flags, void *address)
{
    CUcontext ctx;
    CUresult r = pt_cu_current_get(&ctx);
    const struct pt_cu_range *range = r == CUDA_SUCCESS ? find_host(address) : NULL;
    if (r == CUDA_SUCCESS && (!flags || !range))
        r = CUDA_ERROR_INVALID_VALUE;
    if (r == CUDA_SUCCESS)
        *flags = range->flags;
    return r;
}

CUresult cuMemHostGetFlags(unsigned *flags, void *address)
{
    return API(host_flags(flags, address));
}

/* ---- managed memory -------------------------------------------------------------------------- */

static CUresult alloc_managed(CUdeviceptr *out, size_t bytes, unsigned flags)
{
    if (flags != CU_MEM_ATTACH_GLOBAL && flags != CU_MEM_ATTACH_HOST)
        return CUDA_ERROR_INVALID_VALUE;
    CUresult r = alloc(out, bytes, PT_CU_MANAGED);
    if (r != CUDA_SUCCESS)
        return r;
    struct pt_cu_range *range = pt_cu_range_find(*out);
    range->flags = flags;
    pt_cu_paged_new(range);
    return CUDA_SUCCESS;
}

CUresult cuMemAllocManaged(CUdeviceptr *address, size_t bytes, unsigned flags)
{
    return API(alloc_managed(address, bytes, flags));
}

/* Memory that is everybody's needs no attaching. */
static CUresult attach(CUstream null, CUstream given, CUdeviceptr address, size_t bytes,
                       unsigned flags)
{
    CUstream stream;
    CUresult r = pt_cu_stream_find(null, given, &stream);
    if (r == CUDA_SUCCESS)
        r = pt_cu_capture_forbid(stream);
    if (r != CUDA_SUCCESS)
        return r;
    const struct pt_cu_range *range = pt_cu_range_find(address);
    bool is_managed = range && range->memory == PT_CU_MANAGED && range->first == address;
    bool is_all = is_managed && (bytes == 0 || bytes == range->bytes);
    if (!is_all || (flags != CU_MEM_ATTACH_GLOBAL && flags != CU_MEM_ATTACH_HOST &&
                    flags != CU_MEM_ATTACH_SINGLE))
        return CUDA_ERROR_INVALID_VALUE;
    return flags == CU_MEM_ATTACH_SINGLE && stream == stream->ctx->null_stream
               ? CUDA_ERROR_INVALID_VALUE
               : CUDA_SUCCESS;
}

PER_THREAD_API(cuStreamAttachMemAsync, _ptsz, attach,
               (CUstream stream, CUdeviceptr address, size_t bytes, unsigned flags), stream,
               address, bytes, flags)
