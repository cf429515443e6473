/* Copying and setting memory, in rows and boxes, between all kinds of memory. */
#include "runtime/cuda/copy.h"

#include <string.h>

#include "runtime/cuda/array.h"
#include "runtime/cuda/capture.h"
#include "runtime/cuda/context_list.h"
#include "runtime/cuda/current.h"
#include "runtime/cuda/entry.h"
#include "runtime/cuda/handle.h"
#include "runtime/cuda/op.h"
#include "runtime/cuda/range.h"
#include "runtime/cuda/stream.h"
#include "runtime/cuda/submit.h"

/* ---- rows ------------------------------------------------------------------------------------ */

/* What the call says of an address: that it is the device's, the host's, or either. */
enum side { DEVICE, HOST, ANY };

static bool is_side(enum side side, uint64_t address, size_t bytes, bool is_written)
{
    if (!address)
        return false;
    /* Host memory need not be known; of what is known no copy leaves the range. */
    if ((side == HOST || side == ANY) && !pt_cu_range_find(address))
        return true;
    return is_written ? pt_cu_range_is_writable(address, bytes)
                      : pt_cu_range_is_usable(address, bytes);
}

/* Memory that the program may change or free when the call is back: such copies are waited for. */
static bool is_pageable(uint64_t address)
{
    return !pt_cu_range_find(address);
}

CUresult pt_cu_copy_submit(CUstream stream, struct pt_cu_op *op, bool is_async, bool is_pageable)
{
    if (stream->capture || (is_async && !is_pageable))
        return pt_cu_submit_op(stream, op);
    return pt_cu_submit_and_wait(stream, op);
}

static CUresult row_op(enum side to_side, uint64_t to, enum side from_side, uint64_t from,
                       size_t bytes, struct pt_cu_op *op)
{
    if (!is_side(to_side, to, bytes, true) || !is_side(from_side, from, bytes, false))
        return CUDA_ERROR_INVALID_VALUE;
    *op = (struct pt_cu_op){.work = PT_CU_COPY};
    op->copy.to = (uint8_t *)(uintptr_t)to;
    op->copy.from = (const uint8_t *)(uintptr_t)from;
    op->copy.width = bytes;
    op->copy.height = op->copy.depth = 1;
    return CUDA_SUCCESS;
}

CUresult pt_cu_copy_row_op(CUdeviceptr to, CUdeviceptr from, size_t bytes, struct pt_cu_op *op,
                           bool *pageable)
{
    *pageable = is_pageable(to) || is_pageable(from);
    return row_op(ANY, to, ANY, from, bytes, op);
}

/* Pooled and mapped memory is copied where the device may use it of the context that the call names
 * for that end, or of the current one (NULL), whichever the stream's is; other memory for all. */
static bool is_granted(CUcontext named, const void *address, bool is_written)
{
    CUcontext ctx = named;
    const struct pt_cu_range *range = pt_cu_range_find((uintptr_t)address);
    return !range || range->memory == PT_CU_DEVICE ||
           ((named || pt_cu_current_get(&ctx) == CUDA_SUCCESS) &&
            pt_cu_range_is_reached(range, ctx->device, ctx->peers, is_written));
}

bool pt_cu_copy_is_granted(const struct pt_cu_op *op, CUcontext to, CUcontext from)
{
    return is_granted(to, op->copy.to, true) && is_granted(from, op->copy.from, false);
}

/* `to_ctx`, `from_ctx`: those that the call names, or NULL. */
static CUresult copy_row_in(CUstream null, CUstream given, bool is_async, enum side to_side,
                            uint64_t to, CUcontext to_ctx, enum side from_side, uint64_t from,
                            CUcontext from_ctx, size_t bytes)
{
    CUstream stream;
    struct pt_cu_op op;
    CUresult r = pt_cu_stream_find(null, given, &stream);
    if (r != CUDA_SUCCESS || !bytes)
        return r;
    r = row_op(to_side, to, from_side, from, bytes, &op);
    if (r != CUDA_SUCCESS)
        return r;
    if (!pt_cu_copy_is_granted(&op, to_ctx, from_ctx))
        return CUDA_ERROR_INVALID_VALUE;
    if (!is_async && stream->capture)
        return pt_cu_capture_forbid(stream);
    return pt_cu_copy_submit(stream, &op, is_async, is_pageable(to) || is_pageable(from));
}

