/* The compiler of native code: a shared object that the first call opens. */
#define _GNU_SOURCE
#include "runtime/jit.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/thread.h"

enum { ATTEMPTS = 8 /* to open the compiler */ };

static const char file_name[] = "libptera-jit.so";
static pthread_mutex_t open_lock = PTHREAD_MUTEX_INITIALIZER;
static atomic_uint attempts;
static _Atomic(const struct pt_jit *) jit;
static char jit_error[4200]; /* why the first attempt failed; not written again */

/* Beside this library, unless PTERA_JIT_PATH names the file. */
static void find_path(char *path, size_t size)
{
    const char *given = secure_getenv("PTERA_JIT_PATH");
    Dl_info info;
    const char *slash = NULL;
    if (given && *given) {
        snprintf(path, size, "%s", given);
        return;
    }
    if (dladdr((const void *)&open_lock, &info) && info.dli_fname)
        slash = strrchr(info.dli_fname, '/');
    int folder = slash ? (int)(slash - info.dli_fname + 1) : 0;
    snprintf(path, size, "%.*s%s", folder, folder ? info.dli_fname : "", file_name);
}

static void say_not_open(const char *why, const char *what)
{
    if (!*jit_error)
        snprintf(jit_error, sizeof jit_error, "%s%s", why, what);
}

static void open_here(void *ud)
{
    (void)ud;
    char path[4096];
    find_path(path, sizeof path);
    void *object = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    void *entry = object ? dlsym(object, "ptera_jit") : NULL;
    if (!entry) {
        const char *why = dlerror();
        say_not_open(why ? why : path, "");
        return;
    }
    const struct pt_jit *(*get)(void);
    memcpy(&get, &entry, sizeof get);
    if (get()->version == PT_JIT_VERSION)
        atomic_store(&jit, get());
    else
        say_not_open(path, " is of another version of Ptera");
}

static void open_jit(void)
{
    if (!pt_thread_call(PT_STACK_WORK, open_here, NULL))
        say_not_open("there is no memory for a thread", "");
}

static void take_lock(void)
{
    pthread_mutex_lock(&open_lock);
}

static void give_lock(void)
{
    pthread_mutex_unlock(&open_lock);
}

/* A child must not find the lock held by a thread that it does not have, nor the compiler half
 * open: a fork waits until it is. */
static void watch_forks(void)
{
    pthread_atfork(take_lock, give_lock, give_lock);
}

/* There may have been no memory: a second attempt, and some more, may succeed. */
const struct pt_jit *pt_jit(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    const struct pt_jit *j = atomic_load_explicit(&jit, memory_order_acquire);
    if (j || atomic_load(&attempts) == ATTEMPTS)
        return j;
    pthread_once(&once, watch_forks);
    pthread_mutex_lock(&open_lock);
    if (!atomic_load(&jit) && atomic_load(&attempts) < ATTEMPTS) {
        open_jit();
        atomic_fetch_add(&attempts, 1);
    }
    pthread_mutex_unlock(&open_lock);
    return atomic_load(&jit);
}

const char *pt_jit_error(void)
{
    pt_jit();
    return jit_error;
}

bool pt_jit_holds(uintptr_t pc)
{
    const struct pt_jit *j = atomic_load_explicit(&jit, memory_order_acquire);
    return j && j->holds(pc);
}

struct pt_native_limits pt_jit_limits(const ptera_engine *engine)
{
    return (struct pt_native_limits){.seconds = engine->compile_seconds,
                                     .memory_bytes = engine->compile_bytes,
                                     .is_inside = engine->compile_inside};
}

/* The module's lock is held only while the request is made. */
struct pt_native_request *pt_jit_request(ptera_module *module, const struct pt_program *program,
                                         const struct pt_native_options *options)
{
    pthread_mutex_lock(&module->lock);
    struct pt_native_request *r = pt_jit()->request(program, options);
    pthread_mutex_unlock(&module->lock);
    return r;
}
