/* What the driver tells, as callbacks and records. */
#define _GNU_SOURCE /* gettid */
#include "runtime/cupti/told.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

#include "runtime/cupti/activity.h"
#include "runtime/cupti/api.h"
#include "runtime/cupti/buffer.h"
#include "runtime/cupti/callback.h"
#include "runtime/cupti/device.h"
#include "runtime/cupti/listen.h"
#include "runtime/cupti/names.h"

enum { SYMBOL_BYTES = 4096 };

static CUpti_CallbackDomain domain_of(const struct pt_cu_call *call)
{
    return call->api == PT_CU_API_DRIVER ? CUPTI_CB_DOMAIN_DRIVER_API : CUPTI_CB_DOMAIN_RUNTIME_API;
}

/* ---- calls ----------------------------------------------------------------------------------- */

static bool is_launch(const struct pt_cu_call *call)
{
    return !strncmp(call->name, "cuLaunchKernel", 14) ||
           !strncmp(call->name, "cuLaunchCooperativeKernel", 25);
}

/* Of a launch the kernel's name. */
static const char *symbol_of(const struct pt_cu_call *call)
{
    char name[SYMBOL_BYTES];
    if (call->symbol)
        return call->symbol;
    if (call->api != PT_CU_API_DRIVER || !call->parameters || !is_launch(call))
        return NULL;
    bool has_config = !strncmp(call->name, "cuLaunchKernelEx", 16);
    const struct pt_cu_launch_config_arguments *ex = call->parameters;
    const struct pt_cu_launch_arguments *plain = call->parameters;
    CUfunction function = has_config ? ex->function : plain->function;
    return pt_cupti_driver()->symbol(function, name, sizeof name) ? pt_cupti_names_keep(name)
                                                                  : NULL;
}

static void call_back(struct pt_cu_call *call, uint32_t number, unsigned site)
{
    CUpti_CallbackDomain domain = domain_of(call);
    if (!pt_cupti_callback_is_wanted(domain, number))
        return;
    CUcontext context = NULL;
    int device;
    uint64_t id = pt_cupti_driver()->context(NULL, &context, &device);
    const CUpti_CallbackData data = {.site = site,
                                     .name = call->name,
                                     .parameters = call->parameters,
                                     .result = site == CUPTI_API_EXIT ? &call->result : NULL,
                                     .symbol = symbol_of(call),
                                     .context = context,
                                     .context_id = (uint32_t)id,
                                     .data = &call->data,
                                     .correlation = call->correlation};
    pt_cupti_callback_call(domain, number, &data);
}

static CUpti_ActivityKind kind_of(const struct pt_cu_call *call)
{
    return call->api == PT_CU_API_DRIVER ? CUPTI_ACTIVITY_KIND_DRIVER : CUPTI_ACTIVITY_KIND_RUNTIME;
}

static bool is_recorded(const struct pt_cu_call *call, uint32_t number)
{
    bool is_part = call->outer && call->outer->api != call->api; /* as the runtime library's are */
    return number && !is_part && pt_cupti_activity_is_wanted(kind_of(call), 0) &&
           pt_cupti_activity_is_call_wanted(call->api, number);
}

static void add_external(uint32_t kind, uint64_t id, uint32_t correlation)
{
    const CUpti_ActivityExternalCorrelation record = {.kind =
                                                          CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION,
                                                      .external_kind = kind,
                                                      .external_id = id,
                                                      .correlation = correlation};
    pt_cupti_buffer_add(&record);
}

static void enter(struct pt_cu_call *call)
{
    static atomic_uint correlations;
    if (pt_cupti_callback_is_inside()) {
        call->is_told = false;
        return;
    }
    call->correlation =
        call->outer ? call->outer->correlation : atomic_fetch_add(&correlations, 1) + 1;
    call->begun = pt_cupti_now();
    if (!call->outer && pt_cupti_activity_is_wanted(CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION, 0))
        pt_cupti_activity_each_external(add_external, call->correlation);
    call_back(call, pt_cupti_names_number(call->api, call->name), CUPTI_API_ENTER);
}

/* ---- waiting --------------------------------------------------------------------------------- */

