/* Is the memory the kernel's? Codes that stand before accesses and ask, for two observers: in
 * isolated launches (isolate) what is not is a fault; the checker of memory (mem) says it, and lets
 * the access happen.
 *
 * The extent that an instruction's last access lay in is kept by the warp, so that most tests
 * compare addresses with one extent and are done. What is misaligned is left to the access, which
 * reports it before it touches anything.
 */
#include "backend/interp/isolate.h"

#include "backend/interp/address.h"
#include "backend/observer.h"

/* Operands of a test, in places that no address uses: flags, with the space that the instruction
 * names above them, and what the warp remembers. */
enum { FLAGS = 0, RECENT = 4 };
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
    bool may_serve =
        e->bytes >= bytes_of(c) && !(e->is_read_only && flags & IS_WRITE) && is_in_space(e, flags);
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
    uint32_t flags;
};

/* What is wrong with lane `i`; PT_FINDING_KINDS: nothing. `found` is where its access lies. */
static enum pt_finding_kind judge(const struct asked *x, uint32_t i, struct pt_extent *found)
{
    const struct pt_launch *launch = x->warp->cta->launch;
    uint64_t address = x->address[i];
    bool is_known = pt_extent_holds(found, address, x->bytes) && is_current(found, launch);
    if (!is_known && (!launch->services->find(x->warp, i, address, found) ||
                      !pt_extent_holds(found, address, x->bytes)))
        return address < NULL_BYTES ? PT_FINDING_MEM_NULL : PT_FINDING_MEM_OUT_OF_BOUNDS;
    if (!is_in_space(found, x->flags))
        return PT_FINDING_MEM_WRONG_SPACE;
    return found->is_read_only && x->flags & IS_WRITE ? PT_FINDING_MEM_READ_ONLY : PT_FINDING_KINDS;
}

static uint32_t use_of(uint32_t flags)
{
    return !(flags & IS_WRITE) ? PT_USE_READ
                               : PT_USE_WRITE | (flags & IS_ATOMIC ? PT_USE_ATOMIC : 0);
}

static void say(const struct asked *x, uint32_t lane, enum pt_finding_kind kind)
{
    struct pt_finding finding = {.kind = kind, .by = pt_party_of(x->warp, lane, x->func, x->insn)};
    finding.by.use = use_of(x->flags);
    finding.by.has_address = true;
    finding.by.address = x->address[lane];
    finding.by.bytes = x->bytes;
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
        if (found.bytes && !found.is_private && bad != PT_FINDING_MEM_OUT_OF_BOUNDS)
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
                      .flags = c->o[FLAGS]};
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

PT_HANDLER(test_any)
{
    return test_lanes(c, f);
}

/* ---- decoding -------------------------------------------------------------------------------- */

/* Accesses of one kind whose memory is the same share what they remember. */
static uint32_t recent_index(enum pt_address kind, uint32_t number)
{
    enum { OWN = 2 };
    if (kind >= PT_ADDRESS_PARAM && kind <= PT_ADDRESS_PARAM32)
        return 0;
    if (kind >= PT_ADDRESS_SHARED_VAR)
        return 1;
    return OWN + number % (PT_RECENT - OWN);
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
    return true;
}

static bool place_isolated(struct pt_code *test, const struct pt_func *func,
                           const struct pt_form *form, bool is_write, uint32_t number)
{
    (void)form;
    return place(test, func, is_write ? IS_WRITE : 0, number);
}

/* A form that names .global alone is held to it: others are made of windows of their own. */
static enum pt_space space_of(const struct pt_form *form)
{
    unsigned n = 0;
    for (unsigned i = 0; i < form->n_mods; i++)
        n += pt_mod_space((enum pt_mod)form->mod[i]) != PT_SPACE_GENERIC;
    return n == 1 && pt_form_space(form) == PT_SPACE_GLOBAL ? PT_SPACE_GLOBAL : PT_SPACE_GENERIC;
}

static uint32_t checked_flags(const struct pt_form *form, bool is_write)
{
    uint32_t flags = GOES_ON | (is_write ? IS_WRITE : 0);
    flags |= is_write && form->effects & PT_FX_ATOMIC ? IS_ATOMIC : 0;
    return flags | (uint32_t)space_of(form) << SPACE_SHIFT;
}

static bool place_checked(struct pt_code *test, const struct pt_func *func,
                          const struct pt_form *form, bool is_write, uint32_t number)
{
    return place(test, func, checked_flags(form, is_write), number);
}

/* ---- accesses of native code ----------------------------------------------------------------- */

void pt_isolate_check(struct pt_warp *warp, uint32_t func, uint32_t insn, uint32_t lanes,
                      const uint64_t *address, uint64_t bytes, struct pt_extent *recent)
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
                      .flags = checked_flags(form, form->effects & PT_FX_WRITE)};
    *recent = (struct pt_extent){0};
    judge_lanes(&x, recent, &first);
    if ((recent->is_read_only && x.flags & IS_WRITE) || !is_in_space(recent, x.flags))
        recent->bytes = 0;
}

const struct pt_observer PT_LEVEL_NAME(pt_observer_isolate) = {
    .name = "isolate", .access = access_isolated, .place = place_isolated};

const struct pt_observer PT_LEVEL_NAME(pt_observer_mem) = {
    .name = "mem", .access = access_checked, .place = place_checked};
