/* Registers that a kernel would need on a GPU. */
#include "runtime/registers.h"

struct count {
    const struct pt_func *func;
    uint64_t *live;
    int units, most;
};

static int units_of(const struct pt_func *f, uint32_t reg)
{
    uint32_t bits = pt_type_bits(f->regs.v[reg].type);
    return bits <= 1 ? 0 : (int)(bits + 31) / 32; /* predicates have a file of their own */
}

static void set_live(struct count *c, uint32_t reg, bool live)
{
    uint64_t bit = UINT64_C(1) << (reg % 64), *word = &c->live[reg / 64];
    if (((*word & bit) != 0) == live)
        return;
    *word ^= bit;
    c->units += live ? units_of(c->func, reg) : -units_of(c->func, reg);
    if (c->units > c->most)
        c->most = c->units;
}

static void kill_definition(void *ud, uint32_t reg, bool is_def)
{
    if (is_def)
        set_live(ud, reg, false);
}

static void use_operand(void *ud, uint32_t reg, bool is_def)
{
    if (!is_def)
        set_live(ud, reg, true);
}

static void go_back(struct count *c, const struct pt_module *m, const struct pt_block *block,
                    const uint64_t *live_in, uint32_t words)
{
    for (uint32_t reg = 1; reg < c->func->regs.n; reg++) {
        bool live = false;
        for (uint32_t s = 0; s < block->n_succ; s++)
            live |= live_in[c->func->edges.v[block->succ + s] * words + reg / 64] >> (reg % 64) & 1;
        set_live(c, reg, live);
    }
    for (uint32_t i = block->first + block->count; i-- > block->first;) {
        pt_insn_regs(m, c->func, &c->func->insns.v[i], kill_definition, c);
        pt_insn_regs(m, c->func, &c->func->insns.v[i], use_operand, c);
    }
}

unsigned pt_registers_count(const ptera_kernel *kernel)
{
    ptera_module *module = kernel->module;
    struct pt_arena arena;
    struct count c = {.func = &module->ir.funcs.v[kernel->func]};
    jmp_buf oom;
    pt_arena_init(&arena, &module->engine->allocator);
    arena.oom = &oom;
    if (setjmp(oom)) {
        pt_arena_free(&arena);
        return 1;
    }
    uint32_t words = (c.func->regs.n + 63) / 64;
    const uint64_t *live_in = pt_live_in(&module->ir, c.func, &arena);
    c.live = pt_arena_alloc(&arena, words * sizeof *c.live);
    for (uint32_t b = 0; b < c.func->blocks.n; b++)
        go_back(&c, &module->ir, &c.func->blocks.v[b], live_in, words);
    unsigned most = (unsigned)c.most;
    pt_arena_free(&arena);
    unsigned limit = c.func->maxnreg ? c.func->maxnreg : 255;
    return most < 1 ? 1 : most < limit ? most : limit;
}
