/* Litmus tests run: by Ptera's engines, or by anybody's driver library. */
#ifndef PTERA_TOOLS_LITMUS_RUN_H
#define PTERA_TOOLS_LITMUS_RUN_H

#include "tools/litmus/outcome.h"

enum { LITMUS_WAYS = 6, LITMUS_WHY = 300, LITMUS_SCHEDULES = 64 };

enum litmus_engine { LITMUS_INTERP, LITMUS_JIT, LITMUS_BOTH };

struct litmus_run_options {
    enum litmus_engine engine;
    const char *driver; /* a library; NULL: Ptera's engines */
    unsigned rounds;    /* of each launch; 0: some */
    unsigned schedules; /* under which the interpreter's reads may see old values */
};

/* What one way of running a test left. By schedules whole launches are counted. */
struct litmus_count {
    uint64_t instances, weak; /* of these so many of no interleaving */
    uint64_t forbidden;
    uint64_t first; /* outcome that is forbidden, or schedule under which one came */
};

struct litmus_verdict {
    unsigned n_weak, n_seen; /* weak outcomes that are allowed, and how many of them came */
    struct litmus_count way[LITMUS_WAYS];
    bool has_failed;
    char why[LITMUS_WHY];
};

struct litmus_runner;

/* NULL: it cannot be, `why` says why. */
struct litmus_runner *litmus_run_open(const struct litmus_run_options *options,
                                      char why[LITMUS_WHY]);
void litmus_run_close(struct litmus_runner *runner);

/* After an error of a driver's that its process does not get over. */
bool litmus_run_is_spoiled(const struct litmus_runner *runner);

/* Name of a way that this runner has; NULL behind the last. */
const char *litmus_run_way(const struct litmus_run_options *options, unsigned way);
bool litmus_run_is_by_schedules(unsigned way);
bool litmus_run_is_taken(const struct litmus_run_options *options, unsigned way);

void litmus_run_test(struct litmus_runner *runner, const struct litmus_test *test,
                     struct litmus_verdict *verdict);

#endif
