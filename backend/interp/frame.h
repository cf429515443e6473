/* Activations of functions, deepest first. */
#ifndef PTERA_BACKEND_INTERP_FRAME_H
#define PTERA_BACKEND_INTERP_FRAME_H

#include "backend/interp/state.h"

#define pt_frame_make PT_LEVEL_NAME(pt_frame_make)
#define pt_frame_drop PT_LEVEL_NAME(pt_frame_drop)
#define pt_frame_prepare PT_LEVEL_NAME(pt_frame_prepare)
#define pt_frame_start PT_LEVEL_NAME(pt_frame_start)

/* A new activation of `body` called from `caller`, without lanes; NULL: no room. */
struct pt_frame *pt_frame_make(struct pt_frame *caller, const struct pt_body *body);
/* Gives back an activation without lanes. */
void pt_frame_drop(struct pt_frame *f);
/* As prepare and start of struct pt_engine. */
void pt_frame_prepare(const struct pt_launch *launch, struct pt_warp *warp);
void pt_frame_start(struct pt_warp *warp);

#endif
