/* Telling the driver of calls, for its timeline and its listener. */
#ifndef PTERA_CUDART_CALLS_H
#define PTERA_CUDART_CALLS_H

#include <stdatomic.h>
#include <stdbool.h>

#include "runtime/cuda/vendor.h"
#include "runtime/cudart/abi.h"

extern const struct pt_cu_calls *pt_rt_calls;

/* Whether anybody wants to be told. */
static inline bool pt_rt_calls_are_told(void)
{
    return pt_rt_calls && atomic_load_explicit(pt_rt_calls->watchers, memory_order_relaxed) != 0;
}

/* `arguments`: a structure of them in their order; NULL: they are not told. */
static inline void pt_rt_calls_enter(const char *call, const void *arguments)
{
    if (pt_rt_calls_are_told())
        pt_rt_calls->enter(call, arguments);
}

/* Returns the error. */
static inline cudaError_t pt_rt_calls_leave(const char *call, cudaError_t error)
{
    if (pt_rt_calls_are_told())
        pt_rt_calls->leave(call, (int)error);
    return error;
}

#endif
