/* Modules: PTX loaded into a context. */
#define _GNU_SOURCE
#include "runtime/cuda/module.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/cuda/command.h"
#include "runtime/cuda/context_list.h"
#include "runtime/cuda/current.h"
#include "runtime/cuda/driver.h"
#include "runtime/cuda/entry.h"
#include "runtime/cuda/error.h"
#include "runtime/cuda/handle.h"
#include "runtime/cuda/image.h"
#include "runtime/cuda/jit_options.h"
#include "runtime/cuda/listener.h"
#include "runtime/cuda/log.h"
#include "runtime/cuda/overlap.h"
#include "runtime/cuda/range.h"
#include "runtime/cuda/reference.h"

/* ---- what cuModuleLoadDataEx is told --------------------------------------------------------- */

/* Diagnostics of one severity, as they are shown here and as NVIDIA's assembler words them for
 * programs; freed by the caller. */
struct texts {
    char *shown, *ptxas;
};

static struct texts collect(ptera_module *module, ptera_severity severity)
{
    const char *kind = severity == PTERA_ERROR ? "error   " : "warning ";
    struct texts all = {NULL, NULL};
    size_t n_shown, n_ptxas;
    ptera_diagnostic d = {.size = sizeof d};
    FILE *shown = open_memstream(&all.shown, &n_shown),
         *ptxas = open_memstream(&all.ptxas, &n_ptxas);
    for (unsigned i = 0; shown && ptxas && ptera_module_diagnostic(module, i, &d) == PTERA_OK;
         i++) {
        if (d.severity != severity)
            continue;
        fputs(d.text, shown);
        if (d.file_line)
            fprintf(ptxas, "ptxas application ptx input, line %u; %s: %s\n", d.file_line, kind,
                    d.message);
        else
            fprintf(ptxas, "ptxas %s: %s\n", kind, d.message);
    }
    if (ptxas && ftell(ptxas) > 0 && severity == PTERA_ERROR)
        fputs("ptxas fatal   : Ptx assembly aborted due to errors\n", ptxas);
    if (shown)
        fclose(shown);
    if (ptxas)
        fclose(ptxas);
    return all;
}

static const char *text_of(const char *text)
{
    return text ? text : "";
}

/* Why a load failed goes to the log that the program gave for it, or else to ours. `why`: nothing
 * is wrong with the PTX itself. */
static void write_diagnostics(struct pt_cu_jit_options *o, ptera_module *module, const char *why)
{
    struct texts errors = collect(module, PTERA_ERROR), warnings = collect(module, PTERA_WARNING);
    const char *shown = why ? why : text_of(errors.shown), *warned = text_of(warnings.shown);
    bool logs = pt_cu_log_is_on(PT_CU_LOG_LOAD), is_told = logs || (*shown && !o->error.text);
    pt_cu_jit_options_write(&o->error, why ? why : text_of(errors.ptxas));
    pt_cu_jit_options_write(&o->info, text_of(warnings.ptxas));
    if (is_told && *shown)
        pt_cu_log_print("load: %s", shown);
    if (is_told && *warned)
        pt_cu_log_print("load: %s", warned);
    if (logs && !*shown)
        pt_cu_log_print("load: PTX %u.%u for sm_%u, %u kernels", module->ir.ptx / 10u,
                        module->ir.ptx % 10u, module->ir.sm, module->n_kernels);
    free(errors.shown);
    free(errors.ptxas);
    free(warnings.shown);
    free(warnings.ptxas);
}

/* ---- loading --------------------------------------------------------------------------------- */

/* The PTX says a version that came after this driver. */
static bool is_newer(const struct pt_cu_text *text)
{
    unsigned major, minor;
    const char *version = strstr(text->text, ".version");
    if (!version || sscanf(version, ".version %u.%u", &major, &minor) != 2)
        return false;
    return major * 10 + minor > pt_ptx_newest();
}