static CUresult copy_row(CUstream null, CUstream given, bool is_async, enum side to_side,
                         uint64_t to, enum side from_side, uint64_t from, size_t bytes)
{
    return copy_row_in(null, given, is_async, to_side, to, NULL, from_side, from, NULL, bytes);
}

#define COPY_API(name, to_side, to_type, from_side, from_type)                                     \
    PER_THREAD_API(name, _ptds, copy_row, (to_type to, from_type from, size_t bytes), NULL, false, \
                   to_side, (uintptr_t)to, from_side, (uintptr_t)from, bytes)
#define COPY_ASYNC_API(name, to_side, to_type, from_side, from_type)                          \
    PER_THREAD_API(name, _ptsz, copy_row,                                                     \
                   (to_type to, from_type from, size_t bytes, CUstream stream), stream, true, \
                   to_side, (uintptr_t)to, from_side, (uintptr_t)from, bytes)

COPY_API(cuMemcpy, ANY, CUdeviceptr, ANY, CUdeviceptr)
COPY_API(cuMemcpyHtoD_v2, DEVICE, CUdeviceptr, HOST, const void *)
COPY_API(cuMemcpyDtoH_v2, HOST, void *, DEVICE, CUdeviceptr)
COPY_API(cuMemcpyDtoD_v2, DEVICE, CUdeviceptr, DEVICE, CUdeviceptr)
COPY_ASYNC_API(cuMemcpyAsync, ANY, CUdeviceptr, ANY, CUdeviceptr)
COPY_ASYNC_API(cuMemcpyHtoDAsync_v2, DEVICE, CUdeviceptr, HOST, const void *)
COPY_ASYNC_API(cuMemcpyDtoHAsync_v2, HOST, void *, DEVICE, CUdeviceptr)
COPY_ASYNC_API(cuMemcpyDtoDAsync_v2, DEVICE, CUdeviceptr, DEVICE, CUdeviceptr)

/* Between contexts, which share one memory. */
static CUresult copy_peer(CUstream null, CUstream given, bool is_async, CUdeviceptr to,
                          CUcontext to_given, CUdeviceptr from, CUcontext from_given, size_t bytes)
{
    CUcontext to_ctx, from_ctx;
    CUresult r = pt_cu_current_or(to_given, &to_ctx);
    if (r == CUDA_SUCCESS)
        r = pt_cu_current_or(from_given, &from_ctx);
    return r == CUDA_SUCCESS ? copy_row_in(null, given, is_async, DEVICE, to, to_ctx, DEVICE, from,
                                           from_ctx, bytes)
                             : r;
}

PER_THREAD_API(cuMemcpyPeer, _ptds, copy_peer,
               (CUdeviceptr to, CUcontext to_ctx, CUdeviceptr from, CUcontext from_ctx,
                size_t bytes),
               NULL, false, to, to_ctx, from, from_ctx, bytes)
PER_THREAD_API(cuMemcpyPeerAsync, _ptsz, copy_peer,
               (CUdeviceptr to, CUcontext to_ctx, CUdeviceptr from, CUcontext from_ctx,
                size_t bytes, CUstream stream),
               stream, true, to, to_ctx, from, from_ctx, bytes)

/* ---- boxes ----------------------------------------------------------------------------------- */

/* One side of a CUDA_MEMCPY3D. */
struct corner {
    CUmemorytype type;
    uint64_t host, device;
    CUarray array;
    size_t x, y, z, pitch, height;
    bool is_written;
};
/* Where it is. */
struct place {
    uint8_t *address;
    size_t pitch, slice;
    bool is_pageable;
};

