/* LLVM's target machine, and its passes. */
#ifndef PTERA_BACKEND_JIT_LLVM_TARGET_H
#define PTERA_BACKEND_JIT_LLVM_TARGET_H

#include "backend/jit/jit.h"
#include "backend/jit/llvm/cpu.h"

/* NULL: LLVM has no target for this host. */
LLVMTargetMachineRef jit_target_machine(const struct jit_cpu *cpu, LLVMCodeGenOptLevel level);

/* Optimises code->module; finds code->is_light. */
void jit_target_optimise(struct jit_code *code, LLVMTargetMachineRef machine);

#endif
