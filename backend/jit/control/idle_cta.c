/* CTAs none of whose threads pass the guard that the kernel begins with, as those above the
 * diagonal of a triangle. What the guard compares is made of %tid, which lies between 0 and the
 * block's size, and of what the CTA agrees on: so it lies in a range, whose ends tell before the
 * first group that all threads leave. That is asked where two numbers of the thread are compared: a
 * guard for the end of data is passed by some threads of nearly every CTA (Zen 4, 2026-11-27: lu
 * took 9 % more time).
 *
 * Ranges are of integers, in 64 bits, and stand for values modulo 2^32: a comparison takes them as
 * they are if both ends are values of its type.
 */
#include "backend/jit/control/idle_cta.h"

#include "backend/jit/analysis/def_use.h"
#include "backend/jit/control/coverage.h"
#include "backend/jit/control/cta_end.h"
#include "backend/jit/control/remat.h"
#include "backend/jit/llvm/build.h"
#include "backend/jit/tune.h"
#include "backend/jit/value/predicate_bounds.h"
#include "backend/jit/value/registers.h"
#include "backend/jit/value/visit.h"
#include "ir/bits.h"
#include "ir/insn.h"
#include "ir/uniformity.h"

enum { VALUE_BITS = 33, RANGE_BITS = 62 };

struct range {
    LLVMValueRef low, high; /* i64; the same if the CTA agrees */
    unsigned bits;          /* both are less than 1 << bits in magnitude */
};

/* What is asked for a comparison. */
struct question {
    struct jit *j;
    bool is_signed; /* the comparison: what is agreed on is taken as a value of its type */
    bool has_two;   /* a comparison is of two numbers that differ by thread */
    uint64_t *done; /* registers that have been rematerialised */
};

/* ---- ranges ---------------------------------------------------------------------------------- */

static struct range point(const struct question *q, LLVMValueRef value)
{
    LLVMTypeRef i64 = LLVMInt64TypeInContext(q->j->code->context);
    value = q->is_signed ? LLVMBuildSExt(q->j->code->b, value, i64, "")
                         : LLVMBuildZExt(q->j->code->b, value, i64, "");
    return (struct range){value, value, VALUE_BITS};
}

static bool is_tid(const struct pt_operand *o)
{
    return o->kind == PT_OPND_SREG && o->index >= PT_SREG_tid_x && o->index <= PT_SREG_tid_z;
}

/* From 0 to the block's size in that dimension, less one. */
static struct range range_of_tid(const struct question *q, const struct pt_operand *o)
{
    _Static_assert(PT_SREG_tid_z == PT_SREG_tid_x + 2 && PT_SREG_ntid_z == PT_SREG_ntid_x + 2,
                   "sreg.def");
    struct pt_operand size = *o;
    size.index = PT_SREG_ntid_x + (o->index - PT_SREG_tid_x);
    struct range r = point(q, jit_registers_read(q->j, &size, 0, PT_u32, 1, false));
    r.high = LLVMBuildSub(q->j->code->b, r.high, jit_i64(q->j, 1), "");
    r.low = jit_i64(q->j, 0);
    return r;
}

/* The CTA agrees on the operand, whose value is at hand or can be made where the kernel begins. */
static bool is_agreed(const struct question *q, const struct pt_operand *o)
{
    const struct jit_facts *a = q->j->facts;
    if (o->kind == PT_OPND_SREG)
        return pt_uniformity_sreg(&a->uniformity->shape, (enum pt_sreg)o->index).level ==
               PT_LEVEL_CTA;
    if (o->kind != PT_OPND_REG)
        return o->kind == PT_OPND_IMM;
    return a->uniformity->regs[o->index].level == PT_LEVEL_CTA &&
           jit_def_use_can_remat(a, o->index);
}

static bool range_of(const struct question *q, const struct pt_operand *o, unsigned depth,
                     struct range *r);

