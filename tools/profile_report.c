/* Tables of kernels and their metrics. */
#include "tools/profile_report.h"

#include <inttypes.h>
#include <string.h>

#include "tools/metrics.h"
#include "tools/report.h"

static double value(const struct sums *s, const char *name)
{
    return metrics_value(metrics_find(name, strlen(name)), s);
}

static void put_kernel_name(FILE *out, const struct counted_kernel *k)
{
    fprintf(out, "%s (%u, %u, %u)x(%u, %u, %u)", k->name, k->grid[0], k->grid[1], k->grid[2],
            k->block[0], k->block[1], k->block[2]);
}

/* ---- what limits a kernel -------------------------------------------------------------------- */

static void put_place(FILE *out, const struct counted_kernel *k, const struct counted_insn *x)
{
    if (x->file_line)
        fprintf(out, "%s at %s:%u", x->spelling, x->file, x->file_line);
    else
        fprintf(out, "%s at %s:%u", x->spelling, k->module, x->line);
}

static uint64_t split(const struct counted_insn *x)
{
    return x->split;
}

/* Bytes of sectors that nobody asked for. */
static uint64_t unused(const struct counted_insn *x, enum kind kind)
{
    const struct counted_access *a = &x->spaces[COUNTED_GLOBAL];
    bool is_some = metrics_kind(x) == kind && 32 * a->parts > a->bytes;
    return is_some ? 32 * a->parts - a->bytes : 0;
}

static uint64_t unused_loads(const struct counted_insn *x)
{
    return unused(x, KIND_LOAD);
}

static uint64_t unused_stores(const struct counted_insn *x)
{
    return unused(x, KIND_STORE);
}

static uint64_t conflicts(const struct counted_insn *x)
{
    return x->spaces[COUNTED_SHARED].conflicts;
}

static uint64_t local_sectors(const struct counted_insn *x)
{
    return x->spaces[COUNTED_LOCAL].parts;
}

/* The instruction that has the most of something. */
static void put_worst(FILE *out, const struct counted_kernel *k,
                      uint64_t (*of)(const struct counted_insn *x))
{
    const struct counted_insn *worst = NULL;
    for (size_t i = 0; i < k->n; i++)
        if (of(&k->insns[i]) && (!worst || of(&k->insns[i]) > of(worst)))
            worst = &k->insns[i];
    if (!worst)
        return;
    fputs("; most by ", out);
    put_place(out, k, worst);
}

struct hint {
    bool is_so;
    const char *text; /* with one %g */
    double number;
    uint64_t (*of)(const struct counted_insn *x); /* may be NULL */
};

void profile_report_put_hints(FILE *out, const struct sums *s)
{
    const struct counted_kernel *k = s->kernel;
    double lanes = value(s, "warp_execution_efficiency"), loads = value(s, "gld_efficiency"),
           stores = value(s, "gst_efficiency"),
           occupancy = value(s, "sm__maximum_warps_per_active_cycle_pct");
    const struct counted_access *shared_loads = &s->access[KIND_LOAD][COUNTED_SHARED].sum;
    const struct counted_access *shared_stores = &s->access[KIND_STORE][COUNTED_SHARED].sum;
    double wavefronts = (double)(shared_loads->parts + shared_stores->parts);
    double lost = (double)(shared_loads->conflicts + shared_stores->conflicts);
    double local = (double)(s->access[KIND_LOAD][COUNTED_LOCAL].sum.parts +
                            s->access[KIND_STORE][COUNTED_LOCAL].sum.parts);
    double global = (double)(s->access[KIND_LOAD][COUNTED_GLOBAL].sum.parts +
                             s->access[KIND_STORE][COUNTED_GLOBAL].sum.parts);
    const struct hint hints[] = {
        {lanes < 75, "threads diverge: of 32 lanes %.1f run, on average", lanes * 0.32, split},
        {loads > 0 && loads < 60, "global loads use %.0f %% of what they move", loads,
         unused_loads},
        {stores > 0 && stores < 60, "global stores use %.0f %% of what they move", stores,
         unused_stores},
        {lost > 0.2 * wavefronts, "bank conflicts: shared memory takes %.1f times its turns",
         wavefronts / (wavefronts - lost), conflicts},
        {local > 0.1 * global, "local memory: %.0f sectors of it", local, local_sectors},
        {occupancy < 50, "an SM can have %.0f %% of its warps at once", occupancy, NULL},
        {s->n_ctas < k->sms, "blocks for %.0f %% of the device's SMs",
         k->sms ? 100.0 * (double)s->n_ctas / k->sms : 0, NULL},
    };
    for (size_t i = 0; i < sizeof hints / sizeof *hints; i++) {
        if (!hints[i].is_so)
            continue;
        fputs("    ", out);
        fprintf(out, hints[i].text, hints[i].number);
        if (hints[i].of)
            put_worst(out, k, hints[i].of);
        fputc('\n', out);
    }
}

