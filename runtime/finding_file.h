/* Findings in a file. */
#ifndef PTERA_RUNTIME_FINDING_FILE_H
#define PTERA_RUNTIME_FINDING_FILE_H

#include "ptera.h"

/* Appends one of them, as ptera_engine_findings_save does all. */
ptera_result pt_finding_file_append(const ptera_engine *engine, unsigned index, const char *path);

/* Behind them: how many are not told apart, if some are not, and how many launches there were. */
ptera_result pt_finding_file_append_totals(const ptera_engine *engine, const char *path);

#endif
