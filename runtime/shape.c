/* The shape of a launch, and whether it fits the kernel and the device. */
#include "runtime/shape.h"

#include <string.h>

#include "ir/bits.h"

static uint32_t one_at_least(uint32_t n)
{
    return n ? n : 1;
}

uint64_t pt_shape_declared_threads(const struct pt_func *f)
{
    const uint32_t *n = f->reqntid[0] ? f->reqntid : f->maxntid;
    return (uint64_t)n[0] * one_at_least(n[1]) * one_at_least(n[2]);
}

/* ---- block and grid -------------------------------------------------------------------------- */

bool pt_shape_is_block(const uint32_t b[3])
{
    return b[0] && b[1] && b[2] && b[0] <= PT_DEVICE_BLOCK_X && b[1] <= PT_DEVICE_BLOCK_X &&
           b[2] <= PT_DEVICE_BLOCK_Z && b[0] * b[1] * b[2] <= PT_DEVICE_BLOCK_THREADS;
}

static bool is_grid(const uint32_t g[3])
{
    return g[0] && g[1] && g[2] && g[0] <= PT_DEVICE_GRID_X && g[1] <= PT_DEVICE_GRID_Y &&
           g[2] <= PT_DEVICE_GRID_Y;
}

/* What the launch says, else what the kernel requires: PTX ISA, "Cluster Dimension Directives". */
static void set_cluster(const struct pt_func *f, const unsigned given[3], struct pt_shape *shape)
{
    bool is_given = given[0] || given[1] || given[2], is_required = f->reqnctapercluster[0];
    shape->is_explicit_cluster = is_given || is_required;
    const uint32_t *size = is_given ? given : f->reqnctapercluster;
    for (int d = 0; d < 3; d++)
        shape->cluster[d] = shape->is_explicit_cluster ? one_at_least(size[d]) : 1;
}

enum pt_misfit pt_shape_check_size(const struct pt_func *f, const ptera_launch *given,
                                   struct pt_shape *shape)
{
    uint32_t *g = shape->grid;
    memcpy(g, given->grid, sizeof shape->grid);
    memcpy(shape->block, given->block, sizeof shape->block);
    set_cluster(f, given->cluster, shape);
    for (int d = 0; f->blocks_are_clusters && d < 3; d++) /* the grid is given in clusters */
        g[d] = g[d] > INT32_MAX / shape->cluster[d] ? 0 : g[d] * shape->cluster[d];
    return !pt_shape_is_block(shape->block) ? PT_MISFIT_BLOCK
           : !is_grid(g)                    ? PT_MISFIT_GRID
                                            : PT_MISFIT_NONE;
}

static enum pt_misfit check_threads(const struct pt_func *f, const struct pt_shape_bounds *bounds,
                                    struct pt_shape *shape)
{
    const uint32_t *b = shape->block;
    uint64_t declared = pt_shape_declared_threads(f);
    shape->threads = b[0] * b[1] * b[2];
    shape->n_warps = (shape->threads + PT_DEVICE_WARP - 1) / PT_DEVICE_WARP;
    if (declared && shape->threads > declared)
        return PT_MISFIT_THREADS;
    if (bounds->threads && shape->threads > bounds->threads)
        return PT_MISFIT_REGISTERS;
    for (int d = 0; f->reqntid[0] && d < 3; d++)
        if (b[d] != one_at_least(f->reqntid[d]))
            return PT_MISFIT_REQNTID;
    return PT_MISFIT_NONE;
}

/* ---- shared memory --------------------------------------------------------------------------- */

static enum pt_misfit check_shared(const struct pt_device *device, const struct pt_program *program,
                                   uint32_t dynamic, const struct pt_shape_bounds *bounds,
                                   struct pt_shape *shape)
{
    uint64_t offset = pt_round_up(program->shared_static, one_at_least(program->shared_align));
    uint64_t total = dynamic ? offset + dynamic : program->shared_static;
    if (bounds->has_dynamic && dynamic > bounds->dynamic)
        return PT_MISFIT_DYNAMIC;
    if (total > (uint64_t)device->limits->block_shared)
        return PT_MISFIT_SHARED;
    shape->dynamic_offset = PT_SHARED_BASE + (uint32_t)offset;
    shape->shared_bytes = PT_SHARED_BASE + (uint32_t)total;
    return PT_MISFIT_NONE;
}

