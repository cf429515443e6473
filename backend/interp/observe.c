/* Tells observers what happens. */
#include "backend/interp/observe.h"
#include "backend/interp/address.h"

#define EACH(o, list)            \
    const struct pt_observer *o; \
    for (const struct pt_observer *const *at_ = (list); (o = *at_); at_++)

static struct pt_event event_of(const struct pt_code *c, struct pt_frame *f, uint32_t lanes)
{
    return (struct pt_event){.warp = f->state->warp,
                             .func = f->body->index,
                             .insn = c->insn,
                             .lanes = lanes,
                             .code = c,
                             .frame = f};
}

static const struct pt_form *form_of(const struct pt_code *c, const struct pt_frame *f)
{
    return pt_insn_form(f->state->program->base.image->module, &f->body->func->insns.v[c->insn]);
}

static bool tell_access(const struct pt_observer *o, const struct pt_event *e,
                        const struct pt_access *access)
{
    return !o->access || o->access(e, access);
}

static bool tell_accesses(const struct pt_code *c, struct pt_frame *f, uint32_t lanes,
                          const struct pt_access *access)
{
    struct pt_event e = event_of(c, f, lanes);
    EACH(o, f->state->observers)
    if (!tell_access(o, &e, access))
        return false;
    return true;
}

bool pt_observe_access(const struct pt_code *c, struct pt_frame *f, uint32_t lanes,
                       const uint64_t *address, uint64_t bytes, uint32_t use, const void *data)
{
    struct pt_access access = {.address = address,
                               .data = data,
                               .bytes = bytes,
                               .use = use,
                               .space = pt_form_space(form_of(c, f)),
                               .order = pt_order_of(form_of(c, f))};
    return !lanes || tell_accesses(c, f, lanes, &access);
}

static struct pt_access async_access(const uint64_t *address, uint64_t bytes, enum pt_space space,
                                     uint32_t use)
{
    bool is_atomic = use & PT_USE_ATOMIC; /* copies are weak */
    return (struct pt_access){.address = address,
                              .bytes = bytes,
                              .use = use,
                              .space = space,
                              .order = is_atomic ? PT_ORDER_RELAXED : PT_ORDER_PLAIN,
                              .is_async = true};
}

bool pt_observe_lane(const struct pt_code *c, struct pt_frame *f, uint32_t lane, uint64_t address,
                     uint64_t bytes, enum pt_space space, uint32_t use)
{
    uint64_t addresses[PT_WARP_SIZE];
    struct pt_access access = async_access(addresses, bytes, space, use);
    addresses[lane] = address;
    return !bytes || tell_accesses(c, f, 1u << lane, &access);
}

/* Texel by texel, of the lanes that have it. */
static bool tell_texels(const struct pt_observer *o, const struct pt_event *all,
                        const struct pt_texels *texels, uint64_t bytes)
{
    for (uint32_t n = 0; n < texels->n; n++) {
        struct pt_event e = *all;
        struct pt_access access = {.address = texels->address[n],
                                   .bytes = bytes,
                                   .use = PT_USE_READ,
                                   .order = PT_ORDER_PLAIN};
        for (uint32_t left = all->lanes; left; left &= left - 1)
            if (!texels->address[n][__builtin_ctz(left)])
                e.lanes &= ~(left & -left);
        if (e.lanes && !tell_access(o, &e, &access))
            return false;
    }
    return true;
}

bool pt_observe_texels(const struct pt_code *c, struct pt_frame *f, uint32_t lanes,
                       const struct pt_texels *texels, uint64_t bytes)
{
    struct pt_event e = event_of(c, f, lanes);
    EACH(o, f->state->observers)
    if (o->texels)
        o->texels(&e, texels);
    else if (!tell_texels(o, &e, texels, bytes))
        return false;
    return true;
}

