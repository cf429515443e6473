/* What all of an engine's parts need of it: memory, the text of the last failure, the log,
 * whether it belongs to this process. */
#include "runtime/engine.h"
#include "backend/shadow.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

const char pt_no_multicast[] = "this is not an address of multicast memory";

void *pt_engine_alloc(ptera_engine *engine, size_t bytes)
{
    void *p = engine->allocator.resize(engine->allocator.ud, NULL, bytes);
    return p ? memset(p, 0, bytes) : NULL;
}

void pt_engine_free(ptera_engine *engine, void *p)
{
    if (p)
        engine->allocator.resize(engine->allocator.ud, p, 0);
}

struct pt_shadow *pt_engine_shadow(ptera_engine *engine)
{
    struct pt_shadow *shadow = atomic_load(&engine->mem.shadow), *none = NULL;
    if (shadow)
        return shadow;
    shadow = pt_shadow_new(&engine->allocator);
    if (!shadow || atomic_compare_exchange_strong(&engine->mem.shadow, &none, shadow))
        return shadow;
    pt_shadow_free(shadow);
    return none;
}

static void fail(ptera_engine *engine, const struct pt_own_error *own, const char *format,
                 va_list args)
{
    pthread_mutex_lock(&engine->lock);
    vsnprintf(engine->error, sizeof engine->error, format, args);
    size_t n = strlen(engine->error);
    while (n && engine->error[n - 1] == '\n')
        engine->error[--n] = 0;
    if (own && own->text)
        snprintf(own->text, own->bytes, "%s", engine->error);
    pthread_mutex_unlock(&engine->lock);
}

void pt_engine_fail(ptera_engine *engine, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    fail(engine, NULL, format, args);
    va_end(args);
}

void pt_engine_fail_launch(ptera_engine *engine, const struct pt_own_error *own, const char *format,
                           ...)
{
    va_list args;
    va_start(args, format);
    fail(engine, own, format, args);
    va_end(args);
}

void pt_engine_log(ptera_engine *engine, ptera_severity severity, const char *format, ...)
{
    char text[PT_ERROR_BYTES];
    va_list args;
    if (!engine->log)
        return;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    engine->log(engine->log_ud, severity, text);
}

/* ---- fork ------------------------------------------------------------------------------------ */

/* How often this process and its ancestors were made by fork since the library came in. */
static atomic_uint forks;

static void count_fork(void)
{
    atomic_fetch_add(&forks, 1);
}

static void watch_forks(void)
{
    pthread_atfork(NULL, NULL, count_fork);
}

unsigned pt_engine_forks(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, watch_forks);
    return atomic_load(&forks);
}

/* Threads do not come along, and locks may be held by those that are gone. */
bool pt_engine_is_inherited(const ptera_engine *engine)
{
    bool may_be = engine->allow_fork && !engine->pool.n_threads &&
                  !engine->version_queue.n_threads && !engine->queue.is_started;
    return engine->forks != atomic_load(&forks) && !may_be;
}

const char *ptera_engine_error(const ptera_engine *engine)
{
    return engine ? engine->error : "";
}
