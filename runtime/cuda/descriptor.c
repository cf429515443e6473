#include "runtime/cuda/descriptor.h"

#include "runtime/cuda/block.h"
#include "runtime/cuda/command.h"
#include "runtime/cuda/current.h"
#include "runtime/cuda/driver.h"

struct pt_cu_range *pt_cu_descriptor_find(uint64_t handle, enum pt_cu_memory kind)
{
    struct pt_cu_range *range = pt_cu_range_find(handle);
    return range && range->memory == kind && range->first == handle ? range : NULL;
}

CUresult pt_cu_descriptor_check(uint64_t handle, enum pt_cu_memory kind)
{
    CUcontext ctx;
    CUresult r = pt_cu_current_get(&ctx);
    const struct pt_cu_range *range = pt_cu_descriptor_find(handle, kind);
    return r == CUDA_SUCCESS && (!range || range->ctx != ctx) ? CUDA_ERROR_INVALID_VALUE : r;
}

CUresult pt_cu_descriptor_free(uint64_t handle, enum pt_cu_memory kind)
{
    CUresult r = pt_cu_driver_check();
    struct pt_cu_range *range = r == CUDA_SUCCESS ? pt_cu_descriptor_find(handle, kind) : NULL;
    if (!range)
        return r;
    r = pt_cu_command_drain(range->ctx);
    range = pt_cu_descriptor_find(handle, kind);
    if (!range)
        return r;
    *(uint64_t *)(uintptr_t)handle = 0; /* the key */
    pt_cu_block_free(range);
    return r;
}
