/* Virtual memory management: address space that is reserved, memory that is made, and which of it
 * is where.
 *
 * Address space is free -> reserved (cuMemAddressReserve) -> mapped (cuMemMap) -> reserved
 * (cuMemUnmap) -> free (cuMemAddressFree, of what has no mapping). What is mapped has no access
 * until cuMemSetAccess gives it some, which it can take away again. Memory lives from cuMemCreate,
 * or an import, as long as it has a handle (cuMemRelease gives one back,
 * cuMemRetainAllocationHandle makes one more) or is mapped. */
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "runtime/cuda/command.h"
#include "runtime/cuda/device.h"
#include "runtime/cuda/driver.h"
#include "runtime/cuda/entry.h"
#include "runtime/cuda/handle.h"
#include "runtime/cuda/log.h"
#include "runtime/cuda/mappable.h"
#include "runtime/cuda/multicast.h"
#include "runtime/cuda/range.h"

struct reservation {
    struct reservation *next;
    uint64_t first, bytes;
};
static struct reservation *reservations;

static struct reservation *find_reservation(uint64_t address, size_t bytes)
{
    struct reservation *r = reservations;
    while (r &&
           !(address >= r->first && bytes <= r->bytes && address - r->first <= r->bytes - bytes))
        r = r->next;
    return r;
}

/* Of either kind. */
static CUresult check_any(CUmemGenericAllocationHandle handle, struct pt_cu_mappable **m)
{
    void *object = NULL;
    bool is_multicast = pt_cu_handle_is((void *)(uintptr_t)handle, PT_CU_MULTICAST_OBJECT);
    CUresult r = pt_cu_mappable_check(
        handle, is_multicast ? PT_CU_MULTICAST_OBJECT : PT_CU_ALLOCATION, &object);
    *m = object;
    return r;
}

static CUresult check_allocation(CUmemGenericAllocationHandle handle, struct pt_cu_allocation **a)
{
    void *object = NULL;
    CUresult r = pt_cu_mappable_check(handle, PT_CU_ALLOCATION, &object);
    *a = object;
    return r;
}

static void delete_allocation(struct pt_cu_mappable *m)
{
    struct pt_cu_allocation *a = (struct pt_cu_allocation *)m; /* its first member */
    close(a->fd);
    pt_cu_driver.devices[a->prop.location.id].used_bytes -= a->base.bytes;
    pt_cu_handle_delete(a);
}

static bool is_mapping(const struct pt_cu_range *range)
{
    return range && (range->memory == PT_CU_MAPPED || range->memory == PT_CU_MULTICAST);
}

/* ---- address space --------------------------------------------------------------------------- */

