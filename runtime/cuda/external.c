/* Memory that something else than CUDA made, as files that can be mapped: those of cuMemCreate, of
 * memfd_create, and whatever else a Vulkan driver on a CPU exports. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "runtime/cuda/array.h"
#include "runtime/cuda/current.h"
#include "runtime/cuda/driver.h"
#include "runtime/cuda/entry.h"
#include "runtime/cuda/handle.h"
#include "runtime/cuda/range.h"

struct CUextMemory_st {
    struct pt_cu_object object;
    int fd;
    size_t bytes; /* of the file */
};

/* The program's file becomes the driver's: closed for the one, which may use the number anew. */
static CUresult take_file(int given, int *fd, size_t *bytes)
{
    struct stat st;
    if (fstat(given, &st) != 0 || !S_ISREG(st.st_mode))
        return CUDA_ERROR_UNKNOWN;
    *fd = fcntl(given, F_DUPFD_CLOEXEC, 0);
    if (*fd < 0)
        return CUDA_ERROR_UNKNOWN;
    *bytes = (size_t)st.st_size;
    close(given);
    return CUDA_SUCCESS;
}

static CUresult import(CUexternalMemory *out, const CUDA_EXTERNAL_MEMORY_HANDLE_DESC *d)
{
    CUcontext ctx;
    CUresult r = pt_cu_current_get(&ctx);
    if (r != CUDA_SUCCESS)
        return r;
    if (!out || !d || !d->size || d->flags & ~(unsigned)CUDA_EXTERNAL_MEMORY_DEDICATED)
        return CUDA_ERROR_INVALID_VALUE;
    if (d->type >= CU_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_WIN32 &&
        d->type <= CU_EXTERNAL_MEMORY_HANDLE_TYPE_NVSCIBUF)
        return CUDA_ERROR_NOT_SUPPORTED;
    if (d->type != CU_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD)
        return CUDA_ERROR_INVALID_VALUE;
    CUexternalMemory memory = pt_cu_handle_new(PT_CU_EXTERNAL_MEMORY, sizeof *memory);
    if (!memory)
        return CUDA_ERROR_OUT_OF_MEMORY;
    r = take_file(d->handle.fd, &memory->fd, &memory->bytes);
    if (r == CUDA_SUCCESS)
        *out = memory;
    else
        pt_cu_handle_delete(memory);
    return r;
}

CUresult cuImportExternalMemory(CUexternalMemory *memory,
                                const CUDA_EXTERNAL_MEMORY_HANDLE_DESC *desc)
{
    return API(import(memory, desc));
}

static CUresult check(CUexternalMemory memory)
{
    CUresult r = pt_cu_driver_check();
    return r == CUDA_SUCCESS && !pt_cu_handle_is(memory, PT_CU_EXTERNAL_MEMORY)
               ? CUDA_ERROR_INVALID_VALUE
               : r;
}

/* A part of it, which stays until it is freed, whatever becomes of the handle. */
static CUresult map(CUexternalMemory memory, size_t offset, size_t size, CUcontext ctx,
                    struct pt_cu_range **out)
{
    if (!size || offset > memory->bytes || size > memory->bytes - offset)
        return CUDA_ERROR_INVALID_VALUE;
    size_t before = offset % (size_t)sysconf(_SC_PAGESIZE), bytes = before + size;
    uint8_t *pages =
        mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, memory->fd, (off_t)(offset - before));
    if (pages == MAP_FAILED)
        return CUDA_ERROR_MAP_FAILED;
    *out = pt_cu_range_add((uintptr_t)pages + before, size, PT_CU_EXTERNAL, ctx);
    if (!*out) {
        munmap(pages, bytes);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    (*out)->pages_before = before;
    (*out)->pages_bytes = bytes;
    return CUDA_SUCCESS;
}

static CUresult map_buffer(CUdeviceptr *out, CUexternalMemory memory,
                           const CUDA_EXTERNAL_MEMORY_BUFFER_DESC *d)
{
    CUcontext ctx;
    struct pt_cu_range *range;
    CUresult r = check(memory);
    if (r == CUDA_SUCCESS)
        r = pt_cu_current_get(&ctx);
    if (r == CUDA_SUCCESS && (!out || !d || d->flags))
        r = CUDA_ERROR_INVALID_VALUE;
    if (r == CUDA_SUCCESS)
        r = map(memory, d->offset, d->size, ctx, &range);
    if (r == CUDA_SUCCESS)
        *out = range->first;
    return r;
}

CUresult cuExternalMemoryGetMappedBuffer(CUdeviceptr *address, CUexternalMemory memory,
                                         const CUDA_EXTERNAL_MEMORY_BUFFER_DESC *desc)
{
    return API(map_buffer(address, memory, desc));
}

struct part {
    CUexternalMemory memory;
    size_t offset;
};

static CUresult give_part(void *ud, CUcontext ctx, size_t bytes, struct pt_cu_range **range)
{
    const struct part *part = ud;
    return map(part->memory, part->offset, bytes, ctx, range);
}

static CUresult map_levels(CUmipmappedArray *out, CUexternalMemory memory,
                           const CUDA_EXTERNAL_MEMORY_MIPMAPPED_ARRAY_DESC *d)
{
    CUresult r = check(memory);
    if (r == CUDA_SUCCESS && (!out || !d))
        r = CUDA_ERROR_INVALID_VALUE;
    if (r != CUDA_SUCCESS)
        return r;
    struct part part = {memory, d->offset};
    return pt_cu_array_make_over(out, &d->arrayDesc, d->numLevels, give_part, &part);
}

CUresult
cuExternalMemoryGetMappedMipmappedArray(CUmipmappedArray *levels, CUexternalMemory memory,
                                        const CUDA_EXTERNAL_MEMORY_MIPMAPPED_ARRAY_DESC *desc)
{
    return API(map_levels(levels, memory, desc));
}

static CUresult destroy(CUexternalMemory memory)
{
    CUresult r = check(memory);
    if (r != CUDA_SUCCESS)
        return r;
    close(memory->fd);
    pt_cu_handle_delete(memory);
    return CUDA_SUCCESS;
}

CUresult cuDestroyExternalMemory(CUexternalMemory memory)
{
    return API(destroy(memory));
}
