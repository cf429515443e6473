/* Each function here counts, may fail, and else is the C library's. What the C library does by
 * itself (a stack for a thread, the file behind a stream) fails as the call that asked for it; only
 * its allocations are in reach. Loading a library counts as one operation: constructors of C++
 * libraries cannot fail. */
#define _GNU_SOURCE
#include "tests/inject/fail.h"

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <execinfo.h>
#include <fcntl.h>
#include <pthread.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- what fails ------------------------------------------------------------------------------ */

enum { FRAMES = 24 };

static atomic_bool is_armed;
static enum fail_how how;
static long at;
static atomic_long count;
static _Thread_local unsigned loading; /* libraries */

static const char *failed; /* the name of the function */
static void *frames[FRAMES];
static int n_frames;

static bool fails_here(const char *name, bool is_transfer)
{
    if (!atomic_load(&is_armed) || loading || (how >= FAIL_INTR && !is_transfer))
        return false;
    long n = atomic_fetch_add(&count, 1) + 1;
    bool fails = how == FAIL_ON ? at && n >= at : n == at;
    if (fails && !failed) {
        failed = name;
        loading++; /* it may allocate */
        n_frames = backtrace(frames, FRAMES);
        loading--;
    }
    return fails;
}

void fail_arm(enum fail_how h, long n)
{
    how = h;
    at = n;
    failed = NULL;
    n_frames = backtrace(frames, FRAMES); /* loads what it needs */
    atomic_store(&count, 0);
    atomic_store(&is_armed, true);
}

long fail_disarm(void)
{
    atomic_store(&is_armed, false);
    return atomic_load(&count);
}

bool fail_is_armed(void)
{
    return atomic_load(&is_armed);
}

void fail_tell(int fd)
{
    dprintf(fd, "    failed: %s, called by\n", failed ? failed : "nothing");
    if (failed)
        backtrace_symbols_fd(frames, n_frames, fd);
}

