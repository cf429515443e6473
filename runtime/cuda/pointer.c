/* What the driver knows of an address, and what programs advise about managed memory. */
#include <string.h>

#include "runtime/cuda/capture.h"
#include "runtime/cuda/context_list.h"
#include "runtime/cuda/current.h"
#include "runtime/cuda/device.h"
#include "runtime/cuda/entry.h"
#include "runtime/cuda/range.h"
#include "runtime/cuda/stream.h"

/* ---- attributes of pointers ------------------------------------------------------------------ */

static bool is_host_kind(const struct pt_cu_range *r)
{
    return r->memory == PT_CU_HOST || r->memory == PT_CU_REGISTERED;
}

/* An attribute's value: `bytes` of it. Those of an address that is not known are 0, or -1 where 0
 * would be a device. */
struct value {
    uint64_t bits;
    size_t bytes;
};

static CUresult attribute_of(const struct pt_cu_range *r, CUdeviceptr address,
                             CUpointer_attribute attribute, struct value *value)
{
    switch (attribute) {
    case CU_POINTER_ATTRIBUTE_CONTEXT:
        *value = (struct value){r ? (uintptr_t)r->ctx : 0, sizeof(CUcontext)};
        break;
    case CU_POINTER_ATTRIBUTE_MEMORY_TYPE:
        *value = (struct value){!r                ? 0
                                : is_host_kind(r) ? CU_MEMORYTYPE_HOST
                                                  : CU_MEMORYTYPE_DEVICE,
                                sizeof(unsigned)};
        break;
    case CU_POINTER_ATTRIBUTE_DEVICE_POINTER:
        *value = (struct value){r ? address : 0, sizeof(CUdeviceptr)};
        break;
    case CU_POINTER_ATTRIBUTE_HOST_POINTER:
        *value = (struct value){r && (is_host_kind(r) || r->memory == PT_CU_MANAGED) ? address : 0,
                                sizeof(void *)};
        return r && !value->bits ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_SYNC_MEMOPS:
        *value = (struct value){r && r->sync_memops, sizeof(int)};
        break;
    case CU_POINTER_ATTRIBUTE_BUFFER_ID:
    case CU_POINTER_ATTRIBUTE_MEMORY_BLOCK_ID:
        *value = (struct value){r ? r->id : 0, sizeof(uint64_t)};
        break;
    case CU_POINTER_ATTRIBUTE_IS_MANAGED:
        *value = (struct value){r && r->memory == PT_CU_MANAGED, sizeof(int)};
        break;
    case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL:
        *value = (struct value){r ? (uint32_t)r->device : (uint32_t)CU_DEVICE_INVALID, sizeof(int)};
        break;
    case CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE:
        *value = (struct value){r && r->memory == PT_CU_DEVICE, sizeof(int)};
        break;
    case CU_POINTER_ATTRIBUTE_RANGE_START_ADDR:
    case CU_POINTER_ATTRIBUTE_MAPPING_BASE_ADDR:
        *value = (struct value){r ? r->first : 0, sizeof(CUdeviceptr)};
        break;
    case CU_POINTER_ATTRIBUTE_RANGE_SIZE:
    case CU_POINTER_ATTRIBUTE_MAPPING_SIZE:
        *value = (struct value){r ? r->bytes : 0, sizeof(size_t)};
        break;
    case CU_POINTER_ATTRIBUTE_MAPPED:
        *value = (struct value){r != NULL, sizeof(int)};
        break;
    case CU_POINTER_ATTRIBUTE_ALLOWED_HANDLE_TYPES:
        *value = (struct value){
            r && r->memory == PT_CU_MAPPED ? CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR : 0,
            sizeof(uint64_t)};
        break;
    case CU_POINTER_ATTRIBUTE_IS_GPU_DIRECT_RDMA_CAPABLE:
    case CU_POINTER_ATTRIBUTE_IS_HW_DECOMPRESS_CAPABLE:
        *value = (struct value){0, sizeof(int)};
        break;
    case CU_POINTER_ATTRIBUTE_ACCESS_FLAGS:
        *value = (struct value){
            r ? CU_MEM_ACCESS_FLAGS_PROT_READWRITE : CU_MEM_ACCESS_FLAGS_PROT_NONE, sizeof(int)};
        break;
    case CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE:
        *value = (struct value){
            r && (r->memory == PT_CU_POOLED || r->memory == PT_CU_IMPORTED) ? (uintptr_t)r->owner
                                                                            : 0,
            sizeof(CUmemoryPool)};
        break;
    case CU_POINTER_ATTRIBUTE_P2P_TOKENS:
        return CUDA_ERROR_NOT_SUPPORTED;
    default:
        return CUDA_ERROR_INVALID_VALUE;
    }
    return CUDA_SUCCESS;
}

