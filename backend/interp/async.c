/* Asynchronous operations of all kinds: when they take place, and the groups that they are waited
 * for in. PTX ISA 9.7.9.25. */
#include "backend/interp/async.h"
#include "backend/interp/operands.h"
#include "backend/interp/observe.h"
#include "backend/schedule.h"

/* ---- moving bytes ---------------------------------------------------------------------------- */

PT_ACCESS void pt_async_copy(const struct pt_async_op *op)
{
    uint64_t to = op->to, from = pt_async_source(op, op->from);
    uint32_t n = op->read, at = 0;
    for (; at + 16 <= n; at += 16)
        pt_copy16((void *)(uintptr_t)(to + at), (const void *)(uintptr_t)(from + at));
    for (; at < n; at++)
        *(uint8_t *)(uintptr_t)(to + at) = *(const uint8_t *)(uintptr_t)(from + at);
    for (; at < op->bytes; at++)
        *(uint8_t *)(uintptr_t)(to + at) = 0;
}

PT_ACCESS void pt_async_join(const struct pt_async_op *op)
{
    op->join(op->to, pt_async_source(op, op->from), op->bytes);
}

/* ---- operations that are put off ------------------------------------------------------------- */

PT_ACCESS void pt_async_touch(uint64_t address, uint32_t bytes)
{
    enum { PAGE = 4096 };
    for (uint64_t at = address; at < address + bytes; at = (at | (PAGE - 1)) + 1)
        (void)*(volatile uint8_t *)(uintptr_t)at;
}

/* An operation that is put off, in one block. */
struct kept {
    struct pt_async_op op;
    struct pt_tile tile;
    uint8_t staged[];
};

static void *resize(const struct pt_frame *f, void *p, size_t bytes)
{
    const struct pt_allocator *a = f->state->program->arena.allocator;
    return a->resize(a->ud, p, bytes);
}

/* Room for one more in the queue. */
static bool make_room(struct pt_frame *f)
{
    struct pt_async *q = f->cta->async;
    if (q->n < q->room)
        return true;
    uint32_t room = q->room ? 2 * q->room : 256;
    struct pt_async_op **ops = resize(f, q->ops, room * sizeof *ops);
    if (!ops)
        return false;
    q->ops = ops;
    q->room = room;
    return true;
}

static bool out_of_memory(const struct pt_code *c, struct pt_frame *f, uint32_t lane)
{
    return pt_fail(c, f, PT_FAULT_OUT_OF_MEMORY, 1u << lane, NULL);
}

static bool put_off(const struct pt_code *c, struct pt_frame *f, struct pt_async_op op)
{
    pt_async_touch(op.from, op.from ? op.read : 0);
    pt_async_touch(op.to, op.to ? op.bytes : 0);
    size_t staged = op.staged ? op.read : 0;
    struct kept *kept = make_room(f) ? resize(f, NULL, sizeof *kept + staged) : NULL;
    if (!kept)
        return out_of_memory(c, f, op.lane);
    kept->op = op;
    if (op.tile) {
        kept->tile = *op.tile;
        kept->op.tile = &kept->tile;
    }
    if (op.staged)
        kept->op.staged = memcpy(kept->staged, op.staged, staged);
    f->cta->async->ops[f->cta->async->n++] = &kept->op;
    return true;
}

/* It takes place. False after pt_fail. */
static bool complete(const struct pt_code *c, struct pt_frame *f, const struct pt_async_op *op)
{
    if (op->run)
        op->run(op);
    if (pt_is_observed(f))
        pt_observe_done(op);
    return !op->complete || op->complete(c, f, op);
}

/* Of a launch that has a schedule: the seed says of each kind of operation that others do not rely
 * on whether it takes place at once, and of wgmma, which take place in order, the same of all. */