/* PTX for this compute capability or an earlier one; of accelerated targets only the very same. */
static CUresult check_target(const ptera_module *module, char *why, size_t size)
{
    const struct pt_device_limits *p = pt_cu_driver.limits;
    unsigned device = (unsigned)(p->major * 10 + p->minor), sm = module->ir.sm;
    char feature[2] = {(char)module->ir.sm_feature, 0};
    bool fits = feature[0] == 'a'   ? sm == device
                : feature[0] == 'f' ? sm <= device && sm / 10 == device / 10
                                    : sm <= device;
    if (fits)
        return CUDA_SUCCESS;
    snprintf(why, size, "the PTX is for sm_%u%s, the device has compute capability %d.%d", sm,
             feature, p->major, p->minor);
    return CUDA_ERROR_INVALID_PTX;
}

/* The variables become memory that copies may touch. */
static void enter_variables(CUmodule module)
{
    const ptera_module *m = module->ptera;
    struct pt_mem_record record;
    uint64_t globals = (uintptr_t)m->globals;
    if (m->globals && pt_mem_near(&m->engine->mem, globals, &record))
        pt_cu_range_add(globals, record.bytes, PT_CU_VARIABLES, module->ctx);
    if (m->constants_bytes) {
        pt_cu_range_add((uintptr_t)m->constants.write, m->constants_bytes, PT_CU_VARIABLES,
                        module->ctx);
        pt_cu_range_add((uintptr_t)m->constants.read, m->constants_bytes, PT_CU_VARIABLES,
                        module->ctx);
    }
}

static void leave_variables(const ptera_module *m)
{
    const void *blocks[] = {m->globals, m->constants.write, m->constants.read};
    for (size_t i = 0; i < 3; i++) {
        struct pt_cu_range *range = blocks[i] ? pt_cu_range_find((uintptr_t)blocks[i]) : NULL;
        if (range)
            pt_cu_range_remove(range);
    }
}

static CUmodule new_module(CUcontext ctx, ptera_module *ptera)
{
    CUmodule module = pt_cu_handle_new(PT_CU_MODULE, sizeof *module);
    if (!module)
        return NULL;
    module->ctx = ctx;
    module->ptera = ptera;
    module->next = ctx->modules;
    ctx->modules = module;
    enter_variables(module);
    PT_CU_LISTENER_TELL(PT_CU_MADE_MODULE, .context = ctx, .module = (uint32_t)module->object.id);
    return module;
}

CUresult pt_cu_module_load_text(CUcontext ctx, const struct pt_cu_text *text,
                                struct pt_cu_jit_options *options, CUmodule *out)
{
    ptera_module *ptera = NULL;
    char why[128];
    pt_cu_command_step_out(ctx);
    ptera_result loaded = ptera_module_load(ctx->engine, "ptx", text->text, text->bytes, &ptera);
    pt_cu_command_step_in(ctx);
    CUresult r = pt_cu_error_of(loaded);
    if (loaded == PTERA_OK && !text->is_later &&
        (r = check_target(ptera, why, sizeof why)) != CUDA_SUCCESS)
        write_diagnostics(options, ptera, why);
    else if (ptera)
        write_diagnostics(options, ptera, NULL);
    if (r == CUDA_ERROR_INVALID_PTX && is_newer(text))
        r = CUDA_ERROR_UNSUPPORTED_PTX_VERSION;
    if (r == CUDA_SUCCESS && !(*out = new_module(ctx, ptera)))
        r = CUDA_ERROR_OUT_OF_MEMORY;
    if (r != CUDA_SUCCESS)
        ptera_module_unload(ptera);
    return r;
}

void pt_cu_module_refuse_image(struct pt_cu_jit_options *options, const struct pt_cu_text *text)
{
    pt_cu_jit_options_write(&options->error, text->log);
    pt_cu_jit_options_write(&options->info, "");
}

