/* Bounds of predicates: what scalars tell of them for all lanes. Where an affine value is compared
 * with one that lanes share, the lanes for which that holds are a range: its ends, at the group's
 * first and last lane, tell whether it holds for all of them or for none, which most groups answer
 * without a vector. What is made of such predicates by and, or, not has bounds likewise. The vector
 * of a predicate that only the branch at its block's end reads is computed behind that question,
 * where lanes do part.
 */
#include "backend/jit/value/predicate_bounds.h"

#include "backend/jit/analysis/def_use.h"
#include "backend/jit/analysis/insn_info.h"
#include "backend/jit/emit/emit.h"
#include "backend/jit/emit/table.h"
#include "backend/jit/jit.h"
#include "backend/jit/llvm/build.h"
#include "backend/jit/tune.h"
#include "backend/jit/value/loop_counter.h"
#include "backend/jit/value/registers.h"
#include "ir/insn.h"

enum { STRIDE_MOST = 1 << 16 };

/* ---- which predicates ------------------------------------------------------------------------ */

static bool is_whole(const struct jit *j, const struct pt_form *form, const struct pt_operand *o)
{
    unsigned bits = pt_type_bits((enum pt_type)form->type[0]);
    bool has_bits = o->kind == PT_OPND_IMM || (o->kind == PT_OPND_SREG && bits == 32) ||
                    (o->kind == PT_OPND_REG && bits >= 32 &&
                     pt_type_bits((enum pt_type)j->unit->f->regs.v[o->index].type) == bits);
    return has_bits && !o->select && !(o->flags & PT_OPND_MINUS);
}

static bool is_range_compare(const struct jit *j, const struct pt_insn *insn)
{
    const struct pt_form *form = pt_insn_form(j->unit->m, insn);
    const struct pt_operand *o = &j->unit->f->operands.v[insn->operands];
    unsigned bits = pt_type_bits((enum pt_type)form->type[0]), n_affine = 0;
    if (form->op != PT_OP_setp_int || insn->n_operands != 3 || bits < 32)
        return false;
    for (unsigned i = 1; i < 3; i++) {
        int64_t stride;
        enum jit_shape shape = jit_def_use_shape(j->facts, &o[i], &stride);
        if (!is_whole(j, form, &o[i]) || shape == JIT_VECTOR)
            return false;
        if (shape == JIT_AFFINE && (!stride || stride > STRIDE_MOST || stride < -STRIDE_MOST))
            return false;
        n_affine += shape == JIT_AFFINE;
    }
    return n_affine == 1;
}

/* A counter that the lanes of its loop share is compared with what they share. */
static bool is_count_compare(const struct jit *j, uint32_t i, uint32_t block)
{
    const struct pt_insn *insn = &j->unit->f->insns.v[i];
    const struct pt_form *form = pt_insn_form(j->unit->m, insn);
    const struct pt_operand *o = &j->unit->f->operands.v[insn->operands + 1];
    if (form->op != PT_OP_setp_int || insn->n_operands != 3 || insn->guard)
        return false;
    unsigned counter = jit_loop_counter_find(j, &o[0], block) ? 0 : 1;
    int64_t stride;
    return jit_loop_counter_find(j, &o[counter], block) && is_whole(j, form, &o[0]) &&
           is_whole(j, form, &o[1]) &&
           jit_def_use_shape(j->facts, &o[1 - counter], &stride) == JIT_SCALAR &&
           !jit_def_use_is_per_copy(j->facts, &o[1 - counter]);
}

/* The definition of what is compared, x | y, where the sign of that is asked for: it is below 0
 * where x or y is. NULL: it is no such comparison. Neither changes in between, and all are of the
 * block. */
