/* Native code of kernels. */
#include "runtime/native.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/compile.h"
#include "runtime/deadline.h"
#include "runtime/engine.h"
#include "runtime/jit.h"
#include "runtime/profile.h"
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
    if (v->request)
        pt_jit()->drop(v->request);
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

/* ---- heat ------------------------------------------------------------------------------------ */

/* What the cache has is looked for when a kernel has been interpreted for LOOK_NS. Else it is
 * compiled, which takes long, and longer the more code it is: when it has been interpreted for a
 * part of what that takes, where launches leave a worker idle, by a compiler that gives way to all
 * others; when it has been for a sixth of it, at usual priority. A program of many kernels that are
 * launched a few times is over before.
 * Zen 4, 2026-11-25: compiling takes some 0.7 ms an instruction of PTX. */
enum { LOOK_NS = 2000000, BEGIN_NS = 50000, URGENT_NS = 120000 /* an instruction */, POLL_MS = 5 };

/* In so few instructions there is nothing to give way with. */
enum { SMALL = 64 };

static uint64_t heat_of(const struct pt_version *v)
{
    const ptera_kernel *kernel = v->made_for.kernel;
    uint64_t since = atomic_load(&kernel->running_since), now = pt_now_ns();
    return atomic_load(&kernel->interpreted_ns) + (since && since < now ? now - since : 0);
}

/* Of a kernel whose program has been made. */
static bool is_hot(const struct pt_version *v, bool is_urgent)
{
    const ptera_kernel *kernel = v->made_for.kernel;
    uint64_t n = kernel->module->ir.funcs.v[kernel->func].insns.n;
    return heat_of(v) >= LOOK_NS + n * (is_urgent && n > SMALL ? URGENT_NS : BEGIN_NS);
}

/* ---- making one ------------------------------------------------------------------------------ */

/* Who makes a version, and until when. */
struct making {
    struct pt_version *version;
    const struct timespec *deadline; /* NULL: none */
    bool is_nice;                    /* pt_native_limits */
};

static bool is_stopped(void *ud)
{
    const struct making *m = ud;
    return atomic_load(&m->version->is_unwanted) ||
           (m->deadline && pt_deadline_left(m->deadline) <= 0);
}

