/* Chains of fused f64 operations without a look at NaNs, where none comes out at their end.
 *
 * x * y + z has its own NaN where y and z are NaN and x is not; emit/nan_order.c puts z in y's
 * place then, at each operation. But a NaN stays one through arithmetic, and only which one it is
 * would be wrong. So a run of instructions that write no memory does without; its results are
 * tested at its end, and if one is NaN what led to them is computed again as it was written, in
 * code that hardly ever runs. Loads are made again there: what they gave need not stay in registers
 * for it.
 */
#include "backend/jit/llvm/lazy_nan.h"

#include <string.h>

#include "backend/jit/llvm/build.h"
#include "backend/jit/tune.h"

/* What is known of an instruction of the run. */
struct node {
    LLVMValueRef is, again; /* again: computed exactly, or NULL */
    bool is_raw;            /* arithmetic that may have another NaN */
    bool is_derived;        /* or comes from such */
    bool is_tested, is_needed;
};

struct run {
    struct jit_code *code;
    struct jit at;               /* to build with */
    struct node *nodes;          /* in their order */
    uint32_t n, *table, n_table; /* by address: number + 1 */
    uint32_t n_fused, n_tests;
    LLVMBasicBlockRef head, tail, cold;
};

enum kind { PURE, LOAD, READS, ENDS };

/* ---- instructions ---------------------------------------------------------------------------- */

static bool is_arithmetic(LLVMValueRef i)
{
    if (!LLVMIsACallInst(i))
        return false;
    LLVMValueRef f = LLVMGetCalledValue(i);
    return LLVMIsAInlineAsm(f) && !LLVMGetInlineAsmHasSideEffects(f) &&
           LLVMGetTypeKind(LLVMTypeOf(i)) != LLVMVoidTypeKind;
}

static bool is_intrinsic(LLVMValueRef i, const char *prefix)
{
    size_t n;
    LLVMValueRef f = LLVMIsACallInst(i) ? LLVMGetCalledValue(i) : NULL;
    unsigned id = f && LLVMIsAFunction(f) ? LLVMGetIntrinsicID(f) : 0;
    return id && !strncmp(LLVMIntrinsicGetName(id, &n), prefix, strlen(prefix));
}

static enum kind kind_of_call(LLVMValueRef i)
{
    static const char *const pure[] = {"llvm.x86.avx512.mask.", "llvm.fabs",
                                       "llvm.arithmetic.fence"};
    static const char *const reads[] = {"llvm.masked.load", "llvm.masked.gather", "llvm.prefetch"};
    if (is_arithmetic(i))
        return PURE;
    for (unsigned k = 0; k < sizeof pure / sizeof *pure; k++)
        if (is_intrinsic(i, pure[k]))
            return PURE;
    for (unsigned k = 0; k < sizeof reads / sizeof *reads; k++)
        if (is_intrinsic(i, reads[k]))
            return READS;
    return ENDS;
}

static enum kind kind_of(LLVMValueRef i)
{
    switch (LLVMGetInstructionOpcode(i)) {
    case LLVMCall:
        return kind_of_call(i);
    case LLVMLoad:
        return LLVMGetVolatile(i) || LLVMGetOrdering(i) != LLVMAtomicOrderingNotAtomic ? ENDS
                                                                                       : LOAD;
    case LLVMPHI:
        return READS;
    case LLVMStore:
    case LLVMFence:
    case LLVMAtomicRMW:
    case LLVMAtomicCmpXchg:
    case LLVMAlloca:
        return ENDS;
    default:
        return LLVMIsATerminatorInst(i) ? ENDS : PURE;
    }
}

/* Of a fused operation in which the first factor gives way to what is added: that factor as it is;
 * else NULL. */