/* Lane by lane. */
static bool tell_copies(const struct pt_observer *o, const struct pt_event *all,
                        const struct pt_copies *copies)
{
    struct pt_access write = async_access(copies->to, copies->bytes, PT_SPACE_SHARED, PT_USE_WRITE);
    for (uint32_t left = all->lanes; left; left &= left - 1) {
        struct pt_event e = *all;
        uint32_t read_bytes = copies->read[__builtin_ctz(left)];
        struct pt_access read =
            async_access(copies->from, read_bytes, PT_SPACE_GLOBAL, PT_USE_READ);
        e.lanes = left & -left;
        if (!tell_access(o, &e, &write) || (read_bytes && !tell_access(o, &e, &read)))
            return false;
    }
    return true;
}

bool pt_observe_copies(const struct pt_code *c, struct pt_frame *f, const struct pt_copies *copies)
{
    struct pt_event e = event_of(c, f, f->mask);
    EACH(o, f->state->observers)
    if (o->copies)
        o->copies(&e, copies);
    else if (!tell_copies(o, &e, copies))
        return false;
    return true;
}

void pt_observe_sync(const struct pt_code *c, struct pt_frame *f, uint32_t lanes,
                     struct pt_sync sync)
{
    struct pt_event e = event_of(c, f, lanes);
    EACH(o, f->state->observers)
    if (o->sync)
        o->sync(&e, &sync);
}

void pt_observe_misused(const struct pt_code *c, struct pt_frame *f, uint32_t lanes,
                        enum pt_misuse what, uint32_t others)
{
    struct pt_event e = event_of(c, f, lanes);
    EACH(o, f->state->observers)
    if (o->misused)
        o->misused(&e, what, others);
}

void pt_observe_mbarrier(const struct pt_code *c, struct pt_frame *f, uint32_t lane,
                         uint64_t address, enum pt_mbarrier_use use)
{
    struct pt_event e = event_of(c, f, 1u << lane);
    EACH(o, f->state->observers)
    if (o->mbarrier)
        o->mbarrier(&e, address, use);
}

void pt_observe_exited(const struct pt_code *c, struct pt_frame *f)
{
    struct pt_event e = event_of(c, f, f->mask);
    EACH(o, f->state->observers)
    if (o->exited)
        o->exited(&e);
}

bool pt_observe_issued(struct pt_async_op *op)
{
    struct pt_event e = event_of(op->code, op->frame, 1u << op->lane);
    EACH(o, op->frame->state->observers)
    if (o->issued && !o->issued(&e, op))
        return false;
    return true;
}

void pt_observe_done(const struct pt_async_op *op)
{
    EACH(o, op->frame->state->observers)
    if (o->done)
        o->done(op);
}

void pt_observe_waited(const struct pt_code *c, struct pt_frame *f, enum pt_async_kind kind,
                       uint32_t pending, bool is_read)
{
    struct pt_event e = event_of(c, f, f->mask);
    EACH(o, f->state->observers)
    if (o->waited)
        o->waited(&e, kind, pending, is_read);
}

void pt_observe_allocated(const struct pt_code *c, struct pt_frame *f, uint32_t lane,
                          uint64_t address, uint64_t bytes)
{
    struct pt_event e = event_of(c, f, 1u << lane);
    EACH(o, f->state->observers)
    if (o->allocated)
        o->allocated(&e, address, bytes);
}

void pt_observe_accessed(const struct pt_code *c, struct pt_frame *f)
{
    struct pt_event e = event_of(c, f, f->mask);
    EACH(o, f->state->observers)
    if (o->accessed)
        o->accessed(&e);
}

void pt_observe_returned(const struct pt_frame *f)
{
    EACH(o, f->state->observers)
    if (o->returned)
        o->returned(f);
}

/* ---- codes before others --------------------------------------------------------------------- */

/* What is misaligned, or leaves its window, is left to the access, which reports it. o[0] is the
 * use, o[4] the observer's place in the list: no address uses these. */
enum { USE = 0, OBSERVER = 4 };

