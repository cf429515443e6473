/* What a launch does for an engine while a warp runs. */
#define _GNU_SOURCE
#include "runtime/services.h"

#include <string.h>
#include <time.h>

#include "backend/observer.h"
#include "runtime/barrier.h"
#include "runtime/engine.h"
#include "runtime/finding.h"
#include "runtime/isolate.h"
#include "runtime/job.h"

static ptera_engine *engine_of(const struct pt_warp *warp)
{
    return pt_job_of(warp->cta->launch)->engine;
}

static bool fail(struct pt_warp *warp, uint32_t lane, enum pt_fault_kind kind, const char *detail)
{
    warp->fault.kind = kind;
    warp->fault.lanes = UINT32_C(1) << lane;
    warp->fault.has_address = false;
    warp->fault.detail = detail;
    return false;
}

/* What device functions read for a lane of an isolated launch. */
struct lane_readable {
    struct pt_readable base;
    const struct pt_warp *warp;
    uint32_t lane;
};

static size_t count_readable(const struct pt_readable *readable, uint64_t address, size_t bytes)
{
    _Static_assert(offsetof(struct lane_readable, base) == 0, "a lane's view is found by its base");
    const struct lane_readable *r = (const struct lane_readable *)readable;
    struct pt_extent e;
    if (!pt_isolate_find(r->warp, r->lane, address, &e))
        return 0;
    uint64_t left = e.bytes - (address - e.first);
    return bytes < left ? bytes : left;
}

/* NULL if the launch is not isolated. */
static const struct pt_readable *readable_by(struct lane_readable *r, const struct pt_warp *warp,
                                             uint32_t lane)
{
    *r = (struct lane_readable){{count_readable}, warp, lane};
    return warp->cta->launch->program->tests & PT_TEST_isolate ? &r->base : NULL;
}

static bool check_print(struct pt_warp *warp, uint32_t lane, enum pt_print_result result,
                        uint64_t bad)
{
    if (result == PT_PRINT_OK)
        return true;
    if (result == PT_PRINT_NO_MEMORY)
        return fail(warp, lane, PT_FAULT_OUT_OF_MEMORY, "no memory for printed text");
    if (result == PT_PRINT_TOO_LONG)
        return fail(warp, lane, PT_FAULT_OUT_OF_MEMORY, "a call that prints more than 1 MiB");
    fail(warp, lane, PT_FAULT_ILLEGAL_ADDRESS, "read by a device function");
    warp->fault.has_address = true;
    warp->fault.address = bad;
    return false;
}

static bool call_vprintf(struct pt_warp *warp, uint32_t lane, const uint64_t args[2], void *result)
{
    struct lane_readable readable;
    uint64_t bad = 0;
    int count = 0, stop = atomic_load_explicit(&warp->cta->launch->stop, memory_order_relaxed);
    if (stop) /* text can take longer than whole kernels */
        return fail(warp, lane, (enum pt_fault_kind)stop, NULL);
    enum pt_print_result r =
        pt_print_format(&engine_of(warp)->printer, readable_by(&readable, warp, lane), args[0],
                        args[1], &count, &bad);
    memcpy(result, &count, sizeof count);
    return check_print(warp, lane, r, bad);
}

/* The parameters of __assertfail(message, file, line, function, character size). */
struct assertfail {
    uint64_t message, file;
    uint32_t line;
    uint64_t function, charsize;
};

static bool call_assertfail(struct pt_warp *warp, uint32_t lane, const struct assertfail *args)
{
    struct pt_assertion a = {.message = args->message,
                             .file = args->file,
                             .function = args->function,
                             .line = args->line};
    for (int d = 0; d < 3; d++) {
        a.cta[d] = warp->cta->id[d];
        a.thread[d] = warp->tid[d][lane];
    }
    struct lane_readable readable;
    uint64_t bad = 0;
    enum pt_print_result r =
        pt_print_assertion(&engine_of(warp)->printer, readable_by(&readable, warp, lane), &a, &bad);
    return check_print(warp, lane, r, bad) && fail(warp, lane, PT_FAULT_ASSERT, NULL);
}

static bool call_free(struct pt_warp *warp, uint32_t lane, uint64_t address)
{
    if (pt_heap_free(&engine_of(warp)->heap, address))
        return true;
    fail(warp, lane, PT_FAULT_INVALID_FREE, "free of what malloc did not give");
    warp->fault.has_address = true;
    warp->fault.address = address;
    return false;
}

static bool call_host(struct pt_warp *warp, uint32_t lane, uint32_t func, const void *args,
                      void *result)
{
    const struct pt_job *job = pt_job_of(warp->cta->launch);
    struct pt_host_caller caller = {.job = job};
    for (int d = 0; d < 3; d++) {
        caller.cta[d] = warp->cta->id[d];
        caller.thread[d] = warp->tid[d][lane];
    }
    const char *failure =
        pt_host_call(&job->kernel->module->host_links[func], &caller, args, result);
    return !failure || fail(warp, lane, PT_FAULT_HOST_FUNCTION, failure);
}

static bool call(struct pt_warp *warp, uint32_t lane, uint32_t f, const void *args, void *result)
{
    uint64_t v[2] = {0};
    struct assertfail assertion;
    if (f >= PT_DEVICE_COUNT)
        return call_host(warp, lane, f - PT_DEVICE_COUNT, args, result);
    switch ((enum pt_device_function)f) {
    case PT_DEVICE_vprintf:
        memcpy(v, args, 16);
        return call_vprintf(warp, lane, v, result);
    case PT_DEVICE_malloc:
        memcpy(v, args, 8);
        v[1] = pt_heap_alloc(&engine_of(warp)->heap, v[0]);
        memcpy(result, &v[1], 8);
        return true;
    case PT_DEVICE_free:
        memcpy(v, args, 8);
        return call_free(warp, lane, v[0]);
    case PT_DEVICE___assertfail:
        memcpy(&assertion, args, sizeof assertion);
        return call_assertfail(warp, lane, &assertion);
    case PT_DEVICE_NONE:
    case PT_DEVICE_COUNT:
        break;
    }
    return fail(warp, lane, PT_FAULT_ILLEGAL_INSTRUCTION, "call of an unknown device function");
}

static uint64_t now(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* Counts at a constant rate, as the cycle counter of a processor at 1 GHz would. */
static uint64_t clock_cycles(void)
{
    return now(CLOCK_MONOTONIC);
}

static uint64_t globaltimer(void)
{
    return now(CLOCK_REALTIME);
}

static const char *replicas(const struct pt_warp *warp, uint64_t address, bool is_write,
                            struct pt_replicas *found)
{
    const ptera_engine *engine = engine_of(warp);
    return engine->replicas ? engine->replicas(address, is_write, found) : pt_no_multicast;
}

const struct pt_services pt_launch_services = {
    .arrive = pt_barrier_arrive,
    .exited = pt_barrier_exited,
    .call = call,
    .find = pt_isolate_find,
    .replicas = replicas,
    .found = pt_finding_add,
    .clock = clock_cycles,
    .globaltimer = globaltimer,
};
