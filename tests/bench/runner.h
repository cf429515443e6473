/* Something that runs cases: Ptera, or a peer. Each peer is a shared object of its own with one
 * symbol, `runner`: it is built with its own compiler and left out where its tools are not
 * installed. A runner lives in a process of its own (worker.h) and runs one case. */
#ifndef PTERA_TESTS_BENCH_RUNNER_H
#define PTERA_TESTS_BENCH_RUNNER_H

#include "tests/bench/case.h"

struct runner_setup {
    const char *kernels; /* the folder of PTX and OpenCL C */
    const char *engine;  /* of ptera_engines; NULL for peers */
    unsigned threads;
};

/* Functions that may fail return NULL, or why: text that stays valid. */
struct runner {
    bool (*has)(const struct bench_kind *kind);
    /* Finds what it needs on this machine. Where that is missing it is left out. */
    const char *(*find)(const struct runner_setup *setup);
    /* Loads the case's kernels. What can be compiled before the first launch, is. */
    const char *(*open)(struct bench_case *c, const struct runner_setup *setup);
    const char *(*version)(void);
    const char *(*run)(struct bench_case *c);
    /* Lets the host see and change the buffers (true), or the kernels again (false). NULL: nothing
     * needs doing. */
    const char *(*give_to_host)(struct bench_case *c, bool host);
    /* What a reader of the figures must know of the run, or NULL. NULL: nothing ever. */
    const char *(*remark)(const struct bench_case *c);
};

extern const struct runner ptera_runner;
extern const char *const ptera_engines[]; /* their names; NULL behind the last */

#endif
