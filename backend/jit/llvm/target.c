/* The host as LLVM sees it, the passes, and the machine the code is made for. */
#include "backend/jit/llvm/target.h"

#include <llvm-c/DebugInfo.h>
#include <llvm-c/Support.h>
#include <llvm-c/Target.h>
#include <llvm-c/Transforms/PassBuilder.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "backend/jit/jit.h"
#include "backend/jit/llvm/build.h"
#include "backend/jit/llvm/code_size.h"
#include "backend/jit/llvm/ssa.h"
#include "backend/jit/tune.h"

static const struct level {
    const char *name, *cpu, *features;
    unsigned width;
    bool has_mask_registers, has_masked_access, has_fma;
} levels[] = {
#if defined(__x86_64__)
    {"v2", "x86-64-v2", "", 4, false, false, false},
    {"v3", "x86-64-v3", "", 8, false, true, true},
    /* The CPUs that are slower with 512 bits are those that ran hot in 2017. */
    {"v4", "x86-64-v4", "-prefer-256-bit", 16, true, true, true},
#elif defined(__aarch64__)
    {"aarch64", "generic", "+neon", 4, false, false, true},
#endif
};
enum { N_LEVELS = sizeof levels / sizeof *levels };

static struct jit_target targets[N_LEVELS];
static pthread_once_t once = PTHREAD_ONCE_INIT;
static char *host_cpu;
static pthread_mutex_t host_cpu_lock = PTHREAD_MUTEX_INITIALIZER;

/* The scheduler compares each access of a block with all before it, up to so many: that time grows
 * with their square. */
static void bound_scheduler(void)
{
    char option[64];
    snprintf(option, sizeof option, "-dag-maps-huge-region=%d", JIT_SCHEDULER_ACCESSES);
    const char *const words[] = {"ptera", option};
    LLVMParseCommandLineOptions(2, words, NULL);
}

/* Zen 4 follows later CTAs' parts better by itself, and other Zen are taken to; Intel's Emerald
 * Rapids takes twice the time for a stencil, and a sixth more for a sparse matrix, if nobody
 * asks. */
static bool follows_parts(void)
{
    return !strncmp(host_cpu, "znver", 5);
}

static void start_llvm(void)
{
    bound_scheduler();
    LLVMInitializeNativeTarget();
    LLVMInitializeNativeAsmPrinter();
    for (int i = 0; i < N_LEVELS; i++) {
        struct jit_target *t = &targets[i];
        snprintf(t->cpu, sizeof t->cpu, "%s", levels[i].cpu);
        snprintf(t->features, sizeof t->features, "%s", levels[i].features);
        t->triple = LLVMGetDefaultTargetTriple();
        t->width = levels[i].width;
        t->has_mask_registers = levels[i].has_mask_registers;
        t->has_masked_access = levels[i].has_masked_access;
        t->has_fma = levels[i].has_fma;
        t->follows_parts = follows_parts();
    }
}

const struct jit_target *jit_target_find(const char *level)
{
    if (!jit_target_host_cpu())
        return NULL;
    pthread_once(&once, start_llvm);
    for (int i = 0; i < N_LEVELS; i++)
        if (!strcmp(levels[i].name, level))
            return &targets[i];
    return NULL;
}

unsigned jit_target_width(const char *level)
{
    for (int i = 0; i < N_LEVELS; i++)
        if (!strcmp(levels[i].name, level))
            return levels[i].width;
    return 0;
}

const char *jit_target_host_cpu(void)
{
    pthread_mutex_lock(&host_cpu_lock);
    if (!host_cpu)
        host_cpu = LLVMGetHostCPUName();
    pthread_mutex_unlock(&host_cpu_lock);
    return host_cpu;
}

LLVMTargetMachineRef jit_target_machine(const struct jit_target *target, LLVMCodeGenOptLevel level)
{
    LLVMTargetRef t;
    char *message = NULL;
    if (LLVMGetTargetFromTriple(target->triple, &t, &message)) {
        LLVMDisposeMessage(message);
        return NULL;
    }
    return LLVMCreateTargetMachine(t, target->triple, target->cpu, target->features, level,
                                   LLVMRelocPIC, LLVMCodeModelSmall);
}

/* Instructions are those of the level, their order and choice is the host's. */
static void tune(const struct jit *j)
{
    LLVMAttributeRef attribute = LLVMCreateStringAttribute(j->code->context, "tune-cpu", 8,
                                                           host_cpu, (unsigned)strlen(host_cpu));
    for (LLVMValueRef f = LLVMGetFirstFunction(j->code->module); f; f = LLVMGetNextFunction(f))
        if (LLVMCountBasicBlocks(f))
            LLVMAddAttributeAtIndex(f, (LLVMAttributeIndex)LLVMAttributeFunctionIndex, attribute);
}

/* The generator makes vectors itself: no pass that does. What is dead once variables are values
 * goes first, or common subexpressions would be taken from there. */
#define FIRST "sroa,dce,early-cse<memssa>"
#define REST(GVN)                                                                          \
    "instcombine<no-verify-fixpoint>,simplifycfg,loop-simplify,lcssa,loop-mssa(licm)," GVN \
    ",instcombine<no-verify-fixpoint>,dse,simplifycfg,adce,simplifycfg"

