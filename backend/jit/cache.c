/* The cache's files: HASH.obj, a header with the hash of what follows, and the object. They are written under another name first, so
 * that nobody reads half a one; the oldest go when there are too many bytes. */
#define _GNU_SOURCE
#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <llvm-c/blake3.h>

#include "backend/jit/cache.h"

enum { PATH_BYTES = 4096, TRIM_EVERY = 32 };
static const off_t most_bytes = 256 << 20;

struct header {
    char magic[8];
    uint64_t size;
    uint32_t scratch_bytes, needs_warps, front_bytes, local_bytes, together, unused;
    uint8_t hash[LLVM_BLAKE3_OUT_LEN]; /* of the object's bytes */
};
static const char magic[8] = "PTERAOBJ";

/* ---- the folder ---------------------------------------------------------------------------------------- */

static char folder[PATH_BYTES];
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

/* Not from the environment of a program that runs for another user. */
static void find_folder(void)
{
    const char *own = secure_getenv("PTERA_CACHE"), *xdg = secure_getenv("XDG_CACHE_HOME");
    const char *home = secure_getenv("HOME");
    int n = 0;
    if (own)
        n = *own == '/' ? snprintf(folder, sizeof folder, "%s", own) : 0;
    else if (xdg && *xdg == '/')
        n = snprintf(folder, sizeof folder, "%s/ptera", xdg);
    else if (home && *home == '/')
        n = snprintf(folder, sizeof folder, "%s/.cache/ptera", home);
    if (n <= 0 || n >= PATH_BYTES - 128)
        folder[0] = 0;
    else
        make_folders(folder);
}

const char *jit_cache_folder(void)
{
    pthread_once(&once, find_folder);
    return folder[0] ? folder : NULL;
}

static void name_of(const struct jit_key *key, char *path)
{
    int n = snprintf(path, PATH_BYTES, "%.*s/", PATH_BYTES - 128, folder);
    for (size_t i = 0; i < sizeof key->hash; i++)
        n += snprintf(path + n, (size_t)(PATH_BYTES - n), "%02x", key->hash[i]);
    snprintf(path + n, (size_t)(PATH_BYTES - n), ".obj");
}

static void hash_of(const struct jit_object *object, uint8_t hash[32])
{
    llvm_blake3_hasher s;
    llvm_blake3_hasher_init(&s);
    llvm_blake3_hasher_update(&s, &object->scratch_bytes, sizeof object->scratch_bytes);
    llvm_blake3_hasher_update(&s, &object->needs_warps, sizeof object->needs_warps);
    llvm_blake3_hasher_update(&s, &object->front_bytes, sizeof object->front_bytes);
    llvm_blake3_hasher_update(&s, &object->local_bytes, sizeof object->local_bytes);
    llvm_blake3_hasher_update(&s, &object->together, sizeof object->together);
    llvm_blake3_hasher_update(&s, object->bytes, object->size);
    llvm_blake3_hasher_finalize(&s, hash, LLVM_BLAKE3_OUT_LEN);
}

/* ---- reading ------------------------------------------------------------------------------------------- */

static bool read_all(int fd, void *to, size_t n)
{
    for (uint8_t *p = to; n;) {
        ssize_t got = read(fd, p, n);
        if (got <= 0)
            return false;
        p += got;
        n -= (size_t)got;
    }
    return true;
}

/* Only what this user wrote, and all of it. */
static bool read_file(int fd, struct jit_object *object)
{
    struct stat st;
    struct header h;
    uint8_t hash[LLVM_BLAKE3_OUT_LEN];
    if (fstat(fd, &st) || !S_ISREG(st.st_mode) || st.st_uid != geteuid() ||
        !read_all(fd, &h, sizeof h) || memcmp(h.magic, magic, sizeof magic) ||
        (uint64_t)st.st_size != h.size + sizeof h)
        return false;
    object->scratch_bytes = h.scratch_bytes;
    object->needs_warps = h.needs_warps;
    object->front_bytes = h.front_bytes;
    object->local_bytes = h.local_bytes;
    object->together = h.together;
    object->size = h.size;
    object->bytes = malloc(h.size + 1);
    if (object->bytes && read_all(fd, object->bytes, h.size)) {
        hash_of(object, hash);
        if (!memcmp(hash, h.hash, sizeof hash))
            return true;
    }
    free(object->bytes);
    object->bytes = NULL;
    return false;
}

