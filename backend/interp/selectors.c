/* The selector of each row of isa.def. */
#include "backend/interp/selectors.h"

const pt_selector pt_selectors[PT_OP_COUNT] = {
#define ROW(id, syntax, shape, effects, jit, ptx, sm) [PT_OP_##id] = PT_DO(id),
#define ROW_TODO(id, syntax, shape, effects, jit, ptx, sm)
#include "ir/isa.def"
};
