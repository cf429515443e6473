/* Lines and columns: a line for each engine of Ptera and number of threads, a column for each
 * peer. */
#include "tests/bench/report.h"

#include <string.h>

#include "tests/bench/means.h"
#include "tests/bench/timing.h"

/* The variant of the column's peer with so many threads. */
static int find_peer(const struct plan *p, int column, unsigned threads)
{
    for (int v = p->n_ptera; v < p->n_variants; v++)
        if (p->variant[v].threads == threads &&
            !strcmp(p->variant[v].name, p->variant[column].name))
            return v;
    return -1;
}

static void print_head(const struct plan *p, const char *unit)
{
    printf(
        "\n%s (median); in brackets Ptera's time over the peer's (median of the rounds' ratios).\n",
        unit);
    printf("%-12s %9s %3s %3s  %-9s %10s", "case", "size", "n", "thr", "engine", "Ptera");
    for (int v = p->n_ptera; v < p->n_variants; v++)
        if (plan_is_column(p, v))
            printf("  %-19s", p->variant[v].name);
    printf("  of the limit: Ptera, best peer\n");
}

/* Before the first case, and before the first that measures launches. */
static void print_head_once(const struct plan *p, const struct bench_kind *kind)
{
    static bool done[2];
    if (!done[kind->is_launch])
        print_head(p, kind->is_launch ? "Microseconds of one launch, waited for" : "Milliseconds");
    done[kind->is_launch] = true;
}

/* Rounds pair the two: what disturbed one, disturbed the other. */
static double median_ratio(const struct measured *a, const struct measured *b)
{
    double ratio[MAX_ROUNDS];
    int n = a->rounds < b->rounds ? a->rounds : b->rounds;
    for (int i = 0; i < n; i++)
        ratio[i] = a->ms[i] / b->ms[i];
    return median(ratio, n);
}

static double rate(const struct measured *m)
{
    return m->median > 0 ? m->work / m->median : 0;
}

struct line {
    const struct plan *plan;
    const struct bench_kind *kind;
    unsigned size, threads;
    const struct measured *of; /* all variants */
    int engine;                /* Ptera's variant; -1: only peers are measured */
    double unit;               /* what is printed for a millisecond */
};

static bool has_ptera(const struct line *l)
{
    return l->engine >= 0 && l->of[l->engine].rounds;
}

static void print_start(const struct line *l)
{
    char engine[40] = "-";
    int rounds = 0;
    for (int v = 0; v < l->plan->n_variants; v++)
        if (l->of[v].rounds > rounds)
            rounds = l->of[v].rounds;
    if (l->engine >= 0)
        snprintf(engine, sizeof engine, "%s%s", l->plan->variant[l->engine].name,
                 l->of[l->engine].is_remarked ? "*" : "");
    printf("%-12s %9u %3d %3u  %-9s", l->kind->name, l->size, rounds, l->threads, engine);
    if (has_ptera(l))
        printf(" %10.3f", l->of[l->engine].median * l->unit);
    else
        printf(" %10s", "-");
}

static void print_peer(const struct line *l, int column)
{
    const struct measured *peer = &l->of[find_peer(l->plan, column, l->threads)];
    char text[32] = "-";
    if (peer->rounds && has_ptera(l)) {
        double ratio = median_ratio(&l->of[l->engine], peer);
        snprintf(text, sizeof text, "%.3f (%.2f)", peer->median * l->unit, ratio);
        if (!l->kind->is_launch)
            means_add(l->kind, l->engine, column, ratio);
    } else if (peer->rounds) {
        snprintf(text, sizeof text, "%.3f", peer->median * l->unit);
    }
    printf("  %-19s", text);
}

/* Of the twins in C, each built by another compiler, the one that takes less time here. */
static void add_better_twin(const struct line *l)
{
    const struct measured *better = NULL;
    for (int v = l->plan->n_ptera; v < l->plan->n_variants; v++)
        if (l->plan->variant[v].threads == l->threads && l->of[v].rounds &&
            !strncmp(l->plan->variant[v].name, "openmp-", 7) &&
            (!better || l->of[v].median < better->median))
            better = &l->of[v];
    const struct measured *own = &l->of[l->engine];
    means_add(l->kind, l->engine, MEANS_TWIN, better ? median_ratio(own, better) : 0);
    if (own->is_remarked)
        means_remark(l->kind, l->engine);
}

static void print_limit(const struct line *l, double limit)
{
    double best = 0;
    for (int v = l->plan->n_ptera; v < l->plan->n_variants; v++)
        if (l->plan->variant[v].threads == l->threads && rate(&l->of[v]) > best)
            best = rate(&l->of[v]);
    if (has_ptera(l))
        printf("  %5.1f%%", 100 * rate(&l->of[l->engine]) / limit);
    else
        printf("  %6s", "-");
    printf(" %5.0f%%", 100 * best / limit);
}

static void print_line(const struct line *l, double limit)
{
    print_start(l);
    for (int v = l->plan->n_ptera; v < l->plan->n_variants; v++)
        if (plan_is_column(l->plan, v))
            print_peer(l, v);
    if (has_ptera(l) && !l->kind->is_launch)
        add_better_twin(l);
    if (limit > 0)
        print_limit(l, limit);
    printf("\n");
    fflush(stdout);
}

static void write_tsv(const struct plan *p, const struct bench_kind *kind, unsigned size,
                      const struct measured *of)
{
    for (int v = 0; v < p->n_variants; v++)
        if (of[v].rounds)
            fprintf(p->tsv, "%s\t%u\t%s\t%u\t%d\t%.4f\t%.4f\n", kind->name, size,
                    p->variant[v].name, p->variant[v].threads, of[v].rounds, of[v].median,
                    of[v].best);
}

void report_case(const struct plan *p, const struct bench_kind *kind, unsigned size,
                 const struct measured *of, const double *limit)
{
    bool has_engine = p->n_ptera > 0;
    struct line l = {.plan = p, .kind = kind, .size = size, .of = of};
    l.unit = kind->is_launch ? 1e3 / size : 1;
    print_head_once(p, kind);
    for (int v = 0; v < p->n_variants; v++) {
        /* A line for each engine; without any, one for each number of threads of the first peer. */
        bool is_line =
            has_engine ? v < p->n_ptera : !strcmp(p->variant[v].name, p->variant[0].name);
        l.engine = has_engine ? v : -1;
        l.threads = p->variant[v].threads;
        if (is_line && !of[v].is_left_out)
            print_line(&l, limit[v]);
    }
    if (p->tsv)
        write_tsv(p, kind, size, of);
}

void report_limit(const struct plan *p, const struct bench_kind *kind, const struct measured *of)
{
    printf("limit %-7s", kind->name);
    for (int v = 0; v < p->n_variants; v++)
        if (of[v].rounds)
            printf("  %u thread%s %8.1f %s", p->variant[v].threads,
                   p->variant[v].threads == 1 ? "" : "s", of[v].work / of[v].best * 1e-6,
                   kind->limit == LIMIT_FMA ? "GFLOP/s" : "GB/s");
    printf("\n");
    if (p->tsv)
        write_tsv(p, kind, plan_size(p, kind), of);
}
