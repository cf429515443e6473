/* Worker threads: a launch runs on its caller's thread and on as many threads of the pool as it
 * has use for.
 *
 * Launches follow one another within microseconds, and all threads join and leave at once: neither
 * takes a lock. Work is posted in one of a few places; a thread joins by counting down what the
 * place has room for, and leaves by counting up. Who finds nothing to do spins for a while before
 * it sleeps. */
#ifndef PTERA_RUNTIME_POOL_H
#define PTERA_RUNTIME_POOL_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "ir/arena.h"

enum {
    PT_POOL_POSTS = 8,    /* works at once that threads may join */
    PT_POOL_NUMBERED = 64 /* workers that have numbers of their own */
};

/* Work for several workers. run(ud, w) is called once for each worker w; 0 is the caller. A thread
 * is the same worker each time, where no other was first: what it touched is in its cache. */
struct pt_work {
    void (*run)(void *ud, unsigned worker);
    void *ud;
    unsigned workers; /* at most */
    /* the pool's: */
    _Atomic uint64_t numbers; /* a bit for each worker below PT_POOL_NUMBERED that is taken */
    atomic_uint others;       /* workers above that are taken */
    atomic_uint left;
};

/* A cache line each. */
struct pt_post {
    _Atomic uint64_t room; /* for so many threads; the upper half counts works */
    struct pt_work *work;
    atomic_bool is_used;
    char apart[44];
};

struct pt_pool {
    const struct pt_allocator *allocator;
    pthread_mutex_t lock; /* of threads */
    pthread_t *threads;
    unsigned limit; /* threads besides callers */
    atomic_uint n_threads;
    atomic_bool is_closing;
    char apart[64];
    atomic_uint calls; /* grows when there is something to do for threads: these wait for it */
    atomic_uint spinning, sleeping; /* threads that do */
    atomic_uint ends; /* grows when a worker leaves while a caller sleeps */
    atomic_uint callers; /* that sleep */
    struct pt_post posts[PT_POOL_POSTS];
};

void pt_pool_init(struct pt_pool *pool, const struct pt_allocator *allocator, unsigned threads);
/* Ends the threads. No work may be under way. */
void pt_pool_close(struct pt_pool *pool);
/* Runs the work and returns when every worker that took part is through. If threads are busy or
 * cannot be made, fewer take part; the caller always does. */
void pt_pool_run(struct pt_pool *pool, struct pt_work *work);

#endif
