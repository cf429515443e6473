/* Clusters whose threads wait for each other: whether they do, and for whom. */
#ifndef PTERA_RUNTIME_STUCK_H
#define PTERA_RUNTIME_STUCK_H

#include "runtime/slot.h"
#include "runtime/words.h"

/* At the end of a turn in which the cluster only spun (has_moved: not all the time): no thread of
 * it will ever go on. Each waits at a barrier, or in a loop whose rounds are all alike and do
 * nothing but test mbarriers, which only threads of the cluster and its copies change; so it was a
 * turn ago, since when each has tested, in vain, and nobody did anything else to an mbarrier. Time
 * has no part in it: one launch always has the same turns. */
bool pt_stuck_is(const struct pt_job *job, struct pt_slot *slot, bool has_moved);
/* Each barrier that is waited for: who came and who did not, and each mbarrier that was tested in
 * vain: what is missing. Lines, with `prefix` before each. */
void pt_stuck_put(struct pt_words *w, const struct pt_slot *slot, const char *prefix);

#endif
