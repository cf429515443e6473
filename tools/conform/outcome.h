/* Outcomes of litmus tests: values of registers and places, three bits each. */
#ifndef PTERA_TOOLS_CONFORM_OUTCOME_H
#define PTERA_TOOLS_CONFORM_OUTCOME_H

#include <stdbool.h>
#include <stdint.h>

/* A register's index is its number, a place's this and its number (x, y, z). */
enum { OUTCOME_REGISTERS = 4, OUTCOME_PLACES = 3 };

static inline uint32_t outcome_value(uint32_t values, unsigned index)
{
    return values >> 3 * index & 7;
}

/* True if the values are one of the outcomes: "r0=1 x=2 | r0=0". */
bool conform_outcome_is_listed(const char *outcomes, uint32_t values);

#endif
