/* ld and st: which way an access goes. How the lanes' addresses lie decides: one address is one
 * access, consecutive ones a vector access, all others are gathered and scattered. Where an affine
 * form may not hold, a test chooses.
 */
#include "backend/jit/memory/access_path.h"

#include "backend/jit/analysis/address_form.h"
#include "backend/jit/analysis/block_order.h"
#include "backend/jit/analysis/def_use.h"
#include "backend/jit/bitset.h"
#include "backend/jit/jit.h"
#include "backend/jit/llvm/build.h"
#include "backend/jit/llvm/check.h"
#include "backend/jit/llvm/fault.h"
#include "backend/jit/memory/access.h"
#include "backend/jit/memory/contiguous.h"
#include "backend/jit/memory/gather.h"
#include "backend/jit/memory/interleave.h"
#include "backend/jit/memory/lane_permute.h"
#include "backend/jit/memory/lane_address.h"
#include "backend/jit/memory/local_rows.h"
#include "backend/jit/memory/nontemporal.h"
#include "backend/jit/memory/overlapping_loads.h"
#include "backend/jit/memory/prefetch.h"
#include "backend/jit/memory/strided.h"
#include "backend/jit/memory/structure.h"
#include "backend/jit/value/guard.h"
#include "backend/jit/value/predicate_bounds.h"
#include "backend/jit/value/registers.h"
#include "backend/jit/value/visit.h"
#include "backend/order.h"
#include "ir/bits.h"
#include "ir/insn.h"

/* ---- one chunk ------------------------------------------------------------------------------- */

/* Some lane does the access, of this copy or of those that have the same address but for whole
 * vectors. */
static bool is_run_by_some(const struct jit *j, const struct jit_access *a, unsigned copy)
{
    return !j->mask[copy] || (!j->insn->guard && (j->facts->copies == 1 ||
                                                  !jit_def_use_is_per_copy(j->facts, a->base)));
}

/* Consecutive if the affine form holds, and aligned. */
static void access_affine(const struct jit *j, const struct jit_access *a, unsigned copy,
                          LLVMValueRef *v)
{
    LLVMValueRef address = jit_access_address(j, a, copy, 1), fits = NULL;
    if (!jit_access_is_trusted(j)) {
        fits = jit_registers_fit(j, a->base, copy);
        if (!fits && is_run_by_some(j, a, copy)) { /* all lanes are misaligned, or none */
            jit_access_check_one(j, a, copy, address);
            jit_strided_emit(j, a, copy, address, v);
            jit_lane_address_note(j, copy, v[0]);
            return;
        }
        if (a->bytes * a->n > 1) {
            LLVMValueRef aligned =
                LLVMBuildNot(j->code->b, jit_access_misaligned(j, a, address), "");
            fits = fits ? LLVMBuildAnd(j->code->b, fits, aligned, "") : aligned;
        }
    }
    if (!fits) {
        jit_strided_emit(j, a, copy, address, v);
        jit_lane_address_note(j, copy, v[0]);
        return;
    }
    struct jit_ways ways;
    jit_access_begin_ways(j, a, &ways);
    jit_strided_emit_if(j, a, copy, &ways, fits, address, v);
    jit_gather_access(j, a, copy, v);
    jit_access_end_way(j, &ways, v);
    jit_access_join_ways(j, &ways, v);
}

/* ---- one address ----------------------------------------------------------------------------- */

static void load_one(const struct jit *j, const struct jit_access *a, unsigned copy,
                     LLVMValueRef *v)
{
    LLVMValueRef pointer;
    if (a->space == PT_SPACE_PARAM) {
        pointer = jit_access_parameter(j, a);
    } else {
        LLVMValueRef address = jit_access_address(j, a, copy, 1);
        jit_access_check_one(j, a, copy, address);
        pointer = jit_access_pointer(j, a, address);
        if (j->alone && a->space != PT_SPACE_SHARED && a->base->kind == PT_OPND_REG)
            jit_prefetch_emit_walk(j, a->base->index, pointer);
    }
    unsigned align = a->space == PT_SPACE_PARAM ? 1 : a->bytes;
    for (unsigned i = 0; i < a->n; i++)
        v[i] = jit_access_load(j, a, a->element, jit_access_element(j, a, pointer, i), align);
}

