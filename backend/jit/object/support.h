/* Functions of C that native code calls for what is rare: found by name when code is loaded. */
#ifndef PTERA_BACKEND_JIT_OBJECT_SUPPORT_H
#define PTERA_BACKEND_JIT_OBJECT_SUPPORT_H

#include "backend/exec.h"
#include "backend/jit/object/frontier.h"

#define JIT_HELPERS(X)       \
    X(jit_help_sreg)         \
    X(jit_help_atom_add_f64) \
    X(jit_help_fail)         \
    X(jit_help_check)        \
    X(jit_help_frame)        \
    X(jit_help_step)         \
    X(jit_help_sample)       \
    X(jit_help_depend)       \
    X(jit_help_start)        \
    X(jit_help_stand) X(jit_help_hold) X(jit_help_agreed) X(jit_help_exit) X(jit_help_next)

/* Calls a device function of the runtime for one thread; false with *fault set, but for its place.
 * Native code calls it by this name. */
bool jit_device_function(struct pt_cta *cta, struct pt_fault *fault, uint32_t thread,
                         uint32_t function, const void *args, void *result);

/* A special register that the threads of CTA `x` of the row share, or a clock. */
uint64_t jit_help_sreg(const struct pt_cta *cta, uint32_t sreg, uint32_t x);

/* What atom.add.f64 leaves in memory. */
uint64_t jit_help_atom_add_f64(uint64_t old, uint64_t b, uint32_t in_shared);

/* The launch fails at `place`, func << 32 | insn, as `what` says: enum pt_fault_kind << 32 | number
 * of elements of `lanes` << 16 | number of addresses. Threads from `first` on are at fault whose
 * element is not zero; addresses are theirs, or one is all threads'. */
void jit_help_fail(const struct pt_cta *cta, struct pt_fault *fault, uint64_t what, uint64_t place,
                   uint64_t first, const uint32_t *lanes, const uint64_t *addresses);

/* pt_engine.check of threads from `first` on whose element is not zero. `what`, from its highest
 * bits on: bytes of an access (16), the number of elements, which are of one warp (16), and what
 * the addresses are made of (32; ir/origin.h). Of misaligned ones returns 1, with *fault set.
 * extent[0] and [1], its address and bytes, become those of memory in which accesses lie, where
 * that is known. */
uint32_t jit_help_check(struct pt_cta *cta, struct pt_fault *fault, uint64_t what, uint64_t place,
                        uint64_t first, const uint32_t *lanes, const uint64_t *addresses,
                        uint64_t extent[2]);

/* pt_engine.frame for warp `warp` of the CTA. */
void *jit_help_frame(struct pt_cta *cta, uint32_t warp, uint32_t func);

/* pt_engine.step for it. 0 on a fault, and the warp is cta->stepping. */
uint32_t jit_help_step(struct pt_cta *cta, uint32_t warp, uint32_t func, uint32_t insn,
                       uint32_t lanes, uint32_t is_fast);

/* pt_engine.sample for the instruction at `place`, func << 32 | insn, of warp `warp`. 0 on a fault,
 * and *fault is set. */
uint32_t jit_help_sample(struct pt_cta *cta, struct pt_fault *fault, uint64_t place, uint32_t warp,
                         uint32_t sampling, uint32_t lanes, struct pt_sampled *s);

/* griddepcontrol.wait, or .launch_dependents. */
void jit_help_depend(struct pt_cta *cta, uint32_t is_wait);

#endif
