/* Registers in native code. */
#include "backend/jit/value/registers.h"

#include <stdio.h>
#include <string.h>

#include "backend/jit/analysis/def_use.h"
#include "backend/jit/analysis/nan.h"
#include "backend/jit/jit.h"
#include "backend/jit/llvm/build.h"
#include "backend/jit/llvm/check.h"
#include "backend/jit/object/object.h"
#include "backend/jit/value/lane_offsets.h"
#include "backend/jit/value/predicate_bounds.h"
#include "backend/jit/value/pure_op.h"

/* ---- masks ----------------------------------------------------------------------------------- */

LLVMValueRef jit_registers_read_flow(struct jit *j, const struct pt_operand *o, unsigned copy)
{
    const struct jit_reg *r = &j->regs[o->index];
    if (r->shape != JIT_VECTOR)
        return jit_flow_of(j, jit_registers_read(j, o, copy, PT_pred, j->width, true));
    LLVMValueRef flow = jit_flow_load(j, r->slot[copy]);
    return o->flags & PT_OPND_NEG ? LLVMBuildNot(j->b, flow, "") : flow;
}

/* ---- registers ------------------------------------------------------------------------------- */

static LLVMTypeRef reg_type(struct jit *j, enum pt_type type)
{
    if (type == PT_f32)
        return LLVMFloatTypeInContext(j->context);
    if (type == PT_f64)
        return LLVMDoubleTypeInContext(j->context);
    return LLVMIntTypeInContext(j->context, pt_type_bits(type));
}

static LLVMTypeRef slot_type(struct jit *j, const struct jit_reg *r)
{
    if (r->shape != JIT_VECTOR)
        return r->type;
    if (r->type == LLVMInt1TypeInContext(j->context))
        return jit_flow_type(j);
    return LLVMVectorType(r->type, j->width);
}

static void make_reg(struct jit *j, uint32_t index, enum pt_type type)
{
    struct jit_reg *r = &j->regs[index];
    const struct pt_value *v = &j->vary->regs[index];
    r->type = reg_type(j, type);
    r->shape = v->level < PT_LEVEL_LANE ? JIT_SCALAR : v->is_affine ? JIT_AFFINE : JIT_VECTOR;
    r->is_per_copy = v->level >= PT_LEVEL_CHUNK && !(r->shape == JIT_AFFINE && v->spans_group);
    bool may_wrap = r->shape == JIT_AFFINE && v->may_wrap;
    for (unsigned u = 0; u < j->copies; u++) {
        if (may_wrap)
            r->wide[u] = jit_alloca(j, LLVMVectorType(r->type, j->width), "");
        if (u && !r->is_per_copy)
            continue;
        r->slot[u] = jit_alloca(j, slot_type(j, r), "");
        if (may_wrap)
            r->fits[u] = jit_alloca(j, LLVMInt1TypeInContext(j->context), "");
    }
}

void jit_registers_init(struct jit *j)
{
    jit_nan_find(j);
    for (uint32_t i = 1; i < j->f->regs.n; i++)
        make_reg(j, i, (enum pt_type)j->f->regs.v[i].type);
    make_reg(j, j->f->regs.n, PT_pred); /* CC.CF */
    jit_predicate_bounds_find(j);
}

/* ---- special registers ----------------------------------------------------------------------- */

/* Linear index of the first thread of a chunk. */
static LLVMValueRef first_thread(struct jit *j, unsigned copy)
{
    LLVMValueRef g = LLVMBuildMul(j->b, j->group, jit_i32(j, j->width * j->copies), "");
    return LLVMBuildAdd(j->b, g, jit_i32(j, copy * j->width), "");
}

/* A field that stays as it is while native code runs. */
static LLVMValueRef fixed_field(struct jit *j, LLVMValueRef pointer, size_t offset)
{
    LLVMValueRef value = jit_field(j, LLVMInt32TypeInContext(j->context), pointer, offset);
    jit_set_invariant(j, value);
    return value;
}

static LLVMValueRef block_dim(struct jit *j, unsigned d)
{
    if (j->vary->shape.block[0])
        return jit_i32(j, j->vary->shape.block[d]);
    return fixed_field(j, j->launch, offsetof(struct pt_launch, block) + d * sizeof(uint32_t));
}

static LLVMValueRef spread(struct jit *j, LLVMValueRef scalar, unsigned lanes)
{
    return lanes > 1 ? jit_splat(j, scalar) : scalar;
}

