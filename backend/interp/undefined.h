/* Which bits of an activation's registers hold no value. */
#ifndef PTERA_BACKEND_INTERP_UNDEFINED_H
#define PTERA_BACKEND_INTERP_UNDEFINED_H

#include "backend/interp/state.h"

/* Where what holds no value came from. */
struct pt_origin {
    uint32_t func, insn;
    uint64_t address, bytes; /* bytes 0: a register that was never written */
};

struct pt_undefined {
    void *next; /* as pt_cta.kept */
    const struct pt_frame *frame;
    const struct pt_body *body;
    uint32_t n_undefined; /* registers that have undefined lanes */
    uint32_t *lanes;      /* by register, as all that follows */
    struct pt_origin *origin;
    uint64_t (*bits)[PT_WARP_SIZE]; /* of those lanes; of 128 bits both halves as one */
};

/* The bits that a register of the type has. */
static inline uint64_t pt_undefined_width(uint8_t type)
{
    unsigned bits = type == PT_pred ? 1 : pt_type_bits((enum pt_type)type);
    return bits < 64 ? (UINT64_C(1) << bits) - 1 : UINT64_MAX;
}

static inline bool pt_undefined_any(const struct pt_frame *f)
{
    return f->undefined && f->undefined->n_undefined;
}

static inline uint32_t pt_undefined_lanes(const struct pt_frame *f, uint32_t reg)
{
    return f->undefined ? f->undefined->lanes[reg] : 0;
}

static inline uint64_t pt_undefined_bits(const struct pt_frame *f, uint32_t reg, uint32_t lane)
{
    return pt_undefined_lanes(f, reg) >> lane & 1 ? f->undefined->bits[reg][lane] : 0;
}

#define pt_undefined_clear PT_LEVEL_NAME(pt_undefined_clear)
/* The lanes of a register hold values. */
void pt_undefined_clear(struct pt_frame *f, uint32_t reg, uint32_t lanes);
#define pt_undefined_set PT_LEVEL_NAME(pt_undefined_set)
/* A lane holds none in `bits` (0: it does in all). Without memory nothing is noted. */
void pt_undefined_set(struct pt_frame *f, uint32_t reg, uint32_t lane, uint64_t bits,
                      const struct pt_origin *origin);
#define pt_undefined_transfer PT_LEVEL_NAME(pt_undefined_transfer)
/* What the instruction that is about to run for `lanes` makes of what is undefined, registers
 * alone: what it loads holds values. */
void pt_undefined_transfer(struct pt_frame *f, uint32_t insn, uint32_t lanes);

#endif