/* Calls of the driver that wait, and what for. */
static const struct wait {
    const char *name;
    uint32_t type, callback;
} waits[] = {
    {"cuEventSynchronize", CUPTI_ACTIVITY_SYNCHRONIZATION_EVENT, 0},
    {"cuStreamWaitEvent", CUPTI_ACTIVITY_SYNCHRONIZATION_STREAM_WAIT_EVENT, 0},
    {"cuStreamWaitEvent_ptsz", CUPTI_ACTIVITY_SYNCHRONIZATION_STREAM_WAIT_EVENT, 0},
    {"cuStreamSynchronize", CUPTI_ACTIVITY_SYNCHRONIZATION_STREAM,
     CUPTI_CBID_SYNCHRONIZE_STREAM_SYNCHRONIZED},
    {"cuStreamSynchronize_ptsz", CUPTI_ACTIVITY_SYNCHRONIZATION_STREAM,
     CUPTI_CBID_SYNCHRONIZE_STREAM_SYNCHRONIZED},
    {"cuCtxSynchronize", CUPTI_ACTIVITY_SYNCHRONIZATION_CONTEXT,
     CUPTI_CBID_SYNCHRONIZE_CONTEXT_SYNCHRONIZED},
    {"cuCtxSynchronize_v2", CUPTI_ACTIVITY_SYNCHRONIZATION_CONTEXT,
     CUPTI_CBID_SYNCHRONIZE_CONTEXT_SYNCHRONIZED},
};

static const struct wait *find_wait(const struct pt_cu_call *call)
{
    for (size_t i = 0; call->api == PT_CU_API_DRIVER && i < sizeof waits / sizeof *waits; i++)
        if (!strcmp(call->name, waits[i].name))
            return &waits[i];
    return NULL;
}

static void tell_wait(const struct pt_cu_call *call, const struct wait *wait, uint64_t end)
{
    const struct pt_cu_listening *driver = pt_cupti_driver();
    CUpti_ActivitySynchronization record = {.kind = CUPTI_ACTIVITY_KIND_SYNCHRONIZATION,
                                            .type = wait->type,
                                            .start = call->begun,
                                            .end = end,
                                            .correlation = call->correlation,
                                            .result = (uint32_t)call->result};
    CUpti_SynchronizeData data = {NULL, NULL};
    const struct pt_cu_wait_arguments *of_stream = call->parameters;
    const struct pt_cu_event_arguments *of_event = call->parameters;
    const struct pt_cu_context_arguments *of_context = call->parameters;
    bool is_per_thread = strstr(call->name, "_ptsz") != NULL;
    CUcontext given = NULL;
    CUevent event = NULL;
    int device;
    if (wait->type == CUPTI_ACTIVITY_SYNCHRONIZATION_CONTEXT && of_context)
        given = of_context->context;
    record.context = (uint32_t)driver->context(given, &data.context, &device);
    if (of_stream && (wait->type == CUPTI_ACTIVITY_SYNCHRONIZATION_STREAM ||
                      wait->type == CUPTI_ACTIVITY_SYNCHRONIZATION_STREAM_WAIT_EVENT)) {
        data.stream = of_stream->stream;
        record.stream = (uint32_t)driver->stream(NULL, data.stream, is_per_thread);
    }
    if (of_stream && wait->type == CUPTI_ACTIVITY_SYNCHRONIZATION_STREAM_WAIT_EVENT)
        event = of_stream->event;
    else if (of_event && wait->type == CUPTI_ACTIVITY_SYNCHRONIZATION_EVENT)
        event = of_event->event;
    record.event = event ? (uint32_t)driver->event(event) : 0;
    if (pt_cupti_activity_is_wanted(CUPTI_ACTIVITY_KIND_SYNCHRONIZATION, record.context))
        pt_cupti_buffer_add(&record);
    if (wait->callback)
        pt_cupti_callback_call(CUPTI_CB_DOMAIN_SYNCHRONIZE, wait->callback, &data);
}

/* ---- the end of calls ------------------------------------------------------------------------ */

/* What is loaded may be compiled. */
static bool compiles(const struct pt_cu_call *call)
{
    return call->api == PT_CU_API_DRIVER &&
           (!strncmp(call->name, "cuModuleLoad", 12) || !strncmp(call->name, "cuLibraryLoad", 13));
}

static void add_compiling(const struct pt_cu_call *call, uint64_t end)
{
    const CUpti_ActivityOverhead record = {
        .kind = CUPTI_ACTIVITY_KIND_OVERHEAD,
        .overhead_kind = CUPTI_ACTIVITY_OVERHEAD_DRIVER_COMPILER,
        .object_kind = CUPTI_ACTIVITY_OBJECT_THREAD,
        .object.thread = {(uint32_t)getpid(), (uint32_t)gettid()},
        .start = call->begun,
        .end = end,
        .correlation = call->correlation};
    pt_cupti_buffer_add(&record);
}

