/* Memory: allocation, copies and sets in one to three dimensions, symbols, what a pointer is. */
#include <string.h>

#include "runtime/cudart/memory.h"
#include "runtime/cudart/array.h"
#include "runtime/cudart/program.h"
#include "runtime/cudart/rt.h"

/* ---- allocation ------------------------------------------------------------------------------ */

static cudaError_t allocate(void **p, size_t bytes)
{
    if (!p)
        return cudaErrorInvalidValue;
    *p = NULL;
    return bytes ? (cudaError_t)cuMemAlloc_v2((CUdeviceptr *)p, bytes) : cudaSuccess;
}

cudaError_t cudaMalloc(void **p, size_t bytes)
{
    return RT_API(allocate(p, bytes));
}

cudaError_t cudaFree(void *p)
{
    return RT_API(p ? cuMemFree_v2((CUdeviceptr)p) : CUDA_SUCCESS);
}

cudaError_t cudaMallocHost(void **p, size_t bytes)
{
    return RT_API(cuMemHostAlloc(p, bytes, 0));
}

cudaError_t cudaFreeHost(void *p)
{
    return RT_API(p ? cuMemFreeHost(p) : CUDA_SUCCESS);
}

static cudaError_t allocate_managed(void **p, size_t bytes, unsigned flags)
{
    if (!p)
        return cudaErrorInvalidValue;
    *p = NULL;
    return bytes ? (cudaError_t)cuMemAllocManaged((CUdeviceptr *)p, bytes, flags) : cudaSuccess;
}

cudaError_t cudaMallocManaged(void **p, size_t bytes, unsigned flags)
{
    return RT_API(allocate_managed(p, bytes, flags));
}

enum { ELEMENT_BYTES = 4 }; /* for the choice of a pitch; the runtime's callers do not say */

static cudaError_t allocate_pitch(void **p, size_t *pitch, size_t width, size_t height)
{
    if (!p || !pitch)
        return cudaErrorInvalidValue;
    *p = NULL;
    *pitch = 0;
    if (!width || !height)
        return cudaSuccess;
    return (cudaError_t)cuMemAllocPitch_v2((CUdeviceptr *)p, pitch, width, height, ELEMENT_BYTES);
}

cudaError_t cudaMallocPitch(void **p, size_t *pitch, size_t width, size_t height)
{
    return RT_API(allocate_pitch(p, pitch, width, height));
}

static cudaError_t allocate_3d(cudaPitchedPtr *p, cudaExtent extent)
{
    size_t height;
    if (!p || __builtin_mul_overflow(extent.height, extent.depth, &height))
        return cudaErrorInvalidValue;
    *p = (cudaPitchedPtr){NULL, 0, extent.width, extent.height};
    return allocate_pitch(&p->ptr, &p->pitch, extent.width, height);
}

cudaError_t cudaMalloc3D(cudaPitchedPtr *p, cudaExtent extent)
{
    return RT_API(allocate_3d(p, extent));
}

/* ---- copies of one dimension ----------------------------------------------------------------- */

static bool is_kind(cudaMemcpyKind kind)
{
    return (unsigned)kind <= cudaMemcpyDefault;
}

/* As the program says by the kind; what it leaves open, and copies between two places of the
 * host, the driver finds out. */
static CUresult copy(void *to, const void *from, size_t bytes, cudaMemcpyKind kind,
                     bool is_per_thread)
{
    CUdeviceptr d = (CUdeviceptr)to, s = (CUdeviceptr)from;
    switch (kind) {
    case cudaMemcpyHostToDevice:
        return (is_per_thread ? cuMemcpyHtoD_v2_ptds : cuMemcpyHtoD_v2)(d, from, bytes);
    case cudaMemcpyDeviceToHost:
        return (is_per_thread ? cuMemcpyDtoH_v2_ptds : cuMemcpyDtoH_v2)(to, s, bytes);
    case cudaMemcpyDeviceToDevice:
        return (is_per_thread ? cuMemcpyDtoD_v2_ptds : cuMemcpyDtoD_v2)(d, s, bytes);
    default:
        return (is_per_thread ? cuMemcpy_ptds : cuMemcpy)(d, s, bytes);
    }
}