/* Of a product or a shift's: `a` times what the text states. */
static bool scale(const struct question *q, const struct range *a, uint64_t by, struct range *r)
{
    unsigned bits = by ? 64 - (unsigned)__builtin_clzll(by) : 0;
    LLVMValueRef factor = jit_i64(q->j, by);
    *r = (struct range){LLVMBuildMul(q->j->code->b, a->low, factor, ""),
                        LLVMBuildMul(q->j->code->b, a->high, factor, ""), a->bits + bits};
    return r->bits <= RANGE_BITS;
}

static bool range_of_product(const struct question *q, const struct pt_operand *o, unsigned depth,
                             struct range *r)
{
    uint64_t by;
    struct range a;
    for (unsigned i = 0; i < 2; i++)
        if (jit_def_use_constant(q->j->facts, &o[i], &by) && by <= INT16_MAX)
            return range_of(q, &o[1 - i], depth, &a) && scale(q, &a, by, r);
    if (!is_agreed(q, &o[0]) || !is_agreed(q, &o[1]) || !range_of(q, &o[0], depth, &a) ||
        !range_of(q, &o[1], depth, r))
        return false;
    LLVMTypeRef i32 = LLVMInt32TypeInContext(q->j->code->context);
    LLVMValueRef product = LLVMBuildMul(q->j->code->b, a.low, r->low, "");
    *r = point(q, LLVMBuildTrunc(q->j->code->b, product, i32, ""));
    return true;
}

static bool range_of_sum(const struct question *q, const struct range *a, const struct range *b,
                         bool is_difference, struct range *r)
{
    LLVMBuilderRef at = q->j->code->b;
    LLVMValueRef low = is_difference ? LLVMBuildSub(at, a->low, b->high, "")
                                     : LLVMBuildAdd(at, a->low, b->low, "");
    LLVMValueRef high = is_difference ? LLVMBuildSub(at, a->high, b->low, "")
                                      : LLVMBuildAdd(at, a->high, b->high, "");
    *r = (struct range){low, high, (a->bits > b->bits ? a->bits : b->bits) + 1};
    return r->bits <= RANGE_BITS;
}

static bool range_of_insn(const struct question *q, const struct pt_insn *insn, unsigned depth,
                          struct range *r)
{
    const struct pt_form *form = pt_insn_form(q->j->unit->m, insn);
    const struct pt_operand *o = &q->j->unit->f->operands.v[insn->operands];
    struct range a, b;
    uint64_t by;
    if (!pt_type_is_int((enum pt_type)form->type[0]) ||
        pt_type_bits((enum pt_type)form->type[0]) != 32)
        return false;
    switch ((enum pt_op)form->op) {
    case PT_OP_mov:
    case PT_OP_mov_sreg:
        return range_of(q, &o[1], depth, r);
    case PT_OP_add_int:
    case PT_OP_sub_int:
        return range_of(q, &o[1], depth, &a) && range_of(q, &o[2], depth, &b) &&
               range_of_sum(q, &a, &b, form->op == PT_OP_sub_int, r);
    case PT_OP_mul_lo:
        return range_of_product(q, &o[1], depth, r);
    case PT_OP_mad_lo:
        return range_of_product(q, &o[1], depth, &a) && range_of(q, &o[3], depth, &b) &&
               range_of_sum(q, &a, &b, false, r);
    case PT_OP_shl:
        return jit_def_use_constant(q->j->facts, &o[2], &by) && by < 16 &&
               range_of(q, &o[1], depth, &a) && scale(q, &a, (uint64_t)1 << by, r);
    default:
        return false;
    }
}

/* Of an operand of 32 bits. */
static bool range_of(const struct question *q, const struct pt_operand *o, unsigned depth,
                     struct range *r)
{
    const struct jit_facts *a = q->j->facts;
    if (depth == JIT_CHAIN_DEPTH || o->select || (o->flags & PT_OPND_MINUS))
        return false;
    if (o->kind == PT_OPND_REG &&
        pt_type_bits((enum pt_type)q->j->unit->f->regs.v[o->index].type) != 32)
        return false;
    if (is_tid(o)) {
        *r = range_of_tid(q, o);
        return true;
    }
    if (is_agreed(q, o)) {
        if (o->kind == PT_OPND_REG && !jit_remat_compute(q->j, o->index, q->done))
            return false;
        *r = point(q, jit_registers_read(q->j, o, 0, PT_u32, 1, false));
        return true;
    }
    return o->kind == PT_OPND_REG && a->regs[o->index].def != UINT32_MAX &&
           range_of_insn(q, &a->unit->f->insns.v[a->regs[o->index].def], depth + 1, r);
}

