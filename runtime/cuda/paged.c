/* Managed memory beyond the machine's. */
#define _GNU_SOURCE
#include "runtime/cuda/paged.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "runtime/cuda/context_list.h"
#include "runtime/cuda/driver.h"
#include "runtime/cuda/range.h"
#include "runtime/engine.h"

/* A file of no name in TMPDIR, else in /var/tmp, which is on a disk by custom. A process that may
 * not have one as large is not killed for it. */
static int open_file(size_t bytes)
{
    const char *folder = getenv("TMPDIR");
    struct rlimit most;
    if (getrlimit(RLIMIT_FSIZE, &most) || most.rlim_cur < bytes)
        return -1;
    int fd = open(folder && *folder ? folder : "/var/tmp", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    if (fd >= 0 && ftruncate(fd, (off_t)bytes) == 0)
        return fd;
    if (fd >= 0)
        close(fd);
    return -1;
}

void pt_cu_paged_new(struct pt_cu_range *range)
{
    struct pt_mem_record record;
    size_t machine = (size_t)sysconf(_SC_PHYS_PAGES) * (size_t)sysconf(_SC_PAGESIZE);
    if (pt_cu_driver.managed_bytes <= machine ||
        !pt_mem_near(&range->ctx->engine->mem, range->first, &record))
        return;
    size_t bytes = record.last - record.first;
    int fd = open_file(bytes);
    if (fd < 0)
        return;
    if (mmap((void *)(uintptr_t)record.first, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED,
             fd, 0) != MAP_FAILED)
        range->fd = fd;
    else
        close(fd);
}
