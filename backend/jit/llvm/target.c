/* LLVM's target machine, and its passes. */
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
#include "backend/jit/llvm/byte_sums.h"
#include "backend/jit/llvm/code_size.h"
#include "backend/jit/llvm/cpu.h"
#include "backend/jit/llvm/lazy_nan.h"
#include "backend/jit/llvm/ssa.h"
#include "backend/jit/tune.h"

static pthread_once_t once = PTHREAD_ONCE_INIT;
static char *triple;

/* The scheduler compares each access of a block with all before it, up to so many: that time grows
 * with their square. Loop strength reduction keeps a loop as it is where that is cheaper by its own
 * count: it makes a variable of each sum of the loop's, which large loops then keep in memory.
 * Where variables are is not followed: there are none, but in a function of thousands of blocks
 * that takes LLVM 19 a third of all time. */
static void set_options(void)
{
    char option[64];
    snprintf(option, sizeof option, "-dag-maps-huge-region=%d", JIT_SCHEDULER_ACCESSES);
    const char *const words[] = {"ptera", option, "-lsr-drop-solution",
                                 "-experimental-debug-variable-locations=false"};
    LLVMParseCommandLineOptions(sizeof words / sizeof *words, words, NULL);
}

static void start_llvm(void)
{
    set_options();
    LLVMInitializeNativeTarget();
    LLVMInitializeNativeAsmPrinter();
    LLVMInitializeNativeAsmParser();
    triple = LLVMGetDefaultTargetTriple();
}

LLVMTargetMachineRef jit_target_machine(const struct jit_cpu *cpu, LLVMCodeGenOptLevel level)
{
    LLVMTargetRef t;
    char *message = NULL;
    pthread_once(&once, start_llvm);
    if (LLVMGetTargetFromTriple(triple, &t, &message)) {
        LLVMDisposeMessage(message);
        return NULL;
    }
    return LLVMCreateTargetMachine(t, triple, cpu->llvm_cpu, cpu->llvm_features, level,
                                   LLVMRelocPIC, LLVMCodeModelSmall);
}

/* Instructions are those of the level, their order and choice is the host's. */
static void tune(struct jit_code *code)
{
    const char *host = jit_cpu_host();
    LLVMAttributeRef attribute =
        LLVMCreateStringAttribute(code->context, "tune-cpu", 8, host, (unsigned)strlen(host));
    for (LLVMValueRef f = LLVMGetFirstFunction(code->module); f; f = LLVMGetNextFunction(f))
        if (LLVMCountBasicBlocks(f))
            LLVMAddAttributeAtIndex(f, (LLVMAttributeIndex)LLVMAttributeFunctionIndex, attribute);
}

/* The generator makes vectors itself: no pass that does. What is dead once variables are values
 * goes first, or common subexpressions would be taken from there. */
#define FIRST "sroa,dce,early-cse<memssa>"
#define REST(GVN)                                                                          \
    "instcombine<no-verify-fixpoint>,simplifycfg,loop-simplify,lcssa,loop-mssa(licm)," GVN \
    ",instcombine<no-verify-fixpoint>,dse,simplifycfg,adce,simplifycfg"

static void run_passes(struct jit_code *code, LLVMTargetMachineRef machine, const char *passes)
{
    LLVMPassBuilderOptionsRef options = LLVMCreatePassBuilderOptions();
    LLVMErrorRef error = LLVMRunPasses(code->module, passes, machine, options);
    LLVMDisposePassBuilderOptions(options);
    if (error) /* a name that this LLVM does not know: the code is right without */
        LLVMConsumeError(error);
}

/* Instructions are combined by what branches above tell, one by one, those among them that always
 * go one way: many of these go before. */
static uint32_t count_decided(struct jit_code *code)
{
    uint32_t n = 0;
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(code->function); b;
         b = LLVMGetNextBasicBlock(b)) {
        LLVMValueRef end = LLVMGetBasicBlockTerminator(b);
        n += LLVMIsABranchInst(end) && LLVMIsConditional(end) &&
             LLVMIsConstant(LLVMGetCondition(end));
    }
    return n;
}

static void run_all_passes(struct jit_code *code, LLVMTargetMachineRef machine)
{
    bool has_loads = jit_code_size_count(code) < JIT_GVN_INSNS;
    run_passes(code, machine, "function(" FIRST ")");
    jit_byte_sums_narrow(code);
    if (count_decided(code) > JIT_DECIDED_BRANCHES)
        run_passes(code, machine, "function(simplifycfg)");
    run_passes(code, machine,
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

static void fence_operand(struct jit_code *code, LLVMValueRef select, unsigned k)
{
    LLVMValueRef v = LLVMGetOperand(select, k);
    LLVMTypeRef type = LLVMTypeOf(v);
    const struct jit at = {.unit = code->unit, .code = code};
    LLVMTypeRef floats =
        jit_float_type(&at, LLVMGetIntTypeWidth(LLVMGetElementType(type)), LLVMGetVectorSize(type));
    LLVMPositionBuilderBefore(code->b, select);
    LLVMSetCurrentDebugLocation2(code->b, LLVMInstructionGetDebugLoc(select));
    LLVMValueRef lanes = LLVMBuildBitCast(code->b, v, floats, "");
    lanes = jit_intrinsic(&at, "llvm.arithmetic.fence", floats, &lanes, 1);
    LLVMSetOperand(select, k, LLVMBuildBitCast(code->b, lanes, type, ""));
}

/* LLVM 19 gives VPTERNLOG under a mask the wrong table where it picks bits by a broadcast constant
 * and lanes that are off keep its third source. */
static void part_mask_from_pick(struct jit_code *code, LLVMValueRef i)
{
    for (unsigned k = 1; k < 3 && LLVMIsASelectInst(i); k++)
        if (picks_bits(LLVMGetOperand(i, k)))
            fence_operand(code, i, k);
}

/* LLVM 19 takes a union of masks that were integers for one of integers, and that for one of masks,
 * without end. */
static void part_union(struct jit_code *code, LLVMValueRef i)
{
    LLVMTypeRef type = LLVMTypeOf(i);
    if (LLVMGetInstructionOpcode(i) != LLVMOr || LLVMGetTypeKind(type) != LLVMVectorTypeKind ||
        LLVMGetIntTypeWidth(LLVMGetElementType(type)) != 1)
        return;
    LLVMPositionBuilderBefore(code->b, i);
    LLVMSetCurrentDebugLocation2(code->b, LLVMInstructionGetDebugLoc(i));
    for (unsigned k = 0; k < 2; k++)
        if (LLVMIsAInstruction(LLVMGetOperand(i, k)))
            LLVMSetOperand(i, k, LLVMBuildFreeze(code->b, LLVMGetOperand(i, k), ""));
}

static void part_masks(struct jit_code *code)
{
    for (LLVMValueRef f = LLVMGetFirstFunction(code->module); f; f = LLVMGetNextFunction(f))
        for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(f); b; b = LLVMGetNextBasicBlock(b))
            for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i)) {
                part_mask_from_pick(code, i);
                part_union(code, i);
            }
}

void jit_target_optimise(struct jit_code *code, LLVMTargetMachineRef machine)
{
    tune(code);
    code->is_light = jit_code_size_is_large(code);
    if (!jit_ssa_promote(code))
        code->is_light = true;
    if (code->is_light) {
        run_passes(code, machine, "function(early-cse)");
    } else {
        jit_lazy_nan_apply(code);
        run_all_passes(code, machine);
    }
    if (code->unit->cpu->has_mask_registers)
        part_masks(code);
}
