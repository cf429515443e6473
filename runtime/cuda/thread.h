/* What the driver has of each thread of the program. */
#ifndef PTERA_CUDA_THREAD_H
#define PTERA_CUDA_THREAD_H

#include <stdbool.h>

#include "runtime/cuda/abi.h"
#include "runtime/cuda/vendor.h"

/* Calls in calls that are told of. */
enum { PT_CU_CALLS_MOST = 8 };

/* What a thread has: its contexts, the last one current, and its default streams. */
struct pt_cu_thread {
    CUcontext *stack;
    size_t depth, cap;
    uint64_t id;
    CUstream stream; /* its default stream that was used last */
    CUstreamCaptureMode capture_mode;
    bool is_in_host_function; /* of a stream, which may not call CUDA */
    /* calls that it is in, as the listener is told of them */
    unsigned n_calls;
    const void *given; /* arguments of the next one */
    struct pt_cu_call calls[PT_CU_CALLS_MOST];
};

/* The caller's, or NULL if there is no memory. */
struct pt_cu_thread *pt_cu_thread_get(void);
/* What is called for each thread that ends, before it is freed. */
void pt_cu_thread_at_end(void (*end)(struct pt_cu_thread *thread));

#endif
