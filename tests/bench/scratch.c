/* Folders in the system's temporary one. */
#define _GNU_SOURCE
#include "tests/bench/scratch.h"

#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>

char *scratch_make(void)
{
    const char *base = getenv("TMPDIR");
    char *path;
    if (asprintf(&path, "%s/ptera-bench-XXXXXX", base ? base : "/tmp") < 0 || !mkdtemp(path)) {
        perror("mkdtemp");
        exit(1);
    }
    return path;
}

static int remove_one(const char *path, const struct stat *status, int type, struct FTW *walk)
{
    (void)status, (void)type, (void)walk;
    return remove(path);
}

void scratch_remove(const char *folder)
{
    nftw(folder, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}
