/* A call that a kernel makes of CUDA's device runtime library. */
#include "runtime/cuda/device_call.h"

#include <string.h>

#include "runtime/cuda/command.h"
#include "runtime/cuda/context_list.h"
#include "runtime/cuda/lock.h"
#include "runtime/cuda/module.h"
#include "runtime/engine.h"
#include "runtime/host.h"
#include "runtime/job.h"
#include "runtime/observe.h"

struct pt_cu_device_call pt_cu_device_call_begin(uint64_t stream)
{
    struct pt_cu_device_call c = {.caller = pt_host_caller_get()};
    const struct pt_launch *l = &c.caller->job->launch;
    const uint32_t *b = c.caller->cta, *t = c.caller->thread;
    pt_cu_lock_take();
    c.parent = c.caller->job->owner;
    c.ctx = c.parent->ctx;
    c.place.block = b[0] + l->grid[0] * (b[1] + (uint64_t)l->grid[1] * b[2]);
    c.place.thread = t[0] + l->block[0] * (t[1] + (uint64_t)l->block[1] * t[2]);
    c.place.stream = stream;
    return c;
}

int pt_cu_device_call_end(void)
{
    pt_cu_lock_release();
    return 0;
}

int pt_cu_device_call_end_with(const struct pt_cu_device_call *c, int error)
{
    if (error && !pt_cu_children_set_error(c->parent, c->place.block, c->place.thread, error))
        error = CUDA_ERROR_OUT_OF_MEMORY;
    pt_cu_lock_release();
    return error;
}

void pt_cu_device_call_store(const struct pt_cu_device_call *c, void *to, const void *from,
                             size_t bytes)
{
    memcpy(to, from, bytes);
    pt_observe_memory(c->ctx->engine->mem.observers, PT_MEMORY_WRITTEN, to, bytes);
}

int pt_cu_device_call_store_int(const struct pt_cu_device_call *c, int error, int *to, int value)
{
    if (!to)
        return pt_cu_device_call_end_with(c, CUDA_ERROR_INVALID_VALUE);
    if (error)
        return pt_cu_device_call_end_with(c, error);
    pt_cu_device_call_end();
    pt_cu_device_call_store(c, to, &value, sizeof value);
    return 0;
}

CUfunction pt_cu_device_call_function_at(const struct pt_cu_device_call *c, uint64_t address)
{
    const struct pt_job *job = c->caller->job;
    uint64_t offset = address - job->launch.program->image->func_base;
    CUmodule module = c->ctx->modules;
    while (module && module->ptera != job->kernel->module)
        module = module->next;
    CUfunction function = NULL;
    if (module && offset % 16 == 0)
        pt_cu_module_function_at(module, offset / 16, &function);
    return function;
}
