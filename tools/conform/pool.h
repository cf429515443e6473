/* Workers: processes that run rows, and may die or hang on them. */
#ifndef PTERA_TOOLS_CONFORM_POOL_H
#define PTERA_TOOLS_CONFORM_POOL_H

#include "tools/conform/row.h"

struct pool_options {
    const char *library; /* the driver's */
    unsigned workers;
    double timeout; /* seconds that a row may take */
    bool is_first;  /* ends at the first row that does not pass */
};

/* What the driver says of itself. */
struct pool_device {
    char name[128];
    int capability, version;
};

/* Runs all rows: each gets its result. Interrupted (SIGINT, SIGTERM, `is_first`), it ends: those
 * that have not run are untried. False: none can be run, `why` says why. */
bool conform_pool_run(const struct pool_options *options, struct conform_rows *rows,
                      struct pool_device *device, char *why, size_t why_bytes);

#endif
