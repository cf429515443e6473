/* Libraries: PTX loaded into each context when it is used there. */
#ifndef PTERA_CUDA_LIBRARY_H
#define PTERA_CUDA_LIBRARY_H

#include "runtime/cuda/module.h"

struct CUkern_st {
    struct pt_cu_object object;
    CUlibrary library;
    char *name;
    struct pt_cu_function_settings settings;
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

/* The module that a library is in a context, loaded if it is not yet. */
CUresult pt_cu_library_module(CUlibrary library, CUcontext ctx, CUmodule *module);
/* The function behind a CUfunction or a CUkernel, loaded into the current context. */
CUresult pt_cu_library_function(const void *handle, CUfunction *function);

#endif
