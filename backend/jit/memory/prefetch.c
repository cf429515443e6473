/* Prefetches: what accesses will need soon. Loops that walk memory in long strides (grid-stride
 * loops above all): the machine's own prefetcher does not follow them, so each access asks for what
 * later rounds will need, or, where CTAs interleave, for what the next CTA will need in this round:
 * when their turn comes, what later rounds asked for is gone. A machine that follows CTAs by itself
 * is not asked: that would only disturb it. Nobody asks for rounds behind the loop's end, where
 * that is known. Lanes that run one after the other walk rows, each of which goes on where another
 * ended as a rule: they ask for what lies further on. Straight code, and loops over a row of the
 * CTA's own, ask for what a later CTA will touch: prefetch_distance.c.
 */
#include "backend/jit/memory/prefetch.h"

#include <stdlib.h>

#include "backend/jit/analysis/def_use.h"
#include "backend/jit/analysis/insn_info.h"
#include "backend/jit/jit.h"
#include "backend/jit/llvm/build.h"
#include "backend/jit/llvm/cpu.h"
#include "backend/jit/memory/nontemporal.h"
#include "backend/jit/memory/prefetch_distance.h"
#include "backend/jit/memory/prefetch_redundant.h"
#include "backend/jit/tune.h"
#include "backend/jit/value/registers.h"
#include "ir/insn.h"

struct step {
    bool is_known;
    LLVMValueRef bytes; /* i64: what one round adds; NULL: nothing */
    bool is_long;
    unsigned unrolled; /* rounds that the kernel has made one of; 0: not known to be several */
};

static const struct step unknown = {false, NULL, false, 0};

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
        const struct pt_block *block = &j->unit->f->blocks.v[b];
        for (s.at = block->first; s.at < block->first + block->count; s.at++)
            pt_insn_regs(j->unit->m, j->unit->f, &j->unit->f->insns.v[s.at], note_def, &s);
    }
    return s;
}

/* ---- what a round adds ----------------------------------------------------------------------- */

static struct step step_of(const struct jit *j, const struct pt_loop *loop, uint32_t reg,
                           unsigned depth);

static struct step step_of_operand(const struct jit *j, const struct pt_loop *loop,
                                   const struct pt_operand *o, unsigned depth)
{
    struct step none = {true, NULL, false, 0};
    return o->kind == PT_OPND_REG ? step_of(j, loop, o->index, depth + 1) : none;
}

/* The operand is the same in all lanes of the group and in all rounds. */
static bool is_fixed(const struct jit *j, const struct pt_loop *loop, const struct pt_operand *o)
{
    int64_t stride;
    return o->kind == PT_OPND_REG && jit_def_use_shape(j->facts, o, &stride) == JIT_SCALAR &&
           !jit_def_use_is_per_copy(j->facts, o) && !find_defs(j, loop, o->index).n;
}

static LLVMValueRef read_fixed(const struct jit *j, const struct pt_operand *o, enum pt_type type)
{
    LLVMValueRef value = jit_registers_read(j, o, 0, type, 1, false);
    return LLVMBuildIntCast2(j->code->b, value, LLVMInt64TypeInContext(j->code->context), true, "");
}

static struct step scale(const struct jit *j, const struct pt_loop *loop, struct step s,
                         const struct pt_operand *by, enum pt_type type)
{
    if (!s.is_known || !s.bytes)
        return s;
    if (by->kind == PT_OPND_IMM) {
        s.bytes = LLVMBuildMul(j->code->b, s.bytes, jit_i64(j, (uint64_t)by->imm), "");
        return s;
    }
    if (!is_fixed(j, loop, by))
        return unknown;
    s.bytes = LLVMBuildMul(j->code->b, s.bytes, read_fixed(j, by, type), "");
    s.is_long = true; /* rows of a matrix */
    return s;
}

static struct step shift(const struct jit *j, struct step s, const struct pt_operand *by)
{
    if (!s.is_known || !s.bytes)
        return s;
    if (by->kind != PT_OPND_IMM)
        return unknown;
    s.bytes = LLVMBuildShl(j->code->b, s.bytes, jit_i64(j, (uint64_t)by->imm & 63), "");
    return s;
}

