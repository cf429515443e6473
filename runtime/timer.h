/* The time limit of a launch. */
#ifndef PTERA_RUNTIME_TIMER_H
#define PTERA_RUNTIME_TIMER_H

#include <pthread.h>
#include <stdbool.h>
#include <time.h>

#include "backend/exec.h"

/* Sets launch->stop when the time is over. */
struct pt_timer {
    struct pt_launch *launch;
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t change;
    struct timespec deadline;
    bool is_done;
};
bool pt_timer_start(struct pt_timer *timer, struct pt_launch *launch, double seconds);
void pt_timer_stop(struct pt_timer *timer);

#endif
