/* ld, st. PTX ISA 9.7.9.8-12.
 *
 * A load reads all lanes before it writes a register, a store goes lane by lane upwards. Where
 * the lanes of each half of a full warp have consecutive addresses, or one address, that is one
 * access.
 */
#include "backend/interp/address.h"
#include "backend/interp/fence.h"
#include "backend/interp/operands.h"
#include "backend/interp/shape.h"

/* ---- what the lanes' addresses are like ------------------------------------------------------ */

/* How addresses are found where the register decides: lane i's is base[i] plus `imm`, of 32 bits
 * and in the window where they are of shared memory. */
struct reg_address {
    const void *base;
    uint64_t window, imm;
    bool is_shared;
};

PT_ACCESS_INLINE struct reg_address find_reg(const struct pt_code *c, const struct pt_frame *f,
                                             bool is_shared, uint64_t imm)
{
    return (struct reg_address){__builtin_assume_aligned((char *)f + c->o[1], 64),
                                is_shared ? (uint64_t)(uintptr_t)f->shared : 0, imm, is_shared};
}

PT_ACCESS_INLINE uint64_t address_of(const struct reg_address *a, uint32_t i)
{
    return a->is_shared ? a->window + (uint32_t)(((const uint32_t *)a->base)[i] + a->imm)
                        : ((const uint64_t *)a->base)[i] + a->imm;
}

/* Whether a half's addresses, from lane `first` on, lie `bytes` apart. */
PT_ACCESS_INLINE bool is_run(const struct reg_address *a, uint32_t first, uint32_t bytes)
{
    return a->is_shared
               ? pt_shape_is_run32((const uint32_t *)a->base + first, PT_HALF, bytes)
               : pt_shape_is_run64((const uint64_t *)a->base + first, PT_HALF, bytes);
}

/* Moves values of `bytes` of the active lanes between memory and `slot` if they lie one behind the
 * other. False: they do not, or are misaligned. */
PT_ACCESS_INLINE bool move_part(const struct reg_address *a, uint32_t mask, void *slot,
                                uint32_t bytes, bool is_load)
{
#ifdef PT_SHAPE_PARTS
    if (bytes < 4 || !mask ||
        !(a->is_shared ? pt_shape_is_part32(a->base, mask, bytes)
                       : pt_shape_is_part64(a->base, mask, bytes)))
        return false;
    const uint32_t lowest = (uint32_t)__builtin_ctz(mask);
    const uint64_t at = address_of(a, lowest);
    char *start = (char *)(uintptr_t)(at - lowest * bytes);
    if (at & (bytes - 1))
        return false;
    pt_shape_move_part(is_load ? slot : start, is_load ? start : slot, mask, bytes);
    return true;
#else
    (void)a, (void)mask, (void)slot, (void)bytes, (void)is_load;
    return false;
#endif
}

/* The or of the addresses of the lanes of `mask`. */
PT_ACCESS_INLINE uint64_t any_address(const struct reg_address *a, uint32_t mask)
{
    uint64_t any = 0;
    if (mask == UINT32_MAX)
        for (uint32_t i = 0; i < PT_WARP_SIZE; i++)
            any |= address_of(a, i);
    else
        for (; mask; mask &= mask - 1)
            any |= address_of(a, (uint32_t)__builtin_ctz(mask));
    return any;
}

enum { CHUNK = 8 /* lanes at once, of full warps */ };

/* ---- loads ----------------------------------------------------------------------------------- */

/* One load of memory type M, extended as T, into slots of E, where the register decides (SHARED32
 * and REG64, the kinds that matter for speed): lane by lane, and not by gathers, which take twice
 * as long on a Zen 4. */
#define LOAD_LANES(name, M, T, E, is_shared)                                         \
    PT_ACCESS_COLD_HANDLER(name)                                                     \
    {                                                                                \
        const struct reg_address a = find_reg(c, f, is_shared, c->imm);              \
        E v[PT_WARP_SIZE] __attribute__((aligned(64)));                              \
        const uint32_t mask = f->mask;                                               \
        if (sizeof(M) == sizeof(E) && mask != UINT32_MAX &&                          \
            move_part(&a, mask, (char *)f + c->o[0], sizeof(M), true))               \
            return c + 1;                                                            \
        if (mask == UINT32_MAX)                                                      \
            for (uint32_t k = 0; k < PT_WARP_SIZE; k += CHUNK)                       \
                PT_VECTORS_EACH(i, CHUNK)                                              \
                v[k + i] = (E)(T) * (const volatile M *)(uintptr_t)address_of(       \
                                       &a, k + i);                                   \
        else                                                                         \
            for (uint32_t left = mask; left; left &= left - 1) {                     \
                uint32_t i = (uint32_t)__builtin_ctz(left);                          \
                v[i] = (E)(T) * (const M *)(uintptr_t)address_of(&a, i);             \
            }                                                                        \
        if (__builtin_expect(any_address(&a, mask) & (sizeof(M) - 1), 0))            \
            return pt_address_misaligned(c, f);                                      \
        E *d = (E *)__builtin_assume_aligned((char *)f + c->o[0], 64);               \
        STORE_ACTIVE(d, v[i]);                                                       \
        return c + 1;                                                                \
    }

