/* Native code of kernels. */
#include "runtime/native.h"

#include <stdlib.h>
#include <string.h>

#include "runtime/compile.h"
#include "runtime/deadline.h"
#include "runtime/engine.h"
#include "runtime/jit.h"
#include "runtime/job.h"
#include "runtime/profile.h"

struct pt_variant pt_native_variant(const struct pt_job *job)
{
    struct pt_variant variant = {.kernel = job->kernel,
                                 .math_fast = job->math_fast,
                                 .has_cluster = job->cluster_ctas > 1,
                                 .tests = job->tests};
    memcpy(variant.block, job->launch.block, sizeof variant.block);
    return variant;
}

void pt_native_put(ptera_engine *engine, struct pt_version *version)
{
    if (!version)
        return;
    pthread_mutex_lock(&engine->lock);
    pt_version_put(engine, version);
    pthread_mutex_unlock(&engine->lock);
}

/* ---- for a launch that waits ----------------------------------------------------------------- */

static bool is_done(const struct pt_version *v)
{
    return atomic_load(&v->is_ready) || v->is_dropped;
}

/* Nobody makes it now. */
static bool is_idle(const struct pt_version *v)
{
    return is_done(v) || v->is_queued;
}

static bool is_found(const struct pt_version *v)
{
    return is_done(v) || atomic_load(&v->is_missing);
}

/* Under the engine's lock: until the version is so far. False: the time is over. */
static bool wait_for(ptera_engine *engine, struct pt_version *v,
                     bool (*is_so_far)(const struct pt_version *v), const struct timespec *deadline)
{
    int error = 0;
    while (!error && !is_so_far(v))
        error = deadline
                    ? pthread_cond_timedwait(&engine->version_queue.change, &engine->lock, deadline)
                    : pthread_cond_wait(&engine->version_queue.change, &engine->lock);
    return is_so_far(v);
}

/* A version that is ready, or that the caller is to make; NULL with *end set. */
static struct pt_version *get(struct pt_variant *variant, const struct timespec *deadline,
                              bool *is_mine, enum pt_native_end *end)
{
    ptera_engine *engine = variant->kernel->module->engine;
    for (;;) {
        struct pt_version *v = pt_version_choose(variant);
        *end = PT_NATIVE_NO_MEMORY;
        *is_mine = !v || pt_version_queue_take(engine, v);
        if (*is_mine)
            return v ? v : pt_version_enter(variant);
        bool is_over = !wait_for(engine, v, is_idle, deadline);
        if (atomic_load(&v->is_ready))
            return v;
        pt_version_put(engine, v);
        *end = PT_NATIVE_STOPPED;
        if (is_over)
            return NULL;
    }
}

static enum pt_native_end get_made(const struct pt_variant *given, const struct timespec *deadline,
                                   struct pt_version **version)
{
    struct pt_variant variant = *given;
    ptera_engine *engine = variant.kernel->module->engine;
    enum pt_native_end end;
    bool is_mine;
    pthread_mutex_lock(&engine->lock);
    *version = get(&variant, deadline, &is_mine, &end);
    pthread_mutex_unlock(&engine->lock);
    if (!*version)
        return end;
    end = is_mine ? pt_version_make(&(struct pt_making){*version, deadline, false}, true)
                  : PT_NATIVE_MADE;
    if (end == PT_NATIVE_MADE)
        return end;
    pt_native_put(engine, *version);
    *version = NULL;
    return end;
}

enum pt_native_end pt_native_get(const struct pt_variant *variant, double seconds,
                                 struct pt_version **version)
{
    struct timespec deadline = pt_deadline_in(seconds), *until = seconds > 0 ? &deadline : NULL;
    enum pt_native_end end = get_made(variant, until, version);
    struct pt_version *v = *version;
    if (!v || v->native || v->made_for.block[0])
        return end;
    /* There is none for any shape: one for this shape, if it may have one. */
    pt_native_put(variant->kernel->module->engine, v);
    return get_made(variant, until, version);
}

