/* Traces what threads read and write (backend/traced.h), in programs whose warps take turns: the
 * address, with what is written before the access, with what was read behind it. Left out are tests
 * of what others do: loops that wait, and mbarriers. Or tells steps (steps.h). */
#include "backend/interp/address.h"
#include "backend/interp/steps.h"
#include "backend/interp/values.h"
#include "backend/observer.h"
#include "backend/traced.h"

static struct pt_traced *traced_of(const struct pt_event *e)
{
    return e->warp->cta->launch->traced;
}

static const struct pt_insn *insn_of(const struct pt_event *e)
{
    return &e->frame->body->func->insns.v[e->insn];
}

static uint32_t mix(uint32_t hash, uint64_t value)
{
    uint64_t x = (hash ^ value) * UINT64_C(0x9e3779b97f4a7c15);
    return (uint32_t)(x ^ x >> 32);
}

/* Addresses, and values that may be some. */
static uint64_t place_of(const struct pt_event *e, uint64_t address)
{
    const struct pt_cta *cta = e->warp->cta;
    uint64_t shared = address - (uintptr_t)cta->shared, local = address - (uintptr_t)cta->local;
    if (shared < UINT64_C(1) << 32)
        return ((uint64_t)PT_TRACED_SHARED << PT_TRACED_SHIFT) + shared;
    if (local < cta->launch->local_stride * cta->launch->threads)
        return ((uint64_t)PT_TRACED_LOCAL << PT_TRACED_SHIFT) + local;
    return address;
}

/* ---- values ---------------------------------------------------------------------------------- */

static uint64_t value_of(const struct pt_event *e, const struct pt_operand *o, uint32_t lane)
{
    if (o->kind == PT_OPND_IMM)
        return (uint64_t)o->imm;
    if (o->kind != PT_OPND_REG)
        return 0;
    unsigned bits = pt_type_bits((enum pt_type)e->frame->body->func->regs.v[o->index].type);
    uint64_t value[2];
    pt_values_get(e->frame, o->index, lane, value);
    return bits <= 32 ? value[0] : place_of(e, value[0]);
}

/* Of an operand that may be a vector: its first value, and all of them mixed into *hash. */
static uint64_t mix_operand(const struct pt_event *e, uint32_t number, uint32_t lane,
                            uint32_t *hash)
{
    const struct pt_insn *insn = insn_of(e);
    const struct pt_operand *all = e->frame->body->func->operands.v;
    if (number >= insn->n_operands)
        return 0;
    const struct pt_operand *o = &all[insn->operands + number];
    bool is_vector = o->kind == PT_OPND_VEC;
    const struct pt_operand *parts = is_vector ? &all[o->index] : o;
    for (int64_t i = 0; i < (is_vector ? o->imm : 1); i++)
        *hash = mix(*hash, value_of(e, &parts[i], lane));
    return value_of(e, parts, lane);
}

static bool has_result(const struct pt_event *e)
{
    const struct pt_operand *first = &e->frame->body->func->operands.v[insn_of(e)->operands];
    return insn_of(e)->n_operands && (first->kind == PT_OPND_REG || first->kind == PT_OPND_VEC);
}

/* ---- events ---------------------------------------------------------------------------------- */

static bool is_test(const struct pt_event *e)
{
    const struct pt_func *func = e->frame->body->func;
    const struct pt_block *blocks = func->blocks.v;
    uint32_t low = 0, high = func->blocks.n;
    while (high - low > 1) {
        uint32_t middle = low + (high - low) / 2;
        *(blocks[middle].first <= e->insn ? &low : &high) = middle;
    }
    const struct pt_form *form =
        pt_insn_form(e->frame->state->program->base.image->module, insn_of(e));
    return blocks[low].communicates || !strncmp(form->spelling, "mbarrier", 8);
}

static struct pt_traced_event event_of(const struct pt_event *e, uint32_t lane, uint32_t use,
                                       uint64_t address, uint64_t bytes)
{
    struct pt_party party = pt_party_of(e->warp, lane, e->func, e->insn);
    struct pt_traced_event event = {.is_there = true,
                                    .func = e->func,
                                    .insn = e->insn,
                                    .use = use,
                                    .address = place_of(e, address),
                                    .bytes = bytes};
    memcpy(event.cta, party.cta, sizeof event.cta);
    memcpy(event.thread, party.thread, sizeof event.thread);
    return event;
}

