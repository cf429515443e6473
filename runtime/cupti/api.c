/* Entries that stand for themselves: versions, errors, the time, numbers of handles; and those that
 * are refused. */
#include "runtime/cupti/api.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "runtime/cupti/names.h"

/* Of the newest release whose interface is served. */
enum { API_VERSION = PT_CUPTI_MAJOR >= 13 ? 130500 : 28 };

const struct pt_cu_listening *pt_cupti_driver(void)
{
    static _Atomic(const void *) driver;
    const CUuuid id = {PT_CU_LISTENING_ID};
    const void *table = atomic_load_explicit(&driver, memory_order_relaxed);
    if (!table && cuGetExportTable(&table, &id) == CUDA_SUCCESS)
        atomic_store_explicit(&driver, table, memory_order_relaxed);
    return table;
}

/* ---- errors ---------------------------------------------------------------------------------- */

static _Thread_local CUptiResult last_error;

CUptiResult pt_cupti_error(CUptiResult error)
{
    return last_error = error;
}

/* Forgets it. */
CUptiResult cuptiGetLastError(void)
{
    CUptiResult error = last_error;
    last_error = CUPTI_SUCCESS;
    return error;
}

CUptiResult cuptiGetResultString(CUptiResult result, const char **text)
{
    static const struct {
        CUptiResult result;
        const char *name;
    } names[] = {
#define RESULT(symbol, value) {symbol, #symbol},
#include "runtime/cupti/result.def"
#undef RESULT
    };
    if (!text)
        return pt_cupti_error(CUPTI_ERROR_INVALID_PARAMETER);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (names[i].result == result) {
            *text = names[i].name;
            return CUPTI_SUCCESS;
        }
    *text = "<unknown>";
    return pt_cupti_error(CUPTI_ERROR_INVALID_PARAMETER);
}

CUptiResult cuptiGetErrorMessage(CUptiResult result, const char **text)
{
    return cuptiGetResultString(result, text);
}

/* ---- versions, the time ---------------------------------------------------------------------- */

CUptiResult cuptiGetVersion(uint32_t *version)
{
    if (!version)
        return pt_cupti_error(CUPTI_ERROR_INVALID_PARAMETER);
    *version = API_VERSION;
    return CUPTI_SUCCESS;
}

static _Atomic(CUpti_TimestampCallbackFunc) client_clock;

