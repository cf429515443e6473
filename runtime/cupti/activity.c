/* Which records the client wants, and what it says of them. */
#include "runtime/cupti/activity.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/cupti/api.h"
#include "runtime/cupti/buffer.h"
#include "runtime/cupti/listen.h"
#include "runtime/cupti/names.h"

/* ---- kinds ----------------------------------------------------------------------------------- */

static atomic_uint_fast64_t kinds; /* bits: of all contexts */

/* Those of contexts alone. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct of_context {
    uint32_t context;
    uint64_t kinds;
} *contexts;
static size_t n_contexts;
static atomic_uint_fast64_t context_kinds; /* of any of them */

static struct of_context *find_context(uint32_t context)
{
    for (size_t i = 0; i < n_contexts; i++)
        if (contexts[i].context == context)
            return &contexts[i];
    return NULL;
}

bool pt_cupti_activity_is_wanted(CUpti_ActivityKind kind, uint32_t context)
{
    uint64_t bit = UINT64_C(1) << kind;
    if (atomic_load_explicit(&kinds, memory_order_relaxed) & bit)
        return true;
    if (!context || !(atomic_load_explicit(&context_kinds, memory_order_relaxed) & bit))
        return false;
    pthread_mutex_lock(&lock);
    const struct of_context *of = find_context(context);
    bool is_wanted = of && (of->kinds & bit);
    pthread_mutex_unlock(&lock);
    return is_wanted;
}

/* Of events, metrics and instructions, as profilers counted them before CUDA 10. */
static bool is_legacy(CUpti_ActivityKind kind)
{
    static const uint8_t legacy[] = {6, 7, 14, 15, 16, 21, 23, 24, 29, 30, 31, 32, 41, 42, 43, 44};
    return memchr(legacy, (int)kind, sizeof legacy) != NULL;
}

static CUptiResult check_kind(CUpti_ActivityKind kind)
{
    if ((unsigned)kind - 1 >= CUPTI_ACTIVITY_KIND_COUNT - 1)
        return pt_cupti_error(CUPTI_ERROR_NOT_COMPATIBLE);
    if (!pt_cupti_buffer_record_bytes(kind))
        return pt_cupti_error(is_legacy(kind) ? CUPTI_ERROR_LEGACY_PROFILER_NOT_SUPPORTED
                                              : CUPTI_ERROR_NOT_SUPPORTED);
    return pt_cupti_driver() ? CUPTI_SUCCESS : pt_cupti_error(CUPTI_ERROR_NOT_INITIALIZED);
}

static CUptiResult enable(CUpti_ActivityKind kind, bool is_dumped)
{
    CUptiResult r = check_kind(kind);
    if (r != CUPTI_SUCCESS)
        return r;
    if (kind == CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL &&
        pt_cupti_activity_is_wanted(CUPTI_ACTIVITY_KIND_KERNEL, 0))
        return pt_cupti_error(CUPTI_ERROR_NOT_COMPATIBLE);
    bool was_wanted = atomic_fetch_or(&kinds, UINT64_C(1) << kind) >> kind & 1;
    pt_cupti_listen_start();
    if (!was_wanted || is_dumped)
        pt_cupti_listen_begin(kind);
    return CUPTI_SUCCESS;
}

CUptiResult cuptiActivityEnable(CUpti_ActivityKind kind)
{
    return enable(kind, false);
}

/* What there is already is recorded again. */
CUptiResult cuptiActivityEnableAndDump(CUpti_ActivityKind kind)
{
    return enable(kind, true);
}

CUptiResult cuptiActivityDisable(CUpti_ActivityKind kind)
{
    CUptiResult r = check_kind(kind);
    if (r == CUPTI_SUCCESS)
        atomic_fetch_and(&kinds, ~(UINT64_C(1) << kind));
    return r;
}

static bool set_of_context(uint32_t context, CUpti_ActivityKind kind, bool is_wanted)
{
    struct of_context *of = find_context(context);
    if (!of) {
        struct of_context *more = realloc(contexts, (n_contexts + 1) * sizeof *more);
        if (!more)
            return false;
        contexts = more;
        of = &contexts[n_contexts++];
        *of = (struct of_context){context, 0};
    }
    uint64_t bit = UINT64_C(1) << kind;
    of->kinds = is_wanted ? of->kinds | bit : of->kinds & ~bit;
    if (is_wanted)
        atomic_fetch_or(&context_kinds, bit);
    return true;
}

