/* How compile time grows with a kernel: growth.c. */
#ifndef PTERA_TESTS_BENCH_GROWTH_H
#define PTERA_TESTS_BENCH_GROWTH_H

void bench_growth(void);

#endif
