/* Worker threads. */
#include "runtime/pool.h"

#include <string.h>

#include "runtime/thread.h"

enum { SPINS = 1000 /* about as long as it takes to wake a thread */ };

static void relax(void)
{
#if defined __x86_64__
    __builtin_ia32_pause();
#elif defined __aarch64__
    __asm__ volatile("yield");
#endif
}

/* Waits a little for a count to come to `to`: launches often follow one another, and workers end
 * together. */
static void spin(const atomic_uint *count, unsigned to)
{
    for (unsigned i = 0; i < SPINS && atomic_load_explicit(count, memory_order_acquire) != to; i++)
        relax();
}

void pt_pool_init(struct pt_pool *pool, const struct pt_allocator *allocator, unsigned threads)
{
    memset(pool, 0, sizeof *pool);
    pool->allocator = allocator;
    pool->limit = threads - 1;
    pthread_mutex_init(&pool->lock, NULL);
    pthread_cond_init(&pool->wanted, NULL);
    pthread_cond_init(&pool->done, NULL);
}

void pt_pool_close(struct pt_pool *pool)
{
    pthread_mutex_lock(&pool->lock);
    pool->closing = true;
    atomic_fetch_add(&pool->calls, 1);
    pthread_cond_broadcast(&pool->wanted);
    pthread_mutex_unlock(&pool->lock);
    for (unsigned i = 0; i < pool->n_threads; i++)
        pthread_join(pool->threads[i], NULL);
    if (pool->threads)
        pool->allocator->resize(pool->allocator->ud, pool->threads, 0);
    pthread_cond_destroy(&pool->done);
    pthread_cond_destroy(&pool->wanted);
    pthread_mutex_destroy(&pool->lock);
}

/* Work that has room for one more; what is full leaves the queue. */
static struct pt_work *take(struct pt_pool *pool)
{
    struct pt_work *work = pool->queue;
    if (work && ++work->joined == work->workers)
        pool->queue = work->next;
    return work;
}

/* With the lock, which it gives away meanwhile. */
static void wait_for_work(struct pt_pool *pool)
{
    unsigned calls = atomic_load(&pool->calls);
    pool->idle++;
    pthread_mutex_unlock(&pool->lock);
    spin(&pool->calls, calls + 1);
    pthread_mutex_lock(&pool->lock);
    if (atomic_load(&pool->calls) == calls)
        pthread_cond_wait(&pool->wanted, &pool->lock);
    pool->idle--;
}

static void *thread_main(void *ud)
{
    struct pt_pool *pool = ud;
    pthread_mutex_lock(&pool->lock);
    while (!pool->closing) {
        struct pt_work *work = take(pool);
        if (!work) {
            wait_for_work(pool);
            continue;
        }
        unsigned worker = work->joined - 1;
        pthread_mutex_unlock(&pool->lock);
        work->run(work->ud, worker);
        pthread_mutex_lock(&pool->lock);
        atomic_fetch_add(&work->left, 1); /* the work may be gone from here on */
        pthread_cond_broadcast(&pool->done);
    }
    pthread_mutex_unlock(&pool->lock);
    return NULL;
}

static bool start_thread(struct pt_pool *pool)
{
    bool is_started = pt_thread_start(&pool->threads[pool->n_threads], 0, thread_main, pool);
    pool->n_threads += is_started;
    return is_started;
}

static void start_threads(struct pt_pool *pool, unsigned want)
{
    const struct pt_allocator *a = pool->allocator;
    if (!pool->threads && pool->limit)
        pool->threads = a->resize(a->ud, NULL, pool->limit * sizeof *pool->threads);
    if (!pool->threads)
        return;
    for (unsigned have = pool->idle; have < want && pool->n_threads < pool->limit; have++)
        if (!start_thread(pool))
            return;
}

static void enqueue(struct pt_pool *pool, struct pt_work *work)
{
    struct pt_work **end = &pool->queue;
    while (*end)
        end = &(*end)->next;
    *end = work;
    atomic_fetch_add(&pool->calls, 1);
    start_threads(pool, work->workers - 1);
    for (unsigned i = 1; i < work->workers; i++)
        pthread_cond_signal(&pool->wanted);
}

static void dequeue(struct pt_pool *pool, struct pt_work *work)
{
    for (struct pt_work **p = &pool->queue; *p; p = &(*p)->next) {
        if (*p == work) {
            *p = work->next;
            return;
        }
    }
}

void pt_pool_run(struct pt_pool *pool, struct pt_work *work)
{
    work->joined = 1;
    atomic_init(&work->left, 1);
    work->next = NULL;
    if (work->workers <= 1 || pool->limit == 0) {
        work->run(work->ud, 0);
        return;
    }
    pthread_mutex_lock(&pool->lock);
    enqueue(pool, work);
    pthread_mutex_unlock(&pool->lock);
    work->run(work->ud, 0);
    pthread_mutex_lock(&pool->lock);
    dequeue(pool, work);
    pthread_mutex_unlock(&pool->lock);
    spin(&work->left, work->joined); /* nobody joins any more */
    pthread_mutex_lock(&pool->lock);
    while (atomic_load(&work->left) < work->joined)
        pthread_cond_wait(&pool->done, &pool->lock);
    pthread_mutex_unlock(&pool->lock);
}
