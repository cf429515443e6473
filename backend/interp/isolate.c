/* Isolated launches: the codes that stand before accesses and ask whether the memory is the
 * kernel's.
 *
 * The extent that an instruction's last access lay in is kept by the warp, so that most tests
 * compare addresses with one extent and are done. What is misaligned is left to the access, which
 * reports it before it touches anything.
 */
#include "backend/interp/address.h"
#include "backend/observer.h"

/* Operands of a test, in places that no address uses. */
enum { IS_WRITE = 0, RECENT = 4 };

static uint64_t bytes_of(const struct pt_code *c)
{
    return UINT64_C(1) << (c->aux >> 8 & 15);
}

static bool is_current(const struct pt_extent *e, const struct pt_frame *f)
{
    return e->releases == atomic_load_explicit(f->cta->launch->releases, memory_order_acquire);
}

static struct pt_extent *recent_of(const struct pt_code *c, const struct pt_frame *f)
{
    return &f->state->recent[c->o[RECENT]];
}

/* The extent of this instruction's last access if it may serve this one, else NULL. */
static const struct pt_extent *usable(const struct pt_code *c, const struct pt_frame *f)
{
    const struct pt_extent *e = recent_of(c, f);
    bool may_serve = e->bytes >= bytes_of(c) && !(e->is_read_only && c->o[IS_WRITE]);
    return may_serve && is_current(e, f) ? e : NULL;
}

/* ---- any access, lane by lane ---------------------------------------------------------------- */

static const char not_memory[] = "this is not memory of the kernel";
static const char only_read[] = "the kernel may only read this memory";

/* What is wrong with lane `i` accessing `address`; NULL: nothing. */
static const char *objection(const struct pt_code *c, const struct pt_frame *f, uint32_t i,
                             uint64_t address)
{
    const struct pt_services *services = f->cta->launch->services;
    struct pt_extent *recent = recent_of(c, f), found = *recent;
    bool is_known = pt_extent_holds(recent, address, bytes_of(c)) && is_current(recent, f);
    if (!is_known && (!services->find(f->state->warp, i, address, &found) ||
                      !pt_extent_holds(&found, address, bytes_of(c))))
        return not_memory;
    if (!found.is_private)
        *recent = found;
    return found.is_read_only && c->o[IS_WRITE] ? only_read : NULL;
}

static const struct pt_code *test_lanes(const struct pt_code *c, struct pt_frame *f)
{
    struct pt_code at = pt_address_code(c);
    uint64_t a[PT_WARP_SIZE];
    uint32_t outside, lanes = 0;
    const char *detail = NULL;
    if (pt_address_all(&at, f, pt_address_kind(c), a, &outside) & (bytes_of(c) - 1))
        return c + 1;
    for (uint32_t left = f->mask; left; left &= left - 1) {
        uint32_t i = (uint32_t)__builtin_ctz(left);
        const char *bad = objection(c, f, i, a[i]);
        if (!bad)
            continue;
        detail = lanes ? detail : bad;
        lanes |= 1u << i;
    }
    if (!lanes)
        return c + 1;
    pt_fail(c, f, PT_FAULT_ILLEGAL_ADDRESS, lanes, detail);
    f->state->warp->fault.has_address = true;
    f->state->warp->fault.address = a[__builtin_ctz(lanes)];
    return NULL;
}

/* Accesses that no test stands before: those of instructions of a warp, and of asynchronous
 * operations. */
static bool access(const struct pt_event *e, const struct pt_access *a)
{
    const struct pt_services *services = e->warp->cta->launch->services;
    const char *detail = NULL;
    uint32_t bad = 0;
    for (uint32_t left = e->lanes; left; left &= left - 1) {
        uint32_t i = (uint32_t)__builtin_ctz(left);
        struct pt_extent found = {0};
        bool is_found = services->find(e->warp, i, a->address[i], &found) &&
                        pt_extent_holds(&found, a->address[i], a->bytes);
        if (is_found && !(found.is_read_only && a->use & PT_USE_WRITE))
            continue;
        detail = bad ? detail : is_found ? only_read : not_memory;
        bad |= 1u << i;
    }
    return !bad || pt_fail_at(e->code, e->frame, PT_FAULT_ILLEGAL_ADDRESS, bad,
                              a->address[__builtin_ctz(bad)], detail);
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

static bool place(struct pt_code *test, const struct pt_func *func, const struct pt_form *form,
                  bool is_write, uint32_t number)
{
    (void)form;
    enum pt_address kind = pt_address_kind(test);
    uint64_t at = pt_address_code(test).imm, bytes = bytes_of(test), all = func->param_size;
    /* The access itself stays in the thread's local window; or its place is known now. */
    if (kind >= PT_ADDRESS_LOCAL_VAR ||
        (kind == PT_ADDRESS_PARAM && !is_write && at <= all && bytes <= all - at))
        return false;
    test->fn = handler_of(kind);
    test->o[IS_WRITE] = is_write;
    test->o[RECENT] = recent_index(kind, number);
    return true;
}

const struct pt_observer PT_LEVEL_NAME(pt_observer_isolate) = {
    .name = "isolate", .access = access, .place = place};
