/* Isolated launches: which memory is a kernel's. */
#include "runtime/isolate.h"

#include "backend/observer.h"
#include "runtime/engine.h"
#include "runtime/globals.h"
#include "runtime/job.h"

static bool holds(struct pt_extent *e, uint64_t first, uint64_t bytes, uint64_t address)
{
    e->first = first;
    e->bytes = bytes;
    return pt_extent_holds(e, address, 1);
}

/* Windows of the cluster's CTAs, without the reserved kilobyte below. */
static bool find_shared(const struct pt_job *job, const struct pt_cta *cta, uint64_t address,
                        struct pt_extent *e)
{
    uint64_t offset = address - (uintptr_t)cta->shared;
    if (offset >> PT_SHARED_RANK_SHIFT >= job->cluster_ctas)
        return false;
    e->space = PT_SPACE_SHARED;
    uint64_t window = address - (offset & ((UINT64_C(1) << PT_SHARED_RANK_SHIFT) - 1));
    return holds(e, window + PT_SHARED_BASE, job->launch.shared_bytes - PT_SHARED_BASE, address);
}

static bool find_local(const struct pt_warp *warp, uint32_t lane, uint64_t address,
                       struct pt_extent *e)
{
    uint64_t stride = warp->cta->launch->local_stride;
    uint64_t thread = (uint64_t)warp->index * PT_WARP_SIZE + lane;
    e->space = PT_SPACE_LOCAL;
    e->is_private = holds(e, (uintptr_t)warp->cta->local + thread * stride, stride, address);
    return e->is_private;
}

/* What kernels may only read: the parameter block and .const variables. */
static bool find_read_only(const struct pt_job *job, uint64_t address, struct pt_extent *e)
{
    const ptera_module *module = job->kernel->module;
    uint32_t param_bytes = module->ir.funcs.v[job->kernel->func].param_size;
    e->space = PT_SPACE_CONST;
    e->is_read_only = holds(e, (uintptr_t)job->launch.params, param_bytes, address) ||
                      holds(e, (uintptr_t)module->constants.read, module->constants_bytes, address);
    return e->is_read_only;
}

/* The checker of memory keeps a module's variables apart. */
static bool find_variable(const ptera_module *module, uint64_t address, struct pt_extent *e)
{
    uint32_t i = pt_globals_near(module, address);
    return i != PT_NONE && holds(e, module->symbols[i], module->ir.symbols.v[i].size, address);
}

static bool find_allocation(const struct pt_job *job, uint64_t address, struct pt_extent *e)
{
    struct pt_mem_record r;
    ptera_engine *engine = job->engine;
    if (!pt_mem_near(&engine->mem, address, &r) || r.is_kept ||
        !holds(e, r.address, r.bytes, address))
        return false;
    switch (r.kind) {
    case PT_MEM_BUFFER:
        return true;
    case PT_MEM_HOST:
        return e->may_adjoin = true;
    case PT_MEM_GLOBALS:
        return r.address == (uintptr_t)job->kernel->module->globals &&
               (!(job->tests & PT_TEST_mem) || find_variable(job->kernel->module, address, e));
    case PT_MEM_HEAP:
        return r.address == job->launch.grid_barrier ||
               pt_heap_find(&engine->heap, address, &e->first, &e->bytes);
    }
    return false;
}

static bool find_global(const struct pt_job *job, uint64_t address, struct pt_extent *e)
{
    const ptera_engine *engine = job->engine;
    e->space = PT_SPACE_GLOBAL;
    if (find_allocation(job, address, e))
        return true;
    e->may_adjoin = engine->find_foreign && engine->find_foreign(address, &e->first, &e->bytes);
    return e->may_adjoin;
}

bool pt_isolate_find(const struct pt_warp *warp, uint32_t lane, uint64_t address,
                     struct pt_extent *extent)
{
    const struct pt_job *job = pt_job_of(warp->cta->launch);
    *extent = (struct pt_extent){
        .releases = atomic_load_explicit(job->launch.releases, memory_order_acquire)};
    return find_shared(job, warp->cta, address, extent) ||
           find_local(warp, lane, address, extent) || find_read_only(job, address, extent) ||
           find_global(job, address, extent);
}
