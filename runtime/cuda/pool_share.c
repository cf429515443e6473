/* Pools of one process in another: a file names the pool, 64 bytes name an allocation of it. */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "runtime/cuda/current.h"
#include "runtime/cuda/device.h"
#include "runtime/cuda/entry.h"
#include "runtime/cuda/ipc.h"
#include "runtime/cuda/pool.h"
#include "runtime/cuda/range.h"
#include "runtime/mem.h"

/* What the file says. */
struct name {
    char magic[8];
    uint32_t process;
    int32_t device;
    uint64_t number;
};
static const char magic[8] = "pterapol";

static CUresult export_pool(void *out, CUmemoryPool pool, CUmemAllocationHandleType type,
                            unsigned long long flags)
{
    CUresult r = pt_cu_pool_check(pool);
    if (r == CUDA_SUCCESS &&
        (!out || type != CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR || flags || !pool->is_for_others))
        r = CUDA_ERROR_INVALID_VALUE;
    if (r != CUDA_SUCCESS)
        return r;
    struct name name = {
        .process = (uint32_t)getpid(), .device = pool->device, .number = pool->object.id};
    memcpy(name.magic, magic, sizeof magic);
    int fd = pt_mem_file(sizeof name);
    if (fd < 0)
        return CUDA_ERROR_OUT_OF_MEMORY;
    if (!pt_cu_ipc_write(fd, &name, sizeof name)) {
        close(fd);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    pool->is_exported = true;
    memcpy(out, &fd, sizeof fd);
    return CUDA_SUCCESS;
}

CUresult cuMemPoolExportToShareableHandle(void *handle, CUmemoryPool pool,
                                          CUmemAllocationHandleType type, unsigned long long flags)
{
    return API(export_pool(handle, pool, type, flags));
}

/* In another process there is one of each. */
static CUmemoryPool find_imported(const struct name *name)
{
    CUmemoryPool pool = name->process == (uint32_t)getpid() ? NULL : pt_cu_pool_next(NULL);
    while (pool &&
           (pool->is_destroyed || pool->process != name->process || pool->number != name->number))
        pool = pool->next;
    return pool;
}

/* False: the file has no name of a pool. */
static bool read_name(int fd, struct name *name)
{
    size_t done = 0;
    while (done < sizeof *name) {
        ssize_t n = pread(fd, (char *)name + done, sizeof *name - done, (off_t)done);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return false;
        done += (size_t)n;
    }
    return memcmp(name->magic, magic, sizeof magic) == 0;
}

static CUresult import_pool(CUmemoryPool *out, int fd, CUmemAllocationHandleType type,
                            unsigned long long flags)
{
    struct name name;
    CUresult r = pt_cu_driver_check();
    if (r == CUDA_SUCCESS && (!out || type != CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR || flags))
        r = CUDA_ERROR_INVALID_VALUE;
    if (r != CUDA_SUCCESS)
        return r;
    if (!read_name(fd, &name))
        return CUDA_ERROR_UNKNOWN;
    if (!pt_cu_device_is_valid(name.device))
        return CUDA_ERROR_INVALID_DEVICE;
    CUmemoryPool pool = find_imported(&name);
    if (!pool) {
        pool = pt_cu_pool_new(name.device);
        if (!pool)
            return CUDA_ERROR_OUT_OF_MEMORY;
        pool->process = name.process;
        pool->number = name.number;
        pt_cu_handle_give(pool);
    }
    pool->imports++;
    *out = pool;
    return CUDA_SUCCESS;
}

CUresult cuMemPoolImportFromShareableHandle(CUmemoryPool *pool, void *handle,
                                            CUmemAllocationHandleType type,
                                            unsigned long long flags)
{
    return API(import_pool(pool, (int)(intptr_t)handle, type, flags));
}

/* ---- allocations ----------------------------------------------------------------------------- */

static CUresult export_pointer(CUmemPoolPtrExportData *out, CUdeviceptr address)
{
    CUresult r = pt_cu_driver_check();
    if (r != CUDA_SUCCESS)
        return r;
    struct pt_cu_range *range = pt_cu_range_find(address);
    if (!out || !range || range->memory != PT_CU_POOLED || range->first != address ||
        range->is_going)
        return CUDA_ERROR_INVALID_VALUE;
    const struct CUmemPoolHandle_st *pool = range->owner;
    return pool->is_exported ? pt_cu_ipc_export(range, pool->object.id, out)
                             : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuMemPoolExportPointer(CUmemPoolPtrExportData *data, CUdeviceptr address)
{
    return API(export_pointer(data, address));
}

/* It is unmapped. */
static bool leave_pool(struct pt_cu_range *range)
{
    CUmemoryPool pool = range->owner;
    struct pt_cu_range **place = &pool->kept;
    while (*place != range)
        place = &(*place)->next;
    *place = range->next;
    if (!--pool->blocks && pool->is_destroyed)
        pt_cu_pool_delete(pool);
    return false;
}

static struct pt_cu_range *find_range(CUmemoryPool pool, uint64_t inode)
{
    struct pt_cu_range *range = pool->kept;
    while (range && (range->inode != inode || range->is_going))
        range = range->next;
    return range;
}

static CUresult import_pointer(CUdeviceptr *out, CUmemoryPool pool,
                               const CUmemPoolPtrExportData *data)
{
    CUcontext ctx;
    struct pt_cu_range *range;
    CUresult r = pt_cu_pool_check(pool);
    if (r == CUDA_SUCCESS && (!out || !data || !pool->process))
        r = CUDA_ERROR_INVALID_VALUE;
    if (r == CUDA_SUCCESS)
        r = pt_cu_current_get(&ctx);
    if (r != CUDA_SUCCESS)
        return r;
    range = find_range(pool, pt_cu_ipc_inode(data));
    if (!range) {
        r = pt_cu_ipc_import(data, pool->process, pool->number, ctx, &range);
        if (r != CUDA_SUCCESS)
            return r;
        range->owner = pool;
        range->keep = leave_pool;
        range->next = pool->kept;
        pool->kept = range;
        pool->blocks++;
    }
    range->imports++;
    *out = range->first;
    return CUDA_SUCCESS;
}

CUresult cuMemPoolImportPointer(CUdeviceptr *address, CUmemoryPool pool,
                                CUmemPoolPtrExportData *data)
{
    return API(import_pointer(address, pool, data));
}
