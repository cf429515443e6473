/* Integers whose lanes differ by the same offsets in all chunks, though by no fixed stride: what
 * comes from t & (d - 1), t ^ d and the like, where t is a thread's index and d is one of the CTA's
 * values. Such a register is kept a second time as an origin for each chunk and offsets of its
 * lanes. They change with d alone: LLVM takes what is asked of them out of the loop over chunks.
 */
#include "backend/jit/value/lane_offsets.h"

#include <string.h>

#include "backend/jit/analysis/address_form.h"
#include "backend/jit/analysis/def_use.h"
#include "backend/jit/jit.h"
#include "backend/jit/llvm/build.h"
#include "backend/jit/value/registers.h"

struct parts {
    LLVMValueRef origin, offsets; /* a scalar, a vector */
};

/* Lanes of an operand; false if they are not at hand so, or no integers (mov.f32 moves those, too).
 * `align`: the origin is a multiple of 1 << align, and all offsets are below that. */
static bool read_parts(const struct jit *j, const struct pt_operand *o, unsigned copy,
                       enum pt_type type, struct parts *parts, unsigned *align)
{
    int64_t stride;
    enum jit_shape shape = jit_def_use_shape(j->facts, o, &stride);
    *align = 0;
    if (LLVMGetTypeKind(jit_type(j, type, 1)) != LLVMIntegerTypeKind)
        return false;
    if (o->kind == PT_OPND_REG && (shape == JIT_VECTOR || j->facts->regs[o->index].fits[0]))
        return jit_lane_offsets_find(j, o, copy, &parts->origin, &parts->offsets) &&
               LLVMTypeOf(parts->origin) == jit_type(j, type, 1);
    if (shape == JIT_VECTOR)
        return false;
    parts->origin = jit_registers_read(j, o, copy, type, 1, false);
    LLVMTypeRef scalar = LLVMTypeOf(parts->origin);
    parts->offsets = jit_steps(j, scalar, stride);
    if (shape != JIT_AFFINE)
        return true;
    struct pt_value v = jit_address_form_value(j->facts, o);
    bool is_below = stride > 0 && (uint64_t)stride * (j->unit->width - 1) < UINT64_C(1)
                                                                                << v.align_log2;
    *align = is_below ? v.align_log2 : 0;
    return true;
}

/* a op b, part by part. */
static struct parts each(const struct jit *j, LLVMOpcode op, struct parts a, struct parts b)
{
    return (struct parts){LLVMBuildBinOp(j->code->b, op, a.origin, b.origin, ""),
                          LLVMBuildBinOp(j->code->b, op, a.offsets, b.offsets, "")};
}

/* a op b where op distributes over sums and all lanes have the same b. */
static struct parts scaled(const struct jit *j, LLVMOpcode op, struct parts a, LLVMValueRef b)
{
    return each(j, op, a, (struct parts){b, jit_splat(j, b)});
}

/* A bit operation on an aligned value and one that all lanes share: the origin's bits and the
 * offsets' do not meet. */
static struct parts mixed(const struct jit *j, LLVMOpcode op, struct parts a, unsigned align,
                          LLVMValueRef b)
{
    LLVMTypeRef type = LLVMTypeOf(b);
    const struct pt_operand *mixer = j->low ? jit_address_form_mixer(j->facts, j->insn) : NULL;
    bool is_known = mixer && mixer->index == j->mixer;
    uint64_t below = is_known ? j->unit->width - 1 : (UINT64_C(1) << align) - 1;
    LLVMValueRef low = is_known ? LLVMConstInt(type, *j->low, false)
                                : LLVMBuildAnd(j->code->b, b, LLVMConstInt(type, below, false), "");
    LLVMValueRef high = LLVMBuildAnd(j->code->b, b, LLVMConstInt(type, ~below, false), "");
    return each(j, op, a, (struct parts){high, jit_splat(j, low)});
}

static bool is_scalar(const struct jit *j, const struct pt_operand *o)
{
    int64_t stride;
    return jit_def_use_shape(j->facts, o, &stride) == JIT_SCALAR;
}

