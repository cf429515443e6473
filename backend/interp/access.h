/* How handlers touch kernel memory: the section their code lies in, and the kinds of address.
 *
 * A fault in this code is the kernel's: the runtime's signal handler tests the program counter
 * against the section and jumps out of the warp. So nothing here may hold a resource, call a
 * library function on kernel memory, or write a register before all lanes are read. state->code
 * names the code that runs.
 *
 * Codes that access memory have the address register in o[1], the constant part in imm (with the
 * start of the window for addresses of constants) and, in aux, the kind of address and the bytes
 * accessed. Vectors have their registers behind ptr, and the constant part in o[2] and o[3].
 */
#ifndef PTERA_BACKEND_INTERP_ACCESS_H
#define PTERA_BACKEND_INTERP_ACCESS_H

#include "backend/interp/loop.h"
#include "backend/order.h"

/* This code alone is hidden from the sanitizers: a kernel may touch any address, and its races are
 * its own. */
#if defined(__clang__)
#define PT_ACCESS                                                                       \
    __attribute__((section("pt_access"), no_sanitize("address", "undefined", "thread"), \
                   no_builtin("memcpy", "memset")))
#define PT_ACCESS_INLINE \
    static inline __attribute__((always_inline, no_sanitize("address", "undefined", "thread")))
#else
#define PT_ACCESS                                                                       \
    __attribute__((section("pt_access"), no_sanitize("address", "undefined", "thread"), \
                   optimize("no-tree-loop-distribute-patterns")))
#define PT_ACCESS_INLINE                                                                       \
    static inline __attribute__((always_inline, no_sanitize("address", "undefined", "thread"), \
                                 optimize("no-tree-loop-distribute-patterns")))
#endif

#define PT_ACCESS_HANDLER(name) \
    PT_ACCESS static const struct pt_code *name(const struct pt_code *c, struct pt_frame *f)

/* A piece of kernel memory at any address: assigned, it is moved in place, where memcpy might be
 * called. */
struct pt_piece16 {
    uint64_t part[2];
} __attribute__((packed, may_alias));

PT_ACCESS_INLINE void pt_copy16(void *to, const void *from)
{
    *(struct pt_piece16 *)to = *(const struct pt_piece16 *)from;
}

/* `bytes` is 32 or 64. With AVX2 in whole vectors, which the reader then finds forwarded. */
#if defined(__AVX2__)
PT_ACCESS_INLINE void pt_copy32(void *to, const void *from, size_t bytes)
{
    const char *source = from;
    for (size_t at = 0; at < bytes; at += 32)
        _mm256_storeu_si256((__m256i *)((char *)to + at),
                            _mm256_loadu_si256((const __m256i *)(source + at)));
}
#else
PT_ACCESS_INLINE void pt_copy32(void *to, const void *from, size_t bytes)
{
    for (size_t at = 0; at < bytes; at += 16)
        pt_copy16((char *)to + at, (const char *)from + at);
}
#endif

enum pt_address {
    PT_ADDRESS_REG64,      /* generic: 64-bit register + imm */
    PT_ADDRESS_REG32,      /* the same with a 32-bit register */
    PT_ADDRESS_FIXED,      /* generic: imm */
    PT_ADDRESS_PARAM,      /* kernel parameters + imm */
    PT_ADDRESS_PARAM64,    /* kernel parameters + 64-bit register + imm */
    PT_ADDRESS_PARAM32,
    PT_ADDRESS_SHARED_VAR, /* this CTA's window + imm */
    PT_ADDRESS_SHARED64,   /* shared address: low half of (64-bit register + imm) */
    PT_ADDRESS_SHARED32,   /* shared address: 32-bit register + imm */
    PT_ADDRESS_LOCAL_VAR,  /* the activation's local variables + imm */
    PT_ADDRESS_LOCAL64,    /* the thread's local window + register + imm */
    PT_ADDRESS_LOCAL32
};

/* Bits of aux above the kind: 8 to 11 the log of the bytes, */
enum { PT_ADDRESS_VECTOR = 0x4000 }; /* a vector's code, see above */

/* A vector's code with the constant part in its usual place. */
PT_ACCESS_INLINE struct pt_code pt_address_code(const struct pt_code *c)
{
    struct pt_code copy = *c;
    if (c->aux & PT_ADDRESS_VECTOR)
        copy.imm = c->o[2] | (uint64_t)c->o[3] << 32;
    return copy;
}

