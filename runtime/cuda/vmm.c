/* Virtual memory management: address space that is reserved, memory that is made, and which of it is where. */
#define _GNU_SOURCE
#include "runtime/cuda/driver.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static const size_t granularity = (size_t)2 << 20;

/* Memory made by cuMemCreate: a file that lives in memory. */
struct pt_cu_allocation {
    struct pt_cu_object object;
    CUmemAllocationProp prop;
    size_t bytes;
    int fd;
    unsigned handles, maps; /* it goes when there are none */
};

struct reservation {
    struct reservation *next;
    uint64_t first, bytes;
};
static struct reservation *reservations;

static struct reservation *find_reservation(uint64_t address, size_t bytes)
{
    struct reservation *r = reservations;
    while (r && !(address >= r->first && bytes <= r->bytes && address - r->first <= r->bytes - bytes))
        r = r->next;
    return r;
}

static struct pt_cu_allocation *allocation_of(CUmemGenericAllocationHandle handle)
{
    void *p = (void *)(uintptr_t)handle;
    return pt_cu_is(p, PT_CU_ALLOCATION) ? p : NULL;
}

static void drop_if_unused(struct pt_cu_allocation *a)
{
    if (a->handles || a->maps)
        return;
    close(a->fd);
    pt_cu_driver.devices[a->prop.location.id].used_bytes -= a->bytes;
    pt_cu_delete(a);
}

/* ---- address space ------------------------------------------------------------------------------------- */

