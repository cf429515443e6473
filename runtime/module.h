/* Modules. */
#ifndef PTERA_RUNTIME_MODULE_H
#define PTERA_RUNTIME_MODULE_H

#include "runtime/engine.h"

void pt_module_free(ptera_module *module);
/* The function or kernel of a name, or PT_NONE. */
uint32_t pt_module_func(const ptera_module *module, const char *name);
/* A module whose text begins with that of `parent` and whose variables and functions, as far as
 * they are there, are the parent's own. NULL if there is no memory, or what was added is wrong. */
ptera_module *pt_module_extend(ptera_module *parent, const char *text, size_t bytes);

#endif
