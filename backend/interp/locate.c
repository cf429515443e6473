/* Where a warp stands: for the report of a memory fault, and of a deadlock. */
#include "backend/interp/locate.h"
#include "backend/interp/address.h"

/* The part of an address that a fault tells: x86-64 tells none of a non-canonical one, 64-bit ARM
 * not the tag in the top byte. */
#if defined(__aarch64__)
enum { ADDRESS_BITS = 48 };
static uint64_t told(uint64_t address)
{
    return address << 8 >> 8;
}
#else
enum { ADDRESS_BITS = 47 };
static uint64_t told(uint64_t address)
{
    return address;
}
#endif

/* An access of `bytes` at `a` may have faulted at `address`. */
static bool touches(uint64_t a, uint64_t bytes, uint64_t address)
{
    enum { PAGE = 4096 };
    if (address == PT_ADDRESS_UNKNOWN)
        return a + (UINT64_C(1) << ADDRESS_BITS) >= UINT64_C(2) << ADDRESS_BITS;
    uint64_t page = told(address) / PAGE;
    return told(a) / PAGE <= page && told(a + bytes - 1) / PAGE >= page;
}

/* The lanes of `mask` whose access by `c` touches the page of `address`, and the address of the
 * lowest. */
static uint32_t faulting_lanes(const struct pt_code *c, struct pt_frame *f, uint64_t address,
                               uint64_t *first)
{
    struct pt_code at = pt_address_code(c);
    uint32_t lanes = 0;
    uint64_t bytes = UINT64_C(1) << ((c->aux >> 8 & 15));
    bool is_alone = !(f->mask & (f->mask - 1)); /* then it was this lane, whatever was told */
    for (uint32_t left = f->mask; left; left &= left - 1) {
        uint32_t i = (uint32_t)__builtin_ctz(left);
        uint64_t a = pt_address_of(&at, f, pt_address_kind(c), i);
        if (!is_alone && !touches(a, bytes, address))
            continue;
        *first = lanes ? *first : a;
        lanes |= 1u << i;
    }
    /* Emulators tell an address of their own for one that their machine cannot have. */
    if (!lanes && address != PT_ADDRESS_UNKNOWN)
        return faulting_lanes(c, f, PT_ADDRESS_UNKNOWN, first);
    return lanes;
}

void pt_locate_waiting(const struct pt_warp *warp,
                       void (*report)(void *ud, uint32_t func, uint32_t insn, uint32_t lanes,
                                      uint32_t bar),
                       void *ud)
{
    const struct pt_state *s = pt_state_of(warp);
    for (uint32_t i = 0; i < s->n_groups; i++) {
        const struct pt_group *g = &s->groups[i];
        const struct pt_code *c = g->code ? g->code : g->frame->body->start[g->block];
        report(ud, g->frame->body->index, c->insn, g->mask, g->bar);
    }
    for (const struct pt_frame *f = s->deepest; f; f = f->shallower)
        for (uint32_t b = 0; b < f->body->n_blocks; b++)
            if (f->wait[b])
                report(ud, f->body->index, f->body->start[b]->insn, f->wait[b], UINT32_MAX);
}

/* Lanes whose access is misaligned besides. Handlers find that out behind their loads, others
 * before; instructions of a warp have addresses that they do not use. */
static uint32_t misaligned_lanes(struct pt_state *s, uint64_t *first)
{
    const struct pt_insn *insn = &s->frame->body->func->insns.v[s->code->insn];
    bool is_of_warp = pt_insn_form(s->program->base.image->module, insn)->effects & PT_FX_WARP;
    return s->acting || is_of_warp ? 0 : pt_address_misaligned_lanes(s->code, s->frame, first);
}

void pt_locate_fault(struct pt_warp *warp, uint64_t address)
{
    struct pt_state *s = pt_state_of(warp);
    struct pt_frame *f = s->frame;
    uint64_t first = address;
    uint32_t misaligned = misaligned_lanes(s, &first);
    uint32_t lanes = misaligned  ? misaligned
                     : s->acting ? s->acting
                                 : faulting_lanes(s->code, f, address, &first);
    warp->fault =
        (struct pt_fault){.kind = misaligned ? PT_FAULT_MISALIGNED : PT_FAULT_ILLEGAL_ADDRESS,
                          .func = f->body->index,
                          .insn = s->code->insn,
                          .lanes = lanes,
                          .has_address = first != PT_ADDRESS_UNKNOWN,
                          .address = first};
}
