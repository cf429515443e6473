/* Functions of C that native code calls for what is rare: found by name when code is loaded. */
#ifndef PTERA_BACKEND_JIT_HELPER_H
#define PTERA_BACKEND_JIT_HELPER_H

#include "backend/exec.h"

#define JIT_HELPERS(X)                                                 \
    X(jit_help_sreg)                                                   \
    X(jit_help_atom_add_f64)                                           \
    X(jit_help_fail)                                                   \
    X(jit_help_frame) X(jit_help_step)                                 \
    X(jit_help_start) X(jit_help_stand) X(jit_help_hold) X(jit_help_agreed) X(jit_help_exit) X(jit_help_next)

/* A special register that the threads of CTA `x` of the row share, or a clock. */
uint64_t jit_help_sreg(const struct pt_cta *cta, uint32_t sreg, uint32_t x);
/* What atom.add.f64 leaves in memory. */
uint64_t jit_help_atom_add_f64(uint64_t old, uint64_t b, uint32_t in_shared);
/* The launch fails at `place`, func << 32 | insn, as `what` says: enum pt_fault_kind << 32 | number of elements of `lanes` << 16 |
 * number of addresses. Threads from `first` on are at fault whose element is not zero; addresses are theirs, or one is all threads'. */
void jit_help_fail(const struct pt_cta *cta, struct pt_fault *fault, uint64_t what, uint64_t place, uint64_t first,
                   const uint32_t *lanes, const uint64_t *addresses);
/* pt_engine.frame for warp `warp` of the CTA. */
void *jit_help_frame(struct pt_cta *cta, uint32_t warp, uint32_t func);
/* pt_engine.step for it. 0 on a fault, and the warp is cta->stepping. */
uint32_t jit_help_step(struct pt_cta *cta, uint32_t warp, uint32_t func, uint32_t insn,
                       uint32_t lanes, uint32_t is_fast);

/* ---- frontier.c: kernels whose warps run apart. A place is func << 32 | insn. ---- */

struct jit_front;

enum { JIT_LEAVES = 1 << 30, JIT_DIFFERS = 1 << 30 };

/* The warp begins: a front of n stands. */
void jit_help_start(struct jit_front *front, uint32_t n);
/* Lanes have come to the start of a region; `is_turn`: by the back edge of a loop that waits. */
void jit_help_stand(struct jit_front *front, uint32_t stand, uint64_t place, uint32_t lanes, uint32_t is_turn);
/* Likewise, to a sync point: enum jit_sync and its flags. JIT_SYNC_WARP with JIT_SYNC_EACH: `members` is what the lanes name. */
void jit_help_hold(struct jit_front *front, uint32_t stand, uint64_t place, uint32_t lanes, uint32_t sync, uint32_t number,
                   uint32_t given, uint32_t preds, const uint32_t *members);
/* What the lanes' elements are; JIT_DIFFERS if they are not the same in the bits of `bits`. */
uint32_t jit_help_agreed(const uint32_t *elements, uint32_t lanes, uint32_t bits);
/* Lanes have ended. */
void jit_help_exit(struct pt_warp *warp, uint32_t lanes);
/* The region that runs next, in the lanes of front->lanes; or JIT_LEAVES + enum pt_run: the warp's turn is over. */
uint32_t jit_help_next(struct pt_warp *warp, struct jit_front *front);

#endif