static CUptiResult want_of_context(CUcontext context, CUpti_ActivityKind kind, bool is_wanted)
{
    uint32_t id;
    CUptiResult r = check_kind(kind);
    if (r == CUPTI_SUCCESS)
        r = cuptiGetContextId(context, &id);
    if (r != CUPTI_SUCCESS)
        return r;
    pthread_mutex_lock(&lock);
    bool is_set = set_of_context(id, kind, is_wanted);
    pthread_mutex_unlock(&lock);
    pt_cupti_listen_start();
    return is_set ? CUPTI_SUCCESS : pt_cupti_error(CUPTI_ERROR_OUT_OF_MEMORY);
}

CUptiResult cuptiActivityEnableContext(CUcontext context, CUpti_ActivityKind kind)
{
    return want_of_context(context, kind, true);
}

CUptiResult cuptiActivityDisableContext(CUcontext context, CUpti_ActivityKind kind)
{
    return want_of_context(context, kind, false);
}

/* ---- calls ----------------------------------------------------------------------------------- */

enum { NUMBERS = 1024 };
/* bits: calls that are left out; and whether only those are recorded that were asked for */
static atomic_uint_fast64_t left_out[PT_CU_API_RUNTIME + 1][NUMBERS / 64];

bool pt_cupti_activity_is_call_wanted(enum pt_cu_api api, uint32_t number)
{
    return !(
        atomic_load_explicit(&left_out[api][number / 64], memory_order_relaxed) >> number % 64 & 1);
}

static CUptiResult want_call(enum pt_cu_api api, CUpti_CallbackDomain domain, uint32_t number,
                             bool is_wanted)
{
    uint64_t bit = UINT64_C(1) << number % 64;
    if (!number || number >= pt_cupti_names_end(domain))
        return pt_cupti_error(CUPTI_ERROR_INVALID_PARAMETER);
    if (is_wanted)
        atomic_fetch_and(&left_out[api][number / 64], ~bit);
    else
        atomic_fetch_or(&left_out[api][number / 64], bit);
    return CUPTI_SUCCESS;
}

CUptiResult cuptiActivityEnableDriverApi(CUpti_CallbackId number, uint8_t is_wanted)
{
    return want_call(PT_CU_API_DRIVER, CUPTI_CB_DOMAIN_DRIVER_API, number, is_wanted);
}

CUptiResult cuptiActivityEnableRuntimeApi(CUpti_CallbackId number, uint8_t is_wanted)
{
    return want_call(PT_CU_API_RUNTIME, CUPTI_CB_DOMAIN_RUNTIME_API, number, is_wanted);
}

/* ---- numbers of the client's ----------------------------------------------------------------- */

static _Thread_local struct {
    uint64_t *ids;
    size_t n, cap;
} externals[CUPTI_EXTERNAL_CORRELATION_KIND_SIZE];

static bool is_external(uint32_t kind)
{
    return kind && kind < CUPTI_EXTERNAL_CORRELATION_KIND_SIZE;
}

CUptiResult cuptiActivityPushExternalCorrelationId(uint32_t kind, uint64_t id)
{
    if (!is_external(kind))
        return pt_cupti_error(CUPTI_ERROR_INVALID_PARAMETER);
    if (externals[kind].n == externals[kind].cap) {
        size_t cap = externals[kind].cap ? externals[kind].cap * 2 : 16;
        uint64_t *more = realloc(externals[kind].ids, cap * sizeof *more);
        if (!more)
            return pt_cupti_error(CUPTI_ERROR_OUT_OF_MEMORY);
        externals[kind].ids = more;
        externals[kind].cap = cap;
    }
    externals[kind].ids[externals[kind].n++] = id;
    return CUPTI_SUCCESS;
}

CUptiResult cuptiActivityPopExternalCorrelationId(uint32_t kind, uint64_t *id)
{
    if (!is_external(kind))
        return pt_cupti_error(CUPTI_ERROR_INVALID_PARAMETER);
    if (!externals[kind].n)
        return pt_cupti_error(CUPTI_ERROR_QUEUE_EMPTY);
    uint64_t last = externals[kind].ids[--externals[kind].n];
    if (id)
        *id = last;
    if (!externals[kind].n) { /* a thread may end */
        free(externals[kind].ids);
        externals[kind].ids = NULL;
        externals[kind].cap = 0;
    }
    return CUPTI_SUCCESS;
}

