/* The checker of values that nobody made: registers, shared and local memory, the blocks of malloc
 * and what a program allocates hold none until they are written. Copies are followed
 * (undefined.c, and backend/shadow.h for memory); what is told is a use: what decides a branch, an
 * address, a barrier or an atomic. init_load tells every load instead. */
#include "backend/interp/address.h"
#include "backend/interp/init_matrix.h"
#include "backend/interp/observe.h"
#include "backend/interp/shape.h"
#include "backend/interp/undefined_reach.h"
#include "backend/shadow.h"
#include "ir/insn.h"

static const struct pt_form *form_of(const struct pt_event *e)
{
    const struct pt_frame *f = e->frame;
    return pt_insn_form(f->state->program->base.image->module, &f->body->func->insns.v[e->insn]);
}

static struct pt_shadow *shadow_of(const struct pt_event *e)
{
    return e->warp->cta->launch->shadow;
}

/* ---- uses ------------------------------------------------------------------------------------ */

static void tell(const struct pt_event *e, uint32_t lane, enum pt_finding_kind kind,
                 const struct pt_party *what, const struct pt_origin *origin)
{
    struct pt_finding finding = {.kind = kind,
                                 .by = pt_party_of(e->warp, lane, e->func, e->insn),
                                 .detail = origin->bytes ? "these bytes were never written"
                                                         : "the register was never written"};
    finding.by.use = PT_USE_READ;
    finding.by.has_register = what->has_register;
    finding.by.reg = what->reg;
    finding.by.has_address = what->has_address;
    finding.by.address = what->address;
    finding.by.bytes = what->bytes;
    if (origin->bytes && what->has_register) {
        finding.other = pt_party_of(e->warp, lane, origin->func, origin->insn);
        finding.other.use = PT_USE_READ;
        finding.other.has_address = true;
        finding.other.address = origin->address;
        finding.other.bytes = origin->bytes;
    }
    e->warp->cta->launch->services->found(e->warp, &finding);
}

/* The register decides something. It is told once: from here on it counts as defined. */
static void use(const struct pt_event *e, uint32_t reg, enum pt_finding_kind kind)
{
    struct pt_frame *f = e->frame;
    uint32_t lanes = pt_undefined_lanes(f, reg) & e->lanes;
    for (uint32_t left = lanes; left; left &= left - 1)
        tell(e, (uint32_t)__builtin_ctz(left), kind,
             &(struct pt_party){.has_register = true, .reg = reg}, &f->undefined->origin[reg]);
    pt_undefined_clear(f, reg, lanes);
}

static void use_operand(const struct pt_event *e, const struct pt_operand *o,
                        enum pt_finding_kind kind)
{
    const struct pt_operand *all = e->frame->body->func->operands.v;
    if (o->kind == PT_OPND_REG)
        use(e, o->index, kind);
    for (int64_t i = 0; (o->kind == PT_OPND_VEC || o->kind == PT_OPND_MEM) && i < o->imm; i++)
        use_operand(e, &all[o->index + i], kind);
}

static void use_operands(const struct pt_event *e, const struct pt_form *form)
{
    const struct pt_func *func = e->frame->body->func;
    const struct pt_insn *insn = &func->insns.v[e->insn];
    enum { DECIDES = PT_FX_CTA | PT_FX_CLUSTER | PT_FX_BRANCH | PT_FX_ATOMIC };
    enum pt_finding_kind kind = form->effects & PT_FX_ATOMIC   ? PT_FINDING_INIT_ATOMIC
                                : form->effects & PT_FX_BRANCH ? PT_FINDING_INIT_BRANCH
                                                               : PT_FINDING_INIT_BARRIER;
    bool has_result = form->effects & PT_FX_ATOMIC && insn->n_operands &&
                      func->operands.v[insn->operands].kind != PT_OPND_MEM;
    for (uint32_t i = 0; i < insn->n_operands; i++) {
        const struct pt_operand *o = &func->operands.v[insn->operands + i];
        if (o->kind == PT_OPND_MEM)
            use_operand(e, o, PT_FINDING_INIT_ADDRESS);
        else if (form->effects & DECIDES && (i || !has_result))
            use_operand(e, o, kind);
    }
}

/* ---- instructions ---------------------------------------------------------------------------- */

static struct pt_event event_of(const struct pt_code *c, struct pt_frame *f)
{
    return (struct pt_event){.warp = f->state->warp,
                             .func = f->body->index,
                             .insn = c->insn,
                             .lanes = f->mask,
                             .code = c,
                             .frame = f};
}

