/* The one lock of the driver. */
#include "runtime/cuda/lock.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

void pt_cu_lock_take(void)
{
    pthread_mutex_lock(&lock);
}

void pt_cu_lock_release(void)
{
    pthread_mutex_unlock(&lock);
}

bool pt_cu_lock_try(void)
{
    return pthread_mutex_trylock(&lock) == 0;
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