static struct step sum(const struct jit *j, struct step a, struct step b)
{
    if (!a.is_known || !b.is_known)
        return unknown;
    if (!a.bytes || !b.bytes)
        return a.bytes ? a : b;
    a.bytes = LLVMBuildAdd(j->code->b, a.bytes, b.bytes, "");
    a.is_long |= b.is_long;
    a.unrolled = a.unrolled > b.unrolled ? a.unrolled : b.unrolled;
    return a;
}

/* What the sum adds to its other operand, the same in all lanes and rounds. */
static struct step increment(const struct jit *j, const struct pt_loop *loop,
                             const struct pt_insn *insn, const struct pt_operand **other)
{
    const struct pt_operand *o = &j->unit->f->operands.v[insn->operands];
    if (pt_insn_form(j->unit->m, insn)->op != PT_OP_add_int || insn->guard)
        return unknown;
    bool is_second = o[2].kind == PT_OPND_IMM || is_fixed(j, loop, &o[2]);
    const struct pt_operand *s = is_second ? &o[2] : &o[1];
    *other = is_second ? &o[1] : &o[2];
    if ((*other)->kind != PT_OPND_REG)
        return unknown;
    if (s->kind == PT_OPND_IMM)
        return (struct step){true, jit_i64(j, (uint64_t)s->imm),
                             s->imm >= j->unit->machine->stream_bytes, 0};
    if (!is_fixed(j, loop, s))
        return unknown;
    enum pt_type type = (enum pt_type)pt_insn_form(j->unit->m, insn)->type[0];
    return (struct step){true, read_fixed(j, s, type), true, 0};
}

/* r = r + s, or, where rounds have been unrolled, a = r + s, b = a + s, r = b + s. */
static struct step advance(const struct jit *j, const struct pt_loop *loop, uint32_t reg,
                           const struct pt_insn *insn)
{
    struct step all = {true, NULL, false, 0};
    for (unsigned n = 1; n <= JIT_PREFETCH_UNROLLED; n++) {
        const struct pt_operand *from = NULL;
        all = sum(j, all, increment(j, loop, insn, &from));
        all.unrolled = n;
        if (!all.is_known || from->index == reg)
            return all;
        struct search def = find_defs(j, loop, from->index);
        if (def.n != 1)
            return unknown;
        insn = &j->unit->f->insns.v[def.insn];
    }
    return unknown;
}

static struct step step_of(const struct jit *j, const struct pt_loop *loop, uint32_t reg,
                           unsigned depth)
{
    struct search def = find_defs(j, loop, reg);
    if (!def.n)
        return (struct step){true, NULL, false, 0};
    if (def.n > 1 || depth > JIT_PREFETCH_DEPTH)
        return unknown;
    const struct pt_insn *insn = &j->unit->f->insns.v[def.insn];
    const struct pt_operand *o = &j->unit->f->operands.v[insn->operands];
    const struct pt_form *form = pt_insn_form(j->unit->m, insn);
    enum pt_type type = (enum pt_type)form->type[0];
    if (j->unit->f->regs.v[reg].n_defs > 1)
        return advance(j, loop, reg, insn);
    switch ((enum pt_op)form->op) {
    case PT_OP_add_int:
        return sum(j, step_of_operand(j, loop, &o[1], depth),
                   step_of_operand(j, loop, &o[2], depth));
    case PT_OP_mul_wide:
    case PT_OP_mul_lo:
        return scale(j, loop, step_of_operand(j, loop, &o[1], depth), &o[2], type);
    case PT_OP_mad_wide:
    case PT_OP_mad_lo:
        return sum(j, scale(j, loop, step_of_operand(j, loop, &o[1], depth), &o[2], type),
                   step_of_operand(j, loop, &o[3], depth));
    case PT_OP_shl:
        return shift(j, step_of_operand(j, loop, &o[1], depth), &o[2]);
    case PT_OP_mov:
    case PT_OP_cvta_to:
    case PT_OP_cvt_int:
        return step_of_operand(j, loop, &o[1], depth);
    default:
        return unknown;
    }
}

