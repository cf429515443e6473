/* Which functions of the host a kernel calls. */
#ifndef PTERA_RUNTIME_CALLEES_H
#define PTERA_RUNTIME_CALLEES_H

#include <stdbool.h>

#include "runtime/engine.h"

/* Whether its calls, and those of what it calls, name a function whose name begins so; where there
 * is no memory to look they do not. */
bool pt_callees_have(const ptera_kernel *kernel, const char *prefix);

#endif
