/* Addresses of the lanes of an access, and what is wrong with them. */
#include "backend/interp/address.h"

#include <string.h>

#include "backend/interp/operands.h"

/* ---- addresses of all lanes ------------------------------------------------------------------ */

/* `kind` is a constant in each copy, which becomes vectors. */
static inline __attribute__((always_inline)) uint64_t addresses(const struct pt_code *c,
                                                                const struct pt_frame *f,
                                                                enum pt_address kind, uint64_t *a)
{
    uint64_t any = 0, here[PT_WARP_SIZE]; /* which lies over nothing that is read */
    for (uint32_t i = 0; i < PT_WARP_SIZE; i++) {
        here[i] = pt_address_of(c, f, kind, i);
        any |= here[i] & (uint64_t)(int32_t)f->lanes[i];
    }
    memcpy(a, here, sizeof here);
    return any;
}

static uint32_t lanes_outside(const struct pt_code *c, const struct pt_frame *f, const uint64_t *a)
{
    uint64_t bytes = UINT64_C(1) << ((c->aux >> 8 & 15));
    uint32_t outside = 0;
    for (uint32_t i = 0; i < PT_WARP_SIZE; i++) {
        uint64_t at = a[i] - (uint64_t)(uintptr_t)f->local0 - i * f->local_stride;
        bool leaves = at > f->local_stride || bytes > f->local_stride - at;
        outside |= f->lanes[i] & (uint32_t)leaves << i;
    }
    return outside;
}

uint64_t pt_address_all(const struct pt_code *c, const struct pt_frame *f, enum pt_address kind,
                        uint64_t *a, uint32_t *outside)
{
    uint64_t any = 0;
    switch (kind) {
#define CASE(kind)                      \
    case kind:                          \
        any = addresses(c, f, kind, a); \
        break;
        CASE(PT_ADDRESS_REG64)
        CASE(PT_ADDRESS_REG32)
        CASE(PT_ADDRESS_FIXED)
        CASE(PT_ADDRESS_PARAM)
        CASE(PT_ADDRESS_PARAM64)
        CASE(PT_ADDRESS_PARAM32)
        CASE(PT_ADDRESS_SHARED_VAR)
        CASE(PT_ADDRESS_SHARED64)
        CASE(PT_ADDRESS_SHARED32)
        CASE(PT_ADDRESS_LOCAL_VAR)
        CASE(PT_ADDRESS_LOCAL64)
        CASE(PT_ADDRESS_LOCAL32)
#undef CASE
    }
    *outside = kind < PT_ADDRESS_LOCAL_VAR ? 0 : lanes_outside(c, f, a);
    return any;
}

/* ---- faults ---------------------------------------------------------------------------------- */

uint32_t pt_address_misaligned_lanes(const struct pt_code *c, struct pt_frame *f, uint64_t *first)
{
    struct pt_code at = pt_address_code(c);
    uint32_t lanes = 0;
    for (uint32_t i = 0; i < PT_WARP_SIZE; i++) {
        uint64_t a = pt_address_of(&at, f, pt_address_kind(c), i);
        if (!(f->mask >> i & 1) || !(a & ((UINT64_C(1) << ((c->aux >> 8 & 15))) - 1)))
            continue;
        *first = lanes ? *first : a;
        lanes |= 1u << i;
    }
    return lanes;
}

const struct pt_code *pt_address_misaligned(const struct pt_code *c, struct pt_frame *f)
{
    uint64_t first = 0;
    uint32_t lanes = pt_address_misaligned_lanes(c, f, &first);
    pt_fail(c, f, PT_FAULT_MISALIGNED, lanes, NULL);
    f->state->warp->fault.has_address = true;
    f->state->warp->fault.address = first;
    return NULL;
}

const struct pt_code *pt_address_outside(const struct pt_code *c, struct pt_frame *f,
                                         uint32_t lanes)
{
    struct pt_code at = pt_address_code(c);
    pt_fail(c, f, PT_FAULT_BEYOND_LOCAL, lanes, PT_BEYOND_LOCAL);
    f->state->warp->fault.has_address = true;
    f->state->warp->fault.address =
        pt_address_of(&at, f, pt_address_kind(c), (uint32_t)__builtin_ctz(lanes));
    return NULL;
}

/* ---- selecting ------------------------------------------------------------------------------- */

