/* Loops that run lane by lane. Where lanes leave a loop at different times and it does little but load from anywhere (the rows of
 * a sparse matrix), a group goes round for its longest lane, with an access for each lane every time; a lane on its own goes
 * round as often as it needs, through memory that it walks in order. Not where a round's addresses come from what the last one
 * loaded: there lanes wait for memory together, or each for itself.
 */
#include "backend/jit/gen.h"

#include <string.h>

enum { LOADS_LEAST = 5 }; /* one instruction in so many is a load */

/* ---- which loops ----------------------------------------------------------------------------- */

static bool is_live_into(const struct jit *j, uint32_t block, uint32_t reg)
{
    return jit_set_has(j->live_in + (size_t)block * ((j->f->regs.n + 63) / 64), reg);
}

/* The base of a plain load from memory that lanes share; NULL if the instruction is none. */
static const struct pt_operand *load_base(const struct jit *j, const struct pt_insn *insn)
{
    const struct pt_form *form = pt_insn_form(j->m, insn);
    if ((form->op != PT_OP_ld && form->op != PT_OP_ld_nc) || pt_order_of(form) != PT_ORDER_PLAIN ||
        pt_form_has(form, PT_M_local))
        return NULL;
    const struct pt_operand *mem = &j->f->operands.v[insn->operands + 1];
    const struct pt_operand *base = &j->f->operands.v[mem->index];
    return mem->kind == PT_OPND_MEM && base->kind == PT_OPND_REG ? base : NULL;
}

/* What is loaded is where lanes alone say, or the instruction is pure and says nothing of the lane. */
static bool is_simple(const struct jit *j, const struct pt_insn *insn)
{
    const struct pt_form *form = pt_insn_form(j->m, insn);
    const struct pt_operand *base = load_base(j, insn);
    if (base)
        return j->regs[base->index].shape == JIT_VECTOR;
    for (uint32_t k = 0; k < insn->n_operands; k++)
        if (j->f->operands.v[insn->operands + k].kind == PT_OPND_SREG)
            return false;
    return !(form->effects & ~(uint32_t)PT_FX_FP) && !pt_form_has(form, PT_M_local) &&
           !jit_is_stepped(j, form);
}

struct use {
    const struct jit *j;
    uint32_t block;
    uint64_t *set;
    bool meets, is_fine;
};

static void note_use(void *ud, uint32_t reg, bool is_def)
{
    struct use *u = ud;
    u->meets |= !is_def && jit_set_has(u->set, reg);
}

static void note_def(void *ud, uint32_t reg, bool is_def)
{
    struct use *u = ud;
    if (is_def)
        jit_set_add(u->set, reg);
}

/* Adds to `set` what the block computes from its registers, and from loads if `starts`. */
static void spread(const struct jit *j, const struct pt_block *b, uint64_t *set, bool starts)
{
    for (uint32_t i = b->first; i < b->first + b->count; i++) {
        const struct pt_insn *insn = &j->f->insns.v[i];
        struct use u = {.j = j, .set = set, .meets = starts && load_base(j, insn)};
        pt_insn_regs(j->m, j->f, insn, note_use, &u);
        if (u.meets)
            pt_insn_regs(j->m, j->f, insn, note_def, &u);
    }
}

/* Where a round loads from, or whether it is the last, comes from what rounds before it loaded. */
static bool is_chained(const struct jit *j, uint32_t block)
{
    const struct pt_block *b = &j->f->blocks.v[block];
    size_t words = (j->f->regs.n + 63) / 64;
    uint64_t *set = pt_arena_alloc(j->arena, words * sizeof *set);
    spread(j, b, set, true);
    for (size_t w = 0; w < words; w++)
        set[w] &= j->live_in[block * words + w];
    spread(j, b, set, false);
    for (uint32_t i = b->first; i < b->first + b->count; i++) {
        const struct pt_operand *base = load_base(j, &j->f->insns.v[i]);
        if (base && jit_set_has(set, base->index))
            return true;
    }
    return jit_set_has(set, j->f->insns.v[jit_last_of(j, block)].guard);
}

