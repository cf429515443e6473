/* Hints: attributes of streams, kernel nodes and launches that are checked and told again. Where
 * caches and memory domains do not exist there is nothing else to do with them. */
#ifndef PTERA_CUDA_HINT_H
#define PTERA_CUDA_HINT_H

#include <stdbool.h>

#include "runtime/cuda/abi.h"

/* Attributes of streams and kernel nodes that are only kept. */
struct pt_cu_hints {
    CUlaunchAttributeValue window, sync_policy, domain_map, domain, carveout;
};

/* Whether an attribute may have the value; those that are no hints may. */
bool pt_cu_hint_is_valid(CUlaunchAttributeID id, const CUlaunchAttributeValue *value,
                         CUdevice device);
/* CUDA_ERROR_INVALID_VALUE: none of them, or a value that it may not have. */
CUresult pt_cu_hint_get(const struct pt_cu_hints *hints, CUlaunchAttributeID id,
                        CUlaunchAttributeValue *value);
CUresult pt_cu_hint_set(struct pt_cu_hints *hints, CUlaunchAttributeID id,
                        const CUlaunchAttributeValue *value, CUdevice device);

#endif