static const struct pt_insn *united_signs(const struct jit *j, const struct pt_insn *insn)
{
    const struct pt_form *form = pt_insn_form(j->unit->m, insn);
    const struct pt_operand *o = &j->unit->f->operands.v[insn->operands];
    uint32_t at = (uint32_t)(insn - j->unit->f->insns.v);
    uint64_t bound;
    if (form->op != PT_OP_setp_int || insn->n_operands != 3 || form->type[0] != PT_s32 ||
        !pt_form_has(form, PT_M_lt) || !jit_def_use_constant(j->facts, &o[2], &bound) || bound ||
        o[1].kind != PT_OPND_REG)
        return NULL;
    uint32_t only = j->facts->regs[o[1].index].only;
    if (only >= at || jit_def_use_block(j->facts, only) != jit_def_use_block(j->facts, at))
        return NULL;
    const struct pt_insn *def = &j->unit->f->insns.v[only];
    const struct pt_form *of = pt_insn_form(j->unit->m, def);
    const struct pt_operand *side = &j->unit->f->operands.v[def->operands];
    if (of->op != PT_OP_or_b || of->type[0] != PT_b32 || def->guard)
        return NULL;
    for (unsigned i = 1; i < 3; i++) {
        int64_t stride;
        enum jit_shape shape = jit_def_use_shape(j->facts, &side[i], &stride);
        if (side[i].kind != PT_OPND_REG || !is_whole(j, of, &side[i]) || shape == JIT_VECTOR ||
            j->facts->regs[side[i].index].only >= only || stride > STRIDE_MOST ||
            stride < -STRIDE_MOST)
            return NULL;
    }
    return def;
}

static bool is_known(const struct jit *j, const struct pt_operand *o)
{
    return o->kind == PT_OPND_REG &&
           (j->facts->regs[o->index].is_bounded || j->facts->regs[o->index].shape == JIT_SCALAR);
}

static bool is_range_logic(const struct jit *j, const struct pt_insn *insn)
{
    const struct pt_operand *o = &j->unit->f->operands.v[insn->operands];
    switch ((enum pt_op)pt_insn_form(j->unit->m, insn)->op) {
    case PT_OP_and_pred:
    case PT_OP_or_pred:
        return is_known(j, &o[1]) && is_known(j, &o[2]);
    case PT_OP_not_pred:
        return is_known(j, &o[1]);
    default:
        return false;
    }
}

/* ---- predicates whose lanes can wait --------------------------------------------------------- */

struct uses {
    uint32_t *n; /* by register; counted where not NULL */
    const struct jit *j;
    const struct pt_insn *insn; /* else: whose sources are looked for among what is written */
    bool is_changed;
};

static void see_use(void *ud, uint32_t reg, bool is_def)
{
    struct uses *u = ud;
    if (u->n) {
        u->n[reg] += !is_def;
        return;
    }
    for (unsigned i = 1; is_def && i < 3; i++) {
        const struct pt_operand *o = &u->j->unit->f->operands.v[u->insn->operands + i];
        u->is_changed |= o->kind == PT_OPND_REG && o->index == reg;
    }
}

/* Up to the block's last instruction neither what is compared changes nor a region ends. */
static bool can_wait(const struct jit *j, uint32_t insn, uint32_t last)
{
    struct uses u = {.j = j, .insn = &j->unit->f->insns.v[insn]};
    for (uint32_t i = insn + 1; i <= last; i++) {
        pt_insn_regs(j->unit->m, j->unit->f, &j->unit->f->insns.v[i], see_use, &u);
        if (u.is_changed ||
            jit_insn_info_is_barrier(pt_insn_form(j->unit->m, &j->unit->f->insns.v[i])))
            return false;
    }
    return true;
}

/* The block ends in a branch, or an end, of some of its lanes. */
static bool parts_lanes(const struct jit *j, uint32_t block)
{
    const struct pt_insn *last = &j->unit->f->insns.v[jit_insn_info_last(j->facts, block)];
    enum pt_op op = (enum pt_op)pt_insn_form(j->unit->m, last)->op;
    bool goes_on = op == PT_OP_bra &&
                   j->unit->f->operands.v[last->operands].index == j->unit->f->blocks.v[block].next;
    return last->guard && j->facts->uniformity->branch[block] > PT_LEVEL_GROUP && !goes_on &&
           (op == PT_OP_bra || op == PT_OP_ret || op == PT_OP_exit);
}

