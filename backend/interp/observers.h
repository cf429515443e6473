/* Who watches. */
#ifndef PTERA_BACKEND_INTERP_OBSERVERS_H
#define PTERA_BACKEND_INTERP_OBSERVERS_H

#include "backend/interp/state.h"
#include "backend/observer.h"

/* By number. */
#define pt_observers PT_LEVEL_NAME(pt_observers)
extern const struct pt_observer *const pt_observers[PT_OBSERVERS];

#endif