static CUresult copy_async(void *to, const void *from, size_t bytes, cudaMemcpyKind kind,
                           CUstream stream)
{
    CUdeviceptr d = (CUdeviceptr)to, s = (CUdeviceptr)from;
    switch (kind) {
    case cudaMemcpyHostToDevice:
        return cuMemcpyHtoDAsync_v2(d, from, bytes, stream);
    case cudaMemcpyDeviceToHost:
        return cuMemcpyDtoHAsync_v2(to, s, bytes, stream);
    case cudaMemcpyDeviceToDevice:
        return cuMemcpyDtoDAsync_v2(d, s, bytes, stream);
    default:
        return cuMemcpyAsync(d, s, bytes, stream);
    }
}

static cudaError_t copy_1d(void *to, const void *from, size_t bytes, cudaMemcpyKind kind,
                           bool is_per_thread)
{
    if (!bytes)
        return cudaSuccess;
    return is_kind(kind) ? (cudaError_t)copy(to, from, bytes, kind, is_per_thread)
                         : cudaErrorInvalidMemcpyDirection;
}

static cudaError_t copy_1d_async(void *to, const void *from, size_t bytes, cudaMemcpyKind kind,
                                 CUstream stream)
{
    if (!bytes)
        return cudaSuccess;
    return is_kind(kind) ? (cudaError_t)copy_async(to, from, bytes, kind, stream)
                         : cudaErrorInvalidMemcpyDirection;
}

cudaError_t cudaMemcpy(void *to, const void *from, size_t bytes, cudaMemcpyKind kind)
{
    return RT_API(copy_1d(to, from, bytes, kind, false));
}

cudaError_t cudaMemcpy_ptds(void *to, const void *from, size_t bytes, cudaMemcpyKind kind)
{
    return RT_API(copy_1d(to, from, bytes, kind, true));
}

cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t bytes, cudaMemcpyKind kind,
                            cudaStream_t stream)
{
    return RT_API(copy_1d_async(to, from, bytes, kind, stream));
}

cudaError_t cudaMemcpyAsync_ptsz(void *to, const void *from, size_t bytes, cudaMemcpyKind kind,
                                 cudaStream_t stream)
{
    return RT_API(copy_1d_async(to, from, bytes, kind, pt_rt_per_thread(stream)));
}

/* Device memory of all devices is in one address space. */
static cudaError_t check_peers(int to_device, int from_device)
{
    return pt_rt_context_check_device(to_device) ?: pt_rt_context_check_device(from_device);
}

cudaError_t cudaMemcpyPeer(void *to, int to_device, const void *from, int from_device, size_t bytes)
{
    return RT_API(check_peers(to_device, from_device)
                      ?: copy_1d(to, from, bytes, cudaMemcpyDefault, false));
}

cudaError_t cudaMemcpyPeerAsync(void *to, int to_device, const void *from, int from_device,
                                size_t bytes, cudaStream_t stream)
{
    return RT_API(check_peers(to_device, from_device)
                      ?: copy_1d_async(to, from, bytes, cudaMemcpyDefault, stream));
}

/* ---- symbols --------------------------------------------------------------------------------- */

cudaError_t pt_rt_memory_place(const void *symbol, size_t offset, size_t bytes, void **place)
{
    CUdeviceptr address;
    size_t size;
    cudaError_t error = pt_rt_program_variable(symbol, &address, &size);
    if (!error && (offset > size || bytes > size - offset))
        error = cudaErrorInvalidValue;
    if (!error)
        *place = (void *)(address + offset);
    return error;
}

/* The body of a copy to or from a variable: `call` uses `place`. */
#define WITH_PLACE(call)                                                            \
    pt_rt_calls_enter(__func__, NULL);                                              \
    void *place;                                                                    \
    cudaError_t error =                                                             \
        pt_rt_context_ready() ?: pt_rt_memory_place(symbol, offset, bytes, &place); \
    return RT_END(error ?: (call))

cudaError_t cudaMemcpyToSymbol(const void *symbol, const void *from, size_t bytes, size_t offset,
                               cudaMemcpyKind kind)
{
    WITH_PLACE(copy_1d(place, from, bytes, kind, false));
}

