/* One instruction alone, for native code that has none for it. */
#include "backend/interp/step.h"
#include "backend/barrier.h"
#include "backend/interp/branch.h"
#include "backend/interp/frame.h"

void *pt_step_frame(struct pt_warp *warp, uint32_t func)
{
    struct pt_state *s = pt_state_of(warp);
    if (func == s->entry->body->index)
        return s->entry;
    s->frame = pt_frame_make(s->entry, s->program->bodies[func]);
    return s->frame;
}

uint32_t pt_step_slot(const struct pt_program *program, uint32_t func, uint32_t reg)
{
    const struct pt_body *body = ((const struct pt_interp_program *)program)->bodies[func];
    return body ? body->slots[reg] : 0;
}

/* Runs the instruction's codes, but for the test of its guard. */
static bool run(struct pt_state *s, struct pt_frame *f, uint32_t insn)
{
    const struct pt_span *span = &f->body->spans[insn];
    const struct pt_code *c = f->body->codes.v + span->first, *end = c + span->n;
    while (c && c < end) {
        s->code = c;
        c = c->fn == pt_branch_guard ? c + 1 : c->fn(c, f);
    }
    if (!c && s->next != PT_NEXT_STOP)
        pt_fail(f->body->codes.v + span->first, f, PT_FAULT_DEADLOCK, f->mask, PT_PARTED_LANES);
    return c != NULL;
}

bool pt_step(struct pt_warp *warp, uint32_t func, uint32_t insn, uint32_t lanes, bool is_fast)
{
    struct pt_state *s = pt_state_of(warp);
    struct pt_frame *f = func == s->entry->body->index ? s->entry : s->frame;
    warp->live = lanes;
    s->next = PT_NEXT_PICK;
    s->is_fast = is_fast;
    if (f->mask != lanes)
        pt_set_mask(f, lanes);
    if (!run(s, f, insn))
        return false;
    if (f != s->entry)
        pt_frame_drop(f);
    return true;
}
