/* Instructions that the assembler makes long sequences or calls of. */
#include "runtime/registers/expansion.h"

#include "runtime/registers/live_set.h"

/* Halves beside what is live, overhead of the kernel included: what fitted best. */
static const int32_t extra[PT_EXPANSIONS] = {
    [PT_EXPANSION_DIVIDE_32] = 4,  [PT_EXPANSION_DIVIDE_F64] = 36, [PT_EXPANSION_DIVIDE_64] = 32,
    [PT_EXPANSION_COLLECTIVE] = 8, [PT_EXPANSION_CALL] = 48,       [PT_EXPANSION_ATOMIC] = 20,
};

/* PT_EXPANSIONS: it is none. */
static enum pt_expansion expansion_of(const struct pt_code *code, uint32_t block,
                                      const struct pt_insn_cost *c)
{
    if (c->unit == PT_UNIT_DIVIDE)
        return c->is_f64    ? PT_EXPANSION_DIVIDE_F64
               : c->is_wide ? PT_EXPANSION_DIVIDE_64
                            : PT_EXPANSION_DIVIDE_32;
    if (c->effects & PT_FX_CALL)
        return PT_EXPANSION_CALL;
    if (c->unit == PT_UNIT_SHUFFLE || c->unit == PT_UNIT_VOTE)
        return code->is_divergent[block] ? PT_EXPANSION_COLLECTIVE : PT_EXPANSIONS;
    if (c->effects & PT_FX_ATOMIC && (c->memory == PT_MEMORY_SHARED || c->is_narrow))
        return PT_EXPANSION_ATOMIC;
    return PT_EXPANSIONS;
}

static void find_in_block(const struct pt_code *code, const int32_t *size, uint32_t b,
                          uint64_t *live, struct pt_expansion_pressure *p)
{
    const struct pt_block *block = &code->f->blocks.v[b];
    pt_live_set_start(code, live, b);
    int32_t n = pt_live_set_size(code, live, size);
    for (uint32_t i = block->first + block->count; i-- > block->first;) {
        enum pt_expansion e = expansion_of(code, b, &code->insns[i].cost);
        int32_t behind = n;
        n -= pt_live_set_named(code, live, i, size);
        pt_live_set_step(code, live, i);
        n += pt_live_set_named(code, live, i, size);
        int32_t most = 2 + (n > behind ? n : behind);
        if (e != PT_EXPANSIONS && p->live[e] < most)
            p->live[e] = most;
    }
}

struct pt_expansion_pressure pt_expansion_find(const struct pt_code *code,
                                               const struct pt_register_file *file)
{
    struct pt_expansion_pressure p = {0};
    uint64_t *live = pt_arena_alloc(code->arena, code->words * sizeof *live);
    for (uint32_t b = 0; b < code->f->blocks.n; b++)
        find_in_block(code, file->vector, b, live, &p);
    for (unsigned e = 0; e < PT_EXPANSIONS; e++)
        if (p.live[e] && p.needs < p.live[e] + extra[e])
            p.needs = p.live[e] + extra[e];
    return p;
}
