/* Short guarded blocks in a row: "if (i < n) a[i] = …; if (i + 1 < n) a[i + 1] = …". Where scalars
 * tell that all lanes of the group pass all of the guards, as most groups do whose guards look for
 * the end of the data, the blocks run as one, and accesses that lie side by side are joined. Other
 * groups go from block to block.
 */
#include "backend/jit/control/superblock.h"

#include <string.h>

#include "backend/jit/analysis/block_order.h"
#include "backend/jit/analysis/def_use.h"
#include "backend/jit/analysis/insn_info.h"
#include "backend/jit/bitset.h"
#include "backend/jit/control/block.h"
#include "backend/jit/control/branch.h"
#include "backend/jit/control/coverage.h"
#include "backend/jit/control/gen.h"
#include "backend/jit/jit.h"
#include "backend/jit/llvm/build.h"
#include "backend/jit/memory/access_path.h"
#include "backend/jit/memory/interleave.h"
#include "backend/jit/tune.h"
#include "backend/jit/value/guard.h"
#include "backend/jit/value/predicate_bounds.h"

struct trace {
    uint32_t from; /* the block behind which it begins */
    uint32_t blocks[JIT_SUPERBLOCK_BLOCKS];
    unsigned n;
    struct jit_order order; /* of them as of one block */
};

/* ---- which blocks ---------------------------------------------------------------------------- */

static const struct pt_insn *last_insn(const struct jit *j, uint32_t block)
{
    return &j->unit->f->insns.v[jit_insn_info_last(j->facts, block)];
}

static bool branches(const struct jit *j, uint32_t block)
{
    return pt_insn_form(j->unit->m, last_insn(j, block))->effects & (PT_FX_BRANCH | PT_FX_END);
}

/* Lanes of the block may leave it for elsewhere; all those of a group go to `next` if its guard, of
 * which scalars tell, does not hold. */
static bool ends_in_guard(const struct jit *j, uint32_t block)
{
    const struct pt_insn *last = last_insn(j, block);
    const struct pt_form *form = pt_insn_form(j->unit->m, last);
    return last->guard && j->facts->uniformity->branch[block] > PT_LEVEL_GROUP &&
           (form->op == PT_OP_bra || form->op == PT_OP_ret || form->op == PT_OP_exit) &&
           jit_predicate_bounds_asks_for_end(j, last->guard);
}

/* Plain operations, loads and stores. */
static bool is_simple(const struct jit *j, uint32_t block)
{
    const struct pt_block *b = &j->unit->f->blocks.v[block];
    for (uint32_t i = b->first; i < b->first + b->count - branches(j, block); i++) {
        const struct pt_form *form = pt_insn_form(j->unit->m, &j->unit->f->insns.v[i]);
        if ((form->effects & ~(uint32_t)(PT_FX_FP | PT_FX_READ | PT_FX_WRITE)) ||
            jit_insn_info_is_stepped(j->facts, form) || jit_insn_info_is_sampled(form, NULL))
            return false;
    }
    return b->count <= JIT_SUPERBLOCK_INSNS;
}

static bool touches_memory(const struct jit *j, uint32_t block)
{
    const struct pt_block *b = &j->unit->f->blocks.v[block];
    for (uint32_t i = b->first; i < b->first + b->count; i++)
        if (pt_insn_form(j->unit->m, &j->unit->f->insns.v[i])->effects & (PT_FX_READ | PT_FX_WRITE))
            return true;
    return false;
}

static bool can_follow(const struct jit_gen *g, uint32_t from, uint32_t block)
{
    const struct pt_func *f = g->j->unit->f;
    uint32_t loop = f->blocks.v[from].loop;
    return block != UINT32_MAX && block > from && jit_is_in(g, block) &&
           f->blocks.v[block].loop == loop && !(loop && f->loops.v[loop - 1].header == block) &&
           is_simple(g->j, block);
}

/* From one guard to the block behind the last; how many guarded blocks among them touch memory. */
static unsigned find_blocks(const struct jit_gen *g, struct trace *t)
{
    const struct jit *j = g->j;
    unsigned n = 0, n_guarded = 0;
    t->n = 0;
    for (uint32_t b = t->from; n < JIT_SUPERBLOCK_BLOCKS;) {
        bool is_guard = ends_in_guard(j, b);
        uint32_t next = j->unit->f->blocks.v[b].next;
        if ((!is_guard && (branches(j, b) || b == t->from)) || !can_follow(g, b, next))
            break;
        t->blocks[n++] = b = next;
        if (is_guard)
            t->n = n;
        n_guarded += is_guard && touches_memory(j, b);
    }
    return n_guarded;
}

static bool is_among(const uint32_t *insns, uint32_t n, uint32_t insn)
{
    for (uint32_t i = 0; i < n; i++)
        if (insns[i] == insn)
            return true;
    return false;
}

/* What the guard of a block in the trace compares is known before the trace runs. */
static bool is_known_before(const struct jit *j, const struct trace *t, uint32_t block)
{
    const struct pt_block *b = &j->unit->f->blocks.v[block];
    uint32_t reg = last_insn(j, block)->guard, only = j->facts->regs[reg].only;
    if (only >= b->first && only < b->first + b->count)
        return is_among(t->order.insns, t->order.n_early, only);
    return jit_predicate_bounds_is_known_in(j, reg, block) &&
           !is_among(t->order.insns, t->order.n, only);
}

