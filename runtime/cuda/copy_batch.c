/* Copies in batches. Each copy is one in the stream's order, which is stricter than CUDA's: those
 * of a batch may be made in any order. As in CUDA the copies in front of one that is wrong are
 * made. */
#include <stdbool.h>

#include "runtime/cuda/array.h"
#include "runtime/cuda/context_list.h"
#include "runtime/cuda/copy.h"
#include "runtime/cuda/current.h"
#include "runtime/cuda/device.h"
#include "runtime/cuda/entry.h"
#include "runtime/cuda/handle.h"
#include "runtime/cuda/op.h"
#include "runtime/cuda/stream.h"

/* A stream that is no default one for all threads. A capture has no batches, and goes on. */
static CUresult find_stream(CUstream null, CUstream given, CUstream *stream)
{
    CUresult r = pt_cu_stream_find(null, given, stream);
    if (r == CUDA_SUCCESS && *stream == (*stream)->ctx->null_stream)
        r = CUDA_ERROR_INVALID_VALUE;
    if (r == CUDA_SUCCESS && (*stream)->capture)
        r = CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
    return r;
}

static bool is_way(CUmemcpySrcAccessOrder order, unsigned flags)
{
    return order >= CU_MEMCPY_SRC_ACCESS_ORDER_STREAM && order <= CU_MEMCPY_SRC_ACCESS_ORDER_ANY &&
           !(flags & ~(unsigned)CU_MEMCPY_FLAG_PREFER_OVERLAP_WITH_COMPUTE);
}

/* The source may change as soon as the call is back. */
static bool is_async(CUmemcpySrcAccessOrder order)
{
    return order != CU_MEMCPY_SRC_ACCESS_ORDER_DURING_API_CALL;
}

/* ---- rows ------------------------------------------------------------------------------------ */

static bool is_place(const CUmemLocation *place)
{
    return place->type <= CU_MEM_LOCATION_TYPE_HOST_NUMA_CURRENT &&
           (place->type != CU_MEM_LOCATION_TYPE_DEVICE || pt_cu_device_is_valid(place->id));
}

/* Attributes hold from one copy to the next that others begin with: `at` ascends from 0. */
static bool are_attributes(const CUmemcpyAttributes *a, const size_t *at, size_t n, size_t copies)
{
    if (!a || !at || !n || n > copies || at[0] != 0)
        return false;
    for (size_t i = 0; i < n; i++)
        if (at[i] >= copies || (i && at[i] <= at[i - 1]) ||
            !is_way(a[i].srcAccessOrder, a[i].flags) || !is_place(&a[i].srcLocHint) ||
            !is_place(&a[i].dstLocHint))
            return false;
    return true;
}

struct rows {
    CUdeviceptr *to, *from;
    size_t *bytes, n;
    CUmemcpyAttributes *attributes;
    size_t *at, n_attributes;
};

/* *failed: which copy is wrong; SIZE_MAX: none alone. */
static CUresult copy_rows(CUstream null, CUstream given, struct rows b, size_t *failed)
{
    CUstream stream;
    size_t ignored;
    failed = failed ? failed : &ignored;
    *failed = SIZE_MAX;
    CUresult r = find_stream(null, given, &stream);
    if (r == CUDA_SUCCESS && (!b.to || !b.from || !b.bytes || !b.n ||
                              !are_attributes(b.attributes, b.at, b.n_attributes, b.n)))
        r = CUDA_ERROR_INVALID_VALUE;
    for (size_t i = 0, k = 0; r == CUDA_SUCCESS && i < b.n; i++) {
        struct pt_cu_op op;
        bool is_pageable;
        if (k + 1 < b.n_attributes && b.at[k + 1] == i)
            k++;
        r = b.bytes[i] ? pt_cu_copy_row_op(b.to[i], b.from[i], b.bytes[i], &op, &is_pageable)
                       : CUDA_ERROR_INVALID_VALUE;
        if (r == CUDA_SUCCESS)
            r = pt_cu_copy_submit(stream, &op, is_async(b.attributes[k].srcAccessOrder),
                                  is_pageable);
        if (r != CUDA_SUCCESS)
            *failed = i;
    }
    return r;
}

#define ROWS ((struct rows){to, from, bytes, n, attributes, at, n_attributes})
PER_THREAD_API(cuMemcpyBatchAsync, _ptsz, copy_rows,
               (CUdeviceptr * to, CUdeviceptr *from, size_t *bytes, size_t n,
                CUmemcpyAttributes *attributes, size_t *at, size_t n_attributes, size_t *failed,
                CUstream stream),
               stream, ROWS, failed)
PER_THREAD_API(cuMemcpyBatchAsync_v2, _ptsz, copy_rows,
               (CUdeviceptr * to, CUdeviceptr *from, size_t *bytes, size_t n,
                CUmemcpyAttributes *attributes, size_t *at, size_t n_attributes, CUstream stream),
               stream, ROWS, NULL)

