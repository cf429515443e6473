/* Is the memory the kernel's? Codes that stand before accesses and ask, for two observers: in
 * isolated launches (isolate) what is not is a fault; the checker of memory (mem) says it, and lets
 * the access happen.
 *
 * The extent that an instruction's last access lay in is kept by the warp, so that most tests
 * compare addresses with one extent and are done. What is misaligned is left to the access, which
 * reports it before it touches anything.
 */
#include "backend/interp/isolate.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "backend/interp/address.h"
#include "backend/observer.h"
#include "ir/origin.h"

/* Operands of a test, in places that no address uses: flags, with the space that the instruction
 * names above them, what the warp remembers, and what the address is made of (ir/origin.h). */
enum { FLAGS = 0, RECENT = 4, ORIGIN = 5 };
enum { IS_WRITE = 1, GOES_ON = 2, IS_ATOMIC = 4, SPACE_SHIFT = 8 };

static uint64_t bytes_of(const struct pt_code *c)
{
    return UINT64_C(1) << (c->aux >> 8 & 15);
}

static bool is_current(const struct pt_extent *e, const struct pt_launch *launch)
{
    return e->releases == atomic_load_explicit(launch->releases, memory_order_acquire);
}

static struct pt_extent *recent_of(const struct pt_code *c, const struct pt_frame *f)
{
    return &f->state->recent[c->o[RECENT]];
}

/* Instructions of the checker may name a space, and not lie in another. */
static bool is_in_space(const struct pt_extent *e, uint32_t flags)
{
    enum pt_space named = (enum pt_space)(flags >> SPACE_SHIFT);
    return !(flags & GOES_ON) || named == PT_SPACE_GENERIC || e->space == named;
}

/* The extent of this instruction's last access if it may serve this one, else NULL. */
static const struct pt_extent *usable(const struct pt_code *c, const struct pt_frame *f)
{
    const struct pt_extent *e = recent_of(c, f);
    uint32_t flags = c->o[FLAGS];
    bool may_serve = e->bytes >= bytes_of(c) && !(e->is_read_only && flags & IS_WRITE) &&
                     e->origin == c->o[ORIGIN] && is_in_space(e, flags);
    return may_serve && is_current(e, f->cta->launch) ? e : NULL;
}

/* ---- any access, lane by lane ---------------------------------------------------------------- */

enum { NULL_BYTES = 4096 /* addresses below are a null pointer, and a member of it */ };

static const char *detail_of(enum pt_finding_kind kind)
{
    return kind == PT_FINDING_MEM_READ_ONLY ? "the kernel may only read this memory"
                                            : "this is not memory of the kernel";
}

/* Accesses of lanes of a warp, by one instruction. */
struct asked {
    struct pt_warp *warp;
    uint32_t func, insn, lanes;
    const uint64_t *address; /* by lane */
    uint64_t bytes;
    uint32_t flags, origin;
    const uint32_t *frames; /* by lane: pt_frame.base; NULL: 0 */
};

static const struct pt_module *module_of(const struct asked *x)
{
    return x->warp->cta->launch->program->image->module;
}

static const struct pt_symbol *parameter_of(const struct asked *x, uint64_t *pointer)
{
    const struct pt_launch *launch = x->warp->cta->launch;
    const struct pt_module *m = module_of(x);
    uint64_t at;
    const struct pt_symbol *s =
        pt_origin_parameter(m, &m->funcs.v[launch->program->kernel], x->origin, &at);
    memcpy(pointer, (const char *)launch->params + s->offset + at, sizeof *pointer);
    return s;
}

/* Makes *own, where an access of lane `i` lies, the variable that its address is made of. */
static void narrow_to(const struct pt_symbol *s, const struct asked *x, uint32_t i,
                      struct pt_extent *own)
{
    const struct pt_cta *cta = x->warp->cta;
    uint64_t thread = (uint64_t)x->warp->index * PT_WARP_SIZE + i;
    own->first = cta->launch->program->image->symbols[x->origin];
    if (s->space == PT_SPACE_SHARED)
        own->first += (uint64_t)(uintptr_t)cta->shared + cta->window;
    if (s->space == PT_SPACE_LOCAL)
        own->first = (uint64_t)(uintptr_t)cta->local + thread * cta->launch->local_stride +
                     s->offset + (x->frames ? x->frames[i] : 0);
    own->bytes = s->size;
}

