/* Divergent loops that run lane by lane. Where lanes leave a loop at different times and it does
 * little but load from anywhere (the rows of a sparse matrix), a group goes round for its longest
 * lane, with an access for each lane every time; a lane on its own goes round as often as it needs,
 * through memory that it walks in order. Lanes of all chunks take one loop, so that the machine
 * seldom meets its end. Not where a round's addresses come from what the last one loaded: there
 * lanes wait for memory together, or each for itself. Several such loops with little between them,
 * as unrolling leaves them, are run by a lane one after the other: it goes on in the same memory.
 * Or as one, where they were one: reroll.c.
 */
#include "backend/jit/control/per_lane_loop.h"

#include <string.h>

#include "backend/jit/analysis/def_use.h"
#include "backend/jit/analysis/insn_info.h"
#include "backend/jit/analysis/loops.h"
#include "backend/jit/bitset.h"
#include "backend/jit/control/block.h"
#include "backend/jit/control/coverage.h"
#include "backend/jit/control/flow.h"
#include "backend/jit/control/gen.h"
#include "backend/jit/control/reroll.h"
#include "backend/jit/control/stop_poll.h"
#include "backend/jit/control/wait_masks.h"
#include "backend/jit/jit.h"
#include "backend/jit/llvm/build.h"
#include "backend/jit/llvm/check.h"
#include "backend/jit/memory/access_path.h"
#include "backend/jit/value/guard.h"
#include "backend/jit/value/registers.h"
#include "backend/jit/value/visit.h"
#include "ir/bits.h"
#include "ir/insn.h"

enum { LANES_MOST = 32 /* that run one after the other in one loop: bits of a word */ };

/* ---- which loops ----------------------------------------------------------------------------- */

/* What is loaded is where lanes alone say, or the instruction is pure and says nothing of the
 * lane. */
static bool is_simple(const struct jit *j, const struct pt_insn *insn)
{
    const struct pt_form *form = pt_insn_form(j->unit->m, insn);
    const struct pt_operand *base = jit_loops_load_base(j->facts, insn);
    if (base)
        return j->facts->regs[base->index].shape == JIT_VECTOR;
    for (uint32_t k = 0; k < insn->n_operands; k++)
        if (j->unit->f->operands.v[insn->operands + k].kind == PT_OPND_SREG)
            return false;
    return !(form->effects & ~(uint32_t)PT_FX_FP) && !pt_form_has(form, PT_M_local) &&
           !jit_insn_info_is_stepped(j->facts, form);
}

/* Blocks that a lane runs from where it waits until it is behind them. */
struct span {
    uint32_t first, end; /* end: the block behind the last */
    uint32_t to;         /* where lanes go on */
};

struct crossing {
    const struct jit *j;
    struct span span;
    bool is_fine;
};

/* Lanes may begin with this block of the span. */
static bool is_start(const struct jit *j, const struct span *span, uint32_t block)
{
    return block == span->first || jit_set_has(jit_def_use_waits(j->facts, span->first), block);
}

/* The register has a value where a lane begins or ends. */
static bool does_cross(const struct jit *j, const struct span *span, uint32_t reg)
{
    bool crosses = jit_def_use_is_live_into(j->facts, span->to, reg);
    for (uint32_t b = span->first; b < span->end; b++)
        crosses |= is_start(j, span, b) && jit_def_use_is_live_into(j->facts, b, reg);
    return crosses;
}

/* A register goes into the blocks, or out of them, as lanes of a vector; others stay as they
 * are. */
static void check_register(void *ud, uint32_t reg, bool is_def)
{
    struct crossing *u = ud;
    const struct jit *j = u->j;
    bool crosses = does_cross(j, &u->span, reg);
    bool is_bit = j->facts->regs[reg].type == LLVMInt1TypeInContext(j->code->context);
    if (crosses && (is_bit || (is_def && j->facts->regs[reg].shape != JIT_VECTOR)))
        u->is_fine = false;
}

static bool are_registers_fine(const struct jit *j, struct span span)
{
    struct crossing u = {.j = j, .span = span, .is_fine = true};
    for (uint32_t b = span.first; b < span.end; b++)
        for (uint32_t i = j->unit->f->blocks.v[b].first; i <= jit_insn_info_last(j->facts, b); i++)
            pt_insn_regs(j->unit->m, j->unit->f, &j->unit->f->insns.v[i], check_register, &u);
    return u.is_fine;
}

