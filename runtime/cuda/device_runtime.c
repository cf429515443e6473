/* What kernels call of CUDA's device runtime library: functions of the host that take the driver's
 * lock, as its entries do. Their results are the runtime library's errors, which each thread has a
 * last one of. What they answer is what an H200's library does (driver 580). */
#include "runtime/cuda/device_runtime.h"

#include <stddef.h>
#include <string.h>

#include "runtime/cuda/children.h"
#include "runtime/cuda/command.h"
#include "runtime/cuda/condition.h"
#include "runtime/cuda/context_list.h"
#include "runtime/cuda/device_call.h"
#include "runtime/cuda/device_query.h"
#include "runtime/cuda/device_update.h"
#include "runtime/cuda/exec_launch.h"
#include "runtime/cuda/error.h"
#include "runtime/cuda/function.h"
#include "runtime/cuda/graph.h"
#include "runtime/cuda/handle.h"
#include "runtime/cuda/launch.h"
#include "runtime/cuda/lock.h"
#include "runtime/cuda/range.h"
#include "runtime/cuda/runtime_error.h"
#include "runtime/engine.h"

/* The runtime library's, where they are not the driver's numbers. */
enum { INVALID_CONFIGURATION = 9, INVALID_DIRECTION = 21, PITCH = 12 };

/* cudaMemcpyKind */
enum { DEVICE_TO_DEVICE = 3, DEFAULT_KIND };

enum { EVENT_DISABLES_TIMING = 2, EVENT_FLAGS = 7, STREAM_NON_BLOCKING = 1 };

/* Handles of kernels' streams and events are numbers: a parent's list knows what they stand for. */
static uint64_t n_streams, n_events;

/* ---- errors ---------------------------------------------------------------------------------- */

static int peek_error(void)
{
    struct pt_cu_device_call c = pt_cu_device_call_begin(0);
    int error = pt_cu_children_error(c.parent, c.place.block, c.place.thread);
    pt_cu_device_call_end();
    return error;
}

static int get_error(void)
{
    struct pt_cu_device_call c = pt_cu_device_call_begin(0);
    int error = pt_cu_children_error(c.parent, c.place.block, c.place.thread);
    pt_cu_children_set_error(c.parent, c.place.block, c.place.thread, 0);
    pt_cu_device_call_end();
    return error;
}

/* ---- streams and events ---------------------------------------------------------------------- */

static bool is_stream(uint64_t stream)
{
    return stream <= PT_CU_CHILD_FREE ||
           (stream >= PT_CU_CHILD_STREAMS && stream - PT_CU_CHILD_STREAMS < n_streams);
}

static bool is_event(uint64_t event)
{
    return event && event <= n_events;
}

static int create_stream(uint64_t *stream, unsigned flags)
{
    struct pt_cu_device_call c = pt_cu_device_call_begin(0);
    if (!stream || flags > STREAM_NON_BLOCKING)
        return pt_cu_device_call_end_with(&c, CUDA_ERROR_INVALID_VALUE);
    uint64_t made = PT_CU_CHILD_STREAMS + n_streams++;
    pt_cu_device_call_end();
    pt_cu_device_call_store(&c, stream, &made, sizeof made);
    return 0;
}

static int destroy_stream(uint64_t stream)
{
    struct pt_cu_device_call c = pt_cu_device_call_begin(stream);
    return pt_cu_device_call_end_with(
        &c, stream >= PT_CU_CHILD_STREAMS && is_stream(stream) ? 0 : CUDA_ERROR_INVALID_VALUE);
}

/* A handle is not null. */
static int create_event(uint64_t *event, unsigned flags)
{
    struct pt_cu_device_call c = pt_cu_device_call_begin(0);
    if (!event || flags & ~(unsigned)EVENT_FLAGS || !(flags & EVENT_DISABLES_TIMING))
        return pt_cu_device_call_end_with(&c, CUDA_ERROR_INVALID_VALUE);
    uint64_t made = ++n_events;
    pt_cu_device_call_end();
    pt_cu_device_call_store(&c, event, &made, sizeof made);
    return 0;
}

