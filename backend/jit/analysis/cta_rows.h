/* CTAs of a row that run side by side: a row of threads of each, then the next row of threads
 * (control/cta_rows.c). So textures are read as their rows lie in memory. Samples of a CTA alone
 * touch a little of each of many rows, which waits for memory each time. (Zen 4, 2026-11-27: an
 * image of 2048 x 2048 turned by 19 degrees by CTAs of 32 x 8, gathers alone: 6.9 ms, 2.7 by
 * rows.) */
#ifndef PTERA_BACKEND_JIT_ANALYSIS_CTA_ROWS_H
#define PTERA_BACKEND_JIT_ANALYSIS_CTA_ROWS_H

#include "backend/jit/jit.h"

/* The groups that a row of threads has, or 1 where groups have several rows; 0: each CTA runs from
 * its start to its end before the next one. The kernel's regions are known. */
unsigned jit_cta_rows_find(const struct jit_facts *a);

#endif