bool jit_per_lane_loop_applies(const struct jit_gen *g, uint32_t block)
{
    const struct jit *j = g->j;
    const struct pt_block *b = &j->unit->f->blocks.v[block];
    if (block == g->r->entry || !jit_has_mask(g, block) || !jit_loops_is_loading(j->facts, block))
        return false;
    for (uint32_t i = b->first; i < b->first + b->count - 1; i++)
        if (!is_simple(j, &j->unit->f->insns.v[i]))
            return false;
    return are_registers_fine(j, (struct span){block, block + 1, b->next});
}

/* ---- several loops --------------------------------------------------------------------------- */

/* What lies between loops: instructions that one lane can run alone, and at most a branch onwards,
 * whose target is found. */
static bool is_between(const struct jit_gen *g, uint32_t block, uint32_t *target)
{
    const struct jit *j = g->j;
    const struct pt_block *b = &j->unit->f->blocks.v[block];
    const struct pt_insn *last = &j->unit->f->insns.v[jit_insn_info_last(j->facts, block)];
    bool branches = pt_insn_form(j->unit->m, last)->op == PT_OP_bra;
    for (uint32_t i = b->first; i < b->first + b->count - branches; i++)
        if (!is_simple(j, &j->unit->f->insns.v[i]))
            return false;
    *target = branches ? j->unit->f->operands.v[last->operands].index : block + 1;
    return *target > block && (b->next == block + 1 || (branches && !last->guard));
}

/* The loop at `first`, and others that follow where all blocks up to the last lead there or behind
 * it. */
static struct span find_span(const struct jit_gen *g, uint32_t first)
{
    const struct jit *j = g->j;
    const struct pt_func *f = j->unit->f;
    struct span span = {first, first + 1, f->blocks.v[first].next};
    uint32_t around = f->loops.v[f->blocks.v[first].loop - 1].parent, furthest = first + 1, target;
    if (j->facts->is_resumable || span.to != first + 1 || f->blocks.v[first + 1].loop != around)
        return span;
    for (uint32_t b = first + 1; b < f->blocks.n; b++) {
        struct span longer = {first, b + 1, b + 1};
        bool is_loop = jit_per_lane_loop_applies(g, b);
        uint32_t loop = f->blocks.v[b].loop;
        if (!jit_is_in(g, b) || b == g->r->entry || !jit_has_mask(g, b))
            break;
        if (is_loop && (f->loops.v[loop - 1].parent != around || f->blocks.v[b].next != b + 1))
            break;
        if (!is_loop && (loop != around || !is_between(g, b, &target)))
            break;
        if (!is_loop)
            furthest = target > furthest ? target : furthest;
        else if (furthest <= b + 1 && b + 1 < f->blocks.n && jit_is_in(g, b + 1) &&
                 f->blocks.v[b + 1].loop == around && are_registers_fine(j, longer))
            span = longer;
    }
    return span;
}

/* ---- one lane after the other ---------------------------------------------------------------- */

/* The lanes of a register in memory while they run. */
struct passed {
    uint32_t reg;
    LLVMValueRef lanes; /* alloca of vectors, one a copy */
    LLVMValueRef next;  /* alloca: of the lane that runs next */
};

struct serial {
    const struct jit *j;
    struct jit_reg *outer, *inner; /* the registers, of all lanes and of one */
    struct span span;
    unsigned first, n_copies;        /* of the group: their lanes run one after the other */
    LLVMValueRef all;                /* lanes, as bits */
    LLVMValueRef *lanes;             /* by block of the span: those that begin there; or NULL */
    LLVMValueRef flow[JIT_COPIES];   /* by copy: those that begin with the first block; NULL: all */
    LLVMValueRef group;              /* j->group */
    const struct jit_reroll *reroll; /* the span is two loops of this kind; NULL: it is not */
    struct jit_rounds rounds[JIT_COPIES]; /* by copy */
    bool is_counted;                      /* lanes run these */
    struct passed *passed;
    uint32_t n;
    uint64_t *seen, *written;
};

static void store_passed(struct serial *s, uint32_t i, unsigned u, LLVMValueRef lanes)
{
    LLVMValueRef at = jit_i32(s->j, u - s->first);
    at = LLVMBuildGEP2(s->j->code->b, LLVMTypeOf(lanes), s->passed[i].lanes, &at, 1, "");
    LLVMBuildStore(s->j->code->b, lanes, at);
}