static bool is_early(const struct pt_frame *f, const struct pt_async_op *op)
{
    struct pt_schedule *s = f->cta->launch->schedule;
    if (!s)
        return false;
    if (!s->seed)
        return true;
    if (op->kind == PT_ASYNC_ARRIVAL)
        return false;
    uint64_t number = op->kind == PT_ASYNC_WGMMA ? 0 : ++s->operations;
    return pt_schedule_draw_for(s, PT_DRAW_OPERATION, number) & 1;
}

/* An operation that is put off, or observed. */
static bool issue(const struct pt_code *c, struct pt_frame *f, struct pt_async_op op)
{
    op.warp = f->state->warp;
    op.code = c;
    op.frame = f;
    op.group = op.kind < PT_GROUP_KINDS ? f->state->committed[op.kind][op.lane] : 0;
    if (pt_is_observed(f) && !pt_observe_issued(&op))
        return out_of_memory(c, f, op.lane);
    bool is_late = f->cta->async && f->cta->async->is_late && !is_early(f, &op);
    return is_late ? put_off(c, f, op) : complete(c, f, &op);
}

bool pt_async_issue(const struct pt_code *c, struct pt_frame *f, const struct pt_async_op *op)
{
    f->state->acting = 1u << op->lane;
    bool is_good = f->cta->async || pt_is_observed(f) ? issue(c, f, *op) : complete(c, f, op);
    f->state->acting = 0;
    return is_good;
}

/* Which operations are to take place. */
struct wanted {
    enum { OF_GROUPS, OF_MBARRIER, OF_LANES } what;
    uint64_t mbarrier;       /* OF_MBARRIER */
    uint32_t lanes;          /* OF_GROUPS, OF_LANES: threads of the warp */
    enum pt_async_kind kind; /* OF_GROUPS */
    uint32_t pending;        /* OF_GROUPS: so many groups, the youngest, may wait */
};

static bool is_wanted(const struct wanted *w, const struct pt_state *s,
                      const struct pt_async_op *op)
{
    if (w->what == OF_MBARRIER)
        return op->mbarrier == w->mbarrier;
    if (op->warp != s->warp || !(w->lanes >> op->lane & 1))
        return false;
    return w->what == OF_LANES ||
           (op->kind == w->kind && s->committed[w->kind][op->lane] - op->group > w->pending);
}

/* An arrival comes behind all copies that its thread issued before. */
static void mark_copies(struct pt_async *q, uint32_t arrival)
{
    const struct pt_async_op *a = q->ops[arrival];
    for (uint32_t i = 0; i < arrival; i++) {
        struct pt_async_op *op = q->ops[i];
        op->is_due |= op->kind == PT_ASYNC_COPY && op->warp == a->warp && op->lane == a->lane;
    }
}

/* In the order of issue. False after pt_fail. */
static bool complete_wanted(const struct pt_code *c, struct pt_frame *f, const struct wanted *w)
{
    struct pt_async *q = f->cta->async;
    uint32_t n = q->n;
    for (uint32_t i = 0; i < n; i++) {
        q->ops[i]->is_due = is_wanted(w, f->state, q->ops[i]);
        if (q->ops[i]->is_due && q->ops[i]->kind == PT_ASYNC_ARRIVAL)
            mark_copies(q, i);
    }
    bool is_good = true;
    q->n = 0;
    for (uint32_t i = 0; i < n; i++) {
        struct pt_async_op *op = q->ops[i];
        if (!op->is_due || !is_good) {
            q->ops[q->n++] = op;
            continue;
        }
        is_good = complete(c, f, op);
        resize(f, op, 0);
    }
    return is_good;
}

bool pt_async_tested(const struct pt_code *c, struct pt_frame *f, uint64_t mbarrier)
{
    return complete_wanted(c, f, &(struct wanted){.what = OF_MBARRIER, .mbarrier = mbarrier});
}

bool pt_async_exit(const struct pt_code *c, struct pt_frame *f, uint32_t lanes)
{
    return complete_wanted(c, f, &(struct wanted){.what = OF_LANES, .lanes = lanes});
}

