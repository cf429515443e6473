/* Pure instructions over scalars, affine values and vectors: operands, guards, results. */
#include "backend/jit/value/pure_op.h"

#include <string.h>

#include "backend/jit/analysis/def_use.h"
#include "backend/jit/analysis/nan.h"
#include "backend/jit/emit/carry.h"
#include "backend/jit/emit/emit.h"
#include "backend/jit/emit/lane_call.h"
#include "backend/jit/emit/table.h"
#include "backend/jit/jit.h"
#include "backend/jit/llvm/build.h"
#include "backend/jit/value/lane_offsets.h"
#include "backend/jit/value/local_window.h"
#include "backend/jit/value/loop_counter.h"
#include "backend/jit/value/predicate_bounds.h"
#include "backend/jit/value/registers.h"

static enum pt_type type_of(const struct jit *j, const struct pt_slot *slot)
{
    if (slot->kind == PT_SLOT_FUNC) /* its address */
        return (enum pt_type)j->form->type[0];
    return slot->kind == PT_SLOT_IMM ? PT_u32 : pt_slot_type(slot, j->form);
}

static bool add_operand(struct jit *j, struct jit_operands *all, const struct pt_slot *slot,
                        const struct pt_operand *o)
{
    enum pt_type type = type_of(j, slot);
    struct jit_flat flat = {o, type,
                        (slot->flags & PT_SLOT_WIDER) && pt_type_class(type) == PT_CLASS_S};
    if (slot->flags & PT_SLOT_INOUT || (o->flags & PT_OPND_MINUS) || o->select) {
        j->why = "an operand with a selector or sign";
        return false;
    }
    unsigned *n = slot->flags & PT_SLOT_DEST ? &all->n_dests : &all->n_sources;
    struct jit_flat *list = slot->flags & PT_SLOT_DEST ? all->dest : all->source;
    if (*n == (slot->flags & PT_SLOT_DEST ? JIT_DESTS + 2 : JIT_SOURCES + 2)) {
        j->why = "many operands";
        return false;
    }
    list[(*n)++] = flat;
    return true;
}

bool jit_pure_op_flatten(struct jit *j, struct jit_operands *all)
{
    memset(all, 0, sizeof *all);
    for (unsigned k = 0; k < j->insn->n_operands; k++) {
        const struct pt_slot *slot = pt_form_slot(j->form, k);
        const struct pt_operand *o = &j->f->operands.v[j->insn->operands + k];
        unsigned parts = o->kind == PT_OPND_PAIR  ? 2
                         : o->kind == PT_OPND_VEC ? (unsigned)o->imm
                                                  : 0;
        if (!parts && !add_operand(j, all, slot->n_sub ? pt_slot_sub(slot, 0) : slot, o))
            return false;
        for (unsigned i = 0; i < parts; i++) {
            const struct pt_slot *sub =
                slot->n_sub ? pt_slot_sub(slot, slot->n_sub > i ? i : 0) : slot;
            if (!add_operand(j, all, sub, &j->f->operands.v[o->index + i]))
                return false;
        }
    }
    return true;
}

static enum jit_shape shape_of(const struct jit *j, const struct pt_operand *o)
{
    int64_t stride;
    return jit_def_use_shape(j, o, &stride);
}

/* cvta between generic addresses and those of local memory, of which each lane has its own. */
static bool is_local_cvta(const struct pt_form *form)
{
    return (form->op == PT_OP_cvta || form->op == PT_OP_cvta_to) && pt_form_has(form, PT_M_local);
}

/* cvta and cvta.to of a space whose addresses are offsets in a window that all threads have in common. */
static bool has_window(const struct pt_form *form)
{
    return pt_form_has(form, PT_M_param) || pt_form_has(form, PT_M_param_entry) ||
           pt_form_has(form, PT_M_const);
}

static LLVMValueRef through_window(struct jit *j, const struct jit_op *op, unsigned bits)
{
    LLVMValueRef window = jit_registers_window(
        j, pt_form_has(op->form, PT_M_const) ? PT_SPACE_CONST : PT_SPACE_PARAM);
    window = LLVMBuildIntCast2(j->b, window, jit_int_type(j, bits, 1), false, "");
    window = op->lanes > 1 ? jit_splat(j, window) : window;
    return op->form->op == PT_OP_cvta ? LLVMBuildAdd(j->b, op->a[0], window, "")
                                      : LLVMBuildSub(j->b, op->a[0], window, "");
}

static bool has_carry(const struct pt_form *form)
{
    return form->effects & (PT_FX_CARRY_IN | PT_FX_CARRY_OUT);
}