static void pass_lanes(struct serial *s, uint32_t reg)
{
    const struct jit *j = s->j;
    struct pt_operand o = {.kind = PT_OPND_REG, .index = reg};
    enum pt_type type = (enum pt_type)j->unit->f->regs.v[reg].type;
    LLVMTypeRef lanes = LLVMVectorType(s->inner[reg].type, j->unit->width);
    s->passed[s->n] = (struct passed){reg, jit_alloca(j, LLVMArrayType2(lanes, s->n_copies), ""),
                                      jit_alloca(j, s->inner[reg].type, "")};
    for (unsigned u = s->first; u < s->first + s->n_copies; u++)
        store_passed(s, s->n, u, jit_registers_read(j, &o, u, type, j->unit->width, true));
    s->n++;
}

static void pass(void *ud, uint32_t reg, bool is_def)
{
    struct serial *s = ud;
    const struct jit *j = s->j;
    struct jit_reg *r = &s->inner[reg];
    (void)is_def;
    if (jit_set_has(s->seen, reg))
        return;
    jit_set_add(s->seen, reg);
    bool crosses = does_cross(j, &s->span, reg);
    bool is_one = r->shape == JIT_SCALAR && (!r->is_per_copy || s->n_copies == 1);
    r->slot[0] =
        is_one && crosses ? r->slot[r->is_per_copy ? s->first : 0] : jit_alloca(j, r->type, "");
    if (!is_one && crosses)
        pass_lanes(s, reg);
    r->shape = JIT_SCALAR;
    /* a predicate is computed where it stands */
    r->is_per_copy = r->is_bounded = r->is_counter = r->is_sunk = false;
    r->may_wrap = false;
    memset(r->wide, 0, sizeof r->wide);
    memset(r->fits, 0, sizeof r->fits);
}

/* Registers become those of one lane. */
static void enter(struct serial *s)
{
    const struct jit *j = s->j;
    const struct pt_block *blocks = j->unit->f->blocks.v;
    uint32_t first = blocks[s->span.first].first,
             last = jit_insn_info_last(j->facts, s->span.end - 1);
    size_t n = j->unit->f->regs.n + 1;
    s->outer = j->facts->regs;
    s->inner = pt_arena_alloc(j->unit->arena, n * sizeof *s->inner);
    s->passed = pt_arena_alloc(j->unit->arena, n * sizeof *s->passed);
    s->seen = pt_arena_alloc(j->unit->arena, pt_bit_words(n) * sizeof *s->seen);
    s->written = pt_arena_alloc(j->unit->arena, pt_bit_words(n) * sizeof *s->written);
    memcpy(s->inner, s->outer, n * sizeof *s->inner);
    for (uint32_t i = first; i <= last; i++)
        pt_insn_regs(j->unit->m, j->unit->f, &j->unit->f->insns.v[i], jit_def_use_note_write,
                     s->written);
    for (uint32_t i = first; i <= last; i++)
        pt_insn_regs(j->unit->m, j->unit->f, &j->unit->f->insns.v[i], pass, s);
}

static LLVMValueRef place_of(struct serial *s, uint32_t i, LLVMValueRef lane)
{
    LLVMTypeRef type = s->inner[s->passed[i].reg].type;
    return LLVMBuildGEP2(s->j->code->b, type, s->passed[i].lanes, &lane, 1, "");
}

/* The blocks change the register, and it is needed behind. */
static bool comes_back(const struct serial *s, uint32_t i)
{
    uint32_t reg = s->passed[i].reg;
    return jit_set_has(s->written, reg) && jit_def_use_is_live_into(s->j->facts, s->span.to, reg);
}