static int fail_event(const char *what)
{
    pt_cu_device_call_end();
    ptera_function_fail(what);
    return 0;
}

static int destroy_event(uint64_t event)
{
    pt_cu_device_call_begin(0);
    return is_event(event) ? pt_cu_device_call_end()
                           : fail_event("cudaEventDestroy: no event of a kernel");
}

static int record_in(uint64_t event, uint64_t stream)
{
    struct pt_cu_device_call c = pt_cu_device_call_begin(stream);
    if (!is_event(event))
        return fail_event("cudaEventRecord: no event of a kernel");
    if (!is_stream(stream) || stream == PT_CU_CHILD_TAIL || stream == PT_CU_CHILD_FREE)
        return pt_cu_device_call_end_with(&c, CUDA_ERROR_INVALID_VALUE);
    bool ok = pt_cu_children_record(c.parent, &c.place, event);
    return pt_cu_device_call_end_with(&c, ok ? 0 : CUDA_ERROR_OUT_OF_MEMORY);
}

static int record_with_flags(uint64_t event, uint64_t stream, unsigned flags)
{
    (void)flags;
    return record_in(event, stream);
}

static int wait_in(uint64_t stream, uint64_t event, unsigned flags)
{
    struct pt_cu_device_call c = pt_cu_device_call_begin(stream);
    if (!is_event(event))
        return fail_event("cudaStreamWaitEvent: no event of a kernel");
    if (!is_stream(stream) || flags)
        return pt_cu_device_call_end_with(&c, CUDA_ERROR_INVALID_VALUE);
    bool ok = pt_cu_children_wait(c.parent, &c.place, event);
    return pt_cu_device_call_end_with(&c, ok ? 0 : CUDA_ERROR_OUT_OF_MEMORY);
}

/* ---- launches -------------------------------------------------------------------------------- */

struct dims {
    unsigned x, y, z;
};

/* Room for the parameters of a launch; 0: see the last error. */
static uint64_t prepare(uint64_t address, struct dims grid, struct dims block, unsigned shared)
{
    struct pt_cu_device_call c = pt_cu_device_call_begin(0);
    struct pt_cu_prepared p = {.function = pt_cu_device_call_function_at(&c, address),
                               .grid = {grid.x, grid.y, grid.z},
                               .block = {block.x, block.y, block.z},
                               .shared = shared};
    if (!p.function) {
        pt_cu_device_call_end_with(&c, CUDA_ERROR_INVALID_VALUE);
        return 0;
    }
    size_t bytes = pt_cu_function_parameter_bytes(p.function);
    p.parameters = pt_heap_alloc(&c.ctx->engine->heap, bytes ? bytes : 1);
    if (p.parameters && !pt_cu_children_prepare(c.parent, &p)) {
        pt_heap_free(&c.ctx->engine->heap, p.parameters);
        p.parameters = 0;
    }
    pt_cu_device_call_end_with(&c, p.parameters ? 0 : CUDA_ERROR_OUT_OF_MEMORY);
    return p.parameters;
}

static int make_ready(const struct pt_cu_prepared *p, struct pt_cu_op *op)
{
    size_t bytes = pt_cu_function_parameter_bytes(p->function);
    void *parameters = (void *)(uintptr_t)p->parameters;
    void *extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, parameters, CU_LAUNCH_PARAM_BUFFER_SIZE,
                     &bytes, CU_LAUNCH_PARAM_END};
    *op = (struct pt_cu_op){.work = PT_CU_KERNEL_LAUNCH, .launch.function = p->function};
    ptera_launch_init(&op->launch.launch);
    memcpy(op->launch.launch.grid, p->grid, sizeof p->grid);
    memcpy(op->launch.launch.block, p->block, sizeof p->block);
    op->launch.launch.shared_bytes = p->shared;
    CUresult r = pt_cu_launch_ready(&op->launch, NULL, extra);
    return r == CUDA_ERROR_INVALID_VALUE ? INVALID_CONFIGURATION : (int)r;
}

/* Takes the operation over. */
static int give(const struct pt_cu_device_call *c, struct pt_cu_op *op)
{
    if (pt_cu_children_add(c->parent, &c->place, op))
        return 0;
    pt_cu_op_drop(op);
    return CUDA_ERROR_OUT_OF_MEMORY;
}