cudaError_t cudaMemcpyToSymbol_ptds(const void *symbol, const void *from, size_t bytes,
                                    size_t offset, cudaMemcpyKind kind)
{
    WITH_PLACE(copy_1d(place, from, bytes, kind, true));
}

cudaError_t cudaMemcpyFromSymbol(void *to, const void *symbol, size_t bytes, size_t offset,
                                 cudaMemcpyKind kind)
{
    WITH_PLACE(copy_1d(to, place, bytes, kind, false));
}

cudaError_t cudaMemcpyFromSymbol_ptds(void *to, const void *symbol, size_t bytes, size_t offset,
                                      cudaMemcpyKind kind)
{
    WITH_PLACE(copy_1d(to, place, bytes, kind, true));
}

cudaError_t cudaMemcpyToSymbolAsync(const void *symbol, const void *from, size_t bytes,
                                    size_t offset, cudaMemcpyKind kind, cudaStream_t stream)
{
    WITH_PLACE(copy_1d_async(place, from, bytes, kind, stream));
}

cudaError_t cudaMemcpyToSymbolAsync_ptsz(const void *symbol, const void *from, size_t bytes,
                                         size_t offset, cudaMemcpyKind kind, cudaStream_t stream)
{
    WITH_PLACE(copy_1d_async(place, from, bytes, kind, pt_rt_per_thread(stream)));
}

cudaError_t cudaMemcpyFromSymbolAsync(void *to, const void *symbol, size_t bytes, size_t offset,
                                      cudaMemcpyKind kind, cudaStream_t stream)
{
    WITH_PLACE(copy_1d_async(to, place, bytes, kind, stream));
}

cudaError_t cudaMemcpyFromSymbolAsync_ptsz(void *to, const void *symbol, size_t bytes,
                                           size_t offset, cudaMemcpyKind kind, cudaStream_t stream)
{
    WITH_PLACE(copy_1d_async(to, place, bytes, kind, pt_rt_per_thread(stream)));
}

/* ---- copies of two and three dimensions ------------------------------------------------------ */

static CUmemorytype type_of(cudaMemcpyKind kind, bool is_source)
{
    static const CUmemorytype types[][2] = {
        [cudaMemcpyHostToHost] = {CU_MEMORYTYPE_HOST, CU_MEMORYTYPE_HOST},
        [cudaMemcpyHostToDevice] = {CU_MEMORYTYPE_DEVICE, CU_MEMORYTYPE_HOST},
        [cudaMemcpyDeviceToHost] = {CU_MEMORYTYPE_HOST, CU_MEMORYTYPE_DEVICE},
        [cudaMemcpyDeviceToDevice] = {CU_MEMORYTYPE_DEVICE, CU_MEMORYTYPE_DEVICE},
        [cudaMemcpyDefault] = {CU_MEMORYTYPE_UNIFIED, CU_MEMORYTYPE_UNIFIED}};
    return types[kind][is_source];
}

static cudaError_t describe_2d(CUDA_MEMCPY2D *c, void *to, size_t to_pitch, const void *from,
                               size_t from_pitch, size_t width, size_t height, cudaMemcpyKind kind)
{
    if (width > to_pitch || width > from_pitch)
        return cudaErrorInvalidPitchValue;
    if (!width || !height) /* nothing is copied: of whatever kind */
        kind = cudaMemcpyDefault;
    if (!is_kind(kind))
        return cudaErrorInvalidMemcpyDirection;
    *c = (CUDA_MEMCPY2D){.srcMemoryType = type_of(kind, true),
                         .srcHost = from,
                         .srcDevice = (CUdeviceptr)from,
                         .srcPitch = from_pitch,
                         .dstMemoryType = type_of(kind, false),
                         .dstHost = to,
                         .dstDevice = (CUdeviceptr)to,
                         .dstPitch = to_pitch,
                         .WidthInBytes = width,
                         .Height = height};
    return cudaSuccess;
}

cudaError_t cudaMemcpy2D(void *to, size_t to_pitch, const void *from, size_t from_pitch,
                         size_t width, size_t height, cudaMemcpyKind kind)
{
    CUDA_MEMCPY2D c;
    cudaError_t error = describe_2d(&c, to, to_pitch, from, from_pitch, width, height, kind);
    return RT_API(error ?: (cudaError_t)cuMemcpy2DUnaligned_v2(&c));
}

