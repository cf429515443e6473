/* The timeline of a program that uses the driver. */
#include "runtime/cuda/trace.h"

#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

#include "ir/arena.h"
#include "runtime/cuda/driver.h"
#include "runtime/cuda/log.h"
#include "runtime/cuda/variable.h"
#include "runtime/deadline.h"
#include "runtime/trace.h"

static struct pt_trace *trace;
static uint32_t process;
static void (*at_close)(void);

/* Thread ids are below 2^22. */
enum { PID_BITS = 22, NUMBER_BITS = 32 };

static _Thread_local struct {
    unsigned depth;
    uint64_t begun; /* the outermost call; 0: it is not recorded */
    uint64_t arrow; /* from it; 0: none */
} self;

static bool is_recording(void)
{
    return !atomic_load_explicit(&pt_cu_driver.is_unprofiled, memory_order_relaxed);
}

/* ---- opening and closing --------------------------------------------------------------------- */

static void say(void *ud, const char *path, const char *why, uint64_t lost)
{
    (void)ud;
    if (lost)
        pt_cu_log_print("PTERA_TRACE: %s: %s: %" PRIu64 " events are lost", path, why, lost);
    else
        pt_cu_log_print("PTERA_TRACE: cannot write to %s: %s", path, why);
}

static void open_trace(void)
{
    const char *path = pt_cu_variable("PTERA_TRACE");
    trace = path ? pt_trace_open(path, &pt_malloc_allocator, say, NULL) : NULL;
    if (trace)
        atomic_fetch_or(&pt_cu_driver.watchers, PT_CU_TIMELINE);
    else
        atomic_fetch_and(&pt_cu_driver.watchers, ~(unsigned)PT_CU_TIMELINE);
    process = (uint32_t)getpid();
    if (path && !trace)
        pt_cu_log_print("PTERA_TRACE: cannot write to %s: %s", path,
                        errno == EEXIST ? "it is there, and no trace of Ptera's" : strerror(errno));
}

/* A process that was forked records what it does itself. */
static void open_again(void)
{
    if (trace)
        pt_trace_free(trace);
    memset(&self, 0, sizeof self);
    open_trace();
}

__attribute__((constructor)) static void open_first(void)
{
    open_trace();
    if (trace)
        pthread_atfork(NULL, NULL, open_again);
}

/* What is freed stays: other threads may be in a call. */
__attribute__((destructor)) static void close_trace(void)
{
    if (!trace)
        return;
    if (at_close)
        at_close();
    atomic_fetch_and(&pt_cu_driver.watchers, ~(unsigned)PT_CU_TIMELINE);
    pt_trace_close(trace);
}

struct pt_trace *pt_cu_trace_get(void)
{
    return trace;
}

void pt_cu_trace_at_close(void (*call)(void))
{
    at_close = call;
}

/* ---- events ---------------------------------------------------------------------------------- */

void pt_cu_trace_add(const struct pt_trace_shape *shape, struct pt_trace_event *event)
{
    if (!trace || !is_recording())
        return;
    if (!event->process) {
        event->process = process;
        event->row = pt_trace_row(trace);
    }
    pt_trace_add(trace, shape, event);
}

void pt_cu_trace_enter(void)
{
    if (self.depth++)
        return;
    self.arrow = 0;
    self.begun = is_recording() ? pt_now_ns() : 0;
}

/* The process in front, so that no other in the file has it. */
uint64_t pt_cu_trace_number(void)
{
    static atomic_uint n;
    return (uint64_t)process << NUMBER_BITS | (atomic_fetch_add(&n, 1) + 1);
}

uint64_t pt_cu_trace_arrow(void)
{
    if (self.depth && self.begun && !self.arrow)
        self.arrow = pt_cu_trace_number();
    return self.arrow;
}

void pt_cu_trace_leave(const char *call, int result)
{
    static const struct pt_trace_shape good = {.phase = 'X',
                                               .arrow = "flow_out",
                                               .category = "api"},
                                       failed = {.phase = 'X',
                                                 .arrow = "flow_out",
                                                 .category = "api",
                                                 .fields = {{"result", PT_TRACE_SIGNED}},
                                                 .n_values = 1};
    if (!self.depth || --self.depth || !self.begun)
        return;
    struct pt_trace_event event = {.begin = self.begun,
                                   .end = pt_now_ns(),
                                   .id = self.arrow,
                                   .name = call,
                                   .values = (uint64_t[]){(uint64_t)(int64_t)result}};
    pt_cu_trace_add(result ? &failed : &good, &event);
}

/* ---- names ----------------------------------------------------------------------------------- */

uint32_t pt_cu_trace_device(int device)
{
    return process | (uint32_t)(device + 1) << PID_BITS;
}

void pt_cu_trace_name_device(int device, const char *name)
{
    if (trace && device >= 0 && device < PT_CU_DEVICES_MAX)
        pt_trace_name_process(trace, pt_cu_trace_device(device), name);
}

void pt_cu_trace_name_row(int device, uint32_t row, const char *name)
{
    if (trace)
        pt_trace_name(trace, pt_cu_trace_device(device), row, name);
}

void pt_cu_trace_name_thread(uint32_t thread, const char *name)
{
    if (!trace)
        return;
    pt_trace_row(trace); /* whose own name comes before */
    pt_trace_name(trace, process, thread, name);
}
