/* Checked launches: races. Two accesses of one place by two threads, one of them a write, of which
 * neither is before the other in causality order, and that are not both strong with scopes that
 * include each other's thread (PTX ISA 8.7.3: morally strong).
 *
 * Each access is compared with those that its words' cells remember (cells.h), and remembered.
 * What is found holds on the schedule that is executed. Asynchronous operations are compared with
 * what came before them; that others wait for their end is race.c's.
 */
#include "backend/interp/address.h"
#include "backend/interp/conflict.h"
#include "backend/interp/release.h"

/* Operands of a code before an access, in places that no address uses. A vector's constant part is
 * where the width would be. */
enum { WIDTH = 2, USE = 5 };
/* Above the use, in its operand: what else the access is. */
enum { IS_STORE = 0x80, IS_READ_TOO = 0x100, ORDER = 9 /* 4 bits */, SCOPE = 13 };

/* ---- words ----------------------------------------------------------------------------------- */

/* True if a race was told. */
static inline bool compare(const struct pt_conflict *a, const struct pt_word *w,
                           enum pt_cell_stamp which)
{
    uint64_t stamp = pt_cell_stamp(w->cell, which);
    if (!stamp || pt_conflict_is_old(a, w->lane, stamp, w->born) ||
        !(pt_cell_bytes(w->cell, which) & w->bytes) || pt_conflict_is_strong(a, stamp))
        return false;
    uint32_t other = pt_conflict_other(a, w->lane, stamp);
    if (other == PT_WARP_SIZE)
        return false;
    pt_conflict_tell(a, w, which, other);
    return true;
}

static inline uint64_t stamp_of(const struct pt_conflict *a, const struct pt_word *w)
{
    return a->stamp | (uint64_t)w->lane << PT_STAMP_LOW | (uint64_t)w->high << PT_STAMP_HIGH;
}

/* Of the same instruction, or one at the same time: the lanes between the lowest and the highest
 * of both, if the stamps differ in nothing else. False: they do. */
static inline bool widen(struct pt_cell c, enum pt_cell_stamp which, uint64_t stamp, uint32_t site,
                         uint32_t bytes)
{
    const uint64_t lanes = PT_STAMP_LANES | UINT64_C(1) << PT_STAMP_IS_SPREAD;
    uint64_t old = pt_cell_stamp(c, which);
    uint32_t old_bytes = pt_cell_bytes(c, which);
    if ((old ^ stamp) & ~lanes || pt_cell_site(c, which) != site)
        return false;
    uint32_t low = pt_stamp_low(old), high = pt_stamp_high(old);
    bool is_spread = (old | stamp) >> PT_STAMP_IS_SPREAD & 1 || old_bytes != bytes;
    low = pt_stamp_low(stamp) < low ? pt_stamp_low(stamp) : low;
    high = pt_stamp_high(stamp) > high ? pt_stamp_high(stamp) : high;
    stamp = (stamp & ~lanes) | (uint64_t)low << PT_STAMP_LOW | (uint64_t)high << PT_STAMP_HIGH |
            (uint64_t)(is_spread && low != high) << PT_STAMP_IS_SPREAD;
    pt_cell_set(c, which, stamp, site, old_bytes | bytes);
    return true;
}

static inline void note_read(const struct pt_conflict *a, const struct pt_word *w)
{
    struct pt_cell c = w->cell;
    uint64_t stamp = stamp_of(a, w), last = pt_cell_stamp(c, PT_CELL_READ_LAST);
    if (last && widen(c, PT_CELL_READ_LAST, stamp, a->site, w->bytes))
        return;
    if (!last || pt_conflict_is_old(a, w->lane, last, w->born)) {
        pt_cell_set(c, PT_CELL_READ_LAST, stamp, a->site, w->bytes);
        return;
    }
    uint64_t first = pt_cell_stamp(c, PT_CELL_READ);
    if (!first || pt_conflict_is_old(a, w->lane, first, w->born))
        pt_cell_set(c, PT_CELL_READ, last, pt_cell_site(c, PT_CELL_READ_LAST),
                    pt_cell_bytes(c, PT_CELL_READ_LAST));
    else if (a->scope && !pt_stamp_field(last, PT_STAMP_SCOPE, PT_STAMP_SCOPE_BITS))
        return; /* a weak read says more: it races with more */
    pt_cell_set(c, PT_CELL_READ_LAST, stamp, a->site, w->bytes);
}

static inline bool is_kept_write(uint64_t stamp)
{
    return stamp >> PT_STAMP_IS_WRITE & 1;
}