static CUresult place_in_array(const struct corner *c, const CUDA_MEMCPY3D *m, struct place *place)
{
    CUarray a = c->array;
    if (!a)
        return CUDA_ERROR_INVALID_VALUE;
    if (pt_cu_handle_is(a, PT_CU_MIPMAP))
        return CUDA_ERROR_INVALID_VALUE;
    if (!pt_cu_handle_is(a, PT_CU_ARRAY))
        return CUDA_ERROR_INVALID_HANDLE;
    size_t slices = a->descriptor.Depth ? a->descriptor.Depth : 1;
    size_t width = a->columns * a->element_bytes;
    if (c->x > width || m->WidthInBytes > width - c->x || c->y > a->rows ||
        m->Height > a->rows - c->y || c->z > slices || m->Depth > slices - c->z)
        return CUDA_ERROR_INVALID_VALUE;
    *place = (struct place){a->data + c->z * a->slice + c->y * a->pitch + c->x, a->pitch, a->slice,
                            false};
    return CUDA_SUCCESS;
}

static CUresult place_in_memory(const struct corner *c, const CUDA_MEMCPY3D *m, enum side side,
                                struct place *place)
{
    uint64_t base = c->type == CU_MEMORYTYPE_HOST ? c->host : c->device;
    if (c->x > INT32_MAX || m->WidthInBytes > INT32_MAX || c->y > INT32_MAX ||
        m->Height > INT32_MAX || c->z > INT32_MAX ||
        m->Depth > INT32_MAX) /* sums of them do not overflow */
        return CUDA_ERROR_INVALID_VALUE;
    size_t pitch = c->pitch ? c->pitch : c->x + m->WidthInBytes,
           height = c->height ? c->height : c->y + m->Height;
    const size_t most = SIZE_MAX / 4;
    if (pitch < c->x + m->WidthInBytes || (m->Depth > 1 && height < c->y + m->Height) ||
        pitch > INT32_MAX || height > most / pitch || c->y > most / pitch ||
        c->z + m->Depth > most / (pitch * height))
        return CUDA_ERROR_INVALID_VALUE;
    size_t slice = pitch * height, first = c->z * slice + c->y * pitch + c->x;
    size_t bytes = (m->Depth - 1) * slice + (m->Height - 1) * pitch + m->WidthInBytes;
    if (!base || !is_side(side, base + first, bytes, c->is_written))
        return CUDA_ERROR_INVALID_VALUE;
    *place = (struct place){(uint8_t *)(uintptr_t)(base + first), pitch, slice,
                            is_pageable(base + first)};
    return CUDA_SUCCESS;
}

static CUresult find_place(const struct corner *c, const CUDA_MEMCPY3D *m, struct place *place)
{
    switch (c->type) {
    case CU_MEMORYTYPE_HOST:
        return place_in_memory(c, m, HOST, place);
    case CU_MEMORYTYPE_DEVICE:
        return place_in_memory(c, m, DEVICE, place);
    case CU_MEMORYTYPE_UNIFIED:
        return place_in_memory(c, m, ANY, place);
    case CU_MEMORYTYPE_ARRAY:
        return place_in_array(c, m, place);
    }
    return CUDA_ERROR_INVALID_VALUE;
}

/* Blocks are copied whole, and to blocks of their size. */
static bool has_whole_blocks(const struct corner *c, const struct corner *other,
                             const CUDA_MEMCPY3D *m)
{
    bool is_array = c->type == CU_MEMORYTYPE_ARRAY;
    if (!is_array || !pt_cu_array_blocks(c->array->descriptor.Format))
        return true;
    size_t bytes = c->array->element_bytes;
    return c->x % bytes == 0 && m->WidthInBytes % bytes == 0 &&
           (other->type != CU_MEMORYTYPE_ARRAY || other->array->element_bytes == bytes);
}