static void find_sunk(const struct jit *j)
{
    struct uses u = {.n = pt_arena_alloc(j->unit->arena, (j->unit->f->regs.n + 1) * sizeof *u.n)};
    for (uint32_t i = 0; i < j->unit->f->insns.n; i++)
        pt_insn_regs(j->unit->m, j->unit->f, &j->unit->f->insns.v[i], see_use, &u);
    for (uint32_t b = 0; b < j->unit->f->blocks.n; b++) {
        const struct pt_block *block = &j->unit->f->blocks.v[b];
        if (!block->count || !parts_lanes(j, b))
            continue;
        uint32_t last = jit_insn_info_last(j->facts, b), guard = j->unit->f->insns.v[last].guard;
        struct jit_reg *r = &j->facts->regs[guard];
        if (u.n[guard] != 1 || r->only < block->first || r->only >= last ||
            r->shape != JIT_VECTOR || !can_wait(j, r->only, last))
            continue;
        if (is_count_compare(j, r->only, b))
            r->is_bounded = r->is_counter = r->is_sunk = true;
        else
            r->is_sunk = r->is_bounded && is_range_compare(j, &j->unit->f->insns.v[r->only]);
    }
}

bool jit_predicate_bounds_is_sunk(const struct jit *j)
{
    const struct pt_operand *d = &j->unit->f->operands.v[j->insn->operands];
    return j->insn->n_operands && d->kind == PT_OPND_REG && j->facts->regs[d->index].is_sunk;
}

static bool asks_for_end(const struct jit *j, uint32_t reg, unsigned depth)
{
    const struct jit_reg *r = &j->facts->regs[reg];
    uint64_t bound;
    if (!r->is_bounded || depth > JIT_BOUNDS_DEPTH)
        return false;
    const struct pt_insn *insn = &j->unit->f->insns.v[r->only];
    const struct pt_form *form = pt_insn_form(j->unit->m, insn);
    const struct pt_operand *o = &j->unit->f->operands.v[insn->operands];
    if (form->op == PT_OP_setp_int)
        return !jit_def_use_constant(j->facts, &o[1], &bound) &&
               !jit_def_use_constant(j->facts, &o[2], &bound) && !pt_form_has(form, PT_M_eq) &&
               !pt_form_has(form, PT_M_ne);
    for (unsigned i = 1; i < insn->n_operands; i++)
        if (j->facts->regs[o[i].index].shape != JIT_VECTOR ||
            !asks_for_end(j, o[i].index, depth + 1))
            return false;
    return true;
}

bool jit_predicate_bounds_asks_for_end(const struct jit *j, uint32_t reg)
{
    return asks_for_end(j, reg, 0);
}

void jit_predicate_bounds_find(const struct jit *j)
{
    for (uint32_t i = 0; i < j->unit->f->insns.n; i++) {
        const struct pt_insn *insn = &j->unit->f->insns.v[i];
        const struct pt_operand *d = &j->unit->f->operands.v[insn->operands];
        if (!insn->n_operands || d->kind != PT_OPND_REG || insn->guard)
            continue;
        struct jit_reg *r = &j->facts->regs[d->index];
        if (r->only == i && r->shape == JIT_VECTOR && j->unit->f->regs.v[d->index].type == PT_pred)
            r->is_bounded =
                is_range_compare(j, insn) || is_range_logic(j, insn) || united_signs(j, insn);
    }
    find_sunk(j);
}

/* ---- what holds for all, and for none -------------------------------------------------------- */

static LLVMValueRef constant(const struct jit *j, bool value)
{
    return LLVMConstInt(LLVMInt1TypeInContext(j->code->context), value, false);
}

