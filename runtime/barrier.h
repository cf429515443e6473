/* CTA and cluster barriers: as pt_services has them. */
#ifndef PTERA_RUNTIME_BARRIER_H
#define PTERA_RUNTIME_BARRIER_H

#include "runtime/slot.h"

bool pt_barrier_arrive(struct pt_warp *warp, uint32_t id, uint32_t mask, bool aligned,
                       uint32_t expected, uint32_t preds);
void pt_barrier_exited(struct pt_warp *warp);
void pt_barrier_reset(struct pt_resident *resident);

#endif
