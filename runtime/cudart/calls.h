/* Telling the driver of calls, for its timeline. */
#ifndef PTERA_CUDART_CALLS_H
#define PTERA_CUDART_CALLS_H

#include "runtime/cuda/vendor.h"
#include "runtime/cudart/abi.h"

extern const struct pt_cu_calls *pt_rt_calls; /* NULL: nobody wants to be told */

static inline void pt_rt_calls_enter(void)
{
    if (pt_rt_calls)
        pt_rt_calls->enter();
}

/* Returns the error. */
static inline cudaError_t pt_rt_calls_leave(const char *call, cudaError_t error)
{
    if (pt_rt_calls)
        pt_rt_calls->leave(call, (int)error);
    return error;
}

#endif
