/* Events as text. */
#ifndef PTERA_RUNTIME_TRACE_TEXT_H
#define PTERA_RUNTIME_TRACE_TEXT_H

#include "runtime/trace.h"
#include "runtime/trace_file.h"

enum { PT_TRACE_NAME_BYTES = 4096 /* that are kept of a name */ };

/* An event in a block: its values and its name follow. */
struct pt_trace_record {
    uint32_t bytes; /* all of it, a multiple of 8 */
    uint32_t name_bytes;
    const struct pt_trace_shape *shape;
    uint64_t begin, end, id;
    uint32_t process, row;
};

/* Text on its way to the file. */
struct pt_trace_text {
    struct pt_trace_file *file;
    uint64_t events;
    size_t n;
    char v[192 << 10];
};

/* Puts an event behind the others, which are appended to the file where there is no more room. */
void pt_trace_text_put(struct pt_trace_text *text, const struct pt_trace_record *record);
void pt_trace_text_flush(struct pt_trace_text *text);

#endif
