/* Native code of kernels: the compiler's shared object, versions by block shape, when they are made. */
#ifndef PTERA_RUNTIME_NATIVE_H
#define PTERA_RUNTIME_NATIVE_H

#include "backend/native.h"
#include "runtime/engine.h"

/* The compiler; opened by the first call. NULL if there is none: pt_jit_error says why. */
const struct pt_jit *pt_jit(void);
const char *pt_jit_error(void);
/* True if `pc` lies in native code. For signal handlers: opens nothing. */
bool pt_jit_holds(uintptr_t pc);

/* What a version is made for. */
struct pt_variant {
    ptera_kernel *kernel;
    uint32_t block[3]; /* 0, 0, 0: any */
    bool math_fast;
};

/* A kernel compiled for a block shape, or the reason why it cannot be. */
struct pt_version {
    struct pt_version *next; /* of the kernel */
    struct pt_version *all;  /* of the engine */
    struct pt_variant made_for;
    struct pt_native *native; /* NULL: see `why` */
    char *why;
    unsigned users;
    uint64_t last_use;
};

/* The version for a launch, compiled if it is not there yet. The caller gives it back; one without native code says why.
 * NULL: no memory, or no compiler. */
struct pt_version *pt_native_get(const struct pt_variant *variant,
                                 const struct pt_program *program);
void pt_native_put(ptera_engine *engine, struct pt_version *version);
/* Releases the versions of a module's kernels; no launch uses them any more. */
void pt_native_forget(ptera_module *module);

#endif
