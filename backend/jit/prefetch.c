/* Loops that walk memory in long strides (grid-stride loops above all): the machine's own prefetcher does not follow
 * them, so each access asks for what later rounds will need.
 */
#include "backend/jit/region.h"

enum {
    AHEAD = 4, /* rounds */
    DEPTH = 8,
    LINE = 64,        /* bytes */
    SHORT_STEP = 4096 /* the machine follows shorter constant steps by itself */
};

struct step {
    bool is_known;
    LLVMValueRef bytes; /* i64: what one round adds; NULL: nothing */
    bool is_long;
};

static const struct step unknown = {false, NULL, false};

/* ---- the loop's definitions of a register ---------------------------------------------------- */

struct search {
    uint32_t reg, insn, n, at;
};

static void note_def(void *ud, uint32_t reg, bool is_def)
{
    struct search *s = ud;
    if (is_def && reg == s->reg) {
        s->n++;
        s->insn = s->at;
    }
}

static struct search find_defs(const struct jit *j, const struct pt_loop *loop, uint32_t reg)
{
    struct search s = {.reg = reg};
    for (uint32_t b = loop->header; b < loop->end; b++) {
        const struct pt_block *block = &j->f->blocks.v[b];
        for (s.at = block->first; s.at < block->first + block->count; s.at++)
            pt_insn_regs(j->m, j->f, &j->f->insns.v[s.at], note_def, &s);
    }
    return s;
}

/* ---- what a round adds ----------------------------------------------------------------------- */

static struct step step_of(struct jit *j, const struct pt_loop *loop, uint32_t reg, unsigned depth);

static struct step step_of_operand(struct jit *j, const struct pt_loop *loop,
                                   const struct pt_operand *o, unsigned depth)
{
    struct step none = {true, NULL, false};
    return o->kind == PT_OPND_REG ? step_of(j, loop, o->index, depth + 1) : none;
}

static struct step scale(struct jit *j, struct step s, const struct pt_operand *by, bool shifts)
{
    if (!s.is_known || !s.bytes)
        return s;
    if (by->kind != PT_OPND_IMM)
        return unknown;
    uint64_t factor = shifts ? UINT64_C(1) << (by->imm & 63) : (uint64_t)by->imm;
    s.bytes = LLVMBuildMul(j->b, s.bytes, jit_i64(j, factor), "");
    return s;
}

static struct step sum(struct jit *j, struct step a, struct step b)
{
    if (!a.is_known || !b.is_known)
        return unknown;
    if (!a.bytes || !b.bytes)
        return a.bytes ? a : b;
    a.bytes = LLVMBuildAdd(j->b, a.bytes, b.bytes, "");
    a.is_long |= b.is_long;
    return a;
}

/* r = r + s, s the same in all lanes and rounds. */
static struct step advance(struct jit *j, const struct pt_loop *loop, uint32_t reg,
                           const struct pt_insn *insn)
{
    const struct pt_operand *o = &j->f->operands.v[insn->operands];
    int64_t stride;
    if (pt_insn_form(j->m, insn)->op != PT_OP_add_int || insn->guard ||
        j->f->regs.v[reg].n_defs != 2)
        return unknown;
    const struct pt_operand *s = o[1].kind == PT_OPND_REG && o[1].index == reg ? &o[2] : &o[1];
    const struct pt_operand *self = s == &o[1] ? &o[2] : &o[1];
    if (self->kind != PT_OPND_REG || self->index != reg)
        return unknown;
    if (s->kind == PT_OPND_IMM)
        return (struct step){true, jit_i64(j, (uint64_t)s->imm), s->imm >= SHORT_STEP};
    if (s->kind != PT_OPND_REG || jit_shape_of(j, s, &stride) != JIT_SCALAR ||
        jit_is_per_copy(j, s) || find_defs(j, loop, s->index).n)
        return unknown;
    enum pt_type type = (enum pt_type)pt_insn_form(j->m, insn)->type[0];
    LLVMValueRef value = jit_read(j, s, 0, type, 1, false);
    value = LLVMBuildIntCast2(j->b, value, LLVMInt64TypeInContext(j->context), true, "");
    return (struct step){true, value, true};
}

static struct step step_of(struct jit *j, const struct pt_loop *loop, uint32_t reg, unsigned depth)
{
    struct search def = find_defs(j, loop, reg);
    if (!def.n)
        return (struct step){true, NULL, false};
    if (def.n > 1 || depth > DEPTH)
        return unknown;
    const struct pt_insn *insn = &j->f->insns.v[def.insn];
    const struct pt_operand *o = &j->f->operands.v[insn->operands];
    if (j->f->regs.v[reg].n_defs > 1)
        return advance(j, loop, reg, insn);
    switch ((enum pt_op)pt_insn_form(j->m, insn)->op) {
    case PT_OP_add_int:
        return sum(j, step_of_operand(j, loop, &o[1], depth),
                   step_of_operand(j, loop, &o[2], depth));
    case PT_OP_mul_wide:
    case PT_OP_mul_lo:
        return scale(j, step_of_operand(j, loop, &o[1], depth), &o[2], false);
    case PT_OP_mad_wide:
    case PT_OP_mad_lo:
        return sum(j, scale(j, step_of_operand(j, loop, &o[1], depth), &o[2], false),
                   step_of_operand(j, loop, &o[3], depth));
    case PT_OP_shl:
        return scale(j, step_of_operand(j, loop, &o[1], depth), &o[2], true);
    case PT_OP_mov:
    case PT_OP_cvta_to:
    case PT_OP_cvt_int:
        return step_of_operand(j, loop, &o[1], depth);
    default:
        return unknown;
    }
}

/* ---- asking ---------------------------------------------------------------------------------- */

void jit_prefetch(struct jit *j, uint32_t reg, LLVMValueRef pointer, unsigned bytes)
{
    uint32_t l = j->f->blocks.v[j->block].loop;
    LLVMTypeRef i32 = LLVMInt32TypeInContext(j->context);
    if (!l)
        return;
    struct step step = step_of(j, &j->f->loops.v[l - 1], reg, 0);
    if (!step.is_known || !step.bytes || !step.is_long)
        return;
    LLVMValueRef by = LLVMBuildMul(j->b, step.bytes, jit_i64(j, AHEAD), "");
    pointer = jit_at(j, pointer, by);
    for (unsigned at = 0; at < bytes; at += LINE) {
        LLVMValueRef args[] = {jit_at(j, pointer, jit_i64(j, at)), LLVMConstInt(i32, 0, false),
                               LLVMConstInt(i32, 2, false), LLVMConstInt(i32, 1, false)};
        jit_intrinsic(j, "llvm.prefetch", LLVMTypeOf(pointer), args, 4);
    }
}
