/* A kernel, from its IR to LLVM's. */
#include "backend/jit/control/kernel.h"

#include <string.h>

#include "backend/jit/analysis/def_use.h"
#include "backend/jit/analysis/local_memory.h"
#include "backend/jit/analysis/plan.h"
#include "backend/jit/control/barrier_reduce.h"
#include "backend/jit/control/coverage.h"
#include "backend/jit/control/cta_interleave.h"
#include "backend/jit/control/cta_rows.h"
#include "backend/jit/control/region.h"
#include "backend/jit/control/region_spill.h"
#include "backend/jit/control/resumable_warp.h"
#include "backend/jit/jit.h"
#include "backend/jit/llvm/build.h"
#include "backend/jit/llvm/check.h"
#include "backend/jit/memory/mem_check.h"
#include "backend/jit/memory/nontemporal.h"
#include "backend/jit/object/object.h"
#include "backend/jit/tune.h"
#include "backend/jit/value/predicate_bounds.h"
#include "backend/jit/value/registers.h"
#include "ir/inline.h"

/* A number that metadata of a load states. */
static void note(const struct jit *j, LLVMValueRef load, const char *what, uint64_t number)
{
    LLVMMetadataRef value = LLVMValueAsMetadata(jit_i64(j, number));
    LLVMMetadataRef node = LLVMMDNodeInContext2(j->code->context, &value, 1);
    LLVMSetMetadata(load, LLVMGetMDKindIDInContext(j->code->context, what, (unsigned)strlen(what)),
                    LLVMMetadataAsValue(j->code->context, node));
    jit_check_proven(j->code, load, what); /* see load_part */
}

/* A part that lies elsewhere. Its memory is there in any case: fields that do not change are read
 * ahead of loops. */
static LLVMValueRef load_part(const struct jit *j, LLVMValueRef pointer, size_t offset,
                              uint64_t bytes)
{
    LLVMValueRef part =
        jit_field(j, LLVMPointerTypeInContext(j->code->context, 0), pointer, offset);
    note(j, part, "dereferenceable", bytes);
    note(j, part, "align", _Alignof(uint64_t));
    jit_set_invariant(j, part);
    return part;
}

static void note_argument(const struct jit *j, uint64_t bytes)
{
    static const char *const names[] = {"dereferenceable", "align"};
    uint64_t numbers[] = {bytes, _Alignof(uint64_t)};
    for (unsigned i = 0; i < 2; i++) {
        unsigned kind = LLVMGetEnumAttributeKindForName(names[i], strlen(names[i]));
        LLVMAddAttributeAtIndex(j->code->function, 1,
                                LLVMCreateEnumAttribute(j->code->context, kind, numbers[i]));
    }
}

/* What all CTAs of a row have in common, and code asks for again and again. */
static void load_parts(const struct jit *j)
{
    LLVMTypeRef pointer = LLVMPointerTypeInContext(j->code->context, 0);
    j->code->cta = LLVMGetParam(j->code->function, 0);
    note_argument(j, j->facts->is_resumable ? sizeof(struct pt_warp) : sizeof(struct pt_cta));
    if (j->facts->is_resumable) {
        j->code->warp = j->code->cta;
        j->code->cta =
            load_part(j, j->code->warp, offsetof(struct pt_warp, cta), sizeof(struct pt_cta));
    }
    j->code->fault = LLVMGetParam(j->code->function, 1);
    j->code->launch =
        load_part(j, j->code->cta, offsetof(struct pt_cta, launch), sizeof(struct pt_launch));
    j->code->scratch = jit_field(j, pointer, j->code->cta, offsetof(struct pt_cta, scratch));
    j->code->shared = jit_field(j, pointer, j->code->cta, offsetof(struct pt_cta, shared));
    j->code->shared_bytes = jit_field(j, LLVMInt32TypeInContext(j->code->context), j->code->launch,
                                      offsetof(struct pt_launch, shared_bytes));
    j->code->params = jit_field(j, pointer, j->code->launch, offsetof(struct pt_launch, params));
}

/* What begins anew in each CTA of a row. */
static void start_cta(const struct jit *j)
{
    LLVMTypeRef i32 = LLVMInt32TypeInContext(j->code->context);
    j->code->start = jit_new_block(j, "start");
    LLVMBuildBr(j->code->b, j->code->start);
    jit_continue_in(j, j->code->start);
    for (unsigned d = 0; d < 3; d++)
        j->code->id[d] =
            jit_field(j, i32, j->code->cta, offsetof(struct pt_cta, id) + d * sizeof(uint32_t));
    j->code->budget = jit_alloca(j, i32, "budget");
    LLVMBuildStore(j->code->b, jit_i32(j, JIT_STOP_POLL_EDGES), j->code->budget);
    jit_barrier_reduce_begin(j);
}

/* That it runs often, as far as LLVM asks: code for what is rare then stays where it is, rather
 * than in front of loops. */
static void note_runs(const struct jit *j)
{
    static const char name[] = "function_entry_count";
    LLVMMetadataRef parts[] = {LLVMMDStringInContext2(j->code->context, name, strlen(name)),
                               LLVMValueAsMetadata(jit_i64(j, JIT_FUNCTION_RUNS))};
    LLVMGlobalSetMetadata(j->code->function, LLVMGetMDKindIDInContext(j->code->context, "prof", 4),
                          LLVMMDNodeInContext2(j->code->context, parts, 2));
}

