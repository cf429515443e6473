/* Checked launches: races of asynchronous operations with what threads of their cluster do.
 *
 * A *watch* is what one operation in flight reads or writes, and which threads have observed that
 * it is done: an access of another thread, or of the operation's own before it has waited, is a
 * race (PTX ISA 8, "Memory Consistency Model"; 9.7.9.25, completion mechanisms). A thread observes
 * it by its own wait (groups), by a test of the mbarrier that counts the operation, or from a
 * thread that has observed it, by what orders the two: barriers of the warp, the CTA and the
 * cluster, mbarriers, and atomic, volatile and other strong accesses of one address (fences are
 * taken to be where they belong).
 *
 * What carries such knowledge is a *key*: a barrier or an mbarrier in one of its phases, or an
 * address. A thread that releases gives a key what it knows, one that acquires has it then. Keys
 * have KEYS numbers: where there are more, some share one, and races may go unseen, but none is
 * made up.
 */
#include "backend/interp/address.h"
#include "backend/interp/mbarrier.h"
#include "backend/observer.h"
#include "backend/order.h"
#include "ir/bits.h"
#include "ir/insn.h"

enum {
    KEYS = 512,
    PROBES = 16,
    LINES = 4096,
    LINE_SHIFT = 7,
    NO_NODE = UINT32_MAX,
    FIRST_SWEEP = 64
};

struct extent {
    uint64_t first, bytes;
};

/* One side of an operation: all it reads or all it writes. */
struct pt_watch {
    struct pt_async_op
        op; /* without what was on the stack of who issued it; no frame once that has ended */
    uint32_t func; /* its place, with op.code */
    uint32_t use;
    bool has_waited;          /* its own thread has */
    bool is_superseded;       /* a later operation, issued by one who knows, covers it */
    uint64_t keys[KEYS / 64]; /* that carry its end */
    uint32_t n_extents, n_warps;
    struct extent *extents;
    uint32_t known
        []; /* by warp of the cluster: lanes that have observed its end; the extents lie behind */
};

/* The extents of watches by the lines they touch: lists in nodes. */
struct pt_watch_node {
    uint32_t watch, extent, next;
};

static struct pt_race *race_of(const struct pt_frame *f)
{
    return &f->cta->async->race;
}

static uint32_t warp_number(const struct pt_warp *w)
{
    return w->cta->cluster_rank * w->cta->launch->n_warps + w->index;
}

static uint64_t mix(uint64_t v)
{
    v *= UINT64_C(0x9e3779b97f4a7c15);
    return v >> 32;
}

static uint32_t line_of(uint64_t address)
{
    return (uint32_t)(mix(address >> LINE_SHIFT) % LINES);
}

/* The key of an mbarrier at an address in a phase, of which only the parity counts. */
static uint64_t mbarrier_key(uint64_t address, uint32_t phase)
{
    return address | (phase & 1);
}

/* The key of a barrier of the CTA, or of the cluster. */
static uint64_t barrier_key(const struct pt_cta *cta, uint32_t bar, uint32_t phase)
{
    uint64_t rank = bar == PT_CLUSTER_BARRIER ? 0 : cta->cluster_rank;
    return UINT64_C(1) << 63 | rank << 16 | bar << 1 | (phase & 1);
}

/* ---- what threads know ----------------------------------------------------------------------- */

static bool has_key(const struct pt_watch *w, uint32_t k)
{
    return w->keys[k / 64] >> k % 64 & 1;
}

static void add_key(struct pt_watch *w, uint32_t k)
{
    w->keys[k / 64] |= UINT64_C(1) << k % 64;
}

/* The number of a key, which is its own as long as there is room near where it should be. There are
 * watches. */
static uint32_t key_index(struct pt_race *r, uint64_t key)
{
    uint32_t k = (uint32_t)(mix(key) % KEYS);
    for (uint32_t i = 0; i < PROBES; i++) {
        uint64_t *at = &r->keys[(k + i) % KEYS];
        if (!*at)
            *at = key;
        if (*at == key)
            return (k + i) % KEYS;
    }
    return k;
}

static void release(const struct pt_frame *f, uint32_t lanes, uint64_t key)
{
    struct pt_race *r = race_of(f);
    if (!r->n)
        return;
    uint32_t warp = warp_number(f->state->warp), k = key_index(r, key);
    for (uint32_t i = 0; i < r->n; i++)
        if (r->watches[i]->known[warp] & lanes)
            add_key(r->watches[i], k);
}

