/* Geometric means of the ratios that a run has come to: by set and group, engine and peer. */
#ifndef PTERA_TESTS_BENCH_MEANS_H
#define PTERA_TESTS_BENCH_MEANS_H

#include "tests/bench/plan.h"

enum { MEANS_TWIN = -1 }; /* in the place of a peer: the better of a case's twins in C */

/* Ptera's time over the peer's, of one case by one of Ptera's variants. */
void means_add(const struct bench_kind *kind, int engine, int peer, double ratio);
/* A case of which something was said. */
void means_remark(const struct bench_kind *kind, int engine);
void means_print(const struct plan *p);

#endif
