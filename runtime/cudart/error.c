/* Names and texts of results. */
#include "runtime/cudart/rt.h"

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
