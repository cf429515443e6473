/* Modules and libraries: PTX loaded into a context at once, or into each when it is used there. */
#ifndef PTERA_CUDA_MODULE_H
#define PTERA_CUDA_MODULE_H

#include <stdbool.h>

#include "ptera.h"
#include "runtime/cuda/abi.h"
#include "runtime/cuda/handle.h"

struct pt_cu_legacy;

/* What can be set of a function; a library's kernel hands it on to its functions. */
struct pt_cu_settings {
    int values[CU_FUNC_ATTRIBUTE_MAX];
    uint32_t is_set; /* bits */
};

struct CUfunc_st {
    struct pt_cu_object object;
    CUmodule module;
    ptera_kernel *kernel;
    CUkernel of; /* the library's kernel that it is, or NULL */
    struct pt_cu_settings settings;
    uint8_t calls;               /* function.c */
    bool is_told;                /* the log knows why it cannot run */
    struct pt_cu_legacy *legacy; /* legacy.c: set for cuLaunch; NULL: nothing yet */
    CUfunction next;
};

struct CUmod_st {
    struct pt_cu_object object;
    CUcontext ctx;
    ptera_module *ptera;
    CUlibrary library; /* NULL: loaded by itself */
    CUfunction functions;
    CUtexref textures; /* references that were asked for */
    CUsurfref surfaces;
    CUmodule next;
};

struct CUkern_st {
    struct pt_cu_object object;
    CUlibrary library;
    char *name;
    struct pt_cu_settings settings;
    CUfunction used; /* the function it was last; perhaps gone */
    CUkernel next;
};

struct CUlib_st {
    struct pt_cu_object object;
    char *text; /* PTX */
    size_t bytes;
    CUkernel kernels;
    CUlibrary next;
};

/* The function behind a CUfunction or a CUkernel, loaded into the current context. */
CUresult pt_cu_module_function(const void *handle, CUfunction *function);
/* Its kernel that is this function of the PTX. */
CUresult pt_cu_module_function_at(CUmodule module, uint64_t func, CUfunction *function);
CUresult pt_cu_module_of(CUlibrary library, CUcontext ctx, CUmodule *module);
/* Unloads a module; no kernel of it is running. */
void pt_cu_module_delete(CUmodule module);

#endif