/* ---- predicates ------------------------------------------------------------------------------ */

/* Both ends are values of the comparison's type. */
static LLVMValueRef is_value(const struct question *q, const struct range *r)
{
    LLVMBuilderRef b = q->j->code->b;
    uint64_t least = q->is_signed ? (uint64_t)INT32_MIN : 0;
    uint64_t most = q->is_signed ? INT32_MAX : UINT32_MAX;
    return LLVMBuildAnd(b, LLVMBuildICmp(b, LLVMIntSGE, r->low, jit_i64(q->j, least), ""),
                        LLVMBuildICmp(b, LLVMIntSLE, r->high, jit_i64(q->j, most), ""), "");
}

static LLVMValueRef compare(const struct question *q, LLVMValueRef x, LLVMValueRef y)
{
    LLVMTypeRef i32 = LLVMInt32TypeInContext(q->j->code->context);
    return jit_predicate_bounds_compare(q->j, LLVMBuildTrunc(q->j->code->b, x, i32, ""),
                                        LLVMBuildTrunc(q->j->code->b, y, i32, ""));
}

/* Of an order between two ranges: it holds for all, or for none, if it does for the least of one
 * and the greatest of the other, both ways. */
static bool bounds_of_compare(struct question *q, struct jit_bounds *bounds)
{
    const struct pt_operand *o = &q->j->unit->f->operands.v[q->j->insn->operands + 1];
    enum pt_type type = (enum pt_type)q->j->form->type[0];
    struct range x, y;
    q->is_signed = pt_type_class(type) == PT_CLASS_S;
    if (q->j->insn->n_operands != 3 || pt_type_bits(type) != 32 ||
        pt_form_has(q->j->form, PT_M_eq) || pt_form_has(q->j->form, PT_M_ne) ||
        !range_of(q, &o[0], 0, &x) || !range_of(q, &o[1], 0, &y))
        return false;
    q->has_two |= !is_agreed(q, &o[0]) && !is_agreed(q, &o[1]);
    LLVMBuilderRef b = q->j->code->b;
    LLVMValueRef one = compare(q, x.low, y.high), other = compare(q, x.high, y.low);
    LLVMValueRef holds = LLVMBuildAnd(b, is_value(q, &x), is_value(q, &y), "");
    bounds->all = LLVMBuildAnd(b, holds, LLVMBuildAnd(b, one, other, ""), "");
    bounds->none = LLVMBuildAnd(b, holds, LLVMBuildNot(b, LLVMBuildOr(b, one, other, ""), ""), "");
    return true;
}

/* Of the predicate in the threads of the CTA. False: nothing is known. */
static bool bounds_of(struct question *q, const struct pt_operand *o, unsigned depth,
                      struct jit_bounds *bounds)
{
    const struct jit_facts *a = q->j->facts;
    uint32_t def = a->regs[o->index].def;
    struct jit_bounds x, y;
    if (o->kind != PT_OPND_REG || def == UINT32_MAX || depth > JIT_BOUNDS_DEPTH)
        return false;
    jit_visit_insn(q->j, def);
    const struct pt_form *form = q->j->form;
    const struct pt_operand *s = &a->unit->f->operands.v[q->j->insn->operands];
    switch ((enum pt_op)form->op) {
    case PT_OP_setp_int:
        if (!bounds_of_compare(q, bounds))
            return false;
        break;
    case PT_OP_and_pred:
    case PT_OP_or_pred:
        if (!bounds_of(q, &s[1], depth + 1, &x) || !bounds_of(q, &s[2], depth + 1, &y))
            return false;
        *bounds = jit_predicate_bounds_join(q->j, form, x, y);
        break;
    case PT_OP_not_pred:
        if (!bounds_of(q, &s[1], depth + 1, &x))
            return false;
        *bounds = (struct jit_bounds){x.none, x.all};
        break;
    default:
        return false;
    }
    if (o->flags & PT_OPND_NEG)
        *bounds = (struct jit_bounds){bounds->none, bounds->all};
    return true;
}

