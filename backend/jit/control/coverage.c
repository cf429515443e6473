/* Counts of what ran: additions to the worker's counters, which nobody else sees while native code
 * runs. LLVM keeps those of a loop in registers until it ends.
 */
#include "backend/jit/control/coverage.h"

#include <string.h>

#include "backend/jit/analysis/def_use.h"
#include "backend/jit/llvm/build.h"
#include "backend/jit/llvm/debug_info.h"
#include "backend/jit/value/guard.h"
#include "backend/jit/value/registers.h"
#include "ir/coverage.h"

enum { ARGUMENT = 2 };

static void note_argument(const struct jit *j, const char *name, uint64_t value)
{
    unsigned kind = LLVMGetEnumAttributeKindForName(name, strlen(name));
    if (kind) /* else a word that this LLVM does not know */
        LLVMAddAttributeAtIndex(j->code->function, ARGUMENT + 1,
                                LLVMCreateEnumAttribute(j->code->context, kind, value));
}

void jit_coverage_begin(const struct jit *j)
{
    const struct jit_unit *u = j->unit;
    if (!jit_is_covered(u))
        return;
    j->code->coverage = pt_coverage_find(&u->snapshot->m, u->snapshot->kernel, u->arena);
    j->code->covered = LLVMGetParam(j->code->function, ARGUMENT);
    note_argument(j, "noalias", 0);
    note_argument(j, "writable", 0);
    note_argument(j, "dead_on_unwind", 0);
    note_argument(j, "align", _Alignof(uint64_t));
    note_argument(j, "dereferenceable", j->code->coverage->n * sizeof(uint64_t));
}

static void add(const struct jit *j, uint32_t counter, LLVMValueRef lanes)
{
    LLVMTypeRef i64 = LLVMInt64TypeInContext(j->code->context);
    LLVMValueRef at = jit_at(j, j->code->covered, jit_i64(j, counter * sizeof(uint64_t)));
    LLVMValueRef sum = LLVMBuildLoad2(j->code->b, i64, at, "");
    lanes = LLVMBuildZExt(j->code->b, lanes, i64, "");
    LLVMBuildStore(j->code->b, LLVMBuildAdd(j->code->b, sum, lanes, ""), at);
}

/* What is counted of the instruction, or of the one that it is a copy of. */
static const struct pt_covered_insn *find(const struct jit *j, uint32_t insn, uint32_t *first,
                                          bool *begins)
{
    struct pt_place at = jit_debug_info_place(j->unit, insn);
    const struct pt_covered_func *c = &j->code->coverage->funcs[at.func];
    *first = c->first;
    *begins = j->unit->inlined ? at.begins : c->insns[at.insn].is_first;
    return &c->insns[at.insn];
}

/* ---- lanes ----------------------------------------------------------------------------------- */

static LLVMValueRef count_lanes(const struct jit *j, LLVMValueRef mask)
{
    LLVMTypeRef i32 = jit_i32_of(j);
    if (!mask)
        return jit_i32(j, j->alone ? 1 : j->unit->width);
    LLVMValueRef bits = jit_mask_to_bits(j, mask);
    return jit_intrinsic(j, "llvm.ctpop", i32, &bits, 1);
}

/* Those of one lane are like those of one copy (per_lane_loop.c). */
static unsigned end_of(const struct jit *j)
{
    return j->alone ? j->first_copy + 1 : j->end_copy;
}

static LLVMValueRef count_all(const struct jit *j, const LLVMValueRef *mask)
{
    LLVMValueRef n = jit_i32(j, 0);
    for (unsigned u = j->first_copy; u < end_of(j); u++)
        n = LLVMBuildAdd(j->code->b, n, count_lanes(j, mask[u]), "");
    return n;
}

/* Of the lanes those for which the guard of j->insn holds. */
static LLVMValueRef count_guard(const struct jit *j, const LLVMValueRef *mask)
{
    struct pt_operand guard = jit_guard_operand(j->insn);
    LLVMValueRef n = jit_i32(j, 0);
    int64_t stride;
    bool is_one = jit_def_use_shape(j->facts, &guard, &stride) == JIT_SCALAR;
    for (unsigned u = j->first_copy; u < end_of(j); u++) {
        LLVMValueRef holds =
            jit_registers_read(j, &guard, u, PT_pred, is_one ? 1 : j->unit->width, true);
        LLVMValueRef lanes;
        if (is_one)
            lanes = LLVMBuildSelect(j->code->b, holds, count_lanes(j, mask[u]), jit_i32(j, 0), "");
        else
            lanes = count_lanes(j, mask[u] ? LLVMBuildAnd(j->code->b, mask[u], holds, "") : holds);
        n = LLVMBuildAdd(j->code->b, n, lanes, "");
    }
    return n;
}

/* ---- what runs ------------------------------------------------------------------------------- */

void jit_coverage_add_block(const struct jit *j, uint32_t block, const LLVMValueRef *mask)
{
    if (!jit_is_covered(j->unit))
        return;
    const struct pt_block *b = &j->unit->f->blocks.v[block];
    LLVMValueRef lanes = NULL;
    for (uint32_t i = b->first; i < b->first + b->count; i++) {
        uint32_t first;
        bool begins;
        const struct pt_covered_insn *x = find(j, i, &first, &begins);
        if (!begins)
            continue;
        lanes = lanes ? lanes : count_all(j, mask);
        add(j, first + x->lanes, lanes);
    }
}

/* The counter of j->insn's guard; UINT32_MAX: it has none. */
static uint32_t counter_of(const struct jit *j)
{
    uint32_t first;
    bool begins;
    if (!jit_is_covered(j->unit) || !j->insn->guard)
        return UINT32_MAX;
    const struct pt_covered_insn *x =
        find(j, (uint32_t)(j->insn - j->unit->f->insns.v), &first, &begins);
    return x->is_tested ? first + x->on : UINT32_MAX;
}

void jit_coverage_add_guard(const struct jit *j, const LLVMValueRef *mask)
{
    uint32_t counter = counter_of(j);
    if (counter != UINT32_MAX)
        add(j, counter, count_guard(j, mask));
}

void jit_coverage_add_taken(const struct jit *j, const LLVMValueRef *mask)
{
    uint32_t counter = counter_of(j);
    if (counter != UINT32_MAX)
        add(j, counter, count_all(j, mask));
}
