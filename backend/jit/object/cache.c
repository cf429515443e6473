/* The cache's files: KEY.obj, a header with a hash of itself, of the key and of the object behind
 * it. They are written under another name first, so that nobody reads half a one; the oldest go
 * when there are too many bytes. What a file says becomes code: only this user's folder and files
 * are used that nobody else may write to. Each look at them is at an open file. */
#define _GNU_SOURCE
#include "backend/jit/object/cache.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <llvm-c/blake3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "backend/cache_folder.h"
#include "backend/jit/object/cache_key.h"
#include "backend/jit/object/io.h"
#include "backend/jit/object/object.h"
#include "backend/jit/tune.h"

struct header {
    char magic[8];
    uint64_t size;
    uint32_t scratch_bytes, needs_warps, front_bytes, local_bytes, together, unused;
    /* of this header with zeros here, the key, and the object's bytes */
    uint8_t hash[LLVM_BLAKE3_OUT_LEN];
};
static const char magic[8] = "PTERAOBJ";

/* ---- names and hashes ------------------------------------------------------------------------ */

enum {
    KEY_DIGITS = 2 * sizeof((struct jit_key *)0)->hash,
    NAME_BYTES = KEY_DIGITS + sizeof ".obj.XXXXXXXX"
};

static void name_of(const struct jit_key *key, char name[NAME_BYTES])
{
    for (size_t i = 0; i < sizeof key->hash; i++)
        snprintf(name + 2 * i, 3, "%02x", key->hash[i]);
    snprintf(name + KEY_DIGITS, NAME_BYTES - KEY_DIGITS, ".obj");
}

/* Whether the cache, or a profile (runtime/profile.c), has such a name; *is_part: a file that is
 * not whole yet, or never became so. */
static bool is_name(const char *name, bool *is_part)
{
    size_t n = strspn(name, "0123456789abcdef");
    *is_part = n == KEY_DIGITS && !strncmp(name + n, ".obj.", 5) && strlen(name) < NAME_BYTES;
    return *is_part || (n == KEY_DIGITS && !strcmp(name + n, ".obj")) ||
           (n == PT_PROFILE_DIGITS && !strcmp(name + n, PT_PROFILE_SUFFIX));
}

static void hash_of(const struct jit_key *key, struct header h, const struct jit_object *object,
                    uint8_t hash[LLVM_BLAKE3_OUT_LEN])
{
    llvm_blake3_hasher s;
    memset(h.hash, 0, sizeof h.hash);
    llvm_blake3_hasher_init(&s);
    llvm_blake3_hasher_update(&s, &h, sizeof h);
    llvm_blake3_hasher_update(&s, key->hash, sizeof key->hash);
    llvm_blake3_hasher_update(&s, object->bytes, object->size);
    llvm_blake3_hasher_finalize(&s, hash, LLVM_BLAKE3_OUT_LEN);
}

static off_t most_bytes(void)
{
    return pt_cache_folder_most(JIT_CACHE_BYTES);
}

/* ---- reading --------------------------------------------------------------------------------- */

/* Only what this user wrote for this key, and all of it. */
static bool read_file(int fd, const struct jit_key *key, struct jit_object *object)
{
    struct stat st;
    struct header h;
    uint8_t hash[LLVM_BLAKE3_OUT_LEN];
    if (fstat(fd, &st) || !S_ISREG(st.st_mode) || !pt_cache_folder_is_safe(&st) ||
        st.st_size > most_bytes() || !jit_io_read(fd, &h, sizeof h) ||
        memcmp(h.magic, magic, sizeof magic) || (uint64_t)st.st_size != h.size + sizeof h)
        return false;
    object->scratch_bytes = h.scratch_bytes;
    object->needs_warps = h.needs_warps;
    object->front_bytes = h.front_bytes;
    object->local_bytes = h.local_bytes;
    object->together = h.together;
    object->size = h.size;
    object->bytes = malloc(h.size + 1);
    if (object->bytes && jit_io_read(fd, object->bytes, h.size)) {
        hash_of(key, h, object, hash);
        if (!memcmp(hash, h.hash, sizeof hash))
            return true;
    }
    free(object->bytes);
    object->bytes = NULL;
    return false;
}

