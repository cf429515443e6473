/* Runs one case by one engine of Ptera twice: the first run compiles, the second is what callgrind counts, if this
 * runs under it. */
#include "tests/bench/once.h"

#if __has_include(<valgrind/callgrind.h>)
#include <valgrind/callgrind.h>
#else
#define CALLGRIND_START_INSTRUMENTATION
#define CALLGRIND_STOP_INSTRUMENTATION
#endif

static const char *run(const struct bench_kind *kind, const struct plan *p)
{
    struct runner_setup setup = {p->kernels, p->variant[0].engine, p->variant[0].threads};
    struct bench_case c;
    const char *why = bench_case_make(&c, kind, plan_size(p, kind));
    if (!why)
        why = ptera_runner.find(&setup);
    if (!why)
        why = ptera_runner.open(&c, &setup);
    if (!why)
        why = ptera_runner.run(&c);
    if (!why) {
        bench_case_reset(&c);
        CALLGRIND_START_INSTRUMENTATION;
        why = ptera_runner.run(&c);
        CALLGRIND_STOP_INSTRUMENTATION;
    }
    return why;
}

int run_once_here(const struct plan *p)
{
    for (int i = 0; bench_kind(i); i++) {
        if (!ptera_runner.has(bench_kind(i)) || !plan_has_case(p, bench_kind(i)) || p->n_ptera == 0)
            continue;
        const char *why = run(bench_kind(i), p);
        if (why)
            fprintf(stderr, "%s: %s\n", bench_kind(i)->name, why);
        return why != NULL;
    }
    fprintf(stderr, "compare: --once needs a case and an engine\n");
    return 2;
}
