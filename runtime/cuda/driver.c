/* The state of the driver as a whole. */
#include "runtime/cuda/driver.h"

#include "runtime/cuda/thread.h"

struct pt_cu_driver pt_cu_driver;

CUresult pt_cu_driver_check(void)
{
    if (!pt_cu_driver.is_initialised || pt_cu_driver.is_inherited)
        return CUDA_ERROR_NOT_INITIALIZED;
    const struct pt_cu_thread *thread = pt_cu_thread_get();
    return thread && thread->is_in_host_function ? CUDA_ERROR_NOT_PERMITTED : CUDA_SUCCESS;
}
