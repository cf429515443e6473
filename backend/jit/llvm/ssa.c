/* SSA construction: variables become values. LLVM's pass for this looks, for each variable, at all
 * blocks that a store dominates; with a mask a block and a variable a register that grows with the
 * square of a kernel's length. Here the work for a variable is the blocks it lives in (Braun and
 * others, Simple and Efficient Construction of Static Single Assignment Form, 2013, made to run
 * over one variable at a time).
 */
#include "backend/jit/llvm/ssa.h"

#include <stdlib.h>

#include "backend/jit/jit.h"
#include "backend/jit/tune.h"

typedef PT_VEC(LLVMValueRef) values;

struct block {
    LLVMBasicBlockRef is;
    uint32_t n_preds, preds; /* in promote.preds: an entry for each edge */
    uint32_t variable;       /* whose the following are */
    LLVMValueRef in;         /* its value at the block's start, where known */
    LLVMValueRef store;      /* the last one, or NULL */
};

struct variable {
    LLVMValueRef is; /* an alloca */
    uint32_t order;  /* among all, as they stand in the function */
    PT_VEC(struct access {
        LLVMValueRef is;
        uint32_t block;
        bool is_store; /* not a load */
    })
    accesses; /* as they stand in the function */
};

/* JIT_SSA_WORK and JIT_SSA_PHI_VALUES are what it may cost in all. Variables for which that is used
 * up become values only where they live in one block. */
struct promote {
    struct jit_code *code;
    struct pt_arena *arena;
    uint32_t work, n_phi_values;
    struct block *blocks; /* by address */
    uint32_t n_blocks, *preds;
    struct variable *variables; /* by address */
    uint32_t n_variables, *in_order;
    uint32_t now;   /* the variable at work, counted from 1 */
    bool is_of_row; /* it has a value before the row's first CTA, and goes on in the next */
    LLVMTypeRef type;
    PT_VEC(struct phi {
        LLVMValueRef is;
        uint32_t block;
    })
    phis;                 /* its own */
    uint32_t n_load_phis; /* so many of them, the first, are in place of loads */
};

static int by_address(const void *a, const void *b)
{
    uintptr_t x = (uintptr_t)*(void *const *)a, y = (uintptr_t)*(void *const *)b;
    return (x > y) - (x < y);
}

static uint32_t block_of(const struct promote *p, LLVMBasicBlockRef b)
{
    const struct block *found = bsearch(&b, p->blocks, p->n_blocks, sizeof *p->blocks, by_address);
    return (uint32_t)(found - p->blocks);
}

/* ---- what there is --------------------------------------------------------------------------- */

static void find_blocks(struct promote *p, LLVMValueRef function)
{
    p->blocks = pt_arena_alloc(p->arena, LLVMCountBasicBlocks(function) * sizeof *p->blocks);
    p->n_blocks = 0;
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(function); b; b = LLVMGetNextBasicBlock(b))
        p->blocks[p->n_blocks++].is = b;
    qsort(p->blocks, p->n_blocks, sizeof *p->blocks, by_address);
}

static unsigned successors(const struct block *b)
{
    LLVMValueRef end = LLVMGetBasicBlockTerminator(b->is);
    return end ? LLVMGetNumSuccessors(end) : 0;
}

static struct block *successor(const struct promote *p, const struct block *b, unsigned k)
{
    return &p->blocks[block_of(p, LLVMGetSuccessor(LLVMGetBasicBlockTerminator(b->is), k))];
}

static void find_edges(struct promote *p)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < p->n_blocks; i++)
        for (unsigned k = 0; k < successors(&p->blocks[i]); k++, n++)
            successor(p, &p->blocks[i], k)->n_preds++;
    p->preds = pt_arena_alloc(p->arena, n * sizeof *p->preds);
    for (uint32_t i = 0, at = 0; i < p->n_blocks; i++) {
        p->blocks[i].preds = at;
        at += p->blocks[i].n_preds;
        p->blocks[i].n_preds = 0;
    }
    for (uint32_t i = 0; i < p->n_blocks; i++)
        for (unsigned k = 0; k < successors(&p->blocks[i]); k++) {
            struct block *to = successor(p, &p->blocks[i], k);
            p->preds[to->preds + to->n_preds++] = i;
        }
}

/* All of it is read and written, and nothing else done with it. */
static bool is_variable(LLVMValueRef alloca)
{
    LLVMTypeRef type = LLVMGetAllocatedType(alloca);
    for (LLVMUseRef use = LLVMGetFirstUse(alloca); use; use = LLVMGetNextUse(use)) {
        LLVMValueRef user = LLVMGetUser(use);
        bool is_load = LLVMIsALoadInst(user), is_store = LLVMIsAStoreInst(user);
        if ((!is_load && !is_store) || LLVMGetVolatile(user) ||
            LLVMGetOrdering(user) != LLVMAtomicOrderingNotAtomic ||
            (is_store && LLVMGetOperand(user, 0) == alloca) ||
            LLVMTypeOf(is_load ? user : LLVMGetOperand(user, 0)) != type)
            return false;
    }
    return true;
}

