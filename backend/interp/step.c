/* One instruction alone, for native code that has none for it: its registers come from outside and go back there. */
#include "backend/interp/loop.h"
#include "backend/barrier.h"

struct copy {
    const struct pt_body *body;
    struct pt_frame *f;
    uint8_t *at;
    bool to_frame;
};

/* Visits registers in the order of struct pt_engine.step. */
static void copy_reg(void *ud, uint32_t reg, bool is_def)
{
    struct copy *copy = ud;
    uint32_t bits = pt_type_bits((enum pt_type)copy->body->func->regs.v[reg].type);
    uint32_t bytes = pt_step_bytes(bits);
    char *slot = (char *)copy->f + copy->body->slots[reg];
    if (!is_def && copy->to_frame)
        memcpy(slot, copy->at, bits == 1 ? 4 : bytes);
    else if (is_def && !copy->to_frame)
        memcpy(copy->at, slot, bits == 1 ? 4 : bytes);
    copy->at += bytes;
}

static void copy_regs(struct pt_frame *f, uint32_t insn, uint8_t *regs, bool to_frame)
{
    struct copy copy = {f->body, f, regs, to_frame};
    pt_insn_regs(f->state->program->base.image->module, f->body->func,
                 &f->body->func->insns.v[insn], copy_reg, &copy);
}

/* Runs the instruction's codes, but for the test of its guard. */
static bool run(struct pt_state *s, struct pt_frame *f, uint32_t insn)
{
    const struct pt_span *span = &f->body->spans[insn];
    const struct pt_code *c = f->body->codes.v + span->first, *end = c + span->n;
    while (c && c < end) {
        s->code = c;
        c = c->fn == pt_ctl_guard ? c + 1 : c->fn(c, f);
    }
    if (!c && s->next != PT_NEXT_STOP)
        pt_fail(f->body->codes.v + span->first, f, PT_FAULT_DEADLOCK, f->mask,
                PT_PARTED_LANES);
    return c != NULL;
}

bool pt_step(struct pt_warp *warp, uint32_t func, uint32_t insn, uint32_t lanes, uint8_t *regs)
{
    struct pt_state *s = pt_state_of(warp);
    bool is_callee = func != s->entry->body->index;
    struct pt_frame *f =
        is_callee ? pt_loop_frame(s->entry, s->program->bodies[func]) : s->entry;
    warp->live = lanes;
    s->frame = f;
    s->next = PT_NEXT_PICK;
    pt_set_mask(f, lanes);
    copy_regs(f, insn, regs, true);
    if (!run(s, f, insn))
        return false;
    copy_regs(f, insn, regs, false);
    if (is_callee)
        pt_loop_drop(f);
    return true;
}
