/* Profiles: a file of records for each module, of which each is one write behind the others, so
 * that processes may write at once. A record has a sum of itself and of the module's hash: those
 * that are not whole or not of this module do not count. */
#define _GNU_SOURCE
#include "runtime/profile.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "backend/cache_folder.h"

struct record {
    uint32_t kernel, block[3];
    uint32_t flags; /* FAST, CLUSTER */
    uint32_t version;
    uint64_t interpreted_ns;
    uint64_t sum; /* of this record with 0 here, and of the key */
};

enum {
    VERSION = 1,
    FAST = 1,
    CLUSTER = 2,
    NAME_BYTES = PT_PROFILE_DIGITS + sizeof PT_PROFILE_SUFFIX
};

/* ---- hashes ---------------------------------------------------------------------------------- */

static uint64_t mix(uint64_t h, uint64_t word)
{
    h = (h ^ word) * UINT64_C(0x9e3779b97f4a7c15);
    return h ^ h >> 29;
}

static uint64_t hash_of(uint64_t h, const void *data, size_t bytes)
{
    const uint8_t *p = data;
    uint64_t word;
    h = mix(h, bytes);
    for (; bytes >= sizeof word; p += sizeof word, bytes -= sizeof word) {
        memcpy(&word, p, sizeof word);
        h = mix(h, word);
    }
    word = 0;
    memcpy(&word, p, bytes);
    return mix(mix(h, word), 0);
}

struct pt_profile_key pt_profile_key_make(const char *text, size_t bytes)
{
    return (struct pt_profile_key){{hash_of(1, text, bytes), hash_of(2, text, bytes)}};
}

static uint64_t sum_of(struct pt_profile_key key, struct record r)
{
    r.sum = 0;
    return hash_of(mix(key.hash[0], key.hash[1]), &r, sizeof r);
}

/* ---- files ----------------------------------------------------------------------------------- */

/* -1: there is none, or it is not this user's alone. */
static int open_file(struct pt_profile_key key, int flags, struct stat *st)
{
    char name[NAME_BYTES];
    const char *why;
    int dir = pt_cache_folder_path() ? pt_cache_folder_open(&why) : -1;
    if (dir < 0)
        return -1;
    snprintf(name, sizeof name, "%016llx%016llx" PT_PROFILE_SUFFIX, (unsigned long long)key.hash[0],
             (unsigned long long)key.hash[1]);
    int fd = openat(dir, name, flags | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0600);
    close(dir);
    if (fd < 0)
        return -1;
    if (fstat(fd, st) == 0 && S_ISREG(st->st_mode) && pt_cache_folder_is_safe(st))
        return fd;
    close(fd);
    return -1;
}

static bool is_same(const struct pt_profile_entry *a, const struct pt_profile_entry *b)
{
    return a->kernel == b->kernel && !memcmp(a->block, b->block, sizeof a->block) &&
           a->math_fast == b->math_fast && a->has_cluster == b->has_cluster;
}

static uint32_t take(const struct record *r, struct pt_profile_entry *entries, uint32_t n)
{
    struct pt_profile_entry e = {.kernel = r->kernel,
                                 .math_fast = r->flags & FAST,
                                 .has_cluster = r->flags & CLUSTER,
                                 .interpreted_ns = r->interpreted_ns};
    memcpy(e.block, r->block, sizeof e.block);
    for (uint32_t i = 0; i < n; i++)
        if (is_same(&entries[i], &e))
            return n;
    entries[n] = e;
    return n + 1;
}

uint32_t pt_profile_read(struct pt_profile_key key, struct pt_profile_entry *entries)
{
    struct record r;
    struct stat st;
    uint32_t n = 0;
    int fd = open_file(key, O_RDONLY, &st);
    if (fd < 0)
        return 0;
    for (int i = 0; i < PT_PROFILE_ENTRIES && read(fd, &r, sizeof r) == sizeof r; i++)
        if (r.version == VERSION && r.sum == sum_of(key, r))
            n = take(&r, entries, n);
    futimens(fd, NULL); /* used: it goes later (backend/jit/object/cache.c) */
    close(fd);
    return n;
}

/* A write beyond the process's limit would end it by a signal. What was cut off is cut away, or
 * what follows would not count. */
static void append(int fd, const struct record *r, const struct stat *st)
{
    struct rlimit most;
    off_t whole = st->st_size - st->st_size % (off_t)sizeof *r;
    if (getrlimit(RLIMIT_FSIZE, &most) || (rlim_t)st->st_size + sizeof *r > most.rlim_cur ||
        whole >= (off_t)(PT_PROFILE_ENTRIES * sizeof *r) ||
        (whole < st->st_size && ftruncate(fd, whole)))
        return;
    (void)!write(fd, r, sizeof *r);
}

void pt_profile_add(struct pt_profile_key key, const struct pt_profile_entry *entry)
{
    struct stat st;
    struct record r = {.kernel = entry->kernel,
                       .flags = (entry->math_fast ? FAST : 0) | (entry->has_cluster ? CLUSTER : 0),
                       .version = VERSION,
                       .interpreted_ns = entry->interpreted_ns};
    memcpy(r.block, entry->block, sizeof r.block);
    r.sum = sum_of(key, r);
    int fd = open_file(key, O_WRONLY | O_APPEND | O_CREAT, &st);
    if (fd < 0)
        return;
    append(fd, &r, &st);
    close(fd);
}
