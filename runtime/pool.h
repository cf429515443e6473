/* Worker threads: a launch runs on its caller's thread and on as many threads of the pool as it
 * has use for. */
#ifndef PTERA_RUNTIME_POOL_H
#define PTERA_RUNTIME_POOL_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "ir/arena.h"

/* Work for several workers. run(ud, w) is called once for each worker w; 0 is the caller. */
struct pt_work {
    void (*run)(void *ud, unsigned worker);
    void *ud;
    unsigned workers; /* at most */
    /* the pool's: */
    unsigned joined;
    atomic_uint left;
    struct pt_work *next;
};

struct pt_pool {
    const struct pt_allocator *allocator;
    pthread_mutex_t lock;
    pthread_cond_t wanted, done;
    pthread_t *threads;
    unsigned limit, n_threads; /* threads besides callers */
    unsigned idle;
    struct pt_work *queue;
    atomic_uint calls; /* grows when there is something to do for threads */
    bool closing;
};

void pt_pool_init(struct pt_pool *pool, const struct pt_allocator *allocator, unsigned threads);
/* Ends the threads. No work may be under way. */
void pt_pool_close(struct pt_pool *pool);
/* Runs the work and returns when every worker that took part is through. If threads are busy or
 * cannot be made, fewer take part; the caller always does. */
void pt_pool_run(struct pt_pool *pool, struct pt_work *work);

#endif
