/* Multicast objects: memory of several devices under one address, which multimem instructions
 * access.
 *
 * An object has, for each device that was added, memory that is bound to it at offsets. A mapping
 * of it has no pages: ordinary accesses fault. What is bound is mapped here for kernels, wherever
 * the program has it. */
#include "runtime/cuda/multicast.h"

#include <stdlib.h>
#include <sys/mman.h>

#include "runtime/cuda/command.h"
#include "runtime/cuda/device.h"
#include "runtime/cuda/driver.h"
#include "runtime/cuda/entry.h"
#include "runtime/cuda/handle.h"
#include "runtime/cuda/lock.h"
#include "runtime/cuda/mappable.h"
#include "runtime/cuda/range.h"

struct binding {
    struct binding *next;
    CUdevice device;
    uint64_t offset, bytes;              /* in the object */
    uint64_t at;                         /* where kernels find it */
    struct pt_cu_allocation *allocation; /* NULL: a pool's block, which is where it is */
};

struct multicast {
    struct pt_cu_mappable base;
    CUmulticastObjectProp prop;
    CUdevice devices[PT_CU_DEVICES_MAX]; /* in the order in which they were added */
    unsigned n_devices;
    struct binding *bindings;
};
_Static_assert((int)PT_REPLICAS_MAX >= (int)PT_CU_DEVICES_MAX, "each device may have a replica");

static pthread_cond_t added =
    PTHREAD_COND_INITIALIZER; /* a device, or an object has been released */

/* Of the mappings, their flags and the bindings, which kernels read while others hold the driver's
 * lock. */
static pthread_rwlock_t kernels = PTHREAD_RWLOCK_INITIALIZER;
static struct pt_cu_range *mappings;

static CUresult check_multicast(CUmemGenericAllocationHandle handle, struct multicast **m)
{
    void *object = NULL;
    CUresult r = pt_cu_mappable_check(handle, PT_CU_MULTICAST_OBJECT, &object);
    *m = object;
    return r;
}

static bool is_member(const struct multicast *m, CUdevice device)
{
    unsigned i = 0;
    while (i < m->n_devices && m->devices[i] != device)
        i++;
    return i < m->n_devices;
}

/* ---- objects --------------------------------------------------------------------------------- */

static CUresult check_prop(const CUmulticastObjectProp *prop)
{
    CUresult r = pt_cu_driver_check();
    if (r == CUDA_SUCCESS && (!prop || prop->flags || !prop->numDevices ||
                              prop->numDevices > (unsigned)pt_cu_driver.n_devices))
        r = CUDA_ERROR_INVALID_VALUE;
    return r == CUDA_SUCCESS ? pt_cu_mappable_check_types(prop->handleTypes) : r;
}

static CUresult get_granularity(size_t *bytes, const CUmulticastObjectProp *prop,
                                CUmulticastGranularity_flags option)
{
    CUresult r = check_prop(prop);
    if (r == CUDA_SUCCESS && (!bytes || (unsigned)option > CU_MULTICAST_GRANULARITY_RECOMMENDED))
        r = CUDA_ERROR_INVALID_VALUE;
    if (r == CUDA_SUCCESS)
        *bytes = PT_CU_GRANULARITY;
    return r;
}

CUresult cuMulticastGetGranularity(size_t *bytes, const CUmulticastObjectProp *prop,
                                   CUmulticastGranularity_flags option)
{
    return API(get_granularity(bytes, prop, option));
}

static void drop_binding(struct binding *b)
{
    if (b->allocation) {
        munmap((void *)(uintptr_t)b->at, b->bytes);
        b->allocation->base.maps--;
        pt_cu_mappable_drop(&b->allocation->base);
    }
    free(b);
}

static void delete_object(struct pt_cu_mappable *base)
{
    struct multicast *m = (struct multicast *)base; /* its first member */
    while (m->bindings) {
        struct binding *b = m->bindings;
        m->bindings = b->next;
        drop_binding(b);
    }
    pt_cu_handle_delete(m);
    pthread_cond_broadcast(&added);
}

