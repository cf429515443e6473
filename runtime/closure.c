/* Closures of libffi: what function pointers of a module are made of. */
#include "runtime/closure.h"

#include "runtime/engine.h"

void pt_closure_free(ptera_engine *engine, struct pt_closure *c)
{
    if (c->closure)
        ffi_closure_free(c->closure);
    pt_arena_free(&c->arena);
    pt_engine_free(engine, c);
}

void pt_closure_free_all(ptera_module *module)
{
    while (module->closures) {
        struct pt_closure *c = module->closures;
        module->closures = c->next;
        pt_closure_free(module->engine, c);
    }
}
