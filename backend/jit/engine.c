/* The entry of the shared object: kernels to code in memory, and which code is whose. */
#include <llvm/Config/llvm-config.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backend/cache_folder.h"
#include "backend/jit/llvm/cpu.h"
#include "backend/jit/object/cache.h"
#include "backend/jit/object/cache_key.h"
#include "backend/jit/object/debugger.h"
#include "backend/jit/object/frontier.h"
#include "backend/jit/object/line_table.h"
#include "backend/jit/object/loader.h"
#include "backend/jit/object/object.h"
#include "backend/jit/object/snapshot.h"
#include "backend/jit/process/client.h"
#include "backend/jit/process/server.h"
#include "backend/native.h"

/* ---- which code is native code --------------------------------------------------------------- */

/* Signal handlers read it, so nodes are used again but never freed. */
struct range {
    struct range *next;
    atomic_uintptr_t begin, end; /* begin is UINTPTR_MAX: not in use */
    _Atomic(const struct native *) native;
};

struct native {
    struct pt_native base;
    struct jit_loaded code;
    struct jit_object object; /* for debuggers, and for places when something fails */
    struct jit_observed *observed;
    struct range *range;
};

static _Atomic(struct range *) ranges;
static pthread_mutex_t ranges_lock = PTHREAD_MUTEX_INITIALIZER; /* of those who change them */

static void lock_ranges(void)
{
    pthread_mutex_lock(&ranges_lock);
}

static void unlock_ranges(void)
{
    pthread_mutex_unlock(&ranges_lock);
}

/* A child must not find the lock held by a thread that it does not have. */
__attribute__((constructor)) static void watch_forks(void)
{
    pthread_atfork(lock_ranges, unlock_ranges, unlock_ranges);
}

/* `begin` is read twice: in between the range may have become another. */
static struct range *find_range(uintptr_t pc)
{
    for (struct range *r = atomic_load(&ranges); r; r = r->next) {
        uintptr_t begin = atomic_load(&r->begin), end = atomic_load(&r->end);
        if (pc >= begin && pc < end && atomic_load(&r->begin) == begin)
            return r;
    }
    return NULL;
}

static bool holds(uintptr_t pc)
{
    return find_range(pc) != NULL;
}

static struct range *free_range(void)
{
    for (struct range *r = atomic_load(&ranges); r; r = r->next)
        if (atomic_load(&r->begin) == UINTPTR_MAX)
            return r;
    struct range *r = calloc(1, sizeof *r);
    if (!r)
        return NULL;
    atomic_init(&r->begin, UINTPTR_MAX);
    r->next = atomic_load(&ranges);
    atomic_store(&ranges, r);
    return r;
}

static bool add_range(struct native *n)
{
    uintptr_t begin = (uintptr_t)n->code.text;
    pthread_mutex_lock(&ranges_lock);
    n->range = free_range();
    if (n->range) {
        atomic_store(&n->range->native, n);
        atomic_store(&n->range->end, begin + n->code.text_bytes);
        atomic_store(&n->range->begin, begin);
    }
    pthread_mutex_unlock(&ranges_lock);
    return n->range != NULL;
}

static void remove_range(struct native *n)
{
    pthread_mutex_lock(&ranges_lock);
    if (n->range) {
        atomic_store(&n->range->begin, UINTPTR_MAX);
        atomic_store(&n->range->native, NULL);
    }
    pthread_mutex_unlock(&ranges_lock);
}

static bool locate(uintptr_t pc, uint32_t *func, uint32_t *insn)
{
    const struct jit_place *best = NULL;
    struct jit_places places = {0};
    pthread_mutex_lock(&ranges_lock);
    const struct range *range = find_range(pc);
    const struct native *n = range ? atomic_load(&range->native) : NULL;
    if (n)
        jit_line_table_read(&n->object, &places);
    for (uint32_t i = 0; i < places.n; i++)
        if ((uintptr_t)n->code.text + places.v[i].offset <= pc)
            best = &places.v[i];
    bool found = best && best->func != PT_NONE;
    if (found) {
        *func = best->func;
        *insn = best->insn;
    }
    pthread_mutex_unlock(&ranges_lock);
    free(places.v);
    return found;
}

/* ---- the entry ------------------------------------------------------------------------------- */

static void release(struct pt_native *native)
{
    struct native *n = (struct native *)native;
    jit_debugger_remove(n->observed);
    remove_range(n);
    jit_loader_unload(&n->code);
    free(n->object.bytes);
    free(n);
}

