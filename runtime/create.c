/* Engines: options, what the environment says, creation and destruction. */
#define _GNU_SOURCE
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/counted.h"
#include "runtime/engine.h"
#include "backend/shadow.h"
#include "runtime/fault.h"
#include "runtime/finding.h"
#include "runtime/handler.h"
#include "runtime/history.h"
#include "runtime/module.h"
#include "runtime/observe.h"
#include "runtime/order.h"
#include "runtime/params.h"
#include "runtime/sized.h"
#include "runtime/slot.h"
#include "runtime/timeline.h"

enum { STACK_BYTES = 64 << 10, HEAP_BYTES = 8 << 20, THREADS_MAX = 4096 };
enum { COMPILE_SECONDS = 60, ORDER_SCHEDULES = 16, ORDER_DEPTH = 3 };
#define COMPILE_BYTES ((size_t)2 << 30)

void ptera_options_init_sized(ptera_options *options, size_t size)
{
    const ptera_options defaults = {.fmad = 1,
                                    .stack_bytes = STACK_BYTES,
                                    .heap_bytes = HEAP_BYTES,
                                    .compile_seconds = COMPILE_SECONDS,
                                    .compile_bytes = COMPILE_BYTES,
                                    .order_schedules = ORDER_SCHEDULES,
                                    .order_depth = ORDER_DEPTH};
    PT_INIT(options, size, defaults);
}

static unsigned count_cores(void)
{
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set) == 0 && CPU_COUNT(&set) > 0)
        return (unsigned)CPU_COUNT(&set);
    return 1;
}

static const struct pt_engine *find_backend(const ptera_options *options)
{
    const char *level = options->cpu ? options->cpu : getenv("PTERA_CPU");
    return pt_interp(level && *level ? level : NULL);
}

/* Where there is none, the log is told why. */
static const struct pt_device *find_device(const ptera_options *options)
{
    char why[512];
    const struct pt_device *device = pt_device_choose(options->device, why, sizeof why);
    if (!device && options->log)
        options->log(options->log_ud, PTERA_ERROR, why);
    return device;
}

/* What PTERA_ENGINE says. Returns false for an unknown name. */
static bool find_tier(ptera_backend *tier)
{
    static const char *const names[] = {[PTERA_BACKEND_AUTO] = "auto",
                                        [PTERA_BACKEND_INTERP] = "interp",
                                        [PTERA_BACKEND_JIT] = "jit"};
    const char *name = getenv("PTERA_ENGINE");
    *tier = PTERA_BACKEND_AUTO;
    if (!name || !*name)
        return true;
    for (int i = PTERA_BACKEND_AUTO; i <= PTERA_BACKEND_JIT; i++) {
        if (strcmp(name, names[i]) != 0)
            continue;
        *tier = (ptera_backend)i;
        return true;
    }
    return false;
}

/* What PTERA_ASYNC says. Returns false for an unknown name. */
static bool find_async(bool *is_late)
{
    const char *name = getenv("PTERA_ASYNC");
    *is_late = name && !strcmp(name, "late");
    return *is_late || !name || !*name || !strcmp(name, "issue");
}

/* What PTERA_COMPILER says. Returns false for an unknown name. */
static bool find_compiler(bool *is_inside)
{
    const char *name = getenv("PTERA_COMPILER");
    *is_inside = name && !strcmp(name, "inside");
    return *is_inside || !name || !*name || !strcmp(name, "process");
}

/* What the options say, or else PTERA_OBSERVE. Where one is unknown, the log is told why. */
static bool find_observers(const struct pt_engine *backend, const ptera_options *options,
                           uint32_t *observers)
{
    char why[512];
    const char *names = options->observe ? options->observe : getenv("PTERA_OBSERVE");
    bool is_good = pt_observe_find(backend, names, observers, why, sizeof why);
    if (!is_good && options->log)
        options->log(options->log_ud, PTERA_ERROR, why);
    return is_good;
}

/* What PTERA_OOB says of accesses outside allocations. */
static void set_tolerance(ptera_engine *engine)
{
    const char *name = getenv("PTERA_OOB");
    engine->mem.is_tolerant = name && !strcmp(name, "warn");
    if (name && *name && !engine->mem.is_tolerant && strcmp(name, "stop") != 0)
        pt_engine_log(
            engine, PTERA_ERROR,
            "PTERA_OOB=%s is neither stop nor warn: accesses outside allocations stop kernels",
            name);
}

