/* Fences. */
#ifndef PTERA_BACKEND_INTERP_FENCE_H
#define PTERA_BACKEND_INTERP_FENCE_H

#include "backend/interp/state.h"
#include "backend/order.h"

#define pt_fence_handler PT_LEVEL_NAME(pt_fence_handler)
/* The fence of that order, which is not PLAIN or RELAXED. */
pt_handler pt_fence_handler(enum pt_order order);
#define pt_fence_order PT_LEVEL_NAME(pt_fence_order)
/* Puts the fences that an access's order asks for around it. True if the access must be whole, as
 * all but PLAIN. */
bool pt_fence_order(struct pt_select *s);

#endif
