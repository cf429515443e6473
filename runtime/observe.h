/* Tells observers (backend/observer.h) what hosts do. */
#ifndef PTERA_RUNTIME_OBSERVE_H
#define PTERA_RUNTIME_OBSERVE_H

#include "backend/observer.h"

static inline void pt_observe_memory(const struct pt_observer *const *observers,
                                     enum pt_memory_event event, const void *address,
                                     uint64_t bytes)
{
    for (; *observers; observers++)
        if ((*observers)->memory)
            (*observers)->memory(event, (uint64_t)(uintptr_t)address, bytes);
}

/* True if somebody wants to be told. */
static inline bool pt_observe_asks_memory(const struct pt_observer *const *observers)
{
    bool asks = false;
    for (; *observers; observers++)
        asks |= (*observers)->memory != NULL;
    return asks;
}

static inline void pt_observe_launch(const struct pt_observer *const *observers,
                                     const struct pt_launch *launch, bool is_over)
{
    for (; *observers; observers++)
        if ((*observers)->launched)
            (*observers)->launched(launch, is_over);
}

/* The tests that all launches are compiled with: PT_TEST_OBSERVED where somebody watches them. */
static inline uint32_t pt_observe_tests(const struct pt_observer *const *observers)
{
    uint32_t tests = 0;
    for (; *observers; observers++)
        tests |= (*observers)->tests & PT_TEST_OBSERVED;
    return tests;
}

#endif
