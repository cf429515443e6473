/* Appending to a trace. Processes take turns by a lock on the file. */
#include "runtime/trace_file.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* How many events were lost is overwritten in place: that works on a full disk, too. There is no
 * "displayTimeUnit": with "ns", Perfetto up to 20.1 at least takes times, which are microseconds,
 * for nanoseconds. */
#define BEGIN "{\"otherData\":{\"producer\":\"Ptera\",\"lost_events\":"
#define NONE_LOST "0                   "
static const char head[] =
    BEGIN NONE_LOST "},\"traceEvents\":[\n{\"ph\":\"M\",\"name\":\"trace\",\"pid\":0,\"args\":{}}";
static const char tail[] = "\n]}\n";
enum {
    HEAD_BYTES = sizeof head - 1,
    TAIL_BYTES = sizeof tail - 1,
    LOST_AT = sizeof BEGIN - 1,
    LOST_BYTES = sizeof NONE_LOST - 1
};

static bool lock(int fd, short type)
{
    struct flock whole = {.l_type = type, .l_whence = SEEK_SET};
    int r;
    while ((r = fcntl(fd, F_SETLKW, &whole)) != 0 && errno == EINTR)
        continue;
    return r == 0;
}

static bool write_at(int fd, const char *text, size_t bytes, off_t at)
{
    while (bytes) {
        ssize_t n = pwrite(fd, text, bytes, at);
        if (n < 0 && errno != EINTR)
            return false;
        text += n > 0 ? n : 0;
        bytes -= n > 0 ? (size_t)n : 0;
        at += n > 0 ? n : 0;
    }
    return true;
}

static bool is_trace(int fd, off_t size)
{
    char begin[LOST_AT], end[TAIL_BYTES];
    return size >= HEAD_BYTES + TAIL_BYTES && pread(fd, begin, LOST_AT, 0) == LOST_AT &&
           !memcmp(begin, head, LOST_AT) &&
           pread(fd, end, TAIL_BYTES, size - TAIL_BYTES) == TAIL_BYTES &&
           !memcmp(end, tail, TAIL_BYTES);
}

/* With the lock. */
static bool begin(int fd)
{
    struct stat st;
    if (fstat(fd, &st) != 0)
        return false;
    if (!S_ISREG(st.st_mode) || (st.st_size && !is_trace(fd, st.st_size))) {
        errno = EEXIST;
        return false;
    }
    if (st.st_size)
        return true;
    if (write_at(fd, head, HEAD_BYTES, 0) && write_at(fd, tail, TAIL_BYTES, HEAD_BYTES))
        return true;
    int error = errno;
    if (ftruncate(fd, 0) == 0)
        errno = error;
    return false;
}

bool pt_trace_file_open(struct pt_trace_file *file, const char *path)
{
    *file = (struct pt_trace_file){.path = path};
    file->fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    if (file->fd < 0)
        return false;
    bool is_begun = lock(file->fd, F_WRLCK) && begin(file->fd);
    int error = errno;
    if (is_begun && lock(file->fd, F_UNLCK))
        return true;
    close(file->fd);
    errno = error;
    return false;
}

static uint64_t read_lost(int fd)
{
    char text[LOST_BYTES + 1] = "";
    return pread(fd, text, LOST_BYTES, LOST_AT) == LOST_BYTES ? strtoull(text, NULL, 10) : 0;
}

static void add_lost(int fd, uint64_t events)
{
    char text[LOST_BYTES + 1];
    snprintf(text, sizeof text, "%-*" PRIu64, LOST_BYTES, read_lost(fd) + events);
    write_at(fd, text, LOST_BYTES, LOST_AT);
}

/* With the lock: over the tail, behind which it comes again. */
static bool append(int fd, const char *text, size_t bytes)
{
    struct stat st;
    if (fstat(fd, &st) != 0)
        return false;
    if (!is_trace(fd, st.st_size)) {
        errno = EEXIST;
        return false;
    }
    off_t at = st.st_size - TAIL_BYTES;
    if (write_at(fd, text, bytes, at) && write_at(fd, tail, TAIL_BYTES, at + (off_t)bytes))
        return true;
    int error = errno;
    if (ftruncate(fd, st.st_size) == 0)
        write_at(fd, tail, TAIL_BYTES, at);
    errno = error;
    return false;
}

bool pt_trace_file_append(struct pt_trace_file *file, const char *text, size_t bytes,
                          uint64_t events)
{
    bool is_mine = lock(file->fd, F_WRLCK);
    bool is_good = is_mine && append(file->fd, text, bytes);
    if (!is_good) {
        file->error = errno;
        file->lost += events;
        add_lost(file->fd, events);
    }
    if (is_mine)
        lock(file->fd, F_UNLCK);
    return is_good;
}

bool pt_trace_file_close(struct pt_trace_file *file)
{
    bool is_good = close(file->fd) == 0;
    if (!is_good)
        file->error = errno;
    return is_good;
}

uint64_t pt_trace_file_lost(const char *path)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    uint64_t lost = fd >= 0 ? read_lost(fd) : 0;
    if (fd >= 0)
        close(fd);
    return lost;
}