bool jit_cache_read(const struct jit_key *key, struct jit_object *object)
{
    char path[PATH_BYTES];
    if (!jit_cache_folder())
        return false;
    name_of(key, path);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    bool ok = read_file(fd, object);
    if (ok)
        futimens(fd, NULL); /* used: it goes later */
    else
        unlink(path);
    close(fd);
    return ok;
}

/* ---- trimming ------------------------------------------------------------------------------------------ */

struct entry {
    char name[NAME_MAX + 1];
    off_t bytes;
    struct timespec time;
};

static int by_age(const void *a, const void *b)
{
    const struct timespec *x = &((const struct entry *)a)->time,
                          *y = &((const struct entry *)b)->time;
    if (x->tv_sec != y->tv_sec)
        return x->tv_sec < y->tv_sec ? -1 : 1;
    return x->tv_nsec < y->tv_nsec ? -1 : x->tv_nsec > y->tv_nsec;
}

static struct entry *list_entries(DIR *dir, size_t *n, off_t *bytes)
{
    size_t cap = 0;
    struct entry *list = NULL;
    struct stat st;
    for (struct dirent *d; (d = readdir(dir));) {
        const char *dot = strrchr(d->d_name, '.');
        if (!dot || strcmp(dot, ".obj") != 0 || strlen(d->d_name) >= sizeof list->name ||
            fstatat(dirfd(dir), d->d_name, &st, AT_SYMLINK_NOFOLLOW))
            continue;
        if (*n == cap) {
            cap = cap ? cap * 2 : 256;
            struct entry *more = realloc(list, cap * sizeof *list);
            if (!more)
                break;
            list = more;
        }
        snprintf(list[*n].name, sizeof list->name, "%s", d->d_name);
        list[*n].bytes = st.st_size;
        list[(*n)++].time = st.st_mtim;
        *bytes += st.st_size;
    }
    return list;
}

/* Down to three quarters, the least recently used first. */
static void trim(void)
{
    DIR *dir = opendir(folder);
    size_t n = 0;
    off_t bytes = 0;
    if (!dir)
        return;
    struct entry *list = list_entries(dir, &n, &bytes);
    if (bytes > most_bytes) {
        qsort(list, n, sizeof *list, by_age);
        for (size_t i = 0; i < n && bytes > most_bytes / 4 * 3; i++)
            if (unlinkat(dirfd(dir), list[i].name, 0) == 0)
                bytes -= list[i].bytes;
    }
    free(list);
    closedir(dir);
}

/* ---- writing ------------------------------------------------------------------------------------------- */

static bool write_all(int fd, const void *from, size_t n)
{
    for (const uint8_t *p = from; n;) {
        ssize_t put = write(fd, p, n);
        if (put <= 0)
            return false;
        p += put;
        n -= (size_t)put;
    }
    return true;
}

void jit_cache_write(const struct jit_key *key, const struct jit_object *object)
{
    static atomic_uint writes;
    char path[PATH_BYTES], part[PATH_BYTES + 16];
    struct header h = {.size = object->size,
                       .scratch_bytes = object->scratch_bytes,
                       .needs_warps = object->needs_warps,
                       .front_bytes = object->front_bytes,
                       .local_bytes = object->local_bytes,
                       .together = object->together};
    if (!jit_cache_folder())
        return;
    if (atomic_fetch_add(&writes, 1) % TRIM_EVERY == 0)
        trim();
    memcpy(h.magic, magic, sizeof magic);
    hash_of(object, h.hash);
    name_of(key, path);
    snprintf(part, sizeof part, "%s.XXXXXX", path);
    int fd = mkostemp(part, O_CLOEXEC);
    if (fd < 0)
        return;
    bool ok = write_all(fd, &h, sizeof h) && write_all(fd, object->bytes, object->size);
    ok = close(fd) == 0 && ok;
    if (!ok || rename(part, path))
        unlink(part);
}