/* A block of one lane, which then goes on in one of `at`. */
static bool run_alone(struct serial *s, uint32_t block, LLVMBasicBlockRef *at)
{
    struct jit in_block = *s->j;
    const struct jit *j = &in_block;
    const struct pt_block *b = &j->unit->f->blocks.v[block];
    const struct pt_insn *last = &j->unit->f->insns.v[jit_insn_info_last(j->facts, block)];
    LLVMValueRef all[JIT_COPIES] = {0};
    uint32_t *insns = pt_arena_alloc(j->unit->arena, b->count * sizeof *insns),
             first = s->span.first;
    for (uint32_t i = 0; i < b->count; i++)
        insns[i] = b->first + i;
    in_block.block = block;
    jit_coverage_add_block(j, block, all);
    if (!jit_block_emit(j, insns, b->count, all))
        return false;
    jit_visit_insn(&in_block, jit_insn_info_last(j->facts, block));
    if (j->form->effects & PT_FX_BRANCH)
        jit_coverage_add_guard(j, all);
    LLVMBasicBlockRef next = at[block + 1 - first], taken = next;
    if (pt_insn_form(j->unit->m, last)->op == PT_OP_bra)
        taken = at[j->unit->f->operands.v[last->operands].index - first];
    if (taken == at[block - first] && !s->is_counted)
        jit_stop_poll_emit(j, jit_insn_info_last(j->facts, block));
    if (!last->guard || taken == next) {
        LLVMBuildBr(j->code->b, taken);
        return true;
    }
    struct pt_operand o = jit_guard_operand(last);
    LLVMBuildCondBr(j->code->b, jit_registers_read(j, &o, 0, PT_pred, 1, true), taken, next);
    return true;
}

/* Where the lane begins. */
static void start_lane(struct serial *s, LLVMValueRef lane, LLVMBasicBlockRef *at)
{
    const struct jit *j = s->j;
    for (uint32_t i = 1; i < s->span.end - s->span.first; i++) {
        if (!s->lanes[i])
            continue;
        LLVMBasicBlockRef other = jit_new_block(j, "");
        LLVMValueRef here = LLVMBuildLShr(j->code->b, s->lanes[i], lane, "");
        jit_check_proven(j->code, here, "amount"); /* see lowest */
        here = LLVMBuildTrunc(j->code->b, here, LLVMInt1TypeInContext(j->code->context), "");
        LLVMBuildCondBr(j->code->b, here, at[i], other);
        jit_continue_in(j, other);
    }
    LLVMBuildBr(j->code->b, at[0]);
}

/* One lane, from its registers until it is behind the blocks. */
static bool run_lane(struct serial *lanes, LLVMValueRef lane)
{
    struct jit of_lane = *lanes->j;
    struct serial here = *lanes, *s = &here;
    const struct jit *j = s->j = &of_lane;
    uint32_t n = s->span.end - s->span.first;
    LLVMBasicBlockRef *at = pt_arena_alloc(j->unit->arena, (n + 1) * sizeof(LLVMBasicBlockRef));
    for (uint32_t i = 0; i < n; i++)
        at[i] = jit_new_block(j, "alone");
    at[n] = jit_new_block(j, "over");
    if (s->is_counted) {
        const struct jit_reg *left = &s->inner[s->reroll->counter.index];
        LLVMValueRef rounds = LLVMBuildLoad2(j->code->b, left->type, left->slot[0], "");
        jit_stop_poll_emit_rounds(j, jit_insn_info_last(j->facts, s->span.first), rounds);
    }
    LLVMValueRef chunk = LLVMBuildUDiv(j->code->b, lane, jit_i32(j, j->unit->width), "");
    chunk = LLVMBuildAdd(j->code->b, chunk, jit_i32(j, s->first), "");
    of_lane.group = LLVMBuildAdd(j->code->b, s->group, chunk, "");
    of_lane.alone = LLVMBuildAnd(j->code->b, lane, jit_i32(j, j->unit->width - 1), "");
    start_lane(s, lane, at);
    for (uint32_t i = 0; i < n; i++) {
        jit_continue_in(j, at[i]);
        if (!run_alone(s, s->span.first + i, at))
            return false;
    }
    jit_continue_in(j, at[n]);
    for (uint32_t i = 0; i < s->n; i++) {
        const struct jit_reg *r = &s->inner[s->passed[i].reg];
        if (comes_back(s, i))
            LLVMBuildStore(j->code->b, LLVMBuildLoad2(j->code->b, r->type, r->slot[0], ""),
                           place_of(s, i, lane));
    }
    return true;
}

