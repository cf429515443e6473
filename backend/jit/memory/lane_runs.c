/* Accesses of lanes in two runs of neighbours, as where a row of a tile ends and the next begins:
 * two accesses of some lanes each. */
#include "backend/jit/memory/lane_runs.h"

#include "backend/jit/analysis/address_form.h"
#include "backend/jit/jit.h"
#include "backend/jit/llvm/build.h"
#include "backend/jit/memory/access.h"
#include "backend/jit/memory/contiguous.h"
#include "backend/jit/memory/lane_index.h"
#include "backend/jit/memory/prefetch.h"

struct runs {
    LLVMValueRef in_first, in_second; /* masks: each lane is in one */
    LLVMValueRef lowest;              /* the index that lane 0 had if the second began with it */
};

/* i1: there are no others. */
static LLVMValueRef find_runs(const struct jit *j, const struct jit_indexes *x, struct runs *r)
{
    LLVMTypeRef type = LLVMTypeOf(x->from_first);
    LLVMValueRef shift =
        LLVMBuildSub(j->code->b, x->from_first, jit_steps(j, x->type, x->stride), "");
    LLVMValueRef last = jit_lane(j, shift, j->unit->width - 1);
    r->in_first = LLVMBuildICmp(j->code->b, LLVMIntEQ, shift, LLVMConstNull(type), "");
    r->in_second = LLVMBuildNot(j->code->b, r->in_first, "");
    r->lowest = LLVMBuildAdd(j->code->b, x->first, last, "");
    LLVMValueRef at_last = LLVMBuildICmp(j->code->b, LLVMIntEQ, shift, jit_splat(j, last), "");
    return jit_all(j, LLVMBuildOr(j->code->b, r->in_first, at_last, ""));
}

static LLVMValueRef access_run(const struct jit *j, const struct jit_access *a, unsigned copy,
                               LLVMValueRef address, LLVMValueRef lanes, LLVMValueRef value)
{
    LLVMValueRef pointer = jit_access_pointer(j, a, address);
    bool is_far = a->space == PT_SPACE_GLOBAL || a->space == PT_SPACE_GENERIC;
    if (is_far && a->is_load && !j->mask[copy])
        jit_prefetch_emit(j, a->base->index, copy, pointer, a->bytes * j->unit->width);
    if (j->mask[copy])
        lanes = LLVMBuildAnd(j->code->b, lanes, j->mask[copy], "");
    if (a->is_load)
        jit_contiguous_load(j, a, pointer, lanes, &value);
    else
        jit_contiguous_store(j, a, pointer, lanes, &value);
    return value;
}

void jit_lane_runs_access(const struct jit *j, const struct jit_access *a, unsigned copy,
                          const struct jit_indexes *x, struct jit_ways *ways, LLVMValueRef value)
{
    struct runs r;
    LLVMValueRef at[2];
    int last = (int)j->unit->width - 1;
    if (!jit_address_form_wraps(j->facts, a->base))
        return;
    LLVMValueRef fit = find_runs(j, x, &r);
    fit = LLVMBuildAnd(j->code->b, fit, jit_lane_index_fits(j, a, copy, x, x->first, last, &at[0]),
                       "");
    fit = LLVMBuildAnd(j->code->b, fit, jit_lane_index_fits(j, a, copy, x, r.lowest, last, &at[1]),
                       "");
    LLVMBasicBlockRef runs = jit_new_block(j, "two_runs"), others = jit_new_block(j, "any");
    LLVMBuildCondBr(j->code->b, fit, runs, others);
    jit_continue_in(j, runs);
    LLVMValueRef first = access_run(j, a, copy, at[0], r.in_first, value);
    LLVMValueRef second = access_run(j, a, copy, at[1], r.in_second, value);
    if (a->is_load)
        value = LLVMBuildSelect(j->code->b, r.in_first, first, second, "");
    jit_access_end_way(j, ways, &value);
    jit_continue_in(j, others);
}
