/* Places of the PTX in LLVM's debug information. */
#ifndef PTERA_BACKEND_JIT_LLVM_DEBUG_INFO_H
#define PTERA_BACKEND_JIT_LLVM_DEBUG_INFO_H

#include "backend/jit/jit.h"
#include "ir/inline.h"

/* Where instruction `insn` of code->unit->f comes from. */
struct pt_place jit_debug_info_place(const struct jit_unit *u, uint32_t insn);

/* What the builder makes from here on in its function belongs to instruction `insn` of
 * code->unit->f (UINT32_MAX: to none). */
void jit_debug_info_set(struct jit_code *code, uint32_t insn);

/* Once the module is whole. */
void jit_debug_info_finish(struct jit_code *code);

#endif
