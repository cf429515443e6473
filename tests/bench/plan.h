/* What `compare` was asked to do, and what it compares: cases, variants, their results. */
#ifndef PTERA_TESTS_BENCH_PLAN_H
#define PTERA_TESTS_BENCH_PLAN_H

#include <stdio.h>

#include "tests/bench/worker.h"

enum { MAX_CASES = 32, MAX_VARIANTS = 64, MAX_ROUNDS = 99 };

struct plan {
    const char *kernels;                           /* the folder of PTX and OpenCL C */
    const char *set;                               /* of cases: first, second; NULL: all */
    const char *cases, *engines, *peers, *threads; /* lists; NULL: all */
    const char *level;                             /* of the CPU; NULL: all that it has */
    bool is_full;
    unsigned size; /* of every case; 0: as is_full says */
    int rounds;
    double seconds; /* for the rounds of a case: more ends them, but three are done */
    bool check_only, first_results, once, list;
    FILE *tsv; /* NULL: none */

    struct variant variant[MAX_VARIANTS]; /* Ptera's engines first */
    int n_variants, n_ptera;
};

struct measured {
    double ms[MAX_ROUNDS];
    int rounds; /* 0: not measured */
    double median, best;
    double work;
    bool is_remarked; /* something was said about it */
    bool is_left_out;
};

/* Reads the options and makes the variants. False: usage was printed. */
bool plan_read(struct plan *p, int argc, char **argv);
bool plan_has_case(const struct plan *p, const struct bench_kind *kind);
unsigned plan_size(const struct plan *p, const struct bench_kind *kind);
/* The peers are the columns of tables: the variants of one number of threads have them all. */
bool plan_is_column(const struct plan *p, int v);
/* The variant that all results are held against: OpenMP by gcc, one thread. */
const struct variant *plan_reference(void);

#endif
