/* Names and texts of the errors of CUDA's runtime library, on the host and in kernels. */
#include "runtime/cuda/runtime_error.h"

#include <stddef.h>

#include "runtime/cuda/abi.h"

static const struct {
    int error;
    const char *name, *text;
} errors[] = {
    {CUDA_SUCCESS, "cudaSuccess", NULL},
#define X(name, value, text) {value, "cudaError" #name, text},
#include "runtime/cuda/runtime_error.def"
#undef X
};
enum { N_ERRORS = sizeof errors / sizeof *errors };

static const char unknown[] = "unrecognized error code";

const char *pt_cu_runtime_error_name(int error)
{
    for (int i = 0; i < N_ERRORS; i++)
        if (errors[i].error == error)
            return errors[i].name;
    return unknown;
}

const char *pt_cu_runtime_error_text(int error)
{
    const char *text = unknown;
    for (int i = 0; i < N_ERRORS; i++)
        if (errors[i].error == error)
            text = errors[i].text;
    if (!text)
        cuGetErrorString((CUresult)error, &text);
    return text ? text : unknown;
}