cudaError_t cudaMemcpy2D_ptds(void *to, size_t to_pitch, const void *from, size_t from_pitch,
                              size_t width, size_t height, cudaMemcpyKind kind)
{
    CUDA_MEMCPY2D c;
    cudaError_t error = describe_2d(&c, to, to_pitch, from, from_pitch, width, height, kind);
    return RT_API(error ?: (cudaError_t)cuMemcpy2DUnaligned_v2_ptds(&c));
}

cudaError_t cudaMemcpy2DAsync(void *to, size_t to_pitch, const void *from, size_t from_pitch,
                              size_t width, size_t height, cudaMemcpyKind kind, cudaStream_t stream)
{
    CUDA_MEMCPY2D c;
    cudaError_t error = describe_2d(&c, to, to_pitch, from, from_pitch, width, height, kind);
    return RT_API(error ?: (cudaError_t)cuMemcpy2DAsync_v2(&c, stream));
}

cudaError_t cudaMemcpy2DAsync_ptsz(void *to, size_t to_pitch, const void *from, size_t from_pitch,
                                   size_t width, size_t height, cudaMemcpyKind kind,
                                   cudaStream_t stream)
{
    return cudaMemcpy2DAsync(to, to_pitch, from, from_pitch, width, height, kind,
                             pt_rt_per_thread(stream));
}

static const struct pt_rt_element one_byte = {1, 1};

/* What a copy counts in: the source's elements, or the target's, or bytes; of texels in blocks it
 * takes whole blocks. */
static cudaError_t element_of(const cudaMemcpy3DParms *p, struct pt_rt_element *e)
{
    *e = one_byte;
    return p->srcArray   ? pt_rt_array_element(p->srcArray, e)
           : p->dstArray ? pt_rt_array_element(p->dstArray, e)
                         : cudaSuccess;
}

static cudaError_t check_pitch(const cudaPitchedPtr *memory, const cudaExtent *extent)
{
    bool is_narrow = memory->ptr && extent->height > 1 && memory->pitch < extent->width;
    return is_narrow ? cudaErrorInvalidPitchValue : cudaSuccess;
}

/* There are as many rows as are said, unless that is 0. */
static cudaError_t check_rows(const cudaPitchedPtr *memory, size_t height)
{
    return memory->ptr && memory->ysize && memory->ysize < height ? cudaErrorInvalidValue
                                                                  : cudaSuccess;
}

static size_t blocks_of(size_t texels, const struct pt_rt_element *e)
{
    return texels / e->side + (texels % e->side != 0);
}

/* A place in one end, in bytes and rows: in an array it is counted in texels, in memory in the
 * copy's elements. */
static cudaError_t place_in(cudaArray_t array, const cudaPos *at, const struct pt_rt_element *copys,
                            size_t *x, size_t *y)
{
    struct pt_rt_element e = {copys->bytes, 1};
    cudaError_t error = array ? pt_rt_array_element(array, &e) : cudaSuccess;
    *x = at->x / e.side * e.bytes;
    *y = at->y / e.side;
    return error;
}

