/* Runs the kernels of the set by Ptera and by others, checks that all compute the same, and
 * compares their times.
 *
 * Each variant (an engine or peer with a number of threads) has a process of its own for each case.
 * They take turns: in a round each runs once, beginning with another one each time, and ratios are
 * taken within a round, so that what disturbs the machine disturbs all alike. */
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>

#include "tests/bench/first.h"
#include "tests/bench/means.h"
#include "tests/bench/once.h"
#include "tests/bench/plan.h"
#include "tests/bench/report.h"
#include "tests/bench/scratch.h"
#include "tests/bench/timing.h"

/* The best of these is taken: what the machine can do, whatever disturbs it. */
enum { LIMIT_ROUNDS = 25 };

static struct plan plan;
static const char *cache;
static int n_failed, n_same; /* comparisons of results */

/* The best of the limits, by kind and variant, in work a millisecond. */
static double limits[LIMITS][MAX_VARIANTS];

/* What a variant's runner says of itself is printed once. */
static void tell_once(const struct variant *v, const char *what, const char *text)
{
    static char told[MAX_VARIANTS][32];
    int i = 0;
    for (; i < MAX_VARIANTS && told[i][0]; i++)
        if (!strcmp(told[i], v->name))
            return;
    if (i < MAX_VARIANTS)
        memcpy(told[i], v->name, sizeof told[i]);
    printf("%s%s: %s\n", v->name, what, text);
}

static void tell(const struct bench_kind *kind, const struct variant *v, const char *text)
{
    printf("%s: %s, %u thread%s: %s\n", kind->name, v->name, v->threads, v->threads == 1 ? "" : "s",
           text);
}

static void tell_failure(const struct bench_kind *kind, const struct variant *v, const char *why)
{
    tell(kind, v, why);
    n_failed++;
}

/* Starts a variant's worker. It stays if its result is the reference's. */
static void start(struct worker *w, const struct variant *v, const struct bench_kind *kind,
                  const struct digest *reference, struct measured *m)
{
    struct worker_order order = {v, kind, plan_size(&plan, kind), plan.kernels, cache};
    struct worker_ready ready;
    static struct digest digest;
    if (!worker_start(w, &order, &ready)) {
        tell_failure(kind, v, w->why);
        return;
    }
    m->is_left_out = ready.is_left_out;
    if (m->is_left_out) {
        if (ready.remark[0])
            tell_once(v, " is left out", ready.remark);
        worker_end(w);
        return;
    }
    tell_once(v, "", ready.version);
    m->is_remarked = ready.remark[0];
    if (m->is_remarked)
        tell(kind, v, ready.remark);
    m->work = ready.work;
    if (kind->is_limit)
        return;
    if (!worker_digest(w, &digest)) {
        tell_failure(kind, v, w->why);
    } else if (!digest_is_equal(reference, &digest)) {
        tell_failure(kind, v, "the result differs from the reference's");
        worker_end(w);
    } else {
        n_same++;
    }
}

static bool make_reference(const struct bench_kind *kind, struct digest *reference)
{
    const struct variant *v = plan_reference();
    struct worker_order order = {v, kind, plan_size(&plan, kind), plan.kernels, cache};
    struct worker w = {0};
    struct worker_ready ready;
    if (!worker_start(&w, &order, &ready) || !worker_digest(&w, reference)) {
        tell_failure(kind, v, w.why);
        return false;
    }
    worker_end(&w);
    return true;
}

static void run_rounds(struct worker *w, const struct bench_kind *kind, struct measured *of)
{
    int n = plan.n_variants, rounds = kind->is_limit ? LIMIT_ROUNDS : plan.rounds;
    double begun = now_ms();
    for (int r = 0; r < rounds; r++) {
        if (r >= 3 && now_ms() - begun > plan.seconds * 1e3)
            break;
        for (int i = 0; i < n; i++) {
            int v = (r + i) % n;
            if (!w[v].pid)
                continue;
            if (worker_run(&w[v], &of[v].ms[r]))
                of[v].rounds++;
            else
                tell_failure(kind, &plan.variant[v], w[v].why);
        }
    }
    for (int v = 0; v < n; v++) {
        double sorted[MAX_ROUNDS];
        memcpy(sorted, of[v].ms, sizeof sorted);
        of[v].median = of[v].rounds ? median(sorted, of[v].rounds) : 0;
        of[v].best = sorted[0];
    }
}

/* What ran many times still computes the same. */
static void check_again(struct worker *w, const struct bench_kind *kind,
                        const struct digest *reference)
{
    static struct digest digest;
    for (int v = 0; v < plan.n_variants; v++)
        if (w[v].pid && (!worker_digest(&w[v], &digest) || !digest_is_equal(reference, &digest)))
            tell_failure(kind, &plan.variant[v],
                         "the result of the last run differs from the reference's");
}

static void take_limit(const struct bench_kind *kind, const struct measured *of)
{
    for (int v = 0; v < plan.n_variants; v++)
        for (int by = 0; by < plan.n_variants; by++)
            if (of[by].rounds && plan.variant[by].threads == plan.variant[v].threads)
                limits[kind->limit][v] = of[by].work / of[by].best;
}

/* Limits are measured by the reference peer only. */
static bool takes_part(const struct bench_kind *kind, const struct variant *v)
{
    return !kind->is_limit || !strcmp(v->name, plan_reference()->name);
}

static void compare(const struct bench_kind *kind)
{
    static struct digest reference;
    static struct measured of[MAX_VARIANTS];
    struct worker worker[MAX_VARIANTS] = {0};
    memset(of, 0, sizeof of);
    if (!kind->is_limit && !make_reference(kind, &reference))
        return;
    for (int v = 0; v < plan.n_variants; v++)
        if (takes_part(kind, &plan.variant[v]))
            start(&worker[v], &plan.variant[v], kind, &reference, &of[v]);
    if (!plan.check_only) {
        run_rounds(worker, kind, of);
        if (kind->is_limit) {
            take_limit(kind, of);
            report_limit(&plan, kind, of);
        } else {
            check_again(worker, kind, &reference);
            report_case(&plan, kind, plan_size(&plan, kind), of, limits[kind->limit]);
        }
    }
    for (int v = 0; v < plan.n_variants; v++)
        worker_end(&worker[v]);
}

static void compare_all(void)
{
    for (int i = 0; bench_kind(i); i++) {
        if (!plan_has_case(&plan, bench_kind(i)) || (plan.check_only && bench_kind(i)->is_limit))
            continue;
        compare(bench_kind(i));
    }
    if (!plan.check_only)
        means_print(&plan);
    printf("results: %d passed, %d failed\n", n_same, n_failed);
}

static void warn_if_busy(void)
{
    double load;
    if (getloadavg(&load, 1) == 1 && load > 1)
        printf("The machine is busy (load %.1f): figures of more than one thread are worth little, "
               "except under chrt -r 5.\n",
               load);
}

int main(int argc, char **argv)
{
    if (!plan_read(&plan, argc, argv))
        return 2;
    if (plan.once)
        return run_once_here(&plan);
    if (!plan.check_only)
        warn_if_busy();
    cache = scratch_make();
    if (plan.first_results)
        n_failed = first_results(&plan);
    else
        compare_all();
    scratch_remove(cache);
    return n_failed ? 1 : 0;
}
