/* What a case computed, small enough to send and sharp enough to tell a wrong CTA. */
#ifndef PTERA_TESTS_BENCH_DIGEST_H
#define PTERA_TESTS_BENCH_DIGEST_H

#include "tests/bench/case.h"

enum { DIGEST_PARTS = 1024 };

/* Integers: a hash that knows positions. Floats: each output buffer is cut into DIGEST_PARTS; of
 * each part the sum of its elements with weights that differ by position, the sum of the weighted
 * magnitudes, and by how much both may differ. */
struct digest {
    uint64_t hash;
    double sum[DIGEST_PARTS], magnitude[DIGEST_PARTS], allowed[DIGEST_PARTS];
};

void digest_make(struct digest *d, const struct bench_case *c);

/* Integers are equal; each part's sum is within what `a` allows: of each element's magnitude, the
 * part that suits its type (digest.c). */
bool digest_is_equal(const struct digest *a, const struct digest *b);

#endif