cudaError_t pt_rt_memory_copy_3d(const cudaMemcpy3DParms *p, CUDA_MEMCPY3D *c)
{
    if (!p)
        return cudaErrorInvalidValue;
    if (!is_kind(p->kind))
        return cudaErrorInvalidMemcpyDirection;
    if ((p->srcArray && p->srcPtr.ptr) || (p->dstArray && p->dstPtr.ptr))
        return cudaErrorInvalidValue;
    struct pt_rt_element e = one_byte;
    cudaError_t error = check_pitch(&p->srcPtr, &p->extent)
                            ?: check_pitch(&p->dstPtr, &p->extent) ?: element_of(p, &e);
    size_t width, height = blocks_of(p->extent.height, &e);
    error = error ?: check_rows(&p->srcPtr, height) ?: check_rows(&p->dstPtr, height);
    if (!error && __builtin_mul_overflow(blocks_of(p->extent.width, &e), e.bytes, &width))
        error = cudaErrorInvalidValue;
    if (error)
        return error;
    *c = (CUDA_MEMCPY3D){
        .srcZ = p->srcPos.z,
        .srcMemoryType = p->srcArray ? CU_MEMORYTYPE_ARRAY : type_of(p->kind, true),
        .srcArray = p->srcArray,
        .srcHost = p->srcPtr.ptr,
        .srcDevice = (CUdeviceptr)p->srcPtr.ptr,
        .srcPitch = p->srcPtr.pitch,
        .srcHeight = p->srcPtr.ysize,
        .dstZ = p->dstPos.z,
        .dstMemoryType = p->dstArray ? CU_MEMORYTYPE_ARRAY : type_of(p->kind, false),
        .dstArray = p->dstArray,
        .dstHost = p->dstPtr.ptr,
        .dstDevice = (CUdeviceptr)p->dstPtr.ptr,
        .dstPitch = p->dstPtr.pitch,
        .dstHeight = p->dstPtr.ysize,
        .WidthInBytes = width,
        .Height = height,
        .Depth = p->extent.depth};
    return place_in(p->srcArray, &p->srcPos, &e, &c->srcXInBytes, &c->srcY)
               ?: place_in(p->dstArray, &p->dstPos, &e, &c->dstXInBytes, &c->dstY);
}

static cudaMemcpyKind kind_of(CUmemorytype to, CUmemorytype from)
{
    for (int kind = cudaMemcpyHostToHost; kind < cudaMemcpyDefault; kind++)
        if (type_of(kind, false) == to && type_of(kind, true) == from)
            return (cudaMemcpyKind)kind;
    return cudaMemcpyDefault;
}

static cudaPos place_back(cudaArray_t array, const struct pt_rt_element *copys, size_t x, size_t y,
                          size_t z)
{
    struct pt_rt_element e = {copys->bytes, 1};
    if (array)
        pt_rt_array_element(array, &e);
    return (cudaPos){x / e.bytes * e.side, y * e.side, z};
}

/* How much of a row there is, the driver does not keep: it is 0 in NVIDIA's library, too. */
void pt_rt_memory_copy_3d_back(const CUDA_MEMCPY3D *c, cudaMemcpy3DParms *p)
{
    const void *from = c->srcMemoryType == CU_MEMORYTYPE_HOST ? c->srcHost : (void *)c->srcDevice;
    void *to = c->dstMemoryType == CU_MEMORYTYPE_HOST ? c->dstHost : (void *)c->dstDevice;
    struct pt_rt_element e;
    *p = (cudaMemcpy3DParms){.kind = kind_of(c->dstMemoryType, c->srcMemoryType)};
    if (c->srcMemoryType == CU_MEMORYTYPE_ARRAY)
        p->srcArray = c->srcArray;
    else
        p->srcPtr = (cudaPitchedPtr){(void *)from, c->srcPitch, 0, c->srcHeight};
    if (c->dstMemoryType == CU_MEMORYTYPE_ARRAY)
        p->dstArray = c->dstArray;
    else
        p->dstPtr = (cudaPitchedPtr){to, c->dstPitch, 0, c->dstHeight};
    if (element_of(p, &e))
        e = one_byte;
    p->srcPos = place_back(p->srcArray, &e, c->srcXInBytes, c->srcY, c->srcZ);
    p->dstPos = place_back(p->dstArray, &e, c->dstXInBytes, c->dstY, c->dstZ);
    p->extent = (cudaExtent){c->WidthInBytes / e.bytes * e.side, c->Height * e.side, c->Depth};
}

cudaError_t cudaMemcpy3D(const cudaMemcpy3DParms *p)
{
    CUDA_MEMCPY3D c;
    cudaError_t error = pt_rt_memory_copy_3d(p, &c);
    return RT_API(error ?: (cudaError_t)cuMemcpy3D_v2(&c));
}

cudaError_t cudaMemcpy3D_ptds(const cudaMemcpy3DParms *p)
{
    CUDA_MEMCPY3D c;
    cudaError_t error = pt_rt_memory_copy_3d(p, &c);
    return RT_API(error ?: (cudaError_t)cuMemcpy3D_v2_ptds(&c));
}

