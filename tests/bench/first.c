/* How long the first result takes: loading and compiling the kernels, and the first run, in a
 * process that has done nothing before; with an empty cache of compiled code, and with the cache
 * that such a process left. */
#include "tests/bench/first.h"

#include <stdlib.h>
#include <string.h>

#include "tests/bench/scratch.h"
#include "tests/bench/timing.h"

enum { TIMES = 5 };

struct first {
    double load, run; /* milliseconds */
};

static int n_failed;

static bool measure(const struct plan *p, const struct variant *v, const struct bench_kind *kind,
                    const char *cache, struct first *f)
{
    struct worker_order order = {v, kind, plan_size(p, kind), p->kernels, cache};
    struct worker w = {0};
    struct worker_ready ready;
    if (!worker_start(&w, &order, &ready)) {
        printf("%s: %s: %s\n", kind->name, v->name, w.why);
        n_failed++;
        return false;
    }
    worker_end(&w);
    if (ready.is_left_out)
        return false;
    *f = (struct first){ready.open_ms, ready.first_ms};
    return true;
}

static struct first medians(const struct first *f)
{
    double load[TIMES], run[TIMES];
    for (int i = 0; i < TIMES; i++) {
        load[i] = f[i].load;
        run[i] = f[i].run;
    }
    return (struct first){median(load, TIMES), median(run, TIMES)};
}

static void print_one(const struct plan *p, const struct variant *v, const struct bench_kind *kind)
{
    struct first cold[TIMES], warm[TIMES];
    bool good = true;
    for (int i = 0; i < TIMES && good; i++) {
        char *cache = scratch_make();
        good = measure(p, v, kind, cache, &cold[i]) && measure(p, v, kind, cache, &warm[i]);
        scratch_remove(cache);
        free(cache);
    }
    if (!good)
        return;
    struct first c = medians(cold), w = medians(warm);
    printf("%-12s %9u  %-8s %9.2f + %9.2f = %9.2f   %9.2f + %9.2f = %9.2f\n", kind->name,
           plan_size(p, kind), v->name, c.load, c.run, c.load + c.run, w.load, w.run,
           w.load + w.run);
    fflush(stdout);
}

/* What compiles, with its smallest number of threads. */
static bool takes_part(const struct plan *p, const struct variant *v)
{
    return v->threads == p->variant[0].threads && (v->engine || !strcmp(v->name, "pocl"));
}

int first_results(const struct plan *p)
{
    printf("\nTo the first result, milliseconds: loading + first run, medians of %d\n", TIMES);
    printf("%-12s %9s  %-8s %-33s   %s\n", "case", "size", "by", "with an empty cache",
           "from the cache");
    for (int i = 0; bench_kind(i); i++) {
        const struct bench_kind *kind = bench_kind(i);
        if (kind->is_limit || !plan_has_case(p, kind))
            continue;
        for (int v = 0; v < p->n_variants; v++)
            if (takes_part(p, &p->variant[v]))
                print_one(p, &p->variant[v], kind);
    }
    return n_failed;
}