static int launch(uint64_t parameters, uint64_t stream)
{
    struct pt_cu_device_call c = pt_cu_device_call_begin(stream);
    struct pt_cu_prepared p;
    struct pt_cu_op op;
    if (!pt_cu_children_take(c.parent, parameters, &p))
        return pt_cu_device_call_end_with(&c, CUDA_ERROR_INVALID_VALUE);
    int error = is_stream(stream) ? make_ready(&p, &op) : CUDA_ERROR_INVALID_VALUE;
    pt_heap_free(&c.ctx->engine->heap, p.parameters);
    return pt_cu_device_call_end_with(&c, error ? error : give(&c, &op));
}

/* ---- memory ---------------------------------------------------------------------------------- */

static int allocate(void **out, size_t bytes)
{
    struct pt_cu_device_call c = pt_cu_device_call_begin(0);
    pt_cu_device_call_end();
    if (!bytes)
        return CUDA_ERROR_INVALID_VALUE;
    uint64_t address = pt_heap_alloc(&c.ctx->engine->heap, bytes);
    pt_cu_device_call_store(&c, out, &address, sizeof address);
    return address ? 0 : CUDA_ERROR_OUT_OF_MEMORY;
}

static int release(uint64_t address)
{
    struct pt_cu_device_call c = pt_cu_device_call_begin(0);
    pt_cu_device_call_end();
    pt_heap_free(&c.ctx->engine->heap, address);
    return 0;
}

static bool is_memory(const struct pt_cu_device_call *c, uint64_t address)
{
    uint64_t block, bytes;
    return pt_cu_range_find(address) ||
           pt_heap_find(&c->ctx->engine->heap, address, &block, &bytes);
}

static int copy_rows(uint64_t to, size_t to_pitch, uint64_t from, size_t from_pitch, size_t width,
                     size_t height, int kind, uint64_t stream)
{
    struct pt_cu_device_call c = pt_cu_device_call_begin(stream);
    struct pt_cu_op op = {.work = PT_CU_COPY,
                          .copy = {.to = (uint8_t *)(uintptr_t)to,
                                   .from = (const uint8_t *)(uintptr_t)from,
                                   .to_pitch = to_pitch,
                                   .from_pitch = from_pitch,
                                   .width = width,
                                   .height = height,
                                   .depth = 1}};
    if (kind != DEVICE_TO_DEVICE && kind != DEFAULT_KIND)
        return pt_cu_device_call_end_with(&c, INVALID_DIRECTION);
    if (height > 1 && (width > to_pitch || width > from_pitch))
        return pt_cu_device_call_end_with(&c, PITCH);
    if (!is_stream(stream))
        return pt_cu_device_call_end_with(&c, CUDA_ERROR_INVALID_VALUE);
    if (!width || !height)
        return pt_cu_device_call_end();
    bool is_valid = is_memory(&c, to) && is_memory(&c, from);
    return pt_cu_device_call_end_with(&c, is_valid ? give(&c, &op) : CUDA_ERROR_INVALID_VALUE);
}

static int copy(uint64_t to, uint64_t from, size_t bytes, int kind, uint64_t stream)
{
    return copy_rows(to, bytes, from, bytes, bytes, 1, kind, stream);
}

static int set_rows(uint64_t to, size_t pitch, int value, size_t width, size_t height,
                    uint64_t stream)
{
    struct pt_cu_device_call c = pt_cu_device_call_begin(stream);
    struct pt_cu_op op = {
        .work = PT_CU_SET,
        .set = {(uint8_t *)(uintptr_t)to, pitch, width, height, 1, (uint8_t)value}};
    if (!is_stream(stream) || (height > 1 && width > pitch))
        return pt_cu_device_call_end_with(&c, CUDA_ERROR_INVALID_VALUE);
    if (!width || !height)
        return pt_cu_device_call_end();
    return pt_cu_device_call_end_with(&c,
                                      is_memory(&c, to) ? give(&c, &op) : CUDA_ERROR_INVALID_VALUE);
}

