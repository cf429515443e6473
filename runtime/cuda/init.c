/* Initialising the driver, and its version. */
#include "runtime/cuda/context.h"
#include "runtime/cuda/device.h"
#include "runtime/cuda/driver.h"
#include "runtime/cuda/entry.h"
#include "runtime/cuda/error_log.h"
#include "runtime/cuda/listener.h"
#include "runtime/cuda/lock.h"
#include "runtime/cuda/thread.h"
#include "runtime/cuda/trap.h"

/* In a process that was forked. */
static void mark_inherited(void)
{
    pt_cu_lock_renew();
    pt_cu_error_log_renew();
    pt_cu_driver.is_inherited = pt_cu_driver.is_initialised;
}

static CUresult init(unsigned flags)
{
    if (flags)
        return CUDA_ERROR_INVALID_VALUE;
    if (pt_cu_driver.is_initialised)
        return pt_cu_driver_check();
    CUresult r = pt_cu_device_init();
    if (r == CUDA_SUCCESS) {
        pt_cu_trap_init();
        pt_cu_thread_at_end(pt_cu_context_end_thread);
        pthread_atfork(NULL, NULL, mark_inherited);
        pt_cu_driver.is_initialised = true;
        PT_CU_LISTENER_TELL(PT_CU_IS_INITIALISED, .context = NULL);
    }
    return r;
}

CUresult cuInit(unsigned flags)
{
    return API(init(flags));
}

CUresult cuDriverGetVersion(int *version)
{
    if (version)
        *version = PT_CU_DRIVER_VERSION;
    return API(version ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE);
}