/* i1: a lane of the copy runs the instruction; NULL: surely. */
static LLVMValueRef runs_at_all(const struct jit *j, unsigned copy)
{
    bool is_sure = !j->mask[copy] || (!j->insn->guard && j->facts->copies == 1);
    return is_sure ? NULL : jit_any(j, j->mask[copy]);
}

/* The same of all copies. Some lane runs the block. */
static LLVMValueRef runs_in_group(const struct jit *j)
{
    LLVMValueRef any = j->guard;
    struct pt_operand guard = {.kind = PT_OPND_REG, .index = j->insn->guard};
    if (!j->insn->guard || !jit_def_use_is_per_copy(j->facts, &guard))
        return any;
    any = jit_any(j, j->mask[0]);
    for (unsigned u = 1; u < j->facts->copies; u++)
        any = LLVMBuildOr(j->code->b, any, jit_any(j, j->mask[u]), "");
    return any;
}

/* A block that runs only where `condition` holds; NULL where there is none. */
static LLVMBasicBlockRef begin_if(const struct jit *j, LLVMValueRef condition)
{
    if (!condition)
        return NULL;
    LLVMBasicBlockRef run = jit_new_block(j, "one"), after = jit_new_block(j, "");
    LLVMBuildCondBr(j->code->b, condition, run, after);
    jit_continue_in(j, run);
    return after;
}

/* One address, if `condition` (NULL: in any case) holds. */
static void load_uniform(const struct jit *j, const struct jit_access *a, unsigned copy,
                         LLVMValueRef condition, LLVMValueRef *v)
{
    LLVMBasicBlockRef before = LLVMGetInsertBlock(j->code->b);
    LLVMBasicBlockRef after =
        a->is_constant && a->space == PT_SPACE_PARAM ? NULL : begin_if(j, condition);
    load_one(j, a, copy, v);
    if (!after)
        return;
    LLVMBasicBlockRef run = LLVMGetInsertBlock(j->code->b);
    LLVMBuildBr(j->code->b, after);
    jit_continue_in(j, after);
    for (unsigned i = 0; i < a->n; i++) {
        LLVMValueRef values[] = {v[i], LLVMConstNull(a->element)};
        LLVMBasicBlockRef blocks[] = {run, before};
        v[i] = LLVMBuildPhi(j->code->b, a->element, "");
        LLVMAddIncoming(v[i], values, blocks, 2);
    }
}

/* The highest lane of the mask, which has one: the one whose value stays where all lanes store to
 * one address. */
static LLVMValueRef last_lane(const struct jit *j, LLVMValueRef mask)
{
    if (!mask)
        return jit_i32(j, j->unit->width - 1);
    LLVMTypeRef i32 = LLVMInt32TypeInContext(j->code->context);
    LLVMValueRef bits = LLVMBuildBitCast(
        j->code->b, mask, LLVMIntTypeInContext(j->code->context, j->unit->width), "");
    bits = LLVMBuildZExtOrBitCast(j->code->b, bits, i32, "");
    LLVMValueRef args[] = {bits, LLVMConstInt(LLVMInt1TypeInContext(j->code->context), 1, false)};
    LLVMValueRef zeros =
        jit_check_proven(j->code, jit_intrinsic(j, "llvm.ctlz", i32, args, 2), "nonzero");
    return LLVMBuildSub(j->code->b, jit_i32(j, 31), zeros, "");
}

static void store_uniform(const struct jit *j, const struct jit_access *a, unsigned copy)
{
    LLVMBasicBlockRef after = begin_if(j, runs_at_all(j, copy));
    LLVMValueRef address = jit_access_address(j, a, copy, 1);
    jit_access_check_one(j, a, copy, address);
    LLVMValueRef pointer = jit_access_pointer(j, a, address);
    for (unsigned i = 0; i < a->n; i++) {
        int64_t stride;
        bool is_one = jit_def_use_shape(j->facts, &a->values[i], &stride) == JIT_SCALAR;
        LLVMValueRef value =
            jit_registers_read(j, &a->values[i], copy, a->type, is_one ? 1 : j->unit->width, false);
        if (!is_one)
            value = jit_check_proven(
                j->code,
                LLVMBuildExtractElement(j->code->b, value, last_lane(j, j->mask[copy]), ""),
                "index");
        jit_access_store(j, a, value, jit_access_element(j, a, pointer, i));
    }
    if (after) {
        LLVMBuildBr(j->code->b, after);
        jit_continue_in(j, after);
    }
}

