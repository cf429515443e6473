/* Geometric means. */
#include "tests/bench/means.h"

#include <math.h>
#include <string.h>

enum { MEANS_REMARK = -2, MOST = 1 << 14 };

static struct ratio {
    const struct bench_kind *kind;
    int engine, peer;
    double ratio;
} ratios[MOST];
static int n_ratios;

void means_add(const struct bench_kind *kind, int engine, int peer, double ratio)
{
    if (n_ratios < MOST && ratio > 0)
        ratios[n_ratios++] = (struct ratio){kind, engine, peer, ratio};
}

void means_remark(const struct bench_kind *kind, int engine)
{
    means_add(kind, engine, MEANS_REMARK, 1);
}

/* What a mean is of: a set, or one of its groups. */
struct part {
    const char *set, *group; /* group NULL: all of the set */
};

struct mean {
    double sum, worst;
    int n;
};

static struct mean mean_of(const struct part *of, int engine, int peer)
{
    struct mean m = {0};
    for (const struct ratio *r = ratios; r < ratios + n_ratios; r++) {
        if (r->engine != engine || r->peer != peer || strcmp(of->set, bench_set_of(r->kind)) ||
            (of->group && strcmp(of->group, bench_group_of(r->kind))))
            continue;
        m.sum += log(r->ratio);
        m.worst = r->ratio > m.worst ? r->ratio : m.worst;
        m.n++;
    }
    return m;
}

static void print_mean(const char *name, struct mean m)
{
    if (m.n)
        printf("  %s %.2f (%d, %.2f)", name, exp(m.sum / m.n), m.n, m.worst);
}

static void print_line(const struct plan *p, const struct part *of, int engine)
{
    const struct variant *v = &p->variant[engine];
    if (!mean_of(of, engine, MEANS_TWIN).n && !mean_of(of, engine, p->n_ptera).n)
        return;
    printf("  %-9s %-9s %u thread%s", of->group ? of->group : of->set, v->name, v->threads,
           v->threads == 1 ? " " : "s");
    for (int column = p->n_ptera; column < p->n_variants; column++)
        if (plan_is_column(p, column))
            print_mean(p->variant[column].name, mean_of(of, engine, column));
    print_mean("better twin", mean_of(of, engine, MEANS_TWIN));
    int remarked = mean_of(of, engine, MEANS_REMARK).n;
    if (remarked)
        printf("  %d marked *", remarked);
    printf("\n");
}

static void print_part(const struct plan *p, const struct part *of)
{
    for (int engine = 0; engine < p->n_ptera; engine++)
        print_line(p, of, engine);
}

void means_print(const struct plan *p)
{
    const char *set = "", *group = "";
    if (n_ratios == 0)
        return;
    printf("\nGeometric means of Ptera's time over the peer's, without the empty kernels (number "
           "of cases, worst ratio)\n");
    for (int i = 0; bench_kind(i); i++) {
        if (strcmp(set, bench_set_of(bench_kind(i))))
            print_part(p, &(struct part){set = bench_set_of(bench_kind(i)), NULL});
        if (strcmp(group, bench_group_of(bench_kind(i))) &&
            strcmp(set, bench_group_of(bench_kind(i))))
            print_part(p, &(struct part){set, bench_group_of(bench_kind(i))});
        group = bench_group_of(bench_kind(i));
    }
}