static bool see_access(const struct pt_event *e, const struct pt_access *a)
{
    struct pt_traced *t = traced_of(e);
    if (t->steps) {
        pt_steps_see_access(e, a);
        return true;
    }
    t->now.lanes = 0;
    for (uint32_t left = a->use & PT_USE_WRITE ? e->lanes : 0; left; left &= left - 1) {
        uint32_t lane = (uint32_t)__builtin_ctz(left);
        if (t->watched - a->address[lane] < a->bytes)
            t->writer = event_of(e, lane, a->use, a->address[lane], a->bytes);
    }
    if (a->is_async || is_test(e))
        return true;
    bool reads = has_result(e);
    t->now.func = e->func;
    t->now.insn = e->insn;
    t->now.use = a->use;
    t->now.bytes = a->bytes;
    t->now.lanes = e->lanes;
    for (uint32_t left = e->lanes; left; left &= left - 1) {
        uint32_t lane = (uint32_t)__builtin_ctz(left);
        t->now.address[lane] = a->address[lane];
        t->now.hash[lane] = mix(mix(e->func, e->insn), place_of(e, a->address[lane]));
        if (!reads)
            t->now.value[lane] = mix_operand(e, 1, lane, &t->now.hash[lane]);
    }
    return true;
}

/* False: there is no room any more. */
static bool record(struct pt_traced *t, struct pt_traced_thread *thread, uint32_t hash)
{
    if (thread->n == thread->room) {
        uint32_t room = thread->room ? 2 * thread->room : 64;
        uint32_t *hashes =
            t->events + room <= t->most
                ? t->allocator->resize(t->allocator->ud, thread->hashes, room * sizeof *hashes)
                : NULL;
        if (!hashes)
            return false;
        t->events += room - thread->room;
        thread->hashes = hashes;
        thread->room = room;
    }
    thread->hashes[thread->n++] = hash;
    return true;
}

/* True: it is the event that is looked for. */
static bool is_wanted(struct pt_traced *t, uint64_t thread, uint32_t hash)
{
    struct pt_traced_thread *at = &t->threads[thread];
    if (t->mode == PT_TRACED_RECORD) {
        if (t->events < t->most && !record(t, at, hash))
            t->events = t->most;
        return false;
    }
    uint32_t number = at->n++;
    if (t->mode == PT_TRACED_FETCH)
        return thread == t->thread && number == t->number;
    if (number >= at->room || at->hashes[number] == hash)
        return false;
    t->thread = thread;
    t->number = number;
    return true;
}

static void see_accessed(const struct pt_event *e)
{
    struct pt_traced *t = traced_of(e);
    uint32_t lanes = t->now.lanes;
    t->now.lanes = 0;
    if (t->steps || t->event.is_there || t->now.func != e->func || t->now.insn != e->insn)
        return;
    uint64_t first =
        pt_cta_number(e->warp->cta) * e->warp->cta->launch->threads + e->warp->index * PT_WARP_SIZE;
    bool reads = has_result(e);
    for (uint32_t left = lanes; left && !t->event.is_there; left &= left - 1) {
        uint32_t lane = (uint32_t)__builtin_ctz(left), hash = t->now.hash[lane];
        uint64_t value = reads ? mix_operand(e, 0, lane, &hash) : t->now.value[lane];
        if (first + lane >= t->n_threads || !is_wanted(t, first + lane, hash))
            continue;
        t->event = event_of(e, lane, t->now.use, t->now.address[lane], t->now.bytes);
        t->event.value = value;
    }
}

static void see_instruction(const struct pt_event *e)
{
    if (traced_of(e)->steps)
        pt_steps_see_instruction(e);
}

static void see_exited(const struct pt_event *e)
{
    if (traced_of(e)->steps)
        pt_steps_see_exited(e);
}

const struct pt_observer PT_LEVEL_NAME(pt_observer_order_trace) = {.name = "",
                                                                   .access = see_access,
                                                                   .accessed = see_accessed,
                                                                   .instruction = see_instruction,
                                                                   .exited = see_exited};