struct pt_version *pt_native_find(const struct pt_variant *given)
{
    struct pt_variant variant = *given;
    ptera_engine *engine = variant.kernel->module->engine;
    pthread_mutex_lock(&engine->lock);
    struct pt_version *v = pt_version_choose(&variant);
    pt_version_queue_wake(engine, v);
    pthread_mutex_unlock(&engine->lock);
    return v;
}

/* ---- in the background ----------------------------------------------------------------------- */

/* Under the engine's lock. *is_new: it was not there. */
static struct pt_version *find_or_enqueue(const struct pt_variant *given, bool *is_new)
{
    struct pt_variant variant = *given;
    ptera_engine *engine = variant.kernel->module->engine;
    struct pt_version *v = pt_version_choose(&variant);
    *is_new = !v;
    if (!v && pt_version_queue_start(engine)) {
        v = pt_version_enter(&variant);
        if (v)
            pt_version_queue_add(engine, v);
    }
    return v;
}

struct pt_version *pt_native_request(const struct pt_variant *variant)
{
    ptera_engine *engine = variant->kernel->module->engine;
    bool is_new;
    pthread_mutex_lock(&engine->lock);
    struct pt_version *v = find_or_enqueue(variant, &is_new);
    pt_version_queue_wake(engine, v);
    pthread_mutex_unlock(&engine->lock);
    return v;
}

static void wait_until(struct pt_version *version, bool (*is_so_far)(const struct pt_version *v),
                       double seconds)
{
    ptera_engine *engine = version->made_for.kernel->module->engine;
    struct timespec deadline = pt_deadline_in(seconds);
    pthread_mutex_lock(&engine->lock);
    wait_for(engine, version, is_so_far, &deadline);
    pthread_mutex_unlock(&engine->lock);
}

void pt_native_wait_found(struct pt_version *version, double seconds)
{
    wait_until(version, is_found, seconds);
}

void pt_native_wait_made(struct pt_version *version, double seconds)
{
    wait_until(version, is_done, seconds);
}

/* Under the engine's lock: takes the version out of the queue, or stops what makes it and waits for
 * that. */
static void settle(ptera_engine *engine, struct pt_version *v)
{
    pt_version_queue_take(engine, v);
    while (v->users)
        pthread_cond_wait(&engine->version_queue.change, &engine->lock);
}

/* All of them first: compiles stop together. */
static void stop_all(ptera_module *module)
{
    for (uint32_t i = 0; i < module->n_kernels; i++)
        for (struct pt_version *v = module->kernels[i].versions; v; v = v->next)
            atomic_store(&v->is_unwanted, true);
}

void pt_native_forget(ptera_module *module)
{
    ptera_engine *engine = module->engine;
    pthread_mutex_lock(&engine->lock);
    stop_all(module);
    for (uint32_t i = 0; i < module->n_kernels; i++) {
        while (module->kernels[i].versions) {
            struct pt_version *v = module->kernels[i].versions;
            settle(engine, v);
            pt_version_remove(engine, v);
        }
    }
    pthread_mutex_unlock(&engine->lock);
}

/* ---- from one run to the next ---------------------------------------------------------------- */

static bool is_possible(const ptera_module *module, const struct pt_profile_entry *e)
{
    uint64_t threads = (uint64_t)e->block[0] * e->block[1] * e->block[2];
    bool is_any = !e->block[0] && !e->block[1] && !e->block[2];
    return e->kernel < module->n_kernels &&
           (is_any || (threads && threads <= PT_DEVICE_BLOCK_THREADS));
}

static void expect(ptera_module *module, const struct pt_profile_entry *e)
{
    struct pt_variant variant = {.kernel = &module->kernels[e->kernel],
                                 .math_fast = e->math_fast,
                                 .has_cluster = e->has_cluster};
    bool is_new;
    memcpy(variant.block, e->block, sizeof variant.block);
    struct pt_version *v = find_or_enqueue(&variant, &is_new);
    if (!v)
        return;
    if (is_new) {
        v->is_profiled = true;
        v->last_run_ns = e->interpreted_ns;
        atomic_flag_test_and_set(&v->is_recorded);
    }
    pt_version_put(module->engine, v);
}