static inline void note_write(const struct pt_conflict *a, const struct pt_word *w)
{
    struct pt_cell c = w->cell;
    uint64_t stamp = stamp_of(a, w), old = pt_cell_stamp(c, PT_CELL_WRITE);
    const uint64_t strength = ~(UINT64_C(0xf) << PT_STAMP_SCOPE); /* and that it is atomic */
    if (a->scope && old && !((old ^ stamp) & strength) &&
        !pt_stamp_field(old, PT_STAMP_SCOPE, PT_STAMP_SCOPE_BITS))
        return; /* the thread's weak write of this time says more: it races with more */
    if (old && w->bytes != 15 && widen(c, PT_CELL_WRITE, stamp, a->site, w->bytes)) {
        return;
    }
    uint64_t first = pt_cell_stamp(c, PT_CELL_READ);
    for (int which = PT_CELL_READ; which <= PT_CELL_READ_LAST; which++)
        if (!(pt_cell_bytes(c, (enum pt_cell_stamp)which) & ~w->bytes))
            *pt_cell_stamps(c, (enum pt_cell_stamp)which) = 0;
    if (a->scope && is_kept_write(first) && !pt_conflict_is_old(a, w->lane, first, w->born))
        *pt_cell_stamps(c, PT_CELL_READ) = first;
    else if (a->scope && old && !pt_conflict_is_old(a, w->lane, old, w->born))
        pt_cell_set(c, PT_CELL_READ, old | UINT64_C(1) << PT_STAMP_IS_WRITE,
                    pt_cell_site(c, PT_CELL_WRITE), pt_cell_bytes(c, PT_CELL_WRITE));
    pt_cell_set(c, PT_CELL_WRITE, stamp, a->site, w->bytes);
}

static inline void see_word(const struct pt_conflict *a, const struct pt_word *w)
{
    struct pt_word highest = *w;
    bool is_told = compare(a, w, PT_CELL_WRITE);
    if (!is_told && w->high != w->lane) {
        highest.lane = w->high;
        compare(a, &highest, PT_CELL_WRITE);
    }
    if (!(a->use & PT_USE_WRITE)) {
        if (!is_told && is_kept_write(pt_cell_stamp(w->cell, PT_CELL_READ)))
            compare(a, w, PT_CELL_READ);
        note_read(a, w);
        return;
    }
    if (!is_told && !compare(a, w, PT_CELL_READ))
        compare(a, w, PT_CELL_READ_LAST);
    note_write(a, w);
}

/* The cell of a word. False: none is kept. Its own window of local memory is a thread's alone. */
static inline bool find_cell(const struct pt_conflict *a, struct pt_word *w)
{
    const struct pt_cta *cta = a->frame->cta;
    uint64_t offset = w->address - (uint64_t)(uintptr_t)a->frame->shared;
    if (offset <= UINT32_MAX) {
        uint32_t rank = (uint32_t)offset >> PT_SHARED_RANK_SHIFT;
        uint32_t cell = ((uint32_t)offset & ((1u << PT_SHARED_RANK_SHIFT) - 1)) / 4;
        w->born = a->cluster->born;
        if (rank * a->launch->clocks.n_warps >= a->cluster->n_warps ||
            cell >= a->cluster->window_cells)
            return false;
        size_t cells = a->cluster->window_cells;
        w->cell = (struct pt_cell){
            &a->cluster->shared[rank * cells * PT_CELL_BYTES / sizeof(uint64_t) + cell], cells};
        return true;
    }
    const struct pt_launch *l = cta->launch;
    if (w->address - (uint64_t)(uintptr_t)cta->local < l->local_stride * l->threads)
        return false;
    w->born = 1;
    w->cell = pt_cells_cell(&a->launch->cells, w->address);
    return w->cell.at;
}

/* The words of a range of bytes. */
static inline void see_range(const struct pt_conflict *a, struct pt_word *w, uint64_t address,
                             uint32_t bytes,
                             void (*see)(const struct pt_conflict *, const struct pt_word *))
{
    uint64_t end = address + bytes;
    for (uint64_t at = address & ~UINT64_C(3); at < end; at += 4) {
        w->bytes = 15;
        if (at < address)
            w->bytes &= 15u << (address - at);
        if (at + 4 > end)
            w->bytes &= 15u >> (at + 4 - end);
        w->address = at;
        if (find_cell(a, w))
            see(a, w);
    }
}

/* Lanes from `lane` on, of which each accesses what lies behind the one before it, or all the same
 * place; `twice`: so do as many, this much higher. Returns how many. */
