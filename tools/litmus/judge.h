/* Which outcomes of a litmus test the memory model allows. */
#ifndef PTERA_TOOLS_LITMUS_JUDGE_H
#define PTERA_TOOLS_LITMUS_JUDGE_H

#include "tools/litmus/outcome.h"
#include "tools/litmus/test.h"

/* Adds them: of every execution that the axioms of model.def admit, those without that `ignored`
 * names (as bits). False: the test is too large. */
bool litmus_judge_allowed(const struct litmus_test *test, unsigned ignored,
                          struct litmus_outcomes *allowed);

/* How many executions there may be: what judging costs. */
uint64_t litmus_judge_ways(const struct litmus_test *test);

/* Adds the outcomes that there are if all that the threads do happens in one order. */
void litmus_interleave(const struct litmus_test *test, struct litmus_outcomes *outcomes);

#endif
