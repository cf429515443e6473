/* What can be native code, and where its regions begin. */
#include "backend/jit/object/frontier.h"
#include "backend/jit/control/region.h"

#include <string.h>

/* ---- what is native -------------------------------------------------------------------------- */

static bool refuse(struct jit *j, const char *why)
{
    j->why = why;
    return false;
}

static bool knows_operands(struct jit *j, const struct pt_insn *insn)
{
    for (uint32_t k = 0; k < insn->n_operands; k++) {
        const struct pt_operand *o = &j->f->operands.v[insn->operands + k];
        if (o->kind != PT_OPND_SYM)
            continue;
        const struct pt_symbol *s = &j->m->symbols.v[o->index];
        if (s->space == PT_SPACE_LOCAL && (o->flags & PT_OPND_GENERIC))
            return refuse(j, "the generic address of a local variable");
    }
    return true;
}

/* The operand that says how many threads a barrier waits for, or NULL. */
static const struct pt_operand *count_of(const struct jit *j, const struct pt_insn *insn)
{
    const struct pt_form *form = pt_insn_form(j->m, insn);
    unsigned at = jit_is_reduction(form) ? 2 : 1, others = jit_is_reduction(form) ? 3 : 1;
    return insn->n_operands > others ? &j->f->operands.v[insn->operands + at] : NULL;
}

static bool counts_all(const struct jit *j, const struct pt_operand *count)
{
    const uint32_t *block = j->vary->shape.block;
    uint32_t threads = block[0] * block[1] * block[2];
    uint32_t warps = (threads + PT_WARP_SIZE - 1) / PT_WARP_SIZE;
    return count->kind == PT_OPND_IMM &&
           (!count->imm || (threads && (uint64_t)count->imm == (uint64_t)warps * PT_WARP_SIZE));
}

/* A barrier of all threads of the CTA: whatever its number is, if they agree on it. */
static bool is_whole_barrier(const struct jit *j, const struct pt_insn *insn)
{
    const struct pt_form *form = pt_insn_form(j->m, insn);
    const struct pt_operand *o = &j->f->operands.v[insn->operands], *count = count_of(j, insn);
    const struct pt_operand *id = jit_is_reduction(form) ? o + 1 : o;
    bool is_agreed = id->kind == PT_OPND_IMM ||
                     (id->kind == PT_OPND_REG && j->vary->regs[id->index].level == PT_LEVEL_CTA);
    bool waits =
        form->op == PT_OP_bar_sync || form->op == PT_OP_barrier_sync || jit_is_reduction(form);
    return waits && is_agreed && (!count || counts_all(j, count));
}

/* Such a barrier waits, in vain, for threads that have ended. */
static bool has_count(const struct jit *j)
{
    for (uint32_t i = 0; i < j->f->insns.n; i++) {
        const struct pt_insn *insn = &j->f->insns.v[i];
        const struct pt_operand *count =
            jit_is_barrier(pt_insn_form(j->m, insn)) ? count_of(j, insn) : NULL;
        if (count && count->imm)
            return true;
    }
    return false;
}

/* Where calls were expanded, the interpreter would look for local variables in another place. */
static bool may_be_stepped(struct jit *j, uint32_t index)
{
    const struct pt_insn *insn = &j->f->insns.v[index];
    const struct pt_form *form = pt_insn_form(j->m, insn);
    for (uint32_t k = 0; j->inlined && jit_is_stepped(j, form) && k < insn->n_operands; k++) {
        const struct pt_operand *o = &j->f->operands.v[insn->operands + k];
        if (o->kind == PT_OPND_MEM)
            o = &j->f->operands.v[o->index];
        if (o->kind == PT_OPND_SYM && j->m->symbols.v[o->index].space == PT_SPACE_LOCAL)
            return refuse(j, form->spelling);
    }
    return true;
}

static bool knows_all(struct jit *j)
{
    for (uint32_t i = 0; i < j->f->insns.n; i++) {
        const struct pt_insn *insn = &j->f->insns.v[i];
        const struct pt_form *form = pt_insn_form(j->m, insn);
        if (form->effects & PT_FX_CALL) {
            if (!jit_is_device_call(j, insn))
                return refuse(j, j->inlined->stays ? j->inlined->stays : "a call");
            continue;
        }
        if (pt_op_compiled((enum pt_op)form->op) == PT_JIT_NONE)
            return refuse(j, form->spelling);
        if (!knows_operands(j, insn) || !may_be_stepped(j, i))
            return false;
    }
    return true;
}

