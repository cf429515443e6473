/* The tables `compare` prints. */
#ifndef PTERA_TESTS_BENCH_REPORT_H
#define PTERA_TESTS_BENCH_REPORT_H

#include "tests/bench/plan.h"

/* One case: a line for each engine and number of threads. `limit[v]` is the rate of the case's
 * limit with as many threads as variant v, 0 if none. */
void report_case(const struct plan *p, const struct bench_kind *kind, unsigned size,
                 const struct measured *of, const double *limit);
void report_limit(const struct plan *p, const struct bench_kind *kind, const struct measured *of);

#endif