static LLVMValueRef first_factor(LLVMValueRef i)
{
    if (!is_arithmetic(i) || LLVMGetNumArgOperands(i) != 3)
        return NULL;
    LLVMValueRef y = LLVMGetOperand(i, 1), z = LLVMGetOperand(i, 2);
    if (is_intrinsic(y, "llvm.x86.avx512.mask.fixupimm") && LLVMGetOperand(y, 1) == z)
        return LLVMGetOperand(y, 0);
    if (!LLVMIsASelectInst(y) || LLVMGetOperand(y, 1) != z)
        return NULL;
    LLVMValueRef test = LLVMGetOperand(y, 0);
    bool is_nan = LLVMIsAFCmpInst(test) && LLVMGetFCmpPredicate(test) == LLVMRealUNO &&
                  LLVMGetOperand(test, 0) == z && LLVMGetOperand(test, 1) == z;
    return is_nan ? LLVMGetOperand(y, 2) : NULL;
}

/* ---- the run --------------------------------------------------------------------------------- */

static uint32_t *place_of(const struct run *r, LLVMValueRef v)
{
    uint32_t at = (uint32_t)((uintptr_t)v >> 4) * 0x9e3779b1u;
    for (at &= r->n_table - 1; r->table[at]; at = (at + 1) & (r->n_table - 1))
        if (r->nodes[r->table[at] - 1].is == v)
            break;
    return &r->table[at];
}

static struct node *node_of(const struct run *r, LLVMValueRef v)
{
    uint32_t number = *place_of(r, v);
    return number ? &r->nodes[number - 1] : NULL;
}

/* From `first` to before what writes memory, which is returned, or leaves the block. */
static LLVMValueRef find_run(struct run *r, LLVMValueRef first)
{
    LLVMValueRef end = first;
    struct pt_arena *arena = r->code->unit->arena;
    r->n = r->n_fused = r->n_tests = 0;
    for (; kind_of(end) != ENDS; end = LLVMGetNextInstruction(end)) {
        r->n++;
        r->n_fused += first_factor(end) != NULL;
    }
    if (r->n_fused < JIT_LAZY_NAN_FUSED)
        return end;
    for (r->n_table = 16; r->n_table < 2 * r->n; r->n_table *= 2)
        ;
    r->table = pt_arena_alloc(arena, r->n_table * sizeof *r->table);
    r->nodes = pt_arena_alloc(arena, r->n * sizeof *r->nodes);
    memset(r->table, 0, r->n_table * sizeof *r->table);
    memset(r->nodes, 0, r->n * sizeof *r->nodes);
    uint32_t n = 0;
    for (LLVMValueRef i = first; i != end; i = LLVMGetNextInstruction(i)) {
        r->nodes[n].is = i;
        *place_of(r, i) = ++n;
    }
    return end;
}

/* A NaN among the operands makes each result NaN that it reaches. */
static bool keeps_nan(LLVMValueRef i)
{
    return is_arithmetic(i) || LLVMIsAShuffleVectorInst(i);
}

/* The instruction in the place of a factor goes: its NaN is that of the sum. */
static bool is_first_factor(LLVMValueRef i)
{
    for (LLVMUseRef u = LLVMGetFirstUse(i); u; u = LLVMGetNextUse(u)) {
        LLVMValueRef user = LLVMGetUser(u);
        if (!first_factor(user) || LLVMGetOperand(user, 1) != i)
            return false;
    }
    return true;
}

/* Whether all uses are in the run, by what keeps a NaN; a phi is used from behind it. */
static bool is_kept(const struct run *r, LLVMValueRef i)
{
    for (LLVMUseRef u = LLVMGetFirstUse(i); u; u = LLVMGetNextUse(u)) {
        LLVMValueRef user = LLVMGetUser(u);
        struct node *at = node_of(r, user);
        bool is_replaced = is_first_factor(user) || (LLVMIsAFCmpInst(user) && at);
        if (!at || LLVMIsAPHINode(user) || (!keeps_nan(user) && !is_replaced))
            return false;
    }
    return true;
}

/* What comes from operations that may have another NaN; false: what cannot be computed again
 * does. */
