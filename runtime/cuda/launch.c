/* Launching kernels. */
#include "runtime/cuda/driver.h"

#include <stdlib.h>
#include <string.h>

/* ---- what fits ----------------------------------------------------------------------------------------- */

static CUresult check_block(CUfunction f, const ptera_launch *l)
{
    const unsigned *b = l->block, *g = l->grid;
    if (!b[0] || !b[1] || !b[2] || b[0] > 1024 || b[1] > 1024 || b[2] > 64 || b[0] * b[1] * b[2] > 1024)
        return CUDA_ERROR_INVALID_VALUE;
    if (!g[0] || !g[1] || !g[2] || g[0] > INT32_MAX || g[1] > UINT16_MAX || g[2] > UINT16_MAX)
        return CUDA_ERROR_INVALID_VALUE;
    return pt_cu_function_check_threads(f, b[0] * b[1] * b[2]);
}

static CUresult check_shared(CUfunction f, const ptera_launch *l)
{
    int most;
    CUresult r = pt_cu_function_value(f, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, &most);
    return r == CUDA_SUCCESS && l->shared_bytes > (unsigned)most ? CUDA_ERROR_INVALID_VALUE : r;
}

/* Clusters of the launch, else those the function was set to. */
static CUresult check_cluster(CUfunction f, ptera_launch *l)
{
    int non_portable, must, size[3];
    unsigned *c = l->cluster;
    CUresult r = pt_cu_function_value(f, CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED, &non_portable);
    if (r == CUDA_SUCCESS)
        r = pt_cu_function_value(f, CU_FUNC_ATTRIBUTE_CLUSTER_SIZE_MUST_BE_SET, &must);
    for (int d = 0; r == CUDA_SUCCESS && d < 3; d++)
        r = pt_cu_function_value(f, CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH + d, &size[d]);
    if (r != CUDA_SUCCESS)
        return r;
    bool is_given = c[0] || c[1] || c[2];
    for (int d = 0; d < 3; d++) {
        if (is_given && !c[d])
            return CUDA_ERROR_INVALID_VALUE;
        if (is_given && size[0] && c[d] != (unsigned)(size[d] ? size[d] : 1))
            return CUDA_ERROR_INVALID_CLUSTER_SIZE;
        if (!is_given && size[0])
            c[d] = size[d] ? (unsigned)size[d] : 1;
    }
    if (!is_given && !size[0])
        return must ? CUDA_ERROR_INVALID_CLUSTER_SIZE : CUDA_SUCCESS;
    uint64_t ctas = (uint64_t)c[0] * c[1] * c[2];
    if (pt_cu_driver.profile->major < 9 || ctas > PT_CLUSTER_MAX || (ctas > PT_CU_CLUSTER_PORTABLE && !non_portable))
        return CUDA_ERROR_INVALID_CLUSTER_SIZE;
    for (int d = 0; d < 3; d++)
        if (l->grid[d] % c[d])
            return CUDA_ERROR_INVALID_CLUSTER_SIZE;
    return CUDA_SUCCESS;
}

static CUresult check_cooperative(CUfunction f, const ptera_launch *l)
{
    int blocks;
    uint64_t ctas = (uint64_t)l->grid[0] * l->grid[1] * l->grid[2];
    CUresult r = pt_cu_active_blocks(f, (int)(l->block[0] * l->block[1] * l->block[2]), l->shared_bytes, &blocks);
    bool is_large = ctas > (uint64_t)blocks * (unsigned)pt_cu_driver.profile->sms;
    return r == CUDA_SUCCESS && is_large ? CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE : r;
}

static CUresult check_launch(CUfunction f, ptera_launch *l)
{
    CUresult r = check_block(f, l);
    if (r == CUDA_SUCCESS)
        r = check_shared(f, l);
    if (r == CUDA_SUCCESS)
        r = check_cluster(f, l);
    if (r == CUDA_SUCCESS && l->cooperative)
        r = check_cooperative(f, l);
    return r;
}

/* ---- parameters ---------------------------------------------------------------------------------------- */

/* {CU_LAUNCH_PARAM_BUFFER_POINTER, block, CU_LAUNCH_PARAM_BUFFER_SIZE, &bytes, CU_LAUNCH_PARAM_END} in any order. A block may
 * be longer than the parameters: C pads structures. */
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
    l->parameter_block_bytes = pt_cu_parameter_bytes(f);
    bool has_all = bytes && *bytes >= l->parameter_block_bytes && (l->parameter_block || !l->parameter_block_bytes);
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

CUresult pt_cu_launch_ready(struct pt_cu_launch *launch, void **parameters, void **extra)
{
    CUfunction f = launch->function;
    CUresult r = set_parameters(f, parameters, extra, &launch->launch);
    if (r == CUDA_SUCCESS)
        r = check_launch(f, &launch->launch);
    if (r != CUDA_SUCCESS)
        return r;
    CUcontext ctx = f->module->ctx;
    pt_cu_step_out(ctx);
    ptera_result made = pt_launch_prepare(f->kernel, &launch->launch, &launch->job);
    pt_cu_step_in(ctx);
    if (made != PTERA_OK && pt_cu_logs(PT_CU_LOG_LAUNCH))
        pt_cu_log("%s", ptera_engine_error(ctx->engine));
    return pt_cu_result(made);
}

