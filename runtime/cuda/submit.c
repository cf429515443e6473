/* Giving an operation to a stream: behind what is in it, or to the graph that it is captured
 * into. */
#include "runtime/cuda/submit.h"

#include "runtime/cuda/capture.h"
#include "runtime/cuda/command.h"
#include "runtime/cuda/driver.h"
#include "runtime/cuda/op.h"
#include "runtime/cuda/printed.h"
#include "runtime/cuda/stream.h"

CUresult pt_cu_submit_op(CUstream stream, struct pt_cu_op *op)
{
    CUresult r = pt_cu_capture_check(stream);
    if (r == CUDA_SUCCESS && stream->capture)
        return pt_cu_capture_add(stream, op);
    if (r != CUDA_SUCCESS) {
        pt_cu_op_drop(op);
        return r;
    }
    bool is_awaited = pt_cu_driver.traps_host && (op->work == PT_CU_KERNEL_LAUNCH ||
                                                  op->work == PT_CU_COPY || op->work == PT_CU_SET);
    struct pt_cu_command *command = pt_cu_stream_append(stream, op, false);
    if (!command)
        return CUDA_ERROR_OUT_OF_MEMORY;
    pt_cu_command_start(command);
    if (is_awaited) /* its failure is told by the next call, as ever */
        pt_cu_command_finish(command);
    pt_cu_command_put(command);
    return CUDA_SUCCESS;
}

CUresult pt_cu_submit_and_wait(CUstream stream, struct pt_cu_op *op)
{
    CUresult r = pt_cu_capture_check(stream);
    if (r == CUDA_SUCCESS)
        r = pt_cu_capture_forbid(stream);
    if (r != CUDA_SUCCESS) {
        pt_cu_op_drop(op);
        return r;
    }
    struct pt_cu_command *command = pt_cu_stream_append(stream, op, true);
    if (!command)
        return CUDA_ERROR_OUT_OF_MEMORY;
    CUcontext ctx = stream->ctx;
    r = pt_cu_command_finish(command);
    pt_cu_command_put(command);
    pt_cu_printed_flush(ctx);
    return r;
}

CUresult pt_cu_submit_finish(CUstream stream)
{
    struct pt_cu_op op = {.work = PT_CU_EMPTY};
    return pt_cu_submit_and_wait(stream, &op);
}
