/* CUDA's errors: their names and texts, and which one a result of the engine is. */
#include "runtime/cuda/error.h"

static const struct error {
    CUresult value;
    const char *name, *text;
} errors[] = {
    {CUDA_SUCCESS, "CUDA_SUCCESS", "no error"},
#define X(name, value, text) {CUDA_ERROR_##name, "CUDA_ERROR_" #name, text},
#include "runtime/cuda/error.def"
#undef X
};

static const struct error *find_error(CUresult result)
{
    for (size_t i = 0; i < sizeof errors / sizeof *errors; i++)
        if (errors[i].value == result)
            return &errors[i];
    return NULL;
}

CUresult cuGetErrorName(CUresult result, const char **name)
{
    const struct error *e = find_error(result);
    if (name)
        *name = e ? e->name : NULL;
    return e && name ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuGetErrorString(CUresult result, const char **text)
{
    const struct error *e = find_error(result);
    if (text)
        *text = e ? e->text : NULL;
    return e && text ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult pt_cu_error_of(ptera_result result)
{
    static const CUresult results[] = {
        [PTERA_ERROR_INVALID_ARGUMENT] = CUDA_ERROR_INVALID_VALUE,
        [PTERA_ERROR_OUT_OF_MEMORY] = CUDA_ERROR_OUT_OF_MEMORY,
        [PTERA_ERROR_INVALID_PTX] = CUDA_ERROR_INVALID_PTX,
        [PTERA_ERROR_UNSUPPORTED_PTX] = CUDA_ERROR_NOT_SUPPORTED,
        [PTERA_ERROR_FILE] = CUDA_ERROR_FILE_NOT_FOUND,
        [PTERA_ERROR_NOT_FOUND] = CUDA_ERROR_NOT_FOUND,
        [PTERA_ERROR_INVALID_LAUNCH] = CUDA_ERROR_INVALID_VALUE,
        [PTERA_ERROR_NOT_INITIALIZED] = CUDA_ERROR_NOT_INITIALIZED,
        [PTERA_ERROR_ILLEGAL_ADDRESS] = CUDA_ERROR_ILLEGAL_ADDRESS,
        [PTERA_ERROR_MISALIGNED_ADDRESS] = CUDA_ERROR_MISALIGNED_ADDRESS,
        [PTERA_ERROR_TRAP] = CUDA_ERROR_LAUNCH_FAILED,
        [PTERA_ERROR_ASSERT] = CUDA_ERROR_ASSERT,
        [PTERA_ERROR_STACK_OVERFLOW] =
            CUDA_ERROR_ILLEGAL_ADDRESS, /* as an H100 answers when a recursion is too deep */
        [PTERA_ERROR_ILLEGAL_INSTRUCTION] = CUDA_ERROR_ILLEGAL_INSTRUCTION,
        [PTERA_ERROR_DEADLOCK] = CUDA_ERROR_LAUNCH_TIMEOUT,
        [PTERA_ERROR_TIMEOUT] = CUDA_ERROR_LAUNCH_TIMEOUT,
        [PTERA_ERROR_HOST_FUNCTION] =
            CUDA_ERROR_ILLEGAL_ADDRESS, /* the device runtime's; as an H200 answers wild handles */
    };
    _Static_assert(sizeof results / sizeof *results == PTERA_ERROR_HOST_FUNCTION + 1,
                   "results of the engine that a GPU has, too");
    return (size_t)result < sizeof results / sizeof *results ? results[result] : CUDA_ERROR_UNKNOWN;
}
