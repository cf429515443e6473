/* The one lock of the driver. */
#include "runtime/cuda/lock.h"

#include <stdatomic.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static atomic_uint n_lent; /* by all threads */
static _Thread_local unsigned lent;

static bool is_lent(void)
{
    return atomic_load_explicit(&n_lent, memory_order_relaxed) && lent;
}

void pt_cu_lock_lend(void)
{
    atomic_fetch_add(&n_lent, 1);
    lent++;
}

void pt_cu_lock_take_back(void)
{
    lent--;
    atomic_fetch_sub(&n_lent, 1);
}

void pt_cu_lock_take(void)
{
    if (!is_lent())
        pthread_mutex_lock(&lock);
}

void pt_cu_lock_release(void)
{
    if (!is_lent())
        pthread_mutex_unlock(&lock);
}

bool pt_cu_lock_try(void)
{
    return is_lent() || pthread_mutex_trylock(&lock) == 0;
}

void pt_cu_lock_wait(pthread_cond_t *change)
{
    pthread_cond_wait(change, &lock);
}

/* Threads do not come along with a fork, and the lock may be held by one of those that are gone. */
void pt_cu_lock_renew(void)
{
    pthread_mutex_init(&lock, NULL);
}