void pt_cupti_activity_each_external(void (*give)(uint32_t kind, uint64_t id, uint32_t correlation),
                                     uint32_t correlation)
{
    for (uint32_t kind = 1; kind < CUPTI_EXTERNAL_CORRELATION_KIND_SIZE; kind++)
        if (externals[kind].n)
            give(kind, externals[kind].ids[externals[kind].n - 1], correlation);
}

/* ---- attributes ------------------------------------------------------------------------------ */

/* They say how much memory NVIDIA's takes, and which: they are kept, and change nothing. */
static struct attribute {
    size_t bytes; /* 0: not supported */
    uint64_t value;
} attributes[] = {
    [0] = {8, 3200000},   /* of buffers on the device */
    [1] = {8, 8 << 20},   /* likewise, for kernels that launch */
    [2] = {8, 250},       /* buffers at most */
    [5] = {1, 0},         /* the client's buffers are zeroed */
    [6] = {8, 3},         /* buffers made beforehand */
    [8] = {1, 0},         /* pinned memory */
    [9] = {1, 1},         /* a buffer for each thread */
    [10] = {8, 16 << 20}, /* of buffers for graphs that kernels launch */
};

static CUptiResult find(unsigned attribute, const size_t *bytes, const void *value,
                        struct attribute **found)
{
    if (!bytes || !value)
        return pt_cupti_error(CUPTI_ERROR_INVALID_PARAMETER);
    if (attribute >= sizeof attributes / sizeof *attributes || !attributes[attribute].bytes)
        return pt_cupti_error(CUPTI_ERROR_NOT_SUPPORTED);
    *found = &attributes[attribute];
    return *bytes < (*found)->bytes ? pt_cupti_error(CUPTI_ERROR_PARAMETER_SIZE_NOT_SUFFICIENT)
                                    : CUPTI_SUCCESS;
}

CUptiResult cuptiActivityGetAttribute(unsigned attribute, size_t *bytes, void *value)
{
    struct attribute *found = NULL;
    CUptiResult r = find(attribute, bytes, value, &found);
    if (r != CUPTI_SUCCESS)
        return r;
    pthread_mutex_lock(&lock);
    memcpy(value, &found->value, found->bytes);
    pthread_mutex_unlock(&lock);
    *bytes = found->bytes;
    return CUPTI_SUCCESS;
}

CUptiResult cuptiActivitySetAttribute(unsigned attribute, size_t *bytes, const void *value)
{
    struct attribute *found = NULL;
    CUptiResult r = find(attribute, bytes, value, &found);
    if (r != CUPTI_SUCCESS)
        return r;
    pthread_mutex_lock(&lock);
    memcpy(&found->value, value, found->bytes);
    pthread_mutex_unlock(&lock);
    return CUPTI_SUCCESS;
}

/* What records have of times of queueing, of launch attributes, of events on the device: nothing
 * that would be known here. */
CUptiResult cuptiActivityEnableLatencyTimestamps(uint8_t is_wanted)
{
    (void)is_wanted;
    return CUPTI_SUCCESS;
}

CUptiResult cuptiActivityEnableLaunchAttributes(uint8_t are_wanted)
{
    (void)are_wanted;
    return CUPTI_SUCCESS;
}

CUptiResult cuptiActivityEnableCudaEventDeviceTimestamps(uint8_t are_wanted)
{
    (void)are_wanted;
    return CUPTI_SUCCESS;
}

/* Every wait is recorded. */
CUptiResult cuptiActivityEnableAllSyncRecords(uint8_t are_wanted)
{
    (void)are_wanted;
    return CUPTI_SUCCESS;
}

/* Nobody is told any more; what is queued is the client's. */
CUptiResult cuptiFinalize(void)
{
    pt_cupti_buffer_flush();
    atomic_store(&kinds, 0);
    atomic_store(&context_kinds, 0);
    pt_cupti_listen_stop();
    return CUPTI_SUCCESS;
}
