/* Native code of kernels. */
#include "runtime/native.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/compile.h"
#include "runtime/deadline.h"
#include "runtime/engine.h"
#include "runtime/jit.h"
#include "runtime/thread.h"

/* After SHAPES shapes of a kernel one version for any shape serves the others; where there can
 * be none, SHAPES_MAX have one of their own. Code that no launch uses goes, least recently used
 * first, when an engine has more than this. */
enum { SHAPES = 4, SHAPES_MAX = 16, CODE_MAX = 64 << 20, VERSIONS_MAX = 1024 };

/* ---- versions -------------------------------------------------------------------------------- */

static bool is_for(const struct pt_version *v, const struct pt_variant *variant)
{
    return v->made_for.math_fast == variant->math_fast &&
           v->made_for.has_cluster == variant->has_cluster &&
           memcmp(v->made_for.block, variant->block, sizeof variant->block) == 0;
}

/* The lists change, and are read, under the engine's lock. */
static struct pt_version *find(const struct pt_variant *variant)
{
    ptera_engine *engine = variant->kernel->module->engine;
    for (struct pt_version *v = variant->kernel->versions; v; v = v->next) {
        if (!is_for(v, variant))
            continue;
        v->users++;
        v->last_use = ++engine->uses;
        return v;
    }
    return NULL;
}

static unsigned count_shapes(const ptera_kernel *kernel)
{
    unsigned n = 0;
    for (const struct pt_version *v = kernel->versions; v; v = v->next)
        n += v->made_for.block[0] != 0;
    return n;
}

/* What is there for this shape. Otherwise *variant becomes what is to be made: of the shape's
 * own while the kernel has few, or where none can serve all. */
static struct pt_version *find_or_choose(struct pt_variant *variant)
{
    struct pt_version *v = find(variant);
    unsigned shapes = v ? 0 : count_shapes(variant->kernel);
    if (v || shapes < SHAPES)
        return v;
    struct pt_variant any = {.kernel = variant->kernel,
                             .math_fast = variant->math_fast,
                             .has_cluster = variant->has_cluster};
    v = find(&any);
    if (v && atomic_load(&v->is_ready) && !v->native && shapes < SHAPES_MAX) {
        v->users--;
        return NULL;
    }
    if (!v)
        *variant = any;
    return v;
}

/* In place of a reason that there is no memory for. */
static char no_memory[] = "no memory to compile it";

static void free_version(ptera_engine *engine, struct pt_version *v)
{
    if (v->native)
        pt_jit()->release(v->native);
    if (v->why != no_memory)
        pt_engine_free(engine, v->why);
    pt_engine_free(engine, v);
}

static void unlink_version(ptera_engine *engine, struct pt_version *v)
{
    struct pt_version **p = &v->made_for.kernel->versions;
    while (*p != v)
        p = &(*p)->next;
    *p = v->next;
    for (p = &engine->versions; *p != v;)
        p = &(*p)->all;
    *p = v->all;
    engine->n_versions--;
    engine->code_bytes -= v->native ? v->native->code_bytes : 0;
}

static struct pt_version *oldest_unused(ptera_engine *engine)
{
    struct pt_version *oldest = NULL;
    for (struct pt_version *v = engine->versions; v; v = v->all)
        if (!v->users && v->native && (!oldest || v->last_use < oldest->last_use))
            oldest = v;
    return oldest;
}

static void evict(ptera_engine *engine)
{
    while (engine->code_bytes > CODE_MAX || engine->n_versions > VERSIONS_MAX) {
        struct pt_version *v = oldest_unused(engine);
        if (!v)
            return;
        unlink_version(engine, v);
        free_version(engine, v);
    }
}

/* A version that is to be made: others wait for it. NULL: no memory. */
static struct pt_version *enter(const struct pt_variant *variant)
{
    ptera_engine *engine = variant->kernel->module->engine;
    struct pt_version *v = pt_engine_alloc(engine, sizeof *v);
    if (!v)
        return NULL;
    v->made_for = *variant;
    v->users = 1;
    v->last_use = ++engine->uses;
    v->next = variant->kernel->versions;
    variant->kernel->versions = v;
    v->all = engine->versions;
    engine->versions = v;
    engine->n_versions++;
    return v;
}

static char *copy_text(ptera_engine *engine, const char *text)
{
    size_t n = strlen(text) + 1;
    char *copy = pt_engine_alloc(engine, n);
    return copy ? memcpy(copy, text, n) : NULL;
}

/* Under the engine's lock: a user less. What was dropped goes with its last one. */
static void put(ptera_engine *engine, struct pt_version *v)
{
    v->users--;
    if (v->is_dropped && !v->users)
        free_version(engine, v);
}

void pt_native_put(ptera_engine *engine, struct pt_version *version)
{
    if (!version)
        return;
    pthread_mutex_lock(&engine->lock);
    put(engine, version);
    pthread_mutex_unlock(&engine->lock);
}

/* ---- making one ------------------------------------------------------------------------------ */

/* Who makes a version, and until when. */
struct making {
    struct pt_version *version;
    const struct timespec *deadline; /* NULL: none */
};