static void acquire(const struct pt_frame *f, uint32_t lanes, uint64_t key)
{
    struct pt_race *r = race_of(f);
    if (!r->n)
        return;
    uint32_t warp = warp_number(f->state->warp), k = key_index(r, key);
    for (uint32_t i = 0; i < r->n; i++)
        if (has_key(r->watches[i], k))
            r->watches[i]->known[warp] |= lanes;
}

static void join(const struct pt_frame *f, uint32_t lanes)
{
    struct pt_race *r = race_of(f);
    uint32_t warp = warp_number(f->state->warp);
    for (uint32_t i = 0; i < r->n; i++)
        if (r->watches[i]->known[warp] & lanes)
            r->watches[i]->known[warp] |= lanes;
}

static void next_phase(const struct pt_frame *f, uint64_t address, uint32_t phase)
{
    struct pt_race *r = race_of(f);
    if (!r->n)
        return;
    uint32_t from = key_index(r, mbarrier_key(address, phase));
    uint32_t to = key_index(r, mbarrier_key(address, phase + 1));
    for (uint32_t i = 0; i < r->n; i++)
        if (has_key(r->watches[i], from))
            add_key(r->watches[i], to);
}

static void waited(const struct pt_frame *f, enum pt_async_kind kind, uint32_t pending,
                   bool is_read)
{
    struct pt_race *r = race_of(f);
    const struct pt_state *s = f->state;
    uint32_t warp = warp_number(s->warp);
    for (uint32_t i = 0; i < r->n; i++) {
        struct pt_watch *w = r->watches[i];
        bool is_waited = w->op.kind == kind && w->op.warp == s->warp &&
                         (f->mask >> w->op.lane & 1) && !(is_read && w->use & PT_USE_WRITE) &&
                         s->committed[kind][w->op.lane] - w->op.group > pending;
        if (!is_waited)
            continue;
        w->has_waited = true;
        w->known[warp] |= kind == PT_ASYNC_WGMMA ? f->mask : 1u << w->op.lane;
    }
}

/* An arrival comes behind the copies that its thread issued before. */
static void done(const struct pt_async_op *op)
{
    struct pt_race *r = race_of(op->frame);
    if (!r->n || !op->mbarrier || !pt_mbarrier_may_be(op->frame, op->mbarrier))
        return;
    uint32_t k = key_index(r, mbarrier_key(op->mbarrier, pt_mbarrier_phase(op->mbarrier)));
    for (uint32_t i = 0; i < r->n; i++) {
        struct pt_watch *w = r->watches[i];
        bool is_copy = op->kind == PT_ASYNC_ARRIVAL && w->op.kind == PT_ASYNC_COPY &&
                       w->op.warp == op->warp && w->op.lane == op->lane &&
                       w->op.number < op->number;
        if (is_copy || w->op.number == op->number)
            add_key(w, k);
    }
}

static void forget(const struct pt_frame *f)
{
    struct pt_race *r = race_of(f);
    for (uint32_t i = 0; i < r->n; i++)
        if (r->watches[i]->op.frame == f)
            r->watches[i]->op.frame = NULL;
}

/* ---- watches --------------------------------------------------------------------------------- */

static void *resize(const struct pt_frame *f, void *p, size_t bytes)
{
    const struct pt_allocator *a = f->state->program->arena.allocator;
    return a->resize(a->ud, p, bytes);
}

/* True if all threads that are left know of it. */
static bool is_over(const struct pt_frame *f, const struct pt_watch *w)
{
    const struct pt_warp *first =
        f->cta->warps - (size_t)f->cta->cluster_rank * f->cta->launch->n_warps;
    for (uint32_t i = 0; i < w->n_warps; i++)
        if (first[i].live & ~w->known[i])
            return false;
    return true;
}

static bool add_nodes(const struct pt_frame *f, uint32_t watch)
{
    struct pt_race *r = race_of(f);
    const struct pt_watch *w = r->watches[watch];
    for (uint32_t e = 0; e < w->n_extents; e++) {
        const struct extent *x = &w->extents[e];
        uint64_t last = (x->first + x->bytes - 1) >> LINE_SHIFT;
        for (uint64_t line = x->first >> LINE_SHIFT; line <= last; line++) {
            if (r->n_nodes == r->room_nodes) {
                uint32_t room = r->room_nodes ? 2 * r->room_nodes : 1024;
                void *nodes = resize(f, r->nodes, room * sizeof *r->nodes);
                if (!nodes)
                    return false;
                r->nodes = nodes;
                r->room_nodes = room;
            }
            uint32_t *head = &r->lines[line_of(line << LINE_SHIFT)];
            r->nodes[r->n_nodes] = (struct pt_watch_node){watch, e, *head};
            *head = r->n_nodes++;
        }
    }
    return true;
}

