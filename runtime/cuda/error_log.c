/* Messages about errors: kept for programs that ask for them, handed to their callbacks. */
#define _GNU_SOURCE
#include "runtime/cuda/error_log.h"

#include <limits.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "runtime/thread.h"

enum { MESSAGE_MOST = 1024 };

struct pt_cu_error_log pt_cu_error_log = {.lock = PTHREAD_MUTEX_INITIALIZER};

void pt_cu_error_log_renew(void)
{
    pthread_mutex_init(&pt_cu_error_log.lock, NULL);
}

/* CUDA_LOG_FILE: stdout, stderr or a file, which is made when there is something to tell. */
static char file[PATH_MAX];

__attribute__((constructor)) static void read_file_name(void)
{
    const char *name = secure_getenv("CUDA_LOG_FILE");
    if (name && strlen(name) < sizeof file)
        strcpy(file, name);
}

static void write_line(const char *line)
{
    struct pt_quiet quiet;
    bool is_out = !strcmp(file, "stdout"), is_err = !strcmp(file, "stderr");
    pt_thread_quiet(&quiet);
    FILE *to = is_out ? stdout : is_err ? stderr : fopen(file, "ae");
    if (to)
        fputs(line, to);
    if (to && !is_out && !is_err)
        fclose(to);
    pt_thread_unquiet(&quiet);
}

static void drop_oldest(void)
{
    char **line = &pt_cu_error_log.lines[pt_cu_error_log.first++ % PT_CU_ERROR_LOG_MOST];
    pt_cu_error_log.bytes -= strlen(*line);
    free(*line);
    *line = NULL;
}

static void keep(const char *line)
{
    size_t n = strlen(line);
    char *copy = strdup(line);
    if (!copy)
        return;
    while (pt_cu_error_log.first != pt_cu_error_log.end &&
           (pt_cu_error_log.bytes + n > PT_CU_ERROR_LOG_BYTES ||
            pt_cu_error_log.end - pt_cu_error_log.first == PT_CU_ERROR_LOG_MOST))
        drop_oldest();
    pt_cu_error_log.lines[pt_cu_error_log.end++ % PT_CU_ERROR_LOG_MOST] = copy;
    pt_cu_error_log.bytes += n;
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
    for (struct CUlogsCallbackEntry_st *c = pt_cu_error_log.callbacks; c && count < MOST;
         c = c->next)
        called[count++] = *c;
    pthread_mutex_unlock(&pt_cu_error_log.lock);
    for (unsigned i = 0; i < count; i++)
        called[i].call(called[i].ud, CU_LOG_LEVEL_ERROR, message, n);
}

void pt_cu_error_log_add(const char *format, ...)
{
    char line[MESSAGE_MOST];
    va_list args;
    int head = put_head(line, sizeof line);
    va_start(args, format);
    vsnprintf(line + head, sizeof line - (size_t)head - 1, format, args);
    va_end(args);
    strcat(line, "\n");
    pthread_mutex_lock(&pt_cu_error_log.lock);
    keep(line);
    if (*file)
        write_line(line);
    call_back(line, strlen(line));
}
