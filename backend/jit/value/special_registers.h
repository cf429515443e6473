/* Special registers: %tid, %laneid, %ntid, %ctaid, %lanemask_lt, %clock and the like. */
#ifndef PTERA_BACKEND_JIT_VALUE_SPECIAL_REGISTERS_H
#define PTERA_BACKEND_JIT_VALUE_SPECIAL_REGISTERS_H

#include "backend/jit/jit.h"

/* In all lanes of the copy (lanes == width), or in its lane 0 (lanes == 1). */
LLVMValueRef jit_special_registers_read(const struct jit *j, enum pt_sreg sreg, unsigned copy,
                                        unsigned lanes);

#endif
