/* The executor: does what an operation says, without the lock. */
#include "runtime/cuda/execute.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "runtime/cuda/account.h"
#include "runtime/cuda/driver.h"
#include "runtime/cuda/error.h"
#include "runtime/cuda/log.h"
#include "runtime/cuda/op.h"
#include "runtime/cuda/thread.h"
#include "runtime/fault.h"
#include "runtime/observe.h"

enum { PATTERN_BYTES = 8 << 10, POLL_NS = 20000 };

static void copy_box(const struct pt_cu_copy *c)
{
    for (size_t z = 0; z < c->depth; z++)
        for (size_t y = 0; y < c->height; y++)
            memmove(c->to + z * c->to_slice + y * c->to_pitch,
                    c->from + z * c->from_slice + y * c->from_pitch, c->width);
}

/* Wider elements: what is set already is copied behind itself, in pieces that stay in a cache. */
static void set_row(uint8_t *to, const struct pt_cu_set *s)
{
    uint16_t half = (uint16_t)s->value;
    size_t bytes = s->width * s->element_bytes, done = s->element_bytes;
    if (s->element_bytes == 1) {
        memset(to, (int)(s->value & 0xff), s->width);
        return;
    }
    memcpy(to, s->element_bytes == 2 ? (const void *)&half : &s->value, s->element_bytes);
    for (size_t n; done < bytes; done += n) {
        n = done < PATTERN_BYTES ? done : PATTERN_BYTES;
        n = n < bytes - done ? n : bytes - done;
        memcpy(to + done, to, n);
    }
}

static bool holds(uint64_t have, uint64_t want, unsigned bytes, unsigned flags)
{
    uint64_t mask = bytes == 8 ? UINT64_MAX : UINT32_MAX;
    switch (flags & ~(unsigned)CU_STREAM_WAIT_VALUE_FLUSH) {
    case CU_STREAM_WAIT_VALUE_GEQ: /* cyclic, as the signed difference says */
        return bytes == 8 ? (int64_t)(have - want) >= 0 : (int32_t)(uint32_t)(have - want) >= 0;
    case CU_STREAM_WAIT_VALUE_EQ:
        return have == (want & mask);
    case CU_STREAM_WAIT_VALUE_AND:
        return (have & want & mask) != 0;
    default:
        return (~(have | want) & mask) != 0;
    }
}

static void wait_value(const void *address, uint64_t value, unsigned bytes, unsigned flags)
{
    const struct timespec pause = {0, POLL_NS};
    for (;;) {
        uint64_t have = bytes == 8 ? __atomic_load_n((const uint64_t *)address, __ATOMIC_ACQUIRE)
                                   : __atomic_load_n((const uint32_t *)address, __ATOMIC_ACQUIRE);
        if (holds(have, value, bytes, flags))
            return;
        nanosleep(&pause, NULL);
    }
}

static void write_value(void *address, uint64_t value, unsigned bytes)
{
    if (bytes == 8)
        __atomic_store_n((uint64_t *)address, value, __ATOMIC_RELEASE);
    else
        __atomic_store_n((uint32_t *)address, (uint32_t)value, __ATOMIC_RELEASE);
}

static void do_values(const struct pt_cu_op *op)
{
    unsigned n;
    const struct pt_cu_op *parts = pt_cu_op_parts(op, &n);
    for (unsigned i = 0; i < n; i++)
        if (parts[i].work == PT_CU_WAIT_VALUE)
            wait_value(parts[i].value.address, parts[i].value.value, parts[i].value.bytes,
                       parts[i].value.flags);
        else if (parts[i].work == PT_CU_WRITE_VALUE)
            write_value(parts[i].value.address, parts[i].value.value, parts[i].value.bytes);
}

/* CUDA_DEVICE_WAITS_ON_EXCEPTION: until one is attached. */
static void wait_for_debugger(void)
{
    const struct timespec pause = {.tv_nsec = 100000000};
    pt_cu_log_print("process %d waits for a debugger (CUDA_DEVICE_WAITS_ON_EXCEPTION)",
                    (int)getpid());
    for (unsigned long tracer = 0; !tracer;) {
        char line[128];
        FILE *status = fopen("/proc/self/status", "re");
        if (!status)
            return;
        while (!tracer && fgets(line, sizeof line, status))
            if (strncmp(line, "TracerPid:", 10) == 0)
                tracer = strtoul(line + 10, NULL, 10);
        fclose(status);
        if (!tracer)
            nanosleep(&pause, NULL);
    }
}

