/* Regions: the parts of a kernel between which all threads of a CTA wait for each other; where they
 * begin. */
#include "backend/jit/analysis/regions.h"

#include "backend/jit/analysis/def_use.h"
#include "backend/jit/analysis/insn_info.h"
#include "backend/jit/analysis/plan.h"
#include "backend/jit/bitset.h"
#include "backend/jit/jit.h"

/* A loop that may wait for other threads, here or in one inside. */
static bool waits(const struct jit_facts *a, const struct pt_loop *loop)
{
    return a->is_resumable && loop->communicates;
}

uint64_t *jit_regions_find_reaching(struct jit_facts *a)
{
    const struct pt_func *f = a->unit->f;
    uint64_t *set = jit_new_set(a);
    for (uint32_t b = 0; b < f->blocks.n; b++)
        if (jit_insn_info_is_sync(a, b))
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

static const uint64_t *waits_cta(const struct jit_facts *a, uint32_t block)
{
    return a->uniformity->waits_cta + (size_t)block * a->uniformity->words;
}

/* All live threads that will meet a barrier again run the block together; or none need to. */
static bool is_convergent(const struct jit_facts *a, const uint64_t *reaching, uint32_t block)
{
    for (uint32_t w = 0; !a->is_resumable && w < a->uniformity->words; w++)
        if (waits_cta(a, block)[w] & reaching[w])
            return false;
    return true;
}

/* Blocks at which threads may be while others stand at an entry, to wait there until all have come
 * or ended. */
static uint64_t *find_passed_by(struct jit_facts *a, const uint64_t *entries)
{
    uint64_t *set = jit_new_set(a);
    bool changed = !a->is_resumable;
    for (uint32_t b = 0; changed && b < a->unit->f->blocks.n; b++)
        for (uint32_t w = 0; jit_set_has(entries, b) && w < a->uniformity->words; w++)
            set[w] |= waits_cta(a, b)[w];
    while (changed) {
        changed = false;
        for (uint32_t b = 0; b < a->unit->f->blocks.n; b++) {
            const struct pt_block *block = &a->unit->f->blocks.v[b];
            for (uint32_t e = 0;
                 jit_set_has(set, b) && !jit_set_has(entries, b) && e < block->n_succ; e++) {
                uint32_t to = a->unit->f->edges.v[block->succ + e];
                changed |= !jit_set_has(set, to) && !jit_set_has(entries, to);
                if (!jit_set_has(entries, to))
                    jit_set_add(set, to);
            }
        }
    }
    return set;
}

/* No thread stands where a region begins while others are in another one: at the block while others
 * run from an entry, or at an entry while others run from the block, which is not one of
 * `passed_by` then. */
static bool is_met(const struct jit_facts *a, const uint64_t *entries, const uint64_t *passed_by,
                   uint32_t block)
{
    for (uint32_t w = 0; !a->is_resumable && w < a->uniformity->words; w++)
        if (waits_cta(a, block)[w] & entries[w])
            return false;
    return !jit_set_has(passed_by, block);
}

static bool loop_has(const struct pt_loop *loop, const uint64_t *syncs)
{
    for (uint32_t b = loop->header; b < loop->end; b++)
        if (jit_set_has(syncs, b))
            return true;
    return false;
}

/* Where the loop leads to. */
static void find_ways_out(struct jit_facts *a, struct jit_plan *plan, const uint64_t *reaching,
                          const struct pt_loop *loop)
{
    const struct pt_func *f = a->unit->f;
    const uint64_t *passed_by = find_passed_by(a, plan->entries);
    for (uint32_t b = loop->header; b < loop->end; b++)
        for (uint32_t e = 0; e < f->blocks.v[b].n_succ; e++) {
            uint32_t to = f->edges.v[f->blocks.v[b].succ + e];
            if (to >= loop->end && !jit_set_has(plan->entries, to) &&
                is_convergent(a, reaching, to) && is_met(a, plan->entries, passed_by, to)) {
                jit_set_add(plan->entries, to);
                passed_by = find_passed_by(a, plan->entries);
            }
        }
}

/* Barriers, headers of loops that hold one or wait, and where such loops lead to begin regions. */
void jit_regions_find_entries(struct jit_facts *a, struct jit_plan *plan, const uint64_t *reaching)
{
    const struct pt_func *f = a->unit->f;
    uint64_t *syncs = jit_new_set(a);
    bool *holds = pt_arena_alloc(a->unit->arena, f->loops.n + 1);
    jit_set_add(plan->entries, 0);
    for (uint32_t b = 0; b < f->blocks.n; b++)
        if (jit_insn_info_is_sync(a, b)) {
            jit_set_add(syncs, b);
            jit_set_add(plan->entries, b);
        }
    for (uint32_t l = 0; l < f->loops.n; l++) {
        holds[l] = loop_has(&f->loops.v[l], syncs) || waits(a, &f->loops.v[l]);
        if (holds[l])
            jit_set_add(plan->entries, f->loops.v[l].header);
    }
    for (uint32_t l = 0; l < f->loops.n; l++)
        if (holds[l])
            find_ways_out(a, plan, reaching, &f->loops.v[l]);
}

bool jit_regions_are_convergent(struct jit_facts *a, const uint64_t *entries,
                                const uint64_t *reaching)
{
    const uint64_t *passed_by = find_passed_by(a, entries);
    for (uint32_t b = 0; b < a->unit->f->blocks.n; b++)
        if (jit_set_has(entries, b) &&
            !(is_convergent(a, reaching, b) && is_met(a, entries, passed_by, b)))
            return false;
    return true;
}

static void flood(struct jit_facts *a, const struct jit_plan *plan, struct jit_region *r,
                  uint32_t block, uint64_t *exits)
{
    const struct pt_block *b = &a->unit->f->blocks.v[block];
    jit_set_add(r->set, block);
    for (uint32_t e = 0; e < b->n_succ; e++) {
        uint32_t to = a->unit->f->edges.v[b->succ + e];
        if (jit_set_has(plan->entries, to))
            jit_set_add(exits, to);
        else if (!jit_set_has(r->set, to))
            flood(a, plan, r, to, exits);
    }
}

static uint32_t *list_of(struct jit_facts *a, const uint64_t *set, uint32_t *n)
{
    uint32_t *list = pt_arena_alloc(a->unit->arena, a->unit->f->blocks.n * sizeof *list);
    *n = 0;
    for (uint32_t b = 0; b < a->unit->f->blocks.n; b++)
        if (jit_set_has(set, b))
            list[(*n)++] = b;
    return list;
}

bool jit_regions_ends_kernel(const struct jit_facts *a, uint32_t block)
{
    const struct pt_block *b = &a->unit->f->blocks.v[block];
    const struct pt_form *form =
        pt_insn_form(a->unit->m, &a->unit->f->insns.v[b->first + b->count - 1]);
    return form->op == PT_OP_ret || form->op == PT_OP_exit;
}

static void make_region(struct jit_facts *a, struct jit_plan *plan, uint32_t entry)
{
    struct jit_region *r = &plan->regions[plan->n_regions++];
    uint64_t *exits = jit_new_set(a);
    r->entry = entry;
    r->set = jit_new_set(a);
    flood(a, plan, r, entry, exits);
    r->blocks = list_of(a, r->set, &r->n_blocks);
    r->exits = list_of(a, exits, &r->n_exits);
    for (uint32_t i = 0; i < r->n_blocks; i++)
        r->has_ends |= jit_regions_ends_kernel(a, r->blocks[i]);
}

/* A block that several regions reach begins one, where it can: it would be generated more than
 * once. */
static bool find_shared(struct jit_facts *a, struct jit_plan *plan, const uint64_t *reaching)
{
    const uint64_t *passed_by = find_passed_by(a, plan->entries);
    for (uint32_t b = 0; b < a->unit->f->blocks.n; b++) {
        uint32_t owners = 0;
        for (uint32_t r = 0; r < plan->n_regions; r++)
            owners += jit_set_has(plan->regions[r].set, b);
        if (owners > 1 && is_convergent(a, reaching, b) && is_met(a, plan->entries, passed_by, b)) {
            jit_set_add(plan->entries, b);
            return true;
        }
    }
    return false;
}

void jit_regions_make(struct jit_facts *a, struct jit_plan *plan, const uint64_t *reaching)
{
    do {
        uint32_t n;
        uint32_t *entries = list_of(a, plan->entries, &n);
        plan->n_regions = 0;
        plan->regions = pt_arena_alloc(a->unit->arena, n * sizeof *plan->regions);
        for (uint32_t i = 0; i < n; i++)
            make_region(a, plan, entries[i]);
    } while (find_shared(a, plan, reaching));
}

void jit_regions_cut_resumable(struct jit_facts *a, struct jit_plan *plan, const uint64_t *also)
{
    plan->entries = jit_new_set(a);
    for (uint32_t w = 0; w < a->uniformity->words; w++)
        plan->entries[w] = also[w];
    jit_regions_find_entries(a, plan, NULL);
    jit_regions_make(a, plan, NULL);
}

bool jit_regions_is_parted(const struct jit_facts *a, uint32_t block)
{
    for (uint32_t w = 0; w < a->uniformity->words; w++)
        if (jit_def_use_waits(a, block)[w])
            return true;
    return false;
}

bool jit_regions_have_whole_warps(const struct jit_facts *a)
{
    const uint32_t *block = a->uniformity->shape.block;
    uint32_t threads = block[0] * block[1] * block[2];
    for (uint32_t b = 0; b < a->unit->f->blocks.n; b++)
        if (jit_regions_ends_kernel(a, b) &&
            (jit_regions_is_parted(a, b) || a->uniformity->branch[b] > PT_LEVEL_GROUP))
            return false;
    return threads && threads % PT_WARP_SIZE == 0;
}