/* Forgets watches that are over, and makes the lists anew. */
static bool sweep(const struct pt_frame *f)
{
    struct pt_race *r = race_of(f);
    uint32_t n = r->n;
    r->n = r->n_nodes = 0;
    for (uint32_t i = 0; i < LINES; i++)
        r->lines[i] = NO_NODE;
    for (uint32_t i = 0; i < n; i++) {
        if (r->watches[i]->is_superseded || is_over(f, r->watches[i]))
            resize(f, r->watches[i], 0);
        else
            r->watches[r->n++] = r->watches[i];
    }
    if (!r->n)
        memset(r->keys, 0, KEYS * sizeof *r->keys);
    for (uint32_t i = 0; i < r->n; i++)
        if (!add_nodes(f, i))
            return false;
    r->sweep_at = r->n < FIRST_SWEEP / 2 ? FIRST_SWEEP : 2 * r->n;
    return true;
}

static bool make_room(const struct pt_frame *f)
{
    struct pt_race *r = race_of(f);
    if (!r->lines && !(r->lines = resize(f, NULL, LINES * sizeof *r->lines)))
        return false;
    if (!r->keys && !(r->keys = resize(f, NULL, KEYS * sizeof *r->keys)))
        return false;
    if ((!r->n || r->n >= r->sweep_at) && !sweep(f))
        return false;
    if (r->n < r->room)
        return true;
    uint32_t room = r->room ? 2 * r->room : FIRST_SWEEP;
    struct pt_watch **watches = resize(f, r->watches, room * sizeof(struct pt_watch *));
    if (!watches)
        return false;
    r->watches = watches;
    r->room = room;
    return true;
}

/* ---- accesses -------------------------------------------------------------------------------- */

static bool conflicts(uint32_t a, uint32_t b)
{
    return (a | b) & PT_USE_WRITE && !(a & b & PT_USE_ATOMIC);
}

/* What is to be done about it. */
static const char *advice_of(const struct pt_watch *w)
{
    if (w->has_waited)
        return "its thread has waited for it, but nothing orders that wait before this access: a "
               "barrier is missing";
    switch (w->op.kind) {
    case PT_ASYNC_COPY:
        return "it may not be done: wait with cp.async.wait_group, or for an mbarrier that "
               "cp.async.mbarrier.arrive names";
    case PT_ASYNC_BULK:
        return w->use & PT_USE_WRITE
                   ? "it may not be done: wait with cp.async.bulk.wait_group"
                   : "it may not be done: wait with cp.async.bulk.wait_group.read";
    case PT_ASYNC_WGMMA:
        return "it may not be done: wait with wgmma.wait_group";
    default:
        return "it may not be done, as far as this thread knows: wait for its mbarrier";
    }
}

/* `what` has the use, and memory or a register. */
static void find(const struct pt_code *c, const struct pt_frame *f, uint32_t lane,
                 const struct pt_watch *w, const struct pt_party *what, uint32_t other_use)
{
    struct pt_finding finding = {.kind = PT_FINDING_RACE_ASYNC,
                                 .by = pt_party_of(f->state->warp, lane, f->body->index, c->insn),
                                 .other =
                                     pt_party_of(w->op.warp, w->op.lane, w->func, w->op.code->insn),
                                 .detail = advice_of(w)};
    finding.by.use = what->use;
    finding.by.has_address = what->has_address;
    finding.by.address = what->address;
    finding.by.has_register = what->has_register;
    finding.by.reg = what->reg;
    finding.other.use = other_use;
    f->cta->launch->services->found(f->state->warp, &finding);
}

static void access(const struct pt_code *c, const struct pt_frame *f, uint32_t lanes,
                   uint64_t address, uint64_t bytes, uint32_t use)
{
    struct pt_race *r = race_of(f);
    uint32_t warp = warp_number(f->state->warp);
    if (!r->n || !bytes)
        return;
    uint64_t last = (address + bytes - 1) >> LINE_SHIFT;
    for (uint64_t line = address >> LINE_SHIFT; line <= last; line++)
        for (uint32_t i = r->lines[line_of(line << LINE_SHIFT)]; i != NO_NODE;
             i = r->nodes[i].next) {
            const struct pt_watch *w = r->watches[r->nodes[i].watch];
            const struct extent *x = &w->extents[r->nodes[i].extent];
            bool overlaps = address < x->first + x->bytes && x->first < address + bytes;
            if (!overlaps || w->is_superseded || !conflicts(use, w->use) || w->known[warp] & lanes)
                continue;
            find(c, f, (uint32_t)__builtin_ctz(lanes), w,
                 &(struct pt_party){.use = use,
                                    .has_address = true,
                                    .address = address > x->first ? address : x->first},
                 w->use);
            return;
        }
}

