/* PTX registers as LLVM values: storage, reads and writes, as scalar, affine value or vector. */
#include "backend/jit/value/registers.h"

#include <string.h>

#include "backend/jit/analysis/def_use.h"
#include "backend/jit/jit.h"
#include "backend/jit/llvm/build.h"
#include "backend/jit/value/evaluate.h"
#include "backend/jit/value/lane_offsets.h"
#include "backend/jit/value/special_registers.h"
#include "backend/jit/value/symbol.h"
#include "ir/bits.h"

/* ---- masks ----------------------------------------------------------------------------------- */

LLVMValueRef jit_registers_read_flow(const struct jit *j, const struct pt_operand *o, unsigned copy)
{
    const struct jit_reg *r = &j->facts->regs[o->index];
    if (r->shape != JIT_VECTOR)
        return jit_flow_of(j, jit_registers_read(j, o, copy, PT_pred, j->unit->width, true));
    LLVMValueRef flow = jit_flow_load(j, r->slot[copy]);
    return o->flags & PT_OPND_NEG ? LLVMBuildNot(j->code->b, flow, "") : flow;
}

/* ---- registers ------------------------------------------------------------------------------- */

static LLVMTypeRef reg_type(const struct jit *j, enum pt_type type)
{
    if (type == PT_f32)
        return LLVMFloatTypeInContext(j->code->context);
    if (type == PT_f64)
        return LLVMDoubleTypeInContext(j->code->context);
    return LLVMIntTypeInContext(j->code->context, pt_type_bits(type));
}

static LLVMTypeRef slot_type(const struct jit *j, const struct jit_reg *r)
{
    if (r->shape != JIT_VECTOR)
        return r->type;
    if (r->type == LLVMInt1TypeInContext(j->code->context))
        return jit_flow_type(j);
    return LLVMVectorType(r->type, j->unit->width);
}

static void make_reg(const struct jit *j, uint32_t index, enum pt_type type)
{
    struct jit_reg *r = &j->facts->regs[index];
    r->type = reg_type(j, type);
    for (unsigned u = 0; u < j->facts->copies; u++) {
        if (r->may_wrap)
            r->wide[u] = jit_alloca(j, LLVMVectorType(r->type, j->unit->width), "");
        if (u && !r->is_per_copy)
            continue;
        r->slot[u] = jit_alloca(j, slot_type(j, r), "");
        if (r->may_wrap)
            r->fits[u] = jit_alloca(j, LLVMInt1TypeInContext(j->code->context), "");
    }
}

void jit_registers_init(const struct jit *j)
{
    for (uint32_t i = 1; i < j->unit->f->regs.n; i++)
        make_reg(j, i, (enum pt_type)j->unit->f->regs.v[i].type);
    make_reg(j, j->unit->f->regs.n, PT_pred); /* CC.CF */
}

/* ---- reading --------------------------------------------------------------------------------- */

/* The bits of a constant as the PTX type has them. */
static LLVMValueRef constant(const struct jit *j, const struct pt_operand *o, enum pt_type type)
{
    uint64_t bits = (uint64_t)o->imm;
    double wide;
    float narrow;
    if (o->type == PT_f64 && pt_type_bits(type) == 32) {
        memcpy(&wide, &bits, sizeof wide);
        narrow = (float)wide;
        uint32_t low;
        memcpy(&low, &narrow, sizeof low);
        bits = low;
    } else if (o->type == PT_f32 && pt_type_bits(type) == 64) {
        memcpy(&narrow, &bits, sizeof narrow);
        wide = narrow;
        memcpy(&bits, &wide, sizeof bits);
    }
    if (type == PT_pred)
        return LLVMConstInt(LLVMInt1TypeInContext(j->code->context), bits != 0, false);
    LLVMTypeRef integer = LLVMIntTypeInContext(j->code->context, pt_type_bits(type));
    LLVMValueRef value = LLVMConstInt(integer, bits, true);
    return LLVMConstBitCast(value, jit_type(j, type, 1));
}

