/* Occupancy: how many blocks of a function an SM has room for. */
#include "runtime/cuda/occupancy.h"

#include "runtime/cuda/device.h"
#include "runtime/cuda/driver.h"
#include "runtime/cuda/entry.h"
#include "runtime/cuda/function.h"
#include "runtime/cuda/library.h"
#include "runtime/device.h"

enum { WARP = PT_DEVICE_WARP, CLUSTER_SM_BLOCKS = 8 };

static int round_up(int n, int to)
{
    return (n + to - 1) / to * to;
}

static int least(int a, int b)
{
    return a < b ? a : b;
}

CUresult pt_cu_occupancy_blocks(CUfunction f, int threads, size_t dynamic_shared, int *blocks)
{
    int registers, shared, dynamic;
    CUresult r = pt_cu_function_value(f, CU_FUNC_ATTRIBUTE_NUM_REGS, &registers);
    if (r == CUDA_SUCCESS)
        r = pt_cu_function_value(f, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, &shared);
    if (r == CUDA_SUCCESS)
        r = pt_cu_function_value(f, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, &dynamic);
    if (r != CUDA_SUCCESS)
        return r;
    *blocks = 0;
    if (threads > PT_DEVICE_BLOCK_THREADS || dynamic_shared > (size_t)dynamic)
        return CUDA_SUCCESS;
    *blocks =
        pt_device_blocks(pt_cu_driver.profile, threads, registers, shared + (int)dynamic_shared);
    return CUDA_SUCCESS;
}

static CUresult active_blocks(int *blocks, CUfunction handle, int threads, size_t dynamic_shared,
                              unsigned flags)
{
    CUfunction f;
    CUresult r = pt_cu_library_function(handle, &f);
    if (r == CUDA_SUCCESS &&
        (!blocks || threads <= 0 || flags & ~(unsigned)CU_OCCUPANCY_DISABLE_CACHING_OVERRIDE))
        r = CUDA_ERROR_INVALID_VALUE;
    return r == CUDA_SUCCESS ? pt_cu_occupancy_blocks(f, threads, dynamic_shared, blocks) : r;
}

CUresult cuOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, CUfunction function, int threads,
                                                     size_t shared)
{
    return API(active_blocks(blocks, function, threads, shared, CU_OCCUPANCY_DEFAULT));
}

CUresult cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *blocks, CUfunction function,
                                                              int threads, size_t shared,
                                                              unsigned flags)
{
    return API(active_blocks(blocks, function, threads, shared, flags));
}