static bool is_stopped(void *ud)
{
    const struct making *m = ud;
    return atomic_load(&m->version->is_unwanted) ||
           (m->deadline && pt_deadline_left(m->deadline) <= 0);
}

static struct pt_native_limits limits_of(const ptera_engine *engine)
{
    return (struct pt_native_limits){.seconds = engine->compile_seconds,
                                     .memory_bytes = engine->compile_bytes,
                                     .is_inside = engine->compile_inside};
}

/* The module's lock is held only while the request is made. */
static struct pt_native_request *request(ptera_module *module, const struct pt_program *program,
                                         const struct pt_native_options *options)
{
    pthread_mutex_lock(&module->lock);
    struct pt_native_request *r = pt_jit()->request(program, options);
    pthread_mutex_unlock(&module->lock);
    return r;
}

/* Once. */
static void tell_cache(ptera_engine *engine)
{
    const char *refusal = pt_jit()->cache_refusal();
    if (refusal && !atomic_flag_test_and_set(&engine->compiler.has_told_cache))
        pt_engine_log(engine, PTERA_WARNING, "compiled kernels are not kept in %s", refusal);
}

static struct pt_native *compile(struct making *m, struct pt_native_result *result)
{
    const struct pt_variant *variant = &m->version->made_for;
    ptera_module *module = variant->kernel->module;
    const struct pt_program *program = pt_compile_made(variant->kernel, 0);
    struct pt_native_options options = {.math_fast = variant->math_fast,
                                        .has_cluster = variant->has_cluster,
                                        .level = module->engine->backend->name};
    memcpy(options.block, variant->block, sizeof options.block);
    if (!pt_jit()) {
        result->end = PT_NATIVE_REFUSED;
        snprintf(result->why, sizeof result->why, "%.*s", (int)sizeof result->why - 1,
                 pt_jit_error());
        return NULL;
    }
    tell_cache(module->engine);
    struct pt_native_limits limits = limits_of(module->engine);
    limits.is_stopped = is_stopped;
    limits.ud = m;
    struct pt_native_request *r = request(module, program, &options);
    result->end = PT_NATIVE_NO_MEMORY;
    struct pt_native *native = r ? pt_jit()->compile(r, program, &limits, result) : NULL;
    pt_jit()->drop(r);
    return native;
}

static void say_why(struct pt_version *v, const char *why)
{
    ptera_module *module = v->made_for.kernel->module;
    char *copy = copy_text(module->engine, why);
    v->why = copy ? copy : no_memory;
    pt_engine_log(module->engine, PTERA_NOTE, "kernel '%s' is interpreted: %s",
                  module->ir.funcs.v[v->made_for.kernel->func].name, why);
}

/* The version is ready, with native code or with the reason why there is none. */
static void finish(struct pt_version *v, struct pt_native *native)
{
    ptera_engine *engine = v->made_for.kernel->module->engine;
    pthread_mutex_lock(&engine->lock);
    v->native = native;
    engine->code_bytes += native ? native->code_bytes : 0;
    atomic_store_explicit(&v->is_ready, true, memory_order_release);
    evict(engine);
    pthread_cond_broadcast(&engine->compiler.change);
    pthread_mutex_unlock(&engine->lock);
}

/* It was not made, but for a reason that another launch need not have. Where its module goes,
 * the version does with that. */
static void drop(struct pt_version *v)
{
    ptera_engine *engine = v->made_for.kernel->module->engine;
    pthread_mutex_lock(&engine->lock);
    if (!atomic_load(&v->is_unwanted)) {
        unlink_version(engine, v);
        v->is_dropped = true;
    }
    pthread_cond_broadcast(&engine->compiler.change);
    pthread_mutex_unlock(&engine->lock);
}

/* Until the deadline, if there is one. Where nobody demands native code, no memory is a reason
 * not to try again. */
static enum pt_native_end make(struct pt_version *v, const struct timespec *deadline,
                               bool is_demanded)
{
    struct pt_native_result result;
    uint64_t begun = pt_now_ns();
    struct pt_native *native = compile(&(struct making){v, deadline}, &result);
    atomic_fetch_add(&v->made_for.kernel->compile_ns, pt_now_ns() - begun);
    if (result.end == PT_NATIVE_STOPPED || (result.end == PT_NATIVE_NO_MEMORY && is_demanded)) {
        drop(v);
        return result.end;
    }
    if (!native)
        say_why(v, result.end == PT_NATIVE_NO_MEMORY ? no_memory : result.why);
    finish(v, native);
    return PT_NATIVE_MADE;
}

/* ---- for a launch that waits ----------------------------------------------------------------- */

/* Under the engine's lock: true if the version waited to be compiled in the background, and does
 * no more. */
static bool take_from_queue(ptera_engine *engine, struct pt_version *v)
{
    struct pt_version **p = &engine->compiler.queue;
    while (*p && *p != v)
        p = &(*p)->queued;
    if (!*p)
        return false;
    *p = v->queued;
    return true;
}

