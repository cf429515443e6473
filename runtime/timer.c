/* The time limit of a launch: a thread that sleeps until then, because an endless loop never
 * comes back by itself. */
#define _GNU_SOURCE
#include "runtime/timer.h"

#include <errno.h>

#include "runtime/deadline.h"
#include "runtime/thread.h"

static void *timer_main(void *ud)
{
    struct pt_timer *timer = ud;
    int error = 0;
    pthread_mutex_lock(&timer->lock);
    while (!timer->is_done && error != ETIMEDOUT)
        error = pthread_cond_timedwait(&timer->change, &timer->lock, &timer->deadline);
    if (!timer->is_done) {
        int none = 0;
        atomic_compare_exchange_strong(&timer->launch->stop, &none, PT_FAULT_TIMEOUT);
    }
    pthread_mutex_unlock(&timer->lock);
    return NULL;
}

bool pt_timer_start(struct pt_timer *timer, struct pt_launch *launch, double seconds)
{
    pthread_condattr_t attributes;
    timer->launch = launch;
    timer->is_done = false;
    timer->deadline = pt_deadline_in(seconds);
    pthread_mutex_init(&timer->lock, NULL);
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&timer->change, &attributes);
    pthread_condattr_destroy(&attributes);
    return pt_thread_start(&timer->thread, 0, timer_main, timer);
}

void pt_timer_stop(struct pt_timer *timer)
{
    pthread_mutex_lock(&timer->lock);
    timer->is_done = true;
    pthread_cond_signal(&timer->change);
    pthread_mutex_unlock(&timer->lock);
    pthread_join(timer->thread, NULL);
    pthread_cond_destroy(&timer->change);
    pthread_mutex_destroy(&timer->lock);
}