/* ---- tables ---------------------------------------------------------------------------------- */

void profile_report_put_table(FILE *out, const struct counts *counts)
{
    fputs(" launches   time here  instructions  lanes  load %  store %  conflicts  occup %  kernel "
          "(grid)x(block)\n",
          out);
    for (size_t i = 0; i < counts->n; i++) {
        const struct counted_kernel *k = &counts->v[i];
        struct sums s;
        metrics_sum(&s, k);
        fprintf(out, "%9" PRIu64 " %8.2f ms %13" PRIu64 " %6.1f %7.0f %8.0f %10.0f %8.0f  ",
                k->launches, (double)k->ns * 1e-6, s.warps,
                value(&s, "smsp__thread_inst_executed_per_inst_executed.ratio"),
                value(&s, "gld_efficiency"), value(&s, "gst_efficiency"),
                value(&s, "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum") +
                    value(&s, "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_st.sum"),
                value(&s, "sm__maximum_warps_per_active_cycle_pct"));
        put_kernel_name(out, k);
        fputc('\n', out);
        if (k->is_timed)
            estimate_put(out, &s);
        profile_report_put_hints(out, &s);
    }
}

/* The next of the names, which moves on; NULL: there is none. No names: all. */
static const struct metric *next_metric(const char **names, unsigned *index)
{
    if (!*names)
        return *index < n_metrics ? &metrics[(*index)++] : NULL;
    if (!**names)
        return NULL;
    size_t n = strcspn(*names, ",");
    const struct metric *metric = metrics_find(*names, n);
    *names += n + ((*names)[n] == ',');
    return metric;
}

const char *profile_report_find_unknown(const char *names)
{
    while (names && *names) {
        const char *at = names;
        unsigned index = 0;
        if (!next_metric(&names, &index))
            return at;
    }
    return NULL;
}

bool profile_report_asks_time(const char *names)
{
    const struct metric *m = NULL;
    unsigned index = 0;
    while (names && (m = next_metric(&names, &index)) && !m->is_estimate)
        ;
    return m && m->is_estimate;
}

static bool has_value(const struct metric *m, const struct sums *s)
{
    return !m->is_estimate || s->kernel->is_timed;
}

/* Nothing, where it has none. */
static void put_value(FILE *out, const struct metric *m, const struct sums *s)
{
    double v = metrics_value(m, s);
    if (has_value(m, s))
        fprintf(out, v == (double)(int64_t)v ? "%.0f" : "%.2f", v);
}

/* As ncu --csv --page raw: a line of names, one of units, one for each launch (here: each kernel in
 * each shape, whose values are averages). A metric without a value is an empty field. */
static void put_csv(FILE *out, const struct counts *counts, const char *names)
{
    const struct metric *m;
    unsigned index = 0;
    fputs("\"ID\",\"Kernel Name\",\"Block Size\",\"Grid Size\",\"Launches\"", out);
    for (const char *at = names; (m = next_metric(&at, &index));)
        fprintf(out, ",\"%s\"", m->name);
    fputs("\n\"\",\"\",\"\",\"\",\"\"", out);
    index = 0;
    for (const char *at = names; (m = next_metric(&at, &index));)
        fprintf(out, ",\"%s\"", m->unit);
    fputc('\n', out);
    for (size_t i = 0; i < counts->n; i++) {
        const struct counted_kernel *k = &counts->v[i];
        struct sums s;
        metrics_sum(&s, k);
        fprintf(out, "\"%zu\",\"%s\",\"(%u, %u, %u)\",\"(%u, %u, %u)\",\"%" PRIu64 "\"", i, k->name,
                k->block[0], k->block[1], k->block[2], k->grid[0], k->grid[1], k->grid[2],
                k->launches);
        index = 0;
        for (const char *at = names; (m = next_metric(&at, &index));) {
            fputs(",\"", out);
            put_value(out, m, &s);
            fputc('"', out);
        }
        fputc('\n', out);
    }
}

void profile_report_put_metrics(FILE *out, const struct counts *counts, const char *names,
                                bool is_csv)
{
    if (is_csv) {
        put_csv(out, counts, names);
        return;
    }
    for (size_t i = 0; i < counts->n; i++) {
        const struct metric *m;
        struct sums s;
        unsigned index = 0;
        metrics_sum(&s, &counts->v[i]);
        put_kernel_name(out, &counts->v[i]);
        fputc('\n', out);
        for (const char *at = names; (m = next_metric(&at, &index));) {
            fprintf(out, "    %-76s %-14s ", m->name, m->unit);
            put_value(out, m, &s);
            fputs(has_value(m, &s) ? "\n" : "n/a\n", out);
        }
    }
}