/* The block with the most threads on an SM, of those the largest. */
static CUresult potential_block(int *min_grid, int *block, CUfunction handle,
                                CUoccupancyB2DSize size_of, size_t shared, int limit,
                                unsigned flags)
{
    CUfunction f;
    int most, best = 0;
    CUresult r = pt_cu_library_function(handle, &f);
    if (r == CUDA_SUCCESS && (!min_grid || !block || limit < 0 ||
                              flags & ~(unsigned)CU_OCCUPANCY_DISABLE_CACHING_OVERRIDE))
        r = CUDA_ERROR_INVALID_VALUE;
    if (r == CUDA_SUCCESS)
        r = pt_cu_function_value(f, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, &most);
    if (r != CUDA_SUCCESS)
        return r;
    if (limit && limit < most)
        most = limit;
    for (int threads = most; threads > 0; threads = round_up(threads, WARP) - WARP) {
        int blocks;
        r = pt_cu_occupancy_blocks(f, threads, size_of ? size_of(threads) : shared, &blocks);
        if (r != CUDA_SUCCESS)
            return r;
        if (blocks * threads <= best)
            continue;
        best = blocks * threads;
        *block = threads;
        *min_grid = blocks * pt_cu_driver.profile->sms;
    }
    return best ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuOccupancyMaxPotentialBlockSize(int *min_grid, int *block, CUfunction function,
                                          CUoccupancyB2DSize size_of, size_t shared, int limit)
{
    return API(
        potential_block(min_grid, block, function, size_of, shared, limit, CU_OCCUPANCY_DEFAULT));
}

CUresult cuOccupancyMaxPotentialBlockSizeWithFlags(int *min_grid, int *block, CUfunction function,
                                                   CUoccupancyB2DSize size_of, size_t shared,
                                                   int limit, unsigned flags)
{
    return API(potential_block(min_grid, block, function, size_of, shared, limit, flags));
}

/* The most dynamic shared memory with which so many blocks still fit an SM; as an H100 tells it,
 * without what is reserved in each. */
static CUresult available_shared(size_t *bytes, CUfunction handle, int blocks, int threads)
{
    CUfunction f;
    const struct pt_device_limits *l = pt_cu_driver.limits;
    int shared, fit, most;
    CUresult r = pt_cu_library_function(handle, &f);
    if (r == CUDA_SUCCESS && (!bytes || blocks <= 0 || threads <= 0))
        r = CUDA_ERROR_INVALID_VALUE;
    if (r == CUDA_SUCCESS)
        r = pt_cu_occupancy_blocks(f, threads, 0, &fit);
    if (r == CUDA_SUCCESS && blocks > fit)
        r = CUDA_ERROR_INVALID_VALUE;
    if (r == CUDA_SUCCESS)
        r = pt_cu_function_value(f, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, &shared);
    if (r == CUDA_SUCCESS)
        r = pt_cu_function_value(f, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, &most);
    if (r != CUDA_SUCCESS)
        return r;
    int share = l->sm_shared / blocks / l->shared_unit * l->shared_unit;
    share = least(least(share, l->block_shared) - shared, most);
    *bytes = share > 0 ? (size_t)share : 0;
    return CUDA_SUCCESS;
}

CUresult cuOccupancyAvailableDynamicSMemPerBlock(size_t *bytes, CUfunction function, int blocks,
                                                 int threads)
{
    return API(available_shared(bytes, function, blocks, threads));
}

/* ---- clusters -------------------------------------------------------------------------------- */

static CUresult read_config(CUfunction handle, const CUlaunchConfig *c, CUfunction *f, int *threads,
                            int *cluster)
{
    CUresult r = pt_cu_library_function(handle, f);
    if (r == CUDA_SUCCESS && (!c || (c->numAttrs && !c->attrs)))
        r = CUDA_ERROR_INVALID_VALUE;
    if (r == CUDA_SUCCESS && !pt_cu_driver.limits->cluster)
        r = CUDA_ERROR_INVALID_CLUSTER_SIZE;
    if (r != CUDA_SUCCESS)
        return r;
    uint64_t n = (uint64_t)c->blockDimX * c->blockDimY * c->blockDimZ;
    if (!n || n > PT_DEVICE_BLOCK_THREADS)
        return CUDA_ERROR_INVALID_VALUE;
    *threads = (int)n;
    *cluster = 0;
    for (unsigned i = 0; i < c->numAttrs; i++) {
        const CUlaunchAttributeValue *v = &c->attrs[i].value;
        if (c->attrs[i].id == CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION)
            *cluster = (int)(v->clusterDim.x * v->clusterDim.y * v->clusterDim.z);
    }
    return CUDA_SUCCESS;
}

/* The blocks that an SM takes of clusters of up to `most` blocks: an H100 takes 8, and none with
 * more than 48 KiB of dynamic shared memory that the function may not have. */
static CUresult cluster_blocks(CUfunction f, int threads, int cluster, const CUlaunchConfig *config,
                               int *blocks, int *most)
{
    int dynamic, non_portable;
    CUresult r = pt_cu_occupancy_blocks(f, threads, config->sharedMemBytes, blocks);
    if (r == CUDA_SUCCESS)
        r = pt_cu_function_value(f, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, &dynamic);
    if (r == CUDA_SUCCESS)
        r = pt_cu_function_value(f, CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED,
                                 &non_portable);
    if (r != CUDA_SUCCESS)
        return r;
    *most = non_portable ? pt_cu_driver.limits->cluster : PT_DEVICE_CLUSTER_PORTABLE;
    *blocks = config->sharedMemBytes > PT_DEVICE_STATIC_SHARED &&
                      config->sharedMemBytes > (unsigned)dynamic
                  ? 0
                  : least(*blocks, CLUSTER_SM_BLOCKS);
    return cluster > *most ? CUDA_ERROR_INVALID_CLUSTER_SIZE : CUDA_SUCCESS;
}

static CUresult potential_cluster(int *size, CUfunction handle, const CUlaunchConfig *config)
{
    CUfunction f;
    int threads, given, blocks, most;
    CUresult r = read_config(handle, config, &f, &threads, &given);
    if (r == CUDA_SUCCESS && !size)
        r = CUDA_ERROR_INVALID_VALUE;
    if (r == CUDA_SUCCESS)
        r = cluster_blocks(f, threads, given, config, &blocks, &most);
    if (r == CUDA_SUCCESS)
        *size = blocks ? most : 0;
    return r;
}

CUresult cuOccupancyMaxPotentialClusterSize(int *size, CUfunction function,
                                            const CUlaunchConfig *config)
{
    return API(potential_cluster(size, function, config));
}

/* All SMs are alike and any of them may hold a part: a cluster needs room for its blocks, wherever.
 * (A GPU's SMs are in groups that a cluster does not leave, of which each device has its own: an
 * H100 takes as many clusters of one or two blocks, 62 of 66 of four.) */
static CUresult active_clusters(int *n, CUfunction handle, const CUlaunchConfig *config)
{
    CUfunction f;
    int threads, cluster, blocks, most;
    CUresult r = read_config(handle, config, &f, &threads, &cluster);
    if (r == CUDA_SUCCESS && (!n || cluster <= 0))
        r = CUDA_ERROR_INVALID_VALUE;
    if (r == CUDA_SUCCESS)
        r = cluster_blocks(f, threads, cluster, config, &blocks, &most);
    if (r == CUDA_SUCCESS)
        *n = blocks * pt_cu_driver.profile->sms / cluster;
    return r;
}

CUresult cuOccupancyMaxActiveClusters(int *n, CUfunction function, const CUlaunchConfig *config)
{
    return API(active_clusters(n, function, config));
}
