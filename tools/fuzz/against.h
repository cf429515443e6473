/* Random kernels on anybody's driver library. */
#ifndef PTERA_TOOLS_FUZZ_AGAINST_H
#define PTERA_TOOLS_FUZZ_AGAINST_H

#include <stdint.h>

#include "tools/conform/driver.h"
#include "tools/fuzz/trial.h"

/* A launch of a kernel k(out, sums, s, w). */
struct against_launch {
    const char *text;
    unsigned grid[3], block[3];
    uint32_t s;
    uint64_t w;
    size_t out_bytes, sums_bytes; /* zeros before it */
    bool is_plain;                /* the driver's compiler is told to optimise nothing (-O0) */
};

/* What it leaves in out and, behind it, sums goes to `after`. Else the verdict, and why; after
 * VERDICT_FAILED the driver may be of no use any more. */
enum verdict against_run(const struct driver *driver, const struct against_launch *launch,
                         char *after, char why[TRIAL_TEXT]);

#endif
