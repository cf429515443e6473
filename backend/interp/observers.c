/* The table of observers: a new one is a line in backend/observers.def. */
#include "backend/interp/observers.h"
#include "backend/observer.h"

#define OBSERVER(name) extern const struct pt_observer PT_LEVEL_NAME(pt_observer_##name);
#include "backend/observers.def"
#undef OBSERVER

const struct pt_observer *const pt_observers[PT_OBSERVERS] = {
#define OBSERVER(name) &PT_LEVEL_NAME(pt_observer_##name),
#include "backend/observers.def"
};
