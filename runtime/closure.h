/* Closures of libffi: what function pointers of a module are made of. */
#ifndef PTERA_RUNTIME_CLOSURE_H
#define PTERA_RUNTIME_CLOSURE_H

#include <ffi.h>

#include "runtime/engine.h"
#include "runtime/host.h"

struct pt_closure {
    struct pt_closure *next;
    ffi_closure *closure;
    ptera_kernel *kernel;
    struct pt_arena arena; /* of the signature */
    struct pt_signature signature;
    ffi_cif cif;
};

void pt_closure_free(ptera_engine *engine, struct pt_closure *closure);
/* All of a module. */
void pt_closure_free_all(ptera_module *module);

#endif
