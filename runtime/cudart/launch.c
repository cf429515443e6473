/* Launches, and what can be asked and set of kernels. */
#include <stdlib.h>
#include <string.h>

#include "runtime/cuda/vendor.h"
#include "runtime/cudart/program.h"
#include "runtime/cudart/rt.h"

/* ---- launches -------------------------------------------------------------------------------- */

#if PT_RT_MAJOR >= 13
static cudaError_t launched(CUresult r)
{
    return (cudaError_t)r;
}
#else
/* Why the driver refused the calling thread's last launch. */
static enum pt_misfit last_misfit(void)
{
    const CUuuid id = {PT_CU_LAUNCHES_ID};
    const struct pt_cu_launches *launches;
    return cuGetExportTable((const void **)&launches, &id) == CUDA_SUCCESS ? launches->last_misfit()
                                                                           : PT_MISFIT_NONE;
}

/* These releases of the runtime have codes of their own for a grid or block that no device could
 * run, or not with this kernel. */
static cudaError_t launched(CUresult r)
{
    if (r != CUDA_ERROR_INVALID_VALUE)
        return (cudaError_t)r;
    switch (last_misfit()) {
    case PT_MISFIT_BLOCK:
    case PT_MISFIT_GRID:
        return cudaErrorInvalidConfiguration;
    case PT_MISFIT_THREADS:
        return cudaErrorLaunchOutOfResources;
    default:
        return cudaErrorInvalidValue;
    }
}
#endif

/* The kernel to launch with so many bytes of dynamic shared memory. */
static cudaError_t find_kernel(const void *function, size_t shared, CUkernel *kernel)
{
    cudaError_t error = pt_rt_program_kernel(function, kernel);
    return error ? error : shared > UINT32_MAX ? cudaErrorInvalidValue : cudaSuccess;
}

static cudaError_t launch(const void *function, dim3 grid, dim3 block, void **arguments,
                          size_t shared, cudaStream_t stream)
{
    CUkernel kernel;
    cudaError_t error = find_kernel(function, shared, &kernel);
    if (error)
        return error;
    return launched(cuLaunchKernel((CUfunction)kernel, grid.x, grid.y, grid.z, block.x, block.y,
                                   block.z, (unsigned)shared, stream, arguments, NULL));
}

cudaError_t cudaLaunchKernel(const void *function, dim3 grid, dim3 block, void **arguments,
                             size_t shared, cudaStream_t stream)
{
    return RT_API(launch(function, grid, block, arguments, shared, stream));
}

cudaError_t cudaLaunchKernel_ptsz(const void *function, dim3 grid, dim3 block, void **arguments,
                                  size_t shared, cudaStream_t stream)
{
    return RT_API(launch(function, grid, block, arguments, shared, pt_rt_per_thread(stream)));
}

cudaError_t __cudaLaunchKernel(cudaKernel_t kernel, dim3 grid, dim3 block, void **arguments,
                               size_t shared, cudaStream_t stream)
{
    return RT_API(launch(kernel, grid, block, arguments, shared, stream));
}

cudaError_t __cudaLaunchKernel_ptsz(cudaKernel_t kernel, dim3 grid, dim3 block, void **arguments,
                                    size_t shared, cudaStream_t stream)
{
    return RT_API(launch(kernel, grid, block, arguments, shared, pt_rt_per_thread(stream)));
}

static cudaError_t launch_cooperative(const void *function, dim3 grid, dim3 block, void **arguments,
                                      size_t shared, cudaStream_t stream)
{
    CUkernel kernel;
    cudaError_t error = find_kernel(function, shared, &kernel);
    if (error)
        return error;
    return launched(cuLaunchCooperativeKernel((CUfunction)kernel, grid.x, grid.y, grid.z, block.x,
                                              block.y, block.z, (unsigned)shared, stream,
                                              arguments));
}

cudaError_t cudaLaunchCooperativeKernel(const void *function, dim3 grid, dim3 block,
                                        void **arguments, size_t shared, cudaStream_t stream)
{
    return RT_API(launch_cooperative(function, grid, block, arguments, shared, stream));
}

cudaError_t cudaLaunchCooperativeKernel_ptsz(const void *function, dim3 grid, dim3 block,
                                             void **arguments, size_t shared, cudaStream_t stream)
{
    return RT_API(
        launch_cooperative(function, grid, block, arguments, shared, pt_rt_per_thread(stream)));
}

