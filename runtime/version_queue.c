/* The queue of the background, and its threads. */
#include "runtime/version_queue.h"

#include "runtime/deadline.h"
#include "runtime/engine.h"
#include "runtime/thread.h"
#include "runtime/version.h"

enum { POLL_MS = 5 };

/* ---- what waits ------------------------------------------------------------------------------ */

static unsigned most_compiling(const ptera_engine *engine)
{
    unsigned most = engine->compile_inside ? 1 : engine->threads;
    return most < PT_COMPILING_MOST ? most : PT_COMPILING_MOST;
}

/* At usual priority. */
static unsigned most_urgent(const ptera_engine *engine, const struct pt_version *v)
{
    unsigned most = most_compiling(engine), few = engine->threads / 4;
    if (pt_version_is_old(v) || few >= most)
        return most;
    return few ? few : 1;
}

/* Launches leave a worker idle. One that has just begun does not count its workers yet. */
static bool is_idle(const ptera_engine *engine, const struct pt_version *v)
{
    unsigned busy = atomic_load(&engine->busy);
    return busy < engine->threads && (busy || !atomic_load(&v->made_for.kernel->running_since));
}

/* What is not hot enough begins where launches leave a worker idle; of what was hot in an earlier
 * run, and is not yet in this one, half as many at once. */
static bool may_begin(ptera_engine *engine, const struct pt_version *v)
{
    const unsigned *n = engine->version_queue.n_compiling;
    const unsigned most = most_compiling(engine);
    if (!atomic_load(&v->is_missing))
        return v->is_profiled || pt_version_is_warm(v, is_idle(engine, v));
    if (pt_version_is_hot(v, true))
        return n[false] < most_urgent(engine, v);
    if (!is_idle(engine, v))
        return false;
    return pt_version_is_hot(v, false) ? n[true] < most
                                       : v->is_profiled && n[true] < (most + 1) / 2;
}

/* What is to be looked for goes first, then the hottest. */
static uint64_t rank_of(const struct pt_version *v)
{
    return atomic_load(&v->is_missing) ? pt_version_heat(v) + v->last_run_ns : UINT64_MAX;
}

bool pt_version_queue_take(ptera_engine *engine, struct pt_version *v)
{
    struct pt_version **p = &engine->version_queue.first;
    if (!v->is_queued)
        return false;
    while (*p != v)
        p = &(*p)->queued;
    *p = v->queued;
    v->is_queued = false;
    return true;
}

/* The next one, which leaves the queue. */
static struct pt_version *take_next(ptera_engine *engine)
{
    struct pt_version *best = NULL;
    for (struct pt_version *v = engine->version_queue.first; v; v = v->queued)
        if (may_begin(engine, v) && (!best || rank_of(v) > rank_of(best)))
            best = v;
    if (best)
        pt_version_queue_take(engine, best);
    return best;
}

void pt_version_queue_add(ptera_engine *engine, struct pt_version *v)
{
    struct pt_version_queue *q = &engine->version_queue;
    struct pt_version **end = &q->first;
    while (*end)
        end = &(*end)->queued;
    *end = v;
    v->queued = NULL;
    v->is_queued = true;
    pthread_cond_broadcast(&q->change);
}

void pt_version_queue_wake(ptera_engine *engine, const struct pt_version *v)
{
    if (v && v->is_queued && !engine->version_queue.is_polling)
        pthread_cond_broadcast(&engine->version_queue.change);
}

/* ---- its threads ----------------------------------------------------------------------------- */

/* It waits to be compiled. */
static void put_off(struct pt_version *v)
{
    ptera_engine *engine = v->made_for.kernel->module->engine;
    pthread_mutex_lock(&engine->lock);
    atomic_store(&v->is_missing, true);
    if (!atomic_load(&v->is_unwanted))
        pt_version_queue_add(engine, v);
    pthread_mutex_unlock(&engine->lock);
}

static void look_for(struct pt_version *v)
{
    if (!pt_version_look_up(v))
        put_off(v);
}

static void make_hot(struct pt_version *v, bool is_nice)
{
    if (pt_version_make(&(struct pt_making){v, NULL, is_nice}, false) == PT_NATIVE_STARVED)
        put_off(v);
}

static void *serve_queue(void *ud);

bool pt_version_queue_start(ptera_engine *engine)
{
    struct pt_version_queue *q = &engine->version_queue;
    if (!q->n_idle && q->n_threads <= 2 * most_compiling(engine) && !q->closing)
        q->n_threads += pt_thread_start(&q->threads[q->n_threads], 0, serve_queue, engine);
    return q->n_threads > 0;
}

/* Under the engine's lock, which is open meanwhile. */
static void serve(ptera_engine *engine, struct pt_version *v)
{
    struct pt_version_queue *q = &engine->version_queue;
    bool is_missing = atomic_load(&v->is_missing);
    bool is_nice = is_missing && !pt_version_is_hot(v, true);
    v->users++; /* that it stays */
    q->n_compiling[is_nice] += is_missing;
    if (q->first) { /* somebody else is to look after that */
        pt_version_queue_start(engine);
        pthread_cond_broadcast(&q->change);
    }
    pthread_mutex_unlock(&engine->lock);
    if (is_missing)
        make_hot(v, is_nice);
    else
        look_for(v);
    pthread_mutex_lock(&engine->lock);
    q->n_compiling[is_nice] -= is_missing;
    pt_version_put(engine, v);
    pthread_cond_broadcast(&q->change);
}

/* Something that waits is being interpreted, and gets hotter, of which nobody tells. */
static bool is_getting_hot(const ptera_engine *engine)
{
    for (const struct pt_version *v = engine->version_queue.first; v; v = v->queued)
        if (atomic_load(&v->made_for.kernel->running_since))
            return true;
    return false;
}

static void wait_for_work(ptera_engine *engine)
{
    struct pt_version_queue *q = &engine->version_queue;
    struct timespec deadline = pt_deadline_in(POLL_MS / 1000.0);
    bool polls = !q->is_polling && is_getting_hot(engine);
    q->n_idle++;
    q->is_polling |= polls;
    if (polls)
        pthread_cond_timedwait(&q->change, &engine->lock, &deadline);
    else
        pthread_cond_wait(&q->change, &engine->lock);
    q->is_polling &= !polls;
    q->n_idle--;
}

static void *serve_queue(void *ud)
{
    ptera_engine *engine = ud;
    pthread_mutex_lock(&engine->lock);
    while (!engine->version_queue.closing) {
        struct pt_version *v = take_next(engine);
        if (v)
            serve(engine, v);
        else
            wait_for_work(engine);
    }
    pthread_mutex_unlock(&engine->lock);
    return NULL;
}

void pt_version_queue_init(ptera_engine *engine)
{
    pthread_condattr_t attributes;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&engine->version_queue.change, &attributes);
    pthread_condattr_destroy(&attributes);
}

void pt_version_queue_close(ptera_engine *engine)
{
    struct pt_version_queue *q = &engine->version_queue;
    pthread_mutex_lock(&engine->lock);
    q->closing = true;
    pthread_cond_broadcast(&q->change);
    pthread_mutex_unlock(&engine->lock);
    for (unsigned i = 0; i < q->n_threads; i++)
        pthread_join(q->threads[i], NULL);
    pthread_cond_destroy(&q->change);
}
