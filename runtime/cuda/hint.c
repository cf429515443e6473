/* Hints: attributes of streams, kernel nodes and launches that are checked and told again. Where
 * caches and memory domains do not exist there is nothing else to do with them. */
#include "runtime/cuda/hint.h"

#include <string.h>

#include "runtime/cuda/device.h"

enum { PERCENT = 100, PROPERTY_STREAMING = 1, PROPERTY_PERSISTING = 2, POLICY_MOST = 4 };

/* ---- values ---------------------------------------------------------------------------------- */

static bool is_window(const CUaccessPolicyWindow *w, CUdevice device)
{
    size_t most =
        (size_t)pt_cu_device_attribute(CU_DEVICE_ATTRIBUTE_MAX_ACCESS_POLICY_WINDOW_SIZE, device);
    return w->num_bytes <= most && w->hitRatio >= 0 && w->hitRatio <= 1 &&
           (unsigned)w->hitProp <= PROPERTY_PERSISTING &&
           (unsigned)w->missProp <= PROPERTY_STREAMING;
}

bool pt_cu_hint_is_valid(CUlaunchAttributeID id, const CUlaunchAttributeValue *v, CUdevice device)
{
    int domains = pt_cu_device_attribute(CU_DEVICE_ATTRIBUTE_MEM_SYNC_DOMAIN_COUNT, device);
    switch (id) {
    case CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW:
        return is_window(&v->accessPolicyWindow, device);
    case CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY:
        return v->syncPolicy > 0 && v->syncPolicy <= POLICY_MOST;
    case CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP:
        return v->memSyncDomainMap.default_ < domains && v->memSyncDomainMap.remote < domains;
    case CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN:
        return v->memSyncDomain == 0 || v->memSyncDomain == 1;
    case CU_LAUNCH_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT:
        return (int)v->sharedMemCarveout >= -1 && (int)v->sharedMemCarveout <= PERCENT;
    default:
        return true;
    }
}

/* ---- kept ------------------------------------------------------------------------------------ */

static CUlaunchAttributeValue *slot_of(struct pt_cu_hints *hints, CUlaunchAttributeID id)
{
    switch (id) {
    case CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW:
        return &hints->window;
    case CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY:
        return &hints->sync_policy;
    case CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP:
        return &hints->domain_map;
    case CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN:
        return &hints->domain;
    case CU_LAUNCH_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT:
        return &hints->carveout;
    default:
        return NULL;
    }
}

CUresult pt_cu_hint_get(const struct pt_cu_hints *hints, CUlaunchAttributeID id,
                        CUlaunchAttributeValue *value)
{
    struct pt_cu_hints all = *hints;
    const CUlaunchAttributeValue *slot = slot_of(&all, id);
    if (!slot)
        return CUDA_ERROR_INVALID_VALUE;
    *value = *slot;
    return CUDA_SUCCESS;
}

CUresult pt_cu_hint_set(struct pt_cu_hints *hints, CUlaunchAttributeID id,
                        const CUlaunchAttributeValue *value, CUdevice device)
{
    CUlaunchAttributeValue *slot = slot_of(hints, id);
    if (!slot || !pt_cu_hint_is_valid(id, value, device))
        return CUDA_ERROR_INVALID_VALUE;
    *slot = *value;
    return CUDA_SUCCESS;
}