static void find_variables(struct promote *p, LLVMValueRef function)
{
    PT_VEC(struct variable) found = {0};
    LLVMBasicBlockRef entry = LLVMGetEntryBasicBlock(function);
    for (LLVMValueRef i = LLVMGetFirstInstruction(entry); i; i = LLVMGetNextInstruction(i))
        if (LLVMIsAAllocaInst(i) && is_variable(i)) {
            struct variable *v = pt_vec_push(p->arena, &found);
            v->is = i;
            v->order = found.n - 1;
        }
    p->variables = found.v;
    p->n_variables = found.n;
    qsort(found.v, found.n, sizeof *found.v, by_address);
    p->in_order = pt_arena_alloc(p->arena, found.n * sizeof *p->in_order);
    for (uint32_t i = 0; i < found.n; i++)
        p->in_order[found.v[i].order] = i;
}

static void find_accesses(struct promote *p, LLVMValueRef function)
{
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(function); b; b = LLVMGetNextBasicBlock(b)) {
        uint32_t block = block_of(p, b);
        for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i)) {
            if (!LLVMIsALoadInst(i) && !LLVMIsAStoreInst(i))
                continue;
            LLVMValueRef pointer = LLVMGetOperand(i, LLVMIsAStoreInst(i) ? 1 : 0);
            struct variable *v =
                bsearch(&pointer, p->variables, p->n_variables, sizeof *p->variables, by_address);
            if (v)
                *pt_vec_push(p->arena, &v->accesses) =
                    (struct access){i, block, LLVMIsAStoreInst(i)};
        }
    }
}

/* ---- one variable ---------------------------------------------------------------------------- */

/* What is known of the variable in the block. */
static struct block *look(struct promote *p, uint32_t block)
{
    struct block *b = &p->blocks[block];
    if (b->variable != p->now) {
        b->variable = p->now;
        b->in = b->store = NULL;
    }
    return b;
}

static LLVMValueRef new_phi(struct promote *p, uint32_t block)
{
    LLVMBuilderRef builder = p->code->b;
    LLVMPositionBuilderBefore(builder, LLVMGetFirstInstruction(p->blocks[block].is));
    LLVMSetCurrentDebugLocation2(builder, NULL);
    LLVMValueRef phi = LLVMBuildPhi(builder, p->type, "");
    *pt_vec_push(p->arena, &p->phis) = (struct phi){phi, block};
    return p->blocks[block].in = phi;
}

/* Its value at the start of a block: a phi where edges meet, else what the one block before leaves.
 * Where a CTA starts it holds nothing, unless it is the row's. */
static LLVMValueRef value_in(struct promote *p, uint32_t block)
{
    LLVMValueRef value = NULL;
    uint32_t at = block;
    for (uint32_t steps = 0; !value; steps++) {
        struct block *b = look(p, at);
        if (b->in)
            value = b->in;
        else if ((b->is == p->code->start && !p->is_of_row) || !b->n_preds ||
                 steps > p->n_blocks) /* nothing enters it, or a cycle */
            value = LLVMConstNull(p->type);
        else if (b->n_preds > 1)
            value = new_phi(p, at);
        else if (look(p, at = p->preds[b->preds])->store)
            value = LLVMGetOperand(p->blocks[at].store, 0);
        p->work++;
    }
    for (uint32_t b = block; b != at && !p->blocks[b].in; b = p->preds[p->blocks[b].preds])
        p->blocks[b].in = value;
    return value;
}

static LLVMValueRef value_out(struct promote *p, uint32_t block)
{
    struct block *b = look(p, block);
    return b->store ? LLVMGetOperand(b->store, 0) : value_in(p, block);
}

/* Loads become what the block has stored before, or a phi at its start, which simplifies where one
 * edge comes in. */
static void replace_loads(struct promote *p, const struct variable *v)
{
    for (uint32_t i = 0; i < v->accesses.n; i++) {
        const struct access *access = &v->accesses.v[i];
        struct block *b = look(p, access->block);
        if (access->is_store) {
            b->store = access->is;
            continue;
        }
        LLVMValueRef value = b->store ? LLVMGetOperand(b->store, 0)
                             : b->in  ? b->in
                                      : new_phi(p, access->block);
        LLVMReplaceAllUsesWith(access->is, value);
        LLVMInstructionEraseFromParent(access->is);
    }
}

