/* Contiguous (coalesced) accesses: lanes side by side make one vector load or store, and how lanes
 * lie in it. */
#include "backend/jit/memory/contiguous.h"

#include "backend/jit/analysis/def_use.h"
#include "backend/jit/bitset.h"
#include "backend/jit/jit.h"
#include "backend/jit/llvm/build.h"
#include "backend/jit/llvm/cpu.h"
#include "backend/jit/memory/access.h"
#include "backend/jit/memory/columns.h"
#include "backend/jit/memory/nontemporal.h"
#include "backend/order.h"

/* A mask whose lanes stand for n elements each. */
static LLVMValueRef spread_mask(const struct jit *j, LLVMValueRef mask, unsigned n)
{
    int lanes[256];
    for (unsigned i = 0; i < n * j->unit->width; i++)
        lanes[i] = (int)(i / n);
    return n == 1 ? mask : jit_shuffle(j, mask, NULL, lanes, n * j->unit->width);
}

/* Elements i, i + n, i + 2n …: those of one register. */
static LLVMValueRef take_every(const struct jit *j, LLVMValueRef all, unsigned i, unsigned n)
{
    int lanes[64];
    for (unsigned k = 0; k < j->unit->width; k++)
        lanes[k] = (int)(k * n + i);
    return n == 1 ? all : jit_shuffle(j, all, NULL, lanes, j->unit->width);
}

/* One after the other: x0 y0 x1 y1 … of n vectors, n a power of two. */
static LLVMValueRef interleave(const struct jit *j, LLVMValueRef *v, unsigned n)
{
    LLVMValueRef half[8];
    unsigned each = j->unit->width;
    int lanes[256];
    for (unsigned i = 0; i < n; i++)
        half[i] = v[i];
    for (unsigned count = n; count > 1; count /= 2, each *= 2) {
        for (unsigned i = 0; i < 2 * each; i++)
            lanes[i] = (int)i;
        for (unsigned i = 0; i < count / 2; i++)
            half[i] = jit_shuffle(j, half[2 * i], half[2 * i + 1], lanes, 2 * each);
    }
    for (unsigned i = 0; i < n * j->unit->width; i++)
        lanes[i] = (int)(i % n * j->unit->width + i / n);
    return n == 1 ? v[0] : jit_shuffle(j, half[0], NULL, lanes, n * j->unit->width);
}

/* ---- elements that are a word together ------------------------------------------------------- */

/* Shifts instead of moves of bytes between lanes. */
static bool is_word(const struct jit_access *a)
{
    return a->n > 1 && a->bytes * a->n <= 4;
}

static LLVMTypeRef word_type(const struct jit *j, const struct jit_access *a)
{
    return jit_int_type(j, a->bytes * a->n * 8, j->unit->width);
}

static LLVMValueRef join_words(const struct jit *j, const struct jit_access *a, LLVMValueRef *v)
{
    LLVMTypeRef type = word_type(j, a);
    LLVMValueRef all = LLVMBuildZExt(j->code->b, v[0], type, "");
    for (unsigned i = 1; i < a->n; i++) {
        LLVMValueRef part = LLVMBuildZExt(j->code->b, v[i], type, "");
        part = LLVMBuildShl(j->code->b, part, jit_const(type, i * a->bytes * 8), "");
        all = LLVMBuildOr(j->code->b, all, part, "");
    }
    return all;
}

/* ---- fours of 32 bits in vectors of two halves ----------------------------------------------- */

/* Each lane has four, and the vector eight lanes: moves within halves, of which the machine makes
 * two a cycle, and one for each vector between them. LLVM finds longer ways. */
static bool is_halved(const struct jit *j, const struct jit_access *a, LLVMValueRef mask)
{
    return !mask && a->n == 4 && a->bytes == 4 && j->unit->width == 8 &&
           j->unit->cpu->shuffle_bytes == 16;
}

/* The first or the second halves of two vectors. */
static LLVMValueRef halves(const struct jit *j, LLVMValueRef x, LLVMValueRef y, bool second)
{
    static const int lanes[2][8] = {{0, 1, 2, 3, 8, 9, 10, 11}, {4, 5, 6, 7, 12, 13, 14, 15}};
    return jit_shuffle(j, x, y, lanes[second], 8);
}

/* Rows become columns in each half: v[i] holds lane i, and lane i + 4, of the four; or the other
 * way round. */
static void transpose(const struct jit *j, LLVMValueRef *v)
{
    static const int ones[2][8] = {{0, 8, 1, 9, 4, 12, 5, 13}, {2, 10, 3, 11, 6, 14, 7, 15}};
    static const int pairs[2][8] = {{0, 1, 8, 9, 4, 5, 12, 13}, {2, 3, 10, 11, 6, 7, 14, 15}};
    LLVMValueRef u[4];
    for (unsigned i = 0; i < 4; i++)
        u[i] = jit_shuffle(j, v[i / 2 * 2], v[i / 2 * 2 + 1], ones[i % 2], 8);
    for (unsigned i = 0; i < 4; i++)
        v[i] = jit_shuffle(j, u[i / 2], u[i / 2 + 2], pairs[i % 2], 8);
}

