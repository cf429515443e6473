/* Loops that unrolling has split. */
#ifndef PTERA_BACKEND_JIT_CONTROL_REROLL_H
#define PTERA_BACKEND_JIT_CONTROL_REROLL_H

#include "backend/jit/analysis/loops.h"
#include "backend/jit/jit.h"

/* Rounds of the first loop that do what lanes would in both. */
struct jit_rounds {
    LLVMValueRef n;     /* by lane */
    LLVMValueRef lanes; /* that have any */
    LLVMValueRef hold;  /* i1: they do the same in all lanes */
};

/* For `lanes` of a copy, of which `starts` begin with the first loop, the others behind it; `skips`
 * (NULL: none) leave out the second. */
struct jit_rounds jit_reroll_count_rounds(const struct jit *j, const struct jit_reroll *r,
                                          unsigned copy, LLVMValueRef starts, LLVMValueRef skips,
                                          LLVMValueRef lanes);

#endif
