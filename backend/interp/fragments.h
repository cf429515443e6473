/* PT_TEST_sync: fragments of wgmma, which instructions touched since the last wgmma.fence. */
#ifndef PTERA_BACKEND_INTERP_FRAGMENTS_H
#define PTERA_BACKEND_INTERP_FRAGMENTS_H

#include "backend/interp/async.h"
#include "backend/observer.h"

#define pt_fragments_touch PT_LEVEL_NAME(pt_fragments_touch)
/* An instruction other than wgmma uses registers that a wgmma of its function has. */
void pt_fragments_touch(const struct pt_event *e, const struct pt_register_use *uses, uint32_t n);
#define pt_fragments_fence PT_LEVEL_NAME(pt_fragments_fence)
/* wgmma.fence. */
void pt_fragments_fence(const struct pt_event *e);
#define pt_fragments_issue PT_LEVEL_NAME(pt_fragments_issue)
/* A wgmma. Without memory nothing is found. */
void pt_fragments_issue(const struct pt_event *e, const struct pt_async_op *op);
#define pt_fragments_end PT_LEVEL_NAME(pt_fragments_end)
/* The activation ends; NULL: the warp's threads do. */
void pt_fragments_end(struct pt_state *s, const struct pt_frame *f);

#endif
