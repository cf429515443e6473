/* Findings that are not to be told: `ptera check --suppressions FILE`. */
#ifndef PTERA_TOOLS_SUPPRESS_H
#define PTERA_TOOLS_SUPPRESS_H

#include "tools/report.h"

/* Takes out of the report what a line of the file names: KIND KERNEL PLACE, patterns of the shell,
 * where PLACE is FILE:LINE of the PTX or of the source. # begins a comment. False, having said why,
 * if it cannot be read. */
bool suppress_findings(struct report *report, const char *path);
/* Such lines for all findings. */
void suppress_put(FILE *out, const struct report *report);

#endif
