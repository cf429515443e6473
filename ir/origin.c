/* What addresses are made of: from a register to the only instruction that writes it, and on to
 * what that adds up. */
#include "ir/origin.h"

#include "ir/insn.h"

/* Of what writes a register: nothing so far, or several instructions. */
enum { NOTHING = UINT32_MAX, SEVERAL = UINT32_MAX - 1 };
/* Of several addresses, of their difference, or of what lies in memory and may be one. */
enum { MIXED = UINT32_MAX };

struct pt_origins {
    const struct pt_module *m;
    const struct pt_func *func;
    uint32_t *only; /* by register: the instruction that writes it, NOTHING, or SEVERAL do */
    uint32_t insn;
};

static void note(void *ud, uint32_t reg, bool is_def)
{
    struct pt_origins *x = ud;
    if (is_def)
        x->only[reg] = x->only[reg] == NOTHING ? x->insn : SEVERAL;
}

const struct pt_origins *pt_origin_analyse(const struct pt_module *m, const struct pt_func *func,
                                           struct pt_arena *arena)
{
    struct pt_origins *x = pt_arena_alloc(arena, sizeof *x);
    *x = (struct pt_origins){.m = m, .func = func};
    x->only = pt_arena_alloc(arena, (func->regs.n + 1) * sizeof *x->only);
    for (uint32_t i = 0; i < func->regs.n; i++)
        x->only[i] = NOTHING;
    for (x->insn = 0; x->insn < func->insns.n; x->insn++)
        pt_insn_regs(m, func, &func->insns.v[x->insn], note, x);
    return x;
}

static bool is_bounded(const struct pt_symbol *s)
{
    bool has_memory =
        s->space == PT_SPACE_SHARED || s->space == PT_SPACE_GLOBAL || s->space == PT_SPACE_LOCAL;
    return has_memory && s->size && !s->is_unsized && s->linkage != PT_LINK_EXTERN;
}

/* A sum's. */
static uint32_t either(uint32_t a, uint32_t b)
{
    return a == PT_NONE ? b : b == PT_NONE ? a : MIXED;
}

/* Not one of a call. */
static bool is_parameter(const struct pt_func *kernel, const struct pt_operand *o)
{
    bool is_one = false;
    for (uint32_t i = 0; o->kind == PT_OPND_SYM && i < kernel->params.n && !is_one; i++)
        is_one = kernel->params.v[i] == o->index;
    return is_one;
}

/* The word that a load from a kernel's parameter gives; PT_NONE where it is narrow, MIXED where it
 * is other memory's: a whole pointer may come from there. */
static uint32_t loaded(const struct pt_origins *x, uint32_t insn)
{
    const struct pt_operand *d = &x->func->operands.v[x->func->insns.v[insn].operands];
    bool is_wide = d[0].kind == PT_OPND_REG &&
                   pt_type_bits((enum pt_type)x->func->regs.v[d[0].index].type) == 64;
    if (!is_wide)
        return PT_NONE;
    if (d[1].kind != PT_OPND_MEM || !x->func->is_entry || insn >= PT_ORIGIN_PARAMETER)
        return MIXED;
    return is_parameter(x->func, &x->func->operands.v[d[1].index]) ? PT_ORIGIN_PARAMETER | insn
                                                                   : MIXED;
}

static uint32_t origin_of(const struct pt_origins *x, const struct pt_operand *o, unsigned depth)
{
    enum { DEEPEST = 8 }; /* both operands of sums are looked at */
    if (o->kind == PT_OPND_SYM)
        return is_bounded(&x->m->symbols.v[o->index]) ? o->index : PT_NONE;
    uint32_t only = o->kind == PT_OPND_REG ? x->only[o->index] : NOTHING, a, b;
    if (only >= x->func->insns.n || depth == DEEPEST)
        return PT_NONE;
    const struct pt_insn *def = &x->func->insns.v[only];
    const struct pt_operand *d = &x->func->operands.v[def->operands];
    switch (pt_insn_form(x->m, def)->op) {
    case PT_OP_mov:
    case PT_OP_mov_addr:
    case PT_OP_cvta:
    case PT_OP_cvta_to:
        return origin_of(x, &d[1], depth + 1);
    case PT_OP_add_int:
        a = origin_of(x, &d[1], depth + 1);
        b = origin_of(x, &d[2], depth + 1);
        return either(a, b);
    case PT_OP_sub_int:
        a = origin_of(x, &d[1], depth + 1);
        return origin_of(x, &d[2], depth + 1) == PT_NONE ? a : MIXED;
    case PT_OP_mad_lo:
    case PT_OP_mad_wide:
        return origin_of(x, &d[3], depth + 1);
    default:
        return pt_insn_form(x->m, def)->effects & PT_FX_READ ? loaded(x, only) : PT_NONE;
    }
}

uint32_t pt_origin_of(const struct pt_origins *x, const struct pt_insn *insn)
{
    const struct pt_operand *only = NULL;
    for (uint32_t i = 0; i < insn->n_operands; i++) {
        const struct pt_operand *o = &x->func->operands.v[insn->operands + i];
        if (o->kind == PT_OPND_MEM && only)
            return PT_NONE;
        only = o->kind == PT_OPND_MEM ? o : only;
    }
    uint32_t origin = only ? origin_of(x, &x->func->operands.v[only->index], 0) : PT_NONE;
    return origin == MIXED ? PT_NONE : origin;
}

const struct pt_symbol *pt_origin_variable(const struct pt_module *m, uint32_t origin)
{
    return origin == PT_NONE || origin & PT_ORIGIN_PARAMETER ? NULL : &m->symbols.v[origin];
}

const struct pt_symbol *pt_origin_parameter(const struct pt_module *m, const struct pt_func *kernel,
                                            uint32_t origin, uint64_t *at)
{
    const struct pt_insn *load = &kernel->insns.v[origin & ~(uint32_t)PT_ORIGIN_PARAMETER];
    const struct pt_operand *o = &kernel->operands.v[kernel->operands.v[load->operands + 1].index];
    *at = (uint64_t)o->imm;
    return &m->symbols.v[o->index];
}
