/* Addresses of an access.
 *
 * Codes that access memory have the address register in o[1], the constant part in imm (with the
 * start of the window for addresses of constants) and, in aux, the kind of address and the bytes
 * accessed. Vectors have their registers behind ptr, and the constant part in o[2] and o[3].
 */
#ifndef PTERA_BACKEND_INTERP_ADDRESS_H
#define PTERA_BACKEND_INTERP_ADDRESS_H

#include "backend/interp/access.h"

enum pt_address {
    PT_ADDRESS_REG64,   /* generic: 64-bit register + imm */
    PT_ADDRESS_REG32,   /* the same with a 32-bit register */
    PT_ADDRESS_FIXED,   /* generic: imm */
    PT_ADDRESS_PARAM,   /* kernel parameters + imm */
    PT_ADDRESS_PARAM64, /* kernel parameters + 64-bit register + imm */
    PT_ADDRESS_PARAM32,
    PT_ADDRESS_SHARED_VAR, /* this CTA's window + imm */
    PT_ADDRESS_SHARED64,   /* shared address: low half of (64-bit register + imm) */
    PT_ADDRESS_SHARED32,   /* shared address: 32-bit register + imm */
    PT_ADDRESS_LOCAL_VAR,  /* the activation's local variables + imm */
    PT_ADDRESS_LOCAL64,    /* the thread's local window + register + imm */
    PT_ADDRESS_LOCAL32
};
/* Each space is a stretch, and the last two begin with what a variable's name alone gives. */
_Static_assert(PT_ADDRESS_PARAM32 == PT_ADDRESS_PARAM + 2 &&
                   PT_ADDRESS_SHARED_VAR == PT_ADDRESS_PARAM32 + 1 &&
                   PT_ADDRESS_LOCAL_VAR == PT_ADDRESS_SHARED_VAR + 3 &&
                   PT_ADDRESS_LOCAL32 == PT_ADDRESS_LOCAL_VAR + 2,
               "comparisons tell the space");

/* Bits of aux above the kind: 8 to 11 the log of the bytes, */
enum { PT_ADDRESS_VECTOR = 0x4000 }; /* a vector's code, see above */

/* What an address is made of, a vector's with the constant part in its usual place. */
PT_ACCESS_INLINE struct pt_code pt_address_code(const struct pt_code *c)
{
    struct pt_code copy;
    copy.o[1] = c->o[1];
    copy.imm = c->aux & PT_ADDRESS_VECTOR ? c->o[2] | (uint64_t)c->o[3] << 32 : c->imm;
    copy.aux = c->aux;
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

#define pt_address_all PT_LEVEL_NAME(pt_address_all)
/* The addresses of the lanes. Returns the or of the active ones', for the test of alignment. Active
 * lanes that leave their local window are in *outside. */
uint64_t pt_address_all(const struct pt_code *c, const struct pt_frame *f, enum pt_address kind,
                        uint64_t *a, uint32_t *outside);

#define pt_address_misaligned PT_LEVEL_NAME(pt_address_misaligned)
/* Ends the warp: some active lanes' addresses are not multiples of the access. */
const struct pt_code *pt_address_misaligned(const struct pt_code *c, struct pt_frame *f);
#define pt_address_outside PT_LEVEL_NAME(pt_address_outside)
/* Ends the warp: `lanes` leave their local window. */
const struct pt_code *pt_address_outside(const struct pt_code *c, struct pt_frame *f,
                                         uint32_t lanes);

#define pt_address_bind PT_LEVEL_NAME(pt_address_bind)
/* Fills o[1], imm and aux of s->code for the address `mem` and an access of `bytes`. False after
 * reporting. */
bool pt_address_bind(struct pt_select *s, const struct pt_operand *mem, uint32_t bytes);
#define pt_address_generic PT_LEVEL_NAME(pt_address_generic)
/* A slot that holds the lanes' generic addresses of `mem`, an address in `space`, before the
 * instruction runs. UINT32_MAX after reporting. */
uint32_t pt_address_generic(struct pt_select *s, const struct pt_operand *mem, enum pt_space space);
#define pt_address_set_vector PT_LEVEL_NAME(pt_address_set_vector)
/* Makes it a vector's code with `registers` behind ptr. */
void pt_address_set_vector(struct pt_select *s, const void *registers);
#define pt_load_store_bytes PT_LEVEL_NAME(pt_load_store_bytes)
/* What a lane of a store of a vector is about to write. */
void pt_load_store_bytes(const struct pt_code *c, const struct pt_frame *f, uint32_t lane,
                         uint8_t *bytes);
static inline enum pt_address pt_address_kind(const struct pt_code *c)
{
    return (enum pt_address)(c->aux & 0xff);
}
#define pt_address_misaligned_lanes PT_LEVEL_NAME(pt_address_misaligned_lanes)
/* The lanes of `mask` whose access by `c` is misaligned, and the address of the lowest. */
uint32_t pt_address_misaligned_lanes(const struct pt_code *c, struct pt_frame *f, uint64_t *first);

#endif