static void leave(struct pt_cu_call *call)
{
    uint32_t number = pt_cupti_names_number(call->api, call->name);
    uint64_t end = pt_cupti_now();
    const struct wait *wait = find_wait(call);
    if (wait && call->result == CUDA_SUCCESS)
        tell_wait(call, wait, end);
    if (compiles(call) && pt_cupti_activity_is_wanted(CUPTI_ACTIVITY_KIND_OVERHEAD, 0))
        add_compiling(call, end);
    call_back(call, number, CUPTI_API_EXIT);
    if (!is_recorded(call, number))
        return;
    const CUpti_ActivityAPI record = {.kind = kind_of(call),
                                      .id = number,
                                      .start = call->begun,
                                      .end = end,
                                      .process = (uint32_t)getpid(),
                                      .thread = (uint32_t)gettid(),
                                      .correlation = call->correlation,
                                      .result = (uint32_t)call->result};
    pt_cupti_buffer_add(&record);
}

/* ---- operations ------------------------------------------------------------------------------ */

/* What records of operations have in common. */
#define COMMON(d)                                                                            \
    .start = (d)->begun, .end = (d)->ended, .device = (uint32_t)(d)->device,                 \
    .context = (uint32_t)(d)->context, .stream = (uint32_t)(d)->stream,                      \
    .correlation = (d)->correlation, .graph_node = (d)->node, .graph = (uint32_t)(d)->graph, \
    .channel = CUPTI_NO_CHANNEL

static uint32_t total_local(const struct pt_cu_done *d)
{
    uint64_t total = d->local_bytes;
    for (int i = 0; i < 3; i++)
        total *= (uint64_t)d->grid[i] * d->block[i];
    return total > UINT32_MAX ? UINT32_MAX : (uint32_t)total;
}

static void add_kernel(const struct pt_cu_done *d, CUpti_ActivityKind kind)
{
    static atomic_uint_fast64_t grids;
    CUpti_ActivityKernel record = {.kind = kind,
                                   .registers = (uint16_t)d->registers,
                                   .completed = d->ended,
                                   .shared_static = (int32_t)d->shared_static,
                                   .shared_dynamic = (int32_t)d->shared_dynamic,
                                   .local_bytes = d->local_bytes,
                                   .local_total = total_local(d),
                                   .grid_id = (int64_t)atomic_fetch_add(&grids, 1) + 1,
                                   .name = pt_cupti_names_keep(d->name),
                                   .launch_type = d->is_cooperative,
                                   .shared_executed = d->shared_static + d->shared_dynamic,
                                   COMMON(d),
                                   .priority = d->priority};
    record.local_total_v2 = record.local_total;
    for (int i = 0; i < 3; i++) {
        record.grid[i] = (int32_t)d->grid[i];
        record.block[i] = (int32_t)d->block[i];
        record.cluster[i] = d->cluster[i];
    }
    pt_cupti_buffer_add(&record);
}

static uint8_t copy_kind(const struct pt_cu_done *d)
{
    enum { HOST, DEVICE, ARRAY };
    static const uint8_t kinds[3][3] = {
        [HOST] = {9, 1, 3}, [DEVICE] = {2, 8, 7}, [ARRAY] = {4, 6, 5}};
    const enum pt_cu_place places[] = {d->from, d->to};
    int side[2];
    for (int i = 0; i < 2; i++)
        side[i] = places[i] == PT_CU_PLACE_ARRAY    ? ARRAY
                  : places[i] <= PT_CU_PLACE_PINNED ? HOST
                                                    : DEVICE;
    return kinds[side[0]][side[1]];
}

static void add_peer_copy(const struct pt_cu_done *d)
{
    const CUpti_ActivityMemcpyPtoP record = {.kind = CUPTI_ACTIVITY_KIND_MEMCPY2,
                                             .copy_kind = 10,
                                             .from = (uint8_t)d->from,
                                             .to = (uint8_t)d->to,
                                             .flags = d->is_async,
                                             .bytes = d->bytes,
                                             .from_device = (uint32_t)d->from_device,
                                             .to_device = (uint32_t)d->to_device,
                                             COMMON(d)};
    pt_cupti_buffer_add(&record);
}

static void add_copy(const struct pt_cu_done *d)
{
    const CUpti_ActivityMemcpy record = {.kind = CUPTI_ACTIVITY_KIND_MEMCPY,
                                         .copy_kind = copy_kind(d),
                                         .from = (uint8_t)d->from,
                                         .to = (uint8_t)d->to,
                                         .flags = d->is_async,
                                         .bytes = d->bytes,
                                         COMMON(d),
                                         .copies = 1};
    pt_cupti_buffer_add(&record);
}

