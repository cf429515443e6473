/* The part of CUPTI's binary interface that is served, as its headers have it up to CUDA 13.5. What
 * a record has in a release is the beginning of what it has in a later one. */
#ifndef PTERA_CUPTI_ABI_H
#define PTERA_CUPTI_ABI_H

#include <stddef.h>
#include <stdint.h>

#include "runtime/cuda/abi.h"

typedef enum {
#define RESULT(symbol, value) symbol = (value),
#include "runtime/cupti/result.def"
#undef RESULT
} CUptiResult;

/* ---- callbacks ------------------------------------------------------------------------------- */

typedef enum {
    CUPTI_CB_DOMAIN_DRIVER_API = 1,
    CUPTI_CB_DOMAIN_RUNTIME_API,
    CUPTI_CB_DOMAIN_RESOURCE,
    CUPTI_CB_DOMAIN_SYNCHRONIZE,
    CUPTI_CB_DOMAIN_NVTX,
    CUPTI_CB_DOMAIN_STATE,
    CUPTI_CB_DOMAIN_SIZE
} CUpti_CallbackDomain;

enum { CUPTI_API_ENTER, CUPTI_API_EXIT };

enum {
    CUPTI_CBID_SYNCHRONIZE_STREAM_SYNCHRONIZED = 1,
    CUPTI_CBID_SYNCHRONIZE_CONTEXT_SYNCHRONIZED,
    CUPTI_CBID_SYNCHRONIZE_SIZE,
    CUPTI_CBID_RESOURCE_SIZE = 26,
    CUPTI_CBID_STATE_SIZE = 4,
    CUPTI_CBID_NVTX_SIZE = 50
};

typedef uint32_t CUpti_CallbackId;
typedef void (*CUpti_CallbackFunc)(void *ud, CUpti_CallbackDomain domain, CUpti_CallbackId id,
                                   const void *data);
typedef struct CUpti_Subscriber_st *CUpti_SubscriberHandle;

/* Of calls. */
typedef struct {
    unsigned site; /* CUPTI_API_ENTER, CUPTI_API_EXIT */
    const char *name;
    const void *parameters; /* NULL: not told */
    void *result;           /* at the end: where it is */
    const char *symbol;     /* of a launch: the kernel's name; else NULL */
    CUcontext context;
    uint32_t context_id;
    uint64_t *data; /* the subscriber's, from the beginning to the end */
    uint32_t correlation;
} CUpti_CallbackData;

typedef struct {
    CUcontext context;
    CUstream stream;
    void *descriptor; /* one of those that follow, or NULL */
} CUpti_ResourceData;

typedef struct {
    uint32_t id;
    size_t bytes;
    const char *image;
} CUpti_ModuleResourceData;

typedef struct {
    CUgraph graph, original;
    CUgraphNode node, original_node;
    CUgraphNodeType type;
    CUgraphNode dependency;
    CUgraphExec exec;
} CUpti_GraphData;

typedef struct {
    CUcontext context;
    CUstream stream;
} CUpti_SynchronizeData;

/* ---- records --------------------------------------------------------------------------------- */

typedef enum {
    CUPTI_ACTIVITY_KIND_MEMCPY = 1,
    CUPTI_ACTIVITY_KIND_MEMSET = 2,
    CUPTI_ACTIVITY_KIND_KERNEL = 3,
    CUPTI_ACTIVITY_KIND_DRIVER = 4,
    CUPTI_ACTIVITY_KIND_RUNTIME = 5,
    CUPTI_ACTIVITY_KIND_DEVICE = 8,
    CUPTI_ACTIVITY_KIND_CONTEXT = 9,
    CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL = 10,
    CUPTI_ACTIVITY_KIND_OVERHEAD = 17,
    CUPTI_ACTIVITY_KIND_MEMCPY2 = 22,
    CUPTI_ACTIVITY_KIND_STREAM = 37,
    CUPTI_ACTIVITY_KIND_SYNCHRONIZATION = 38,
    CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION = 39,
    CUPTI_ACTIVITY_KIND_COUNT = 60
} CUpti_ActivityKind;

