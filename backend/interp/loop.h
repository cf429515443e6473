/* The loop that runs a warp. */
#ifndef PTERA_BACKEND_INTERP_LOOP_H
#define PTERA_BACKEND_INTERP_LOOP_H

#include "backend/interp/state.h"

#define pt_loop_resume PT_LEVEL_NAME(pt_loop_resume)
/* As resume of struct pt_engine. */
enum pt_run pt_loop_resume(struct pt_warp *warp);

#endif