/* Blocks have a thread in each dimension. */
static LLVMValueRef of_dim(struct jit *j, LLVMValueRef quotient)
{
    return jit_check_proven(j, quotient, "divisor");
}

/* %tid, %laneid …: from the linear index, in all lanes or in lane 0. */
static LLVMValueRef of_thread(struct jit *j, enum pt_sreg sreg, unsigned copy, unsigned lanes)
{
    LLVMTypeRef i32 = LLVMInt32TypeInContext(j->context);
    LLVMValueRef t = spread(j, first_thread(j, copy), lanes);
    if (lanes > 1)
        t = LLVMBuildAdd(j->b, t, jit_steps(j, i32, 1), "");
    const uint32_t *block = j->vary->shape.block;
    bool is_line = block[0] && block[1] == 1 && block[2] == 1;
    LLVMValueRef x = spread(j, block_dim(j, 0), lanes), y = spread(j, block_dim(j, 1), lanes);
    switch (sreg) {
    case PT_SREG_tid_x:
        return is_line ? t : of_dim(j, LLVMBuildURem(j->b, t, x, ""));
    case PT_SREG_tid_y:
        return is_line ? LLVMConstNull(LLVMTypeOf(t))
                       : of_dim(j, LLVMBuildURem(j->b, of_dim(j, LLVMBuildUDiv(j->b, t, x, "")), y, ""));
    case PT_SREG_tid_z:
        return is_line ? LLVMConstNull(LLVMTypeOf(t))
                       : of_dim(j, LLVMBuildUDiv(j->b, of_dim(j, LLVMBuildUDiv(j->b, t, x, "")), y, ""));
    case PT_SREG_laneid:
        return LLVMBuildAnd(j->b, t, spread(j, jit_i32(j, PT_WARP_SIZE - 1), lanes), "");
    default: /* %warpid */
        return LLVMBuildLShr(j->b, t, spread(j, jit_i32(j, 5), lanes), "");
    }
}

/* %lanemask_eq and its kind: bits of a warp. */
static LLVMValueRef lane_mask(struct jit *j, enum pt_sreg sreg, unsigned copy, unsigned lanes)
{
    LLVMValueRef lane = of_thread(j, PT_SREG_laneid, copy, lanes), all, above;
    LLVMTypeRef type = LLVMTypeOf(lane);
    all = LLVMBuildShl(j->b, LLVMConstAllOnes(type), lane, "");         /* ge */
    above = LLVMBuildShl(j->b, jit_const(type, UINT32_MAX - 1), lane, ""); /* gt */
    jit_check_proven(j, all, "amount"); /* a lane of a warp: below 32 */
    jit_check_proven(j, above, "amount");
    switch (sreg) {
    case PT_SREG_lanemask_ge:
        return all;
    case PT_SREG_lanemask_gt:
        return above;
    case PT_SREG_lanemask_lt:
        return LLVMBuildNot(j->b, all, "");
    case PT_SREG_lanemask_le:
        return LLVMBuildNot(j->b, above, "");
    default:
        return LLVMBuildXor(j->b, all, above, "");
    }
}

static bool is_clock(enum pt_sreg sreg)
{
    return (sreg >= PT_SREG_clock && sreg <= PT_SREG_globaltimer_hi) || sreg == PT_SREG_clock64 ||
           sreg == PT_SREG_globaltimer;
}

/* Those that are rarely read: by a call. But for clocks they stay as they are while a CTA runs, of which the call is told. */
static LLVMValueRef of_cta(struct jit *j, enum pt_sreg sreg)
{
    LLVMTypeRef i64 = LLVMInt64TypeInContext(j->context), i32 = LLVMInt32TypeInContext(j->context);
    LLVMTypeRef types[] = {LLVMPointerTypeInContext(j->context, 0), i32, i32};
    LLVMValueRef args[] = {j->cta, jit_i32(j, sreg), j->id[0]};
    LLVMValueRef value = jit_help(j, "jit_help_sreg", LLVMFunctionType(i64, types, 3, false), args);
    if (!is_clock(sreg))
        jit_set_pure(j, value);
    unsigned bits = pt_type_bits(pt_sreg_type(sreg));
    return LLVMBuildTrunc(j->b, value, LLVMIntTypeInContext(j->context, bits), "");
}