/* The same of a full warp, of which each half reads consecutive values, or all of it one. */
#define LOAD_FAST(name, M, T, E, is_shared)                                                \
    LOAD_LANES(name##_lanes, M, T, E, is_shared)                                           \
    PT_ACCESS_HANDLER(name)                                                                \
    {                                                                                      \
        enum { PIECES = PT_SHAPE_PIECES(E) };                                              \
        const struct reg_address a = find_reg(c, f, is_shared, c->imm);                    \
        pt_shape_piece v[2 * PIECES];                                                      \
        uint64_t any = 0;                                                                  \
        f->state->code = c;                                                                \
        if (__builtin_expect(f->mask != UINT32_MAX, 0))                                    \
            return name##_lanes(c, f);                                                     \
        PT_VECTORS_EACH(half, 2)                                                             \
        {                                                                                  \
            uint64_t at = address_of(&a, half * PT_HALF);                                  \
            const M *from = (const M *)(uintptr_t)at;                                      \
            any |= at;                                                                     \
            if (!is_run(&a, half * PT_HALF, sizeof(M))) {                                  \
                if (!is_run(&a, half * PT_HALF, 0))                                        \
                    return name##_lanes(c, f);                                             \
                pt_shape_fill(v + half * PIECES, (E)(T) * from, sizeof(E));                \
            } else if (sizeof(M) == sizeof(E)) {                                           \
                pt_shape_load(v + half * PIECES, from, sizeof(E));                         \
            } else {                                                                       \
                PT_VECTORS_LOOP(i, PT_HALF)                                                  \
                ((E *)v)[half * PT_HALF + i] = (E)(T)from[i];                              \
            }                                                                              \
        }                                                                                  \
        if (__builtin_expect(any & (sizeof(M) - 1), 0))                                    \
            return pt_address_misaligned(c, f);                                            \
        pt_shape_piece *d = (pt_shape_piece *)((char *)f + c->o[0]);                       \
        PT_VECTORS_EACH(k, 2 * PIECES)                                                       \
        d[k] = v[k];                                                                       \
        return c + 1;                                                                      \
    }

/* d[i] = value for the active lanes. */
#define STORE_ACTIVE(d, value)                            \
    do {                                                  \
        if (__builtin_expect(f->mask == UINT32_MAX, 1)) { \
            PT_LANES(d)[i] = (value);                     \
        } else {                                          \
            const uint32_t *on = f->lanes;                \
            PT_LANES(d)[i] = on[i] ? (value) : (d)[i];    \
        }                                                 \
    } while (0)

/* The same for every lane: one load, whole, so also for volatile and .relaxed. */
#define LOAD_UNIFORM(name, M, T, E)                                                   \
    PT_ACCESS_HANDLER(name)                                                           \
    {                                                                                 \
        uint64_t at = pt_address_of(c, f, pt_address_kind(c), 0);                     \
        f->state->code = c;                                                           \
        if (__builtin_expect(at & (sizeof(M) - 1), 0))                                \
            return pt_address_misaligned(c, f);                                       \
        E one = (E)(T)(M)__atomic_load_n((const M *)(uintptr_t)at, __ATOMIC_RELAXED); \
        E *d = (E *)__builtin_assume_aligned((char *)f + c->o[0], 64);                \
        STORE_ACTIVE(d, one);                                                         \
        return c + 1;                                                                 \
    }

/* Any address, lane by lane; with relaxed atomic loads, so also for volatile and .relaxed. */
#define LOAD_ANY(name, M, T, E)                                                            \
    PT_ACCESS_HANDLER(name)                                                                \
    {                                                                                      \
        uint64_t a[PT_WARP_SIZE];                                                          \
        E v[PT_WARP_SIZE] __attribute__((aligned(64)));                                    \
        uint32_t outside;                                                                  \
        f->state->code = c;                                                                \
        if (pt_address_all(c, f, pt_address_kind(c), a, &outside) & (sizeof(M) - 1))       \
            return pt_address_misaligned(c, f);                                            \
        if (outside)                                                                       \
            return pt_address_outside(c, f, outside);                                      \
        for (uint32_t left = f->mask; left; left &= left - 1) {                            \
            uint32_t i = (uint32_t)__builtin_ctz(left);                                    \
            v[i] = (E)(T)(M)__atomic_load_n((const M *)(uintptr_t)a[i], __ATOMIC_RELAXED); \
        }                                                                                  \
        E *d = (E *)__builtin_assume_aligned((char *)f + c->o[0], 64);                     \
        STORE_ACTIVE(d, v[i]);                                                             \
        return c + 1;                                                                      \
    }

/* Memory type, what it is extended to, slot element; X(name, M, T, E). */
#define LOADS(X)                            \
    X(u8_32, uint8_t, uint32_t, uint32_t)   \
    X(s8_32, int8_t, int32_t, uint32_t)     \
    X(s8_16, int8_t, uint16_t, uint32_t)    \
    X(u16_32, uint16_t, uint32_t, uint32_t) \
    X(s16_32, int16_t, int32_t, uint32_t)   \
    X(u32_32, uint32_t, uint32_t, uint32_t) \
    X(u8_64, uint8_t, uint64_t, uint64_t)   \
    X(s8_64, int8_t, int64_t, uint64_t)     \
    X(u16_64, uint16_t, uint64_t, uint64_t) \
    X(s16_64, int16_t, int64_t, uint64_t)   \
    X(u32_64, uint32_t, uint64_t, uint64_t) \
    X(s32_64, int32_t, int64_t, uint64_t)   \
    X(u64_64, uint64_t, uint64_t, uint64_t)

#define X(name, M, T, E)                         \
    LOAD_FAST(load_reg_##name, M, T, E, false)   \
    LOAD_FAST(load_shared_##name, M, T, E, true) \
    LOAD_UNIFORM(load_uniform_##name, M, T, E)   \
    LOAD_ANY(load_any_##name, M, T, E)
LOADS(X)
#undef X

enum load {
#define X(name, M, T, E) LOAD_##name,
    LOADS(X)
#undef X
        LOAD_COUNT
};

/* By how the address is found: REG64, SHARED32, uniform, any. */
static const pt_handler loads[LOAD_COUNT][4] = {
#define X(name, M, T, E) \
    [LOAD_##name] = {load_reg_##name, load_shared_##name, load_uniform_##name, load_any_##name},
    LOADS(X)
#undef X
};

/* ---- stores ---------------------------------------------------------------------------------- */

/* All addresses are tested before anything is written. */
#define STORE_LANES(name, M, E, is_shared)                                           \
    PT_ACCESS_COLD_HANDLER(name)                                                     \
    {                                                                                \
        const struct reg_address a = find_reg(c, f, is_shared, c->imm);              \
        const E *v = (const E *)__builtin_assume_aligned((char *)f + c->o[0], 64);   \
        const uint32_t mask = f->mask;                                               \
        if (sizeof(M) == sizeof(E) && mask != UINT32_MAX &&                          \
            move_part(&a, mask, (char *)f + c->o[0], sizeof(M), false))              \
            return c + 1;                                                            \
        if (any_address(&a, mask) & (sizeof(M) - 1))                                 \
            return pt_address_misaligned(c, f);                                      \
        if (mask == UINT32_MAX)                                                      \
            for (uint32_t k = 0; k < PT_WARP_SIZE; k += CHUNK)                       \
                PT_VECTORS_EACH(i, CHUNK)                                              \
                *(M *)(uintptr_t)address_of(&a, k + i) = (M)v[k + i];                \
        else                                                                         \
            for (uint32_t left = mask; left; left &= left - 1) {                     \
                uint32_t i = (uint32_t)__builtin_ctz(left);                          \
                *(M *)(uintptr_t)address_of(&a, i) = (M)v[i];                        \
            }                                                                        \
        return c + 1;                                                                \
    }

/* The same of a full warp, of which each half writes consecutive values. */
#define STORE_FAST(name, M, E, is_shared)                                                 \
    STORE_LANES(name##_lanes, M, E, is_shared)                                            \
    PT_ACCESS_HANDLER(name)                                                               \
    {                                                                                     \
        const struct reg_address a = find_reg(c, f, is_shared, c->imm);                   \
        const char *v = __builtin_assume_aligned((char *)f + c->o[0], 64);                \
        uint64_t at[2] = {address_of(&a, 0), address_of(&a, PT_HALF)};                    \
        f->state->code = c;                                                               \
        if (__builtin_expect(f->mask != UINT32_MAX, 0) || !is_run(&a, 0, sizeof(M)) ||    \
            !is_run(&a, PT_HALF, sizeof(M)))                                              \
            return name##_lanes(c, f);                                                    \
        if (__builtin_expect((at[0] | at[1]) & (sizeof(M) - 1), 0))                       \
            return pt_address_misaligned(c, f);                                           \
        PT_VECTORS_EACH(half, 2)                                                            \
        {                                                                                 \
            M narrow[PT_HALF] __attribute__((aligned(16)));                               \
            const E *from = (const E *)v + half * PT_HALF;                                \
            char *to = (char *)(uintptr_t)at[half];                                       \
            if (sizeof(M) == sizeof(E)) {                                                 \
                pt_shape_store(to, (const pt_shape_piece *)from, sizeof(E));              \
                continue;                                                                 \
            }                                                                             \
            PT_VECTORS_LOOP(i, PT_HALF)                                                     \
            narrow[i] = (M)from[i];                                                       \
            for (uint32_t byte = 0; byte < sizeof narrow; byte += 16)                     \
                pt_copy16(to + byte, (const char *)narrow + byte);                        \
        }                                                                                 \
        return c + 1;                                                                     \
    }

#define STORE_ANY(name, M, E)                                                        \
    PT_ACCESS_HANDLER(name)                                                          \
    {                                                                                \
        const E *v = (const E *)__builtin_assume_aligned((char *)f + c->o[0], 64);   \
        uint64_t a[PT_WARP_SIZE];                                                    \
        uint32_t outside;                                                            \
        f->state->code = c;                                                          \
        if (pt_address_all(c, f, pt_address_kind(c), a, &outside) & (sizeof(M) - 1)) \
            return pt_address_misaligned(c, f);                                      \
        if (outside)                                                                 \
            return pt_address_outside(c, f, outside);                                \
        for (uint32_t left = f->mask; left; left &= left - 1) {                      \
            uint32_t i = (uint32_t)__builtin_ctz(left);                              \
            __atomic_store_n((M *)(uintptr_t)a[i], (M)v[i], __ATOMIC_RELAXED);       \
        }                                                                            \
        return c + 1;                                                                \
    }

/* Memory type and slot element: X(name, M, E). */
#define STORES(X)                 \
    X(u8_32, uint8_t, uint32_t)   \
    X(u16_32, uint16_t, uint32_t) \
    X(u32_32, uint32_t, uint32_t) \
    X(u8_64, uint8_t, uint64_t)   \
    X(u16_64, uint16_t, uint64_t) \
    X(u32_64, uint32_t, uint64_t) \
    X(u64_64, uint64_t, uint64_t)

#define X(name, M, E)                           \
    STORE_FAST(store_reg_##name, M, E, false)   \
    STORE_FAST(store_shared_##name, M, E, true) \
    STORE_ANY(store_any_##name, M, E)
STORES(X)
#undef X

enum store {
#define X(name, M, E) STORE_##name,
    STORES(X)
#undef X
        STORE_COUNT
};

static const pt_handler stores[STORE_COUNT][3] = {
#define X(name, M, E) [STORE_##name] = {store_reg_##name, store_shared_##name, store_any_##name},
    STORES(X)
#undef X
};

/* ---- vectors --------------------------------------------------------------------------------- */

/* The parts of a vector access: registers, and how each is extended. */
struct vector {
    uint32_t n;
    uint32_t bytes; /* of an element in memory */
    bool is_signed;
    uint32_t slot[8];
    uint8_t slot_bytes[8], reg_bits[8];
};

void pt_load_store_bytes(const struct pt_code *c, const struct pt_frame *f, uint32_t lane,
                         uint8_t *bytes)
{
    const struct vector *v = c->ptr;
    for (uint32_t k = 0; k < v->n; k++)
        memcpy(bytes + k * v->bytes,
               (const char *)f + v->slot[k] + (size_t)lane * v->slot_bytes[k], v->bytes);
}

/* An element is one access, whole, so also for volatile and .relaxed vectors: PTX ISA 8.2.2. */
PT_ACCESS_INLINE uint64_t load_element(uint64_t at, uint32_t bytes, bool is_signed)
{
    switch (bytes) {
    case 1: {
        uint8_t v = __atomic_load_n((const uint8_t *)(uintptr_t)at, __ATOMIC_RELAXED);
        return is_signed ? (uint64_t)(int8_t)v : v;
    }
    case 2: {
        uint16_t v = __atomic_load_n((const uint16_t *)(uintptr_t)at, __ATOMIC_RELAXED);
        return is_signed ? (uint64_t)(int16_t)v : v;
    }
    case 4: {
        uint32_t v = __atomic_load_n((const uint32_t *)(uintptr_t)at, __ATOMIC_RELAXED);
        return is_signed ? (uint64_t)(int32_t)v : v;
    }
    default:
        return __atomic_load_n((const uint64_t *)(uintptr_t)at, __ATOMIC_RELAXED);
    }
}

PT_ACCESS_INLINE void store_element(uint64_t at, uint32_t bytes, uint64_t value)
{
    switch (bytes) {
    case 1:
        __atomic_store_n((uint8_t *)(uintptr_t)at, (uint8_t)value, __ATOMIC_RELAXED);
        break;
    case 2:
        __atomic_store_n((uint16_t *)(uintptr_t)at, (uint16_t)value, __ATOMIC_RELAXED);
        break;
    case 4:
        __atomic_store_n((uint32_t *)(uintptr_t)at, (uint32_t)value, __ATOMIC_RELAXED);
        break;
    default:
        __atomic_store_n((uint64_t *)(uintptr_t)at, value, __ATOMIC_RELAXED);
    }
}

PT_ACCESS_HANDLER(load_vector)
{
    const struct vector *v = c->ptr;
    struct pt_code at = pt_address_code(c);
    uint64_t a[PT_WARP_SIZE], value[8][PT_WARP_SIZE];
    uint32_t outside;
    f->state->code = c;
    if (pt_address_all(&at, f, pt_address_kind(c), a, &outside) & (v->n * v->bytes - 1))
        return pt_address_misaligned(c, f);
    if (outside)
        return pt_address_outside(c, f, outside);
    for (uint32_t left = f->mask; left; left &= left - 1) {
        uint32_t i = (uint32_t)__builtin_ctz(left);
        for (uint32_t k = 0; k < v->n; k++)
            value[k][i] = load_element(a[i] + k * v->bytes, v->bytes, v->is_signed);
    }
    /* To 128 bits a GPU extends the sign of 64 alone; that of fewer ends at 64. */
    const bool is_s64 = v->is_signed && v->bytes == 8;
    for (uint32_t k = 0; k < v->n; k++) {
        char *d = (char *)f + v->slot[k];
        uint32_t keep = v->reg_bits[k] < 32 ? (1u << v->reg_bits[k]) - 1 : UINT32_MAX;
        for (uint32_t left = f->mask; left; left &= left - 1) {
            uint32_t i = (uint32_t)__builtin_ctz(left);
            if (v->slot_bytes[k] == 16)
                ((unsigned __int128 *)d)[i] =
                    is_s64 ? (unsigned __int128)(int64_t)value[k][i] : value[k][i];
            else if (v->slot_bytes[k] == 8)
                ((uint64_t *)d)[i] = value[k][i];
            else
                ((uint32_t *)d)[i] = (uint32_t)value[k][i] & keep;
        }
    }
    return c + 1;
}

PT_ACCESS_HANDLER(store_vector)
{
    const struct vector *v = c->ptr;
    struct pt_code at = pt_address_code(c);
    uint64_t a[PT_WARP_SIZE];
    uint32_t outside;
    f->state->code = c;
    if (pt_address_all(&at, f, pt_address_kind(c), a, &outside) & (v->n * v->bytes - 1))
        return pt_address_misaligned(c, f);
    if (outside)
        return pt_address_outside(c, f, outside);
    for (uint32_t left = f->mask; left; left &= left - 1) {
        uint32_t i = (uint32_t)__builtin_ctz(left);
        for (uint32_t k = 0; k < v->n; k++) {
            const char *s = (const char *)f + v->slot[k] + (size_t)i * v->slot_bytes[k];
            store_element(a[i] + k * v->bytes, v->bytes,
                          v->slot_bytes[k] > 4 ? *(const uint64_t *)s : *(const uint32_t *)s);
        }
    }
    return c + 1;
}

/* True if all lanes are active, one behind the other in memory. */
PT_ACCESS_INLINE bool is_whole_run(const struct pt_frame *f, const uint64_t *a, uint32_t bytes)
{
    uint64_t differ = ~f->mask;
    for (uint32_t i = 0; i < PT_WARP_SIZE; i++)
        differ |= a[i] ^ (a[0] + i * bytes);
    return !differ;
}

/* Vectors of n elements as wide as their slots. */
#define VECTOR(load, store, E, count)                                                          \
    PT_ACCESS_HANDLER(load)                                                                    \
    {                                                                                          \
        const struct vector *vector = c->ptr;                                                  \
        struct pt_code at = pt_address_code(c);                                                \
        uint64_t a[PT_WARP_SIZE];                                                              \
        E value[count][PT_WARP_SIZE] __attribute__((aligned(64)));                             \
        uint32_t outside;                                                                      \
        f->state->code = c;                                                                    \
        if (pt_address_all(&at, f, pt_address_kind(c), a, &outside) & (count * sizeof(E) - 1)) \
            return pt_address_misaligned(c, f);                                                \
        if (outside)                                                                           \
            return pt_address_outside(c, f, outside);                                          \
        if (is_whole_run(f, a, count * sizeof(E))) {                                           \
            const E *p = (const E *)(uintptr_t)a[0];                                           \
            PT_VECTORS_LOOP(i, PT_WARP_SIZE)                                                       \
            for (uint32_t k = 0; k < count; k++)                                               \
                value[k][i] = p[count * i + k];                                                \
        } else {                                                                               \
            for (uint32_t left = f->mask; left; left &= left - 1) {                            \
                uint32_t i = (uint32_t)__builtin_ctz(left);                                    \
                const E *p = (const E *)(uintptr_t)a[i];                                       \
                for (uint32_t k = 0; k < count; k++)                                           \
                    value[k][i] = p[k];                                                        \
            }                                                                                  \
        }                                                                                      \
        for (uint32_t k = 0; k < count; k++) {                                                 \
            E *d = (E *)__builtin_assume_aligned((char *)f + vector->slot[k], 64);             \
            const E *from = value[k];                                                          \
            STORE_ACTIVE(d, from[i]);                                                          \
        }                                                                                      \
        return c + 1;                                                                          \
    }                                                                                          \
    PT_ACCESS_HANDLER(store)                                                                   \
    {                                                                                          \
        const struct vector *vector = c->ptr;                                                  \
        struct pt_code at = pt_address_code(c);                                                \
        uint64_t a[PT_WARP_SIZE];                                                              \
        const E *source[count];                                                                \
        uint32_t outside;                                                                      \
        f->state->code = c;                                                                    \
        if (pt_address_all(&at, f, pt_address_kind(c), a, &outside) & (count * sizeof(E) - 1)) \
            return pt_address_misaligned(c, f);                                                \
        if (outside)                                                                           \
            return pt_address_outside(c, f, outside);                                          \
        for (uint32_t k = 0; k < count; k++)                                                   \
            source[k] = __builtin_assume_aligned((const char *)f + vector->slot[k], 64);       \
        if (is_whole_run(f, a, count * sizeof(E))) {                                           \
            E *p = (E *)(uintptr_t)a[0];                                                       \
            PT_VECTORS_LOOP(i, PT_WARP_SIZE)                                                       \
            for (uint32_t k = 0; k < count; k++)                                               \
                p[count * i + k] = source[k][i];                                               \
            return c + 1;                                                                      \
        }                                                                                      \
        for (uint32_t left = f->mask; left; left &= left - 1) {                                \
            uint32_t i = (uint32_t)__builtin_ctz(left);                                        \
            E *p = (E *)(uintptr_t)a[i];                                                       \
            for (uint32_t k = 0; k < count; k++)                                               \
                p[k] = source[k][i];                                                           \
        }                                                                                      \
        return c + 1;                                                                          \
    }
VECTOR(load_2x32, store_2x32, uint32_t, 2)
VECTOR(load_4x32, store_4x32, uint32_t, 4)
VECTOR(load_2x64, store_2x64, uint64_t, 2)

/* A load of a full warp of which each half reads one vector, where a register has the addresses. */
#define VECTOR_FAST(name, any, E, count, is_shared)                                       \
    PT_ACCESS_HANDLER(name)                                                               \
    {                                                                                     \
        enum { PIECES = PT_SHAPE_PIECES(E) };                                             \
        const struct vector *vector = c->ptr;                                             \
        const struct reg_address a = find_reg(c, f, is_shared, pt_address_code(c).imm);   \
        f->state->code = c;                                                               \
        if (__builtin_expect(f->mask != UINT32_MAX, 0) || !is_run(&a, 0, 0) ||            \
            !is_run(&a, PT_HALF, 0))                                                      \
            return any(c, f);                                                             \
        uint64_t at[2] = {address_of(&a, 0), address_of(&a, PT_HALF)};                    \
        E value[2 * count];                                                               \
        PT_VECTORS_EACH(k, 2 * count)                                                       \
        value[k] = ((const E *)(uintptr_t)at[k / count])[k % count];                      \
        if (__builtin_expect((at[0] | at[1]) & (count * sizeof(E) - 1), 0))               \
            return pt_address_misaligned(c, f);                                           \
        PT_VECTORS_EACH(k, 2 * count)                                                       \
        {                                                                                 \
            pt_shape_piece *d = (pt_shape_piece *)((char *)f + vector->slot[k % count]);  \
            pt_shape_fill(d + k / count * PIECES, value[k], sizeof(E));                   \
        }                                                                                 \
        return c + 1;                                                                     \
    }
VECTOR_FAST(load_reg_2x32, load_2x32, uint32_t, 2, false)
VECTOR_FAST(load_reg_4x32, load_4x32, uint32_t, 4, false)
VECTOR_FAST(load_reg_2x64, load_2x64, uint64_t, 2, false)
VECTOR_FAST(load_shared_2x32, load_2x32, uint32_t, 2, true)
VECTOR_FAST(load_shared_4x32, load_4x32, uint32_t, 4, true)
VECTOR_FAST(load_shared_2x64, load_2x64, uint64_t, 2, true)

/* By what a vector consists of, and how the address is found: REG64, SHARED32, any. */
enum plain { PLAIN_2x32, PLAIN_4x32, PLAIN_2x64, PLAIN_COUNT };
static const pt_handler vector_loads[PLAIN_COUNT][3] = {
    [PLAIN_2x32] = {load_reg_2x32, load_shared_2x32, load_2x32},
    [PLAIN_4x32] = {load_reg_4x32, load_shared_4x32, load_4x32},
    [PLAIN_2x64] = {load_reg_2x64, load_shared_2x64, load_2x64},
};
static const pt_handler vector_stores[PLAIN_COUNT] = {store_2x32, store_4x32, store_2x64};

/* b128: a slot of 16-byte elements. Aligned 16 bytes move whole on x86-64: Intel and AMD promise it
 * of every machine with AVX. 64-bit ARM promises it of exclusive pairs only, so that a strong load
 * there writes what it read. */
#if defined(__x86_64__)
PT_ACCESS_INLINE void load_whole(void *to, void *from)
{
    _mm_store_si128(to, *(const volatile __m128i *)from);
}

PT_ACCESS_INLINE void store_whole(void *to, const void *from)
{
    *(volatile __m128i *)to = _mm_load_si128(from);
}
#else
PT_ACCESS_INLINE void load_whole(void *to, void *from)
{
    *(unsigned __int128 *)to = __sync_val_compare_and_swap((unsigned __int128 *)from, 0, 0);
}

PT_ACCESS_INLINE void store_whole(void *to, const void *from)
{
    unsigned __int128 *p = to, value = *(const unsigned __int128 *)from, old = *p, seen;
    while ((seen = __sync_val_compare_and_swap(p, old, value)) != old)
        old = seen;
}
#endif

#define COPY_128(load, store, load_one, store_one)                                     \
    PT_ACCESS_HANDLER(load)                                                            \
    {                                                                                  \
        uint64_t a[PT_WARP_SIZE], value[PT_WARP_SIZE][2] __attribute__((aligned(16))); \
        uint64_t *d = (uint64_t *)((char *)f + c->o[0]);                               \
        uint32_t outside;                                                              \
        f->state->code = c;                                                            \
        if (pt_address_all(c, f, pt_address_kind(c), a, &outside) & 15)                \
            return pt_address_misaligned(c, f);                                        \
        if (outside)                                                                   \
            return pt_address_outside(c, f, outside);                                  \
        for (uint32_t left = f->mask; left; left &= left - 1) {                        \
            uint32_t i = (uint32_t)__builtin_ctz(left);                                \
            load_one(value[i], (void *)(uintptr_t)a[i]);                               \
        }                                                                              \
        for (uint32_t left = f->mask; left; left &= left - 1)                          \
            pt_copy16(d + 2 * __builtin_ctz(left), value[__builtin_ctz(left)]);        \
        return c + 1;                                                                  \
    }                                                                                  \
    PT_ACCESS_HANDLER(store)                                                           \
    {                                                                                  \
        uint64_t a[PT_WARP_SIZE], *v = (uint64_t *)((char *)f + c->o[0]);              \
        uint32_t outside;                                                              \
        f->state->code = c;                                                            \
        if (pt_address_all(c, f, pt_address_kind(c), a, &outside) & 15)                \
            return pt_address_misaligned(c, f);                                        \
        if (outside)                                                                   \
            return pt_address_outside(c, f, outside);                                  \
        for (uint32_t left = f->mask; left; left &= left - 1) {                        \
            uint32_t i = (uint32_t)__builtin_ctz(left);                                \
            store_one((void *)(uintptr_t)a[i], v + 2 * i);                             \
        }                                                                              \
        return c + 1;                                                                  \
    }
COPY_128(load_128, store_128, pt_copy16, pt_copy16)
COPY_128(load_whole_128, store_whole_128, load_whole, store_whole)

/* ---- selecting ------------------------------------------------------------------------------- */

/* Register and slot of operand o of a load or store; a constant source gets a slot of 8 bytes (one
 * of type .f32 would be widened to .f64 there, and gets 4). */
static bool data_slot(struct pt_select *s, const struct pt_operand *o, bool is_load,
                      struct vector *v)
{
    uint32_t k = v->n++, bits = 32;
    if (o->kind == PT_OPND_REG)
        bits = pt_type_bits((enum pt_type)s->func->regs.v[o->index].type);
    else if ((!is_load && o->type != PT_f32) || o->kind == PT_OPND_SINK)
        bits = 64;
    v->reg_bits[k] = (uint8_t)bits;
    v->slot_bytes[k] = bits == 128 ? 16 : bits == 64 ? 8 : 4;
    v->slot[k] = is_load ? pt_operands_dest(s, o) : pt_operands_source(s, o, v->slot_bytes[k]);
    return v->slot[k] != UINT32_MAX;
}

static enum load load_type(uint32_t bytes, bool is_signed, const struct vector *v)
{
    bool is_wide = v->slot_bytes[0] == 8;
    switch (bytes) {
    case 1:
        return is_wide                             ? is_signed ? LOAD_s8_64 : LOAD_u8_64
               : !is_signed || v->reg_bits[0] == 8 ? LOAD_u8_32
               : v->reg_bits[0] == 16              ? LOAD_s8_16
                                                   : LOAD_s8_32;
    case 2:
        return is_wide                             ? is_signed ? LOAD_s16_64 : LOAD_u16_64
               : is_signed && v->reg_bits[0] == 32 ? LOAD_s16_32
                                                   : LOAD_u16_32;
    case 4:
        return is_wide ? is_signed ? LOAD_s32_64 : LOAD_u32_64 : LOAD_u32_32;
    default:
        return LOAD_u64_64;
    }
}

static enum store store_type(uint32_t bytes, const struct vector *v)
{
    bool is_wide = v->slot_bytes[0] == 8;
    switch (bytes) {
    case 1:
        return is_wide ? STORE_u8_64 : STORE_u8_32;
    case 2:
        return is_wide ? STORE_u16_64 : STORE_u16_32;
    case 4:
        return is_wide ? STORE_u32_64 : STORE_u32_32;
    default:
        return STORE_u64_64;
    }
}

static pt_handler scalar(struct pt_select *s, const struct vector *v, bool is_load, bool is_strong)
{
    enum pt_address kind = pt_address_kind(s->code);
    s->code->o[0] = v->slot[0];
    if (v->bytes == 16)
        return is_load     ? is_strong ? load_whole_128 : load_128
               : is_strong ? store_whole_128
                           : store_128;
    int way = kind == PT_ADDRESS_REG64 && !is_strong ? 0
              : kind == PT_ADDRESS_SHARED32          ? 1
              : pt_address_is_uniform(kind)          ? 2
                                                     : 3;
    if (is_load)
        return loads[load_type(v->bytes, v->is_signed, v)][way];
    return stores[store_type(v->bytes, v)][way > 2 ? 2 : way];
}

static pt_handler vector(struct pt_select *s, const struct vector *v, bool is_load, bool is_strong)
{
    enum pt_address kind = pt_address_kind(s->code);
    bool is_plain = !is_strong;
    for (uint32_t k = 0; k < v->n; k++)
        is_plain &= v->slot_bytes[k] == v->bytes;
    struct vector *kept = pt_operands_array(s, sizeof *kept);
    *kept = *v;
    pt_address_set_vector(s, kept);
    enum plain plain = v->n == 2 && v->bytes == 4   ? PLAIN_2x32
                       : v->n == 4 && v->bytes == 4 ? PLAIN_4x32
                       : v->n == 2 && v->bytes == 8 ? PLAIN_2x64
                                                    : PLAIN_COUNT;
    if (is_plain && plain != PLAIN_COUNT && !is_load)
        return vector_stores[plain];
    if (is_plain && plain != PLAIN_COUNT)
        return vector_loads[plain][kind == PT_ADDRESS_REG64      ? 0
                                   : kind == PT_ADDRESS_SHARED32 ? 1
                                                                 : 2];
    return is_load ? load_vector : store_vector;
}

static pt_handler access(struct pt_select *s, bool is_load)
{
    bool is_strong = pt_fence_order(s);
    const struct pt_operand *data = &s->operands[!is_load], *mem = &s->operands[is_load];
    enum pt_type type = (enum pt_type)s->form->type[0];
    struct vector v = {.bytes = pt_type_bytes(type),
                       .is_signed = pt_type_class(type) == PT_CLASS_S};
    if (data->kind == PT_OPND_VEC) {
        for (int64_t k = 0; k < data->imm; k++)
            if (!data_slot(s, &s->func->operands.v[data->index + k], is_load, &v))
                return NULL;
    } else if (!data_slot(s, data, is_load, &v)) {
        return NULL;
    }
    if (!pt_address_bind(s, mem, v.n * v.bytes))
        return NULL;
    bool is_part = v.slot_bytes[0] > 8 && v.bytes < 16;
    return v.n > 1 || is_part ? vector(s, &v, is_load, is_strong)
                              : scalar(s, &v, is_load, is_strong);
}

pt_handler PT_DO(ld)(struct pt_select *s)
{
    return access(s, true);
}

pt_handler PT_DO(ld_nc)(struct pt_select *s)
{
    return access(s, true);
}

pt_handler PT_DO(ldu)(struct pt_select *s)
{
    return access(s, true);
}

pt_handler PT_DO(ld_volatile)(struct pt_select *s)
{
    return access(s, true);
}

pt_handler PT_DO(ld_acquire)(struct pt_select *s)
{
    return access(s, true);
}

pt_handler PT_DO(st)(struct pt_select *s)
{
    return access(s, false);
}

pt_handler PT_DO(st_async_global)(struct pt_select *s)
{
    return access(s, false);
}

pt_handler PT_DO(st_volatile)(struct pt_select *s)
{
    return access(s, false);
}

pt_handler PT_DO(st_release)(struct pt_select *s)
{
    return access(s, false);
}

/* ---- tensormap.cp_fenceproxy: every lane moves the word of its number ------------------------ */

PT_FN1(add_lane, u64, u64, a + 4 * (uint64_t)i)

/* A slot with the lanes' addresses, of which `c` accesses four bytes. */
static bool lane_address(struct pt_select *s, const struct pt_operand *mem, enum pt_address kind,
                         struct pt_code *c)
{
    const struct pt_operand *o = &s->func->operands.v[mem->index];
    uint32_t base = pt_operands_source(s, o, 8);
    if (base == UINT32_MAX)
        return false;
    struct pt_code *add = pt_operands_before(s, add_lane);
    add->o[1] = base;
    add->o[0] = c->o[1] = pt_operands_slot(s, 8);
    c->imm = o->kind == PT_OPND_REG ? (uint64_t)o->imm : 0;
    c->aux = (uint16_t)(kind | 2 << 8);
    c->insn = s->code->insn;
    return true;
}

pt_handler PT_DO(tensormap_cp_fenceproxy)(struct pt_select *s)
{
    struct pt_code store = {.fn = stores[STORE_u32_32][2]};
    if (!lane_address(s, &s->operands[0], PT_ADDRESS_REG64, &store) ||
        !lane_address(s, &s->operands[1], PT_ADDRESS_SHARED64, s->code))
        return NULL;
    store.o[0] = s->code->o[0] = pt_operands_slot(s, 4);
    s->is_access = true;
    pt_operands_access_behind(s, &store);
    pt_operands_behind(s, pt_fence_handler(pt_order_of(s->form)));
    return loads[LOAD_u32_32][3];
}