/* The operation of a copy. One that is empty has no width. */
CUresult pt_cu_copy_op(const CUDA_MEMCPY3D *m, struct pt_cu_op *op, bool *is_pageable)
{
    struct place to, from;
    struct corner source = {
        m->srcMemoryType, (uintptr_t)m->srcHost, m->srcDevice, m->srcArray, m->srcXInBytes, m->srcY,
        m->srcZ,          m->srcPitch,           m->srcHeight, false};
    struct corner target = {
        m->dstMemoryType, (uintptr_t)m->dstHost, m->dstDevice, m->dstArray, m->dstXInBytes, m->dstY,
        m->dstZ,          m->dstPitch,           m->dstHeight, true};
    *op = (struct pt_cu_op){.work = PT_CU_COPY};
    *is_pageable = false;
    if (!m->WidthInBytes || !m->Height || !m->Depth)
        return CUDA_SUCCESS;
    if ((m->srcLOD && m->srcMemoryType == CU_MEMORYTYPE_ARRAY) ||
        (m->dstLOD && m->dstMemoryType == CU_MEMORYTYPE_ARRAY))
        return CUDA_ERROR_INVALID_VALUE;
    CUresult r = find_place(&source, m, &from);
    if (r == CUDA_SUCCESS)
        r = find_place(&target, m, &to);
    if (r == CUDA_SUCCESS &&
        (!has_whole_blocks(&source, &target, m) || !has_whole_blocks(&target, &source, m)))
        r = CUDA_ERROR_INVALID_VALUE;
    if (r != CUDA_SUCCESS)
        return r;
    op->copy = (struct pt_cu_copy){to.address, from.address,    to.pitch,  to.slice, from.pitch,
                                   from.slice, m->WidthInBytes, m->Height, m->Depth};
    *is_pageable = to.is_pageable || from.is_pageable;
    return CUDA_SUCCESS;
}

/* `to` and `from`: the contexts that the call names, or NULL. */
static CUresult copy_box(CUstream null, CUstream given, bool is_async, const CUDA_MEMCPY3D *m,
                         CUcontext to, CUcontext from)
{
    CUstream stream;
    struct pt_cu_op op;
    bool is_pageable;
    CUresult r = pt_cu_stream_find(null, given, &stream);
    if (r == CUDA_SUCCESS)
        r = m ? pt_cu_copy_op(m, &op, &is_pageable) : CUDA_ERROR_INVALID_VALUE;
    if (r != CUDA_SUCCESS || !op.copy.width)
        return r;
    if (!pt_cu_copy_is_granted(&op, to, from))
        return CUDA_ERROR_INVALID_VALUE;
    if (!is_async && stream->capture)
        return pt_cu_capture_forbid(stream);
    return pt_cu_copy_submit(stream, &op, is_async, is_pageable);
}

static CUresult copy_3d(CUstream null, CUstream given, bool is_async, const CUDA_MEMCPY3D *m)
{
    return copy_box(null, given, is_async, m, NULL, NULL);
}

PER_THREAD_API(cuMemcpy3D_v2, _ptds, copy_3d, (const CUDA_MEMCPY3D *copy), NULL, false, copy)
PER_THREAD_API(cuMemcpy3DAsync_v2, _ptsz, copy_3d, (const CUDA_MEMCPY3D *copy, CUstream stream),
               stream, true, copy)

/* The layouts are the same but for the contexts. */
static CUresult copy_3d_peer(CUstream null, CUstream given, bool is_async,
                             const CUDA_MEMCPY3D_PEER *peer)
{
    CUDA_MEMCPY3D copy;
    CUcontext to, from;
    if (!peer)
        return CUDA_ERROR_INVALID_VALUE;
    CUresult r = pt_cu_current_or(peer->srcContext, &from);
    if (r == CUDA_SUCCESS)
        r = pt_cu_current_or(peer->dstContext, &to);
    _Static_assert(sizeof copy == sizeof *peer, "");
    memcpy(&copy, peer, sizeof copy);
    return r == CUDA_SUCCESS ? copy_box(null, given, is_async, &copy, to, from) : r;
}

PER_THREAD_API(cuMemcpy3DPeer, _ptds, copy_3d_peer, (const CUDA_MEMCPY3D_PEER *copy), NULL, false,
               copy)
