/* How far from a CTA's accesses those of later CTAs lie. Straight code: a CTA ends, and the next
 * begins, before the machine's own prefetcher sees a stream in it, unless it follows short parts of
 * CTAs that follow one another. An address is followed back to the CTA's index, through sums and
 * through products with what all CTAs agree on.
 */
#include "backend/jit/memory/prefetch_distance.h"

#include "backend/jit/analysis/def_use.h"
#include "backend/jit/analysis/loops.h"
#include "backend/jit/jit.h"
#include "backend/jit/llvm/build.h"
#include "backend/jit/llvm/cpu.h"
#include "backend/jit/tune.h"
#include "backend/jit/value/registers.h"

/* By how much a value is more in the next CTA along an axis. */
struct slope {
    bool is_known;
    LLVMValueRef bytes; /* i64; NULL: nothing */
    bool is_constant;
    uint64_t constant;
};

static struct slope known(const struct jit *j, uint64_t constant)
{
    LLVMValueRef bytes = constant ? jit_i64(j, constant) : NULL;
    return (struct slope){true, bytes, true, constant};
}

/* The operand is the same in all lanes of the group, and has its value where the block begins or
 * from there on to j->insn. */
static bool is_at_hand(const struct jit *j, const struct pt_operand *o)
{
    int64_t stride;
    if (o->kind == PT_OPND_IMM)
        return true;
    if (jit_def_use_shape(j->facts, o, &stride) != JIT_SCALAR ||
        jit_def_use_is_per_copy(j->facts, o))
        return false;
    if (o->kind == PT_OPND_SREG)
        return true;
    if (o->kind != PT_OPND_REG || j->facts->regs[o->index].only == UINT32_MAX)
        return false;
    const struct pt_block *block = &j->unit->f->blocks.v[j->block];
    uint32_t only = j->facts->regs[o->index].only;
    return jit_def_use_is_live_into(j->facts, j->block, o->index) ||
           (only >= block->first && only < (uint32_t)(j->insn - j->unit->f->insns.v)) ||
           (j->facts->is_one_region && jit_def_use_is_behind(j->facts, only, j->block));
}

/* The operand is a number, or the width of blocks whose shape is known. */
static bool is_number(const struct jit *j, const struct pt_operand *o, uint64_t *number)
{
    if (o->kind == PT_OPND_REG && j->facts->regs[o->index].only != UINT32_MAX) {
        const struct pt_insn *only = &j->unit->f->insns.v[j->facts->regs[o->index].only];
        if (pt_insn_form(j->unit->m, only)->op == PT_OP_mov_sreg && !only->guard)
            o = &j->unit->f->operands.v[only->operands + 1];
    }
    if (o->kind != PT_OPND_SREG)
        return jit_def_use_constant(j->facts, o, number);
    _Static_assert(PT_SREG_ntid_z == PT_SREG_ntid_x + 2, "sreg.def");
    if (o->index < PT_SREG_ntid_x || o->index > PT_SREG_ntid_z ||
        !j->facts->uniformity->shape.block[0])
        return false;
    *number = j->facts->uniformity->shape.block[o->index - PT_SREG_ntid_x];
    return true;
}

static struct slope slope_of(const struct jit *j, const struct pt_operand *o, enum pt_sreg axis,
                             unsigned depth);

static struct slope slope_sum(const struct jit *j, struct slope a, struct slope b, bool subtracts)
{
    struct slope s = {a.is_known && b.is_known, NULL, a.is_constant && b.is_constant, 0};
    if (!s.is_known || (!a.bytes && !b.bytes))
        return s;
    if (s.is_constant)
        return known(j, subtracts ? a.constant - b.constant : a.constant + b.constant);
    LLVMValueRef x = a.bytes ? a.bytes : jit_i64(j, 0), y = b.bytes ? b.bytes : jit_i64(j, 0);
    s.bytes = subtracts ? LLVMBuildSub(j->code->b, x, y, "") : LLVMBuildAdd(j->code->b, x, y, "");
    return s;
}

/* The slope of a product of which one factor is the same in all CTAs. */
static struct slope slope_product(const struct jit *j, const struct pt_operand *a,
                                  const struct pt_operand *b, enum pt_type type, enum pt_sreg axis,
                                  unsigned depth)
{
    struct slope x = slope_of(j, a, axis, depth), y = slope_of(j, b, axis, depth);
    uint64_t constant;
    if (!x.is_known || !y.is_known || (x.bytes && y.bytes))
        return (struct slope){0};
    if (!x.bytes && !y.bytes)
        return x;
    const struct pt_operand *by = x.bytes ? b : a;
    struct slope s = x.bytes ? x : y;
    if (is_number(j, by, &constant))
        return s.is_constant
                   ? known(j, s.constant * constant)
                   : (struct slope){true,
                                    LLVMBuildMul(j->code->b, s.bytes, jit_i64(j, constant), ""),
                                    false, 0};
    if (!is_at_hand(j, by))
        return (struct slope){0};
    LLVMTypeRef i64 = LLVMInt64TypeInContext(j->code->context);
    LLVMValueRef factor = jit_registers_read(j, by, 0, type, 1, false);
    factor = LLVMBuildIntCast2(j->code->b, factor, i64, pt_type_class(type) == PT_CLASS_S, "");
    return (struct slope){true, LLVMBuildMul(j->code->b, s.bytes, factor, ""), false, 0};
}

