/* The clock and the median, for all that measures. */
#ifndef PTERA_TESTS_BENCH_TIMING_H
#define PTERA_TESTS_BENCH_TIMING_H

double now_ms(void);

/* Sorts `v`. */
double median(double *v, int n);

#endif
