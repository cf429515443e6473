/* Entering and leaving the driver. */
#include "runtime/cuda/entry.h"

#include "runtime/cuda/error_log.h"
#include "runtime/cuda/listener.h"
#include "runtime/cuda/lock.h"
#include "runtime/cuda/log.h"
#include "runtime/cuda/trace.h"
#include "runtime/history.h"

void pt_cu_entry_enter(enum pt_cu_api api, const char *call)
{
    if (pt_cu_trace_is_on())
        pt_cu_trace_enter();
    if (pt_cu_listener_is_on())
        pt_cu_listener_enter(api, call);
}

void pt_cu_entry_leave(const char *call, int result)
{
    if (pt_cu_listener_is_on())
        pt_cu_listener_leave(result);
    if (pt_cu_trace_is_on())
        pt_cu_trace_leave(call, result);
}

void pt_cu_entry_begin(const char *entry)
{
    pt_history_enter(entry);
    if (pt_cu_driver_is_watched(PT_CU_TIMELINE | PT_CU_LISTENER))
        pt_cu_entry_enter(PT_CU_API_DRIVER, entry);
    pt_cu_lock_take();
    pt_cu_log_begin_call();
}

/* What is not supported is said once of each entry, if the call has not said more itself. With the
 * lock. */
static void tell_refusal(const char *entry)
{
    enum { MOST = 64 };
    static const char *told[MOST];
    static unsigned n_told;
    for (unsigned i = 0; i < n_told; i++)
        if (told[i] == entry)
            return;
    if (n_told < MOST)
        told[n_told++] = entry;
    if (!pt_cu_log_has_written())
        pt_cu_log_print("%s: what it was asked for is not supported", entry);
}

static void (*watcher)(const char *entry, CUresult result); /* under the lock */

void pt_cu_entry_watch(void (*failed)(const char *entry, CUresult result))
{
    watcher = failed;
}

static void tell_failure(const char *entry, CUresult result)
{
    if (watcher)
        watcher(entry, result);
}

CUresult pt_cu_entry_end(const char *entry, CUresult result)
{
    const char *name = "unknown";
    if (result == CUDA_ERROR_NOT_SUPPORTED)
        tell_refusal(entry);
    else if (result != CUDA_SUCCESS)
        tell_failure(entry, result);
    pt_cu_lock_release();
    if (pt_cu_driver_is_watched(PT_CU_TIMELINE | PT_CU_LISTENER))
        pt_cu_entry_leave(entry, (int)result);
    cuGetErrorName(result, &name);
    if (pt_cu_log_is_on(PT_CU_LOG_API))
        pt_cu_log_print("%s: %s", entry, name);
    if (result != CUDA_SUCCESS && result != CUDA_ERROR_NOT_READY)
        pt_cu_error_log_add("Returning %d (%s) from %s", (int)result, name, entry);
    return result;
}