static CUresult run_kernel(struct pt_cu_launch *launch)
{
    char error[PT_CU_LOG_BYTES];
    struct pt_job *job = launch->job;
    launch->job = NULL;
    error[0] = 0; /* the rest need not be cleared for each launch */
    job->error = (struct pt_own_error){error, sizeof error};
    ptera_result r = pt_cu_account_is_on() ? pt_cu_account_launch(job, launch->launched)
                                           : pt_launch_run(job, launch->launched);
    if (r != PTERA_OK)
        pt_cu_log_print("%s", error);
    if (r != PTERA_OK && pt_cu_driver.waits_for_debugger)
        wait_for_debugger();
    return pt_cu_error_of(r);
}

void pt_cu_execute_observe(const struct pt_cu_op *op, const struct pt_observer *const *observers)
{
    const struct pt_cu_copy *c = &op->copy;
    for (size_t i = 0; op->work == PT_CU_COPY && i < c->depth * c->height; i++) {
        size_t z = i / c->height, y = i % c->height;
        pt_observe_memory(observers, PT_MEMORY_READ,
                          c->from + z * c->from_slice + y * c->from_pitch, c->width);
        pt_observe_memory(observers, PT_MEMORY_WRITTEN, c->to + z * c->to_slice + y * c->to_pitch,
                          c->width);
    }
    for (size_t y = 0; op->work == PT_CU_SET && y < op->set.height; y++)
        pt_observe_memory(observers, PT_MEMORY_WRITTEN, op->set.to + y * op->set.pitch,
                          op->set.width * op->set.element_bytes);
    unsigned n;
    const struct pt_cu_op *parts = pt_cu_op_parts(op, &n);
    for (unsigned i = 0; i < n; i++)
        if (parts[i].work == PT_CU_WRITE_VALUE)
            pt_observe_memory(observers, PT_MEMORY_WRITTEN, parts[i].value.address,
                              parts[i].value.bytes);
}

static void move(const struct pt_cu_op *op)
{
    if (op->work == PT_CU_COPY)
        copy_box(&op->copy);
    for (size_t y = 0; op->work == PT_CU_SET && y < op->set.height; y++)
        set_row(op->set.to + y * op->set.pitch, &op->set);
}

/* The program's function, which may not call CUDA (cuLaunchHostFunc, cuStreamAddCallback). */
static void call_host(const struct pt_cu_op *op, CUresult error)
{
    struct pt_cu_thread *thread = pt_cu_thread_get();
    if (thread)
        thread->is_in_host_function = true;
    if (op->work == PT_CU_CALLBACK)
        op->callback.call(op->callback.stream, error, op->callback.ud);
    else
        op->host.call(op->host.ud);
    pt_fault_host_ran();
    if (thread)
        thread->is_in_host_function = false;
}

CUresult pt_cu_execute_op(struct pt_cu_op *op, CUresult error)
{
    if (op->work == PT_CU_CALLBACK)
        call_host(op, error);
    if (error != CUDA_SUCCESS)
        return CUDA_SUCCESS;
    switch (op->work) {
    case PT_CU_KERNEL_LAUNCH:
        return run_kernel(&op->launch);
    case PT_CU_COPY:
    case PT_CU_SET:
        if (pt_cu_account_is_on())
            pt_cu_account_move(op, move);
        else
            move(op);
        break;
    case PT_CU_HOST_CALL:
        call_host(op, CUDA_SUCCESS);
        break;
    case PT_CU_WAIT_VALUE:
    case PT_CU_WRITE_VALUE:
    case PT_CU_BATCH:
        do_values(op);
        break;
    case PT_CU_EMPTY:
    case PT_CU_RECORD:
    case PT_CU_CALLBACK:
    case PT_CU_FREE_POOLED:
    case PT_CU_WAIT_EVENT:
        break;
    }
    return CUDA_SUCCESS;
}