static struct jit_bounds both(const struct jit *j, struct jit_bounds a, struct jit_bounds b)
{
    return (struct jit_bounds){LLVMBuildAnd(j->code->b, a.all, b.all, ""),
                               LLVMBuildAnd(j->code->b, a.none, b.none, "")};
}

LLVMValueRef jit_predicate_bounds_compare(const struct jit *j, LLVMValueRef a, LLVMValueRef b)
{
    struct jit_op op = {
        .j = j, .b = j->code->b, .lanes = 1, .form = j->form, .insn = j->insn, .n = 2, .a = {a, b}};
    jit_table_emitter(j->unit, j->form)(&op);
    return op.d[0];
}

/* Of so many lanes from the first of the copy on. */
static struct jit_bounds bounds_of_lanes(const struct jit *j, unsigned copy, unsigned lanes)
{
    const struct pt_operand *o = &j->unit->f->operands.v[j->insn->operands + 1];
    enum pt_type type = (enum pt_type)j->form->type[0];
    int64_t stride, other;
    unsigned affine = jit_def_use_shape(j->facts, &o[0], &stride) == JIT_AFFINE ? 0 : 1;
    jit_def_use_shape(j->facts, &o[affine], &stride);
    jit_def_use_shape(j->facts, &o[1 - affine], &other);
    LLVMValueRef first = jit_registers_read(j, &o[affine], copy, type, 1, false);
    LLVMValueRef bound = jit_registers_read(j, &o[1 - affine], copy, type, 1, false);
    LLVMValueRef span = LLVMConstInt(LLVMTypeOf(first), (uint64_t)(stride * (lanes - 1)), true);
    LLVMValueRef last = LLVMBuildAdd(j->code->b, first, span, "");
    LLVMValueRef fits = jit_registers_fit(j, &o[affine], copy), all, none;
    if (pt_form_has(j->form, PT_M_eq) || pt_form_has(j->form, PT_M_ne)) {
        LLVMValueRef low = stride > 0 ? first : last, high = stride > 0 ? last : first;
        LLVMValueRef apart =
            LLVMBuildICmp(j->code->b, LLVMIntUGT, LLVMBuildSub(j->code->b, bound, low, ""),
                          LLVMBuildSub(j->code->b, high, low, ""), "");
        bool is_eq = pt_form_has(j->form, PT_M_eq);
        all = is_eq ? constant(j, false) : apart;
        none = is_eq ? apart : constant(j, false);
    } else {
        bool is_signed = pt_type_class(type) == PT_CLASS_S;
        LLVMIntPredicate up = is_signed ? LLVMIntSLE : LLVMIntULE;
        LLVMValueRef rises =
            LLVMBuildICmp(j->code->b, up, stride > 0 ? first : last, stride > 0 ? last : first, "");
        LLVMValueRef a = affine ? jit_predicate_bounds_compare(j, bound, first)
                                : jit_predicate_bounds_compare(j, first, bound);
        LLVMValueRef b = affine ? jit_predicate_bounds_compare(j, bound, last)
                                : jit_predicate_bounds_compare(j, last, bound);
        all = LLVMBuildAnd(j->code->b, rises, LLVMBuildAnd(j->code->b, a, b, ""), "");
        none = LLVMBuildAnd(j->code->b, rises,
                            LLVMBuildNot(j->code->b, LLVMBuildOr(j->code->b, a, b, ""), ""), "");
    }
    if (fits)
        all = LLVMBuildAnd(j->code->b, all, fits, ""),
        none = LLVMBuildAnd(j->code->b, none, fits, "");
    return (struct jit_bounds){all, none};
}

static struct jit_bounds bounds_of_count(const struct jit *j)
{
    const struct pt_operand *o = &j->unit->f->operands.v[j->insn->operands + 1];
    LLVMValueRef side[2];
    for (unsigned i = 0; i < 2; i++)
        side[i] = o[i].kind == PT_OPND_REG && j->facts->regs[o[i].index].counter_loop
                      ? jit_loop_counter_read(j, o[i].index)
                      : jit_registers_read(j, &o[i], 0, (enum pt_type)j->form->type[0], 1, false);
    LLVMValueRef holds = jit_predicate_bounds_compare(j, side[0], side[1]);
    return (struct jit_bounds){holds, LLVMBuildNot(j->code->b, holds, "")};
}

