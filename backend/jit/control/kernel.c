/* A kernel, from its IR to LLVM's. */
#include "backend/jit/control/kernel.h"

#include <string.h>

#include "backend/jit/analysis/def_use.h"
#include "backend/jit/analysis/plan.h"
#include "backend/jit/control/barrier_reduce.h"
#include "backend/jit/control/cta_interleave.h"
#include "backend/jit/control/region.h"
#include "backend/jit/control/resumable_warp.h"
#include "backend/jit/jit.h"
#include "backend/jit/llvm/build.h"
#include "backend/jit/llvm/check.h"
#include "backend/jit/memory/nontemporal.h"
#include "backend/jit/object/object.h"
#include "backend/jit/value/predicate_bounds.h"
#include "backend/jit/value/registers.h"

enum { RUNS = 1000 };

/* A number that metadata of a load states. */
static void note(struct jit *j, LLVMValueRef load, const char *what, uint64_t number)
{
    LLVMMetadataRef value = LLVMValueAsMetadata(jit_i64(j, number));
    LLVMMetadataRef node = LLVMMDNodeInContext2(j->context, &value, 1);
    LLVMSetMetadata(load, LLVMGetMDKindIDInContext(j->context, what, (unsigned)strlen(what)),
                    LLVMMetadataAsValue(j->context, node));
    jit_check_proven(j, load, what); /* see load_part */
}

/* A part that lies elsewhere. Its memory is there in any case: fields that do not change are read ahead of loops. */
static LLVMValueRef load_part(struct jit *j, LLVMValueRef pointer, size_t offset, uint64_t bytes)
{
    LLVMValueRef part = jit_field(j, LLVMPointerTypeInContext(j->context, 0), pointer, offset);
    note(j, part, "dereferenceable", bytes);
    note(j, part, "align", _Alignof(uint64_t));
    jit_set_invariant(j, part);
    return part;
}

static void note_argument(struct jit *j, uint64_t bytes)
{
    static const char *const names[] = {"dereferenceable", "align"};
    uint64_t numbers[] = {bytes, _Alignof(uint64_t)};
    for (unsigned i = 0; i < 2; i++) {
        unsigned kind = LLVMGetEnumAttributeKindForName(names[i], strlen(names[i]));
        LLVMAddAttributeAtIndex(j->function, 1,
                                LLVMCreateEnumAttribute(j->context, kind, numbers[i]));
    }
}

/* What all CTAs of a row have in common, and code asks for again and again. */
static void load_parts(struct jit *j)
{
    LLVMTypeRef pointer = LLVMPointerTypeInContext(j->context, 0);
    j->cta = LLVMGetParam(j->function, 0);
    note_argument(j, j->runs_apart ? sizeof(struct pt_warp) : sizeof(struct pt_cta));
    if (j->runs_apart) {
        j->warp = j->cta;
        j->cta = load_part(j, j->warp, offsetof(struct pt_warp, cta), sizeof(struct pt_cta));
    }
    j->fault = LLVMGetParam(j->function, 1);
    j->launch = load_part(j, j->cta, offsetof(struct pt_cta, launch), sizeof(struct pt_launch));
    j->scratch = jit_field(j, pointer, j->cta, offsetof(struct pt_cta, scratch));
    j->shared = jit_field(j, pointer, j->cta, offsetof(struct pt_cta, shared));
    j->shared_bytes = jit_field(j, LLVMInt32TypeInContext(j->context), j->launch,
                                offsetof(struct pt_launch, shared_bytes));
    j->params = jit_field(j, pointer, j->launch, offsetof(struct pt_launch, params));
}

/* What begins anew in each CTA of a row. */
static void start_cta(struct jit *j)
{
    LLVMTypeRef i32 = LLVMInt32TypeInContext(j->context);
    j->start = jit_new_block(j, "start");
    LLVMBuildBr(j->b, j->start);
    jit_continue_in(j, j->start);
    for (unsigned d = 0; d < 3; d++)
        j->id[d] = jit_field(j, i32, j->cta, offsetof(struct pt_cta, id) + d * sizeof(uint32_t));
    j->budget = jit_alloca(j, i32, "budget");
    LLVMBuildStore(j->b, jit_i32(j, JIT_BUDGET), j->budget);
    jit_barrier_reduce_begin(j);
}

