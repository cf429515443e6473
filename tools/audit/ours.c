#define _GNU_SOURCE /* dladdr */
#include "tools/audit/ours.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tools/audit/elf.h"

/* A release is what the name has behind ".so.", or begins with; "": any, and none. */
static struct library {
    const char *stem, *release, *file;
    bool needs_theirs;     /* ours stands in front of NVIDIA's, and for it only where that is */
    char path[PATH_MAX];   /* "": not made yet */
    char theirs[PATH_MAX]; /* the file that ours is in front of; "": none was found yet */
} libraries[] = {
    {"libcuda", "", "libcuda.so.1", false, "", ""},
    {"libnvidia-ml", "", "libnvidia-ml.so.1", false, "", ""},
    {"libcudart", "13", "libcudart.so.13", false, "", ""},
    {"libcudart", "12", "libcudart.so.12", false, "", ""},
    {"libcudart", "11.0", "libcudart.so.11.0", false, "", ""},
    /* the file itself: libcudart.so.11.8.89 */
    {"libcudart", "11", "libcudart.so.11.0", false, "", ""},
    {"libcupti", "13", "libcupti.so.13", false, "", ""},
    {"libcupti", "12", "libcupti.so.12", false, "", ""},
    {"libnvrtc", "13", "ptera-compilers/libnvrtc.so.13", true, "", ""},
    {"libnvrtc", "12", "ptera-compilers/libnvrtc.so.12", true, "", ""},
    {"libnvrtc", "11.2", "ptera-compilers/libnvrtc.so.11.2", true, "", ""},
    {"libnvrtc", "11", "ptera-compilers/libnvrtc.so.11.2", true, "", ""},
    {"libnvJitLink", "13", "ptera-compilers/libnvJitLink.so.13", true, "", ""},
    {"libnvJitLink", "12", "ptera-compilers/libnvJitLink.so.12", true, "", ""},
};

static const char *base_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* STEM.so, STEM.so.RELEASE, STEM.so.RELEASE.MORE; what repairs wheels writes
 * STEM-HASH.so.RELEASE. */
static bool is_named(const char *base, const struct library *library)
{
    size_t n = strlen(library->stem), release = strlen(library->release);
    if (strncmp(base, library->stem, n) != 0)
        return false;
    base += n;
    if (*base == '-')
        base += 1 + strspn(base + 1, "0123456789abcdef");
    if (strncmp(base, ".so", 3) != 0 || (base[3] && base[3] != '.'))
        return false;
    base += 3;
    if (!release)
        return true;
    return *base && !strncmp(base + 1, library->release, release) &&
           (!base[1 + release] || base[1 + release] == '.');
}

static struct library *find(const char *base)
{
    for (size_t i = 0; i < sizeof libraries / sizeof *libraries; i++)
        if (is_named(base, &libraries[i]))
            return &libraries[i];
    return NULL;
}

/* It lies in this object's folder. */
static const char *path_of(struct library *library)
{
    Dl_info info;
    if (!*library->path && dladdr((void *)audit_ours_find, &info) && info.dli_fname) {
        int n = (int)(base_of(info.dli_fname) - info.dli_fname);
        snprintf(library->path, sizeof library->path, "%.*s%s", n, info.dli_fname, library->file);
    }
    return access(library->path, R_OK) == 0 ? library->path : NULL;
}

/* Whether it is one of them, of whatever release. */
static bool has_stem(const char *base)
{
    for (size_t i = 0; i < sizeof libraries / sizeof *libraries; i++) {
        size_t n = strlen(libraries[i].stem);
        if (!strncmp(base, libraries[i].stem, n) && !strncmp(base + n, ".so", 3))
            return true;
    }
    return false;
}

/* A file's own name for itself says the release. */
static struct library *find_by_soname(const char *path)
{
    struct elf elf;
    if (!elf_open(&elf, path))
        return NULL;
    const char *soname = elf_soname(&elf);
    struct library *library = soname ? find(soname) : NULL;
    elf_close(&elf);
    return library;
}

static struct library *library_of(const char *name)
{
    char real[PATH_MAX];
    struct library *library = find(base_of(name));
    /* "libcudart.so" is a link to a file that says its release, or, as wheels have it, a copy. */
    if (!library && strchr(name, '/') && strstr(base_of(name), ".so") && realpath(name, real)) {
        library = find(base_of(real));
        if (!library && has_stem(base_of(real)))
            library = find_by_soname(real);
    }
    return library;
}

const char *audit_ours_instead(const char *path)
{
    struct library *library = strchr(path, '/') ? library_of(path) : NULL;
    const char *ours = library && access(path, R_OK) == 0 ? path_of(library) : NULL;
    if (ours && library->needs_theirs && strcmp(ours, path) != 0)
        snprintf(library->theirs, sizeof library->theirs, "%s", path);
    return ours;
}

const char *audit_ours_find(const char *name)
{
    struct library *library = library_of(name);
    if (!library)
        return NULL;
    return library->needs_theirs ? audit_ours_instead(name) : path_of(library);
}

const char *audit_ours_behind(const char *name)
{
    size_t n = sizeof AUDIT_BEHIND - 1;
    if (strncmp(name, AUDIT_BEHIND, n) != 0)
        return NULL;
    for (size_t i = 0; i < sizeof libraries / sizeof *libraries; i++)
        if (!strcmp(base_of(libraries[i].file), name + n) && *libraries[i].theirs)
            return libraries[i].theirs;
    return name + n;
}

unsigned audit_ours_release(const char *path)
{
    const char *ours = strstr(path, "libcudart.so.") ? audit_ours_find(path) : NULL;
    return ours && !strcmp(ours, path) ? (unsigned)atoi(strstr(base_of(path), ".so.") + 4) : 0;
}
