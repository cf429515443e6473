/* Where the assembler keeps each register of PTX. */
#include "runtime/registers/register_file.h"

/* The uniform unit knows integers only, and takes nothing back from the other one. */
static bool is_beyond_uniform_unit(const struct pt_insn_cost *c)
{
    if (c->effects & (PT_FX_READ | PT_FX_ATOMIC) && c->memory != PT_MEMORY_CONSTANT)
        return true;
    return c->effects & (PT_FX_WARP | PT_FX_VOLATILE | PT_FX_FP | PT_FX_CALL);
}

static bool reads_varying(const struct pt_code *code, const struct pt_register_file *file,
                          const struct pt_code_insn *insn)
{
    for (uint32_t u = 0; u < insn->n_uses; u++)
        if (file->varies[pt_code_uses(code, insn)[u]])
            return true;
    return false;
}

static void find_varying(const struct pt_code *code, struct pt_register_file *file)
{
    for (uint32_t r = 1; r < code->f->regs.n; r++)
        file->varies[r] = !code->uniformity || code->uniformity->regs[r].level != PT_LEVEL_CTA;
    for (bool changed = true; changed;) {
        changed = false;
        for (uint32_t i = 0; i < code->f->insns.n; i++) {
            const struct pt_code_insn *insn = &code->insns[i];
            if (!is_beyond_uniform_unit(&insn->cost) && !reads_varying(code, file, insn))
                continue;
            for (uint32_t d = 0; d < insn->n_defs; d++) {
                changed |= !file->varies[pt_code_defs(code, insn)[d]];
                file->varies[pt_code_defs(code, insn)[d]] = true;
            }
        }
    }
}

/* Parameters, immediates, addresses of variables, and copies of them. */
static bool makes_constant(const struct pt_code *code, const struct pt_register_file *file,
                           const struct pt_code_insn *insn)
{
    const struct pt_insn_cost *c = &insn->cost;
    if (c->effects & PT_FX_READ)
        return !c->is_load && c->memory == PT_MEMORY_CONSTANT;
    if (c->op == PT_OP_mov_addr)
        return true;
    if (c->op != PT_OP_mov && c->op != PT_OP_cvta && c->op != PT_OP_cvta_to)
        return false;
    return !insn->n_uses || (insn->n_uses == 1 && file->is_constant[pt_code_uses(code, insn)[0]]);
}

static void find_constants(const struct pt_code *code, struct pt_register_file *file)
{
    for (uint32_t i = 0; i < code->f->insns.n; i++) {
        const struct pt_code_insn *insn = &code->insns[i];
        const uint32_t *defs = pt_code_defs(code, insn);
        for (uint32_t d = 0; d < insn->n_defs; d++)
            if (code->made_at[defs[d]])
                file->is_constant[defs[d]] = makes_constant(code, file, insn);
    }
}

/* A register that lies beside others: of a vector in memory, or of a matrix. */
static void mark_members(const struct pt_code *code, bool *is_member)
{
    for (uint32_t i = 0; i < code->f->insns.n; i++) {
        const struct pt_code_insn *insn = &code->insns[i];
        const struct pt_insn_cost *c = &insn->cost;
        bool is_matrix = c->unit == PT_UNIT_TENSOR || c->unit == PT_UNIT_WGMMA ||
                         c->unit == PT_UNIT_MATRIX_MEMORY;
        bool is_loaded = is_matrix || (c->vec > 1 && c->effects & PT_FX_READ);
        bool is_stored = is_matrix || (c->vec > 1 && c->effects & PT_FX_WRITE);
        for (uint32_t d = 0; is_loaded && d < insn->n_defs; d++)
            is_member[pt_code_defs(code, insn)[d]] = true;
        for (uint32_t u = 0; is_stored && u < insn->n_uses; u++)
            is_member[pt_code_uses(code, insn)[u]] = true;
    }
}

/* Registers that are packed into one of 32 bits, or unpacked. */
static bool *find_halves(const struct pt_code *code)
{
    bool *is_half = pt_arena_alloc(code->arena, code->f->regs.n * sizeof *is_half);
    for (uint32_t i = 0; i < code->f->insns.n; i++) {
        const struct pt_code_insn *insn = &code->insns[i];
        for (uint32_t d = 0; insn->cost.op == PT_OP_mov_unpack && d < insn->n_defs; d++)
            is_half[pt_code_defs(code, insn)[d]] = true;
        for (uint32_t u = 0; insn->cost.op == PT_OP_mov_pack && u < insn->n_uses; u++)
            is_half[pt_code_uses(code, insn)[u]] = true;
    }
    return is_half;
}

enum { PAIR = 4 };

static void find_sizes(const struct pt_code *code, struct pt_register_file *file)
{
    const bool *is_half = find_halves(code);
    bool *is_member = pt_arena_alloc(code->arena, code->f->regs.n * sizeof *is_member);
    mark_members(code, is_member);
    for (uint32_t r = 1; r < code->f->regs.n; r++) {
        uint32_t bits = pt_type_bits(code->f->regs.v[r].type);
        file->size[r] = bits <= 1                  ? 0
                        : bits <= 16 && is_half[r] ? 1
                                                   : (int32_t)((bits + 31) / 32 * 2);
        file->vector[r] = file->varies[r] && !file->is_constant[r] ? file->size[r] : 0;
        file->spread[r] =
            is_member[r] || !file->vector[r] || file->vector[r] > PAIR ? file->vector[r] : PAIR;
    }
}

struct pt_register_file *pt_register_file_find(const struct pt_code *code)
{
    uint32_t n = code->f->regs.n;
    struct pt_register_file *file = pt_arena_alloc(code->arena, sizeof *file);
    file->size = pt_arena_alloc(code->arena, n * sizeof *file->size);
    file->vector = pt_arena_alloc(code->arena, n * sizeof *file->vector);
    file->spread = pt_arena_alloc(code->arena, n * sizeof *file->spread);
    file->varies = pt_arena_alloc(code->arena, n * sizeof *file->varies);
    file->is_constant = pt_arena_alloc(code->arena, n * sizeof *file->is_constant);
    find_varying(code, file);
    find_constants(code, file);
    find_sizes(code, file);
    return file;
}