#define REAL(name) \
    static __typeof__(name) *real; \
    if (!real) { \
        void *p = dlsym(RTLD_NEXT, #name); \
        memcpy(&real, &p, sizeof real); \
    }
#define FAIL(name, error, result) \
    if (fails_here(#name, false)) { \
        errno = (error); \
        return result; \
    }

/* ---- blocks of memory ------------------------------------------------------------------------ */

/* Of whom, by address: open addressing. Only blocks that the libraries under test have asked for
 * themselves. */
enum { BLOCKS = 1 << 18, SITES = 1 << 12 };
static struct block {
    void *p;
    void *site;
} blocks[BLOCKS];
static size_t n_blocks;
static pthread_mutex_t blocks_lock = PTHREAD_MUTEX_INITIALIZER;

static size_t home_of(const void *p)
{
    return ((uintptr_t)p >> 4) * UINT64_C(0x9e3779b97f4a7c15) >> 32 & (BLOCKS - 1);
}

static void remember(void *p, void *site)
{
    if (!p)
        return;
    pthread_mutex_lock(&blocks_lock);
    size_t i = home_of(p);
    while (blocks[i].p)
        i = (i + 1) % BLOCKS;
    blocks[i] = (struct block){p, site};
    if (++n_blocks > BLOCKS / 2)
        abort();
    pthread_mutex_unlock(&blocks_lock);
}

static void forget(const void *p)
{
    if (!p)
        return;
    pthread_mutex_lock(&blocks_lock);
    size_t i = home_of(p);
    while (blocks[i].p && blocks[i].p != p)
        i = (i + 1) % BLOCKS;
    if (blocks[i].p) {
        n_blocks--;
        blocks[i].p = NULL;
        /* those behind it move up where they may */
        for (size_t k = (i + 1) % BLOCKS; blocks[k].p; k = (k + 1) % BLOCKS) {
            if ((k - home_of(blocks[k].p)) % BLOCKS < (k - i) % BLOCKS)
                continue;
            blocks[i] = blocks[k];
            blocks[k].p = NULL;
            i = k;
        }
    }
    pthread_mutex_unlock(&blocks_lock);
}

/* Libraries whose leaks are ours. */
static bool is_ours(void *site)
{
    Dl_info info;
    const char *slash = dladdr(site, &info) && info.dli_fname ? strrchr(info.dli_fname, '/') : NULL;
    return slash && (!strncmp(slash, "/libptera", 9) || !strncmp(slash, "/libcuda", 8));
}

extern void *__libc_malloc(size_t bytes);
extern void *__libc_calloc(size_t n, size_t bytes);
extern void *__libc_realloc(void *p, size_t bytes);
extern void *__libc_memalign(size_t align, size_t bytes);
extern void __libc_free(void *p);

#define SITE __builtin_extract_return_addr(__builtin_return_address(0))

void *malloc(size_t bytes)
{
    FAIL(malloc, ENOMEM, NULL)
    void *p = __libc_malloc(bytes);
    remember(p, SITE);
    return p;
}

void *calloc(size_t n, size_t bytes)
{
    FAIL(calloc, ENOMEM, NULL)
    void *p = __libc_calloc(n, bytes);
    remember(p, SITE);
    return p;
}

void *realloc(void *old, size_t bytes)
{
    if (bytes || !old)
        FAIL(realloc, ENOMEM, NULL)
    forget(old); /* at once: another thread may get the address next */
    void *p = __libc_realloc(old, bytes);
    remember(p ? p : bytes ? old : NULL, SITE);
    return p;
}

void *memalign(size_t align, size_t bytes)
{
    FAIL(memalign, ENOMEM, NULL)
    void *p = __libc_memalign(align, bytes);
    remember(p, SITE);
    return p;
}

void *aligned_alloc(size_t align, size_t bytes)
{
    FAIL(aligned_alloc, ENOMEM, NULL)
    void *p = __libc_memalign(align, bytes);
    remember(p, SITE);
    return p;
}

int posix_memalign(void **to, size_t align, size_t bytes)
{
    FAIL(posix_memalign, ENOMEM, ENOMEM)
    void *p = __libc_memalign(align, bytes);
    remember(p, SITE);
    if (p)
        *to = p;
    return p ? 0 : ENOMEM;
}

void free(void *p)
{
    int error = errno;
    forget(p);
    __libc_free(p);
    errno = error;
}

/* ---- mappings -------------------------------------------------------------------------------- */

static atomic_size_t mapped_bytes;

void *mmap(void *address, size_t bytes, int protection, int flags, int fd, off_t offset)
{
    REAL(mmap)
    FAIL(mmap, ENOMEM, MAP_FAILED)
    void *p = real(address, bytes, protection, flags, fd, offset);
    if (p != MAP_FAILED && !(flags & MAP_FIXED))
        atomic_fetch_add(&mapped_bytes, bytes);
    return p;
}

int munmap(void *address, size_t bytes)
{
    REAL(munmap)
    int result = real(address, bytes);
    if (!result)
        atomic_fetch_sub(&mapped_bytes, bytes);
    return result;
}

int mprotect(void *address, size_t bytes, int protection)
{
    REAL(mprotect)
    FAIL(mprotect, ENOMEM, -1)
    return real(address, bytes, protection);
}

int madvise(void *address, size_t bytes, int advice)
{
    REAL(madvise)
    FAIL(madvise, ENOMEM, -1)
    return real(address, bytes, advice);
}

int memfd_create(const char *name, unsigned flags)
{
    REAL(memfd_create)
    FAIL(memfd_create, EMFILE, -1)
    return real(name, flags);
}

int ftruncate(int fd, off_t bytes)
{
    REAL(ftruncate)
    FAIL(ftruncate, ENOSPC, -1)
    return real(fd, bytes);
}

/* ---- threads, processes, libraries ----------------------------------------------------------- */

int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *),
                   void *ud)
{
    REAL(pthread_create)
    FAIL(pthread_create, EAGAIN, EAGAIN)
    return real(thread, attributes, run, ud);
}

int pthread_key_create(pthread_key_t *key, void (*end)(void *))
{
    REAL(pthread_key_create)
    FAIL(pthread_key_create, EAGAIN, EAGAIN)
    return real(key, end);
}

int posix_spawn(pid_t *pid, const char *path, const posix_spawn_file_actions_t *files,
                const posix_spawnattr_t *attributes, char *const argv[], char *const envp[])
{
    REAL(posix_spawn)
    FAIL(posix_spawn, EAGAIN, EAGAIN)
    return real(pid, path, files, attributes, argv, envp);
}

int socketpair(int domain, int type, int protocol, int ends[2])
{
    REAL(socketpair)
    FAIL(socketpair, EMFILE, -1)
    return real(domain, type, protocol, ends);
}

void *dlopen(const char *path, int flags)
{
    REAL(dlopen)
    FAIL(dlopen, ENOMEM, NULL)
    loading++;
    void *library = real(path, flags);
    loading--;
    return library;
}

/* ---- files ----------------------------------------------------------------------------------- */

int fcntl(int fd, int command, ...)
{
    REAL(fcntl)
    va_list args;
    va_start(args, command);
    void *argument = va_arg(args, void *);
    va_end(args);
    FAIL(fcntl, EMFILE, -1)
    return real(fd, command, argument);
}

