/* The calling thread's last error; names and texts of errors. */
#include "runtime/cudart/error.h"

#include "runtime/cuda/runtime_error.h"

static _Thread_local cudaError_t last_error;

/* That something is not ready yet is an answer, no error. */
cudaError_t pt_rt_error_done(cudaError_t error)
{
    if (error != cudaSuccess && error != cudaErrorNotReady)
        last_error = error;
    return error;
}

cudaError_t cudaGetLastError(void)
{
    cudaError_t error = last_error;
    last_error = cudaSuccess;
    return error;
}

cudaError_t cudaPeekAtLastError(void)
{
    return last_error;
}

/* ---- names and texts ------------------------------------------------------------------------- */

const char *cudaGetErrorName(cudaError_t error)
{
    return pt_cu_runtime_error_name((int)error);
}

const char *cudaGetErrorString(cudaError_t error)
{
    return pt_cu_runtime_error_text((int)error);
}
