/* What bulk reductions make of each element. Others may change the same memory, so each is atomic
 * for itself. */
#include "backend/interp/reduce.h"
#include "backend/interp/access.h"
#include "backend/semantics/tensormap.h"
#include "backend/semantics/float.h"
#include "backend/semantics/half.h"

/* Elements of unsigned type U become expr over old and b. */
#define JOIN(name, U, expr)                                                                 \
    PT_ACCESS static void name(uint64_t to, uint64_t from, uint32_t bytes)                  \
    {                                                                                       \
        for (uint32_t at = 0; at < bytes; at += sizeof(U)) {                                \
            U *p = (U *)(uintptr_t)(to + at), b = *(const U *)(uintptr_t)(from + at);       \
            U old = __atomic_load_n(p, __ATOMIC_RELAXED);                                   \
            while (!__atomic_compare_exchange_n(p, &old, (U)(expr), true, __ATOMIC_RELAXED, \
                                                __ATOMIC_RELAXED))                          \
                ;                                                                           \
        }                                                                                   \
    }
#define JOINS_OF_BITS(bits, U)              \
    JOIN(add_u##bits, U, old + b)           \
    JOIN(and_u##bits, U, old &b)            \
    JOIN(or_u##bits, U, old | b)            \
    JOIN(xor_u##bits, U, old ^ b)           \
    JOIN(min_u##bits, U, old < b ? old : b) \
    JOIN(max_u##bits, U, old > b ? old : b)
JOINS_OF_BITS(32, uint32_t)
JOINS_OF_BITS(64, uint64_t)
JOIN(inc_u32, uint32_t, old >= b ? 0 : old + 1)
JOIN(dec_u32, uint32_t, old == 0 || old > b ? b : old - 1)
JOIN(min_s32, uint32_t, (int32_t)old < (int32_t)b ? old : b)
JOIN(max_s32, uint32_t, (int32_t)old > (int32_t)b ? old : b)
JOIN(min_s64, uint64_t, (int64_t)old < (int64_t)b ? old : b)
JOIN(max_s64, uint64_t, (int64_t)old > (int64_t)b ? old : b)
JOIN(add_f32, uint32_t, pt_float_add(old, b, PT_RN, false, false))
JOIN(add_f32_ftz, uint32_t, pt_float_add(old, b, PT_RN, true, false))
JOIN(add_f64, uint64_t, pt_float_atom_add64(old, b, false))
#define JOINS_OF_HALVES(name, type)                                                    \
    JOIN(add_##name, uint16_t, pt_half_add(old, b, type, false, false))                \
    JOIN(min_##name, uint16_t, pt_half_pick(old, b, type, false, false, false, false)) \
    JOIN(max_##name, uint16_t, pt_half_pick(old, b, type, true, false, false, false))
JOINS_OF_HALVES(f16, PT_F16)
JOINS_OF_HALVES(bf16, PT_BF16)

/* What the hardware has; its maps of s64 know no sums. */
pt_join pt_reduce_join(enum pt_reduce op, uint32_t element)
{
    static const pt_join joins[PT_REDUCE_COUNT][PT_ELEMENT_COUNT] = {
        [PT_REDUCE_ADD] = {[PT_ELEMENT_U32] = add_u32,
                           [PT_ELEMENT_S32] = add_u32,
                           [PT_ELEMENT_U64] = add_u64,
                           [PT_ELEMENT_F16] = add_f16,
                           [PT_ELEMENT_BF16] = add_bf16,
                           [PT_ELEMENT_F32] = add_f32,
                           [PT_ELEMENT_F32_FTZ] = add_f32_ftz,
                           [PT_ELEMENT_F64] = add_f64},
#define ORDERED(name)                                                 \
    {                                                                 \
        [PT_ELEMENT_U32] = name##_u32, [PT_ELEMENT_S32] = name##_s32, \
        [PT_ELEMENT_U64] = name##_u64, [PT_ELEMENT_S64] = name##_s64, \
        [PT_ELEMENT_F16] = name##_f16, [PT_ELEMENT_BF16] = name##_bf16}
        [PT_REDUCE_MIN] = ORDERED(min),
        [PT_REDUCE_MAX] = ORDERED(max),
        [PT_REDUCE_INC] = {[PT_ELEMENT_U32] = inc_u32},
        [PT_REDUCE_DEC] = {[PT_ELEMENT_U32] = dec_u32},
#define BITS(name) \
    {[PT_ELEMENT_U32] = name##_u32, [PT_ELEMENT_S32] = name##_u32, [PT_ELEMENT_U64] = name##_u64}
        [PT_REDUCE_AND] = BITS(and),
        [PT_REDUCE_OR] = BITS(or),
        [PT_REDUCE_XOR] = BITS(xor),
    };
    return element < PT_ELEMENT_COUNT ? joins[op][element] : NULL;
}

enum pt_reduce pt_reduce_of(const struct pt_form *form)
{
    static const enum pt_mod mods[PT_REDUCE_COUNT] = {
        [PT_REDUCE_ADD] = PT_M_add, [PT_REDUCE_MIN] = PT_M_min, [PT_REDUCE_MAX] = PT_M_max,
        [PT_REDUCE_INC] = PT_M_inc, [PT_REDUCE_DEC] = PT_M_dec, [PT_REDUCE_AND] = PT_M_and,
        [PT_REDUCE_OR] = PT_M_or,   [PT_REDUCE_XOR] = PT_M_xor};
    enum pt_reduce op = PT_REDUCE_ADD;
    while (op + 1 < PT_REDUCE_COUNT && !pt_form_has(form, mods[op]))
        op++;
    return op;
}

uint32_t pt_reduce_element(enum pt_type type)
{
    switch (type) {
    case PT_s32:
        return PT_ELEMENT_S32;
    case PT_u64:
    case PT_b64:
        return PT_ELEMENT_U64;
    case PT_s64:
        return PT_ELEMENT_S64;
    case PT_f16:
        return PT_ELEMENT_F16;
    case PT_bf16:
        return PT_ELEMENT_BF16;
    case PT_f32:
        return PT_ELEMENT_F32;
    case PT_f64:
        return PT_ELEMENT_F64;
    default:
        return PT_ELEMENT_U32;
    }
}