/* ---- asking ---------------------------------------------------------------------------------- */

enum { SECOND_LEVEL = 2, FIRST_LEVEL = 3 }; /* of caches, as llvm.prefetch has them */

static void ask(const struct jit *j, LLVMValueRef pointer, unsigned bytes, bool writes,
                unsigned level)
{
    LLVMTypeRef i32 = LLVMInt32TypeInContext(j->code->context);
    for (unsigned at = 0; at < bytes; at += j->unit->machine->line_bytes) {
        LLVMValueRef args[] = {jit_at(j, pointer, jit_i64(j, at)), LLVMConstInt(i32, writes, false),
                               LLVMConstInt(i32, level, false), LLVMConstInt(i32, 1, false)};
        jit_intrinsic(j, "llvm.prefetch", LLVMTypeOf(pointer), args, 4);
    }
}

/* An access goes through the register, with or without another offset. */
static bool goes_through(const struct jit *j, const struct pt_insn *insn, uint32_t reg)
{
    for (uint32_t k = 0; k < insn->n_operands; k++) {
        const struct pt_operand *o = &j->unit->f->operands.v[insn->operands + k];
        if (o->kind == PT_OPND_MEM && j->unit->f->operands.v[o->index].kind == PT_OPND_REG &&
            j->unit->f->operands.v[o->index].index == reg)
            return true;
    }
    return false;
}

/* Straight code. The first access through an address asks, for writing if a store follows near
 * by. */
static void ask_behind(const struct jit *j, uint32_t reg, LLVMValueRef pointer, unsigned bytes)
{
    uint32_t at = (uint32_t)(j->insn - j->unit->f->insns.v),
             first = at > JIT_PREFETCH_NEAR ? at - JIT_PREFETCH_NEAR : 0;
    uint32_t end =
        j->unit->f->insns.n - at > JIT_PREFETCH_NEAR ? at + JIT_PREFETCH_NEAR : j->unit->f->insns.n;
    bool writes = false;
    for (uint32_t i = first; i < at; i++)
        if (goes_through(j, &j->unit->f->insns.v[i], reg))
            return;
    for (uint32_t i = at; i < end && !writes; i++)
        writes = (pt_insn_form(j->unit->m, &j->unit->f->insns.v[i])->effects & PT_FX_WRITE) &&
                 goes_through(j, &j->unit->f->insns.v[i], reg);
    LLVMValueRef behind =
        jit_prefetch_redundant_applies(j) ? NULL : jit_prefetch_distance_behind(j, reg);
    if (!behind)
        return;
    LLVMValueRef next = jit_at(j, pointer, behind);
    if (jit_nontemporal_applies(j)) /* nobody needs the line: what is at hand anyway */
        next = LLVMBuildSelect(j->code->b, j->code->streams, j->code->scratch, next, "");
    ask(j, next, bytes, writes, SECOND_LEVEL);
}

/* The chunk before has asked for the line: chunks of less than a line go on where others end, in
 * the group or in rows of threads that begin with a line. */
static bool has_asked(const struct jit *j, uint32_t reg, unsigned copy, unsigned bytes)
{
    unsigned line = j->unit->machine->line_bytes;
    unsigned row = j->facts->uniformity->shape.block[0] * (bytes / j->unit->width),
             group = j->facts->copies * bytes;
    bool goes_on =
        !j->facts->regs[reg].is_per_copy || (row && row % line == 0 && group % line == 0);
    return goes_on && bytes < line && copy * bytes % line != 0;
}

/* Rounds with barriers are long, as all groups take part: what is asked for early is gone from the
 * cache when it is needed. */
static unsigned rounds_ahead(const struct jit *j, const struct pt_loop *loop, struct step step)
{
    for (uint32_t b = loop->header; b < loop->end; b++)
        if (jit_insn_info_is_sync(j->facts, b))
            return JIT_PREFETCH_ROUNDS_BARRIER;
    unsigned unrolled = step.unrolled ? step.unrolled : 1;
    return unrolled < JIT_PREFETCH_ROUNDS ? JIT_PREFETCH_ROUNDS / unrolled : 1;
}

/* Where the loop goes round again a number that goes on by the same in each round is compared with
 * one that stays: the two, or false. */
