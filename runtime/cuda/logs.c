/* What programs ask of the kept messages about errors (error_log.c): callbacks, and copies. */
#define _GNU_SOURCE
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/cuda/entry.h"
#include "runtime/cuda/error_log.h"

/* ---- callbacks ------------------------------------------------------------------------------- */

static CUresult register_callback(CUlogsCallback call, void *ud, CUlogsCallbackHandle *handle)
{
    struct CUlogsCallbackEntry_st *entry = call ? malloc(sizeof *entry) : NULL;
    if (!entry)
        return call ? CUDA_ERROR_OUT_OF_MEMORY : CUDA_ERROR_INVALID_VALUE;
    pthread_mutex_lock(&pt_cu_error_log.lock);
    *entry = (struct CUlogsCallbackEntry_st){call, ud, pt_cu_error_log.callbacks};
    pt_cu_error_log.callbacks = entry;
    pthread_mutex_unlock(&pt_cu_error_log.lock);
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
    pthread_mutex_lock(&pt_cu_error_log.lock);
    for (struct CUlogsCallbackEntry_st **place = &pt_cu_error_log.callbacks; handle && *place;
         place = &(*place)->next) {
        if (*place != handle)
            continue;
        *place = handle->next;
        free(handle);
        r = CUDA_SUCCESS;
        break;
    }
    pthread_mutex_unlock(&pt_cu_error_log.lock);
    return r;
}

CUresult cuLogsUnregisterCallback(CUlogsCallbackHandle handle)
{
    return API(unregister_callback(handle));
}

/* ---- what is kept ---------------------------------------------------------------------------- */

static CUresult current(CUlogIterator *iterator, unsigned flags)
{
    if (!iterator || flags)
        return CUDA_ERROR_INVALID_VALUE;
    pthread_mutex_lock(&pt_cu_error_log.lock);
    *iterator = pt_cu_error_log.end;
    pthread_mutex_unlock(&pt_cu_error_log.lock);
    return CUDA_SUCCESS;
}

CUresult cuLogsCurrent(CUlogIterator *iterator, unsigned flags)
{
    return API(current(iterator, flags));
}

/* The message to begin with. Numbers go round, too. */
static unsigned begin_of(const CUlogIterator *iterator)
{
    bool is_kept = iterator &&
                   *iterator - pt_cu_error_log.first <= pt_cu_error_log.end - pt_cu_error_log.first;
    return is_kept ? *iterator : pt_cu_error_log.first;
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
    pthread_mutex_lock(&pt_cu_error_log.lock);
    if (lacks_some(iterator))
        fputs(lost, file);
    for (unsigned i = begin_of(iterator); i != pt_cu_error_log.end; i++)
        fputs(pt_cu_error_log.lines[i % PT_CU_ERROR_LOG_MOST], file);
    if (iterator)
        *iterator = pt_cu_error_log.end;
    pthread_mutex_unlock(&pt_cu_error_log.lock);
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
    for (unsigned i = begin; i != pt_cu_error_log.end; i++)
        all += strlen(pt_cu_error_log.lines[i % PT_CU_ERROR_LOG_MOST]);
    if (*is_cut)
        all += strlen(lost);
    if (all <= room)
        return begin;
    *is_cut = true;
    unsigned i = pt_cu_error_log.end;
    for (n = strlen(lost);
         i != begin && n + strlen(pt_cu_error_log.lines[(i - 1) % PT_CU_ERROR_LOG_MOST]) <= room;
         i--)
        n += strlen(pt_cu_error_log.lines[(i - 1) % PT_CU_ERROR_LOG_MOST]);
    return i;
}

static CUresult dump(CUlogIterator *iterator, char *to, size_t *size)
{
    bool is_cut = lacks_some(iterator);
    unsigned begin = begin_of(iterator), i = fit(begin, *size - 1, &is_cut);
    bool has_none = i == pt_cu_error_log.end;
    *to = 0;
    *size = 0;
    if (has_none)
        return begin == pt_cu_error_log.end ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
    char *end = is_cut ? stpcpy(to, lost) : to;
    for (; i != pt_cu_error_log.end; i++)
        end = stpcpy(end, pt_cu_error_log.lines[i % PT_CU_ERROR_LOG_MOST]);
    *size = (size_t)(end - to);
    if (iterator)
        *iterator = pt_cu_error_log.end;
    return CUDA_SUCCESS;
}

static CUresult dump_to_memory(CUlogIterator *iterator, char *to, size_t *size, unsigned flags)
{
    if (!to || !size || !*size || flags)
        return CUDA_ERROR_INVALID_VALUE;
    pthread_mutex_lock(&pt_cu_error_log.lock);
    CUresult r = dump(iterator, to, size);
    pthread_mutex_unlock(&pt_cu_error_log.lock);
    return r;
}

CUresult cuLogsDumpToMemory(CUlogIterator *iterator, char *to, size_t *size, unsigned flags)
{
    return API(dump_to_memory(iterator, to, size, flags));
}