static CUresult create(CUmemGenericAllocationHandle *handle, const CUmulticastObjectProp *prop)
{
    CUresult r = check_prop(prop);
    if (r == CUDA_SUCCESS && (!handle || !prop->size || prop->size % PT_CU_GRANULARITY))
        r = CUDA_ERROR_INVALID_VALUE;
    if (r != CUDA_SUCCESS)
        return r;
    struct multicast *m = pt_cu_handle_new(PT_CU_MULTICAST_OBJECT, sizeof *m);
    if (!m)
        return CUDA_ERROR_OUT_OF_MEMORY;
    m->prop = *prop;
    m->base.bytes = prop->size;
    m->base.handles = 1;
    m->base.delete = delete_object;
    *handle = (uintptr_t)m;
    return CUDA_SUCCESS;
}

CUresult cuMulticastCreate(CUmemGenericAllocationHandle *handle, const CUmulticastObjectProp *prop)
{
    return API(create(handle, prop));
}

static CUresult add_device(CUmemGenericAllocationHandle handle, CUdevice device)
{
    struct multicast *m;
    CUresult r = check_multicast(handle, &m);
    if (r != CUDA_SUCCESS)
        return r;
    if (!pt_cu_device_is_valid(device))
        return CUDA_ERROR_INVALID_DEVICE;
    if (m->n_devices == m->prop.numDevices || is_member(m, device))
        return CUDA_ERROR_INVALID_VALUE;
    m->devices[m->n_devices++] = device;
    pthread_cond_broadcast(&added);
    return CUDA_SUCCESS;
}

CUresult cuMulticastAddDevice(CUmemGenericAllocationHandle handle, CUdevice device)
{
    return API(add_device(handle, device));
}

CUresult pt_cu_multicast_wait(CUmemGenericAllocationHandle handle)
{
    struct multicast *m;
    CUresult r = check_multicast(handle, &m);
    while (r == CUDA_SUCCESS && m->n_devices < m->prop.numDevices) {
        pt_cu_lock_wait(&added);
        r = check_multicast(handle, &m);
    }
    return r;
}

/* ---- binding --------------------------------------------------------------------------------- */

static bool is_part(uint64_t offset, size_t bytes, size_t of)
{
    return bytes && bytes % PT_CU_GRANULARITY == 0 && offset % PT_CU_GRANULARITY == 0 &&
           offset <= of && bytes <= of - offset;
}

/* Memory of a device is to be bound to a part of the object. */
static CUresult check_binding(const struct multicast *m, uint64_t offset, CUdevice device,
                              size_t bytes)
{
    if (!is_part(offset, bytes, m->base.bytes))
        return CUDA_ERROR_INVALID_VALUE;
    if (!is_member(m, device))
        return CUDA_ERROR_INVALID_DEVICE;
    for (const struct binding *b = m->bindings; b; b = b->next)
        if (b->device == device && offset < b->offset + b->bytes && b->offset < offset + bytes)
            return CUDA_ERROR_INVALID_VALUE;
    return CUDA_SUCCESS;
}

static CUresult enter_binding(struct multicast *m, struct binding what)
{
    struct binding *b = malloc(sizeof *b);
    if (!b)
        return CUDA_ERROR_OUT_OF_MEMORY;
    *b = what;
    pthread_rwlock_wrlock(&kernels);
    b->next = m->bindings;
    m->bindings = b;
    pthread_rwlock_unlock(&kernels);
    return CUDA_SUCCESS;
}

