/* Versions of kernels. */
#include "runtime/version.h"

#include <stdio.h>
#include <string.h>

#include "runtime/compile.h"
#include "runtime/deadline.h"
#include "runtime/jit.h"
#include "runtime/timeline.h"

/* After SHAPES shapes of a kernel one version for any shape serves the others; where there can
 * be none, SHAPES_MAX have one of their own. Code that no launch uses goes, least recently used
 * first, when an engine has more than this. */
enum { SHAPES = 4, SHAPES_MAX = 16, CODE_MAX = 64 << 20, VERSIONS_MAX = 1024 };

/* ---- versions -------------------------------------------------------------------------------- */

static bool is_for(const struct pt_version *v, const struct pt_variant *variant)
{
    return v->made_for.math_fast == variant->math_fast &&
           v->made_for.has_cluster == variant->has_cluster && v->made_for.tests == variant->tests &&
           memcmp(v->made_for.block, variant->block, sizeof variant->block) == 0;
}

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

struct pt_version *pt_version_choose(struct pt_variant *variant)
{
    struct pt_version *v = find(variant);
    unsigned shapes = v ? 0 : count_shapes(variant->kernel);
    if (v || shapes < SHAPES)
        return v;
    struct pt_variant any = {.kernel = variant->kernel,
                             .math_fast = variant->math_fast,
                             .has_cluster = variant->has_cluster,
                             .tests = variant->tests};
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

void pt_version_remove(ptera_engine *engine, struct pt_version *v)
{
    unlink_version(engine, v);
    free_version(engine, v);
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
        pt_version_remove(engine, v);
    }
}

struct pt_version *pt_version_enter(const struct pt_variant *variant)
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

void pt_version_put(ptera_engine *engine, struct pt_version *v)
{
    v->users--;
    if (v->is_dropped && !v->users)
        free_version(engine, v);
}

/* ---- heat ------------------------------------------------------------------------------------ */

/* What the cache has is looked for when a kernel has been interpreted for LOOK_NS. Else it is
 * compiled, which takes long, and longer the more code it is: when it has been interpreted for a
 * part of what that takes, where launches leave a worker idle, by a compiler that gives way to all
 * others; when it has been for a larger part, at usual priority.
 *
 * How long a program goes on nobody knows: most likely about as long as it has so far. So in one
 * that is young, by what its workers have interpreted, nothing is taken from them; not even the
 * opening of the compiler's library, some 8 ms, to look into the cache for what no earlier run
 * has left. In one that is not old, a kernel is compiled after half of what that takes, and few at
 * once; later after a sixth.
 * Zen 4, 2026-11-25: compiling takes some 0.7 ms an instruction of PTX. */
enum {
    LOOK_NS = 2000000,
    BEGIN_NS = 50000, /* an instruction, and so on */
    SOON_NS = 350000,
    URGENT_NS = 120000
};
static const uint64_t LOOK_AGE_NS = 200000000, YOUNG_NS = 400000000, OLD_NS = 4000000000;

/* In so few instructions there is nothing to give way with. */
enum { SMALL = 64 };

uint64_t pt_version_heat(const struct pt_version *v)
{
    const ptera_kernel *kernel = v->made_for.kernel;
    uint64_t since = atomic_load(&kernel->running_since), now = pt_now_ns();
    return atomic_load(&kernel->interpreted_ns) + (since && since < now ? now - since : 0);
}

/* Of the program, with what its kernel is running now. */
static uint64_t age_of(const struct pt_version *v)
{
    const ptera_kernel *kernel = v->made_for.kernel;
    return atomic_load(&kernel->module->engine->interpreted_ns) + pt_version_heat(v) -
           atomic_load(&kernel->interpreted_ns);
}

bool pt_version_is_warm(const struct pt_version *v, bool is_idle)
{
    return pt_version_heat(v) >= LOOK_NS && (is_idle || age_of(v) >= LOOK_AGE_NS);
}

bool pt_version_is_old(const struct pt_version *v)
{
    return age_of(v) >= OLD_NS;
}

bool pt_version_is_hot(const struct pt_version *v, bool is_urgent)
{
    const ptera_kernel *kernel = v->made_for.kernel;
    uint64_t n = kernel->module->ir.funcs.v[kernel->func].insns.n, each = BEGIN_NS;
    if (is_urgent && age_of(v) < YOUNG_NS)
        return false;
    if (is_urgent && n > SMALL)
        each = pt_version_is_old(v) ? URGENT_NS : SOON_NS;
    return pt_version_heat(v) >= LOOK_NS + n * each;
}

/* ---- making one ------------------------------------------------------------------------------ */

static bool is_stopped(void *ud)
{
    const struct pt_making *m = ud;
    return atomic_load(&m->version->is_unwanted) ||
           (m->deadline && pt_deadline_left(m->deadline) <= 0);
}

static bool is_urgent(void *ud)
{
    const struct pt_making *m = ud;
    return pt_version_is_hot(m->version, true);
}

/* Once. */
static void tell_cache(ptera_engine *engine)
{
    const char *refusal = pt_jit()->cache_refusal();
    if (refusal && !atomic_flag_test_and_set(&engine->has_told_cache))
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
    const struct pt_program *program = pt_compile_made(variant->kernel, variant->tests);
    if (!v->request && program)
        v->request = pt_jit_request(module, program, &options);
    result->end = PT_NATIVE_NO_MEMORY;
    return v->request != NULL;
}

static void drop_request(struct pt_version *v)
{
    pt_jit()->drop(v->request);
    v->request = NULL;
}

static struct pt_native *compile(const struct pt_making *m, struct pt_native_result *result)
{
    struct pt_version *v = m->version;
    if (!prepare(v, result))
        return NULL;
    struct pt_native_limits limits = pt_jit_limits(v->made_for.kernel->module->engine);
    limits.is_stopped = is_stopped;
    limits.is_nice = m->is_nice;
    limits.is_urgent = is_urgent;
    limits.ud = (void *)(uintptr_t)m;
    ptera_module *module = v->made_for.kernel->module;
    uint64_t begun = pt_timeline_begin(module->engine);
    struct pt_native *native = pt_jit()->compile(
        v->request, pt_compile_made(v->made_for.kernel, v->made_for.tests), &limits, result);
    pt_timeline_end(module->engine, ptera_kernel_name(v->made_for.kernel), &pt_timeline_compile,
                    begun);
    if (result->end != PT_NATIVE_STARVED)
        drop_request(v);
    return native;
}

static char *copy_text(ptera_engine *engine, const char *text)
{
    size_t n = strlen(text) + 1;
    char *copy = pt_engine_alloc(engine, n);
    return copy ? memcpy(copy, text, n) : NULL;
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
    pthread_cond_broadcast(&engine->version_queue.change);
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
    pthread_cond_broadcast(&engine->version_queue.change);
    pthread_mutex_unlock(&engine->lock);
}

enum pt_native_end pt_version_make(const struct pt_making *m, bool is_demanded)
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

/* Waits for the interpreter's program, too, which is there but where a profile knows the kernel. */
static bool is_in_cache(struct pt_version *v, struct pt_native **native)
{
    const struct pt_program *program;
    struct pt_native_result result;
    if (pt_compile_kernel(v->made_for.kernel, v->made_for.tests, &program) != PTERA_OK ||
        !prepare(v, &result))
        return false;
    *native = pt_jit()->find(v->request, program);
    return *native != NULL;
}

bool pt_version_look_up(struct pt_version *v)
{
    struct pt_native *native;
    if (!is_in_cache(v, &native))
        return false;
    drop_request(v);
    finish(v, native);
    return true;
}
