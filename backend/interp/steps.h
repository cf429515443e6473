/* Tells what threads do, instruction by instruction (backend/steps.h): for the observer that traces
 * them. */
#ifndef PTERA_BACKEND_INTERP_STEPS_H
#define PTERA_BACKEND_INTERP_STEPS_H

#include "backend/interp/interp.h"
#include "backend/observer.h"

#define pt_steps_see_instruction PT_LEVEL_NAME(pt_steps_see_instruction)
void pt_steps_see_instruction(const struct pt_event *e);
#define pt_steps_see_access PT_LEVEL_NAME(pt_steps_see_access)
void pt_steps_see_access(const struct pt_event *e, const struct pt_access *access);
#define pt_steps_see_exited PT_LEVEL_NAME(pt_steps_see_exited)
void pt_steps_see_exited(const struct pt_event *e);

#endif