/* Objects that others may get are bound to memory that others may get. */
static CUresult bind_allocation(struct multicast *m, uint64_t offset, struct pt_cu_allocation *a,
                                uint64_t from, size_t bytes)
{
    CUresult r = check_binding(m, offset, a->prop.location.id, bytes);
    if (r == CUDA_SUCCESS &&
        (!is_part(from, bytes, a->base.bytes) ||
         m->prop.handleTypes & ~(unsigned long long)a->prop.requestedHandleTypes))
        r = CUDA_ERROR_INVALID_VALUE;
    if (r != CUDA_SUCCESS)
        return r;
    void *at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, a->fd, (off_t)from);
    if (at == MAP_FAILED)
        return CUDA_ERROR_OUT_OF_MEMORY;
    r = enter_binding(m, (struct binding){.device = a->prop.location.id,
                                          .offset = offset,
                                          .bytes = bytes,
                                          .at = (uintptr_t)at,
                                          .allocation = a});
    if (r == CUDA_SUCCESS)
        a->base.maps++;
    else
        munmap(at, bytes);
    return r;
}

static CUresult bind_memory(CUmemGenericAllocationHandle handle, size_t offset,
                            CUmemGenericAllocationHandle memory, size_t from, size_t bytes,
                            unsigned long long flags)
{
    struct multicast *m;
    void *a = NULL;
    CUresult r = pt_cu_multicast_wait(handle);
    if (r == CUDA_SUCCESS)
        r = pt_cu_mappable_check(memory, PT_CU_ALLOCATION, &a);
    if (r == CUDA_SUCCESS)
        r = check_multicast(handle, &m);
    if (r == CUDA_SUCCESS && flags)
        r = CUDA_ERROR_INVALID_VALUE;
    return r == CUDA_SUCCESS ? bind_allocation(m, offset, a, from, bytes) : r;
}

CUresult cuMulticastBindMem(CUmemGenericAllocationHandle handle, size_t offset,
                            CUmemGenericAllocationHandle memory, size_t from, size_t bytes,
                            unsigned long long flags)
{
    return API(bind_memory(handle, offset, memory, from, bytes, flags));
}

static CUresult bind_address(CUmemGenericAllocationHandle handle, size_t offset,
                             CUdeviceptr address, size_t bytes, unsigned long long flags)
{
    struct multicast *m;
    CUresult r = pt_cu_multicast_wait(handle);
    if (r == CUDA_SUCCESS)
        r = check_multicast(handle, &m);
    if (r != CUDA_SUCCESS)
        return r;
    const struct pt_cu_range *range = pt_cu_range_find(address);
    if (flags || !range || bytes > range->bytes - (address - range->first) ||
        address % PT_CU_GRANULARITY)
        return CUDA_ERROR_INVALID_VALUE;
    if (range->memory == PT_CU_MAPPED)
        return bind_allocation(m, offset, range->owner, range->offset + (address - range->first),
                               bytes);
    if (range->memory != PT_CU_POOLED || m->prop.handleTypes)
        return CUDA_ERROR_INVALID_VALUE;
    r = check_binding(m, offset, range->device, bytes);
    return r == CUDA_SUCCESS ? enter_binding(m, (struct binding){.device = range->device,
                                                                 .offset = offset,
                                                                 .bytes = bytes,
                                                                 .at = address})
                             : r;
}

CUresult cuMulticastBindAddr(CUmemGenericAllocationHandle handle, size_t offset,
                             CUdeviceptr address, size_t bytes, unsigned long long flags)
{
    return API(bind_address(handle, offset, address, bytes, flags));
}

/* What was bound is unbound as a whole. */
static CUresult unbind(CUmemGenericAllocationHandle handle, CUdevice device, size_t offset,
                       size_t bytes)
{
    struct multicast *m;
    CUresult r = check_multicast(handle, &m);
    if (r == CUDA_SUCCESS && !is_member(m, device))
        r = CUDA_ERROR_INVALID_DEVICE;
    if (r != CUDA_SUCCESS)
        return r;
    pt_cu_command_drain_all();
    r = check_multicast(handle, &m);
    if (r != CUDA_SUCCESS)
        return r;
    struct binding **place = &m->bindings;
    while (*place &&
           ((*place)->device != device || (*place)->offset != offset || (*place)->bytes != bytes))
        place = &(*place)->next;
    struct binding *b = *place;
    if (!b)
        return CUDA_ERROR_INVALID_VALUE;
    pthread_rwlock_wrlock(&kernels);
    *place = b->next;
    pthread_rwlock_unlock(&kernels);
    drop_binding(b);
    return CUDA_SUCCESS;
}