void pt_async_forget(const struct pt_frame *f)
{
    struct pt_async *q = f->cta->async;
    uint32_t n = q->n;
    q->n = 0;
    for (uint32_t i = 0; i < n; i++) {
        if (q->ops[i]->kind == PT_ASYNC_WGMMA && q->ops[i]->frame == f)
            resize(f, q->ops[i], 0);
        else
            q->ops[q->n++] = q->ops[i];
    }
}

/* ---- groups ---------------------------------------------------------------------------------- */

static void commit_lanes(struct pt_frame *f, enum pt_async_kind kind)
{
    for (uint32_t left = f->mask; left; left &= left - 1)
        f->state->committed[kind][__builtin_ctz(left)]++;
}

/* aux is the kind, imm how many groups may be pending. */
PT_HANDLER(commit)
{
    if (f->cta->async)
        commit_lanes(f, (enum pt_async_kind)c->aux);
    return c + 1;
}

static struct wanted groups_of(const struct pt_code *c, const struct pt_frame *f)
{
    return (struct wanted){.what = OF_GROUPS,
                           .lanes = f->mask,
                           .kind = (enum pt_async_kind)c->aux,
                           .pending = c->imm < UINT32_MAX ? (uint32_t)c->imm : UINT32_MAX};
}

PT_HANDLER(wait_group)
{
    struct wanted w = groups_of(c, f);
    if (pt_is_observed(f))
        pt_observe_waited(c, f, w.kind, w.pending, false);
    return f->cta->async && !complete_wanted(c, f, &w) ? NULL : c + 1;
}

/* What bulk operations read of shared memory is read now; it is written later. False after
 * pt_fail. */
static bool stage(const struct pt_code *c, struct pt_frame *f, const struct wanted *w)
{
    struct pt_async *q = f->cta->async;
    for (uint32_t i = 0; i < q->n; i++) {
        struct pt_async_op *op = q->ops[i];
        if (op->staged || !is_wanted(w, f->state, op))
            continue;
        struct kept *kept = resize(f, op, sizeof *kept + op->read);
        if (!kept)
            return out_of_memory(c, f, op->lane);
        q->ops[i] = op = &kept->op;
        op->tile = op->tile ? &kept->tile : NULL;
        struct pt_async_op read = {.from = op->from, .read = op->read};
        read.to = (uint64_t)(uintptr_t)kept->staged;
        pt_async_copy(&read);
        op->staged = kept->staged;
    }
    return true;
}

PT_HANDLER(wait_group_read)
{
    struct wanted w = groups_of(c, f);
    if (pt_is_observed(f))
        pt_observe_waited(c, f, w.kind, w.pending, true);
    return f->cta->async && !stage(c, f, &w) ? NULL : c + 1;
}

PT_HANDLER(wait_all)
{
    if (f->cta->async)
        commit_lanes(f, (enum pt_async_kind)c->aux);
    return wait_group(c, f);
}

pt_handler pt_async_commit(struct pt_select *s, enum pt_async_kind kind)
{
    s->code->aux = (uint16_t)kind;
    return commit;
}

pt_handler pt_async_wait(struct pt_select *s, enum pt_async_kind kind)
{
    s->code->aux = (uint16_t)kind;
    return !pt_bind(s, "i")      ? NULL
           : PT_HAS(s, wait_all) ? wait_all
           : PT_HAS(s, read)     ? wait_group_read
                                 : wait_group;
}

void pt_async_visit(const struct pt_async_op *op, bool is_write, pt_visit *visit, void *ud)
{
    bool is_tiled = op->tile && is_write == !op->to;
    if (op->kind == PT_ASYNC_WGMMA ? !is_write : is_tiled)
        op->extents(op, visit, ud);
    else if (is_write && op->to)
        visit(ud, op->to, op->tile ? op->span : op->bytes);
    else if (!is_write && op->from)
        visit(ud, op->from, op->tile ? op->span : op->read);
}
