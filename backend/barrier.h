/* What the operands of a CTA barrier say (PTX ISA 9.7.13.1): stated once, for both engines. */
#ifndef PTERA_BACKEND_BARRIER_H
#define PTERA_BACKEND_BARRIER_H

#include "backend/exec.h"

/* Of operands in registers an H200 takes these bits; counts of a few warps more than a CTA can have
 * are waited for in vain. */
enum {
    PT_BARRIER_NUMBER_BITS = PT_BARRIERS - 1,
    PT_BARRIER_COUNT_BITS = 0xfff,
    PT_BARRIER_COUNT_END = 2048
};

/* The thread count that the barrier gives, or PT_BARRIER_ALL; 0 if there can be no such barrier.
 * Without an operand `given` is 0. */
static inline uint32_t pt_barrier_count(uint32_t given, bool is_arrive)
{
    uint32_t count = given & PT_BARRIER_COUNT_BITS;
    if (!count)
        return is_arrive ? 0 : PT_BARRIER_ALL;
    return count % PT_WARP_SIZE || count >= PT_BARRIER_COUNT_END ? 0 : count;
}

#define PT_BARRIER_BAD_COUNT "the thread count of a barrier is not a multiple of 32 up to 2016"
#define PT_BARRIER_DIFFERS \
    "lanes of a warp give different numbers or counts at one barrier instruction"
/* Of instructions of a warp. */
#define PT_STRANGERS "the member mask leaves out the lane itself"
/* Of a deadlock within a warp. */
#define PT_PARTED_LANES "lanes of one warp wait for each other at different instructions:"

#endif