/* ---- the instruction ------------------------------------------------------------------------- */

static LLVMValueRef as_stored(const struct jit *j, const struct jit_access *a, LLVMValueRef value)
{
    return LLVMBuildBitCast(j->code->b, value, LLVMVectorType(a->element, j->unit->width), "");
}

/* Lanes a stride apart are aligned if the first is. */
static bool is_even(const struct jit_access *a, int64_t stride)
{
    return stride % (int64_t)(a->bytes * a->n) == 0;
}

/* What a row of threads before, of the same group, has loaded. */
static bool take_loaded(const struct jit *j, const struct jit_access *a, unsigned copy,
                        LLVMValueRef *v)
{
    unsigned from;
    if (!jit_gather_has_loaded(j, a, copy, &from))
        return false;
    for (unsigned i = 0; i < a->n; i++)
        if (a->values[i].kind != PT_OPND_REG)
            return false;
    for (unsigned i = 0; i < a->n; i++)
        v[i] = as_stored(
            j, a, jit_registers_read(j, &a->values[i], from, a->type, j->unit->width, false));
    return true;
}

static void access_chunk(const struct jit *j, const struct jit_access *a, unsigned copy)
{
    int64_t stride;
    enum jit_shape shape = jit_def_use_shape(j->facts, a->base, &stride);
    LLVMValueRef v[8] = {0};
    bool in_rows = a->space == PT_SPACE_LOCAL && j->facts->local.rows;
    bool is_one = shape == JIT_SCALAR;
    if (a->space == PT_SPACE_LOCAL)
        shape = JIT_VECTOR; /* the lanes' windows lie apart */
    if (shape == JIT_SCALAR && !a->is_load) {
        store_uniform(j, a, copy);
        return;
    }
    for (unsigned i = 0; !a->is_load && i < a->n; i++)
        v[i] = as_stored(
            j, a, jit_registers_read(j, &a->values[i], copy, a->type, j->unit->width, false));
    if (in_rows)
        jit_local_rows_access(j, a, copy, is_one, v);
    else if (shape == JIT_SCALAR)
        load_uniform(j, a, copy, runs_at_all(j, copy), v);
    else if (shape == JIT_AFFINE && is_even(a, stride) && !jit_access_is_distrusted(j) &&
             (!j->mask[copy] || stride == (int64_t)(a->bytes * a->n)))
        access_affine(j, a, copy, v);
    else if (!take_loaded(j, a, copy, v) && (shape != JIT_VECTOR || jit_access_is_distrusted(j) ||
                                             !jit_lane_permute_access(j, a, copy, v)))
        jit_gather_access(j, a, copy, v);
    for (unsigned i = 0; a->is_load && i < a->n; i++)
        jit_registers_write(j, &a->values[i], copy, v[i], shape == JIT_SCALAR ? 1 : j->unit->width,
                            a->extends_sign);
}

/* A load from one address for the group. */
static bool is_shared(const struct jit *j, const struct jit_access *a)
{
    int64_t stride;
    return a->is_load && a->space != PT_SPACE_LOCAL &&
           jit_def_use_shape(j->facts, a->base, &stride) == JIT_SCALAR &&
           !jit_def_use_is_per_copy(j->facts, a->base);
}

static void load_shared(const struct jit *j, const struct jit_access *a)
{
    LLVMValueRef v[8];
    load_uniform(j, a, 0, runs_in_group(j), v);
    for (unsigned i = 0; i < a->n; i++)
        for (unsigned u = 0;
             u < (jit_def_use_is_per_copy(j->facts, &a->values[i]) ? j->facts->copies : 1); u++)
            jit_registers_write(j, &a->values[i], u, v[i], 1, a->extends_sign);
}

bool jit_access_path_is_rewriting(const struct jit *j)
{
    struct jit_access a;
    return j->form->op == PT_OP_st && jit_access_try_describe(j, &a) &&
           jit_contiguous_is_rewriting(j, &a);
}

