/* Launching kernels. */
#include "runtime/cuda/launch.h"

#include <stdlib.h>
#include <string.h>

#include "runtime/cuda/capture.h"
#include "runtime/cuda/command.h"
#include "runtime/cuda/context_list.h"
#include "runtime/cuda/device.h"
#include "runtime/cuda/driver.h"
#include "runtime/cuda/entry.h"
#include "runtime/cuda/error.h"
#include "runtime/cuda/event.h"
#include "runtime/cuda/function.h"
#include "runtime/cuda/hint.h"
#include "runtime/cuda/listener.h"
#include "runtime/cuda/log.h"
#include "runtime/cuda/library.h"
#include "runtime/cuda/occupancy.h"
#include "runtime/cuda/op.h"
#include "runtime/cuda/stream.h"
#include "runtime/cuda/submit.h"
#include "runtime/cuda/updatable.h"
#include "runtime/device.h"

/* ---- what fits ------------------------------------------------------------------------------- */

static _Thread_local enum pt_misfit last_misfit; /* of the thread's last launch */

enum pt_misfit pt_cu_launch_last_misfit(void)
{
    return last_misfit;
}

static CUresult result_of(enum pt_misfit misfit)
{
    last_misfit = misfit;
    switch (misfit) {
    case PT_MISFIT_NONE:
        return CUDA_SUCCESS;
    case PT_MISFIT_REGISTERS:
        return CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES;
    case PT_MISFIT_CLUSTER_MISSING:
    case PT_MISFIT_CLUSTER_REQUIRED:
    case PT_MISFIT_CLUSTER_NONE:
    case PT_MISFIT_CLUSTER_SIZE:
    case PT_MISFIT_CLUSTER_GRID:
        return CUDA_ERROR_INVALID_CLUSTER_SIZE;
    case PT_MISFIT_RESIDENT:
        return CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE;
    case PT_MISFIT_BLOCK:
    case PT_MISFIT_GRID:
    case PT_MISFIT_THREADS:
    case PT_MISFIT_REQNTID:
    case PT_MISFIT_SHARED:
    case PT_MISFIT_DYNAMIC:
    case PT_MISFIT_CLUSTER_RANK:
        break;
    }
    return CUDA_ERROR_INVALID_VALUE;
}

/* Clusters of the launch, else those the function was set to. */
static CUresult set_cluster(CUfunction f, ptera_launch *l)
{
    int must, size[3];
    unsigned *c = l->cluster;
    CUresult r = pt_cu_function_value(f, CU_FUNC_ATTRIBUTE_CLUSTER_SIZE_MUST_BE_SET, &must);
    for (int d = 0; r == CUDA_SUCCESS && d < 3; d++)
        r = pt_cu_function_value(f, CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH + d, &size[d]);
    if (r != CUDA_SUCCESS)
        return r;
    bool is_given = c[0] || c[1] || c[2];
    for (int d = 0; d < 3; d++) {
        if (is_given && !c[d])
            return CUDA_ERROR_INVALID_CLUSTER_SIZE;
        if (is_given && size[0] && c[d] != (unsigned)(size[d] ? size[d] : 1))
            return CUDA_ERROR_INVALID_CLUSTER_SIZE;
        if (!is_given && size[0])
            c[d] = size[d] ? (unsigned)size[d] : 1;
    }
    return !is_given && !size[0] && must ? CUDA_ERROR_INVALID_CLUSTER_SIZE : CUDA_SUCCESS;
}

/* What the function's attributes allow, and as much as registers do. */
static CUresult find_bounds(const struct pt_cu_launch *launch, struct pt_shape_bounds *bounds)
{
    CUfunction f = launch->function;
    const ptera_launch *l = &launch->launch;
    int dynamic, non_portable, registers = 0;
    CUresult r =
        pt_cu_function_most_threads(f, l->block[0] * l->block[1] * l->block[2], &bounds->threads);
    if (r == CUDA_SUCCESS)
        r = pt_cu_function_value(f, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, &dynamic);
    if (r == CUDA_SUCCESS)
        r = pt_cu_function_value(f, CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED,
                                 &non_portable);
    if (r == CUDA_SUCCESS && l->cooperative)
        r = pt_cu_function_value(f, CU_FUNC_ATTRIBUTE_NUM_REGS, &registers);
    if (r != CUDA_SUCCESS)
        return r;
    bounds->registers = (uint32_t)registers;
    bounds->sms = launch->sms;
    bounds->cluster = non_portable ? PT_DEVICE_CLUSTER_MOST : PT_DEVICE_CLUSTER_PORTABLE;
    bounds->has_dynamic = true;
    bounds->dynamic = (uint32_t)dynamic;
    return CUDA_SUCCESS;
}