/* ---- boxes ----------------------------------------------------------------------------------- */

/* One side of a copy, whose pitch is in bytes, or an array. */
struct side {
    CUmemorytype type;
    CUdeviceptr address;
    CUarray array;
    CUoffset3D at;
    size_t pitch, height;
};

static bool find_side(const CUmemcpy3DOperand *o, const CUextent3D *extent, size_t element,
                      struct side *side)
{
    size_t row = o->op.ptr.rowLength ? o->op.ptr.rowLength : extent->width;
    size_t height = o->op.ptr.layerHeight ? o->op.ptr.layerHeight : extent->height;
    if (o->type == CU_MEMCPY_OPERAND_TYPE_ARRAY) {
        *side = (struct side){.type = CU_MEMORYTYPE_ARRAY, .array = o->op.array.array};
        side->at = o->op.array.offset;
        return o->op.array.offset.x <= INT32_MAX;
    }
    *side = (struct side){.type = CU_MEMORYTYPE_UNIFIED, .address = o->op.ptr.ptr};
    side->pitch = row * element;
    side->height = height;
    return o->type == CU_MEMCPY_OPERAND_TYPE_POINTER && row <= INT32_MAX && row >= extent->width &&
           height >= extent->height;
}

/* What widths and offsets count: elements of the array that takes part, else bytes. 0: the handle
 * is wild, or two arrays have elements of different size. */
static size_t element_of(const CUDA_MEMCPY3D_BATCH_OP *b)
{
    const CUmemcpy3DOperand *sides[] = {&b->src, &b->dst};
    size_t element = 0;
    for (int i = 0; i < 2; i++) {
        if (sides[i]->type != CU_MEMCPY_OPERAND_TYPE_ARRAY)
            continue;
        CUarray a = sides[i]->op.array.array;
        if (!pt_cu_handle_is(a, PT_CU_ARRAY) || (element && element != a->element_bytes))
            return 0;
        element = a->element_bytes;
    }
    return element ? element : 1;
}

static CUresult box_op(const CUDA_MEMCPY3D_BATCH_OP *b, struct pt_cu_op *op, bool *is_pageable)
{
    struct side from, to;
    const CUextent3D *e = &b->extent;
    size_t element = element_of(b);
    if (!element || !e->width || !e->height || !e->depth || e->width > INT32_MAX ||
        !is_way(b->srcAccessOrder, b->flags) || !find_side(&b->src, e, element, &from) ||
        !find_side(&b->dst, e, element, &to))
        return CUDA_ERROR_INVALID_VALUE;
    const CUDA_MEMCPY3D copy = {
        .srcXInBytes = from.at.x * element,
        .srcY = from.at.y,
        .srcZ = from.at.z,
        .srcMemoryType = from.type,
        .srcDevice = from.address,
        .srcArray = from.array,
        .srcPitch = from.pitch,
        .srcHeight = from.height,
        .dstXInBytes = to.at.x * element,
        .dstY = to.at.y,
        .dstZ = to.at.z,
        .dstMemoryType = to.type,
        .dstDevice = to.address,
        .dstArray = to.array,
        .dstPitch = to.pitch,
        .dstHeight = to.height,
        .WidthInBytes = e->width * element,
        .Height = e->height,
        .Depth = e->depth,
    };
    return pt_cu_copy_op(&copy, op, is_pageable);
}

static CUresult copy_boxes(CUstream null, CUstream given, const CUDA_MEMCPY3D_BATCH_OP *boxes,
                           size_t n, unsigned long long flags, size_t *failed)
{
    CUstream stream;
    size_t ignored;
    failed = failed ? failed : &ignored;
    *failed = SIZE_MAX;
    CUresult r = find_stream(null, given, &stream);
    if (r == CUDA_SUCCESS && (!boxes || !n || flags))
        r = CUDA_ERROR_INVALID_VALUE;
    for (size_t i = 0; r == CUDA_SUCCESS && i < n; i++) {
        struct pt_cu_op op;
        bool is_pageable;
        r = box_op(&boxes[i], &op, &is_pageable);
        if (r == CUDA_SUCCESS)
            r = pt_cu_copy_submit(stream, &op, is_async(boxes[i].srcAccessOrder), is_pageable);
        if (r != CUDA_SUCCESS)
            *failed = i;
    }
    return r;
}

PER_THREAD_API(cuMemcpy3DBatchAsync, _ptsz, copy_boxes,
               (size_t n, CUDA_MEMCPY3D_BATCH_OP *boxes, size_t *failed, unsigned long long flags,
                CUstream stream),
               stream, boxes, n, flags, failed)
PER_THREAD_API(cuMemcpy3DBatchAsync_v2, _ptsz, copy_boxes,
               (size_t n, CUDA_MEMCPY3D_BATCH_OP *boxes, unsigned long long flags, CUstream stream),
               stream, boxes, n, flags, NULL)
