/* Worker threads. */
#define _GNU_SOURCE
#include "runtime/pool.h"

#include <limits.h>
#include <linux/futex.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "runtime/thread.h"

/* A thread that waits spins so long: launches often follow one another, and workers end together;
 * to wake a thread takes 50 microseconds on a virtual machine. */
enum { SPIN_NS = 100000, SPINS = 16 /* between two looks at the clock */ };

static void relax(void)
{
#if defined __x86_64__
    __builtin_ia32_pause();
#elif defined __aarch64__
    __asm__ volatile("yield");
#endif
}

static uint64_t now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

/* Spins while `count` is `value`. */
static void spin(const atomic_uint *count, unsigned value)
{
    uint64_t end = now() + SPIN_NS;
    do {
        for (unsigned i = 0; i < SPINS; i++) {
            if (atomic_load_explicit(count, memory_order_acquire) != value)
                return;
            relax();
        }
    } while (now() < end);
}

/* Sleeps while `count` is `value`, or not even that. */
static void sleep_while(atomic_uint *count, unsigned value)
{
    syscall(SYS_futex, count, FUTEX_WAIT_PRIVATE, value, NULL, NULL, 0);
}

static void wake(atomic_uint *count, int n)
{
    syscall(SYS_futex, count, FUTEX_WAKE_PRIVATE, n, NULL, NULL, 0);
}

void pt_pool_init(struct pt_pool *pool, const struct pt_allocator *allocator, unsigned threads)
{
    memset(pool, 0, sizeof *pool);
    pool->allocator = allocator;
    pool->limit = threads - 1;
    pthread_mutex_init(&pool->lock, NULL);
}

void pt_pool_close(struct pt_pool *pool)
{
    atomic_store(&pool->is_closing, true);
    atomic_fetch_add(&pool->calls, 1);
    wake(&pool->calls, INT_MAX);
    for (unsigned i = 0; i < pool->n_threads; i++)
        pthread_join(pool->threads[i], NULL);
    if (pool->threads)
        pool->allocator->resize(pool->allocator->ud, pool->threads, 0);
    pthread_mutex_destroy(&pool->lock);
}

/* ---- a thread -------------------------------------------------------------------------------- */

/* Work that had room for one more. */
static struct pt_work *join(struct pt_pool *pool)
{
    for (unsigned i = 0; i < PT_POOL_POSTS; i++) {
        struct pt_post *post = &pool->posts[i];
        uint64_t room = atomic_load(&post->room);
        while ((uint32_t)room)
            if (atomic_compare_exchange_weak(&post->room, &room, room - 1))
                return post->work;
    }
    return NULL;
}

static bool take_number(struct pt_work *work, unsigned number)
{
    return !(atomic_fetch_or(&work->numbers, 1ull << number) >> number & 1);
}

/* Which worker a thread that joined is: the one that it likes to be, if it can. */
static unsigned number_of(struct pt_work *work, unsigned liked)
{
    unsigned n = work->workers < PT_POOL_NUMBERED ? work->workers : PT_POOL_NUMBERED;
    if (liked < n && take_number(work, liked))
        return liked;
    for (unsigned i = 1; i < n; i++)
        if (!(atomic_load_explicit(&work->numbers, memory_order_relaxed) >> i & 1) &&
            take_number(work, i))
            return i;
    return PT_POOL_NUMBERED + atomic_fetch_add(&work->others, 1);
}

/* The work may be gone when it has been left. */
static void leave(struct pt_pool *pool, struct pt_work *work)
{
    atomic_fetch_add(&work->left, 1);
    if (!atomic_load(&pool->callers))
        return;
    atomic_fetch_add(&pool->ends, 1);
    wake(&pool->ends, INT_MAX);
}

/* Until there may be something to do that there was not when pool->calls was `calls`. */
static void wait_for_work(struct pt_pool *pool, unsigned calls)
{
    atomic_fetch_add(&pool->spinning, 1);
    spin(&pool->calls, calls);
    atomic_fetch_add(&pool->sleeping, 1);
    atomic_fetch_sub(&pool->spinning, 1);
    if (atomic_load(&pool->calls) == calls)
        sleep_while(&pool->calls, calls);
    atomic_fetch_sub(&pool->sleeping, 1);
}