static struct slope slope_of_def(const struct jit *j, const struct pt_insn *def, enum pt_sreg axis,
                                 unsigned depth)
{
    const struct pt_operand *o = &j->unit->f->operands.v[def->operands];
    const struct pt_form *form = pt_insn_form(j->unit->m, def);
    enum pt_type type = (enum pt_type)form->type[0];
    uint64_t by;
    if (def->guard)
        return (struct slope){0};
    switch ((enum pt_op)form->op) {
    case PT_OP_add_int:
    case PT_OP_sub_int:
        return slope_sum(j, slope_of(j, &o[1], axis, depth), slope_of(j, &o[2], axis, depth),
                         form->op == PT_OP_sub_int);
    case PT_OP_mul_wide:
    case PT_OP_mul_lo:
        return slope_product(j, &o[1], &o[2], type, axis, depth);
    case PT_OP_mad_wide:
    case PT_OP_mad_lo:
        return slope_sum(j, slope_product(j, &o[1], &o[2], type, axis, depth),
                         slope_of(j, &o[3], axis, depth), false);
    case PT_OP_shl: {
        struct slope s = slope_of(j, &o[1], axis, depth);
        if (!s.bytes || !jit_def_use_constant(j->facts, &o[2], &by) || by > 31)
            return s.bytes ? (struct slope){0} : s;
        if (s.is_constant)
            return known(j, s.constant << by);
        s.bytes = LLVMBuildShl(j->code->b, s.bytes, jit_i64(j, by), "");
        return s;
    }
    case PT_OP_mov:
    case PT_OP_mov_sreg:
    case PT_OP_cvta_to:
    case PT_OP_cvt_int:
        return slope_of(j, &o[1], axis, depth);
    case PT_OP_ld: /* of a parameter, which are the same for all */
        return pt_form_space(form) == PT_SPACE_PARAM ? known(j, 0) : (struct slope){0};
    default:
        return (struct slope){0};
    }
}

/* The register's only definition, or the one before a loop that goes in strides of the grid;
 * UINT32_MAX: there is no such. */
static uint32_t first_def(const struct jit *j, uint32_t reg)
{
    const struct jit_reg *r = &j->facts->regs[reg];
    for (unsigned k = 0; r->n_defs == 2 && k < 2; k++)
        if (jit_loops_stride_grid(j->facts, &j->unit->f->insns.v[j->facts->defs[r->defs + k]]))
            return j->facts->defs[r->defs + 1 - k];
    return r->only;
}

static bool is_of_threads(const struct jit_facts *a, const struct pt_operand *o,
                          struct jit_met *met);

static bool are_operands_of_threads(const struct jit_facts *a, uint32_t at, struct jit_met *met)
{
    const struct pt_insn *insn = &a->unit->f->insns.v[at];
    if (pt_insn_form(a->unit->m, insn)->effects)
        return false;
    for (uint32_t i = 1; i < insn->n_operands; i++)
        if (!is_of_threads(a, &a->unit->f->operands.v[insn->operands + i], met))
            return false;
    return true;
}

static bool is_of_threads(const struct jit_facts *a, const struct pt_operand *o,
                          struct jit_met *met)
{
    _Static_assert(PT_SREG_ctaid_z == PT_SREG_ctaid_x + 2, "sreg.def");
    if (o->kind == PT_OPND_SREG)
        return o->index < PT_SREG_ctaid_x || o->index > PT_SREG_ctaid_z;
    return o->kind != PT_OPND_REG || jit_def_use_all(a, o->index, met, are_operands_of_threads);
}

/* What thread indexes and numbers alone make, in whatever way, the next CTA has, too. */
static struct slope slope_of(const struct jit *j, const struct pt_operand *o, enum pt_sreg axis,
                             unsigned depth)
{
    struct jit_met met = {.n = 0};
    if (o->kind == PT_OPND_SREG)
        return known(j, o->index == (uint32_t)axis);
    if (o->kind != PT_OPND_REG)
        return known(j, 0);
    uint32_t def = first_def(j, o->index);
    struct slope s = {0};
    if (def != UINT32_MAX && depth <= JIT_PREFETCH_DEPTH)
        s = slope_of_def(j, &j->unit->f->insns.v[def], axis, depth + 1);
    return s.is_known || !is_of_threads(j->facts, o, &met) ? s : known(j, 0);
}

static LLVMValueRef read_sreg(const struct jit *j, enum pt_sreg sreg)
{
    struct pt_operand o = {.kind = PT_OPND_SREG, .index = sreg};
    return jit_registers_read(j, &o, 0, PT_u32, 1, false);
}

