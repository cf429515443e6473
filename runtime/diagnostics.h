/* Diagnostics of a module as text, and what they amount to. */
#ifndef PTERA_RUNTIME_DIAGNOSTICS_H
#define PTERA_RUNTIME_DIAGNOSTICS_H

#include "runtime/engine.h"

/* Makes the texts of diagnostics that have come in, so that reading them later changes nothing.
 * Jumps to the module's arena.oom. */
void pt_diagnostics_format(ptera_module *module);
/* What entry `from` of the list and those behind it say: invalid or unsupported PTX. */
ptera_result pt_diagnostics_result(const ptera_module *module, uint32_t from);
/* The text of the first error from entry `from` of the list on. */
const char *pt_diagnostics_first_error(const ptera_module *module, uint32_t from);

#endif
