/* atom and red. PTX ISA 9.7.13.5-6.
 *
 * Lanes go in ascending order. A CTA and its cluster run on one worker, so atomics of shared
 * memory are plain accesses; all others are atomic among workers. o = destination, address, b,
 * c.
 */
#include "backend/interp/address.h"
#include "backend/interp/async_store.h"
#include "backend/interp/fence.h"
#include "backend/interp/operands.h"
#include "backend/interp/reduce.h"
#include "backend/semantics/float.h"
#include "backend/semantics/half.h"

PT_ACCESS_INLINE bool is_shared_kind(enum pt_address kind)
{
    return kind == PT_ADDRESS_SHARED32 || kind == PT_ADDRESS_SHARED64 ||
           kind == PT_ADDRESS_SHARED_VAR;
}

/* Addresses of all lanes and their tests, as every handler here begins. */
#define ATOM_ADDRESSES(U)                                          \
    uint64_t a[PT_WARP_SIZE];                                      \
    uint32_t outside;                                              \
    enum pt_address kind = pt_address_kind(c);                     \
    f->state->code = c;                                            \
    if (pt_address_all(c, f, kind, a, &outside) & (sizeof(U) - 1)) \
        return pt_address_misaligned(c, f);                        \
    if (outside)                                                   \
    return pt_address_outside(c, f, outside)

/* The new value is expr over old, b and cmp (the third operand), of unsigned type U in slot
 * elements E. */
#define ATOM(name, U, E, expr)                                                                  \
    PT_ACCESS_HANDLER(name)                                                                     \
    {                                                                                           \
        ATOM_ADDRESSES(U);                                                                      \
        const E *b_ = (const E *)((const char *)f + c->o[2]);                                   \
        const E *c_ = (const E *)((const char *)f + c->o[3]);                                   \
        E result[PT_WARP_SIZE];                                                                 \
        bool is_shared = is_shared_kind(kind);                                                  \
        for (uint32_t left = f->mask; left; left &= left - 1) {                                 \
            uint32_t i = (uint32_t)__builtin_ctz(left);                                         \
            U *p = (U *)(uintptr_t)a[i], b = (U)b_[i], cmp = (U)c_[i];                          \
            bool in_shared = is_shared || a[i] - (uint64_t)(uintptr_t)f->shared <= UINT32_MAX;  \
            (void)cmp, (void)in_shared;                                                         \
            U old = __atomic_load_n(p, __ATOMIC_RELAXED);                                       \
            if (is_shared)                                                                      \
                *p = (U)(expr);                                                                 \
            else                                                                                \
                while (!__atomic_compare_exchange_n(p, &old, (U)(expr), true, __ATOMIC_RELAXED, \
                                                    __ATOMIC_RELAXED))                          \
                    ;                                                                           \
            result[i] = old;                                                                    \
        }                                                                                       \
        E *d = (E *)((char *)f + c->o[0]);                                                      \
        for (uint32_t left = f->mask; left; left &= left - 1)                                   \
            d[__builtin_ctz(left)] = result[__builtin_ctz(left)];                               \
        return c + 1;                                                                           \
    }

