/* Guards and branches. PTX ISA 9.7.12.1-3. */
#include "backend/interp/branch.h"
#include "backend/interp/frontier.h"
#include "backend/interp/operands.h"
#include "backend/interp/blocks.h"

/* ---- guards ---------------------------------------------------------------------------------- */

/* Runs the next c->aux codes for the lanes whose predicate is true. */
const struct pt_code *pt_branch_guard(const struct pt_code *c, struct pt_frame *f)
{
    uint32_t mask = f->mask, on = mask & PT_PRED(0);
    if (on == mask)
        return c + 1;
    if (!on)
        return c + 1 + c->aux;
    pt_set_mask(f, on);
    const struct pt_code *next = c + 1;
    for (uint32_t i = 0; i < c->aux && next; i++)
        next = next->fn(next, f);
    if (next)
        pt_set_mask(f, mask);
    return next;
}

/* Before a guarded end of a block: lanes whose predicate is false go to the next block. */
const struct pt_code *pt_branch_split(const struct pt_code *c, struct pt_frame *f)
{
    uint32_t on = f->mask & PT_PRED(0), off = f->mask & ~on;
    if (!on)
        return pt_goto(f, c->o[1], c->ptr);
    if (off) {
        pt_frontier_wait(f, c->o[1], off);
        pt_set_mask(f, on);
    }
    return c + 1;
}

/* ---- branches: o = target block, predicate, next block; ptr is the code at the target -------- */

const struct pt_code *pt_branch_fall(const struct pt_code *c, struct pt_frame *f)
{
    return pt_goto(f, c->o[0], c + 1);
}

const struct pt_code *pt_branch_bra(const struct pt_code *c, struct pt_frame *f)
{
    return pt_goto(f, c->o[0], c->ptr);
}

static const struct pt_code *back_edge(const struct pt_code *c, struct pt_frame *f)
{
    if (__builtin_expect(--f->budget == 0, 0))
        return pt_frontier_poll(f, c->o[0]);
    return pt_goto(f, c->o[0], c->ptr);
}

const struct pt_code *pt_branch_back(const struct pt_code *c, struct pt_frame *f)
{
    return back_edge(c, f);
}

const struct pt_code *pt_branch_turn(const struct pt_code *c, struct pt_frame *f)
{
    return pt_frontier_turn(f, c->o[0]);
}

PT_HANDLER(bra_if)
{
    uint32_t taken = f->mask & PT_PRED(1), rest = f->mask & ~taken;
    if (!taken)
        return pt_goto(f, c->o[2], c + 1);
    if (!rest)
        return pt_goto(f, c->o[0], c->ptr);
    if (c->o[0] < c->o[2]) {
        pt_frontier_wait(f, c->o[2], rest);
        pt_set_mask(f, taken);
        return pt_goto(f, c->o[0], c->ptr);
    }
    pt_frontier_wait(f, c->o[0], taken);
    pt_set_mask(f, rest);
    return pt_goto(f, c->o[2], c + 1);
}

/* Makes the taken lanes of a conditional back edge the running ones; the others wait at the next
 * block. */
static bool leave_rest(const struct pt_code *c, struct pt_frame *f)
{
    uint32_t taken = f->mask & PT_PRED(1), rest = f->mask & ~taken;
    if (!taken)
        return false;
    if (rest) {
        pt_frontier_wait(f, c->o[2], rest);
        pt_set_mask(f, taken);
    }
    return true;
}

PT_HANDLER(bra_back_if)
{
    return leave_rest(c, f) ? back_edge(c, f) : pt_goto(f, c->o[2], c + 1);
}

PT_HANDLER(bra_turn_if)
{
    return leave_rest(c, f) ? pt_frontier_turn(f, c->o[0]) : pt_goto(f, c->o[2], c + 1);
}

pt_handler PT_DO(bra)(struct pt_select *s)
{
    struct pt_code *c = s->code;
    c->o[0] = pt_blocks_block(s, s->operands[0].index);
    pt_operands_link(s, c->o[0]);
    bool is_back = c->o[0] <= pt_blocks_here(s), is_turn = is_back && pt_blocks_communicates(s);
    if (!s->insn->guard)
        return is_turn ? pt_branch_turn : is_back ? pt_branch_back : pt_branch_bra;
    struct pt_operand guard = {.kind = PT_OPND_REG, .index = s->insn->guard};
    c->o[1] = pt_operands_dest(s, &guard);
    c->neg = (uint8_t)(s->insn->guard_neg ? 2 : 0);
    c->o[2] = pt_blocks_after(s);
    return is_turn ? bra_turn_if : is_back ? bra_back_if : bra_if;
}

/* The targets of brx.idx. */
struct switch_targets {
    uint32_t n, here;
    bool is_turn;
    uint32_t block[];
};

PT_HANDLER(brx_idx)
{
    const struct switch_targets *t = c->ptr;
    const uint32_t *index = PT_SLOT(0, u32);
    uint32_t left = f->mask, back = UINT32_MAX, back_lanes = 0;
    for (uint32_t lanes = left; lanes; lanes &= lanes - 1) {
        uint32_t lane = (uint32_t)__builtin_ctz(lanes);
        if (index[lane] >= t->n)
            return pt_fail(c, f, PT_FAULT_ILLEGAL_INSTRUCTION, 1u << lane, PT_NO_TARGET);
    }
    for (; left; left &= left - 1) {
        uint32_t lane = (uint32_t)__builtin_ctz(left), block = t->block[index[lane]];
        if (block <= t->here) {
            back = block;
            back_lanes |= 1u << lane;
        }
        pt_frontier_wait(f, block, 1u << lane);
    }
    if (back == UINT32_MAX)
        return pt_frontier_other(f);
    /* Lanes on the last of the back edges take it as a branch would. */
    uint32_t lanes = f->wait[back] & back_lanes;
    if (t->is_turn) {
        f->wait[back] &= ~lanes;
        f->mask = lanes;
        return pt_frontier_turn(f, back);
    }
    if (--f->budget)
        return pt_frontier_other(f);
    f->mask = 0;
    return pt_frontier_poll(f, back);
}

pt_handler PT_DO(brx_idx)(struct pt_select *s)
{
    uint32_t index = pt_operands_source(s, &s->operands[0], 4);
    const struct pt_table *table = &s->func->tables.v[s->operands[1].index];
    struct switch_targets *t =
        pt_operands_array(s, sizeof *t + table->targets.n * sizeof t->block[0]);
    t->n = table->targets.n;
    t->here = pt_blocks_here(s);
    t->is_turn = pt_blocks_communicates(s);
    for (uint32_t i = 0; i < t->n; i++)
        t->block[i] = pt_blocks_block(s, table->targets.v[i]);
    s->code->o[0] = index;
    s->code->ptr = t;
    return index == UINT32_MAX ? NULL : brx_idx;
}