static bool symbol_address(struct pt_select *s, const struct pt_operand *o, enum pt_address *kind)
{
    enum pt_space space;
    s->code->imm = pt_operands_symbol(s, o->index, &space) + (uint64_t)o->imm;
    switch (space) {
    case PT_SPACE_GLOBAL:
    case PT_SPACE_CONST:
        *kind = PT_ADDRESS_FIXED;
        return true;
    case PT_SPACE_SHARED:
        *kind = PT_ADDRESS_SHARED_VAR;
        return true;
    case PT_SPACE_PARAM:
        *kind = PT_ADDRESS_PARAM;
        return true;
    case PT_SPACE_LOCAL:
        *kind = PT_ADDRESS_LOCAL_VAR;
        return true;
    default:
        pt_refuse(s, "a variable of this state space");
        return false;
    }
}

static enum pt_address register_kind(const struct pt_select *s, enum pt_space space, bool is_wide)
{
    if (space == PT_SPACE_LOCAL || (space == PT_SPACE_PARAM && !pt_operands_is_of_kernel(s)))
        return is_wide ? PT_ADDRESS_LOCAL64 : PT_ADDRESS_LOCAL32;
    if (space == PT_SPACE_PARAM)
        return is_wide ? PT_ADDRESS_PARAM64 : PT_ADDRESS_PARAM32;
    if (space == PT_SPACE_SHARED)
        return is_wide ? PT_ADDRESS_SHARED64 : PT_ADDRESS_SHARED32;
    return is_wide ? PT_ADDRESS_REG64 : PT_ADDRESS_REG32;
}

/* Fills o[1] and imm of s->code for the address `mem` in `space`. False after reporting. */
static bool find_address(struct pt_select *s, const struct pt_operand *mem, enum pt_space space,
                         enum pt_address *kind)
{
    const struct pt_operand *o = &s->func->operands.v[mem->index];
    uint64_t window = space == PT_SPACE_CONST ? pt_operands_constants(s) : 0;
    if (o->kind == PT_OPND_SYM)
        return symbol_address(s, o, kind);
    if (o->kind == PT_OPND_REG) {
        bool is_wide = pt_type_bits((enum pt_type)s->func->regs.v[o->index].type) == 64;
        *kind = register_kind(s, space, is_wide);
        s->code->o[1] = pt_operands_dest(s, o);
        s->code->imm = window + (uint64_t)o->imm;
        return true;
    }
    if (o->kind == PT_OPND_IMM) {
        /* An address in its space: a constant takes the place of the register. */
        *kind = register_kind(s, space, true);
        s->code->o[1] = pt_operands_source(s, o, 8);
        s->code->imm = window;
        return true;
    }
    return pt_refuse(s, "this kind of address") != NULL;
}

bool pt_address_bind(struct pt_select *s, const struct pt_operand *mem, uint32_t bytes)
{
    enum pt_address kind = PT_ADDRESS_REG64;
    if (!find_address(s, mem, pt_form_space(s->form), &kind))
        return false;
    s->code->aux = (uint16_t)(kind | (uint32_t)__builtin_ctz(bytes) << 8);
    s->is_access = true;
    return true;
}

PT_HANDLER(generic_addresses)
{
    uint32_t outside;
    pt_address_all(c, f, pt_address_kind(c), PT_SLOT(0, u64), &outside);
    return c + 1;
}

uint32_t pt_address_generic(struct pt_select *s, const struct pt_operand *mem, enum pt_space space)
{
    struct pt_code *own = s->code, at = {.fn = generic_addresses, .insn = own->insn};
    enum pt_address kind = PT_ADDRESS_REG64;
    s->code = &at;
    bool is_found = find_address(s, mem, space, &kind);
    s->code = own;
    if (!is_found)
        return UINT32_MAX;
    at.o[0] = pt_operands_slot(s, 8);
    at.aux = (uint16_t)kind;
    *pt_operands_before(s, NULL) = at;
    return at.o[0];
}

void pt_address_set_vector(struct pt_select *s, const void *registers)
{
    struct pt_code *c = s->code;
    c->o[2] = (uint32_t)c->imm;
    c->o[3] = (uint32_t)(c->imm >> 32);
    c->ptr = registers;
    c->aux |= PT_ADDRESS_VECTOR;
}