/* ---- blocks and sets ------------------------------------------------------------------------- */

uint64_t *jit_new_set(struct jit *j)
{
    return pt_arena_alloc(j->arena, j->vary->words * sizeof(uint64_t));
}

bool jit_is_sync(const struct jit *j, uint32_t block)
{
    const struct pt_insn *first = &j->f->insns.v[j->f->blocks.v[block].first];
    return jit_is_barrier(pt_insn_form(j->m, first));
}

/* A loop that may wait for other threads, here or in one inside. */
static bool waits(const struct jit *j, const struct pt_loop *loop)
{
    return j->runs_apart && loop->communicates;
}

/* Blocks from which a barrier can be reached, barriers included. */
static uint64_t *find_reaching(struct jit *j)
{
    const struct pt_func *f = j->f;
    uint64_t *set = jit_new_set(j);
    for (uint32_t b = 0; b < f->blocks.n; b++)
        if (jit_is_sync(j, b))
            jit_set_add(set, b);
    for (bool changed = true; changed;) {
        changed = false;
        for (uint32_t b = f->blocks.n; b-- > 0;) {
            const struct pt_block *block = &f->blocks.v[b];
            for (uint32_t e = 0; e < block->n_succ && !jit_set_has(set, b); e++) {
                if (jit_set_has(set, f->edges.v[block->succ + e])) {
                    jit_set_add(set, b);
                    changed = true;
                }
            }
        }
    }
    return set;
}

static const uint64_t *waits_cta(const struct jit *j, uint32_t block)
{
    return j->vary->waits_cta + (size_t)block * j->vary->words;
}

/* All live threads that will meet a barrier again run the block together; or none need to. */
static bool is_convergent(const struct jit *j, const uint64_t *reaching, uint32_t block)
{
    for (uint32_t w = 0; !j->runs_apart && w < j->vary->words; w++)
        if (waits_cta(j, block)[w] & reaching[w])
            return false;
    return true;
}

/* Blocks at which threads may be while others stand at an entry, to wait there until all have come or ended. */
static uint64_t *find_passed_by(struct jit *j, const uint64_t *entries)
{
    uint64_t *set = jit_new_set(j);
    bool changed = !j->runs_apart;
    for (uint32_t b = 0; changed && b < j->f->blocks.n; b++)
        for (uint32_t w = 0; jit_set_has(entries, b) && w < j->vary->words; w++)
            set[w] |= waits_cta(j, b)[w];
    while (changed) {
        changed = false;
        for (uint32_t b = 0; b < j->f->blocks.n; b++) {
            const struct pt_block *block = &j->f->blocks.v[b];
            for (uint32_t e = 0; jit_set_has(set, b) && !jit_set_has(entries, b) && e < block->n_succ; e++) {
                uint32_t to = j->f->edges.v[block->succ + e];
                changed |= !jit_set_has(set, to) && !jit_set_has(entries, to);
                if (!jit_set_has(entries, to))
                    jit_set_add(set, to);
            }
        }
    }
    return set;
}

/* No thread stands where a region begins while others are in another one: at the block while others run from an entry, or at an entry while
 * others run from the block, which is not one of `passed_by` then. */
static bool is_met(const struct jit *j, const uint64_t *entries, const uint64_t *passed_by, uint32_t block)
{
    for (uint32_t w = 0; !j->runs_apart && w < j->vary->words; w++)
        if (waits_cta(j, block)[w] & entries[w])
            return false;
    return !jit_set_has(passed_by, block);
}

/* ---- regions --------------------------------------------------------------------------------- */

static bool loop_has(const struct pt_loop *loop, const uint64_t *syncs)
{
    for (uint32_t b = loop->header; b < loop->end; b++)
        if (jit_set_has(syncs, b))
            return true;
    return false;
}

/* Where the loop leads to. */
static void find_ways_out(struct jit *j, struct jit_plan *plan, const uint64_t *reaching,
                          const struct pt_loop *loop)
{
    const struct pt_func *f = j->f;
    const uint64_t *passed_by = find_passed_by(j, plan->entries);
    for (uint32_t b = loop->header; b < loop->end; b++)
        for (uint32_t e = 0; e < f->blocks.v[b].n_succ; e++) {
            uint32_t to = f->edges.v[f->blocks.v[b].succ + e];
            if (to >= loop->end && !jit_set_has(plan->entries, to) && is_convergent(j, reaching, to) &&
                is_met(j, plan->entries, passed_by, to)) {
                jit_set_add(plan->entries, to);
                passed_by = find_passed_by(j, plan->entries);
            }
        }
}