/* ---- the kernel's first block ---------------------------------------------------------------- */

static bool ends(const struct jit *j, uint32_t block)
{
    const struct pt_insn *insn = &j->unit->f->insns.v[j->unit->f->blocks.v[block].first];
    enum pt_op op = (enum pt_op)pt_insn_form(j->unit->m, insn)->op;
    return (op == PT_OP_ret || op == PT_OP_exit) && !insn->guard;
}

/* All that the instruction reads has been written before it, in the kernel's first block. */
static bool reads_written(const struct jit *j, uint32_t insn)
{
    struct jit_sources s;
    if (!jit_def_use_sources(j->facts, insn, &s))
        return false;
    for (uint32_t i = 0; i < s.n; i++)
        if (j->facts->regs[s.regs[i]].only >= insn)
            return false;
    return true;
}

/* The block's last instruction ends, or goes to where they end, the lanes that its guard takes or
 * leaves: *takes. Nothing before it does more than compute. */
static bool begins_with_guard(const struct jit *j, bool *takes)
{
    const struct pt_func *f = j->unit->f;
    const struct pt_block *b = &f->blocks.v[0];
    const struct pt_insn *last = &f->insns.v[b->first + b->count - 1];
    enum pt_op op = (enum pt_op)pt_insn_form(j->unit->m, last)->op;
    if (!last->guard || b->n_pred || b->loop || b->next == UINT32_MAX)
        return false;
    for (uint32_t i = b->first; i < b->first + b->count; i++)
        if (!reads_written(j, i) ||
            (&f->insns.v[i] != last && !jit_def_use_may_repeat(j->facts, &f->insns.v[i])))
            return false;
    *takes = op == PT_OP_ret || op == PT_OP_exit ||
             (op == PT_OP_bra && ends(j, f->operands.v[last->operands].index));
    return *takes || (op == PT_OP_bra && ends(j, b->next));
}

/* Native code runs the CTA from its start and nobody counts who starts. It may have several groups:
 * of one the guard itself tells as much. */
static bool applies(const struct jit *j, const struct jit_plan *plan)
{
    const uint32_t *block = j->facts->uniformity->shape.block;
    bool has_groups =
        !block[0] || block[0] * block[1] * block[2] > j->unit->width * j->facts->copies;
    return has_groups && !j->facts->is_resumable && !plan->interleave.region &&
           !jit_is_covered(j->unit);
}

bool jit_idle_cta_end(const struct jit *before, const struct jit_plan *plan)
{
    struct jit at = *before, *j = &at;
    struct question q = {.j = j};
    struct jit_bounds bounds;
    bool takes;
    if (!applies(j, plan) || !begins_with_guard(j, &takes))
        return true;
    const struct pt_block *b = &j->unit->f->blocks.v[0];
    const struct pt_insn *last = &j->unit->f->insns.v[b->first + b->count - 1];
    struct pt_operand guard = {.kind = PT_OPND_REG, .index = last->guard};
    q.done = pt_arena_alloc(j->unit->arena, pt_bit_words(j->unit->f->regs.n) * sizeof *q.done);
    at.group = jit_i32(j, 0);
    if (!bounds_of(&q, &guard, 0, &bounds))
        return !*j->unit->why;
    if (!q.has_two)
        return true;
    LLVMValueRef leave = takes != (bool)last->guard_neg ? bounds.all : bounds.none;
    LLVMBasicBlockRef idle = jit_new_block(j, "idle"), go_on = jit_new_block(j, "");
    LLVMBuildCondBr(j->code->b, leave, idle, go_on);
    jit_continue_in(j, idle);
    jit_end_cta(j);
    jit_continue_in(j, go_on);
    return true;
}