/* Before what sets a register to zero that is never written. */
PT_HANDLER(before_zero)
{
    const struct pt_func *func = f->body->func;
    uint32_t reg = func->operands.v[func->insns.v[c->insn].operands].index;
    struct pt_origin origin = {.func = f->body->index, .insn = c->insn};
    for (uint32_t left = f->mask; left; left &= left - 1)
        pt_undefined_set(f, reg, (uint32_t)__builtin_ctz(left), UINT64_MAX, &origin);
    return c + 1;
}

static void see_instruction(const struct pt_event *e)
{
    const struct pt_form *form = form_of(e);
    enum {
        USES = PT_FX_CTA | PT_FX_CLUSTER | PT_FX_BRANCH | PT_FX_ATOMIC | PT_FX_READ | PT_FX_WRITE
    };
    if (form->effects & USES)
        use_operands(e, form);
    pt_undefined_transfer(e->frame, e->insn, e->lanes);
}

/* Mostly there is nothing undefined. */
PT_HANDLER(before_instruction)
{
    if (!pt_undefined_any(f))
        return c + 1;
    struct pt_event e = event_of(c, f);
    see_instruction(&e);
    return c + 1;
}

/* Of all lanes, before those are chosen for which it holds. */
PT_HANDLER(before_guard)
{
    if (!pt_undefined_any(f))
        return c + 1;
    struct pt_event e = event_of(c, f);
    use(&e, f->body->func->insns.v[c->insn].guard, PT_FINDING_INIT_BRANCH);
    return c + 1;
}

static bool place_instruction(struct pt_code *test, const struct pt_func *func, const void *facts,
                              bool is_guard)
{
    const struct pt_insn *insn = &func->insns.v[test->insn];
    const struct pt_undefined_reach *reach = facts;
    if (is_guard) {
        test->fn = before_guard;
        return reach->may[insn->guard];
    }
    test->fn = pt_undefined_reach_is_zero(func, insn) ? before_zero : before_instruction;
    return pt_undefined_reach_has(reach, func, insn);
}

/* ---- memory ---------------------------------------------------------------------------------- */

/* Element `k` of what a load writes or a store reads: `o` is that operand. */
static const struct pt_operand *element(const struct pt_event *e, const struct pt_operand *o,
                                        uint32_t k)
{
    return o->kind == PT_OPND_VEC ? &e->frame->body->func->operands.v[o->index + k] : o;
}

static uint32_t count_elements(const struct pt_operand *o)
{
    return o->kind == PT_OPND_VEC ? (uint32_t)o->imm : 1;
}

static uint64_t bits_of_bytes(const uint8_t *values, uint64_t n)
{
    uint64_t bits = 0;
    for (uint64_t i = 0; i < n; i++)
        bits |= values[i] ? UINT64_C(0xff) << 8 * (i & 7) : 0;
    return bits;
}

static void load_lane(const struct pt_event *e, const struct pt_access *a, uint32_t lane,
                      const uint8_t *values)
{
    struct pt_frame *f = e->frame;
    const struct pt_insn *insn = &f->body->func->insns.v[e->insn];
    const struct pt_operand *d = &f->body->func->operands.v[insn->operands];
    uint32_t n = count_elements(d);
    uint64_t each = a->bytes / n;
    for (uint32_t k = 0; k < n; k++) {
        const struct pt_operand *o = element(e, d, k);
        struct pt_origin origin = {e->func, e->insn, a->address[lane] + k * each, each};
        if (o->kind == PT_OPND_REG)
            pt_undefined_set(f, o->index, lane, bits_of_bytes(values + k * each, each), &origin);
    }
}

static void store_lane(const struct pt_event *e, const struct pt_access *a, uint32_t lane)
{
    const struct pt_frame *f = e->frame;
    const struct pt_insn *insn = &f->body->func->insns.v[e->insn];
    const struct pt_operand *value = &f->body->func->operands.v[insn->operands + 1];
    uint32_t n = count_elements(value);
    uint64_t each = a->bytes / n;
    for (uint32_t k = 0; k < n; k++) {
        const struct pt_operand *o = element(e, value, k);
        uint64_t bits = o->kind == PT_OPND_REG ? pt_undefined_bits(f, o->index, lane) : 0;
        for (uint64_t i = 0; bits && i < each; i++)
            if (bits >> 8 * (i & 7) & 0xff)
                pt_shadow_set(shadow_of(e), a->address[lane] + k * each + i, 1, PT_SHADOW_STORED);
    }
}

/* The shadow of a lane's bytes, which mostly lie in the page of the lane before. */
struct cursor {
    struct pt_shadow *shadow;
    uint64_t page; /* its number; UINT64_MAX: none */
    uint8_t *at;   /* its shadow; NULL: all of it is defined */
};

