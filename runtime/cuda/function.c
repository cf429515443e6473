/* Functions and a library's kernels: attributes, parameters, names. */
#include "runtime/cuda/function.h"

#include <string.h>

#include "runtime/callees.h"
#include "runtime/compile.h"
#include "runtime/cuda/command.h"
#include "runtime/cuda/context_list.h"
#include "runtime/cuda/device.h"
#include "runtime/cuda/driver.h"
#include "runtime/cuda/entry.h"
#include "runtime/cuda/error.h"
#include "runtime/cuda/handle.h"
#include "runtime/cuda/log.h"
#include "runtime/cuda/library.h"
#include "runtime/device.h"
#include "runtime/registers.h"

static const struct pt_func *ir_of(CUfunction f)
{
    return &f->module->ptera->ir.funcs.v[f->kernel->func];
}

/* ---- what it calls --------------------------------------------------------------------------- */

enum { CALLS_RUNTIME = 1, CALLS_GRAPHS = 2, CALLS_KNOWN = 4 };

static unsigned calls_of(CUfunction f)
{
    if (!f->calls)
        f->calls =
            (uint8_t)(CALLS_KNOWN | (pt_callees_have(f->kernel, "__cudaCDP2") ? CALLS_RUNTIME : 0) |
                      (pt_callees_have(f->kernel, "cudaGraphLaunch") ? CALLS_GRAPHS : 0));
    return f->calls;
}

bool pt_cu_function_calls_runtime(CUfunction function)
{
    return calls_of(function) & CALLS_RUNTIME;
}

bool pt_cu_function_launches_graphs(CUfunction function)
{
    return calls_of(function) & CALLS_GRAPHS;
}

/* ---- attributes ------------------------------------------------------------------------------ */

/* Decodes the kernel, which says how much memory it has. */
static CUresult compile(CUfunction f, const struct pt_program **program)
{
    CUcontext ctx = f->module->ctx;
    *program = pt_compile_made(f->kernel, 0);
    if (*program)
        return CUDA_SUCCESS;
    pt_cu_command_step_out(ctx);
    ptera_result r = pt_compile_kernel(f->kernel, 0, program);
    pt_cu_command_step_in(ctx);
    const char *invalid = atomic_load(&f->kernel->invalid);
    if (r != PTERA_OK && !f->is_told)
        pt_cu_log_print("kernel '%s' cannot run: %s", ptera_kernel_name(f->kernel),
                        invalid ? invalid : ptera_result_text(r));
    f->is_told |= r != PTERA_OK;
    f->is_loaded |= r == PTERA_OK;
    return pt_cu_error_of(r);
}

static uint64_t constant_bytes(CUfunction f)
{
    return f->module->ptera->constants_bytes;
}

/* 0: the kernel declares none. */
static int declared_threads(CUfunction f)
{
    return (int)pt_shape_declared_threads(ir_of(f));
}

/* Threads whose registers an SM has. Counts are estimated, so that three quarters of one are taken
 * for sure: no launch that a GPU takes is to fail. */
static int threads_by_registers(CUfunction f)
{
    int registers = (int)pt_registers_count(f->kernel),
        unit = PT_DEVICE_REGISTER_UNIT / PT_DEVICE_WARP;
    int sure = (registers * 3 / 4 + unit - 1) / unit * unit;
    int all = pt_cu_driver.limits->block_registers << 10;
    int threads = all / (PT_DEVICE_WARP * (sure ? sure : unit)) * PT_DEVICE_WARP;
    return threads < PT_DEVICE_BLOCK_THREADS ? threads : PT_DEVICE_BLOCK_THREADS;
}