/* Takes the object's bytes, which know where they were loaded then. */
static struct native *load(struct jit_object *object, const struct pt_program *program,
                           struct pt_native_result *result)
{
    struct native *n = calloc(1, sizeof *n);
    const char *why = NULL;
    if (!n || !jit_loader_load(object, program, &n->code, &why) || !add_range(n)) {
        result->end = why ? PT_NATIVE_REFUSED : PT_NATIVE_NO_MEMORY;
        snprintf(result->why, sizeof result->why, "%s", why ? why : "");
        if (n)
            release(&n->base);
        return NULL;
    }
    result->end = PT_NATIVE_MADE;
    n->object = *object;
    object->bytes = NULL;
    n->observed = jit_debugger_add(&n->object, &n->code,
                                   program->image->module->funcs.v[program->kernel].name);
    if (n->object.front_bytes)
        n->base.resume =
            (enum pt_run(*)(struct pt_warp *, struct pt_fault *, uint64_t *))n->code.entry;
    else
        n->base.run = (enum pt_run(*)(struct pt_cta *, struct pt_fault *, uint64_t *))n->code.entry;
    n->base.front_bytes = n->object.front_bytes;
    n->base.scratch_bytes = n->object.scratch_bytes;
    n->base.needs_warps = n->object.needs_warps;
    n->base.local_bytes = n->object.local_bytes;
    n->base.together = n->object.together;
    n->base.code_bytes = n->code.bytes;
    return n;
}

static void places(const struct pt_native *native, const struct pt_warp *warp,
                   void (*report)(void *ud, uint32_t func, uint32_t insn, uint32_t lanes,
                                  uint32_t bar),
                   void *ud)
{
    jit_frontier_report(jit_frontier_of_warp(warp, native->front_bytes), report, ud);
}

struct pt_native_request {
    uint8_t *snapshot;
    size_t n;
    const struct jit_cpu *cpu; /* that it is for; NULL: there is none of that level */
};

static struct pt_native_request *request(const struct pt_program *program,
                                         const struct pt_native_options *options)
{
    struct pt_native_request *r = calloc(1, sizeof *r);
    if (r) {
        r->cpu = jit_cpu_find(options->level);
        r->snapshot = jit_snapshot_write(program, options, &r->n);
    }
    if (r && r->snapshot)
        return r;
    free(r);
    return NULL;
}

static void drop(struct pt_native_request *r)
{
    if (r)
        free(r->snapshot);
    free(r);
}

static bool make_key(const struct pt_native_request *r, struct jit_key *key)
{
    const char *host = jit_cpu_host();
    return host && r->cpu && pt_cache_folder_path() &&
           jit_cache_key_make(r->snapshot, r->n, host, r->cpu->llvm_features, key);
}

/* From the cache. NULL: it is not there, or cannot be loaded. */
static struct native *read_and_load(const struct jit_key *key, const struct pt_program *program)
{
    struct jit_object object = {0};
    struct pt_native_result result;
    struct native *n = jit_cache_read(key, &object) ? load(&object, program, &result) : NULL;
    free(object.bytes);
    return n;
}

static struct pt_native *find(const struct pt_native_request *r, const struct pt_program *program)
{
    struct jit_key key;
    struct native *n = make_key(r, &key) ? read_and_load(&key, program) : NULL;
    return n ? &n->base : NULL;
}

static struct pt_native *compile(const struct pt_native_request *r,
                                 const struct pt_program *program,
                                 const struct pt_native_limits *limits,
                                 struct pt_native_result *result)
{
    struct jit_object object = {0};
    struct jit_key key;
    bool has_key = make_key(r, &key);
    struct native *n = has_key ? read_and_load(&key, program) : NULL;
    if (n) {
        result->end = PT_NATIVE_MADE;
        return &n->base;
    }
    if (!jit_client_compile(r->snapshot, r->n, PT_NATIVE_OBJECT, limits, &object, result))
        return NULL;
    if (has_key)
        jit_cache_write(&key, &object);
    n = load(&object, program, result);
    free(object.bytes);
    return n ? &n->base : NULL;
}

static char *print(const struct pt_native_request *r, enum pt_native_print what,
                   const struct pt_native_limits *limits, size_t *bytes,
                   struct pt_native_result *result)
{
    struct jit_object text;
    if (!jit_client_compile(r->snapshot, r->n, what, limits, &text, result))
        return NULL;
    *bytes = text.size;
    return (char *)text.bytes;
}

static const struct pt_jit jit = {
    .version = PT_JIT_VERSION,
    .request = request,
    .drop = drop,
    .find = find,
    .compile = compile,
    .release = release,
    .print = print,
    .serve = jit_server_run,
    .places = places,
    .holds = holds,
    .locate = locate,
    .cache = pt_cache_folder_path,
    .cache_refusal = pt_cache_folder_refusal,
    .width = jit_cpu_width,
    .llvm_version = LLVM_VERSION_STRING,
};

__attribute__((visibility("default"))) const struct pt_jit *ptera_jit(void)
{
    return &jit;
}