static void registers(const struct pt_code *c, const struct pt_frame *f,
                      const struct pt_register_use *regs, uint32_t n)
{
    struct pt_race *r = race_of(f);
    uint32_t warp = warp_number(f->state->warp);
    for (uint32_t i = 0; i < r->n; i++) {
        const struct pt_watch *w = r->watches[i];
        if (w->op.kind != PT_ASYNC_WGMMA || w->op.frame != f || w->known[warp] & f->mask)
            continue;
        for (uint32_t k = 0; k < n; k++) {
            bool is_written = false;
            if (!w->op.uses(w->op.code, regs[k].slot, &is_written) ||
                !(is_written || regs[k].is_def))
                continue;
            find(c, f, (uint32_t)__builtin_ctz(f->mask), w,
                 &(struct pt_party){.use = regs[k].is_def ? PT_USE_WRITE : PT_USE_READ,
                                    .has_register = true,
                                    .reg = regs[k].reg},
                 is_written || w->use & PT_USE_WRITE ? PT_USE_WRITE : PT_USE_READ);
            return;
        }
    }
}

/* ---- operations ------------------------------------------------------------------------------ */

/* Extents of a side of an operation: tested and counted first, then written to a watch. */
struct side {
    const struct pt_async_op *op;
    uint32_t use, n;
    struct extent *extents; /* NULL: they are tested */
};

/* The threads that issued it. */
static uint32_t lanes_of(const struct pt_async_op *op)
{
    return op->kind == PT_ASYNC_WGMMA ? op->frame->mask : 1u << op->lane;
}

static bool see_extent(void *ud, uint64_t first, uint32_t bytes)
{
    struct side *side = ud;
    const struct pt_async_op *op = side->op;
    if (!bytes)
        return true;
    if (!side->extents)
        access(op->code, op->frame, lanes_of(op), first, bytes, side->use);
    else
        side->extents[side->n] = (struct extent){first, bytes};
    side->n++;
    return true;
}

static void see_side(struct side *side)
{
    side->n = 0;
    pt_async_visit(side->op, side->use & PT_USE_WRITE, see_extent, side);
}

/* Earlier operations whose end the thread knows, and whose bytes this one writes, need no watch any
 * more: who does not know of their end does not know of this one's. */
static void supersede(const struct pt_frame *f, const struct pt_watch *now)
{
    struct pt_race *r = race_of(f);
    uint32_t warp = warp_number(f->state->warp);
    const struct extent *x = now->extents;
    for (uint32_t i = 0; i < r->n; i++) {
        struct pt_watch *w = r->watches[i];
        bool is_inside = w->known[warp] >> now->op.lane & 1;
        for (uint32_t e = 0; is_inside && e < w->n_extents; e++)
            is_inside = w->extents[e].first >= x->first &&
                        w->extents[e].first + w->extents[e].bytes <= x->first + x->bytes;
        w->is_superseded |= is_inside;
    }
}

static bool watch_side(const struct pt_async_op *op, uint32_t use)
{
    const struct pt_frame *f = op->frame;
    struct side side = {.op = op, .use = use};
    see_side(&side);
    if (!side.n)
        return true;
    uint32_t n_warps = f->cta->launch->n_warps * f->cta->launch->cluster[0] *
                       f->cta->launch->cluster[1] * f->cta->launch->cluster[2];
    size_t known = pt_round_up(n_warps * sizeof(uint32_t), 8);
    size_t bytes = sizeof(struct pt_watch) + known + side.n * sizeof(struct extent);
    struct pt_watch *w = make_room(f) ? resize(f, NULL, bytes) : NULL;
    if (!w)
        return false;
    memset(w, 0, bytes);
    w->op = *op;
    w->op.tile = NULL;
    w->op.staged = NULL;
    w->func = f->body->index;
    w->use = use;
    w->n_warps = n_warps;
    side.extents = w->extents = (struct extent *)(void *)((char *)w->known + known);
    see_side(&side);
    w->n_extents = side.n;
    if (use & PT_USE_WRITE && w->n_extents == 1)
        supersede(f, w);
    struct pt_race *r = race_of(f);
    r->watches[r->n++] = w;
    return add_nodes(f, r->n - 1);
}

