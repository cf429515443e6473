/* From PTX text to a module: parsed functions, in the state of ir/ir.h of that name. */
#ifndef PTERA_FRONTEND_PARSE_H
#define PTERA_FRONTEND_PARSE_H

#include "ir/ir.h"

/* Reads PTX text into *m, which the caller has zeroed and given an arena
 * (pt_arena_init, and arena.oom, to which it jumps when memory runs out); m->diags is set up here.
 * Returns false if there are errors (in m->diags). The text is not needed afterwards except by
 * m->diags. */
bool pt_parse(struct pt_module *m, const char *file, const char *text, size_t len);

#endif