/* True if the access lies in what its address is made of; then *e, where it lies, becomes that. */
static bool is_in_origin(const struct asked *x, uint32_t i, struct pt_extent *e)
{
    const struct pt_symbol *variable = pt_origin_variable(module_of(x), x->origin);
    struct pt_extent own = *e;
    uint64_t pointer;
    if (variable) {
        narrow_to(variable, x, i, &own);
    } else {
        parameter_of(x, &pointer);
        if (!x->warp->cta->launch->services->find(x->warp, i, pointer, &own) ||
            own.space != PT_SPACE_GLOBAL || own.may_adjoin)
            own = *e;
    }
    if (!pt_extent_holds(&own, x->address[i], x->bytes))
        return false;
    own.origin = x->origin;
    *e = own;
    return true;
}

/* What is wrong with lane `i`; PT_FINDING_KINDS: nothing. `found` is where its access lies. */
static enum pt_finding_kind judge(const struct asked *x, uint32_t i, struct pt_extent *found)
{
    const struct pt_launch *launch = x->warp->cta->launch;
    uint64_t address = x->address[i];
    bool is_known = pt_extent_holds(found, address, x->bytes) && is_current(found, launch) &&
                    found->origin == x->origin;
    bool is_local = x->flags >> SPACE_SHIFT == PT_SPACE_LOCAL; /* such an access tells by itself */
    if (!is_known && (!launch->services->find(x->warp, i, address, found) ||
                      !pt_extent_holds(found, address, x->bytes)))
        return is_local               ? PT_FINDING_KINDS
               : address < NULL_BYTES ? PT_FINDING_MEM_NULL
                                      : PT_FINDING_MEM_OUT_OF_BOUNDS;
    if (!is_in_space(found, x->flags))
        return PT_FINDING_MEM_WRONG_SPACE;
    if (x->origin && !is_known && !is_in_origin(x, i, found))
        return PT_FINDING_MEM_BEYOND;
    return found->is_read_only && x->flags & IS_WRITE ? PT_FINDING_MEM_READ_ONLY : PT_FINDING_KINDS;
}

static uint32_t use_of(uint32_t flags)
{
    return !(flags & IS_WRITE) ? PT_USE_READ
                               : PT_USE_WRITE | (flags & IS_ATOMIC ? PT_USE_ATOMIC : 0);
}

static void put_origin(const struct asked *x, uint32_t lane, char *text, size_t n)
{
    const struct pt_symbol *s = pt_origin_variable(module_of(x), x->origin);
    uint64_t pointer;
    struct pt_extent own = {0};
    if (s) {
        snprintf(text, n, "its address is made of that of '%s', of %" PRIu64 " bytes", s->name,
                 s->size);
        return;
    }
    s = parameter_of(x, &pointer);
    x->warp->cta->launch->services->find(x->warp, lane, pointer, &own);
    snprintf(text, n,
             "its address is made of parameter '%s', which points to %" PRIu64
             " bytes at global address 0x%" PRIx64,
             s->name, own.bytes, own.first);
}

static void say(const struct asked *x, uint32_t lane, enum pt_finding_kind kind)
{
    struct pt_finding finding = {.kind = kind, .by = pt_party_of(x->warp, lane, x->func, x->insn)};
    finding.by.use = use_of(x->flags);
    finding.by.has_address = true;
    finding.by.address = x->address[lane];
    finding.by.bytes = x->bytes;
    char detail[320];
    if (kind == PT_FINDING_MEM_BEYOND) {
        put_origin(x, lane, detail, sizeof detail);
        finding.detail = detail;
    }
    x->warp->cta->launch->services->found(x->warp, &finding);
}

