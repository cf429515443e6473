/* The elements that an instruction moves between a lane's registers and memory: .v2 .v4 .v8, or
 * one. */
#ifndef PTERA_BACKEND_INTERP_ELEMENTS_H
#define PTERA_BACKEND_INTERP_ELEMENTS_H

#include <string.h>

#include "backend/interp/operands.h"

enum { PT_ELEMENTS_MAX = 8, PT_ELEMENTS_BYTES = 16 };

struct pt_elements {
    uint32_t slot[PT_ELEMENTS_MAX];
    uint32_t n, bytes; /* elements, and bytes of one, of the form's first type */
};

/* Those of operand `o`, a vector or a register. False after reporting. */
static inline bool pt_elements_bind(struct pt_select *s, const struct pt_operand *o, bool is_dest,
                                    struct pt_elements *e)
{
    bool is_vector = o->kind == PT_OPND_VEC;
    e->n = is_vector ? (uint32_t)o->imm : 1;
    e->bytes = pt_type_bytes((enum pt_type)s->form->type[0]);
    for (uint32_t k = 0; k < e->n; k++) {
        const struct pt_operand *one = is_vector ? &s->func->operands.v[o->index + k] : o;
        e->slot[k] = is_dest ? pt_operands_dest(s, one)
                             : pt_operands_source(s, one, e->bytes < 4 ? 4 : e->bytes);
        if (e->slot[k] == UINT32_MAX)
            return false;
    }
    return true;
}

/* Where element `k` of the lane is. */
static inline char *pt_elements_place(const struct pt_elements *e, struct pt_frame *f,
                                      uint32_t lane, uint32_t k)
{
    return (char *)f + e->slot[k] + lane * (e->bytes < 4 ? 4 : e->bytes);
}

/* Registers to bytes as they are in memory. */
static inline void pt_elements_gather(const struct pt_elements *e, struct pt_frame *f,
                                      uint32_t lane, uint8_t *data)
{
    for (uint32_t k = 0; k < e->n; k++)
        memcpy(data + k * e->bytes, pt_elements_place(e, f, lane, k), e->bytes);
}

/* And back. */
static inline void pt_elements_scatter(const struct pt_elements *e, struct pt_frame *f,
                                       uint32_t lane, const uint8_t *data)
{
    for (uint32_t k = 0; k < e->n; k++) {
        uint64_t value = 0;
        memcpy(&value, data + k * e->bytes, e->bytes);
        memcpy(pt_elements_place(e, f, lane, k), &value, e->bytes < 4 ? 4 : e->bytes);
    }
}

#endif