static bool find_counter(const struct jit *j, const struct pt_loop *loop,
                         const struct pt_operand **counter, const struct pt_operand **end)
{
    int64_t stride;
    uint32_t guard = j->unit->f->insns.v[jit_insn_info_last(j->facts, loop->end - 1)].guard;
    if (!guard || j->facts->regs[guard].only == UINT32_MAX)
        return false;
    const struct pt_insn *test = &j->unit->f->insns.v[j->facts->regs[guard].only];
    const struct pt_operand *o = &j->unit->f->operands.v[test->operands + 1];
    if (pt_insn_form(j->unit->m, test)->op != PT_OP_setp_int || test->n_operands != 3)
        return false;
    bool is_first = o[1].kind == PT_OPND_IMM || is_fixed(j, loop, &o[1]);
    *counter = is_first ? &o[0] : &o[1];
    *end = is_first ? &o[1] : &o[0];
    return (*counter)->kind == PT_OPND_REG && !(*counter)->select &&
           jit_def_use_shape(j->facts, *counter, &stride) == JIT_SCALAR &&
           !jit_def_use_is_per_copy(j->facts, *counter) &&
           ((*end)->kind == PT_OPND_IMM || is_fixed(j, loop, *end));
}

/* i1: the loop goes round so many times more; NULL: not known. Behind its end is what nobody asked
 * for, and often no memory at all, which the machine takes long to find out. (Zen 4, 2026-11-27:
 * conv3x3, loops of 32 rounds whose loads overlap, 2.54 of the OpenMP twin's time, 1.37 with this
 * and what prefetch_redundant.c says of loops.) */
static LLVMValueRef goes_on(const struct jit *j, const struct pt_loop *loop, unsigned rounds)
{
    const struct pt_operand *counter, *end;
    LLVMTypeRef i32 = LLVMInt32TypeInContext(j->code->context);
    if (!find_counter(j, loop, &counter, &end) ||
        pt_type_bits((enum pt_type)j->unit->f->regs.v[counter->index].type) != 32)
        return NULL;
    struct step step = step_of(j, loop, counter->index, 0);
    if (!step.is_known || !step.bytes || !LLVMIsAConstantInt(step.bytes))
        return NULL;
    int32_t by = (int32_t)LLVMConstIntGetSExtValue(step.bytes);
    LLVMValueRef at = jit_registers_read(j, counter, 0, PT_u32, 1, false),
                 to = jit_registers_read(j, end, 0, PT_u32, 1, false);
    LLVMValueRef left =
        by < 0 ? LLVMBuildSub(j->code->b, at, to, "") : LLVMBuildSub(j->code->b, to, at, "");
    uint64_t needed = (uint64_t)llabs(by) * rounds;
    return LLVMBuildICmp(j->code->b, LLVMIntUGT, left,
                         LLVMConstInt(i32, needed < UINT32_MAX ? needed : UINT32_MAX, false), "");
}

/* The loop has no barrier, and stores to shared memory. */
static bool fills_tile(const struct jit *j, const struct pt_loop *loop)
{
    bool fills = false;
    for (uint32_t b = loop->header; b < loop->end; b++) {
        const struct pt_block *block = &j->unit->f->blocks.v[b];
        if (jit_insn_info_is_sync(j->facts, b))
            return false;
        for (uint32_t i = block->first; i < block->first + block->count; i++) {
            const struct pt_form *form = pt_insn_form(j->unit->m, &j->unit->f->insns.v[i]);
            fills |= form->op == PT_OP_st && pt_form_has(form, PT_M_shared);
        }
    }
    return fills;
}

static void ask_for_tile(const struct jit *j, uint32_t reg, LLVMValueRef pointer, unsigned bytes)
{
    LLVMValueRef behind = jit_prefetch_distance_of_tile(j, reg);
    if (behind)
        ask(j, jit_at(j, pointer, behind), bytes, false, SECOND_LEVEL);
}

/* Groups take a part of each round, one group after the other (a CTA's row in strides of the CTA):
 * the machine sees parts with holes between them, and no stream. Loops with barriers run all groups
 * in each round. */