static bool set_up(ptera_engine *engine, const ptera_options *o)
{
    engine->threads = o->threads ? o->threads : count_cores();
    engine->fmad = o->fmad != 0;
    engine->compile_seconds = o->compile_seconds;
    engine->compile_bytes = o->compile_bytes;
    engine->allow_fork = o->allow_fork != 0;
    engine->forks = pt_engine_forks();
    engine->stack_bytes = o->stack_bytes ? o->stack_bytes : STACK_BYTES;
    atomic_init(&engine->grid_ids, 0);
    pthread_mutex_init(&engine->running_lock, NULL);
    pthread_mutex_init(&engine->lock, NULL);
    pt_version_queue_init(engine);
    pt_arena_init(&engine->host.arena, &engine->allocator);
    pt_mem_init(&engine->mem, &engine->allocator, o->memory_bytes, pt_slot_reclaim, engine);
    engine->mem.observers =
        pt_observe_list_memory(engine->backend, engine->observers, engine->memory_observers);
    engine->log = o->log;
    engine->log_ud = o->log_ud;
    if (engine->observers & PT_TEST_mem)
        engine->mem.history = pt_history_new(&engine->allocator);
    if (engine->observers & (PT_TEST_init | PT_TEST_init_load))
        pt_engine_shadow(engine);
    set_tolerance(engine);
    pt_queue_init(&engine->queue);
    pt_heap_init(&engine->heap, &engine->mem, o->heap_bytes);
    pt_pool_init(&engine->pool, &engine->allocator, engine->threads);
    pt_finding_init(engine, o);
    pt_counted_init(engine);
    pt_order_init(engine, o);
    return pt_print_init(&engine->printer, &engine->mem, o->print, o->print_ud);
}

static void tear_down(ptera_engine *engine)
{
    pt_queue_close(&engine->queue);
    pt_pool_close(&engine->pool);
    while (engine->modules)
        pt_module_free(engine->modules);
    pt_version_queue_close(engine);
    pt_slot_reclaim(engine);
    pt_params_free_all(engine);
    pt_heap_close(&engine->heap);
    pt_print_close(&engine->printer);
    pt_mem_close(&engine->mem);
    pt_shadow_free(engine->mem.shadow);
    pt_history_free(engine->mem.history);
    pt_finding_close(engine);
    pt_counted_close(engine);
    pt_timeline_close(engine);
    pthread_mutex_destroy(&engine->order.lock);
    pt_arena_free(&engine->host.arena);
    pthread_mutex_destroy(&engine->running_lock);
    pthread_mutex_destroy(&engine->lock);
    pt_engine_free(engine, engine);
}

ptera_result ptera_engine_create(const ptera_options *options, ptera_engine **engine)
{
    ptera_options o;
    ptera_options_init(&o);
    if (!engine || (options && !PT_TAKE(o, options)))
        return PTERA_ERROR_INVALID_ARGUMENT;
    const struct pt_engine *backend = find_backend(&o);
    const struct pt_device *device = find_device(&o);
    ptera_backend tier;
    uint32_t observers;
    bool is_late, is_inside;
    if (!backend || !device || o.threads > THREADS_MAX || !(o.compile_seconds >= 0) ||
        !find_tier(&tier) || !find_async(&is_late) || !find_compiler(&is_inside) ||
        !find_observers(backend, &o, &observers) || !pt_finding_may_be(&o) || !pt_order_may_be(&o))
        return PTERA_ERROR_INVALID_ARGUMENT;
    struct pt_allocator allocator = pt_malloc_allocator;
    if (o.resize)
        allocator = (struct pt_allocator){o.resize, o.resize_ud};
    ptera_engine *e = allocator.resize(allocator.ud, NULL, sizeof *e);
    if (!e)
        return PTERA_ERROR_OUT_OF_MEMORY;
    memset(e, 0, sizeof *e);
    e->allocator = allocator;
    e->backend = backend;
    e->device = device;
    e->tier = tier;
    e->async_late = is_late;
    e->observers = observers;
    e->compile_inside = is_inside || o.compile_inside;
    if (!set_up(e, &o)) {
        tear_down(e);
        return PTERA_ERROR_OUT_OF_MEMORY;
    }
    ptera_result r = o.trace ? pt_timeline_open(e, o.trace) : PTERA_OK;
    if (r != PTERA_OK) {
        tear_down(e);
        return r;
    }
    pt_handler_install(pt_fault_take);
    *engine = e;
    return PTERA_OK;
}

void ptera_engine_destroy(ptera_engine *engine)
{
    if (!engine || pt_engine_is_inherited(engine))
        return;
    tear_down(engine);
    pt_handler_uninstall();
}