/* That x is below 0, of so many lanes from the first of the copy on. */
static struct jit_bounds bounds_of_sign(const struct jit *j, const struct pt_operand *o,
                                        unsigned copy, unsigned lanes)
{
    int64_t stride;
    bool is_one = jit_def_use_shape(j->facts, o, &stride) != JIT_AFFINE;
    LLVMValueRef first = jit_registers_read(j, o, copy, PT_s32, 1, false), last = first;
    LLVMValueRef zero = LLVMConstNull(LLVMTypeOf(first));
    LLVMValueRef span = LLVMConstInt(LLVMTypeOf(first), (uint64_t)(stride * (lanes - 1)), true);
    if (!is_one)
        last = LLVMBuildAdd(j->code->b, first, span, "");
    LLVMValueRef low = is_one || stride > 0 ? first : last, high = low == first ? last : first;
    struct jit_bounds d = {LLVMBuildICmp(j->code->b, LLVMIntSLT, high, zero, ""),
                           LLVMBuildICmp(j->code->b, LLVMIntSGE, low, zero, "")};
    LLVMValueRef fits = jit_registers_fit(j, o, copy);
    LLVMValueRef rises = LLVMBuildICmp(j->code->b, LLVMIntSLE, low, high, "");
    rises = fits ? LLVMBuildAnd(j->code->b, rises, fits, "") : rises;
    return both(j, d, (struct jit_bounds){rises, rises});
}

static struct jit_bounds bounds_of_signs(const struct jit *j, const struct pt_insn *def,
                                         unsigned copy, unsigned lanes)
{
    const struct pt_operand *o = &j->unit->f->operands.v[def->operands];
    struct jit_bounds a = bounds_of_sign(j, &o[1], copy, lanes);
    struct jit_bounds b = bounds_of_sign(j, &o[2], copy, lanes);
    return (struct jit_bounds){LLVMBuildOr(j->code->b, a.all, b.all, ""),
                               LLVMBuildAnd(j->code->b, a.none, b.none, "")};
}

static struct jit_bounds bounds_of_united(const struct jit *j, const struct pt_insn *def)
{
    struct jit_bounds bounds = bounds_of_signs(j, def, 0, j->unit->width);
    for (unsigned u = 1; u < j->facts->copies; u++)
        bounds = both(j, bounds, bounds_of_signs(j, def, u, j->unit->width));
    return bounds;
}

static struct jit_bounds bounds_of_compare(const struct jit *j)
{
    const struct pt_insn *united = united_signs(j, j->insn);
    if (united)
        return bounds_of_united(j, united);
    const struct pt_operand *o = &j->unit->f->operands.v[j->insn->operands + 1];
    if (j->facts->regs[o[-1].index].is_counter)
        return bounds_of_count(j);
    if (!jit_def_use_is_per_copy(j->facts, &o[0]) && !jit_def_use_is_per_copy(j->facts, &o[1]))
        return bounds_of_lanes(j, 0, j->unit->width * j->facts->copies);
    struct jit_bounds bounds = bounds_of_lanes(j, 0, j->unit->width);
    for (unsigned u = 1; u < j->facts->copies; u++)
        bounds = both(j, bounds, bounds_of_lanes(j, u, j->unit->width));
    return bounds;
}

static LLVMValueRef load(const struct jit *j, LLVMValueRef slot)
{
    return LLVMBuildLoad2(j->code->b, LLVMInt1TypeInContext(j->code->context), slot, "");
}