static bool find_derived(struct run *r)
{
    for (uint32_t n = 0; n < r->n; n++) {
        struct node *d = &r->nodes[n];
        if (LLVMIsAPHINode(d->is))
            continue;
        bool has_raw = first_factor(d->is) != NULL, has_derived = has_raw;
        for (unsigned k = 0; k < (unsigned)LLVMGetNumOperands(d->is); k++) {
            struct node *from = node_of(r, LLVMGetOperand(d->is, k));
            has_raw |= from && from->is_raw;
            has_derived |= from && from->is_derived;
        }
        d->is_raw = has_raw && (keeps_nan(d->is) || is_first_factor(d->is));
        d->is_derived = has_derived;
        if (d->is_derived && kind_of(d->is) != PURE)
            return false;
    }
    for (uint32_t n = 0; n < r->n; n++) {
        struct node *d = &r->nodes[n];
        d->is_tested = d->is_raw && keeps_nan(d->is) && !is_kept(r, d->is);
        r->n_tests += d->is_tested;
    }
    return true;
}

/* ---- code ------------------------------------------------------------------------------------ */

/* All before `end` goes into a block of its own, to which those before it branch. */
static void split(struct run *r, LLVMValueRef end)
{
    LLVMBuilderRef b = r->code->b;
    r->tail = LLVMGetInstructionParent(end);
    r->head = LLVMInsertBasicBlockInContext(r->code->context, r->tail, "");
    r->cold = LLVMAppendBasicBlockInContext(r->code->context, r->code->function, "");
    LLVMSetCurrentDebugLocation2(b, NULL);
    LLVMPositionBuilderAtEnd(b, r->head);
    for (LLVMValueRef i; (i = LLVMGetFirstInstruction(r->tail)) != end;) {
        LLVMInstructionRemoveFromParent(i);
        LLVMInsertIntoBuilder(b, i);
    }
    /* Phis behind the block name it as before: LLVM would change them, too. */
    LLVMValueRef last = LLVMGetBasicBlockTerminator(r->tail);
    LLVMInstructionRemoveFromParent(last);
    LLVMReplaceAllUsesWith(LLVMBasicBlockAsValue(r->tail), LLVMBasicBlockAsValue(r->head));
    LLVMPositionBuilderAtEnd(b, r->tail);
    LLVMInsertIntoBuilder(b, last);
}

static LLVMValueRef test_of_type(struct run *r, uint32_t first)
{
    LLVMBuilderRef b = r->code->b;
    LLVMValueRef one = NULL, any = NULL, test;
    LLVMTypeRef type = LLVMTypeOf(r->nodes[first].is);
    for (uint32_t n = first; n < r->n; n++) {
        struct node *d = &r->nodes[n];
        if (!d->is_tested || LLVMTypeOf(d->is) != type)
            continue;
        d->is_tested = false;
        if (!one) {
            one = d->is;
            continue;
        }
        test = LLVMBuildFCmp(b, LLVMRealUNO, one, d->is, "");
        any = any ? LLVMBuildOr(b, any, test, "") : test;
        one = NULL;
    }
    if (one) {
        test = LLVMBuildFCmp(b, LLVMRealUNO, one, one, "");
        any = any ? LLVMBuildOr(b, any, test, "") : test;
    }
    if (LLVMGetTypeKind(type) != LLVMVectorTypeKind)
        return any;
    LLVMTypeRef bits = LLVMIntTypeInContext(r->code->context, LLVMGetVectorSize(type));
    return LLVMBuildICmp(b, LLVMIntNE, LLVMBuildBitCast(b, any, bits, ""), LLVMConstNull(bits), "");
}

static void end_head(struct run *r)
{
    LLVMValueRef any = NULL;
    LLVMPositionBuilderAtEnd(r->code->b, r->head);
    for (uint32_t n = 0; n < r->n; n++) {
        if (!r->nodes[n].is_tested)
            continue;
        LLVMValueRef test = test_of_type(r, n);
        any = any ? LLVMBuildOr(r->code->b, any, test, "") : test;
    }
    any = LLVMBuildNot(r->code->b, any, "");
    jit_branch_mostly(&r->at, any, r->tail, r->cold);
}

