/* The kernel arguments of the command line: scalars, generated buffers, files, and how elements
 * are shown. */
#ifndef PTERA_TOOLS_ARGS_H
#define PTERA_TOOLS_ARGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "ptera.h"

struct type; /* an element type */

struct arg {
    const char *text; /* as given */
    bool is_buffer;
    void *data; /* buffer: device memory. scalar, raw: the value's bytes (malloc) */
    size_t bytes;
    char *save;               /* file to write after the run, or NULL */
    const struct type *print; /* element type to print after the run, or NULL */
    size_t print_count;
};

/* Parses one ARG of `ptera run` and allocates its buffer. On failure prints why to standard
 * error and returns false. */
bool arg_parse(ptera_engine *engine, const char *text, struct arg *arg);
/* Prints and saves what the suffixes ask for. Returns false if a file could not be written. */
bool arg_finish(const struct arg *arg);
/* Tells the engine that the host reads that. */
void arg_read(ptera_engine *engine, const struct arg *arg);
void arg_free(ptera_engine *engine, struct arg *arg);

/* X[,Y[,Z]], each at least 1; what is left out is 1. */
bool parse_dim(const char *text, unsigned dim[3]);

extern const char arg_help[];

#endif