/* One value stands for all lanes: the sources agree, or (of affine ones) lane 0 tells. */
static bool is_one(const struct jit *j, const struct jit_operands *all)
{
    const struct pt_operand *d = all->dest[0].o;
    if (is_local_cvta(j->form))
        return false;
    if (d->kind == PT_OPND_REG && j->regs[d->index].shape == JIT_SCALAR)
        return true;
    for (unsigned i = 0; i < all->n_sources; i++)
        if (shape_of(j, all->source[i].o) != JIT_SCALAR)
            return false;
    return !has_carry(j->form) || jit_carry_is_one(j);
}

static bool is_reg(const struct pt_operand *o)
{
    return o->kind == PT_OPND_REG;
}

/* One value for the whole group is enough. */
static bool is_shared(const struct jit *j, const struct jit_operands *all)
{
    if (has_carry(j->form) && !jit_carry_is_shared(j))
        return false;
    for (unsigned i = 0; i < all->n_dests; i++)
        if (is_reg(all->dest[i].o) && j->regs[all->dest[i].o->index].is_per_copy)
            return false;
    return true;
}

/* Narrows j->mask to the lanes of the guard; uniform guards are in j->guard, too. */
void jit_pure_op_apply_guard(struct jit *j, unsigned copy, LLVMValueRef block_mask)
{
    j->mask[copy] = block_mask;
    j->guard = NULL;
    if (!j->insn->guard)
        return;
    struct pt_operand o = {.kind = PT_OPND_REG,
                           .index = j->insn->guard,
                           .flags = j->insn->guard_neg ? PT_OPND_NEG : 0};
    LLVMValueRef p = jit_registers_read(j, &o, copy, PT_pred, j->width, true);
    if (shape_of(j, &o) == JIT_SCALAR)
        j->guard = jit_registers_read(j, &o, copy, PT_pred, 1, true);
    j->mask[copy] = block_mask ? LLVMBuildAnd(j->b, block_mask, p, "") : p;
}

/* True if results and choices do not depend on what kind of NaN a source is. */
bool jit_pure_op_takes_numbers(const struct pt_form *form)
{
    if (form->op == PT_OP_copysign || form->op == PT_OP_cvt_f64_f32 ||
        form->op == PT_OP_cvt_tf32_f32 || pt_form_has(form, PT_M_xorsign) ||
        (form->op == PT_OP_cvt_f32_f32 && !pt_form_has(form, PT_M_sat)))
        return false;
    return form->effects & PT_FX_FP;
}

LLVMValueRef jit_pure_op_read(struct jit *j, const struct jit_flat *f, unsigned copy,
                              unsigned lanes, bool number)
{
    return jit_registers_read(j, f->o, copy, f->type, lanes, number);
}

static LLVMValueRef shift_in(struct jit *j, LLVMValueRef value, LLVMTypeRef type, unsigned by)
{
    value = LLVMBuildZExt(j->b, value, type, "");
    return LLVMBuildShl(j->b, value, jit_const(type, by), "");
}

static void as_integers(struct jit *j, struct jit_op *op, enum pt_type type)
{
    for (unsigned i = 0; i < op->n; i++)
        op->a[i] =
            LLVMBuildBitCast(j->b, op->a[i], jit_int_type(j, pt_type_bits(type), op->lanes), "");
}

#define RANK_BITS (UINT64_C(0xff) << PT_SHARED_RANK_SHIFT)