/* How far off the CTA touches that runs JIT_PREFETCH_CTAS later: they go along x, then along y. */
static LLVMValueRef distance_ahead(const struct jit *j, struct slope x, struct slope y)
{
    LLVMTypeRef i64 = LLVMInt64TypeInContext(j->code->context);
    LLVMValueRef ahead = jit_i32(j, JIT_PREFETCH_CTAS), width = read_sreg(j, PT_SREG_nctaid_x);
    LLVMValueRef left = LLVMBuildSub(j->code->b, width, read_sreg(j, PT_SREG_ctaid_x), "");
    LLVMValueRef same_row = LLVMBuildICmp(j->code->b, LLVMIntUGT, left, ahead, "");
    LLVMValueRef zero = jit_i64(j, 0), dx = x.bytes ? x.bytes : zero, dy = y.bytes ? y.bytes : zero;
    LLVMValueRef next = LLVMBuildMul(j->code->b, dx, LLVMBuildZExt(j->code->b, width, i64, ""), "");
    next = LLVMBuildSelect(j->code->b, same_row, zero, LLVMBuildSub(j->code->b, dy, next, ""), "");
    return LLVMBuildAdd(j->code->b, LLVMBuildMul(j->code->b, dx, jit_i64(j, JIT_PREFETCH_CTAS), ""),
                        next, "");
}

/* The machine reads ahead by itself where CTAs follow one another. */
static bool is_followed(const struct jit *j, struct slope x)
{
    const uint32_t *block = j->facts->uniformity->shape.block;
    return j->unit->machine->follows_parts && block[1] == 1 && block[2] == 1 && x.is_known &&
           x.is_constant && x.constant < j->unit->machine->stream_bytes;
}

static bool are_operands_of_column(const struct jit_facts *a, uint32_t at, struct jit_met *met);

/* The same for all threads and CTAs that differ in y and z alone. */
static bool is_of_column(const struct jit_facts *a, const struct pt_operand *o, struct jit_met *met)
{
    _Static_assert(PT_SREG_nctaid_z == PT_SREG_nctaid_x + 2, "sreg.def");
    if (o->kind == PT_OPND_SREG)
        return o->index == PT_SREG_tid_x || o->index == PT_SREG_ctaid_x ||
               (o->index >= PT_SREG_ntid_x && o->index <= PT_SREG_ntid_z) ||
               (o->index >= PT_SREG_nctaid_x && o->index <= PT_SREG_nctaid_z);
    if (o->kind == PT_OPND_REG)
        return jit_def_use_all(a, o->index, met, are_operands_of_column);
    return o->kind == PT_OPND_IMM || o->kind == PT_OPND_SYM;
}

static bool are_operands_of_column(const struct jit_facts *a, uint32_t at, struct jit_met *met)
{
    const struct pt_insn *insn = &a->unit->f->insns.v[at];
    bool is_pure = jit_def_use_may_repeat(a, insn);
    if (!is_pure || (pt_insn_form(a->unit->m, insn)->effects & PT_FX_READ))
        return is_pure; /* a parameter */
    for (uint32_t i = 1; i < insn->n_operands; i++)
        if (!is_of_column(a, &a->unit->f->operands.v[insn->operands + i], met))
            return false;
    return true;
}

/* All rows of threads touch the same, so that it is at hand but for the first, and where CTAs have
 * rows, too, CTAs before have touched it: a matrix' row, in an update of rank one. */
static bool repeats_in_rows(const struct jit *j, const struct pt_operand *o)
{
    const uint32_t *block = j->facts->uniformity->shape.block;
    struct jit_met met = {.n = 0};
    return block[1] * block[2] > 1 && is_of_column(j->facts, o, &met);
}

LLVMValueRef jit_prefetch_distance_behind(const struct jit *j, uint32_t reg)
{
    struct pt_operand o = {.kind = PT_OPND_REG, .index = reg};
    struct slope x = slope_of(j, &o, PT_SREG_ctaid_x, 0), y = slope_of(j, &o, PT_SREG_ctaid_y, 0);
    if (is_followed(j, x) || repeats_in_rows(j, &o))
        return NULL;
    return x.is_known && y.is_known ? distance_ahead(j, x, y) : jit_i64(j, JIT_PREFETCH_BEHIND);
}

LLVMValueRef jit_prefetch_distance_of_tile(const struct jit *j, uint32_t reg)
{
    struct pt_operand o = {.kind = PT_OPND_REG, .index = reg};
    struct slope x = slope_of(j, &o, PT_SREG_ctaid_x, 0), y = slope_of(j, &o, PT_SREG_ctaid_y, 0);
    return x.bytes && y.is_known && !is_followed(j, x) ? distance_ahead(j, x, y) : NULL;
}

LLVMValueRef jit_prefetch_distance_of_turns(const struct jit *j, uint32_t reg, bool *follows)
{
    struct pt_operand o = {.kind = PT_OPND_REG, .index = reg};
    struct slope x = slope_of(j, &o, PT_SREG_ctaid_x, 0);
    *follows = x.bytes && is_followed(j, x);
    return x.bytes;
}
