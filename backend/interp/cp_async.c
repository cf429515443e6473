/* cp.async and its mbarrier's arrivals. PTX ISA 9.7.9.25. */
#include "backend/interp/address.h"
#include "backend/interp/async.h"
#include "backend/interp/observe.h"
#include "backend/interp/mbarrier.h"
#include "backend/interp/operands.h"
#include "ir/row.h"

/* Whole words of 4 and 8 bytes stay whole. */
PT_ACCESS_INLINE void copy_piece(uint64_t to, uint64_t from, uint32_t bytes)
{
    if (bytes == 16)
        pt_copy16((void *)(uintptr_t)to, (const void *)(uintptr_t)from);
    else if (bytes == 8)
        *(uint64_t *)(uintptr_t)to = *(const uint64_t *)(uintptr_t)from;
    else
        *(uint32_t *)(uintptr_t)to = *(const uint32_t *)(uintptr_t)from;
}

/* ---- cp.async: o = to, from, bytes to read; imm = bytes to write ----------------------------- */

/* The operation of lane i. */
static struct pt_async_op copy_of(const struct pt_code *c, const struct pt_frame *f, uint32_t i)
{
    struct pt_async_op op = {.kind = PT_ASYNC_COPY, .lane = i, .run = pt_async_copy};
    op.to = PT_SLOT(0, u64)[i];
    op.from = PT_SLOT(1, u64)[i];
    op.bytes = (uint32_t)c->imm;
    op.read = PT_SLOT(2, u32)[i] < op.bytes ? PT_SLOT(2, u32)[i] : op.bytes;
    return op;
}

/* All lanes copy 16 bytes. */
static bool is_whole(const struct pt_code *c, const struct pt_frame *f)
{
    const uint32_t *read = PT_SLOT(2, u32);
    uint32_t n = 0;
    for (uint32_t i = 0; i < PT_WARP_SIZE; i++)
        n += read[i] >= 16;
    return n == PT_WARP_SIZE && c->imm == 16 && f->mask == UINT32_MAX;
}

PT_ACCESS static __attribute__((noinline)) void copy_whole(struct pt_frame *f, const uint64_t *to,
                                                           const uint64_t *from)
{
    for (uint32_t i = 0; i < PT_WARP_SIZE; i++) {
        f->state->acting = 1u << i;
        pt_copy16((void *)(uintptr_t)to[i], (const void *)(uintptr_t)from[i]);
    }
    f->state->acting = 0;
}

static bool is_aligned(const struct pt_code *c, const struct pt_frame *f)
{
    const uint64_t *to = PT_SLOT(0, u64), *from = PT_SLOT(1, u64);
    const uint32_t *read = PT_SLOT(2, u32);
    uint64_t any = 0;
    for (uint32_t i = 0; i < PT_WARP_SIZE; i++)
        any |= (to[i] | (read[i] ? from[i] : 0)) & (uint64_t)(int32_t)f->lanes[i];
    return !(any & (c->imm - 1));
}

static bool fail_misaligned(const struct pt_code *c, struct pt_frame *f)
{
    uint32_t misaligned = 0;
    uint64_t first = 0;
    for (uint32_t left = f->mask; left; left &= left - 1) {
        struct pt_async_op op = copy_of(c, f, (uint32_t)__builtin_ctz(left));
        uint64_t from = op.read ? op.from : 0;
        if (!((op.to | from) & (op.bytes - 1)))
            continue;
        first = misaligned ? first : op.to & (op.bytes - 1) ? op.to : from;
        misaligned |= 1u << op.lane;
    }
    return pt_fail_at(c, f, PT_FAULT_MISALIGNED, misaligned, first, NULL);
}

static bool tell_copies(const struct pt_code *c, struct pt_frame *f)
{
    uint32_t read[PT_WARP_SIZE] = {0};
    struct pt_copies copies = {PT_SLOT(0, u64), PT_SLOT(1, u64), read, (uint32_t)c->imm};
    for (uint32_t left = f->mask; left; left &= left - 1) {
        struct pt_async_op op = copy_of(c, f, (uint32_t)__builtin_ctz(left));
        read[op.lane] = op.read;
    }
    return pt_observe_copies(c, f, &copies);
}

/* False after pt_fail: some lanes may not do what they ask for. */
static bool may_copy(const struct pt_code *c, struct pt_frame *f)
{
    if (!is_aligned(c, f))
        return fail_misaligned(c, f);
    return !pt_is_observed(f) || tell_copies(c, f);
}

static const struct pt_code *copy_later(const struct pt_code *c, struct pt_frame *f)
{
    for (uint32_t left = f->mask; left; left &= left - 1) {
        struct pt_async_op op = copy_of(c, f, (uint32_t)__builtin_ctz(left));
        if (!pt_async_issue(c, f, &op))
            return NULL;
    }
    return c + 1;
}

