/* What registers hold. */
#ifndef PTERA_BACKEND_INTERP_VALUES_H
#define PTERA_BACKEND_INTERP_VALUES_H

#include "backend/interp/state.h"

/* A register's value in a lane; value[1] is 0 but of 128 bits. */
static inline void pt_values_get(const struct pt_frame *f, uint32_t reg, uint32_t lane,
                                 uint64_t value[2])
{
    const char *slot = (const char *)f + f->body->slots[reg];
    unsigned bits = pt_type_bits((enum pt_type)f->body->func->regs.v[reg].type);
    const uint64_t *wide = (const uint64_t *)(const void *)slot;
    const uint32_t *narrow = (const uint32_t *)(const void *)slot;
    value[1] = bits > 64 ? wide[2 * lane + 1] : 0;
    if (bits <= 1)
        value[0] = *narrow >> lane & 1;
    else if (bits <= 32)
        value[0] = narrow[lane];
    else
        value[0] = wide[bits > 64 ? 2 * lane : lane];
}

#endif