ATOM(add_32, uint32_t, uint32_t, old + b)
ATOM(add_64, uint64_t, uint64_t, old + b)
ATOM(and_32, uint32_t, uint32_t, old &b)
ATOM(and_64, uint64_t, uint64_t, old &b)
ATOM(or_32, uint32_t, uint32_t, old | b)
ATOM(or_64, uint64_t, uint64_t, old | b)
ATOM(xor_32, uint32_t, uint32_t, old ^ b)
ATOM(xor_64, uint64_t, uint64_t, old ^ b)
ATOM(inc_32, uint32_t, uint32_t, old >= b ? 0 : old + 1)
ATOM(dec_32, uint32_t, uint32_t, old == 0 || old > b ? b : old - 1)
ATOM(min_u32, uint32_t, uint32_t, old < b ? old : b)
ATOM(max_u32, uint32_t, uint32_t, old > b ? old : b)
ATOM(min_s32, uint32_t, uint32_t, (int32_t)old < (int32_t)b ? old : b)
ATOM(max_s32, uint32_t, uint32_t, (int32_t)old > (int32_t)b ? old : b)
ATOM(min_u64, uint64_t, uint64_t, old < b ? old : b)
ATOM(max_u64, uint64_t, uint64_t, old > b ? old : b)
ATOM(min_s64, uint64_t, uint64_t, (int64_t)old < (int64_t)b ? old : b)
ATOM(max_s64, uint64_t, uint64_t, (int64_t)old > (int64_t)b ? old : b)
ATOM(exch_32, uint32_t, uint32_t, b)
ATOM(exch_64, uint64_t, uint64_t, b)
ATOM(cas_16, uint16_t, uint32_t, old == b ? cmp : old)
ATOM(cas_32, uint32_t, uint32_t, old == b ? cmp : old)
ATOM(cas_64, uint64_t, uint64_t, old == b ? cmp : old)
/* Global memory flushes subnormals, shared memory does not. */
ATOM(add_f32, uint32_t, uint32_t, pt_float_add(old, b, PT_RN, !in_shared, false))
ATOM(add_f64, uint64_t, uint64_t, pt_float_atom_add64(old, b, in_shared))
ATOM(add_f16, uint16_t, uint32_t, pt_half_add(old, b, PT_F16, false, false))
ATOM(add_bf16, uint16_t, uint32_t, pt_half_add(old, b, PT_BF16, false, false))
ATOM(add_f16x2, uint32_t, uint32_t,
     pt_half_add(old & 0xffff, b & 0xffff, PT_F16, false, false) |
         pt_half_add(old >> 16, b >> 16, PT_F16, false, false) << 16)
ATOM(add_bf16x2, uint32_t, uint32_t,
     pt_half_add(old & 0xffff, b & 0xffff, PT_BF16, false, false) |
         pt_half_add(old >> 16, b >> 16, PT_BF16, false, false) << 16)

/* b128: exch, or cas with aux bit 15. */
enum { IS_CAS = 0x8000 };

PT_ACCESS_HANDLER(swap_128)
{
    typedef unsigned __int128 wide;
    ATOM_ADDRESSES(wide);
    const wide *b = (const wide *)((const char *)f + c->o[2]);
    const wide *with = (const wide *)((const char *)f + c->o[3]);
    wide *d = (wide *)((char *)f + c->o[0]), result[PT_WARP_SIZE];
    (void)kind;
    for (uint32_t left = f->mask; left; left &= left - 1) {
        uint32_t i = (uint32_t)__builtin_ctz(left);
        wide *p = (wide *)(uintptr_t)a[i], old = *p, seen;
        bool is_cas = c->aux & IS_CAS;
        if (is_cas) {
            result[i] = __sync_val_compare_and_swap(p, b[i], with[i]);
            continue;
        }
        while ((seen = __sync_val_compare_and_swap(p, old, b[i])) != old)
            old = seen;
        result[i] = old;
    }
    for (uint32_t left = f->mask; left; left &= left - 1)
        d[__builtin_ctz(left)] = result[__builtin_ctz(left)];
    return c + 1;
}

/* ---- vectors: each element is atomic for itself ---------------------------------------------- */

struct atom_vector {
    uint32_t n, bytes;                          /* elements, and bytes of one: 2 or 4 */
    uint32_t (*join)(uint32_t old, uint32_t b); /* the new value of an element */
    uint32_t d[8], b[8];                        /* slots */
};

static uint32_t join_add_f32(uint32_t old, uint32_t b)
{
    return pt_float_add(old, b, PT_RN, true, false);
}

/* Elements of 16 bits, and pairs of them. */
#define JOIN(name, expr)                                                                      \
    static uint32_t join_##name(uint32_t old, uint32_t b)                                     \
    {                                                                                         \
        return expr;                                                                          \
    }                                                                                         \
    static uint32_t join_##name##x2(uint32_t old, uint32_t b)                                 \
    {                                                                                         \
        return join_##name(old & 0xffff, b & 0xffff) | join_##name(old >> 16, b >> 16) << 16; \
    }
JOIN(add_f16, pt_half_add(old, b, PT_F16, false, false))
JOIN(add_bf16, pt_half_add(old, b, PT_BF16, false, false))
JOIN(min_f16, pt_half_pick(old, b, PT_F16, false, false, false, false))
JOIN(min_bf16, pt_half_pick(old, b, PT_BF16, false, false, false, false))
JOIN(max_f16, pt_half_pick(old, b, PT_F16, true, false, false, false))
JOIN(max_bf16, pt_half_pick(old, b, PT_BF16, true, false, false, false))

