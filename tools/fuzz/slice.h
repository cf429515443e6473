/* What a value in memory was made of: steps of a launch are kept, and the chain of those is found
 * that led to some bytes, by registers of their thread and by memory. */
#ifndef PTERA_TOOLS_FUZZ_SLICE_H
#define PTERA_TOOLS_FUZZ_SLICE_H

#include <stdio.h>

#include "ptera_trace.h"

struct slice;

/* NULL: no memory. */
struct slice *slice_new(void);
void slice_free(struct slice *slice);
/* As ptera_tracing.step, with the slice as its ud. */
void slice_add(void *slice, const ptera_step *step);
/* Writes, a line each in the order in which they ran, the last step that wrote a byte and those
 * that made what it wrote, each line behind `prefix`. Branches on the way are not followed. */
void slice_print(const struct slice *slice, unsigned long long address, const char *prefix,
                 FILE *out);

#endif