static CUresult load_image(CUmodule *out, const void *image, size_t bytes, unsigned n,
                           const CUjit_option *names, void **values)
{
    CUcontext ctx;
    struct pt_cu_jit_options options;
    struct pt_cu_text text;
    CUresult r = pt_cu_current_get(&ctx);
    if (r != CUDA_SUCCESS)
        return r;
    if (!out || !image || !pt_cu_jit_options_read(&options, n, names, values))
        return CUDA_ERROR_INVALID_VALUE;
    r = pt_cu_image_text(image, bytes, options.registers, &text);
    if (r == CUDA_SUCCESS)
        r = pt_cu_module_load_text(ctx, &text, &options, out);
    else
        pt_cu_module_refuse_image(&options, &text);
    if (r == CUDA_SUCCESS)
        pt_cu_handle_give(*out);
    else if (text.log[0])
        pt_cu_log_print("%s", text.log);
    free(text.text);
    return r;
}

CUresult cuModuleLoadData(CUmodule *module, const void *image)
{
    return API(load_image(module, image, 0, 0, NULL, NULL));
}

CUresult cuModuleLoadDataEx(CUmodule *module, const void *image, unsigned n, CUjit_option *options,
                            void **values)
{
    return API(load_image(module, image, 0, n, options, values));
}

CUresult cuModuleLoadFatBinary(CUmodule *module, const void *image)
{
    return API(load_image(module, image, 0, 0, NULL, NULL));
}

char *pt_cu_module_read_file(const char *path, size_t *bytes)
{
    FILE *file = fopen(path, "rb");
    long size = -1;
    char *data = NULL;
    if (file && fseek(file, 0, SEEK_END) == 0)
        size = ftell(file);
    if (size >= 0 && fseek(file, 0, SEEK_SET) == 0)
        data = malloc((size_t)size + 1);
    if (data && fread(data, 1, (size_t)size, file) != (size_t)size) {
        free(data);
        data = NULL;
    }
    if (data)
        data[size] = 0;
    if (file)
        fclose(file);
    *bytes = (size_t)size;
    return data;
}

static CUresult load_file(CUmodule *out, const char *path)
{
    size_t bytes;
    if (!out || !path)
        return CUDA_ERROR_INVALID_VALUE;
    char *data = pt_cu_module_read_file(path, &bytes);
    if (!data)
        return CUDA_ERROR_FILE_NOT_FOUND;
    CUresult r = bytes ? load_image(out, data, bytes, 0, NULL, NULL) : CUDA_ERROR_INVALID_IMAGE;
    free(data);
    return r;
}

CUresult cuModuleLoad(CUmodule *module, const char *path)
{
    return API(load_file(module, path));
}

/* ---- unloading ------------------------------------------------------------------------------- */

void pt_cu_module_delete(CUmodule module)
{
    CUmodule *place = &module->ctx->modules;
    PT_CU_LISTENER_TELL(PT_CU_ENDS_MODULE, .context = module->ctx,
                        .module = (uint32_t)module->object.id);
    while (*place != module)
        place = &(*place)->next;
    *place = module->next;
    while (module->functions) {
        CUfunction function = module->functions;
        module->functions = function->next;
        free(function->legacy);
        pt_cu_handle_delete(function);
    }
    pt_cu_reference_delete_all(module);
    pt_cu_overlap_forget(module->ctx, module->ptera);
    leave_variables(module->ptera);
    ptera_module_unload(module->ptera);
    pt_cu_handle_delete(module);
}

static CUresult check_module(CUmodule module)
{
    CUresult r = pt_cu_driver_check();
    if (r == CUDA_SUCCESS && !pt_cu_handle_is(module, PT_CU_MODULE))
        r = CUDA_ERROR_INVALID_HANDLE;
    return r == CUDA_SUCCESS ? module->ctx->error : r;
}

static CUresult unload(CUmodule module)
{
    CUresult r = check_module(module);
    if (r != CUDA_SUCCESS)
        return r;
    if (module->library)
        return CUDA_ERROR_NOT_PERMITTED;
    r = pt_cu_command_drain(module->ctx);
    if (pt_cu_handle_is(module, PT_CU_MODULE))
        pt_cu_module_delete(module);
    return r;
}

