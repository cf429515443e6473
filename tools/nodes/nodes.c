/* What `ptera exec` preloads: programs that look whether there is a GPU by NVIDIA's device nodes
 * (JAX: /dev/nvidia0) find one for each board that Ptera stands for. The calls are stat's and
 * access's; nothing can be opened there. What is told of a node is what the system tells of
 * /dev/null, with NVIDIA's device number. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "runtime/cuda/vendor.h"

#define ENTRY __attribute__((visibility("default")))

static const char stand_in[] = "/dev/null";
enum { MAJOR = 195, MINOR_OF_CONTROL = 255 }; /* as Linux has assigned them */

static bool has_board(int index)
{
    const CUuuid id = {PT_CU_BOARDS_ID};
    const struct pt_cu_boards *boards;
    struct pt_cu_board board;
    return cuGetExportTable((const void **)&boards, &id) == CUDA_SUCCESS &&
           boards->describe(index, &board) == CUDA_SUCCESS;
}

/* The minor number of the node of this path; -1: it is none of them, or no pointer to a text. */
static int minor_of(const char *path)
{
    static const char folder[] = "/dev/nvidia";
    size_t n = sizeof folder - 1;
    char *end;
    if (!path || strncmp(path, folder, n) != 0)
        return -1;
    if (!strcmp(path + n, "ctl"))
        return has_board(0) ? MINOR_OF_CONTROL : -1;
    if (path[n] < '0' || path[n] > '9')
        return -1;
    long index = strtol(path + n, &end, 10);
    return !*end && index < MINOR_OF_CONTROL && has_board((int)index) ? (int)index : -1;
}

/* A call of the C library's: `mark` is done where it answered for a node. Not every release has
 * each. */
#define NODE(name, parameters, arguments, mark)                              \
    ENTRY int name parameters;                                               \
    ENTRY int name parameters                                                \
    {                                                                        \
        static int(*_Atomic real) parameters;                                \
        int minor = minor_of(path);                                          \
        if (!real && !(real = (int(*) parameters)dlsym(RTLD_NEXT, #name))) { \
            errno = ENOSYS;                                                  \
            return -1;                                                       \
        }                                                                    \
        path = minor >= 0 ? stand_in : path;                                 \
        int r = real arguments;                                              \
        if (minor >= 0 && r == 0)                                            \
            mark;                                                            \
        return r;                                                            \
    }
#define NUMBER out->st_rdev = makedev(MAJOR, (unsigned)minor)
NODE(stat, (const char *path, struct stat *out), (path, out), NUMBER)
NODE(lstat, (const char *path, struct stat *out), (path, out), NUMBER)
NODE(stat64, (const char *path, struct stat64 *out), (path, out), NUMBER)
NODE(lstat64, (const char *path, struct stat64 *out), (path, out), NUMBER)
NODE(fstatat, (int at, const char *path, struct stat *out, int flags), (at, path, out, flags),
     NUMBER)
NODE(fstatat64, (int at, const char *path, struct stat64 *out, int flags), (at, path, out, flags),
     NUMBER)
NODE(access, (const char *path, int mode), (path, mode), (void)0)
NODE(faccessat, (int at, const char *path, int mode, int flags), (at, path, mode, flags), (void)0)

/* Of programs that were built before glibc 2.33. */
NODE(__xstat, (int version, const char *path, struct stat *out), (version, path, out), NUMBER)
NODE(__lxstat, (int version, const char *path, struct stat *out), (version, path, out), NUMBER)
NODE(__xstat64, (int version, const char *path, struct stat64 *out), (version, path, out), NUMBER)
NODE(__lxstat64, (int version, const char *path, struct stat64 *out), (version, path, out), NUMBER)

#define NUMBERS (out->stx_rdev_major = MAJOR, out->stx_rdev_minor = (unsigned)minor)
NODE(statx, (int at, const char *path, int flags, unsigned mask, struct statx *out),
     (at, path, flags, mask, out), NUMBERS)