/* True if all lanes have the same address. */
PT_ACCESS_INLINE bool pt_address_is_uniform(enum pt_address kind)
{
    return kind == PT_ADDRESS_FIXED || kind == PT_ADDRESS_PARAM || kind == PT_ADDRESS_SHARED_VAR;
}

/* Lane i's generic address. */
PT_ACCESS_INLINE uint64_t pt_address_of(const struct pt_code *c, const struct pt_frame *f,
                                        enum pt_address kind, uint32_t i)
{
    const char *base = (const char *)f + c->o[1];
    uint64_t window = (uint64_t)(uintptr_t)f->local0 + i * f->local_stride;
    switch (kind) {
    case PT_ADDRESS_REG64:
        return ((const uint64_t *)base)[i] + c->imm;
    case PT_ADDRESS_REG32:
        return ((const uint32_t *)base)[i] + c->imm;
    case PT_ADDRESS_FIXED:
        return c->imm;
    case PT_ADDRESS_PARAM:
        return (uint64_t)(uintptr_t)f->params + c->imm;
    case PT_ADDRESS_PARAM64:
        return (uint64_t)(uintptr_t)f->params + ((const uint64_t *)base)[i] + c->imm;
    case PT_ADDRESS_PARAM32:
        return (uint64_t)(uintptr_t)f->params + ((const uint32_t *)base)[i] + c->imm;
    case PT_ADDRESS_SHARED_VAR:
        return (uint64_t)(uintptr_t)f->shared + (uint32_t)(f->cta->window + c->imm);
    case PT_ADDRESS_SHARED64:
        return (uint64_t)(uintptr_t)f->shared + (uint32_t)(((const uint64_t *)base)[i] + c->imm);
    case PT_ADDRESS_SHARED32:
        return (uint64_t)(uintptr_t)f->shared + (uint32_t)(((const uint32_t *)base)[i] + c->imm);
    case PT_ADDRESS_LOCAL_VAR:
        return window + f->base[i] + c->imm;
    case PT_ADDRESS_LOCAL64:
        return window + ((const uint64_t *)base)[i] + c->imm;
    default:
        return window + (uint32_t)(((const uint32_t *)base)[i] + c->imm);
    }
}

#define pt_address_all PT_LEVEL_NAME(pt_mem_addresses)
/* The addresses of the lanes. Returns the or of the active ones', for the test of alignment. Active lanes
 * that leave their local window are in *outside. */
uint64_t pt_address_all(const struct pt_code *c, const struct pt_frame *f, enum pt_address kind,
                        uint64_t *a, uint32_t *outside);

#define pt_mem_misaligned PT_LEVEL_NAME(pt_mem_misaligned)
/* Ends the warp: some active lanes' addresses are not multiples of the access. */
const struct pt_code *pt_mem_misaligned(const struct pt_code *c, struct pt_frame *f);
#define pt_mem_outside PT_LEVEL_NAME(pt_mem_outside)
/* Ends the warp: `lanes` leave their local window. */
const struct pt_code *pt_mem_outside(const struct pt_code *c, struct pt_frame *f, uint32_t lanes);

#define pt_mem_fence PT_LEVEL_NAME(pt_mem_fence)
/* The fence of that order, which is not PLAIN or RELAXED. */
pt_handler pt_mem_fence(enum pt_order order);
#define pt_mem_order PT_LEVEL_NAME(pt_mem_order)
/* Puts the fences that an access's order asks for around it. True if the access must be whole, as all but PLAIN. */
bool pt_mem_order(struct pt_select *s);

#define pt_mem_address PT_LEVEL_NAME(pt_mem_address)
/* Fills o[1], imm and aux of s->code for the address `mem` and an access of `bytes`. False after
 * reporting. */
bool pt_mem_address(struct pt_select *s, const struct pt_operand *mem, uint32_t bytes);
#define pt_mem_generic PT_LEVEL_NAME(pt_mem_generic)
/* A slot that holds the lanes' generic addresses of `mem`, an address in `space`, before the instruction runs. UINT32_MAX
 * after reporting. */
uint32_t pt_mem_generic(struct pt_select *s, const struct pt_operand *mem, enum pt_space space);
#define pt_mem_vector PT_LEVEL_NAME(pt_mem_vector)
/* Makes it a vector's code with `registers` behind ptr. */
void pt_mem_vector(struct pt_select *s, const void *registers);
static inline enum pt_address pt_mem_kind(const struct pt_code *c)
{
    return (enum pt_address)(c->aux & 0xff);
}

#endif