static void run_passes(const struct jit *j, LLVMTargetMachineRef machine, const char *passes)
{
    LLVMPassBuilderOptionsRef options = LLVMCreatePassBuilderOptions();
    LLVMErrorRef error = LLVMRunPasses(j->code->module, passes, machine, options);
    LLVMDisposePassBuilderOptions(options);
    if (error) /* a name that this LLVM does not know: the code is right without */
        LLVMConsumeError(error);
}

/* Instructions are combined by what branches above tell, one by one, those among them that always
 * go one way: many of these go before. */
static uint32_t count_decided(const struct jit *j)
{
    uint32_t n = 0;
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(j->code->function); b;
         b = LLVMGetNextBasicBlock(b)) {
        LLVMValueRef end = LLVMGetBasicBlockTerminator(b);
        n += LLVMIsABranchInst(end) && LLVMIsConditional(end) &&
             LLVMIsConstant(LLVMGetCondition(end));
    }
    return n;
}

static void run_all_passes(const struct jit *j, LLVMTargetMachineRef machine)
{
    bool has_loads = jit_code_size_count(j) < JIT_GVN_INSNS;
    run_passes(j, machine, "function(" FIRST ")");
    if (count_decided(j) > JIT_DECIDED_BRANCHES)
        run_passes(j, machine, "function(simplifycfg)");
    run_passes(j, machine,
               has_loads ? "function(" REST("gvn") ")" : "function(" REST("gvn<no-memdep>") ")");
}

static bool is_int_vector(LLVMTypeRef type)
{
    return LLVMGetTypeKind(type) == LLVMVectorTypeKind &&
           LLVMGetTypeKind(LLVMGetElementType(type)) == LLVMIntegerTypeKind;
}

static bool is_and_by_constant(LLVMValueRef v)
{
    return LLVMIsAInstruction(v) && LLVMGetInstructionOpcode(v) == LLVMAnd &&
           LLVMIsConstant(LLVMGetOperand(v, 1));
}

/* (x & c) | (y & ~c) in lanes of 32 or 64 bits. */
static bool picks_bits(LLVMValueRef v)
{
    LLVMTypeRef type = LLVMTypeOf(v);
    return is_int_vector(type) && LLVMGetIntTypeWidth(LLVMGetElementType(type)) >= 32 &&
           LLVMIsAInstruction(v) && LLVMGetInstructionOpcode(v) == LLVMOr &&
           is_and_by_constant(LLVMGetOperand(v, 0)) && is_and_by_constant(LLVMGetOperand(v, 1));
}

static void fence_operand(const struct jit *j, LLVMValueRef select, unsigned k)
{
    LLVMValueRef v = LLVMGetOperand(select, k);
    LLVMTypeRef type = LLVMTypeOf(v);
    LLVMTypeRef floats =
        jit_float_type(j, LLVMGetIntTypeWidth(LLVMGetElementType(type)), LLVMGetVectorSize(type));
    LLVMPositionBuilderBefore(j->code->b, select);
    LLVMSetCurrentDebugLocation2(j->code->b, LLVMInstructionGetDebugLoc(select));
    LLVMValueRef lanes = LLVMBuildBitCast(j->code->b, v, floats, "");
    lanes = jit_intrinsic(j, "llvm.arithmetic.fence", floats, &lanes, 1);
    LLVMSetOperand(select, k, LLVMBuildBitCast(j->code->b, lanes, type, ""));
}

/* LLVM 19 gives VPTERNLOG under a mask the wrong table where it picks bits by a broadcast constant
 * and lanes that are off keep its third source. */
static void part_mask_from_pick(const struct jit *j, LLVMValueRef i)
{
    for (unsigned k = 1; k < 3 && LLVMIsASelectInst(i); k++)
        if (picks_bits(LLVMGetOperand(i, k)))
            fence_operand(j, i, k);
}

/* LLVM 19 takes a union of masks that were integers for one of integers, and that for one of masks,
 * without end. */
static void part_union(const struct jit *j, LLVMValueRef i)
{
    LLVMTypeRef type = LLVMTypeOf(i);
    if (LLVMGetInstructionOpcode(i) != LLVMOr || LLVMGetTypeKind(type) != LLVMVectorTypeKind ||
        LLVMGetIntTypeWidth(LLVMGetElementType(type)) != 1)
        return;
    LLVMPositionBuilderBefore(j->code->b, i);
    LLVMSetCurrentDebugLocation2(j->code->b, LLVMInstructionGetDebugLoc(i));
    for (unsigned k = 0; k < 2; k++)
        if (LLVMIsAInstruction(LLVMGetOperand(i, k)))
            LLVMSetOperand(i, k, LLVMBuildFreeze(j->code->b, LLVMGetOperand(i, k), ""));
}

static void part_masks(const struct jit *j)
{
    for (LLVMValueRef f = LLVMGetFirstFunction(j->code->module); f; f = LLVMGetNextFunction(f))
        for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(f); b; b = LLVMGetNextBasicBlock(b))
            for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i)) {
                part_mask_from_pick(j, i);
                part_union(j, i);
            }
}

void jit_target_optimise(const struct jit *j, LLVMTargetMachineRef machine)
{
    tune(j);
    j->code->is_light = jit_code_size_is_large(j);
    if (!jit_ssa_promote(j))
        j->code->is_light = true;
    if (j->code->is_light)
        run_passes(j, machine, "function(early-cse)");
    else
        run_all_passes(j, machine);
    if (j->unit->target->has_mask_registers)
        part_masks(j);
}
