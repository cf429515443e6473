/* Launches as before CUDA 4: block shape, shared memory and parameters are set of the function
 * first, and stay set. */
#include <stdlib.h>
#include <string.h>

#include "runtime/cuda/entry.h"
#include "runtime/cuda/launch.h"
#include "runtime/cuda/library.h"
#include "runtime/shape.h"

enum { CU_PARAM_TR_DEFAULT = -1 };
enum { PARAMETERS_MOST = 4096 };

/* What is set so far. */
struct pt_cu_legacy {
    unsigned block[3], shared_bytes;
    size_t bytes; /* of parameters */
    uint8_t parameters[PARAMETERS_MOST];
};

static CUresult find(CUfunction handle, struct pt_cu_legacy **set)
{
    CUfunction f;
    CUresult r = handle ? pt_cu_library_function(handle, &f) : CUDA_ERROR_INVALID_HANDLE;
    if (r != CUDA_SUCCESS)
        return r;
    if (!f->legacy)
        f->legacy = calloc(1, sizeof *f->legacy);
    *set = f->legacy;
    return *set ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

static CUresult set_shape(CUfunction f, int x, int y, int z)
{
    struct pt_cu_legacy *set;
    CUresult r = find(f, &set);
    if (r != CUDA_SUCCESS)
        return r;
    const unsigned block[] = {(unsigned)x, (unsigned)y, (unsigned)z};
    if (!pt_shape_is_block(block))
        return CUDA_ERROR_INVALID_VALUE;
    memcpy(set->block, block, sizeof set->block);
    return CUDA_SUCCESS;
}

CUresult cuFuncSetBlockShape(CUfunction f, int x, int y, int z)
{
    return API(set_shape(f, x, y, z));
}

static CUresult set_shared(CUfunction f, unsigned bytes)
{
    struct pt_cu_legacy *set;
    CUresult r = find(f, &set);
    if (r == CUDA_SUCCESS)
        set->shared_bytes = bytes;
    return r;
}

CUresult cuFuncSetSharedSize(CUfunction f, unsigned bytes)
{
    return API(set_shared(f, bytes));
}

/* ---- parameters ------------------------------------------------------------------------------ */

static CUresult set_size(CUfunction f, unsigned bytes)
{
    struct pt_cu_legacy *set;
    CUresult r = find(f, &set);
    if (r == CUDA_SUCCESS && bytes > PARAMETERS_MOST)
        r = CUDA_ERROR_INVALID_VALUE;
    if (r == CUDA_SUCCESS)
        set->bytes = bytes;
    return r;
}

CUresult cuParamSetSize(CUfunction f, unsigned bytes)
{
    return API(set_size(f, bytes));
}

static CUresult set_parameter(CUfunction f, int offset, const void *value, size_t bytes)
{
    struct pt_cu_legacy *set;
    CUresult r = find(f, &set);
    if (r == CUDA_SUCCESS && (offset < 0 || offset > PARAMETERS_MOST ||
                              bytes > (size_t)(PARAMETERS_MOST - offset) || (bytes && !value)))
        r = CUDA_ERROR_INVALID_VALUE;
    if (r == CUDA_SUCCESS && bytes)
        memcpy(set->parameters + offset, value, bytes);
    return r;
}

CUresult cuParamSeti(CUfunction f, int offset, unsigned value)
{
    return API(set_parameter(f, offset, &value, sizeof value));
}

CUresult cuParamSetf(CUfunction f, int offset, float value)
{
    return API(set_parameter(f, offset, &value, sizeof value));
}

CUresult cuParamSetv(CUfunction f, int offset, void *value, unsigned bytes)
{
    return API(set_parameter(f, offset, value, bytes));
}

/* A module's references can be used by all of its functions. */
static CUresult set_reference(CUfunction f, int unit, CUtexref reference)
{
    struct pt_cu_legacy *set;
    CUresult r = find(f, &set);
    if (r == CUDA_SUCCESS && !pt_cu_handle_is(reference, PT_CU_TEXTURE_REFERENCE))
        r = CUDA_ERROR_INVALID_HANDLE;
    return r == CUDA_SUCCESS && unit != CU_PARAM_TR_DEFAULT ? CUDA_ERROR_INVALID_VALUE : r;
}

CUresult cuParamSetTexRef(CUfunction f, int unit, CUtexref reference)
{
    return API(set_reference(f, unit, reference));
}

/* ---- launches -------------------------------------------------------------------------------- */

static CUresult launch(CUfunction f, int width, int height, CUstream stream)
{
    struct pt_cu_legacy *set;
    CUresult r = find(f, &set);
    if (r == CUDA_SUCCESS && (width <= 0 || height <= 0 || !set->block[0]))
        r = CUDA_ERROR_INVALID_VALUE;
    if (r != CUDA_SUCCESS)
        return r;
    void *extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, set->parameters, CU_LAUNCH_PARAM_BUFFER_SIZE,
                     &set->bytes, CU_LAUNCH_PARAM_END};
    const CUlaunchConfig config = {.gridDimX = (unsigned)width,
                                   .gridDimY = (unsigned)height,
                                   .gridDimZ = 1,
                                   .blockDimX = set->block[0],
                                   .blockDimY = set->block[1],
                                   .blockDimZ = set->block[2],
                                   .sharedMemBytes = set->shared_bytes,
                                   .hStream = stream};
    return pt_cu_launch_start(CU_STREAM_LEGACY, &config, f, NULL, extra, false);
}

CUresult cuLaunch(CUfunction f)
{
    return API(launch(f, 1, 1, NULL));
}

CUresult cuLaunchGrid(CUfunction f, int width, int height)
{
    return API(launch(f, width, height, NULL));
}

CUresult cuLaunchGridAsync(CUfunction f, int width, int height, CUstream stream)
{
    return API(launch(f, width, height, stream));
}