static void add_set(const struct pt_cu_done *d)
{
    const CUpti_ActivityMemset record = {.kind = CUPTI_ACTIVITY_KIND_MEMSET,
                                         .value = d->value,
                                         .bytes = d->bytes,
                                         .flags = d->is_async,
                                         .place = (uint16_t)d->to,
                                         COMMON(d)};
    pt_cupti_buffer_add(&record);
}

static void done(const struct pt_cu_done *d)
{
    uint32_t context = (uint32_t)d->context;
    switch (d->what) {
    case PT_CU_DONE_KERNEL:
        if (pt_cupti_activity_is_wanted(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, context))
            add_kernel(d, CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL);
        else if (pt_cupti_activity_is_wanted(CUPTI_ACTIVITY_KIND_KERNEL, context))
            add_kernel(d, CUPTI_ACTIVITY_KIND_KERNEL);
        break;
    case PT_CU_DONE_COPY:
        if (d->from_device != d->to_device) {
            if (pt_cupti_activity_is_wanted(CUPTI_ACTIVITY_KIND_MEMCPY2, context))
                add_peer_copy(d);
        } else if (pt_cupti_activity_is_wanted(CUPTI_ACTIVITY_KIND_MEMCPY, context)) {
            add_copy(d);
        }
        break;
    case PT_CU_DONE_SET:
        if (pt_cupti_activity_is_wanted(CUPTI_ACTIVITY_KIND_MEMSET, context))
            add_set(d);
        break;
    case PT_CU_DONE_NOTHING:
        break;
    }
}

/* ---- resources ------------------------------------------------------------------------------- */

static void record_resource(const struct pt_cu_resource *r)
{
    if (r->what == PT_CU_MADE_CONTEXT)
        pt_cupti_device_add_context(r->context);
    else if (r->what == PT_CU_MADE_STREAM)
        pt_cupti_device_add_stream(r->context, r->stream);
    else if (r->what == PT_CU_IS_INITIALISED)
        pt_cupti_device_add_devices();
}

static void resource(const struct pt_cu_resource *r)
{
    if (pt_cupti_callback_is_inside())
        return;
    CUpti_GraphData graph = {.graph = r->graph,
                             .original = r->original,
                             .node = r->node,
                             .original_node = r->original_node,
                             .type = r->type,
                             .exec = r->exec};
    CUpti_ModuleResourceData module = {.id = r->module};
    CUpti_ResourceData data = {.context = r->context, .stream = r->stream};
    if (r->what == PT_CU_MADE_MODULE || r->what == PT_CU_ENDS_MODULE)
        data.descriptor = &module;
    else if (r->what >= PT_CU_MADE_GRAPH)
        data.descriptor = &graph;
    record_resource(r);
    pt_cupti_callback_call(CUPTI_CB_DOMAIN_RESOURCE, r->what, &data);
}

/* ---- listening ------------------------------------------------------------------------------- */

static void begin(CUpti_ActivityKind kind)
{
    if (kind == CUPTI_ACTIVITY_KIND_DEVICE)
        pt_cupti_device_add_devices();
}

__attribute__((constructor)) static void say_who(void)
{
    static const struct pt_cu_listener listener = {pt_cupti_now, enter, leave, done, resource};
    pt_cupti_listen_by(&listener, begin);
}

/* ---- launches without the driver ------------------------------------------------------------- */

static _Thread_local struct {
    struct pt_cu_call call;
    uint64_t begun;
} own;

/* Who asked to be told asks the driver for its devices. */
static void initialise(void)
{
    pt_cupti_callback_enter();
    cuInit(0);
    pt_cupti_callback_leave();
}

int ptera_cupti_begin(const char *kernel)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    if (!pt_cupti_listen_is_on())
        return 0;
    pthread_once(&once, initialise);
    own.call = (struct pt_cu_call){.api = PT_CU_API_DRIVER,
                                   .name = "cuLaunchKernel",
                                   .symbol = pt_cupti_names_keep(kernel),
                                   .is_told = true};
    enter(&own.call);
    own.begun = pt_cupti_now();
    return own.call.is_told;
}

void ptera_cupti_end(const unsigned *grid, const unsigned *block, unsigned shared,
                     unsigned registers, int result)
{
    struct pt_cu_done d = {.what = PT_CU_DONE_KERNEL,
                           .begun = own.begun,
                           .ended = pt_cupti_now(),
                           .correlation = own.call.correlation,
                           .name = own.call.symbol,
                           .registers = registers,
                           .shared_dynamic = shared};
    for (int i = 0; i < 3; i++) {
        d.grid[i] = grid[i];
        d.block[i] = block[i];
    }
    if (result == CUDA_SUCCESS)
        done(&d);
    own.call.result = result;
    leave(&own.call);
}
