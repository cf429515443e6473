/* The speed of single instructions: families.c. */
#ifndef PTERA_TESTS_BENCH_FAMILIES_H
#define PTERA_TESTS_BENCH_FAMILIES_H

void bench_families(void);

#endif
