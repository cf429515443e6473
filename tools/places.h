/* Instructions of kernels by the lines where they stand. */
#ifndef PTERA_TOOLS_PLACES_H
#define PTERA_TOOLS_PLACES_H

#include <stdio.h>

#include "tools/counts.h"

struct place {
    const char *file;
    unsigned line;
    const struct counted_insn *insn;
};

struct places {
    struct place *v;
    size_t n;
};

/* Adds a kernel's instructions by lines of the source, or, where they are not known or not wanted,
 * of the PTX. False: no memory. The caller frees v. */
bool places_add(struct places *to, const struct counted_kernel *k, bool is_ptx);
/* By file and line: what else is here is for such. */
void places_sort(struct places *places);
/* The first behind place i that is of another line. */
size_t places_line_end(const struct places *p, size_t i);

/* Over the instructions of a line. */
struct line_sums {
    uint64_t warps, lanes, sectors, requests, wavefronts, conflicts, atomics, waits;
};
struct line_sums places_sum(const struct places *p, size_t from, size_t to);

/* A text file whose lines are asked for in ascending order; zeros at first. */
struct source {
    const char *path;
    FILE *in;
    char *text;
    size_t room;
    unsigned line; /* `text` */
};

/* "" if there is no such line, or file. */
const char *places_source_line(struct source *s, const char *path, unsigned line);
void places_source_close(struct source *s);

#endif