enum {
    CUPTI_ACTIVITY_SYNCHRONIZATION_EVENT = 1,
    CUPTI_ACTIVITY_SYNCHRONIZATION_STREAM_WAIT_EVENT,
    CUPTI_ACTIVITY_SYNCHRONIZATION_STREAM,
    CUPTI_ACTIVITY_SYNCHRONIZATION_CONTEXT
};

enum { CUPTI_CHANNEL_TYPE_COMPUTE = 1, CUPTI_CHANNEL_TYPE_ASYNC_MEMCPY };
enum { CUPTI_NO_CHANNEL = 0xffffffff };

enum {
    CUPTI_EXTERNAL_CORRELATION_KIND_UNKNOWN = 1,
    CUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM0 = 3,
    CUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM1,
    CUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM2,
    CUPTI_EXTERNAL_CORRELATION_KIND_SIZE
};

/* What every record begins with. All of them are multiples of 8 bytes. */
typedef struct {
    uint32_t kind;
} CUpti_Activity;

typedef struct {
    uint32_t kind;
    uint8_t cache_config, shared_config;
    uint16_t registers; /* of a thread */
    uint32_t global_cache_requested, global_cache_executed;
    uint64_t start, end, completed; /* ns */
    uint32_t device, context, stream;
    int32_t grid[3], block[3];
    int32_t shared_static, shared_dynamic;
    uint32_t local_bytes, local_total;
    uint32_t correlation;
    int64_t grid_id;
    const char *name;
    void *reserved;
    uint64_t queued, submitted; /* 0: not known */
    uint8_t launch_type, is_carveout_requested, carveout, padding;
    uint32_t shared_executed;
    uint64_t graph_node;
    uint32_t shared_limit;
    uint32_t graph;
    void *access_policy;
    uint32_t channel, channel_type;
    uint32_t cluster[3];
    uint32_t cluster_policy;
    uint64_t local_total_v2;
    uint32_t most_cluster, most_clusters;
    uint8_t is_device_launched, padding3[7]; /* from here on: release 13 */
    int32_t priority;
    uint32_t padding4, execution_model, padding5;
    uint32_t source_graph, padding6;
    uint64_t source_graph_node;
} CUpti_ActivityKernel;

typedef struct {
    uint32_t kind;
    uint8_t copy_kind, from, to, flags; /* flags: 1, asynchronous */
    uint64_t bytes, start, end;
    uint32_t device, context, stream;
    uint32_t correlation, runtime_correlation, padding;
    void *reserved;
    uint64_t graph_node;
    uint32_t graph, channel, channel_type;
    uint8_t is_device_launched, padding2[3];
    uint64_t copies;
    uint32_t source_graph, padding3; /* from here on: release 13 */
    uint64_t source_graph_node;
} CUpti_ActivityMemcpy;

/* Between devices. */
typedef struct {
    uint32_t kind;
    uint8_t copy_kind, from, to, flags;
    uint64_t bytes, start, end;
    uint32_t device, context, stream;
    uint32_t from_device, from_context, to_device, to_context;
    uint32_t correlation;
    void *reserved;
    uint64_t graph_node;
    uint32_t graph, channel, channel_type, padding;
} CUpti_ActivityMemcpyPtoP;

typedef struct {
    uint32_t kind;
    uint32_t value;
    uint64_t bytes, start, end;
    uint32_t device, context, stream;
    uint32_t correlation;
    uint16_t flags, place; /* flags: 1, asynchronous */
    uint32_t padding;
    void *reserved;
    uint64_t graph_node;
    uint32_t graph, channel, channel_type;
    uint8_t is_device_launched, padding2[3];
    uint32_t source_graph, padding3; /* from here on: release 13 */
    uint64_t source_graph_node;
} CUpti_ActivityMemset;

typedef struct {
    uint32_t kind;
    CUpti_CallbackId id;
    uint64_t start, end;
    uint32_t process, thread;
    uint32_t correlation;
    uint32_t result;
} CUpti_ActivityAPI;

