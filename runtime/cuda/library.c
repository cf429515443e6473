/* Libraries: PTX loaded into each context when it is used there. */
#include "runtime/cuda/library.h"

#include <stdlib.h>
#include <string.h>

#include "runtime/cuda/command.h"
#include "runtime/cuda/context_list.h"
#include "runtime/cuda/current.h"
#include "runtime/cuda/driver.h"
#include "runtime/cuda/entry.h"
#include "runtime/cuda/error.h"
#include "runtime/cuda/image.h"
#include "runtime/cuda/jit_options.h"
#include "runtime/cuda/log.h"

static CUlibrary libraries;

static CUresult check_library(CUlibrary library)
{
    CUresult r = pt_cu_driver_check();
    return r == CUDA_SUCCESS && !pt_cu_handle_is(library, PT_CU_LIBRARY) ? CUDA_ERROR_INVALID_HANDLE
                                                                         : r;
}

/* The module that a library is in a context, or NULL. */
static CUmodule module_in(CUcontext ctx, CUlibrary library)
{
    CUmodule module = ctx->modules;
    while (module && module->library != library)
        module = module->next;
    return module;
}

CUresult pt_cu_library_module(CUlibrary library, CUcontext ctx, CUmodule *out)
{
    struct pt_cu_jit_options none = {0};
    struct pt_cu_text text = {.text = library->text, .bytes = library->bytes};
    if ((*out = module_in(ctx, library)))
        return CUDA_SUCCESS;
    CUmodule fresh;
    CUresult r = pt_cu_module_load_text(ctx, &text, &none, &fresh);
    if (r != CUDA_SUCCESS)
        return r;
    if ((*out = module_in(ctx, library))) { /* another thread was faster */
        pt_cu_module_delete(fresh);
        return CUDA_SUCCESS;
    }
    fresh->library = library;
    *out = fresh;
    return CUDA_SUCCESS;
}

/* Where a context is current the PTX is compiled at once, so that what is wrong with it is said
 * here. */
