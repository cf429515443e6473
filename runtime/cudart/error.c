/* The calling thread's last error; names and texts of errors. */
#include "runtime/cudart/error.h"

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

static const struct {
    cudaError_t error;
    const char *name, *text;
} errors[] = {
    {cudaSuccess, "cudaSuccess", NULL},
#define X(name, value, text) {cudaError##name, "cudaError" #name, text},
#include "runtime/cudart/error.def"
#undef X
};
enum { N_ERRORS = sizeof errors / sizeof *errors };

const char *cudaGetErrorName(cudaError_t error)
{
    for (int i = 0; i < N_ERRORS; i++)
        if (errors[i].error == error)
            return errors[i].name;
    return "unrecognized error code";
}

const char *cudaGetErrorString(cudaError_t error)
{
    const char *text = "unrecognized error code";
    for (int i = 0; i < N_ERRORS; i++)
        if (errors[i].error == error)
            text = errors[i].text;
    if (!text)
        cuGetErrorString((CUresult)error, &text);
    return text ? text : "unrecognized error code";
}