static bool issue(struct pt_async_op *op)
{
    uint32_t write = op->join ? PT_USE_WRITE | PT_USE_ATOMIC : PT_USE_WRITE;
    op->number = ++race_of(op->frame)->issued;
    if (op->kind == PT_ASYNC_ARRIVAL)
        return true;
    return watch_side(op, PT_USE_READ) && (op->kind == PT_ASYNC_WGMMA || watch_side(op, write));
}

/* ---- codes before accesses ------------------------------------------------------------------- */

/* Operands of a test, in places that no address uses. */
enum { USE = 0, IS_STRONG = 4 };

/* Others see what came before a strong access, and it sees what came before theirs. */
PT_HANDLER(test_access)
{
    if (!race_of(f)->n)
        return c + 1;
    struct pt_code at = pt_address_code(c);
    uint64_t a[PT_WARP_SIZE], bytes = UINT64_C(1) << (c->aux >> 8 & 15);
    uint32_t outside;
    if (pt_address_all(&at, f, pt_address_kind(c), a, &outside) & (bytes - 1))
        return c + 1;
    for (uint32_t left = f->mask; left; left &= left - 1) {
        uint32_t i = (uint32_t)__builtin_ctz(left);
        if (c->o[IS_STRONG])
            acquire(f, 1u << i, a[i]);
        access(c, f, 1u << i, a[i], bytes, c->o[USE]);
        if (c->o[IS_STRONG])
            release(f, 1u << i, a[i]);
    }
    return c + 1;
}

static bool place(struct pt_code *test, const struct pt_func *func, const void *facts,
                  const struct pt_form *form, bool is_write, uint32_t number)
{
    (void)facts;
    (void)func;
    (void)number;
    enum pt_address kind = pt_address_kind(test);
    bool is_param = kind >= PT_ADDRESS_PARAM && kind <= PT_ADDRESS_PARAM32;
    if (is_param || kind >= PT_ADDRESS_LOCAL_VAR)
        return false;
    bool is_atomic = form->effects & PT_FX_ATOMIC;
    test->fn = test_access;
    test->o[USE] = (is_write ? PT_USE_WRITE : PT_USE_READ) | (is_atomic ? PT_USE_ATOMIC : 0);
    test->o[IS_STRONG] = !pt_insn_is_mbarrier(form) && pt_order_of(form) != PT_ORDER_PLAIN;
    return true;
}

/* ---- the observer ---------------------------------------------------------------------------- */

static bool see_access(const struct pt_event *e, const struct pt_access *a)
{
    if (a->is_async)
        return true;
    for (uint32_t left = e->lanes; left; left &= left - 1)
        access(e->code, e->frame, left & -left, a->address[__builtin_ctz(left)], a->bytes, a->use);
    return true;
}

static void see_sync(const struct pt_event *e, const struct pt_sync *sync)
{
    uint64_t key = sync->where == PT_SYNC_OF_MBARRIER
                       ? mbarrier_key(sync->mbarrier, sync->phase)
                       : barrier_key(e->frame->cta, sync->bar, sync->phase);
    switch (sync->what) {
    case PT_SYNC_RELEASE:
        if (!sync->is_relaxed)
            release(e->frame, e->lanes, key);
        break;
    case PT_SYNC_ACQUIRE:
        acquire(e->frame, e->lanes, key);
        break;
    case PT_SYNC_JOIN:
        join(e->frame, e->lanes);
        break;
    case PT_SYNC_PHASE:
        next_phase(e->frame, sync->mbarrier, sync->phase);
        break;
    }
}

static void see_registers(const struct pt_event *e, const struct pt_register_use *uses, uint32_t n)
{
    registers(e->code, e->frame, uses, n);
}

static bool see_issued(const struct pt_event *e, struct pt_async_op *op)
{
    (void)e;
    return issue(op);
}

static void see_waited(const struct pt_event *e, uint32_t kind, uint32_t pending, bool is_read)
{
    waited(e->frame, (enum pt_async_kind)kind, pending, is_read);
}

const struct pt_observer PT_LEVEL_NAME(pt_observer_race) = {
    .name = "race",
    .access = see_access,
    .sync = see_sync,
    .registers = see_registers,
    .issued = see_issued,
    .done = done,
    .waited = see_waited,
    .returned = forget,
    .place = place,
};