/* The address asked for is a hint. */
static void *reserve_at(uint64_t hint, size_t bytes, size_t align)
{
    if (!hint || hint % align)
        return pt_mem_reserve(bytes, align);
    void *p = mmap((void *)(uintptr_t)hint, bytes, PROT_NONE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (p != MAP_FAILED && (uintptr_t)p % align == 0)
        return p;
    if (p != MAP_FAILED)
        munmap(p, bytes);
    return pt_mem_reserve(bytes, align);
}

static CUresult reserve(CUdeviceptr *out, size_t bytes, size_t align, CUdeviceptr hint,
                        unsigned long long flags)
{
    CUresult r = pt_cu_driver_check();
    if (r != CUDA_SUCCESS)
        return r;
    if (!out || !bytes || bytes % PT_CU_GRANULARITY || align & (align - 1) || flags)
        return CUDA_ERROR_INVALID_VALUE;
    struct reservation *made = malloc(sizeof *made);
    void *p = made ? reserve_at(hint, bytes, align > PT_CU_GRANULARITY ? align : PT_CU_GRANULARITY)
                   : NULL;
    if (!p) {
        free(made);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    *made = (struct reservation){reservations, (uintptr_t)p, bytes};
    reservations = made;
    *out = made->first;
    return CUDA_SUCCESS;
}

CUresult cuMemAddressReserve(CUdeviceptr *address, size_t bytes, size_t align, CUdeviceptr hint,
                             unsigned long long flags)
{
    return API(reserve(address, bytes, align, hint, flags));
}

static void count_mapped(struct pt_cu_range *range, void *ud)
{
    struct reservation *r = ud;
    if (is_mapping(range) && range->first >= r->first && range->first < r->first + r->bytes)
        r->bytes = 0;
}

static CUresult unreserve(CUdeviceptr address, size_t bytes)
{
    CUresult r = pt_cu_driver_check();
    if (r != CUDA_SUCCESS)
        return r;
    struct reservation **place = &reservations;
    while (*place && ((*place)->first != address || (*place)->bytes != bytes))
        place = &(*place)->next;
    if (!*place)
        return CUDA_ERROR_INVALID_VALUE;
    struct reservation probe = **place;
    pt_cu_range_each(count_mapped, &probe);
    if (!probe.bytes) /* something is mapped there still */
        return CUDA_ERROR_INVALID_VALUE;
    struct reservation *gone = *place;
    *place = gone->next;
    pt_mem_unreserve((void *)(uintptr_t)address, bytes);
    free(gone);
    return CUDA_SUCCESS;
}

CUresult cuMemAddressFree(CUdeviceptr address, size_t bytes)
{
    return API(unreserve(address, bytes));
}

/* ---- memory ---------------------------------------------------------------------------------- */

static CUresult check_prop(const CUmemAllocationProp *prop)
{
    if (!prop || prop->type != CU_MEM_ALLOCATION_TYPE_PINNED ||
        prop->location.type != CU_MEM_LOCATION_TYPE_DEVICE)
        return CUDA_ERROR_INVALID_VALUE;
    return pt_cu_mappable_check_types(prop->requestedHandleTypes);
}

static CUresult get_granularity(size_t *bytes, const CUmemAllocationProp *prop,
                                CUmemAllocationGranularity_flags option)
{
    CUresult r = pt_cu_driver_check();
    if (r == CUDA_SUCCESS && (!bytes || (unsigned)option > CU_MEM_ALLOC_GRANULARITY_RECOMMENDED))
        r = CUDA_ERROR_INVALID_VALUE;
    if (r == CUDA_SUCCESS)
        r = check_prop(prop);
    if (r == CUDA_SUCCESS)
        *bytes = PT_CU_GRANULARITY;
    return r;
}

CUresult cuMemGetAllocationGranularity(size_t *bytes, const CUmemAllocationProp *prop,
                                       CUmemAllocationGranularity_flags option)
{
    return API(get_granularity(bytes, prop, option));
}

static CUresult enter_allocation(CUmemGenericAllocationHandle *out, const CUmemAllocationProp *prop,
                                 size_t bytes, int fd)
{
    struct pt_cu_allocation *a = pt_cu_handle_new(PT_CU_ALLOCATION, sizeof *a);
    if (!a)
        return CUDA_ERROR_OUT_OF_MEMORY;
    a->prop = *prop;
    a->fd = fd;
    a->base.bytes = bytes;
    a->base.handles = 1;
    a->base.delete = delete_allocation;
    pt_cu_driver.devices[prop->location.id].used_bytes += bytes;
    *out = (uintptr_t)a;
    return CUDA_SUCCESS;
}

static CUresult create(CUmemGenericAllocationHandle *out, size_t bytes,
                       const CUmemAllocationProp *prop, unsigned long long flags)
{
    CUresult r = pt_cu_driver_check();
    if (r == CUDA_SUCCESS && (!out || !bytes || bytes % PT_CU_GRANULARITY || flags))
        r = CUDA_ERROR_INVALID_VALUE;
    if (r == CUDA_SUCCESS)
        r = check_prop(prop);
    if (r == CUDA_SUCCESS && !pt_cu_device_is_valid(prop->location.id))
        r = CUDA_ERROR_INVALID_DEVICE;
    if (r != CUDA_SUCCESS)
        return r;
    size_t used = pt_cu_driver.devices[prop->location.id].used_bytes;
    if (bytes > pt_cu_driver.device_bytes || used > pt_cu_driver.device_bytes - bytes)
        return CUDA_ERROR_OUT_OF_MEMORY;
    int fd = pt_mem_file(bytes);
    r = fd >= 0 ? enter_allocation(out, prop, bytes, fd) : CUDA_ERROR_OUT_OF_MEMORY;
    if (r != CUDA_SUCCESS && fd >= 0)
        close(fd);
    return r;
}

CUresult cuMemCreate(CUmemGenericAllocationHandle *handle, size_t bytes,
                     const CUmemAllocationProp *prop, unsigned long long flags)
{
    return API(create(handle, bytes, prop, flags));
}

static CUresult release(CUmemGenericAllocationHandle handle)
{
    struct pt_cu_mappable *m;
    CUresult r = check_any(handle, &m);
    if (r != CUDA_SUCCESS)
        return r;
    m->handles--;
    pt_cu_mappable_drop(m);
    return CUDA_SUCCESS;
}

CUresult cuMemRelease(CUmemGenericAllocationHandle handle)
{
    return API(release(handle));
}

static CUresult get_properties(CUmemAllocationProp *prop, CUmemGenericAllocationHandle handle)
{
    struct pt_cu_allocation *a;
    CUresult r = check_allocation(handle, &a);
    if (r == CUDA_SUCCESS && !prop)
        r = CUDA_ERROR_INVALID_VALUE;
    if (r == CUDA_SUCCESS)
        *prop = a->prop;
    return r;
}

CUresult cuMemGetAllocationPropertiesFromHandle(CUmemAllocationProp *prop,
                                                CUmemGenericAllocationHandle handle)
{
    return API(get_properties(prop, handle));
}

static CUresult retain(CUmemGenericAllocationHandle *handle, const void *address)
{
    CUresult r = pt_cu_driver_check();
    if (r != CUDA_SUCCESS)
        return r;
    const struct pt_cu_range *range = pt_cu_range_find((uintptr_t)address);
    if (!handle || !is_mapping(range))
        return CUDA_ERROR_INVALID_VALUE;
    struct pt_cu_mappable *m = range->owner;
    m->handles++;
    *handle = (uintptr_t)m;
    return CUDA_SUCCESS;
}

CUresult cuMemRetainAllocationHandle(CUmemGenericAllocationHandle *handle, void *address)
{
    return API(retain(handle, address));
}

/* ---- files for other processes --------------------------------------------------------------- */

static CUresult export_file(void *out, CUmemGenericAllocationHandle handle,
                            CUmemAllocationHandleType type, unsigned long long flags)
{
    struct pt_cu_allocation *a;
    if (pt_cu_handle_is((void *)(uintptr_t)handle, PT_CU_MULTICAST_OBJECT)) {
        pt_cu_log_print("cuMemExportToShareableHandle of a multicast object is not supported");
        return CUDA_ERROR_NOT_SUPPORTED;
    }
    CUresult r = check_allocation(handle, &a);
    if (r == CUDA_SUCCESS && (!out || flags || !(a->prop.requestedHandleTypes & type)))
        r = CUDA_ERROR_INVALID_VALUE;
    if (r != CUDA_SUCCESS)
        return r;
    int fd = dup(a->fd);
    if (fd < 0)
        return CUDA_ERROR_OPERATING_SYSTEM;
    memcpy(out, &fd, sizeof fd);
    return CUDA_SUCCESS;
}

CUresult cuMemExportToShareableHandle(void *out, CUmemGenericAllocationHandle handle,
                                      CUmemAllocationHandleType type, unsigned long long flags)
{
    return API(export_file(out, handle, type, flags));
}

/* The number of the file is passed instead of a pointer. */
static CUresult import_file(CUmemGenericAllocationHandle *out, void *number,
                            CUmemAllocationHandleType type)
{
    struct stat st;
    CUresult r = pt_cu_driver_check();
    if (r != CUDA_SUCCESS)
        return r;
    int given = (int)(uintptr_t)number;
    if (!out || type != CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR || fstat(given, &st) != 0 ||
        st.st_size <= 0 || (size_t)st.st_size % PT_CU_GRANULARITY)
        return CUDA_ERROR_INVALID_VALUE;
    const CUmemAllocationProp prop = {.type = CU_MEM_ALLOCATION_TYPE_PINNED,
                                      .requestedHandleTypes = type,
                                      .location = {CU_MEM_LOCATION_TYPE_DEVICE, 0}};
    int fd = dup(given);
    if (fd < 0)
        return CUDA_ERROR_OPERATING_SYSTEM;
    r = enter_allocation(out, &prop, (size_t)st.st_size, fd);
    if (r != CUDA_SUCCESS)
        close(fd);
    return r;
}

CUresult cuMemImportFromShareableHandle(CUmemGenericAllocationHandle *handle, void *number,
                                        CUmemAllocationHandleType type)
{
    return API(import_file(handle, number, type));
}

/* ---- mapping --------------------------------------------------------------------------------- */

/* Mapped memory cannot be touched until its access is set. */
static CUresult map_allocation(struct pt_cu_range *range)
{
    struct pt_cu_allocation *a = range->owner;
    void *at = mmap((void *)(uintptr_t)range->first, range->bytes, PROT_NONE,
                    MAP_SHARED | MAP_FIXED, a->fd, (off_t)range->offset);
    range->device = a->prop.location.id;
    return at == MAP_FAILED ? CUDA_ERROR_OUT_OF_MEMORY : CUDA_SUCCESS;
}

static CUresult map_checked(uint64_t address, size_t bytes, size_t offset, struct pt_cu_mappable *m)
{
    bool is_multicast = m->object.kind == PT_CU_MULTICAST_OBJECT;
    struct pt_cu_range *range =
        pt_cu_range_add(address, bytes, is_multicast ? PT_CU_MULTICAST : PT_CU_MAPPED, NULL);
    if (!range) /* something is mapped there */
        return CUDA_ERROR_INVALID_VALUE;
    range->owner = m;
    range->offset = offset;
    CUresult r = is_multicast ? CUDA_SUCCESS : map_allocation(range);
    if (r != CUDA_SUCCESS) {
        pt_cu_range_remove(range);
        return r;
    }
    if (is_multicast)
        pt_cu_multicast_enter(range);
    m->maps++;
    return CUDA_SUCCESS;
}

static CUresult map(CUdeviceptr address, size_t bytes, size_t offset,
                    CUmemGenericAllocationHandle handle, unsigned long long flags)
{
    struct pt_cu_mappable *m;
    CUresult r = check_any(handle, &m);
    if (r == CUDA_SUCCESS && m->object.kind == PT_CU_MULTICAST_OBJECT)
        r = pt_cu_multicast_wait(handle);
    if (r != CUDA_SUCCESS)
        return r;
    bool fits = offset <= m->bytes && bytes <= m->bytes - offset;
    if (flags || !address || !bytes || bytes % PT_CU_GRANULARITY || offset % PT_CU_GRANULARITY ||
        address % PT_CU_GRANULARITY || !fits || !find_reservation(address, bytes))
        return CUDA_ERROR_INVALID_VALUE;
    return map_checked(address, bytes, offset, m);
}

CUresult cuMemMap(CUdeviceptr address, size_t bytes, size_t offset,
                  CUmemGenericAllocationHandle handle, unsigned long long flags)
{
    return API(map(address, bytes, offset, handle, flags));
}

/* Calls visit for each mapping of an area that consists of whole mappings; an error if it does
 * not. */
static CUresult each_mapping(uint64_t address, size_t bytes,
                             CUresult (*visit)(struct pt_cu_range *range, const void *how),
                             const void *how)
{
    for (uint64_t at = address, end = address + bytes; at < end;) {
        struct pt_cu_range *range = pt_cu_range_find(at);
        if (!is_mapping(range) || range->first != at || range->bytes > end - at)
            return CUDA_ERROR_INVALID_VALUE;
        at += range->bytes;
        CUresult r = visit ? visit(range, how) : CUDA_SUCCESS;
        if (r != CUDA_SUCCESS)
            return r;
    }
    return CUDA_SUCCESS;
}

static CUresult unmap_one(struct pt_cu_range *range, const void *how)
{
    struct pt_cu_mappable *m = range->owner;
    (void)how;
    if (range->memory == PT_CU_MULTICAST)
        pt_cu_multicast_leave(range);
    else
        pt_mem_decommit((void *)(uintptr_t)range->first, range->bytes);
    pt_cu_range_remove(range);
    m->maps--;
    pt_cu_mappable_drop(m);
    return CUDA_SUCCESS;
}

static CUresult unmap(CUdeviceptr address, size_t bytes)
{
    CUresult r = pt_cu_driver_check();
    if (r == CUDA_SUCCESS && !bytes)
        r = CUDA_ERROR_INVALID_VALUE;
    if (r == CUDA_SUCCESS)
        r = each_mapping(address, bytes, NULL, NULL);
    if (r != CUDA_SUCCESS)
        return r;
    pt_cu_command_drain_all();
    return each_mapping(address, bytes, unmap_one, NULL);
}

CUresult cuMemUnmap(CUdeviceptr address, size_t bytes)
{
    return API(unmap(address, bytes));
}

static CUresult check_desc(const CUmemAccessDesc *desc)
{
    if (desc->flags != CU_MEM_ACCESS_FLAGS_PROT_NONE &&
        desc->flags != CU_MEM_ACCESS_FLAGS_PROT_READ &&
        desc->flags != CU_MEM_ACCESS_FLAGS_PROT_READWRITE)
        return CUDA_ERROR_INVALID_VALUE;
    bool is_device = desc->location.type == CU_MEM_LOCATION_TYPE_DEVICE;
    return is_device && !pt_cu_device_is_valid(desc->location.id) ? CUDA_ERROR_INVALID_VALUE
                                                                  : CUDA_SUCCESS;
}

static unsigned granted_to(const struct pt_cu_range *range, const CUmemLocation *location)
{
    if (location->type != CU_MEM_LOCATION_TYPE_DEVICE)
        return range->granted_host;
    return (unsigned)(range->granted >> 2 * location->id) & 3;
}

static CUresult grant_one(struct pt_cu_range *range, const void *how)
{
    const CUmemAccessDesc *desc = how;
    int shift = 2 * desc->location.id;
    if (desc->location.type != CU_MEM_LOCATION_TYPE_DEVICE)
        range->granted_host = desc->flags;
    else
        range->granted = (range->granted & ~(UINT64_C(3) << shift)) | (uint64_t)desc->flags
                                                                          << shift;
    return CUDA_SUCCESS;
}

/* The process has one address space: the widest access that anybody has is everybody's. */
static CUresult protect_one(struct pt_cu_range *range, const void *how)
{
    unsigned flags = range->granted_host;
    (void)how;
    for (uint64_t left = range->granted; left; left >>= 2)
        flags |= left & 3;
    int protection = flags == CU_MEM_ACCESS_FLAGS_PROT_NONE   ? PROT_NONE
                     : flags == CU_MEM_ACCESS_FLAGS_PROT_READ ? PROT_READ
                                                              : PROT_READ | PROT_WRITE;
    if (range->memory == PT_CU_MULTICAST) {
        pt_cu_multicast_protect(range, flags);
        return CUDA_SUCCESS;
    }
    range->flags = flags;
    bool ok = mprotect((void *)(uintptr_t)range->first, range->bytes, protection) == 0;
    return ok ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

static CUresult set_access(CUdeviceptr address, size_t bytes, const CUmemAccessDesc *descs,
                           size_t n)
{
    CUresult r = pt_cu_driver_check();
    if (r == CUDA_SUCCESS && (!bytes || !descs || !n))
        r = CUDA_ERROR_INVALID_VALUE;
    for (size_t i = 0; r == CUDA_SUCCESS && i < n; i++)
        r = check_desc(descs + i);
    if (r == CUDA_SUCCESS)
        r = each_mapping(address, bytes, NULL, NULL);
    for (size_t i = 0; r == CUDA_SUCCESS && i < n; i++)
        r = each_mapping(address, bytes, grant_one, descs + i);
    return r == CUDA_SUCCESS ? each_mapping(address, bytes, protect_one, NULL) : r;
}

CUresult cuMemSetAccess(CUdeviceptr address, size_t bytes, const CUmemAccessDesc *descs, size_t n)
{
    return API(set_access(address, bytes, descs, n));
}

static CUresult get_access(unsigned long long *flags, const CUmemLocation *location,
                           CUdeviceptr address)
{
    CUresult r = pt_cu_driver_check();
    if (r != CUDA_SUCCESS)
        return r;
    const struct pt_cu_range *range = pt_cu_range_find(address);
    if (!flags || !location || !is_mapping(range))
        return CUDA_ERROR_INVALID_VALUE;
    if (location->type == CU_MEM_LOCATION_TYPE_DEVICE && !pt_cu_device_is_valid(location->id))
        return CUDA_ERROR_INVALID_DEVICE;
    *flags = granted_to(range, location);
    return CUDA_SUCCESS;
}

CUresult cuMemGetAccess(unsigned long long *flags, const CUmemLocation *location,
                        CUdeviceptr address)
{
    return API(get_access(flags, location, address));
}