CUresult cuMulticastUnbind(CUmemGenericAllocationHandle handle, CUdevice device, size_t offset,
                           size_t bytes)
{
    return API(unbind(handle, device, offset, bytes));
}

/* ---- what kernels find ----------------------------------------------------------------------- */

void pt_cu_multicast_enter(struct pt_cu_range *range)
{
    pthread_rwlock_wrlock(&kernels);
    range->next = mappings;
    mappings = range;
    pthread_rwlock_unlock(&kernels);
}

void pt_cu_multicast_leave(struct pt_cu_range *range)
{
    pthread_rwlock_wrlock(&kernels);
    struct pt_cu_range **place = &mappings;
    while (*place != range)
        place = &(*place)->next;
    *place = range->next;
    pthread_rwlock_unlock(&kernels);
}

void pt_cu_multicast_protect(struct pt_cu_range *range, unsigned flags)
{
    pthread_rwlock_wrlock(&kernels);
    range->flags = flags;
    pthread_rwlock_unlock(&kernels);
}

/* The device's memory at that place in the object, or NULL. */
static const struct binding *find_binding(const struct multicast *m, CUdevice device,
                                          uint64_t offset)
{
    const struct binding *b = m->bindings;
    while (b && (b->device != device || offset - b->offset >= b->bytes))
        b = b->next;
    return b;
}

/* The part of the mapping around `address` in which each device has one binding. */
static const char *find_part(const struct pt_cu_range *range, uint64_t address,
                             struct pt_replicas *found)
{
    const struct multicast *m = range->owner;
    uint64_t offset = address - range->first + range->offset;
    uint64_t from = range->offset, until = from + range->bytes;
    for (unsigned i = 0; i < m->n_devices; i++) {
        const struct binding *b = find_binding(m, m->devices[i], offset);
        if (!b)
            return "a device has bound no memory to this part of the multicast object";
        from = b->offset > from ? b->offset : from;
        until = b->offset + b->bytes < until ? b->offset + b->bytes : until;
        found->at[i] = b->at - b->offset;
    }
    found->n = m->n_devices;
    for (unsigned i = 0; i < found->n; i++)
        found->at[i] += from;
    found->first = range->first + (from - range->offset);
    found->bytes = until - from;
    return NULL;
}

static const char *find(uint64_t address, bool is_write, struct pt_replicas *found)
{
    const struct pt_cu_range *range = mappings;
    while (range && address - range->first >= range->bytes)
        range = range->next;
    if (!range)
        return pt_no_multicast;
    if (range->flags == CU_MEM_ACCESS_FLAGS_PROT_NONE)
        return "no access to this multicast memory has been set";
    if (is_write && range->flags != CU_MEM_ACCESS_FLAGS_PROT_READWRITE)
        return "this multicast memory may only be read";
    return find_part(range, address, found);
}

const char *pt_cu_multicast_replicas(uint64_t address, bool is_write, struct pt_replicas *found)
{
    pthread_rwlock_rdlock(&kernels);
    const char *problem = find(address, is_write, found);
    pthread_rwlock_unlock(&kernels);
    return problem;
}

bool pt_cu_multicast_find_bound(uint64_t address, uint64_t *first, uint64_t *bytes)
{
    bool is_found = false;
    pthread_rwlock_rdlock(&kernels);
    for (const struct pt_cu_range *range = mappings; range && !is_found; range = range->next) {
        const struct multicast *m = range->owner;
        const struct binding *b = m->bindings;
        while (b && address - b->at >= b->bytes)
            b = b->next;
        is_found = b != NULL;
        *first = is_found ? b->at : 0;
        *bytes = is_found ? b->bytes : 0;
    }
    pthread_rwlock_unlock(&kernels);
    return is_found;
}
