#include "backend/interp/steps.h"

#include "backend/interp/observe.h"
#include "backend/interp/values.h"
#include "backend/steps.h"
#include "backend/traced.h"
#include "ir/insn.h"

static struct pt_steps_thread *thread_of(const struct pt_event *e, uint32_t lane)
{
    const struct pt_cta *cta = e->warp->cta;
    struct pt_steps *steps = cta->launch->traced->steps;
    uint64_t number = pt_cta_number(cta) * cta->launch->threads + e->warp->index * PT_WARP_SIZE;
    return &steps->threads[number + lane];
}

static void thread_id(const struct pt_event *e, uint32_t lane, uint32_t id[3])
{
    for (int d = 0; d < 3; d++)
        id[d] = e->warp->tid[d][lane];
}

static bool is_wanted(const struct pt_event *e, uint32_t lane, struct pt_steps_thread *t)
{
    const struct pt_steps *steps = e->warp->cta->launch->traced->steps;
    uint32_t id[3];
    if (t->state == PT_STEPS_NOT_ASKED) {
        thread_id(e, lane, id);
        bool is = steps->wants(steps->ud, e->warp->cta->id, id);
        t->state = is ? PT_STEPS_WANTED : PT_STEPS_UNWANTED;
    }
    return t->state == PT_STEPS_WANTED;
}

/* What it wrote is read where it wrote it: a call's results come later, and are not told. */
static void finish(const struct pt_event *e, uint32_t lane, struct pt_steps_thread *t)
{
    const struct pt_steps *steps = e->warp->cta->launch->traced->steps;
    struct pt_step *step = &t->step;
    uint32_t id[3];
    if (!step->frame)
        return;
    step->has_results = step->frame == e->frame;
    for (uint32_t i = 0; step->has_results && i < step->n; i++)
        if (step->values[i].is_def)
            pt_values_get(e->frame, step->values[i].reg, lane, step->values[i].value);
    thread_id(e, lane, id);
    steps->tell(steps->ud, e->warp->cta->id, id, step);
    step->frame = NULL;
}

struct seen {
    struct pt_steps *steps;
    struct pt_step *step;
    const struct pt_frame *frame;
    uint32_t lane;
};

static bool grow(struct pt_steps *steps, struct pt_step *step)
{
    uint32_t room = step->room ? 2 * step->room : 8;
    void *more =
        steps->allocator->resize(steps->allocator->ud, step->values, room * sizeof *step->values);
    if (!more) {
        steps->is_out_of_memory = true;
        return false;
    }
    step->values = more;
    step->room = room;
    return true;
}

static void see_register(void *ud, uint32_t reg, bool is_def)
{
    struct seen *seen = ud;
    struct pt_step *step = seen->step;
    for (uint32_t i = 0; i < step->n; i++)
        if (step->values[i].reg == reg && step->values[i].is_def == is_def)
            return;
    if (step->n == step->room && !grow(seen->steps, step))
        return;
    struct pt_step_value *value = &step->values[step->n++];
    *value = (struct pt_step_value){.reg = reg, .is_def = is_def};
    if (!is_def)
        pt_values_get(seen->frame, reg, seen->lane, value->value);
}

static void begin(const struct pt_event *e, uint32_t lane, struct pt_steps_thread *t)
{
    const struct pt_func *func = e->frame->body->func;
    struct pt_step *step = &t->step;
    struct seen seen = {e->warp->cta->launch->traced->steps, step, e->frame, lane};
    step->number++;
    step->func = e->func;
    step->insn = e->insn;
    step->frame = e->frame;
    step->use = 0;
    step->n = 0;
    pt_insn_regs(e->frame->state->program->base.image->module, func, &func->insns.v[e->insn],
                 see_register, &seen);
}

void pt_steps_see_instruction(const struct pt_event *e)
{
    for (uint32_t left = e->lanes; left; left &= left - 1) {
        uint32_t lane = (uint32_t)__builtin_ctz(left);
        struct pt_steps_thread *t = thread_of(e, lane);
        if (!is_wanted(e, lane, t))
            continue;
        finish(e, lane, t);
        begin(e, lane, t);
    }
}

void pt_steps_see_access(const struct pt_event *e, const struct pt_access *access)
{
    for (uint32_t left = e->lanes; left; left &= left - 1) {
        uint32_t lane = (uint32_t)__builtin_ctz(left);
        struct pt_step *step = &thread_of(e, lane)->step;
        if (!step->frame || step->use || step->insn != e->insn)
            continue;
        step->use = access->use;
        step->address = access->address[lane];
        step->bytes = access->bytes;
    }
}

void pt_steps_see_exited(const struct pt_event *e)
{
    for (uint32_t left = e->lanes; left; left &= left - 1) {
        uint32_t lane = (uint32_t)__builtin_ctz(left);
        finish(e, lane, thread_of(e, lane));
    }
}
