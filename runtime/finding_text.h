/* Findings in words. */
#ifndef PTERA_RUNTIME_FINDING_TEXT_H
#define PTERA_RUNTIME_FINDING_TEXT_H

#include "backend/observer.h"
#include "runtime/finding.h"

/* Tool, name and summary of a kind. */
extern const ptera_finding_kind pt_finding_text_kinds[PT_FINDING_KINDS];
/* Puts a finding into words, in `arena`, whose oom is set. */
void pt_finding_text_fill(struct pt_found *found, const struct pt_finding *finding,
                          const struct pt_finding_source *from, struct pt_arena *arena);

#endif