/* Barriers, headers of loops that hold one or wait, and where such loops lead to begin regions. */
static void find_entries(struct jit *j, struct jit_plan *plan, const uint64_t *reaching)
{
    const struct pt_func *f = j->f;
    uint64_t *syncs = jit_new_set(j);
    bool *holds = pt_arena_alloc(j->arena, f->loops.n + 1);
    jit_set_add(plan->entries, 0);
    for (uint32_t b = 0; b < f->blocks.n; b++)
        if (jit_is_sync(j, b)) {
            jit_set_add(syncs, b);
            jit_set_add(plan->entries, b);
        }
    for (uint32_t l = 0; l < f->loops.n; l++) {
        holds[l] = loop_has(&f->loops.v[l], syncs) || waits(j, &f->loops.v[l]);
        if (holds[l])
            jit_set_add(plan->entries, f->loops.v[l].header);
    }
    for (uint32_t l = 0; l < f->loops.n; l++)
        if (holds[l])
            find_ways_out(j, plan, reaching, &f->loops.v[l]);
}

static bool are_convergent(struct jit *j, const uint64_t *entries, const uint64_t *reaching)
{
    const uint64_t *passed_by = find_passed_by(j, entries);
    for (uint32_t b = 0; b < j->f->blocks.n; b++)
        if (jit_set_has(entries, b) &&
            !(is_convergent(j, reaching, b) && is_met(j, entries, passed_by, b)))
            return false;
    return true;
}

static void flood(struct jit *j, const struct jit_plan *plan, struct jit_region *r, uint32_t block,
                  uint64_t *exits)
{
    const struct pt_block *b = &j->f->blocks.v[block];
    jit_set_add(r->set, block);
    for (uint32_t e = 0; e < b->n_succ; e++) {
        uint32_t to = j->f->edges.v[b->succ + e];
        if (jit_set_has(plan->entries, to))
            jit_set_add(exits, to);
        else if (!jit_set_has(r->set, to))
            flood(j, plan, r, to, exits);
    }
}

static uint32_t *list_of(struct jit *j, const uint64_t *set, uint32_t *n)
{
    uint32_t *list = pt_arena_alloc(j->arena, j->f->blocks.n * sizeof *list);
    *n = 0;
    for (uint32_t b = 0; b < j->f->blocks.n; b++)
        if (jit_set_has(set, b))
            list[(*n)++] = b;
    return list;
}

static bool ends(const struct jit *j, uint32_t block)
{
    const struct pt_block *b = &j->f->blocks.v[block];
    const struct pt_form *form = pt_insn_form(j->m, &j->f->insns.v[b->first + b->count - 1]);
    return form->op == PT_OP_ret || form->op == PT_OP_exit;
}

static void make_region(struct jit *j, struct jit_plan *plan, uint32_t entry)
{
    struct jit_region *r = &plan->regions[plan->n_regions++];
    uint64_t *exits = jit_new_set(j);
    r->entry = entry;
    r->set = jit_new_set(j);
    flood(j, plan, r, entry, exits);
    r->blocks = list_of(j, r->set, &r->n_blocks);
    r->exits = list_of(j, exits, &r->n_exits);
    for (uint32_t i = 0; i < r->n_blocks; i++)
        r->has_ends |= ends(j, r->blocks[i]);
}

/* A block that several regions reach begins one, where it can: it would be generated more than once. */
static bool find_shared(struct jit *j, struct jit_plan *plan, const uint64_t *reaching)
{
    const uint64_t *passed_by = find_passed_by(j, plan->entries);
    for (uint32_t b = 0; b < j->f->blocks.n; b++) {
        uint32_t owners = 0;
        for (uint32_t r = 0; r < plan->n_regions; r++)
            owners += jit_set_has(plan->regions[r].set, b);
        if (owners > 1 && is_convergent(j, reaching, b) && is_met(j, plan->entries, passed_by, b)) {
            jit_set_add(plan->entries, b);
            return true;
        }
    }
    return false;
}

static void make_regions(struct jit *j, struct jit_plan *plan, const uint64_t *reaching)
{
    do {
        uint32_t n;
        uint32_t *entries = list_of(j, plan->entries, &n);
        plan->n_regions = 0;
        plan->regions = pt_arena_alloc(j->arena, n * sizeof *plan->regions);
        for (uint32_t i = 0; i < n; i++)
            make_region(j, plan, entries[i]);
    } while (find_shared(j, plan, reaching));
}