static void load_halved(const struct jit *j, const struct jit_access *a, LLVMValueRef pointer,
                        LLVMValueRef *v)
{
    LLVMTypeRef type = LLVMVectorType(a->element, 8);
    LLVMValueRef row[4];
    for (unsigned i = 0; i < 4; i++)
        row[i] = jit_access_load(j, a, type, jit_access_element(j, a, pointer, i * 8), a->bytes);
    for (unsigned i = 0; i < 4; i++)
        v[i] = halves(j, row[i / 2], row[i / 2 + 2], i % 2);
    transpose(j, v);
}

static void store_halved(const struct jit *j, const struct jit_access *a, LLVMValueRef pointer,
                         LLVMValueRef *v)
{
    LLVMValueRef lane[4] = {v[0], v[1], v[2], v[3]};
    LLVMValueRef row[4];
    transpose(j, lane);
    for (unsigned i = 0; i < 4; i++)
        row[i] = halves(j, lane[i % 2 * 2], lane[i % 2 * 2 + 1], i / 2);
    if (jit_nontemporal_applies(j)) {
        jit_nontemporal_store(j, a, jit_concat(j, row, 4), pointer);
        return;
    }
    for (unsigned i = 0; i < 4; i++)
        jit_access_store(j, a, row[i], jit_access_element(j, a, pointer, i * 8));
}

/* ---- runs ------------------------------------------------------------------------------------ */

void jit_contiguous_load(const struct jit *j, const struct jit_access *a, LLVMValueRef pointer,
                         LLVMValueRef mask, LLVMValueRef *v)
{
    LLVMTypeRef type =
        is_word(a) ? word_type(j, a) : LLVMVectorType(a->element, j->unit->width * a->n);
    LLVMValueRef all;
    if (is_halved(j, a, mask)) {
        load_halved(j, a, pointer, v);
        return;
    }
    if (!mask) {
        all = jit_access_load(j, a, type, pointer, a->bytes);
    } else {
        LLVMTypeRef types[] = {type, LLVMTypeOf(pointer)};
        LLVMValueRef args[] = {pointer, spread_mask(j, mask, is_word(a) ? 1 : a->n),
                               LLVMConstNull(type)};
        all = jit_access_masked(j, "llvm.masked.load", types, args, 0, a->bytes);
    }
    for (unsigned i = 0; i < a->n; i++)
        v[i] = is_word(a) ? jit_columns_part(j, all, i * a->bytes, a->bytes)
                          : take_every(j, all, i, a->n);
}

bool jit_contiguous_may_rewrite(const struct jit *j, const struct jit_access *a)
{
    return !j->unit->cpu->has_fast_masked_store && a->space == PT_SPACE_SHARED &&
           a->order == PT_ORDER_PLAIN && !j->unit->options->has_cluster;
}

LLVMValueRef jit_contiguous_is_own(const struct jit *j, const struct jit_access *a,
                                   LLVMValueRef pointer, unsigned elements)
{
    LLVMTypeRef i64 = LLVMInt64TypeInContext(j->code->context);
    LLVMValueRef from = LLVMBuildPtrToInt(j->code->b, j->code->shared, i64, "");
    LLVMValueRef offset =
        LLVMBuildSub(j->code->b, LLVMBuildPtrToInt(j->code->b, pointer, i64, ""), from, "");
    LLVMValueRef most = LLVMBuildZExt(j->code->b, j->code->shared_bytes, i64, "");
    most = LLVMBuildSub(j->code->b, most, jit_i64(j, (uint64_t)elements * a->bytes), "");
    return LLVMBuildICmp(j->code->b, LLVMIntSLE, offset, most, "");
}

bool jit_contiguous_is_rewriting(const struct jit *j, const struct jit_access *a)
{
    int64_t stride;
    enum jit_shape shape = jit_def_use_shape(j->facts, a->base, &stride);
    bool is_partial = j->insn->guard || jit_set_has(j->facts->partial, j->block);
    return !a->is_load && jit_contiguous_may_rewrite(j, a) &&
           (shape == JIT_VECTOR ||
            (shape == JIT_AFFINE && is_partial && j->only_rewrites && !jit_access_interleaved(j) &&
             stride == (int64_t)(a->bytes * a->n)));
}

static void store_masked(const struct jit *j, const struct jit_access *a, LLVMValueRef pointer,
                         LLVMValueRef mask, LLVMValueRef all)
{
    LLVMTypeRef types[] = {LLVMTypeOf(all), LLVMTypeOf(pointer)};
    LLVMValueRef args[] = {all, pointer, mask};
    jit_access_masked(j, "llvm.masked.store", types, args, 1, a->bytes);
}