static bool driver_config(const cudaLaunchConfig_t *from, CUlaunchConfig *to)
{
    if (!from || from->dynamicSmemBytes > UINT32_MAX)
        return false;
    *to = (CUlaunchConfig){from->gridDim.x,
                           from->gridDim.y,
                           from->gridDim.z,
                           from->blockDim.x,
                           from->blockDim.y,
                           from->blockDim.z,
                           (unsigned)from->dynamicSmemBytes,
                           from->stream,
                           from->attrs,
                           from->numAttrs};
    return true;
}

static cudaError_t launch_config(const cudaLaunchConfig_t *config, const void *function,
                                 void **arguments, bool is_per_thread)
{
    CUkernel kernel;
    CUlaunchConfig driver;
    if (!driver_config(config, &driver))
        return cudaErrorInvalidValue;
    if (is_per_thread)
        driver.hStream = pt_rt_per_thread(driver.hStream);
    cudaError_t error = pt_rt_program_kernel(function, &kernel);
    return error ?: launched(cuLaunchKernelEx(&driver, (CUfunction)kernel, arguments, NULL));
}

cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t *config, const void *function,
                                void **arguments)
{
    return RT_API(launch_config(config, function, arguments, false));
}

cudaError_t cudaLaunchKernelExC_ptsz(const cudaLaunchConfig_t *config, const void *function,
                                     void **arguments)
{
    return RT_API(launch_config(config, function, arguments, true));
}

/* ---- kernel<<<...>>>(...) -------------------------------------------------------------------- */

/* What stands in the brackets is kept while the arguments are evaluated, which may launch
 * kernels themselves. */
struct configuration {
    dim3 grid, block;
    size_t shared;
    cudaStream_t stream;
    struct configuration *outer;
};
static _Thread_local struct configuration *configurations;

unsigned __cudaPushCallConfiguration(dim3 grid, dim3 block, size_t shared, cudaStream_t stream)
{
    struct configuration *c = malloc(sizeof *c);
    if (!c)
        return RT_PLAIN(cudaErrorMemoryAllocation);
    *c = (struct configuration){grid, block, shared, stream, configurations};
    configurations = c;
    return 0;
}

cudaError_t __cudaPopCallConfiguration(dim3 *grid, dim3 *block, size_t *shared, void *stream)
{
    struct configuration *c = configurations;
    if (!c)
        return RT_PLAIN(cudaErrorMissingConfiguration);
    *grid = c->grid;
    *block = c->block;
    *shared = c->shared;
    memcpy(stream, &c->stream, sizeof c->stream);
    configurations = c->outer;
    free(c);
    return cudaSuccess;
}

/* ---- attributes ------------------------------------------------------------------------------ */

static int attribute_of(CUfunction_attribute attribute, CUkernel kernel, int device)
{
    int value = 0;
    cuKernelGetAttribute(&value, attribute, kernel, device);
    return value;
}

static cudaError_t get_attributes(cudaFuncAttributes *to, const void *function)
{
#define OF(name) attribute_of(CU_FUNC_ATTRIBUTE_##name, kernel, device)
    CUkernel kernel;
    CUfunction loaded;
    int device = 0;
    cudaError_t error = to ? pt_rt_program_kernel(function, &kernel) : cudaErrorInvalidValue;
    if (!error)
        error = pt_rt_context_device(&device) ?: (cudaError_t)cuKernelGetFunction(&loaded, kernel);
    if (error)
        return error;
    *to = (cudaFuncAttributes){.sharedSizeBytes = (size_t)OF(SHARED_SIZE_BYTES),
                               .constSizeBytes = (size_t)OF(CONST_SIZE_BYTES),
                               .localSizeBytes = (size_t)OF(LOCAL_SIZE_BYTES),
                               .maxThreadsPerBlock = OF(MAX_THREADS_PER_BLOCK),
                               .numRegs = OF(NUM_REGS),
                               .ptxVersion = OF(PTX_VERSION),
                               .binaryVersion = OF(BINARY_VERSION),
                               .cacheModeCA = OF(CACHE_MODE_CA),
                               .maxDynamicSharedSizeBytes = OF(MAX_DYNAMIC_SHARED_SIZE_BYTES),
                               .preferredShmemCarveout = OF(PREFERRED_SHARED_MEMORY_CARVEOUT)};
#if PT_RT_MAJOR >= 12
    to->clusterDimMustBeSet = OF(CLUSTER_SIZE_MUST_BE_SET);
    to->requiredClusterWidth = OF(REQUIRED_CLUSTER_WIDTH);
    to->requiredClusterHeight = OF(REQUIRED_CLUSTER_HEIGHT);
    to->requiredClusterDepth = OF(REQUIRED_CLUSTER_DEPTH);
    to->clusterSchedulingPolicyPreference = OF(CLUSTER_SCHEDULING_POLICY_PREFERENCE);
    to->nonPortableClusterSizeAllowed = OF(NON_PORTABLE_CLUSTER_SIZE_ALLOWED);
#endif
    return cudaSuccess;
}

