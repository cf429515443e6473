/* Finds NVIDIA's library: what the program asked for, as the auditor of `ptera exec` knows; without
 * that, by the folders that programs are given. */
#define _GNU_SOURCE /* dladdr1 */
#include "runtime/compilers/real.h"

#include <dlfcn.h>
#include <limits.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "runtime/compilers/behind.h"

static void *library; /* or NULL */

/* The path may lead back to this library. */
static bool open_at(const char *path)
{
    void *mine = NULL, *handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    Dl_info info;
    if (!handle)
        return false;
    void *theirs = dlsym(handle, PT_PROBE);
    if (dladdr((void *)pt_real_find, &info))
        mine = info.dli_fbase;
    if (theirs && dladdr(theirs, &info) && info.dli_fbase != mine) {
        library = handle;
        return true;
    }
    dlclose(handle);
    return false;
}

static bool open_in(const char *folder, size_t n, const char *below)
{
    char path[PATH_MAX];
    if (!n)
        return false;
    snprintf(path, sizeof path, "%.*s%s/%s", (int)n, folder, below, PT_SONAME);
    return access(path, R_OK) == 0 && open_at(path);
}

static bool open_in_list(const char *folders)
{
    while (folders && *folders) {
        size_t n = strcspn(folders, ":");
        if (open_in(folders, n, ""))
            return true;
        folders += n + (folders[n] == ':');
    }
    return false;
}

static void open_library(void)
{
    static const char *const roots[] = {"CUDA_HOME", "CUDA_PATH", NULL};
    if (open_at(AUDIT_BEHIND PT_SONAME) || open_in_list(getenv("LD_LIBRARY_PATH")))
        return;
    for (size_t i = 0; i < sizeof roots / sizeof *roots; i++) {
        const char *root = roots[i] ? getenv(roots[i]) : "/usr/local/cuda";
        if (root && (open_in(root, strlen(root), "/lib64") || open_in(root, strlen(root), "/lib")))
            return;
    }
    if (!open_in_list("/usr/lib/x86_64-linux-gnu:/usr/lib/aarch64-linux-gnu:/usr/lib64:/usr/lib"))
        fprintf(stderr,
                "ptera: " PT_SONAME ": NVIDIA's own, which is needed behind Ptera's, is not found; "
                "LD_LIBRARY_PATH or CUDA_HOME can name its place\n");
}

void *pt_real_find(const char *name)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, open_library);
    return library ? dlsym(library, name) : NULL;
}