static LLVMValueRef sreg_value(struct jit *j, enum pt_sreg sreg, unsigned copy, unsigned lanes)
{
    switch (sreg) {
    case PT_SREG_tid_x:
    case PT_SREG_tid_y:
    case PT_SREG_tid_z:
    case PT_SREG_laneid:
    case PT_SREG_warpid:
        return of_thread(j, sreg, copy, lanes);
    case PT_SREG_ntid_x:
    case PT_SREG_ntid_y:
    case PT_SREG_ntid_z:
        return spread(j, block_dim(j, (unsigned)(sreg - PT_SREG_ntid_x)), lanes);
    case PT_SREG_ctaid_x:
    case PT_SREG_ctaid_y:
    case PT_SREG_ctaid_z:
        return spread(j, j->id[sreg - PT_SREG_ctaid_x], lanes);
    case PT_SREG_nctaid_x:
    case PT_SREG_nctaid_y:
    case PT_SREG_nctaid_z:
        return spread(j,
                      fixed_field(j, j->launch,
                                  offsetof(struct pt_launch, grid) +
                                      (size_t)(sreg - PT_SREG_nctaid_x) * sizeof(uint32_t)),
                      lanes);
    case PT_SREG_lanemask_eq:
    case PT_SREG_lanemask_le:
    case PT_SREG_lanemask_lt:
    case PT_SREG_lanemask_ge:
    case PT_SREG_lanemask_gt:
        return lane_mask(j, sreg, copy, lanes);
    default:
        return spread(j, of_cta(j, sreg), lanes);
    }
}

/* ---- reading --------------------------------------------------------------------------------- */

/* The bits of a constant as the PTX type has them. */
static LLVMValueRef constant(struct jit *j, const struct pt_operand *o, enum pt_type type)
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
        return LLVMConstInt(LLVMInt1TypeInContext(j->context), bits != 0, false);
    LLVMTypeRef integer = LLVMIntTypeInContext(j->context, pt_type_bits(type));
    LLVMValueRef value = LLVMConstInt(integer, bits, true);
    return LLVMConstBitCast(value, jit_type(j, type, 1));
}

/* An address as an integer: that of the variable where the loader puts it. */
static LLVMValueRef named(struct jit *j, const char *prefix, uint32_t index, uint64_t offset)
{
    char name[32];
    snprintf(name, sizeof name, "%s%u", prefix, index);
    LLVMValueRef global = LLVMGetNamedGlobal(j->module, name);
    if (!global)
        global = LLVMAddGlobal(j->module, LLVMInt8TypeInContext(j->context), name);
    LLVMValueRef at = LLVMConstPtrToInt(global, LLVMInt64TypeInContext(j->context));
    return LLVMBuildAdd(j->b, at, jit_i64(j, offset), "");
}

/* The shared address of an offset in the CTA's window, which of a cluster's CTAs is not the first alone. */
static LLVMValueRef in_window(struct jit *j, uint64_t offset)
{
    LLVMTypeRef i32 = LLVMInt32TypeInContext(j->context), i64 = LLVMInt64TypeInContext(j->context);
    if (!j->options->has_cluster)
        return jit_i64(j, offset);
    LLVMValueRef window = jit_field(j, i32, j->cta, offsetof(struct pt_cta, window));
    return LLVMBuildAdd(j->b, LLVMBuildZExt(j->b, window, i64, ""), jit_i64(j, offset), "");
}

LLVMValueRef jit_registers_window(struct jit *j, enum pt_space space)
{
    if (space == PT_SPACE_PARAM)
        return LLVMBuildPtrToInt(j->b, j->params, LLVMInt64TypeInContext(j->context), "");
    uint32_t first = pt_first_constant(j->m);
    return first == PT_NONE ? jit_i64(j, 0)
                            : named(j, JIT_SYMBOL, first, 0 - j->m->symbols.v[first].offset);
}

/* What a named variable or function is as a value: for variables, the address in their space. */
static LLVMValueRef address(struct jit *j, const struct pt_operand *o)
{
    if (o->kind == PT_OPND_FUNC)
        return named(j, JIT_FUNC, o->index, 0);
    const struct pt_symbol *s = &j->m->symbols.v[o->index];
    LLVMTypeRef i64 = LLVMInt64TypeInContext(j->context);
    uint64_t offset = (uint64_t)o->imm;
    switch ((enum pt_space)s->space) {
    case PT_SPACE_SHARED:
        offset += j->snapshot->shared[o->index];
        if (o->flags & PT_OPND_GENERIC)
            return LLVMBuildAdd(j->b, LLVMBuildPtrToInt(j->b, j->shared, i64, ""),
                                in_window(j, offset), "");
        return in_window(j, offset);
    case PT_SPACE_LOCAL: /* an offset in the thread's window */
        return jit_i64(j, s->offset + offset);
    case PT_SPACE_PARAM: /* of the kernel */
    case PT_SPACE_CONST:
        if (o->flags & PT_OPND_GENERIC)
            return LLVMBuildAdd(j->b, jit_registers_window(j, (enum pt_space)s->space),
                                jit_i64(j, s->offset + offset), "");
        return jit_i64(j, s->offset + offset);
    default:
        return named(j, JIT_SYMBOL, o->index, offset);
    }
}