/* mov in its forms: bits go where they are told. */
static bool move(struct jit *j, struct jit_op *op, const struct jit_operands *all, unsigned copy)
{
    unsigned bits = pt_type_bits((enum pt_type)op->form->type[0]);
    LLVMTypeRef type = jit_int_type(j, bits, op->lanes);
    LLVMValueRef rank;
    switch ((enum pt_op)op->form->op) {
    case PT_OP_mov_pack: {
        LLVMValueRef value = LLVMConstNull(type);
        as_integers(j, op, all->source[0].type);
        for (unsigned i = 0; i < op->n; i++)
            value = LLVMBuildOr(j->b, value, shift_in(j, op->a[i], type, bits / op->n * i), "");
        op->d[0] = value;
        return true;
    }
    case PT_OP_mov_unpack:
        for (unsigned i = 0; i < all->n_dests; i++) {
            LLVMTypeRef part = jit_int_type(j, bits / all->n_dests, op->lanes);
            LLVMValueRef low =
                LLVMBuildLShr(j->b, op->a[0], jit_const(type, bits / all->n_dests * i), "");
            op->d[i] = LLVMBuildTrunc(j->b, low, part, "");
        }
        return true;
    case PT_OP_mov_vec:
        for (unsigned i = 0; i < op->n; i++)
            op->d[i] = op->a[i];
        return true;
    case PT_OP_cvta:
    case PT_OP_cvta_to:
        if (pt_form_has(op->form, PT_M_shared) || pt_form_has(op->form, PT_M_shared_cta) ||
            pt_form_has(op->form, PT_M_shared_cluster)) {
            LLVMTypeRef i64 = LLVMInt64TypeInContext(j->context);
            LLVMValueRef base = LLVMBuildPtrToInt(j->b, j->shared, i64, "");
            base = LLVMBuildIntCast2(j->b, base, jit_int_type(j, bits, 1), false, "");
            if (op->lanes > 1)
                base = jit_splat(j, base);
            op->d[0] = LLVMBuildAnd(j->b, op->a[0], jit_const(type, UINT32_MAX), "");
            if (op->form->op == PT_OP_cvta)
                op->d[0] = LLVMBuildAdd(j->b, op->d[0], base, "");
            return true;
        }
        if (is_local_cvta(op->form)) {
            op->d[0] = jit_local_window_cvta(j, op->a[0], copy, op->form->op == PT_OP_cvta_to);
            return true;
        }
        if (pt_form_has(op->form, PT_M_param) && j->inlined)
            return false;
        op->d[0] = has_window(op->form) ? through_window(j, op, bits) : op->a[0];
        return true;
    case PT_OP_mapa: /* of a kernel without clusters */
        op->d[0] = LLVMBuildAnd(j->b, op->a[0], jit_const(type, ~RANK_BITS), "");
        rank = LLVMBuildIntCast2(j->b, op->a[1], type, false, "");
        rank = LLVMBuildAnd(j->b, rank, jit_const(type, 0xff), "");
        rank = LLVMBuildShl(j->b, rank, jit_const(type, PT_SHARED_RANK_SHIFT), "");
        op->d[0] = LLVMBuildOr(j->b, op->d[0], rank, "");
        return true;
    case PT_OP_getctarank:
        rank = LLVMBuildAnd(j->b, op->a[0], jit_const(type, RANK_BITS), "");
        rank = LLVMBuildLShr(j->b, rank, jit_const(type, PT_SHARED_RANK_SHIFT), "");
        op->d[0] = LLVMBuildIntCast2(j->b, rank, jit_int_type(j, 32, op->lanes), false, "");
        return true;
    case PT_OP_mov:
    case PT_OP_mov_sreg:
    case PT_OP_mov_addr:
    case PT_OP_mov_func:
        op->d[0] = op->a[0];
        return true;
    default:
        return false;
    }
}

static bool compute(struct jit *j, struct jit_op *op, const struct jit_operands *all, unsigned copy)
{
    if (move(j, op, all, copy))
        return true;
    jit_emitter *emit = jit_table_emitter(j, j->form);
    if ((emit && emit(op)) || jit_lane_call_emit(op))
        return true;
    j->why = j->form->spelling;
    return false;
}

/* Reads the sources and computes the results over scalars or vectors. */
static bool operate(struct jit *j, const struct jit_operands *all, unsigned copy, unsigned lanes,
                    struct jit_op *op)
{
    *op = (struct jit_op){
        .j = j, .b = j->b, .lanes = lanes, .form = j->form, .insn = j->insn, .n = all->n_sources};
    bool is_raw_choice =
        jit_nan_choices(j->form) && is_reg(all->dest[0].o) && j->regs[all->dest[0].o->index].is_raw;
    bool number = jit_pure_op_takes_numbers(j->form) || is_raw_choice;
    if (all->n_sources > JIT_SOURCES || all->n_dests > JIT_DESTS) {
        j->why = "many operands";
        return false;
    }
    for (unsigned i = 0; i < all->n_sources; i++) {
        op->a[i] = jit_pure_op_read(j, &all->source[i], copy, lanes, number);
        op->negated[i] = all->source[i].o->flags & PT_OPND_NEG;
    }
    if (has_carry(j->form) ? !jit_carry_emit(op, copy) : !compute(j, op, all, copy))
        return false;
    const struct pt_operand *d = all->dest[0].o;
    if (op->is_number && !(is_reg(d) && j->regs[d->index].is_raw))
        op->d[0] = jit_canonical(j, op->d[0]);
    return true;
}

