/* Events of several processes: what was recorded, and how far it is done, stands in a page that they share. */
#define _GNU_SOURCE
#include "runtime/cuda/driver.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { POLL_NS = 20000 };

/* The page. Records are numbered; one is done when `done` has come so far. */
struct page {
    atomic_uint_fast64_t recorded, done;
};

struct pt_cu_shared {
    unsigned refs; /* of the event and of operations under way */
    bool is_imported;
    int fd;        /* of the file behind it; -1: imported */
    struct page *page;
};

/* What the 64 bytes of a handle hold. */
struct handle {
    char magic[8];
    uint32_t pid;
    int32_t fd;
    uint64_t device, inode; /* of the file: the number may be another one's by now */
};
static const char magic[8] = "pteraevt";
_Static_assert(sizeof(struct handle) <= CU_IPC_HANDLE_SIZE, "");

/* ---- pages --------------------------------------------------------------------------------------------- */

static struct pt_cu_shared *map(int fd, bool is_imported)
{
    struct pt_cu_shared *s = calloc(1, sizeof *s);
    if (!s)
        return NULL;
    void *page = mmap(NULL, sizeof *s->page, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (page == MAP_FAILED) {
        free(s);
        return NULL;
    }
    *s = (struct pt_cu_shared){.refs = 1, .is_imported = is_imported, .fd = is_imported ? -1 : fd, .page = page};
    return s;
}

struct pt_cu_shared *pt_cu_shared_new(void)
{
    int fd = pt_mem_file(sizeof(struct page));
    struct pt_cu_shared *s = fd >= 0 ? map(fd, false) : NULL;
    if (!s && fd >= 0)
        close(fd);
    return s;
}

struct pt_cu_shared *pt_cu_shared_ref(struct pt_cu_shared *shared)
{
    if (shared)
        shared->refs++;
    return shared;
}

void pt_cu_shared_put(struct pt_cu_shared *shared)
{
    if (!shared || --shared->refs)
        return;
    munmap(shared->page, sizeof *shared->page);
    if (shared->fd >= 0)
        close(shared->fd);
    free(shared);
}

/* ---- records ------------------------------------------------------------------------------------------- */

uint64_t pt_cu_shared_record(struct pt_cu_shared *shared)
{
    return atomic_fetch_add(&shared->page->recorded, 1) + 1;
}

void pt_cu_shared_done(struct pt_cu_shared *shared, uint64_t number)
{
    uint_fast64_t before = atomic_load(&shared->page->done);
    while (before < number && !atomic_compare_exchange_weak(&shared->page->done, &before, number))
        continue;
}

bool pt_cu_shared_is_done(const struct pt_cu_shared *shared)
{
    return atomic_load(&shared->page->done) >= atomic_load(&shared->page->recorded);
}

struct pt_cu_op pt_cu_shared_wait(struct pt_cu_shared *shared)
{
    struct pt_cu_op op = {.work = PT_CU_WAIT_VALUE};
    op.value.address = &shared->page->done;
    op.value.value = atomic_load(&shared->page->recorded);
    op.value.bytes = sizeof op.value.value;
    op.value.flags = CU_STREAM_WAIT_VALUE_GEQ;
    op.value.shared = pt_cu_shared_ref(shared);
    return op;
}

/* The lock is left meanwhile. */
void pt_cu_shared_finish(CUcontext ctx, struct pt_cu_shared *shared)
{
    const struct timespec pause = {0, POLL_NS};
    uint64_t number = atomic_load(&shared->page->recorded);
    pt_cu_shared_ref(shared);
    pt_cu_step_out(ctx);
    while (atomic_load(&shared->page->done) < number)
        nanosleep(&pause, NULL);
    pt_cu_step_in(ctx);
    pt_cu_shared_put(shared);
}

/* ---- handles ------------------------------------------------------------------------------------------- */

static CUresult get_handle(CUipcEventHandle *out, CUevent event)
{
    struct stat st;
    CUresult r = pt_cu_check_init();
    if (r != CUDA_SUCCESS)
        return r;
    if (!pt_cu_is(event, PT_CU_EVENT))
        return CUDA_ERROR_INVALID_HANDLE;
    if (!out || !event->shared || event->shared->is_imported || fstat(event->shared->fd, &st) != 0)
        return CUDA_ERROR_INVALID_VALUE;
    struct handle h = {.pid = (uint32_t)getpid(), .fd = event->shared->fd, .device = st.st_dev, .inode = st.st_ino};
    memcpy(h.magic, magic, sizeof magic);
    memset(out, 0, sizeof *out);
    memcpy(out, &h, sizeof h);
    return CUDA_SUCCESS;
}

CUresult cuIpcGetEventHandle(CUipcEventHandle *handle, CUevent event)
{
    return API(get_handle(handle, event));
}

static struct pt_cu_shared *open_page(const struct handle *h)
{
    char path[64];
    struct stat st;
    snprintf(path, sizeof path, "/proc/%u/fd/%d", h->pid, h->fd);
    int fd = open(path, O_RDWR | O_CLOEXEC);
    if (fd < 0)
        return NULL;
    bool is_same = fstat(fd, &st) == 0 && st.st_dev == h->device && st.st_ino == h->inode &&
                   (size_t)st.st_size >= sizeof(struct page);
    struct pt_cu_shared *shared = is_same ? map(fd, true) : NULL;
    close(fd);
    return shared;
}

static CUresult open_handle(CUevent *event, const CUipcEventHandle *given)
{
    CUcontext ctx;
    struct handle h;
    CUresult r = pt_cu_current(&ctx);
    if (r != CUDA_SUCCESS)
        return r;
    memcpy(&h, given, sizeof h);
    if (!event || memcmp(h.magic, magic, sizeof magic) != 0)
        return CUDA_ERROR_INVALID_VALUE;
    if (h.pid == (uint32_t)getpid()) /* for other processes only */
        return CUDA_ERROR_INVALID_CONTEXT;
    struct pt_cu_shared *shared = open_page(&h);
    if (!shared)
        return CUDA_ERROR_MAP_FAILED;
    return pt_cu_event_new(ctx, CU_EVENT_INTERPROCESS | CU_EVENT_DISABLE_TIMING, shared, event);
}

CUresult cuIpcOpenEventHandle(CUevent *event, CUipcEventHandle handle)
{
    return API(open_handle(event, &handle));
}