static bool is_urgent(void *ud)
{
    const struct making *m = ud;
    return is_hot(m->version, true);
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

/* False with *result set. What the version is made from: it may be there already. */
static bool prepare(struct pt_version *v, struct pt_native_result *result)
{
    const struct pt_variant *variant = &v->made_for;
    ptera_module *module = variant->kernel->module;
    struct pt_native_options options = {.math_fast = variant->math_fast,
                                        .has_cluster = variant->has_cluster,
                                        .level = module->engine->backend->name};
    memcpy(options.block, variant->block, sizeof options.block);
    if (!pt_jit()) {
        result->end = PT_NATIVE_REFUSED;
        snprintf(result->why, sizeof result->why, "%.*s", (int)sizeof result->why - 1,
                 pt_jit_error());
        return false;
    }
    tell_cache(module->engine);
    const struct pt_program *program = pt_compile_made(variant->kernel, 0);
    if (!v->request && program)
        v->request = request(module, program, &options);
    result->end = PT_NATIVE_NO_MEMORY;
    return v->request != NULL;
}

static void drop_request(struct pt_version *v)
{
    pt_jit()->drop(v->request);
    v->request = NULL;
}

static struct pt_native *compile(const struct making *m, struct pt_native_result *result)
{
    struct pt_version *v = m->version;
    if (!prepare(v, result))
        return NULL;
    struct pt_native_limits limits = limits_of(v->made_for.kernel->module->engine);
    limits.is_stopped = is_stopped;
    limits.is_nice = m->is_nice;
    limits.is_urgent = is_urgent;
    limits.ud = (void *)(uintptr_t)m;
    struct pt_native *native =
        pt_jit()->compile(v->request, pt_compile_made(v->made_for.kernel, 0), &limits, result);
    if (result->end != PT_NATIVE_STARVED)
        drop_request(v);
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
static enum pt_native_end make(const struct making *m, bool is_demanded)
{
    struct pt_version *v = m->version;
    struct pt_native_result result;
    uint64_t begun = pt_now_ns();
    struct pt_native *native = compile(m, &result);
    atomic_fetch_add(&v->made_for.kernel->compile_ns, pt_now_ns() - begun);
    if (result.end == PT_NATIVE_STARVED)
        return result.end;
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

/* Under the engine's lock: true if the version waited for the background, and does no more. */
static bool take_from_queue(ptera_engine *engine, struct pt_version *v)
{
    struct pt_version **p = &engine->compiler.queue;
    if (!v->is_queued)
        return false;
    while (*p != v)
        p = &(*p)->queued;
    *p = v->queued;
    v->is_queued = false;
    return true;
}

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
        error = deadline ? pthread_cond_timedwait(&engine->compiler.change, &engine->lock, deadline)
                         : pthread_cond_wait(&engine->compiler.change, &engine->lock);
    return is_so_far(v);
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
        bool is_over = !wait_for(engine, v, is_idle, deadline);
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
    end = is_mine ? make(&(struct making){*version, deadline, false}, true) : PT_NATIVE_MADE;
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

/* A launch of what waits begins. */
static void wake(ptera_engine *engine, const struct pt_version *v)
{
    if (v && v->is_queued && !engine->compiler.is_polling)
        pthread_cond_broadcast(&engine->compiler.change);
}

struct pt_version *pt_native_find(const struct pt_variant *given)
{
    struct pt_variant variant = *given;
    ptera_engine *engine = variant.kernel->module->engine;
    pthread_mutex_lock(&engine->lock);
    struct pt_version *v = find_or_choose(&variant);
    wake(engine, v);
    pthread_mutex_unlock(&engine->lock);
    return v;
}

/* ---- the background -------------------------------------------------------------------------- */

static unsigned most_compiling(const ptera_engine *engine)
{
    unsigned most = engine->compile_inside ? 1 : engine->threads;
    return most < PT_COMPILING_MOST ? most : PT_COMPILING_MOST;
}

/* What is not hot enough begins where launches leave a worker idle; of what was hot in an earlier
 * run, and is not yet in this one, half as many at once. */
static bool may_begin(ptera_engine *engine, const struct pt_version *v)
{
    const unsigned *n = engine->compiler.n_compiling;
    const unsigned most = most_compiling(engine);
    if (!atomic_load(&v->is_missing))
        return v->is_profiled || heat_of(v) >= LOOK_NS;
    if (is_hot(v, true))
        return n[false] < most;
    if (atomic_load(&engine->busy) >= engine->threads)
        return false;
    return is_hot(v, false) ? n[true] < most : v->is_profiled && n[true] < (most + 1) / 2;
}

/* What is to be looked for goes first, then the hottest. */
static uint64_t rank_of(const struct pt_version *v)
{
    return atomic_load(&v->is_missing) ? heat_of(v) + v->last_run_ns : UINT64_MAX;
}

/* Under the engine's lock: the next one, which leaves the queue. */
static struct pt_version *take_next(ptera_engine *engine)
{
    struct pt_version *best = NULL;
    for (struct pt_version *v = engine->compiler.queue; v; v = v->queued)
        if (may_begin(engine, v) && (!best || rank_of(v) > rank_of(best)))
            best = v;
    if (best)
        take_from_queue(engine, best);
    return best;
}

static void enqueue(struct pt_compiler *c, struct pt_version *v)
{
    struct pt_version **end = &c->queue;
    while (*end)
        end = &(*end)->queued;
    *end = v;
    v->queued = NULL;
    v->is_queued = true;
    pthread_cond_broadcast(&c->change);
}

/* Waits for the interpreter's program, too, which is there but where a profile knows the kernel. */
static bool is_in_cache(struct pt_version *v, struct pt_native **native)
{
    const struct pt_program *program;
    struct pt_native_result result;
    if (pt_compile_kernel(v->made_for.kernel, 0, &program) != PTERA_OK || !prepare(v, &result))
        return false;
    *native = pt_jit()->find(v->request, program);
    return *native != NULL;
}

/* It waits to be compiled. */
static void put_off(struct pt_version *v)
{
    ptera_engine *engine = v->made_for.kernel->module->engine;
    pthread_mutex_lock(&engine->lock);
    atomic_store(&v->is_missing, true);
    if (!atomic_load(&v->is_unwanted))
        enqueue(&engine->compiler, v);
    pthread_mutex_unlock(&engine->lock);
}

static void look_for(struct pt_version *v)
{
    struct pt_native *native;
    if (is_in_cache(v, &native)) {
        drop_request(v);
        finish(v, native);
    } else {
        put_off(v);
    }
}

static void make_hot(struct pt_version *v, bool is_nice)
{
    if (make(&(struct making){v, NULL, is_nice}, false) == PT_NATIVE_STARVED)
        put_off(v);
}

static void *compile_main(void *ud);

/* Under the engine's lock. False: there is no thread at all. */
static bool start_thread(ptera_engine *engine)
{
    struct pt_compiler *c = &engine->compiler;
    if (!c->n_idle && c->n_threads <= 2 * most_compiling(engine) && !c->closing)
        c->n_threads += pt_thread_start(&c->threads[c->n_threads], 0, compile_main, engine);
    return c->n_threads > 0;
}

/* Under the engine's lock, which is open meanwhile. */
static void serve(ptera_engine *engine, struct pt_version *v)
{
    struct pt_compiler *c = &engine->compiler;
    bool is_missing = atomic_load(&v->is_missing);
    bool is_nice = is_missing && !is_hot(v, true);
    v->users++; /* that it stays */
    c->n_compiling[is_nice] += is_missing;
    if (c->queue) { /* somebody else is to look after that */
        start_thread(engine);
        pthread_cond_broadcast(&c->change);
    }
    pthread_mutex_unlock(&engine->lock);
    if (is_missing)
        make_hot(v, is_nice);
    else
        look_for(v);
    pthread_mutex_lock(&engine->lock);
    c->n_compiling[is_nice] -= is_missing;
    put(engine, v);
    pthread_cond_broadcast(&c->change);
}

/* Something that waits is being interpreted, and gets hotter, of which nobody tells. */
static bool is_getting_hot(const ptera_engine *engine)
{
    for (const struct pt_version *v = engine->compiler.queue; v; v = v->queued)
        if (atomic_load(&v->made_for.kernel->running_since))
            return true;
    return false;
}

static void wait_for_work(ptera_engine *engine)
{
    struct pt_compiler *c = &engine->compiler;
    struct timespec deadline = pt_deadline_in(POLL_MS / 1000.0);
    bool polls = !c->is_polling && is_getting_hot(engine);
    c->n_idle++;
    c->is_polling |= polls;
    if (polls)
        pthread_cond_timedwait(&c->change, &engine->lock, &deadline);
    else
        pthread_cond_wait(&c->change, &engine->lock);
    c->is_polling &= !polls;
    c->n_idle--;
}

static void *compile_main(void *ud)
{
    ptera_engine *engine = ud;
    pthread_mutex_lock(&engine->lock);
    while (!engine->compiler.closing) {
        struct pt_version *v = take_next(engine);
        if (v)
            serve(engine, v);
        else
            wait_for_work(engine);
    }
    pthread_mutex_unlock(&engine->lock);
    return NULL;
}

/* Under the engine's lock. *is_new: it was not there. */
static struct pt_version *find_or_enqueue(const struct pt_variant *given, bool *is_new)
{
    struct pt_variant variant = *given;
    ptera_engine *engine = variant.kernel->module->engine;
    struct pt_version *v = find_or_choose(&variant);
    *is_new = !v;
    if (!v && start_thread(engine)) {
        v = enter(&variant);
        if (v)
            enqueue(&engine->compiler, v);
    }
    return v;
}

struct pt_version *pt_native_request(const struct pt_variant *variant)
{
    ptera_engine *engine = variant->kernel->module->engine;
    bool is_new;
    pthread_mutex_lock(&engine->lock);
    struct pt_version *v = find_or_enqueue(variant, &is_new);
    wake(engine, v);
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
    take_from_queue(engine, v);
    while (v->users)
        pthread_cond_wait(&engine->compiler.change, &engine->lock);
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
    for (unsigned i = 0; i < c->n_threads; i++)
        pthread_join(c->threads[i], NULL);
    pthread_cond_destroy(&c->change);
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
    put(module->engine, v);
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
    if (!module->has_profile || is_refused || !is_looked_for ||
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
