/* Kernels and variables of the program, asked for by the addresses of their host sides. */
#include "runtime/cudart/program.h"
#include "runtime/cudart/rt.h"

/* Called by the program where it may first touch a managed variable. */
char __cudaInitModule(void **handle)
{
    (void)handle;
    return RT_PLAIN(pt_rt_context_ready()) == cudaSuccess;
}

cudaError_t cudaGetSymbolAddress(void **address, const void *symbol)
{
    size_t bytes;
    return RT_API(address ? pt_rt_program_variable(symbol, (CUdeviceptr *)address, &bytes)
                          : cudaErrorInvalidValue);
}

cudaError_t cudaGetSymbolSize(size_t *bytes, const void *symbol)
{
    CUdeviceptr address;
    return RT_API(bytes ? pt_rt_program_variable(symbol, &address, bytes) : cudaErrorInvalidValue);
}

cudaError_t cudaGetKernel(cudaKernel_t *kernel, const void *function)
{
    return RT_API(kernel ? pt_rt_program_kernel(function, kernel) : cudaErrorInvalidValue);
}

/* What nvcc 13 calls once for each kernel, before its first launch. That does not look at the
 * result: it is to say the same again. */
cudaError_t __cudaGetKernel(cudaKernel_t *kernel, const void *function)
{
    cudaError_t error = cudaGetKernel(kernel, function);
    if (error && kernel)
        *kernel = (cudaKernel_t)function;
    return error;
}

static cudaError_t function_of(cudaFunction_t *out, const void *symbol)
{
    CUkernel kernel;
    cudaError_t error = out ? pt_rt_program_kernel(symbol, &kernel) : cudaErrorInvalidValue;
    return error ?: (cudaError_t)cuKernelGetFunction(out, kernel);
}

cudaError_t cudaGetFuncBySymbol(cudaFunction_t *function, const void *symbol)
{
    return RT_API(function_of(function, symbol));
}
