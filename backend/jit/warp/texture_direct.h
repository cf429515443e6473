/* Samples that native code takes by itself: enum pt_texture_direct. */
#ifndef PTERA_BACKEND_JIT_WARP_TEXTURE_DIRECT_H
#define PTERA_BACKEND_JIT_WARP_TEXTURE_DIRECT_H

#include "backend/jit/jit.h"

/* Samples for the chunks of a warp from `first` on, some of whose lanes are on, as `how` says (enum
 * pt_sampling), and goes to `otherwise` where the texture is not one of these. False, with nothing
 * done: the instruction is not one of these. */
bool jit_texture_direct_emit(const struct jit *j, unsigned first, uint32_t how,
                             LLVMBasicBlockRef otherwise);

#endif