cudaError_t cudaFuncGetAttributes(cudaFuncAttributes *attributes, const void *function)
{
    return RT_API(get_attributes(attributes, function));
}

static cudaError_t set_attribute(const void *function, CUfunction_attribute attribute, int value)
{
    CUkernel kernel;
    int device = 0;
    cudaError_t error = pt_rt_program_kernel(function, &kernel) ?: pt_rt_context_device(&device);
    return error ?: (cudaError_t)cuKernelSetAttribute(attribute, value, kernel, device);
}

cudaError_t cudaFuncSetAttribute(const void *function, CUfunction_attribute attribute, int value)
{
    return RT_API(set_attribute(function, attribute, value));
}

static cudaError_t set_cache(const void *function, CUfunc_cache cache)
{
    CUkernel kernel;
    int device = 0;
    cudaError_t error = pt_rt_program_kernel(function, &kernel) ?: pt_rt_context_device(&device);
    return error ?: (cudaError_t)cuKernelSetCacheConfig(kernel, cache, device);
}

cudaError_t cudaFuncSetCacheConfig(const void *function, CUfunc_cache cache)
{
    return RT_API(set_cache(function, cache));
}

/* What it sets has had no effect since devices of compute capability 3. */
cudaError_t cudaFuncSetSharedMemConfig(const void *function, CUsharedconfig config)
{
    CUkernel kernel;
    (void)config;
    return RT_API(pt_rt_program_kernel(function, &kernel));
}

static cudaError_t get_name(const char **name, const void *function)
{
    CUkernel kernel;
    cudaError_t error = name ? pt_rt_program_kernel(function, &kernel) : cudaErrorInvalidValue;
    return error ?: (cudaError_t)cuKernelGetName(name, kernel);
}

cudaError_t cudaFuncGetName(const char **name, const void *function)
{
    return RT_API(get_name(name, function));
}

static cudaError_t get_parameter(const void *function, size_t index, size_t *offset, size_t *bytes)
{
    CUkernel kernel;
    cudaError_t error = pt_rt_program_kernel(function, &kernel);
    return error ?: (cudaError_t)cuKernelGetParamInfo(kernel, index, offset, bytes);
}

cudaError_t cudaFuncGetParamInfo(const void *function, size_t index, size_t *offset, size_t *bytes)
{
    return RT_API(get_parameter(function, index, offset, bytes));
}

/* ---- occupancy ------------------------------------------------------------------------------- */

/* `call` with `kernel` in place of a function. */
#define WITH_KERNEL(function, call)                                                       \
    pt_rt_calls_enter(__func__, NULL);                                                    \
    CUkernel kernel;                                                                      \
    cudaError_t error = pt_rt_context_ready() ?: pt_rt_program_kernel(function, &kernel); \
    return RT_END(error ?: (cudaError_t)(call))

cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *blocks,
                                                                   const void *function,
                                                                   int threads, size_t shared,
                                                                   unsigned flags)
{
    WITH_KERNEL(function, cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
                              blocks, (CUfunction)kernel, threads, shared, flags));
}

cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, const void *function,
                                                          int threads, size_t shared)
{
    return cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(blocks, function, threads, shared,
                                                                  0);
}

cudaError_t cudaOccupancyAvailableDynamicSMemPerBlock(size_t *bytes, const void *function,
                                                      int blocks, int threads)
{
    WITH_KERNEL(function, cuOccupancyAvailableDynamicSMemPerBlock(bytes, (CUfunction)kernel, blocks,
                                                                  threads));
}

cudaError_t cudaOccupancyMaxActiveClusters(int *clusters, const void *function,
                                           const cudaLaunchConfig_t *config)
{
    CUlaunchConfig driver;
    if (!driver_config(config, &driver))
        return RT_PLAIN(cudaErrorInvalidValue);
    WITH_KERNEL(function, cuOccupancyMaxActiveClusters(clusters, (CUfunction)kernel, &driver));
}

cudaError_t cudaOccupancyMaxPotentialClusterSize(int *size, const void *function,
                                                 const cudaLaunchConfig_t *config)
{
    CUlaunchConfig driver;
    if (!driver_config(config, &driver))
        return RT_PLAIN(cudaErrorInvalidValue);
    WITH_KERNEL(function, cuOccupancyMaxPotentialClusterSize(size, (CUfunction)kernel, &driver));
}
