/* The frame of an entry. The runtime library is written on the driver library's calls alone. */
#ifndef PTERA_CUDART_RT_H
#define PTERA_CUDART_RT_H

#include <stdbool.h>

#include "runtime/cudart/abi.h"
#include "runtime/cudart/calls.h"
#include "runtime/cudart/context.h"
#include "runtime/cudart/error.h"

/* The body of an entry that needs a context, and of one that does not. */
#define RT_API(call) RT_PLAIN(pt_rt_context_ready() ?: (cudaError_t)(call))
#define RT_PLAIN(call) (pt_rt_calls_enter(__func__, NULL), RT_END((cudaError_t)(call)))
/* The end of one that began with pt_rt_calls_enter. */
#define RT_END(error) pt_rt_calls_leave(__func__, pt_rt_error_done(error))

/* The default stream of an entry whose name ends with _ptsz is one for each thread. */
static inline CUstream pt_rt_per_thread(cudaStream_t stream)
{
    return stream ? stream : CU_STREAM_PER_THREAD;
}

#endif
