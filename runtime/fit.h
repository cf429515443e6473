/* What a GPU has no room for. */
#ifndef PTERA_RUNTIME_FIT_H
#define PTERA_RUNTIME_FIT_H

#include "runtime/engine.h"

/* False, with an error, where a kernel has more static shared memory, or the module more
 * constants (`bytes`, as they lie), than GPUs do. Jump to the module's arena.oom. */
bool pt_fit_shared(ptera_module *module);
bool pt_fit_constants(ptera_module *module, uint64_t bytes);

#endif
