/* Debuggers and profilers: gdb's "JIT Compilation Interface", perf's map of symbols. */
#define _GNU_SOURCE
#include "backend/jit/object/debugger.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "backend/jit/object/loader.h"
#include "backend/jit/object/object.h"

/* ---- gdb ------------------------------------------------------------------------------------- */

struct jit_observed { /* the layout is gdb's */
    struct jit_observed *next, *previous;
    const void *object;
    uint64_t size;
};

enum { NO_ACTION, REGISTER, UNREGISTER };

/* gdb finds these two by their names, sets a breakpoint in the function and then reads the list. */
struct {
    uint32_t version, action;
    struct jit_observed *relevant, *first;
} __jit_debug_descriptor = {1, NO_ACTION, NULL, NULL};

__attribute__((noinline)) void __jit_debug_register_code(void);
__attribute__((noinline)) void __jit_debug_register_code(void)
{
    __asm__ volatile("" ::: "memory");
}

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void take_lock(void)
{
    pthread_mutex_lock(&lock);
}

static void give_lock(void)
{
    pthread_mutex_unlock(&lock);
}

/* A child must not find the lock held by a thread that it does not have. */
__attribute__((constructor)) static void watch_forks(void)
{
    pthread_atfork(take_lock, give_lock, give_lock);
}

static void notify(struct jit_observed *o, uint32_t action)
{
    __jit_debug_descriptor.action = action;
    __jit_debug_descriptor.relevant = o;
    __jit_debug_register_code();
}

/* ---- perf ------------------------------------------------------------------------------------ */

static void map_for_perf(const struct jit_loaded *code, const char *name)
{
    const char *wanted = secure_getenv("PTERA_PERF");
    char path[64];
    if (!wanted || !*wanted)
        return;
    snprintf(path, sizeof path, "/tmp/perf-%ld.map", (long)getpid());
    FILE *file = fopen(path, "ae");
    if (!file)
        return;
    fprintf(file, "%" PRIxPTR " %zx %s\n", (uintptr_t)code->text, code->text_bytes, name);
    fclose(file);
}

struct jit_observed *jit_debugger_add(const struct jit_object *object,
                                      const struct jit_loaded *code, const char *name)
{
    struct jit_observed *o = calloc(1, sizeof *o);
    if (!o)
        return NULL;
    o->object = object->bytes;
    o->size = object->size;
    pthread_mutex_lock(&lock);
    o->next = __jit_debug_descriptor.first;
    if (o->next)
        o->next->previous = o;
    __jit_debug_descriptor.first = o;
    notify(o, REGISTER);
    map_for_perf(code, name);
    pthread_mutex_unlock(&lock);
    return o;
}

void jit_debugger_remove(struct jit_observed *o)
{
    if (!o)
        return;
    pthread_mutex_lock(&lock);
    if (o->previous)
        o->previous->next = o->next;
    else
        __jit_debug_descriptor.first = o->next;
    if (o->next)
        o->next->previous = o->previous;
    notify(o, UNREGISTER);
    pthread_mutex_unlock(&lock);
    free(o);
}