/* Of a source of and, or, not. */
static struct jit_bounds bounds_of_source(const struct jit *j, const struct pt_operand *o)
{
    const struct jit_reg *r = &j->facts->regs[o->index];
    struct jit_bounds bounds;
    if (r->shape != JIT_SCALAR) {
        if (!jit_predicate_bounds_load(j, o, &bounds))
            bounds = (struct jit_bounds){constant(j, false), constant(j, false)};
        return bounds;
    }
    for (unsigned u = 0; u < (r->is_per_copy ? j->facts->copies : 1); u++) {
        LLVMValueRef p = jit_registers_read(j, o, u, PT_pred, 1, true);
        struct jit_bounds one = {p, LLVMBuildNot(j->code->b, p, "")};
        bounds = u ? both(j, bounds, one) : one;
    }
    return bounds;
}

struct jit_bounds jit_predicate_bounds_join(const struct jit *j, const struct pt_form *form,
                                            struct jit_bounds a, struct jit_bounds b)
{
    if (form->op == PT_OP_and_pred)
        return (struct jit_bounds){LLVMBuildAnd(j->code->b, a.all, b.all, ""),
                                   LLVMBuildOr(j->code->b, a.none, b.none, "")};
    return (struct jit_bounds){LLVMBuildOr(j->code->b, a.all, b.all, ""),
                               LLVMBuildAnd(j->code->b, a.none, b.none, "")};
}

static struct jit_bounds bounds_of_logic(const struct jit *j)
{
    const struct pt_operand *o = &j->unit->f->operands.v[j->insn->operands];
    struct jit_bounds a = bounds_of_source(j, &o[1]);
    if (j->form->op == PT_OP_not_pred)
        return (struct jit_bounds){a.none, a.all};
    return jit_predicate_bounds_join(j, j->form, a, bounds_of_source(j, &o[2]));
}

static LLVMValueRef make_slot(const struct jit *j)
{
    LLVMValueRef slot = jit_alloca(j, LLVMInt1TypeInContext(j->code->context), "");
    LLVMBuildStore(j->code->allocas, constant(j, false), slot);
    return slot;
}

/* Of a part of the copies nothing is known: what is in the slots may be of another version of the
 * block, an iteration ago. */
void jit_predicate_bounds_note(const struct jit *j)
{
    const struct pt_operand *d = &j->unit->f->operands.v[j->insn->operands];
    if (d->kind != PT_OPND_REG || !j->facts->regs[d->index].is_bounded)
        return;
    struct jit_reg *r = &j->facts->regs[d->index];
    struct jit_bounds bounds = {constant(j, false), constant(j, false)};
    if (!j->first_copy && j->end_copy == j->facts->copies)
        bounds = j->form->op == PT_OP_setp_int ? bounds_of_compare(j) : bounds_of_logic(j);
    if (!r->bounds.all)
        r->bounds = (struct jit_bounds){make_slot(j), make_slot(j)};
    LLVMBuildStore(j->code->b, bounds.all, r->bounds.all);
    LLVMBuildStore(j->code->b, bounds.none, r->bounds.none);
}

bool jit_predicate_bounds_is_known_in(const struct jit *j, uint32_t reg, uint32_t of)
{
    const struct jit_reg *r = &j->facts->regs[reg];
    const struct pt_block *block = &j->unit->f->blocks.v[of];
    if (r->only >= block->first && r->only < block->first + block->count)
        return true;
    return (!r->crosses || r->is_remat) && jit_def_use_is_behind(j->facts, r->only, of);
}

bool jit_predicate_bounds_load(const struct jit *j, const struct pt_operand *o,
                               struct jit_bounds *bounds)
{
    const struct jit_reg *r = &j->facts->regs[o->index];
    if (!r->bounds.all || !jit_predicate_bounds_is_known_in(j, o->index, j->block))
        return false;
    *bounds = (struct jit_bounds){load(j, r->bounds.all), load(j, r->bounds.none)};
    if (o->flags & PT_OPND_NEG)
        *bounds = (struct jit_bounds){bounds->none, bounds->all};
    return true;
}