/* What the kernel itself says. */
static CUresult own_value(CUfunction f, CUfunction_attribute attribute, int *value)
{
    const struct pt_program *program;
    const struct pt_func *ir = ir_of(f);
    CUresult r = compile(f, &program);
    if (r != CUDA_SUCCESS)
        return r;
    const int default_shared =
        pt_cu_device_attribute(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK, 0);
    switch (attribute) {
    case CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK:
        *value = declared_threads(f) ? declared_threads(f) : threads_by_registers(f);
        break;
    case CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES:
        *value = (int)program->shared_static;
        break;
    case CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES:
        *value = (int)constant_bytes(f);
        break;
    case CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES:
        *value = (int)program->local_bytes;
        break;
    case CU_FUNC_ATTRIBUTE_NUM_REGS:
        *value = (int)pt_registers_count(f->kernel);
        break;
    case CU_FUNC_ATTRIBUTE_PTX_VERSION:
        *value = f->module->ptera->ir.sm;
        break;
    case CU_FUNC_ATTRIBUTE_BINARY_VERSION:
        *value = pt_cu_driver.limits->major * 10 + pt_cu_driver.limits->minor;
        break;
    case CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES:
        *value = (int)program->shared_static < default_shared
                     ? default_shared - (int)program->shared_static
                     : 0;
        break;
    case CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT:
        *value = -1;
        break;
    case CU_FUNC_ATTRIBUTE_CLUSTER_SIZE_MUST_BE_SET:
        *value = ir->explicit_cluster || ir->reqnctapercluster[0];
        break;
    case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH:
    case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_HEIGHT:
    case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_DEPTH: {
        uint32_t size = ir->reqnctapercluster[attribute - CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH];
        *value = !ir->reqnctapercluster[0] ? 0 : size ? (int)size : 1;
        break;
    }
    case CU_FUNC_ATTRIBUTE_CACHE_MODE_CA:
    case CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED:
    case CU_FUNC_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE:
        *value = 0;
        break;
    default:
        return CUDA_ERROR_INVALID_VALUE;
    }
    return CUDA_SUCCESS;
}

CUresult pt_cu_function_value(CUfunction f, CUfunction_attribute attribute, int *value)
{
    if ((unsigned)attribute >= CU_FUNC_ATTRIBUTE_MAX)
        return CUDA_ERROR_INVALID_VALUE;
    const struct pt_cu_function_settings *of[] = {&f->settings, f->of ? &f->of->settings : NULL};
    for (int i = 0; i < 2; i++) {
        if (!of[i] || !(of[i]->is_set >> attribute & 1))
            continue;
        *value = of[i]->values[attribute];
        return CUDA_SUCCESS;
    }
    return own_value(f, attribute, value);
}

CUresult pt_cu_function_most_threads(CUfunction f, unsigned threads, uint32_t *most)
{
    const unsigned all = (unsigned)pt_cu_driver.limits->block_registers << 10,
                   always_fit = all / (PT_DEVICE_THREAD_REGISTERS + 1);
    const struct pt_program *program;
    *most = 0;
    if (declared_threads(f) || threads <= always_fit)
        return CUDA_SUCCESS;
    CUresult r = compile(f, &program);
    if (r == CUDA_SUCCESS)
        *most = (uint32_t)threads_by_registers(f);
    return r;
}

/* Whether the value can be set for this function. */
static CUresult check_setting(CUfunction f, CUfunction_attribute attribute, int value)
{
    int is;
    CUresult r = CUDA_SUCCESS;
    switch (attribute) {
    case CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES:
        r = own_value(f, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, &is);
        if (r == CUDA_SUCCESS &&
            (value < 0 || value > pt_cu_device_attribute(
                                      CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN, 0) -
                                      is))
            r = CUDA_ERROR_INVALID_VALUE;
        return r;
    case CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT:
        return value >= -1 && value <= 100 ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
    case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH:
    case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_HEIGHT:
    case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_DEPTH:
        return ir_of(f)->reqnctapercluster[0] || value < 0 ? CUDA_ERROR_INVALID_VALUE
                                                           : CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED:
        return CUDA_SUCCESS; /* any number is a yes but 0 */
    case CU_FUNC_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE:
        return value >= 0 && value <= 2 ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
    default:
        return CUDA_ERROR_INVALID_VALUE;
    }
}

static CUresult set_value(struct pt_cu_function_settings *settings, CUfunction f,
                          CUfunction_attribute attribute, int value)
{
    CUresult r = check_setting(f, attribute, value);
    if (r != CUDA_SUCCESS)
        return r;
    settings->values[attribute] = value;
    settings->is_set |= 1u << attribute;
    return CUDA_SUCCESS;
}

static CUresult get_attribute(int *value, CUfunction_attribute attribute, CUfunction handle)
{
    CUfunction f;
    CUresult r = pt_cu_library_function(handle, &f);
    if (r == CUDA_SUCCESS && !value)
        r = CUDA_ERROR_INVALID_VALUE;
    return r == CUDA_SUCCESS ? pt_cu_function_value(f, attribute, value) : r;
}

