/* Fences, and the order of accesses. PTX ISA 9.7.13.4. */
#include "backend/interp/fence.h"

#include "backend/environment.h"
#include "backend/interp/operands.h"

/* What does not wait: a loop around it does. The thread sanitizer knows no fences; it does not see
 * the accesses either that these order. */
#define FENCE(name, order)                                  \
    __attribute__((no_sanitize("thread"))) PT_HANDLER(name) \
    {                                                       \
        (void)f;                                            \
        __atomic_thread_fence(order);                       \
        return c + 1;                                       \
    }
FENCE(fence_acquire, __ATOMIC_ACQUIRE)
FENCE(fence_release, __ATOMIC_RELEASE)
FENCE(fence_acq_rel, __ATOMIC_ACQ_REL)
FENCE(fence_seq_cst, __ATOMIC_SEQ_CST)

pt_handler pt_fence_handler(enum pt_order order)
{
    static const pt_handler fences[] = {
        [PT_ORDER_ACQUIRE] = fence_acquire,
        [PT_ORDER_RELEASE] = fence_release,
        [PT_ORDER_ACQ_REL] = fence_acq_rel,
        [PT_ORDER_SEQ_CST] = fence_seq_cst,
    };
    _Static_assert(PT_ORDER_PLAIN < PT_ORDER_RELAXED && PT_ORDER_RELAXED < PT_ORDER_ACQUIRE,
                   "neither has a fence");
    return fences[order];
}

bool pt_fence_order(struct pt_select *s)
{
    enum pt_order order = pt_order_of(s->form);
    if (pt_order_releases(order))
        pt_operands_before(s, fence_release);
    if (pt_order_acquires(order))
        pt_operands_behind(s, fence_acquire);
    return order != PT_ORDER_PLAIN;
}

pt_handler PT_DO(membar)(struct pt_select *s)
{
    return pt_fence_handler(pt_order_of(s->form));
}

pt_handler PT_DO(fence)(struct pt_select *s)
{
    return pt_fence_handler(pt_order_of(s->form));
}

pt_handler PT_DO(fence_tensormap)(struct pt_select *s)
{
    return pt_fence_handler(pt_order_of(s->form));
}

PT_HANDLER(launch_dependents)
{
    pt_environment_of(f->cta->launch)->launch_dependents(f->state->warp->cta);
    return c + 1;
}

PT_HANDLER(wait_for_grids)
{
    pt_environment_of(f->cta->launch)->wait(f->state->warp->cta);
    return c + 1;
}

/* Both take a lock: what those grids did is seen behind the wait. */
pt_handler PT_DO(griddepcontrol)(struct pt_select *s)
{
    pt_operands_behind(s, PT_HAS(s, wait) ? wait_for_grids : launch_dependents);
    return pt_fence_handler(pt_order_of(s->form));
}
