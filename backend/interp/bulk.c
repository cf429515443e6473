/* cp.async.bulk and cp.reduce.async.bulk: copies of one thread. PTX ISA 9.7.9.25.4. */
#include "backend/interp/bulk.h"
#include "backend/interp/address.h"
#include "backend/interp/observe.h"
#include "backend/interp/mbarrier.h"
#include "backend/interp/operands.h"

/* Slots of a copy's operands; UINT32_MAX: it has none of that kind. */
struct bulk {
    uint32_t to, from, bytes, mbarrier;
    uint32_t ctas; /* of a multicast */
    enum pt_space from_space;
    pt_join join; /* NULL: a copy */
    bool is_load; /* writes shared memory, counted by an mbarrier; else a member of a bulk group */
};

static const char not_sixteens[] = "a bulk copy is of multiples of 16 bytes";

/* The same address in CTA `rank` of the cluster. */
static uint64_t in_cta(const struct pt_frame *f, uint64_t address, uint32_t rank)
{
    uint64_t base = (uint64_t)(uintptr_t)f->shared;
    uint64_t offset = (address - base) & ((1u << PT_SHARED_RANK_SHIFT) - 1);
    return base + ((uint64_t)rank << PT_SHARED_RANK_SHIFT) + offset;
}

bool pt_bulk_observe_load(const struct pt_code *c, struct pt_frame *f, const struct pt_async_op *op)
{
    uint32_t bytes = op->tile ? op->span : op->bytes;
    return pt_observe_async(c, f, op->lane, op->to, bytes, PT_SPACE_SHARED, pt_observe_use(op)) &&
           pt_observe_counting(c, f, op->lane, op->mbarrier);
}

bool pt_bulk_multicast(const struct pt_code *c, struct pt_frame *f, const struct pt_async_op *op,
                       uint32_t ctas)
{
    for (uint32_t left = ctas; left; left &= left - 1) {
        struct pt_async_op one = *op;
        one.to = in_cta(f, op->to, (uint32_t)__builtin_ctz(left));
        one.mbarrier = in_cta(f, op->mbarrier, (uint32_t)__builtin_ctz(left));
        if (!pt_bulk_observe_load(c, f, &one) || !pt_async_issue(c, f, &one))
            return false;
    }
    return true;
}

/* False after pt_fail. */
static bool may_move(const struct pt_code *c, struct pt_frame *f, const struct pt_async_op *op)
{
    const struct bulk *b = c->ptr;
    uint64_t misaligned = op->to & 15 ? op->to : op->from & 15 ? op->from : 0;
    if (misaligned)
        return pt_fail_at(c, f, PT_FAULT_MISALIGNED, 1u << op->lane, misaligned, NULL);
    if (op->bytes & 15)
        return pt_fail(c, f, PT_FAULT_ILLEGAL_INSTRUCTION, 1u << op->lane, not_sixteens);
    if (!pt_observe_async(c, f, op->lane, op->from, op->bytes, b->from_space, PT_USE_READ))
        return false;
    if (!b->is_load)
        return pt_observe_async(c, f, op->lane, op->to, op->bytes, PT_SPACE_GLOBAL,
                                pt_observe_use(op));
    return b->ctas != UINT32_MAX || pt_bulk_observe_load(c, f, op);
}

PT_HANDLER(move)
{
    const struct bulk *b = c->ptr;
    f->state->code = c;
    for (uint32_t left = f->mask; left; left &= left - 1) {
        uint32_t i = (uint32_t)__builtin_ctz(left);
        struct pt_async_op op = {.kind = b->is_load ? PT_ASYNC_COUNTED : PT_ASYNC_BULK,
                                 .lane = i,
                                 .run = b->join ? pt_async_join : pt_async_copy,
                                 .complete = b->is_load ? pt_mbarrier_count_bytes : NULL,
                                 .join = b->join};
        op.to = ((const uint64_t *)((const char *)f + b->to))[i];
        op.from = ((const uint64_t *)((const char *)f + b->from))[i];
        op.bytes = op.read = ((const uint32_t *)((const char *)f + b->bytes))[i];
        if (b->is_load)
            op.mbarrier = ((const uint64_t *)((const char *)f + b->mbarrier))[i];
        if (!may_move(c, f, &op))
            return NULL;
        if (b->ctas != UINT32_MAX) {
            uint32_t ctas = ((const uint32_t *)((const char *)f + b->ctas))[i];
            if (!pt_bulk_multicast(c, f, &op, ctas & 0xffff))
                return NULL;
        } else if (!pt_async_issue(c, f, &op)) {
            return NULL;
        }
    }
    return c + 1;
}

/* [t],[a],b{,[c]}{,g}{,h} */
static pt_handler select_move(struct pt_select *s, enum pt_space to, enum pt_space from,
                              bool is_load, pt_join join)
{
    struct bulk *b = pt_operands_array(s, sizeof *b);
    const struct pt_operand *o = s->operands;
    b->from_space = from;
    b->is_load = is_load;
    b->join = join;
    b->to = pt_address_generic(s, &o[0], to);
    b->from = pt_address_generic(s, &o[1], from);
    b->bytes = pt_operands_source(s, &o[2], 4);
    b->mbarrier = is_load ? pt_address_generic(s, &o[3], PT_SPACE_SHARED) : 0;
    b->ctas = pt_bulk_is_multicast(s) ? pt_operands_source(s, &o[4], 4) : UINT32_MAX;
    s->code->ptr = b;
    bool is_bound = b->to != UINT32_MAX && b->from != UINT32_MAX && b->bytes != UINT32_MAX &&
                    b->mbarrier != UINT32_MAX;
    return is_bound ? move : NULL;
}

pt_handler PT_DO(cp_bulk_load)(struct pt_select *s)
{
    return select_move(s, PT_SPACE_SHARED, PT_SPACE_GLOBAL, true, NULL);
}

pt_handler PT_DO(cp_bulk_dsmem)(struct pt_select *s)
{
    return select_move(s, PT_SPACE_SHARED, PT_SPACE_SHARED, true, NULL);
}

pt_handler PT_DO(cp_bulk_store)(struct pt_select *s)
{
    return select_move(s, PT_SPACE_GLOBAL, PT_SPACE_SHARED, false, NULL);
}

static pt_join join_of(const struct pt_select *s)
{
    return pt_reduce_join(pt_reduce_of(s->form), pt_reduce_element((enum pt_type)s->form->type[0]));
}

pt_handler PT_DO(cp_reduce)(struct pt_select *s)
{
    return select_move(s, PT_SPACE_GLOBAL, PT_SPACE_SHARED, false, join_of(s));
}

pt_handler PT_DO(cp_reduce_dsmem)(struct pt_select *s)
{
    return select_move(s, PT_SPACE_SHARED, PT_SPACE_SHARED, true, join_of(s));
}

pt_handler PT_DO(cp_bulk_commit)(struct pt_select *s)
{
    return pt_async_commit(s, PT_ASYNC_BULK);
}

pt_handler PT_DO(cp_bulk_wait)(struct pt_select *s)
{
    return pt_async_wait(s, PT_ASYNC_BULK);
}
