/* Where profilers begin and end, as programs mark it. */
#include <string.h>

#include "runtime/cuda/current.h"
#include "runtime/cuda/driver.h"
#include "runtime/cuda/entry.h"
#include "runtime/cuda/variable.h"

__attribute__((constructor)) static void read_start(void)
{
    const char *text = pt_cu_variable("PTERA_PROFILE_FROM_START");
    atomic_store(&pt_cu_driver.is_unprofiled, text && !strcmp(text, "0"));
}

/* Of all contexts. */
static CUresult set(bool is_unprofiled)
{
    CUcontext ctx;
    CUresult r = pt_cu_current_get(&ctx);
    if (r == CUDA_SUCCESS)
        atomic_store(&pt_cu_driver.is_unprofiled, is_unprofiled);
    return r;
}

CUresult cuProfilerStart(void)
{
    return API(set(false));
}

CUresult cuProfilerStop(void)
{
    return API(set(true));
}
