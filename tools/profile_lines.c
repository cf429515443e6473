/* Counts by lines of the source: a table, and coverage. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "tools/metrics.h"
#include "tools/places.h"
#include "tools/profile_report.h"

/* ---- a table --------------------------------------------------------------------------------- */

static double percent(uint64_t part, uint64_t all)
{
    return all ? 100.0 * (double)part / (double)all : 0;
}

static void put_line(FILE *out, const struct places *p, size_t from, size_t to,
                     const struct line_sums *all, struct source *source)
{
    const struct line_sums s = places_sum(p, from, to);
    fprintf(out, "%6u %12" PRIu64 " %5.1f %5.1f ", p->v[from].line, s.warps,
            percent(s.warps, all->warps), s.warps ? (double)s.lanes / (double)s.warps : 0);
    if (all->waits)
        fprintf(out, "%5.1f ", percent(s.waits, all->waits));
    if (s.requests)
        fprintf(out, "%10" PRIu64 " %5.1f ", s.sectors, (double)s.sectors / (double)s.requests);
    else
        fprintf(out, "%10s %5s ", "", "");
    if (s.wavefronts)
        fprintf(out, "%10" PRIu64 " %9" PRIu64, s.wavefronts, s.conflicts);
    else
        fprintf(out, "%10s %9s", "", "");
    if (s.atomics)
        fprintf(out, " %9" PRIu64, s.atomics);
    else
        fprintf(out, " %9s", "");
    fprintf(out, "  %s\n", places_source_line(source, p->v[from].file, p->v[from].line));
}

static void put_kernel_lines(FILE *out, const struct counted_kernel *k, const struct places *p)
{
    struct source source = {0};
    const struct line_sums all = places_sum(p, 0, p->n);
    fprintf(out, "%s\n", k->name);
    for (size_t i = 0; i < p->n; i = places_line_end(p, i)) {
        if (!i || strcmp(p->v[i].file, p->v[i - 1].file) != 0)
            fprintf(out,
                    "%s\n  line        warps     %% lanes %s   sectors  each wavefronts "
                    "conflicts   atomics\n",
                    p->v[i].file, all.waits ? "time % " : "");
        put_line(out, p, i, places_line_end(p, i), &all, &source);
    }
    places_source_close(&source);
}

bool profile_report_put_lines(FILE *out, const struct counts *counts, bool is_ptx)
{
    bool is_good = true;
    for (size_t i = 0; is_good && i < counts->n; i++) {
        struct places places = {0};
        is_good = places_add(&places, &counts->v[i], is_ptx);
        if (is_good) {
            places_sort(&places);
            put_kernel_lines(out, &counts->v[i], &places);
        }
        free(places.v);
    }
    return is_good;
}

/* ---- coverage -------------------------------------------------------------------------------- */

static bool is_branch(const struct counted_insn *x)
{
    return metrics_kind(x) == KIND_BRANCH;
}

/* The same instruction, counted in other kernels or shapes: the next place of it. */
static bool is_same_branch(const struct counted_insn *a, const struct counted_insn *b)
{
    return a->line == b->line && a->col == b->col && !strcmp(a->func, b->func);
}

/* Branches with a guard, by the order of their PTX lines: threads that took it, and that did
 * not. */
static void put_branches(FILE *out, const struct places *p, size_t from, size_t to, unsigned *found,
                         unsigned *hit)
{
    unsigned number = 0;
    for (size_t i = from; i < to; i++) {
        const struct counted_insn *x = p->v[i].insn;
        uint64_t on = 0, lanes = 0;
        bool is_first = is_branch(x) && x->has_guard;
        for (size_t k = from; k < i && is_first; k++)
            is_first = !is_branch(p->v[k].insn) || !is_same_branch(p->v[k].insn, x);
        if (!is_first)
            continue;
        for (size_t k = i; k < to; k++) {
            const struct counted_insn *y = p->v[k].insn;
            on += is_branch(y) && is_same_branch(x, y) ? y->on : 0;
            lanes += is_branch(y) && is_same_branch(x, y) ? y->lanes : 0;
        }
        for (int side = 0; side < 2; side++) {
            uint64_t taken = side ? lanes - on : on;
            fprintf(out, "BRDA:%u,%u,%d,", p->v[from].line, number, side);
            fprintf(out, lanes ? "%" PRIu64 "\n" : "-\n", taken);
            *found += 1;
            *hit += taken > 0;
        }
        number++;
    }
}

static uint64_t count_line(const struct places *p, size_t from, size_t to)
{
    uint64_t most = 0;
    for (size_t i = from; i < to; i++)
        most = p->v[i].insn->on > most ? p->v[i].insn->on : most;
    return most;
}

/* A file's. Returns where it ends. */
static size_t put_file(FILE *out, const struct places *p, size_t from)
{
    unsigned lines = 0, hit = 0, branches = 0, branches_hit = 0;
    const char *file = p->v[from].file;
    size_t i = from;
    fprintf(out, "TN:\nSF:%s\n", file);
    for (size_t end; i < p->n && !strcmp(p->v[i].file, file); i = end) {
        end = places_line_end(p, i);
        uint64_t n = count_line(p, i, end);
        fprintf(out, "DA:%u,%" PRIu64 "\n", p->v[i].line, n);
        lines++;
        hit += n > 0;
        put_branches(out, p, i, end, &branches, &branches_hit);
    }
    fprintf(out, "BRF:%u\nBRH:%u\nLF:%u\nLH:%u\nend_of_record\n", branches, branches_hit, lines,
            hit);
    return i;
}

bool profile_report_put_coverage(FILE *out, const struct counts *counts)
{
    struct places places = {0};
    bool is_good = true;
    for (size_t i = 0; is_good && i < counts->n; i++)
        is_good = places_add(&places, &counts->v[i], false);
    if (is_good)
        places_sort(&places);
    for (size_t i = 0; is_good && i < places.n;)
        i = put_file(out, &places, i);
    free(places.v);
    return is_good;
}
