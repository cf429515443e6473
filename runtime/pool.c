/* Worker threads. */
#include "runtime/pool.h"

#include <string.h>

#include "runtime/thread.h"

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

static void *thread_main(void *ud)
{
    struct pt_pool *pool = ud;
    pthread_mutex_lock(&pool->lock);
    while (!pool->closing) {
        struct pt_work *work = take(pool);
        if (!work) {
            pool->idle++;
            pthread_cond_wait(&pool->wanted, &pool->lock);
            pool->idle--;
            continue;
        }
        unsigned worker = work->joined - 1;
        pthread_mutex_unlock(&pool->lock);
        work->run(work->ud, worker);
        pthread_mutex_lock(&pool->lock);
        work->left++;
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
    work->left = 1;
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
    while (work->left < work->joined)
        pthread_cond_wait(&pool->done, &pool->lock);
    pthread_mutex_unlock(&pool->lock);
}
