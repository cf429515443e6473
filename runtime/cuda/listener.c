/* Who is told of calls, of what comes of them, and of what is made and destroyed. */
#include "runtime/cuda/listener.h"

#include "runtime/cuda/lock.h"
#include "runtime/cuda/thread.h"

static _Atomic(const struct pt_cu_listener *) listener;

const struct pt_cu_listener *pt_cu_listener_get(void)
{
    return atomic_load_explicit(&listener, memory_order_acquire);
}

/* Once there was one calls go on being counted: one that is under way would be left that was never
 * entered. */
void pt_cu_listener_set(const struct pt_cu_listener *l)
{
    atomic_store_explicit(&listener, l, memory_order_release);
    if (l)
        atomic_fetch_or(&pt_cu_driver.watchers, PT_CU_LISTENER);
}

/* ---- calls ----------------------------------------------------------------------------------- */

void pt_cu_listener_give(const void *parameters)
{
    struct pt_cu_thread *self = pt_cu_thread_get();
    if (self)
        self->given = parameters;
}

void pt_cu_listener_enter(enum pt_cu_api api, const char *name)
{
    const struct pt_cu_listener *l = pt_cu_listener_get();
    struct pt_cu_thread *self = pt_cu_thread_get();
    if (!self || self->n_calls++ >= PT_CU_CALLS_MOST)
        return;
    struct pt_cu_call *call = &self->calls[self->n_calls - 1];
    *call = (struct pt_cu_call){.api = api,
                                .name = name,
                                .parameters = self->given,
                                .outer = self->n_calls > 1 ? call - 1 : NULL,
                                .is_told = l != NULL};
    self->given = NULL;
    if (l)
        l->enter(call);
}

void pt_cu_listener_leave(int result)
{
    struct pt_cu_thread *self = pt_cu_thread_get();
    if (!self || !self->n_calls) /* begun before there was a listener */
        return;
    const struct pt_cu_listener *l = pt_cu_listener_get();
    if (self->n_calls <= PT_CU_CALLS_MOST) {
        struct pt_cu_call *call = &self->calls[self->n_calls - 1];
        call->result = result;
        if (l && call->is_told)
            l->leave(call);
    }
    self->n_calls--;
}

uint32_t pt_cu_listener_call(void)
{
    const struct pt_cu_thread *self = pt_cu_thread_get();
    return self && self->n_calls ? self->calls[0].correlation : 0;
}

/* ---- resources ------------------------------------------------------------------------------- */

void pt_cu_listener_tell_resource(const struct pt_cu_resource *resource)
{
    const struct pt_cu_listener *l = pt_cu_listener_get();
    if (!l)
        return;
    pt_cu_lock_lend();
    l->resource(resource);
    pt_cu_lock_take_back();
}
