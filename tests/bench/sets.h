/* The tables of kernels that case.c collects: a file of this folder each. */
#ifndef PTERA_TESTS_BENCH_SETS_H
#define PTERA_TESTS_BENCH_SETS_H

#include "tests/bench/case.h"

struct bench_table {
    const char *set, *group; /* a set has groups, for which means are taken */
    const struct bench_kind *kind;
    int n;
};

#define BENCH_TABLES(X) \
    X(limits)           \
    X(first)            \
    X(f64)              \
    X(programs)         \
    X(bytes)            \
    X(learning)         \
    X(textures)

#define DECLARE_TABLE(name) extern const struct bench_table bench_##name;
BENCH_TABLES(DECLARE_TABLE)
#undef DECLARE_TABLE

/* Of a file's `kinds`, behind whose last row is an empty one. */
#define BENCH_TABLE(name, set, group) \
    const struct bench_table bench_##name = {set, group, kinds, sizeof kinds / sizeof *kinds - 1}

#endif
