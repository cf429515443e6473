/* The errors that the PTX manual documents for its approximate instructions (approximate.def). */
#ifndef PTERA_TOOLS_CONFORM_APPROXIMATE_H
#define PTERA_TOOLS_CONFORM_APPROXIMATE_H

#include <stdbool.h>
#include <stdint.h>

/* Whether `got`, the word that the form gave for the words `in`, is as near to the function's value
 * as documented. Forms with no documented error have none. */
bool conform_approximate_is_close(const char *form, const uint64_t *in, unsigned n_in,
                                  uint64_t got);

#endif
