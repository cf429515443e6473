/* Textures. */
#ifndef PTERA_BACKEND_JIT_WARP_TEXTURE_H
#define PTERA_BACKEND_JIT_WARP_TEXTURE_H

#include "backend/jit/jit.h"

/* An instruction that jit_insn_info_is_sampled tells. A group is whole warps. */
bool jit_texture_emit(const struct jit *j);

#endif
