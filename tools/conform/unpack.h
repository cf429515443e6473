/* Packages: tar files, compressed with zstd. */
#ifndef PTERA_TOOLS_CONFORM_UNPACK_H
#define PTERA_TOOLS_CONFORM_UNPACK_H

#include <stddef.h>

/* The bytes of the tar file, to be freed; NULL and a message about `path`: it cannot be
 * unpacked. */
char *conform_unpack(const char *path, const char *packed, size_t packed_bytes, size_t *bytes);
/* A file of it, by its name below the one folder at the top; NULL: there is none. */
const char *conform_unpack_find(const char *tar, size_t tar_bytes, const char *name, size_t *bytes);

#endif