/* The address asked for is a hint. */
static void *reserve_at(uint64_t hint, size_t bytes, size_t align)
{
    if (!hint || hint % align)
        return pt_mem_reserve(bytes, align);
    void *p = mmap((void *)(uintptr_t)hint, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (p != MAP_FAILED && (uintptr_t)p % align == 0)
        return p;
    if (p != MAP_FAILED)
        munmap(p, bytes);
    return pt_mem_reserve(bytes, align);
}

static CUresult reserve(CUdeviceptr *out, size_t bytes, size_t align, CUdeviceptr hint, unsigned long long flags)
{
    CUresult r = pt_cu_check_init();
    if (r != CUDA_SUCCESS)
        return r;
    if (!out || !bytes || bytes % granularity || align & (align - 1) || flags)
        return CUDA_ERROR_INVALID_VALUE;
    struct reservation *made = malloc(sizeof *made);
    void *p = made ? reserve_at(hint, bytes, align > granularity ? align : granularity) : NULL;
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
    if (range->memory == PT_CU_MAPPED && range->first >= r->first && range->first < r->first + r->bytes)
        r->bytes = 0;
}

static CUresult unreserve(CUdeviceptr address, size_t bytes)
{
    CUresult r = pt_cu_check_init();
    if (r != CUDA_SUCCESS)
        return r;
    struct reservation **place = &reservations;
    while (*place && ((*place)->first != address || (*place)->bytes != bytes))
        place = &(*place)->next;
    if (!*place)
        return CUDA_ERROR_INVALID_VALUE;
    struct reservation probe = **place;
    pt_cu_each_range(count_mapped, &probe);
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

/* ---- memory -------------------------------------------------------------------------------------------- */

static CUresult check_prop(const CUmemAllocationProp *prop)
{
    const unsigned handles = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
    if (!prop || prop->type != CU_MEM_ALLOCATION_TYPE_PINNED || prop->location.type != CU_MEM_LOCATION_TYPE_DEVICE)
        return CUDA_ERROR_INVALID_VALUE;
    if (!pt_cu_is_device(prop->location.id))
        return CUDA_ERROR_INVALID_DEVICE;
    return prop->requestedHandleTypes & ~handles ? CUDA_ERROR_NOT_SUPPORTED : CUDA_SUCCESS;
}

static CUresult get_granularity(size_t *bytes, const CUmemAllocationProp *prop, CUmemAllocationGranularity_flags option)
{
    CUresult r = pt_cu_check_init();
    if (r == CUDA_SUCCESS && (!bytes || (unsigned)option > CU_MEM_ALLOC_GRANULARITY_RECOMMENDED))
        r = CUDA_ERROR_INVALID_VALUE;
    if (r == CUDA_SUCCESS)
        r = check_prop(prop);
    if (r == CUDA_SUCCESS)
        *bytes = granularity;
    return r;
}

CUresult cuMemGetAllocationGranularity(size_t *bytes, const CUmemAllocationProp *prop,
                                       CUmemAllocationGranularity_flags option)
{
    return API(get_granularity(bytes, prop, option));
}

static CUresult enter_allocation(CUmemGenericAllocationHandle *out, const CUmemAllocationProp *prop, size_t bytes, int fd)
{
    struct pt_cu_allocation *a = pt_cu_new(PT_CU_ALLOCATION, sizeof *a);
    if (!a)
        return CUDA_ERROR_OUT_OF_MEMORY;
    a->prop = *prop;
    a->bytes = bytes;
    a->fd = fd;
    a->handles = 1;
    pt_cu_driver.devices[prop->location.id].used_bytes += bytes;
    *out = (uintptr_t)a;
    return CUDA_SUCCESS;
}

static CUresult create(CUmemGenericAllocationHandle *out, size_t bytes, const CUmemAllocationProp *prop,
                       unsigned long long flags)
{
    CUresult r = pt_cu_check_init();
    if (r == CUDA_SUCCESS && (!out || !bytes || bytes % granularity || flags))
        r = CUDA_ERROR_INVALID_VALUE;
    if (r == CUDA_SUCCESS)
        r = check_prop(prop);
    if (r != CUDA_SUCCESS)
        return r;
    size_t used = pt_cu_driver.devices[prop->location.id].used_bytes;
    if (bytes > pt_cu_driver.device_bytes || used > pt_cu_driver.device_bytes - bytes)
        return CUDA_ERROR_OUT_OF_MEMORY;
    int fd = memfd_create("ptera", MFD_CLOEXEC);
    r = CUDA_ERROR_OUT_OF_MEMORY;
    if (fd >= 0 && ftruncate(fd, (off_t)bytes) == 0)
        r = enter_allocation(out, prop, bytes, fd);
    if (r != CUDA_SUCCESS && fd >= 0)
        close(fd);
    return r;
}

CUresult cuMemCreate(CUmemGenericAllocationHandle *handle, size_t bytes, const CUmemAllocationProp *prop,
                     unsigned long long flags)
{
    return API(create(handle, bytes, prop, flags));
}

static CUresult check_allocation(CUmemGenericAllocationHandle handle, struct pt_cu_allocation **a)
{
    CUresult r = pt_cu_check_init();
    *a = r == CUDA_SUCCESS ? allocation_of(handle) : NULL;
    return r == CUDA_SUCCESS && !(*a && (*a)->handles) ? CUDA_ERROR_INVALID_VALUE : r;
}

static CUresult release(CUmemGenericAllocationHandle handle)
{
    struct pt_cu_allocation *a;
    CUresult r = check_allocation(handle, &a);
    if (r != CUDA_SUCCESS)
        return r;
    a->handles--;
    drop_if_unused(a);
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

CUresult cuMemGetAllocationPropertiesFromHandle(CUmemAllocationProp *prop, CUmemGenericAllocationHandle handle)
{
    return API(get_properties(prop, handle));
}

static CUresult retain(CUmemGenericAllocationHandle *handle, const void *address)
{
    CUresult r = pt_cu_check_init();
    if (r != CUDA_SUCCESS)
        return r;
    const struct pt_cu_range *range = pt_cu_find((uintptr_t)address);
    if (!handle || !range || range->memory != PT_CU_MAPPED)
        return CUDA_ERROR_INVALID_VALUE;
    struct pt_cu_allocation *a = range->owner;
    a->handles++;
    *handle = (uintptr_t)a;
    return CUDA_SUCCESS;
}

CUresult cuMemRetainAllocationHandle(CUmemGenericAllocationHandle *handle, void *address)
{
    return API(retain(handle, address));
}

/* ---- files for other processes ------------------------------------------------------------------------- */

static CUresult export_file(void *out, CUmemGenericAllocationHandle handle, CUmemAllocationHandleType type,
                            unsigned long long flags)
{
    struct pt_cu_allocation *a;
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

CUresult cuMemExportToShareableHandle(void *out, CUmemGenericAllocationHandle handle, CUmemAllocationHandleType type,
                                      unsigned long long flags)
{
    return API(export_file(out, handle, type, flags));
}

/* The number of the file is passed instead of a pointer. */
static CUresult import_file(CUmemGenericAllocationHandle *out, void *number, CUmemAllocationHandleType type)
{
    struct stat st;
    CUresult r = pt_cu_check_init();
    if (r != CUDA_SUCCESS)
        return r;
    int given = (int)(uintptr_t)number;
    if (!out || type != CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR || fstat(given, &st) != 0 || st.st_size <= 0 ||
        (size_t)st.st_size % granularity)
        return CUDA_ERROR_INVALID_VALUE;
    const CUmemAllocationProp prop = {.type = CU_MEM_ALLOCATION_TYPE_PINNED, .requestedHandleTypes = type,
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

/* ---- mapping ------------------------------------------------------------------------------------------- */

/* Mapped memory cannot be touched until its access is set. */
static CUresult map(CUdeviceptr address, size_t bytes, size_t offset, CUmemGenericAllocationHandle handle,
                    unsigned long long flags)
{
    struct pt_cu_allocation *a;
    CUresult r = check_allocation(handle, &a);
    if (r != CUDA_SUCCESS)
        return r;
    bool fits = a && offset <= a->bytes && bytes <= a->bytes - offset;
    if (flags || !bytes || bytes % granularity || offset % granularity || address % granularity || !fits ||
        !find_reservation(address, bytes))
        return CUDA_ERROR_INVALID_VALUE;
    struct pt_cu_range *range = pt_cu_add(address, bytes, PT_CU_MAPPED, NULL);
    if (!range) /* something is mapped there */
        return CUDA_ERROR_INVALID_VALUE;
    if (mmap((void *)(uintptr_t)address, bytes, PROT_NONE, MAP_SHARED | MAP_FIXED, a->fd, (off_t)offset) == MAP_FAILED) {
        pt_cu_remove(range);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    range->device = a->prop.location.id;
    range->owner = a;
    a->maps++;
    return CUDA_SUCCESS;
}

CUresult cuMemMap(CUdeviceptr address, size_t bytes, size_t offset, CUmemGenericAllocationHandle handle,
                  unsigned long long flags)
{
    return API(map(address, bytes, offset, handle, flags));
}

/* Calls visit for each mapping of an area that consists of whole mappings; an error if it does not. */
static CUresult each_mapping(uint64_t address, size_t bytes, CUresult (*visit)(struct pt_cu_range *range, unsigned how),
                             unsigned how)
{
    for (uint64_t at = address, end = address + bytes; at < end;) {
        struct pt_cu_range *range = pt_cu_find(at);
        if (!range || range->memory != PT_CU_MAPPED || range->first != at || range->bytes > end - at)
            return CUDA_ERROR_INVALID_VALUE;
        at += range->bytes;
        CUresult r = visit ? visit(range, how) : CUDA_SUCCESS;
        if (r != CUDA_SUCCESS)
            return r;
    }
    return CUDA_SUCCESS;
}

static CUresult unmap_one(struct pt_cu_range *range, unsigned how)
{
    struct pt_cu_allocation *a = range->owner;
    (void)how;
    pt_mem_decommit((void *)(uintptr_t)range->first, range->bytes);
    pt_cu_remove(range);
    a->maps--;
    drop_if_unused(a);
    return CUDA_SUCCESS;
}

static CUresult unmap(CUdeviceptr address, size_t bytes)
{
    CUresult r = pt_cu_check_init();
    if (r == CUDA_SUCCESS && !bytes)
        r = CUDA_ERROR_INVALID_VALUE;
    if (r == CUDA_SUCCESS)
        r = each_mapping(address, bytes, NULL, 0);
    if (r != CUDA_SUCCESS)
        return r;
    for (CUcontext ctx = pt_cu_next_context(NULL); ctx; ctx = pt_cu_next_context(ctx))
        pt_cu_drain(ctx);
    return each_mapping(address, bytes, unmap_one, 0);
}

CUresult cuMemUnmap(CUdeviceptr address, size_t bytes)
{
    return API(unmap(address, bytes));
}

static CUresult protect_one(struct pt_cu_range *range, unsigned flags)
{
    int protection = flags == CU_MEM_ACCESS_FLAGS_PROT_NONE   ? PROT_NONE
                     : flags == CU_MEM_ACCESS_FLAGS_PROT_READ ? PROT_READ
                                                              : PROT_READ | PROT_WRITE;
    range->flags = flags;
    bool ok = mprotect((void *)(uintptr_t)range->first, range->bytes, protection) == 0;
    return ok ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

/* The process has one address space: the widest access that is asked for is everybody's. */
static CUresult set_access(CUdeviceptr address, size_t bytes, const CUmemAccessDesc *descs, size_t n)
{
    unsigned widest = 0;
    CUresult r = pt_cu_check_init();
    if (r == CUDA_SUCCESS && (!bytes || !descs || !n))
        r = CUDA_ERROR_INVALID_VALUE;
    for (size_t i = 0; r == CUDA_SUCCESS && i < n; i++) {
        unsigned flags = descs[i].flags;
        if (flags != CU_MEM_ACCESS_FLAGS_PROT_NONE && flags != CU_MEM_ACCESS_FLAGS_PROT_READ &&
            flags != CU_MEM_ACCESS_FLAGS_PROT_READWRITE)
            return CUDA_ERROR_INVALID_VALUE;
        if (descs[i].location.type == CU_MEM_LOCATION_TYPE_DEVICE && !pt_cu_is_device(descs[i].location.id))
            return CUDA_ERROR_INVALID_DEVICE;
        widest |= flags;
    }
    if (r == CUDA_SUCCESS)
        r = each_mapping(address, bytes, NULL, 0);
    return r == CUDA_SUCCESS ? each_mapping(address, bytes, protect_one, widest) : r;
}

CUresult cuMemSetAccess(CUdeviceptr address, size_t bytes, const CUmemAccessDesc *descs, size_t n)
{
    return API(set_access(address, bytes, descs, n));
}

static CUresult get_access(unsigned long long *flags, const CUmemLocation *location, CUdeviceptr address)
{
    CUresult r = pt_cu_check_init();
    if (r != CUDA_SUCCESS)
        return r;
    const struct pt_cu_range *range = pt_cu_find(address);
    if (!flags || !location || !range || range->memory != PT_CU_MAPPED)
        return CUDA_ERROR_INVALID_VALUE;
    *flags = range->flags;
    return CUDA_SUCCESS;
}

CUresult cuMemGetAccess(unsigned long long *flags, const CUmemLocation *location, CUdeviceptr address)
{
    return API(get_access(flags, location, address));
}
