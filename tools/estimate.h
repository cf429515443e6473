/* How long a launch would take on a GPU: a model, from what was counted and timed of it. */
#ifndef PTERA_TOOLS_ESTIMATE_H
#define PTERA_TOOLS_ESTIMATE_H

#include <stdbool.h>
#include <stdio.h>

struct sums;

struct estimate {
    double ns;         /* of a launch, its caches empty before */
    double active;     /* warps that an SM has, on average, of the most it may */
    const char *limit; /* what it waits for most, in words */
};

/* Why nothing can be estimated for a device (NULL: the one that PTERA_DEVICE names); NULL: it can.
 * The text stays up to the next call. */
const char *estimate_refuse(const char *device);
/* Of a kernel that was timed. */
void estimate_make(struct estimate *e, const struct sums *s);
/* A line for reports, with what is known of the model's error. */
void estimate_put(FILE *out, const struct sums *s);

#endif