PT_ACCESS_HANDLER(copy)
{
    const uint64_t *to = PT_SLOT(0, u64), *from = PT_SLOT(1, u64);
    const uint32_t *read = PT_SLOT(2, u32), bytes = (uint32_t)c->imm;
    f->state->code = c;
    if (!may_copy(c, f))
        return NULL;
    if (f->cta->async || pt_is_observed(f))
        return copy_later(c, f);
    if (is_whole(c, f)) {
        copy_whole(f, to, from);
        return c + 1;
    }
    for (uint32_t left = f->mask; left; left &= left - 1) {
        uint32_t i = (uint32_t)__builtin_ctz(left);
        f->state->acting = 1u << i;
        if (read[i] >= bytes) {
            copy_piece(to[i], from[i], bytes);
        } else {
            struct pt_async_op op = copy_of(c, f, i);
            pt_async_copy(&op);
        }
    }
    f->state->acting = 0;
    return c + 1;
}

/* What is read where the predicate says that nothing is. */
PT_HANDLER(read_unless)
{
    uint32_t *read = PT_SLOT(0, u32), ignored = PT_PRED(1);
    for (uint32_t i = 0; i < PT_WARP_SIZE; i++)
        read[i] = ignored >> i & 1 ? 0 : (uint32_t)c->imm;
    return c + 1;
}

/* The operand behind the first three that is of the type; NULL: none. */
static const struct pt_operand *option(const struct pt_select *s, enum pt_type type)
{
    for (unsigned i = 3; i < s->insn->n_operands; i++)
        if (pt_slot_type(pt_form_slot(s->form, i), s->form) == type)
            return &s->operands[i];
    return NULL;
}

/* A slot with the bytes that lanes read: all, or as many as an operand says, or none where one is
 * true. */
static uint32_t bytes_read(struct pt_select *s, uint32_t all)
{
    const struct pt_operand whole = {.kind = PT_OPND_IMM, .type = PT_u32, .imm = all};
    const struct pt_operand *ignored = option(s, PT_pred), *bytes = option(s, PT_u32);
    if (!ignored)
        return pt_operands_source(s, bytes ? bytes : &whole, 4);
    uint32_t pred = pt_operands_source(s, ignored, 0);
    if (pred == UINT32_MAX)
        return pred;
    struct pt_code *c = pt_operands_before(s, read_unless);
    c->o[0] = pt_operands_slot(s, 4);
    c->o[1] = pred;
    c->imm = all;
    c->neg = ignored->flags & PT_OPND_NEG ? 2 : 0;
    return c->o[0];
}

pt_handler PT_DO(cp_async)(struct pt_select *s)
{
    s->code->imm = (uint64_t)s->operands[2].imm;
    s->code->o[0] = pt_address_generic(s, &s->operands[0], PT_SPACE_SHARED);
    s->code->o[1] = pt_address_generic(s, &s->operands[1], PT_SPACE_GLOBAL);
    s->code->o[2] = bytes_read(s, (uint32_t)s->code->imm);
    for (int i = 0; i < 3; i++)
        if (s->code->o[i] == UINT32_MAX)
            return NULL;
    return copy;
}

pt_handler PT_DO(cp_async_commit)(struct pt_select *s)
{
    return pt_async_commit(s, PT_ASYNC_COPY);
}

pt_handler PT_DO(cp_async_wait)(struct pt_select *s)
{
    return pt_async_wait(s, PT_ASYNC_COPY);
}

/* ---- cp.async.mbarrier.arrive ---------------------------------------------------------------- */

/* The arrival comes when the thread's copies so far are done. Without .noinc it is one more than
 * the mbarrier expects. */
PT_HANDLER(arrive)
{
    const uint64_t *mbarrier = PT_SLOT(0, u64);
    f->state->code = c;
    for (uint32_t left = f->mask; left; left &= left - 1) {
        uint32_t i = (uint32_t)__builtin_ctz(left);
        struct pt_async_op op = {.kind = PT_ASYNC_ARRIVAL,
                                 .lane = i,
                                 .mbarrier = mbarrier[i],
                                 .complete = pt_mbarrier_count_arrival};
        f->state->acting = 1u << i;
        if (!pt_observe_counting(c, f, i, op.mbarrier) ||
            (!c->aux && !pt_mbarrier_change(c, f, i, op.mbarrier, PT_MBARRIER_EXPECT, 1)) ||
            !pt_async_issue(c, f, &op))
            return NULL;
    }
    return c + 1;
}

pt_handler PT_DO(cp_async_mbarrier)(struct pt_select *s)
{
    s->code->aux = PT_HAS(s, noinc);
    s->code->o[0] = pt_address_generic(s, &s->operands[0], pt_form_space(s->form));
    return s->code->o[0] == UINT32_MAX ? NULL : arrive;
}