/* The result of j->insn, of two sources of its type. */
static bool combine(const struct jit *j, const struct pt_operand *o, unsigned copy, struct parts *d)
{
    enum pt_type type = (enum pt_type)j->form->type[0];
    enum pt_op op = (enum pt_op)j->form->op;
    bool swaps = is_scalar(j, &o[1]) && op != PT_OP_sub_int;
    struct parts a, b;
    unsigned align, of_b;
    if (!read_parts(j, &o[swaps ? 2 : 1], copy, type, &a, &align) ||
        !read_parts(j, &o[swaps ? 1 : 2], copy, type, &b, &of_b))
        return false;
    bool has_scalar = is_scalar(j, &o[swaps ? 1 : 2]);
    switch (op) {
    case PT_OP_add_int:
    case PT_OP_sub_int:
        *d = each(j, op == PT_OP_add_int ? LLVMAdd : LLVMSub, a, b);
        return true;
    case PT_OP_mul_lo:
    case PT_OP_mad_lo:
        *d = scaled(j, LLVMMul, a, b.origin);
        return has_scalar;
    case PT_OP_and_b:
        *d = mixed(j, LLVMAnd, a, align, b.origin);
        return has_scalar && align;
    case PT_OP_or_b:
        *d = mixed(j, LLVMOr, a, align, b.origin);
        return has_scalar && align;
    default: /* xor */
        *d = mixed(j, LLVMXor, a, align, b.origin);
        return has_scalar && align;
    }
}

static bool compute(const struct jit *j, unsigned copy, struct parts *d)
{
    const struct pt_operand *o = &j->unit->f->operands.v[j->insn->operands];
    enum pt_type type = (enum pt_type)j->form->type[0];
    unsigned align;
    uint64_t by;
    struct parts c;
    switch ((enum pt_op)j->form->op) {
    case PT_OP_mov:
        return read_parts(j, &o[1], copy, type, d, &align);
    case PT_OP_shl:
        if (!jit_def_use_constant(j->facts, &o[2], &by) || by >= pt_type_bits(type) ||
            !read_parts(j, &o[1], copy, type, d, &align))
            return false;
        *d = scaled(j, LLVMShl, *d, LLVMConstInt(LLVMTypeOf(d->origin), by, false));
        return true;
    case PT_OP_mad_lo:
        if (!combine(j, o, copy, d) || !read_parts(j, &o[3], copy, type, &c, &align))
            return false;
        *d = each(j, LLVMAdd, *d, c);
        return true;
    default:
        return jit_address_form_combines((enum pt_op)j->form->op) && combine(j, o, copy, d);
    }
}

void jit_lane_offsets_note(const struct jit *j, unsigned copy)
{
    const struct pt_operand *d = &j->unit->f->operands.v[j->insn->operands];
    struct parts parts;
    if (!jit_address_form_fits(j->facts, j->insn, j->block, d) || !compute(j, copy, &parts))
        return;
    struct jit_reg *r = &j->facts->regs[d->index];
    if (!r->origin[copy]) {
        r->origin[copy] = jit_alloca(j, LLVMTypeOf(parts.origin), "origin");
        r->offsets[copy] = jit_alloca(j, LLVMTypeOf(parts.offsets), "offsets");
    }
    r->known[copy] = LLVMIsConstant(parts.offsets) ? parts.offsets : NULL;
    LLVMBuildStore(j->code->b, parts.origin, r->origin[copy]);
    LLVMBuildStore(j->code->b, parts.offsets, r->offsets[copy]);
}

void jit_lane_offsets_forget(const struct jit *j)
{
    for (uint32_t i = 1; i < j->unit->f->regs.n; i++) {
        memset(j->facts->regs[i].origin, 0, sizeof j->facts->regs[i].origin);
        memset(j->facts->regs[i].known, 0, sizeof j->facts->regs[i].known);
    }
}

LLVMValueRef jit_lane_offsets_known(const struct jit *j, const struct pt_operand *o, unsigned copy)
{
    bool is_kept = o->kind == PT_OPND_REG && j->facts->regs[o->index].origin[copy];
    return is_kept ? j->facts->regs[o->index].known[copy] : NULL;
}

bool jit_lane_offsets_find(const struct jit *j, const struct pt_operand *o, unsigned copy,
                           LLVMValueRef *origin, LLVMValueRef *offsets)
{
    if (o->kind != PT_OPND_REG || !j->facts->regs[o->index].origin[copy])
        return false;
    const struct jit_reg *r = &j->facts->regs[o->index];
    *origin = LLVMBuildLoad2(j->code->b, r->type, r->origin[copy], "");
    *offsets = r->known[copy] ? r->known[copy]
                              : LLVMBuildLoad2(j->code->b, LLVMVectorType(r->type, j->unit->width),
                                               r->offsets[copy], "");
    return true;
}