void jit_cut_apart(struct jit *j, struct jit_plan *plan, const uint64_t *also)
{
    plan->entries = jit_new_set(j);
    for (uint32_t w = 0; w < j->vary->words; w++)
        plan->entries[w] = also[w];
    find_entries(j, plan, NULL);
    make_regions(j, plan, NULL);
}

/* ---- masks ----------------------------------------------------------------------------------- */

static void mark_from(struct jit *j, uint32_t block, uint32_t end)
{
    if (block == end || jit_set_has(j->partial, block))
        return;
    jit_set_add(j->partial, block);
    const struct pt_block *b = &j->f->blocks.v[block];
    for (uint32_t e = 0; e < b->n_succ; e++)
        mark_from(j, j->f->edges.v[b->succ + e], end);
}

/* Marks a block that lanes reach while others have left the region, and what follows in the region. */
static void mark_behind(struct jit *j, const struct jit_plan *plan, uint32_t block)
{
    if (block >= j->f->blocks.n || jit_set_has(plan->entries, block) || jit_set_has(j->partial, block))
        return;
    jit_set_add(j->partial, block);
    const struct pt_block *b = &j->f->blocks.v[block];
    for (uint32_t e = 0; e < b->n_succ; e++)
        mark_behind(j, plan, j->f->edges.v[b->succ + e]);
}

/* Marks the blocks between a branch at which a group may part and where it meets again: its immediate postdominator, unless some lanes
 * leave the region before, and wait at an entry of the next one. */
static void mark_parted(struct jit *j, const struct jit_plan *plan, const struct pt_block *block)
{
    bool leaves = false;
    for (uint32_t e = 0; e < block->n_succ; e++)
        mark_from(j, j->f->edges.v[block->succ + e], block->ipdom);
    for (uint32_t w = 0; w < j->vary->words; w++)
        leaves |= (j->partial[w] & plan->entries[w]) != 0;
    if (leaves)
        mark_behind(j, plan, block->ipdom);
}

bool jit_is_parted(const struct jit *j, uint32_t block)
{
    for (uint32_t w = 0; w < j->vary->words; w++)
        if (jit_waits(j, block)[w])
            return true;
    return false;
}

/* Blocks that part of a group may run. Lanes that wait somewhere have not met: where warps run apart, and in loops of several entries, of
 * which one may be where both ways of a branch lead in the end. */
static void find_partial(struct jit *j, const struct jit_plan *plan)
{
    j->partial = jit_new_set(j);
    uint64_t *all = jit_new_set(j);
    for (uint32_t b = 0; b < j->f->blocks.n; b++) {
        const struct pt_block *block = &j->f->blocks.v[b];
        if (j->vary->branch[b] <= PT_LEVEL_GROUP)
            continue;
        memset(j->partial, 0, j->vary->words * sizeof(uint64_t));
        mark_parted(j, plan, block);
        for (uint32_t w = 0; w < j->vary->words; w++)
            all[w] |= j->partial[w];
    }
    j->partial = all;
    for (uint32_t b = 0; b < j->f->blocks.n; b++)
        if (jit_is_parted(j, b))
            jit_set_add(j->partial, b);
}

/* Some lanes may end in a region that others leave for the next. */
static bool keeps_alive(const struct jit_plan *plan)
{
    for (uint32_t r = 0; r < plan->n_regions; r++) {
        const struct jit_region *region = &plan->regions[r];
        if (region->has_ends && region->n_exits)
            return true;
    }
    return false;
}

/* ---- registers between regions --------------------------------------------------------------- */

static uint32_t element_bytes(const struct jit *j, uint32_t reg)
{
    unsigned bits = pt_type_bits((enum pt_type)j->f->regs.v[reg].type);
    return bits == 1 ? 4 : bits / 8;
}

uint32_t jit_crossing_bytes(const struct jit *j, uint32_t index)
{
    const struct jit_reg *r = &j->regs[index];
    bool is_mask = r->type == LLVMInt1TypeInContext(j->context);
    bool is_wide = r->shape == JIT_VECTOR && !is_mask;
    uint32_t one = element_bytes(j, index) * (is_wide || r->wide[0] ? j->width : 1);
    uint32_t bytes = one * (r->is_per_copy || r->wide[0] ? j->copies : 1);
    if (r->wide[0]) /* whether the affine form holds */
        bytes += 4 * j->copies;
    return (bytes + 3) & ~3u;
}