static uint32_t count_run(const struct pt_conflict *a, uint32_t left, uint32_t lane, uint64_t step)
{
    uint32_t n = 1;
    while (lane + n < PT_WARP_SIZE && left >> (lane + n) & 1 &&
           a->address[lane + n] == a->address[lane] + n * step)
        n++;
    return n;
}

/* The word's stamp of lanes one behind the other. */
static inline uint64_t lanes_of_word(const struct pt_conflict *a, uint32_t lane, uint32_t word,
                                     uint32_t twice)
{
    uint32_t low = lane + word * 4 / a->bytes, high = low;
    bool is_spread = a->bytes < 4;
    if (is_spread)
        high = low + 4 / a->bytes - 1;
    high += twice;
    return a->stamp | (uint64_t)low << PT_STAMP_LOW | (uint64_t)high << PT_STAMP_HIGH |
           (uint64_t)is_spread << PT_STAMP_IS_SPREAD;
}

enum { RUN_LEAST = 4, HALF = PT_WARP_SIZE / 2 };

/* False: it is not that simple. */
static bool see_run(const struct pt_conflict *a, uint32_t lane, uint32_t n, uint32_t twice)
{
    uint64_t stamps[PT_WARP_SIZE * 4], address = a->address[lane];
    uint32_t words = n * a->bytes / 4, cta_time = UINT32_MAX;
    struct pt_word w = {.address = address, .lane = lane};
    bool crosses = address >> PT_PAGE_SHIFT != (address + n * a->bytes - 1) >> PT_PAGE_SHIFT;
    if (n < RUN_LEAST || a->scope || crosses || address % 4 || n * a->bytes % 4 || a->bytes > 16 ||
        (twice && a->bytes < 4))
        return false;
    struct pt_word last = {.address = address + n * a->bytes - 4};
    if (!find_cell(a, &last) || !find_cell(a, &w))
        return false;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t one = a->warp->cta_time[lane + i], two = a->warp->cta_time[lane + i + twice];
        cta_time = one < cta_time ? one : cta_time;
        cta_time = two < cta_time ? two : cta_time;
    }
    for (uint32_t i = 0; i < words; i++)
        stamps[i] = lanes_of_word(a, lane, i, twice);
    return pt_conflict_run(a, &w, stamps, words, cta_time);
}

/* True if the upper half of the warp accesses what the lower one does. */
static bool is_twice(const struct pt_conflict *a)
{
    uint64_t differ = 0;
    for (uint32_t i = 0; i < HALF; i++)
        differ |= a->address[i] ^ a->address[i + HALF];
    return !differ;
}

static void see_lanes(const struct pt_conflict *a)
{
    bool is_read = !(a->use & PT_USE_WRITE);
    uint32_t twice = is_read && a->lanes == UINT32_MAX && is_twice(a) ? HALF : 0;
    for (uint32_t left = twice ? UINT32_MAX >> HALF : a->lanes; left;) {
        uint32_t lane = (uint32_t)__builtin_ctz(left), n = count_run(a, left, lane, a->bytes);
        if (n == 1 || !see_run(a, lane, n, twice)) {
            struct pt_word w = {.lane = lane};
            n = is_read ? count_run(a, left, lane, 0) : 1;
            w.high = lane + n - 1 + twice;
            see_range(a, &w, a->address[lane], a->bytes, see_word);
        }
        left &= ~(uint32_t)(((UINT64_C(1) << n) - 1) << lane);
    }
    if (a->launch->cells.is_out_of_memory)
        pt_causality_blind(a->frame, "there is no memory for who accessed what");
}

/* ---- accesses of threads --------------------------------------------------------------------- */

static bool begin_access(struct pt_conflict *a, const struct pt_code *c, struct pt_frame *f,
                         uint32_t lanes, const uint64_t *address, uint64_t bytes, uint32_t use)
{
    struct pt_known_cluster *k = pt_causality_cluster(f);
    if (!k)
        return false;
    *a = (struct pt_conflict){.launch = f->cta->launch->causality,
                              .cluster = k,
                              .warp = pt_causality_warp(k, f),
                              .code = c,
                              .frame = f,
                              .address = address,
                              .lanes = lanes,
                              .bytes = (uint32_t)bytes,
                              .use = use};
    a->first = a->warp->number - f->state->warp->index;
    a->site = pt_cells_site(&a->launch->cells, f->body->index, c->insn);
    a->stamp = a->launch->time | (uint64_t)a->warp->number << PT_STAMP_WARP |
               (uint64_t)(use & PT_USE_ATOMIC ? 1 : 0) << PT_STAMP_IS_ATOMIC;
    return true;
}