PT_HANDLER(before_access)
{
    const struct pt_observer *o = f->state->observers[c->o[OBSERVER]];
    struct pt_code at = pt_address_code(c);
    uint64_t a[PT_WARP_SIZE];
    uint32_t outside;
    const struct pt_form *form = form_of(c, f);
    struct pt_access access = {.address = a,
                               .bytes = UINT64_C(1) << (c->aux >> 8 & 15),
                               .use = c->o[USE],
                               .space = pt_form_space(form),
                               .order = pt_order_of(form)};
    uint64_t any = pt_address_all(&at, f, pt_address_kind(c), a, &outside);
    struct pt_event e = event_of(c, f, f->mask);
    if (any & (access.bytes - 1) || outside)
        return c + 1;
    return o->access(&e, &access) ? c + 1 : NULL;
}

uint32_t pt_observe_make_accesses(const struct pt_interp_program *p, const struct pt_func *func,
                                  const void *const *facts, const struct pt_form *form,
                                  const struct pt_code *access, bool is_write, uint32_t number,
                                  struct pt_code codes[PT_OBSERVERS])
{
    uint32_t n = 0;
    for (uint32_t i = 0; p->observers && p->observers[i]; i++) {
        const struct pt_observer *o = p->observers[i];
        bool is_atomic = form->effects & PT_FX_ATOMIC;
        codes[n] = *access;
        if (o->place) {
            n += o->place(&codes[n], func, facts[i], form, is_write, number);
        } else if (o->access) {
            codes[n].fn = before_access;
            codes[n].o[USE] =
                (is_write ? PT_USE_WRITE : PT_USE_READ) | (is_atomic ? PT_USE_ATOMIC : 0);
            codes[n++].o[OBSERVER] = i;
        }
    }
    return n;
}

void pt_observe_analyse(const struct pt_interp_program *p, const struct pt_func *func,
                        struct pt_arena *arena, const void **facts)
{
    for (uint32_t i = 0; p->observers && p->observers[i]; i++)
        facts[i] = p->observers[i]->analyse
                       ? p->observers[i]->analyse(p->base.image->module, func, arena)
                       : NULL;
}

uint32_t pt_observe_make_instructions(const struct pt_interp_program *p, const struct pt_func *func,
                                      const void *const *facts, uint32_t insn, bool is_guard,
                                      struct pt_code codes[PT_OBSERVERS])
{
    uint32_t n = 0;
    for (uint32_t i = 0; p->observers && p->observers[i]; i++) {
        codes[n] = (struct pt_code){.insn = insn};
        if (p->observers[i]->place_instruction)
            n += p->observers[i]->place_instruction(&codes[n], func, facts[i], is_guard);
    }
    return n;
}

PT_HANDLER(before_registers)
{
    struct pt_event e = event_of(c, f, f->mask);
    EACH(o, f->state->observers)
    if (o->registers)
        o->registers(&e, c->ptr, c->o[0]);
    return c + 1;
}

struct pt_code pt_observe_make_registers(uint32_t insn, const struct pt_register_use *uses,
                                         uint32_t n)
{
    return (struct pt_code){.fn = before_registers, .o = {n}, .ptr = uses, .insn = insn};
}

const struct pt_code *pt_observe_block(const struct pt_code *c, struct pt_frame *f)
{
    struct pt_event e = event_of(c, f, f->mask);
    EACH(o, f->state->observers)
    if (o->block)
        o->block(&e);
    return c + 1;
}

const struct pt_code *pt_observe_instruction(const struct pt_code *c, struct pt_frame *f)
{
    struct pt_event e = event_of(c, f, f->mask);
    EACH(o, f->state->observers)
    if (o->instruction)
        o->instruction(&e);
    return c + 1;
}

const struct pt_code *pt_observe_fence(const struct pt_code *c, struct pt_frame *f)
{
    struct pt_event e = event_of(c, f, f->mask);
    EACH(o, f->state->observers)
    if (o->fence)
        o->fence(&e);
    return c + 1;
}

#define ASKS(name, what)                                           \
    bool name(const struct pt_interp_program *p)                   \
    {                                                              \
        for (uint32_t i = 0; p->observers && p->observers[i]; i++) \
            if (p->observers[i]->what)                             \
                return true;                                       \
        return false;                                              \
    }
ASKS(pt_observe_asks_blocks, block)
ASKS(pt_observe_asks_instructions, instruction)
ASKS(pt_observe_asks_fences, fence)
ASKS(pt_observe_asks_registers, registers)