/* A register goes into the loop, or out of it, as lanes of a vector; others stay as they are. */
static void check_register(void *ud, uint32_t reg, bool is_def)
{
    struct use *u = ud;
    const struct jit *j = u->j;
    bool crosses =
        is_live_into(j, u->block, reg) || is_live_into(j, j->f->blocks.v[u->block].next, reg);
    bool is_bit = j->regs[reg].type == LLVMInt1TypeInContext(j->context);
    if (crosses && (is_bit || (is_def && j->regs[reg].shape != JIT_VECTOR)))
        u->is_fine = false;
}

bool jit_is_serial(const struct jit_gen *g, uint32_t block)
{
    const struct jit *j = g->j;
    const struct pt_block *b = &j->f->blocks.v[block];
    const struct pt_insn *last = &j->f->insns.v[jit_last_of(j, block)];
    uint32_t loads = 0;
    if (block == g->r->entry || !jit_has_mask(g, block) ||
        j->vary->branch[block] <= PT_LEVEL_GROUP || pt_insn_form(j->m, last)->op != PT_OP_bra ||
        !last->guard || b->next == block || j->f->operands.v[last->operands].index != block)
        return false;
    struct use u = {.j = j, .block = block, .is_fine = true};
    for (uint32_t i = b->first; i < b->first + b->count - 1; i++) {
        if (!is_simple(j, &j->f->insns.v[i]))
            return false;
        loads += load_base(j, &j->f->insns.v[i]) != NULL;
    }
    for (uint32_t i = b->first; i < b->first + b->count; i++)
        pt_insn_regs(j->m, j->f, &j->f->insns.v[i], check_register, &u);
    return u.is_fine && loads * LOADS_LEAST >= b->count && !is_chained(j, block);
}

/* ---- the loop -------------------------------------------------------------------------------- */

/* The lanes of a register in memory while the loop runs. */
struct passed {
    uint32_t reg;
    LLVMValueRef lanes; /* alloca of a vector */
};

struct serial {
    struct jit *j;
    struct jit_reg *outer, *inner; /* the registers, of all lanes and of one */
    uint32_t block;
    unsigned copy;
    struct passed *passed;
    uint32_t n;
    uint64_t *seen, *written;
};

static void pass(void *ud, uint32_t reg, bool is_def)
{
    struct serial *s = ud;
    struct jit *j = s->j;
    struct jit_reg *r = &s->inner[reg];
    (void)is_def;
    if (jit_set_has(s->seen, reg))
        return;
    jit_set_add(s->seen, reg);
    bool crosses =
        is_live_into(j, s->block, reg) || is_live_into(j, j->f->blocks.v[s->block].next, reg);
    r->slot[0] = r->shape == JIT_SCALAR && crosses ? r->slot[r->is_per_copy ? s->copy : 0]
                                                   : jit_alloca(j, r->type, "");
    if (r->shape != JIT_SCALAR && crosses) {
        struct pt_operand o = {.kind = PT_OPND_REG, .index = reg};
        enum pt_type type = (enum pt_type)j->f->regs.v[reg].type;
        LLVMValueRef lanes = jit_read(j, &o, s->copy, type, j->width, true);
        s->passed[s->n] = (struct passed){reg, jit_alloca(j, LLVMTypeOf(lanes), "")};
        LLVMBuildStore(j->b, lanes, s->passed[s->n++].lanes);
    }
    r->shape = JIT_SCALAR;
    r->is_per_copy = false;
    memset(r->wide, 0, sizeof r->wide);
    memset(r->fits, 0, sizeof r->fits);
}

/* Registers become those of one lane. */
static void enter(struct serial *s)
{
    struct jit *j = s->j;
    const struct pt_block *b = &j->f->blocks.v[s->block];
    size_t n = j->f->regs.n + 1;
    s->outer = j->regs;
    s->inner = pt_arena_alloc(j->arena, n * sizeof *s->inner);
    s->passed = pt_arena_alloc(j->arena, n * sizeof *s->passed);
    s->seen = pt_arena_alloc(j->arena, (n + 63) / 64 * sizeof *s->seen);
    s->written = pt_arena_alloc(j->arena, (n + 63) / 64 * sizeof *s->written);
    memcpy(s->inner, s->outer, n * sizeof *s->inner);
    struct use defs = {.set = s->written};
    for (uint32_t i = b->first; i < b->first + b->count; i++)
        pt_insn_regs(j->m, j->f, &j->f->insns.v[i], note_def, &defs);
    for (uint32_t i = b->first; i < b->first + b->count; i++)
        pt_insn_regs(j->m, j->f, &j->f->insns.v[i], pass, s);
}