static void set_scope(struct pt_conflict *a, enum pt_scope scope)
{
    a->scope = scope;
    a->stamp |= (uint64_t)scope << PT_STAMP_SCOPE;
}

/* Others see what came before a strong access, and it sees what came before theirs. */
static void see_strong(const struct pt_conflict *a, enum pt_order order, bool is_read)
{
    for (uint32_t left = a->lanes; left; left &= left - 1) {
        uint32_t i = (uint32_t)__builtin_ctz(left);
        struct pt_strong strong = {.address = a->address[i],
                                   .lane = i,
                                   .site = a->site,
                                   .is_read = is_read,
                                   .is_write = a->use & PT_USE_WRITE,
                                   .order = order,
                                   .scope = a->scope};
        pt_release_strong(a->frame, a->cluster, a->warp, &strong);
    }
}

PT_HANDLER(before_access)
{
    struct pt_code at = pt_address_code(c);
    uint64_t address[PT_WARP_SIZE], bytes = UINT64_C(1) << (c->aux >> 8 & 15);
    uint32_t outside, what = c->o[USE];
    struct pt_conflict a;
    if (pt_address_all(&at, f, pt_address_kind(c), address, &outside) & (bytes - 1) || outside ||
        !begin_access(&a, c, f, f->mask, address, bytes, what & (IS_STORE - 1)))
        return c + 1;
    enum pt_order order = (enum pt_order)(what >> ORDER & 15);
    a.width = !(c->aux & PT_ADDRESS_VECTOR) ? c->o[WIDTH] : what & IS_STORE ? (uint32_t)bytes : 0;
    set_scope(&a, (enum pt_scope)(what >> SCOPE));
    see_lanes(&a);
    if (order != PT_ORDER_PLAIN)
        see_strong(&a, order, what & IS_READ_TOO);
    return c + 1;
}

/* Bytes of the elements of the slot that a store of one value reads; 0: it is none. */
static uint32_t width_of(const struct pt_func *func, const struct pt_insn *insn)
{
    const struct pt_operand *o = &func->operands.v[insn->operands + 1];
    if (insn->n_operands < 2 || (o->kind != PT_OPND_REG && o->kind != PT_OPND_IMM))
        return 0;
    uint32_t bits = o->kind == PT_OPND_REG ? pt_type_bits((enum pt_type)func->regs.v[o->index].type)
                    : o->type == PT_f32    ? 32
                                           : 64;
    return bits >= 64 ? bits / 8 : 4;
}

static bool is_mbarrier(const struct pt_form *form)
{
    return form->op >= PT_OP_mbarrier_init && form->op <= PT_OP_mbarrier_pending_count;
}

static bool place(struct pt_code *test, const struct pt_func *func, const struct pt_form *form,
                  bool is_write, uint32_t number)
{
    (void)number;
    enum pt_address kind = pt_address_kind(test);
    bool is_param = kind >= PT_ADDRESS_PARAM && kind <= PT_ADDRESS_PARAM32;
    /* A warp copies a tensor map as one, behind what its lanes wrote. */
    if (is_param || kind >= PT_ADDRESS_LOCAL_VAR || form->op == PT_OP_tensormap_cp_fenceproxy)
        return false;
    bool is_atomic = form->effects & PT_FX_ATOMIC, is_store = is_write && !is_atomic;
    enum pt_order order = pt_order_of(form);
    enum pt_scope scope = pt_scope_of(form);
    if (is_mbarrier(form)) { /* it orders by its phases; what makes and ends it is weak */
        bool is_made = form->op == PT_OP_mbarrier_init || form->op == PT_OP_mbarrier_inval;
        is_store = is_write = is_made;
        is_atomic = false;
        order = PT_ORDER_PLAIN;
        scope = is_made ? PT_SCOPE_NONE : PT_SCOPE_SYS;
    }
    test->fn = before_access;
    if (!(test->aux & PT_ADDRESS_VECTOR))
        test->o[WIDTH] = is_mbarrier(form) ? PT_CONFLICT_SAME
                         : is_store        ? width_of(func, &func->insns.v[test->insn])
                                           : 0;
    test->o[USE] = (is_write ? PT_USE_WRITE : PT_USE_READ) | (is_atomic ? PT_USE_ATOMIC : 0) |
                   (is_store ? IS_STORE : IS_READ_TOO) | (uint32_t)order << ORDER |
                   (uint32_t)scope << SCOPE;
    return true;
}