/* From a register's or integer type to what the slot has: narrowed or zero-extended bits. */
static LLVMValueRef fit(struct jit *j, LLVMValueRef value, enum pt_type type, unsigned lanes)
{
    LLVMTypeRef want = jit_type(j, type, lanes), has = LLVMTypeOf(value);
    if (has == want)
        return value;
    unsigned bits = pt_type_bits(type);
    LLVMTypeRef element = lanes > 1 ? LLVMGetElementType(has) : has;
    if (element == LLVMFloatTypeInContext(j->context))
        value = LLVMBuildBitCast(j->b, value, jit_int_type(j, 32, lanes), "");
    else if (element == LLVMDoubleTypeInContext(j->context))
        value = LLVMBuildBitCast(j->b, value, jit_int_type(j, 64, lanes), "");
    value = LLVMBuildIntCast2(j->b, value, jit_int_type(j, bits, lanes), false, "");
    return LLVMBuildBitCast(j->b, value, want, "");
}

static LLVMValueRef read_reg(struct jit *j, uint32_t index, unsigned copy, unsigned lanes)
{
    const struct jit_reg *r = &j->regs[index];
    unsigned u = r->is_per_copy ? copy : 0;
    if (r->shape == JIT_VECTOR && r->type == LLVMInt1TypeInContext(j->context))
        return jit_mask_load(j, r->slot[u]);
    if (lanes > 1 && r->wide[copy]) {
        LLVMTypeRef type = LLVMVectorType(r->type, j->width);
        LLVMValueRef lanes_of = jit_pure_op_remat_wide(j, index, copy);
        return lanes_of ? lanes_of : LLVMBuildLoad2(j->b, type, r->wide[copy], "");
    }
    struct pt_operand o = {.kind = PT_OPND_REG, .index = index};
    LLVMValueRef origin, offsets;
    if (lanes > 1 && jit_lane_offsets_find(j, &o, copy, &origin, &offsets))
        return LLVMBuildAdd(j->b, jit_splat(j, origin), offsets, "");
    LLVMValueRef value = LLVMBuildLoad2(j->b, slot_type(j, r), r->slot[u], "");
    if (r->shape == JIT_AFFINE && copy && !r->is_per_copy) {
        int64_t offset = j->vary->regs[index].stride * (int64_t)(copy * j->width);
        value = LLVMBuildAdd(j->b, value, LLVMConstInt(r->type, (uint64_t)offset, true), "");
    }
    if (lanes == 1 || r->shape == JIT_VECTOR)
        return value;
    value = jit_splat(j, value);
    if (r->shape == JIT_AFFINE)
        value = LLVMBuildAdd(j->b, value, jit_steps(j, r->type, j->vary->regs[index].stride), "");
    return value;
}

LLVMValueRef jit_registers_read(struct jit *j, const struct pt_operand *o, unsigned copy,
                                enum pt_type type, unsigned lanes, bool number)
{
    LLVMValueRef value;
    switch (o->kind) {
    case PT_OPND_REG:
        value = read_reg(j, o->index, copy, lanes);
        if (j->regs[o->index].is_raw && !j->regs[o->index].is_finite && !number)
            value = jit_canonical(j, value);
        break;
    case PT_OPND_IMM:
        value = constant(j, o, type);
        return lanes > 1 ? jit_splat(j, value) : value;
    case PT_OPND_SREG:
        value = sreg_value(j, (enum pt_sreg)o->index, copy, lanes);
        break;
    default:
        value = spread(j, address(j, o), lanes);
        break;
    }
    value = fit(j, value, type, lanes);
    if (o->kind == PT_OPND_REG && type == PT_pred && (o->flags & PT_OPND_NEG))
        value = LLVMBuildNot(j->b, value, "");
    return value;
}

LLVMValueRef jit_registers_read_place(struct jit *j, const struct pt_operand *o, enum pt_type type,
                                      unsigned lanes)
{
    bool is_constant = o->kind == PT_OPND_SYM && j->m->symbols.v[o->index].space == PT_SPACE_CONST;
    LLVMValueRef place = is_constant ? named(j, JIT_SYMBOL, o->index, (uint64_t)o->imm) : NULL;
    return place ? fit(j, spread(j, place, lanes), type, lanes)
                 : jit_registers_read(j, o, 0, type, lanes, false);
}

