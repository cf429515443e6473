/* The loop: running a warp until it exits, waits or yields. */
#include "backend/interp/loop.h"
#include "backend/interp/barrier.h"
#include "backend/interp/frontier.h"

/* Lanes have turned, and no other can run: they may again, when others of the warp's CTA have. */
static void end_round(struct pt_state *s)
{
    s->turned = 0;
    s->run = PT_RUN_YIELDED;
}

/* Chooses what runs next. Returns false if nothing can: s->run then says why. */
static bool choose(struct pt_state *s, bool is_resumed)
{
    /* Where warps take turns, the last one at a barrier does not go on first. */
    if (s->n_groups && (is_resumed || !pt_gives_way_at_barriers(s)) && pt_barrier_release(s))
        return true;
    if (pt_frontier_is_stopped(s)) {
        s->run = PT_RUN_YIELDED;
        return false;
    }
    if (s->warp->live && pt_frontier_pick(s))
        return true;
    if (!s->warp->live)
        s->run = PT_RUN_EXITED;
    else if (s->turned & s->warp->live)
        end_round(s);
    else if (s->n_groups)
        pt_barrier_suspend(s);
    else
        s->run = pt_frontier_deadlock(s);
    s->next = PT_NEXT_PICK;
    return false;
}

enum pt_run pt_loop_resume(struct pt_warp *warp)
{
    struct pt_state *s = pt_state_of(warp);
    for (bool is_resumed = true;; is_resumed = false) {
        if (s->next == PT_NEXT_PICK && !choose(s, is_resumed))
            return s->run;
        struct pt_frame *f = s->frame;
        const struct pt_code *c = s->code;
        s->next = PT_NEXT_PICK;
        do
            c = c->fn(c, f);
        while (c);
        if (s->next == PT_NEXT_STOP) {
            s->next = PT_NEXT_PICK;
            return s->run;
        }
    }
}
