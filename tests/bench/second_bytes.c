/* The second set: bytes, structures and integers. */
#include "tests/bench/sets.h"

#include "tests/bench/add.h"

static const struct bench_kind kinds[] = {
    {0},
};

BENCH_TABLE(bytes, "second", "bytes");