/* Where a page has no shadow all is defined. Most accesses are of 4 or 8 bytes. */
PT_SHADOW_INLINE bool is_undefined(struct cursor *c, uint64_t address, uint64_t bytes)
{
    enum { MASK = (1 << PT_SHADOW_PAGE) - 1 };
    uint64_t word = 0;
    if (address >> PT_SHADOW_PAGE != c->page) {
        c->page = address >> PT_SHADOW_PAGE;
        c->at = pt_shadow_page(c->shadow, address, false);
    }
    if ((address & MASK) + bytes > MASK + 1) {
        uint8_t values[64];
        return bytes <= sizeof values && pt_shadow_get(c->shadow, address, bytes, values);
    }
    if (!c->at)
        return false;
    const uint8_t *p = c->at + (address & MASK);
    switch (bytes) {
    case 4:
        memcpy(&word, p, 4);
        return word;
    case 8:
        memcpy(&word, p, 8);
        return word;
    default:
        for (uint64_t i = 0; i < bytes; i++)
            word |= p[i];
        return word;
    }
}

/* What a lane finds undefined. */
static void see_undefined(const struct pt_event *e, const struct pt_access *a, uint32_t lane,
                          bool tells_loads)
{
    uint8_t values[64];
    bool is_atomic = a->use & PT_USE_ATOMIC;
    struct pt_origin origin = {e->func, e->insn, a->address[lane], a->bytes};
    struct pt_party what = {.has_address = true, .address = a->address[lane], .bytes = a->bytes};
    if (tells_loads || is_atomic)
        tell(e, lane, is_atomic ? PT_FINDING_INIT_ATOMIC : PT_FINDING_INIT_LOAD, &what, &origin);
    else if (a->bytes <= sizeof values &&
             pt_shadow_get(shadow_of(e), a->address[lane], a->bytes, values))
        load_lane(e, a, lane, values);
}

enum { READS = 1, WRITES = 2, ATOMIC = 4, KNOWN = 8, TELLS = 16 };

static uint32_t flags_of(const struct pt_form *form, uint32_t use, bool is_async, bool tells_loads)
{
    bool is_write = use & PT_USE_WRITE, is_atomic = use & PT_USE_ATOMIC;
    bool is_known = !is_async && pt_undefined_reach_is_plain(form, is_write);
    return ((!is_write && is_known) || is_atomic ? READS : 0) | (is_write ? WRITES : 0) |
           (is_atomic ? ATOMIC : 0) | (is_known ? KNOWN : 0) | (tells_loads ? TELLS : 0);
}

static void access(const struct pt_event *e, const struct pt_access *a, uint32_t flags)
{
    struct cursor cursor = {shadow_of(e), UINT64_MAX, NULL};
    bool stores = flags & WRITES && flags & KNOWN && pt_undefined_any(e->frame);
    for (uint32_t left = flags & (READS | WRITES) ? e->lanes : 0; left; left &= left - 1) {
        uint32_t i = (uint32_t)__builtin_ctz(left);
        if (is_undefined(&cursor, a->address[i], a->bytes)) {
            if (flags & READS)
                see_undefined(e, a, i, flags & TELLS);
            if (flags & WRITES)
                pt_shadow_set(cursor.shadow, a->address[i], a->bytes, PT_SHADOW_DEFINED);
        }
        if (stores) {
            store_lane(e, a, i);
            cursor.page = UINT64_MAX;
        }
    }
}

/* The range that the lanes' accesses lie in, where it is short: its end, else 0. */
static uint64_t range_of(uint32_t lanes, const uint64_t *a, uint64_t bytes, uint64_t *first)
{
    enum { LONGEST = PT_WARP_SIZE * 16 };
    uint64_t low = UINT64_MAX, high = 0;
    for (uint32_t i = 0; i < PT_WARP_SIZE; i++) {
        uint64_t left_out = (uint64_t)(lanes >> i & 1) - 1;
        low = (a[i] | left_out) < low ? a[i] | left_out : low;
        high = (a[i] & ~left_out) > high ? a[i] & ~left_out : high;
    }
    *first = low;
    return high - low <= LONGEST - bytes ? high + bytes : 0;
}

/* The lanes write all of a range, one behind the other. */
static bool is_run(uint32_t lanes, const uint64_t *a, uint64_t bytes)
{
    return lanes == UINT32_MAX && pt_shape_is_run64(a, PT_WARP_SIZE, bytes);
}

/* Operands of a test, in places that no address uses. */
enum { FLAGS = 0 };

