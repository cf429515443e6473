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
#include "backend/interp/ending.h"
#include "backend/interp/release.h"
#include "backend/interp/touched.h"
#include "backend/semantics/tensormap.h"
#include "ir/insn.h"

/* Operands of a code before an access, in places that no address uses. A vector's constant part is
 * where the width would be. */
enum { WIDTH = 2, USE = 5 };
/* Above the use, in its operand: what else the access is. */
enum {
    IS_STORE = 0x80,
    IS_READ_TOO = 0x100,
    ORDER = 9, /* 4 bits */
    SCOPE = 13 /* 3 bits */,
    IS_CONSTANT = 1 << 16
};

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
    if (scope == PT_SCOPE_SYS && a->lanes && a->address)
        a->launch->is_of_system |=
            a->address[__builtin_ctz(a->lanes)] - (uint64_t)(uintptr_t)a->frame->shared >
            UINT32_MAX;
}

/* Others see what came before a strong access, and it sees what came before theirs. */
static void see_strong(const struct pt_conflict *a, enum pt_order order, bool is_read)
{
    /* Counters: nothing has been released there, and nothing is now. */
    if (is_read && order == PT_ORDER_RELAXED && !a->launch->n_locations && !a->warp->has_fenced)
        return;
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
    a.is_constant = what & IS_CONSTANT;
    set_scope(&a, (enum pt_scope)(what >> SCOPE & 7));
    pt_conflict_see(&a);
    if (a.cluster->endings)
        pt_ending_access(&a);
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

/* A warp copies a tensor map as one, a word by each lane, behind what its lanes wrote. */
PT_HANDLER(before_map)
{
    struct pt_code at = pt_address_code(c);
    uint64_t address[PT_WARP_SIZE];
    uint32_t outside, lane = (uint32_t)__builtin_ctz(f->mask);
    if (pt_address_all(&at, f, pt_address_kind(c), address, &outside) & 3 || outside)
        return c + 1;
    struct pt_event e = {.warp = f->state->warp,
                         .func = f->body->index,
                         .insn = c->insn,
                         .lanes = 1u << lane,
                         .code = c,
                         .frame = f};
    pt_release_map_written(&e, address[lane] - (uint64_t)4 * lane);
    return c + 1;
}

static bool place(struct pt_code *test, const struct pt_func *func, const void *facts,
                  const struct pt_form *form, bool is_write, uint32_t number)
{
    (void)facts;
    (void)number;
    enum pt_address kind = pt_address_kind(test);
    bool is_param = kind >= PT_ADDRESS_PARAM && kind <= PT_ADDRESS_PARAM32;
    if (is_param || kind >= PT_ADDRESS_LOCAL_VAR)
        return false;
    if (form->op == PT_OP_tensormap_cp_fenceproxy) {
        test->fn = before_map;
        return is_write;
    }
    bool is_atomic = form->effects & PT_FX_ATOMIC, is_store = is_write && !is_atomic;
    enum pt_order order = pt_order_of(form);
    enum pt_scope scope = pt_scope_of(form);
    if (pt_insn_is_mbarrier(form)) { /* it orders by its phases; what makes and ends it is weak */
        bool is_made = form->op == PT_OP_mbarrier_init || form->op == PT_OP_mbarrier_inval;
        is_store = is_write = is_made;
        is_atomic = false;
        order = PT_ORDER_PLAIN;
        scope = is_made ? PT_SCOPE_NONE : PT_SCOPE_SYS;
    }
    test->fn = before_access;
    if (!(test->aux & PT_ADDRESS_VECTOR))
        test->o[WIDTH] = pt_insn_is_mbarrier(form) ? PT_CONFLICT_SAME
                         : is_store                ? width_of(func, &func->insns.v[test->insn])
                                                   : 0;
    test->o[USE] = (is_write ? PT_USE_WRITE : PT_USE_READ) | (is_atomic ? PT_USE_ATOMIC : 0) |
                   (is_store ? IS_STORE : IS_READ_TOO) | (uint32_t)order << ORDER |
                   (uint32_t)scope << SCOPE | (form->op == PT_OP_ld_nc ? IS_CONSTANT : 0);
    return true;
}

/* What accesses tensor maps accesses no other memory so. */
static bool is_of_map(const struct pt_access *access)
{
    return access->bytes == PT_TENSORMAP_BYTES;
}

/* An operation's tensor map. */
static void see_map_used(const struct pt_event *e, const struct pt_access *access)
{
    struct pt_conflict a;
    uint32_t lane = (uint32_t)__builtin_ctz(e->lanes);
    const struct pt_doer *writer = pt_release_map_used(e, access->address[lane]);
    if (writer &&
        begin_access(&a, e->code, e->frame, e->lanes, access->address, access->bytes, access->use))
        pt_conflict_tell_map(&a, lane, access->address[lane], writer);
}

/* Of instructions whose lanes' accesses are told one by one: matrices', multimem, tensor maps. */
static bool see_access(const struct pt_event *e, const struct pt_access *access)
{
    struct pt_conflict a;
    if (is_of_map(access) && access->is_async && access->space == PT_SPACE_GENERIC)
        see_map_used(e, access);
    for (uint32_t left = is_of_map(access) && access->use & PT_USE_WRITE ? e->lanes : 0; left;
         left &= left - 1) {
        struct pt_event one = *e;
        one.lanes = left & -left;
        pt_release_map_written(&one, access->address[__builtin_ctz(left)]);
    }
    if (access->is_async ||
        !begin_access(&a, e->code, e->frame, e->lanes, access->address, access->bytes, access->use))
        return true;
    if (access->order != PT_ORDER_PLAIN)
        set_scope(&a, PT_SCOPE_SYS);
    a.data = access->data;
    pt_conflict_see(&a);
    if (a.cluster->endings)
        pt_ending_access(&a);
    return true;
}

/* ---- asynchronous operations ----------------------------------------------------------------- */

struct side {
    struct pt_conflict *access;
    uint32_t lane;
};

static bool see_extent(void *ud, uint64_t address, uint32_t bytes)
{
    struct side *side = ud;
    uint64_t addresses[PT_WARP_SIZE];
    addresses[side->lane] = address;
    side->access->address = addresses;
    pt_conflict_see_async(side->access, side->lane, address, bytes);
    return true;
}

/* The making of an mbarrier is a write that the async proxy has to know of: by a fence of the
 * proxy, or by fence.mbarrier_init. */
static void see_mbarrier_used(const struct pt_event *e, const struct pt_conflict *a,
                              const struct pt_async_op *op)
{
    if (pt_release_map_used(e, op->mbarrier))
        pt_conflict_see_async(a, op->lane, op->mbarrier, 4);
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
        if (!is_write && a.is_of_async_proxy && op->mbarrier)
            see_mbarrier_used(e, &a, op);
    }
    return true;
}

