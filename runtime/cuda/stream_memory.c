/* Operations of streams on values in memory: waiting for one, writing one. */
#include "runtime/cuda/entry.h"
#include "runtime/cuda/op.h"
#include "runtime/cuda/range.h"
#include "runtime/cuda/stream.h"
#include "runtime/cuda/submit.h"

static CUresult value_op(CUstream stream, enum pt_cu_work work, CUdeviceptr address, uint64_t value,
                         unsigned bytes, unsigned flags)
{
    unsigned known = work == PT_CU_WAIT_VALUE
                         ? CU_STREAM_WAIT_VALUE_NOR | CU_STREAM_WAIT_VALUE_FLUSH
                         : 0; /* such devices have no writes without a barrier */
    if (!address || address % bytes || flags & ~known || !pt_cu_range_is_usable(address, bytes))
        return CUDA_ERROR_INVALID_VALUE;
    if (flags & CU_STREAM_WAIT_VALUE_FLUSH) /* CU_DEVICE_ATTRIBUTE_CAN_FLUSH_REMOTE_WRITES */
        return CUDA_ERROR_NOT_SUPPORTED;
    struct pt_cu_op op = {.work = work};
    op.value.address = (void *)(uintptr_t)address;
    op.value.value = value;
    op.value.bytes = bytes;
    op.value.flags = flags;
    return pt_cu_submit_op(stream, &op);
}

static CUresult wait_or_write(CUstream null, CUstream given, enum pt_cu_work work,
                              CUdeviceptr address, uint64_t value, unsigned bytes, unsigned flags)
{
    CUstream stream;
    CUresult r = pt_cu_stream_find(null, given, &stream);
    return r == CUDA_SUCCESS ? value_op(stream, work, address, value, bytes, flags) : r;
}

/* The first version and the second differ in the device attributes that speak of them. */
#define VALUE_API(name, work, type, bytes)                                                     \
    PER_THREAD_API(name, _ptsz, wait_or_write,                                                 \
                   (CUstream stream, CUdeviceptr address, type value, unsigned flags), stream, \
                   work, address, value, bytes, flags)                                         \
    PER_THREAD_API(name##_v2, _ptsz, wait_or_write,                                            \
                   (CUstream stream, CUdeviceptr address, type value, unsigned flags), stream, \
                   work, address, value, bytes, flags)
VALUE_API(cuStreamWaitValue32, PT_CU_WAIT_VALUE, cuuint32_t, 4)
VALUE_API(cuStreamWaitValue64, PT_CU_WAIT_VALUE, cuuint64_t, 8)
VALUE_API(cuStreamWriteValue32, PT_CU_WRITE_VALUE, cuuint32_t, 4)
VALUE_API(cuStreamWriteValue64, PT_CU_WRITE_VALUE, cuuint64_t, 8)

static CUresult batch_one(CUstream stream, const CUstreamBatchMemOpParams *p)
{
    switch (p->operation) {
    case CU_STREAM_MEM_OP_WAIT_VALUE_32:
        return value_op(stream, PT_CU_WAIT_VALUE, p->waitValue.address, p->waitValue.value, 4,
                        p->waitValue.flags);
    case CU_STREAM_MEM_OP_WAIT_VALUE_64:
        return value_op(stream, PT_CU_WAIT_VALUE, p->waitValue.address, p->waitValue.value64, 8,
                        p->waitValue.flags);
    case CU_STREAM_MEM_OP_WRITE_VALUE_32:
        return value_op(stream, PT_CU_WRITE_VALUE, p->writeValue.address, p->writeValue.value, 4,
                        p->writeValue.flags);
    case CU_STREAM_MEM_OP_WRITE_VALUE_64:
        return value_op(stream, PT_CU_WRITE_VALUE, p->writeValue.address, p->writeValue.value64, 8,
                        p->writeValue.flags);
    case CU_STREAM_MEM_OP_BARRIER:
    case CU_STREAM_MEM_OP_FLUSH_REMOTE_WRITES: /* a command sees all that commands before it wrote
                                                */
        return CUDA_SUCCESS;
    }
    return CUDA_ERROR_INVALID_VALUE;
}

static CUresult batch(CUstream null, CUstream given, unsigned n,
                      const CUstreamBatchMemOpParams *params, unsigned flags)
{
    CUstream stream;
    CUresult r = pt_cu_stream_find(null, given, &stream);
    if (r == CUDA_SUCCESS && (!params || flags || n > 256))
        r = CUDA_ERROR_INVALID_VALUE;
    for (unsigned i = 0; r == CUDA_SUCCESS && i < n; i++)
        r = batch_one(stream, &params[i]);
    return r;
}

PER_THREAD_API(cuStreamBatchMemOp, _ptsz, batch,
               (CUstream stream, unsigned n, CUstreamBatchMemOpParams *params, unsigned flags),
               stream, n, params, flags)
PER_THREAD_API(cuStreamBatchMemOp_v2, _ptsz, batch,
               (CUstream stream, unsigned n, CUstreamBatchMemOpParams *params, unsigned flags),
               stream, n, params, flags)