static CUresult library_load(CUlibrary *out, const void *image, size_t bytes, unsigned n,
                             const CUjit_option *names, void **values)
{
    CUcontext ctx;
    CUmodule module;
    struct pt_cu_jit_options options;
    struct pt_cu_text text;
    CUresult r = pt_cu_driver_check();
    if (r != CUDA_SUCCESS)
        return r;
    if (!out || !image || !pt_cu_jit_options_read(&options, n, names, values))
        return CUDA_ERROR_INVALID_VALUE;
    r = pt_cu_image_text(image, bytes, options.registers, &text);
    if (r != CUDA_SUCCESS) {
        pt_cu_module_refuse_image(&options, &text);
        pt_cu_log_print("%s", text.log);
        return r;
    }
    CUlibrary library = pt_cu_handle_new(PT_CU_LIBRARY, sizeof *library);
    if (!library) {
        free(text.text);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    library->text = text.text;
    library->bytes = text.bytes;
    if (pt_cu_current_get(&ctx) == CUDA_SUCCESS &&
        (r = pt_cu_module_load_text(ctx, &text, &options, &module)) == CUDA_SUCCESS)
        module->library = library;
    if (r != CUDA_SUCCESS) {
        free(library->text);
        pt_cu_handle_delete(library);
        return r;
    }
    library->next = libraries;
    libraries = library;
    *out = library;
    return CUDA_SUCCESS;
}

CUresult cuLibraryLoadData(CUlibrary *library, const void *image, CUjit_option *options,
                           void **values, unsigned n, CUlibraryOption *library_options,
                           void **library_values, unsigned n_library)
{
    bool is_right = !n_library || (library_options && library_values);
    return API(is_right ? library_load(library, image, 0, n, options, values)
                        : CUDA_ERROR_INVALID_VALUE);
}

static CUresult library_load_file(CUlibrary *out, const char *path, unsigned n,
                                  const CUjit_option *names, void **values)
{
    size_t bytes;
    if (!out || !path)
        return CUDA_ERROR_INVALID_VALUE;
    char *data = pt_cu_module_read_file(path, &bytes);
    if (!data)
        return CUDA_ERROR_FILE_NOT_FOUND;
    CUresult r =
        bytes ? library_load(out, data, bytes, n, names, values) : CUDA_ERROR_INVALID_IMAGE;
    free(data);
    return r;
}

CUresult cuLibraryLoadFromFile(CUlibrary *library, const char *path, CUjit_option *options,
                               void **values, unsigned n, CUlibraryOption *library_options,
                               void **library_values, unsigned n_library)
{
    bool is_right = !n_library || (library_options && library_values);
    return API(is_right ? library_load_file(library, path, n, options, values)
                        : CUDA_ERROR_INVALID_VALUE);
}

static void unload_from(CUcontext ctx, CUlibrary library)
{
    CUmodule next;
    for (CUmodule m = ctx->modules; m; m = next) {
        next = m->next;
        if (m->library == library)
            pt_cu_module_delete(m);
    }
}

static CUresult library_unload(CUlibrary library)
{
    CUresult r = check_library(library);
    if (r != CUDA_SUCCESS)
        return r;
    for (CUcontext ctx = pt_cu_context_list_next(NULL); ctx; ctx = pt_cu_context_list_next(ctx)) {
        pt_cu_command_drain(ctx);
        unload_from(ctx, library);
    }
    while (library->kernels) {
        CUkernel kernel = library->kernels;
        library->kernels = kernel->next;
        free(kernel->name);
        pt_cu_handle_delete(kernel);
    }
    CUlibrary *place = &libraries;
    while (*place != library)
        place = &(*place)->next;
    *place = library->next;
    free(library->text);
    pt_cu_handle_delete(library);
    return CUDA_SUCCESS;
}

CUresult cuLibraryUnload(CUlibrary library)
{
    return API(library_unload(library));
}

static CUresult kernel_of(CUlibrary library, const char *name, CUkernel *out)
{
    CUkernel k = library->kernels;
    while (k && strcmp(k->name, name) != 0)
        k = k->next;
    *out = k;
    if (k)
        return CUDA_SUCCESS;
    char *copy = strdup(name);
    k = copy ? pt_cu_handle_new(PT_CU_KERNEL, sizeof *k) : NULL;
    if (!k) {
        free(copy);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    k->library = library;
    k->name = copy;
    k->next = library->kernels;
    library->kernels = k;
    *out = k;
    return CUDA_SUCCESS;
}

/* Where no context is current there is nothing yet to look the name up in: a wrong one shows when
 * the kernel is used. */
static CUresult library_kernel(CUkernel *out, CUlibrary library, const char *name)
{
    CUcontext ctx;
    CUmodule module;
    ptera_kernel *kernel;
    CUresult r = check_library(library);
    if (r != CUDA_SUCCESS)
        return r;
    if (!out || !name)
        return CUDA_ERROR_INVALID_VALUE;
    if (pt_cu_current_get(&ctx) == CUDA_SUCCESS) {
        r = pt_cu_library_module(library, ctx, &module);
        if (r == CUDA_SUCCESS)
            r = pt_cu_error_of(ptera_module_kernel(module->ptera, name, 0, &kernel));
    }
    return r == CUDA_SUCCESS ? kernel_of(library, name, out) : r;
}

CUresult cuLibraryGetKernel(CUkernel *kernel, CUlibrary library, const char *name)
{
    return API(library_kernel(kernel, library, name));
}

static CUresult library_module(CUmodule *out, CUlibrary library)
{
    CUcontext ctx;
    CUresult r = check_library(library);
    if (r == CUDA_SUCCESS)
        r = pt_cu_current_get(&ctx);
    if (r == CUDA_SUCCESS && !out)
        r = CUDA_ERROR_INVALID_VALUE;
    return r == CUDA_SUCCESS ? pt_cu_library_module(library, ctx, out) : r;
}

CUresult cuLibraryGetModule(CUmodule *module, CUlibrary library)
{
    return API(library_module(module, library));
}

static CUresult library_kernel_count(unsigned *n, CUlibrary library)
{
    CUmodule module;
    CUresult r = library_module(&module, library);
    return r == CUDA_SUCCESS ? pt_cu_module_function_count(n, module) : r;
}

CUresult cuLibraryGetKernelCount(unsigned *n, CUlibrary library)
{
    return API(library_kernel_count(n, library));
}

static CUresult library_kernels(CUkernel *kernels, unsigned n, CUlibrary library)
{
    CUmodule module;
    CUresult r = library_module(&module, library);
    if (r == CUDA_SUCCESS && !kernels)
        r = CUDA_ERROR_INVALID_VALUE;
    for (unsigned i = 0; r == CUDA_SUCCESS && i < n && i < module->ptera->n_kernels; i++)
        r = kernel_of(library, ptera_kernel_name(&module->ptera->kernels[i]), &kernels[i]);
    return r;
}

CUresult cuLibraryEnumerateKernels(CUkernel *kernels, unsigned n, CUlibrary library)
{
    return API(library_kernels(kernels, n, library));
}

static CUresult library_global(CUdeviceptr *address, size_t *bytes, CUlibrary library,
                               const char *name)
{
    CUmodule module;
    CUresult r = library_module(&module, library);
    return r == CUDA_SUCCESS ? pt_cu_module_global(address, bytes, module, name) : r;
}

CUresult cuLibraryGetGlobal(CUdeviceptr *address, size_t *bytes, CUlibrary library,
                            const char *name)
{
    return API(library_global(address, bytes, library, name));
}

/* All memory is the host's as well. */
CUresult cuLibraryGetManaged(CUdeviceptr *address, size_t *bytes, CUlibrary library,
                             const char *name)
{
    return API(library_global(address, bytes, library, name));
}

CUresult pt_cu_library_function(const void *handle, CUfunction *out)
{
    CUcontext ctx;
    CUmodule module;
    CUkernel kernel = (CUkernel)(uintptr_t)handle;
    if (pt_cu_handle_is(handle, PT_CU_FUNCTION)) {
        *out = (CUfunction)(uintptr_t)handle;
        return (*out)->module->ctx->error;
    }
    CUresult r =
        pt_cu_handle_is(handle, PT_CU_KERNEL) ? pt_cu_current_get(&ctx) : CUDA_ERROR_INVALID_HANDLE;
    if (r == CUDA_SUCCESS && pt_cu_handle_is(kernel->used, PT_CU_FUNCTION) &&
        kernel->used->of == kernel && kernel->used->module->ctx == ctx) {
        *out = kernel->used;
        return CUDA_SUCCESS;
    }
    if (r == CUDA_SUCCESS)
        r = pt_cu_library_module(kernel->library, ctx, &module);
    if (r == CUDA_SUCCESS)
        r = pt_cu_module_function(out, module, kernel->name);
    if (r == CUDA_SUCCESS) {
        (*out)->of = kernel;
        kernel->used = *out;
    }
    return r;
}
