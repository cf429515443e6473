/* A timeline in the Trace Event Format of Chrome, which Perfetto opens: slices, instants, names of
 * rows, and arrows between slices. Who records an event copies it into a block of memory; a thread
 * makes text of full blocks and appends it to the file. */
#ifndef PTERA_RUNTIME_TRACE_H
#define PTERA_RUNTIME_TRACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct pt_allocator;
struct pt_trace;

enum pt_trace_type {
    PT_TRACE_UNSIGNED,
    PT_TRACE_ID, /* 0: the field is left out */
    PT_TRACE_SIGNED,
    PT_TRACE_DOUBLE, /* its bits */
    PT_TRACE_TEXT,   /* the address of a text that stays; 0: left out */
    PT_TRACE_COLOUR, /* 0xAARRGGBB; 0: left out */
    PT_TRACE_SIZE    /* three values; 0, 0, 0: left out */
};

enum { PT_TRACE_FIELDS = 8 };

/* What events of a kind have in common; static. */
struct pt_trace_shape {
    char phase;           /* 'X': a slice, 'i': an instant; 'b' and 'e': where a range begins and
                           * ends that need not fit into others; 'M': a name */
    const char *arrow;    /* "flow_out": arrows begin here; "flow_in": one ends; NULL: neither */
    const char *category; /* a name's: of what ("process_name", "thread_name") */
    struct pt_trace_field {
        const char *name; /* NULL: no more */
        enum pt_trace_type type;
    } fields[PT_TRACE_FIELDS];
    uint32_t n_values; /* of them */
};

struct pt_trace_event {
    uint64_t begin, end;   /* CLOCK_MONOTONIC, ns */
    uint32_t process, row; /* rows of a process: its threads; of a device: its streams */
    uint64_t id;           /* of the range, or of the arrows from one slice; 0: none */
    const char *name;
    const uint64_t *values; /* of the fields */
};

/* Appends to a file, which is made if there is none. Processes that record nothing are not in it.
 * `say` is told, on any thread, when writing begins to fail, and at the end how many events were
 * lost of it. NULL: errno says why; EEXIST: what is there is no trace of Ptera's. */
struct pt_trace *
pt_trace_open(const char *path, const struct pt_allocator *allocator,
              void (*say)(void *ud, const char *path, const char *why, uint64_t lost), void *ud);
/* Copies an event; waits, where events come faster than they can be written. Of a trace that is
 * closed, nothing is done. */
void pt_trace_add(struct pt_trace *trace, const struct pt_trace_shape *shape,
                  const struct pt_trace_event *event);
/* Writes what is left. */
void pt_trace_close(struct pt_trace *trace);
/* Frees one that is closed, or, without writing anything, a copy in a process that was forked,
 * whose parent goes on with it. Nobody may be adding. */
void pt_trace_free(struct pt_trace *trace);
/* This process, and the calling thread's row in it. */
uint32_t pt_trace_process(const struct pt_trace *trace);
uint32_t pt_trace_row(struct pt_trace *trace);
/* The name of a process or a row. */
void pt_trace_name(struct pt_trace *trace, uint32_t process, uint32_t row, const char *name);
void pt_trace_name_process(struct pt_trace *trace, uint32_t process, const char *name);

#endif