cudaError_t cudaMemcpy3DAsync(const cudaMemcpy3DParms *p, cudaStream_t stream)
{
    CUDA_MEMCPY3D c;
    cudaError_t error = pt_rt_memory_copy_3d(p, &c);
    return RT_API(error ?: (cudaError_t)cuMemcpy3DAsync_v2(&c, stream));
}

cudaError_t cudaMemcpy3DAsync_ptsz(const cudaMemcpy3DParms *p, cudaStream_t stream)
{
    return cudaMemcpy3DAsync(p, pt_rt_per_thread(stream));
}

static cudaError_t describe_peers(const cudaMemcpy3DPeerParms *p, CUDA_MEMCPY3D_PEER *peer)
{
    CUDA_MEMCPY3D copy;
    if (!p)
        return cudaErrorInvalidValue;
    const cudaMemcpy3DParms alone = {p->srcArray, p->srcPos, p->srcPtr, p->dstArray,
                                     p->dstPos,   p->dstPtr, p->extent, cudaMemcpyDefault};
    cudaError_t error =
        check_peers(p->dstDevice, p->srcDevice) ?: pt_rt_memory_copy_3d(&alone, &copy);
    if (error)
        return error;
    _Static_assert(sizeof copy == sizeof *peer, "");
    memcpy(peer, &copy, sizeof copy); /* the layouts are the same but for the contexts */
    return pt_rt_context_get(p->srcDevice, &peer->srcContext)
               ?: pt_rt_context_get(p->dstDevice, &peer->dstContext);
}

/* `call` with the description `peer` of a copy between devices. */
#define WITH_PEERS(call)                                                   \
    pt_rt_calls_enter(__func__, NULL);                                     \
    CUDA_MEMCPY3D_PEER peer;                                               \
    cudaError_t error = pt_rt_context_ready() ?: describe_peers(p, &peer); \
    return RT_END(error ?: (cudaError_t)(call))

cudaError_t cudaMemcpy3DPeer(const cudaMemcpy3DPeerParms *p)
{
    WITH_PEERS(cuMemcpy3DPeer(&peer));
}

cudaError_t cudaMemcpy3DPeer_ptds(const cudaMemcpy3DPeerParms *p)
{
    WITH_PEERS(cuMemcpy3DPeer_ptds(&peer));
}

cudaError_t cudaMemcpy3DPeerAsync(const cudaMemcpy3DPeerParms *p, cudaStream_t stream)
{
    WITH_PEERS(cuMemcpy3DPeerAsync(&peer, stream));
}

cudaError_t cudaMemcpy3DPeerAsync_ptsz(const cudaMemcpy3DPeerParms *p, cudaStream_t stream)
{
    return cudaMemcpy3DPeerAsync(p, pt_rt_per_thread(stream));
}

/* ---- sets ------------------------------------------------------------------------------------ */

cudaError_t cudaMemset(void *p, int value, size_t bytes)
{
    return RT_API(bytes ? cuMemsetD8_v2((CUdeviceptr)p, (unsigned char)value, bytes)
                        : CUDA_SUCCESS);
}

cudaError_t cudaMemset_ptds(void *p, int value, size_t bytes)
{
    return RT_API(bytes ? cuMemsetD8_v2_ptds((CUdeviceptr)p, (unsigned char)value, bytes)
                        : CUDA_SUCCESS);
}

cudaError_t cudaMemsetAsync(void *p, int value, size_t bytes, cudaStream_t stream)
{
    return RT_API(bytes ? cuMemsetD8Async((CUdeviceptr)p, (unsigned char)value, bytes, stream)
                        : CUDA_SUCCESS);
}

cudaError_t cudaMemsetAsync_ptsz(void *p, int value, size_t bytes, cudaStream_t stream)
{
    return cudaMemsetAsync(p, value, bytes, pt_rt_per_thread(stream));
}

cudaError_t cudaMemset2D(void *p, size_t pitch, int value, size_t width, size_t height)
{
    return RT_API(cuMemsetD2D8_v2((CUdeviceptr)p, pitch, (unsigned char)value, width, height));
}

cudaError_t cudaMemset2D_ptds(void *p, size_t pitch, int value, size_t width, size_t height)
{
    return RT_API(cuMemsetD2D8_v2_ptds((CUdeviceptr)p, pitch, (unsigned char)value, width, height));
}

