/* A folder for what compilers keep, so that a run begins with nothing compiled and leaves nothing
 * behind. */
#ifndef PTERA_TESTS_BENCH_SCRATCH_H
#define PTERA_TESTS_BENCH_SCRATCH_H

char *scratch_make(void);
void scratch_remove(const char *folder);

#endif