static CUresult get_attribute(void *data, CUpointer_attribute attribute, CUdeviceptr address)
{
    CUcontext ctx;
    struct value value;
    CUresult r = pt_cu_current_get(&ctx);
    if (r != CUDA_SUCCESS)
        return r;
    const struct pt_cu_range *range = pt_cu_range_find(address);
    if (!data || !range)
        return CUDA_ERROR_INVALID_VALUE;
    r = attribute_of(range, address, attribute, &value);
    if (r == CUDA_SUCCESS)
        memcpy(data, &value.bits, value.bytes);
    return r;
}

CUresult cuPointerGetAttribute(void *data, CUpointer_attribute attribute, CUdeviceptr address)
{
    return API(get_attribute(data, attribute, address));
}

/* Several at once: what an address does not have is 0, without an error. */
static CUresult get_attributes(unsigned n, const CUpointer_attribute *attributes, void **data,
                               CUdeviceptr address)
{
    CUcontext ctx;
    CUresult r = pt_cu_current_get(&ctx);
    if (r != CUDA_SUCCESS)
        return r;
    if (!n || !attributes || !data)
        return CUDA_ERROR_INVALID_VALUE;
    const struct pt_cu_range *range = pt_cu_range_find(address);
    for (unsigned i = 0; i < n; i++) {
        struct value value = {0};
        r = attribute_of(range, address, attributes[i], &value);
        if (!value.bytes)
            return r;
        if (data[i])
            memcpy(data[i], &value.bits, value.bytes);
    }
    return CUDA_SUCCESS;
}

CUresult cuPointerGetAttributes(unsigned n, CUpointer_attribute *attributes, void **data,
                                CUdeviceptr address)
{
    return API(get_attributes(n, attributes, data, address));
}

static CUresult set_attribute(const void *value, CUpointer_attribute attribute, CUdeviceptr address)
{
    CUcontext ctx;
    CUresult r = pt_cu_current_get(&ctx);
    if (r != CUDA_SUCCESS)
        return r;
    struct pt_cu_range *range = pt_cu_range_find(address);
    int flag;
    if (!value || !range || attribute != CU_POINTER_ATTRIBUTE_SYNC_MEMOPS)
        return CUDA_ERROR_INVALID_VALUE;
    memcpy(&flag, value, sizeof flag);
    range->sync_memops = flag != 0;
    return CUDA_SUCCESS;
}

CUresult cuPointerSetAttribute(const void *value, CUpointer_attribute attribute,
                               CUdeviceptr address)
{
    return API(set_attribute(value, attribute, address));
}

static CUresult address_range(CUdeviceptr *base, size_t *bytes, CUdeviceptr address)
{
    CUcontext ctx;
    CUresult r = pt_cu_current_get(&ctx);
    if (r != CUDA_SUCCESS)
        return r;
    const struct pt_cu_range *range = pt_cu_range_find(address);
    if (base)
        *base = range ? range->first : 0;
    if (bytes)
        *bytes = range ? range->bytes : 0;
    return range ? CUDA_SUCCESS : CUDA_ERROR_NOT_FOUND;
}

CUresult cuMemGetAddressRange_v2(CUdeviceptr *base, size_t *bytes, CUdeviceptr address)
{
    return API(address_range(base, bytes, address));
}

/* ---- managed memory -------------------------------------------------------------------------- */

enum { HOST_BIT = 63 };