static void *thread_main(void *ud)
{
    struct pt_pool *pool = ud;
    pthread_mutex_lock(&pool->lock);
    unsigned number = 1;
    while (number < pool->n_threads && !pthread_equal(pool->threads[number - 1], pthread_self()))
        number++;
    pthread_mutex_unlock(&pool->lock);
    for (;;) {
        unsigned calls = atomic_load(&pool->calls);
        if (atomic_load(&pool->is_closing))
            return NULL;
        struct pt_work *work = join(pool);
        if (!work) {
            wait_for_work(pool, calls);
            continue;
        }
        work->run(work->ud, number_of(work, number));
        leave(pool, work);
    }
}

/* ---- a caller -------------------------------------------------------------------------------- */

/* As many threads as `want`, besides those that work for others. */
static void start_threads(struct pt_pool *pool, unsigned want)
{
    const struct pt_allocator *a = pool->allocator;
    if (atomic_load(&pool->n_threads) == pool->limit)
        return;
    pthread_mutex_lock(&pool->lock);
    if (!pool->threads)
        pool->threads = a->resize(a->ud, NULL, pool->limit * sizeof *pool->threads);
    unsigned have = atomic_load(&pool->spinning) + atomic_load(&pool->sleeping);
    for (; pool->threads && have < want && pool->n_threads < pool->limit; have++) {
        if (!pt_thread_start(&pool->threads[pool->n_threads], 0, thread_main, pool))
            break;
        atomic_fetch_add(&pool->n_threads, 1);
    }
    pthread_mutex_unlock(&pool->lock);
}

/* Posts the work and calls threads. NULL: there is no place for it. */
static struct pt_post *post(struct pt_pool *pool, struct pt_work *work)
{
    struct pt_post *p = pool->posts, *end = p + PT_POOL_POSTS;
    while (p < end && atomic_exchange(&p->is_used, true))
        p++;
    if (p == end)
        return NULL;
    p->work = work;
    uint64_t works = (atomic_load(&p->room) >> 32) + 1;
    atomic_store(&p->room, works << 32 | (work->workers - 1));
    atomic_fetch_add(&pool->calls, 1);
    unsigned want = work->workers - 1, spinning = atomic_load(&pool->spinning);
    if (want > spinning && atomic_load(&pool->sleeping))
        wake(&pool->calls, (int)(want - spinning));
    start_threads(pool, want);
    return p;
}

/* No more threads join. Returns how many have. */
static unsigned close_post(struct pt_post *p, const struct pt_work *work)
{
    uint64_t room = atomic_load(&p->room);
    while (!atomic_compare_exchange_weak(&p->room, &room, room >> 32 << 32))
        continue;
    return work->workers - 1 - (uint32_t)room;
}

/* Until all that joined have left. */
static void wait_for_others(struct pt_pool *pool, struct pt_work *work, unsigned joined)
{
    uint64_t end = now() + SPIN_NS;
    while (atomic_load(&work->left) != joined && now() < end)
        for (unsigned i = 0; i < SPINS && atomic_load(&work->left) != joined; i++)
            relax();
    if (atomic_load(&work->left) == joined)
        return;
    atomic_fetch_add(&pool->callers, 1);
    for (;;) {
        unsigned ends = atomic_load(&pool->ends);
        if (atomic_load(&work->left) == joined)
            break;
        sleep_while(&pool->ends, ends);
    }
    atomic_fetch_sub(&pool->callers, 1);
}

void pt_pool_run(struct pt_pool *pool, struct pt_work *work)
{
    atomic_init(&work->numbers, 1);
    atomic_init(&work->others, 0);
    atomic_init(&work->left, 0);
    struct pt_post *p = work->workers > 1 && pool->limit ? post(pool, work) : NULL;
    work->run(work->ud, 0);
    if (!p)
        return;
    wait_for_others(pool, work, close_post(p, work));
    atomic_store(&p->is_used, false);
}
