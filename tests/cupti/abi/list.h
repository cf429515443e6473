/* What is compared: AT(structure, member, NVIDIA's name of it), in STRUCTURES, and VALUES. Compiled
 * once with our header and once with NVIDIA's. */
#include <stddef.h>
#include <stdint.h>

struct abi_fact {
    const char *what;
    uint64_t value;
};
extern const struct abi_fact our_facts[], their_facts[];
extern const unsigned n_our_facts, n_their_facts;

/* clang-format off */
#define KERNEL(AT, S) \
    AT(S, registers, registersPerThread) AT(S, start, start) AT(S, completed, completed) \
    AT(S, device, deviceId) AT(S, stream, streamId) AT(S, grid, gridX) AT(S, block, blockX) \
    AT(S, shared_static, staticSharedMemory) AT(S, shared_dynamic, dynamicSharedMemory) \
    AT(S, local_total, localMemoryTotal) AT(S, correlation, correlationId) AT(S, grid_id, gridId) \
    AT(S, name, name) AT(S, queued, queued) AT(S, launch_type, launchType) \
    AT(S, shared_executed, sharedMemoryExecuted) AT(S, graph_node, graphNodeId) \
    AT(S, graph, graphId) AT(S, channel, channelID) AT(S, cluster, clusterX) \
    AT(S, local_total_v2, localMemoryTotal_v2) AT(S, most_clusters, maxActiveClusters)
#define MEMCPY(AT, S) \
    AT(S, copy_kind, copyKind) AT(S, from, srcKind) AT(S, to, dstKind) AT(S, flags, flags) \
    AT(S, bytes, bytes) AT(S, end, end) AT(S, device, deviceId) AT(S, context, contextId) \
    AT(S, correlation, correlationId) AT(S, graph_node, graphNodeId) AT(S, graph, graphId) \
    AT(S, channel_type, channelType) AT(S, copies, copyCount)
#define PTOP(AT, S) \
    AT(S, copy_kind, copyKind) AT(S, bytes, bytes) AT(S, device, deviceId) \
    AT(S, from_device, srcDeviceId) AT(S, to_device, dstDeviceId) \
    AT(S, correlation, correlationId) AT(S, graph_node, graphNodeId) AT(S, channel, channelID)
#define MEMSET(AT, S) \
    AT(S, value, value) AT(S, bytes, bytes) AT(S, start, start) AT(S, stream, streamId) \
    AT(S, correlation, correlationId) AT(S, flags, flags) AT(S, place, memoryKind) \
    AT(S, graph_node, graphNodeId) AT(S, channel_type, channelType)
#define CALL_RECORD(AT, S) \
    AT(S, id, cbid) AT(S, start, start) AT(S, process, processId) AT(S, thread, threadId) \
    AT(S, correlation, correlationId) AT(S, result, returnValue)
#define EXTERNAL(AT, S) \
    AT(S, external_kind, externalKind) AT(S, external_id, externalId) \
    AT(S, correlation, correlationId)
#define SYNCHRONIZATION(AT, S) \
    AT(S, type, type) AT(S, start, start) AT(S, correlation, correlationId) \
    AT(S, context, contextId) AT(S, stream, streamId) AT(S, event, cudaEventId) \
    AT(S, event_sync, cudaEventSyncId) AT(S, result, returnValue)
#define OVERHEAD(AT, S) \
    AT(S, overhead_kind, overheadKind) AT(S, object_kind, objectKind) AT(S, object, objectId) \
    AT(S, start, start) AT(S, correlation, correlationId) AT(S, data, overheadData)
#define CONTEXT(AT, S) \
    AT(S, context, contextId) AT(S, device, deviceId) AT(S, api, computeApiKind) \
    AT(S, null_stream, nullStreamId) AT(S, multiprocessors, numMultiprocessors) \
    AT(S, cig_mode, cigMode)
#define STREAM_RECORD(AT, S) \
    AT(S, stream, streamId) AT(S, priority, priority) AT(S, flag, flag)
#define DEVICE(AT, S) \
    AT(S, flags, flags) AT(S, global_bytes, globalMemorySize) \
    AT(S, constant_bytes, constantMemorySize) AT(S, multiprocessors, numMultiprocessors) \
    AT(S, block_threads, maxThreadsPerBlock) AT(S, grid_dim, maxGridDimX) \
    AT(S, major, computeCapabilityMajor) AT(S, id, id) AT(S, uuid, uuid) AT(S, name, name) \
    AT(S, compute_instance, computeInstanceId) AT(S, numa, numaId)
#define CALL_DATA(AT, S) \
    AT(S, name, functionName) AT(S, parameters, functionParams) AT(S, result, functionReturnValue) \
    AT(S, symbol, symbolName) AT(S, context, context) AT(S, context_id, contextUid) \
    AT(S, data, correlationData) AT(S, correlation, correlationId)
#define GRAPH_DATA(AT, S) \
    AT(S, original, originalGraph) AT(S, node, node) AT(S, original_node, originalNode) \
    AT(S, type, nodeType) AT(S, exec, graphExec)

#define STRUCTURES(X) \
    X(CUpti_ActivityKernel, CUpti_ActivityKernel9, KERNEL) \
    X(CUpti_ActivityMemcpy, CUpti_ActivityMemcpy6, MEMCPY) \
    X(CUpti_ActivityMemcpyPtoP, CUpti_ActivityMemcpyPtoP4, PTOP) \
    X(CUpti_ActivityMemset, CUpti_ActivityMemset4, MEMSET) \
    X(CUpti_ActivityAPI, CUpti_ActivityAPI, CALL_RECORD) \
    X(CUpti_ActivityExternalCorrelation, CUpti_ActivityExternalCorrelation, EXTERNAL) \
    X(CUpti_ActivitySynchronization, CUpti_ActivitySynchronization2, SYNCHRONIZATION) \
    X(CUpti_ActivityOverhead, CUpti_ActivityOverhead3, OVERHEAD) \
    X(CUpti_ActivityContext, CUpti_ActivityContext3, CONTEXT) \
    X(CUpti_ActivityStream, CUpti_ActivityStream, STREAM_RECORD) \
    X(CUpti_ActivityDevice, CUpti_ActivityDevice5, DEVICE) \
    X(CUpti_CallbackData, CUpti_CallbackData, CALL_DATA) \
    X(CUpti_GraphData, CUpti_GraphData, GRAPH_DATA)
#define VALUES(X) \
    X(CUPTI_CB_DOMAIN_RESOURCE) X(CUPTI_CB_DOMAIN_SYNCHRONIZE) X(CUPTI_API_EXIT) \
    X(CUPTI_ACTIVITY_KIND_MEMCPY2) X(CUPTI_ACTIVITY_KIND_OVERHEAD) X(CUPTI_ACTIVITY_KIND_STREAM) \
    X(CUPTI_ACTIVITY_KIND_SYNCHRONIZATION) X(CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION) \
    X(CUPTI_ACTIVITY_OVERHEAD_DRIVER_COMPILER) X(CUPTI_ACTIVITY_OBJECT_THREAD) \
    X(CUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM2) X(CUPTI_CBID_NVTX_SIZE) X(CUPTI_CBID_STATE_SIZE) \
    X(CUPTI_ERROR_QUEUE_EMPTY) X(CUPTI_ERROR_NOT_SUPPORTED) X(CUPTI_ERROR_UNKNOWN)
/* clang-format on */

#define VALUE_FACT(name) {#name, (uint64_t)(name)},