static void place_crossing(struct jit *j, const struct jit_plan *plan, uint32_t index)
{
    struct jit_reg *r = &j->regs[index];
    r->crosses = true;
    r->is_remade = jit_can_remake(j, index);
    if (r->is_remade)
        return;
    if (r->shape == JIT_SCALAR && j->vary->regs[index].level == PT_LEVEL_CTA && !j->runs_apart) {
        r->kept = jit_turn_variable(j, r->type);
        r->next = jit_turn_variable(j, r->type);
        return;
    }
    r->scratch_bytes = jit_crossing_bytes(j, index);
    r->is_in_frame = jit_frame_slot(j, index, &r->scratch);
    if (r->is_in_frame)
        return;
    j->scratch_bytes = (j->scratch_bytes + 63) & ~63u;
    r->scratch = j->scratch_bytes;
    j->scratch_bytes += r->scratch_bytes * plan->n_groups;
}

static void find_crossing(struct jit *j, const struct jit_plan *plan)
{
    size_t words = (j->f->regs.n + 63) / 64;
    for (uint32_t i = 1; i < j->f->regs.n; i++)
        for (uint32_t r = 0; r < plan->n_regions; r++) {
            const uint64_t *in = j->live_in + plan->regions[r].entry * words;
            if (plan->regions[r].entry && jit_set_has(in, i)) {
                place_crossing(j, plan, i);
                break;
            }
        }
}

/* CC.CF is not kept from one region to the next: it is set in the block that reads it. */
static bool keeps_carry(const struct jit *j)
{
    for (uint32_t b = 0; b < j->f->blocks.n; b++) {
        const struct pt_block *block = &j->f->blocks.v[b];
        bool is_set = false;
        for (uint32_t i = block->first; i < block->first + block->count; i++) {
            const struct pt_insn *insn = &j->f->insns.v[i];
            uint32_t effects = pt_insn_form(j->m, insn)->effects;
            if ((effects & PT_FX_CARRY_IN) && !is_set)
                return false;
            is_set |= (effects & PT_FX_CARRY_OUT) && !insn->guard;
        }
    }
    return true;
}

/* ---- the plan -------------------------------------------------------------------------------- */

static bool has_sync_of_some(const struct jit *j)
{
    for (uint32_t i = 0; i < j->f->insns.n; i++) {
        const struct pt_insn *insn = &j->f->insns.v[i];
        if (jit_is_barrier(pt_insn_form(j->m, insn)) && !is_whole_barrier(j, insn))
            return true;
    }
    return false;
}

static bool has_waiting_loop(const struct jit *j)
{
    for (uint32_t l = 0; l < j->f->loops.n; l++)
        if (j->f->loops.v[l].communicates)
            return true;
    return false;
}

bool jit_has_whole_warps(const struct jit *j)
{
    const uint32_t *block = j->vary->shape.block;
    uint32_t threads = block[0] * block[1] * block[2];
    for (uint32_t b = 0; b < j->f->blocks.n; b++)
        if (ends(j, b) && (jit_is_parted(j, b) || j->vary->branch[b] > PT_LEVEL_GROUP))
            return false;
    return threads && threads % PT_WARP_SIZE == 0;
}

/* Lanes of a CTA's only warp may wait elsewhere while others come to a barrier: it has to be found out what becomes of them. */
static bool parts_only_warp(const struct jit *j)
{
    const uint32_t *block = j->vary->shape.block;
    uint32_t threads = block[0] * block[1] * block[2];
    for (uint32_t b = 0; threads && threads <= PT_WARP_SIZE && b < j->f->blocks.n; b++)
        if (jit_is_sync(j, b) && jit_is_parted(j, b))
            return true;
    return false;
}

/* The groups of a CTA cannot run one after the other from barrier to barrier. */
static bool runs_apart(struct jit *j)
{
    struct jit_plan plan = {.entries = jit_new_set(j)};
    bool begins_reducing = jit_is_reduction(pt_insn_form(j->m, &j->f->insns.v[0]));
    if (j->options->has_cluster || begins_reducing || has_waiting_loop(j) || has_sync_of_some(j) ||
        parts_only_warp(j) || jit_parts_warps(j))
        return true;
    const uint64_t *reaching = find_reaching(j);
    find_entries(j, &plan, reaching);
    if (!are_convergent(j, plan.entries, reaching))
        return true;
    make_regions(j, &plan, reaching);
    return has_count(j) && keeps_alive(&plan);
}