CUresult cuFuncGetAttribute(int *value, CUfunction_attribute attribute, CUfunction function)
{
    return API(get_attribute(value, attribute, function));
}

static CUresult set_attribute(CUfunction handle, CUfunction_attribute attribute, int value)
{
    CUfunction f;
    CUresult r = pt_cu_library_function(handle, &f);
    return r == CUDA_SUCCESS ? set_value(&f->settings, f, attribute, value) : r;
}

CUresult cuFuncSetAttribute(CUfunction function, CUfunction_attribute attribute, int value)
{
    return API(set_attribute(function, attribute, value));
}

/* A kernel's function where its device's primary context, or the current one, is. */
static CUresult check_kernel(CUkernel kernel, CUdevice device, CUfunction *f)
{
    CUresult r = pt_cu_driver_check();
    if (r == CUDA_SUCCESS && !pt_cu_handle_is(kernel, PT_CU_KERNEL))
        r = CUDA_ERROR_INVALID_HANDLE;
    if (r == CUDA_SUCCESS && !pt_cu_device_is_valid(device))
        r = CUDA_ERROR_INVALID_DEVICE;
    return r == CUDA_SUCCESS ? pt_cu_library_function(kernel, f) : r;
}

static CUresult get_kernel_attribute(int *value, CUfunction_attribute attribute, CUkernel kernel,
                                     CUdevice device)
{
    CUfunction f;
    CUresult r = check_kernel(kernel, device, &f);
    if (r == CUDA_SUCCESS && !value)
        r = CUDA_ERROR_INVALID_VALUE;
    return r == CUDA_SUCCESS ? pt_cu_function_value(f, attribute, value) : r;
}

CUresult cuKernelGetAttribute(int *value, CUfunction_attribute attribute, CUkernel kernel,
                              CUdevice device)
{
    return API(get_kernel_attribute(value, attribute, kernel, device));
}

static CUresult set_kernel_attribute(CUfunction_attribute attribute, int value, CUkernel kernel,
                                     CUdevice device)
{
    CUfunction f;
    CUresult r = check_kernel(kernel, device, &f);
    return r == CUDA_SUCCESS ? set_value(&kernel->settings, f, attribute, value) : r;
}

CUresult cuKernelSetAttribute(CUfunction_attribute attribute, int value, CUkernel kernel,
                              CUdevice device)
{
    return API(set_kernel_attribute(attribute, value, kernel, device));
}

static CUresult set_cache_config(CUfunction handle, CUfunc_cache config)
{
    CUfunction f;
    CUresult r = pt_cu_library_function(handle, &f);
    if (r == CUDA_SUCCESS && (unsigned)config > CU_FUNC_CACHE_PREFER_EQUAL)
        r = CUDA_ERROR_INVALID_VALUE;
    return r;
}

/* Caches are the host's: preferences are checked and change nothing. */
CUresult cuFuncSetCacheConfig(CUfunction function, CUfunc_cache config)
{
    return API(set_cache_config(function, config));
}

CUresult cuKernelSetCacheConfig(CUkernel kernel, CUfunc_cache config, CUdevice device)
{
    CUfunction f;
    bool is_config = (unsigned)config <= CU_FUNC_CACHE_PREFER_EQUAL;
    return API(is_config ? check_kernel(kernel, device, &f) : CUDA_ERROR_INVALID_VALUE);
}

static CUresult set_shared_config(CUfunction handle, CUsharedconfig config)
{
    CUfunction f;
    CUresult r = pt_cu_library_function(handle, &f);
    if (r == CUDA_SUCCESS && (unsigned)config > CU_SHARED_MEM_CONFIG_EIGHT_BYTE_BANK_SIZE)
        r = CUDA_ERROR_INVALID_VALUE;
    return r;
}

CUresult cuFuncSetSharedMemConfig(CUfunction function, CUsharedconfig config)
{
    return API(set_shared_config(function, config));
}

/* ---- who they are ---------------------------------------------------------------------------- */

static CUresult get_module(CUmodule *module, CUfunction handle)
{
    CUfunction f;
    CUresult r = pt_cu_library_function(handle, &f);
    if (!handle || (r == CUDA_SUCCESS && !module))
        r = CUDA_ERROR_INVALID_VALUE;
    if (r == CUDA_SUCCESS)
        *module = f->module;
    return r;
}

CUresult cuFuncGetModule(CUmodule *module, CUfunction function)
{
    return API(get_module(module, function));
}