/* ---- clusters -------------------------------------------------------------------------------- */

static enum pt_misfit check_cluster_size(const struct pt_device *device, const struct pt_func *f,
                                         const struct pt_shape_bounds *bounds,
                                         struct pt_shape *shape)
{
    uint32_t most = device->limits->cluster ? (uint32_t)device->limits->cluster : 1;
    if (bounds->cluster && bounds->cluster < most)
        most = bounds->cluster;
    if (shape->is_explicit_cluster && !device->limits->cluster)
        return PT_MISFIT_CLUSTER_NONE;
    shape->cluster_ctas = 1;
    for (int d = 0; d < 3; d++) {
        if (shape->cluster[d] > most || shape->cluster_ctas * shape->cluster[d] > most)
            return PT_MISFIT_CLUSTER_SIZE;
        shape->cluster_ctas *= shape->cluster[d];
    }
    return f->maxclusterrank && shape->cluster_ctas > f->maxclusterrank ? PT_MISFIT_CLUSTER_RANK
                                                                        : PT_MISFIT_NONE;
}

/* Blocks without clusters are clusters of their own. */
static void count_blocks(struct pt_shape *shape)
{
    const uint32_t *g = shape->grid;
    memcpy(shape->clusters, g, sizeof shape->clusters);
    shape->cluster_ctas = 1;
    shape->n_clusters = (uint64_t)g[0] * g[1] * g[2];
}

static enum pt_misfit check_cluster(const struct pt_device *device, const struct pt_func *f,
                                    const struct pt_shape_bounds *bounds, struct pt_shape *shape)
{
    if (!shape->is_explicit_cluster) {
        count_blocks(shape);
        return f->explicit_cluster ? PT_MISFIT_CLUSTER_MISSING : PT_MISFIT_NONE;
    }
    for (int d = 0; f->reqnctapercluster[0] && d < 3; d++)
        if (shape->cluster[d] != one_at_least(f->reqnctapercluster[d]))
            return PT_MISFIT_CLUSTER_REQUIRED;
    enum pt_misfit misfit = check_cluster_size(device, f, bounds, shape);
    if (misfit)
        return misfit;
    shape->n_clusters = 1;
    for (int d = 0; d < 3; d++) {
        if (shape->grid[d] % shape->cluster[d])
            return PT_MISFIT_CLUSTER_GRID;
        shape->clusters[d] = shape->grid[d] / shape->cluster[d];
        shape->n_clusters *= shape->clusters[d];
    }
    return PT_MISFIT_NONE;
}

/* Clusters that the device has running at once: what a cooperative launch may have, and what
 * kernels that wait for each other's CTAs may count on. */
static enum pt_misfit check_residency(const struct pt_device *device, bool is_cooperative,
                                      const struct pt_shape_bounds *bounds, struct pt_shape *shape)
{
    int blocks = pt_device_blocks(device, (int)shape->threads, (int)bounds->registers,
                                  (int)(shape->shared_bytes - PT_SHARED_BASE));
    uint32_t sms = bounds->sms ? bounds->sms : (uint32_t)device->sms;
    uint32_t clusters = (uint32_t)blocks * sms / shape->cluster_ctas;
    shape->capacity = one_at_least(clusters);
    return is_cooperative && shape->n_clusters > clusters ? PT_MISFIT_RESIDENT : PT_MISFIT_NONE;
}

enum pt_misfit pt_shape_check(const struct pt_device *device, const struct pt_func *f,
                              const struct pt_program *program, const ptera_launch *given,
                              const struct pt_shape_bounds *bounds, struct pt_shape *shape)
{
    static const struct pt_shape_bounds unbounded;
    if (!bounds)
        bounds = &unbounded;
    enum pt_misfit misfit = pt_shape_check_size(f, given, shape);
    if (!misfit)
        misfit = check_threads(f, bounds, shape);
    if (!misfit)
        misfit = check_shared(device, program, given->shared_bytes, bounds, shape);
    if (!misfit)
        misfit = check_cluster(device, f, bounds, shape);
    return misfit ? misfit : check_residency(device, given->cooperative, bounds, shape);
}
