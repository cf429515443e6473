/* Memory of one process in another. An allocation moves to a file in memory, at the same address,
 * when its handle is first asked for; the other process opens that file. */
#define _GNU_SOURCE
#include "runtime/cuda/ipc.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "runtime/cuda/command.h"
#include "runtime/cuda/context_list.h"
#include "runtime/cuda/current.h"
#include "runtime/cuda/entry.h"
#include "runtime/cuda/range.h"
#include "runtime/cuda/trap.h"

/* What the 64 bytes hold. */
struct handle {
    char magic[8];
    uint32_t pid;
    int32_t fd;
    uint64_t device, inode; /* of the file: the number may be another one's by now */
    uint64_t offset, bytes, pages;
    uint64_t pool; /* what it is of there; 0: of none */
};
static const char magic[8] = "pteraipc";
_Static_assert(sizeof(struct handle) == CU_IPC_HANDLE_SIZE, "");
_Static_assert(sizeof(struct handle) == sizeof(CUmemPoolPtrExportData), "");

bool pt_cu_ipc_write(int fd, const void *from, size_t bytes)
{
    const uint8_t *data = from;
    while (bytes) {
        ssize_t n = write(fd, data, bytes);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return false;
        data += n;
        bytes -= (size_t)n;
    }
    return true;
}

/* Nothing is under way in its context. */
static bool move_to_file(struct pt_cu_range *range, const struct pt_mem_record *record)
{
    uint8_t *pages = (uint8_t *)(uintptr_t)record->first;
    size_t bytes = record->last - record->first;
    int fd = pt_mem_file(bytes);
    if (fd < 0)
        return false;
    bool ok =
        pt_cu_ipc_write(fd, pages, bytes) &&
        mmap(pages, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd, 0) != MAP_FAILED;
    if (ok)
        range->fd = fd;
    else
        close(fd);
    return ok;
}

CUresult pt_cu_ipc_export(struct pt_cu_range *range, uint64_t pool, void *out)
{
    struct pt_mem_record record;
    struct stat st;
    CUresult r = pt_cu_command_drain(range->ctx);
    if (r != CUDA_SUCCESS)
        return r;
    if (!pt_mem_near(&range->ctx->engine->mem, range->first, &record))
        return CUDA_ERROR_INVALID_VALUE;
    pt_cu_trap_reach(NULL);
    bool is_shared = range->fd >= 0 || move_to_file(range, &record);
    pt_cu_trap_unreach(NULL);
    if (!is_shared || fstat(range->fd, &st) != 0)
        return CUDA_ERROR_OUT_OF_MEMORY;
    struct handle h = {.pid = (uint32_t)getpid(),
                       .fd = range->fd,
                       .device = st.st_dev,
                       .inode = st.st_ino,
                       .offset = range->first - record.first,
                       .bytes = range->bytes,
                       .pages = record.last - record.first,
                       .pool = pool};
    memcpy(h.magic, magic, sizeof magic);
    memcpy(out, &h, sizeof h);
    return CUDA_SUCCESS;
}

uint64_t pt_cu_ipc_inode(const void *handle)
{
    struct handle h;
    memcpy(&h, handle, sizeof h);
    return h.inode;
}

static CUresult get_handle(CUipcMemHandle *out, CUdeviceptr address)
{
    CUcontext ctx;
    CUresult r = pt_cu_current_get(&ctx);
    if (r != CUDA_SUCCESS)
        return r;
    struct pt_cu_range *range = pt_cu_range_find(address);
    if (!out || !range || range->memory != PT_CU_DEVICE)
        return CUDA_ERROR_INVALID_VALUE;
    return pt_cu_ipc_export(range, 0, out);
}

CUresult cuIpcGetMemHandle(CUipcMemHandle *handle, CUdeviceptr address)
{
    return API(get_handle(handle, address));
}

static void *map_file(const struct handle *h)
{
    char path[64];
    struct stat st;
    snprintf(path, sizeof path, "/proc/%u/fd/%d", h->pid, h->fd);
    int fd = open(path, O_RDWR | O_CLOEXEC);
    if (fd < 0)
        return NULL;
    bool is_same = fstat(fd, &st) == 0 && st.st_dev == h->device && st.st_ino == h->inode &&
                   (uint64_t)st.st_size == h->pages;
    void *p =
        is_same ? mmap(NULL, h->pages, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0) : MAP_FAILED;
    close(fd);
    return p == MAP_FAILED ? NULL : p;
}

CUresult pt_cu_ipc_import(const void *given, uint32_t pid, uint64_t pool, CUcontext ctx,
                          struct pt_cu_range **out)
{
    struct handle h;
    memcpy(&h, given, sizeof h);
    if (memcmp(h.magic, magic, sizeof magic) != 0 || h.offset > h.pages ||
        h.bytes > h.pages - h.offset || h.pool != pool || (pool && h.pid != pid))
        return CUDA_ERROR_INVALID_VALUE;
    if (!pool && h.pid == (uint32_t)getpid()) /* for other processes only */
        return CUDA_ERROR_INVALID_CONTEXT;
    uint8_t *pages = map_file(&h);
    struct pt_cu_range *range =
        pages ? pt_cu_range_add((uintptr_t)pages + h.offset, h.bytes, PT_CU_IMPORTED, ctx) : NULL;
    if (!range && pages)
        munmap(pages, h.pages);
    if (!range)
        return CUDA_ERROR_MAP_FAILED;
    range->pages_before = h.offset;
    range->pages_bytes = h.pages;
    range->inode = h.inode;
    *out = range;
    return CUDA_SUCCESS;
}

static CUresult open_handle(CUdeviceptr *out, const CUipcMemHandle *given, unsigned flags)
{
    CUcontext ctx;
    struct pt_cu_range *range;
    CUresult r = pt_cu_current_get(&ctx);
    if (r == CUDA_SUCCESS && (!out || flags != CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS))
        r = CUDA_ERROR_INVALID_VALUE;
    if (r == CUDA_SUCCESS)
        r = pt_cu_ipc_import(given, 0, 0, ctx, &range);
    if (r == CUDA_SUCCESS)
        *out = range->first;
    return r;
}

CUresult cuIpcOpenMemHandle(CUdeviceptr *address, CUipcMemHandle handle, unsigned flags)
{
    return API(open_handle(address, &handle, flags));
}

CUresult cuIpcOpenMemHandle_v2(CUdeviceptr *address, CUipcMemHandle handle, unsigned flags)
{
    return API(open_handle(address, &handle, flags));
}

void pt_cu_ipc_close(struct pt_cu_range *range)
{
    if (range->keep)
        range->keep(range);
    munmap((void *)(uintptr_t)(range->first - range->pages_before), range->pages_bytes);
    pt_cu_range_remove(range);
}

static CUresult close_handle(CUdeviceptr address)
{
    CUcontext ctx;
    CUresult r = pt_cu_current_get(&ctx);
    if (r != CUDA_SUCCESS)
        return r;
    struct pt_cu_range *range = pt_cu_range_find(address);
    if (!range || range->memory != PT_CU_IMPORTED || range->owner || range->first != address)
        return CUDA_ERROR_INVALID_VALUE;
    r = pt_cu_command_drain(range->ctx);
    pt_cu_ipc_close(range);
    return r;
}

CUresult cuIpcCloseMemHandle(CUdeviceptr address)
{
    return API(close_handle(address));
}
