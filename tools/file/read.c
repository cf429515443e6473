/* Files as a whole. */
#include "tools/file/read.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void *file_read(const char *path, size_t *bytes)
{
    FILE *f = fopen(path, "rb");
    char *data = NULL;
    size_t n = 0, cap = 0;
    if (f) {
        do {
            if (n + 1 >= cap) {
                cap = cap ? cap * 2 : 1 << 16;
                char *grown = realloc(data, cap);
                if (!grown)
                    goto fail;
                data = grown;
            }
            n += fread(data + n, 1, cap - 1 - n, f);
        } while (n + 1 == cap);
        data[n] = 0;
        if (!ferror(f)) {
            fclose(f);
            *bytes = n;
            return data;
        }
    }
fail:
    *bytes = 0;
    fprintf(stderr, "ptera: cannot read %s: %s\n", path, strerror(errno));
    free(data);
    if (f)
        fclose(f);
    return NULL;
}
