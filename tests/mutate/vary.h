/* A mutant's text changed so that what is not defined shows: the result differs. The caller frees;
 * NULL: there is nothing to change. */
#ifndef PTERA_TESTS_MUTATE_VARY_H
#define PTERA_TESTS_MUTATE_VARY_H

#include <stdint.h>

/* Without the instruction on the line; if there are several, without the load or the first one. */
char *vary_without(const char *text, unsigned line);
/* Reads of clocks give what grows by `step` each time, from where high halves are not zero; 0: zero
 * each time. */
char *vary_clocks(const char *text, uint64_t step);
/* Kernels have another local variable before the first one. */
char *vary_places(const char *text);
/* Parameters of calls do not lie side by side. */
char *vary_parameters(const char *text);
/* Functions write the result that they have in memory before anything else. */
char *vary_results(const char *text);

#endif
