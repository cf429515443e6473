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
#include "runtime/cuda/device.h"
#include "runtime/cuda/driver.h"
#include "runtime/cuda/error.h"
#include "runtime/cuda/function.h"
#include "runtime/cuda/launch.h"
#include "runtime/cuda/lock.h"
#include "runtime/cuda/module.h"
#include "runtime/cuda/occupancy.h"
#include "runtime/cuda/range.h"
#include "runtime/engine.h"
#include "runtime/host.h"
#include "runtime/job.h"
#include "runtime/observe.h"

/* The runtime library's, where they are not the driver's numbers. */
enum { INVALID_CONFIGURATION = 9, INVALID_DIRECTION = 21, PITCH = 12, RUNTIME_VERSION = 6000 };

/* cudaMemcpyKind */
enum { DEVICE_TO_DEVICE = 3, DEFAULT_KIND };

enum { EVENT_DISABLES_TIMING = 2, EVENT_FLAGS = 7, STREAM_NON_BLOCKING = 1 };

/* Handles of kernels' streams and events are numbers: a parent's list knows what they stand for. */
static uint64_t n_streams, n_events;

/* ---- a call ---------------------------------------------------------------------------------- */

struct call {
    const struct pt_host_caller *caller;
    struct pt_cu_command *parent;
    CUcontext ctx;
    struct pt_cu_child_place place;
};

