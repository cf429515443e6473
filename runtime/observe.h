/* Observers (backend/observer.h): which of them watch, and telling them what hosts do. */
#ifndef PTERA_RUNTIME_OBSERVE_H
#define PTERA_RUNTIME_OBSERVE_H

#include <stddef.h>

#include "backend/observer.h"
#include "ptera.h"

enum {
    PT_CHECKS_ALL = PTERA_CHECK_RACE | PTERA_CHECK_MEM | PTERA_CHECK_INIT | PTERA_CHECK_INIT_LOAD |
                    PTERA_CHECK_SYNC | PTERA_CHECK_ORDER
};

/* The observers that `names` has, separated by commas, as a set of enum pt_test; NULL: none. False,
 * with the reason in `why` (`size` bytes), if there is one not. */
bool pt_observe_find(const struct pt_engine *backend, const char *names, uint32_t *tests, char *why,
                     size_t size);
/* The observers that are the checkers of a set of ptera_check. */
uint32_t pt_observe_checks(unsigned checks);
/* Those of a set that want to be told of memory, then NULL, in room for all. Returns `list`; NULL:
 * nobody does. */
const struct pt_observer *const *
pt_observe_list_memory(const struct pt_engine *backend, uint32_t tests,
                       const struct pt_observer *list[PT_OBSERVERS_MOST + 1]);
/* Tells those of a list, which may be NULL. */
static inline void pt_observe_memory(const struct pt_observer *const *list,
                                     enum pt_memory_event event, const void *address,
                                     uint64_t bytes)
{
    for (; list && *list; list++)
        (*list)->memory(event, (uint64_t)(uintptr_t)address, bytes);
}
/* Tells the observers that the launch's program is compiled for. */
void pt_observe_launch(struct pt_launch *launch, bool is_over);
void pt_observe_begun(const struct pt_cta *cta);
void pt_observe_ended(const struct pt_cta *cta);

#endif