static LLVMValueRef place_of(struct serial *s, uint32_t i, LLVMValueRef lane)
{
    LLVMTypeRef type = s->inner[s->passed[i].reg].type;
    return LLVMBuildGEP2(s->j->b, type, s->passed[i].lanes, &lane, 1, "");
}

/* The loop changes the register, and it is needed behind. */
static bool comes_back(const struct serial *s, uint32_t i)
{
    uint32_t next = s->j->f->blocks.v[s->block].next;
    return jit_set_has(s->written, s->passed[i].reg) && is_live_into(s->j, next, s->passed[i].reg);
}

/* One lane, from its registers until it leaves the loop. */
static bool run_lane(struct serial *s, LLVMValueRef lane)
{
    struct jit *j = s->j;
    const struct pt_block *b = &j->f->blocks.v[s->block];
    const struct pt_insn *last = &j->f->insns.v[jit_last_of(j, s->block)];
    LLVMBasicBlockRef round = jit_new_block(j, "round"), over = jit_new_block(j, "over");
    LLVMValueRef all[JIT_COPIES] = {0};
    uint32_t *insns = pt_arena_alloc(j->arena, b->count * sizeof *insns);
    for (uint32_t i = 0; i < b->count; i++)
        insns[i] = b->first + i;
    for (uint32_t i = 0; i < s->n; i++) {
        const struct jit_reg *r = &s->inner[s->passed[i].reg];
        LLVMValueRef value = LLVMBuildLoad2(j->b, r->type, place_of(s, i, lane), "");
        LLVMBuildStore(j->b, value, r->slot[0]);
    }
    LLVMBuildBr(j->b, round);
    jit_continue_in(j, round);
    if (!jit_run(j, insns, b->count, all))
        return false;
    jit_poll(j, jit_last_of(j, s->block));
    struct pt_operand o = {
        .kind = PT_OPND_REG, .index = last->guard, .flags = last->guard_neg ? PT_OPND_NEG : 0};
    LLVMBuildCondBr(j->b, jit_read(j, &o, 0, PT_pred, 1, true), round, over);
    jit_continue_in(j, over);
    for (uint32_t i = 0; i < s->n; i++) {
        const struct jit_reg *r = &s->inner[s->passed[i].reg];
        if (comes_back(s, i))
            LLVMBuildStore(j->b, LLVMBuildLoad2(j->b, r->type, r->slot[0], ""),
                           place_of(s, i, lane));
    }
    return true;
}

/* The lanes of a mask, upwards. */
static bool run_lanes(struct serial *s, LLVMValueRef mask)
{
    struct jit *j = s->j;
    LLVMTypeRef i32 = LLVMInt32TypeInContext(j->context);
    LLVMValueRef left = jit_alloca(j, i32, "left");
    LLVMBasicBlockRef next = jit_new_block(j, "next_lane"), lane = jit_new_block(j, "lane");
    LLVMBasicBlockRef done = jit_new_block(j, "lanes_done");
    LLVMValueRef bits =
        LLVMBuildBitCast(j->b, mask, LLVMIntTypeInContext(j->context, j->width), "");
    LLVMBuildStore(j->b, LLVMBuildZExtOrBitCast(j->b, bits, i32, ""), left);
    LLVMBuildBr(j->b, next);
    jit_continue_in(j, next);
    bits = LLVMBuildLoad2(j->b, i32, left, "");
    LLVMBuildCondBr(j->b, LLVMBuildICmp(j->b, LLVMIntNE, bits, jit_i32(j, 0), ""), lane, done);
    jit_continue_in(j, lane);
    LLVMValueRef rest = LLVMBuildAnd(j->b, bits, LLVMBuildSub(j->b, bits, jit_i32(j, 1), ""), "");
    LLVMBuildStore(j->b, rest, left);
    LLVMValueRef args[] = {bits, LLVMConstInt(LLVMInt1TypeInContext(j->context), 1, false)};
    if (!run_lane(s, jit_intrinsic(j, "llvm.cttz", i32, args, 2)))
        return false;
    LLVMBuildBr(j->b, next);
    jit_continue_in(j, done);
    return true;
}