typedef struct {
    uint32_t kind;
    uint32_t external_kind;
    uint64_t external_id;
    uint32_t correlation, reserved;
} CUpti_ActivityExternalCorrelation;

typedef struct {
    uint32_t kind;
    uint32_t type;
    uint64_t start, end;
    uint32_t correlation, context, stream, event;
    uint64_t event_sync;
    uint32_t result, padding;
} CUpti_ActivitySynchronization;

typedef union {
    struct {
        uint32_t process, thread;
    } thread;
    struct {
        uint32_t device, context, stream;
    } device;
} CUpti_ActivityObjectKindId;

enum { CUPTI_ACTIVITY_OBJECT_THREAD = 2 };
enum {
    CUPTI_ACTIVITY_OVERHEAD_DRIVER_COMPILER = 1,
    CUPTI_ACTIVITY_OVERHEAD_CUPTI_BUFFER_FLUSH = 1 << 16
};

typedef struct {
    uint32_t kind, overhead_kind, object_kind;
    CUpti_ActivityObjectKindId object;
    uint64_t start, end;
    uint32_t correlation, reserved;
    void *data;
} CUpti_ActivityOverhead;

typedef struct {
    uint32_t kind;
    uint32_t context, device;
    uint16_t api, null_stream;
    uint32_t parent;
    uint8_t is_green, padding;
    uint16_t multiprocessors;
    uint32_t cig_mode, padding2;
    uint64_t process; /* release 13 */
} CUpti_ActivityContext;

typedef struct {
    uint32_t kind;
    uint32_t context, stream, priority, flag, correlation;
} CUpti_ActivityStream;

typedef struct {
    uint32_t kind, flags;
    uint64_t global_bandwidth, global_bytes; /* kB a second; bytes */
    uint32_t constant_bytes, l2_bytes, warp_threads, clock_khz, copy_engines, multiprocessors,
        most_ipc, multiprocessor_warps, multiprocessor_blocks, multiprocessor_shared,
        multiprocessor_registers, block_registers, block_shared, block_threads, block_dim[3],
        grid_dim[3], major, minor, id, has_ecc;
    CUuuid uuid;
    const char *name;
    uint8_t is_visible, is_mig, reserved[6];
    uint32_t gpu_instance, compute_instance;
    CUuuid mig_uuid;
    uint32_t is_numa, numa;
    uint32_t tpcs, reserved2; /* release 13 */
} CUpti_ActivityDevice;

typedef void (*CUpti_BuffersCallbackRequestFunc)(uint8_t **buffer, size_t *bytes, size_t *most);
typedef void (*CUpti_BuffersCallbackCompleteFunc)(CUcontext context, uint32_t stream,
                                                  uint8_t *buffer, size_t bytes, size_t valid);
typedef uint64_t (*CUpti_TimestampCallbackFunc)(void);

/* ---- what is served ---------------------------------------------------------------------------
 */

CUptiResult cuptiGetLastError(void);
CUptiResult cuptiGetResultString(CUptiResult result, const char **text);
CUptiResult cuptiGetErrorMessage(CUptiResult result, const char **text);
CUptiResult cuptiGetVersion(uint32_t *version);
CUptiResult cuptiActivityRegisterTimestampCallback(CUpti_TimestampCallbackFunc call);
CUptiResult cuptiGetTimestamp(uint64_t *timestamp);
CUptiResult cuptiSetThreadIdType(uint32_t type);
CUptiResult cuptiGetThreadIdType(uint32_t *type);
CUptiResult cuptiGetCallbackName(CUpti_CallbackDomain domain, uint32_t number, const char **name);
CUptiResult cuptiDeviceSupported(CUdevice device, int *supported);
CUptiResult cuptiComputeCapabilitySupported(int major, int minor, int *supported);
CUptiResult cuptiDeviceVirtualizationMode(CUdevice device, uint32_t *mode);
CUptiResult cuptiGetContextId(CUcontext context, uint32_t *id);
CUptiResult cuptiGetDeviceId(CUcontext context, uint32_t *id);
CUptiResult cuptiGetStreamIdEx(CUcontext context, CUstream stream, uint8_t is_per_thread,
                               uint32_t *id);
