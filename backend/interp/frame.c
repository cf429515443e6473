/* Activations: the frame of the kernel, and of each function that it has called. */
#include "backend/interp/frame.h"
#include "backend/interp/observe.h"
#include "backend/schedule.h"
#include "ir/bits.h"

static void fill_constants(struct pt_frame *f)
{
    const struct pt_body *body = f->body;
    for (uint32_t k = 0; k < body->constants.n; k++) {
        const struct pt_constant *c = &body->constants.v[k];
        char *slot = (char *)f + c->offset;
        if (c->width == 0)
            memcpy(slot, &c->lo, 4);
        for (uint32_t i = 0; c->width && i < PT_WARP_SIZE; i++) {
            memcpy(slot + i * c->width, &c->lo, c->width < 8 ? c->width : 8);
            if (c->width == 16)
                memcpy(slot + 16 * i + 8, &c->hi, 8);
        }
    }
}

/* Makes the memory at `f` a frame of `body`; constants stay from the last time if it was the
 * same function. */
static void shape_frame(struct pt_frame *f, const struct pt_body *body, bool is_fresh)
{
    bool is_same = !is_fresh && f->body == body;
    f->body = body;
    f->wait = (uint32_t *)((char *)f + body->wait_offset);
    f->eligible = (uint64_t *)((char *)f + body->set_offset);
    f->parked = f->eligible + body->n_words;
    f->aside = f->parked + body->n_words;
    if (!is_same)
        fill_constants(f);
    memset(f->wait, 0, body->n_blocks * sizeof *f->wait);
    memset(f->eligible, 0, body->n_words * 24);
    f->mask = f->live = 0;
    f->lowest = UINT32_MAX;
    f->budget = body->budget;
    f->carry = 0;
    f->undefined = NULL;
}

struct pt_frame *pt_frame_make(struct pt_frame *caller, const struct pt_body *body)
{
    struct pt_state *s = caller->state;
    struct pt_frame *f = s->free;
    bool is_fresh = !f;
    if (f)
        s->free = f->shallower;
    else if (s->used < s->program->n_callees)
        f = (struct pt_frame *)(s->callees + (size_t)s->used++ * s->program->callee_bytes);
    else
        return NULL;
    shape_frame(f, body, is_fresh);
    f->shared = caller->shared;
    f->params = caller->params;
    f->local0 = caller->local0;
    f->local_stride = caller->local_stride;
    f->state = s;
    f->cta = caller->cta;
    f->caller = caller;
    f->depth = caller->depth + 1;
    struct pt_frame *at = s->deepest, *above = NULL;
    while (at && at->depth > f->depth) {
        above = at;
        at = at->shallower;
    }
    f->deeper = above;
    f->shallower = at;
    if (at)
        at->deeper = f;
    if (above)
        above->shallower = f;
    else
        s->deepest = f;
    return f;
}

void pt_frame_drop(struct pt_frame *f)
{
    struct pt_state *s = f->state;
    if (pt_is_observed(f))
        pt_observe_returned(f);
    if (f->cta->async)
        pt_async_forget(f);
    if (f->deeper)
        f->deeper->shallower = f->shallower;
    else
        s->deepest = f->shallower;
    if (f->shallower)
        f->shallower->deeper = f->deeper;
    f->shallower = s->free;
    s->free = f;
}

void pt_frame_prepare(const struct pt_launch *launch, struct pt_warp *warp)
{
    const struct pt_interp_program *p = (const struct pt_interp_program *)launch->program;
    struct pt_state *s = pt_state_of(warp);
    bool is_observed = p->base.tests & PT_TEST_OBSERVERS;
    memset(s, 0, is_observed ? sizeof *s : offsetof(struct pt_state, groups));
    s->warp = warp;
    s->program = p;
    s->observers = p->observers;
    s->is_serial = p->base.tests & PT_TEST_ORDER;
    s->entry = (struct pt_frame *)((char *)s + pt_round_up(sizeof *s, 64));
    s->callees = (uint8_t *)s->entry + p->entry_bytes;
    struct pt_frame *f = s->entry;
    memset(f, 0, sizeof *f);
    shape_frame(f, p->bodies[p->base.kernel], true);
    f->state = s;
    f->params = launch->params;
    f->local_stride = launch->local_stride;
    for (int i = 0; i < PT_WARP_SIZE; i++)
        f->top[i] = f->body->local_bytes;
}

/* A permutation that the schedule's seed says. */
static void rank_lanes(struct pt_state *s, const struct pt_schedule *schedule)
{
    uint64_t thread = pt_cta_number(s->warp->cta) * s->warp->cta->launch->n_warps + s->warp->index;
    for (uint32_t i = 0; i < PT_WARP_SIZE; i++)
        s->ranks[i] = (uint8_t)(PT_SCHEDULE_FIRST_RANK + PT_WARP_SIZE - 1 - i);
    for (uint32_t i = PT_WARP_SIZE - 1; schedule->seed && i > 0; i--) {
        uint64_t drawn =
            pt_schedule_draw_for(schedule, PT_DRAW_LANE, thread * PT_WARP_SIZE + i) % (i + 1);
        uint8_t rank = s->ranks[i];
        s->ranks[i] = s->ranks[drawn];
        s->ranks[drawn] = rank;
    }
}

void pt_frame_start(struct pt_warp *warp)
{
    struct pt_state *s = pt_state_of(warp);
    struct pt_frame *f = s->entry;
    const struct pt_body *body = f->body;
    s->warp = warp;
    /* What an earlier CTA left behind: nothing after a normal end. */
    if (f->live || s->n_groups) {
        shape_frame(f, body, false);
        s->n_groups = s->used = 0;
        s->free = NULL;
        memset(s->open, 0, sizeof s->open);
    }
    s->deepest = f;
    f->shallower = f->deeper = NULL;
    f->cta = warp->cta;
    f->shared = warp->cta->shared;
    f->local0 = warp->cta->local + (uint64_t)warp->index * PT_WARP_SIZE * f->local_stride;
    f->live = warp->live;
    if (s->program->is_unbounded)
        for (int i = 0; i < PT_WARP_SIZE; i++)
            f->top[i] = body->local_bytes;
    f->budget = body->budget;
    f->lowest = UINT32_MAX;
    f->carry = 0;
    f->undefined = NULL;
    pt_set_mask(f, warp->live);
    s->turned = 0;
    if (s->is_serial && warp->cta->launch->schedule)
        rank_lanes(s, warp->cta->launch->schedule);
    s->frame = f;
    s->code = body->start[0];
    s->next = PT_NEXT_FRAME;
}