/* ---- entries ------------------------------------------------------------------------------------------- */

static void set_shape(ptera_launch *l, const CUlaunchConfig *c)
{
    ptera_launch_init(l);
    memcpy(l->grid, (unsigned[]){c->gridDimX, c->gridDimY, c->gridDimZ}, sizeof l->grid);
    memcpy(l->block, (unsigned[]){c->blockDimX, c->blockDimY, c->blockDimZ}, sizeof l->block);
    l->shared_bytes = c->sharedMemBytes;
}

/* Clusters that are preferred are larger than those that there are at least, by whole numbers, and fill the grid. */
static CUresult check_preferred(const ptera_launch *l, const unsigned preferred[3])
{
    if (!preferred[0] && !preferred[1] && !preferred[2])
        return CUDA_SUCCESS;
    for (int d = 0; d < 3; d++)
        if (!preferred[d] || preferred[d] % (l->cluster[d] ? l->cluster[d] : 1) || l->grid[d] % preferred[d])
            return CUDA_ERROR_INVALID_CLUSTER_SIZE;
    return CUDA_SUCCESS;
}

/* Attributes about caches, domains and placement are advice. What starts kernels early may not be relied on: they start when the
 * kernel before is done. */
static CUresult set_attributes(struct pt_cu_launch *launch, const CUlaunchConfig *c, CUevent *completion)
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
            memcpy(l->cluster, (unsigned[]){v->clusterDim.x, v->clusterDim.y, v->clusterDim.z}, sizeof l->cluster);
            break;
        case CU_LAUNCH_ATTRIBUTE_PREFERRED_CLUSTER_DIMENSION:
            memcpy(preferred,
                   (unsigned[]){v->preferredClusterDim.x, v->preferredClusterDim.y, v->preferredClusterDim.z},
                   sizeof preferred);
            break;
        case CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW:
            if (!v->accessPolicyWindow.num_bytes) /* which takes a stream's away, and a launch has none */
                return CUDA_ERROR_INVALID_VALUE;
            break;
        case CU_LAUNCH_ATTRIBUTE_PRIORITY:
            launch->priority = v->priority;
            break;
        case CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_EVENT:
            *completion = v->programmaticEvent.event;
            break;
        case CU_LAUNCH_ATTRIBUTE_LAUNCH_COMPLETION_EVENT:
            *completion = v->launchCompletionEvent.event;
            break;
        case CU_LAUNCH_ATTRIBUTE_DEVICE_UPDATABLE_KERNEL_NODE:
            return CUDA_ERROR_NOT_SUPPORTED;
        default:
            if ((unsigned)c->attrs[i].id > CU_LAUNCH_ATTRIBUTE_NVLINK_UTIL_CENTRIC_SCHEDULING)
                return CUDA_ERROR_INVALID_VALUE;
        }
    }
    return check_preferred(l, preferred);
}

CUresult pt_cu_launch(CUstream null, const CUlaunchConfig *c, const void *handle, void **parameters,
                      void **extra, bool cooperative)
{
    CUstream stream;
    CUevent completion = NULL;
    struct pt_cu_op op = {.work = PT_CU_KERNEL_LAUNCH};
    if (!c)
        return CUDA_ERROR_INVALID_VALUE;
    CUresult r = pt_cu_stream(null, c->hStream, &stream);
    if (r == CUDA_SUCCESS)
        r = pt_cu_function(handle, &op.launch.function);
    if (r != CUDA_SUCCESS)
        return r;
    set_shape(&op.launch.launch, c);
    op.launch.launch.cooperative = cooperative;
    r = set_attributes(&op.launch, c, &completion);
    if (r == CUDA_SUCCESS && op.launch.function->module->ctx != stream->ctx)
        r = CUDA_ERROR_INVALID_HANDLE;
    if (r == CUDA_SUCCESS)
        r = pt_cu_launch_ready(&op.launch, parameters, extra);
    if (r != CUDA_SUCCESS)
        return r;
    r = pt_cu_driver.launches_block && !stream->capture ? pt_cu_submit_and_wait(stream, &op) : pt_cu_submit(stream, &op);
    return r == CUDA_SUCCESS && completion ? pt_cu_event_record(completion, stream, 0) : r;
}

#define CONFIG(stream) \
    (&(CUlaunchConfig){grid_x, grid_y, grid_z, block_x, block_y, block_z, shared_bytes, (stream), NULL, 0})

PER_THREAD_API(cuLaunchKernel, _ptsz, pt_cu_launch,
               (CUfunction function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared_bytes,
                CUstream stream, void **parameters, void **extra),
               CONFIG(stream), function, parameters, extra, false)
PER_THREAD_API(cuLaunchCooperativeKernel, _ptsz, pt_cu_launch,
               (CUfunction function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared_bytes,
                CUstream stream, void **parameters),
               CONFIG(stream), function, parameters, NULL, true)
PER_THREAD_API(cuLaunchKernelEx, _ptsz, pt_cu_launch,
               (const CUlaunchConfig *config, CUfunction function, void **parameters, void **extra),
               config, function, parameters, extra, false)
