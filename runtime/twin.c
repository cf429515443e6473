/* Memory with two addresses: one for the host, one for kernels, which may only read it. */
#define _GNU_SOURCE
#include "runtime/twin.h"

#include <sys/mman.h>
#include <unistd.h>

#include "runtime/mem.h"

/* The memory at `write` once more, to be read at `read`. (Emulators do not know the way without
 * a file.) */
static bool map_again(uint8_t *write, uint8_t *read, size_t bytes, int fd)
{
    if (fd >= 0)
        return mmap(read, bytes, PROT_READ, MAP_SHARED | MAP_FIXED, fd, 0) != MAP_FAILED;
    return mremap(write, 0, bytes, MREMAP_MAYMOVE | MREMAP_FIXED, read) != MAP_FAILED &&
           mprotect(read, bytes, PROT_READ) == 0;
}

bool pt_twin_map(struct pt_twin *twin, size_t bytes)
{
    *twin = (struct pt_twin){.bytes = pt_mem_round(bytes)};
    int fd = pt_mem_file(twin->bytes), sharing = fd < 0 ? MAP_SHARED | MAP_ANONYMOUS : MAP_SHARED;
    size_t page = pt_mem_page(), room = twin->bytes + 2 * page;
    uint8_t *write = mmap(NULL, twin->bytes, PROT_READ | PROT_WRITE, sharing, fd, 0);
    uint8_t *read = write != MAP_FAILED ? pt_mem_reserve(room, page) : NULL;
    if (read && map_again(write, read + page, twin->bytes, fd)) {
        twin->write = write;
        twin->read = read + page;
    } else {
        pt_mem_unreserve(read, room);
        if (write != MAP_FAILED)
            munmap(write, twin->bytes);
    }
    if (fd >= 0)
        close(fd);
    return twin->write != NULL;
}

void pt_twin_unmap(struct pt_twin *twin)
{
    if (!twin->write)
        return;
    size_t page = pt_mem_page();
    munmap(twin->write, twin->bytes);
    munmap(twin->read - page, twin->bytes + 2 * page);
    *twin = (struct pt_twin){0};
}
