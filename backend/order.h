/* Which C11 memory order an access or a fence of PTX has (PTX ISA 8, "Memory Consistency Model";
 * 9.7.9 ld, st; 9.7.13 fence, atom, red): stated once, for both engines.
 *
 * The scope does not matter: whatever the scope, the order holds for all threads of the machine and
 * for host threads. Neither does the proxy: there is one path to memory.
 */
#ifndef PTERA_BACKEND_ORDER_H
#define PTERA_BACKEND_ORDER_H

#include "ir/isa.h"

enum pt_order {
    PT_ORDER_PLAIN,   /* may tear, be repeated or moved: a race is the kernel's fault */
    PT_ORDER_RELAXED, /* whole, once, in program order with the others of its lane to that place */
    PT_ORDER_ACQUIRE,
    PT_ORDER_RELEASE,
    PT_ORDER_ACQ_REL,
    PT_ORDER_SEQ_CST
};
/* By strength, but acquire and release, of which neither has the other. */
_Static_assert(PT_ORDER_RELEASE == PT_ORDER_ACQUIRE + 1 && PT_ORDER_ACQ_REL > PT_ORDER_RELEASE &&
                   PT_ORDER_SEQ_CST > PT_ORDER_ACQ_REL,
               "comparisons tell what an order does");

/* X(modifier, order). What is not here says nothing of order: .mmio comes with .relaxed, cache
 * operators are hints. */
#define PT_ORDER_MODIFIERS(X) \
    X(weak, PLAIN)            \
    X(volatile, RELAXED)      \
    X(relaxed, RELAXED)       \
    X(acquire, ACQUIRE)       \
    X(release, RELEASE)       \
    X(acq_rel, ACQ_REL)       \
    X(sc, SEQ_CST)

/* Of a form that accesses memory or is a fence. */
static inline enum pt_order pt_order_of(const struct pt_form *form)
{
#define X(modifier, order)                  \
    if (pt_form_has(form, PT_M_##modifier)) \
        return PT_ORDER_##order;
    PT_ORDER_MODIFIERS(X)
#undef X
    if (form->op == PT_OP_membar && !pt_form_has(form, PT_M_proxy))
        return PT_ORDER_SEQ_CST; /* membar is fence.sc */
    if (form->effects & PT_FX_ATOMIC)
        return PT_ORDER_RELAXED;
    return form->effects & PT_FX_FENCE ? PT_ORDER_ACQ_REL : PT_ORDER_PLAIN;
}

static inline bool pt_order_acquires(enum pt_order order)
{
    return order == PT_ORDER_ACQUIRE || order >= PT_ORDER_ACQ_REL;
}

static inline bool pt_order_releases(enum pt_order order)
{
    return order >= PT_ORDER_RELEASE;
}

/* The threads that an access or a fence of PTX is strong for. */
enum pt_scope {
    PT_SCOPE_NONE, /* a weak access: none */
    PT_SCOPE_CTA,
    PT_SCOPE_CLUSTER,
    PT_SCOPE_GPU,
    PT_SCOPE_SYS
};

static inline enum pt_scope pt_scope_of(const struct pt_form *form)
{
    if (pt_order_of(form) == PT_ORDER_PLAIN)
        return PT_SCOPE_NONE;
    if (pt_form_has(form, PT_M_cta))
        return PT_SCOPE_CTA;
    if (pt_form_has(form, PT_M_cluster))
        return PT_SCOPE_CLUSTER;
    bool is_system = pt_form_has(form, PT_M_sys) || pt_form_has(form, PT_M_volatile);
    return is_system ? PT_SCOPE_SYS : PT_SCOPE_GPU;
}

#endif