/* The narrow affine value of a source does not wrap within so many lanes. */
static LLVMValueRef test_wrap(struct jit *j, const struct jit_flat *source, unsigned copy,
                              int64_t stride, unsigned lanes)
{
    unsigned bits = pt_type_bits(source->type);
    LLVMValueRef base = jit_pure_op_read(j, source, copy, 1, true);
    LLVMTypeRef type = LLVMTypeOf(base);
    bool is_signed = pt_type_class(source->type) == PT_CLASS_S;
    uint64_t span = (uint64_t)(stride < 0 ? -stride : stride) * (lanes - 1);
    uint64_t top = is_signed    ? (UINT64_C(1) << (bits - 1)) - 1
                   : bits == 64 ? UINT64_MAX
                                : (UINT64_C(1) << bits) - 1;
    uint64_t limit = stride > 0 ? top - span : is_signed ? ~top + span : span;
    LLVMIntPredicate test =
        stride > 0 ? (is_signed ? LLVMIntSLE : LLVMIntULE) : (is_signed ? LLVMIntSGE : LLVMIntUGE);
    return LLVMBuildICmp(j->b, test, base, LLVMConstInt(type, limit, true), "");
}

static LLVMValueRef test_fit(struct jit *j, const struct jit_operands *all, unsigned copy)
{
    LLVMValueRef fits = LLVMConstInt(LLVMInt1TypeInContext(j->context), 1, false);
    uint32_t reg = all->dest[0].o->index;
    unsigned bits = pt_type_bits((enum pt_type)j->f->regs.v[reg].type);
    unsigned lanes = j->width * jit_def_use_copies_on(j, reg);
    for (unsigned i = 0; i < all->n_sources; i++) {
        int64_t stride;
        if (jit_def_use_shape(j, all->source[i].o, &stride) != JIT_AFFINE)
            continue;
        LLVMValueRef inherited = jit_registers_fit(j, all->source[i].o, copy);
        if (inherited)
            fits = LLVMBuildAnd(j->b, fits, inherited, "");
        if (pt_type_bits(all->source[i].type) < bits)
            fits = LLVMBuildAnd(j->b, fits, test_wrap(j, &all->source[i], copy, stride, lanes), "");
    }
    return fits;
}

/* Old values of affine registers are never needed but under a uniform guard. */
static void store_guarded(struct jit *j, const struct pt_operand *d, LLVMValueRef value,
                          LLVMValueRef slot)
{
    if (j->guard && jit_def_use_has_old(j, d->index)) {
        LLVMValueRef old = LLVMBuildLoad2(j->b, LLVMTypeOf(value), slot, "");
        value = LLVMBuildSelect(j->b, j->guard, value, old, "");
    }
    LLVMBuildStore(j->b, value, slot);
}

/* The chunk goes on where the first of its row of threads began, whose form has been tested for the row. */
static void go_on_in_row(struct jit *j, uint32_t reg, unsigned copy, LLVMValueRef *value,
                         LLVMValueRef *fits)
{
    const struct jit_reg *r = &j->regs[reg];
    unsigned first = jit_def_use_first_of_row(j, reg, copy);
    uint64_t offset = (uint64_t)j->vary->regs[reg].stride * ((copy - first) * j->width);
    *value = LLVMBuildLoad2(j->b, r->type, r->slot[first], "");
    *value = LLVMBuildAdd(j->b, *value, LLVMConstInt(r->type, offset, true), "");
    *fits = LLVMBuildLoad2(j->b, LLVMInt1TypeInContext(j->context), r->fits[first], "");
}

static bool operate_affine(struct jit *j, const struct jit_operands *all, unsigned copy)
{
    const struct pt_operand *d = all->dest[0].o;
    struct jit_reg *r = &j->regs[d->index];
    bool may_wrap = r->wide[copy], extends = all->dest[0].extends_sign;
    unsigned last = r->is_per_copy ? copy : j->copies - 1;
    LLVMTypeRef type = LLVMVectorType(r->type, j->width);
    LLVMValueRef wide[JIT_COPIES];
    struct jit_op op;
    for (unsigned u = copy; may_wrap && u <= last; u++) {
        if (!operate(j, all, u, j->width, &op))
            return false;
        wide[u] = LLVMBuildIntCast2(j->b, op.d[0], type, extends, "");
    }
    LLVMValueRef value = NULL, fits = NULL;
    if (may_wrap && copy != jit_def_use_first_of_row(j, d->index, copy)) {
        go_on_in_row(j, d->index, copy, &value, &fits);
    } else {
        fits = may_wrap ? test_fit(j, all, copy) : NULL;
        if (!operate(j, all, copy, 1, &op))
            return false;
        value = LLVMBuildIntCast2(j->b, op.d[0], r->type, extends, "");
    }
    store_guarded(j, d, value, r->slot[copy]);
    for (unsigned u = copy; may_wrap && u <= last; u++)
        store_guarded(j, d, wide[u], r->wide[u]);
    if (may_wrap)
        store_guarded(j, d, fits, r->fits[copy]);
    return true;
}