/* The trace up to the first guard that is not known before. */
static void cut(const struct jit *j, struct trace *t)
{
    unsigned n = 0;
    for (unsigned i = 0; i < t->n; i++) {
        if (i + 1 == t->n || ends_in_guard(j, t->blocks[i])) {
            n = i + 1;
            if (i + 1 < t->n && !is_known_before(j, t, t->blocks[i]))
                break;
        }
    }
    if (n == t->n)
        return;
    t->n = n;
    t->order = jit_block_order_find_behind(j->facts, t->from, j->low != NULL, t->blocks, t->n);
}

static bool find_trace(struct jit_gen *g, uint32_t from, struct trace *t)
{
    const struct jit *j = g->j;
    t->from = from;
    if (j->facts->is_resumable || jit_set_has(g->code->traced, from) ||
        find_blocks(g, t) < JIT_SUPERBLOCK_GUARDS)
        return false;
    t->order = jit_block_order_find_behind(j->facts, from, j->low != NULL, t->blocks, t->n);
    cut(j, t);
    unsigned n_guards = 1;
    for (unsigned i = 0; i + 1 < t->n; i++)
        n_guards += ends_in_guard(j, t->blocks[i]);
    return n_guards >= JIT_SUPERBLOCK_GUARDS;
}

/* ---- running it ------------------------------------------------------------------------------ */

static bool run(const struct jit *j, const uint32_t *insns, uint32_t n)
{
    LLVMValueRef all[JIT_COPIES] = {0};
    struct jit at = *j;
    for (uint32_t i = 0, count; i < n; i += count) {
        at.block = jit_def_use_block(j->facts, insns[i]);
        for (count = 1; i + count < n && jit_def_use_block(j->facts, insns[i + count]) == at.block;)
            count++;
        if (!jit_block_emit(&at, insns + i, count, all))
            return false;
    }
    return true;
}

static LLVMValueRef and_if(const struct jit *j, LLVMValueRef all, LLVMValueRef one)
{
    return !one ? all : all ? LLVMBuildAnd(j->code->b, all, one, "") : one;
}

/* i1: the group has all its lanes, and no guard keeps one of them from the trace's end; NULL:
 * nobody can tell. The cursor moves from guard to guard. */
static LLVMValueRef all_pass(struct jit_gen *g, const struct trace *t, struct jit *j)
{
    LLVMValueRef all = g->is_full;
    for (unsigned u = 0; !g->is_full && u < j->facts->copies; u++)
        if (g->active[u])
            all = and_if(j, all, jit_all(j, jit_flow_mask(j, g->active[u])));
    for (unsigned i = 0; i < t->n; i++) {
        uint32_t block = i ? t->blocks[i - 1] : t->from;
        const struct pt_insn *last = last_insn(j, block);
        struct pt_operand guard = jit_guard_operand(last);
        struct jit_bounds bounds;
        if (!ends_in_guard(j, block))
            continue;
        j->block = block;
        if (!jit_predicate_bounds_load(j, &guard, &bounds))
            return NULL;
        all = and_if(j, all, bounds.none);
    }
    return all;
}

/* All lanes, from the trace's first block to where its last one ends. */
static bool run_straight(const struct jit_gen *g, const struct trace *t, uint64_t *trusted)
{
    struct jit at = *g->j, behind = *g->j;
    struct jit_gen end = *g;
    const uint32_t *late = t->order.insns + t->order.n_early;
    uint32_t n_late = t->order.n - t->order.n_early, last = t->blocks[t->n - 1];
    at.trusted = trusted;
    at.is_version = true;
    jit_interleave_find(&at, late, n_late);
    for (unsigned i = 0; i < t->n; i++)
        jit_coverage_add_block(&at, t->blocks[i], (LLVMValueRef[JIT_COPIES]){0});
    if (!run(&at, late, n_late))
        return false;
    behind.block = last;
    end.j = &behind;
    memset(end.active, 0, sizeof end.active);
    end.is_full = LLVMConstAllOnes(LLVMInt1TypeInContext(g->j->code->context));
    end.runs_whole = !g->j->unit->f->blocks.v[last].loop;
    return jit_branch_end(&end, last);
}

bool jit_superblock_emit(struct jit_gen *g, uint32_t from)
{
    const struct jit *j = g->j;
    struct trace t;
    if (!find_trace(g, from, &t))
        return true;
    for (unsigned i = 0; i < t.n; i++)
        jit_set_add(g->code->traced, t.blocks[i]);
    bool ok = run(j, t.order.insns, t.order.n_early);
    struct jit at_guard = *j;
    LLVMValueRef pass = ok ? all_pass(g, &t, &at_guard) : NULL;
    if (pass) {
        struct jit_access_tests tests = jit_access_path_test_all(&at_guard, &t.order);
        LLVMBasicBlockRef straight = jit_new_block(j, "straight"), others = jit_new_block(j, "");
        pass = and_if(j, pass, tests.good);
        LLVMBuildCondBr(j->code->b, pass, straight, others);
        jit_continue_in(j, straight);
        ok = run_straight(g, &t, tests.trusted);
        jit_continue_in(j, others);
    }
    return ok;
}
