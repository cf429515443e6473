/* Stream capture. */
#include "runtime/cuda/driver.h"

CUresult pt_cu_capture_check(CUstream stream)
{
    (void)stream;
    return CUDA_SUCCESS;
}

CUresult pt_cu_capture_forbid(CUstream stream)
{
    (void)stream;
    return CUDA_SUCCESS;
}

CUresult pt_cu_capture_spoil(CUstream stream, CUresult error)
{
    (void)stream;
    return error;
}

CUresult pt_cu_capture_add(CUstream stream, struct pt_cu_op *op)
{
    (void)stream;
    pt_cu_op_drop(op);
    return CUDA_ERROR_NOT_SUPPORTED;
}

CUresult pt_cu_capture_wait(CUstream stream, CUevent event, unsigned flags)
{
    (void)stream, (void)event, (void)flags;
    return CUDA_ERROR_NOT_SUPPORTED;
}

CUresult pt_cu_capture_record(CUstream stream, CUevent event)
{
    (void)stream, (void)event;
    return CUDA_ERROR_NOT_SUPPORTED;
}

void pt_cu_capture_leave(CUstream stream)
{
    (void)stream;
}

void pt_cu_capture_forget(CUevent event)
{
    (void)event;
}