int open(const char *path, int flags, ...)
{
    REAL(open)
    va_list args;
    va_start(args, flags);
    mode_t mode = flags & O_CREAT ? va_arg(args, mode_t) : 0;
    va_end(args);
    FAIL(open, EMFILE, -1)
    return real(path, flags, mode);
}

int openat(int folder, const char *path, int flags, ...)
{
    REAL(openat)
    va_list args;
    va_start(args, flags);
    mode_t mode = flags & O_CREAT ? va_arg(args, mode_t) : 0;
    va_end(args);
    FAIL(openat, EMFILE, -1)
    return real(folder, path, flags, mode);
}

int mkostemp(char *path, int flags)
{
    REAL(mkostemp)
    FAIL(mkostemp, ENOSPC, -1)
    return real(path, flags);
}

int rename(const char *from, const char *to)
{
    REAL(rename)
    FAIL(rename, ENOSPC, -1)
    return real(from, to);
}

int fstat(int fd, struct stat *st)
{
    REAL(fstat)
    FAIL(fstat, EIO, -1)
    return real(fd, st);
}

DIR *opendir(const char *path)
{
    REAL(opendir)
    FAIL(opendir, EMFILE, NULL)
    return real(path);
}

FILE *fopen(const char *path, const char *mode)
{
    REAL(fopen)
    FAIL(fopen, EMFILE, NULL)
    return real(path, mode);
}

size_t fread(void *to, size_t size, size_t n, FILE *file)
{
    REAL(fread)
    if (fails_here("fread", false)) {
        file->_flags |= _IO_ERR_SEEN;
        errno = EIO;
        return 0;
    }
    return real(to, size, n, file);
}

/* The bytes to transfer, where a part of them is to be, and SIZE_MAX where none are. */
static size_t part_of(const char *name, size_t bytes, int error)
{
    if (!fails_here(name, true))
        return bytes;
    if (how == FAIL_SHORT)
        return bytes > 1 ? bytes / 2 : bytes;
    errno = how == FAIL_INTR ? EINTR : error;
    return SIZE_MAX;
}

#define TRANSFER(name, error) \
    REAL(name) \
    bytes = part_of(#name, bytes, error); \
    if (bytes == SIZE_MAX) \
        return -1;

ssize_t read(int fd, void *to, size_t bytes)
{
    TRANSFER(read, EIO)
    return real(fd, to, bytes);
}

ssize_t pread(int fd, void *to, size_t bytes, off_t offset)
{
    TRANSFER(pread, EIO)
    return real(fd, to, bytes, offset);
}

ssize_t write(int fd, const void *from, size_t bytes)
{
    TRANSFER(write, ENOSPC)
    return real(fd, from, bytes);
}

ssize_t send(int fd, const void *from, size_t bytes, int flags)
{
    TRANSFER(send, ENOMEM)
    return real(fd, from, bytes, flags);
}

ssize_t recv(int fd, void *to, size_t bytes, int flags)
{
    TRANSFER(recv, ENOMEM)
    return real(fd, to, bytes, flags);
}

/* ---- what there is --------------------------------------------------------------------------- */

static size_t count_entries(const char *folder)
{
    size_t n = 0;
    DIR *dir = opendir(folder);
    while (dir && readdir(dir))
        n++;
    if (dir)
        closedir(dir);
    return n;
}

struct fail_stock fail_stock(void)
{
    struct fail_stock stock = {0, atomic_load(&mapped_bytes), count_entries("/proc/self/fd"),
                               count_entries("/proc/self/task")};
    pthread_mutex_lock(&blocks_lock);
    for (size_t i = 0; i < BLOCKS; i++)
        stock.blocks += blocks[i].p && is_ours(blocks[i].site);
    pthread_mutex_unlock(&blocks_lock);
    return stock;
}

static struct site {
    void *site;
    long n;
} sites[SITES];

static void count_sites(long by)
{
    for (size_t i = 0; i < BLOCKS; i++) {
        size_t k = 0;
        if (!blocks[i].p)
            continue;
        while (sites[k].site && sites[k].site != blocks[i].site && k + 1 < SITES)
            k++;
        sites[k].site = blocks[i].site;
        sites[k].n += by;
    }
}

void fail_tell_blocks(int fd)
{
    if (fd < 0)
        memset(sites, 0, sizeof sites);
    count_sites(fd < 0 ? -1 : 1);
    for (size_t i = 0; fd >= 0 && i < SITES && sites[i].site; i++) {
        if (sites[i].n <= 0 || !is_ours(sites[i].site))
            continue;
        dprintf(fd, "    %ld more of\n", sites[i].n);
        backtrace_symbols_fd(&sites[i].site, 1, fd);
    }
}
