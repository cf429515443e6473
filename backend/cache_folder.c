/* The folder of what is kept from one process to the next: objects (backend/jit/object/cache.c) and
 * profiles (runtime/profile.c). Both libraries have it. */
#define _GNU_SOURCE
#include "backend/cache_folder.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PATH_BYTES = 4096 };

static char folder[PATH_BYTES];
static char refusal[PATH_BYTES + 128];
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void make_folders(char *path)
{
    for (char *p = path + 1; *p; p++) {
        if (*p != '/')
            continue;
        *p = 0;
        mkdir(path, 0700);
        *p = '/';
    }
    mkdir(path, 0700);
}

bool pt_cache_folder_is_safe(const struct stat *st)
{
    return st->st_uid == geteuid() && !(st->st_mode & (S_IWGRP | S_IWOTH));
}

int pt_cache_folder_open(const char **why)
{
    struct stat st;
    int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    bool is_open = fd >= 0 && fstat(fd, &st) == 0;
    if (is_open && pt_cache_folder_is_safe(&st))
        return fd;
    *why = !is_open                 ? strerror(errno)
           : st.st_uid != geteuid() ? "it belongs to another user"
                                    : "other users may write to it";
    if (fd >= 0)
        close(fd);
    return -1;
}

/* Not from the environment of a program that runs for another user. */
static void find_folder(void)
{
    const char *own = secure_getenv("PTERA_CACHE"), *xdg = secure_getenv("XDG_CACHE_HOME");
    const char *cuda = secure_getenv("CUDA_CACHE_PATH"), *off = secure_getenv("CUDA_CACHE_DISABLE");
    const char *home = secure_getenv("HOME"), *why;
    char here[PATH_BYTES] = "";
    int n = 0;
    if (off && !strcmp(off, "1"))
        n = 0;
    else if (!own && cuda && *cuda)
        n = *cuda == '/' || getcwd(here, sizeof here)
                ? snprintf(folder, sizeof folder, "%s%s%s", here, *here ? "/" : "", cuda)
                : 0;
    else if (own)
        n = *own == '/' ? snprintf(folder, sizeof folder, "%s", own) : 0;
    else if (xdg && *xdg == '/')
        n = snprintf(folder, sizeof folder, "%s/ptera", xdg);
    else if (home && *home == '/')
        n = snprintf(folder, sizeof folder, "%s/.cache/ptera", home);
    if (n <= 0 || n >= PATH_BYTES) {
        folder[0] = 0;
        return;
    }
    make_folders(folder);
    int fd = pt_cache_folder_open(&why);
    if (fd >= 0) {
        close(fd);
        return;
    }
    snprintf(refusal, sizeof refusal, "%s: %s", folder, why);
    folder[0] = 0;
}

off_t pt_cache_folder_most(off_t otherwise)
{
    const char *most = secure_getenv("CUDA_CACHE_MAXSIZE");
    char *end;
    unsigned long long bytes = most ? strtoull(most, &end, 10) : 0;
    return most && end != most && bytes <= INT64_MAX ? (off_t)bytes : otherwise;
}

const char *pt_cache_folder_path(void)
{
    pthread_once(&once, find_folder);
    return folder[0] ? folder : NULL;
}

const char *pt_cache_folder_refusal(void)
{
    pthread_once(&once, find_folder);
    return refusal[0] ? refusal : NULL;
}
