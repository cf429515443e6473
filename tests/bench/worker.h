/* A process that runs one case by one runner. It is stopped except while it is asked something, so
 * that threads which spin when idle (OpenMP's do, for up to 200 ms) take nothing from the one that
 * is measured. */
#ifndef PTERA_TESTS_BENCH_WORKER_H
#define PTERA_TESTS_BENCH_WORKER_H

#include "tests/bench/digest.h"
#include "tests/bench/runner.h"

/* What is compared: a column of the tables. */
struct variant {
    char name[32];      /* "interp", "openmp-gcc" */
    const char *object; /* the peer's shared object; NULL: Ptera, linked in */
    const char *engine; /* Ptera's; else NULL */
    unsigned threads;
};

struct worker_order {
    const struct variant *variant;
    const struct bench_kind *kind;
    unsigned size;
    const char *kernels;
    const char *cache; /* the folder for compiled code of this run: XDG_CACHE_HOME */
};

struct worker_ready {
    bool
        is_left_out; /* the runner does not have this case, or not what it needs: then `remark` says
                      * what */
    double open_ms;  /* loading, compiling */
    double first_ms; /* the first run */
    double work;     /* as bench_case.work */
    char version[96];
    char remark[200]; /* runner.remark's; "" if none */
};

enum { WORKER_WHY = 300 };

struct worker {
    int pid; /* 0: not running */
    int to, from;
    char why[WORKER_WHY]; /* why the last question got no answer */
};

/* Starts a worker and lets it make the case, open it and run it once. False: w->why. */
bool worker_start(struct worker *w, const struct worker_order *order, struct worker_ready *ready);
/* Runs the case, first once unmeasured if it is a short one. */
bool worker_run(struct worker *w, double *ms);
bool worker_digest(struct worker *w, struct digest *digest);
void worker_end(struct worker *w);

#endif