static bool pure_copy(struct jit *j, const struct jit_operands *all, unsigned copy)
{
    const struct pt_operand *d = all->dest[0].o;
    if (is_reg(d) && j->regs[d->index].shape == JIT_AFFINE)
        return operate_affine(j, all, copy);
    struct jit_op op;
    unsigned lanes = is_one(j, all) ? 1 : j->width;
    if (!operate(j, all, copy, lanes, &op))
        return false;
    for (unsigned i = 0; i < all->n_dests; i++)
        jit_registers_write(j, all->dest[i].o, copy, all->dest[i].type, op.d[i], lanes,
                            all->dest[i].extends_sign);
    jit_lane_offsets_note(j, copy);
    return true;
}

bool jit_pure_op_emit(struct jit *j, LLVMValueRef *mask)
{
    struct jit_operands all;
    if (!jit_pure_op_flatten(j, &all))
        return false;
    if (!all.n_dests)
        return true; /* hints */
    bool one = is_shared(j, &all);
    for (unsigned u = one ? 0 : j->first_copy; u < (one ? 1 : j->end_copy); u++) {
        jit_pure_op_apply_guard(j, u, mask[u]);
        if (!pure_copy(j, &all, u))
            return false;
    }
    jit_predicate_bounds_note(j);
    jit_loop_counter_note(j);
    return true;
}

void jit_pure_op_visit(struct jit *j, uint32_t insn)
{
    j->insn = &j->f->insns.v[insn];
    j->form = pt_insn_form(j->m, j->insn);
}

/* Goes to an instruction that runs in all lanes. */
struct jit_visited jit_pure_op_visit_aside(struct jit *j, uint32_t insn)
{
    struct jit_visited was = {j->insn, j->form, j->guard, {0}};
    memcpy(was.mask, j->mask, sizeof was.mask);
    memset(j->mask, 0, sizeof j->mask);
    j->guard = NULL;
    jit_pure_op_visit(j, insn);
    return was;
}

void jit_pure_op_come_back(struct jit *j, const struct jit_visited *was)
{
    j->insn = was->insn;
    j->form = was->form;
    j->guard = was->guard;
    memcpy(j->mask, was->mask, sizeof was->mask);
}

LLVMValueRef jit_pure_op_compute_lanes(struct jit *j, uint32_t insn, unsigned copy)
{
    struct jit_visited was = jit_pure_op_visit_aside(j, insn);
    struct jit_operands all;
    struct jit_op op;
    LLVMValueRef value = NULL;
    if (jit_pure_op_flatten(j, &all) && operate(j, &all, copy, j->width, &op)) {
        const struct jit_reg *r = &j->regs[all.dest[0].o->index];
        value = LLVMBuildIntCast2(j->b, op.d[0], LLVMVectorType(r->type, j->width),
                                  all.dest[0].extends_sign, "");
    }
    jit_pure_op_come_back(j, &was);
    return value;
}

static bool can_remake_wide(const struct jit *j, uint32_t reg, uint32_t at, unsigned depth)
{
    uint32_t def = j->regs[reg].def;
    struct jit_sources s;
    if (depth == JIT_CHAIN_DEPTH || def == UINT32_MAX || !jit_def_use_dominates(j, def, j->block) ||
        !jit_def_use_sources(j, def, &s))
        return false;
    for (uint32_t i = 0; i < s.n; i++) {
        const struct jit_reg *r = &j->regs[s.regs[i]];
        if (!jit_def_use_is_unchanged(j, s.regs[i], def, at))
            return false;
        if (r->wide[0] && !can_remake_wide(j, s.regs[i], at, depth + 1))
            return false;
    }
    return true;
}

LLVMValueRef jit_pure_op_remat_wide(struct jit *j, uint32_t reg, unsigned copy)
{
    uint32_t at = (uint32_t)(j->insn - j->f->insns.v);
    if (!can_remake_wide(j, reg, at, 0))
        return NULL;
    return jit_pure_op_compute_lanes(j, j->regs[reg].def, copy);
}