/* Whatever lies there under the name: it is not followed, and nobody is waited for. */
static bool read_entry(int dir, const struct jit_key *key, struct jit_object *object)
{
    char name[NAME_BYTES];
    name_of(key, name);
    int fd = openat(dir, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (fd < 0)
        return false;
    bool ok = read_file(fd, key, object);
    if (ok)
        futimens(fd, NULL); /* used: it goes later */
    else
        unlinkat(dir, name, 0);
    close(fd);
    return ok;
}

bool jit_cache_read(const struct jit_key *key, struct jit_object *object)
{
    const char *why;
    int dir = pt_cache_folder_path() ? pt_cache_folder_open(&why) : -1;
    bool ok = dir >= 0 && read_entry(dir, key, object);
    if (dir >= 0)
        close(dir);
    return ok;
}

/* ---- trimming -------------------------------------------------------------------------------- */

struct entry {
    char name[NAME_BYTES];
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

/* Files that were left half written go at once, when whoever wrote them must have ended. */
static bool is_left(int dir, const char *name, const struct stat *st, bool is_part)
{
    return is_part && st->st_mtim.tv_sec < time(NULL) - JIT_CACHE_LEFT &&
           unlinkat(dir, name, 0) == 0;
}

static struct entry *list_entries(DIR *dir, size_t *n, off_t *bytes)
{
    size_t cap = 0;
    struct entry *list = NULL;
    struct stat st;
    bool is_part;
    for (struct dirent *d; (d = readdir(dir));) {
        if (!is_name(d->d_name, &is_part) ||
            fstatat(dirfd(dir), d->d_name, &st, AT_SYMLINK_NOFOLLOW) || !S_ISREG(st.st_mode) ||
            is_left(dirfd(dir), d->d_name, &st, is_part))
            continue;
        if (*n == cap) {
            cap = cap ? cap * 2 : 256;
            struct entry *more = realloc(list, cap * sizeof *list);
            if (!more)
                break;
            list = more;
        }
        memcpy(list[*n].name, d->d_name, strlen(d->d_name) + 1);
        list[*n].bytes = st.st_size;
        list[(*n)++].time = st.st_mtim;
        *bytes += st.st_size;
    }
    return list;
}

/* Down to three quarters, the least recently used first. */
static void trim(int folder_fd)
{
    int fd = fcntl(folder_fd, F_DUPFD_CLOEXEC, 0);
    DIR *dir = fd >= 0 ? fdopendir(fd) : NULL;
    size_t n = 0;
    off_t bytes = 0;
    if (!dir) {
        if (fd >= 0)
            close(fd);
        return;
    }
    struct entry *list = list_entries(dir, &n, &bytes);
    off_t most = most_bytes();
    if (bytes > most) {
        qsort(list, n, sizeof *list, by_age);
        for (size_t i = 0; i < n && bytes > most / 4 * 3; i++)
            if (unlinkat(fd, list[i].name, 0) == 0)
                bytes -= list[i].bytes;
    }
    free(list);
    closedir(dir);
}

/* ---- writing --------------------------------------------------------------------------------- */

/* A write beyond the process's limit would end it by a signal. */
static bool is_allowed(size_t bytes)
{
    struct rlimit most;
    return bytes <= (size_t)most_bytes() && getrlimit(RLIMIT_FSIZE, &most) == 0 &&
           bytes <= most.rlim_cur;
}

static void write_entry(int dir, const struct jit_key *key, const struct header *h,
                        const struct jit_object *object)
{
    char name[NAME_BYTES], part[NAME_BYTES];
    uint32_t unique = 0;
    name_of(key, name);
    if (getrandom(&unique, sizeof unique, GRND_NONBLOCK) < 0)
        unique = (uint32_t)getpid();
    snprintf(part, sizeof part, "%.*s.%08x", NAME_BYTES - 10, name, unique);
    int fd = openat(dir, part, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (fd < 0)
        return;
    bool ok = jit_io_write(fd, h, sizeof *h) && jit_io_write(fd, object->bytes, object->size);
    ok = close(fd) == 0 && ok;
    if (!ok || renameat(dir, part, dir, name))
        unlinkat(dir, part, 0);
}

void jit_cache_write(const struct jit_key *key, const struct jit_object *object)
{
    static atomic_uint writes;
    const char *why;
    struct header h = {.size = object->size,
                       .scratch_bytes = object->scratch_bytes,
                       .needs_warps = object->needs_warps,
                       .front_bytes = object->front_bytes,
                       .local_bytes = object->local_bytes,
                       .together = object->together};
    int dir = pt_cache_folder_path() ? pt_cache_folder_open(&why) : -1;
    if (dir < 0)
        return;
    if (atomic_fetch_add(&writes, 1) % JIT_CACHE_TRIM == 0 || most_bytes() < JIT_CACHE_BYTES)
        trim(dir);
    memcpy(h.magic, magic, sizeof magic);
    hash_of(key, h, object, h.hash);
    if (is_allowed(sizeof h + object->size))
        write_entry(dir, key, &h, object);
    close(dir);
}