bool jit_access_path_test(const struct jit *j, const uint64_t *written, LLVMValueRef *test)
{
    struct jit_access a;
    int64_t stride;
    if ((j->form->effects & PT_FX_ATOMIC) || !(j->form->effects & (PT_FX_READ | PT_FX_WRITE)) ||
        !jit_access_try_describe(j, &a))
        return false;
    enum jit_shape shape = jit_def_use_shape(j->facts, a.base, &stride);
    if (shape == JIT_VECTOR)
        return a.space != PT_SPACE_PARAM && jit_lane_permute_test(j, &a, written, test);
    bool is_contiguous = shape == JIT_AFFINE && is_even(&a, stride);
    if (a.space == PT_SPACE_PARAM || a.space == PT_SPACE_LOCAL ||
        !(is_contiguous || shape == JIT_SCALAR) ||
        (a.base->kind == PT_OPND_REG && jit_set_has(written, a.base->index)))
        return false;
    for (unsigned u = 0; u < (jit_def_use_is_per_copy(j->facts, a.base) ? j->facts->copies : 1);
         u++) {
        LLVMValueRef address = jit_access_address(j, &a, u, 1);
        LLVMValueRef bad = jit_access_misaligned(j, &a, address);
        LLVMValueRef good = LLVMBuildNot(j->code->b, bad, ""),
                     fits = jit_registers_fit(j, a.base, u);
        good = fits ? LLVMBuildAnd(j->code->b, good, fits, "") : good;
        if (jit_contiguous_is_rewriting(j, &a)) {
            unsigned lanes =
                j->unit->width * (jit_def_use_is_per_copy(j->facts, a.base) ? 1 : j->facts->copies);
            LLVMValueRef is_own =
                jit_contiguous_is_own(j, &a, jit_access_pointer(j, &a, address), lanes * a.n);
            good = LLVMBuildAnd(j->code->b, good, is_own, "");
        }
        *test = *test ? LLVMBuildAnd(j->code->b, *test, good, "") : good;
    }
    return true;
}

bool jit_access_path_test_base(const struct jit *j, unsigned copy, const uint64_t *written,
                               LLVMValueRef *test)
{
    struct jit_access a;
    struct jit_split s;
    if (!jit_access_describe(j, &a) ||
        !jit_address_form_split(j->facts, j->insn, j->block, a.base, &s) ||
        s.scale % (a.bytes * a.n) ||
        (s.base->kind == PT_OPND_REG && jit_set_has(written, s.base->index)))
        return false;
    LLVMValueRef base = jit_registers_read(j, s.base, copy, PT_u64, 1, false);
    base = LLVMBuildAdd(j->code->b, base, jit_i64(j, (uint64_t)a.base->imm), "");
    LLVMValueRef good = LLVMBuildNot(j->code->b, jit_access_misaligned(j, &a, base), "");
    *test = *test ? LLVMBuildAnd(j->code->b, *test, good, "") : good;
    return true;
}

/* Nothing that the order concerns is moved across by LLVM, or by the machine. */
static void fence(const struct jit *j, LLVMAtomicOrdering order, bool only_here)
{
    LLVMBuildFence(j->code->b, order, only_here, "");
}

/* No chunk branches before it stores. */
static bool streams_together(const struct jit *j, const struct jit_access *a)
{
    int64_t stride;
    if (a->is_load || !jit_access_is_trusted(j) || jit_access_is_distrusted(j) ||
        jit_def_use_shape(j->facts, a->base, &stride) != JIT_AFFINE ||
        stride != (int64_t)(a->bytes * a->n))
        return false;
    for (unsigned u = j->first_copy; u < j->end_copy; u++)
        if (j->mask[u])
            return false;
    return true;
}

static void access_copies(const struct jit *j, const struct jit_access *a)
{
    if (is_shared(j, a)) {
        load_shared(j, a);
        return;
    }
    struct jit_stream stream = {.n = 0};
    struct jit at = *j;
    at.stream = streams_together(j, a) ? &stream : NULL;
    for (unsigned u = j->first_copy; u < j->end_copy; u++)
        if (!jit_overlapping_loads_load(j, a, u))
            access_chunk(&at, a, u);
    jit_nontemporal_end(j, a, &stream);
}

