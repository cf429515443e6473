#include "tools/litmus/outcome.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/litmus/words.h"

bool litmus_outcome_is(uint64_t outcome, const char *condition)
{
    bool holds = true;
    for (const char *p = condition; *p;) {
        char *end = NULL;
        const char *place = strchr(litmus_words_places, *p);
        unsigned index;
        if (*p == ' ' || *p == '|') {
            if (*p == '|' && holds)
                return true;
            holds |= *p++ == '|';
            continue;
        }
        index = place ? LITMUS_REGISTERS + (unsigned)(place - litmus_words_places)
                      : (unsigned)strtoul(p + 1, &end, 10);
        p = place ? p + 1 : end;
        bool is_equal = *p != '!';
        unsigned value = (unsigned)strtoul(p + (is_equal ? 1 : 2), &end, 10);
        holds &= (litmus_outcome_get(outcome, index) == value) == is_equal;
        p = end;
    }
    return holds;
}

void litmus_outcome_write(const struct litmus_test *test, uint64_t outcome, char *text,
                          size_t bytes)
{
    size_t n = 0;
    *text = 0;
    for (unsigned i = 0; i < test->n_registers && n < bytes; i++)
        n += (size_t)snprintf(text + n, bytes - n, "%sr%u=%u", n ? " " : "", i,
                              litmus_outcome_get(outcome, i));
    for (unsigned i = 0; i < test->n_places && n < bytes; i++)
        n += (size_t)snprintf(text + n, bytes - n, "%s%c=%u", n ? " " : "", litmus_words_places[i],
                              litmus_outcome_get(outcome, LITMUS_REGISTERS + i));
}

/* The first that is not below it. */
static unsigned find_outcome(const struct litmus_outcomes *set, uint64_t outcome)
{
    unsigned low = 0, high = set->n;
    while (low < high) {
        unsigned middle = (low + high) / 2;
        if (set->v[middle] < outcome)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

bool litmus_outcomes_have(const struct litmus_outcomes *set, uint64_t outcome)
{
    unsigned i = find_outcome(set, outcome);
    return i < set->n && set->v[i] == outcome;
}

void litmus_outcomes_add(struct litmus_outcomes *set, uint64_t outcome)
{
    unsigned i = find_outcome(set, outcome);
    if (i < set->n && set->v[i] == outcome)
        return;
    if (set->n == set->room) {
        unsigned room = set->room ? 2 * set->room : 64;
        uint64_t *v = realloc(set->v, room * sizeof *v);
        if (!v) {
            set->is_short = true;
            return;
        }
        set->v = v;
        set->room = room;
    }
    memmove(set->v + i + 1, set->v + i, (set->n++ - i) * sizeof *set->v);
    set->v[i] = outcome;
}

void litmus_outcomes_free(struct litmus_outcomes *set)
{
    free(set->v);
    *set = (struct litmus_outcomes){0};
}
