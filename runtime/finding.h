/* What the checkers of a launch find. */
#ifndef PTERA_RUNTIME_FINDING_H
#define PTERA_RUNTIME_FINDING_H

#include "runtime/job.h"

struct pt_findings *pt_findings_new(ptera_engine *engine, const ptera_launch *given);
void pt_findings_free(ptera_engine *engine, struct pt_findings *findings);
void pt_finding_add(const struct pt_warp *warp, const struct pt_finding *finding);
/* How many different ones there were. */
uint32_t pt_findings_count(const struct pt_findings *findings);

#endif
