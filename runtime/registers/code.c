/* A function as the estimate reads it. */
#include "runtime/registers/code.h"

#include "ir/bits.h"
#include "ir/insn.h"
#include "ir/liveness.h"

struct reader {
    struct pt_code *code;
    bool wants_defs;
};

static void add_operand(void *ud, uint32_t reg, bool is_def)
{
    struct reader *r = ud;
    if (is_def == r->wants_defs)
        *pt_vec_push(r->code->arena, &r->code->operands) = reg;
}

static void read_insn(struct pt_code *code, uint32_t i)
{
    const struct pt_insn *insn = &code->f->insns.v[i];
    struct pt_code_insn *out = &code->insns[i];
    struct reader r = {.code = code};
    out->cost = pt_insn_cost_of(pt_insn_form(code->m, insn));
    out->first = code->operands.n;
    pt_insn_regs(code->m, code->f, insn, add_operand, &r);
    out->n_uses = code->operands.n - out->first;
    r.wants_defs = true;
    pt_insn_regs(code->m, code->f, insn, add_operand, &r);
    out->n_defs = code->operands.n - out->first - out->n_uses;
    const uint32_t *defs = pt_code_defs(code, out);
    for (uint32_t d = 0; d < out->n_defs; d++)
        if (code->f->regs.v[defs[d]].n_defs == 1)
            code->made_at[defs[d]] = i + 1;
}

static void find_live_out(struct pt_code *code)
{
    const struct pt_func *f = code->f;
    for (uint32_t b = 0; b < f->blocks.n; b++)
        for (uint32_t e = 0; e < f->blocks.v[b].n_succ; e++) {
            uint32_t to = f->edges.v[f->blocks.v[b].succ + e];
            for (uint32_t w = 0; w < code->words; w++)
                code->live_out[(size_t)b * code->words + w] |=
                    code->live_in[(size_t)to * code->words + w];
        }
}

/* The analysis takes memory by the square of the blocks. */
enum { MOST_BLOCKS = 4096 };

/* A block is, up to where all lanes that parted before it meet again. */
static void find_divergent(struct pt_code *code)
{
    const struct pt_uniformity_shape shape = {.width = 32, .copies = 1};
    const struct pt_func *f = code->f;
    if (f->blocks.n > MOST_BLOCKS)
        return;
    code->uniformity = pt_uniformity_find(code->m, f, &shape, NULL, code->arena);
    for (uint32_t b = 0, end = 0; b < f->blocks.n; b++) {
        uint32_t meet = f->blocks.v[b].ipdom < f->blocks.n ? f->blocks.v[b].ipdom : f->blocks.n;
        code->is_divergent[b] = b < end;
        if (code->uniformity->branch[b] > PT_LEVEL_CHUNK && end < meet)
            end = meet;
    }
}

struct pt_code *pt_code_read(const struct pt_module *m, const struct pt_func *f,
                             struct pt_arena *arena)
{
    struct pt_code *code = pt_arena_alloc(arena, sizeof *code);
    *code = (struct pt_code){.m = m, .f = f, .arena = arena, .words = pt_bit_words(f->regs.n)};
    size_t set = code->words * sizeof *code->live_out;
    code->insns = pt_arena_alloc(arena, f->insns.n * sizeof *code->insns);
    code->made_at = pt_arena_alloc(arena, f->regs.n * sizeof *code->made_at);
    code->live_in = pt_liveness_in(m, f, arena);
    code->live_out = pt_arena_alloc(arena, f->blocks.n * set);
    code->is_divergent = pt_arena_alloc(arena, f->blocks.n * sizeof *code->is_divergent);
    *pt_vec_push(arena, &code->operands) = 0; /* never empty */
    for (uint32_t i = 0; i < f->insns.n; i++)
        read_insn(code, i);
    find_live_out(code);
    find_divergent(code);
    return code;
}
