/* Handles by which other processes get an event. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "runtime/cuda/current.h"
#include "runtime/cuda/driver.h"
#include "runtime/cuda/entry.h"
#include "runtime/cuda/event.h"
#include "runtime/cuda/event_page.h"
#include "runtime/cuda/handle.h"

/* What the 64 bytes of a handle hold. */
struct handle {
    char magic[8];
    uint32_t pid;
    int32_t fd;
    uint64_t device, inode; /* of the file: the number may be another one's by now */
};
static const char magic[8] = "pteraevt";
_Static_assert(sizeof(struct handle) <= CU_IPC_HANDLE_SIZE, "");

static CUresult get_handle(CUipcEventHandle *out, CUevent event)
{
    struct stat st;
    CUresult r = pt_cu_driver_check();
    if (r != CUDA_SUCCESS)
        return r;
    if (!out || !event)
        return CUDA_ERROR_INVALID_VALUE;
    if (!pt_cu_handle_is(event, PT_CU_EVENT) || !event->shared)
        return CUDA_ERROR_INVALID_HANDLE;
    if (event->shared->is_imported || fstat(event->shared->fd, &st) != 0)
        return CUDA_ERROR_INVALID_VALUE;
    struct handle h = {.pid = (uint32_t)getpid(),
                       .fd = event->shared->fd,
                       .device = st.st_dev,
                       .inode = st.st_ino};
    memcpy(h.magic, magic, sizeof magic);
    memset(out, 0, sizeof *out);
    memcpy(out, &h, sizeof h);
    return CUDA_SUCCESS;
}

CUresult cuIpcGetEventHandle(CUipcEventHandle *handle, CUevent event)
{
    return API(get_handle(handle, event));
}

static struct pt_cu_event_page *open_page(const struct handle *h)
{
    char path[64];
    struct stat st;
    snprintf(path, sizeof path, "/proc/%u/fd/%d", h->pid, h->fd);
    int fd = open(path, O_RDWR | O_CLOEXEC);
    if (fd < 0)
        return NULL;
    bool is_same = fstat(fd, &st) == 0 && st.st_dev == h->device && st.st_ino == h->inode &&
                   (size_t)st.st_size >= sizeof(struct pt_cu_event_counts);
    struct pt_cu_event_page *shared = is_same ? pt_cu_event_page_map(fd, true) : NULL;
    close(fd);
    return shared;
}

static CUresult open_handle(CUevent *event, const CUipcEventHandle *given)
{
    CUcontext ctx;
    struct handle h;
    CUresult r = pt_cu_current_get(&ctx);
    if (r != CUDA_SUCCESS)
        return r;
    memcpy(&h, given, sizeof h);
    if (!event)
        return CUDA_ERROR_INVALID_VALUE;
    if (memcmp(h.magic, magic, sizeof magic) != 0)
        return CUDA_ERROR_MAP_FAILED;
    if (h.pid == (uint32_t)getpid()) /* for other processes only */
        return CUDA_ERROR_INVALID_CONTEXT;
    struct pt_cu_event_page *shared = open_page(&h);
    if (!shared)
        return CUDA_ERROR_MAP_FAILED;
    return pt_cu_event_new(ctx, CU_EVENT_INTERPROCESS | CU_EVENT_DISABLE_TIMING, shared, event);
}

CUresult cuIpcOpenEventHandle(CUevent *event, CUipcEventHandle handle)
{
    return API(open_handle(event, &handle));
}