void pt_native_expect(ptera_module *module)
{
    ptera_engine *engine = module->engine;
    if (engine->tier != PTERA_BACKEND_AUTO || engine->allow_fork || !module->n_kernels)
        return;
    struct pt_profile_entry *entries =
        pt_engine_alloc(engine, PT_PROFILE_ENTRIES * sizeof *entries);
    if (!entries)
        return;
    module->profile = pt_profile_key_make(module->text, module->text_len);
    module->has_profile = true;
    uint32_t n = pt_profile_read(module->profile, entries);
    pthread_mutex_lock(&engine->lock);
    for (uint32_t i = 0; i < n; i++)
        if (is_possible(module, &entries[i]))
            expect(module, &entries[i]);
    pthread_mutex_unlock(&engine->lock);
    pt_engine_free(engine, entries);
    if (n)
        pt_engine_log(engine, PTERA_NOTE, "%s: %u kernels were hot in an earlier run", module->name,
                      n);
}

void pt_native_record(struct pt_version *version, uint64_t interpreted_ns)
{
    const struct pt_variant *variant = &version->made_for;
    const ptera_module *module = variant->kernel->module;
    bool is_refused = atomic_load(&version->is_ready) && !version->native;
    bool is_looked_for = atomic_load(&version->is_ready) || atomic_load(&version->is_missing);
    if (!module->has_profile || variant->tests || is_refused || !is_looked_for ||
        atomic_flag_test_and_set(&version->is_recorded))
        return;
    struct pt_profile_entry e = {.kernel = (uint32_t)(variant->kernel - module->kernels),
                                 .math_fast = variant->math_fast,
                                 .has_cluster = variant->has_cluster,
                                 .interpreted_ns = interpreted_ns};
    memcpy(e.block, variant->block, sizeof e.block);
    pt_profile_add(module->profile, &e);
}

/* ---- looking at it --------------------------------------------------------------------------- */

/* A copy that lives as long as the module. */
static const void *keep(ptera_module *module, const char *data, size_t bytes)
{
    jmp_buf oom;
    module->ir.arena.oom = &oom;
    if (setjmp(oom))
        return NULL;
    return pt_arena_text(&module->ir.arena, data, bytes);
}

ptera_result ptera_kernel_emit(ptera_kernel *kernel, const unsigned block[3], int math_fast,
                               ptera_native_emit what, const void **data, size_t *bytes)
{
    const struct pt_program *program;
    if (!kernel || !block || what < PTERA_EMIT_LLVM || what > PTERA_EMIT_OBJ || !data || !bytes)
        return PTERA_ERROR_INVALID_ARGUMENT;
    if (pt_engine_is_inherited(kernel->module->engine))
        return PTERA_ERROR_NOT_INITIALIZED;
    ptera_module *module = kernel->module;
    ptera_result result = pt_compile_kernel(kernel, 0, &program);
    if (result != PTERA_OK)
        return result;
    struct pt_native_options options = {.math_fast = math_fast != 0,
                                        .level = module->engine->backend->name};
    memcpy(options.block, block, sizeof options.block);
    struct pt_native_limits limits = pt_jit_limits(module->engine);
    struct pt_native_result end = {PT_NATIVE_NO_MEMORY, ""};
    struct pt_native_request *r = pt_jit() ? pt_jit_request(module, program, &options) : NULL;
    char *made = r ? pt_jit()->print(r, (enum pt_native_print)what, &limits, bytes, &end) : NULL;
    if (r)
        pt_jit()->drop(r);
    if (!pt_jit() || end.end == PT_NATIVE_REFUSED) {
        pt_engine_fail(module->engine, "kernel '%s' cannot be native: %s",
                       module->ir.funcs.v[kernel->func].name, pt_jit() ? end.why : pt_jit_error());
        return PTERA_ERROR_UNSUPPORTED_PTX;
    }
    pthread_mutex_lock(&module->lock);
    *data = made ? keep(module, made, *bytes) : NULL;
    pthread_mutex_unlock(&module->lock);
    free(made);
    return *data ? PTERA_OK : PTERA_ERROR_OUT_OF_MEMORY;
}
