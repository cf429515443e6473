/* Lanes between the blocks of their activation.
 *
 * With PT_TEST_ORDER a warp's lanes do not run together. Before an instruction that needs other
 * lanes, and before calls, stands pt_frontier_meet: lanes wait there as long as others can run.
 * Behind it, and where functions begin, pt_frontier_part lets one lane go on.
 */
#ifndef PTERA_BACKEND_INTERP_FRONTIER_H
#define PTERA_BACKEND_INTERP_FRONTIER_H

#include "backend/interp/state.h"

#define pt_frontier_goto PT_LEVEL_NAME(pt_frontier_goto)
#define pt_frontier_wait PT_LEVEL_NAME(pt_frontier_wait)
#define pt_frontier_park PT_LEVEL_NAME(pt_frontier_park)
#define pt_frontier_clear PT_LEVEL_NAME(pt_frontier_clear)
#define pt_frontier_set_aside PT_LEVEL_NAME(pt_frontier_set_aside)
#define pt_frontier_other PT_LEVEL_NAME(pt_frontier_other)
#define pt_frontier_unpark PT_LEVEL_NAME(pt_frontier_unpark)
#define pt_frontier_turn PT_LEVEL_NAME(pt_frontier_turn)
#define pt_frontier_poll PT_LEVEL_NAME(pt_frontier_poll)
#define pt_frontier_meet PT_LEVEL_NAME(pt_frontier_meet)
#define pt_frontier_part PT_LEVEL_NAME(pt_frontier_part)
#define pt_frontier_give_way PT_LEVEL_NAME(pt_frontier_give_way)
#define pt_frontier_pick PT_LEVEL_NAME(pt_frontier_pick)
#define pt_frontier_deadlock PT_LEVEL_NAME(pt_frontier_deadlock)

/* All running lanes go to `block`, while others wait at a block not above it. Returns the code
 * to run, as a handler does. */
const struct pt_code *pt_frontier_goto(struct pt_frame *f, uint32_t block);
/* `lanes` of the activation wait at the start of `block`, ready to run. */
void pt_frontier_wait(struct pt_frame *f, uint32_t block, uint32_t lanes);
/* The same, but they wait for other lanes of the warp. */
void pt_frontier_park(struct pt_frame *f, uint32_t block, uint32_t lanes);
/* The same, but they run when no others can. */
void pt_frontier_set_aside(struct pt_frame *f, uint32_t block, uint32_t lanes);
/* No lane waits at the start of `block` any more. */
void pt_frontier_clear(struct pt_frame *f, uint32_t block);
/* No lane runs any more (all were put somewhere): chooses another block of the activation, or
 * leaves the loop to choose one elsewhere. */
const struct pt_code *pt_frontier_other(struct pt_frame *f);
/* All running lanes take a back edge to `block` of a loop that waits for other threads: others
 * run first, and where there are none the warp yields. */
const struct pt_code *pt_frontier_turn(struct pt_frame *f, uint32_t block);
/* The same when the budget of another loop is used up: the warp yields if the launch is to stop. */
const struct pt_code *pt_frontier_poll(struct pt_frame *f, uint32_t block);
/* Lanes have exited: whoever waits for lanes of the warp looks again. */
void pt_frontier_unpark(struct pt_state *s);
/* Chooses the lanes that run next: state->frame and state->code. False if none can. */
bool pt_frontier_pick(struct pt_state *s);
/* Nothing can run, and no barrier is waited for: every lane left waits for lanes that wait
 * elsewhere. */
enum pt_run pt_frontier_deadlock(struct pt_state *s);
/* Codes of serial programs. o = block: of the instruction behind, where all running lanes wait;
 * where those wait that let one go on. */
const struct pt_code *pt_frontier_meet(const struct pt_code *c, struct pt_frame *f);
const struct pt_code *pt_frontier_part(const struct pt_code *c, struct pt_frame *f);
/* Behind an access, of a program whose warps take turns: other warps go on, or whoever the launch's
 * schedule lets, then the lanes at block o[0]. */
const struct pt_code *pt_frontier_give_way(const struct pt_code *c, struct pt_frame *f);
/* Looks at the launch's stop where state->unbudgeted says that it is time. */
static inline bool pt_frontier_is_stopped(struct pt_state *s)
{
    if (s->unbudgeted < PT_CODES_UNTIL_POLL)
        return false;
    s->unbudgeted = 0;
    return atomic_load_explicit(&s->warp->cta->launch->stop, memory_order_relaxed);
}
/* The first code of a block that belongs to an instruction. */
static inline const struct pt_code *pt_frontier_first(const struct pt_body *body, uint32_t block)
{
    const struct pt_code *c = body->start[block];
    return c + (c->fn == pt_frontier_meet);
}
/* All running lanes go to `block`, which starts at `code`. */
static inline const struct pt_code *pt_goto(struct pt_frame *f, uint32_t block,
                                            const struct pt_code *code)
{
    return __builtin_expect(block < f->lowest, 1) ? code : pt_frontier_goto(f, block);
}

#endif
