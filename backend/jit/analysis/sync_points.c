/* Where lanes of a warp stop, in kernels in which a thread may wait for others, and what for. */
#include "backend/jit/analysis/sync_points.h"

#include "backend/jit/analysis/def_use.h"
#include "backend/jit/analysis/insn_info.h"
#include "backend/jit/analysis/plan.h"
#include "backend/jit/analysis/regions.h"
#include "backend/jit/bitset.h"
#include "backend/jit/jit.h"
#include "backend/jit/object/frontier.h"

/* The operand that names the lanes of a warp that take part, or NULL. */
const struct pt_operand *jit_sync_points_members(const struct jit_facts *a,
                                                 const struct pt_insn *insn)
{
    switch (pt_insn_form(a->unit->m, insn)->op) {
    case PT_OP_shfl_sync:
    case PT_OP_vote_sync:
    case PT_OP_match_any:
    case PT_OP_match_all:
    case PT_OP_redux_sync:
    case PT_OP_elect_sync:
    case PT_OP_bar_warp_sync:
        return &a->unit->f->operands.v[insn->operands + insn->n_operands - 1];
    default:
        return NULL;
    }
}

/* The lanes of a warp agree on the value. */
bool jit_sync_points_is_agreed(const struct jit_facts *a, const struct pt_operand *o)
{
    return o->kind == PT_OPND_IMM ||
           (o->kind == PT_OPND_REG && a->uniformity->regs[o->index].level <= PT_LEVEL_GROUP);
}

static bool is_op(const struct jit_facts *a, uint32_t block, enum pt_op op)
{
    return pt_insn_form(a->unit->m, jit_insn_info_first(a, block))->op == op;
}

static bool is_of_warp(const struct jit_facts *a, uint32_t block)
{
    const struct pt_form *form = pt_insn_form(a->unit->m, jit_insn_info_first(a, block));
    return (form->effects & PT_FX_WARP) && !jit_insn_info_takes_present(form);
}

static bool names_all(const struct jit_facts *a, uint32_t block)
{
    const struct pt_operand *members = jit_sync_points_members(a, jit_insn_info_first(a, block));
    return !members || jit_sync_points_names_all(a, members);
}

/* Lanes that take part in the instruction of a warp may not stand there together, or not only they,
 * or may not be named. */
static bool parts_warp(struct jit_facts *a, uint32_t block)
{
    const struct pt_operand *members = jit_sync_points_members(a, jit_insn_info_first(a, block));
    return !jit_insn_info_is_whole(a, block) ||
           (members && !jit_sync_points_is_agreed(a, members)) ||
           (!names_all(a, block) && jit_regions_is_parted(a, block) &&
            !jit_regions_have_whole_warps(a));
}

bool jit_sync_points_part_warps(struct jit_facts *a)
{
    for (uint32_t b = 0; b < a->unit->f->blocks.n; b++)
        if (is_of_warp(a, b) && parts_warp(a, b))
            return true;
    return false;
}

bool jit_sync_points_is_warp_barrier(const struct jit_facts *a, uint32_t block)
{
    return is_op(a, block, PT_OP_bar_warp_sync);
}

bool jit_sync_points_is_aligned(const struct pt_form *form)
{
    bool is_bar = form->op == PT_OP_bar_sync || form->op == PT_OP_bar_arrive ||
                  form->op == PT_OP_bar_red_popc || form->op == PT_OP_bar_red_pred;
    return is_bar || pt_form_has(form, PT_M_aligned);
}

/* Other lanes of the warp may stop elsewhere while some stand there. */
static bool is_left_alone(const struct jit_facts *a, uint32_t block)
{
    for (uint32_t b = 0; b < a->unit->f->blocks.n; b++)
        if (a->uniformity->stops[b] && jit_set_has(jit_def_use_waits(a, b), block))
            return true;
    return jit_set_has(a->uniformity->stuck, block);
}

/* A barrier that is not aligned takes lanes as they come: the same as if they had come together,
 * where those that came first have nothing else to do, and all come to the same one. */
static bool can_come_together(const struct jit_facts *a, uint32_t block)
{
    const struct pt_form *form = pt_insn_form(a->unit->m, jit_insn_info_first(a, block));
    bool goes_on = form->op == PT_OP_barrier_arrive || form->op == PT_OP_barrier_cluster_arrive;
    if (jit_sync_points_is_aligned(form))
        return true;
    return goes_on ? !is_left_alone(a, block) : !jit_set_has(a->uniformity->stuck, block);
}

/* Where lanes stop each for itself, as far as was known before. */
struct each {
    bool at_warp_barrier, at_cluster_arrival;
};