/* From a register's or integer type to what the slot has: narrowed or zero-extended bits. */
static LLVMValueRef fit(const struct jit *j, LLVMValueRef value, enum pt_type type, unsigned lanes)
{
    LLVMTypeRef want = jit_type(j, type, lanes), has = LLVMTypeOf(value);
    if (has == want)
        return value;
    unsigned bits = pt_type_bits(type);
    LLVMTypeRef element = lanes > 1 ? LLVMGetElementType(has) : has;
    if (element == LLVMFloatTypeInContext(j->code->context))
        value = LLVMBuildBitCast(j->code->b, value, jit_int_type(j, 32, lanes), "");
    else if (element == LLVMDoubleTypeInContext(j->code->context))
        value = LLVMBuildBitCast(j->code->b, value, jit_int_type(j, 64, lanes), "");
    value = LLVMBuildIntCast2(j->code->b, value, jit_int_type(j, bits, lanes), false, "");
    return LLVMBuildBitCast(j->code->b, value, want, "");
}

static LLVMValueRef read_reg(const struct jit *j, uint32_t index, unsigned copy, unsigned lanes)
{
    const struct jit_reg *r = &j->facts->regs[index];
    unsigned u = r->is_per_copy ? copy : 0;
    if (r->shape == JIT_VECTOR && r->type == LLVMInt1TypeInContext(j->code->context))
        return jit_mask_load(j, r->slot[u]);
    if (lanes > 1 && r->wide[copy]) {
        LLVMTypeRef type = LLVMVectorType(r->type, j->unit->width);
        LLVMValueRef lanes_of = jit_evaluate_wide_again(j, index, copy);
        return lanes_of ? lanes_of : LLVMBuildLoad2(j->code->b, type, r->wide[copy], "");
    }
    struct pt_operand o = {.kind = PT_OPND_REG, .index = index};
    LLVMValueRef origin, offsets;
    if (lanes > 1 && jit_lane_offsets_find(j, &o, copy, &origin, &offsets))
        return LLVMBuildAdd(j->code->b, jit_splat(j, origin), offsets, "");
    LLVMValueRef value = LLVMBuildLoad2(j->code->b, slot_type(j, r), r->slot[u], "");
    if (r->shape == JIT_AFFINE && copy && !r->is_per_copy) {
        int64_t offset =
            j->facts->uniformity->regs[index].stride * (int64_t)(copy * j->unit->width);
        value = LLVMBuildAdd(j->code->b, value, LLVMConstInt(r->type, (uint64_t)offset, true), "");
    }
    if (lanes == 1 || r->shape == JIT_VECTOR)
        return value;
    value = jit_splat(j, value);
    if (r->shape == JIT_AFFINE)
        value = LLVMBuildAdd(j->code->b, value,
                             jit_steps(j, r->type, j->facts->uniformity->regs[index].stride), "");
    return value;
}

LLVMValueRef jit_registers_read(const struct jit *j, const struct pt_operand *o, unsigned copy,
                                enum pt_type type, unsigned lanes, bool number)
{
    LLVMValueRef value;
    switch (o->kind) {
    case PT_OPND_REG:
        value = read_reg(j, o->index, copy, lanes);
        if (j->facts->regs[o->index].is_noncanonical && !j->facts->regs[o->index].is_finite &&
            !number)
            value = jit_canonical(j, value);
        break;
    case PT_OPND_IMM:
        value = constant(j, o, type);
        return lanes > 1 ? jit_splat(j, value) : value;
    case PT_OPND_SREG:
        value = jit_special_registers_read(j, (enum pt_sreg)o->index, copy, lanes);
        break;
    default:
        value = jit_spread(j, jit_symbol_address(j, o), lanes);
        break;
    }
    value = fit(j, value, type, lanes);
    if (o->kind == PT_OPND_REG && type == PT_pred && (o->flags & PT_OPND_NEG))
        value = LLVMBuildNot(j->code->b, value, "");
    return value;
}

LLVMValueRef jit_registers_read_place(const struct jit *j, const struct pt_operand *o,
                                      enum pt_type type, unsigned lanes)
{
    LLVMValueRef place = jit_symbol_constant_place(j, o);
    return place ? fit(j, jit_spread(j, place, lanes), type, lanes)
                 : jit_registers_read(j, o, 0, type, lanes, false);
}

LLVMValueRef jit_registers_fit(const struct jit *j, const struct pt_operand *o, unsigned copy)
{
    if (o->kind != PT_OPND_REG || !j->facts->regs[o->index].fits[0])
        return NULL;
    const struct jit_reg *r = &j->facts->regs[o->index];
    return LLVMBuildLoad2(j->code->b, LLVMInt1TypeInContext(j->code->context),
                          r->fits[r->is_per_copy ? copy : 0], "");
}

