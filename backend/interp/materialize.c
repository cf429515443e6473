/* Codes that put into a slot what an operand names: special registers (PTX ISA 10), addresses of
 * variables, and values of another width.
 */
#include "backend/interp/materialize.h"
#include "backend/sreg.h"

/* ---- widths ---------------------------------------------------------------------------------- */

PT_FN1(copy_32, u32, u32, a)
PT_FN1(extend_s8, u32, s8, (uint32_t)(int32_t)a)
PT_FN1(extend_s16, u32, s16, (uint32_t)(int32_t)a)
PT_FN1(extend_s8_16, u16, s8, a)
PT_FN1(extend_s8_64, s64, s8, a)
PT_FN1(extend_s16_64, s64, s16, a)
PT_FN1(extend_s32_64, s64, s32, a)
PT_FN1(extend_u32_64, u64, u32, a)
PT_FN1(narrow_64, u32, u64, a)

pt_handler pt_materialize_extend(uint32_t from, uint32_t to, bool is_signed)
{
    if (to == 64)
        return !is_signed   ? extend_u32_64
               : from == 8  ? extend_s8_64
               : from == 16 ? extend_s16_64
                            : extend_s32_64;
    if (to == 16)
        return is_signed ? extend_s8_16 : copy_32;
    return !is_signed ? copy_32 : from == 8 ? extend_s8 : extend_s16;
}

pt_handler pt_materialize_narrow(void)
{
    return narrow_64;
}

/* ---- special registers: aux is the register -------------------------------------------------- */

PT_HANDLER(sreg_tid_32)
{
    const uint32_t *tid = f->state->warp->tid[c->aux - PT_SREG_tid_x];
    uint32_t *d = PT_SLOT(0, u32);
    PT_STORE_LANES(u32, d, const uint32_t value = tid[i];);
    return c + 1;
}

PT_HANDLER(sreg_tid_64)
{
    const uint32_t *tid = f->state->warp->tid[c->aux - PT_SREG_tid_x];
    uint64_t *d = PT_SLOT(0, u64);
    PT_STORE_LANES(u64, d, const uint64_t value = tid[i];);
    return c + 1;
}

static uint32_t lane_value(uint32_t sreg, uint32_t lane)
{
    uint32_t bit = 1u << lane;
    switch (sreg) {
    case PT_SREG_laneid:
        return lane;
    case PT_SREG_lanemask_eq:
        return bit;
    case PT_SREG_lanemask_lt:
        return bit - 1;
    case PT_SREG_lanemask_le:
        return bit | (bit - 1);
    case PT_SREG_lanemask_gt:
        return ~(bit | (bit - 1));
    default:
        return ~(bit - 1);
    }
}

PT_HANDLER(sreg_lane_32)
{
    uint32_t *d = PT_SLOT(0, u32);
    for (uint32_t i = 0; i < PT_WARP_SIZE; i++)
        if (f->lanes[i])
            d[i] = lane_value(c->aux, i);
    return c + 1;
}

PT_HANDLER(sreg_lane_64)
{
    uint64_t *d = PT_SLOT(0, u64);
    for (uint32_t i = 0; i < PT_WARP_SIZE; i++)
        if (f->lanes[i])
            d[i] = lane_value(c->aux, i);
    return c + 1;
}

/* The value of a register that is the same for the whole warp. */
static uint64_t warp_value(const struct pt_frame *f, uint32_t sreg)
{
    return sreg == PT_SREG_warpid ? f->state->warp->index
                                  : pt_sreg_of_cta(f->cta, (enum pt_sreg)sreg);
}

PT_HANDLER(sreg_warp_32)
{
    uint32_t v = (uint32_t)warp_value(f, c->aux), *d = PT_SLOT(0, u32);
    PT_STORE_LANES(u32, d, const uint32_t value = v;);
    return c + 1;
}

PT_HANDLER(sreg_warp_64)
{
    uint64_t v = warp_value(f, c->aux), *d = PT_SLOT(0, u64);
    if (pt_type_bits(pt_sreg_type((enum pt_sreg)c->aux)) == 32)
        v = (uint32_t)v;
    PT_STORE_LANES(u64, d, const uint64_t value = v;);
    return c + 1;
}

PT_HANDLER(sreg_warp_pred)
{
    PT_SET_PRED(0, warp_value(f, c->aux) ? UINT32_MAX : 0);
    return c + 1;
}

pt_handler pt_materialize_sreg(enum pt_sreg sreg, uint32_t bytes)
{
    _Static_assert(PT_SREG_tid_z == PT_SREG_tid_x + 2, "sreg.def");
    if (sreg >= PT_SREG_tid_x && sreg <= PT_SREG_tid_z)
        return bytes == 8 ? sreg_tid_64 : sreg_tid_32;
    switch (sreg) {
    case PT_SREG_laneid:
    case PT_SREG_lanemask_eq:
    case PT_SREG_lanemask_le:
    case PT_SREG_lanemask_lt:
    case PT_SREG_lanemask_ge:
    case PT_SREG_lanemask_gt:
        return bytes == 8 ? sreg_lane_64 : sreg_lane_32;
    default:
        return bytes == 8 ? sreg_warp_64 : bytes ? sreg_warp_32 : sreg_warp_pred;
    }
}

/* ---- addresses of variables: imm is the offset ----------------------------------------------- */

#define ADDRESS(name, T, ...)                                                               \
    PT_HANDLER(name)                                                                        \
    {                                                                                       \
        PT_ELT_##T *d = PT_SLOT(0, T);                                                      \
        uint64_t offset = c->imm;                                                           \
        PT_STORE_LANES(T, d, const PT_VAL_##T value = (PT_VAL_##T)(offset + __VA_ARGS__);); \
        return c + 1;                                                                       \
    }
ADDRESS(address_shared_32, u32, f->cta->window)
ADDRESS(address_shared_64, u64, f->cta->window)
ADDRESS(address_shared_generic, u64, f->cta->window + (uint64_t)(uintptr_t)f->shared)
ADDRESS(address_local_32, u32, f->base[i])
ADDRESS(address_local_64, u64, f->base[i])
ADDRESS(address_local_generic, u64,
        f->base[i] + (uint64_t)(uintptr_t)f->local0 + (uint64_t)i * f->local_stride)
ADDRESS(address_param_32, u32, 0)
ADDRESS(address_param_64, u64, 0)
ADDRESS(address_param_generic, u64, (uint64_t)(uintptr_t)f->params)

pt_handler pt_materialize_address(enum pt_space space, bool generic, uint32_t bytes)
{
    bool is_wide = bytes == 8;
    switch (space) {
    case PT_SPACE_SHARED:
        return !is_wide ? address_shared_32 : generic ? address_shared_generic : address_shared_64;
    case PT_SPACE_LOCAL:
        return !is_wide ? address_local_32 : generic ? address_local_generic : address_local_64;
    case PT_SPACE_PARAM:
        return !is_wide ? address_param_32 : generic ? address_param_generic : address_param_64;
    default:
        return NULL;
    }
}
