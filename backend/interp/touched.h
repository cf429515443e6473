/* What a launch that is over touched: for the order of operations of several streams. */
#ifndef PTERA_BACKEND_INTERP_TOUCHED_H
#define PTERA_BACKEND_INTERP_TOUCHED_H

#include "backend/interp/interp.h"
#include "backend/observer.h"

#define pt_touched_tell PT_LEVEL_NAME(pt_touched_tell)
bool pt_touched_tell(const struct pt_launch *launch,
                     void (*tell)(void *ud, const struct pt_touched *word), void *ud);

#endif
