/* st.async and red.async: elements that lanes send to shared memory of the cluster, counted there
 * by an mbarrier. PTX ISA 9.7.9.12, 9.7.13.8. */
#include "backend/interp/async_store.h"
#include "backend/interp/address.h"
#include "backend/interp/async.h"
#include "backend/interp/elements.h"
#include "backend/interp/observe.h"
#include "backend/interp/mbarrier.h"
#include "backend/interp/operands.h"

struct sent {
    uint32_t to, mbarrier; /* slots */
    struct pt_elements data;
    pt_join join; /* NULL: a store */
};

PT_HANDLER(send)
{
    const struct sent *e = c->ptr;
    const uint64_t *to = (const uint64_t *)((const char *)f + e->to);
    const uint64_t *mbarrier = (const uint64_t *)((const char *)f + e->mbarrier);
    uint32_t bytes = e->data.n * e->data.bytes;
    f->state->code = c;
    for (uint32_t left = f->mask; left; left &= left - 1) {
        uint32_t i = (uint32_t)__builtin_ctz(left);
        uint8_t data[PT_ELEMENTS_BYTES] __attribute__((aligned(16)));
        struct pt_async_op op = {.kind = PT_ASYNC_COUNTED,
                                 .lane = i,
                                 .run = e->join ? pt_async_join : pt_async_copy,
                                 .complete = pt_mbarrier_count_bytes,
                                 .join = e->join,
                                 .to = to[i],
                                 .bytes = bytes,
                                 .read = bytes,
                                 .mbarrier = mbarrier[i],
                                 .staged = data};
        if (op.to & (bytes - 1)) {
            pt_fail_at(c, f, PT_FAULT_MISALIGNED, 1u << i, op.to, NULL);
            return NULL;
        }
        pt_elements_gather(&e->data, f, i, data);
        if (!pt_observe_async(c, f, i, op.to, bytes, PT_SPACE_SHARED, pt_observe_use(&op)) ||
            !pt_observe_counting(c, f, i, op.mbarrier) || !pt_async_issue(c, f, &op))
            return NULL;
    }
    return c + 1;
}

/* [a],b or {b...},[c] */
static pt_handler select_send(struct pt_select *s, pt_join join)
{
    struct sent *e = pt_operands_array(s, sizeof *e);
    const struct pt_operand *o = s->operands;
    e->join = join;
    e->to = pt_address_generic(s, &o[0], PT_SPACE_SHARED);
    e->mbarrier = pt_address_generic(s, &o[2], PT_SPACE_SHARED);
    if (e->to == UINT32_MAX || e->mbarrier == UINT32_MAX ||
        !pt_elements_bind(s, &o[1], false, &e->data))
        return NULL;
    s->code->ptr = e;
    return send;
}

pt_handler PT_DO(st_async)(struct pt_select *s)
{
    return select_send(s, NULL);
}

pt_handler pt_async_store_reduce(struct pt_select *s)
{
    enum pt_reduce op = pt_reduce_of(s->form);
    enum pt_type type = (enum pt_type)s->form->type[0];
    return select_send(s, pt_reduce_join(op, pt_reduce_element(type == PT_s64 ? PT_u64 : type)));
}