static struct call begin(uint64_t stream)
{
    struct call c = {.caller = pt_host_caller_get()};
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

static int end(void)
{
    pt_cu_lock_release();
    return 0;
}

static int end_with(const struct call *c, int error)
{
    if (error && !pt_cu_children_set_error(c->parent, c->place.block, c->place.thread, error))
        error = CUDA_ERROR_OUT_OF_MEMORY;
    pt_cu_lock_release();
    return error;
}

/* To where a kernel says, without the lock: it may be no memory, which is the kernel's fault. */
static void store(const struct call *c, void *to, const void *from, size_t bytes)
{
    memcpy(to, from, bytes);
    pt_observe_memory(c->ctx->engine->mem.observers, PT_MEMORY_WRITTEN, to, bytes);
}

static int store_int(const struct call *c, int error, int *to, int value)
{
    if (!to)
        return end_with(c, CUDA_ERROR_INVALID_VALUE);
    if (error)
        return end_with(c, error);
    end();
    store(c, to, &value, sizeof value);
    return 0;
}

/* ---- errors ---------------------------------------------------------------------------------- */

static int peek_error(void)
{
    struct call c = begin(0);
    int error = pt_cu_children_error(c.parent, c.place.block, c.place.thread);
    end();
    return error;
}

static int get_error(void)
{
    struct call c = begin(0);
    int error = pt_cu_children_error(c.parent, c.place.block, c.place.thread);
    pt_cu_children_set_error(c.parent, c.place.block, c.place.thread, 0);
    end();
    return error;
}

static const char *error_text(int error)
{
    const char *text = NULL;
    cuGetErrorString((CUresult)error, &text);
    return text ? text : "unrecognized error code";
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
    struct call c = begin(0);
    if (!stream || flags > STREAM_NON_BLOCKING)
        return end_with(&c, CUDA_ERROR_INVALID_VALUE);
    uint64_t made = PT_CU_CHILD_STREAMS + n_streams++;
    end();
    store(&c, stream, &made, sizeof made);
    return 0;
}

static int destroy_stream(uint64_t stream)
{
    struct call c = begin(stream);
    return end_with(
        &c, stream >= PT_CU_CHILD_STREAMS && is_stream(stream) ? 0 : CUDA_ERROR_INVALID_VALUE);
}

/* A handle is not null. */
static int create_event(uint64_t *event, unsigned flags)
{
    struct call c = begin(0);
    if (!event || flags & ~(unsigned)EVENT_FLAGS || !(flags & EVENT_DISABLES_TIMING))
        return end_with(&c, CUDA_ERROR_INVALID_VALUE);
    uint64_t made = ++n_events;
    end();
    store(&c, event, &made, sizeof made);
    return 0;
}

static int fail_event(const char *what)
{
    end();
    ptera_function_fail(what);
    return 0;
}

static int destroy_event(uint64_t event)
{
    begin(0);
    return is_event(event) ? end() : fail_event("cudaEventDestroy: no event of a kernel");
}

static int record_in(uint64_t event, uint64_t stream)
{
    struct call c = begin(stream);
    if (!is_event(event))
        return fail_event("cudaEventRecord: no event of a kernel");
    if (!is_stream(stream) || stream == PT_CU_CHILD_TAIL || stream == PT_CU_CHILD_FREE)
        return end_with(&c, CUDA_ERROR_INVALID_VALUE);
    bool ok = pt_cu_children_record(c.parent, &c.place, event);
    return end_with(&c, ok ? 0 : CUDA_ERROR_OUT_OF_MEMORY);
}

static int record_with_flags(uint64_t event, uint64_t stream, unsigned flags)
{
    (void)flags;
    return record_in(event, stream);
}

static int wait_in(uint64_t stream, uint64_t event, unsigned flags)
{
    struct call c = begin(stream);
    if (!is_event(event))
        return fail_event("cudaStreamWaitEvent: no event of a kernel");
    if (!is_stream(stream) || flags)
        return end_with(&c, CUDA_ERROR_INVALID_VALUE);
    bool ok = pt_cu_children_wait(c.parent, &c.place, event);
    return end_with(&c, ok ? 0 : CUDA_ERROR_OUT_OF_MEMORY);
}

/* ---- launches -------------------------------------------------------------------------------- */

struct dims {
    unsigned x, y, z;
};

/* The kernel at an address that a kernel took; NULL: there is none. */
static CUfunction function_at(const struct call *c, uint64_t address)
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

/* Room for the parameters of a launch; 0: see the last error. */
static uint64_t prepare(uint64_t address, struct dims grid, struct dims block, unsigned shared)
{
    struct call c = begin(0);
    struct pt_cu_prepared p = {.function = function_at(&c, address),
                               .grid = {grid.x, grid.y, grid.z},
                               .block = {block.x, block.y, block.z},
                               .shared = shared};
    if (!p.function) {
        end_with(&c, CUDA_ERROR_INVALID_VALUE);
        return 0;
    }
    size_t bytes = pt_cu_function_parameter_bytes(p.function);
    p.parameters = pt_heap_alloc(&c.ctx->engine->heap, bytes ? bytes : 1);
    if (p.parameters && !pt_cu_children_prepare(c.parent, &p)) {
        pt_heap_free(&c.ctx->engine->heap, p.parameters);
        p.parameters = 0;
    }
    end_with(&c, p.parameters ? 0 : CUDA_ERROR_OUT_OF_MEMORY);
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
static int give(const struct call *c, struct pt_cu_op *op)
{
    if (pt_cu_children_add(c->parent, &c->place, op))
        return 0;
    pt_cu_op_drop(op);
    return CUDA_ERROR_OUT_OF_MEMORY;
}

static int launch(uint64_t parameters, uint64_t stream)
{
    struct call c = begin(stream);
    struct pt_cu_prepared p;
    struct pt_cu_op op;
    if (!pt_cu_children_take(c.parent, parameters, &p))
        return end_with(&c, CUDA_ERROR_INVALID_VALUE);
    int error = is_stream(stream) ? make_ready(&p, &op) : CUDA_ERROR_INVALID_VALUE;
    pt_heap_free(&c.ctx->engine->heap, p.parameters);
    return end_with(&c, error ? error : give(&c, &op));
}

/* ---- memory ---------------------------------------------------------------------------------- */

static int allocate(void **out, size_t bytes)
{
    struct call c = begin(0);
    end();
    if (!bytes)
        return CUDA_ERROR_INVALID_VALUE;
    uint64_t address = pt_heap_alloc(&c.ctx->engine->heap, bytes);
    store(&c, out, &address, sizeof address);
    return address ? 0 : CUDA_ERROR_OUT_OF_MEMORY;
}

static int release(uint64_t address)
{
    struct call c = begin(0);
    end();
    pt_heap_free(&c.ctx->engine->heap, address);
    return 0;
}

static bool is_memory(const struct call *c, uint64_t address)
{
    uint64_t block, bytes;
    return pt_cu_range_find(address) ||
           pt_heap_find(&c->ctx->engine->heap, address, &block, &bytes);
}

static int copy_rows(uint64_t to, size_t to_pitch, uint64_t from, size_t from_pitch, size_t width,
                     size_t height, int kind, uint64_t stream)
{
    struct call c = begin(stream);
    struct pt_cu_op op = {.work = PT_CU_COPY,
                          .copy = {.to = (uint8_t *)(uintptr_t)to,
                                   .from = (const uint8_t *)(uintptr_t)from,
                                   .to_pitch = to_pitch,
                                   .from_pitch = from_pitch,
                                   .width = width,
                                   .height = height,
                                   .depth = 1}};
    if (kind != DEVICE_TO_DEVICE && kind != DEFAULT_KIND)
        return end_with(&c, INVALID_DIRECTION);
    if (height > 1 && (width > to_pitch || width > from_pitch))
        return end_with(&c, PITCH);
    if (!is_stream(stream))
        return end_with(&c, CUDA_ERROR_INVALID_VALUE);
    if (!width || !height)
        return end();
    bool is_valid = is_memory(&c, to) && is_memory(&c, from);
    return end_with(&c, is_valid ? give(&c, &op) : CUDA_ERROR_INVALID_VALUE);
}

static int copy(uint64_t to, uint64_t from, size_t bytes, int kind, uint64_t stream)
{
    return copy_rows(to, bytes, from, bytes, bytes, 1, kind, stream);
}

static int set_rows(uint64_t to, size_t pitch, int value, size_t width, size_t height,
                    uint64_t stream)
{
    struct call c = begin(stream);
    struct pt_cu_op op = {
        .work = PT_CU_SET,
        .set = {(uint8_t *)(uintptr_t)to, pitch, width, height, 1, (uint8_t)value}};
    if (!is_stream(stream) || (height > 1 && width > pitch))
        return end_with(&c, CUDA_ERROR_INVALID_VALUE);
    if (!width || !height)
        return end();
    return end_with(&c, is_memory(&c, to) ? give(&c, &op) : CUDA_ERROR_INVALID_VALUE);
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

static int wait_ptsz(uint64_t stream, uint64_t event, unsigned flags)
{
    return wait_in(of_thread(stream), event, flags);
}

static int copy_ptsz(uint64_t to, uint64_t from, size_t bytes, int kind, uint64_t stream)
{
    return copy(to, from, bytes, kind, of_thread(stream));
}

static int set_ptsz(uint64_t to, int value, size_t bytes, uint64_t stream)
{
    return set(to, value, bytes, of_thread(stream));
}

/* ---- what there is --------------------------------------------------------------------------- */

static int get_device(int *device)
{
    struct call c = begin(0);
    return store_int(&c, 0, device, c.ctx->device);
}

static int get_count(int *count)
{
    struct call c = begin(0);
    return store_int(&c, 0, count, pt_cu_driver.n_devices);
}

static int get_version(int *version)
{
    struct call c = begin(0);
    return store_int(&c, 0, version, RUNTIME_VERSION);
}

static int get_attribute(int *value, int attribute, int device)
{
    struct call c = begin(0);
    bool is_one = attribute > 0 && attribute < CU_DEVICE_ATTRIBUTE_MAX,
         is_device = pt_cu_device_is_valid(device);
    int error = !is_device ? CUDA_ERROR_INVALID_DEVICE : is_one ? 0 : CUDA_ERROR_INVALID_VALUE;
    return store_int(&c, error, value,
                     error ? 0 : pt_cu_device_attribute((CUdevice_attribute)attribute, device));
}

static int get_limit(size_t *value, unsigned limit)
{
    struct call c = begin(0);
    size_t is = limit < CU_LIMIT_MAX ? c.ctx->limits[limit] : 0;
    end();
    if (!value || limit >= CU_LIMIT_MAX)
        return CUDA_ERROR_INVALID_VALUE;
    if (limit == CU_LIMIT_DEV_RUNTIME_SYNC_DEPTH)
        return CUDA_ERROR_UNSUPPORTED_LIMIT;
    store(&c, value, &is, sizeof is);
    return 0;
}

static int get_cache_config(int *config)
{
    struct call c = begin(0);
    return store_int(&c, 0, config, c.ctx->cache_config);
}

/* As cudaFuncAttributes begins, in all its versions. */
struct attributes {
    size_t shared, constant, local;
    int threads, registers, ptx, binary, cache_mode, dynamic, carveout;
};

static int get_attributes(struct attributes *to, uint64_t address)
{
    struct call c = begin(0);
    CUfunction f = function_at(&c, address);
    int v[] = {CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES,
               CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES,
               CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES,
               CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK,
               CU_FUNC_ATTRIBUTE_NUM_REGS,
               CU_FUNC_ATTRIBUTE_PTX_VERSION,
               CU_FUNC_ATTRIBUTE_BINARY_VERSION,
               CU_FUNC_ATTRIBUTE_CACHE_MODE_CA,
               CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
               CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT};
    CUresult r = to && address ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
    for (size_t i = 0; r == CUDA_SUCCESS && f && i < sizeof v / sizeof *v; i++)
        r = pt_cu_function_value(f, (CUfunction_attribute)v[i], &v[i]);
    if (r != CUDA_SUCCESS)
        return end_with(&c, (int)r);
    end();
    if (!f) {
        ptera_function_fail("cudaFuncGetAttributes: no kernel of the module");
        return 0;
    }
    const struct attributes all = {(size_t)v[0], (size_t)v[1], (size_t)v[2], v[3], v[4],
                                   v[5],         v[6],         v[7],         v[8], v[9]};
    store(&c, to, &all, offsetof(struct attributes, carveout) + sizeof all.carveout);
    return 0;
}

static int get_blocks(int *blocks, uint64_t function, int threads, size_t shared, unsigned flags)
{
    struct call c = begin(0);
    CUfunction f = function_at(&c, function);
    int n = 0;
    bool is_valid = f && blocks && threads > 0 && flags <= 1;
    CUresult r =
        is_valid ? pt_cu_occupancy_blocks(f, threads, shared, &n) : CUDA_ERROR_INVALID_VALUE;
    end();
    if (r == CUDA_SUCCESS)
        store(&c, blocks, &n, sizeof n);
    return r;
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
