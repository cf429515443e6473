/* The instructions of a block in the order they run. */
#include "backend/jit/gen.h"

struct uses {
    uint64_t *read, *written; /* by what stays behind */
    bool is_early;            /* no such register is in the way */
    bool collects;
    const struct jit *j;
};

static void see_use(void *ud, uint32_t reg, bool is_def)
{
    struct uses *u = ud;
    if (u->collects && !is_def)
        jit_add_roots(u->j, reg, u->read);
    if (u->collects)
        jit_set_add(is_def ? u->written : u->read, reg);
    else if (jit_set_has(u->written, reg) || (is_def && jit_set_has(u->read, reg)))
        u->is_early = false;
    else if (is_def && u->j->regs[reg].shape == JIT_VECTOR && !u->j->regs[reg].is_range)
        u->is_early = false;
}

static bool is_pure(const struct jit *j, const struct pt_insn *insn)
{
    return !insn->guard && !(pt_insn_form(j->m, insn)->effects & ~(uint32_t)PT_FX_FP);
}

struct jit_order jit_find_order(struct jit *j, uint32_t block)
{
    const struct pt_block *b = &j->f->blocks.v[block];
    size_t words = (j->f->regs.n + 63) / 64;
    struct jit_order o = {.insns = pt_arena_alloc(j->arena, b->count * sizeof(uint32_t))};
    struct uses u = {.j = j};
    u.read = pt_arena_alloc(j->arena, words * sizeof(uint64_t));
    u.written = pt_arena_alloc(j->arena, words * sizeof(uint64_t));
    uint8_t *early = pt_arena_alloc(j->arena, b->count);
    for (uint32_t i = 0; i < b->count; i++) {
        const struct pt_insn *insn = &j->f->insns.v[b->first + i];
        u.is_early = is_pure(j, insn);
        u.collects = false;
        pt_insn_regs(j->m, j->f, insn, see_use, &u);
        early[i] = u.is_early;
        u.collects = true;
        if (!early[i])
            pt_insn_regs(j->m, j->f, insn, see_use, &u);
    }
    for (int late = 0; late < 2; late++)
        for (uint32_t i = 0; i < b->count; i++) {
            if (early[i] == !late)
                o.insns[o.n++] = b->first + i;
            o.n_early += !late && early[i];
        }
    jit_batch_order(j, o.insns + o.n_early, o.n - o.n_early);
    return o;
}
