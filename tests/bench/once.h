/* The set by Ptera alone, in one process, for tools that count: once.c. */
#ifndef PTERA_TESTS_BENCH_ONCE_H
#define PTERA_TESTS_BENCH_ONCE_H

#include "tests/bench/plan.h"

/* Returns the exit status. */
int run_once_here(const struct plan *p);

#endif
