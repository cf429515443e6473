/* The file of a trace: JSON that is complete after every append, so that it loads however the
 * program ends, and to which several processes may append. */
#ifndef PTERA_RUNTIME_TRACE_FILE_H
#define PTERA_RUNTIME_TRACE_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct pt_trace_file {
    int fd;
    const char *path;
    uint64_t lost; /* events that could not be written */
    int error;     /* the last reason, an errno */
};

/* `path` stays the caller's. False: errno says why; EEXIST: the file is something else. */
bool pt_trace_file_open(struct pt_trace_file *file, const char *path);
/* Appends elements of the array, each of which begins with a comma. False: they are lost, and what
 * the file had before is as it was. */
bool pt_trace_file_append(struct pt_trace_file *file, const char *text, size_t bytes,
                          uint64_t events);
/* False: an error that came late. */
bool pt_trace_file_close(struct pt_trace_file *file);
/* What the file at that path says of lost events; 0 if it says nothing. */
uint64_t pt_trace_file_lost(const char *path);

#endif