static bool leaves_holes(const struct jit *j, const struct pt_loop *loop, struct step step,
                         unsigned bytes)
{
    if (!step.is_known || !step.bytes || step.is_long || !LLVMIsAConstantInt(step.bytes))
        return false;
    if (LLVMConstIntGetSExtValue(step.bytes) <= (int64_t)j->facts->copies * bytes)
        return false;
    for (uint32_t b = loop->header; b < loop->end; b++)
        if (jit_insn_info_is_sync(j->facts, b))
            return false;
    return true;
}

/* For the row of a later CTA, where rows are short enough for it to stay in the cache so long; else
 * for later rounds. */
static void ask_for_row(const struct jit *j, uint32_t reg, LLVMValueRef pointer, unsigned bytes,
                        struct step step)
{
    LLVMBuilderRef b = j->code->b;
    LLVMValueRef behind = jit_prefetch_distance_of_tile(j, reg);
    if (!behind)
        return;
    LLVMValueRef is_near = LLVMBuildICmp(b, LLVMIntULE, behind, jit_i64(j, JIT_PREFETCH_ROWS), "");
    LLVMValueRef later = LLVMBuildMul(b, step.bytes, jit_i64(j, JIT_PREFETCH_ROUNDS), "");
    LLVMValueRef next = jit_at(j, pointer, LLVMBuildSelect(b, is_near, behind, later, ""));
    ask(j, next, bytes, !(j->form->effects & PT_FX_READ), SECOND_LEVEL);
}

void jit_prefetch_emit(const struct jit *j, uint32_t reg, unsigned copy, LLVMValueRef pointer,
                       unsigned bytes)
{
    if (has_asked(j, reg, copy, bytes))
        return;
    uint32_t l = j->unit->f->blocks.v[j->block].loop;
    if (!l) {
        ask_behind(j, reg, pointer, bytes);
        return;
    }
    const struct pt_loop *loop = &j->unit->f->loops.v[l - 1];
    struct step step = step_of(j, loop, reg, 0);
    if (!step.is_known && fills_tile(j, loop))
        ask_for_tile(j, reg, pointer, bytes);
    if (leaves_holes(j, loop, step, bytes))
        ask_for_row(j, reg, pointer, bytes, step);
    if (!step.is_known || !step.bytes || !step.is_long)
        return;
    unsigned rounds = rounds_ahead(j, loop, step);
    LLVMValueRef by = LLVMBuildMul(j->code->b, step.bytes, jit_i64(j, rounds), "");
    LLVMValueRef is_used = goes_on(j, loop, rounds);
    if (is_used)
        by = LLVMBuildSelect(j->code->b, is_used, by, jit_i64(j, 0), "");
    bool writes = !(j->form->effects & PT_FX_READ);
    LLVMValueRef next = jit_at(j, pointer, by);
    bool follows = false;
    LLVMValueRef turns =
        l == j->facts->interleave_loop ? jit_prefetch_distance_of_turns(j, reg, &follows) : NULL;
    if (follows || (!turns && jit_prefetch_redundant_applies(j)))
        return;
    if (turns)
        next = LLVMBuildSelect(j->code->b, jit_interleaves(j), jit_at(j, pointer, turns), next, "");
    ask(j, next, bytes, writes, turns ? FIRST_LEVEL : SECOND_LEVEL);
}

void jit_prefetch_emit_walk(const struct jit *j, uint32_t reg, LLVMValueRef pointer)
{
    uint32_t l = j->unit->f->blocks.v[j->block].loop;
    if (!l || j->unit->machine->follows_parts)
        return;
    struct step step = step_of(j, &j->unit->f->loops.v[l - 1], reg, 0);
    if (!step.is_known || !step.bytes || step.is_long || !LLVMIsAConstantInt(step.bytes))
        return;
    bool is_back = LLVMConstIntGetSExtValue(step.bytes) < 0;
    uint64_t ahead = is_back ? -(uint64_t)JIT_PREFETCH_WALK : JIT_PREFETCH_WALK;
    ask(j, jit_at(j, pointer, jit_i64(j, ahead)), 1, false, FIRST_LEVEL);
}