CUptiResult cuptiGetStreamId(CUcontext context, CUstream stream, uint32_t *id);
CUptiResult cuptiActivityRegisterCallbacks(CUpti_BuffersCallbackRequestFunc requested,
                                           CUpti_BuffersCallbackCompleteFunc completed);
CUptiResult cuptiActivityFlushAll(uint32_t flags);
CUptiResult cuptiActivityFlush(CUcontext context, uint32_t stream, uint32_t flags);
CUptiResult cuptiActivityFlushPeriod(uint32_t ms);
CUptiResult cuptiActivityGetNextRecord(uint8_t *buffer, size_t valid, CUpti_Activity **record);
CUptiResult cuptiActivityGetNumDroppedRecords(CUcontext context, uint32_t stream, size_t *dropped);
CUptiResult cuptiSubscribe(CUpti_SubscriberHandle *handle, CUpti_CallbackFunc call, void *ud);
CUptiResult cuptiUnsubscribe(CUpti_SubscriberHandle handle);
CUptiResult cuptiEnableCallback(uint32_t is_wanted, CUpti_SubscriberHandle handle,
                                CUpti_CallbackDomain domain, CUpti_CallbackId number);
CUptiResult cuptiEnableDomain(uint32_t are_wanted, CUpti_SubscriberHandle handle,
                              CUpti_CallbackDomain domain);
CUptiResult cuptiEnableAllDomains(uint32_t are_wanted, CUpti_SubscriberHandle handle);
CUptiResult cuptiGetCallbackState(uint32_t *is_wanted, CUpti_SubscriberHandle handle,
                                  CUpti_CallbackDomain domain, CUpti_CallbackId number);
CUptiResult cuptiSupportedDomains(size_t *count, CUpti_CallbackDomain **domains);
CUptiResult cuptiActivityEnable(CUpti_ActivityKind kind);
CUptiResult cuptiActivityEnableAndDump(CUpti_ActivityKind kind);
CUptiResult cuptiActivityDisable(CUpti_ActivityKind kind);
CUptiResult cuptiActivityEnableContext(CUcontext context, CUpti_ActivityKind kind);
CUptiResult cuptiActivityDisableContext(CUcontext context, CUpti_ActivityKind kind);
CUptiResult cuptiActivityEnableDriverApi(CUpti_CallbackId number, uint8_t is_wanted);
CUptiResult cuptiActivityEnableRuntimeApi(CUpti_CallbackId number, uint8_t is_wanted);
CUptiResult cuptiActivityPushExternalCorrelationId(uint32_t kind, uint64_t id);
CUptiResult cuptiActivityPopExternalCorrelationId(uint32_t kind, uint64_t *id);
CUptiResult cuptiActivityGetAttribute(unsigned attribute, size_t *bytes, void *value);
CUptiResult cuptiActivitySetAttribute(unsigned attribute, size_t *bytes, const void *value);
CUptiResult cuptiActivityEnableLatencyTimestamps(uint8_t is_wanted);
CUptiResult cuptiActivityEnableLaunchAttributes(uint8_t are_wanted);
CUptiResult cuptiActivityEnableCudaEventDeviceTimestamps(uint8_t are_wanted);
CUptiResult cuptiActivityEnableAllSyncRecords(uint8_t are_wanted);
CUptiResult cuptiFinalize(void);
CUptiResult cuptiGetGraphId(CUgraph graph, uint32_t *id);
CUptiResult cuptiGetGraphExecId(CUgraphExec exec, uint32_t *id);
CUptiResult cuptiGetGraphNodeId(CUgraphNode node, uint64_t *id);
CUptiResult cuptiGetCudaEventId(CUevent event, uint32_t *id);

#endif
