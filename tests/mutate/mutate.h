/* Mutants: files of the corpus with one to three changes of tokens or statements. The same seed and
 * corpus give the same mutant. */
#ifndef PTERA_TESTS_MUTATE_MUTATE_H
#define PTERA_TESTS_MUTATE_MUTATE_H

#include <stdint.h>

#include "tests/mutate/corpus.h"

/* The caller frees the tokens, which live as long as the corpus. `source`: what it was made of. */
struct tokens mutate(const struct corpus *corpus, uint64_t seed, const struct source **source);

/* Statements: up to and with their semicolon; a label, a brace and a directive's head are none. */
struct statement {
    size_t first, n;
};
/* The statement that holds the token. */
struct statement statement_of(const struct tokens *tokens, size_t at);

#endif
