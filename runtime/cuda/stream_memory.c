/* Operations of streams on values in memory: waiting for one, writing one. */
#include "runtime/cuda/stream_memory.h"

#include <stdlib.h>

#include "runtime/cuda/entry.h"
#include "runtime/cuda/op.h"
#include "runtime/cuda/range.h"
#include "runtime/cuda/stream.h"
#include "runtime/cuda/submit.h"

enum { PARTS_MOST = 256 }; /* of a batch */

static CUresult value_op(enum pt_cu_work work, CUdeviceptr address, uint64_t value, unsigned bytes,
                         unsigned flags, struct pt_cu_op *op)
{
    unsigned known = work == PT_CU_WAIT_VALUE
                         ? CU_STREAM_WAIT_VALUE_NOR | CU_STREAM_WAIT_VALUE_FLUSH
                         : 0; /* such devices have no writes without a barrier */
    if (!address || address % bytes || flags & ~known || !pt_cu_range_is_usable(address, bytes))
        return CUDA_ERROR_INVALID_VALUE;
    if (flags & CU_STREAM_WAIT_VALUE_FLUSH) /* CU_DEVICE_ATTRIBUTE_CAN_FLUSH_REMOTE_WRITES */
        return CUDA_ERROR_NOT_SUPPORTED;
    *op = (struct pt_cu_op){.work = work};
    op->value.address = (void *)(uintptr_t)address;
    op->value.value = value;
    op->value.bytes = bytes;
    op->value.flags = flags;
    return CUDA_SUCCESS;
}

static CUresult wait_or_write(CUstream null, CUstream given, enum pt_cu_work work,
                              CUdeviceptr address, uint64_t value, unsigned bytes, unsigned flags)
{
    CUstream stream;
    struct pt_cu_op op;
    CUresult r = pt_cu_stream_find(null, given, &stream);
    if (r == CUDA_SUCCESS)
        r = value_op(work, address, value, bytes, flags, &op);
    return r == CUDA_SUCCESS ? pt_cu_submit_op(stream, &op) : r;
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

/* ---- batches --------------------------------------------------------------------------------- */

static CUresult part_op(const CUstreamBatchMemOpParams *p, struct pt_cu_op *op)
{
    const struct CUstreamMemOpValueParams_st *v = &p->waitValue;
    switch (p->operation) {
    case CU_STREAM_MEM_OP_WAIT_VALUE_32:
        return value_op(PT_CU_WAIT_VALUE, v->address, v->value, 4, v->flags, op);
    case CU_STREAM_MEM_OP_WAIT_VALUE_64:
        return value_op(PT_CU_WAIT_VALUE, v->address, v->value64, 8, v->flags, op);
    case CU_STREAM_MEM_OP_WRITE_VALUE_32:
        return value_op(PT_CU_WRITE_VALUE, v->address, v->value, 4, v->flags, op);
    case CU_STREAM_MEM_OP_WRITE_VALUE_64:
        return value_op(PT_CU_WRITE_VALUE, v->address, v->value64, 8, v->flags, op);
    case CU_STREAM_MEM_OP_BARRIER: /* a command sees all that commands before it wrote */
        *op = (struct pt_cu_op){.work = PT_CU_EMPTY};
        return CUDA_SUCCESS;
    case CU_STREAM_MEM_OP_FLUSH_REMOTE_WRITES:
        return CUDA_ERROR_NOT_SUPPORTED;
    }
    return CUDA_ERROR_INVALID_VALUE;
}

static CUstreamBatchMemOpType type_of(const struct pt_cu_op *op)
{
    if (op->work == PT_CU_EMPTY)
        return CU_STREAM_MEM_OP_BARRIER;
    if (op->work == PT_CU_WAIT_VALUE)
        return op->value.bytes == 4 ? CU_STREAM_MEM_OP_WAIT_VALUE_32
                                    : CU_STREAM_MEM_OP_WAIT_VALUE_64;
    return op->value.bytes == 4 ? CU_STREAM_MEM_OP_WRITE_VALUE_32 : CU_STREAM_MEM_OP_WRITE_VALUE_64;
}

void pt_cu_stream_memory_describe(const struct pt_cu_op *op, CUstreamBatchMemOpParams *p)
{
    *p = (CUstreamBatchMemOpParams){.operation = type_of(op)};
    if (op->work == PT_CU_EMPTY)
        return;
    p->waitValue.address = (uintptr_t)op->value.address;
    p->waitValue.value64 = op->value.value;
    p->waitValue.flags = op->value.flags;
}

bool pt_cu_stream_memory_is_like(const struct pt_cu_op *a, const struct pt_cu_op *b)
{
    unsigned n, m;
    const struct pt_cu_op *x = pt_cu_op_parts(a, &n), *y = pt_cu_op_parts(b, &m);
    for (unsigned i = 0; i < n && n == m; i++)
        if (type_of(&x[i]) != type_of(&y[i]))
            return false;
    return n == m;
}

CUresult pt_cu_stream_memory_op(const CUstreamBatchMemOpParams *params, unsigned n, unsigned flags,
                                struct pt_cu_op *op)
{
    if (!params || flags || n > PARTS_MOST)
        return CUDA_ERROR_INVALID_VALUE;
    struct pt_cu_batch *batch = malloc(sizeof *batch + n * sizeof *batch->ops);
    CUresult r = batch ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
    for (unsigned i = 0; r == CUDA_SUCCESS && i < n; i++)
        r = part_op(&params[i], &batch->ops[i]);
    if (r != CUDA_SUCCESS) {
        free(batch);
        return r;
    }
    batch->refs = 1;
    batch->n = n;
    *op = (struct pt_cu_op){.work = PT_CU_BATCH, .batch = batch};
    return CUDA_SUCCESS;
}

static CUresult batch(CUstream null, CUstream given, unsigned n,
                      const CUstreamBatchMemOpParams *params, unsigned flags)
{
    CUstream stream;
    struct pt_cu_op op;
    CUresult r = pt_cu_stream_find(null, given, &stream);
    if (r == CUDA_SUCCESS)
        r = pt_cu_stream_memory_op(params, n, flags, &op);
    return r == CUDA_SUCCESS ? pt_cu_submit_op(stream, &op) : r;
}

PER_THREAD_API(cuStreamBatchMemOp, _ptsz, batch,
               (CUstream stream, unsigned n, CUstreamBatchMemOpParams *params, unsigned flags),
               stream, n, params, flags)
PER_THREAD_API(cuStreamBatchMemOp_v2, _ptsz, batch,
               (CUstream stream, unsigned n, CUstreamBatchMemOpParams *params, unsigned flags),
               stream, n, params, flags)
