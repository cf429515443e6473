/* The table of observers: a new one is a line in observers.def. */
#include "backend/interp/observers.h"
#include "backend/observer.h"

#define OBSERVER(name) extern const struct pt_observer PT_LEVEL_NAME(pt_observer_##name);
#include "backend/interp/observers.def"
#undef OBSERVER

const struct pt_observer *const pt_observers[] = {
#define OBSERVER(name) &PT_LEVEL_NAME(pt_observer_##name),
#include "backend/interp/observers.def"
    NULL};