LLVMValueRef jit_registers_fit(struct jit *j, const struct pt_operand *o, unsigned copy)
{
    if (o->kind != PT_OPND_REG || !j->regs[o->index].fits[0])
        return NULL;
    const struct jit_reg *r = &j->regs[o->index];
    return LLVMBuildLoad2(j->b, LLVMInt1TypeInContext(j->context),
                          r->fits[r->is_per_copy ? copy : 0], "");
}

/* ---- writing --------------------------------------------------------------------------------- */

/* To the register's type: narrower values are extended, narrow bits of floats put in place. */
static LLVMValueRef to_reg(struct jit *j, const struct jit_reg *r, LLVMValueRef value,
                           unsigned lanes, bool extends_sign)
{
    LLVMTypeRef want = lanes > 1 ? LLVMVectorType(r->type, lanes) : r->type;
    LLVMTypeRef has = LLVMTypeOf(value);
    if (has == want)
        return value;
    LLVMTypeRef element = lanes > 1 ? LLVMGetElementType(has) : has;
    if (element == LLVMFloatTypeInContext(j->context))
        value = LLVMBuildBitCast(j->b, value, jit_int_type(j, 32, lanes), "");
    else if (element == LLVMDoubleTypeInContext(j->context))
        value = LLVMBuildBitCast(j->b, value, jit_int_type(j, 64, lanes), "");
    unsigned bits = r->type == LLVMFloatTypeInContext(j->context)    ? 32
                    : r->type == LLVMDoubleTypeInContext(j->context) ? 64
                                                                     : LLVMGetIntTypeWidth(r->type);
    value = LLVMBuildIntCast2(j->b, value, jit_int_type(j, bits, lanes), extends_sign, "");
    return LLVMBuildBitCast(j->b, value, want, "");
}

/* The predicate is read behind j->block, or behind the version of it that is being generated. */
static bool leaves_block(const struct jit *j, uint32_t reg)
{
    const struct pt_block *block = &j->f->blocks.v[j->block];
    size_t words = (j->f->regs.n + 63) / 64;
    if (j->is_version && j->f->insns.v[block->first + block->count - 1].guard == reg)
        return true;
    for (uint32_t e = 0; e < block->n_succ; e++) {
        uint32_t to = j->f->edges.v[block->succ + e];
        if (j->live_in[to * words + reg / 64] >> (reg & 63) & 1)
            return true;
    }
    return false;
}

static void write_vector(struct jit *j, uint32_t reg, unsigned copy, LLVMValueRef value)
{
    const struct jit_reg *r = &j->regs[reg];
    bool is_mask = r->type == LLVMInt1TypeInContext(j->context);
    LLVMTypeRef type = slot_type(j, r);
    if (j->mask[copy] && jit_def_use_keeps_old(j, reg)) {
        LLVMValueRef old = is_mask ? jit_mask_load(j, r->slot[copy])
                                   : LLVMBuildLoad2(j->b, type, r->slot[copy], "");
        value = LLVMBuildSelect(j->b, j->mask[copy], value, old, "");
    }
    if (is_mask && leaves_block(j, reg))
        LLVMBuildStore(j->b, jit_flow_of(j, value), r->slot[copy]);
    else if (is_mask)
        jit_mask_store(j, r->slot[copy], value);
    else
        LLVMBuildStore(j->b, value, r->slot[copy]);
}

void jit_registers_write(struct jit *j, const struct pt_operand *o, unsigned copy,
                         enum pt_type type, LLVMValueRef value, unsigned lanes, bool extends_sign)
{
    (void)type;
    if (o->kind != PT_OPND_REG)
        return;
    const struct jit_reg *r = &j->regs[o->index];
    value = to_reg(j, r, value, lanes, extends_sign);
    if (r->shape == JIT_VECTOR) {
        write_vector(j, o->index, copy, lanes > 1 ? value : jit_splat(j, value));
        return;
    }
    unsigned u = r->is_per_copy ? copy : 0;
    if (j->guard && jit_def_use_has_old(j, o->index)) {
        LLVMValueRef old = LLVMBuildLoad2(j->b, r->type, r->slot[u], "");
        value = LLVMBuildSelect(j->b, j->guard, value, old, "");
    }
    LLVMBuildStore(j->b, value, r->slot[u]);
}