/* The lowest of some lanes; any where there is none. */
static LLVMValueRef lowest(const struct serial *s, LLVMValueRef lanes)
{
    const struct jit *j = s->j;
    LLVMValueRef args[] = {lanes, LLVMConstInt(LLVMInt1TypeInContext(j->code->context), 0, false)};
    LLVMValueRef lane = jit_intrinsic(j, "llvm.cttz", LLVMTypeOf(lanes), args, 2);
    return LLVMBuildAnd(j->code->b, lane, jit_i32(j, s->n_copies * j->unit->width - 1), "");
}

/* Loads what the lane begins with, before it is its turn: how often it goes round is at hand then
 * as soon as the machine finds that the lane before it has ended, which it had not foreseen.
 * Volatile: LLVM would load it where it is needed. */
static void load_next(struct serial *s, LLVMValueRef lane)
{
    const struct jit *j = s->j;
    for (uint32_t i = 0; i < s->n; i++) {
        LLVMTypeRef type = s->inner[s->passed[i].reg].type;
        LLVMValueRef value = LLVMBuildLoad2(j->code->b, type, place_of(s, i, lane), "");
        LLVMSetVolatile(value, true);
        LLVMBuildStore(j->code->b, value, s->passed[i].next);
    }
}

static void take_next(struct serial *s)
{
    for (uint32_t i = 0; i < s->n; i++) {
        const struct jit_reg *r = &s->inner[s->passed[i].reg];
        LLVMValueRef value = LLVMBuildLoad2(s->j->code->b, r->type, s->passed[i].next, "");
        LLVMBuildStore(s->j->code->b, value, r->slot[0]);
    }
}

/* Lanes, given as bits, upwards. */
static bool run_lanes(struct serial *s, LLVMValueRef lanes)
{
    const struct jit *j = s->j;
    LLVMTypeRef i32 = LLVMInt32TypeInContext(j->code->context);
    LLVMValueRef left = jit_alloca(j, i32, "left");
    LLVMBasicBlockRef next = jit_new_block(j, "next_lane"), lane = jit_new_block(j, "lane");
    LLVMBasicBlockRef done = jit_new_block(j, "lanes_done");
    LLVMBuildStore(j->code->b, lanes, left);
    load_next(s, lowest(s, lanes));
    LLVMBuildBr(j->code->b, next);
    jit_continue_in(j, next);
    LLVMValueRef bits = LLVMBuildLoad2(j->code->b, i32, left, "");
    LLVMBuildCondBr(j->code->b, LLVMBuildICmp(j->code->b, LLVMIntNE, bits, jit_i32(j, 0), ""), lane,
                    done);
    jit_continue_in(j, lane);
    LLVMValueRef rest =
        LLVMBuildAnd(j->code->b, bits, LLVMBuildSub(j->code->b, bits, jit_i32(j, 1), ""), "");
    LLVMBuildStore(j->code->b, rest, left);
    take_next(s);
    load_next(s, lowest(s, rest));
    if (!run_lane(s, lowest(s, bits)))
        return false;
    LLVMBuildBr(j->code->b, next);
    jit_continue_in(j, done);
    return true;
}

/* What one store wrote, a load has before it is in the cache; a load of a vector that many stores
 * wrote would wait until all before it is done, and so would the loop behind that begins with it.
 * Volatile: LLVM would make one load of them. */
static LLVMValueRef gather_passed(struct serial *s, uint32_t i, unsigned u)
{
    const struct jit *j = s->j;
    LLVMTypeRef type = s->inner[s->passed[i].reg].type;
    LLVMValueRef lanes = LLVMGetPoison(LLVMVectorType(type, j->unit->width));
    for (unsigned lane = 0; lane < j->unit->width; lane++) {
        LLVMValueRef at = place_of(s, i, jit_i32(j, (u - s->first) * j->unit->width + lane));
        LLVMValueRef one = LLVMBuildLoad2(j->code->b, type, at, "");
        LLVMSetVolatile(one, true);
        lanes = LLVMBuildInsertElement(j->code->b, lanes, one, jit_i32(j, lane), "");
    }
    return lanes;
}

/* i1: the bases of loads from a base and an index are aligned, and so are all their addresses;
 * NULL: there is none such. */
