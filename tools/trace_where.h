/* Which steps of a trace are wanted: an expression over what a step has. */
#ifndef PTERA_TOOLS_TRACE_WHERE_H
#define PTERA_TOOLS_TRACE_WHERE_H

#include <stdbool.h>

#include "ptera_trace.h"

extern const char trace_where_help[];

/* The expression's value for the step. *error: what is wrong with it, or NULL. */
bool trace_where(const char *expression, const ptera_step *step, const char **error);

#endif