uint64_t pt_cupti_now(void)
{
    CUpti_TimestampCallbackFunc call = atomic_load_explicit(&client_clock, memory_order_relaxed);
    struct timespec now;
    if (call)
        return call();
    clock_gettime(CLOCK_REALTIME, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

CUptiResult cuptiActivityRegisterTimestampCallback(CUpti_TimestampCallbackFunc call)
{
    if (!call)
        return pt_cupti_error(CUPTI_ERROR_INVALID_PARAMETER);
    atomic_store(&client_clock, call);
    return CUPTI_SUCCESS;
}

CUptiResult cuptiGetTimestamp(uint64_t *timestamp)
{
    if (!timestamp)
        return pt_cupti_error(CUPTI_ERROR_INVALID_PARAMETER);
    *timestamp = pt_cupti_now();
    return CUPTI_SUCCESS;
}

static atomic_uint thread_id_type;

CUptiResult cuptiSetThreadIdType(uint32_t type)
{
    if (type > 1)
        return pt_cupti_error(CUPTI_ERROR_INVALID_PARAMETER);
    atomic_store(&thread_id_type, type);
    return CUPTI_SUCCESS;
}

/* Records have the system's thread ids for both. */
CUptiResult cuptiGetThreadIdType(uint32_t *type)
{
    if (!type)
        return pt_cupti_error(CUPTI_ERROR_INVALID_PARAMETER);
    *type = atomic_load(&thread_id_type);
    return CUPTI_SUCCESS;
}

CUptiResult cuptiGetCallbackName(CUpti_CallbackDomain domain, uint32_t number, const char **name)
{
    const char *found = name ? pt_cupti_names_callback(domain, number) : NULL;
    if (!found)
        return pt_cupti_error(CUPTI_ERROR_INVALID_PARAMETER);
    *name = found;
    return CUPTI_SUCCESS;
}

/* ---- devices --------------------------------------------------------------------------------- */

CUptiResult cuptiDeviceSupported(CUdevice device, int *supported)
{
    int count = 0;
    if (!supported)
        return pt_cupti_error(CUPTI_ERROR_INVALID_PARAMETER);
    if (cuDeviceGetCount(&count) != CUDA_SUCCESS)
        return pt_cupti_error(CUPTI_ERROR_NOT_INITIALIZED);
    if (device < 0 || device >= count)
        return pt_cupti_error(CUPTI_ERROR_INVALID_DEVICE);
    *supported = 1;
    return CUPTI_SUCCESS;
}

/* Whether records tell of devices of that capability: of all. */
CUptiResult cuptiComputeCapabilitySupported(int major, int minor, int *supported)
{
    if (!supported)
        return pt_cupti_error(CUPTI_ERROR_INVALID_PARAMETER);
    *supported = major > 0 && minor >= 0;
    return CUPTI_SUCCESS;
}

/* None. */
CUptiResult cuptiDeviceVirtualizationMode(CUdevice device, uint32_t *mode)
{
    int supported;
    if (!mode)
        return pt_cupti_error(CUPTI_ERROR_INVALID_PARAMETER);
    *mode = 0;
    return cuptiDeviceSupported(device, &supported);
}

/* ---- numbers of handles ---------------------------------------------------------------------- */

CUptiResult cuptiGetContextId(CUcontext context, uint32_t *id)
{
    CUcontext found;
    int device;
    if (!id)
        return pt_cupti_error(CUPTI_ERROR_INVALID_PARAMETER);
    uint64_t number = context ? pt_cupti_driver()->context(context, &found, &device) : 0;
    if (!number)
        return pt_cupti_error(CUPTI_ERROR_INVALID_CONTEXT);
    *id = (uint32_t)number;
    return CUPTI_SUCCESS;
}

/* NULL: the current context. */
CUptiResult cuptiGetDeviceId(CUcontext context, uint32_t *id)
{
    CUcontext found;
    int device;
    if (!id)
        return pt_cupti_error(CUPTI_ERROR_INVALID_PARAMETER);
    if (!pt_cupti_driver()->context(context, &found, &device))
        return pt_cupti_error(context ? CUPTI_ERROR_INVALID_CONTEXT : CUPTI_ERROR_INVALID_DEVICE);
    *id = (uint32_t)device;
    return CUPTI_SUCCESS;
}

CUptiResult cuptiGetStreamIdEx(CUcontext context, CUstream stream, uint8_t is_per_thread,
                               uint32_t *id)
{
    if (!id)
        return pt_cupti_error(CUPTI_ERROR_INVALID_PARAMETER);
    uint64_t number = pt_cupti_driver()->stream(context, stream, is_per_thread);
    if (!number)
        return pt_cupti_error(CUPTI_ERROR_INVALID_STREAM);
    *id = (uint32_t)number;
    return CUPTI_SUCCESS;
}

CUptiResult cuptiGetStreamId(CUcontext context, CUstream stream, uint32_t *id)
{
    return cuptiGetStreamIdEx(context, stream, 0, id);
}

/* What a handle of a sort is numbered with. */
#define GET_ID(symbol, type, id_type, number)                                  \
    CUptiResult symbol(type handle, id_type *id)                               \
    {                                                                          \
        uint64_t found = handle && id ? pt_cupti_driver()->number(handle) : 0; \
        if (!found)                                                            \
            return pt_cupti_error(CUPTI_ERROR_INVALID_PARAMETER);              \
        *id = (id_type)found;                                                  \
        return CUPTI_SUCCESS;                                                  \
    }
GET_ID(cuptiGetGraphId, CUgraph, uint32_t, graph)
GET_ID(cuptiGetGraphExecId, CUgraphExec, uint32_t, exec)
GET_ID(cuptiGetGraphNodeId, CUgraphNode, uint64_t, node)
GET_ID(cuptiGetCudaEventId, CUevent, uint32_t, event)

/* ---- what is not supported ------------------------------------------------------------------- */

static CUptiResult refuse(const char *entry, CUptiResult error)
{
    const char *topics = getenv("PTERA_LOG");
    if (topics && strstr(topics, "api"))
        fprintf(stderr, "ptera: %s is not supported\n", entry);
    return pt_cupti_error(error);
}

#define REFUSED(symbol, error)                       \
    CUptiResult symbol(void)                         \
    {                                                \
        return refuse(#symbol, CUPTI_ERROR_##error); \
    }
#include "runtime/cupti/refused.def"