/* Under the engine's lock: until the version is ready, or dropped. False: the time is over. */
static bool wait_for(ptera_engine *engine, struct pt_version *v, const struct timespec *deadline)
{
    int error = 0;
    while (!error && !atomic_load(&v->is_ready) && !v->is_dropped)
        error = deadline ? pthread_cond_timedwait(&engine->compiler.change, &engine->lock, deadline)
                         : pthread_cond_wait(&engine->compiler.change, &engine->lock);
    return atomic_load(&v->is_ready) || v->is_dropped;
}

/* A version that is ready, or that the caller is to make; NULL with *end set. */
static struct pt_version *get(struct pt_variant *variant, const struct timespec *deadline,
                              bool *is_mine, enum pt_native_end *end)
{
    ptera_engine *engine = variant->kernel->module->engine;
    for (;;) {
        struct pt_version *v = find_or_choose(variant);
        *end = PT_NATIVE_NO_MEMORY;
        *is_mine = !v || take_from_queue(engine, v);
        if (*is_mine)
            return v ? v : enter(variant);
        bool is_over = !wait_for(engine, v, deadline);
        if (atomic_load(&v->is_ready))
            return v;
        put(engine, v);
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
    end = is_mine ? make(*version, deadline, true) : PT_NATIVE_MADE;
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
    struct pt_version *v = find_or_choose(&variant);
    pthread_mutex_unlock(&engine->lock);
    return v;
}

/* ---- the background -------------------------------------------------------------------------- */

static void *compile_main(void *ud)
{
    ptera_engine *engine = ud;
    struct pt_compiler *c = &engine->compiler;
    pthread_mutex_lock(&engine->lock);
    while (!c->closing) {
        struct pt_version *v = c->queue;
        if (!v) {
            pthread_cond_wait(&c->change, &engine->lock);
            continue;
        }
        c->queue = v->queued;
        v->users++; /* that it stays */
        pthread_mutex_unlock(&engine->lock);
        make(v, NULL, false);
        pthread_mutex_lock(&engine->lock);
        put(engine, v);
        pthread_cond_broadcast(&c->change);
    }
    pthread_mutex_unlock(&engine->lock);
    return NULL;
}

static bool start_compiler(ptera_engine *engine)
{
    struct pt_compiler *c = &engine->compiler;
    c->is_started = c->is_started || pt_thread_start(&c->thread, 0, compile_main, engine);
    return c->is_started;
}

static void enqueue(struct pt_compiler *c, struct pt_version *v)
{
    struct pt_version **end = &c->queue;
    while (*end)
        end = &(*end)->queued;
    *end = v;
    pthread_cond_broadcast(&c->change);
}

struct pt_version *pt_native_request(const struct pt_variant *given)
{
    struct pt_variant variant = *given;
    ptera_engine *engine = variant.kernel->module->engine;
    pthread_mutex_lock(&engine->lock);
    struct pt_version *v = find_or_choose(&variant);
    if (!v && start_compiler(engine)) {
        v = enter(&variant);
        if (v)
            enqueue(&engine->compiler, v);
    }
    pthread_mutex_unlock(&engine->lock);
    return v;
}

void pt_native_wait(struct pt_version *version, unsigned ms)
{
    ptera_engine *engine = version->made_for.kernel->module->engine;
    struct timespec deadline = pt_deadline_in(ms / 1000.0);
    pthread_mutex_lock(&engine->lock);
    wait_for(engine, version, &deadline);
    pthread_mutex_unlock(&engine->lock);
}

/* Under the engine's lock: takes the version out of the queue, or stops what compiles it and
 * waits for that. */
static void settle(ptera_engine *engine, struct pt_version *v)
{
    take_from_queue(engine, v);
    atomic_store(&v->is_unwanted, true);
    while (v->users)
        pthread_cond_wait(&engine->compiler.change, &engine->lock);
}

void pt_native_forget(ptera_module *module)
{
    ptera_engine *engine = module->engine;
    pthread_mutex_lock(&engine->lock);
    for (uint32_t i = 0; i < module->n_kernels; i++) {
        while (module->kernels[i].versions) {
            struct pt_version *v = module->kernels[i].versions;
            settle(engine, v);
            unlink_version(engine, v);
            free_version(engine, v);
        }
    }
    pthread_mutex_unlock(&engine->lock);
}

void pt_native_init(ptera_engine *engine)
{
    pthread_condattr_t attributes;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&engine->compiler.change, &attributes);
    pthread_condattr_destroy(&attributes);
}

void pt_native_close(ptera_engine *engine)
{
    struct pt_compiler *c = &engine->compiler;
    pthread_mutex_lock(&engine->lock);
    c->closing = true;
    pthread_cond_broadcast(&c->change);
    pthread_mutex_unlock(&engine->lock);
    if (c->is_started)
        pthread_join(c->thread, NULL);
    pthread_cond_destroy(&c->change);
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
    struct pt_native_limits limits = limits_of(module->engine);
    struct pt_native_result end = {PT_NATIVE_NO_MEMORY, ""};
    struct pt_native_request *r = pt_jit() ? request(module, program, &options) : NULL;
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
