/* Messages about errors: kept for programs that ask for them, handed to their callbacks. */
#define _GNU_SOURCE
#include "runtime/cuda/driver.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { KEPT_BYTES = 25600, MESSAGE_MOST = 1024, KEPT_MOST = KEPT_BYTES / 32 };

struct CUlogsCallbackEntry_st {
    CUlogsCallback call;
    void *ud;
    struct CUlogsCallbackEntry_st *next;
};

/* Messages in the order in which they came, the oldest at `first`; an iterator is the number of a message. */
static struct {
    pthread_mutex_t lock;
    char *lines[KEPT_MOST]; /* by number, modulo */
    unsigned first, end;
    size_t bytes;
    struct CUlogsCallbackEntry_st *callbacks;
} logs = {.lock = PTHREAD_MUTEX_INITIALIZER};

void pt_cu_logs_renew(void)
{
    pthread_mutex_init(&logs.lock, NULL);
}

/* ---- keeping ------------------------------------------------------------------------------------------- */

static void drop_oldest(void)
{
    char **line = &logs.lines[logs.first++ % KEPT_MOST];
    logs.bytes -= strlen(*line);
    free(*line);
    *line = NULL;
}

static void keep(const char *line)
{
    size_t n = strlen(line);
    char *copy = strdup(line);
    if (!copy)
        return;
    while (logs.first != logs.end &&
           (logs.bytes + n > KEPT_BYTES || logs.end - logs.first == KEPT_MOST))
        drop_oldest();
    logs.lines[logs.end++ % KEPT_MOST] = copy;
    logs.bytes += n;
}

/* "[hours:minutes:seconds.thousandths][thread][CUDA][E] " */
static int put_head(char *to, size_t size)
{
    struct timespec now;
    struct tm local;
    clock_gettime(CLOCK_REALTIME, &now);
    localtime_r(&now.tv_sec, &local);
    return snprintf(to, size, "[%02d:%02d:%02d.%03ld][%llu][CUDA][E] ", local.tm_hour, local.tm_min,
                    local.tm_sec, now.tv_nsec / 1000000, (unsigned long long)pthread_self());
}

/* Callbacks are called without the lock: what they are is settled before. */
static void call_back(char *message, size_t n)
{
    enum { MOST = 16 };
    struct CUlogsCallbackEntry_st called[MOST];
    unsigned count = 0;
    for (struct CUlogsCallbackEntry_st *c = logs.callbacks; c && count < MOST; c = c->next)
        called[count++] = *c;
    pthread_mutex_unlock(&logs.lock);
    for (unsigned i = 0; i < count; i++)
        called[i].call(called[i].ud, CU_LOG_LEVEL_ERROR, message, n);
}

void pt_cu_logs_add(const char *format, ...)
{
    char line[MESSAGE_MOST];
    va_list args;
    int head = put_head(line, sizeof line);
    va_start(args, format);
    vsnprintf(line + head, sizeof line - (size_t)head - 1, format, args);
    va_end(args);
    strcat(line, "\n");
    pthread_mutex_lock(&logs.lock);
    keep(line);
    call_back(line, strlen(line));
}

/* ---- callbacks ----------------------------------------------------------------------------------------- */

static CUresult register_callback(CUlogsCallback call, void *ud, CUlogsCallbackHandle *handle)
{
    struct CUlogsCallbackEntry_st *entry = call ? malloc(sizeof *entry) : NULL;
    if (!entry)
        return call ? CUDA_ERROR_OUT_OF_MEMORY : CUDA_ERROR_INVALID_VALUE;
    pthread_mutex_lock(&logs.lock);
    *entry = (struct CUlogsCallbackEntry_st){call, ud, logs.callbacks};
    logs.callbacks = entry;
    pthread_mutex_unlock(&logs.lock);
    if (handle)
        *handle = entry;
    return CUDA_SUCCESS;
}

CUresult cuLogsRegisterCallback(CUlogsCallback call, void *ud, CUlogsCallbackHandle *handle)
{
    return API(register_callback(call, ud, handle));
}