/* What is misaligned, or leaves its window, is left to the access, which reports it. */
PT_HANDLER(before_access)
{
    struct pt_code at = pt_address_code(c);
    uint64_t a[PT_WARP_SIZE], bytes = UINT64_C(1) << (c->aux >> 8 & 15), first;
    uint32_t outside, flags = c->o[FLAGS];
    struct pt_shadow *shadow = f->cta->launch->shadow;
    uint64_t any = pt_address_all(&at, f, pt_address_kind(c), a, &outside);
    if (any & (bytes - 1) || outside || !(flags & (READS | WRITES)))
        return c + 1;
    uint64_t end = range_of(f->mask, a, bytes, &first);
    bool is_clean = !(flags & WRITES) || !pt_undefined_any(f);
    if (end && is_clean && !pt_shadow_any(shadow, first, end - first))
        return c + 1;
    if (end && is_clean && !(flags & READS) && is_run(f->mask, a, bytes)) {
        pt_shadow_set(shadow, first, end - first, PT_SHADOW_DEFINED);
        return c + 1;
    }
    uint32_t use =
        (flags & WRITES ? PT_USE_WRITE : PT_USE_READ) | (flags & ATOMIC ? PT_USE_ATOMIC : 0);
    struct pt_event e = event_of(c, f);
    access(&e, &(struct pt_access){.address = a, .bytes = bytes, .use = use}, flags);
    return c + 1;
}

static bool place(struct pt_code *test, const struct pt_form *form, bool is_write, bool tells_loads)
{
    enum pt_address kind = pt_address_kind(test);
    uint32_t use = (is_write ? PT_USE_WRITE : PT_USE_READ) |
                   (form->effects & PT_FX_ATOMIC && is_write ? PT_USE_ATOMIC : 0);
    if (kind >= PT_ADDRESS_PARAM && kind <= PT_ADDRESS_PARAM32)
        return false;
    test->fn = before_access;
    test->o[FLAGS] = flags_of(form, use, false, tells_loads);
    return true;
}

static bool place_followed(struct pt_code *test, const struct pt_func *func, const void *facts,
                           const struct pt_form *form, bool is_write, uint32_t number)
{
    (void)facts;
    (void)func;
    (void)number;
    return place(test, form, is_write, false);
}

static bool place_told(struct pt_code *test, const struct pt_func *func, const void *facts,
                       const struct pt_form *form, bool is_write, uint32_t number)
{
    (void)facts;
    (void)func;
    (void)number;
    return place(test, form, is_write, true);
}

/* Those that no test stands before: of a warp's instructions, and of asynchronous operations. */
static bool access_followed(const struct pt_event *e, const struct pt_access *a)
{
    const struct pt_form *form = form_of(e);
    access(e, a, flags_of(form, a->use, a->is_async, false));
    if (form->op == PT_OP_ldmatrix && a->bytes == PT_MATRIX_ROW)
        pt_init_matrix_load(e, a, shadow_of(e));
    return true;
}

/* Behind what it is said to write. */
static bool see_issued(const struct pt_event *e, struct pt_async_op *op)
{
    if (op->kind == PT_ASYNC_WGMMA)
        pt_init_matrix_multiply(e, op, shadow_of(e));
    else
        pt_init_matrix_copy(op, shadow_of(e));
    return true;
}

static bool access_told(const struct pt_event *e, const struct pt_access *a)
{
    access(e, a, flags_of(form_of(e), a->use, a->is_async, true));
    return true;
}

/* Shared memory of the CTA, and the local memory of its threads: of kernels that call functions it
 * is left out, since what calls pass goes through it untold. */
static void begin(const struct pt_cta *cta)
{
    enum { LOCAL_MAX = 16 << 20 };
    const struct pt_launch *launch = cta->launch;
    const struct pt_interp_program *p = (const struct pt_interp_program *)launch->program;
    uint64_t shared = (uintptr_t)cta->shared + cta->window + PT_SHARED_BASE;
    uint64_t local = launch->local_stride * launch->threads;
    pt_shadow_set(launch->shadow, shared, launch->shared_bytes - PT_SHARED_BASE,
                  PT_SHADOW_UNWRITTEN);
    if (!p->n_callees && !p->is_unbounded && local <= LOCAL_MAX)
        pt_shadow_set(launch->shadow, (uintptr_t)cta->local, local, PT_SHADOW_UNWRITTEN);
}

const struct pt_observer PT_LEVEL_NAME(pt_observer_init) = {
    .name = "init",
    .access = access_followed,
    .issued = see_issued,
    .begun = begin,
    .place = place_followed,
    .place_instruction = place_instruction,
    .analyse = pt_undefined_reach_find,
};

const struct pt_observer PT_LEVEL_NAME(pt_observer_init_load) = {
    .name = "init-load",
    .access = access_told,
    .begun = begin,
    .place = place_told,
};
