/* The numbers that the listener gives to what programs have handles of. */
#include "runtime/cuda/identity.h"

#include <stdio.h>

#include "runtime/cuda/context_list.h"
#include "runtime/cuda/current.h"
#include "runtime/cuda/event.h"
#include "runtime/cuda/graph.h"
#include "runtime/cuda/library.h"
#include "runtime/cuda/lock.h"
#include "runtime/cuda/stream.h"

uint64_t pt_cu_identity_context(CUcontext given, CUcontext *context, int *device)
{
    CUcontext whole = NULL;
    uint64_t id = 0;
    pt_cu_lock_take();
    CUcontext handle = given ? given : pt_cu_current_handle();
    if (handle && pt_cu_context_list_check(handle, &whole) == CUDA_SUCCESS) {
        id = whole->object.id;
        *context = handle;
        *device = whole->device;
    }
    pt_cu_lock_release();
    return id;
}

static uint64_t stream_in(CUcontext ctx, CUstream given, bool is_per_thread)
{
    CUstream stream = NULL;
    if (pt_cu_handle_is(given, PT_CU_STREAM))
        return given->object.id;
    CUstream null = is_per_thread ? CU_STREAM_PER_THREAD : CU_STREAM_LEGACY;
    if (given && given != CU_STREAM_LEGACY && given != CU_STREAM_PER_THREAD)
        return 0;
    if ((given ? given : null) == CU_STREAM_LEGACY)
        stream = ctx->null_stream;
    else if (pt_cu_stream_find(null, given, &stream) != CUDA_SUCCESS || stream->ctx != ctx)
        return 0;
    return stream ? stream->object.id : 0;
}

uint64_t pt_cu_identity_stream(CUcontext context, CUstream stream, bool is_per_thread)
{
    CUcontext whole;
    uint64_t id = 0;
    pt_cu_lock_take();
    CUcontext handle = context ? context : pt_cu_current_handle();
    if (handle && pt_cu_context_list_check(handle, &whole) == CUDA_SUCCESS)
        id = stream_in(whole, stream, is_per_thread);
    pt_cu_lock_release();
    return id;
}

static uint64_t id_of(const void *handle, enum pt_cu_kind kind)
{
    pt_cu_lock_take();
    uint64_t id = pt_cu_handle_is(handle, kind) ? ((const struct pt_cu_object *)handle)->id : 0;
    pt_cu_lock_release();
    return id;
}

uint64_t pt_cu_identity_event(CUevent event)
{
    return id_of(event, PT_CU_EVENT);
}

uint64_t pt_cu_identity_graph(CUgraph graph)
{
    return id_of(graph, PT_CU_GRAPH);
}

uint64_t pt_cu_identity_exec(CUgraphExec exec)
{
    return id_of(exec, PT_CU_EXEC);
}

uint64_t pt_cu_identity_node(CUgraphNode node)
{
    return id_of(node, PT_CU_NODE);
}

bool pt_cu_identity_symbol(CUfunction function, char *name, size_t bytes)
{
    const char *found = NULL;
    pt_cu_lock_take();
    if (pt_cu_handle_is(function, PT_CU_KERNEL))
        found = ((CUkernel)(void *)function)->name;
    else if (pt_cu_handle_is(function, PT_CU_FUNCTION))
        found = ptera_kernel_name(function->kernel);
    if (found)
        snprintf(name, bytes, "%s", found);
    pt_cu_lock_release();
    return found != NULL;
}
