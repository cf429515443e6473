/* Modules: PTX loaded into a context. */
#ifndef PTERA_CUDA_MODULE_H
#define PTERA_CUDA_MODULE_H

#include <stdbool.h>

#include "ptera.h"
#include "runtime/cuda/abi.h"
#include "runtime/cuda/handle.h"

struct pt_cu_jit_options;
struct pt_cu_legacy;
struct pt_cu_text;

/* What can be set of a function; a library's kernel hands it on to its functions. */
struct pt_cu_function_settings {
    int values[CU_FUNC_ATTRIBUTE_MAX];
    uint32_t is_set; /* bits */
};

struct CUfunc_st {
    struct pt_cu_object object;
    CUmodule module;
    ptera_kernel *kernel;
    CUkernel of; /* the library's kernel that it is, or NULL */
    struct pt_cu_function_settings settings;
    uint8_t calls;               /* function.c */
    bool is_told;                /* the log knows why it cannot run */
    bool is_loaded;              /* the program has used it */
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

/* A module of PTX, which it frees. */
CUresult pt_cu_module_load_text(CUcontext ctx, const struct pt_cu_text *text,
                                struct pt_cu_jit_options *options, CUmodule *out);
/* No PTX was found in an image: to the logs that the options ask for. */
void pt_cu_module_refuse_image(struct pt_cu_jit_options *options, const struct pt_cu_text *text);
/* A whole file with a zero byte behind it, freed by the caller; NULL: it cannot be read. */
char *pt_cu_module_read_file(const char *path, size_t *bytes);
CUresult pt_cu_module_function(CUfunction *out, CUmodule module, const char *name);
CUresult pt_cu_module_function_count(unsigned *n, CUmodule module);
CUresult pt_cu_module_global(CUdeviceptr *address, size_t *bytes, CUmodule module,
                             const char *name);
/* Its kernel that is this function of the PTX. */
CUresult pt_cu_module_function_at(CUmodule module, uint64_t func, CUfunction *function);
/* Unloads a module; no kernel of it is running. */
void pt_cu_module_delete(CUmodule module);

#endif