CUresult cuModuleUnload(CUmodule module)
{
    return API(unload(module));
}

static CUresult loading_mode(CUmoduleLoadingMode *mode)
{
    if (mode)
        *mode = pt_cu_driver.loads_eagerly ? CU_MODULE_EAGER_LOADING : CU_MODULE_LAZY_LOADING;
    return mode ? pt_cu_driver_check() : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuModuleGetLoadingMode(CUmoduleLoadingMode *mode)
{
    return API(loading_mode(mode));
}

/* ---- functions and variables ----------------------------------------------------------------- */

static CUresult function_of(CUmodule module, ptera_kernel *kernel, CUfunction *out)
{
    CUfunction f = module->functions;
    while (f && f->kernel != kernel)
        f = f->next;
    if (!f && (f = pt_cu_handle_new(PT_CU_FUNCTION, sizeof *f)) != NULL) {
        f->module = module;
        f->kernel = kernel;
        f->next = module->functions;
        module->functions = f;
    }
    *out = f;
    return f ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

CUresult pt_cu_module_function_at(CUmodule module, uint64_t func, CUfunction *function)
{
    ptera_module *m = module->ptera;
    for (unsigned i = 0; i < m->n_kernels; i++)
        if (m->kernels[i].func == func)
            return function_of(module, &m->kernels[i], function);
    return CUDA_ERROR_NOT_FOUND;
}

CUresult pt_cu_module_function(CUfunction *out, CUmodule module, const char *name)
{
    ptera_kernel *kernel;
    CUresult r = check_module(module);
    if (r == CUDA_SUCCESS && (!out || !name))
        r = CUDA_ERROR_INVALID_VALUE;
    if (r == CUDA_SUCCESS)
        r = pt_cu_error_of(ptera_module_kernel(module->ptera, name, 0, &kernel));
    return r == CUDA_SUCCESS ? function_of(module, kernel, out) : r;
}

CUresult cuModuleGetFunction(CUfunction *function, CUmodule module, const char *name)
{
    return API(pt_cu_module_function(function, module, name));
}

CUresult pt_cu_module_function_count(unsigned *n, CUmodule module)
{
    CUresult r = check_module(module);
    if (r == CUDA_SUCCESS && !n)
        r = CUDA_ERROR_INVALID_VALUE;
    if (r == CUDA_SUCCESS)
        *n = module->ptera->n_kernels;
    return r;
}

CUresult cuModuleGetFunctionCount(unsigned *n, CUmodule module)
{
    return API(pt_cu_module_function_count(n, module));
}

static CUresult enumerate_functions(CUfunction *functions, unsigned n, CUmodule module)
{
    CUresult r = check_module(module);
    if (r == CUDA_SUCCESS && !functions)
        r = CUDA_ERROR_INVALID_VALUE;
    for (unsigned i = 0; r == CUDA_SUCCESS && i < n && i < module->ptera->n_kernels; i++)
        r = function_of(module, &module->ptera->kernels[i], &functions[i]);
    return r;
}

CUresult cuModuleEnumerateFunctions(CUfunction *functions, unsigned n, CUmodule module)
{
    return API(enumerate_functions(functions, n, module));
}

CUresult pt_cu_module_global(CUdeviceptr *address, size_t *bytes, CUmodule module, const char *name)
{
    void *p;
    size_t size;
    CUresult r = check_module(module);
    if (r == CUDA_SUCCESS && (!name || (!address && !bytes)))
        r = CUDA_ERROR_INVALID_VALUE;
    if (r == CUDA_SUCCESS)
        r = pt_cu_error_of(ptera_module_variable(module->ptera, name, &p, &size));
    if (r != CUDA_SUCCESS)
        return r;
    if (address)
        *address = (uintptr_t)p;
    if (bytes)
        *bytes = size;
    return CUDA_SUCCESS;
}

CUresult cuModuleGetGlobal_v2(CUdeviceptr *address, size_t *bytes, CUmodule module,
                              const char *name)
{
    return API(pt_cu_module_global(address, bytes, module, name));
}