/* What one store wrote, a load has before it is in the cache; a load of a vector that many stores wrote would wait until all
 * before it is done, and so would the loop behind that begins with it. Volatile: LLVM would make one load of them. */
static LLVMValueRef gather_passed(struct serial *s, uint32_t i)
{
    struct jit *j = s->j;
    LLVMTypeRef type = s->inner[s->passed[i].reg].type;
    LLVMValueRef lanes = LLVMGetPoison(LLVMVectorType(type, j->width));
    for (unsigned lane = 0; lane < j->width; lane++) {
        LLVMValueRef one = LLVMBuildLoad2(j->b, type, place_of(s, i, jit_i32(j, lane)), "");
        LLVMSetVolatile(one, true);
        lanes = LLVMBuildInsertElement(j->b, lanes, one, jit_i32(j, lane), "");
    }
    return lanes;
}

/* i1: the bases of loads from a base and an index are aligned, and so are all their addresses; NULL: there is none such. */
static LLVMValueRef test_bases(struct serial *s, uint64_t *trusted)
{
    struct jit *j = s->j;
    const struct pt_block *b = &j->f->blocks.v[s->block];
    LLVMValueRef test = NULL;
    for (uint32_t i = b->first; i < b->first + b->count; i++) {
        j->insn = &j->f->insns.v[i];
        j->form = pt_insn_form(j->m, j->insn);
        if (load_base(j, j->insn) && jit_test_base(j, s->copy, s->written, &test))
            jit_set_add(trusted, i);
    }
    return test;
}

/* Without tests in the loop, where one before it does. */
static bool run_tested(struct serial *s, LLVMValueRef test, uint64_t *trusted, LLVMValueRef mask)
{
    struct jit *j = s->j;
    if (!test)
        return run_lanes(s, mask);
    LLVMBasicBlockRef tested = jit_new_block(j, "tested"), slow = jit_new_block(j, "slow");
    LLVMBasicBlockRef after = jit_new_block(j, "after");
    LLVMBuildCondBr(j->b, test, tested, slow);
    jit_continue_in(j, slow);
    bool ok = run_lanes(s, mask);
    LLVMBuildBr(j->b, after);
    jit_continue_in(j, tested);
    j->trusted = trusted;
    ok = ok && run_lanes(s, mask);
    j->trusted = NULL;
    LLVMBuildBr(j->b, after);
    jit_continue_in(j, after);
    return ok;
}

static bool run_copy(struct jit_gen *g, uint32_t block, unsigned copy)
{
    struct jit *j = g->j;
    struct serial s = {.j = j, .block = block, .copy = copy};
    unsigned copies = j->copies;
    LLVMValueRef mask = g->cur[copy] ? jit_flow_mask(j, g->cur[copy]) : jit_mask_all(j);
    enter(&s);
    uint64_t *trusted = pt_arena_alloc(j->arena, (j->f->insns.n + 63) / 64 * sizeof *trusted);
    LLVMValueRef test = test_bases(&s, trusted);
    j->regs = s.inner;
    j->copies = 1;
    bool ok = run_tested(&s, test, trusted, mask);
    j->regs = s.outer;
    j->copies = copies;
    for (uint32_t i = 0; i < s.n; i++)
        if (comes_back(&s, i))
            LLVMBuildStore(j->b, gather_passed(&s, i), s.outer[s.passed[i].reg].slot[copy]);
    return ok;
}

bool jit_run_serial(struct jit_gen *g, uint32_t block)
{
    struct jit *j = g->j;
    j->trusted = NULL;
    for (unsigned u = 0; u < j->copies; u++)
        if (!run_copy(g, block, u))
            return false;
    jit_go_to(g, block, j->f->blocks.v[block].next);
    return true;
}
