/* Time to the first result: first.c. */
#ifndef PTERA_TESTS_BENCH_FIRST_H
#define PTERA_TESTS_BENCH_FIRST_H

#include "tests/bench/plan.h"

/* Returns the number of failures. */
int first_results(const struct plan *p);

#endif