/* The range that is meant, if it is managed and holds all of it. */
static CUresult find_managed(CUdeviceptr address, size_t bytes, struct pt_cu_range **range)
{
    CUcontext ctx;
    CUresult r = pt_cu_current_get(&ctx);
    if (r != CUDA_SUCCESS)
        return r;
    *range = pt_cu_range_find(address);
    bool is_one = bytes && *range && (*range)->memory == PT_CU_MANAGED &&
                  pt_cu_range_is_usable(address, bytes);
    return is_one ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

static bool is_location(CUmemLocation l)
{
    if (l.type == CU_MEM_LOCATION_TYPE_DEVICE)
        return pt_cu_device_is_valid(l.id);
    return l.type == CU_MEM_LOCATION_TYPE_HOST || l.type == CU_MEM_LOCATION_TYPE_HOST_NUMA ||
           l.type == CU_MEM_LOCATION_TYPE_HOST_NUMA_CURRENT;
}

/* How the older calls name a place. */
static CUmemLocation of_device(CUdevice device)
{
    return device == CU_DEVICE_CPU ? (CUmemLocation){CU_MEM_LOCATION_TYPE_HOST, 0}
                                   : (CUmemLocation){CU_MEM_LOCATION_TYPE_DEVICE, device};
}

static uint64_t bit_of(CUmemLocation l)
{
    return UINT64_C(1) << (l.type == CU_MEM_LOCATION_TYPE_DEVICE ? l.id : HOST_BIT);
}

/* Advice is kept for the whole range, and told again; memory that is everybody's needs none. */
static CUresult advise(CUdeviceptr address, size_t bytes, CUmem_advise advice,
                       CUmemLocation location)
{
    struct pt_cu_range *range;
    CUresult r = find_managed(address, bytes, &range);
    if (r != CUDA_SUCCESS)
        return r;
    bool has_place = advice == CU_MEM_ADVISE_SET_PREFERRED_LOCATION ||
                     advice == CU_MEM_ADVISE_SET_ACCESSED_BY ||
                     advice == CU_MEM_ADVISE_UNSET_ACCESSED_BY;
    if (has_place && !is_location(location))
        return CUDA_ERROR_INVALID_VALUE;
    switch (advice) {
    case CU_MEM_ADVISE_SET_READ_MOSTLY:
    case CU_MEM_ADVISE_UNSET_READ_MOSTLY:
        range->is_read_mostly = advice == CU_MEM_ADVISE_SET_READ_MOSTLY;
        break;
    case CU_MEM_ADVISE_SET_PREFERRED_LOCATION:
        range->preferred = location;
        break;
    case CU_MEM_ADVISE_UNSET_PREFERRED_LOCATION:
        range->preferred = (CUmemLocation){0};
        break;
    case CU_MEM_ADVISE_SET_ACCESSED_BY:
        range->accessed_by |= bit_of(location);
        break;
    case CU_MEM_ADVISE_UNSET_ACCESSED_BY:
        range->accessed_by &= ~bit_of(location);
        break;
    default:
        return CUDA_ERROR_INVALID_VALUE;
    }
    return CUDA_SUCCESS;
}

CUresult cuMemAdvise(CUdeviceptr address, size_t bytes, CUmem_advise advice, CUdevice device)
{
    return API(advise(address, bytes, advice, of_device(device)));
}

CUresult cuMemAdvise_v2(CUdeviceptr address, size_t bytes, CUmem_advise advice,
                        CUmemLocation location)
{
    return API(advise(address, bytes, advice, location));
}

static CUresult prefetch(CUstream null, CUstream given, CUdeviceptr address, size_t bytes,
                         CUmemLocation location, unsigned flags)
{
    CUstream stream;
    struct pt_cu_range *range;
    CUresult r = pt_cu_stream_find(null, given, &stream);
    if (r == CUDA_SUCCESS)
        r = pt_cu_capture_forbid(stream);
    if (r == CUDA_SUCCESS)
        r = find_managed(address, bytes, &range);
    if (r != CUDA_SUCCESS)
        return r;
    if (flags || !is_location(location))
        return !flags && location.type == CU_MEM_LOCATION_TYPE_DEVICE ? CUDA_ERROR_INVALID_DEVICE
                                                                      : CUDA_ERROR_INVALID_VALUE;
    range->prefetched = location;
    return CUDA_SUCCESS;
}

PER_THREAD_API(cuMemPrefetchAsync, _ptsz, prefetch,
               (CUdeviceptr address, size_t bytes, CUdevice device, CUstream stream), stream,
               address, bytes, of_device(device), 0)
PER_THREAD_API(cuMemPrefetchAsync_v2, _ptsz, prefetch,
               (CUdeviceptr address, size_t bytes, CUmemLocation location, unsigned flags,
                CUstream stream),
               stream, address, bytes, location, flags)

/* What batches say: ranges, and the places of those from the number on that stands beside each. */
struct batch {
    const CUdeviceptr *addresses;
    const size_t *bytes;
    size_t n;
    const CUmemLocation *places;
    const size_t *from;
    size_t n_places;
};

static CUresult check_batch(const struct batch *b, bool has_places)
{
    bool is_right = b->addresses && b->bytes && b->n &&
                    (!has_places || (b->places && b->from && b->n_places && b->n_places <= b->n &&
                                     b->from[0] == 0));
    for (size_t i = 1; is_right && has_places && i < b->n_places; i++)
        is_right = b->from[i] > b->from[i - 1] && b->from[i] < b->n;
    for (size_t i = 0; is_right && has_places && i < b->n_places; i++)
        is_right = is_location(b->places[i]);
    for (size_t i = 0; is_right && i < b->n; i++) {
        struct pt_cu_range *range;
        CUresult r = find_managed(b->addresses[i], b->bytes[i], &range);
        if (r != CUDA_SUCCESS)
            return r;
    }
    return is_right ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

/* What is discarded may hold anything, so what it held. The legacy stream is not for batches. */
static CUresult run_batch(CUstream null, CUstream given, struct batch b, bool has_places,
                          unsigned long long flags)
{
    CUstream stream;
    CUresult r = pt_cu_stream_find(null, given, &stream);
    if (r == CUDA_SUCCESS)
        r = pt_cu_capture_forbid(stream);
    if (r == CUDA_SUCCESS)
        r = flags || stream == stream->ctx->null_stream ? CUDA_ERROR_INVALID_VALUE
                                                        : check_batch(&b, has_places);
    for (size_t i = 0, place = 0; r == CUDA_SUCCESS && has_places && i < b.n; i++) {
        if (place + 1 < b.n_places && b.from[place + 1] == i)
            place++;
        pt_cu_range_find(b.addresses[i])->prefetched = b.places[place];
    }
    return r;
}

#define BATCH_API(name)                                                                         \
    PER_THREAD_API(name, _ptsz, run_batch,                                                      \
                   (CUdeviceptr * addresses, size_t * bytes, size_t n, CUmemLocation * places,  \
                    size_t * from, size_t n_places, unsigned long long flags, CUstream stream), \
                   stream, ((struct batch){addresses, bytes, n, places, from, n_places}), true, \
                   flags)
BATCH_API(cuMemPrefetchBatchAsync)
BATCH_API(cuMemDiscardAndPrefetchBatchAsync)
PER_THREAD_API(cuMemDiscardBatchAsync, _ptsz, run_batch,
               (CUdeviceptr * addresses, size_t *bytes, size_t n, unsigned long long flags,
                CUstream stream),
               stream, ((struct batch){addresses, bytes, n, NULL, NULL, 0}), false, flags)

/* A place as the older attributes name it. */
static int device_of(CUmemLocation l)
{
    return l.type == CU_MEM_LOCATION_TYPE_INVALID  ? CU_DEVICE_INVALID
           : l.type == CU_MEM_LOCATION_TYPE_DEVICE ? l.id
                                                   : CU_DEVICE_CPU;
}

static CUresult list_accessed_by(const struct pt_cu_range *range, int *devices, size_t bytes)
{
    size_t n = bytes / sizeof *devices, k = 0;
    if (bytes % sizeof *devices)
        return CUDA_ERROR_INVALID_VALUE;
    for (int bit = 0; bit <= HOST_BIT && k < n; bit++)
        if (range->accessed_by >> bit & 1)
            devices[k++] = bit == HOST_BIT ? CU_DEVICE_CPU : bit;
    while (k < n)
        devices[k++] = CU_DEVICE_INVALID;
    return CUDA_SUCCESS;
}

static CUresult range_attribute(void *data, size_t bytes, CUmem_range_attribute attribute,
                                const struct pt_cu_range *r)
{
    int value;
    if (!data || !bytes)
        return CUDA_ERROR_INVALID_VALUE;
    switch (attribute) {
    case CU_MEM_RANGE_ATTRIBUTE_ACCESSED_BY:
        return list_accessed_by(r, data, bytes);
    case CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY:
        value = r->is_read_mostly;
        break;
    case CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION:
        value = device_of(r->preferred);
        break;
    case CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION:
        value = device_of(r->prefetched);
        break;
    case CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION_TYPE:
        value = (int)r->preferred.type;
        break;
    case CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION_ID:
        value = r->preferred.id;
        break;
    case CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION_TYPE:
        value = (int)r->prefetched.type;
        break;
    case CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION_ID:
        value = r->prefetched.id;
        break;
    default:
        return CUDA_ERROR_INVALID_VALUE;
    }
    if (bytes != sizeof value)
        return CUDA_ERROR_INVALID_VALUE;
    memcpy(data, &value, sizeof value);
    return CUDA_SUCCESS;
}

static CUresult get_range_attributes(void **data, const size_t *sizes,
                                     const CUmem_range_attribute *attributes, size_t n,
                                     CUdeviceptr address, size_t bytes)
{
    struct pt_cu_range *range;
    CUresult r = find_managed(address, bytes, &range);
    if (r == CUDA_SUCCESS && (!data || !sizes || !attributes || !n))
        r = CUDA_ERROR_INVALID_VALUE;
    for (size_t i = 0; r == CUDA_SUCCESS && i < n; i++)
        r = range_attribute(data[i], sizes[i], attributes[i], range);
    return r;
}

CUresult cuMemRangeGetAttribute(void *data, size_t size, CUmem_range_attribute attribute,
                                CUdeviceptr address, size_t bytes)
{
    return API(get_range_attributes(&data, &size, &attribute, 1, address, bytes));
}

CUresult cuMemRangeGetAttributes(void **data, size_t *sizes, CUmem_range_attribute *attributes,
                                 size_t n, CUdeviceptr address, size_t bytes)
{
    return API(get_range_attributes(data, sizes, attributes, n, address, bytes));
}
