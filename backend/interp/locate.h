/* Where a warp stands. */
#ifndef PTERA_BACKEND_INTERP_LOCATE_H
#define PTERA_BACKEND_INTERP_LOCATE_H

#include "backend/interp/state.h"

#define pt_locate_fault PT_LEVEL_NAME(pt_locate_fault)
#define pt_locate_waiting PT_LEVEL_NAME(pt_locate_waiting)
/* As locate and places of struct pt_engine. */
void pt_locate_fault(struct pt_warp *warp, uint64_t address);
void pt_locate_waiting(const struct pt_warp *warp,
                       void (*report)(void *ud, uint32_t func, uint32_t insn, uint32_t lanes,
                                      uint32_t bar),
                       void *ud);

#endif
