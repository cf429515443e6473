/* Reports of what was counted. */
#ifndef PTERA_TOOLS_PROFILE_REPORT_H
#define PTERA_TOOLS_PROFILE_REPORT_H

#include <stdbool.h>
#include <stdio.h>

#include "tools/metrics.h"

/* A table of kernels, and what limits each. */
void profile_report_put_table(FILE *out, const struct counts *counts);
/* What limits a kernel: a line each, four spaces before it. */
void profile_report_put_hints(FILE *out, const struct sums *s);
/* Metrics, of which `names` has some between commas (NULL: all): as ncu --csv --page raw, or one a
 * line. */
void profile_report_put_metrics(FILE *out, const struct counts *counts, const char *names,
                                bool is_csv);
/* Whether one of them is there only for kernels that were timed. */
bool profile_report_asks_time(const char *names);
/* NULL, or the first of the names that is none. */
const char *profile_report_find_unknown(const char *names);
/* By lines of the source, or, where they are not known or not wanted, of the PTX. This and the next
 * return false if there is no memory. */
bool profile_report_put_lines(FILE *out, const struct counts *counts, bool is_ptx);
/* lcov's format: which lines and branches of the source ran, of those that have code. */
bool profile_report_put_coverage(FILE *out, const struct counts *counts);
/* All of it as a page. */
bool profile_report_put_html(FILE *out, const struct counts *counts);

#endif