/* ---- writing --------------------------------------------------------------------------------- */

/* To the register's type: narrower values are extended, narrow bits of floats put in place. */
static LLVMValueRef to_reg(const struct jit *j, const struct jit_reg *r, LLVMValueRef value,
                           unsigned lanes, bool extends_sign)
{
    LLVMTypeRef want = lanes > 1 ? LLVMVectorType(r->type, lanes) : r->type;
    LLVMTypeRef has = LLVMTypeOf(value);
    if (has == want)
        return value;
    LLVMTypeRef element = lanes > 1 ? LLVMGetElementType(has) : has;
    if (element == LLVMFloatTypeInContext(j->code->context))
        value = LLVMBuildBitCast(j->code->b, value, jit_int_type(j, 32, lanes), "");
    else if (element == LLVMDoubleTypeInContext(j->code->context))
        value = LLVMBuildBitCast(j->code->b, value, jit_int_type(j, 64, lanes), "");
    unsigned bits = r->type == LLVMFloatTypeInContext(j->code->context) ? 32
                    : r->type == LLVMDoubleTypeInContext(j->code->context)
                        ? 64
                        : LLVMGetIntTypeWidth(r->type);
    if (bits > 64 && extends_sign && LLVMGetIntTypeWidth(element) < 64) {
        value = LLVMBuildIntCast2(j->code->b, value, jit_int_type(j, 64, lanes), true, "");
        extends_sign = false; /* see load_vector (backend/interp/load_store.c) */
    }
    value = LLVMBuildIntCast2(j->code->b, value, jit_int_type(j, bits, lanes), extends_sign, "");
    return LLVMBuildBitCast(j->code->b, value, want, "");
}

/* The predicate is read behind j->block, or behind the version of it that is being generated. */
static bool leaves_block(const struct jit *j, uint32_t reg)
{
    const struct pt_block *block = &j->unit->f->blocks.v[j->block];
    size_t words = pt_bit_words(j->unit->f->regs.n);
    if (j->is_version && j->unit->f->insns.v[block->first + block->count - 1].guard == reg)
        return true;
    for (uint32_t e = 0; e < block->n_succ; e++) {
        uint32_t to = j->unit->f->edges.v[block->succ + e];
        if (j->facts->live_in[to * words + reg / 64] >> (reg & 63) & 1)
            return true;
    }
    return false;
}

static void write_vector(const struct jit *j, uint32_t reg, unsigned copy, LLVMValueRef value)
{
    const struct jit_reg *r = &j->facts->regs[reg];
    bool is_mask = r->type == LLVMInt1TypeInContext(j->code->context);
    LLVMTypeRef type = slot_type(j, r);
    if (j->mask[copy] && jit_def_use_keeps_old(j->facts, j->insn, j->block, reg)) {
        LLVMValueRef old = is_mask ? jit_mask_load(j, r->slot[copy])
                                   : LLVMBuildLoad2(j->code->b, type, r->slot[copy], "");
        value = LLVMBuildSelect(j->code->b, j->mask[copy], value, old, "");
    }
    if (is_mask && leaves_block(j, reg))
        LLVMBuildStore(j->code->b, jit_flow_of(j, value), r->slot[copy]);
    else if (is_mask)
        jit_mask_store(j, r->slot[copy], value);
    else
        LLVMBuildStore(j->code->b, value, r->slot[copy]);
}

void jit_registers_write(const struct jit *j, const struct pt_operand *o, unsigned copy,
                         LLVMValueRef value, unsigned lanes, bool extends_sign)
{
    if (o->kind != PT_OPND_REG)
        return;
    const struct jit_reg *r = &j->facts->regs[o->index];
    value = to_reg(j, r, value, lanes, extends_sign);
    if (r->shape == JIT_VECTOR) {
        write_vector(j, o->index, copy, lanes > 1 ? value : jit_splat(j, value));
        return;
    }
    unsigned u = r->is_per_copy ? copy : 0;
    if (j->guard && jit_def_use_has_old(j->facts, j->block, o->index)) {
        LLVMValueRef old = LLVMBuildLoad2(j->code->b, r->type, r->slot[u], "");
        value = LLVMBuildSelect(j->code->b, j->guard, value, old, "");
    }
    LLVMBuildStore(j->code->b, value, r->slot[u]);
}
