/* Launches under way, which ptera_engine_cancel ends. */
#include "runtime/cancel.h"

#include "runtime/job.h"

void pt_cancel_begin(struct pt_job *job)
{
    ptera_engine *engine = job->engine;
    pthread_mutex_lock(&engine->running_lock);
    job->link = &engine->running;
    job->next = engine->running;
    if (job->next)
        job->next->link = &job->next;
    engine->running = job;
    pthread_mutex_unlock(&engine->running_lock);
}

void pt_cancel_end(struct pt_job *job)
{
    pthread_mutex_lock(&job->engine->running_lock);
    *job->link = job->next;
    if (job->next)
        job->next->link = job->link;
    pthread_mutex_unlock(&job->engine->running_lock);
}

void pt_cancel_job(struct pt_job *job)
{
    int none = PT_FAULT_NONE;
    atomic_compare_exchange_strong(&job->launch.stop, &none, PT_FAULT_CANCELLED);
}

void pt_cancel_running(ptera_engine *engine)
{
    pthread_mutex_lock(&engine->running_lock);
    for (struct pt_job *job = engine->running; job; job = job->next)
        pt_cancel_job(job);
    pthread_mutex_unlock(&engine->running_lock);
}