/* Behind the run the value is this phi, which is NULL where nobody reads it there. */
static LLVMValueRef join(struct run *r, LLVMValueRef v)
{
    LLVMValueRef phi = NULL;
    for (LLVMUseRef u = LLVMGetFirstUse(v), next; u; u = next) {
        LLVMValueRef user = LLVMGetUser(u);
        next = LLVMGetNextUse(u);
        if (LLVMGetInstructionParent(user) == r->head && !LLVMIsAPHINode(user))
            continue;
        if (!phi)
            phi = LLVMBuildPhi(r->code->b, LLVMTypeOf(v), "");
        for (unsigned k = 0; k < (unsigned)LLVMGetNumOperands(user); k++)
            if (LLVMGetOperand(user, k) == v)
                LLVMSetOperand(user, k, phi);
        next = LLVMGetFirstUse(v); /* the list is another one */
        while (next && LLVMGetInstructionParent(LLVMGetUser(next)) == r->head &&
               !LLVMIsAPHINode(LLVMGetUser(next)))
            next = LLVMGetNextUse(next);
    }
    return phi;
}

/* Operands stand before what needs them: one pass from the end. */
static void find_needed(struct run *r)
{
    for (uint32_t n = r->n; n-- > 0;) {
        struct node *d = &r->nodes[n];
        enum kind kind = kind_of(d->is);
        d->is_needed &= kind == PURE || kind == LOAD;
        for (unsigned k = 0; d->is_needed && k < (unsigned)LLVMGetNumOperands(d->is); k++) {
            struct node *from = node_of(r, LLVMGetOperand(d->is, k));
            if (from)
                from->is_needed = true;
        }
    }
}

static void compute_again(struct run *r)
{
    LLVMBuilderRef b = r->code->b;
    LLVMPositionBuilderAtEnd(b, r->cold);
    for (uint32_t n = 0; n < r->n; n++) {
        struct node *d = &r->nodes[n];
        if (!d->is_needed)
            continue;
        d->again = LLVMInstructionClone(d->is);
        LLVMInsertIntoBuilder(b, d->again);
        if (LLVMIsALoadInst(d->is)) /* else LLVM would keep what the first one gave */
            LLVMSetVolatile(d->again, true);
        for (unsigned k = 0; k < (unsigned)LLVMGetNumOperands(d->is); k++) {
            struct node *from = node_of(r, LLVMGetOperand(d->is, k));
            if (from && from->again)
                LLVMSetOperand(d->again, k, from->again);
        }
    }
    LLVMBuildBr(b, r->tail);
}

static void make_lazy(struct run *r, LLVMValueRef end)
{
    LLVMValueRef *phis = pt_arena_alloc(r->code->unit->arena, r->n * sizeof *phis);
    split(r, end);
    LLVMPositionBuilderBefore(r->code->b, LLVMGetFirstInstruction(r->tail));
    for (uint32_t n = 0; n < r->n; n++) {
        phis[n] = r->nodes[n].is_derived ? join(r, r->nodes[n].is) : NULL;
        r->nodes[n].is_needed = phis[n] != NULL;
    }
    end_head(r);
    find_needed(r);
    compute_again(r);
    for (uint32_t n = 0; n < r->n; n++) {
        LLVMValueRef values[] = {r->nodes[n].is, r->nodes[n].again};
        LLVMBasicBlockRef from[] = {r->head, r->cold};
        if (phis[n])
            LLVMAddIncoming(phis[n], values, from, 2);
    }
    for (uint32_t n = 0; n < r->n; n++) {
        LLVMValueRef y = first_factor(r->nodes[n].is);
        if (y)
            LLVMSetOperand(r->nodes[n].is, 1, y);
    }
}

static void visit_block(struct jit_code *code, LLVMBasicBlockRef block)
{
    struct run r = {.code = code, .at = {.unit = code->unit, .code = code}};
    LLVMValueRef i = LLVMGetFirstInstruction(block);
    while (i) {
        LLVMValueRef end = find_run(&r, i);
        if (r.n_fused >= JIT_LAZY_NAN_FUSED && find_derived(&r) && r.n_tests &&
            r.n_fused >= JIT_LAZY_NAN_RATIO * r.n_tests)
            make_lazy(&r, end);
        i = LLVMGetNextInstruction(end);
    }
}

void jit_lazy_nan_apply(struct jit_code *code)
{
    LLVMBasicBlockRef last = LLVMGetLastBasicBlock(code->function), next;
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(code->function); b; b = next) {
        next = b == last ? NULL : LLVMGetNextBasicBlock(b);
        visit_block(code, b);
    }
}
