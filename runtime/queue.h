/* Launches that nobody waits for: a thread of the engine runs them, in order. */
#ifndef PTERA_RUNTIME_QUEUE_H
#define PTERA_RUNTIME_QUEUE_H

#include <pthread.h>
#include <stdbool.h>

struct ptera_engine;
struct pt_queued;

struct pt_queue {
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t change;
    struct pt_queued *first, **end;
    bool is_started, is_busy, closing;
};

void pt_queue_init(struct pt_queue *queue);
/* Runs what is left and ends the thread. */
void pt_queue_close(struct pt_queue *queue);

#endif