/* How lanes must stop at the block, as far as is known now; `asked`: as far as was known before. */
static enum pt_stop ask(struct jit_facts *a, uint32_t block, enum pt_stop asked,
                        const struct each *each)
{
    if (asked == PT_STOP_EACH)
        return asked;
    /* those that have not arrived go on, and the others stay */
    if (each->at_cluster_arrival && is_op(a, block, PT_OP_barrier_cluster_wait))
        return PT_STOP_EACH;
    if (jit_insn_info_is_sync(a, block))
        return can_come_together(a, block) ? PT_STOP_ALL : PT_STOP_EACH;
    if (!is_of_warp(a, block))
        return PT_STOP_NONE;
    if (asked == PT_STOP_NONE)
        return !parts_warp(a, block) ? PT_STOP_NONE
               : names_all(a, block) ? PT_STOP_ALL
                                     : PT_STOP_EACH;
    bool meets_others = jit_sync_points_is_warp_barrier(a, block) &&
                        (each->at_warp_barrier || jit_set_has(a->uniformity->stuck, block));
    return meets_others ? PT_STOP_EACH : asked;
}

/* True if more is asked of a block than was. */
static bool ask_all(struct jit_facts *a, uint8_t *asked)
{
    bool is_more = false;
    struct each each = {false, false};
    for (uint32_t b = 0; b < a->unit->f->blocks.n; b++) {
        bool is_each = asked[b] == PT_STOP_EACH;
        each.at_warp_barrier |= is_each && jit_sync_points_is_warp_barrier(a, b);
        each.at_cluster_arrival |= is_each && is_op(a, b, PT_OP_barrier_cluster_arrive);
    }
    for (uint32_t b = 0; b < a->unit->f->blocks.n; b++) {
        enum pt_stop stop = ask(a, b, (enum pt_stop)asked[b], &each);
        is_more |= stop != asked[b];
        asked[b] = (uint8_t)stop;
    }
    return is_more;
}

static uint64_t *set_of(struct jit_facts *a, const uint8_t *stops)
{
    uint64_t *set = jit_new_set(a);
    for (uint32_t b = 0; b < a->unit->f->blocks.n; b++)
        if (stops[b])
            jit_set_add(set, b);
    return set;
}

void jit_sync_points_find(struct jit_facts *a, struct pt_uniformity_shape *shape)
{
    uint32_t n = a->unit->f->blocks.n;
    uint8_t *asked = pt_arena_alloc(a->unit->arena, n);
    shape->copies = PT_WARP_SIZE / shape->width;
    for (uint32_t b = 0; b < n; b++)
        asked[b] = jit_insn_info_is_sync(a, b) ? PT_STOP_ALL : PT_STOP_NONE;
    do {
        struct jit_plan plan = {0};
        uint8_t *stops = pt_arena_alloc(a->unit->arena, n);
        jit_regions_cut_resumable(a, &plan, set_of(a, asked));
        for (uint32_t b = 0; b < n; b++)
            stops[b] = asked[b]                       ? asked[b]
                       : jit_set_has(plan.entries, b) ? PT_STOP_SOME
                                                      : PT_STOP_NONE;
        a->uniformity = pt_uniformity_find(a->unit->m, a->unit->f, shape, stops, a->unit->arena);
    } while (ask_all(a, asked));
}

enum jit_sync jit_sync_points_sync(const struct jit_facts *a, uint32_t block)
{
    if (a->uniformity->stops[block] < PT_STOP_EACH)
        return JIT_SYNC_NONE;
    switch (pt_insn_form(a->unit->m, jit_insn_info_first(a, block))->op) {
    case PT_OP_bar_sync:
    case PT_OP_bar_red_popc:
    case PT_OP_bar_red_pred:
    case PT_OP_barrier_sync:
    case PT_OP_barrier_red_popc:
    case PT_OP_barrier_red_pred:
        return JIT_SYNC_BARRIER;
    case PT_OP_bar_arrive:
    case PT_OP_barrier_arrive:
        return JIT_SYNC_ARRIVE;
    case PT_OP_barrier_cluster_arrive:
        return JIT_SYNC_CLUSTER_ARRIVE;
    case PT_OP_barrier_cluster_wait:
        return JIT_SYNC_CLUSTER_WAIT;
    default:
        return JIT_SYNC_WARP;
    }
}

/* Lanes of the warp may pass by the barrier, to a block where all of them meet: the interpreter
 * counts them then. */
static bool is_passed_by(const struct jit_facts *a, uint32_t block)
{
    const struct pt_block *blocks = a->unit->f->blocks.v;
    for (uint32_t b = blocks[block].ipdom; b != UINT32_MAX && blocks[b].loop == blocks[block].loop;
         b = blocks[b].ipdom)
        if (jit_set_has(jit_def_use_waits(a, b), block) ||
            (jit_set_has(a->uniformity->stuck, b) && jit_set_has(a->uniformity->stuck, block)))
            return true;
    return false;
}

bool jit_sync_points_are_known(struct jit_facts *a)
{
    for (uint32_t b = 0; b < a->unit->f->blocks.n; b++)
        if (jit_insn_info_is_sync(a, b) &&
            jit_sync_points_is_aligned(pt_insn_form(a->unit->m, jit_insn_info_first(a, b))) &&
            is_passed_by(a, b))
            return jit_refuse(a->unit, "a barrier that threads of a warp pass by");
    return true;
}

bool jit_sync_points_names_all(const struct jit_facts *a, const struct pt_operand *members)
{
    uint64_t number;
    return jit_def_use_constant(a, members, &number) && (uint32_t)number == UINT32_MAX;
}
