/* Memory for a kernel parameter block, which kernels may only read. */
#ifndef PTERA_RUNTIME_PARAMS_H
#define PTERA_RUNTIME_PARAMS_H

#include "runtime/engine.h"

struct pt_params {
    struct pt_params *next;
    struct pt_twin twin;
};
struct pt_params *pt_params_get(ptera_engine *engine, size_t bytes);
void pt_params_put(ptera_engine *engine, struct pt_params *params);
void pt_params_free_all(ptera_engine *engine);

#endif