static CUresult get_name(const char **name, const void *handle)
{
    CUresult r = pt_cu_driver_check();
    if (r != CUDA_SUCCESS)
        return r;
    if (!name || !handle)
        return CUDA_ERROR_INVALID_VALUE;
    if (pt_cu_handle_is(handle, PT_CU_KERNEL))
        *name = ((const struct CUkern_st *)handle)->name;
    else if (pt_cu_handle_is(handle, PT_CU_FUNCTION))
        *name = ptera_kernel_name(((const struct CUfunc_st *)handle)->kernel);
    else
        return CUDA_ERROR_INVALID_HANDLE;
    return CUDA_SUCCESS;
}

CUresult cuFuncGetName(const char **name, CUfunction function)
{
    return API(get_name(name, function));
}

CUresult cuKernelGetName(const char **name, CUkernel kernel)
{
    return API(get_name(name, kernel));
}

static CUresult get_param_info(const void *handle, size_t index, size_t *offset, size_t *bytes)
{
    CUfunction f;
    ptera_parameter p = {.size = sizeof p};
    CUresult r = pt_cu_library_function(handle, &f);
    if (r == CUDA_SUCCESS && !offset)
        r = CUDA_ERROR_INVALID_VALUE;
    if (r != CUDA_SUCCESS)
        return r;
    if (index > UINT32_MAX || ptera_kernel_parameter(f->kernel, (unsigned)index, &p) != PTERA_OK)
        return CUDA_ERROR_INVALID_VALUE;
    *offset = p.offset;
    if (bytes)
        *bytes = p.bytes;
    return CUDA_SUCCESS;
}

CUresult cuFuncGetParamInfo(CUfunction function, size_t index, size_t *offset, size_t *bytes)
{
    return API(get_param_info(function, index, offset, bytes));
}

CUresult cuKernelGetParamInfo(CUkernel kernel, size_t index, size_t *offset, size_t *bytes)
{
    return API(get_param_info(kernel, index, offset, bytes));
}

static CUresult kernel_function(CUfunction *function, CUkernel kernel)
{
    CUresult r = pt_cu_driver_check();
    if (r == CUDA_SUCCESS && !function)
        r = CUDA_ERROR_INVALID_VALUE;
    if (r == CUDA_SUCCESS && !pt_cu_handle_is(kernel, PT_CU_KERNEL))
        r = CUDA_ERROR_INVALID_HANDLE;
    return r == CUDA_SUCCESS ? pt_cu_library_function(kernel, function) : r;
}

CUresult cuKernelGetFunction(CUfunction *function, CUkernel kernel)
{
    return API(kernel_function(function, kernel));
}

static CUresult kernel_library(CUlibrary *library, CUkernel kernel)
{
    CUresult r = pt_cu_driver_check();
    if (r == CUDA_SUCCESS && !library)
        r = CUDA_ERROR_INVALID_VALUE;
    if (r == CUDA_SUCCESS && !pt_cu_handle_is(kernel, PT_CU_KERNEL))
        r = CUDA_ERROR_INVALID_HANDLE;
    if (r == CUDA_SUCCESS)
        *library = kernel->library;
    return r;
}

CUresult cuKernelGetLibrary(CUlibrary *library, CUkernel kernel)
{
    return API(kernel_library(library, kernel));
}

/* A function is loaded when the program has used it, or as soon as it is there. That it may have
 * been compiled ahead does not count. */
static CUresult load(CUfunction handle, CUfunctionLoadingState *state)
{
    CUfunction f;
    const struct pt_program *program;
    CUresult r = pt_cu_library_function(handle, &f);
    if (r != CUDA_SUCCESS)
        return r;
    if (!state)
        return compile(f, &program);
    bool is_loaded = pt_cu_driver.loads_eagerly || f->is_loaded;
    *state = is_loaded ? CU_FUNCTION_LOADING_STATE_LOADED : CU_FUNCTION_LOADING_STATE_UNLOADED;
    return CUDA_SUCCESS;
}

CUresult cuFuncLoad(CUfunction function)
{
    return API(load(function, NULL));
}

CUresult cuFuncIsLoaded(CUfunctionLoadingState *state, CUfunction function)
{
    return API(state ? load(function, state) : CUDA_ERROR_INVALID_VALUE);
}

size_t pt_cu_function_parameter_bytes(CUfunction f)
{
    return f->module->ptera->ir.funcs.v[f->kernel->func].param_size;
}
