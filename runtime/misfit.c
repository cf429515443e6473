/* Why a launch does not fit its kernel or the device, in words. */
#include "runtime/misfit.h"

#include <inttypes.h>
#include <stdio.h>

#include "runtime/engine.h"
#include "runtime/job.h"
#include "runtime/shape.h"

static const struct pt_func *func_of(const ptera_kernel *kernel)
{
    return &kernel->module->ir.funcs.v[kernel->func];
}

static const char *shape_text(char text[40], const uint32_t v[3])
{
    snprintf(text, 40, "%ux%ux%u", v[0], v[1] ? v[1] : 1, v[2] ? v[2] : 1);
    return text;
}

static void refuse_block(const struct pt_job *job, enum pt_misfit misfit, const struct pt_shape *s)
{
    const struct pt_func *f = func_of(job->kernel);
    char block[40], wanted[40];
    snprintf(block, sizeof block, "%ux%ux%u", s->block[0], s->block[1], s->block[2]);
    if (misfit == PT_MISFIT_BLOCK)
        PT_JOB_FAIL(
            job,
            "kernel '%s': block %s is not between 1 and %d threads (x, y up to %d, z up to %d)",
            f->name, block, PT_DEVICE_BLOCK_THREADS, PT_DEVICE_BLOCK_X, PT_DEVICE_BLOCK_Z);
    else if (misfit == PT_MISFIT_REGISTERS)
        PT_JOB_FAIL(job, "kernel '%s': no registers for %u threads in a block", f->name,
                    s->threads);
    else if (f->reqntid[0])
        PT_JOB_FAIL(job, "kernel '%s': block %s, .reqntid demands %s", f->name, block,
                    shape_text(wanted, f->reqntid));
    else
        PT_JOB_FAIL(job, "kernel '%s': %u threads in a block, .maxntid allows %" PRIu64, f->name,
                    s->threads, pt_shape_declared_threads(f));
}

static void refuse_cluster(const struct pt_job *job, enum pt_misfit misfit,
                           const ptera_launch *given, const struct pt_shape *s)
{
    const struct pt_func *f = func_of(job->kernel);
    const uint32_t *g = s->grid, *c = s->cluster;
    uint32_t most = (uint32_t)job->engine->device->limits->cluster;
    if (misfit == PT_MISFIT_CLUSTER_MISSING)
        PT_JOB_FAIL(job, "kernel '%s': .explicitcluster demands cluster dimensions", f->name);
    else if (misfit == PT_MISFIT_CLUSTER_REQUIRED)
        PT_JOB_FAIL(job, "kernel '%s': cluster %ux%ux%u is not what .reqnctapercluster demands",
                    f->name, given->cluster[0], given->cluster[1], given->cluster[2]);
    else if (misfit == PT_MISFIT_CLUSTER_NONE)
        PT_JOB_FAIL(job, "kernel '%s': a device of compute capability %d.%d has no clusters",
                    f->name, job->engine->device->limits->major,
                    job->engine->device->limits->minor);
    else if (misfit == PT_MISFIT_CLUSTER_SIZE && (uint64_t)c[0] * c[1] * c[2] <= most)
        PT_JOB_FAIL(job, "kernel '%s': a cluster of more than %d CTAs is not portable", f->name,
                    PT_DEVICE_CLUSTER_PORTABLE);
    else if (misfit == PT_MISFIT_CLUSTER_SIZE)
        PT_JOB_FAIL(job, "kernel '%s': a cluster has at most %u CTAs", f->name, most);
    else if (misfit == PT_MISFIT_CLUSTER_RANK)
        PT_JOB_FAIL(job, "kernel '%s': %u CTAs in a cluster, .maxclusterrank allows %u", f->name,
                    s->cluster_ctas, f->maxclusterrank);
    else
        PT_JOB_FAIL(job, "kernel '%s': grid %ux%ux%u is not a multiple of the cluster %ux%ux%u",
                    f->name, g[0], g[1], g[2], c[0], c[1], c[2]);
}

void pt_misfit_refuse(const struct pt_job *job, enum pt_misfit misfit, const ptera_launch *given,
                      const struct pt_shape *s)
{
    const char *name = func_of(job->kernel)->name;
    switch (misfit) {
    case PT_MISFIT_GRID:
        PT_JOB_FAIL(job, "kernel '%s': grid %ux%ux%u is not between 1 and %dx%dx%d", name,
                    s->grid[0], s->grid[1], s->grid[2], PT_DEVICE_GRID_X, PT_DEVICE_GRID_Y,
                    PT_DEVICE_GRID_Y);
        break;
    case PT_MISFIT_DYNAMIC:
        PT_JOB_FAIL(job,
                    "kernel '%s': %u bytes of dynamic shared memory, more than its attribute "
                    "MAX_DYNAMIC_SHARED_SIZE_BYTES allows",
                    name, given->shared_bytes);
        break;
    case PT_MISFIT_SHARED:
        PT_JOB_FAIL(job,
                    "kernel '%s': %u bytes of static and %u of dynamic shared memory, a CTA has %d",
                    name, job->launch.program->shared_static, given->shared_bytes,
                    job->engine->device->limits->block_shared);
        break;
    case PT_MISFIT_RESIDENT:
        PT_JOB_FAIL(job,
                    "kernel '%s': %" PRIu64
                    " CTAs in a cooperative launch, %u of this size can be resident",
                    name, s->n_clusters * s->cluster_ctas, s->capacity * s->cluster_ctas);
        break;
    case PT_MISFIT_CLUSTER_MISSING:
    case PT_MISFIT_CLUSTER_REQUIRED:
    case PT_MISFIT_CLUSTER_NONE:
    case PT_MISFIT_CLUSTER_SIZE:
    case PT_MISFIT_CLUSTER_RANK:
    case PT_MISFIT_CLUSTER_GRID:
        refuse_cluster(job, misfit, given, s);
        break;
    default:
        refuse_block(job, misfit, s);
    }
}
