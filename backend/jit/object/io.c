/* Reading and writing whole blocks, whatever interrupts them. */
#include "backend/jit/object/io.h"

#include <errno.h>
#include <stdint.h>
#include <unistd.h>

bool jit_io_read(int fd, void *to, size_t n)
{
    for (uint8_t *p = to; n;) {
        ssize_t got = read(fd, p, n);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return false;
        p += got;
        n -= (size_t)got;
    }
    return true;
}

bool jit_io_write(int fd, const void *from, size_t n)
{
    for (const uint8_t *p = from; n;) {
        ssize_t put = write(fd, p, n);
        if (put < 0 && errno == EINTR)
            continue;
        if (put <= 0)
            return false;
        p += put;
        n -= (size_t)put;
    }
    return true;
}