/* Null is an address like any other: what is loaded or stored there faults, as elsewhere where
 * nothing is mapped. */
static void allow_null(const struct jit *j)
{
    static const char name[] = "null_pointer_is_valid";
    unsigned kind = LLVMGetEnumAttributeKindForName(name, strlen(name));
    LLVMAddAttributeAtIndex(j->code->function, (LLVMAttributeIndex)LLVMAttributeFunctionIndex,
                            LLVMCreateEnumAttribute(j->code->context, kind, 0));
}

/* The function with an empty body. Allocas go to its entry, the rest begins in a block behind. */
static void begin(const struct jit *j)
{
    LLVMTypeRef pointer = LLVMPointerTypeInContext(j->code->context, 0);
    LLVMTypeRef parameters[] = {pointer, pointer, pointer};
    LLVMTypeRef type =
        LLVMFunctionType(LLVMInt32TypeInContext(j->code->context), parameters, 3, false);
    j->code->function = LLVMAddFunction(j->code->module, JIT_ENTRY, type);
    note_runs(j);
    allow_null(j);
    LLVMBasicBlockRef entry = jit_new_block(j, "entry"), body = jit_new_block(j, "cta");
    LLVMPositionBuilderAtEnd(j->code->allocas, entry);
    jit_continue_in(j, body);
    load_parts(j);
    jit_mem_check_begin(j);
    jit_coverage_begin(j);
    start_cta(j);
}

static void finish_entry(const struct jit *j)
{
    LLVMBasicBlockRef entry = LLVMGetEntryBasicBlock(j->code->function);
    LLVMPositionBuilderAtEnd(j->code->allocas, entry);
    LLVMBuildBr(j->code->allocas, LLVMGetNextBasicBlock(entry));
}

/* Variables that pass arguments, of calls that may not be there: they are the thread's own. */
static bool has_arguments(const struct jit_unit *u)
{
    for (uint32_t i = 0; i < u->f->locals.n; i++)
        if (u->m->symbols.v[u->f->locals.v[i]].space == PT_SPACE_PARAM)
            return true;
    return false;
}

/* Calls are expanded where they can be, loops changed; a copy of the kernel begins with where its
 * threads' stacks do. */
static bool expand_calls(struct jit_unit *u)
{
    if (!u->f->calls && !has_arguments(u) && !pt_uses_stack(u->m, u->f) &&
        !pt_inline_changes_loops(u->m, u->f, u->arena))
        return true;
    struct pt_inlined *inlined = pt_arena_alloc(u->arena, sizeof *inlined);
    if (!pt_inline(u->m, u->snapshot->kernel, jit_is_covered(u), u->arena, inlined))
        return jit_refuse(u, "calls that grow into too much code");
    u->m = inlined->m;
    u->f = inlined->f;
    u->inlined = inlined;
    return true;
}

/* Variables of the CTA that regions share. */
static void make_variables(const struct jit *j, const struct jit_plan *plan)
{
    if (plan->interleave.region)
        j->code->interleave_exit = jit_at(j, j->code->scratch, jit_i64(j, plan->interleave.next));
    jit_region_spill_make_variables(j);
}

static void make_starts(const struct jit *j, const struct jit_plan *plan)
{
    j->code->regions = pt_arena_alloc(j->unit->arena, plan->n_regions * sizeof *j->code->regions);
    for (uint32_t r = 0; r < plan->n_regions; r++)
        j->code->regions[r] = jit_new_block(j, "region");
    if (plan->interleave.region)
        j->code->interleave_resume = jit_new_block(j, "resume");
}

static bool generate(struct jit_facts *facts, struct jit *j)
{
    jit_def_use_find(facts);
    jit_plan_shape(facts);
    j->end_copy = j->facts->copies;
    begin(j);
    jit_registers_init(j);
    jit_predicate_bounds_find(j);
    struct jit_plan plan = {0};
    if (!jit_plan_find(facts, &plan))
        return false;
    jit_local_memory_choose(facts);
    make_variables(j, &plan);
    facts->streaming = jit_nontemporal_find(j);
    make_starts(j, &plan);
    jit_cta_rows_begin(j);
    if (j->facts->is_resumable)
        jit_resumable_warp_begin(j, &plan);
    else if (plan.interleave.region)
        jit_cta_interleave_start(j);
    else
        LLVMBuildBr(j->code->b, j->code->regions[0]);
    for (uint32_t r = 0; r < plan.n_regions; r++)
        if (!jit_region_generate(j, &plan, &plan.regions[r]))
            return false;
    finish_entry(j);
    return true;
}

bool jit_kernel_generate(struct jit_unit *u, struct jit_facts *facts, struct jit_code *code)
{
    struct jit j = {.unit = u, .facts = facts, .code = code};
    /* makes the instruction table, of which this shared object has a copy */
    *u->why = pt_isa_check();
    if (*u->why || !expand_calls(u))
        return false;
    jit_local_memory_name_accesses(facts);
    code->allocas = LLVMCreateBuilderInContext(code->context);
    bool ok = generate(facts, &j);
    LLVMDisposeBuilder(code->allocas);
    return ok;
}
