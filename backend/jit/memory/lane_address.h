/* Addresses of lanes one by one, made of what each lane loads: without a vector. */
#ifndef PTERA_BACKEND_JIT_MEMORY_LANE_ADDRESS_H
#define PTERA_BACKEND_JIT_MEMORY_LANE_ADDRESS_H

#include "backend/jit/jit.h"

enum { JIT_LANE_ADDRESS_STEPS = 8 };

struct jit_lane_address {
    uint32_t steps[JIT_LANE_ADDRESS_STEPS], n; /* instructions, from the address back to the load */
    LLVMValueRef loads[JIT_COPIES];            /* of the group's chunks: vectors */
};

/* Nothing is known of what j->insn loads. */
void jit_lane_address_forget(const struct jit *j);

/* It has loaded this for a chunk. */
void jit_lane_address_note(const struct jit *j, unsigned copy, LLVMValueRef vector);

/* The shared address of j->insn comes, by a few operations of one operand that differs between
 * lanes, from a load of global memory in the block, behind which nothing is written. All lanes are
 * on. */
bool jit_lane_address_find(const struct jit *j, const struct pt_operand *base,
                           struct jit_lane_address *at);

/* i32: the lane's. */
LLVMValueRef jit_lane_address_make(const struct jit *j, const struct jit_lane_address *at,
                                   unsigned copy, unsigned lane);

#endif