/* Returns the lanes with whom something is wrong, and what it is with the first; it is said where
 * they go on. `recent` is where accesses lay before; it becomes where these do. */
static uint32_t judge_lanes(const struct asked *x, struct pt_extent *recent,
                            enum pt_finding_kind *first)
{
    uint32_t lanes = 0;
    for (uint32_t left = x->lanes; left; left &= left - 1) {
        uint32_t i = (uint32_t)__builtin_ctz(left);
        struct pt_extent found = *recent;
        enum pt_finding_kind bad = judge(x, i, &found);
        if (found.bytes && !found.is_private && bad != PT_FINDING_MEM_OUT_OF_BOUNDS &&
            bad != PT_FINDING_MEM_BEYOND)
            *recent = found;
        if (bad == PT_FINDING_KINDS)
            continue;
        if (x->flags & GOES_ON)
            say(x, i, bad);
        *first = lanes ? *first : bad;
        lanes |= 1u << i;
    }
    return x->flags & GOES_ON ? 0 : lanes;
}

/* False: the warp stops. */
static bool test(const struct asked *x, const struct pt_code *c, struct pt_frame *f,
                 struct pt_extent *recent)
{
    enum pt_finding_kind first = PT_FINDING_KINDS;
    uint32_t lanes = judge_lanes(x, recent, &first);
    return !lanes || pt_fail_at(c, f, PT_FAULT_ILLEGAL_ADDRESS, lanes,
                                x->address[__builtin_ctz(lanes)], detail_of(first));
}

static const struct pt_code *test_lanes(const struct pt_code *c, struct pt_frame *f)
{
    struct pt_code at = pt_address_code(c);
    uint64_t a[PT_WARP_SIZE], bytes = bytes_of(c);
    uint32_t outside;
    struct asked x = {.warp = f->state->warp,
                      .func = f->body->index,
                      .insn = c->insn,
                      .lanes = f->mask,
                      .address = a,
                      .bytes = bytes,
                      .flags = c->o[FLAGS],
                      .origin = c->o[ORIGIN],
                      .frames = f->base};
    if (pt_address_all(&at, f, pt_address_kind(c), a, &outside) & (bytes - 1))
        return c + 1;
    return test(&x, c, f, recent_of(c, f)) ? c + 1 : NULL;
}

/* Accesses that no test stands before: those of instructions of a warp, and of asynchronous
 * operations. */
static bool access(const struct pt_event *e, const struct pt_access *a, uint32_t flags)
{
    struct pt_extent recent = {0};
    struct asked x = {.warp = e->warp,
                      .func = e->func,
                      .insn = e->insn,
                      .lanes = e->lanes,
                      .address = a->address,
                      .bytes = a->bytes,
                      .flags = flags};
    x.flags |= a->use & PT_USE_WRITE ? IS_WRITE : 0;
    x.flags |= a->use & PT_USE_ATOMIC ? IS_ATOMIC : 0;
    return test(&x, e->code, e->frame, &recent);
}

static bool access_isolated(const struct pt_event *e, const struct pt_access *a)
{
    return access(e, a, 0);
}

static bool access_checked(const struct pt_event *e, const struct pt_access *a)
{
    return access(e, a, GOES_ON | (uint32_t)PT_SPACE_GENERIC << SPACE_SHIFT);
}

/* ---- the common kinds of address ------------------------------------------------------------- */

PT_HANDLER(test_uniform)
{
    struct pt_code at = pt_address_code(c);
    const struct pt_extent *e = usable(c, f);
    if (e && pt_extent_holds(e, pt_address_of(&at, f, pt_address_kind(c), 0), bytes_of(c)))
        return c + 1;
    return test_lanes(c, f);
}

PT_HANDLER(test_reg64)
{
    const struct pt_extent *e = usable(c, f);
    if (!e)
        return test_lanes(c, f);
    const uint64_t *base = PT_SLOT(1, u64);
    uint64_t first = e->first - pt_address_code(c).imm, last = e->bytes - bytes_of(c);
    uint64_t outside = 0;
    if (f->mask == UINT32_MAX) {
        PT_LANES
        {
            outside |= base[i] - first > last ? UINT64_MAX : 0;
        }
    } else {
        for (uint32_t left = f->mask; left; left &= left - 1)
            outside |= base[__builtin_ctz(left)] - first > last;
    }
    return outside ? test_lanes(c, f) : c + 1;
}