static CUresult unregister_callback(CUlogsCallbackHandle handle)
{
    CUresult r = CUDA_ERROR_INVALID_VALUE;
    pthread_mutex_lock(&logs.lock);
    for (struct CUlogsCallbackEntry_st **place = &logs.callbacks; handle && *place;
         place = &(*place)->next) {
        if (*place != handle)
            continue;
        *place = handle->next;
        free(handle);
        r = CUDA_SUCCESS;
        break;
    }
    pthread_mutex_unlock(&logs.lock);
    return r;
}

CUresult cuLogsUnregisterCallback(CUlogsCallbackHandle handle)
{
    return API(unregister_callback(handle));
}

/* ---- what is kept -------------------------------------------------------------------------------------- */

static CUresult current(CUlogIterator *iterator, unsigned flags)
{
    if (!iterator || flags)
        return CUDA_ERROR_INVALID_VALUE;
    pthread_mutex_lock(&logs.lock);
    *iterator = logs.end;
    pthread_mutex_unlock(&logs.lock);
    return CUDA_SUCCESS;
}

CUresult cuLogsCurrent(CUlogIterator *iterator, unsigned flags)
{
    return API(current(iterator, flags));
}

/* The message to begin with. Numbers go round, too. */
static unsigned begin_of(const CUlogIterator *iterator)
{
    bool is_kept = iterator && *iterator - logs.first <= logs.end - logs.first;
    return is_kept ? *iterator : logs.first;
}

static const char lost[] = "[CUDA] older messages are lost\n";

static bool lacks_some(const CUlogIterator *iterator)
{
    return begin_of(iterator) != (iterator ? *iterator : 0);
}

static CUresult dump_to_file(CUlogIterator *iterator, const char *path, unsigned flags)
{
    FILE *file = path && !flags ? fopen(path, "we") : NULL;
    if (!file)
        return CUDA_ERROR_INVALID_VALUE;
    pthread_mutex_lock(&logs.lock);
    if (lacks_some(iterator))
        fputs(lost, file);
    for (unsigned i = begin_of(iterator); i != logs.end; i++)
        fputs(logs.lines[i % KEPT_MOST], file);
    if (iterator)
        *iterator = logs.end;
    pthread_mutex_unlock(&logs.lock);
    return fclose(file) == 0 ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuLogsDumpToFile(CUlogIterator *iterator, const char *path, unsigned flags)
{
    return API(dump_to_file(iterator, path, flags));
}

/* The first of the last messages that have room, behind a line about those that have none. */
static unsigned fit(unsigned begin, size_t room, bool *is_cut)
{
    size_t all = 0, n = 0;
    for (unsigned i = begin; i != logs.end; i++)
        all += strlen(logs.lines[i % KEPT_MOST]);
    if (*is_cut)
        all += strlen(lost);
    if (all <= room)
        return begin;
    *is_cut = true;
    unsigned i = logs.end;
    for (n = strlen(lost); i != begin && n + strlen(logs.lines[(i - 1) % KEPT_MOST]) <= room; i--)
        n += strlen(logs.lines[(i - 1) % KEPT_MOST]);
    return i;
}

static CUresult dump(CUlogIterator *iterator, char *to, size_t *size)
{
    bool is_cut = lacks_some(iterator);
    unsigned begin = begin_of(iterator), i = fit(begin, *size - 1, &is_cut);
    bool has_none = i == logs.end;
    *to = 0;
    *size = 0;
    if (has_none)
        return begin == logs.end ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
    char *end = is_cut ? stpcpy(to, lost) : to;
    for (; i != logs.end; i++)
        end = stpcpy(end, logs.lines[i % KEPT_MOST]);
    *size = (size_t)(end - to);
    if (iterator)
        *iterator = logs.end;
    return CUDA_SUCCESS;
}

static CUresult dump_to_memory(CUlogIterator *iterator, char *to, size_t *size, unsigned flags)
{
    if (!to || !size || !*size || flags)
        return CUDA_ERROR_INVALID_VALUE;
    pthread_mutex_lock(&logs.lock);
    CUresult r = dump(iterator, to, size);
    pthread_mutex_unlock(&logs.lock);
    return r;
}

CUresult cuLogsDumpToMemory(CUlogIterator *iterator, char *to, size_t *size, unsigned flags)
{
    return API(dump_to_memory(iterator, to, size, flags));
}
