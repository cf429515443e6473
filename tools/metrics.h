/* Metrics of a kernel, computed from its counts, by Nsight Compute's and nvprof's names. */
#ifndef PTERA_TOOLS_METRICS_H
#define PTERA_TOOLS_METRICS_H

#include "tools/counts.h"
#include "tools/estimate.h"
#include "tools/operations.h"

/* Those before KIND_BRANCH access memory. */
enum kind {
    KIND_LOAD,
    KIND_STORE,
    KIND_COPY,
    KIND_ATOM,
    KIND_RED,
    KIND_LDGSTS, /* cp.async, by its name in machine code */
    KIND_BULK_LOAD,
    KIND_BULK_STORE,
    KIND_BULK_RED,
    KIND_BRANCH,
    KIND_NONE
};

/* Over the instructions of a kernel, and all its launches. */
struct sums {
    const struct counted_kernel *kernel;
    uint64_t warps, lanes, on;
    uint64_t branches, split_branches;
    uint64_t operations[OPERATIONS], classes[CLASSES]; /* threads whose guard held */
    uint64_t tensors[TENSORS], units[UNITS];           /* additions and multiplications; warps */
    uint64_t barriers, barrier_waits, waits;           /* warps; cycles of those that were timed */
    uint64_t accesses; /* of threads, to global, local and shared memory, and textures */
    struct {
        uint64_t warps; /* that came to instructions that access it */
        struct counted_access sum;
    } access[KIND_BRANCH][COUNTED_SPACES];
    unsigned threads, cta_warps;
    uint64_t n_ctas, n_warps; /* of a launch */
    struct estimate estimate; /* if the kernel was timed */
};

struct metric {
    const char *name, *unit, *summary;
    bool is_estimate; /* only kernels that were timed (--estimate) have it */
};

extern const struct metric metrics[];
extern const unsigned n_metrics;

void metrics_sum(struct sums *s, const struct counted_kernel *kernel);
double metrics_value(const struct metric *metric, const struct sums *s);
/* By its name; NULL: there is none. */
const struct metric *metrics_find(const char *name, size_t length);
enum kind metrics_kind(const struct counted_insn *x);

#endif