PT_HANDLER(test_shared32)
{
    const struct pt_extent *e = usable(c, f);
    uint64_t window = e ? e->first - (uint64_t)(uintptr_t)f->shared : UINT64_MAX;
    if (window > UINT32_MAX)
        return test_lanes(c, f);
    const uint32_t *base = PT_SLOT(1, u32), *lanes = f->lanes;
    uint32_t first = (uint32_t)(window - pt_address_code(c).imm);
    uint32_t last = (uint32_t)(e->bytes - bytes_of(c)), outside = 0;
    PT_LANES
    {
        outside |= (base[i] - first > last ? UINT32_MAX : 0) & lanes[i];
    }
    return outside ? test_lanes(c, f) : c + 1;
}

/* Addresses that are made of a local variable's. */
PT_HANDLER(test_local)
{
    const struct pt_symbol *s = &f->cta->launch->program->image->module->symbols.v[c->o[ORIGIN]];
    struct pt_code at = pt_address_code(c);
    uint64_t a[PT_WARP_SIZE], begin = (uint64_t)(uintptr_t)f->local0 + s->offset;
    uint64_t last = s->size - bytes_of(c), stride = f->local_stride;
    uint32_t outside, beyond = s->size < bytes_of(c);
    pt_address_all(&at, f, pt_address_kind(c), a, &outside);
    const uint32_t *base = f->base, *lanes = f->lanes;
    PT_LANES
    {
        uint64_t own = begin + i * stride + base[i];
        beyond |= (a[i] - own > last ? UINT32_MAX : 0) & lanes[i];
    }
    return beyond ? test_lanes(c, f) : c + 1;
}

PT_HANDLER(test_any)
{
    return test_lanes(c, f);
}

/* ---- decoding -------------------------------------------------------------------------------- */

/* Accesses of one kind whose memory is the same share what they remember, and those of a
 * variable. */
enum { OWN = 2, OF_VARIABLES = 8 };

static uint32_t variable_index(uint32_t variable)
{
    return PT_RECENT - OF_VARIABLES + variable % OF_VARIABLES;
}

static uint32_t recent_index(enum pt_address kind, uint32_t number)
{
    if (kind >= PT_ADDRESS_PARAM && kind <= PT_ADDRESS_PARAM32)
        return 0;
    if (kind >= PT_ADDRESS_SHARED_VAR)
        return 1;
    return OWN + number % (PT_RECENT - OF_VARIABLES - OWN);
}

static pt_handler handler_of(enum pt_address kind)
{
    if (pt_address_is_uniform(kind))
        return test_uniform;
    return kind == PT_ADDRESS_REG64      ? test_reg64
           : kind == PT_ADDRESS_SHARED32 ? test_shared32
                                         : test_any;
}

static bool place(struct pt_code *test, const struct pt_func *func, uint32_t flags, uint32_t number)
{
    enum pt_address kind = pt_address_kind(test);
    uint64_t at = pt_address_code(test).imm, bytes = bytes_of(test), all = func->param_size;
    /* The access itself stays in the thread's local window; or its place is known now. */
    if (kind >= PT_ADDRESS_LOCAL_VAR ||
        (kind == PT_ADDRESS_PARAM && !(flags & IS_WRITE) && at <= all && bytes <= all - at))
        return false;
    test->fn = handler_of(kind);
    test->o[FLAGS] = flags;
    test->o[RECENT] = recent_index(kind, number);
    test->o[ORIGIN] = 0;
    return true;
}

static bool place_isolated(struct pt_code *test, const struct pt_func *func, const void *facts,
                           const struct pt_form *form, bool is_write, uint32_t number)
{
    (void)facts;
    (void)form;
    return place(test, func, is_write ? IS_WRITE : 0, number);
}