/* Of instructions whose lanes' accesses are told one by one: matrices', multimem. */
static bool see_access(const struct pt_event *e, const struct pt_access *access)
{
    struct pt_conflict a;
    if (access->is_async ||
        !begin_access(&a, e->code, e->frame, e->lanes, access->address, access->bytes, access->use))
        return true;
    if (access->order != PT_ORDER_PLAIN)
        set_scope(&a, PT_SCOPE_SYS);
    a.data = access->data;
    see_lanes(&a);
    return true;
}

/* ---- asynchronous operations ----------------------------------------------------------------- */

/* An operation's word: what came before it. Those that write leave nothing to compare with: whether
 * later accesses wait for it is looked at elsewhere. */
static void see_async_word(const struct pt_conflict *a, const struct pt_word *w)
{
    uint64_t stamp = pt_cell_stamp(w->cell, PT_CELL_WRITE);
    bool is_told = compare(a, w, PT_CELL_WRITE);
    bool are_strong = a->scope && pt_stamp_field(stamp, PT_STAMP_SCOPE, PT_STAMP_SCOPE_BITS);
    if (!is_told && a->is_of_async_proxy && stamp && pt_stamp_time(stamp) >= w->born &&
        !are_strong) {
        uint32_t warp = pt_stamp_warp(stamp), low = pt_stamp_low(stamp);
        struct pt_clock_known known =
            pt_clock_find(&a->launch->clocks, a->warp->clock[w->lane], warp, low);
        if (warp == a->warp->number && low == w->lane && known.proxy < a->warp->proxy[low])
            known.proxy = a->warp->proxy[low];
        if (known.proxy < pt_stamp_time(stamp))
            pt_conflict_tell_proxy(a, w, low);
    }
    if (!(a->use & PT_USE_WRITE))
        return;
    if (!is_told && !compare(a, w, PT_CELL_READ))
        compare(a, w, PT_CELL_READ_LAST);
    for (int which = 0; which < PT_CELL_STAMPS && w->bytes == 15; which++)
        *pt_cell_stamps(w->cell, (enum pt_cell_stamp)which) = 0;
}

struct side {
    struct pt_conflict *access;
    uint32_t lane;
};

static bool see_extent(void *ud, uint64_t address, uint32_t bytes)
{
    struct side *side = ud;
    struct pt_word w = {.lane = side->lane, .high = side->lane};
    uint64_t addresses[PT_WARP_SIZE];
    addresses[side->lane] = address;
    side->access->address = addresses;
    see_range(side->access, &w, address, bytes, see_async_word);
    return true;
}

static bool see_issued(const struct pt_event *e, struct pt_async_op *op)
{
    struct pt_conflict a;
    uint32_t op_id = pt_insn_form(e->frame->state->program->base.image->module,
                                  &e->frame->body->func->insns.v[e->insn])
                         ->op;
    if (op->kind == PT_ASYNC_ARRIVAL)
        return true;
    for (int is_write = 0; is_write < 2; is_write++) {
        if (!begin_access(&a, op->code, op->frame, 1u << op->lane, NULL, 4,
                          is_write ? PT_USE_WRITE : PT_USE_READ))
            return true;
        if (op->join && is_write) /* reductions of one place may meet */
            set_scope(&a, PT_SCOPE_GPU);
        a.is_of_async_proxy =
            op->kind != PT_ASYNC_COPY && op_id != PT_OP_st_async && op_id != PT_OP_red_async;
        pt_async_visit(op, is_write, see_extent, &(struct side){&a, op->lane});
    }
    return true;
}

/* The heap orders who had a block before with who has it now. */
static void see_allocated(const struct pt_event *e, uint64_t address, uint64_t bytes)
{
    struct pt_known_cluster *k = pt_causality_cluster(e->frame);
    for (uint64_t at = address & ~UINT64_C(3); k && address && at < address + bytes; at += 4) {
        struct pt_cell cell = pt_cells_cell(&pt_causality_of(e->frame)->cells, at);
        for (int which = 0; cell.at && which < PT_CELL_STAMPS; which++)
            *pt_cell_stamps(cell, (enum pt_cell_stamp)which) = 0;
    }
}

static void see_fence(const struct pt_event *e)
{
    pt_release_fence(e);
}

static void see_sync(const struct pt_event *e, const struct pt_sync *sync)
{
    if (sync->where == PT_SYNC_OF_MBARRIER)
        pt_release_mbarrier(e, sync);
    else
        pt_causality_sync(e, sync);
}

const struct pt_observer PT_LEVEL_NAME(pt_observer_conflict) = {
    .name = "conflict",
    .access = see_access,
    .sync = see_sync,
    .fence = see_fence,
    .issued = see_issued,
    .allocated = see_allocated,
    .launched = pt_causality_launched,
    .place = place,
};