PER_THREAD_API(cuMemcpy3DPeerAsync, _ptsz, copy_3d_peer,
               (const CUDA_MEMCPY3D_PEER *copy, CUstream stream), stream, true, copy)

static CUresult copy_2d(CUstream null, CUstream given, bool is_async, const CUDA_MEMCPY2D *m)
{
    if (!m)
        return CUDA_ERROR_INVALID_VALUE;
    CUDA_MEMCPY3D copy = {
        .srcXInBytes = m->srcXInBytes,
        .srcY = m->srcY,
        .srcMemoryType = m->srcMemoryType,
        .srcHost = m->srcHost,
        .srcDevice = m->srcDevice,
        .srcArray = m->srcArray,
        .srcPitch = m->srcPitch,
        .dstXInBytes = m->dstXInBytes,
        .dstY = m->dstY,
        .dstMemoryType = m->dstMemoryType,
        .dstHost = m->dstHost,
        .dstDevice = m->dstDevice,
        .dstArray = m->dstArray,
        .dstPitch = m->dstPitch,
        .WidthInBytes = m->WidthInBytes,
        .Height = m->Height,
        .Depth = 1,
    };
    return copy_3d(null, given, is_async, &copy);
}

PER_THREAD_API(cuMemcpy2D_v2, _ptds, copy_2d, (const CUDA_MEMCPY2D *copy), NULL, false, copy)
PER_THREAD_API(cuMemcpy2DUnaligned_v2, _ptds, copy_2d, (const CUDA_MEMCPY2D *copy), NULL, false,
               copy)
PER_THREAD_API(cuMemcpy2DAsync_v2, _ptsz, copy_2d, (const CUDA_MEMCPY2D *copy, CUstream stream),
               stream, true, copy)

/* ---- rows of one-dimensional arrays ---------------------------------------------------------- */

/* An end of a copy: memory, or an offset into an array. */
struct end {
    CUmemorytype type;
    uint64_t address;
    CUarray array;
    size_t offset;
};

static CUresult copy_array(CUstream null, CUstream given, bool is_async, struct end to,
                           struct end from, size_t bytes)
{
    CUDA_MEMCPY3D copy = {
        .srcMemoryType = from.type,
        .srcXInBytes = from.offset,
        .srcHost = (const void *)(uintptr_t)from.address,
        .srcDevice = from.address,
        .srcArray = from.array,
        .dstMemoryType = to.type,
        .dstXInBytes = to.offset,
        .dstHost = (void *)(uintptr_t)to.address,
        .dstDevice = to.address,
        .dstArray = to.array,
        .WidthInBytes = bytes,
        .Height = 1,
        .Depth = 1,
    };
    return copy_3d(null, given, is_async, &copy);
}

#define IN_ARRAY(handle, offset) ((struct end){CU_MEMORYTYPE_ARRAY, 0, (handle), (offset)})
#define ON_DEVICE(address) ((struct end){CU_MEMORYTYPE_DEVICE, (address), NULL, 0})
#define ON_HOST(address) ((struct end){CU_MEMORYTYPE_HOST, (uintptr_t)(address), NULL, 0})

PER_THREAD_API(cuMemcpyDtoA_v2, _ptds, copy_array,
               (CUarray to, size_t offset, CUdeviceptr from, size_t bytes), NULL, false,
               IN_ARRAY(to, offset), ON_DEVICE(from), bytes)
PER_THREAD_API(cuMemcpyAtoD_v2, _ptds, copy_array,
               (CUdeviceptr to, CUarray from, size_t offset, size_t bytes), NULL, false,
               ON_DEVICE(to), IN_ARRAY(from, offset), bytes)
PER_THREAD_API(cuMemcpyHtoA_v2, _ptds, copy_array,
               (CUarray to, size_t offset, const void *from, size_t bytes), NULL, false,
               IN_ARRAY(to, offset), ON_HOST(from), bytes)
PER_THREAD_API(cuMemcpyAtoH_v2, _ptds, copy_array,
               (void *to, CUarray from, size_t offset, size_t bytes), NULL, false, ON_HOST(to),
               IN_ARRAY(from, offset), bytes)
