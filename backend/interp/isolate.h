/* Is the memory the kernel's? What native code asks. */
#ifndef PTERA_BACKEND_INTERP_ISOLATE_H
#define PTERA_BACKEND_INTERP_ISOLATE_H

#include "backend/interp/state.h"

#define pt_isolate_check PT_LEVEL_NAME(pt_isolate_check)
/* As pt_engine.check. */
void pt_isolate_check(struct pt_warp *warp, uint32_t func, uint32_t insn, uint32_t lanes,
                      const uint64_t *address, uint64_t bytes, uint32_t origin,
                      struct pt_extent *recent);

#endif