/* ---- parameters ------------------------------------------------------------------------------ */

/* {CU_LAUNCH_PARAM_BUFFER_POINTER, block, CU_LAUNCH_PARAM_BUFFER_SIZE, &bytes, CU_LAUNCH_PARAM_END}
 * in any order. A block may be longer than the parameters: C pads structures. */
static CUresult read_extra(CUfunction f, void **extra, ptera_launch *l)
{
    const size_t *bytes = NULL;
    for (; *extra != CU_LAUNCH_PARAM_END; extra += 2) {
        if (extra[0] == CU_LAUNCH_PARAM_BUFFER_POINTER)
            l->parameter_block = extra[1];
        else if (extra[0] == CU_LAUNCH_PARAM_BUFFER_SIZE)
            bytes = extra[1];
        else
            return CUDA_ERROR_INVALID_VALUE;
    }
    l->parameter_block_bytes = pt_cu_function_parameter_bytes(f);
    bool has_all = bytes && *bytes >= l->parameter_block_bytes &&
                   (l->parameter_block || !l->parameter_block_bytes);
    return has_all ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

static CUresult set_parameters(CUfunction f, void **parameters, void **extra, ptera_launch *l)
{
    if (parameters && extra)
        return CUDA_ERROR_INVALID_VALUE;
    if (extra)
        return read_extra(f, extra, l);
    l->parameters = (const void *const *)parameters;
    l->n_parameters = f->module->ptera->ir.funcs.v[f->kernel->func].params.n;
    return l->n_parameters && !parameters ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
}

static unsigned value_of(CUfunction f, CUfunction_attribute attribute)
{
    int value = 0;
    return pt_cu_function_value(f, attribute, &value) == CUDA_SUCCESS ? (unsigned)value : 0;
}

static void describe(struct pt_cu_launch *launch)
{
    launch->registers = value_of(launch->function, CU_FUNC_ATTRIBUTE_NUM_REGS);
    launch->shared_static = value_of(launch->function, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES);
    launch->local_bytes = value_of(launch->function, CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES);
}

CUresult pt_cu_launch_ready(struct pt_cu_launch *launch, void **parameters, void **extra)
{
    CUfunction f = launch->function;
    CUresult r = set_parameters(f, parameters, extra, &launch->launch);
    struct pt_shape_bounds bounds = {0};
    struct pt_shape shape;
    enum pt_misfit misfit = PT_MISFIT_NONE;
    if (r == CUDA_SUCCESS) /* before it is compiled, which the rest needs */
        r = result_of(pt_shape_check_size(&f->module->ptera->ir.funcs.v[f->kernel->func],
                                          &launch->launch, &shape));
    if (r == CUDA_SUCCESS)
        r = find_bounds(launch, &bounds);
    if (r == CUDA_SUCCESS)
        r = set_cluster(f, &launch->launch);
    if (r != CUDA_SUCCESS)
        return r;
    CUcontext ctx = f->module->ctx;
    char error[PT_CU_LOG_BYTES];
    ptera_launch given = launch->launch;
    error[0] = 0; /* the rest need not be cleared for each launch */
    given.error = error;
    given.error_bytes = sizeof error;
    pt_cu_command_step_out(ctx);
    ptera_result made = pt_launch_prepare(f->kernel, &given, &bounds, &launch->job, &misfit);
    pt_cu_command_step_in(ctx);
    f->is_loaded |= made == PTERA_OK;
    if (made == PTERA_OK && pt_cu_listener_is_on())
        describe(launch);
    if (made != PTERA_OK && pt_cu_log_is_on(PT_CU_LOG_LAUNCH))
        pt_cu_log_print("%s", error);
    return misfit ? result_of(misfit) : pt_cu_error_of(made);
}

/* ---- entries --------------------------------------------------------------------------------- */

static void set_shape(ptera_launch *l, const CUlaunchConfig *c)
{
    ptera_launch_init(l);
    memcpy(l->grid, (unsigned[]){c->gridDimX, c->gridDimY, c->gridDimZ}, sizeof l->grid);
    memcpy(l->block, (unsigned[]){c->blockDimX, c->blockDimY, c->blockDimZ}, sizeof l->block);
    l->shared_bytes = c->sharedMemBytes;
}

/* Clusters that are preferred are larger than those that there are at least, by whole numbers, and
 * fill the grid. */
static CUresult check_preferred(const ptera_launch *l, const unsigned preferred[3])
{
    if (!preferred[0] && !preferred[1] && !preferred[2])
        return CUDA_SUCCESS;
    for (int d = 0; d < 3; d++)
        if (!preferred[d] || preferred[d] % (l->cluster[d] ? l->cluster[d] : 1) ||
            l->grid[d] % preferred[d])
            return CUDA_ERROR_INVALID_CLUSTER_SIZE;
    return CUDA_SUCCESS;
}

/* Attributes about caches, domains and placement are advice. */
static CUresult set_attributes(struct pt_cu_launch *launch, const CUlaunchConfig *c,
                               bool is_captured, CUevent *completion)
{
    CUdevice device = launch->function->module->ctx->device;
    ptera_launch *l = &launch->launch;
    unsigned preferred[3] = {0};
    if (c->numAttrs && !c->attrs)
        return CUDA_ERROR_INVALID_VALUE;
    for (unsigned i = 0; i < c->numAttrs; i++) {
        const CUlaunchAttributeValue *v = &c->attrs[i].value;
        if (!pt_cu_hint_is_valid(c->attrs[i].id, v, device))
            return CUDA_ERROR_INVALID_VALUE;
        switch (c->attrs[i].id) {
        case CU_LAUNCH_ATTRIBUTE_COOPERATIVE:
            l->cooperative = v->cooperative;
            break;
        case CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION:
            memcpy(l->cluster, (unsigned[]){v->clusterDim.x, v->clusterDim.y, v->clusterDim.z},
                   sizeof l->cluster);
            break;
        case CU_LAUNCH_ATTRIBUTE_PREFERRED_CLUSTER_DIMENSION:
            memcpy(preferred,
                   (unsigned[]){v->preferredClusterDim.x, v->preferredClusterDim.y,
                                v->preferredClusterDim.z},
                   sizeof preferred);
            break;
        case CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION:
            launch->is_early = v->programmaticStreamSerializationAllowed;
            break;
        case CU_LAUNCH_ATTRIBUTE_PRIORITY:
            launch->priority = v->priority;
            break;
        case CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_EVENT:
        case CU_LAUNCH_ATTRIBUTE_LAUNCH_COMPLETION_EVENT:
            *completion = c->attrs[i].id == CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_EVENT
                              ? v->programmaticEvent.event
                              : v->launchCompletionEvent.event;
            if (!*completion)
                return CUDA_ERROR_INVALID_HANDLE;
            break;
        case CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY: /* a stream's */
            return CUDA_ERROR_INVALID_VALUE;
        case CU_LAUNCH_ATTRIBUTE_DEVICE_UPDATABLE_KERNEL_NODE: /* a captured launch's */
            if (!is_captured)
                return CUDA_ERROR_NOT_SUPPORTED;
            break;
        default:
            if ((unsigned)c->attrs[i].id > CU_LAUNCH_ATTRIBUTE_NVLINK_UTIL_CENTRIC_SCHEDULING)
                return CUDA_ERROR_INVALID_VALUE;
        }
    }
    return check_preferred(l, preferred);
}

/* The node of a launch that was captured, where an attribute says so, which tells its handle. */
static CUresult make_updatable(CUstream stream, const CUlaunchConfig *c)
{
    CUresult r = CUDA_SUCCESS;
    for (unsigned i = 0; r == CUDA_SUCCESS && i < c->numAttrs; i++)
        if (c->attrs[i].id == CU_LAUNCH_ATTRIBUTE_DEVICE_UPDATABLE_KERNEL_NODE)
            r = pt_cu_updatable_set(stream->capture_last, &c->attrs[i].value);
    return r;
}

CUresult pt_cu_launch_start(CUstream null, const CUlaunchConfig *c, const void *handle,
                            void **parameters, void **extra, bool cooperative)
{
    CUstream stream;
    CUevent completion = NULL;
    struct pt_cu_op op = {.work = PT_CU_KERNEL_LAUNCH};
    last_misfit = PT_MISFIT_NONE;
    if (!c)
        return CUDA_ERROR_INVALID_VALUE;
    CUresult r = pt_cu_stream_find(null, c->hStream, &stream);
    if (r == CUDA_SUCCESS)
        r = pt_cu_library_function(handle, &op.launch.function);
    if (r != CUDA_SUCCESS)
        return r;
    CUcontext green = pt_cu_stream_green(stream);
    op.launch.sms = green ? green->sms : 0;
    set_shape(&op.launch.launch, c);
    op.launch.launch.cooperative = cooperative;
    r = set_attributes(&op.launch, c, stream->capture != NULL, &completion);
    if (r == CUDA_SUCCESS && op.launch.function->module->ctx != stream->ctx)
        r = CUDA_ERROR_INVALID_HANDLE;
    if (r == CUDA_SUCCESS && op.launch.launch.cooperative &&
        !pt_cu_device_attribute(CU_DEVICE_ATTRIBUTE_COOPERATIVE_LAUNCH, stream->ctx->device))
        r = CUDA_ERROR_NOT_SUPPORTED;
    if (r == CUDA_SUCCESS)
        r = pt_cu_launch_ready(&op.launch, parameters, extra);
    if (r == CUDA_SUCCESS && !stream->capture &&
        pt_cu_function_launches_graphs(op.launch.function)) { /* which nodes of graphs may */
        pt_cu_op_drop(&op);
        r = CUDA_ERROR_NOT_SUPPORTED;
    }
    if (r != CUDA_SUCCESS)
        return pt_cu_capture_spoil(stream, r);
    bool is_captured = stream->capture != NULL;
    r = pt_cu_driver.launches_block && !is_captured ? pt_cu_submit_and_wait(stream, &op)
                                                    : pt_cu_submit_op(stream, &op);
    if (r == CUDA_SUCCESS && is_captured)
        r = make_updatable(stream, c);
    return r == CUDA_SUCCESS && completion ? pt_cu_event_record(completion, stream, 0) : r;
}

#define CONFIG(stream)                                                                            \
    (&(CUlaunchConfig){grid_x, grid_y, grid_z, block_x, block_y, block_z, shared_bytes, (stream), \
                       NULL, 0})

#define GIVEN(extra)                                              \
    ((struct pt_cu_launch_arguments){function,                    \
                                     {grid_x, grid_y, grid_z},    \
                                     {block_x, block_y, block_z}, \
                                     shared_bytes,                \
                                     stream,                      \
                                     parameters,                  \
                                     extra})

PER_THREAD_API_GIVEN(cuLaunchKernel, _ptsz, GIVEN(extra), pt_cu_launch_start,
                     (CUfunction function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                      unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared_bytes,
                      CUstream stream, void **parameters, void **extra),
                     CONFIG(stream), function, parameters, extra, false)
PER_THREAD_API_GIVEN(cuLaunchCooperativeKernel, _ptsz, GIVEN(NULL), pt_cu_launch_start,
                     (CUfunction function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                      unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared_bytes,
                      CUstream stream, void **parameters),
                     CONFIG(stream), function, parameters, NULL, true)
PER_THREAD_API_GIVEN(cuLaunchKernelEx, _ptsz,
                     ((struct pt_cu_launch_config_arguments){config, function, parameters, extra}),
                     pt_cu_launch_start,
                     (const CUlaunchConfig *config, CUfunction function, void **parameters,
                      void **extra),
                     config, function, parameters, extra, false)
