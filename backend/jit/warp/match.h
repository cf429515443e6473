/* match.any: which lanes of a warp have the value that a lane has. */
#ifndef PTERA_BACKEND_JIT_WARP_MATCH_H
#define PTERA_BACKEND_JIT_WARP_MATCH_H

#include "backend/jit/jit.h"

/* masks[u]: for each lane of the warp's chunk u those of `here`, a vector of bits of lanes, whose
 * values a[], the operand's, are its own. */
void jit_match_find(const struct jit *j, const struct pt_operand *o, const LLVMValueRef *a,
                    LLVMValueRef here, LLVMValueRef *masks);

#endif
