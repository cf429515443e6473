/* What the driver has of each thread of the program. */
#include "runtime/cuda/thread.h"

#include <pthread.h>
#include <stdlib.h>

#include "runtime/cuda/handle.h"

static pthread_once_t key_once = PTHREAD_ONCE_INIT;
static pthread_key_t key;
static __thread struct pt_cu_thread *mine;
static void (*at_end)(struct pt_cu_thread *thread);

void pt_cu_thread_at_end(void (*end)(struct pt_cu_thread *thread))
{
    at_end = end;
}

static void thread_end(void *ud)
{
    struct pt_cu_thread *thread = ud;
    if (at_end)
        at_end(thread);
    free(thread->stack);
    free(thread);
}

static void make_key(void)
{
    pthread_key_create(&key, thread_end);
}

struct pt_cu_thread *pt_cu_thread_get(void)
{
    if (mine)
        return mine;
    pthread_once(&key_once, make_key);
    mine = calloc(1, sizeof *mine);
    if (mine) {
        mine->id = pt_cu_handle_new_id();
        pthread_setspecific(key, mine);
    }
    return mine;
}