/* All of them, where the last stands. */
static void run_interleaved(const struct jit *j, const struct jit_interleaved *join)
{
    struct jit_access a;
    struct jit first = *j;
    if (j->insn != &j->unit->f->insns.v[join->last])
        return;
    jit_interleave_describe(j, join, &a);
    jit_visit_insn(&first, join->first);
    access_copies(&first, &a);
}

/* ---- interleaved accesses that have guards --------------------------------------------------- */

/* i1: all lanes of the copy run all of them. Where scalars tell, no mask is
 * computed. */
static LLVMValueRef all_run(const struct jit *j, const struct jit_interleaved *join, unsigned copy,
                            LLVMValueRef block_mask)
{
    LLVMValueRef all = block_mask ? jit_all(j, block_mask) : NULL, one;
    struct jit at = *j;
    for (unsigned i = 0; i < join->n; i++) {
        struct jit_bounds bounds;
        jit_visit_insn(&at, join->insns[i]);
        if (!at.insn->guard)
            continue;
        struct pt_operand guard = jit_guard_operand(at.insn);
        jit_guard_apply(&at, copy, NULL);
        one = jit_predicate_bounds_load(&at, &guard, &bounds) ? bounds.all
                                                              : jit_all(j, at.mask[copy]);
        all = all ? LLVMBuildAnd(j->code->b, all, one, "") : one;
    }
    return all;
}

/* One after the other, each in its lanes. */
static void run_each(const struct jit *j, const struct jit_interleaved *join, unsigned copy,
                     LLVMValueRef block_mask)
{
    struct jit at = *j;
    struct jit_access a;
    at.interleaved = NULL;
    for (unsigned i = 0; i < join->n; i++) {
        jit_visit_insn(&at, join->insns[i]);
        jit_guard_apply(&at, copy, block_mask);
        jit_access_describe(&at, &a);
        access_chunk(&at, &a, copy);
    }
}

/* Most groups, whose guards look for the end of the data, pass all of them. */
static void run_guarded(const struct jit *j, const struct jit_interleaved *join, unsigned copy,
                        LLVMValueRef block_mask)
{
    struct jit at = *j;
    struct jit_access a;
    LLVMBasicBlockRef together = jit_new_block(j, "together"), each = jit_new_block(j, "each"),
                      after = jit_new_block(j, "");
    LLVMBuildCondBr(j->code->b, all_run(j, join, copy, block_mask), together, each);
    jit_continue_in(j, together);
    jit_interleave_describe(j, join, &a);
    jit_visit_insn(&at, join->first);
    at.mask[copy] = at.guard = NULL;
    access_chunk(&at, &a, copy);
    LLVMBuildBr(j->code->b, after);
    jit_continue_in(j, each);
    run_each(j, join, copy, block_mask);
    LLVMBuildBr(j->code->b, after);
    jit_continue_in(j, after);
}

bool jit_access_path_emit_guarded(const struct jit *j, LLVMValueRef *block_mask)
{
    const struct jit_interleaved *join = jit_access_interleaved(j);
    if (!join || !join->has_guards)
        return false;
    jit_lane_address_forget(j);
    for (unsigned u = j->first_copy; u < j->end_copy; u++)
        if (j->insn == &j->unit->f->insns.v[join->last])
            run_guarded(j, join, u, block_mask[u]);
    return true;
}

/* ---- what a block does ----------------------------------------------------------------------- */

bool jit_access_path_emit(const struct jit *j)
{
    struct jit_access a;
    const struct jit_interleaved *join = jit_access_interleaved(j);
    jit_lane_address_forget(j);
    if (join) {
        run_interleaved(j, join);
        return true;
    }
    if (jit_structure_access(j))
        return true;
    if (!jit_access_describe(j, &a))
        return false;
    if (a.order == PT_ORDER_PLAIN) {
        access_copies(j, &a);
        return true;
    }
    bool acquires = pt_order_acquires(a.order), releases = pt_order_releases(a.order);
    fence(j, releases ? LLVMAtomicOrderingRelease : LLVMAtomicOrderingAcquireRelease, !releases);
    access_copies(j, &a);
    fence(j, acquires ? LLVMAtomicOrderingAcquire : LLVMAtomicOrderingAcquireRelease, !acquires);
    return true;
}

