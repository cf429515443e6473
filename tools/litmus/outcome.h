/* Outcomes of a litmus test, four bits for each register and then for what each place holds at the
 * end; and sets of them. */
#ifndef PTERA_TOOLS_LITMUS_OUTCOME_H
#define PTERA_TOOLS_LITMUS_OUTCOME_H

#include "tools/litmus/test.h"

static inline uint64_t litmus_outcome_put(unsigned index, unsigned value)
{
    return (uint64_t)(value & 15) << 4 * index;
}
static inline unsigned litmus_outcome_get(uint64_t outcome, unsigned index)
{
    return outcome >> 4 * index & 15;
}

/* Whether it is one of "r0=1 x!=2 | r1=0". */
bool litmus_outcome_is(uint64_t outcome, const char *condition);
/* "r0=1 r1=0 x=1" */
void litmus_outcome_write(const struct litmus_test *test, uint64_t outcome, char *text,
                          size_t bytes);

/* A set of outcomes, ascending. */
struct litmus_outcomes {
    unsigned n, room;
    uint64_t *v;
    bool is_short; /* of memory: it lacks some */
};
void litmus_outcomes_add(struct litmus_outcomes *set, uint64_t outcome);
bool litmus_outcomes_have(const struct litmus_outcomes *set, uint64_t outcome);
void litmus_outcomes_free(struct litmus_outcomes *set);

#endif
