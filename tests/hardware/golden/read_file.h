/* A file of a folder, whole, with a 0 behind it; what is not there ends the program. Machines with
 * a GPU compile this, too, so that it knows nothing of Ptera. */
#ifndef PTERA_TESTS_GOLDEN_READ_FILE_H
#define PTERA_TESTS_GOLDEN_READ_FILE_H

#include <stdio.h>
#include <stdlib.h>

static char *read_file(const char *folder, const char *name, size_t *bytes)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *f = fopen(path, "rb");
    if (!f) {
        perror(path);
        exit(2);
    }
    fseek(f, 0, SEEK_END);
    *bytes = (size_t)ftell(f);
    rewind(f);
    char *data = malloc(*bytes + 1);
    if (!data || fread(data, 1, *bytes, f) != *bytes) {
        fprintf(stderr, "%s: cannot be read\n", path);
        exit(2);
    }
    data[*bytes] = 0;
    fclose(f);
    return data;
}

#endif
