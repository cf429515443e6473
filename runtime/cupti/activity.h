/* Which records the client wants. */
#ifndef PTERA_CUPTI_ACTIVITY_H
#define PTERA_CUPTI_ACTIVITY_H

#include <stdbool.h>

#include "runtime/cuda/vendor.h"
#include "runtime/cupti/abi.h"

/* Of a context, by its number; 0: of none. */
bool pt_cupti_activity_is_wanted(CUpti_ActivityKind kind, uint32_t context);
/* Of a call, by its number. */
bool pt_cupti_activity_is_call_wanted(enum pt_cu_api api, uint32_t number);
/* Calls `give` with the last number of each kind that this thread has given numbers of. */
void pt_cupti_activity_each_external(void (*give)(uint32_t kind, uint64_t id, uint32_t correlation),
                                     uint32_t correlation);

#endif
