/* The parts of `ptera profile --html`, each in a file of its name. `number` is the kernel's in the
 * report: what belongs to it has ids "kNUMBER-...". */
#ifndef PTERA_TOOLS_HTML_PROFILE_H
#define PTERA_TOOLS_HTML_PROFILE_H

#include <stdbool.h>
#include <stdio.h>

#include "tools/metrics.h"

/* What an instruction is and where, as text. */
void html_source_put_place(FILE *out, const struct counted_kernel *k, const struct counted_insn *x);
/* Lines of the source, or of the PTX, with what each does. `rows`: how many more the report may
 * have. False: no memory. */
bool html_source_put(FILE *out, const struct counted_kernel *k, unsigned number, bool is_ptx,
                     unsigned *rows);
/* For each instruction that accesses memory, the warp that was the worst: data for a script. */
void html_access_put(FILE *out, const struct counted_kernel *k, unsigned number);
/* Branches that parts of warps took. */
void html_divergence_put(FILE *out, const struct sums *s, unsigned number);
/* Warps that an SM can have at once, by registers, shared memory and threads of a block. */
void html_occupancy_put(FILE *out, const struct counted_kernel *k, unsigned number);
/* When launches ran. False: no memory. */
bool html_timeline_put(FILE *out, const struct counts *counts);
/* All kernels under what the device and this machine can do. */
void html_roofline_put(FILE *out, const struct counts *counts);

#endif
