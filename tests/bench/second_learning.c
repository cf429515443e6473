/* The second set: half precision, convolutions, networks. */
#include "tests/bench/sets.h"

#include "tests/bench/add.h"

static const struct bench_kind kinds[] = {
    {0},
};

BENCH_TABLE(learning, "second", "learning");
