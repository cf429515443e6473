/* Debuggers and profilers that look at the process. */
#ifndef PTERA_BACKEND_JIT_OBJECT_DEBUGGER_H
#define PTERA_BACKEND_JIT_OBJECT_DEBUGGER_H

#include "backend/jit/object/loader.h"
#include "backend/jit/object/object.h"

struct jit_observed; /* code that gdb knows of */

/* Tells gdb of code, and of the object it was loaded from, which must stay as long; and perf, by a
 * map in /tmp, if PTERA_PERF is set. NULL without memory. */
struct jit_observed *jit_debugger_add(const struct jit_object *object,
                                      const struct jit_loaded *code, const char *name);
void jit_debugger_remove(struct jit_observed *observed);

#endif
