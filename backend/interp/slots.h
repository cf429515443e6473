/* Slots of the frame. */
#ifndef PTERA_BACKEND_INTERP_SLOTS_H
#define PTERA_BACKEND_INTERP_SLOTS_H

#include "backend/interp/decoder.h"

/* Room of a slot, or of several, in the frame. */
#define pt_slots_take PT_LEVEL_NAME(pt_slots_take)
uint32_t pt_slots_take(struct pt_decoder *d, uint32_t bytes);
/* Gives each register its slot. */
#define pt_slots_assign PT_LEVEL_NAME(pt_slots_assign)
void pt_slots_assign(struct pt_decoder *d);
/* The slot of a constant. */
#define pt_slots_constant PT_LEVEL_NAME(pt_slots_constant)
uint32_t pt_slots_constant(struct pt_decoder *d, uint32_t width, uint64_t lo, uint64_t hi);
/* Bytes of a slot whose elements have `width` bytes; 0 is a predicate. */
static inline uint32_t pt_slots_bytes(uint32_t width)
{
    return width ? width * PT_WARP_SIZE : 4;
}

/* Bytes of a register's elements. */
static inline uint32_t pt_slots_width(const struct pt_func *f, uint32_t reg)
{
    uint32_t bits = pt_type_bits((enum pt_type)f->regs.v[reg].type);
    return bits == 1 ? 0 : bits <= 32 ? 4 : bits / 8;
}

#endif
