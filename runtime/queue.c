/* Launches that nobody waits for. */
#include "runtime/queue.h"

#include "runtime/cancel.h"
#include "runtime/engine.h"
#include "runtime/job.h"
#include "runtime/launch.h"
#include "runtime/thread.h"

struct pt_queued {
    struct pt_queued *next;
    ptera_engine *engine;
    struct pt_job *job;
    ptera_done *done;
    void *ud;
};

static void run(struct pt_queued *q)
{
    char error[PT_ERROR_BYTES];
    error[0] = 0; /* the rest need not be cleared for each launch */
    q->job->error = (struct pt_own_error){error, sizeof error};
    ptera_result result = pt_launch_run(q->job, NULL);
    if (q->done)
        q->done(q->ud, result, result == PTERA_OK ? "" : error);
    pt_engine_free(q->engine, q);
}

static void *queue_main(void *ud)
{
    struct pt_queue *queue = ud;
    pthread_mutex_lock(&queue->lock);
    for (;;) {
        struct pt_queued *q = queue->first;
        if (!q && queue->closing)
            break;
        if (!q) {
            pthread_cond_wait(&queue->change, &queue->lock);
            continue;
        }
        queue->first = q->next;
        if (!queue->first)
            queue->end = &queue->first;
        queue->is_busy = true;
        pthread_mutex_unlock(&queue->lock);
        run(q);
        pthread_mutex_lock(&queue->lock);
        queue->is_busy = false;
        pthread_cond_broadcast(&queue->change);
    }
    pthread_mutex_unlock(&queue->lock);
    return NULL;
}

static bool enqueue(struct pt_queue *queue, struct pt_queued *q)
{
    pthread_mutex_lock(&queue->lock);
    queue->is_started = queue->is_started || pt_thread_start(&queue->thread, 0, queue_main, queue);
    bool is_started = queue->is_started;
    if (is_started) {
        *queue->end = q;
        queue->end = &q->next;
        pthread_cond_broadcast(&queue->change);
    }
    pthread_mutex_unlock(&queue->lock);
    return is_started;
}

void pt_queue_init(struct pt_queue *queue)
{
    pthread_mutex_init(&queue->lock, NULL);
    pthread_cond_init(&queue->change, NULL);
    queue->end = &queue->first;
}

void pt_queue_close(struct pt_queue *queue)
{
    pthread_mutex_lock(&queue->lock);
    queue->closing = true;
    pthread_cond_broadcast(&queue->change);
    pthread_mutex_unlock(&queue->lock);
    if (queue->is_started)
        pthread_join(queue->thread, NULL);
    pthread_cond_destroy(&queue->change);
    pthread_mutex_destroy(&queue->lock);
}

ptera_result ptera_kernel_launch_async(ptera_kernel *kernel, const ptera_launch *given,
                                       ptera_done *done, void *ud)
{
    struct pt_job *job;
    ptera_result result = pt_launch_take(kernel, given, &job);
    if (result != PTERA_OK)
        return result;
    ptera_engine *engine = kernel->module->engine;
    struct pt_queued *q = pt_engine_alloc(engine, sizeof *q);
    if (q)
        *q = (struct pt_queued){NULL, engine, job, done, ud};
    if (q && enqueue(&engine->queue, q))
        return PTERA_OK;
    pt_launch_drop(job);
    pt_engine_free(engine, q);
    return PTERA_ERROR_OUT_OF_MEMORY;
}

ptera_result ptera_engine_wait(ptera_engine *engine)
{
    if (!engine)
        return PTERA_ERROR_INVALID_ARGUMENT;
    if (pt_engine_is_inherited(engine))
        return PTERA_ERROR_NOT_INITIALIZED;
    struct pt_queue *queue = &engine->queue;
    pthread_mutex_lock(&queue->lock);
    while (queue->first || queue->is_busy)
        pthread_cond_wait(&queue->change, &queue->lock);
    pthread_mutex_unlock(&queue->lock);
    return PTERA_OK;
}

/* Those that wait are cancelled when they begin. */
ptera_result ptera_engine_cancel(ptera_engine *engine)
{
    if (!engine)
        return PTERA_ERROR_INVALID_ARGUMENT;
    if (pt_engine_is_inherited(engine))
        return PTERA_ERROR_NOT_INITIALIZED;
    struct pt_queue *queue = &engine->queue;
    pthread_mutex_lock(&queue->lock);
    for (struct pt_queued *q = queue->first; q; q = q->next)
        pt_cancel_job(q->job);
    pthread_mutex_unlock(&queue->lock);
    pt_cancel_running(engine);
    return PTERA_OK;
}
