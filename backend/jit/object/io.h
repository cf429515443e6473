/* All of a block, from a file or through a socket. */
#ifndef PTERA_BACKEND_JIT_OBJECT_IO_H
#define PTERA_BACKEND_JIT_OBJECT_IO_H

#include <stdbool.h>
#include <stddef.h>

/* False: an error, or the end comes before n bytes have. */
bool jit_io_read(int fd, void *to, size_t n);
bool jit_io_write(int fd, const void *from, size_t n);

#endif