/* Most vectors of a group of which some lanes are off have all of theirs, or none. */
static void store_by_lanes(const struct jit *j, const struct jit_access *a, LLVMValueRef pointer,
                           LLVMValueRef mask, LLVMValueRef all)
{
    LLVMBasicBlockRef whole = jit_new_block(j, "whole"), other = jit_new_block(j, "other");
    LLVMBasicBlockRef some = jit_new_block(j, "some"), after = jit_new_block(j, "");
    LLVMTypeRef type = LLVMIntTypeInContext(j->code->context, LLVMGetVectorSize(LLVMTypeOf(mask)));
    LLVMValueRef bits = LLVMBuildBitCast(j->code->b, mask, type, "");
    LLVMValueRef is_whole = LLVMBuildICmp(j->code->b, LLVMIntEQ, bits, LLVMConstAllOnes(type), "");
    LLVMValueRef is_none = LLVMBuildICmp(j->code->b, LLVMIntEQ, bits, LLVMConstNull(type), "");
    LLVMBuildCondBr(j->code->b, is_whole, whole, other);
    jit_continue_in(j, whole);
    jit_access_store(j, a, all, pointer);
    LLVMBuildBr(j->code->b, after);
    jit_continue_in(j, other);
    LLVMBuildCondBr(j->code->b, is_none, after, some);
    jit_continue_in(j, some);
    store_masked(j, a, pointer, mask, all);
    LLVMBuildBr(j->code->b, after);
    jit_continue_in(j, after);
}

/* Lanes `from` ... `from` + n - 1. */
static LLVMValueRef take_part(const struct jit *j, LLVMValueRef all, unsigned from, unsigned n)
{
    int lanes[256];
    for (unsigned i = 0; i < n; i++)
        lanes[i] = (int)(from + i);
    return jit_shuffle(j, all, NULL, lanes, n);
}

/* Where a store of some lanes takes long each of the machine's vectors has one of its own. */
static void store_lanes(const struct jit *j, const struct jit_access *a, LLVMValueRef pointer,
                        LLVMValueRef mask, LLVMValueRef all)
{
    unsigned n = LLVMGetVectorSize(LLVMTypeOf(all)), each = j->unit->cpu->vector_bytes / a->bytes;
    if (j->unit->cpu->has_fast_masked_store) {
        store_masked(j, a, pointer, mask, all);
        return;
    }
    if (n <= each || n % each) {
        store_by_lanes(j, a, pointer, mask, all);
        return;
    }
    for (unsigned from = 0; from < n; from += each)
        store_by_lanes(j, a, jit_access_element(j, a, pointer, from),
                       take_part(j, mask, from, each), take_part(j, all, from, each));
}

static void rewrite(const struct jit *j, const struct jit_access *a, LLVMValueRef pointer,
                    LLVMValueRef mask, LLVMValueRef all)
{
    LLVMValueRef old = jit_access_load(j, a, LLVMTypeOf(all), pointer, a->bytes);
    jit_access_store(j, a, LLVMBuildSelect(j->code->b, mask, all, old, ""), pointer);
}

/* Lanes that are off write what is there, if that is the CTA's own. */
static void store_some(const struct jit *j, const struct jit_access *a, LLVMValueRef pointer,
                       LLVMValueRef mask, LLVMValueRef all)
{
    if (!jit_contiguous_may_rewrite(j, a)) {
        store_lanes(j, a, pointer, mask, all);
        return;
    }
    if (jit_access_is_trusted(j) && jit_contiguous_is_rewriting(j, a)) {
        rewrite(j, a, pointer, mask, all);
        return;
    }
    LLVMBasicBlockRef own = jit_new_block(j, "own"), other = jit_new_block(j, "other");
    LLVMBasicBlockRef after = jit_new_block(j, "");
    jit_branch_mostly(j, jit_contiguous_is_own(j, a, pointer, j->unit->width * a->n), own, other);
    jit_continue_in(j, other);
    store_lanes(j, a, pointer, mask, all);
    LLVMBuildBr(j->code->b, after);
    jit_continue_in(j, own);
    rewrite(j, a, pointer, mask, all);
    LLVMBuildBr(j->code->b, after);
    jit_continue_in(j, after);
}

void jit_contiguous_store(const struct jit *j, const struct jit_access *a, LLVMValueRef pointer,
                          LLVMValueRef mask, LLVMValueRef *v)
{
    if (is_halved(j, a, mask)) {
        store_halved(j, a, pointer, v);
        return;
    }
    LLVMValueRef all = is_word(a) ? join_words(j, a, v) : interleave(j, v, a->n);
    if (mask)
        store_some(j, a, pointer, spread_mask(j, mask, is_word(a) ? 1 : a->n), all);
    else if (jit_nontemporal_applies(j))
        jit_nontemporal_store(j, a, all, pointer);
    else
        jit_access_store(j, a, all, pointer);
}