static void fill_phis(struct promote *p)
{
    for (uint32_t i = 0; i < p->phis.n; i++) { /* which adds more of them */
        struct phi phi = p->phis.v[i];
        const struct block *b = &p->blocks[phi.block];
        p->work += b->n_preds;
        for (uint32_t k = 0; k < b->n_preds; k++) {
            uint32_t from = p->preds[b->preds + k];
            LLVMValueRef value = value_out(p, from);
            LLVMAddIncoming(phi.is, &value, &p->blocks[from].is, 1);
        }
    }
}

/* The one value that a phi has but for itself; NULL: there are several. */
static LLVMValueRef only_value(struct promote *p, LLVMValueRef phi)
{
    LLVMValueRef only = NULL;
    for (unsigned k = 0; k < LLVMCountIncoming(phi); k++) {
        LLVMValueRef value = LLVMGetIncomingValue(phi, k);
        if (value == phi || value == only)
            continue;
        if (only)
            return NULL;
        only = value;
    }
    return only ? only : LLVMConstNull(p->type);
}

/* A phi of one value goes: true. */
static bool simplify_phi(struct promote *p, struct phi *phi)
{
    LLVMValueRef value = phi->is ? only_value(p, phi->is) : NULL;
    if (!value)
        return false;
    LLVMReplaceAllUsesWith(phi->is, value);
    LLVMInstructionEraseFromParent(phi->is);
    phi->is = NULL;
    return true;
}

static void forget_simplified(struct promote *p)
{
    uint32_t kept = 0, kept_of_loads = 0;
    for (uint32_t i = 0; i < p->phis.n; i++)
        if (p->phis.v[i].is) {
            kept_of_loads += i < p->n_load_phis;
            p->phis.v[kept++] = p->phis.v[i];
        }
    p->phis.n = kept;
    p->n_load_phis = kept_of_loads;
}

/* Phis of one value go. Those nearest to stores come first, or uses would move from one to the next
 * many times: of those in place of loads the first, of those before them the last made. */
static void simplify_phis(struct promote *p)
{
    uint32_t n_simplified;
    do {
        n_simplified = 0;
        for (uint32_t i = p->phis.n; i-- > p->n_load_phis;)
            n_simplified += simplify_phi(p, &p->phis.v[i]);
        for (uint32_t i = 0; i < p->n_load_phis; i++)
            n_simplified += simplify_phi(p, &p->phis.v[i]);
        forget_simplified(p);
    } while (n_simplified);
}

/* It is written where the function begins, before any CTA starts. */
static bool is_of_row(const struct promote *p, const struct variable *v)
{
    const struct access *first = v->accesses.v;
    return v->accesses.n && first->is_store &&
           LLVMGetNextBasicBlock(p->blocks[first->block].is) == p->code->start;
}

static void promote(struct promote *p, const struct variable *v)
{
    p->now++;
    p->is_of_row = is_of_row(p, v);
    p->type = LLVMGetAllocatedType(v->is);
    p->phis.n = 0;
    replace_loads(p, v);
    p->n_load_phis = p->phis.n;
    fill_phis(p);
    simplify_phis(p);
    for (uint32_t i = 0; i < p->phis.n; i++)
        p->n_phi_values += LLVMCountIncoming(p->phis.v[i].is);
    for (uint32_t i = 0; i < v->accesses.n; i++)
        if (v->accesses.v[i].is_store)
            LLVMInstructionEraseFromParent(v->accesses.v[i].is);
    LLVMInstructionEraseFromParent(v->is);
}

static bool lives_in_one_block(const struct variable *v)
{
    for (uint32_t i = 1; i < v->accesses.n; i++)
        if (v->accesses.v[i].block != v->accesses.v[0].block)
            return false;
    return v->accesses.n == 0 || v->accesses.v[0].is_store;
}

/* It stays a variable, of zero at first as the values of others are. */
static void keep(struct promote *p, const struct variable *v)
{
    LLVMBasicBlockRef entry = LLVMGetEntryBasicBlock(p->code->function);
    LLVMPositionBuilderBefore(p->code->b, LLVMGetBasicBlockTerminator(entry));
    LLVMBuildStore(p->code->b, LLVMConstNull(LLVMGetAllocatedType(v->is)), v->is);
}

bool jit_ssa_promote(struct jit_code *code)
{
    struct promote p = {.code = code, .arena = code->unit->arena};
    find_blocks(&p, code->function);
    find_edges(&p);
    find_variables(&p, code->function);
    find_accesses(&p, code->function);
    bool all = true;
    for (uint32_t i = 0; i < p.n_variables; i++) {
        const struct variable *v = &p.variables[p.in_order[i]];
        bool is_cheap = p.work < JIT_SSA_WORK && p.n_phi_values < JIT_SSA_PHI_VALUES;
        bool becomes_value = is_cheap || lives_in_one_block(v);
        if (becomes_value)
            promote(&p, v);
        else
            keep(&p, v);
        all = all && becomes_value;
    }
    return all;
}