PER_THREAD_API(cuMemcpyAtoA_v2, _ptds, copy_array,
               (CUarray to, size_t to_offset, CUarray from, size_t from_offset, size_t bytes), NULL,
               false, IN_ARRAY(to, to_offset), IN_ARRAY(from, from_offset), bytes)
PER_THREAD_API(cuMemcpyHtoAAsync_v2, _ptsz, copy_array,
               (CUarray to, size_t offset, const void *from, size_t bytes, CUstream stream), stream,
               true, IN_ARRAY(to, offset), ON_HOST(from), bytes)
PER_THREAD_API(cuMemcpyAtoHAsync_v2, _ptsz, copy_array,
               (void *to, CUarray from, size_t offset, size_t bytes, CUstream stream), stream, true,
               ON_HOST(to), IN_ARRAY(from, offset), bytes)

/* ---- setting --------------------------------------------------------------------------------- */

CUresult pt_cu_copy_set_op(const CUDA_MEMSET_NODE_PARAMS *p, struct pt_cu_op *op)
{
    unsigned bytes = p->elementSize;
    const size_t most = SIZE_MAX / 4;
    *op = (struct pt_cu_op){.work = PT_CU_SET};
    if (!p->width || !p->height)
        return CUDA_SUCCESS;
    if ((bytes != 1 && bytes != 2 && bytes != 4) || p->width > most / bytes)
        return CUDA_ERROR_INVALID_VALUE;
    size_t row = p->width * bytes, pitch = p->height > 1 ? p->pitch : row;
    if (p->dst % bytes || pitch < row || pitch % bytes || p->height > most / pitch ||
        !pt_cu_range_is_writable(p->dst, (p->height - 1) * pitch + row))
        return CUDA_ERROR_INVALID_VALUE;
    op->set = (struct pt_cu_set){
        (uint8_t *)(uintptr_t)p->dst, pitch, p->width, p->height, bytes, p->value};
    return CUDA_SUCCESS;
}

/* Asynchronous in both forms, as in CUDA; what follows in the stream sees it. */
static CUresult set(CUstream null, CUstream given, unsigned element_bytes, CUdeviceptr to,
                    size_t pitch, unsigned value, size_t width, size_t height)
{
    CUstream stream;
    struct pt_cu_op op;
    const CUDA_MEMSET_NODE_PARAMS params = {to, pitch, value, element_bytes, width, height};
    CUresult r = pt_cu_stream_find(null, given, &stream);
    if (r == CUDA_SUCCESS)
        r = pt_cu_copy_set_op(&params, &op);
    if (r != CUDA_SUCCESS || !op.set.width)
        return r;
    if (!pt_cu_range_is_reached(pt_cu_range_find(to), stream->ctx->device, stream->ctx->peers,
                                true))
        return CUDA_ERROR_INVALID_VALUE;
    return pt_cu_submit_op(stream, &op);
}

#define SET_API(bits, type)                                                                        \
    PER_THREAD_API(cuMemsetD##bits##_v2, _ptds, set, (CUdeviceptr to, type value, size_t n), NULL, \
                   bits / 8, to, 0, value, n, 1)                                                   \
    PER_THREAD_API(cuMemsetD##bits##Async, _ptsz, set,                                             \
                   (CUdeviceptr to, type value, size_t n, CUstream stream), stream, bits / 8, to,  \
                   0, value, n, 1)                                                                 \
    PER_THREAD_API(cuMemsetD2D##bits##_v2, _ptds, set,                                             \
                   (CUdeviceptr to, size_t pitch, type value, size_t width, size_t height), NULL,  \
                   bits / 8, to, pitch, value, width, height)                                      \
    PER_THREAD_API(                                                                                \
        cuMemsetD2D##bits##Async, _ptsz, set,                                                      \
        (CUdeviceptr to, size_t pitch, type value, size_t width, size_t height, CUstream stream),  \
        stream, bits / 8, to, pitch, value, width, height)
SET_API(8, unsigned char)
SET_API(16, unsigned short)
SET_API(32, unsigned int)