static int set(uint64_t to, int value, size_t bytes, uint64_t stream)
{
    return set_rows(to, bytes, value, bytes, 1, stream);
}

/* With the thread's default stream in the place of the block's. */
static uint64_t of_thread(uint64_t stream)
{
    return stream == PT_CU_CHILD_BLOCK ? PT_CU_CHILD_THREAD : stream;
}

static int launch_ptsz(uint64_t parameters, uint64_t stream)
{
    return launch(parameters, of_thread(stream));
}

static int record_ptsz(uint64_t event, uint64_t stream)
{
    return record_in(event, of_thread(stream));
}

static int record_with_flags_ptsz(uint64_t event, uint64_t stream, unsigned flags)
{
    return record_with_flags(event, of_thread(stream), flags);
}

static int wait_ptsz(uint64_t stream, uint64_t event, unsigned flags)
{
    return wait_in(of_thread(stream), event, flags);
}

static int copy_ptsz(uint64_t to, uint64_t from, size_t bytes, int kind, uint64_t stream)
{
    return copy(to, from, bytes, kind, of_thread(stream));
}

static int copy_rows_ptsz(uint64_t to, size_t to_pitch, uint64_t from, size_t from_pitch,
                          size_t width, size_t height, int kind, uint64_t stream)
{
    return copy_rows(to, to_pitch, from, from_pitch, width, height, kind, of_thread(stream));
}

static int set_rows_ptsz(uint64_t to, size_t pitch, int value, size_t width, size_t height,
                         uint64_t stream)
{
    return set_rows(to, pitch, value, width, height, of_thread(stream));
}

static int set_ptsz(uint64_t to, int value, size_t bytes, uint64_t stream)
{
    return set(to, value, bytes, of_thread(stream));
}

/* ---- graphs ---------------------------------------------------------------------------------- */

/* A GPU makes an illegal address of a handle that is none (error.c). */
static void set_conditional(CUgraphConditionalHandle handle, unsigned value)
{
    pt_cu_lock_take();
    bool is_set = pt_cu_condition_set(handle, value);
    pt_cu_lock_release();
    if (!is_set)
        ptera_function_fail("cudaGraphSetConditional: no handle of an instantiated graph");
}

/* How is the highest byte of the stream. No handle, or that of what is gone, is an error; one of
 * another object, or of a graph that kernels may not launch, is an illegal address. */
static int launch_graph(uint64_t handle, uint64_t stream)
{
    enum { MODE_SHIFT = 56 };
    CUgraphExec exec = (CUgraphExec)(uintptr_t)handle;
    uint64_t mode = stream >> MODE_SHIFT;
    struct pt_cu_device_call c = pt_cu_device_call_begin(0);
    bool is_exec = pt_cu_handle_is(exec, PT_CU_EXEC);
    if (is_exec ? !pt_cu_graph_exec_is_for_kernels(exec) : pt_cu_handle_is_any(exec)) {
        pt_cu_device_call_end();
        ptera_function_fail("cudaGraphLaunch: no graph that kernels may launch");
        return 0;
    }
    bool is_mode =
        mode >= PT_CU_GRAPH_TAIL && mode <= PT_CU_GRAPH_SIBLING && stream == mode << MODE_SHIFT;
    CUresult r = is_exec && is_mode
                     ? pt_cu_exec_launch_from(c.parent, exec, (enum pt_cu_graph_mode)mode)
                     : CUDA_ERROR_INVALID_VALUE;
    return pt_cu_device_call_end_with(&c, (int)r);
}

/* ---- all of them ----------------------------------------------------------------------------- */

static const struct {
    const char *name, *signature;
    void (*code)(void);
} functions[] = {
#define X(name, signature, function) {#name, signature, (void (*)(void))(function)},
#include "runtime/cuda/device_runtime.def"
#undef X
};

ptera_result pt_cu_device_runtime_register(ptera_engine *engine)
{
    ptera_result r = PTERA_OK;
    for (size_t i = 0; r == PTERA_OK && i < sizeof functions / sizeof *functions; i++)
        r = ptera_function_register(engine, functions[i].name, functions[i].signature,
                                    functions[i].code);
    return r;
}
