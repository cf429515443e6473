/* Scheduling regions. */
#include "runtime/registers/region.h"

#include <string.h>

/* Time to order a region grows with its square: in functions longer than LONG they are shorter. */
enum { MOST = 2000, LONG = 16384, MOST_IN_LONG = 250, MOST_GUARDED = 64, SHORT_LOOP = 128 };

static bool is_in(const struct pt_region *r, uint32_t block)
{
    return block >= r->first && block < r->end;
}

bool pt_region_always_runs(const struct pt_code *code, const struct pt_region *r, uint32_t block)
{
    uint32_t b = r->first;
    while (b < block)
        b = code->f->blocks.v[b].ipdom;
    return b == block;
}

/* The block behind the region may become part of it. */
static bool may_join(const struct pt_code *code, const struct pt_region *r)
{
    const struct pt_func *f = code->f;
    if (r->end == f->blocks.n)
        return false;
    const struct pt_block *block = &f->blocks.v[r->end];
    const uint32_t most = f->insns.n > LONG ? MOST_IN_LONG : MOST;
    if (block->loop != f->blocks.v[r->first].loop || r->insns + block->count > most)
        return false;
    if (code->insns[block->first].cost.effects & (PT_FX_CTA | PT_FX_CLUSTER | PT_FX_CALL))
        return false;
    for (uint32_t p = 0; p < block->n_pred; p++)
        if (!is_in(r, f->edges.v[block->pred + p]))
            return false;
    return block->count <= MOST_GUARDED || pt_region_always_runs(code, r, r->end);
}

struct pt_region pt_region_find(const struct pt_code *code, uint32_t first)
{
    const struct pt_func *f = code->f;
    const struct pt_block *block = &f->blocks.v[first];
    struct pt_region r = {.first = first, .end = first + 1, .insns = block->count};
    while (may_join(code, &r))
        r.insns += f->blocks.v[r.end++].count;
    if (block->loop) {
        const struct pt_loop *loop = &f->loops.v[block->loop - 1];
        r.is_short_loop = loop->header == r.first && loop->end == r.end && r.insns <= SHORT_LOOP;
    }
    return r;
}

void pt_region_live_out(const struct pt_code *code, const struct pt_region *r, uint64_t *set)
{
    memset(set, 0, code->words * sizeof *set);
    for (uint32_t b = r->first; b < r->end; b++) {
        const struct pt_block *block = &code->f->blocks.v[b];
        for (uint32_t e = 0; e < block->n_succ; e++) {
            uint32_t to = code->f->edges.v[block->succ + e];
            for (uint32_t w = 0; w < code->words && (!is_in(r, to) || to == r->first); w++)
                set[w] |= code->live_in[(size_t)to * code->words + w];
        }
    }
}
