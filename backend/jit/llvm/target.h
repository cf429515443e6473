/* The host as LLVM sees it, the passes, and the machine the code is made for. */
#ifndef PTERA_BACKEND_JIT_LLVM_TARGET_H
#define PTERA_BACKEND_JIT_LLVM_TARGET_H

#include "backend/jit/jit.h"

struct jit_target {
    char cpu[64], features[2048];
    char *triple;
    unsigned width;          /* lanes of 32 bits in a vector: 4, 8, 16 */
    bool has_mask_registers; /* AVX-512: vectors of i1 live in registers of their own */
    bool has_masked_access;  /* AVX2 on: loads and stores of some lanes of a vector */
    bool has_fma;
    /* the machine reads ahead by itself where CTAs, or lanes one by one, touch short parts that
     * follow one another */
    bool follows_parts;
};

/* The machine with no more than `level` ("v2", "v3", "v4", "aarch64") has; NULL if LLVM knows no
 * such target. */
const struct jit_target *jit_target_find(const char *level);

/* Its width, without LLVM, which ends the process where it has no memory: for hosts of a compiler
 * process. 0: there is no such level. */
unsigned jit_target_width(const char *level);

/* What code is tuned for. NULL: no memory. */
const char *jit_target_host_cpu(void);
LLVMTargetMachineRef jit_target_machine(const struct jit_target *target, LLVMCodeGenOptLevel level);

/* Optimises j->code->module; finds j->code->is_light. */
void jit_target_optimise(const struct jit *j, LLVMTargetMachineRef machine);

#endif
