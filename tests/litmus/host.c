/* A thread of a litmus shape on the host: at system scope PTX promises the same order to host
 * threads, in C11's words. */
#include <sched.h>

#include "tests/litmus/litmus.h"

/* The thread sanitizer knows no fences. */
__attribute__((no_sanitize("thread"))) static void fence(enum order order)
{
    switch (order) {
    case ORDER_ACQUIRE:
        __atomic_thread_fence(__ATOMIC_ACQUIRE);
        break;
    case ORDER_RELEASE:
        __atomic_thread_fence(__ATOMIC_RELEASE);
        break;
    case ORDER_ACQ_REL:
        __atomic_thread_fence(__ATOMIC_ACQ_REL);
        break;
    case ORDER_SC:
        __atomic_thread_fence(__ATOMIC_SEQ_CST);
        break;
    default:
        break;
    }
}

static uint32_t run_step(const struct step *s, enum order order, uint32_t *p)
{
    switch (s->kind) {
    case STEP_FENCE:
        fence(order);
        return 0;
    case STEP_READ:
        return order == ORDER_ACQUIRE ? __atomic_load_n(p, __ATOMIC_ACQUIRE)
                                      : __atomic_load_n(p, __ATOMIC_RELAXED);
    case STEP_WRITE:
        if (order == ORDER_RELEASE)
            __atomic_store_n(p, s->value, __ATOMIC_RELEASE);
        else
            __atomic_store_n(p, s->value, __ATOMIC_RELAXED);
        return 0;
    default:
        return order == ORDER_RELAXED ? __atomic_fetch_add(p, s->value, __ATOMIC_RELAXED)
                                      : __atomic_fetch_add(p, s->value, __ATOMIC_ACQ_REL);
    }
}

static void meet(const struct host *h, uint32_t goal)
{
    unsigned patience = goal == h->shape->n_threads ? PATIENCE * FIRST_PATIENCE : PATIENCE;
    __atomic_fetch_add(h->pace, 1, __ATOMIC_RELAXED);
    for (unsigned looks = 0; looks < 16 * patience; looks++)
        if (__atomic_load_n(h->pace, __ATOMIC_RELAXED) >= goal)
            return;
}

void litmus_host(const struct host *h)
{
    const struct program *program = &h->shape->thread[h->thread];
    uint32_t goal = 0;
    /* The kernel takes a while to start. */
    while (!__atomic_load_n(h->pace, __ATOMIC_RELAXED) &&
           !__atomic_load_n(h->is_over, __ATOMIC_RELAXED))
        sched_yield();
    for (uint32_t i = 0; i < h->rounds; i++) {
        if (i % PACE == 0)
            meet(h, goal += h->shape->n_threads);
        for (unsigned k = 0; k < program->n; k++) {
            const struct step *s = &program->step[k];
            uint32_t *p =
                (uint32_t *)(void *)(h->mem + (uint64_t)i * ROUND_BYTES + s->place * LINE);
            uint32_t result = run_step(s, order_of(h->variant, s), p);
            if (s->kind == STEP_READ || s->kind == STEP_ADD)
                h->out[s->reg * h->rounds + i] = result;
        }
    }
}