/* That it runs often, as far as LLVM asks: code for what is rare then stays where it is, rather than in front of loops. */
static void note_runs(struct jit *j)
{
    static const char name[] = "function_entry_count";
    LLVMMetadataRef parts[] = {LLVMMDStringInContext2(j->context, name, strlen(name)),
                               LLVMValueAsMetadata(jit_i64(j, RUNS))};
    LLVMGlobalSetMetadata(j->function, LLVMGetMDKindIDInContext(j->context, "prof", 4),
                          LLVMMDNodeInContext2(j->context, parts, 2));
}

/* Null is an address like any other: what is loaded or stored there faults, as elsewhere where nothing is mapped. */
static void allow_null(struct jit *j)
{
    static const char name[] = "null_pointer_is_valid";
    unsigned kind = LLVMGetEnumAttributeKindForName(name, strlen(name));
    LLVMAddAttributeAtIndex(j->function, (LLVMAttributeIndex)LLVMAttributeFunctionIndex,
                            LLVMCreateEnumAttribute(j->context, kind, 0));
}

/* The function with an empty body. Allocas go to its entry, the rest begins in a block behind. */
static void begin(struct jit *j)
{
    LLVMTypeRef pointer = LLVMPointerTypeInContext(j->context, 0);
    LLVMTypeRef parameters[] = {pointer, pointer};
    LLVMTypeRef type = LLVMFunctionType(LLVMInt32TypeInContext(j->context), parameters, 2, false);
    j->function = LLVMAddFunction(j->module, JIT_ENTRY, type);
    note_runs(j);
    allow_null(j);
    LLVMBasicBlockRef entry = jit_new_block(j, "entry"), body = jit_new_block(j, "cta");
    LLVMPositionBuilderAtEnd(j->allocas, entry);
    jit_continue_in(j, body);
    load_parts(j);
    start_cta(j);
}

static void finish_entry(struct jit *j)
{
    LLVMBasicBlockRef entry = LLVMGetEntryBasicBlock(j->function);
    LLVMPositionBuilderAtEnd(j->allocas, entry);
    LLVMBuildBr(j->allocas, LLVMGetNextBasicBlock(entry));
}

/* Variables that pass arguments, of calls that may not be there: they are the thread's own. */
static bool has_arguments(const struct jit *j)
{
    for (uint32_t i = 0; i < j->f->locals.n; i++)
        if (j->m->symbols.v[j->f->locals.v[i]].space == PT_SPACE_PARAM)
            return true;
    return false;
}

/* Calls are expanded where they can be; a copy of the kernel begins with where its threads' stacks do. */
static bool expand_calls(struct jit *j)
{
    if (!j->f->calls && !has_arguments(j) && !pt_uses_stack(j->m, j->f))
        return true;
    struct pt_inlined *inlined = pt_arena_alloc(j->arena, sizeof *inlined);
    if (!pt_inline(j->m, j->snapshot->kernel, j->arena, inlined)) {
        j->why = "calls that grow into too much code";
        return false;
    }
    j->m = inlined->m;
    j->f = inlined->f;
    j->inlined = inlined;
    return true;
}

static bool generate(struct jit *j)
{
    if (!expand_calls(j))
        return false;
    jit_def_use_find(j);
    jit_plan_shape(j);
    begin(j);
    jit_registers_init(j);
    jit_predicate_bounds_find(j);
    struct jit_plan plan = {0};
    if (!jit_plan_find(j, &plan))
        return false;
    j->front_bytes = plan.front_bytes;
    jit_nontemporal_find(j);
    for (uint32_t r = 0; r < plan.n_regions; r++)
        plan.regions[r].start = jit_new_block(j, "region");
    if (plan.turns.region)
        plan.turns.resume = jit_new_block(j, "resume");
    if (j->runs_apart)
        jit_resumable_warp_begin(j, &plan);
    else if (plan.turns.region)
        jit_cta_interleave_start(j, &plan);
    else
        LLVMBuildBr(j->b, plan.regions[0].start);
    for (uint32_t r = 0; r < plan.n_regions; r++)
        if (!jit_region_generate(j, &plan, &plan.regions[r]))
            return false;
    finish_entry(j);
    return true;
}

bool jit_kernel_generate(struct jit *j)
{
    j->why =
        pt_isa_check(); /* makes the instruction table, of which this shared object has a copy */
    if (j->why)
        return false;
    j->allocas = LLVMCreateBuilderInContext(j->context);
    bool ok = generate(j);
    LLVMDisposeBuilder(j->allocas);
    return ok;
}
