/* Runs one case by one engine of Ptera twice: the first run compiles, the second is what callgrind
 * counts, if this runs under it. */
#include "tests/bench/once.h"

#if __has_include(<valgrind/callgrind.h>)
#include <valgrind/callgrind.h>
#else
#define CALLGRIND_START_INSTRUMENTATION
#define CALLGRIND_STOP_INSTRUMENTATION
#endif

enum {
    LEFT_OUT = 3, /* exit status: this build has no such engine */
    REMARKED = 4  /* the engine handed the kernel to another */
};

static const char *run(struct bench_case *c, const struct runner_setup *setup)
{
    const char *why = ptera_runner.open(c, setup);
    if (!why)
        why = ptera_runner.run(c);
    if (why)
        return why;
    bench_case_reset(c);
    CALLGRIND_START_INSTRUMENTATION;
    why = ptera_runner.run(c);
    CALLGRIND_STOP_INSTRUMENTATION;
    return why;
}

int run_once_here(const struct plan *p)
{
    int i = 0;
    while (bench_kind(i) && (!ptera_runner.has(bench_kind(i)) || !plan_has_case(p, bench_kind(i))))
        i++;
    if (!bench_kind(i) || p->n_ptera == 0) {
        fprintf(stderr, "compare: --once needs a case and an engine\n");
        return 2;
    }
    struct runner_setup setup = {p->kernels, p->variant[0].engine, p->variant[0].threads};
    struct bench_case c;
    const char *why = ptera_runner.find(&setup);
    if (why) {
        fprintf(stderr, "%s is left out: %s\n", setup.engine, why);
        return LEFT_OUT;
    }
    why = bench_case_make(&c, bench_kind(i), plan_size(p, bench_kind(i)));
    if (!why)
        why = run(&c, &setup);
    const char *remark = why ? NULL : ptera_runner.remark(&c);
    if (why || remark)
        fprintf(stderr, "%s: %s\n", bench_kind(i)->name, why ? why : remark);
    return why ? 1 : remark ? REMARKED : 0;
}
