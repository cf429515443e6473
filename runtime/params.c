/* Kernel parameter blocks: written by the host through one address, read by kernels through
 * another. */
#include "runtime/params.h"

static void params_free(ptera_engine *engine, struct pt_params *params)
{
    pt_twin_unmap(&params->twin);
    pt_engine_free(engine, params);
}

void pt_params_free_all(ptera_engine *engine)
{
    while (engine->params) {
        struct pt_params *params = engine->params;
        engine->params = params->next;
        params_free(engine, params);
    }
}

struct pt_params *pt_params_get(ptera_engine *engine, size_t bytes)
{
    pthread_mutex_lock(&engine->lock);
    struct pt_params *params = engine->params;
    if (params)
        engine->params = params->next;
    pthread_mutex_unlock(&engine->lock);
    if (params && params->twin.bytes >= bytes)
        return params;
    if (params)
        params_free(engine, params);
    params = pt_engine_alloc(engine, sizeof *params);
    if (params && !pt_twin_map(&params->twin, bytes ? bytes : 1)) {
        pt_engine_free(engine, params);
        params = NULL;
    }
    return params;
}

void pt_params_put(ptera_engine *engine, struct pt_params *params)
{
    pthread_mutex_lock(&engine->lock);
    params->next = engine->params;
    engine->params = params;
    pthread_mutex_unlock(&engine->lock);
}