/* ---- tests of a list ------------------------------------------------------------------------- */

/* The test of j->insn's accesses, which all lanes do, looks at nothing but their alignment. */
static bool rests_on_alignment(const struct jit *j, const struct jit_access *a)
{
    int64_t stride;
    return !j->insn->guard && jit_def_use_shape(j->facts, a->base, &stride) != JIT_VECTOR &&
           (a->base->kind != PT_OPND_REG || !j->facts->regs[a->base->index].fits[0]) &&
           !jit_contiguous_is_rewriting(j, a);
}

/* Accesses tested for nothing but their alignment, each of an alignment of its own. */
struct aligned {
    struct jit_access a[8];
    unsigned n;
};

/* Where one of them is aligned this one is, too. */
static bool is_aligned_as_one(const struct aligned *seen, const struct jit_access *a)
{
    unsigned size = a->bytes * a->n;
    for (unsigned i = 0; i < seen->n; i++) {
        const struct jit_access *b = &seen->a[i];
        if (a->base->kind == PT_OPND_REG && b->base->kind == PT_OPND_REG &&
            a->base->index == b->base->index && a->space == b->space && a->window == b->window &&
            size == b->bytes * b->n && (a->base->imm - b->base->imm) % (int64_t)size == 0)
            return true;
    }
    return false;
}

/* Adds the test of the late instruction `at` of them, at->insn. */
static void add_test(const struct jit *at, uint32_t late, LLVMValueRef test, struct aligned *seen,
                     struct jit_access_tests *tests)
{
    struct jit_access a;
    bool is_plain = jit_access_try_describe(at, &a) && rests_on_alignment(at, &a);
    if (is_plain && is_aligned_as_one(seen, &a))
        return;
    if (is_plain && seen->n < sizeof seen->a / sizeof *seen->a)
        seen->a[seen->n++] = a;
    tests->good = tests->good ? LLVMBuildAnd(at->code->b, tests->good, test, "") : test;
    tests->n_to_fault = is_plain && tests->n_to_fault != UINT32_MAX ? late + 1 : UINT32_MAX;
}

struct jit_access_tests jit_access_path_test_all(const struct jit *j, const struct jit_order *o)
{
    size_t words = pt_bit_words(j->unit->f->insns.n);
    struct jit_access_tests tests = {.trusted = pt_arena_alloc(j->unit->arena, words * 8)};
    struct aligned seen = {.n = 0};
    struct jit at = *j;
    uint64_t *written =
        pt_arena_alloc(j->unit->arena, pt_bit_words(j->unit->f->regs.n) * sizeof *written);
    at.trusted = tests.trusted;
    for (uint32_t i = o->n_early; i < o->n; i++) {
        LLVMValueRef test = NULL;
        jit_visit_insn(&at, o->insns[i]);
        if (jit_access_path_test(&at, written, &test))
            jit_set_add(tests.trusted, o->insns[i]);
        if (test)
            add_test(&at, i - o->n_early, test, &seen, &tests);
        pt_insn_regs(j->unit->m, j->unit->f, at.insn, jit_def_use_note_write, written);
    }
    jit_interleave_find(&at, o->insns + o->n_early, o->n - o->n_early);
    LLVMValueRef good = jit_structure_test(&at, tests.good);
    if (good != tests.good || tests.n_to_fault == UINT32_MAX ||
        jit_is_checked(j->unit)) /* each access has its own check in front */
        tests.n_to_fault = 0;
    tests.good = good;
    return tests;
}

void jit_access_path_fail(const struct jit *j)
{
    struct jit_access a;
    jit_access_try_describe(j, &a);
    unsigned n = jit_def_use_is_per_copy(j->facts, a.base) ? j->facts->copies : 1;
    const struct jit_blame last = {.first = n - 1, .n = j->facts->copies - (n - 1)};
    for (unsigned u = 0; u < n - 1; u++)
        jit_access_check_one(j, &a, u, jit_access_address(j, &a, u, 1));
    jit_fault_raise(j, PT_FAULT_MISALIGNED, &last);
}