static LLVMValueRef test_bases(struct serial *s, uint64_t *trusted)
{
    const struct jit *j = s->j;
    uint32_t last = jit_insn_info_last(j->facts, s->span.end - 1);
    LLVMValueRef test = NULL;
    for (uint32_t i = j->unit->f->blocks.v[s->span.first].first; i <= last; i++) {
        struct jit at = *j;
        jit_visit_insn(&at, i);
        bool is_tested = jit_loops_load_base(j->facts, at.insn) != NULL;
        for (unsigned u = s->first; u < s->first + s->n_copies && is_tested; u++)
            is_tested = jit_access_path_test_base(&at, u, s->written, &test);
        if (is_tested)
            jit_set_add(trusted, i);
    }
    return test;
}

/* Lanes of all copies as bits, from masks. */
static LLVMValueRef join_bits(const struct serial *s, LLVMValueRef bits, LLVMValueRef mask,
                              unsigned u)
{
    const struct jit *j = s->j;
    LLVMValueRef more = jit_mask_to_bits(j, mask);
    more = LLVMBuildShl(j->code->b, more, jit_i32(j, (u - s->first) * j->unit->width), "");
    return bits ? LLVMBuildOr(j->code->b, bits, more, "") : more;
}

/* All rounds of two loops by the first. */
static bool run_rerolled(struct serial *s)
{
    LLVMValueRef lanes = NULL;
    for (unsigned u = s->first; u < s->first + s->n_copies; u++) {
        lanes = join_bits(s, lanes, s->rounds[u].lanes, u);
        for (uint32_t i = 0; i < s->n; i++)
            if (s->passed[i].reg == s->reroll->counter.index)
                store_passed(s, i, u, s->rounds[u].n);
    }
    s->span.end = s->span.first + 1;
    s->is_counted = true;
    return run_lanes(s, lanes);
}

/* Without tests in the loop, where one before it does. */
static bool run_tested(struct serial *s, LLVMValueRef test, uint64_t *trusted)
{
    const struct jit *j = s->j;
    for (unsigned u = s->first; s->reroll && u < s->first + s->n_copies; u++)
        test = test ? LLVMBuildAnd(j->code->b, test, s->rounds[u].hold, "") : s->rounds[u].hold;
    if (!test)
        return run_lanes(s, s->all);
    LLVMBasicBlockRef tested = jit_new_block(j, "tested"), slow = jit_new_block(j, "slow");
    LLVMBasicBlockRef after = jit_new_block(j, "after");
    jit_branch_mostly(j, test, tested, slow);
    jit_continue_in(j, slow);
    bool ok = run_lanes(s, s->all);
    LLVMBuildBr(j->code->b, after);
    jit_continue_in(j, tested);
    struct jit trusting = *j;
    trusting.trusted = trusted;
    struct serial fast = *s;
    fast.j = &trusting;
    ok = ok && (s->reroll ? run_rerolled(&fast) : run_lanes(&fast, s->all));
    LLVMBuildBr(j->code->b, after);
    jit_continue_in(j, after);
    return ok;
}

static LLVMValueRef mask_of(const struct jit *j, LLVMValueRef flow)
{
    return flow ? jit_flow_mask(j, flow) : jit_mask_all(j);
}

/* Takes the lanes of a copy that run the first block or wait at others of the span. */
static void take_lanes(struct jit_gen *g, struct serial *s, unsigned u)
{
    const struct jit *j = g->j;
    s->flow[u] = g->active[u];
    for (uint32_t b = s->span.first + 1; b < s->span.end; b++) {
        if (!is_start(j, &s->span, b) || !g->active[u])
            continue;
        LLVMValueRef others = LLVMBuildNot(j->code->b, g->active[u], "");
        others = LLVMBuildAnd(j->code->b, jit_wait_masks_waiting(g, b, u), others, "");
        jit_wait_masks_clear(g, b, u);
        LLVMValueRef *lanes = &s->lanes[b - s->span.first];
        *lanes = join_bits(s, *lanes, jit_flow_mask(j, others), u);
        g->active[u] = LLVMBuildOr(j->code->b, g->active[u], others, "");
    }
    s->all = join_bits(s, s->all, mask_of(j, g->active[u]), u);
}

