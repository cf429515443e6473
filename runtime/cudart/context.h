/* The primary contexts of devices, and the current one of the calling thread. */
#ifndef PTERA_CUDART_CONTEXT_H
#define PTERA_CUDART_CONTEXT_H

#include "runtime/cudart/abi.h"

/* Makes the driver ready and a context current, as every call of the runtime does that needs one:
 * the primary one of the thread's device, unless the program has made another one current. */
cudaError_t pt_rt_context_ready(void);
/* The device of the calling thread, whether its context is there yet or not. */
cudaError_t pt_rt_context_device(int *device);
/* Whether there is such a device; makes the driver ready. */
cudaError_t pt_rt_context_check_device(int device);
/* The primary context of a device. */
cudaError_t pt_rt_context_get(int device, CUcontext *context);

#endif