cudaError_t cudaMemset2DAsync(void *p, size_t pitch, int value, size_t width, size_t height,
                              cudaStream_t stream)
{
    return RT_API(
        cuMemsetD2D8Async((CUdeviceptr)p, pitch, (unsigned char)value, width, height, stream));
}

cudaError_t cudaMemset2DAsync_ptsz(void *p, size_t pitch, int value, size_t width, size_t height,
                                   cudaStream_t stream)
{
    return cudaMemset2DAsync(p, pitch, value, width, height, pt_rt_per_thread(stream));
}

/* Slices follow each other at ysize rows, of which `extent.height` are set. */
static cudaError_t set_3d(cudaPitchedPtr p, int value, cudaExtent extent, CUstream stream)
{
    for (size_t z = 0; z < extent.depth; z++) {
        CUresult r = cuMemsetD2D8Async((CUdeviceptr)p.ptr + z * p.pitch * p.ysize, p.pitch,
                                       (unsigned char)value, extent.width, extent.height, stream);
        if (r != CUDA_SUCCESS)
            return (cudaError_t)r;
    }
    return cudaSuccess;
}

cudaError_t cudaMemset3DAsync(cudaPitchedPtr p, int value, cudaExtent extent, cudaStream_t stream)
{
    return RT_API(set_3d(p, value, extent, stream));
}

cudaError_t cudaMemset3DAsync_ptsz(cudaPitchedPtr p, int value, cudaExtent extent,
                                   cudaStream_t stream)
{
    return cudaMemset3DAsync(p, value, extent, pt_rt_per_thread(stream));
}

cudaError_t cudaMemset3D(cudaPitchedPtr p, int value, cudaExtent extent)
{
    return RT_API(set_3d(p, value, extent, NULL) ?: (cudaError_t)cuStreamSynchronize(NULL));
}

cudaError_t cudaMemset3D_ptds(cudaPitchedPtr p, int value, cudaExtent extent)
{
    return RT_API(set_3d(p, value, extent, CU_STREAM_PER_THREAD)
                      ?: (cudaError_t)cuStreamSynchronize(CU_STREAM_PER_THREAD));
}

/* ---- pointers -------------------------------------------------------------------------------- */

CUresult cuPointerGetAttributes(unsigned, CUpointer_attribute *, void **, CUdeviceptr);

static cudaError_t get_pointer(cudaPointerAttributes *to, const void *p)
{
    unsigned type = 0, is_managed = 0;
    int device = CU_DEVICE_INVALID;
    void *on_device = NULL, *on_host = NULL;
    CUpointer_attribute names[] = {
        CU_POINTER_ATTRIBUTE_MEMORY_TYPE, CU_POINTER_ATTRIBUTE_IS_MANAGED,
        CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, CU_POINTER_ATTRIBUTE_DEVICE_POINTER,
        CU_POINTER_ATTRIBUTE_HOST_POINTER};
    void *values[] = {&type, &is_managed, &device, &on_device, &on_host};
    if (!to)
        return cudaErrorInvalidValue;
    CUresult r =
        cuPointerGetAttributes(sizeof names / sizeof *names, names, values, (CUdeviceptr)p);
    if (r != CUDA_SUCCESS)
        return (cudaError_t)r;
    memset(to, 0, sizeof *to);
    to->type = is_managed                     ? cudaMemoryTypeManaged
               : type == CU_MEMORYTYPE_HOST   ? cudaMemoryTypeHost
               : type == CU_MEMORYTYPE_DEVICE ? cudaMemoryTypeDevice
                                              : cudaMemoryTypeUnregistered;
    to->device = to->type == cudaMemoryTypeUnregistered ? CU_DEVICE_INVALID : device;
    to->devicePointer = on_device;
    /* Of memory that the driver does not know, the pointer itself. */
    to->hostPointer = to->type == cudaMemoryTypeUnregistered ? (void *)p : on_host;
    return cudaSuccess;
}

cudaError_t cudaPointerGetAttributes(cudaPointerAttributes *attributes, const void *p)
{
    return RT_API(get_pointer(attributes, p));
}
