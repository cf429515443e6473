/* One instruction alone. */
#ifndef PTERA_BACKEND_INTERP_STEP_H
#define PTERA_BACKEND_INTERP_STEP_H

#include "backend/interp/state.h"

#define pt_step_frame PT_LEVEL_NAME(pt_step_frame)
#define pt_step_slot PT_LEVEL_NAME(pt_step_slot)
#define pt_step PT_LEVEL_NAME(pt_step)
/* As frame, slot and step of struct pt_engine. Of a function that the program has not (a kernel, of
 * which the compiler asks where something is called by an address) each slot is 0. */
void *pt_step_frame(struct pt_warp *warp, uint32_t func);
uint32_t pt_step_slot(const struct pt_program *program, uint32_t func, uint32_t reg);
bool pt_step(struct pt_warp *warp, uint32_t func, uint32_t insn, uint32_t lanes, bool is_fast);

#endif