/* Runs what lies between two loops, and counts their rounds. */
static bool reroll(struct jit_gen *g, struct serial *s)
{
    const struct jit *j = g->j;
    uint32_t between = s->span.first + 1;
    const struct pt_block *b = &j->unit->f->blocks.v[between];
    const struct pt_insn *last = &j->unit->f->insns.v[jit_insn_info_last(j->facts, between)];
    struct pt_operand skip = jit_guard_operand(last);
    uint32_t *insns = pt_arena_alloc(j->unit->arena, b->count * sizeof *insns);
    LLVMValueRef lanes[JIT_COPIES];
    for (uint32_t i = 0; i < b->count; i++)
        insns[i] = b->first + i;
    for (unsigned u = 0; u < j->facts->copies; u++)
        lanes[u] = g->active[u] ? jit_flow_mask(j, g->active[u]) : NULL;
    struct jit at = *j;
    at.block = between;
    if (!jit_block_emit(&at, insns, b->count, lanes) ||
        (last->guard && j->facts->regs[last->guard].is_sunk &&
         !jit_block_repeat(&at, j->facts->regs[last->guard].only)))
        return false;
    for (unsigned u = 0; u < j->facts->copies; u++) {
        LLVMValueRef skips =
            last->guard ? jit_flow_mask(j, jit_registers_read_flow(j, &skip, u)) : NULL;
        struct serial *of = &s[u / (LANES_MOST / j->unit->width)];
        of->rounds[u] = jit_reroll_count_rounds(j, of->reroll, u, mask_of(j, of->flow[u]), skips,
                                                mask_of(j, g->active[u]));
    }
    return true;
}

static bool run_copies(struct serial *s)
{
    const struct jit *j = s->j;
    enter(s);
    uint64_t *trusted =
        pt_arena_alloc(j->unit->arena, pt_bit_words(j->unit->f->insns.n) * sizeof *trusted);
    LLVMValueRef test = test_bases(s, trusted);
    /* what lanes run is that of groups of one chunk each: those that fail are named by it */
    s->group = LLVMBuildMul(j->code->b, j->group, jit_i32(j, j->facts->copies), "");
    struct jit_facts of_one = *j->facts;
    of_one.regs = s->inner;
    of_one.copies = 1;
    struct jit one = *j;
    one.facts = &of_one;
    struct serial alone = *s;
    alone.j = &one;
    if (!run_tested(&alone, test, trusted))
        return false;
    for (uint32_t i = 0; i < s->n; i++)
        for (unsigned u = s->first; u < s->first + s->n_copies && comes_back(s, i); u++)
            LLVMBuildStore(j->code->b, gather_passed(s, i, u), s->outer[s->passed[i].reg].slot[u]);
    return true;
}

/* The lanes are behind the span; others may stand where they stood when it began, but for its
 * blocks. */
static void go_behind(struct jit_gen *g, struct span span)
{
    const struct jit *j = g->j;
    uint64_t *waits = pt_arena_alloc(j->unit->arena, j->facts->uniformity->words * sizeof *waits);
    memcpy(waits, jit_def_use_waits(j->facts, span.first),
           j->facts->uniformity->words * sizeof *waits);
    jit_set_add(waits, span.to);
    jit_flow_send(g, span.first + 1, span.to, g->active); /* from outside of the loops */
    jit_flow_go_on_among(g, span.end - 1, j->unit->f->blocks.v[span.to].loop, waits);
}

bool jit_per_lane_loop_emit(struct jit_gen *g, uint32_t block)
{
    const struct jit *j = g->j;
    struct span span = find_span(g, block);
    struct serial s[JIT_COPIES];
    struct jit_reroll pair;
    bool is_pair = !jit_is_covered(j->unit) && span.end == block + 3 &&
                   !is_start(j, &span, block + 2) && jit_loops_find_reroll(j->facts, block, &pair);
    unsigned most = LANES_MOST / j->unit->width, n = 0;
    for (unsigned u = 0; u < j->facts->copies; u += s[n++].n_copies) {
        s[n] = (struct serial){.j = j, .span = span, .first = u, .reroll = is_pair ? &pair : NULL};
        s[n].n_copies = j->facts->copies - u < most ? j->facts->copies - u : most;
        s[n].lanes = pt_arena_alloc(j->unit->arena, (span.end - span.first) * sizeof(LLVMValueRef));
        for (unsigned k = 0; k < s[n].n_copies; k++)
            take_lanes(g, &s[n], u + k);
    }
    if (is_pair && !reroll(g, s))
        return false;
    for (unsigned i = 0; i < n; i++)
        if (!run_copies(&s[i]))
            return false;
    if (span.end == block + 1)
        jit_flow_go_to(g, block, span.to);
    else
        go_behind(g, span);
    return true;
}