PT_ACCESS_INLINE uint32_t join_16(uint16_t *p, uint32_t b, uint32_t (*join)(uint32_t, uint32_t))
{
    uint16_t old = __atomic_load_n(p, __ATOMIC_RELAXED);
    while (!__atomic_compare_exchange_n(p, &old, (uint16_t)join(old, b), true, __ATOMIC_RELAXED,
                                        __ATOMIC_RELAXED))
        ;
    return old;
}

PT_ACCESS_INLINE uint32_t join_32(uint32_t *p, uint32_t b, uint32_t (*join)(uint32_t, uint32_t))
{
    uint32_t old = __atomic_load_n(p, __ATOMIC_RELAXED);
    while (!__atomic_compare_exchange_n(p, &old, join(old, b), true, __ATOMIC_RELAXED,
                                        __ATOMIC_RELAXED))
        ;
    return old;
}

PT_ACCESS_HANDLER(atom_vector)
{
    const struct atom_vector *v = c->ptr;
    struct pt_code at = pt_address_code(c);
    uint64_t a[PT_WARP_SIZE];
    uint32_t outside, result[8][PT_WARP_SIZE];
    f->state->code = c;
    if (pt_address_all(&at, f, pt_address_kind(c), a, &outside) & (v->n * v->bytes - 1))
        return pt_address_misaligned(c, f);
    if (outside)
        return pt_address_outside(c, f, outside);
    for (uint32_t left = f->mask; left; left &= left - 1) {
        uint32_t i = (uint32_t)__builtin_ctz(left);
        for (uint32_t k = 0; k < v->n; k++) {
            uint64_t to = a[i] + k * v->bytes;
            uint32_t b = ((const uint32_t *)((const char *)f + v->b[k]))[i];
            result[k][i] = v->bytes == 2 ? join_16((uint16_t *)(uintptr_t)to, b, v->join)
                                         : join_32((uint32_t *)(uintptr_t)to, b, v->join);
        }
    }
    for (uint32_t k = 0; k < v->n; k++)
        for (uint32_t left = f->mask; left; left &= left - 1)
            ((uint32_t *)((char *)f + v->d[k]))[__builtin_ctz(left)] =
                result[k][__builtin_ctz(left)];
    return c + 1;
}

/* ---- selecting ------------------------------------------------------------------------------- */

/* Binds [a], b and, for cas, c; a destination, if there is one, comes first. */
static bool bind_atom(struct pt_select *s, bool has_dest, uint32_t n_sources)
{
    struct pt_code *c = s->code;
    const struct pt_operand *o = s->operands;
    uint32_t bytes = pt_type_bytes((enum pt_type)s->form->type[0]);
    uint32_t width = bytes == 16 ? 16 : bytes == 8 ? 8 : 4;
    struct pt_operand sink = {.kind = PT_OPND_SINK};
    c->o[0] = pt_operands_dest(s, has_dest ? o++ : &sink);
    if (!pt_address_bind(s, o++, bytes))
        return false;
    c->o[2] = c->o[3] = pt_operands_source(s, o++, width);
    if (n_sources == 2)
        c->o[3] = pt_operands_source(s, o, width);
    if (c->o[2] == UINT32_MAX || c->o[3] == UINT32_MAX)
        return false;
    pt_fence_order(s);
    return true;
}

static pt_handler integer(struct pt_select *s)
{
    bool is_wide = PT_BITS(s, 0) == 64;
    bool is_signed = pt_type_class((enum pt_type)s->form->type[0]) == PT_CLASS_S;
    if (PT_HAS(s, add))
        return is_wide ? add_64 : add_32;
    if (PT_HAS(s, and))
        return is_wide ? and_64 : and_32;
    if (PT_HAS(s, or))
        return is_wide ? or_64 : or_32;
    if (PT_HAS(s, xor))
        return is_wide ? xor_64 : xor_32;
    if (PT_HAS(s, inc))
        return inc_32;
    if (PT_HAS(s, dec))
        return dec_32;
    if (PT_HAS(s, min))
        return is_wide ? is_signed ? min_s64 : min_u64 : is_signed ? min_s32 : min_u32;
    return is_wide ? is_signed ? max_s64 : max_u64 : is_signed ? max_s32 : max_u32;
}

