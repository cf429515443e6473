/* Sets of operations by their numbers: those that are known to be over. */
#include "runtime/cuda/before.h"

#include <string.h>

enum { LATEST = PT_CU_BEFORE_LATEST };

bool pt_cu_before_has(const struct pt_cu_before *b, uint64_t number)
{
    return number < b->base || (number - b->base < LATEST &&
                                b->bits[(number - b->base) / 64] >> (number - b->base) % 64 & 1);
}

static void move_base(struct pt_cu_before *b, uint64_t base)
{
    uint64_t by = base - b->base, old[LATEST / 64];
    memcpy(old, b->bits, sizeof old);
    for (uint64_t i = 0; i < LATEST / 64; i++) {
        uint64_t at = i + by / 64;
        uint64_t low = at < LATEST / 64 ? old[at] : 0,
                 high = at + 1 < LATEST / 64 ? old[at + 1] : 0;
        b->bits[i] = by % 64 ? low >> by % 64 | high << (64 - by % 64) : low;
    }
    b->base = base;
}

void pt_cu_before_add(struct pt_cu_before *b, uint64_t number)
{
    if (number < b->base)
        return;
    if (number - b->base >= LATEST)
        move_base(b, number - LATEST + 1);
    b->bits[(number - b->base) / 64] |= UINT64_C(1) << (number - b->base) % 64;
}

bool pt_cu_before_join(struct pt_cu_before *to, const struct pt_cu_before *from)
{
    struct pt_cu_before other = *from;
    bool is_new = false;
    if (other.base > to->base)
        move_base(to, other.base);
    else if (other.base < to->base)
        move_base(&other, to->base);
    for (uint64_t i = 0; i < LATEST / 64; i++) {
        is_new |= (other.bits[i] & ~to->bits[i]) != 0;
        to->bits[i] |= other.bits[i];
    }
    return is_new;
}

void pt_cu_before_join_over(struct pt_cu_before *to, const struct pt_cu_before *from)
{
    pt_cu_before_join(to, from);
    if (from->own)
        pt_cu_before_add(to, from->own);
}