/* A form that names .global or .local alone is held to it: addresses of other spaces are made of
 * windows of their own. */
static enum pt_space space_of(const struct pt_form *form)
{
    unsigned n = 0;
    for (unsigned i = 0; i < form->n_mods; i++)
        n += pt_mod_space((enum pt_mod)form->mod[i]) != PT_SPACE_GENERIC;
    enum pt_space space = pt_form_space(form);
    bool is_held = n == 1 && (space == PT_SPACE_GLOBAL || space == PT_SPACE_LOCAL);
    return is_held ? space : PT_SPACE_GENERIC;
}

static uint32_t checked_flags(const struct pt_form *form, bool is_write)
{
    uint32_t flags = GOES_ON | (is_write ? IS_WRITE : 0);
    flags |= is_write && form->effects & PT_FX_ATOMIC ? IS_ATOMIC : 0;
    return flags | (uint32_t)space_of(form) << SPACE_SHIFT;
}

struct origins {
    const struct pt_module *m;
    const struct pt_origins *origins;
};

static bool place_local(struct pt_code *test, const struct pt_symbol *variable, uint32_t flags,
                        uint32_t origin)
{
    uint64_t at = pt_address_code(test).imm - variable->offset, bytes = bytes_of(test);
    if (pt_address_kind(test) == PT_ADDRESS_LOCAL_VAR && at <= variable->size &&
        bytes <= variable->size - at)
        return false;
    test->fn = test_local;
    test->o[FLAGS] = flags;
    test->o[RECENT] = 0; /* what is a lane's own is not kept there */
    test->o[ORIGIN] = origin;
    return true;
}

static bool place_checked(struct pt_code *test, const struct pt_func *func, const void *facts,
                          const struct pt_form *form, bool is_write, uint32_t number)
{
    const struct origins *x = facts;
    uint32_t origin = pt_origin_of(x->origins, &func->insns.v[test->insn]);
    const struct pt_symbol *variable = pt_origin_variable(x->m, origin);
    uint32_t flags = checked_flags(form, is_write);
    if (variable && variable->space == PT_SPACE_LOCAL)
        return place_local(test, variable, flags, origin);
    if (!place(test, func, flags, number))
        return false;
    test->o[ORIGIN] = origin;
    if (variable)
        test->o[RECENT] = variable_index(origin);
    return true;
}

static const void *analyse(const struct pt_module *m, const struct pt_func *func,
                           struct pt_arena *arena)
{
    struct origins *x = pt_arena_alloc(arena, sizeof *x);
    *x = (struct origins){m, pt_origin_analyse(m, func, arena)};
    return x;
}

/* ---- accesses of native code ----------------------------------------------------------------- */

void pt_isolate_check(struct pt_warp *warp, uint32_t func, uint32_t insn, uint32_t lanes,
                      const uint64_t *address, uint64_t bytes, uint32_t origin,
                      struct pt_extent *recent)
{
    const struct pt_module *m = warp->cta->launch->program->image->module;
    const struct pt_form *form = pt_insn_form(m, &m->funcs.v[func].insns.v[insn]);
    enum pt_finding_kind first = PT_FINDING_KINDS;
    struct asked x = {.warp = warp,
                      .func = func,
                      .insn = insn,
                      .lanes = lanes,
                      .address = address,
                      .bytes = bytes,
                      .flags = checked_flags(form, form->effects & PT_FX_WRITE),
                      .origin = origin};
    *recent = (struct pt_extent){0};
    judge_lanes(&x, recent, &first);
    if ((recent->is_read_only && x.flags & IS_WRITE) || !is_in_space(recent, x.flags))
        recent->bytes = 0;
}

const struct pt_observer PT_LEVEL_NAME(pt_observer_isolate) = {
    .name = "isolate", .access = access_isolated, .place = place_isolated};

const struct pt_observer PT_LEVEL_NAME(pt_observer_mem) = {
    .name = "mem", .access = access_checked, .place = place_checked, .analyse = analyse};
