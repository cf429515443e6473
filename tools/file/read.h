/* Files as a whole, for the command's parts on every floor. */
#ifndef PTERA_TOOLS_FILE_READ_H
#define PTERA_TOOLS_FILE_READ_H

#include <stddef.h>

/* Reads a whole file; a zero is behind it. NULL with a message on standard error if that fails. The
 * caller frees. */
void *file_read(const char *path, size_t *bytes);

#endif