static pt_handler floating(struct pt_select *s)
{
    switch (s->form->type[0]) {
    case PT_f32:
        return add_f32;
    case PT_f64:
        return add_f64;
    case PT_f16:
        return add_f16;
    case PT_bf16:
        return add_bf16;
    case PT_f16x2:
        return add_f16x2;
    case PT_bf16x2:
        return add_bf16x2;
    default:
        return NULL;
    }
}

pt_handler PT_DO(atom_int)(struct pt_select *s)
{
    return bind_atom(s, true, 1) ? integer(s) : NULL;
}

pt_handler PT_DO(red_int)(struct pt_select *s)
{
    return bind_atom(s, false, 1) ? integer(s) : NULL;
}

pt_handler PT_DO(atom_float)(struct pt_select *s)
{
    return bind_atom(s, true, 1) ? floating(s) : NULL;
}

pt_handler PT_DO(red_float)(struct pt_select *s)
{
    return bind_atom(s, false, 1) ? floating(s) : NULL;
}

/* With .release, to global memory: no mbarrier counts it. */
pt_handler PT_DO(red_async)(struct pt_select *s)
{
    if (s->insn->n_operands > 2)
        return pt_async_store_reduce(s);
    return bind_atom(s, false, 1) ? integer(s) : NULL;
}

pt_handler PT_DO(atom_exch)(struct pt_select *s)
{
    return !bind_atom(s, true, 1) ? NULL : PT_BITS(s, 0) == 64 ? exch_64 : exch_32;
}

pt_handler PT_DO(atom_cas)(struct pt_select *s)
{
    if (!bind_atom(s, true, 2))
        return NULL;
    return PT_BITS(s, 0) == 64 ? cas_64 : PT_BITS(s, 0) == 32 ? cas_32 : cas_16;
}

pt_handler PT_DO(atom_exch_b128)(struct pt_select *s)
{
    return bind_atom(s, true, 1) ? swap_128 : NULL;
}

pt_handler PT_DO(atom_cas_b128)(struct pt_select *s)
{
    if (!bind_atom(s, true, 2))
        return NULL;
    s->code->aux |= IS_CAS;
    return swap_128;
}

static uint32_t (*join_of(const struct pt_select *s))(uint32_t, uint32_t)
{
    bool is_min = PT_HAS(s, min), is_max = PT_HAS(s, max);
    switch (s->form->type[0]) {
    case PT_f32:
        return join_add_f32;
    case PT_f16:
        return is_min ? join_min_f16 : is_max ? join_max_f16 : join_add_f16;
    case PT_bf16:
        return is_min ? join_min_bf16 : is_max ? join_max_bf16 : join_add_bf16;
    case PT_f16x2:
        return is_min ? join_min_f16x2 : is_max ? join_max_f16x2 : join_add_f16x2;
    default:
        return is_min ? join_min_bf16x2 : is_max ? join_max_bf16x2 : join_add_bf16x2;
    }
}

static pt_handler select_vector(struct pt_select *s, bool has_dest)
{
    struct atom_vector *v = pt_operands_array(s, sizeof *v);
    const struct pt_operand *o = s->operands, *all = s->func->operands.v;
    const struct pt_operand sink = {.kind = PT_OPND_SINK}, *d = has_dest ? o++ : NULL;
    const struct pt_operand *mem = o++;
    v->n = (uint32_t)o->imm;
    v->bytes = pt_type_bytes((enum pt_type)s->form->type[0]);
    v->join = join_of(s);
    for (uint32_t k = 0; k < v->n; k++) {
        v->d[k] = pt_operands_dest(s, d && d->kind == PT_OPND_VEC ? &all[d->index + k] : &sink);
        v->b[k] = pt_operands_source(s, &all[o->index + k], 4);
        if (v->b[k] == UINT32_MAX)
            return NULL;
    }
    if (!pt_address_bind(s, mem, v->n * v->bytes))
        return NULL;
    pt_address_set_vector(s, v);
    pt_fence_order(s);
    return atom_vector;
}

pt_handler PT_DO(atom_vec)(struct pt_select *s)
{
    return select_vector(s, true);
}

pt_handler PT_DO(red_vec)(struct pt_select *s)
{
    return select_vector(s, false);
}