/* The heap orders who had a block before with who has it now. */
static void see_allocated(const struct pt_event *e, uint64_t address, uint64_t bytes)
{
    struct pt_known_cluster *k = pt_causality_cluster(e->frame);
    for (uint64_t at = address & ~UINT64_C(3); k && address && at < address + bytes; at += 4) {
        struct pt_cell cell = pt_cells_cell(&pt_causality_of(e->frame)->cells, at);
        for (int which = 0; cell.line && which < PT_CELL_STAMPS; which++)
            *pt_cell_stamps(cell, (enum pt_cell_stamp)which) = 0;
    }
}

static void see_exited(const struct pt_event *e)
{
    struct pt_conflict a;
    const struct pt_launch *l = e->frame->cta->launch;
    bool is_alone = l->cluster[0] * l->cluster[1] * l->cluster[2] == 1;
    struct pt_known_cluster *k = is_alone ? NULL : pt_causality_cluster(e->frame);
    if (k && k->endings && begin_access(&a, e->code, e->frame, e->lanes, NULL, 4, PT_USE_READ))
        pt_ending_exit(&a);
}

static void see_fence(const struct pt_event *e)
{
    pt_release_fence(e);
}

static void see_mbarrier(const struct pt_event *e, uint64_t address, enum pt_mbarrier_use use)
{
    if (use == PT_MBARRIER_USE_INIT)
        pt_release_map_written(e, address);
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
    .mbarrier = see_mbarrier,
    .issued = see_issued,
    .allocated = see_allocated,
    .exited = see_exited,
    .launched = pt_causality_launched,
    .touched = pt_touched_tell,
    .place = place,
};