void jit_plan_shape(struct jit *j)
{
    struct pt_vary_shape shape = {.width = j->target->width, .copies = 1};
    memcpy(shape.block, j->options->block, sizeof shape.block);
    jit_choose_copies(j, &shape);
    j->runs_apart = runs_apart(j);
    if (j->runs_apart)
        jit_find_stops(j, &shape);
    else
        jit_find_rows(j, &shape);
    j->width = shape.width;
    j->copies = j->end_copy = shape.copies;
}

static bool has_reduction(const struct jit *j)
{
    for (uint32_t i = 0; i < j->f->insns.n; i++)
        if (jit_is_reduction(pt_insn_form(j->m, &j->f->insns.v[i])))
            return true;
    return false;
}

/* The CTA is one warp, which comes to each barrier as a whole: there is nobody to wait for. */
static bool needs_no_barriers(const struct jit *j, const struct jit_plan *plan)
{
    return plan->n_groups == 1 && j->width * j->copies <= PT_WARP_SIZE && !has_reduction(j);
}

/* Nothing is lost where a CTA's run is interrupted, and nobody can tell in which order CTAs run. */
static bool may_take_turns(const struct jit *j)
{
    return !jit_has_effect(j, PT_FX_CALL) && !jit_has_steps(j) && !jit_tells_order(j) &&
           !has_reduction(j) && keeps_carry(j);
}

/* From barrier to barrier. */
static void plan_together(struct jit *j, struct jit_plan *plan)
{
    const uint64_t *reaching = find_reaching(j);
    plan->entries = jit_new_set(j);
    if (needs_no_barriers(j, plan))
        jit_set_add(plan->entries, 0);
    else
        find_entries(j, plan, reaching);
    make_regions(j, plan, reaching);
    plan->keeps_alive = keeps_alive(plan);
    plan->alive = j->scratch_bytes;
    if (plan->keeps_alive)
        j->scratch_bytes += plan->n_groups * j->copies * 4;
    if (may_take_turns(j))
        jit_plan_turns(j, plan);
}

bool jit_is_left(const struct jit *j, const struct jit_plan *plan, uint32_t block)
{
    for (uint32_t w = 0; w < j->vary->words; w++)
        if (jit_waits(j, block)[w] & plan->entries[w])
            return true;
    return false;
}

/* Some lanes of a warp may end before others do. */
static bool may_end_apart(const struct jit *j, const struct jit_plan *plan)
{
    if (keeps_alive(plan))
        return true;
    for (uint32_t b = 0; b < j->f->blocks.n; b++)
        if (ends(j, b) && jit_is_left(j, plan, b))
            return true;
    return false;
}

/* From wherever a thread may wait. */
static bool plan_apart(struct jit *j, struct jit_plan *plan)
{
    uint64_t *stops = jit_new_set(j);
    if (!jit_knows_syncs(j))
        return false;
    for (uint32_t b = 0; b < j->f->blocks.n; b++)
        if (j->vary->stops[b])
            jit_set_add(stops, b);
    jit_cut_apart(j, plan, stops);
    plan->has_ended = may_end_apart(j, plan);
    plan->front_bytes = jit_front_bytes(plan->n_regions);
    j->scratch_bytes = plan->front_bytes * plan->n_groups;
    jit_place_members(j, plan);
    return true;
}

uint32_t jit_take_scratch(struct jit *j, uint32_t bytes)
{
    uint32_t at = (j->scratch_bytes + 63) & ~63u;
    j->scratch_bytes = at + bytes;
    return at;
}

bool jit_plan(struct jit *j, struct jit_plan *plan)
{
    const uint32_t *block = j->vary->shape.block;
    uint32_t threads = block[0] * block[1] * block[2], group = j->width * j->copies;
    plan->n_groups = ((threads ? threads : PT_MAX_WARPS * PT_WARP_SIZE) + group - 1) / group;
    if (!knows_all(j) || (j->runs_apart && !plan_apart(j, plan)))
        return false;
    if (!j->runs_apart)
        plan_together(j, plan);
    if (plan->n_regions > 1 && !keeps_carry(j))
        return refuse(j, "a carry that may be kept beyond a barrier");
    j->is_one_region = plan->n_regions == 1 && !plan->turns.region;
    find_partial(j, plan);
    j->starts_full = threads && threads % group == 0;
    j->has_steps = jit_has_steps(j);
    jit_plan_stack(j, plan);
    find_crossing(j, plan);
    jit_place_kept(j, plan);
    return true;
}
